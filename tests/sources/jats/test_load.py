from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import pytest

from schemas.article import Article
from schemas.errors import InputError
from schemas.stages import Reason
from sources.jats.load import MAX_BYTES, load

Parse = Callable[[bytes], Article]


def article(paragraph: str, *, before: str = "") -> str:
    return f"{before}<article><body><p>{paragraph}</p></body></article>"


def reason_of(data: bytes) -> str:
    with pytest.raises(InputError) as caught:
        load(data)
    return caught.value.reason


def test_named_entities_become_characters_without_a_dtd(read_bytes: Parse) -> None:
    got = read_bytes(article("caf&eacute;&nbsp;&alpha; &lt; &amp; &madeup; end").encode())
    assert got.passages[0].text == "café α < & &madeup; end"
    assert got.flags == ("entity_unknown",)


def test_entities_that_were_escaped_twice_become_characters(read_bytes: Parse) -> None:
    got = read_bytes(article("&amp;quot;a&amp;quot; &amp;lt;b&amp;gt; &amp;amp; AT&amp;T; R&amp;D").encode())
    assert got.passages[0].text == '"a" <b> & AT&T; R&D'
    assert got.flags == ()


def test_plain_character_entities_of_an_internal_subset_are_resolved(read_bytes: Parse) -> None:
    before = (
        '<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//NLM//DTD JATS" "j.dtd" [<!ENTITY deg "&#176;C">]>'
    )
    got = read_bytes(article("38&deg;", before=before).encode())
    assert (got.passages[0].text, got.flags) == ("38°C", ())


@pytest.mark.parametrize(
    "subset",
    [
        '<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">',
        '<!ENTITY a SYSTEM "file:///etc/hostname">',
        '<!ENTITY a PUBLIC "x" "http://127.0.0.1/x">',
        '<!ENTITY % p SYSTEM "http://127.0.0.1/x.dtd"> %p;',
        f'<!ENTITY a "{"x" * 65}">',
        '<!ENTITY a "<p>x</p>">',
        "".join(f'<!ENTITY e{n} "x">' for n in range(300)),
    ],
)
def test_hostile_declarations_are_refused(subset: str) -> None:
    data = article("&a;", before=f"<!DOCTYPE article [{subset}]>").encode()
    assert reason_of(data) == Reason.XML_HOSTILE


def test_a_declaration_without_end_is_refused() -> None:
    assert reason_of(b'<!DOCTYPE article [<!ENTITY a "x"') == Reason.XML_HOSTILE


@pytest.mark.parametrize("name", ["sec", "italic", "mml:mrow"])
@pytest.mark.parametrize("is_closed", [True, False])
def test_deep_nesting_is_refused_quickly(name: str, is_closed: bool) -> None:
    data = article(f"<{name}>" * 100_000 + (f"</{name}>" * 100_000 if is_closed else "")).encode()
    start = time.process_time()
    assert reason_of(data) == Reason.XML_HOSTILE
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("data", "flags"),
    [
        (article("é", before='<?xml version="1.0" encoding="UTF-16"?>').encode("utf-16"), ()),
        (article("é", before='<?xml version="1.0" encoding="ISO-8859-1"?>').encode("latin-1"), ()),
        (article("é").encode("utf-8-sig"), ()),
        (article("é", before='<?xml version="1.0" encoding="UTF-16"?>').encode(), ()),
        (
            article("é", before='<?xml version="1.0" encoding="x-unheard-of"?>').encode(),
            ("encoding_repaired",),
        ),
        (
            article("é", before='<?xml version="1.0" encoding="UTF-8"?>').encode("cp1252"),
            ("encoding_repaired",),
        ),
    ],
)
def test_encodings(read_bytes: Parse, data: bytes, flags: tuple[str, ...]) -> None:
    got = read_bytes(data)
    assert (got.passages[0].text, got.flags) == ("é", flags)


def test_comments_and_processing_instructions_leave_no_trace(read_bytes: Parse) -> None:
    got = read_bytes(article("Peri<!-- not this -->cardial <?page 12?>rub<!--x--> heard.").encode())
    assert got.passages[0].text == "Pericardial rub heard."


def test_cdata_is_text(read_bytes: Parse) -> None:
    assert (
        read_bytes(article("<![CDATA[p < 0.05 & &nbsp;]]>").encode()).passages[0].text == "p < 0.05 & &nbsp;"
    )


