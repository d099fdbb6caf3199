from __future__ import annotations

from collections.abc import Callable

import pytest

from schemas.article import Article, RelatedArticle, Translated
from sources.jats.nodes import normalise_language

Reader = Callable[..., Article]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ('<article-id pub-id-type="pmc">77</article-id>', ("PMC77", None, None)),
        ('<article-id pub-id-type="pmc">PMC77</article-id>', ("PMC77", None, None)),
        ('<article-id pub-id-type="pmcid">PMC77</article-id>', ("PMC77", None, None)),
        (
            '<article-id pub-id-type="pmcaid">999</article-id><article-id pub-id-type="pmcid-ver">'
            "PMC77.2</article-id>"
            '<article-id pub-id-type="pmcaiid">12</article-id><article-id pub-id-type="pmid">55</article-id>',
            ("PMC77", "55", None),
        ),
        (
            '<article-id pub-id-type="doi">https://doi.org/10.1000/ABC.1</article-id>',
            (None, None, "10.1000/abc.1"),
        ),
        ('<article-id pub-id-type="publisher-id">x-1</article-id>', (None, None, None)),
    ],
)
def test_ids(read: Reader, ids: str, expected: tuple[str | None, ...]) -> None:
    got = read(meta=ids)
    assert (got.pmcid, got.pmid, got.doi) == expected


def test_metadata_ids_fill_gaps_and_a_foreign_pmcid_is_flagged(read: Reader) -> None:
    got = read(
        meta='<article-id pub-id-type="pmc">9</article-id>',
        source="pmc",
        locator="PMC123",
        pmid="5",
        doi="10.1234/x",
    )
    assert (got.pmcid, got.pmid, got.doi, got.flags) == ("PMC123", "5", "10.1234/x", ("id_mismatch",))


def test_titles_subjects_journal_year(read: Reader) -> None:
    got = read(
        attributes='article-type="case-report" xml:lang="PT_br"',
        journal="<journal-title-group><journal-title>Clinical  Notes</journal-title></journal-title-group>"
        "<publisher><publisher-name>A Press</publisher-name></publisher>",
        meta='<article-categories><subj-group subj-group-type="heading"><subject>Surgery</subject>'
        "<subj-group>"
        "<subject>Case Report</subject></subj-group></subj-group></article-categories>"
        "<title-group><article-title>Uma <italic>hérnia</italic> rara<xref ref-type='fn' rid='n1'>*</xref>"
        "</article-title><subtitle>Relato</subtitle>"
        '<trans-title-group xml:lang="en"><trans-title>A rare hernia</trans-title>'
        "</trans-title-group></title-group>"
        '<pub-date pub-type="collection"><year>2020</year></pub-date><pub-date><year>2019</year></pub-date>',
    )
    assert (got.title, got.language, got.article_type) == ("Uma hérnia rara: Relato", "pt-BR", "case-report")
    assert got.translated_titles == (Translated(language="en", text="A rare hernia"),)
    assert got.subjects == ("Surgery", "Surgery > Case Report")
    assert (got.journal, got.publisher, got.year) == ("Clinical Notes", "A Press", 2019)


def test_journal_title_of_nlm_2_files(read: Reader) -> None:
    assert read(journal="<journal-title>Old Journal</journal-title>").journal == "Old Journal"


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("EN", "en"),
        ("", "und"),
        (None, "und"),
        ("pt_br", "pt-BR"),
        ("zh-hans", "zh-Hans"),
        ("spa", "es"),
        ("x y", "und"),
    ],
)
def test_language_tags(tag: str | None, expected: str) -> None:
    assert normalise_language(tag) == expected


