"""clinical_evidence on the sample and invented exams: without a model, with scripted answers, released."""

from __future__ import annotations

import itertools
import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest

from annotation.assignment import numbered
from annotation.layouts.data import task_data
from annotation.verdicts import Terms
from curation.audit import audit
from curation.tasks.clinical_evidence.cells import CELLS
from curation.tasks.clinical_evidence.keys import KEYS
from curation.tasks.clinical_evidence.task import TASK
from curation.tasks.shared.judging.stage import is_asked_again
from flows.adapters.answering import store_of
from flows.adapters.llm_runner import held
from flows.engine.connection import query
from flows.engine.progress import SilentReporter
from flows.engine.runner import table_files
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.inspect.decisions import describe as describe_way
from flows.inspect.decisions import follow
from flows.release.inputs import check_built
from flows.release.versions import release_task
from flows.review.calibration import calibration_of
from flows.review.calibration_draw import Wanted
from flows.review.candidates import Options, prepare
from flows.review.items import prepare_items, stages_asking
from flows.review.judge import Options as JudgeOptions
from flows.review.judge import conclusions, plan
from flows.review.judge import table as judge_table
from flows.review.progress import next_step
from flows.review.store import review_folder
from flows.review.verdicts import apply_verdicts, settle
from schemas.errors import WorkspaceError
from schemas.review import Allotment, CalibrationPair, ReviewAnnotation, annotation_id
from tests.evidence_world import (
    NAME,
    OF_QUESTION,
    SPOILT,
    World,
    intent_of,
    judged_by_words,
    knows,
    path_of,
    rewritten,
)
from tests.exam_files import BROKEN, ITEMS, write_exams
from tests.pipeline import crawl_questions, run_partition
from tests.releases import card_text


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, sample: Workspace) -> World:
    """Built without answers, then with those to each of its model stages, one after another."""
    root = tmp_path_factory.mktemp("evidence")
    made = World(root, sample)
    crawl_questions(made.workspace, write_exams(root / "exams"))
    made.build()
    questions, vignettes = len(made.rows("_exams.vignettes")), len(made.rows("_vignettes.vignettes"))
    assert vignettes and made.rows("_all.queries") == []
    assert made.dropped("_intent_answers") == {"not_run": questions} and questions == len(ITEMS)
    assert made.dropped("_reasoning_path_answers") == {"not_run": vignettes}
    assert made.dropped("_views") == {"no_path": vignettes}
    for stage, script in (("_intent", intent_of), ("_closed_book", knows), ("_rewrite", rewritten)):
        assert made.store(stage, script)
        made.build()
    vignettes = len(made.rows("_vignettes.vignettes"))
    assert made.store("_reasoning_path", path_of) == vignettes
    made.build()
    pairs = made.rows("_apart.pairs")
    assert pairs and made.dropped("_judged") == {"not_run": len(pairs)}
    assert made.store("_judge", judged_by_words) == 2 * len(pairs) + again(pairs)
    made.build()
    return made


def again(pairs: list[dict[str, Any]]) -> int:
    """How many of some pairs are asked about once more with a seed."""
    return sum(is_asked_again(row["id"]) for row in pairs)


def names(rows: list[dict[str, Any]], column: str) -> dict[str, dict[str, Any]]:
    """Rows by the name of the written question that they are of."""
    ids = {text: item["id"] for text, item in OF_QUESTION.items()}
    return {ids[" ".join(row[column].split())]: row for row in rows}


