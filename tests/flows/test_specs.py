"""What a spec says of images reaches the stage, and what is missing for it is told before a flow starts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flows.engine.specs import image_params, parameters_of, read_spec, spec_path
from flows.inspect.preview import check_stages, preview_stages
from schemas.errors import UsageError
from tests.pipeline import crawl_bucket, new_workspace, run_stages

SPEC = str(spec_path("medqrels-sample"))


def test_images_of_a_spec_are_parameters_of_the_stage() -> None:
    assert image_params(None, None) == {}
    assert image_params(SPEC, {}) == {"faces": "off", "ocr": "off", "ocr_languages": "eng"}
    asked = {"images.faces": "true", "images.ocr": "true", "images.ocr_languages": "eng+deu"}
    assert image_params(SPEC, asked) == {"faces": "on", "ocr": "on", "ocr_languages": "eng+deu"}
    with pytest.raises(UsageError, match="--set changes a spec"):
        image_params(None, asked)
    with pytest.raises(UsageError, match="ocr_languages"):
        image_params(SPEC, {"images.ocr_languages": "eng; rm"})


@pytest.mark.parametrize(
    ("key", "value", "message", "hint"),
    [
        ("tasks.visual.min_words", "30", "no code for: visual", "tasks: visual_context, image_search"),
        ("tasks.summary.min_word", "30", "tasks.summary: .*'min_word'", "max_caption_words, .*min_abstract"),
        ("tasks.summary.licence_profile", "open", "'licence_profile'", "its settings: max_caption_words"),
        (
            "tasks.visual_context.min_words",
            '"30"',
            "tasks.visual_context.min_words: .*integer, not '30'",
            "max",
        ),
        ("tasks.visual_context.min_words", "-1", "greater than or equal to 0", "max_figures"),
        ("tasks.case_study.min_confidence", "1.5", "min_confidence: .*less than or equal to 1", "min_words"),
    ],
)
def test_a_task_takes_its_own_settings_and_no_others(key: str, value: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        read_spec(Path(SPEC), {key: value})
    assert re.search(hint, caught.value.hint) and caught.value.file == SPEC


def test_settings_of_a_task_are_the_specs_and_its_defaults() -> None:
    overrides = {"tasks.case_study.min_confidence": "1", "licence_profile": "noncommercial"}
    assert parameters_of(read_spec(Path(SPEC), overrides))["case_study"] == {
        "licence_profile": "noncommercial",
        "min_words": 50,
        "min_confidence": 1.0,
        "max_family": 50,
        "require_image": True,
    }


def test_asking_for_text_redoes_the_images_alone(tmp_path: Path) -> None:
    workspace = new_workspace(tmp_path / "ws")
    crawl_bucket(workspace, ["PMC990000001"])
    run_stages(workspace, ground=False)

    def waiting(overrides: dict[str, str]) -> dict[str, int]:
        planned = preview_stages("extract", str(workspace.root), (), SPEC, overrides)
        return {item["stage"]: item["to_do"] for item in planned if item["to_do"]}

    assert waiting({}) == {}
    assert waiting({"images.ocr": "true"}) == {"images": 1}


def test_a_missing_language_is_told_before_a_flow_starts(tmp_path: Path) -> None:
    workspace = new_workspace(tmp_path / "ws")
    asked = {"images.ocr": "true", "images.ocr_languages": "xxx"}
    with pytest.raises(UsageError, match="xxx"):
        check_stages("extract", str(workspace.root), (), SPEC, asked)
    check_stages("extract", str(workspace.root), (), SPEC, {"images.faces": "true", "images.ocr": "true"})
