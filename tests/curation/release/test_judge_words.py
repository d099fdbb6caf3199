"""What the card of a judged release says of who judged, with which models, and what was drawn."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from annotation.judge.circularity import unknown
from curation.audit import audit
from curation.published.manifest import read_manifest
from curation.release.card import template
from curation.release.reviewed import grades
from curation.tasks.clinical_evidence.settings import Settings
from curation.tasks.registry import task_of
from flows.review.calibration import facts_of
from tests.curation.release import known as known_release
from tests.curation.release.known import World, run_sql
from tests.releases import card_text

TASK = task_of("clinical_evidence")
SETTINGS = Settings().model_dump()
NOTHING = {"value": None, "low": None, "high": None, "reason": ""}


@pytest.mark.parametrize(
    ("statuses", "who"),
    [
        (["judge"], "A language model judged"),
        (["expert"], "People judged"),
        (["adjudicated", "judge"], "A language model or people judged"),
        (["structural"], "Rules judged"),
    ],
)
def test_a_judged_zero_says_who_judged(statuses: list[str], who: str) -> None:
    rows = [{"score": 0, "label_status": status, "count": 1} for status in statuses]
    found = grades(TASK, [*rows, {"score": 2, "label_status": "expert", "count": 3}])
    assert found["0"] == f"{who} that the document is not relevant to the query."
    assert "0" not in grades(TASK, [{"score": 2, "label_status": "judge", "count": 1}])


def models(path: str, judge: str) -> list[dict[str, Any]]:
    named = {"clinical_evidence_reasoning_path_answers": ("reasoning_path@1", path)}
    named["clinical_evidence_judge_answers"] = ("answer-reasoning@1", judge)
    return [{"stage": name, "params": {"prompt": of, "model": by}} for name, (of, by) in named.items() if by]


@pytest.mark.parametrize(
    ("path", "judge", "told"),
    [
        ("", "", "No model has written the paths and judged"),
        ("gpt-4o", "gpt-4o", "One model for both."),
        ("gpt-4o", "gpt-4.1", "One family for both."),
        ("gpt-4o", "claude-x", "Two families."),
        ("gpt-4o", "own-judge", "whether they are of one family is not known"),
    ],
)
def test_the_card_follows_the_models_that_answered(path: str, judge: str, told: str) -> None:
    said = facts_of([{"model": judge, "forward": "", "reversed": "", "found_by": []}], [path] if path else [])
    page = template("tasks/clinical_evidence").render(
        settings=SETTINGS, models=models(path, judge), calibration=said if judge else None, scenarios={}
    )
    every = ("No model has", "One model", "One family", "Two families", "Two models")
    assert told in page and sum(f"**{one}" in page or f" {one}" in page for one in every) == 1
    assert "A spec names one model" not in page


def calibration(**changes: Any) -> str:
    told: dict[str, Any] = {
        "status": "not_run", "why": "no calibration sample was drawn", "floor": 0.6, "least_queries": 80,
        "drawn": 0, "judged_by_people": 0, "mined": 4, "judged": 3, "kappa": NOTHING, "bias": NOTHING,
        "is_biased": False, "pairs": 0, "queries": 0, "groups": [], "cells": [], "missed": NOTHING,
        "order": {"pairs": 0}, "seeds": {"pairs": 0}, "circular": [], "judge": {"model": "own-judge"},
    }  # fmt: skip
    return template("calibration.md.jinja").render(calibration=told | changes)


def test_nothing_is_said_to_be_drawn_or_graded_where_nothing_was() -> None:
    page = calibration()
    assert "drawn by lot" not in page and "two people" not in page and "lower bound" in page
    page = calibration(drawn=60, judged_by_people=12)
    assert "60 pairs were drawn by lot" in page and "12 have a verdict" in page


def test_a_family_that_nobody_knows_is_said_to_be_unknown() -> None:
    assert unknown(["bm25", "concepts", "gpt-4o", "own-judge", "dense"]) == ("own-judge",)
    row = {"model": "own-judge", "forward": "", "reversed": "", "found_by": ["bm25:answer:1"]}
    assert facts_of([row], ["bm25"])["unknown_families"] == []  # there is no model to be related to
    assert facts_of([row], ["bm25", "gpt-4o"])["unknown_families"] == ["own-judge"]
    assert "is known to be of the judge's family" in calibration()
    page = calibration(unknown_families=["own-judge"])
    assert "family of own-judge is **not known**" in page and "is known to be of" not in page


@pytest.mark.usefixtures("fewer_defects")
def test_an_empty_release_of_a_task_that_has_only_candidates_calls_itself_so(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.queries, world.documents, world.qrels, world.excluded = [], [], [], []
    assert read_manifest(world.release("labels")).label == "silver"
    waiting = dataclasses.replace(known_release.TASK, candidates_because="Nobody measured its rules.")
    monkeypatch.setattr(known_release, "TASK", waiting)
    directory = world.release("waiting")
    assert read_manifest(directory).label == "candidates"
    assert "**empty**: no queries" in (text := card_text(directory)) and "These pairs are" not in text
    assert audit(directory, run_sql).verdict == "clean"
