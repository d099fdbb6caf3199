"""Queues as they are sent: one layout for each project, whatever mixture its items are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from annotation.client import TITLE_CHARACTERS
from annotation.layouts import HIDDEN_COLUMNS, SHOWN, layout
from curation.tasks.registry import TASKS
from flows.engine.workspace import Workspace
from flows.review.delivery import description, queues, title
from flows.review.store import ReviewFolder, parquet_bytes, review_folder
from schemas.errors import UsageError
from schemas.review import Allotment, Kind, ReviewAnnotation, ReviewCandidate, Role
from tests.annotation.review_samples import candidate, fields

IMAGE = "ab" * 32


def folder_of(workspace: Workspace, kinds: tuple[Kind, ...]) -> tuple[ReviewFolder, list[ReviewCandidate]]:
    folder = review_folder(workspace, "mixed", "summary")
    rows = []
    for number, kind in enumerate(kinds):
        shown = {name: text for name, text in fields(kind, "summary", IMAGE).items() if name in SHOWN[kind]}
        rows.append(replace(candidate(kind, "summary", shown), id=f"cand:{number}"))
    folder.write_candidates(rows)
    folder.write_allotments(
        Allotment(candidate_id=row.id, task=row.task, annotator="A1", role="annotator", place=place)
        for place, row in enumerate(rows, 1)
    )
    return folder, rows


def test_items_with_and_without_image_share_the_layout_with_images(workspace: Workspace) -> None:
    folder, rows = folder_of(workspace, ("relevance_text", "relevance_image", "relevance_text"))
    (queue,) = queues(folder, lambda sha256: f"/served/{sha256}.png")
    assert queue.config == layout("relevance_image", TASKS["summary"]).config
    assert queue.hidden_columns == HIDDEN_COLUMNS["relevance_image"]
    assert [item.candidate_id for item in queue.tasks] == [row.id for row in rows]
    sent = [item.data for item in queue.tasks]
    assert len({frozenset(data) for data in sent}) == 1, "each task fills every place of the layout"
    assert [f"/served/{IMAGE}.png" in str(data) for data in sent] == [False, True, False]
    assert "mq-no-image" in str(sent[0]["left_veil"]) and sent[0]["left_image"]


def test_only_texts_have_the_layout_of_texts(workspace: Workspace) -> None:
    folder, _ = folder_of(workspace, ("relevance_text", "relevance_text"))
    (queue,) = queues(folder, str)
    assert queue.config == layout("relevance_text", TASKS["summary"]).config


def test_layouts_that_ask_different_things_are_refused(workspace: Workspace) -> None:
    folder, _ = folder_of(workspace, ("relevance_text", "translation"))
    with pytest.raises(UsageError, match="two layouts"):
        queues(folder, str)


def judged(candidate_id: str, grade: int | None, reason: str = "") -> ReviewAnnotation:
    return ReviewAnnotation(
        id=f"ann:{candidate_id}",
        candidate_id=candidate_id,
        task="summary",
        annotator="judge:model/umbrela@1",
        role="judge",
        grade=grade,
        reason=reason,
    )


def test_what_the_judge_doubts_is_sent_first_on_request(workspace: Workspace) -> None:
    folder, rows = folder_of(workspace, ("relevance_text",) * 6)
    rows = [replace(row, origin="pool", rule="", rule_grade=None) for row in rows]
    rows[1] = replace(rows[1], origin="gold", known_grade=0)  # in the second place of the queue
    rows[5] = replace(rows[5], origin="positive", rule="summary/own@1", rule_grade=2)
    folder.write_candidates(rows)
    said = [judged("cand:1", None, "unstable"), judged("cand:0", 0), judged("cand:2", 2), judged("cand:5", 0)]
    said.append(judged("cand:3", None, "unstable"))
    home = folder.path / "judge" / "model-umbrela"
    home.mkdir(parents=True)
    (home / "annotations.parquet").write_bytes(parquet_bytes(ReviewAnnotation, said))

    def order(*, by_doubt: bool) -> list[str]:
        (queue,) = queues(folder, str, by_doubt=by_doubt)
        return [item.candidate_id[-1] for item in queue.tasks]

    assert order(by_doubt=False) == list("012345")
    # Contradictory, against the rule, not judged, sure; the known item keeps its place.
    assert order(by_doubt=True) == list("315402")


def test_a_project_says_whose_it_is_before_anything_is_cut() -> None:
    assert (
        title("medqrels-sample", "visual_context", "A1", "annotator")
        == "A1 · visual_context · medqrels-sample"
    )
    long = title("medqrels-open-of-a-long-name", "concept_discrimination", "ADJ1", "adjudicator")
    assert long.startswith("ADJ1 · adjudication · concept") and len(long) == TITLE_CHARACTERS
    roles: tuple[Role, ...] = ("annotator", "adjudicator")
    told = {role: description("d", "summary", "A1", role) for role in roles}
    assert all(text.startswith("Only for A1") for text in told.values()) and len(set(told.values())) == 2