def test_questions_of_exams_pass_every_stage_or_are_dropped_for_their_reason(world: World) -> None:
    """Right and wrong answers written by hand: what each stage keeps, what it drops and why."""
    broken = {row["id"].rpartition("/")[2]: row["reason"] for row in world.rows("_questions._dropped")}
    assert broken == {item["id"]: item["reason"] for item in BROKEN}
    asked = names(world.rows("_exams.vignettes"), "text")
    name_of = {row["unit"]: name for name, row in asked.items()}
    assert len(asked) == len(ITEMS) and len({row["article_id"] for row in asked.values()}) == 3

    def lost(stage: str) -> dict[str, str]:
        rows = world.rows(f"{stage}._dropped")
        named = {name_of.get(row["id"], row["id"]): row["reason"] for row in rows}
        return {name: reason for name, reason in named.items() if reason != "left_out_before"}

    assert lost("_intents") == {"gout": "not_clinical"}
    assert set(lost("_intent_answers").values()) == {"invalid"}
    sure = {name_of[row["unit"]] for row in world.rows("_intents.intents")}
    assert sure == set(asked) - {"gout", "stroke"}
    known = {item["id"]: item["known"] for item in ITEMS if item["id"] in sure}
    easy = {name: "too_easy" for name, right in known.items() if right >= 3}
    assert lost("_difficulty") == easy and lost("_hard") == {"porphyria": "key_suspect"}
    [item] = world.rows("_keys.items")
    shown = {row["name"]: row["value"] for row in item["shown"]}
    assert name_of[item["unit"]] == "porphyria" and "porphyria" in shown["answer_key"]
    hard = {name_of[row["unit"]]: row for row in world.rows("_hard.hard")}
    assert all(
        (row["right"], row["tries"], row["models"]) == (known[name], 3, 1) for name, row in hard.items()
    )
    assert lost("_checked") == {item["id"]: item["fault"] for item in ITEMS if item["id"] in SPOILT}
    kept = {name_of[row["unit"]]: row for row in world.rows("_checked.vignettes")}
    assert set(kept) == set(hard) - set(SPOILT) and len(kept) >= 3
    for name, row in kept.items():
        item = next(item for item in ITEMS if item["id"] == name)
        assert (row["text"], row["scenario"]) == (item["rewrite"], item["scenario"])
        assert row["family"] == asked[name]["family"] and row["is_synthetic"]


def test_a_path_that_quotes_what_nobody_wrote_takes_its_story_out(world: World) -> None:
    lost = world.dropped("_paths")
    assert set(lost) == {"quote_missing"} and world.dropped("_views")["no_path"] == lost.total()
    texts = {row["unit"]: row["text"] for row in world.rows("_vignettes.vignettes")}
    for path in world.rows("_paths.paths"):
        for span in path["quotes"]:
            assert texts[path["unit"]][span["start"] : span["end"]] == span["text"]
        assert path["model"] == "scripted" and path["text"] not in texts[path["unit"]]


def test_pairs_become_labels_by_their_cells_alone(world: World) -> None:
    judged = world.rows("_judged.judged")
    lost = world.dropped("_judged")
    assert set(lost) == {"not_run"} and set(world.dropped("_judgements")) == {"invalid"}
    assert len(judged) + lost.total() == len(world.rows("_apart.pairs"))
    for row in judged:
        cells = {CELLS[tuple(map(int, order.split()))] for order in row["scores"].split("; ")}
        wanted = {"relevant": (2, ""), "not_relevant": (0, ""), "middle": (None, "middle")}
        assert (row["score"], row["reason"]) == (
            wanted[cells.pop()] if len(cells) == 1 else (None, "unstable")
        )
    assert {row["reason"] for row in judged} == {"", "middle", "unstable"}
    qrels = world.rows("_all.qrels")
    assert {row["score"] for row in qrels} == {0, 2} and {row["label_status"] for row in qrels} == {"judge"}
    passages = {row["id"]: row["text"] for row in read_passages(world)}
    for row in qrels:
        assert bool(row["evidence"]) == (row["score"] == 2)
        for span in row["evidence"]:
            assert passages[row["corpus_id"]][span["start"] : span["end"]] == span["text"]
    for row in world.rows("_all.judgements"):
        views = {name.split(":")[1] for name in row["found_by"]}
        assert row["only_reasoning"] == (views == {"reasoning"})


def read_passages(world: World) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path in table_files(world.workspace, "extract.passages"):
        found += pq.read_table(path, columns=["id", "text"]).to_pylist()
    return found


