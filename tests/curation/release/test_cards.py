"""Every dataset's spec and prose in data_cards/ can make a card; specs refuse what they do not know."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.release import card
from curation.tasks.registry import TASKS
from schemas.errors import ReleaseError, UsageError
from schemas.spec import DatasetSpec, load_spec

CARDS = Path(__file__).resolve().parents[3] / "data_cards"
DATASETS = sorted(path.parent.name for path in CARDS.glob("*/spec.toml"))


def test_there_are_datasets() -> None:
    assert {"medqrels-open", "medqrels-sample"} <= set(DATASETS)


@pytest.mark.parametrize("dataset", DATASETS)
def test_spec_and_prose_are_complete(dataset: str) -> None:
    spec = load_spec(CARDS / dataset / "spec.toml")
    assert spec.name == dataset and set(spec.tasks) <= set(TASKS)
    if spec.sources.pmc_ids:
        assert (CARDS / dataset / spec.sources.pmc_ids).is_file()
    prose = card.load_prose(CARDS / dataset)
    assert set(prose) == set(card.PROSE)
    facts = {"counts": {"queries": 12_345, "corpus": 7}, "sources": {"articles": 3}}
    rendered = card.render_prose(prose, facts, dataset)
    assert "{{" not in "".join(rendered.values())
    assert "12,345" in rendered["summary"]


@pytest.mark.parametrize(
    "text",
    [
        "See https://example.org/v1/2024 for more.",
        "Crawled in 2026, on 2026-11-21.",
        "Under CC BY 4.0, CC BY-SA 3.0, CC-BY-NC-SA-4.0, CC0 or CC0 1.0.",
        "It has {{ counts.queries | number }} queries.",
    ],
)
def test_the_claims_gate_lets_harmless_digits_through(tmp_path: Path, text: str) -> None:
    for section in card.PROSE:
        (tmp_path / f"{section}.md").write_text(text, encoding="utf-8")
    assert card.load_prose(tmp_path)["summary"] == text


@pytest.mark.parametrize(
    "text", ["over 1,000 queries", "80% recall", "4.0 is a version", "R2 scores", "in 12026"]
)
def test_the_claims_gate_stops_numbers_typed_by_hand(tmp_path: Path, text: str) -> None:
    for section in card.PROSE:
        (tmp_path / f"{section}.md").write_text(text, encoding="utf-8")
    with pytest.raises(ReleaseError, match="states a number by hand"):
        card.load_prose(tmp_path)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


GOOD = 'name = "a-b"\ntitle = "A title"\n[tasks.visual_context]\nmin_words = 25\n'


def test_overrides_are_toml_values_or_bare_words(tmp_path: Path) -> None:
    path = write(tmp_path / "spec.toml", GOOD)
    spec = load_spec(
        path,
        {
            "tasks.visual_context.min_words": "30",
            "licence_profile": "noncommercial",
            "sources.folders": '["one", "two"]',
        },
    )
    assert spec.tasks == {"visual_context": {"min_words": 30}}
    assert spec.licence_profile == "noncommercial" and spec.sources.folders == ("one", "two")
    assert DatasetSpec.model_validate(spec.model_dump()) == spec


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "not TOML"),
        (GOOD + "[extra]\n", "extra"),
        (GOOD.replace("visual_context", "visual"), "unknown task visual"),
        (GOOD.replace('"a-b"', '"A B"'), "name"),
        ('licence_profile = "any"\n' + GOOD, "licence_profile"),
    ],
)
def test_a_spec_that_says_something_else_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_spec(write(tmp_path / "spec.toml", text))


def test_a_missing_spec_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"spec\.toml"):
        load_spec(tmp_path / "spec.toml")


def test_an_override_below_a_value_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a table"):
        load_spec(write(tmp_path / "spec.toml", GOOD), {"title.part": "1"})
