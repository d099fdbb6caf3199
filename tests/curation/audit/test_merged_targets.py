"""One concept under two ids in two tasks: told by a name that both have."""

from __future__ import annotations

from pathlib import Path

from curation.audit.dataset import Dataset
from curation.audit.executor import SerialExecutor
from curation.audit.report import run_rule
from curation.audit.rule import Context
from curation.audit.rules import merged_targets
from curation.release.target_names import names_rows
from schemas.audit import RuleResult
from tests.curation.audit import small
from tests.curation.release.known import run_sql

(RULE,) = merged_targets.RULES


def task(folder: Path, name: str, strings: tuple[tuple[str, str], ...], targets: dict[str, str]) -> Dataset:
    rows = [
        {"query-id": f"{name}-{number}", "name": said, "concept": concept, "language": "en"}
        for number, (said, concept) in enumerate(strings)
    ]
    queries = small.queries(*((row["query-id"], f"What is “{row['name']}”?") for row in rows))
    hashes = [row for concept, said in targets.items() for row in names_rows(concept, [("en", said)])]
    tables = {"queries": queries, "strings": rows, "target_names": hashes}
    siblings = ("crosslingual_qa", "case_study")
    return small.dataset(folder, tables, task=name, siblings=tuple(one for one in siblings if one != name))


def said(own: Dataset, sibling: Dataset, scratch: Path) -> RuleResult:
    return run_rule(RULE, Context(own, run_sql, scratch, SerialExecutor(), [sibling]))[0]


def test_a_name_that_two_targets_share_is_named_from_either_side(tmp_path: Path) -> None:
    ours = task(tmp_path / "a", "crosslingual_qa", (("Gout", "X:1"), ("asthma", "X:2")), {"X:1": "gout"})
    theirs = task(tmp_path / "b", "case_study", (), {"Y:9": "gout", "X:2": "asthma"})
    for own, sibling in ((ours, theirs), (theirs, ours)):
        result = said(own, sibling, tmp_path)
        assert (result.status, result.found, result.compared) == ("failed", 1, 4)
        assert small.named(result) == {"crosslingual_qa-0", "Y:9"}


def test_one_id_in_two_tasks_is_left_to_the_rule_on_keys(tmp_path: Path) -> None:
    ours = task(tmp_path / "a", "crosslingual_qa", (("gout", "X:1"),), {"X:1": "gout"})
    theirs = task(tmp_path / "b", "case_study", (), {"X:1": "gout"})
    assert said(ours, theirs, tmp_path).status == "passed"


def test_what_is_planted_is_found(tmp_path: Path) -> None:
    subject = task(tmp_path / "own", "crosslingual_qa", (("gout", "X:1"),), {"X:1": "gout"})
    assert small.planted(merged_targets.RULES, subject, tmp_path) == {}
    plain = small.dataset(tmp_path / "plain", {"queries": small.queries(("q1", "Why?"))}, "mteb")
    assert small.planted(merged_targets.RULES, plain, tmp_path) == {}