def test_no_query_holds_its_answer_and_no_label_is_of_its_own_article(world: World) -> None:
    vignettes = {row["id"]: row for row in world.rows("_vignettes.vignettes")}
    queries = {row["id"]: row for row in world.rows("_all.queries")}
    documents = {row["id"]: row["article_id"] for row in world.rows("_all.documents")}
    answers = {row["query_id"]: row for row in world.rows("_all.answers")}
    assert queries and queries.keys() == answers.keys()
    for name, row in queries.items():
        assert answers[name]["answer"] == vignettes[name]["answer"] and answers[name]["explanation"]
        assert not any(word.lower() in row["text"].lower() for word in vignettes[name]["answer_words"])
        assert row["targets"] and row["scenario"] in ("examination", "diagnosis", "treatment")
    own = {
        (row["query_id"], row["corpus_id"])
        for row in world.rows("_all.excluded")
        if row["reason"] == "own_article"
    }
    for row in world.rows("_all.qrels"):
        assert documents[row["corpus_id"]] != queries[row["query_id"]]["article_id"]
    assert {queries[query]["article_id"] for query, _ in own} == {documents[document] for _, document in own}
    reasons = {row["reason"] for row in world.rows("_all.excluded")}
    assert reasons <= {"own_article", "same_patient", "middle", "unstable"}


def test_every_decision_about_a_case_and_its_query_is_shown_with_prompt_and_answer(world: World) -> None:
    query = world.rows("_all.queries")[0]
    way = follow(world.workspace, query["id"])
    assert way is not None and way["kind"] == "query" and way["article"] == query["article_id"]
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in way["decisions"]:
        found.setdefault((row["stage"], row["decision"]), []).append(row)
    [path] = found[f"{NAME}_reasoning_path", "asked"]
    assert query["text"] in path["text"] and path["state"] == "answered" and path["model"] == "scripted"
    [made] = found[f"{NAME}_paths", "kept"]
    assert made["row"]["text"] == json.loads(path["answer"])["path"]
    pairs = [row for row in world.rows("_apart.pairs") if row["query_id"] == query["id"]]
    prompts = 2 * len(pairs) + again(pairs)
    assert len(found[f"{NAME}_judge", "asked"]) == prompts
    judged = {row["id"]: row["row"]["score"] for row in found[f"{NAME}_judged", "kept"]}
    lost = {row["id"] for row in found.get((f"{NAME}_judged", "not_run"), [])}
    assert judged.keys() | lost == {row["id"] for row in pairs}
    assert {row["row"]["query_id"] for row in found[f"{NAME}_all", "kept"] if row["table"] == "qrels"} == {
        query["id"]
    }
    text = describe_way(way)
    assert f"{NAME}_judge: asked {prompts} prompts" in text and "answer: {" in text
    lost_path = next(row for row in world.rows("_views._dropped"))
    case = lost_path["id"].rpartition("/")[0]
    way = follow(world.workspace, case)
    assert way is not None and way["kind"] == "case"
    told = describe_way(way)
    assert f"{case}/" in told and "quote_missing" in told and ": no_path" in told


def test_stages_that_were_lost_are_built_again_without_a_model(world: World) -> None:
    before = world.outputs()
    for stage in (
        "_paths", "_pairs", "_apart", "_judge_answers", "_judgements", "_judged", "_all",
        "_questions", "_intent_answers", "_tries", "_difficulty", "_rewrite", "_checked",
    ):  # fmt: skip
        shutil.rmtree(world.workspace.stage(f"{NAME}{stage}"))
    world.build()
    assert world.outputs() == before


