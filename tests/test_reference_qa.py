"""reference_qa of invented questions on the sample: without a model, with scripted answers, released."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest

from curation.audit import audit
from curation.audit.rules import candidates, evidence
from curation.labels.floors import FLOORS
from curation.prompts.material import read_block
from curation.tasks.reference_qa.settings import Settings as ReferenceSettings
from curation.tasks.registry import TASKS
from curation.tasks.shared.judging.stage import is_asked_again
from curation.tasks.shared.support.questions import why_not
from flows.adapters.answering import store_of
from flows.adapters.cache import AnswerCache
from flows.adapters.llm_runner import key_of, store_name
from flows.engine.connection import query
from flows.engine.progress import SilentReporter
from flows.engine.runner import read_rows, table_files
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.release.versions import release_task
from flows.specs import DATA_CARDS, read_spec
from schemas.article import Licence
from schemas.prompt import Prompt
from schemas.question import Question
from schemas.spec import DatasetSpec
from sources.sample import questions_path
from tests.conftest import copied
from tests.pipeline import crawl_questions, run_partition, run_stages
from tests.releases import card_text

NAME = "reference_qa"
SPEC = """
name = "questions"
title = "Questions for a test"
[baselines]
systems = ["bm25"]
nano_queries = 5
nano_documents = 100
[prompts]
model = "scripted"
is_trial = true
[tasks.reference_qa]
"""
SAID: list[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "gold/reference_answers.toml").read_text("utf-8")
)["judgement"]
QUESTIONS = {
    row["id"]: row for row in map(json.loads, questions_path().read_text("utf-8").splitlines())
}  # by their id in the file


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("questions") / "data_cards"
    shutil.copytree(DATA_CARDS / "medqrels-sample", folder)
    (folder / "spec.toml").write_text(SPEC, "utf-8")
    return folder


@pytest.fixture(scope="module")
def spec(cards: Path) -> DatasetSpec:
    return read_spec(cards / "spec.toml")


@pytest.fixture(scope="module")
def unasked(tmp_path_factory: pytest.TempPathFactory, sample: Workspace, spec: DatasetSpec) -> Workspace:
    """The sample with the questions, built without any answer; read-only."""
    made = copied(sample, tmp_path_factory.mktemp("unasked") / "ws")
    crawl_questions(made, questions_path())
    run_stages(made, spec=spec)
    return made


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory, unasked: Workspace, spec: DatasetSpec) -> Workspace:
    """The same, with the scripted answers on disk; read-only."""
    made = copied(unasked, tmp_path_factory.mktemp("judged") / "ws")
    store(made, read_rows(Prompt, table_files(made, f"{NAME}_judge.prompts")))
    run_stages(made, spec=spec)
    return made


@pytest.fixture(scope="module")
def release(judged: Workspace, spec: DatasetSpec, cards: Path) -> Path:
    """A release of what was judged."""
    run_partition(judged, spec, "1.0.0")
    session = Session(Settings(workspace=judged.root), judged, SilentReporter())
    release_task(session, TASKS[NAME], spec, cards, "1.0.0", {})
    return judged.releases / "questions/1.0.0" / NAME


def store(workspace: Workspace, prompts: Sequence[Prompt]) -> None:
    """Answers as the script gives them, stored as those of any model."""
    answers = {key_of(prompt): stored(script(prompt)) for prompt in prompts}
    with AnswerCache(store_of(workspace), store_name("scripted")) as held:
        held.put(answers)


def script(prompt: Prompt) -> dict[str, Any]:
    """What is said of a pair in this order: see tests/gold/reference_answers.toml."""
    question, passage = read_block(prompt, "question"), " ".join(read_block(prompt, "passage").split())
    for said in SAID:
        if QUESTIONS[said["question"]]["question"] == question and said["words"] in passage:
            is_turned = prompt.form == "reversed"
            score = said.get("turned", said["score"]) if is_turned else said["score"]
            return {"answer": score, "answer_quotes": [said.get("quote", said["words"])] if score else []}
    return {"answer": 0, "answer_quotes": []}


def stored(values: Mapping[str, Any]) -> bytes:
    kept = {
        "call": "", "served_model": "scripted", "state": "answered", "text": json.dumps(values),
        "mode": "plain", "tokens_in": None, "tokens_out": None,
    }  # fmt: skip
    return json.dumps(kept, sort_keys=True).encode()


def rows(workspace: Workspace, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path in table_files(workspace, table):
        found += pq.read_table(path).to_pylist()
    return found


def dropped(workspace: Workspace, stage: str) -> Counter[str]:
    return Counter(row["reason"] for row in rows(workspace, f"{NAME}{stage}._dropped"))


def by_question(workspace: Workspace, table: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(id of the question in its file, row) of a table with query_id."""
    names = {
        row["id"]: row["source_id"].rpartition("/")[2] for row in rows(workspace, f"{NAME}_pairs.queries")
    }
    for row in rows(workspace, table):
        yield names[row["query_id"]], row


