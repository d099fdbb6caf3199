"""Rows that could name a patient are withheld from a release, told among its drops, and counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.audit import audit
from curation.audit.rules.privacy import RULES
from curation.published.manifest import read_manifest
from curation.release import identified
from schemas.benchmark import Evidence, Excluded, Transform
from schemas.errors import ConservationError
from schemas.stages import Drop, Reason
from tests.curation.release.known import World, run_sql
from tests.releases import card_text

SAID = "Her medical record number is 4482913."
Row = dict[str, Any]


def rows(directory: Path, table: str) -> list[Row]:
    found: list[Row] = pq.read_table(directory / table).to_pylist()
    return found


def withheld(directory: Path) -> dict[str, tuple[str, str, str]]:
    return {
        row["id"]: (row["unit"], row["reason"], row["detail"])
        for row in rows(directory, "provenance/drops")
        if row["stage"] == identified.STAGE
    }


def funnel(directory: Path) -> dict[str, tuple[int, int, int]]:
    return {
        row["unit"]: (row["entered"], row["kept"], row["dropped"])
        for row in rows(directory, "provenance/funnel")
        if row["stage"] == identified.STAGE
    }


def check_clean(directory: Path) -> None:
    report = audit(directory, run_sql, plant=False)
    wrong = [(rule.rule, rule.findings) for rule in report.rules if rule.status == "failed"]
    assert "4482913" not in repr(report)
    assert not wrong


def test_nothing_is_withheld_without_an_identifier(world: World) -> None:
    directory = world.release()
    assert withheld(directory) == {} and funnel(directory) == {"query": (4, 4, 0), "document": (8, 8, 0)}
    stages = [stage["name"] for stage in read_manifest(directory).stages]
    assert stages[-1] == identified.STAGE


def test_a_hint_withholds_nothing(world: World) -> None:
    world.documents[0] = replace(world.documents[0], title="Mr. S. and the e-mail a@example.org")
    assert withheld(world.release()) == {}


def test_a_document_that_names_a_patient_is_nowhere_in_the_release(world: World) -> None:
    lost = world.documents[2]
    world.documents[2] = replace(lost, title=SAID)
    query = world.queries[2].id
    world.excluded.append(
        Excluded(task="visual_context", query_id=query, corpus_id=lost.id, reason="same_article")
    )
    directory = world.release()
    assert withheld(directory) == {
        lost.id: (
            "document",
            "names_a_patient",
            "the title holds a record or insurance number at characters 4–36",
        )
    }
    assert funnel(directory) == {"query": (4, 4, 0), "document": (8, 7, 1)}
    for table, column in (("corpus", "id"), ("qrels", "corpus-id"), ("excluded", "corpus-id")):
        assert lost.id not in {row[column] for row in rows(directory, table)}
    assert "4482913" not in card_text(directory)
    check_clean(directory)


def test_a_query_without_a_positive_left_goes_too(world: World) -> None:
    positives = {
        item.corpus_id for item in world.qrels if item.query_id == world.queries[0].id and item.score
    }
    world.documents = [
        replace(item, title=SAID) if item.id in positives else item for item in world.documents
    ]
    directory = world.release()
    told = withheld(directory)
    assert told.pop(world.queries[0].id) == ("query", "no_positive_left", "every positive is withheld")
    assert set(told) == positives
    assert world.queries[0].id not in {row["id"] for row in rows(directory, "queries")}
    assert funnel(directory)["query"] == (4, 3, 1)
    check_clean(directory)


def in_text(world: World) -> None:
    world.queries[1] = replace(world.queries[1], text=f"{world.queries[1].text} {SAID}")


def in_evidence(world: World) -> None:
    at = next(n for n, item in enumerate(world.qrels) if item.query_id == world.queries[1].id)
    quote = Evidence(text_id=world.qrels[at].corpus_id, start=0, end=len(SAID), text=SAID)
    world.qrels[at] = replace(world.qrels[at], evidence=(quote,))


def in_what_was_replaced(world: World) -> None:
    change = Transform(start=0, end=0, original=SAID, rule="figure_pointer")
    world.queries[1] = replace(world.queries[1], transforms=(change,))


@pytest.mark.parametrize("plant", [in_text, in_evidence, in_what_was_replaced])
def test_a_query_is_withheld_for_any_of_its_words(world: World, plant: Callable[[World], None]) -> None:
    lost = world.queries[1].id
    plant(world)
    directory = world.release()
    assert {name: told[1] for name, told in withheld(directory).items()} == {lost: "names_a_patient"}
    for table in ("queries", "provenance/queries", "qrels", "excluded", "provenance/keys"):
        column = "id" if table.endswith("queries") else "query-id"
        assert lost not in {row[column] for row in rows(directory, table)}


def test_a_named_article_takes_its_rows_along(world: World) -> None:
    named = world.sources[0]
    world.sources[0] = replace(named, title=f"A case. {SAID}")
    directory = world.release()
    of_it = {row.id for row in world.queries if row.article_id == named.id}
    of_it |= {row.id for row in world.documents if row.article_id == named.id}
    assert set(withheld(directory)) == of_it
    assert named.id not in {row["id"] for row in rows(directory, "provenance/sources")}
    assert audit(directory, run_sql, rules=RULES, plant=False).rules[0].status == "passed"


def test_details_of_drops_are_published_masked(world: World) -> None:
    world.drops["visual_context"][0] = replace(world.drops["visual_context"][0], detail=f"label: {SAID}")
    (detail,) = [
        row["detail"] for row in rows(world.release(), "provenance/drops") if row["unit"] == "figure"
    ]
    assert detail == "label: Her medical record number is 4••••••."


def test_what_the_partition_dropped_is_not_dropped_again(world: World) -> None:
    in_text(world)
    gone = world.queries[1]
    kept = [item for item in world.assignments() if item.query_id != gone.id]
    world.assignments = lambda: kept  # type: ignore[method-assign]
    reason = Reason.OVERLAP_OTHER_TASK
    world.drops["partition"].append(
        Drop(unit="query", id=gone.id, article_id=gone.article_id, reason=reason, detail="x")
    )
    world.retention[-1] = replace(world.retention[-1], kept=3)
    try:
        directory = world.release()
    except ConservationError as error:
        pytest.fail(str(error))
    assert withheld(directory) == {} and funnel(directory)["query"] == (3, 3, 0)


def test_a_document_that_no_query_of_the_release_is_ranked_among_goes_too(
    world: World, tmp_path: Path
) -> None:
    in_text(world)
    gone = world.queries[1].id
    shared, own, *others = (document.id for document in world.documents)
    sets = [(query.id, shared) for query in world.queries] + [(gone, own)]
    sets += [(world.queries[0].id, other) for other in others]
    path = tmp_path / "confusions.parquet"
    pq.write_table(
        pa.table({"query_id": [query for query, _ in sets], "corpus_id": [one for _, one in sets]}), path
    )
    tables = {**world.tables(), "confusions": [path]}
    found = pq.read_table(identified.write_identified(run_sql, "visual_context", tables, [], tmp_path))
    assert {(row["unit"], row["id"], row["reason"]) for row in found.to_pylist()} == {
        ("query", gone, "names_a_patient"),
        ("document", own, "in_no_set"),
    }
