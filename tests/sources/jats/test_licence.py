from __future__ import annotations

from collections.abc import Callable

import pytest

from schemas.article import Article

Reader = Callable[..., Article]
CC = "http://creativecommons.org/licenses"


def permissions(inner: str) -> str:
    return f"<permissions>{inner}</permissions>"


def licence(prose: str = "", attributes: str = "") -> str:
    return f"<license {attributes}><license-p>{prose}</license-p></license>"


REF = '<ali:license_ref content-type="{}">{}</ali:license_ref>'
FORMS = [
    ("1 href", licence("Open.", f'xlink:href="{CC}/by/4.0/"'), "CC-BY-4.0", "jats:license/@href"),
    (
        "1 legalcode",
        licence("", f'xlink:href="{CC}/by-nc/3.0/legalcode"'),
        "CC-BY-NC-3.0",
        "jats:license/@href",
    ),
    ("1 upper case", licence("", f'xlink:href="{CC}/BY-SA/4.0"'), "CC-BY-SA-4.0", "jats:license/@href"),
    ("1 misspelt", licence("", f'xlink:href="{CC}/by-ncnd/4.0/"'), "CC-BY-NC-ND-4.0", "jats:license/@href"),
    (
        "2 license_ref",
        f"<license>{REF.format('ccbyncndlicense', CC + '/by-nc-nd/4.0/')}<license-p>"
        f"Words.</license-p></license>",
        "CC-BY-NC-ND-4.0",
        "jats:license_ref",
    ),
    (
        "2 type only",
        f"<license>{REF.format('ccbynclicense', 'https://e.x')}</license>",
        "LicenseRef-CC-BY-NC",
        "jats:license_ref",
    ),
    (
        "3 link",
        licence(f'Under <ext-link xlink:href="{CC}/by/3.0/">this</ext-link>.', 'license-type="open-access"'),
        "CC-BY-3.0",
        "jats:license-p link",
    ),
    ("3 written", licence(f"Under CC BY ({CC}/by/4.0/)."), "CC-BY-4.0", "jats:license-p address"),
    (
        "4 prose",
        licence("Under the terms of the Creative Commons Attribution License, which permits use."),
        "LicenseRef-CC-BY",
        "jats:license-p text",
    ),
    (
        "4 strictest name",
        licence("Creative Commons Attribution (CC BY-NC 4.0)"),
        "CC-BY-NC-4.0",
        "jats:license-p text",
    ),
    (
        "5 copyright statement",
        "<copyright-statement>Open Access under the Creative Commons Attribution License "
        "2.0</copyright-statement>",
        "CC-BY-2.0",
        "jats:copyright-statement text",
    ),
    (
        "6 license/p",
        f'<license><p>See <uri xlink:href="{CC}/by/2.0">x</uri></p></license>',
        "CC-BY-2.0",
        "jats:license-p link",
    ),
    (
        "8 waiver in the prose",
        licence(
            f'Under <ext-link xlink:href="{CC}/by/4.0/">BY</ext-link>. The waiver <ext-link '
            'xlink:href="http://creativecommons.org/publicdomain/zero/1.0/">CC0</ext-link> applies '
            "to the data."
        ),
        "CC-BY-4.0",
        "jats:license-p link",
    ),
    (
        "8 two licences",
        licence("", 'xlink:href="http://creativecommons.org/publicdomain/zero/1.0/"')
        + licence("", f'xlink:href="{CC}/by/4.0/"'),
        "CC-BY-4.0",
        "jats:license/@href",
    ),
    (
        "8 waiver alone",
        licence(
            "CC0 (http://creativecommons.org/publicdomain/zero/1.0/) applies to the data made available."
        ),
        "LicenseRef-unknown",
        "jats:permissions name no licence",
    ),
    (
        "9 Frontiers agreement",
        licence("Exclusive licence agreement.", 'xlink:href="http://www.frontiersin.org/licenseagreement"'),
        "LicenseRef-unknown",
        "jats:permissions name no licence",
    ),
    (
        "10 reserved",
        licence("All rights reserved. No reuse allowed."),
        "LicenseRef-all-rights-reserved",
        "jats:license-p text",
    ),
    (
        "CC0",
        licence("", 'xlink:href="http://creativecommons.org/publicdomain/zero/1.0/"'),
        "CC0-1.0",
        "jats:license/@href",
    ),
    (
        "type names it",
        licence("Open.", 'license-type="creativeCommonsBy-nc-nd"'),
        "LicenseRef-CC-BY-NC-ND",
        "jats:license/@license-type",
    ),
    (
        "type says nothing",
        licence("Open.", 'license-type="open-access"'),
        "LicenseRef-unknown",
        "jats:permissions name no licence",
    ),
]