def outputs(workspace: Workspace) -> dict[str, bytes]:
    """Every file of the task's stages but what tells time and host."""
    found = sorted(workspace.work.glob(f"{NAME}*/*/*"))
    return {
        str(path.relative_to(workspace.work)): path.read_bytes() for path in found if path.name != "_run.json"
    }


def test_every_question_is_a_query_or_a_drop(unasked: Workspace) -> None:
    asked = rows(unasked, f"{NAME}_questions.queries")
    drops = {
        row["id"].rpartition("/")[2]: row["reason"] for row in rows(unasked, f"{NAME}_questions._dropped")
    }
    assert len(asked) + len(drops) == len(QUESTIONS) == 24
    assert drops == {"too-general": "general_subject"}
    assert all(row["targets"] and row["is_synthetic"] for row in asked)
    answers = {row["query_id"]: row["answer"] for row in rows(unasked, f"{NAME}_pairs.answers")}
    assert all(answers[row["id"]] and answers[row["id"]] not in row["text"] for row in asked)


def test_the_corpus_is_every_eligible_passage_not_the_mined_ones(unasked: Workspace) -> None:
    corpus = {row["id"] for row in rows(unasked, f"{NAME}_all.documents")}
    passages = {row["id"] for row in rows(unasked, "extract.passages")}
    lost = {row["id"] for row in rows(unasked, f"{NAME}._dropped") if row["unit"] == "passage"}
    twins = {row["id"] for row in rows(unasked, f"{NAME}_pairs._dropped") if row["unit"] == "document"}
    assert corpus == passages - lost - twins and len(corpus) > 200
    assert len({row["corpus_id"] for row in rows(unasked, f"{NAME}_pairs.found")}) < len(corpus)


def test_without_a_model_citations_give_candidates_and_the_rest_is_not_run(unasked: Workspace) -> None:
    asked = rows(unasked, f"{NAME}_pairs.pairs")
    pairs, again = len(asked), sum(is_asked_again(row["id"]) for row in asked)
    assert dropped(unasked, "_judge_answers") == {"not_run": 2 * pairs + again}
    assert dropped(unasked, "_judged") == {"not_run": pairs}
    labelled = rows(unasked, f"{NAME}_labels.labelled")
    assert len(labelled) + dropped(unasked, "_labels")["not_run"] == pairs
    assert {row["label_status"] for row in labelled} == {"candidate"}
    by_rule = Counter(row["rule"] for row in labelled)
    assert (
        by_rule["reference_qa/quoted-by-answer@1"] >= 16 and by_rule["reference_qa/passage-of-cited@1"] >= 5
    )
    assert all(row["evidence"] for row in labelled if row["rule"])
    (lost,) = rows(unasked, f"{NAME}_all._dropped")
    assert lost["reason"] == "no_support" and lost["id"].endswith("/elsewhere")
    assert "0 of " in lost["detail"]


def test_quoted_words_find_their_passage(unasked: Workspace) -> None:
    found = list(by_question(unasked, f"{NAME}_labels.labelled"))
    for name, question in QUESTIONS.items():
        quoted = [row for of, row in found if of == name and row["rule"] == "reference_qa/quoted-by-answer@1"]
        if question.get("snippets"):
            assert quoted, name
            texts = {item["text"] for row in quoted for item in row["evidence"]}
            assert any(text.startswith(question["snippets"][-1]["text"][:20]) for text in texts), name


def test_answers_in_both_orders_make_the_labels(judged: Workspace) -> None:
    assert dropped(judged, "_judge_answers") == {} and dropped(judged, "_judgements") == {"invalid": 2}
    found = list(by_question(judged, f"{NAME}_labels.labelled"))
    positives = {name for name, row in found if row["score"] == 2 and row["label_status"] == "judge"}
    spoilt = {said["question"]: said["wrong"].rpartition(": ")[2] for said in SAID if "wrong" in said}
    right = {said["question"] for said in SAID if "wrong" not in said}
    assert positives == right and len(positives) >= 18
    assert {name for name, row in found if row["reason"] == "unstable"} == {"leish-treat"}
    assert {name for name, row in found if row["reason"] == "middle"} == {"abscess-wall"}
    assert [
        row["label_status"] for name, row in found if name == "pericarditis-failure" and row["score"]
    ] == ["candidate"]  # what was judged in no valid way is still what it was before
    assert spoilt["pericarditis-failure"] == "invalid"
    assert sum(row["score"] == 0 for _, row in found) > 100


