"""Rules on duplicates: planted ones are named with both texts, allowed ones are counted and not reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from curation.audit.rule import Rule
from curation.audit.rules import duplicates, edited_copies, spans, texts
from schemas.audit import RuleResult
from tests.curation.audit import small

LONG = (
    "The patient was admitted with fever and a productive cough that had lasted for nine days before "
    "referral to our clinic in spring"
)
NEAR = LONG.replace("nine", "ten")
OTHER = (
    "Histology of the resected colon showed transmural inflammation with granulomas and deep fissuring ulcers"
)


def origin(name: str, **values: Any) -> dict[str, Any]:
    return {"id": name, "split": "test", "family": "", "article_id": "a", **values}


def key(query: str, concept: str) -> dict[str, Any]:
    return {"query-id": query, "dimension": "target_concept", "key": concept}


def checked(name: str, tables: dict[str, Any], tmp_path: Path, kind: Any = "release") -> RuleResult:
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    names = ("queries", "corpus", "qrels", "excluded") if kind == "release" else ()
    empty: dict[str, Any] = {name: [] for name in names}
    further = ("provenance_queries", "provenance_corpus", "keys") if kind == "release" else ()
    subject = small.dataset(tmp_path / "data", {**empty, **{name: [] for name in further}, **tables}, kind)
    return small.check(small.rule_of(duplicates.RULES, name), subject, scratch)


def test_an_exact_copy_is_named_with_both_texts(tmp_path: Path) -> None:
    rows = small.texts(("d1", LONG), ("d2", OTHER), ("d3", LONG.upper().replace(" ", "\n - ")), ("d4", "…"))
    found = checked("duplicate_documents", {"corpus": rows}, tmp_path)
    assert (found.status, found.found, found.compared) == ("failed", 1, 3)
    (finding,) = found.findings
    assert [(side.id, side.quote) for side in finding.sides] == [("d1", LONG), ("d3", rows[2]["text"])]
    assert [item.skipped for item in found.coverage] == [0, 1]


def test_equal_captions_of_different_pictures_are_different(tmp_path: Path) -> None:
    for name, table, made in (
        ("duplicate_queries", "queries", small.queries),
        ("duplicate_documents", "corpus", small.texts),
    ):
        rows = {table: made(("x1", LONG), ("x2", LONG), ("x3", LONG))}
        rows[f"provenance_{table}"] = [
            {"id": "x1", "image_sha256": "aa"},
            {"id": "x2", "image_sha256": "bb"},
            {"id": "x3", "image_sha256": "aa"},
        ]
        found = checked(name, rows, tmp_path)
        assert found.found == 1 and small.named(found) == {"x1", "x3"}
        assert [item.compared for item in found.coverage if "image" in item.unit] == [1]


def test_pictures_of_other_layouts_are_compared_by_their_bytes(tmp_path: Path) -> None:
    images = [{"bytes": data, "path": "x"} for data in (b"one", b"two", b"one")]
    rows = small.queries(("x1", LONG), ("x2", LONG), ("x3", LONG))
    for row, image in zip(rows, images, strict=True):
        row["image"] = image
    found = checked("duplicate_queries", {"queries": rows}, tmp_path, "beir")
    assert small.named(found) == {"x1", "x3"}


def near_tables(**more: Any) -> dict[str, Any]:
    return {
        "corpus": small.texts(("d1", LONG), ("d2", NEAR), ("d3", OTHER)),
        "queries": small.queries(("q1", "What had lasted so long?")),
        "qrels": small.qrels(("q1", "d1")),
        **more,
    }


def test_a_near_copy_of_a_positive_must_be_labelled_alike_or_excluded(tmp_path: Path) -> None:
    found = checked("near_duplicate_documents", near_tables(), tmp_path)
    assert (found.status, found.found) == ("failed", 1)
    (finding,) = found.findings
    assert [side.id for side in finding.sides] == ["d1", "d2", "q1"]
    one, two = finding.sides[:2]
    assert (LONG[one.start : one.end], NEAR[two.start : two.end]) == (one.quote, two.quote)
    assert one.quote == two.quote and "96%" in finding.message.replace(" %", "%")
    alike = near_tables(qrels=small.qrels(("q1", "d1"), ("q1", "d2")))
    aside = near_tables(excluded=[{"query-id": "q1", "corpus-id": "d2", "reason": "own_article"}])
    for tables in (alike, aside):
        found = checked("near_duplicate_documents", tables, tmp_path)
        assert (found.status, found.found) == ("passed", 0)
        assert [item.compared for item in found.coverage if "agree" in item.unit] == [1]
    lower = near_tables(qrels=small.qrels(("q1", "d1")) + small.qrels(("q1", "d2"), score=1))
    assert checked("near_duplicate_documents", lower, tmp_path).found == 1
    zero = near_tables(qrels=small.qrels(("q1", "d1")) + small.qrels(("q1", "d2"), score=0))
    assert checked("near_duplicate_documents", zero, tmp_path).found == 1
    unused = near_tables(qrels=small.qrels(("q1", "d3")))
    assert checked("near_duplicate_documents", unused, tmp_path).status == "passed"


def test_near_documents_of_other_layouts(tmp_path: Path) -> None:
    found = checked("near_duplicate_documents", near_tables(), tmp_path, "beir")
    assert small.named(found) == {"d1", "d2", "q1"}
    subject = small.dataset(tmp_path / "bare", {"corpus": near_tables()["corpus"]}, "jsonl")
    bare = small.check(small.rule_of(duplicates.RULES, "near_duplicate_documents"), subject, tmp_path)
    assert bare.status == "not_covered" and "qrels" in bare.note


def near_queries(name: str, tmp_path: Path, one: Any, other: Any, keys: Any = ()) -> RuleResult:
    tables = {
        "queries": small.queries(("q1", LONG), ("q2", NEAR), ("q3", OTHER)),
        "provenance_queries": [origin("q1", **one), origin("q2", **other), origin("q3")],
        "keys": list(keys),
    }
    return checked(name, tables, tmp_path)


def test_near_queries_within_and_across_splits(tmp_path: Path) -> None:
    within, across = "near_duplicate_queries", "near_queries_across_splits"
    assert small.named(near_queries(within, tmp_path, {}, {})) == {"q1", "q2"}
    alone = near_queries(across, tmp_path, {}, {})
    assert (alone.status, alone.compared) == ("not_applicable", 0)
    dev = {"split": "dev"}
    assert near_queries(within, tmp_path, {}, dev).status == "passed"
    found = near_queries(across, tmp_path, {}, dev)
    assert (found.status, found.severity) == ("failed", "error") and small.named(found) == {"q1", "q2"}


@pytest.mark.parametrize(
    ("one", "other", "keys", "unit"),
    [
        ({"family": "f"}, {"family": "f"}, (), "of one family"),
        ({"image_sha256": "aa"}, {"image_sha256": "bb"}, (), "with another image"),
        ({}, {}, (key("q1", "C:1"), key("q2", "C:2")), "on other target concepts"),
    ],
)
def test_near_queries_that_are_allowed_are_counted(
    tmp_path: Path, one: Any, other: Any, keys: Any, unit: str
) -> None:
    found = near_queries("near_duplicate_queries", tmp_path, one, other, keys)
    assert found.status == "passed"
    assert [item.compared for item in found.coverage if unit in item.unit] == [1]
    found = near_queries(
        "near_duplicate_queries", tmp_path, {"family": "f"}, {"family": "g"}, (key("q1", "C:1"),)
    )
    assert found.found == 1


def test_near_queries_of_other_layouts_have_no_split(tmp_path: Path) -> None:
    tables = {"queries": small.queries(("q1", LONG), ("q2", NEAR))}
    assert checked("near_duplicate_queries", tables, tmp_path, "beir").found == 1
    found = checked("near_queries_across_splits", tables, tmp_path, "beir")
    assert found.status == "not_covered" and "split" in found.note


def test_empty_tables_and_nulls_are_nothing_to_compare(tmp_path: Path) -> None:
    for rule in duplicates.RULES:
        assert checked(rule.id, {}, tmp_path).status == "not_applicable"
    nulls = {
        "corpus": small.texts(("d1", "x"), ("d2", "y")),
        "queries": small.queries(("q1", "x"), ("q2", "y")),
    }
    for row in nulls["corpus"] + nulls["queries"]:
        row["text"] = None
    for rule in duplicates.RULES:
        assert checked(rule.id, nulls, tmp_path).status == "not_applicable"


def test_ids_that_look_like_sql_are_quoted(tmp_path: Path) -> None:
    rows = small.texts(("d'1; --", LONG), ('d"2', NEAR), ("d%3", LONG))
    found = checked("duplicate_documents", {"corpus": rows}, tmp_path)
    assert small.named(found) == {"d%3", "d'1; --"}
    tables = near_tables(corpus=rows, qrels=small.qrels(("q1", "d'1; --"), ("q1", "d%3")))
    assert 'd"2' in small.named(checked("near_duplicate_documents", tables, tmp_path))


ALL: tuple[Rule, ...] = (
    *duplicates.RULES,
    *edited_copies.RULES,
    *spans.RULES,
    *texts.RULES[-3:],
)


def test_the_rules_on_texts_are_told_apart() -> None:
    """That the known release passes them and their defects are found is told by `test_defects`."""
    assert len({rule.id for rule in texts.RULES}) == len(texts.RULES) == len(ALL)
