"""One article can be followed through every stage; a workspace can be summed up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flows.engine.runner import shards_of
from flows.engine.workspace import Workspace
from flows.inspect.show import describe, trace
from schemas.errors import UsageError


def kept(sample: Workspace) -> str:
    found = [str(row["id"]) for row in _rows(sample, "extract", "sources")]
    return sorted(found)[0]


def _rows(workspace: Workspace, stage: str, table: str) -> list[dict[str, object]]:
    import pyarrow.parquet as pq

    return [
        row
        for shard, manifest in shards_of(workspace, stage).items()
        for row in pq.read_table(workspace.stage(stage) / shard / manifest.outputs[table].file).to_pylist()
    ]


def test_an_article_is_followed_through_every_stage(sample: Workspace) -> None:
    article = kept(sample)
    found = trace(sample, article)
    assert found["id"] == article
    assert {"crawl.raw", "parse.articles", "extract.sources", "extract.passages"} <= set(found["tables"])
    for name, rows in found["tables"].items():
        for row in rows:
            owner = row.get("article_id", row.get("corpus_id", row.get("id")))
            assert str(owner).startswith((article, "PMC")), name
    text = describe(found)
    assert text.startswith(article) and found["tables"]["extract.sources"][0]["title"] in text
    json.dumps(found, default=str)


def test_a_figure_or_passage_leads_to_its_article(sample: Workspace) -> None:
    figure = str(_rows(sample, "extract", "figures")[0]["id"])
    article = figure.partition("#")[0]
    assert trace(sample, figure) == trace(sample, article)
    assert f"figure {figure}" in describe(trace(sample, figure))


def test_a_dropped_article_says_why(sample: Workspace) -> None:
    drops = _rows(sample, "crawl", "_dropped")
    assert drops
    for drop in drops:
        text = describe(trace(sample, str(drop["article_id"])))
        assert f"dropped in crawl: article {drop['id']}: {drop['reason']}" in text


@pytest.mark.parametrize(
    "record", ["pmc:PMC1.1", "", "nonsense", "pmc:PMC99000000", "#F1", "'; DROP TABLE x"]
)
def test_what_nobody_knows_is_said(sample: Workspace, record: str) -> None:
    with pytest.raises(UsageError) as caught:
        trace(sample, record)
    assert caught.value.record == record and "medqrels status" in caught.value.hint


def test_an_empty_workspace_knows_nothing(workspace: Workspace) -> None:
    with pytest.raises(UsageError):
        trace(workspace, "pmc:PMC1.1")


def test_an_article_is_not_taken_for_its_neighbour(workspace: Workspace, tmp_path: Path) -> None:
    """PMC1.1 must not bring PMC1.10 with it."""
    from schemas.benchmark import Qrel
    from schemas.stages import Table
    from tests.flows.toy import seed

    rows = [
        Qrel(query_id="q", corpus_id=f"{article}#p1", score=2, task="t", rule="r", label_status="structural")
        for article in ("pmc:PMC1.1", "pmc:PMC1.10", "pmc:PMC11.1")
    ]
    seed(workspace, rows, 10, Table("qrels", Qrel, ("query_id", "corpus_id")), "task")
    assert [row["corpus_id"] for row in trace(workspace, "pmc:PMC1.1")["tables"]["task.qrels"]] == [
        "pmc:PMC1.1#p1"
    ]