def test_a_release_is_audited_loads_and_is_not_publishable(world: World) -> None:
    run_partition(world.workspace, world.spec, "1.0.0")
    session = Session(Settings(workspace=world.workspace.root), world.workspace, SilentReporter())
    head = release_task(session, TASK, world.spec, world.cards, "1.0.0", {})
    folder = world.workspace.releases / "evidence" / "1.0.0" / NAME
    stated = json.loads((folder / "release.json").read_text("utf-8"))
    assert head.task == NAME and stated["publishable_by_content"] is False
    report = audit(folder, query(), plant=False)
    wrong = {rule.rule: rule.note for rule in report.rules if rule.status in ("failed", "error")}
    assert not wrong, wrong
    queries = datasets.load_dataset(str(folder), "queries", split="test")
    answers = datasets.load_dataset(str(folder), "answers", split="test")
    assert queries.num_rows == answers.num_rows > 0
    assert not {"answer", "explanation", "reasoning"} & set(queries.column_names)
    judgements = pq.read_table(folder / "provenance" / "judgements").to_pylist()
    positives = datasets.load_dataset(str(folder), "qrels", split="test").filter(lambda row: row["score"] > 0)
    said = {(row["query-id"], row["corpus-id"]): row["only_reasoning"] for row in judgements}
    assert {said[row["query-id"], row["corpus-id"]] for row in positives} == {True, False}
    card = card_text(folder)
    told = (
        "_intents",
        "_closed_answers",
        "_difficulty",
        "_hard",
        "_rewrites",
        "_checked",
        "_paths",
        "_judged",
    )
    assert all(f"{NAME}{stage}" in card for stage in told)
    assert "clinical_evidence_reasoning_path" in card and "clinical_evidence_judge" in card
    assert "that a view other than the\nreasoning path found) is `not_run`" in card
    told_of = card.partition("## Language models")[2].partition("What the answers took")[0]
    models = {line.split(" | ")[0]: line for line in told_of.splitlines()}
    for stage, read in (("_reasoning_path", "_paths"), ("_judge", "_judgements"), ("_intent", "_intents")):
        lost = world.dropped(read)
        whole = lost.total() + len(world.rows(f"{read}.{read[1:]}"))
        why = ", ".join(f"{reason} {count}" for reason, count in sorted(lost.items()))
        assert lost and models[f"| {NAME}{stage}_answers"].endswith(
            f" | {100 * lost.total() / whole:.1f} % | {why} |"
        )
    # nobody compared the judge with people: what it said is no label yet
    assert stated["label"] == "candidates" and "is **not calibrated** (not_run)" in card
    # what the judge can be measured on does not hang on its own verdict: pairs of queries without a positive
    asked = {(row["query_id"], row["corpus_id"]) for row in world.rows("_apart.pairs")}
    assert {(row["query-id"], row["corpus-id"]) for row in judgements} == asked
    assert {query for query, _ in asked} > set(queries["id"])
    assert "These pairs are **candidates**: what a language model judged, for people to review" in card
    assert stated["grades"]["0"].startswith("A language model judged") and "**One model for both.**" in card
    assert "drawn by lot from" not in card and "family of scripted is **not known**" in card
    found = json.loads((folder / "provenance/calibration.json").read_text("utf-8"))
    assert found["status"] == "not_run" and found["order"]["pairs"] and found["order"]["is_flagged"]
    assert f"to {found['judged']:,} of {len(asked):,} pairs that were mined for it" in card
    twice = [row for row in judgements if row["seeded"]]
    other = sum(row["seeded"] != row["forward"] for row in twice)
    assert found["seeds"]["pairs"] == len(twice) and 0 < other < len(twice)
    assert found["seeds"]["unstable"]["value"] == round(other / len(twice), 4)
    assert "Asked again with a seed, the judge gives other scores to" in card
    assert [row["system"] for row in found["circular"]] == ["scripted"]  # the paths are of the same model


