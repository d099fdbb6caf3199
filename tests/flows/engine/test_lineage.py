"""A stage never builds on yesterday's input: new shards, remade input, another version are noticed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from curation.extract.stage import EXTRACT
from curation.tasks.registry import TASKS
from flows.engine.runner import Resource, execute, plan
from flows.engine.workspace import Workspace
from flows.pipeline import VERSIONS
from schemas.errors import WorkspaceError
from sources.stage import PARSE
from tests.pipeline import crawl_bucket, new_workspace, run_stages
from tests.test_end_to_end import sample_ids

TASK = TASKS["visual_context"].per_article


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    made = new_workspace(tmp_path / "ws")
    crawl_bucket(made, sample_ids()[:2])
    run_stages(made, ground=False)
    yield made


def refused(workspace: Workspace, versions: dict[str, int] | None = None) -> WorkspaceError:
    with pytest.raises(WorkspaceError) as caught:
        plan(workspace, TASK, versions=versions or dict(VERSIONS))
    return caught.value


def test_what_is_current_passes(workspace: Workspace) -> None:
    assert all(job.is_done() for job in plan(workspace, TASK, versions=VERSIONS))


def test_articles_crawled_since_are_noticed(workspace: Workspace) -> None:
    crawl_bucket(workspace, sample_ids()[:3])
    error = refused(workspace)
    assert "1 new shards of crawl" in error.message
    assert error.hint == "medqrels extract"


def test_remade_input_is_noticed(workspace: Workspace) -> None:
    resources = {"raw": Resource(workspace.raw)}
    for job in plan(workspace, PARSE, params={"max_pixels": 10}, resources=resources):
        execute(job)
    error = refused(workspace)
    assert "made from an older parse" in error.message
    assert error.hint == "medqrels extract"


def test_another_version_is_noticed(workspace: Workspace) -> None:
    error = refused(workspace, {**VERSIONS, "extract": EXTRACT.version + 1})
    assert f"its version {EXTRACT.version}, this is {EXTRACT.version + 1}" in error.message


def test_every_stage_of_the_product_has_a_version_here() -> None:
    expected = {"crawl", "parse", "extract", "cases", "images", "questions", "exercises"}
    expected |= {"ground", "ground_questions", "ground_exercises", "labels", "diagnoses"}
    expected |= {"label_questions", "label_exercises"}
    paired = ("image_search", "summary", "case_study", "clinical_case", "reference_qa", "clinical_evidence")
    asking = ("concept_discrimination", "crosslingual_qa", "multilingual_evidence")
    for task in ("visual_context", *paired, *asking):
        expected |= {task, f"{task}_all"}
        for kind in ("hyde", "query2doc"):
            expected |= {f"{task}_{kind}", f"{task}_{kind}_answers", f"{task}_{kind}_texts"}
    expected |= {"concept_discrimination_earlier"}
    asked = {"questions", "exercises", "pairs", "judge", "judge_answers", "judgements", "judged", "labels"}
    expected |= {f"{task}_{step}" for task in ("reference_qa", "multilingual_evidence") for step in asked}
    asked = {"wanted", "translation", "translation_answers", "translations", "checked"}
    back = "back_translation"
    asked |= {back, f"{back}_answers", f"{back}s", f"{back}_texts", f"{back}_found"}
    expected |= {f"multilingual_evidence_{step}" for step in asked}
    asked = {"cases", "reasoning_path", "reasoning_path_answers", "paths", "views", "pairs", "apart"}
    asked |= {"judge", "judge_answers", "judgements", "judged", "questions", "exams", "vignettes", "tries"}
    asked |= {"intent", "intent_answers", "intents", "closed_book", "closed_book_answers", "closed_answers"}
    asked |= {
        "hard",
        "keys",
        "keys_verdicts",
        "difficulty",
        "rewrite",
        "rewrite_answers",
        "rewrites",
        "checked",
    }
    expected |= {f"clinical_evidence_{step}" for step in asked}
    expected |= {f"crosslingual_qa_{step}" for step in ("versions", "asked", "questions", "abstracts")}
    expected |= {f"{task}_images" for task in ("case_study", "visual_context")}
    expected |= {"visual_context_panels", "visual_context_parts"}
    assert set(VERSIONS) == expected | {"partition"}