def test_abstracts_by_language_and_type(read: Reader) -> None:
    got = read(
        meta="<abstract><title>Abstract</title><sec><title>Background</title><p>Gout <sup>1</sup>is "
        "old.</p></sec>"
        "<sec><title>Methods</title><p>We looked.</p><list><list-item><p>Item.</p></list-item></list>"
        "</sec></abstract>"
        '<abstract abstract-type="graphical"><p><fig id="ga"><graphic xlink:href="ga.jpg"/></fig>'
        "Shown.</p></abstract>"
        '<trans-abstract xml:lang="ES"><p>La gota es antigua.</p></trans-abstract>'
    )
    assert [(abstract.language, abstract.type, abstract.text) for abstract in got.abstracts] == [
        ("en", "", "Background\nGout 1is old.\nMethods\nWe looked.\nItem."),
        ("en", "graphical", "Shown."),
        ("es", "", "La gota es antigua."),
    ]
    assert [(figure.id, figure.type) for figure in got.figures] == [("pmc:PMC123.1#ga", "graphical")]


def test_keywords_by_language_and_type_abbreviations_apart(read: Reader) -> None:
    got = read(
        meta='<kwd-group xml:lang="pt"><kwd>Gota</kwd><kwd><italic>E. coli</italic></kwd></kwd-group>'
        '<kwd-group kwd-group-type="research-organism"><kwd>Mouse</kwd></kwd-group>'
        '<kwd-group kwd-group-type="abbreviations"><kwd>CT, computed tomography</kwd></kwd-group>'
        "<kwd-group><compound-kwd><compound-kwd-part>bone</compound-kwd-part><compound-kwd-part>pain"
        "</compound-kwd-part></compound-kwd></kwd-group>",
        after="<back><glossary><def-list><def-item><term>MRI</term><def><p>magnetic resonance "
        "imaging</p></def>"
        "</def-item></def-list></glossary></back>",
    )
    assert [(group.language, group.type, group.terms) for group in got.keywords] == [
        ("pt", "", ("Gota", "E. coli")),
        ("en", "research-organism", ("Mouse",)),
        ("en", "", ("bone pain",)),
    ]
    assert got.abbreviations == ("CT = computed tomography", "MRI = magnetic resonance imaging")


def test_keywords_that_newer_files_hold_in_the_abstract(read: Reader) -> None:
    listed = "<sec sec-type='kwd-group'><p><bold>{}:</bold> {}</p></sec>"
    got = read(
        meta="<abstract><sec><title>Aim</title><p>To see: why.</p></sec>"
        + listed.format("Keywords", "gout, uric acid, PD\u20101")
        + listed.format("Abbreviations", "CT, computed tomography")
        + "</abstract><trans-abstract xml:lang='pt'><p>Ver.</p>"
        + listed.format("Palavras-chave", "gota; ácido úrico, sérico")
        + "</trans-abstract>"
    )
    assert [abstract.text for abstract in got.abstracts] == ["Aim\nTo see: why.", "Ver."]
    assert [(group.language, group.terms) for group in got.keywords] == [
        ("en", ("gout", "uric acid", "PD-1")),
        ("pt", ("gota", "ácido úrico, sérico")),
    ]


TITLE = "<title-group><article-title>{}</article-title></title-group>"
LINK = '<related-article related-article-type="{}" ext-link-type="{}" xlink:href="{}"/>'


@pytest.mark.parametrize(
    ("kind", "meta", "expected"),
    [
        ("research-article", TITLE.format("RETRACTED: A cure"), True),
        ("research-article", TITLE.format("Retracted Article: A cure"), True),
        ("research-article", TITLE.format("[Retracted] A cure"), True),
        ("research-article", TITLE.format("Retracted gums in the elderly"), False),
        ("research-article", LINK.format("retraction-forward", "doi", "10.1000/r"), True),
        ("retracted-article", TITLE.format("A cure"), True),
        (
            "retraction",
            TITLE.format("Retracted: A cure") + LINK.format("retracted-article", "doi", "10.1000/x"),
            False,
        ),
        ("retraction", TITLE.format("RETRACTED: A cure"), True),
        ("correction", LINK.format("corrected-article", "doi", "10.1000/x"), False),
    ],
)
def test_retraction(read: Reader, kind: str, meta: str, expected: bool) -> None:
    assert read(meta=meta, attributes=f'article-type="{kind}"').is_retracted is expected


