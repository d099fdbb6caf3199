"""Published pools pass; every defect planted in their files is found, by the rule meant, at its row."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from curation.audit import audit
from curation.audit.dataset import open_release
from curation.audit.rules.pools import RULES
from curation.derived.pools import PoolOptions, SplitRuns, make_pools
from curation.evaluation.collection import Collection, open_collection
from curation.evaluation.ranking import Ranking, Run
from curation.published.manifest import NAME, read_manifest
from schemas.audit import RuleResult
from tests.curation.audit.small import check, dataset, named, qrels, queries, rule_of, texts
from tests.curation.release.known import edit, run_sql

Rows = list[dict[str, Any]]
OPTIONS = PoolOptions(depth=3, hard_negatives=2)


def _run(collection: Collection, seed: int) -> Run:
    """Every document that may be ranked, in an order of chance."""
    rng = np.random.Generator(np.random.PCG64(seed))
    run = {}
    for query in collection.queries:
        places = rng.permutation(len(collection.corpus_ids)).astype(np.int32)
        run[query.id] = Ranking(places, np.linspace(1, 0.5, len(places), dtype=np.float64))
    return run


@pytest.fixture(scope="module")
def pooled(known: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The known release with pools of two systems; read-only."""
    target = tmp_path_factory.mktemp("pooled") / "visual_context"
    shutil.copytree(known, target)
    collection = open_collection(target)
    runs = {name: _run(collection, seed) for seed, name in enumerate(("bm25", "dense"))}
    summary = make_pools([SplitRuns(collection, runs)], OPTIONS, target)
    assert summary is not None and summary.hard_negatives >= 4
    head = dataclasses.replace(read_manifest(target), shaped_by=summary.shaped_by)
    (target / NAME).write_text(head.to_json(), encoding="utf-8")
    return target


def test_published_pools_pass_and_canaries_are_found_in_them(pooled: Path) -> None:
    report = audit(pooled, run_sql, rules=RULES)
    assert [(rule.rule, rule.status) for rule in report.rules] == [(rule.id, "passed") for rule in RULES]
    assert all(rule.compared for rule in report.rules)
    assert report.verdict == "clean"
    assert [item for item in report.canaries if not item.is_found] == []
    own = [item for item in report.canaries if not item.note]
    assert len(own) > len(report.canaries) // 2, "most are planted in the release's own rows"


def _looked(rule: str, directory: Path, scratch: Path) -> RuleResult:
    return check(rule_of(RULES, rule), open_release(directory), scratch)


POOLS, RANKED, HARD, SUMS = "provenance/pools", "top_ranked", "hard_negatives", "provenance/pool_checksums"


def _at(column: str, value: object) -> Callable[[Rows], Any]:
    return lambda rows: rows[0].update({column: value})


def _one_more(rows: Rows) -> None:
    rows[0]["corpus-ids"] = [*rows[0]["corpus-ids"], "zzz:lost"]


DEFECTS: tuple[tuple[str, str, Callable[[Rows], Any], str], ...] = (
    ("pools", RANKED, lambda rows: rows.pop(0), "one pool and one checksum"),
    ("pools", RANKED, lambda rows: rows.append(rows[0]), "one pool and one checksum"),
    ("pools", SUMS, lambda rows: rows.pop(0), "one pool and one checksum"),
    ("pools", RANKED, lambda rows: rows[0]["corpus-ids"].reverse(), "id order"),
    ("pools", RANKED, lambda rows: rows[0]["corpus-ids"].append(None), "id order"),
    ("pools", RANKED, _one_more, "not in the corpus"),
    ("pools", RANKED, lambda rows: rows[0]["corpus-ids"].pop(), "once each"),
    ("pools", POOLS, lambda rows: rows.pop(0), "once each"),
    ("pools", POOLS, lambda rows: rows.append(rows[0]), "once each"),
    ("pools", POOLS, _at("kind", "wrong"), "no known kind"),
    ("pools", POOLS, _at("kind", None), "no known kind"),
    ("pools", POOLS, _at("systems", None), "who found it"),
    ("pools", POOLS, _at("systems", [{"system": "bm25", "rank": 0}]), "who found it"),
    ("pools", POOLS, _at("systems", [{"system": "bm25", "rank": n} for n in (1, 2)]), "who found it"),
    ("pools", POOLS, _at("split", "dev"), "another split"),
    ("pools", SUMS, _at("split", "dev"), "another split"),
    ("pool_checksums", SUMS, _at("pool_sha256", "0" * 64), "not those summed up"),
    ("pool_checksums", SUMS, _at("candidates", 99), "99 candidates are stated"),
    ("pool_checksums", RANKED, _one_more, "candidates are stated"),
    ("hard_negatives", HARD, _at("rank", 2), "numbered"),
    ("hard_negatives", HARD, _at("rank", None), "numbered"),
    ("hard_negatives", HARD, _at("label_status", "structural"), "not called unjudged"),
    ("hard_negatives", HARD, _at("systems", []), "found by other systems"),
    ("hard_negatives", HARD, lambda rows: rows.pop(), "not those of provenance/pools"),
    ("hard_negatives", HARD, _at("corpus-id", "zzz:lost"), "not those of provenance/pools"),
)


@pytest.mark.parametrize(("rule", "table", "change", "said"), DEFECTS)
def test_a_planted_defect_is_found(
    pooled: Path, tmp_path: Path, rule: str, table: str, change: Callable[[Rows], Any], said: str
) -> None:
    copy = _copied(pooled, tmp_path)
    whom: list[str] = []

    def damage(rows: Rows) -> None:
        whom.append(rows[0]["query-id"])
        change(rows)

    edit(copy, table, damage)
    result = _looked(rule, copy, tmp_path)
    assert result.status == "failed", result.note
    messages = [finding for finding in result.findings if said in finding.message]
    assert messages, [finding.message for finding in result.findings]
    if rule != "hard_negatives":
        assert whom[0] in {item.id for finding in messages for item in finding.sides}


