"""Queues as they are sent: one layout for each project, whatever mixture its items are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from annotation.layouts import HIDDEN_COLUMNS, SHOWN, layout
from flows.review.delivery import queues
from flows.review.store import ReviewFolder, review_folder
from flows.workspace import Workspace
from schemas.errors import UsageError
from schemas.review import Allotment, Kind, ReviewCandidate
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
    assert queue.config == layout("relevance_image", "summary").config
    assert queue.hidden_columns == HIDDEN_COLUMNS["relevance_image"]
    assert [item.candidate_id for item in queue.tasks] == [row.id for row in rows]
    sent = [item.data for item in queue.tasks]
    assert len({frozenset(data) for data in sent}) == 1, "each task fills every place of the layout"
    assert [f"/served/{IMAGE}.png" in str(data) for data in sent] == [False, True, False]
    assert "mq-no-image" in str(sent[0]["left_veil"]) and sent[0]["left_image"]


def test_only_texts_have_the_layout_of_texts(workspace: Workspace) -> None:
    folder, _ = folder_of(workspace, ("relevance_text", "relevance_text"))
    (queue,) = queues(folder, str)
    assert queue.config == layout("relevance_text", "summary").config


def test_layouts_that_ask_different_things_are_refused(workspace: Workspace) -> None:
    folder, _ = folder_of(workspace, ("relevance_text", "translation"))
    with pytest.raises(UsageError, match="two layouts"):
        queues(folder, str)