def test_a_calibrated_judge_is_told_and_people_decide_what_it_left_open(world: World) -> None:
    review = world.spec.review.model_copy(update={"judge_minimum": 2, "judge_floor": -1.0})
    spec = world.spec.model_copy(update={"review": review})
    workspace = world.workspace
    first = workspace.releases / "evidence" / "1.0.0" / NAME
    wanted = Options(people=tuple(numbered(2)), ocr=False, calibration=Wanted(120, 12))
    made = prepare(first, workspace, wanted)
    folder = made.folder
    pairs, items = folder.calibration(), folder.candidates()
    assert len(pairs) == 120 == len(items) and {item.origin for item in items} == {"calibration"}
    assert {row.stratum for row in pairs} == set(folder.json("calibration.json")["strata"])
    assert {"unstable", "not_judged", "unjudged", "0 0"} <= {row.stratum for row in pairs}
    again = prepare(first, workspace, wanted)
    assert again.new == 0 and folder.calibration() == pairs
    # drawn from every pair the judge was asked about, whatever it said and whether or not it is released
    released = {row["id"] for row in published(first, "queries")}
    beside = {row.query_id for row in pairs} - released
    assert beside and {row["query_id"] for row in world.rows("_apart.pairs")} >= beside
    strata = folder.json("calibration.json")["strata"]
    with_answer = {name: n for name, n in strata.items() if name not in ("unjudged", "not_judged")}
    assert sum(with_answer.values()) == len(world.rows("_judged.judged"))
    # people are shown what the judge was: the answer, and the reasoning that leads to it
    said = {row["query_id"]: row for row in world.rows("_views.answers")}
    for item in items:
        shown = {one.name: one.value for one in item.shown}
        assert shown["answer"] == said[item.query_id]["answer"]
        assert shown["reasoning"] == said[item.query_id]["explanation"]
    # `review judge` puts the question of the build, whose answers it has without a call
    asked = plan(first, workspace, JudgeOptions("scripted"))
    assert asked.variant == "support" and {row.subject for row in asked.rows} == {item.id for item in items}
    built = {(row["query_id"], row["corpus_id"]): row for row in world.rows("_judged.judged")}
    mined = {item.id: built[key] for item in items if (key := (item.query_id, item.corpus_id)) in built}
    assert len(mined) > 60 and not {*mined} & {row.subject for row in asked.open}
    comes_to = {row["score"]: row["grade"] for row in judge_table(asked)}
    assert (
        len(comes_to) == 16
        and comes_to["answer 3 reasoning 2"] == 2
        and comes_to["answer 3 reasoning 1"] == 1
    )
    again_told = conclusions(asked, held(asked.rows, "scripted", store_of(workspace)), "scripted")
    for annotation in again_told:
        if annotation.candidate_id in mined:
            score, reason = (mined[annotation.candidate_id][name] for name in ("score", "reason"))
            expected = (1, "") if reason == "middle" else (score, reason)  # between is what people call it
            assert (annotation.grade, annotation.reason) == expected
    # blind: what is sent holds no score, cell or rank, and two people get each item
    sent = " ".join(itertools.chain.from_iterable(map(_words_of, (task_data(item, str) for item in items))))
    assert "unstable" not in sent and "calibration" not in sent and "bm25" not in sent
    assert Counter(row.candidate_id for row in folder.allotments()) == {item.id: 2 for item in items}
    drawn = {(row.query_id, row.corpus_id): row for row in pairs}
    grades = {item.id: said_by_people(drawn[item.query_id, item.corpus_id]) for item in items}
    folder.write_annotations(
        ReviewAnnotation(
            id=annotation_id(row.candidate_id, row.annotator, row.role, grades[row.candidate_id], ""),
            candidate_id=row.candidate_id, task=NAME, annotator=row.annotator, role=row.role,
            grade=grades[row.candidate_id], sequence=row.place,
        )
        for row in folder.allotments()
    )  # fmt: skip
    assert len(settle(folder, Terms()).verdicts) == 120
    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    apply_verdicts(session, spec)
    run_partition(workspace, spec, "1.1.0")
    head = release_task(session, TASK, spec, world.cards, "1.1.0", {})
    second = workspace.releases / "evidence" / "1.1.0" / NAME
    found = json.loads((second / "provenance/calibration.json").read_text("utf-8"))
    told = calibration_of(folder, TASK, review)
    assert found["status"] == "calibrated" and told is not None
    assert head.label == "silver" and not head.publishable_by_content  # a script is no judge
    assert "is **calibrated**" in card_text(second)
    report = audit(second, query(), plant=False)
    wrong = {rule.rule: rule.note for rule in report.rules if rule.status in ("failed", "error")}
    assert not wrong, wrong
    # of a query that is not released, a verdict measures the judge and labels nothing
    measured = published(second, "provenance/calibration")
    assert {row["query-id"] for row in measured} >= beside
    assert all(len(row["answers"]) == 2 for row in measured) and found["judged_by_people"] == 120
    for table in ("qrels", "excluded", "annotations", "provenance/keys", "answers"):
        assert not beside & {row["query-id"] for row in published(second, table)}
    assert not beside & {row["id"] for row in published(second, "queries")}
    # people's verdicts on pairs that the judge left open
    labels = {(row["query-id"], row["corpus-id"]): row for row in published(second, "qrels")}
    left_out = {(row["query-id"], row["corpus-id"]): row["reason"] for row in published(second, "excluded")}
    open_pairs = [row for row in published(second, "provenance/calibration") if row["stratum"] == "unstable"]
    assert open_pairs
    kept = {row["id"] for row in published(second, "queries")}  # people left some of them no positive
    open_pairs = [row for row in open_pairs if row["query-id"] in kept]
    assert open_pairs
    for row in open_pairs:
        key = (row["query-id"], row["corpus-id"])
        assert labels[key]["label_status"] == "expert" and key not in left_out
    middle = [row for row in measured if row["people"] == 1 and row["query-id"] in kept]
    assert middle and all(left_out[row["query-id"], row["corpus-id"]] == "middle" for row in middle)


