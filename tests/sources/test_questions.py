"""Question collections: what is read, what is refused, and that nothing is lost on the way."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.hostile import questions as mutated
from schemas.article import RawArticle
from schemas.errors import InputError, UsageError
from schemas.question import Citation
from schemas.stages import Drop, Reason
from sources.questions import (
    QuestionsContext,
    discover,
    fetch,
    root_of,
)
from sources.questions.citations import from_text, read_citations
from sources.questions.json_records import split
from sources.questions.sidecar import read_sidecar
from tests.sources.fakes.questions import FULL, SIDECAR, opened, put, read, run


@pytest.fixture
def context(tmp_path: Path) -> Iterator[QuestionsContext]:
    with opened(tmp_path) as made:
        yield made


def test_documented_record(context: QuestionsContext) -> None:
    [question], [collection], drops = read(context, [FULL])
    assert not drops
    assert question.id == "questions:ours/q%201"
    assert question.text == "Which drug?\n\nNa 120, K 4"
    assert [(each.letter, each.text) for each in question.options] == [
        ("A", "one"),
        ("B", "two"),
        ("C", "three"),
    ]
    assert question.correct == ("A", "C")
    assert question.citations == (
        Citation(kind="pmid", target="7"),
        Citation(kind="text", target="A book, 2020."),
    )
    assert (question.language, question.subject, question.answer) == (
        "de",
        "pharmacology",
        "The first and the third.",
    )
    assert question.licence.spdx == "CC-BY-4.0"
    assert (collection.records, collection.questions, collection.id) == (1, 1, question.collection)


@pytest.mark.parametrize("shape", ["lines", "array", "indented", "bom", "crlf"])
def test_shapes_of_file_agree(context: QuestionsContext, shape: str) -> None:
    records = [{**FULL, "id": f"q{number}", "answer": 'a "b" \\ [c] {d}'} for number in range(300)]
    lines = "\n".join(json.dumps(each) for each in records)
    data = {
        "lines": f"\n{lines}\n\n",
        "array": json.dumps(records),
        "indented": json.dumps(records, indent=4) + "\n",
        "bom": "\ufeff" + lines,
        "crlf": lines.replace("\n", "\r\n"),
    }[shape]
    questions, [collection], drops = read(context, data.encode())
    assert [each.number for each in sorted(questions, key=lambda each: each.number)] == list(range(1, 301))
    assert {each.id for each in questions} == {f"questions:ours/q{number}" for number in range(300)}
    assert (collection.records, drops) == (300, [])


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"question": " "}, "no question"),
        ({"question": None}, "no question"),
        ({"question": ["x"]}, "question is a JSON list"),
        ({"id": ""}, "no id"),
        ({"id": "x" * 300}, "an id longer"),
        ({"correct": ["D"]}, "correct option 'D'"),
        ({"correct": 1}, "not named by its letter"),
        ({"options": {"A": ""}}, "without a letter or a text"),
        ({"options": "A"}, "neither an object nor a list"),
        ({"options": ["x"] * 27}, "more options than letters"),
        ({"options": [{"letter": "A", "text": "x"}, {"letter": "A", "text": "y"}]}, "with one letter"),
        ({"options": None}, "correct option 'C'"),
        ({"citations": [{"pmid": "none"}]}, "citation 1: not a PMID"),
        ({"citations": [{"isbn": "1"}]}, "unknown key 'isbn'"),
        ({"citations": [{}]}, "citation 1: empty"),
        ({"language": "English please"}, "not a language tag"),
    ],
)
def test_contradicting_record_is_dropped_with_its_line(
    context: QuestionsContext, change: dict[str, Any], what: str
) -> None:
    questions, [collection], [drop] = read(context, [{**FULL, "id": "good"}, {**FULL, **change}])
    assert [each.number for each in questions] == [1]
    assert (drop.reason, drop.unit, drop.id) == (Reason.RECORD_INVALID, "question", "questions:ours@2")
    assert drop.detail.startswith("line 2: ") and what in drop.detail
    assert (collection.records, collection.questions) == (2, 1)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"{", "not JSON"),
        (b'["x"]', "a JSON list, not an object"),
        (b'{"id": "a", "id": "b", "question": "x"}', "a key twice"),
        (b'{"id": NaN, "question": "x"}', "NaN is no number"),
        (b'{"id": "a", "question": "\xff"}', "not UTF-8 at byte 25"),
        (b'{"id": "a", "question": "x\x00"}', "not JSON"),
        (b'{"id": "a", "question": "\\ud800"}', "half of a surrogate pair"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"id": ' + b"9" * 6_000 + b"}", "not JSON"),
        (b'{"id": "q1", "question": "again"}', "its id is that of record 1"),
        (b'{"id": "a", "question": "' + b"x" * 2_000_000 + b'"}', "longer than 1048576 bytes"),
    ],
)
def test_bad_line_is_dropped_and_the_next_one_read(context: QuestionsContext, line: bytes, what: str) -> None:
    good = b'{"id": "q%d", "question": "ok"}'
    questions, [collection], [drop] = read(context, b"\n".join([good % 1, b"", line, good % 2]))
    assert {each.id for each in questions} == {"questions:ours/q1", "questions:ours/q2"}
    assert drop.detail.startswith("line 3: ") and what in drop.detail
    assert "again" not in drop.detail
    assert collection.records == 3


@pytest.mark.parametrize(
    ("data", "numbers"),
    [
        (b'[{"id":"a","question":"x"},{"id":"b","question":"y"', [1]),
        (b'[{"id":"a","question":"x"},]', [1]),
        (b'[{"id":"a","question":"x"}] trailing', [1]),
        (b'[{"id":"a","question":"x},\n{"id":"b","question":"y"},\n{"id":"c","question":"z"}]', []),
        (b'[{"id":"a","question":"x},\n1},\n{"id":"c","question":"z"}]', [2]),
        (b'[1,{"id":"a","question":"x"},,{"id":"b","question":"y"}]', [2, 4]),
    ],
)
def test_damaged_array_accounts_for_every_byte(
    context: QuestionsContext, data: bytes, numbers: list[int]
) -> None:
    questions, [collection], drops = read(context, data)
    assert sorted(each.number for each in questions) == numbers
    assert collection.records == len(questions) + len(drops) > len(numbers)


def test_array_is_split_the_same_whatever_the_chunks(tmp_path: Path) -> None:
    records = [{"text": "\\" * number + '"' * (number % 3) + "é" * 900, "n": number} for number in range(400)]
    path = tmp_path / "x.json"
    path.write_text(json.dumps(records, ensure_ascii=False), encoding="utf-8")
    with path.open("rb") as handle:
        pieces = list(split(handle, 100_000))
    assert [json.loads(piece.data or b"") for piece in pieces] == records


def test_whole_file_refused(context: QuestionsContext) -> None:
    for data in (b"", b"  \n", b"[]", json.dumps([FULL]).encode("utf-16")):
        questions, collections, [drop] = read(context, data)
        assert (questions, collections) == ([], [])
        assert (drop.unit, drop.id, drop.reason) == ("collection", "questions:ours", Reason.RECORD_INVALID)


def test_foreign_shapes_are_mapped(context: QuestionsContext) -> None:
    sidecar = SIDECAR + (
        'correct_from = 0\n[fields]\nid = ""\ncontext = "case.text"\noptions = ["opa", "opb", "opc"]\n'
        'correct = "cop"\nexplanation = "exp"\ncitations = "documents"\n'
    )
    record = {
        "case": {"text": "A man of 60."},
        "question": "What next?",
        "opa": "wait",
        "opb": "operate",
        "opc": "",
        "cop": 1,
        "exp": "Guidelines.",
        "documents": ["http://www.ncbi.nlm.nih.gov/pubmed/15829955"],
    }
    [question], _, drops = read(context, [record, {**record, "cop": 2}], sidecar)
    assert question.text == "A man of 60.\n\nWhat next?"
    assert (question.correct, question.explanation) == (("B",), "Guidelines.")
    assert question.citations == (Citation(kind="pmid", target="15829955"),)
    assert len(question.id) == len("questions:ours/") + 16
    assert ["correct option 2 is not among" in drop.detail for drop in drops] == [True]


def test_listed_options(context: QuestionsContext) -> None:
    shapes: list[Any] = [["x", "y"], [{"key": "A", "value": "x"}, {"key": "B", "value": "y"}]]
    records = [{"id": n, "question": "?", "options": each, "correct": "B"} for n, each in enumerate(shapes)]
    questions, _, drops = read(context, records)
    assert not drops
    assert all([(o.letter, o.text) for o in q.options] == [("A", "x"), ("B", "y")] for q in questions)
    assert {q.correct for q in questions} == {("B",)}


@pytest.mark.parametrize(
    ("text", "kind", "target"),
    [
        ("https://pubmed.ncbi.nlm.nih.gov/123/?term=x", "pmid", "123"),
        ("http://www.ncbi.nlm.nih.gov/pubmed/0123", "pmid", "123"),
        ("https://europepmc.org/article/MED/123", "pmid", "123"),
        ("PMID: 123", "pmid", "123"),
        ("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC12/figure/F1/", "pmcid", "PMC12"),
        ("https://pmc.ncbi.nlm.nih.gov/articles/pmc12", "pmcid", "PMC12"),
        ("https://europepmc.org/article/PMC/PMC12", "pmcid", "PMC12"),
        ("PMC12.2", "pmcid", "PMC12"),
        ("https://doi.org/10.1000/A%28b%29", "doi", "10.1000/a(b)"),
        ("doi:10.1000/x", "doi", "10.1000/x"),
        ("https://example.org/pubmed/1", "url", "https://example.org/pubmed/1"),
        ("https://pubmed.ncbi.nlm.nih.gov/?term=x", "url", "https://pubmed.ncbi.nlm.nih.gov/?term=x"),
        ("https://[bad", "text", "https://[bad"),
        ("123", "text", "123"),
        ("Smith J.  Lancet 2001", "text", "Smith J. Lancet 2001"),
    ],
)
def test_citation_forms(text: str, kind: str, target: str) -> None:
    found = from_text(text)
    assert (found.kind, found.target) == (kind, target)


def test_best_identifier_of_a_citation_wins() -> None:
    both = {"text": "Smith 2001", "doi": "10.1000/x", "pmid": " 5 "}
    assert read_citations(both) == (Citation(kind="pmid", target="5"),)
    assert read_citations(["PMID 5", {"pmid": 5}]) == (Citation(kind="pmid", target="5"),)
    with pytest.raises(InputError):
        read_citations([True])


@pytest.mark.parametrize(
    ("licence", "spdx"),
    [
        ("https://creativecommons.org/licenses/by-sa/4.0/", "CC-BY-SA-4.0"),
        ("CC BY 4.0", "CC-BY-4.0"),
        ("Apache-2.0", "Apache-2.0"),
        ("https://example.org/terms", "LicenseRef-unknown"),
        ("see the website", "LicenseRef-unknown"),
    ],
)
def test_licence_of_a_sidecar(licence: str, spdx: str) -> None:
    made = read_sidecar(f'name = "x"\nlanguage = "fr"\nlicence = "{licence}"'.encode()).stated_licence()
    assert (made.spdx, made.statement, made.evidence) == (spdx, licence, "questions:sidecar licence")


@pytest.mark.parametrize(
    "sidecar",
    ["", "name = ", 'name = "A b"\nlicence = "CC0-1.0"\nlanguage = "en"', SIDECAR + 'colour = "red"', "\x00"],
)
def test_unusable_sidecar_drops_the_collection(context: QuestionsContext, sidecar: str) -> None:
    drop = fetch(put(context, [FULL], sidecar), context)
    assert isinstance(drop, Drop)
    assert (drop.id, drop.reason) == ("q.jsonl", Reason.METADATA_INVALID)


def test_missing_files_are_drops(context: QuestionsContext, tmp_path: Path) -> None:
    (context.root / "lone.jsonl").write_bytes(b"{}")
    (context.root / "dangling.meta.toml").write_text(SIDECAR, encoding="utf-8")
    reasons = {}
    for locator in discover(context.root):
        drop = fetch(locator, context)
        assert isinstance(drop, Drop)
        reasons[drop.id] = drop.reason
    assert reasons == {"lone.jsonl": Reason.METADATA_INVALID, "dangling.meta.toml": Reason.NOT_FOUND}
    with pytest.raises(UsageError):
        discover(tmp_path / "absent")


def test_sidecar_may_stand_elsewhere(context: QuestionsContext, tmp_path: Path) -> None:
    (tmp_path / "data.json").write_text(json.dumps([FULL]), encoding="utf-8")
    own = context.root / "mine.meta.toml"
    own.write_text(SIDECAR + 'file = "../data.json"\nsynthetic = true\n', encoding="utf-8")
    assert discover(own) == ["mine.meta.toml"] and root_of(own) == context.root
    raw = fetch("mine.meta.toml", context)
    assert isinstance(raw, RawArticle)
    [question], _, _ = run(context, raw)
    assert raw.is_synthetic and question.is_synthetic


def test_stored_once_and_anew_when_edited(context: QuestionsContext) -> None:
    first = fetch(put(context, [FULL]), context)
    assert isinstance(first, RawArticle)
    stored = context.store.root / first.path
    before = stored.stat().st_mtime_ns
    assert fetch("q.jsonl", context) == first
    assert stored.stat().st_mtime_ns == before
    second = fetch(put(context, [{**FULL, "question": "Another?"}]), context)
    assert isinstance(second, RawArticle)
    assert second.path != first.path and second.id == first.id and stored.exists()
    assert not list(context.store.root.rglob("*.part"))


def test_too_large_a_file(context: QuestionsContext) -> None:
    small = QuestionsContext(context.root, context.store, max_bytes=10)
    drop = fetch(put(context, [FULL]), small)
    assert isinstance(drop, Drop) and drop.reason == Reason.TOO_LARGE


def test_damaged_files_lose_nothing() -> None:
    outcomes = Counter(
        mutated.outcome(data).split(":")[0] for _, _, data in mutated.mutants(mutated.seeds(), 63, 11)
    )
    assert outcomes["read"] >= 50


def test_a_record_begins_on_the_line_of_its_first_character() -> None:
    text = b'[\n\n {"a": 1},\n\n{"b":\n "\\"]"},\n\\\n3\n]'
    found = [(piece.number, piece.line, piece.data) for piece in split(io.BytesIO(text), 100)]
    assert found == [(1, 3, b'{"a": 1}'), (2, 5, b'{"b":\n "\\"]"}'), (3, 7, b"\\\n3")]
