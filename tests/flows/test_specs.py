"""What a spec says of images reaches the stage, and what is missing for it is told before a flow starts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from flows.inspect.preview import preview_stages
from flows.pipeline import Choices, parameters_of, steps
from flows.specs import check_images, chosen_tasks, given_spec, read_spec, spec_path
from schemas.errors import UsageError, WorkspaceError
from schemas.spec import Images
from tests.pipeline import crawl_bucket, new_workspace, run_stages

SPEC = spec_path("medqrels-sample")


def images_of(overrides: dict[str, str]) -> Mapping[str, Any]:
    (step,) = (step for step in steps("extract") if step.name == "images")
    return step.params(Choices.of(given_spec(SPEC, overrides)))


def test_images_of_a_spec_are_parameters_of_the_stage() -> None:
    assert Choices.of(given_spec(None)).images is None
    assert images_of({}) == {"faces": "off", "ocr": "off", "ocr_languages": "eng"}
    asked = {"images.faces": "true", "images.ocr": "true", "images.ocr_languages": "eng+deu"}
    assert images_of(asked) == {"faces": "on", "ocr": "on", "ocr_languages": "eng+deu"}
    with pytest.raises(UsageError, match="--set changes a spec"):
        given_spec(None, asked)
    with pytest.raises(UsageError, match="ocr_languages"):
        given_spec(SPEC, {"images.ocr_languages": "eng; rm"})


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
    assert re.search(hint, caught.value.hint) and caught.value.file == str(SPEC)


def test_settings_of_a_task_are_the_specs_and_its_defaults() -> None:
    overrides = {"tasks.case_study.min_confidence": "1", "licence_profile": "noncommercial"}
    assert parameters_of(read_spec(Path(SPEC), overrides))["case_study"] == {
        "licence_profile": "noncommercial",
        "min_words": 50,
        "min_confidence": 1.0,
        "max_family": 50,
        "max_images": 1,
        "require_image": True,
    }


def test_asking_for_text_redoes_the_images_alone(tmp_path: Path) -> None:
    workspace = new_workspace(tmp_path / "ws")
    crawl_bucket(workspace, ["PMC990000001"])
    run_stages(workspace, ground=False)

    def waiting(overrides: dict[str, str]) -> dict[str, int]:
        planned = preview_stages(
            str(workspace.root), steps("extract"), Choices.of(given_spec(SPEC, overrides))
        )
        return {item["stage"]: item["to_do"] for item in planned if item["to_do"]}

    assert waiting({}) == {}
    assert waiting({"images.ocr": "true"}) == {"images": 1}


def test_a_missing_language_is_told_before_a_flow_starts(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="xxx"):
        check_images(Images(ocr=True, ocr_languages="xxx"))
    check_images(Images(faces=True, ocr=True))


def test_what_is_misspelt_is_told_what_it_may_mean(tmp_path: Path) -> None:
    text = SPEC.read_text("utf-8")
    for wrong, said in (
        (text.replace("name = ", "nmae = ", 1), "nmae: there is no such key; did you mean 'name'"),
        (text + "\n[tasks.summry]\n", "summry; did you mean 'summary'"),
        (
            text.replace("[tasks.summary]", "[tasks.summary]\nmin_abstract_word = 3"),
            "did you mean 'min_abstract_words'",
        ),
        ("", "name: this key is missing"),
    ):
        path = tmp_path / "spec.toml"
        path.write_text(wrong, "utf-8")
        with pytest.raises(UsageError, match=said):
            read_spec(path)
    with pytest.raises(UsageError, match="did you mean 'medqrels-sample'"):
        spec_path("medqrels-sampl")
    with pytest.raises(UsageError, match="did you mean 'summary'"):
        chosen_tasks(["smmary"])


def test_a_spec_of_an_editor_that_marks_its_files_is_read(tmp_path: Path) -> None:
    path = tmp_path / "spec.toml"
    path.write_bytes(b"\xef\xbb\xbf" + SPEC.read_bytes().replace(b"\n", b"\r\n"))
    assert read_spec(path) == read_spec(SPEC)


def test_what_has_never_run_is_all_to_do(tmp_path: Path) -> None:
    workspace = new_workspace(tmp_path / "w")
    crawl_bucket(workspace, ["PMC990000001"])
    shown = preview_stages(str(workspace.root), steps("extract"), Choices.of(None))
    assert [item["stage"] for item in shown] == [step.name for step in steps("extract")]
    assert all(item["to_do"] > 0 and not item["done"] for item in shown)
    with pytest.raises(WorkspaceError, match="has not run"):
        preview_stages(str(workspace.root), steps("build"), Choices.of(None))
