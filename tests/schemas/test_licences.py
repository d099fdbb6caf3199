from __future__ import annotations

import pytest

from schemas import licences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://creativecommons.org/licenses/by/4.0/", "CC-BY-4.0"),
        ("http://creativecommons.org/licenses/by/2.0/uk/", "CC-BY-2.0"),
        ("https://creativecommons.org/licenses/by/4.0/deed.pl", "CC-BY-4.0"),
        ("creativecommons.org/licences/BY-NC/4", "CC-BY-NC-4.0"),
        ("http://creativecommons.org/licenses/by-n/4.0", "CC-BY-NC-4.0"),
        ("http://creativecommons.org/licenses/by/", "LicenseRef-CC-BY"),
        ("http://creativecommons.org/publicdomain/zero/1.0/", "CC0-1.0"),
        ("http://creativecommons.org/publicdomain/mark/1.0/", "LicenseRef-public-domain"),
        ("http://www.frontiersin.org/licenseagreement", None),
        ("http://creativecommons.org/licenses/", None),
    ],
)
def test_addresses(text: str, expected: str | None) -> None:
    assert licences.from_url(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the Creative Commons Attribution License, which permits", "LicenseRef-CC-BY"),
        ("Creative Commons Attribution 4.0 International License", "CC-BY-4.0"),
        ("Creative Commons by Attribution (CC-BY) license", "LicenseRef-CC-BY"),
        ("Creative Common Attribution-NonCommercial-NoDerivatives 4.0", "CC-BY-NC-ND-4.0"),
        ("Creative Commons Attribution-Noncommercial-Share Alike 3.0", "CC-BY-NC-SA-3.0"),
        ("Creative Commons Attribution (CC BY-NC)", "LicenseRef-CC-BY-NC"),
        ("licencia Creative Commons Atribución-NoComercial 4.0", "CC-BY-NC-4.0"),
        ("CC BY 4.0; the Creative Commons Public Domain Dedication waiver applies to the data", "CC-BY-4.0"),
        ("the Creative Commons CC0 public domain dedication", "CC0-1.0"),
        ("This is a work of the United States government", "LicenseRef-public-domain"),
        ("All Rights Reserved.", "LicenseRef-all-rights-reserved"),
        ("This is an open access article.", None),
    ],
)
def test_prose(text: str, expected: str | None) -> None:
    assert licences.from_text(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("ccbylicense", "LicenseRef-CC-BY"),
        ("ccbyncndlicense", "LicenseRef-CC-BY-NC-ND"),
        ("creativeCommonsBy-nc-nd", "LicenseRef-CC-BY-NC-ND"),
        ("creative-commons-attribution", "LicenseRef-CC-BY"),
        ("CC BY-NC-SA 4.0", "LicenseRef-CC-BY-NC-SA"),
        ("cc0license", "CC0-1.0"),
        ("public-domain", "LicenseRef-public-domain"),
        ("open-access", None),
        ("creative-commons", None),
        (None, None),
    ],
)
def test_type_attributes(value: str | None, expected: str | None) -> None:
    assert licences.from_code_type(value) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("CC0", "CC0-1.0"),
        ("CC BY-NC-SA", "LicenseRef-CC-BY-NC-SA"),
        ("TDM", "LicenseRef-text-mining-only"),
        ("NO-CC CODE", "LicenseRef-unknown"),
        (None, None),
    ],
)
def test_codes(code: str | None, expected: str | None) -> None:
    assert licences.from_code(code) == expected


def test_stricter_is_symmetric_between_families_and_keeps_the_version_within_one() -> None:
    order = ["CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC-BY-ND-4.0"]
    order += ["CC-BY-NC-ND-4.0", "LicenseRef-unknown"]
    for position, loose in enumerate(order):
        for strict in order[position + 1 :]:
            assert licences.stricter(loose, strict) == licences.stricter(strict, loose) == strict
    assert licences.stricter("LicenseRef-CC-BY", "CC-BY-4.0") == "CC-BY-4.0"
    assert licences.stricter("CC-BY-4.0", "LicenseRef-CC-BY") == "CC-BY-4.0"


def test_profiles() -> None:
    assert licences.is_allowed("CC-BY-4.0", "open")
    assert not licences.is_allowed("CC-BY-NC-4.0", "open")
    assert licences.is_allowed("CC-BY-NC-SA-3.0", "noncommercial")
    for never in ("CC-BY-ND-4.0", "LicenseRef-unknown", "LicenseRef-text-mining-only", "nonsense"):
        assert not licences.is_allowed(never, "noncommercial")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("cc0", "by", "by"),
        ("cc0", "pd", "cc0"),
        ("by", "by-sa", "by-sa"),
        ("by", "by-nc", "by-nc"),
        ("by-nc", "by-nc-sa", "by-nc-sa"),
        ("by-sa", "by-nc", None),
        ("by-sa", "by-nc-sa", None),
        ("by", "by-nd", None),
        ("none", "none", None),
        ("by-sa", "by-sa", "by-sa"),
    ],
)
def test_combination_is_a_table_not_an_order(first: str, second: str, expected: str | None) -> None:
    assert licences.combine(first, second) == licences.combine(second, first) == expected