def test_ill_formed_input_is_recovered_and_flagged(read_bytes: Parse) -> None:
    got = read_bytes(b"<article><body><p>AT&T and <italic>E. coli</p><p>Second.</p></body></article>")
    assert [passage.text for passage in got.passages] == ["AT&T and E. coli", "Second."]
    assert got.flags == ("xml_recovered",)


def test_a_lost_end_tag_does_not_lose_the_body(read_bytes: Parse) -> None:
    got = read_bytes(
        b"<article><front><article-meta><title-group><article-title>T</article-title></title-group>"
        b"</article-meta><body><p>Kept.</p></body></article>"
    )
    assert [passage.text for passage in got.passages] == ["Kept."]


def test_undeclared_prefixes_are_read_by_local_name(read_bytes: Parse) -> None:
    got = read_bytes(
        b'<article><body><fig id="F1"><graphic xlink:href="a.jpg"/></fig>'
        b"<p>At <mml:math><mml:mi>x</mml:mi></mml:math>.</p></body></article>"
    )
    assert got.figures[0].graphics[0].href == "a.jpg"
    assert got.passages[0].text == "At x."


def test_default_namespace_and_foreign_ids(read_bytes: Parse) -> None:
    got = read_bytes(
        b'<article xmlns="https://jats.nlm.nih.gov/ns/archiving/1.4/" xmlns:hwp="urn:h" xml:lang="EN">'
        b'<body><fig hwp:id="h1" id="F1"><label>Figure 1</label></fig></body></article>'
    )
    assert (got.language, got.figures[0].id) == ("en", "pmc:PMC123.1#F1")


@pytest.mark.parametrize("wrapper", ["pmc-articleset", "OAI-PMH", "articles"])
def test_one_article_is_taken_out_of_its_wrapper(read_bytes: Parse, wrapper: str) -> None:
    got = read_bytes(f'<{wrapper} xmlns="urn:w"><record>{article("Inside.")}</record></{wrapper}>'.encode())
    assert (got.passages[0].text, got.flags) == ("Inside.", ("article_unwrapped",))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (f"<articles>{article('a')}{article('b')}</articles>".encode(), Reason.NOT_AN_ARTICLE),
        (b"<book-part-wrapper><book-part/></book-part-wrapper>", Reason.NOT_AN_ARTICLE),
        (b"<html><body><p>Not found</p></body></html>", Reason.NOT_AN_ARTICLE),
        (b"", Reason.XML_INVALID),
        (b"\x89PNG\r\n", Reason.XML_INVALID),
        (b"plain words", Reason.XML_INVALID),
        (b"<" * (MAX_BYTES + 1), Reason.TOO_LARGE),
    ],
)
def test_unusable_input_is_named(data: bytes, reason: str) -> None:
    assert reason_of(data) == reason


def test_an_article_with_nothing_in_it_is_refused_with_its_record_and_file(read_bytes: Parse) -> None:
    with pytest.raises(InputError) as caught:
        read_bytes(b"<article><front><article-meta/></front></article>")
    assert (caught.value.reason, caught.value.record, caught.value.file) == (
        Reason.NO_BODY,
        "pmc:PMC123.1",
        "a.xml",
    )


@pytest.mark.parametrize(
    "reference", ["&#xD800;", "&#0;", "&#xFFFE;", "&#1114112;", "&#" + "9" * 5_000 + ";"]
)
def test_references_to_no_character_are_left_out_of_a_recovered_file(
    read_bytes: Parse, reference: str
) -> None:
    data = f"<article><body><p id='a{reference}'>one{reference} &#233;</p><p>two</b></p></body></article>"
    read = read_bytes(data.encode())
    assert "xml_recovered" in read.flags
    assert [passage.text for passage in read.passages] == ["one é", "two"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("unclosed", ["<!--", "<?x ", "<![CDATA[", "<!ENTITY ", "<!ENTITY a '", "[", "<"])
@pytest.mark.parametrize("place", ["<!DOCTYPE article [{}]>", "<!DOCTYPE article {}>", "{}"])
def test_what_never_ends_is_read_once(place: str, unclosed: str) -> None:
    """A megabyte of it took minutes when each one looked for its end."""
    data = (
        place.format(unclosed * (1_000_000 // len(unclosed)))
        + "<article><body><p>&nbsp;x</p></body></article>"
    )
    with contextlib.suppress(InputError):
        load(data.encode())