def test_evidence_of_the_judge_stands_in_the_source_passage(judged: Workspace) -> None:
    passages = {row["id"]: row["text"] for row in rows(judged, "extract.passages")}
    spans = [item for _, row in by_question(judged, f"{NAME}_all.qrels") for item in row["evidence"]]
    assert len(spans) >= 18
    assert all(passages[item["text_id"]][item["start"] : item["end"]] == item["text"] for item in spans)


def test_stages_lost_to_a_kill_are_made_again_with_the_same_bytes(
    judged: Workspace, tmp_path: Path, spec: DatasetSpec
) -> None:
    """A kill leaves stages unfinished and later ones as they were: all come out the same, nobody is asked."""
    place = copied(judged, tmp_path / "ws")
    before = outputs(place)
    assert before
    for stage in (f"{NAME}_questions", f"{NAME}_judge_answers", f"{NAME}_judged"):
        shutil.rmtree(place.stage(stage))
    run_stages(place, spec=spec)
    assert outputs(place) == before


@pytest.mark.parametrize(
    ("answer", "is_worded"),
    [
        ("goblet cells", True),
        ("True", False),
        ("all of the answers are correct", False),
        ("Both A and B are correct", False),
        ("neither of these", False),
        ("all three layers of the skin", True),
        ("", False),
    ],
)
def test_an_answer_that_says_nothing_by_itself_cannot_be_supported(answer: str, is_worded: bool) -> None:
    asked = Question(
        id="questions:ours/1", collection="questions:ours", number=1, language="en",
        text="What makes the mucus of the airways?", answer=answer,
        licence=Licence(spdx="CC0-1.0", evidence="ours"),
    )  # fmt: skip
    reason = why_not(asked, ("X:1",), ("X:1",), ReferenceSettings())
    assert (reason is None) == is_worded
    shown = replace(asked, text="A photograph of the lesion is shown. What makes its mucus?")
    if is_worded:
        assert why_not(shown, ("X:1",), ("X:1",), ReferenceSettings()) == (
            "needs_image",
            "photograph of the lesion is shown",
        )


@pytest.mark.parametrize(
    ("text", "answer", "is_whole"),
    [
        (
            "A table of susceptibilities shows trends of resistance",
            "among the isolates of one hospital.",
            False,
        ),
        ("Mucus of the airways is made by ____ cells", "goblet", False),
        ("The cells that make the mucus of the airways are", "goblet cells", True),
        ("Name the cells that make the mucus of the airways.", "they are goblet cells.", True),
        ("What makes the mucus of the airways?", "goblet cells.", True),
    ],
)
def test_a_sentence_that_its_answer_finishes_asks_nothing(text: str, answer: str, is_whole: bool) -> None:
    asked = Question(
        id="questions:ours/1", collection="questions:ours", number=1, language="en",
        text=text, answer=answer, licence=Licence(spdx="CC0-1.0", evidence="ours"),
    )  # fmt: skip
    reason = why_not(asked, ("X:1",), ("X:1",), ReferenceSettings())
    assert reason is None if is_whole else reason is not None and reason[0] == "gap_to_fill"


def test_the_release_names_its_judge_and_is_not_publishable(release: Path) -> None:
    head = json.loads((release / "release.json").read_text("utf-8"))
    assert head["publishable_by_content"] is False
    told = " ".join(head["not_publishable_because"])
    assert "synthetic" in told and TASKS[NAME].candidates_because in told
    queries = pq.read_table(release / "queries").to_pylist()
    assert len(queries) == 20 and not {"answer", "explanation"} & queries[0].keys()
    assert {row["scenario"] for row in queries} == {"question_answering"}
    answers = {row["query-id"]: row for row in pq.read_table(release / "answers").to_pylist()}
    assert answers.keys() == {row["id"] for row in queries}
    loaded = datasets.load_dataset(str(release), "answers", split="test")
    assert loaded.num_rows == len(answers)
    card = card_text(release)
    assert "reference_qa_judge" in card and "scripted" in card


