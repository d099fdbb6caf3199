"""clinical_evidence on the sample and invented exams: without a model, with scripted answers, released."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest

from annotation.assignment import numbered
from annotation.layouts.data import task_data
from annotation.verdicts import Terms
from curation.audit import audit
from curation.prompts.answers import is_valid
from curation.prompts.material import read_block
from curation.tasks.clinical_evidence.cells import CELLS
from curation.tasks.clinical_evidence.task import TASK
from flows.adapters.answering import store_of
from flows.adapters.cache import AnswerCache
from flows.adapters.llm_runner import key_of, store_name
from flows.engine.connection import query
from flows.engine.progress import SilentReporter
from flows.engine.runner import read_rows, table_files
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.inspect.decisions import describe as describe_way
from flows.inspect.decisions import follow
from flows.release.versions import release_task
from flows.review.calibration import calibration_of
from flows.review.calibration_draw import Wanted
from flows.review.candidates import Options, prepare
from flows.review.verdicts import apply_verdicts, settle
from flows.specs import DATA_CARDS, read_spec
from schemas.prompt import Prompt
from schemas.review import CalibrationPair, ReviewAnnotation, annotation_id
from tests.exam_files import BROKEN, ITEMS, write_exams
from tests.pipeline import crawl_questions, run_partition, run_stages
from tests.releases import card_text

NAME = TASK.name
SPEC = """
name = "evidence"
title = "Evidence for a test"
[prompts]
model = "scripted"
is_trial = true
[baselines]
systems = ["bm25"]
nano_queries = 5
nano_documents = 100
[tasks.clinical_evidence]
min_words = 25
"""
_WORDS = re.compile(r"[a-z]{5,}")


OF_QUESTION = {" ".join(item["question"].split()): item for item in ITEMS}
INTENTS = {"gout": "other", "stroke": "prognosis"}
"""What a script says amiss of these questions; the second is no scenario."""
SPOILT = ("kawasaki", "addison")
"""Questions whose rewrite changes what they say."""


def item_of(prompt: Prompt) -> dict[str, Any]:
    """The written question that a prompt shows."""
    return OF_QUESTION[" ".join(read_block(prompt, "question").split())]


def intent_of(prompt: Prompt) -> dict[str, Any]:
    item = item_of(prompt)
    return {"scenario": INTENTS.get(item["id"], item["scenario"]), "asks": "what comes next"}


def knows(prompt: Prompt) -> dict[str, Any]:
    """As many of its answers are right as the item says."""
    item, number = item_of(prompt), int(prompt.form.rpartition("-")[2])
    right = item["options"]["ABCD".index(item["correct"])]
    return {"answer": right if number <= item["known"] else min(set(item["options"]) - {right})}


def rewritten(prompt: Prompt) -> dict[str, Any]:
    item = item_of(prompt)
    return {"text": item["spoilt" if item["id"] in SPOILT else "rewrite"]}


def path_of(prompt: Prompt) -> dict[str, Any]:
    """A path for every story; of every sixth one quotes what nobody wrote."""
    story, decision = read_block(prompt, "vignette"), read_block(prompt, "answer")
    words = story.split()
    told = f"What was found speaks for this: {decision} It is known to go with such findings and no others."
    quote = " ".join(words[2:8]) if len(story) % 6 else "words that nobody wrote"
    return {"path": f"{told} It began so: {' '.join(words[:12])}", "quotes": [quote]}


def judged_by_words(prompt: Prompt) -> dict[str, Any]:
    """Scores by the words that a passage shares; some quotes are made up, and some orders disagree."""
    passage = read_block(prompt, "passage")
    held = set(_WORDS.findall(passage.lower()))
    said: dict[str, Any] = {}
    for axis in ("answer", "reasoning"):
        score = min(3, len(held & set(_WORDS.findall(read_block(prompt, axis).lower()))))
        if prompt.form == "reversed" and len(passage) % 7 == 0:
            score = 3 - score
        quote = " ".join(passage.split()[1:6]) if len(passage) % 9 else "words that nobody wrote there"
        said |= {axis: score, f"{axis}_quotes": [quote] if score else []}
    return said


class World:
    """A workspace and its spec, and the model's answers as a script gives them."""

    def __init__(self, root: Path, sample: Workspace) -> None:
        self.cards = root / "data_cards"
        shutil.copytree(DATA_CARDS / "medqrels-sample", self.cards)
        (self.cards / "spec.toml").write_text(SPEC, "utf-8")
        self.spec = read_spec(self.cards / "spec.toml")
        self.workspace = Workspace(shutil.copytree(sample.root, root / "ws"))

    def build(self) -> None:
        run_stages(self.workspace, spec=self.spec)

    def store(self, stage: str, script: Callable[[Prompt], Mapping[str, Any]]) -> int:
        """Answers of a script, stored as those of any model; how many."""
        prompts = read_rows(Prompt, table_files(self.workspace, f"{NAME}{stage}.prompts"))
        with AnswerCache(store_of(self.workspace), store_name("scripted")) as held:
            held.put({key_of(prompt): _stored(prompt, script(prompt)) for prompt in prompts})
        return len(prompts)

    def rows(self, table: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for path in table_files(self.workspace, f"{NAME}{table}"):
            found += pq.read_table(path).to_pylist()
        return found

    def dropped(self, stage: str) -> Counter[str]:
        return Counter(row["reason"] for row in self.rows(f"{stage}._dropped"))

    def outputs(self) -> dict[str, bytes]:
        """Every file of the task's stages but what tells time and host."""
        found = sorted(self.workspace.work.glob(f"{NAME}*/*/*"))
        return {str(path): path.read_bytes() for path in found if path.name != "_run.json"}


def _stored(prompt: Prompt, values: Mapping[str, Any]) -> bytes:
    text = json.dumps(values)
    kept = {
        "call": "", "served_model": "scripted", "text": text,
        "state": "answered" if is_valid(prompt, text) else "invalid",
        "mode": "plain", "tokens_in": None, "tokens_out": None,
    }  # fmt: skip
    return json.dumps(kept, sort_keys=True).encode()


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
    pairs = len(made.rows("_apart.pairs"))
    assert pairs and made.dropped("_judged") == {"not_run": pairs}
    assert made.store("_judge", judged_by_words) == 2 * pairs
    made.build()
    return made


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
    assert lost("_difficulty") == {**easy, "porphyria": "key_suspect"}
    hard = {name_of[row["unit"]]: row for row in world.rows("_difficulty.hard")}
    assert all(
        (row["right"], row["tries"], row["models"]) == (known[name], 3, 1) for name, row in hard.items()
    )
    assert lost("_checked") == {"kawasaki": "unit_changed", "addison": "number_changed"}
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
        assert row["targets"] and row["tier"] in ("examination", "diagnosis", "treatment")
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
    assert len(found[f"{NAME}_judge", "asked"]) == 2 * len(pairs)
    judged = {row["id"]: row["row"]["score"] for row in found[f"{NAME}_judged", "kept"]}
    lost = {row["id"] for row in found.get((f"{NAME}_judged", "not_run"), [])}
    assert judged.keys() | lost == {row["id"] for row in pairs}
    assert {row["row"]["query_id"] for row in found[f"{NAME}_all", "kept"] if row["table"] == "qrels"} == {
        query["id"]
    }
    text = describe_way(way)
    assert f"{NAME}_judge: asked {2 * len(pairs)} prompts" in text and "answer: {" in text
    lost_path = next(row for row in world.rows("_views._dropped"))
    case = lost_path["id"].partition("/")[0]
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
    found = pq.read_table(folder / "provenance" / "judgements").to_pylist()
    positives = datasets.load_dataset(str(folder), "qrels", split="test").filter(lambda row: row["score"] > 0)
    said = {(row["query-id"], row["corpus-id"]): row["only_reasoning"] for row in found}
    assert {said[row["query-id"], row["corpus-id"]] for row in positives} == {True, False}
    card = card_text(folder)
    assert "clinical_evidence_reasoning_path" in card and "clinical_evidence_judge" in card
    # nobody compared the judge with people: what it said is no label yet
    assert stated["label"] == "candidates" and "is **not calibrated** (not_run)" in card
    found = json.loads((folder / "provenance/calibration.json").read_text("utf-8"))
    assert found["status"] == "not_run" and found["order"]["pairs"] and found["order"]["is_flagged"]
    assert [row["system"] for row in found["circular"]] == ["scripted"]  # the paths are of the same model


def test_a_calibrated_judge_is_told_and_people_decide_what_it_left_open(world: World) -> None:
    review = world.spec.review.model_copy(update={"judge_minimum": 2, "judge_floor": -1.0})
    spec = world.spec.model_copy(update={"review": review})
    workspace = world.workspace
    first = workspace.releases / "evidence" / "1.0.0" / NAME
    wanted = Options(people=tuple(numbered(2)), ocr=False, calibration=Wanted(60, 6))
    made = prepare(first, workspace, wanted)
    folder = made.folder
    pairs, items = folder.calibration(), folder.candidates()
    assert len(pairs) == 60 == len(items) and {item.origin for item in items} == {"calibration"}
    assert {row.stratum for row in pairs} == set(folder.json("calibration.json")["strata"])
    assert {"unstable", "not_judged", "unjudged", "0 0"} <= {row.stratum for row in pairs}
    again = prepare(first, workspace, wanted)
    assert again.new == 0 and folder.calibration() == pairs
    # blind: what is sent holds no score, cell or rank, and two people get each item
    sent = json.dumps([task_data(item, str) for item in items])
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
    assert len(settle(folder, Terms()).verdicts) == 60
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
    # people's verdicts on pairs that the judge left open
    labels = {(row["query-id"], row["corpus-id"]): row for row in published(second, "qrels")}
    left_out = {(row["query-id"], row["corpus-id"]): row["reason"] for row in published(second, "excluded")}
    open_pairs = [row for row in published(second, "provenance/calibration") if row["stratum"] == "unstable"]
    assert open_pairs
    for row in open_pairs:
        key = (row["query-id"], row["corpus-id"])
        assert labels[key]["label_status"] == "expert" and key not in left_out
    middle = [row for row in published(second, "provenance/calibration") if row["people"] == 1]
    assert middle and all(left_out[row["query-id"], row["corpus-id"]] == "middle" for row in middle)


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
    assert told.keys() == {pair for pair in asked if pair[0] in queries}
    judged = {(row["query_id"], row["corpus_id"]): row for row in world.rows("_judged.judged")}
    for pair, row in told.items():
        made = judged.get(pair)
        assert (row["score"], row["reason"]) == (
            (made["score"], made["reason"]) if made else (None, "not_run")
        )
        assert f"{row['forward']}; {row['reversed']}" == (made["scores"] if made else "; ")
        assert row["found_by"] and bool(row["model"]) == bool(made)
    assert {row["reason"] for row in told.values()} == {"", "middle", "unstable", "not_run"}
