"""Questions in several languages: origin of every string, families that stay together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from curation.audit.rules import facet_results
from curation.audit.rules.multilingual import RULES
from tests.curation.audit.small import check, dataset, named, planted, qrels, rule_of

STRINGS, FAMILIES = rule_of(RULES, "string_origins"), rule_of(RULES, "families")
ASKED = {
    "en": ("What is the condition “gout”?", "gout"),
    "es": ("¿Qué es la afección «gota»?", "gota"),
    "ja": ("「痛風」とはどのような病態ですか。", "痛風"),
    "zh": ("“痛风”是什么病症？", "痛风"),
}


def tables() -> dict[str, list[dict[str, Any]]]:
    """One question in four languages, one document that answers it."""
    found: dict[str, list[dict[str, Any]]] = {
        "recipes": [{"query-id": "r1", "language": "pt"}],
        "corpus": [{"id": "d1"}, {"id": "d2"}],
        "excluded": [{"query-id": "en", "corpus-id": "d2", "reason": "own_article"}],
    }
    for language, (text, name) in ASKED.items():
        place = {"start": text.index(name), "end": text.index(name) + len(name)}
        string = {"query-id": language, "language": language, "name": name, "tier": "terms"}
        found.setdefault("queries", []).append({"id": language, "text": text, "language": language})
        found.setdefault("strings", []).append({**string, **place, "restriction": 0, "kind": "template"})
        origin = {"id": language, "family": "gout/definition", "split": "test", "article_id": "pmc:PMC1.1"}
        found.setdefault("provenance_queries", []).append(origin)
        found.setdefault("qrels", []).extend(qrels((language, "d1")))
    return found


def result(rule: Any, tmp_path: Path, **changes: Any) -> Any:
    rows = tables()
    for place, values in changes.items():
        rows[place][2] |= values  # the Japanese one
    return check(rule, dataset(tmp_path, rows), tmp_path)


RECORD = "pmc:PMC1.1#title-ja"
HUMAN = {
    "kind": "human",
    "name": "",
    "start": 0,
    "end": len(ASKED["ja"][0]),
    "source": "pmc:PMC1.1",
    "record": RECORD,
}


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({}, "passed"),
        ({"end": 0}, "failed"),
        ({"start": 1}, "failed"),
        ({"source": "pmc:PMC2.1"}, "failed"),
        ({"record": ""}, "failed"),
        ({"license": "CC0-1.0"}, "failed"),
        ({"kind": "template", "end": 0}, "failed"),
    ],
)
def test_human_text_is_quoted_whole_and_from_a_record(
    tmp_path: Path, wrong: dict[str, Any], status: str
) -> None:
    found = result(STRINGS, tmp_path, strings={**HUMAN, **wrong}, provenance_queries={"source_id": RECORD})
    assert found.status == status and (status == "passed" or named(found) == {"ja"})


def test_the_parallel_core_is_of_questions_and_human_text_stands_beside_it(tmp_path: Path) -> None:
    core = ({"name": "crosslingual_qa_questions", "version": 1, "params": {"parallel_core": True}},)
    for family, status in (("d1", "passed"), ("gout/definition", "failed")):  # d1 is a document to be found
        rows = tables()
        rows["provenance_queries"] = [{**row, "family": family} for row in rows["provenance_queries"]]
        found = check(FAMILIES, dataset(tmp_path / status, rows, stages=core), tmp_path)
        assert found.status == status


def test_whole_families_with_known_origins_pass(tmp_path: Path) -> None:
    for rule in RULES:
        found = result(rule, tmp_path / rule.id)
        assert (found.status, found.compared) == ("passed", 4), found.findings


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "糖尿病酮症酸中毒综合征"},  # Chinese among Japanese
        {"tier": "restricted"},
        {"restriction": 3},
        {"language": "zh"},
        {"start": 0},
    ],
)
def test_a_string_that_may_not_stand_there_is_found(tmp_path: Path, changes: dict[str, Any]) -> None:
    found = result(STRINGS, tmp_path, strings=changes)
    assert found.status == "failed" and named(found) == {"ja"}


def test_a_chinese_name_is_found_inside_a_japanese_template(tmp_path: Path) -> None:
    name = "综合征"
    text = f"「{name}」とはどのような病態ですか。"
    found = result(
        STRINGS, tmp_path, queries={"text": text}, strings={"name": name, "start": 1, "end": 1 + len(name)}
    )
    assert found.status == "failed" and "Chinese" in found.findings[0].message


@pytest.mark.parametrize("changes", [{"split": "dev"}, {"family": ""}])
def test_a_family_is_in_one_split(tmp_path: Path, changes: dict[str, Any]) -> None:
    found = result(FAMILIES, tmp_path, provenance_queries=changes)
    assert found.status == ("failed" if "split" in changes else "passed")


@pytest.mark.parametrize(
    ("label", "status"),
    [
        ({"score": 1, "label_status": "expert"}, "passed"),
        ({"score": 0, "label_status": "adjudicated"}, "passed"),
        ({"score": 1, "label_status": "judge"}, "failed"),
    ],
)
def test_a_persons_verdict_holds_for_one_translation(
    tmp_path: Path, label: dict[str, Any], status: str
) -> None:
    found = result(FAMILIES, tmp_path, qrels=label)
    assert found.status == status
    assert status == "passed" or {"ja"} < named(found)  # nobody can tell which of the two is wrong


@pytest.mark.parametrize(("reason", "status"), [("cannot_judge", "passed"), ("own_article", "failed")])
def test_a_pair_that_people_left_open_is_no_label_that_was_lost(
    tmp_path: Path, reason: str, status: str
) -> None:
    rows = tables()
    del rows["qrels"][2]
    rows["excluded"] = [{"query-id": "ja", "corpus-id": "d1", "reason": reason}]
    found = check(FAMILIES, dataset(tmp_path, rows), tmp_path)
    assert found.status == status and (status == "passed" or "ja" in named(found))


@pytest.mark.parametrize("kind", ["template", "human"])
def test_every_defect_is_found(tmp_path: Path, kind: str) -> None:
    rows = tables()
    if kind == "human":  # a release of known items alone
        rows["strings"] = [{**row, **HUMAN} for row in rows["strings"]]
    found = planted((*RULES, *facet_results.RULES), dataset(tmp_path, rows), tmp_path)
    assert not found
