"""Overlap rules: three tasks built by hand, one planted overlap per dimension, each found and named."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curation.audit.dataset import Dataset
from curation.audit.executor import SerialExecutor
from curation.audit.report import run_rule
from curation.audit.rule import Context
from curation.audit.rules import overlap
from curation.audit.rules.overlap_keys import family
from schemas.audit import OverlapCell
from schemas.ids import family_key
from schemas.tables import QUERIES
from tests.curation.audit.overlapping import (
    DIMENSIONS,
    TASKS,
    Made,
    run,
    three,
)
from tests.curation.audit.small import rule_of
from tests.curation.release.known import run_sql


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_three_clean_tasks_share_nothing_and_every_pair_is_in_the_matrix(
    dimension: str, tmp_path: Path
) -> None:
    result, cells = run(dimension, three(), tmp_path)
    assert (result.status, result.found, result.note, result.compared) == ("passed", 0, "", 4)
    assert [(cell.one, cell.other, cell.shared, cell.level) for cell in cells] == [
        ("clinical_case/dev", "clinical_evidence/test", 0, "zero"),
        ("clinical_case/dev", "reference_qa/test", 0, "zero"),
        ("clinical_case/test", "clinical_case/dev", 0, "zero"),
        ("clinical_case/test", "clinical_evidence/test", 0, "zero"),
        ("clinical_case/test", "reference_qa/test", 0, "zero"),
    ]
    keys = {"article": 8}.get(dimension, 4)
    assert [cell.keys for cell in cells] == [keys // 4] * 3 + [keys * 3 // 4] * 2
    assert [(item.compared_with, item.compared, item.skipped) for item in result.coverage] == [
        ("", keys, 0),
        ("small@1.0.0/clinical_evidence", keys, 0),
        ("small@1.0.0/reference_qa", keys, 0),
    ]


Plant = Callable[[Made, Made, str], tuple[str, str, str]]
"""Plants into two tasks (or twice into one, the second time in dev): both queries and the key."""


def shared_target(one: Made, two: Made, split: str) -> tuple[str, str, str]:
    ids = one.add("a", targets=["HP:0001"]), two.add("b", split=split, targets=["HP:0000", "HP:0001"])
    return *ids, "HP:0001"


def shared_text(one: Made, two: Made, split: str) -> tuple[str, str, str]:
    """The texts differ in case, punctuation, spacing and Unicode composition; no key says so."""
    a = one.add("a", "Wo liegt die Ma\u0308ngelruege, \u2014 ORBITA?", states_keys=False)
    b = two.add("b", "  wo\tliegt (die) M\u00c4NGELRUEGE orbita\n", split=split, states_keys=False)
    return a, b, hashlib.sha256("wo liegt die m\u00e4ngelruege orbita".encode()).hexdigest()


def shared_family(one: Made, two: Made, split: str) -> tuple[str, str, str]:
    return one.add("a", family_id="f'1"), two.add("b", split=split, family_id="f'1"), "family:f'1"


def article_of_queries(one: Made, two: Made, split: str) -> tuple[str, str, str]:
    a = one.add("a", article="pmc:PMC31.1", states_keys=False)
    return a, two.add("b", split=split, article="pmc:PMC31.12", states_keys=False), "pmc:PMC31"


def article_of_positives(one: Made, two: Made, split: str) -> tuple[str, str, str]:
    a, b = one.add("a"), two.add("b", split=split)
    one.positive(a, "europepmc:PMC32", "p1")
    two.positive(b, "pmc:PMC32.4", "p9")
    return a, b, "pmc:PMC32"


def article_of_query_and_positive(one: Made, two: Made, split: str) -> tuple[str, str, str]:
    a, b = one.add("a", article="doi:10.1/x.2"), two.add("b", split=split)
    two.positive(b, "doi:10.1/x.2", "p9", score=1)
    return a, b, "doi:10.1/x.2"


def article_in_ids_alone(one: Made, two: Made, split: str) -> tuple[str, str, str]:
    """Provenance and keys tell another story than the ids of the source and the document."""
    a = one.add("a", article="pmc:PMC33.1", source="pmc:PMC34.1#fig1")
    b = two.add("b", split=split)
    two.positive(b, "pmc:PMC35.1", document="pmc:PMC34.2#p1")
    return a, b, "pmc:PMC34"


def article_in_keys_alone(one: Made, two: Made, split: str) -> tuple[str, str, str]:
    a, b = one.add("a"), two.add("b", split=split)
    one.key(a, "article", "pmc:PMC36")
    two.key(b, "article", "pmc:PMC36")
    return a, b, "pmc:PMC36"


def shared_patient(one: Made, two: Made, split: str) -> tuple[str, str, str]:
    a = one.add("a", patient="pmc:PMC41.1#case2", states_keys=False)
    return a, two.add("b", split=split, patient="pmc:PMC41.2#case2", states_keys=False), "pmc:PMC41#case2"


def patient_of_positive(one: Made, two: Made, split: str) -> tuple[str, str, str]:
    a, b = one.add("a", patient="pmc:PMC42.1#case1"), two.add("b", split=split)
    two.positive(b, "pmc:PMC43.1", patient="europepmc:PMC42#case1")
    return a, b, "pmc:PMC42#case1"


def shared_fetched(one: Made, two: Made, split: str) -> tuple[str, str, str]:
    a = one.add("a", fetched="ab" * 32, states_keys=False)
    return a, two.add("b", split=split, fetched="ab" * 32, states_keys=False), "sha256:" + "ab" * 32


def shared_bytes(one: Made, two: Made, split: str) -> tuple[str, str, str]:
    """Provenance says two images, the bytes are one."""
    data = b"one image"
    a = one.add("a", data=data, fetched="01" * 32)
    b = two.add("b", split=split)
    two.positive(b, "pmc:PMC44.1", data=data, fetched="02" * 32)
    return a, b, "sha256:" + hashlib.sha256(data).hexdigest()


def shared_phash(one: Made, two: Made, split: str) -> tuple[str, str, str]:
    a, b = one.add("a"), two.add("b", split=split)
    one.key(a, "image_family", "phash:00ff00ff00ff00ff")
    two.key(b, "image_family", "phash:00ff00ff00ff00ff")
    return a, b, "phash:00ff00ff00ff00ff"


PLANTS: list[tuple[str, Plant]] = [
    ("target_concept", shared_target),
    ("query", shared_text),
    ("query", shared_family),
    ("article", article_of_queries),
    ("article", article_of_positives),
    ("article", article_of_query_and_positive),
    ("article", article_in_ids_alone),
    ("article", article_in_keys_alone),
    ("patient", shared_patient),
    ("patient", patient_of_positive),
    ("image_family", shared_fetched),
    ("image_family", shared_bytes),
    ("image_family", shared_phash),
]
_NAMES = [f"{dimension}-{plant.__name__}" for dimension, plant in PLANTS]


@pytest.mark.parametrize(("dimension", "plant"), PLANTS, ids=_NAMES)
def test_one_thing_in_two_tasks_is_found_and_both_queries_are_quoted(
    dimension: str, plant: Plant, tmp_path: Path
) -> None:
    made = three()
    one, two, key = plant(made[0], made[2], "test")
    result, cells = run(dimension, made, tmp_path)
    assert (result.status, result.found) == ("failed", 1)
    (finding,) = result.findings
    assert key in finding.message and "clinical_case/test and reference_qa/test" in finding.message
    sides = {(side.table, side.dataset, side.id): side for side in finding.sides}
    quoted = sides["queries", "", one], sides["queries", "small@1.0.0/reference_qa", two]
    texts = {row["id"]: row["text"] for task in made for row in task.tables["queries"]}
    assert [side.quote for side in quoted] == [texts[one], texts[two]]
    if dimension == "query":
        assert [(side.start, side.end) for side in quoted] == [(0, len(texts[one])), (0, len(texts[two]))]
    shared = {(cell.one, cell.other): cell.shared for cell in cells}
    assert shared.pop(("clinical_case/test", "reference_qa/test")) == 1
    assert set(shared.values()) == {0}
    for other in set(DIMENSIONS) - {dimension}:
        assert run(other, made, tmp_path / "other")[0].status == "passed", other


@pytest.mark.parametrize(("dimension", "plant"), PLANTS, ids=_NAMES)
def test_one_thing_in_two_splits_is_found(dimension: str, plant: Plant, tmp_path: Path) -> None:
    made = three()[0]
    made.siblings = ()
    one, two, key = plant(made, made, "dev")
    result, cells = run(dimension, [made], tmp_path)
    assert (result.status, result.found) == ("failed", 1)
    assert key in result.findings[0].message
    assert [side.id for side in result.findings[0].sides if side.table == "queries"] == [one, two]
    assert [(cell.one, cell.other, cell.shared) for cell in cells] == [
        ("clinical_case/test", "clinical_case/dev", 1)
    ]


@pytest.mark.parametrize(("dimension", "plant"), PLANTS, ids=_NAMES)
def test_inside_one_split_sharing_is_no_overlap(dimension: str, plant: Plant, tmp_path: Path) -> None:
    made = three()
    plant(made[0], made[0], "test")
    assert run(dimension, made, tmp_path)[0].status == "passed"


def test_the_positive_that_brings_the_article_is_quoted(tmp_path: Path) -> None:
    made = three()
    article_of_positives(made[0], made[1], "test")
    result, _ = run("article", made, tmp_path)
    quotes = [
        (side.table, side.id, side.quote) for side in result.findings[0].sides if side.table == "corpus"
    ]
    assert quotes == [
        ("corpus", "europepmc:PMC32#p1", "Text of europepmc:PMC32#p1."),
        ("corpus", "pmc:PMC32.4#p9", "Text of pmc:PMC32.4#p9."),
    ]


def test_every_query_on_both_sides_is_named(tmp_path: Path) -> None:
    """A key of 3 queries here and 5 there: five pairs name all eight; the matrix counts one key."""
    made = three()
    here = {made[0].add(f"h{number}", article="pmc:PMC51.1") for number in range(3)}
    there = {made[1].add(f"t{number}", article="pmc:PMC51.1") for number in range(5)}
    result, cells = run("article", made, tmp_path)
    assert result.found == 5 == len(result.findings)
    assert {side.id for finding in result.findings for side in finding.sides} == here | there
    assert sum(cell.shared or 0 for cell in cells) == 1


def test_a_key_of_very_many_queries_stays_linear_and_examples_are_capped(tmp_path: Path) -> None:
    made = three()
    for number in range(700):
        made[0].add(f"h{number}", targets=["HP:1"])
        made[1].add(f"t{number:03d}", targets=["HP:1"])
    result, _ = run("target_concept", made, tmp_path)
    assert result.found == 700
    others = [finding.sides[1].id for finding in result.findings]
    assert len(others) == 50 == len(set(others))


def test_concepts_of_a_task_without_targets_are_counted_and_allowed(tmp_path: Path) -> None:
    made = three()
    made[0].task = "visual_context"
    made[0].siblings = TASKS[1:]
    made[0].add("x", targets=["HP:7"])
    made[1].add("y", targets=["HP:7"])
    result, cells = run("target_concept", made, tmp_path)
    assert (result.status, result.found) == ("passed", 0)
    shared = {(cell.one, cell.other): (cell.level, cell.shared) for cell in cells}
    assert shared["visual_context/test", "clinical_evidence/test"] == ("reported", 1)
    assert {kind for kind, _ in shared.values()} == {"reported"}


def test_an_absent_sibling_is_not_covered_and_its_cells_say_unknown(tmp_path: Path) -> None:
    made = three()
    result, cells = run("article", made[:2], tmp_path)
    assert result.status == "not_covered"
    assert result.note == "siblings absent: reference_qa; not covered"
    assert [cell for cell in cells if cell.shared is None] == [
        OverlapCell(dimension="article", one=split, other="reference_qa/*", level="zero", shared=None)
        for split in ("clinical_case/dev", "clinical_case/test")
    ]
    assert {cell.shared for cell in cells} == {0, None}
    assert result.coverage[-1].why == "its files were not given"
    article_of_queries(made[0], made[1], "test")
    result, _ = run("article", made[:2], tmp_path)
    assert (result.status, result.found) == ("failed", 1)
    assert "siblings absent: reference_qa" in result.note


def test_a_release_alone_in_one_split_has_nothing_to_overlap_with(tmp_path: Path) -> None:
    made = Made("clinical_case")
    made.add("a")
    assert run("article", [made], tmp_path)[0].status == "not_applicable"
    empty = Made("clinical_case", siblings=("reference_qa",))
    assert run("article", [empty], tmp_path)[0].status == "not_applicable"


def test_a_dimension_nothing_rests_on_says_so(tmp_path: Path) -> None:
    one, two = Made("clinical_case"), Made("reference_qa")
    one.add("a")
    two.add("b")
    result, cells = run("patient", [one, two], tmp_path)
    assert (result.status, result.compared) == ("not_applicable", 0)
    assert result.note == "no query of this task rests on a known patient"
    assert result.coverage[0].skipped == 1 and result.coverage[0].why == "queries that rest on no patient"
    assert [cell.shared for cell in cells] == [0]


@pytest.mark.parametrize("missing", ["keys", "provenance_corpus", "provenance_queries", "qrels"])
def test_a_release_without_a_table_is_never_passed(missing: str, tmp_path: Path) -> None:
    made = three()
    for dimension in DIMENSIONS:
        subject = made[0].write(tmp_path, without=[missing])
        result, _ = run(dimension, made, tmp_path, subject=subject)
        assert (result.status, result.note) == ("not_run", f"table absent: {missing}")
    siblings = [made[1].write(tmp_path, "sibling", without=[missing])]
    result, _ = run("article", made, tmp_path, siblings=siblings)
    assert (result.status, result.note) == (
        "not_run",
        f"small@1.0.0/clinical_evidence: table absent: {missing}",
    )


def foreign(folder: Path, name: str, texts: Sequence[str], images: Sequence[bytes | None] = ()) -> Dataset:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {"id": f"{name}{number}", "text": text, "image": {"bytes": data, "path": ""} if data else None}
        for number, (text, data) in enumerate(zip(texts, images or [None] * len(texts), strict=True))
    ]
    columns = [pa.field("id", pa.string()), pa.field("text", pa.string())]
    if images:
        columns.append(QUERIES.schema.field("image"))
    path = folder / f"{name}.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=pa.schema(columns)), path)
    return Dataset(name, "audited", "beir", folder, "1" * 64, {"queries": [path]})


def test_other_layouts_compare_queries_and_say_what_they_lack(tmp_path: Path) -> None:
    one = foreign(tmp_path, "one", ["Where is the pain?", "?!"])
    two = foreign(tmp_path, "two", ["where is the PAIN", "..."])
    status = {}
    for dimension in DIMENSIONS:
        rule = rule_of(overlap.RULES, f"overlap_{dimension}")
        result, cells = run_rule(rule, Context(one, run_sql, tmp_path, SerialExecutor(), [two]))
        status[dimension] = (result.status, result.note)
        if dimension == "query":
            assert [side.id for side in result.findings[0].sides] == ["one0", "two0"]
            assert [(cell.one, cell.other, cell.shared, cell.keys) for cell in cells] == [
                ("one", "two", 1, 1)
            ]
    absent = "table absent: provenance_queries, provenance_corpus, qrels, keys"
    assert status == {
        "target_concept": ("not_covered", "table absent: provenance_queries, keys"),
        "query": ("failed", ""),
        "article": ("not_covered", absent),
        "patient": ("not_covered", absent),
        "image_family": ("not_covered", "table absent: images"),
    }
    keys, _ = run("overlap_keys_true", [], tmp_path, subject=one)
    assert (keys.status, keys.note) == ("not_covered", absent)


def test_other_layouts_compare_image_bytes(tmp_path: Path) -> None:
    one = foreign(tmp_path, "one", ["a", "b"], [b"x", None])
    two = foreign(tmp_path, "two", ["c"], [b"x"])
    rule = rule_of(overlap.RULES, "overlap_image_family")
    result, _ = run_rule(rule, Context(one, run_sql, tmp_path, SerialExecutor(), [two]))
    assert (result.status, result.found) == ("failed", 1)
    assert result.coverage[0].skipped == 1


def test_a_sibling_of_another_layout_is_named_as_missed(tmp_path: Path) -> None:
    made = three()[0]
    made.siblings = ()
    result, _ = run("article", [made], tmp_path, siblings=[foreign(tmp_path, "two", ["x"])])
    assert result.status == "not_covered"
    assert result.note.startswith("two: table absent: provenance_queries") and "not covered" in result.note


def test_hostile_ids_and_texts(tmp_path: Path) -> None:
    """Quotes, newlines, null texts, texts without a word, a huge text: named, never an SQL error."""
    made = three()
    name = "a'); DROP TABLE queries; --\n\"\u202e"
    a = made[0].add(name, "x'y " * 50_000, article="doi:10.1/o'brien\n")
    b = made[1].add(name, "\U0001f600 !", article="doi:10.1/o'brien\n")
    made[0].tables["queries"].append(made[0].tables["queries"][0] | {"id": "null", "text": None})
    made[1].add("blank", "\u3000")
    result, _ = run("article", made, tmp_path)
    assert {side.id for finding in result.findings for side in finding.sides} == {a, b}
    assert len(result.findings[0].sides[0].quote) == 300
    assert run("query", made, tmp_path / "q")[0].status == "passed"


def test_a_query_twice_in_both_splits_overlaps_with_itself(tmp_path: Path) -> None:
    made = three()[0]
    made.siblings = ()
    row = made.tables["provenance_queries"][0]
    made.tables["provenance_queries"].append(row | {"split": "dev"})
    result, _ = run("query", [made], tmp_path)
    assert {side.id for side in result.findings[0].sides} == {row["id"]}


def test_the_order_of_rows_and_siblings_changes_nothing(tmp_path: Path) -> None:
    made = three()
    for _, plant in PLANTS[3:7]:
        for number in (1, 2):
            made[0].task, task = made[0].task, made[0].task
            plant(made[0], made[number], "test")
            made[0].task = task
    turned = [dataclasses.replace(one) for one in made]
    first = run("article", made, tmp_path / "one")
    for one in turned:
        one.tables = {name: list(reversed(rows)) for name, rows in one.tables.items()}
    siblings = [one.write(tmp_path / "two", "sibling") for one in reversed(turned[1:])]
    second = run("article", turned, tmp_path / "two", siblings=siblings)
    assert first == second and first[0].found > 4


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.one_of(
            st.sampled_from(["pmc:PMC1.1", "pmc:PMC1", "europepmc:PMC9", "europepmc:9", "europepmc:pmc9.2"]),
            st.from_regex(r"(pmc|europepmc|doi|medline|file):[\w./-]{0,12}", fullmatch=True),
            st.text(max_size=12).filter(lambda text: "\x00" not in text),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_the_family_in_sql_is_that_of_the_ids(tmp_path: Path, ids: list[str]) -> None:
    ids = [name for name in ids if not re.search("[\ud800-\udfff]", name)] or ["x"]
    path = tmp_path / "ids.parquet"
    pq.write_table(pa.table({"id": pa.array(ids, pa.string())}), path)
    rows = {
        row["id"]: row["key"]
        for batch in run_sql(f"SELECT id, {family('id')} AS key FROM ids", {"ids": [path]})
        for row in batch.to_pylist()
    }
    assert rows == {name: family_key(name) for name in ids}


# --- the published keys
