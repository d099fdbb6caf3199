"""The text of a case: joined, neutralised, undone, and where a quote of a passage stands in it."""

from __future__ import annotations

from typing import Any

from curation.extract.neutralise import restore
from curation.tasks.shared.case_text import SKETCH, assemble, sketch
from curation.tasks.shared.words import GRAM
from schemas.article import ArticlePassage
from schemas.case import Case, CaseSpan
from schemas.extracted import Passage, Pointer
from schemas.hashing import sha256_text
from tests.curation.tasks.case_world import story

FIRST = "Case 1. A man came with pain (Fig. 1). He agreed to publication. Fig. 2A shows a nodule."
SECOND = "He was well a year later, as in Table 3 and Figure 4."


def passage(name: str, text: str, marks: tuple[str, ...] = (), **changes: Any) -> Passage:
    pointers = tuple(
        Pointer(start=text.index(mark), end=text.index(mark) + len(mark), figures=()) for mark in marks
    )
    return Passage(
        id=name,
        article_id="pmc:PMC1.1",
        number=1,
        section=1,
        text=text,
        text_sha256=sha256_text(text),
        pointers=pointers,
        **{"language": "en", **changes},
    )


def case(*spans: tuple[str, int, int]) -> Case:
    return Case(
        id="pmc:PMC1.1#case1",
        article_id="pmc:PMC1.1",
        number=1,
        label="",
        rule="section",
        spans=tuple(CaseSpan(passage_id=name, start=a, end=b, role="findings") for name, a, b in spans),
    )


def span(name: str, text: str, words: str) -> tuple[str, int, int]:
    return name, text.index(words), text.index(words) + len(words)


PASSAGES = {
    "p1": passage("p1", FIRST, ("Fig. 1", "Fig. 2A")),
    "p2": passage("p2", SECOND, ("Table 3", "Figure 4")),
}
CASE = case(
    span("p1", FIRST, "A man came with pain (Fig. 1)."),
    span("p1", FIRST, "Fig. 2A shows a nodule."),
    ("p2", 0, len(SECOND)),
)


def test_spans_are_joined_in_order_and_pointers_go() -> None:
    text = assemble(CASE, PASSAGES, {}, "en")
    assert text is not None
    assert text.source == f"A man came with pain (Fig. 1). Fig. 2A shows a nodule.\n{SECOND}"
    assert text.released == (
        "A man came with pain. The figure shows a nodule.\n"
        "He was well a year later, as in the table and the figure."
    )
    assert restore(text.released, text.transforms) == text.source
    assert text.language == "en"


def test_a_passage_that_only_points_leaves_no_empty_line() -> None:
    texts = {"a": "It grew (Fig. 1)", "b": "See Figure 2.", "c": "He was well."}
    passages = {
        name: passage(name, text, tuple(mark for mark in ("Fig. 1", "Figure 2") if mark in text))
        for name, text in texts.items()
    }
    text = assemble(case(*((name, 0, len(words)) for name, words in texts.items())), passages, {}, "en")
    assert text is not None
    assert text.released == "It grew\nHe was well."
    assert text.source == "\n".join(texts.values())
    assert restore(text.released, text.transforms) == text.source
    assert text.locate("c", 0, 2) == (text.source.index("He was"), text.source.index("He was") + 2)


def test_a_quote_of_a_passage_is_found_in_the_joined_text() -> None:
    text = assemble(CASE, PASSAGES, {}, "en")
    assert text is not None
    for name, whole, words in (("p1", FIRST, "nodule"), ("p2", SECOND, "a year later")):
        found = text.locate(*span(name, whole, words))
        assert found is not None and text.source[found[0] : found[1]] == words
    assert text.locate(*span("p1", FIRST, "He agreed")) is None
    assert text.locate(*span("p1", FIRST, "pain (Fig. 1). He")) is None
    assert text.locate("p3", 0, 2) is None


def test_a_pointer_across_the_end_of_a_span_is_cut() -> None:
    words = "He came, see Fig"
    text = assemble(case(("p1", 0, len(words))), {"p1": passage("p1", f"{words}. 1.", ("Fig. 1",))}, {}, "en")
    assert text is not None
    assert text.source == words and "Fig" not in text.released
    assert restore(text.released, text.transforms) == words


def test_a_case_goes_on_in_a_later_document() -> None:
    later = ArticlePassage(id="next#p4", section=1, text=SECOND, text_sha256=sha256_text(SECOND))
    text = assemble(case(("p1", 0, 7), ("next#p4", 0, len(SECOND))), PASSAGES, {"next#p4": later}, "es")
    assert text is not None
    assert text.source == f"Case 1.\n{SECOND}"
    assert "Table 3" not in text.released and "Figure 4" not in text.released
    assert restore(text.released, text.transforms) == text.source


def test_a_case_with_a_passage_missing_or_no_spans_has_no_text() -> None:
    assert assemble(case(("p1", 0, 7), ("gone", 0, 5)), PASSAGES, {}, "en") is None
    assert assemble(case(), PASSAGES, {}, "en") is None


def test_sketches_tell_copied_stretches_from_chance() -> None:
    one, other = story(1), story(2)
    assert len(sketch(one)) == SKETCH and sketch(one) == tuple(sorted(sketch(one)))
    assert sketch(one.upper().replace(" ", "; ")) == sketch(one)
    assert not set(sketch(one)) & set(sketch(other))
    mixed = f"{other} {' '.join(one.split()[:80])}"
    assert len(set(sketch(one)) & set(sketch(mixed))) >= 3
    assert sketch(" ".join(one.split()[: GRAM - 1])) == ()
    assert len(sketch("患者因发热就诊，体温三十九度。" * 2)) > 0