def test_a_question_goes_on_when_people_find_its_suspect_key_right(world: World) -> None:
    """The verdict of two people comes back into the build, and the rewrite is asked for."""
    workspace, stage = world.workspace, KEYS
    folder = review_folder(workspace, world.spec.name, stage.name)
    before = prompts_of(world, "_rewrite")
    assert stages_asking(workspace, NAME) == [stage]
    made = prepare_items(workspace, world.spec.name, stage, Options(), folder)
    assert made["candidates"] == made["new"] == 1 and made["allotted"] == {"A1": 1, "A2": 1}
    folder.write_annotations(answers_of(folder.allotments(), 2))
    assert len(settle(folder, Terms()).verdicts) == 1
    assert "medqrels answer" in next_step(folder, Terms())
    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    with pytest.raises(WorkspaceError, match="other verdicts of people"):
        check_built(session, TASK, world.spec)
    world.build()
    check_built(session, TASK, world.spec)
    [kept] = [row for row in world.rows("_hard.hard") if row["key_rule"]]
    assert kept["key_rule"] == "review/unanimous@1" and not kept["is_suspect"] and kept["right"] == 0
    assert world.dropped("_hard") == {}
    assert prompts_of(world, "_rewrite") - before == {kept["unit"]}
    assert world.dropped("_rewrite_answers") == {"not_run": 1}
    # the same people find it wrong after all
    folder.write_annotations(answers_of(folder.allotments(), 0))
    settle(folder, Terms())
    world.build()
    assert world.dropped("_hard") == {"key_wrong": 1} and prompts_of(world, "_rewrite") == before


def prompts_of(world: World, stage: str) -> set[str]:
    return {row["subject"] for row in world.rows(f"{stage}.prompts")}


def answers_of(rows: Iterable[Allotment], grade: int) -> list[ReviewAnnotation]:
    """The same grade of everybody to what they were given."""
    return [
        ReviewAnnotation(
            id=annotation_id(row.candidate_id, row.annotator, row.role, grade, ""),
            candidate_id=row.candidate_id, task=row.task, annotator=row.annotator, role=row.role,
            grade=grade, sequence=row.place,
        )
        for row in rows
    ]  # fmt: skip


def said_by_people(row: CalibrationPair) -> int:
    """People agree with the judge but for every fifth pair; what it left open is relevant."""
    number = int(row.query_id[-1], 16) + len(row.corpus_id)
    if row.judge is None:
        return 2 if row.stratum == "unstable" else 0
    return row.judge if number % 5 else {0: 1, 1: 2, 2: 1}[row.judge]


def published(folder: Path, table: str) -> list[dict[str, Any]]:
    return [row for path in (folder / table).glob("*.parquet") for row in pq.read_table(path).to_pylist()]


def test_every_mined_pair_is_told_with_what_the_judge_said(world: World) -> None:
    told = {(row["query_id"], row["corpus_id"]): row for row in world.rows("_all.judgements")}
    queries = {row["id"] for row in world.rows("_all.queries")}
    asked = {(row["query_id"], row["corpus_id"]) for row in world.rows("_apart.pairs")}
    assert told.keys() == asked and {query for query, _ in asked} > queries
    judged = {(row["query_id"], row["corpus_id"]): row for row in world.rows("_judged.judged")}
    for pair, row in told.items():
        made = judged.get(pair)
        assert (row["score"], row["reason"]) == (
            (made["score"], made["reason"]) if made else (None, "not_run")
        )
        assert f"{row['forward']}; {row['reversed']}" == (made["scores"] if made else "; ")
        assert row["found_by"] and bool(row["model"]) == bool(made)
    assert {row["reason"] for row in told.values()} == {"", "middle", "unstable", "not_run"}


def _words_of(data: Any) -> Iterator[str]:
    """Keys and short values of what is sent: not the texts, which may hold any word."""
    if isinstance(data, dict):
        yield from data
        yield from itertools.chain.from_iterable(map(_words_of, data.values()))
    elif isinstance(data, list | tuple):
        yield from itertools.chain.from_iterable(map(_words_of, data))
    elif isinstance(data, str) and len(data) < 60:
        yield data
