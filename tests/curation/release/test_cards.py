"""Every dataset's spec and prose in data_cards/ can make a card; specs refuse what they do not know."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.release import card
from curation.tasks.registry import TASKS
from schemas.errors import ReleaseError, UsageError
from schemas.spec import DatasetSpec, load_spec
from tests.curation.release.known import write_prose

CARDS = Path(__file__).resolve().parents[3] / "data_cards"
DATASETS = sorted(path.parent.name for path in CARDS.glob("*/spec.toml"))


def test_there_are_datasets() -> None:
    assert {"medqrels-open", "medqrels-sample"} <= set(DATASETS)


@pytest.mark.parametrize("dataset", DATASETS)
def test_spec_and_prose_are_complete(dataset: str) -> None:
    spec = load_spec(CARDS / dataset / "spec.toml")
    assert spec.name == dataset and set(spec.tasks) <= set(TASKS)
    if "pmc_ids" in spec.sources.given:
        assert (CARDS / dataset / str(spec.sources.given["pmc_ids"])).is_file()
    facts = {
        "counts": {"queries": 12_345, "corpus": 7},
        "sources": {"articles": 3},
        "images": {"images": 0},
    }
    summaries = set()
    for prose in card.load_prose(CARDS / dataset, TASKS).values():  # a task may join the spec any day
        assert set(prose) == set(card.PROSE)
        rendered = card.render_prose(prose, facts, dataset)
        assert "{{" not in "".join(rendered.values())
        assert "12,345" in rendered["summary"]
        summaries.add(rendered["summary"])
    assert len(summaries) == len(TASKS)


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
    write_prose(tmp_path, ["summary"], text)
    assert card.load_prose(tmp_path, ["summary"])["summary"]["summary"] == {"summary/summary.md": text}


@pytest.mark.parametrize(
    "text", ["over 1,000 queries", "80% recall", "4.0 is a version", "R2 scores", "in 12026"]
)
def test_the_claims_gate_stops_numbers_typed_by_hand(tmp_path: Path, text: str) -> None:
    write_prose(tmp_path, ["summary"], text)
    with pytest.raises(ReleaseError, match="states a number by hand"):
        card.load_prose(tmp_path, ["summary"])


def test_sections_of_task_and_dataset_stand_together_and_the_missing_are_all_named(tmp_path: Path) -> None:
    cards = tmp_path / "set"
    write_prose(cards, ["summary"], "- Of all.")
    (cards / "summary" / "limitations.md").write_text("- Of the task.", "utf-8")
    (cards / "summary" / "intended_use.md").write_text("For this.", "utf-8")
    rendered = card.render_prose(card.load_prose(cards, ["summary"])["summary"], {}, "set")
    assert rendered["limitations"] == "- Of the task.\n- Of all."
    assert rendered["intended_use"] == "For this.\n\n- Of all."
    shared = tmp_path / card.SHARED / "collection.md"
    shared.parent.mkdir()
    (cards / "collection.md").rename(shared)
    assert card.load_prose(cards, ["summary"])["summary"]["collection"] == {"collection.md": "- Of all."}
    shared.unlink()
    with pytest.raises(ReleaseError, match="no 'collection' section") as caught:
        card.load_prose(cards, ["summary", "case_study"])
    assert caught.value.file == str(cards / "collection.md")
    for name in ("collection.md", *(f"case_study/{section}.md" for section in card.OF_TASK)):
        assert str(cards / name) in caught.value.hint


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
    assert spec.licence_profile == "noncommercial" and spec.sources.given["folders"] == ("one", "two")
    assert DatasetSpec.model_validate(spec.model_dump()) == spec


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "not TOML"),
        (GOOD + "[extra]\n", "extra"),
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