def _copied(pooled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pooled, tmp_path / "copy"))


def test_a_changed_text_is_noticed_in_every_pool_it_is_in(pooled: Path, tmp_path: Path) -> None:
    copy = _copied(pooled, tmp_path)
    changed: list[str] = []

    def reword(rows: Rows) -> None:
        rows[0]["text"] += " "
        changed.append(rows[0]["id"])

    edit(copy, "corpus", reword)
    holders: list[str] = []
    edit(
        copy,
        RANKED,
        lambda rows: holders.extend(row["query-id"] for row in rows if changed[0] in row["corpus-ids"]),
    )
    result = _looked("pool_checksums", copy, tmp_path)
    assert holders and named(result) == set(holders) and result.found == len(holders)


def _small(folder: Path, **changed: Rows) -> Any:
    """Two queries: q1 with a positive, a candidate and an excluded document; q2 with its own record near."""
    found = [{"system": "bm25", "rank": 1}]

    def pair(query: str, document: str, **more: Any) -> dict[str, Any]:
        return {"query-id": query, "corpus-id": document, "systems": found, **more}

    origins = [
        {"id": "q1", "split": "test", "source_id": "s1", "patient_id": ""},
        {"id": "q2", "split": "test", "source_id": "d3", "patient_id": "p2"},
    ]
    tables: dict[str, Rows] = {
        "queries": queries(("q1", "One?"), ("q2", "Two?")),
        "corpus": texts(*((f"d{n}", f"Text {n}.") for n in range(1, 6))),
        "qrels": qrels(("q1", "d1"), ("q2", "d4")),
        "excluded": [{"query-id": "q1", "corpus-id": "d5", "reason": "own_article"}],
        "provenance_queries": origins,
        "provenance_corpus": [
            {"id": f"d{n}", "patient_id": "p2" if n in (4, 5) else ""} for n in range(1, 6)
        ],
        "top_ranked": [
            {"query-id": "q1", "corpus-ids": ["d1", "d2"]},
            {"query-id": "q2", "corpus-ids": ["d4"]},
        ],
        "pools": [
            pair("q1", "d1", split="test", kind="positive"),
            pair("q1", "d2", split="test", kind="hard_negative"),
            pair("q2", "d4", split="test", kind="positive"),
        ],
        "pool_checksums": [],
        "hard_negatives": [pair("q1", "d2", rank=1, label_status="unjudged")],
    }
    return dataset(folder, tables | changed, shaped_by=("bm25",))


def test_positives_and_exclusions(tmp_path: Path) -> None:
    positives, left_out = rule_of(RULES, "pool_positives"), rule_of(RULES, "pool_exclusions")
    clean = _small(tmp_path / "clean")
    assert check(positives, clean, tmp_path).status == "passed"
    assert check(left_out, clean, tmp_path).status == "passed"  # d4 is of q2's patient, but judged
    lost = _small(tmp_path / "1", top_ranked=[{"query-id": "q1", "corpus-ids": ["d1", "d2"]}])
    assert named(check(positives, lost, tmp_path)) == {"q2", "d4"}
    more = [{"query-id": "q1", "corpus-ids": ["d5"]}, {"query-id": "q2", "corpus-ids": ["d3", "d5"]}]
    result = check(left_out, _small(tmp_path / "2", top_ranked=more), tmp_path)
    said = {(item.message, *(one.id for one in item.sides)) for item in result.findings}
    assert said == {
        ("an excluded pair is in a pool", "q1", "d5"),
        ("the query's own record is in its pool", "q2", "d3"),
        ("a record of the query's own patient is in its pool", "q2", "d5"),
    }
    hard = rule_of(RULES, "hard_negatives")
    assert check(hard, clean, tmp_path).status == "passed"
    zero = qrels(("q1", "d1"), ("q2", "d4")) + qrels(("q1", "d2"), score=0, status="expert")
    assert named(check(hard, _small(tmp_path / "3", qrels=zero), tmp_path)) == {"q1", "d2"}
    aside = [{"query-id": "q1", "corpus-id": "d2", "reason": "middle"}]
    assert named(check(hard, _small(tmp_path / "4", excluded=aside), tmp_path)) == {"q1", "d2"}


def test_who_shaped_the_pools(tmp_path: Path) -> None:
    rule = rule_of(RULES, "pool_systems")
    subject = _small(tmp_path)
    assert check(rule, subject, tmp_path).status == "passed"
    for stated, names in ((("dense",), {"bm25"}), ((), {"bm25"})):
        head = dataclasses.replace(subject.manifest, shaped_by=stated)
        assert named(check(rule, dataclasses.replace(subject, manifest=head), tmp_path)) == names
    silent = dataclasses.replace(_small(tmp_path / "no", pools=[], hard_negatives=[]), manifest=head)
    assert named(check(rule, silent, tmp_path)) == {"shaped_by"}


def test_a_release_without_pools_and_one_with_half_of_them(known: Path, pooled: Path, tmp_path: Path) -> None:
    assert {check(rule, open_release(known), tmp_path).status for rule in RULES} == {"not_applicable"}
    foreign = dataset(tmp_path, {"qrels": qrels(("q1", "d1"))}, "beir")
    assert {check(rule, foreign, tmp_path).status for rule in RULES} == {"not_applicable"}
    copy = _copied(pooled, tmp_path)
    shutil.rmtree(copy / POOLS)
    results = [check(rule, open_release(copy), tmp_path) for rule in RULES]
    assert {(result.status, result.note) for result in results} == {("not_run", "table absent: pools")}
