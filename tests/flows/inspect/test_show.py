"""One article can be followed through every stage; a workspace can be summed up."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from flows.cli.app import run_cli
from flows.engine.runner import shards_of
from flows.engine.workspace import Workspace
from flows.inspect.confusions import describe_set, is_of_a_set, trace_set
from flows.inspect.decisions import describe as tell
from flows.inspect.decisions import follow
from flows.inspect.show import describe, trace
from schemas.errors import UsageError
from tests.pipeline import crawl_textbook, run_stages
from tests.sources.fakes.openstax import book_files, write_folder


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
    found = trace(sample, figure)
    assert found == trace(sample, article)
    assert f"figure {figure}" in describe(found)


def test_a_case_is_followed_by_the_command_and_what_is_no_record_of_a_task_is_not(
    sample: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    case = str(_rows(sample, "cases", "cases")[0]["id"])
    assert run_cli(["show", case, "--workspace", str(sample.root), "--json"]) == 0
    way = json.loads(capsys.readouterr().out)
    assert way["kind"] == "case" and way["article"] == case.partition("#")[0]
    rows = [row["row"] for row in way["decisions"] if row["decision"] == "kept"]
    assert len(rows) > 3 and {row["case_id"] for row in rows if row.get("case_id")} == {case}
    assert {row["article_id"] for row in rows if "article_id" in row} == {way["article"]}
    assert way["decisions"][0]["stage"] == "cases"
    for record in (case.partition("#")[0], "pmc:PMC1.1#case1", "", "visual_context-0000"):
        assert follow(sample, record) is None


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


def test_exercises_are_shown_with_their_chapter(workspace: Workspace, tmp_path: Path) -> None:
    crawl_textbook(workspace, write_folder(tmp_path / "book", book_files()))
    run_stages(workspace, ground=False, tasks=())
    found = trace(workspace, "openstax:invented/m4#e1")
    assert found == trace(workspace, "openstax:invented/m4")
    [question] = found["tables"]["exercises.questions"]
    assert (question["id"], question["correct"]) == ("openstax:invented/m4#e1", ["A"])
    text = describe(found)
    assert "  question openstax:invented/m4#e1  Airways > Review Questions\n    Which muscle" in text
    assert "\n    A the diaphragm · B a rib\n    answer: A\n" in text
    assert "dropped in exercises: question openstax:invented/m4#e2: no_key review-questions" in text
    assert "exercises.questions" not in trace(workspace, "openstax:invented/m1")["tables"]
    way = follow(workspace, "openstax:invented/m4#e1")
    assert way and (way["kind"], way["article"]) == ("question", "openstax:invented/m4")
    assert [(row["stage"], row["decision"]) for row in way["decisions"]] == [("exercises", "kept")]
    way = follow(workspace, "openstax:invented/m4#e2")
    assert way and "exercises: dropped question\n    openstax:invented/m4#e2: no_key" in tell(way)
    before = {path: path.read_bytes() for path in workspace.stage("exercises").rglob("*.parquet")}
    shutil.rmtree(workspace.stage("exercises"))
    run_stages(workspace, ground=False, tasks=())
    assert before == {path: path.read_bytes() for path in workspace.stage("exercises").rglob("*.parquet")}


def test_a_confusion_set_is_shown_with_its_members_and_what_was_rejected(sample: Workspace) -> None:
    queries = _rows(sample, "concept_discrimination_all", "queries")
    query = next(row for row in queries if row["tier"] == "3")
    found = trace_set(sample, str(query["id"]))
    text = describe_set(found)
    assert is_of_a_set(str(query["id"])) and not is_of_a_set("pmc:PMC1.1")
    assert text.startswith(f"{query['id']}\n  from {query['source_id']}, tier 3: near members")
    assert text.count("  member ") == 7 and text.count("  gold ") == 1 and "the concept itself" in text
    assert "ibling (up, down) by " in text or "cousin (up, up, down, down) by " in text
    assert "  rejected, kind: " in text and "surface distance 0.000" in text
    json.dumps(found)
    dropped = _rows(sample, "concept_discrimination_all", "_dropped")[0]
    assert f"dropped: {dropped['reason']}" in describe_set(trace_set(sample, str(dropped["id"])))
    with pytest.raises(UsageError, match="no query"):
        trace_set(sample, "concept_discrimination-0000")
