"""Near copies of positive documents are set apart in a release, so that its audit finds none unjudged."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from curation.audit import audit
from curation.published.manifest import read_manifest
from schemas.benchmark import Document, Excluded, Qrel
from schemas.hashing import sha256_text
from tests.curation.release.known import World, run_sql

RULE = "near_duplicate_documents"


@pytest.fixture
def twin(world: World) -> Document:
    """A document that differs from the first positive one by a word."""
    (first,) = [item for item in world.documents if item.id == "pmc:PMC901.1#p1"]
    text = first.text.replace("dense", "faint")
    assert text != first.text
    made = dataclasses.replace(
        first,
        id="pmc:PMC902.2#p9",
        article_id="pmc:PMC902.2",
        text=text,
        text_sha256=sha256_text(text),
        transforms=(),
    )
    world.documents.append(made)
    return made


def asking(world: World) -> Qrel:
    """The judgement of the document that was copied."""
    (found,) = [item for item in world.qrels if item.corpus_id == "pmc:PMC901.1#p1" and item.score > 0]
    return found


def set_apart(directory: Path, split: str = "test") -> list[dict[str, Any]]:
    paths = sorted((directory / "excluded").glob(f"{split}-*.parquet"))
    return [
        row for path in paths for row in pq.read_table(path).to_pylist() if row["corpus-id"].endswith("p9")
    ]


def status(directory: Path) -> str:
    report = audit(directory, run_sql, plant=False)
    return next(item.status for item in report.rules if item.rule == RULE)


def test_a_copy_that_nobody_judged_is_set_apart(world: World, twin: Document) -> None:
    directory = world.release()
    row = {"query-id": asking(world).query_id, "corpus-id": twin.id, "reason": "near_copy"}
    assert set_apart(directory) == [row]
    assert read_manifest(directory).exclusions["near_copy"]
    assert status(directory) == "passed"


def test_it_is_set_apart_in_the_split_of_its_query(world: World, twin: Document) -> None:
    world.dev = {asking(world).query_id}
    directory = world.release()
    assert set_apart(directory) == []
    assert [row["corpus-id"] for row in set_apart(directory, "dev")] == [twin.id]


@pytest.mark.parametrize(("score", "wanted"), [(2, "passed"), (0, "failed")])
def test_a_copy_that_was_judged_keeps_its_label(
    world: World, twin: Document, score: int, wanted: str
) -> None:
    """Two that people judged differently are for people to settle: the audit says so."""
    world.qrels.append(dataclasses.replace(asking(world), corpus_id=twin.id, score=score, evidence=()))
    directory = world.release()
    assert set_apart(directory) == []
    assert status(directory) == wanted


def test_a_copy_that_is_apart_already_keeps_its_reason(world: World, twin: Document) -> None:
    query = asking(world).query_id
    world.excluded.append(
        Excluded(query_id=query, corpus_id=twin.id, task="visual_context", reason="own_article")
    )
    directory = world.release()
    assert [row["reason"] for row in set_apart(directory)] == ["own_article"]
    assert status(directory) == "passed"


def test_the_same_words_with_another_picture_are_no_copy(world: World, twin: Document) -> None:
    world.documents[-1] = dataclasses.replace(twin, image=world.queries[0].image)
    directory = world.release()
    assert set_apart(directory) == []
    assert status(directory) == "passed"


def test_neither_judged_nor_copied_is_not_set_apart(world: World, twin: Document) -> None:
    """Near copies of each other that are no positive stay what they are: documents to be passed over."""
    text = "Nobody asked for this sentence on the weather over the harbour at noon on a quiet Sunday."
    longer = f"{text[:-1]} again."
    world.documents[-1:] = [
        dataclasses.replace(twin, text=text, text_sha256=sha256_text(text)),
        dataclasses.replace(twin, id="pmc:PMC902.2#p8", text=longer, text_sha256=sha256_text(longer)),
    ]
    directory = world.release()
    assert set_apart(directory) == []
    assert status(directory) == "passed"