@pytest.mark.parametrize(
    ("inner", "spdx", "evidence"), [form[1:] for form in FORMS], ids=[form[0] for form in FORMS]
)
def test_forms(read: Reader, inner: str, spdx: str, evidence: str) -> None:
    got = read(meta=permissions(inner)).licence
    assert (got.spdx, got.evidence, got.is_disputed) == (spdx, evidence, False)


def test_old_files_state_it_in_article_meta(read: Reader) -> None:
    got = read(meta="<copyright-statement>Creative Commons Attribution License 2.0</copyright-statement>")
    assert got.licence.spdx == "CC-BY-2.0"


def test_silence_is_public_domain_only_for_us_government_journals(read: Reader) -> None:
    title = "<journal-title>{}</journal-title>"
    assert (
        read(journal=title.format("Emerging Infectious Diseases")).licence.spdx == "LicenseRef-public-domain"
    )
    assert (
        "Emerging Infectious Diseases"
        in read(journal=title.format("Emerging Infectious Diseases")).licence.evidence
    )
    assert read(journal=title.format("Journal of Things")).licence.spdx == "LicenseRef-unknown"


@pytest.mark.parametrize(
    ("href", "code", "spdx", "is_disputed"),
    [
        ("by/4.0/", "CC BY", "CC-BY-4.0", False),
        ("by/4.0/", "CC BY-NC", "LicenseRef-CC-BY-NC", True),
        ("by-nc-nd/4.0/", "CC BY", "CC-BY-NC-ND-4.0", True),
        ("by/4.0/", "TDM", "LicenseRef-text-mining-only", True),
        ("by/4.0/", "NO-CC CODE", "LicenseRef-unknown", True),
    ],
)
def test_metadata_and_xml_the_stricter_holds(
    read: Reader, href: str, code: str, spdx: str, is_disputed: bool
) -> None:
    got = read(meta=permissions(licence("", f'xlink:href="{CC}/{href}"')), license_code=code).licence
    assert (got.spdx, got.is_disputed) == (spdx, is_disputed)
    assert f"metadata:license_code {code}" in got.evidence


def test_metadata_alone(read: Reader) -> None:
    got = read(license_code="CC BY").licence
    assert (got.spdx, got.is_disputed) == ("LicenseRef-CC-BY", False)


def test_addresses_that_disagree_inside_the_xml(read: Reader) -> None:
    inner = licence(f'See <uri xlink:href="{CC}/by-nc/4.0/">x</uri>', f'xlink:href="{CC}/by/4.0/"')
    got = read(meta=permissions(inner)).licence
    assert (got.spdx, got.is_disputed) == ("CC-BY-NC-4.0", True)


def test_a_figure_has_its_own_licence(read: Reader) -> None:
    own = (
        "<permissions><copyright-statement>© 2007 A Publisher. All rights "
        "reserved.</copyright-statement></permissions>"
    )
    got = read(
        f'<fig id="F1"><label>Figure 1</label>{own}</fig><fig id="F2"/>',
        meta=permissions(licence("", f'xlink:href="{CC}/by/4.0/"')),
    )
    first, second = got.figures
    assert first.licence is not None
    assert (first.licence.spdx, first.rights) == (
        "LicenseRef-all-rights-reserved",
        "© 2007 A Publisher. All rights reserved.",
    )
    assert (second.licence, second.rights, got.licence.spdx) == (None, "", "CC-BY-4.0")


def test_an_address_and_the_words_behind_it_are_parted(read: Reader) -> None:
    got = read(
        meta="<permissions><license><ali:license_ref>https://creativecommons.org/licenses/by/4.0/"
        "</ali:license_ref><license-p>This is open.</license-p></license></permissions>"
    )
    assert got.licence.statement == "https://creativecommons.org/licenses/by/4.0/ This is open."
