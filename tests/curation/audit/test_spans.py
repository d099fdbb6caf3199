"""Rules on copied words: queries that copy their answer, and unjudged copies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from curation.audit.rules import spans, texts
from curation.similarity.text.candidates import COMMON
from schemas.audit import RuleResult
from tests.curation.audit import small

RUN = "left upper abdomen shows a small rounded lesion with smooth margin and no"
assert len(RUN.split()) == 13
DOCUMENT = f"Further imaging: the {RUN.upper().replace(' ', ' / ')} calcification was seen."


def checked(name: str, tmp_path: Path, kind: Any = "release", **tables: Any) -> RuleResult:
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    names = ("queries", "corpus", "qrels", "excluded") if kind == "release" else ()
    empty: dict[str, Any] = {name: [] for name in names}
    further = ("provenance_queries", "sources") if kind == "release" else ()
    subject = small.dataset(tmp_path / "data", {**empty, **{name: [] for name in further}, **tables}, kind)
    rules = (*spans.RULES, *texts.RULES[-3:])
    return small.check(small.rule_of(rules, name), subject, scratch)


def pair(query: str, document: str) -> dict[str, Any]:
    return {
        "queries": small.queries(("q1", query), ("q2", "Unrelated wording about something else")),
        "corpus": small.texts(("d1", document), ("d2", "Nothing of the kind stands in this passage at all")),
        "qrels": small.qrels(("q1", "d1"), ("q2", "d2")),
    }


@pytest.mark.parametrize(
    ("query", "document", "words"),
    [
        (f"What if {RUN}?", DOCUMENT, 13),
        (f"What if {RUN.rsplit(' ', 1)[0]}?", DOCUMENT, 0),
        ("Axial view of the liver.", "Here the axial view of the LIVER was unremarkable.", 5),
        ("Axial view of liver.", "Here the axial view of liver was unremarkable.", 0),
        ("Axial view of the liver.", "Here the axial view of a liver was unremarkable.", 0),
        ("胸部単純写真の異常陰影", "右の胸部単純写真の異常陰影は消えた", 5.5),
        ("胸部単純", "右の胸部単純写真", 0),
    ],
)
def test_a_query_that_copies_its_answer(tmp_path: Path, query: str, document: str, words: float) -> None:
    found = checked("self_match", tmp_path, **pair(query, document))
    assert found.found == (words > 0)
    for finding in found.findings:
        one, two = finding.sides
        assert (one.id, two.id) == ("q1", "d1") and f"{words:g} consecutive" in finding.message
        assert query[one.start : one.end] == one.quote and document[two.start : two.end] == two.quote


def test_every_positive_is_compared_though_the_words_are_boilerplate(tmp_path: Path) -> None:
    many = [(f"d{number:03d}", f"Report {number}: {RUN}.") for number in range(COMMON + 5)]
    tables = {
        "queries": small.queries(
            ("q1", RUN), ("q2", "two words"), ("q3", "is not judged with anything here")
        ),
        "corpus": small.texts(*many),
        "qrels": small.qrels(("q1", "d007"), ("q2", "d008"), ("q3", "gone"))
        + small.qrels(("q1", "d009"), score=0),
    }
    found = checked("self_match", tmp_path, **tables)
    assert small.named(found) == {"q1", "d007"} and found.compared == 1
    assert [(item.skipped, item.why[:9]) for item in found.coverage[1:]] == [
        (1, "the query"),
        (1, "an id of "),
    ]
    copied = checked("copied_span", tmp_path, **tables)
    assert copied.status == "passed"
    assert [item.skipped for item in copied.coverage if "fingerprints" in item.unit] != []


def test_unjudged_copies_are_named_and_judged_ones_are_not(tmp_path: Path) -> None:
    tables = {
        "queries": small.queries(("q1", f"What if {RUN}?")),
        "corpus": small.texts(
            ("d1", DOCUMENT), ("d2", DOCUMENT + " Once."), ("d3", DOCUMENT + " Again, more.")
        ),
        "qrels": small.qrels(("q1", "d1")),
        "excluded": [{"query-id": "q1", "corpus-id": "d2", "reason": "own_article"}],
    }
    found = checked("copied_span", tmp_path, **tables)
    assert (found.found, found.severity) == (1, "warn")
    (finding,) = found.findings
    assert [side.id for side in finding.sides] == ["q1", "d3"]
    assert finding.sides[0].quote == RUN and finding.sides[1].quote.lower().replace(" / ", " ") == RUN
    foreign = {name: tables[name] for name in ("queries", "corpus")}
    assert checked("copied_span", tmp_path, "beir", **foreign).found == 3


def test_findings_come_in_order_of_ids_and_are_capped(tmp_path: Path) -> None:
    queries = small.queries(*((f"q{number:02d}", f"{RUN} number {number}") for number in range(9, -1, -1)))
    corpus = small.texts(*((f"d{number:02d}", f"{number} {DOCUMENT}") for number in range(11, -1, -1)))
    found = checked("copied_span", tmp_path, queries=queries, corpus=corpus)
    assert (found.found, len(found.findings)) == (120, 50)
    shown = [tuple(side.id for side in finding.sides) for finding in found.findings]
    assert shown == sorted(shown) and shown[0] == ("q00", "d00")
    assert all(side.quote for finding in found.findings for side in finding.sides)


def test_empty_tables_are_nothing_to_compare(tmp_path: Path) -> None:
    for name in ("self_match", "copied_span", "figure_numbers", "answer_ids"):
        assert checked(name, tmp_path).status == "not_applicable"


def test_ids_of_the_answer_in_other_layouts(tmp_path: Path) -> None:
    tables = pair("Which report is DOC-1017 about?", "A document.")
    tables["qrels"] = small.qrels(("q1", "doc-1017"))
    found = checked("answer_ids", tmp_path, "beir", **tables)
    assert small.named(found) == {"q1"} and found.findings[0].sides[0].quote == "DOC-1017"
    clean = checked("answer_ids", tmp_path, "beir", **pair("Which report?", "A document."))
    assert clean.status == "not_covered"


def test_identifiers_in_queries_are_named_and_those_in_documents_are_not(tmp_path: Path) -> None:
    queries = small.queries(
        ("q1", "Registered as NCT01234567 in May."), ("q2", "A dose of 10.5 mg/kg in 2011.")
    )
    corpus = small.texts(("d1", "As https://doi.org/10.1000/182 says."))
    found = checked("identifiers", tmp_path, queries=queries, corpus=corpus)
    assert (found.status, small.named(found)) == ("failed", {"q1"})
    assert found.findings[0].message.endswith("NCT01234567")
