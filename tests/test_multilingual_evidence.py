"""multilingual_evidence on the sample: without translations, with recorded and wrong ones, released."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import datasets
import pyarrow.parquet as pq
import pytest

from curation.audit import audit
from curation.audit.rules import multilingual, translations
from curation.tasks.multilingual_evidence.settings import NAME, Settings
from curation.tasks.registry import TASKS
from flows.adapters.answering import Terms
from flows.build.answer import Request, take
from flows.engine.connection import query
from flows.engine.progress import SilentReporter
from flows.engine.session import Session
from flows.engine.settings import Settings as Machine
from flows.engine.workspace import Workspace
from flows.inspect.families import describe_family, trace_family
from flows.release.versions import release_task
from flows.specs import DATA_CARDS, read_spec
from schemas.spec import DatasetSpec
from tests.conftest import copied
from tests.pipeline import crawl_questions, run_partition, run_stages
from tests.releases import card_text
from tests.translated_world import (
    BY_PEOPLE,
    LANGUAGES,
    SPEC,
    question_of,
    questions_in,
    read_tables,
    recorded,
    recorded_back,
    wrong_ones,
)
from tests.translated_world import (
    translations as said,
)


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("translated") / "data_cards"
    shutil.copytree(DATA_CARDS / "medqrels-sample", folder)
    (folder / "spec.toml").write_text(SPEC, "utf-8")
    return folder


@pytest.fixture(scope="module")
def spec(cards: Path) -> DatasetSpec:
    return read_spec(cards / "spec.toml")


@pytest.fixture(scope="module")
def unasked(tmp_path_factory: pytest.TempPathFactory, sample: Workspace, spec: DatasetSpec) -> Workspace:
    """The sample with the questions, built without any answer; read-only."""
    folder = tmp_path_factory.mktemp("untranslated")
    made = copied(sample, folder / "ws")
    crawl_questions(made, questions_in(folder))
    run_stages(made, spec=spec)
    return made


@pytest.fixture(scope="module")
def translated(tmp_path_factory: pytest.TempPathFactory, unasked: Workspace, spec: DatasetSpec) -> Workspace:
    """The same, with recorded translations of which some are wrong; read-only."""
    folder = tmp_path_factory.mktemp("translations")
    made = copied(unasked, folder / "ws")
    wrong = {place: text for place, (_, text) in wrong_ones().items()}
    recorded(made, said() | wrong, folder / "answers.jsonl")
    take(Request(spec, ["translation"], Terms("")), folder / "answers.jsonl", made.root)
    return made


@pytest.fixture(scope="module")
def release(translated: Workspace, spec: DatasetSpec, cards: Path) -> Path:
    """A release of it; read-only."""
    run_partition(translated, spec, "1.0.0")
    session = Session(Machine(workspace=translated.root), translated, SilentReporter())
    release_task(session, TASKS[NAME], spec, cards, "1.0.0", {})
    return translated.releases / "translated/1.0.0" / NAME


def test_without_answers_questions_stand_in_english_and_the_rest_is_not_run(unasked: Workspace) -> None:
    asked = read_tables(unasked, f"{NAME}_all.queries")
    assert len(asked) == 23 and {row["language"] for row in asked} == {"en"}
    origins = Counter(
        (row["kind"], row["verdict"]) for row in read_tables(unasked, f"{NAME}_all.translations")
    )
    assert origins == {("human", "source"): 23, ("machine", "not_run"): 23 * len(LANGUAGES)}
    drops = read_tables(unasked, f"{NAME}_translation_answers._dropped")
    assert len(drops) == 23 * len(LANGUAGES) and {row["reason"] for row in drops} == {"not_run"}
    assert not read_tables(unasked, f"{NAME}_all.translation_checks")


def test_right_translations_are_kept_and_each_wrong_one_is_rejected_for_what_is_wrong(
    translated: Workspace,
) -> None:
    names = question_of(translated)
    found = {
        (names[row["query_id"]], row["language"]): row
        for row in read_tables(translated, f"{NAME}_all.translations")
        if row["verdict"] not in ("source", "not_run")
    }
    wrong = {place: what for place, (what, _) in wrong_ones().items()}
    assert found.keys() == said().keys() and len(wrong) == 7
    assert {place for place, row in found.items() if row["verdict"] == "rejected"} == wrong.keys()
    assert all(what in found[place]["reasons"] for place, what in wrong.items())
    assert {row["verdict"] for place, row in found.items() if place not in wrong} == {"kept"}
    assert {language for (_, language), row in found.items() if row["kind"] == "human"} == set(BY_PEOPLE)
    evidence = {
        row["language"]: row["license_evidence"].rpartition("; ")[2]
        for row in read_tables(translated, f"{NAME}_all.queries")
        if row["language"] != "en"
    }
    assert {language for language, by in evidence.items() if by == "translated by a person"} == set(BY_PEOPLE)
    assert set(evidence.values()) == {"translated by a person", "translated by a machine"}
    for row in found.values():
        assert (
            row["model"] == "by-hand" and row["prompt"] == "translation@1" and len(row["prompt_sha256"]) == 64
        )
    checks = Counter(
        (names[row["query_id"]], row["language"])
        for row in read_tables(translated, f"{NAME}_all.translation_checks")
    )
    assert checks == dict.fromkeys(found, 11)  # every score, of kept and rejected ones


def test_a_family_shares_labels_targets_and_task(translated: Workspace) -> None:
    queries = {row["id"]: row for row in read_tables(translated, f"{NAME}_all.queries")}
    labels: dict[str, set[tuple[str, int]]] = {name: set() for name in queries}
    for row in read_tables(translated, f"{NAME}_all.qrels"):
        labels[row["query_id"]].add((row["corpus_id"], row["score"]))
    by_family: dict[str, list[str]] = {}
    for row in queries.values():
        by_family.setdefault(row["family"], []).append(row["id"])
    assert len(by_family) == 23 and max(map(len, by_family.values())) == 7
    for members in by_family.values():
        assert len({frozenset(labels[name]) for name in members}) == 1 and labels[members[0]]
        assert len({queries[name]["targets"] and tuple(queries[name]["targets"]) for name in members}) == 1
        assert len({queries[name]["language"] for name in members}) == len(members)


def test_the_parallel_core_holds_whole_families_alone(
    tmp_path: Path, translated: Workspace, cards: Path
) -> None:
    made = copied(translated, tmp_path / "ws")
    folder = Path(shutil.copytree(cards, tmp_path / "data_cards"))
    (folder / "spec.toml").write_text(f"{SPEC}parallel_core = true\n", "utf-8")
    run_stages(made, spec=read_spec(folder / "spec.toml"))
    names = question_of(made)
    kept = {names[row["id"]] for row in read_tables(made, f"{NAME}_all.questions")}
    assert kept == {"leish-vector"}  # the others lack a language, or their Spanish, French, … was rejected
    languages = {row["language"] for row in read_tables(made, f"{NAME}_all.queries")}
    assert languages == {"en", "es", "fr", "ja", "pt", "zh"}
    drops = read_tables(made, f"{NAME}_all._dropped")
    assert {row["reason"] for row in drops} == {"outside_parallel_core"} and len(drops) > 22


def test_the_release_loads_by_language_and_says_that_nobody_may_publish_it(release: Path) -> None:
    for language in ("en", *LANGUAGES):
        loaded = datasets.load_dataset(str(release), f"{language}-queries", split="test")
        assert loaded.num_rows >= 3 and set(loaded["language"]) == {language}
        pairs = datasets.load_dataset(str(release), f"{language}-qrels", split="test")
        assert set(pairs["query-id"]) == set(loaded["id"])
    head = json.loads((release / "release.json").read_text("utf-8"))
    assert head["publishable_by_content"] is False
    assert any("synthetic" in reason for reason in head["not_publishable_because"])
    card = card_text(release)
    assert "## Translations" in card and "negation_changed" in card and "back_translation" in card
    assert "| check | de | es | fr | ja | pt | zh |" in card and "| sides | " in card
    rows = pq.read_table(release / "provenance/translations").to_pylist()
    assert not any("text" in row for row in rows)  # what was rejected is not published


def test_the_audit_is_clean_and_finds_planted_defects_in_this_release(release: Path) -> None:
    report = audit(release, query(), plant=False)
    wrong = {rule.rule: rule.findings[:2] for rule in report.rules if rule.status in ("failed", "error")}
    assert wrong.keys() == {"uneven_labels"}, wrong  # all questions are of one collection
    few = audit(release, query(), rules=(*translations.RULES, *multilingual.RULES))
    assert [found.canary for found in few.canaries if not found.is_found] == []
    ran = {rule.rule: rule.status for rule in few.rules}
    assert ran["translation_checks"] == ran["translation_origins"] == ran["families"] == "passed"


def test_translations_are_translated_back_and_a_copying_engine_fails(
    tmp_path: Path, translated: Workspace, cards: Path
) -> None:
    made = copied(translated, tmp_path / "ws")
    folder = Path(shutil.copytree(cards, tmp_path / "data_cards"))
    (folder / "spec.toml").write_text(f"{SPEC}back_translation = true\n", "utf-8")
    spec = read_spec(folder / "spec.toml")
    run_stages(made, spec=spec)
    recorded_back(made, ("es", "de", "zh"), tmp_path / "back.jsonl")
    told = take(Request(spec, ["back_translation"], Terms("")), tmp_path / "back.jsonl", made.root)
    assert told["recorded"]["to_no_prompt"] == []
    found = Counter(
        (row["language"], row["status"], row["detail"].partition(":")[0])
        for row in read_tables(made, f"{NAME}_checked.checks")
        if row["check"] == "back_translation"
    )
    by_language = {language: {key[1:] for key in found if key[0] == language} for language in LANGUAGES}
    assert by_language["es"] == {("failed", "by-hand gave back what it was given")}
    assert by_language["de"] == by_language["zh"] == {("passed", "by-hand")}
    assert all(by_language[language] == {("not_run", "no engine")} for language in ("fr", "ja", "pt"))
    reasons = [
        reason
        for row in read_tables(made, f"{NAME}_all.translations")
        if row["language"] == "es"
        for reason in row["reasons"]
    ]
    assert "back_changed" in reasons


def test_show_puts_all_languages_side_by_side(translated: Workspace) -> None:
    names = {name: query_id for query_id, name in question_of(translated).items()}
    shown = describe_family(trace_family(translated, names["no-fever"]))
    lines = shown.splitlines()
    assert [line.split()[0] for line in lines if line[2:4] in ("en", *LANGUAGES) and line[4:5] == " "] == [
        "en", *LANGUAGES,
    ]  # fmt: skip
    assert "sin fiebre" in shown and "rejected (negation_changed)" in shown and "by-hand" in shown
    assert "Warum kann ein Mensch mit Fieber" in shown  # the rejected text, for whoever holds the workspace
    (spanish,) = (
        row["translated_id"]
        for row in read_tables(translated, f"{NAME}_all.translations")
        if row["query_id"] == names["no-fever"] and row["language"] == "es"
    )
    assert describe_family(trace_family(translated, spanish)) == shown


def test_settings_refuse_a_language_that_no_check_knows() -> None:
    with pytest.raises(ValueError, match="'ko' cannot be checked"):
        Settings(languages=("es", "ko"))
    assert Settings(languages=("fr", "es", "fr")).asked == ("es", "fr")
    assert Settings(languages=("de",), parallel_core=True).asked == ("es", "fr", "ja", "pt", "zh")


def test_a_question_that_two_tasks_ask_goes_to_one_with_all_its_translations(
    tmp_path: Path, translated: Workspace, cards: Path
) -> None:
    made = copied(translated, tmp_path / "ws")
    folder = Path(shutil.copytree(cards, tmp_path / "data_cards"))
    (folder / "spec.toml").write_text(f"{SPEC}[tasks.reference_qa]\n", "utf-8")
    spec = read_spec(folder / "spec.toml")
    run_stages(made, spec=spec, tasks=["reference_qa"])
    run_partition(made, spec, "1.0.0")
    families = {
        (task, row["id"]): row["family"]
        for task in spec.tasks
        for row in read_tables(made, f"{task}_all.queries")
    }
    placed: dict[str, set[str]] = {}
    kept: Counter[str] = Counter()
    for row in read_tables(made, "partition.assignments"):
        family = families[row["task"], row["query_id"]]
        placed.setdefault(family, set()).add(row["task"])
        kept[family] += row["task"] == NAME
    assert all(len(tasks) == 1 for tasks in placed.values())
    assert {task for tasks in placed.values() for task in tasks} == {NAME, "reference_qa"}
    whole = Counter(family for (task, _), family in families.items() if task == NAME)
    mine = {family for family, tasks in placed.items() if tasks == {NAME}}
    assert {family: kept[family] for family in mine} == {family: whole[family] for family in mine}
