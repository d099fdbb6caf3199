"""The published keys are those of the files; defects of the overlap rules amid overlap."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from curation.audit.report import audit
from curation.audit.rules import overlap
from tests.curation.audit.overlapping import (
    DIMENSIONS,
    Made,
    Row,
    one_task,
    run,
)
from tests.curation.release.known import edit, run_sql


def test_true_keys_pass(tmp_path: Path) -> None:
    made = one_task()
    result, _ = run("overlap_keys_true", [made], tmp_path)
    assert (result.status, result.note, result.compared) == ("passed", "", 4 * 5)
    assert result.coverage[0].skipped == 4  # target concepts


def lacks(dimension: str) -> Callable[[Made], str]:
    def damage(made: Made) -> str:
        row = next(row for row in made.tables["keys"] if row["dimension"] == dimension)
        made.tables["keys"].remove(row)
        return str(row["query-id"])

    damage.__name__ = f"lacks_{dimension}"
    return damage


def lacks_of_positive(made: Made) -> str:
    row = next(row for row in made.tables["keys"] if row["key"] == "pmc:PMC1501")
    made.tables["keys"].remove(row)
    return str(row["query-id"])


def lacks_family(made: Made) -> str:
    query = made.add("f", family_id="f1")
    made.tables["keys"] = [row for row in made.tables["keys"] if row["key"] != "family:f1"]
    return query


def changed(made: Made) -> str:
    row = next(row for row in made.tables["keys"] if row["dimension"] == "patient")
    row["key"] = "pmc:PMC999#case1"
    return str(row["query-id"])


def another_text(made: Made) -> str:
    made.tables["queries"][1]["text"] = "Edited by hand"
    return str(made.tables["queries"][1]["id"])


def versioned(made: Made) -> str:
    query = str(made.tables["queries"][0]["id"])
    made.key(query, "article", "pmc:PMC1000.1")
    return query


def strange_dimension(made: Made) -> str:
    made.tables["keys"][0]["dimension"] = "colour"
    return str(made.tables["keys"][0]["query-id"])


def empty_key(made: Made) -> str:
    made.tables["keys"].append({"query-id": "clinical_case-1", "dimension": "target_concept", "key": None})
    return "clinical_case-1"


def orphan(made: Made) -> str:
    made.key("clinical_case-gone", "target_concept", "HP:1")
    return "clinical_case-gone"


def hidden(made: Made) -> str:
    made.task = "summary"  # a task without target concepts, but one query hides one
    made.tables["keys"] = [row for row in made.tables["keys"] if row["dimension"] != "target_concept"]
    made.tables["provenance_queries"][2]["hides_target"] = True
    return str(made.tables["provenance_queries"][2]["id"])


@pytest.mark.parametrize(
    "damage",
    [
        *(lacks(dimension) for dimension in DIMENSIONS),
        lacks_of_positive,
        lacks_family,
        changed,
        another_text,
        versioned,
        strange_dimension,
        empty_key,
        orphan,
        hidden,
    ],
    ids=lambda damage: damage.__name__,
)
def test_untrue_keys_are_named(damage: Callable[[Made], str], tmp_path: Path) -> None:
    made = one_task()
    query = damage(made)
    result, _ = run("overlap_keys_true", [made], tmp_path)
    assert result.status == "failed"
    assert {finding.sides[0].id for finding in result.findings} == {query}
    assert result.found == (2 if damage in (changed, another_text, strange_dimension) else 1)


def test_a_task_without_targets_needs_none(tmp_path: Path) -> None:
    made = one_task()
    made.task = "summary"
    made.tables["keys"] = [row for row in made.tables["keys"] if row["dimension"] != "target_concept"]
    assert run("overlap_keys_true", [made], tmp_path)[0].status == "passed"
    made.key("clinical_case-0", "target_concept", "HP:1")
    result, _ = run("overlap_keys_true", [made], tmp_path)
    assert {finding.sides[0].id for finding in result.findings} == {f"clinical_case-{n}" for n in (1, 2, 3)}


# --- defects


def test_the_rules_name_fifty_five_defects_to_plant() -> None:
    """That each is found is told by `test_defects`."""
    named = [(rule.id, defect.name) for rule in overlap.RULES for defect in rule.defects]
    assert len(named) == len(set(named)) == 55
    assert {rule for rule, _ in named} == {rule.id for rule in overlap.RULES}


def test_defects_are_found_in_a_release_full_of_overlap(copy: Path) -> None:
    """What is wrong with the release does not hide what is planted."""
    half: list[str] = []

    def split(rows: list[Row]) -> None:
        for row in rows[::2]:
            row["split"] = "dev"
            half.append(row["id"])
        for row in rows:
            row["article_id"] = "pmc:PMC901.1"

    edit(copy, "provenance/queries", split)
    report = audit(copy, run_sql, rules=overlap.RULES)
    assert [item.canary for item in report.canaries if not item.is_found] == []
    assert report.verdict == "findings"