def test_a_question_is_about_what_its_own_words_say(judged: Workspace, release: Path) -> None:
    decided = {row["id"]: row for row in rows(judged, "label_questions.records")}
    of = {row["id"]: decided[row["source_id"]] for row in rows(judged, f"{NAME}_pairs.queries")}
    queries = pq.read_table(release / "queries").to_pylist()
    for row in queries:
        own = of[row["id"]]
        sure = own["body_system_confidence"]
        assert row["specialty"] == next(iter(own["specialties"]), "")
        assert row["body_system_confidence"] == sure
        assert row["body_system"] == (own["body_systems"][0] if sure >= FLOORS["body_system"] else "")
    systems = {row["id"]: row["body_system"] for row in queries if row["body_system"]}
    told = pq.read_table(release / "provenance/facets").to_pylist()
    main = {
        row["query-id"]: row["value"] for row in told if (row["facet"], row["rank"]) == ("body_system", 1)
    }
    assert systems and systems.items() <= main.items()
    assert all(row["record"] == of[row["query-id"]]["id"] for row in told)


def test_the_audit_finds_nothing_wrong(release: Path) -> None:
    report = audit(release, query(), plant=False)
    wrong = {rule.rule: rule.findings[:2] for rule in report.rules if rule.status == "failed"}
    assert wrong.pop("uneven_labels")[0].severity == "warn"  # all questions are of one collection
    assert not wrong
    few = audit(release, query(), rules=(*candidates.RULES, *evidence.RULES))
    assert all(found.is_found for found in few.canaries)


def in_the_form_of_bioasq(folder: Path) -> Path:
    """The questions that quote a document, as BioASQ writes them: addresses, sections and offsets."""

    def address(document: Mapping[str, str]) -> str:
        return f"http://www.ncbi.nlm.nih.gov/pubmed/{document['pmid']}"

    rows = [
        {
            "id": name, "type": "summary", "body": row["question"], "ideal_answer": [row["answer"]],
            "documents": [address(item) for item in row["citations"] if "pmid" in item],
            "snippets": [
                {"document": address(item["document"]), "text": item["text"],
                 "beginSection": "sections.0", "offsetInBeginSection": 0,
                 "endSection": "sections.0", "offsetInEndSection": len(item["text"])}
                for item in row.get("snippets", ()) if "pmid" in item["document"]
            ],
        }
        for name, row in QUESTIONS.items()
    ]  # fmt: skip
    file = folder / "bioasq.json"
    file.write_text(json.dumps({"questions": rows}), "utf-8")
    file.with_name(f"{file.name}.meta.toml").write_text(
        'name = "invented-bioasq"\nlicence = "CC0-1.0"\nlanguage = "en"\nsynthetic = true\n'
        'preset = "bioasq"\n',
        "utf-8",
    )
    return file


def test_whole_articles_are_labelled_by_the_citations_of_the_answer_alone(
    tmp_path: Path, sample: Workspace, cards: Path
) -> None:
    made = copied(sample, tmp_path / "ws")
    crawl_questions(made, in_the_form_of_bioasq(tmp_path))
    folder = Path(shutil.copytree(cards, tmp_path / "data_cards"))
    (folder / "spec.toml").write_text(f'{SPEC}granularity = "article"\n', "utf-8")
    spec = read_spec(folder / "spec.toml")
    run_stages(made, spec=spec)
    assert not rows(made, f"{NAME}_judge.prompts")  # nobody is asked to read whole articles
    articles = {row["id"]: row for row in rows(made, "extract.sources")}
    documents = {row["id"]: row for row in rows(made, f"{NAME}_all.documents")}
    assert documents and all(name == f"{row['article_id']}#article" for name, row in documents.items())
    parts = rows(made, f"{NAME}.parts")
    assert {row["corpus_id"] for row in parts} == set(documents) and len(parts) > 2 * len(documents)
    found = list(by_question(made, f"{NAME}_all.qrels"))
    assert len(found) >= 18 and {row["rule"] for _, row in found} == {f"{NAME}/cited-by-answer@1"}
    for name, row in found:
        cited = {item["pmid"] for item in QUESTIONS[name]["citations"] if "pmid" in item}
        assert articles[documents[row["corpus_id"]]["article_id"]]["pmid"] in cited
        assert row["evidence"] and row["label_status"] == "structural"
    run_partition(made, spec, "1.0.0")
    session = Session(Settings(workspace=made.root), made, SilentReporter())
    head = release_task(session, TASKS[NAME], spec, folder, "1.0.0", {})
    assert head.label != "candidates"
    placed = made.releases / "questions/1.0.0" / NAME
    report = audit(placed, query(), plant=False)
    wrong = {rule.rule: rule.findings[:2] for rule in report.rules if rule.status in ("failed", "error")}
    assert not wrong.keys() - {"uneven_labels"}, wrong
    loaded = datasets.load_dataset(str(placed), "qrels", split="test")
    assert set(loaded["label_status"]) == {"structural"}