def test_related_targets_are_normalised(read: Reader) -> None:
    links = [
        ("doi", "info:doi/10.1000/ABC"),
        ("uri", "https://doi.org/10.1000/abc"),
        ("pmc", "99"),
        ("uri", "http://e.x/1"),
    ]
    got = read(meta="".join(LINK.format("retracted-article", kind, href) for kind, href in links))
    assert got.related == tuple(
        RelatedArticle(type="retracted-article", id_type=kind, target=target)
        for (kind, _), target in zip(
            links, ["10.1000/abc", "10.1000/abc", "PMC99", "http://e.x/1"], strict=True
        )
    )


def test_a_retraction_notice_without_text_is_kept_for_its_link(read: Reader) -> None:
    got = read(
        body="",
        meta=LINK.format("retracted-article", "doi", "10.1000/x"),
        attributes='article-type="retraction"',
    )
    assert (got.flags, len(got.related)) == (("no_body",), 1)


def test_synthetic_mark(read: Reader) -> None:
    meta = (
        "<custom-meta-group><custom-meta><meta-name>synthetic</meta-name><meta-value>"
        "{}</meta-value></custom-meta></custom-meta-group>"
    )
    assert read(meta=meta.format("yes")).is_synthetic
    assert not read(meta=meta.format("no")).is_synthetic
    assert read(is_synthetic=True).is_synthetic


def test_authors_are_named_in_order_and_editors_are_not_authors(read: Reader) -> None:
    got = read(
        meta="<contrib-group>"
        '<contrib contrib-type="author"><name><surname>Diaz</surname><given-names>Ana M</given-names></name>'
        "<xref ref-type='aff' rid='a1'>1</xref></contrib>"
        '<contrib contrib-type="author"><name><surname>Roe</surname><given-names>J</given-names>'
        "<suffix>Jr</suffix></name></contrib>"
        '<contrib contrib-type="author"><name-alternatives><name><surname>Sato</surname></name>'
        "<string-name>佐藤</string-name></name-alternatives></contrib>"
        '<contrib contrib-type="author"><collab>The Trial Group<contrib-group><contrib>'
        "<name><surname>Member</surname></name></contrib></contrib-group></collab></contrib>"
        "<contrib><string-name>Lee K</string-name></contrib>"
        '<contrib contrib-type="editor"><name><surname>Editor</surname></name></contrib>'
        "</contrib-group>"
    )
    assert got.authors == ("Diaz Ana M", "Roe J Jr", "Sato", "The Trial Group", "Lee K")
    assert read().authors == ()


def test_the_year_of_the_copyright_serves_where_no_date_is_given(read: Reader) -> None:
    copyright = "<permissions><copyright-year>2024</copyright-year></permissions>"
    assert read(meta=copyright).year == 2024
    assert read(meta=f"<pub-date><year>2025</year></pub-date>{copyright}").year == 2025
    assert read(meta="<permissions><copyright-year>MMXX</copyright-year></permissions>").year is None


def test_keywords_without_a_language_are_in_the_articles(read: Reader) -> None:
    group = "<kwd-group{}><kwd>{}</kwd></kwd-group>".format
    typed, other = " kwd-group-type='author'", " kwd-group-type='mesh'"
    got = read(meta=group(typed, "lung") + group(other, "Lung") + group(" xml:lang='es'", "pulmón"))
    assert [(one.language, one.terms) for one in got.keywords] == [
        ("en", ("lung",)), ("en", ("Lung",)), ("es", ("pulmón",)),
    ]  # fmt: skip
    got = read(meta=group("", "lung") + group("", "pulmón"))
    assert [one.language for one in got.keywords] == ["und", "und"]
