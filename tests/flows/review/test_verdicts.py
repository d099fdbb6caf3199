"""A published task is drawn from, answered by invented readers, and released again with what they judged.

What the second release must say is worked out here from the answers alone, by the documented rules.
"""

from __future__ import annotations

import json
import random
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from annotation.assignment import Person, numbered
from annotation.verdicts import Terms
from benchmarks.blindness import measured
from curation.audit import RULES, audit
from curation.published.manifest import ReleaseManifest
from curation.release.facts import views
from curation.release.reviewed import changes
from curation.tasks.registry import TASKS
from flows.engine.connection import query
from flows.engine.progress import SilentReporter
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.release.versions import release_task
from flows.review.candidates import Options, prepare
from flows.review.commands import status_of
from flows.review.reports import lift, reported_in, reports
from flows.review.store import BY_DOUBT, FRAME, ReviewFolder, review_folder
from flows.review.text import changed_labels
from flows.review.verdicts import measure, settle, terms_of
from flows.review.versions import check_leaving
from flows.specs import read_spec, spec_path
from schemas.errors import ReleaseError, UsageError
from schemas.review import ReviewAnnotation, ReviewCandidate, annotation_id
from schemas.spec import DatasetSpec, Review
from tests.conftest import copied
from tests.pipeline import run_partition
from tests.releases import card_text

TASK, DATASET = "visual_context", "medqrels-sample"
Row = dict[str, Any]
Pairs = dict[tuple[str, str], Row]


@dataclass(frozen=True)
class World:
    """A workspace with a first release, a review of it, and the release made with the verdicts."""

    workspace: Workspace
    spec: DatasetSpec
    first: ReleaseManifest
    again: ReleaseManifest
    second: ReleaseManifest
    withdrawn: str
    stale: str

    @property
    def folder(self) -> ReviewFolder:
        return review_folder(self.workspace, DATASET, TASK)

    def directory(self, version: str) -> Path:
        return self.workspace.releases / DATASET / version / TASK

    def pairs(self, version: str, table: str) -> Pairs:
        rows: list[Row] = pq.read_table(self.directory(version) / table).to_pylist()
        return {(row["query-id"], row["corpus-id"]): row for row in rows}


def released(
    workspace: Workspace, spec: DatasetSpec, version: str, *, derives: bool = True
) -> ReleaseManifest:
    """Baselines are run where somebody draws from their ranks, or audits what follows from them."""
    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    run_partition(workspace, spec, version)
    cards = spec_path(DATASET).parent
    return release_task(session, TASKS[TASK], spec, cards, version, {}, derives=derives)


def answered(folder: ReviewFolder, withdrawn: str) -> list[ReviewAnnotation]:
    """What two readers and an adjudicator say; of one query they find nothing relevant."""
    draw = random.Random(11)
    truth: dict[str, int] = {}
    for item in folder.candidates():
        drawn = {"positive": draw.choice([2, 2, 2, 1, 0]), "pool": draw.choice([0, 0, 0, 0, 1, 2])}
        truth[item.id] = drawn.get(item.origin, item.known_grade or 0)
        if item.query_id == withdrawn and item.origin != "gold":
            truth[item.id] = 0
    rows = []
    whose = {item.id: item.query_id for item in folder.candidates()}
    for given in folder.allotments():
        grade: int | None = truth[given.candidate_id]
        if whose[given.candidate_id] != withdrawn and given.role == "annotator" and draw.random() < 0.12:
            grade = draw.choice([0, 1, 2, None])
        rows.append(annotation(given.candidate_id, given.annotator, given.role, grade, given.place))
    return rows


def annotation(
    candidate: str, annotator: str, role: Any, grade: int | None, sequence: int
) -> ReviewAnnotation:
    reason = "" if grade is not None else "ambiguous"
    return ReviewAnnotation(
        id=annotation_id(candidate, annotator, role, grade, reason),
        candidate_id=candidate,
        task=TASK,
        annotator=annotator,
        role=role,
        grade=grade,
        reason=reason,
        comment="words that stay private",
        seconds=3.5,
        sequence=sequence,
    )


def write_answers(folder: ReviewFolder, rows: Iterable[ReviewAnnotation]) -> None:
    folder._write("annotations", ReviewAnnotation, sorted(rows, key=lambda row: row.id))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, sample: Workspace) -> World:
    workspace = copied(sample, tmp_path_factory.mktemp("review") / "ws")
    whole = read_spec(spec_path(DATASET))
    review = whole.review.model_copy(
        update={"precision_minimum": 200, "precision_floor": 0.5}
    )  # no rule fails by bad luck
    baselines = whole.baselines.model_copy(update={"systems": ("bm25", "image"), "nano_queries": 0})
    changes = {
        "expert_minimum": 20,
        "tasks": {TASK: whole.tasks[TASK]},
        "review": review,
        "baselines": baselines,
    }
    spec = whole.model_copy(update=changes)
    first = released(workspace, spec, "1.0.0")
    directory = workspace.releases / DATASET / "1.0.0" / TASK
    crew = (*numbered(3), Person("B1", adjudicates=True))
    prepare(directory, workspace, Options(people=crew, ocr=False))
    again = released(workspace, spec, "1.0.0")
    folder = review_folder(workspace, DATASET, TASK)
    golden = {item.query_id for item in folder.candidates() if item.origin == "gold"}
    asked = {item.query_id for item in folder.candidates() if item.origin == "positive"}
    withdrawn = min(asked - golden)
    rows = answered(folder, withdrawn)
    write_answers(folder, rows)
    third = settle(folder, Terms(), crew)
    assert third.disputed and not third.unassigned
    given = [row for row in folder.allotments() if row.role == "adjudicator"]
    more = [
        annotation(row.candidate_id, "B1", "adjudicator", (0, 1, 2, None)[n % 4], row.place)
        for n, row in enumerate(given)
    ]
    write_answers(folder, [*rows, *more])
    verdicts = settle(folder, Terms(), crew).verdicts
    labelled = {item.id for item in folder.candidates() if item.rule.startswith(f"{TASK}/cites")}
    stale = next(row for row in verdicts if row.grade == 2 and row.candidate_id in labelled)
    folder.write_verdicts([replace(row, corpus_sha256="0" * 64) if row is stale else row for row in verdicts])
    second = released(workspace, spec, "2.0.0")
    return World(workspace, spec, first, again, second, withdrawn, stale.candidate_id)


def test_a_review_without_verdicts_changes_no_byte(world: World) -> None:
    assert world.again == world.first
    assert "annotations" not in {path.name for path in world.directory("1.0.0").iterdir()}


def expected(world: World) -> tuple[Pairs, Pairs]:
    """(labels, excluded pairs) of people, by the documented rules, from the answers alone."""
    by_item: dict[str, list[ReviewAnnotation]] = {}
    for row in world.folder.annotations():
        by_item.setdefault(row.candidate_id, []).append(row)
    labels: Pairs = {}
    unclear: Pairs = {}
    for item in world.folder.candidates():
        if item.id == world.stale or item.query_id == world.withdrawn:
            continue
        made = told(item, by_item[item.id])
        if made is None:
            continue
        grade, status, rule = made
        pair = (item.query_id, item.corpus_id)
        (unclear if grade is None else labels)[pair] = {"score": grade, "label_status": status, "rule": rule}
    return labels, unclear


def told(item: ReviewCandidate, rows: list[ReviewAnnotation]) -> tuple[int | None, str, str] | None:
    third = [row.grade for row in rows if row.role == "adjudicator"]
    if third:
        return third[0], "adjudicated", "review/adjudicated@1"
    one, two = (row.grade for row in rows)
    if item.known_grade is not None and (one, two) != (item.known_grade, item.known_grade):
        return None
    if one == two:
        return one, "expert", "review/unanimous@1"
    if one is None or two is None or abs(one - two) > 1:
        return None
    return min(one, two), "expert", "review/adjacent@1"


def without_own_positive(world: World, labels: Pairs) -> set[str]:
    """Queries whose only relevant documents, by the people's answers, are of articles of another split.

    Which queries these are depends on the draw, and so on the packages that the release names.
    """
    drops: list[Row] = pq.read_table(world.directory("2.0.0") / "provenance/drops").to_pylist()
    gone = {
        row["id"]: row["article_id"]
        for row in drops
        if (row["stage"], row["unit"], row["reason"]) == ("partition", "query", "overlap_withdrawn")
    }
    for query_id, article in gone.items():
        relevant = {
            corpus_id for (asked, corpus_id), row in labels.items() if asked == query_id and row["score"]
        }
        assert relevant and all(corpus_id.partition("#")[0] != article for corpus_id in relevant), query_id
    return set(gone)


def test_the_released_labels_are_those_of_an_independent_replay(world: World) -> None:
    labels, unclear = expected(world)
    before, after = world.pairs("1.0.0", "qrels"), world.pairs("2.0.0", "qrels")
    excluded = world.pairs("2.0.0", "excluded")
    held = {pair for pair, row in excluded.items() if row["reason"] == "held_elsewhere"}
    judged = {pair: row for pair, row in {**before, **labels}.items() if pair not in unclear}
    gone = without_own_positive(world, judged)
    assert len(labels) > 500 and len(unclear) > 5 and any(row["score"] == 0 for row in labels.values())
    wanted: Mapping[tuple[str, str], Row] = {
        pair: labels.get(pair) or {name: row[name] for name in ("score", "label_status", "rule")}
        for pair, row in judged.items()
        if pair not in held and pair[0] not in {world.withdrawn, *gone}
    }
    got = {
        pair: {name: row[name] for name in ("score", "label_status", "rule")} for pair, row in after.items()
    }
    assert got == wanted
    cannot_judge = {pair for pair, row in excluded.items() if row["reason"] == "cannot_judge"}
    assert cannot_judge == {pair for pair in unclear if pair[0] not in gone}
    assert not set(after) & set(excluded)


def test_withdrawn_queries_and_stale_verdicts_are_told(world: World) -> None:
    directory = world.directory("2.0.0")
    drops: list[Row] = pq.read_table(directory / "provenance/drops").to_pylist()
    mine = {(row["unit"], row["id"]): row for row in drops if row["stage"] == f"{TASK}_reviewed"}
    assert mine.pop(("query", world.withdrawn))["reason"] == "no_positive_left"
    assert mine.pop(("verdict", world.stale))["detail"] == "the document was changed"
    assert mine == {}
    steps = {
        row["unit"]: row
        for row in pq.read_table(directory / "provenance/funnel").to_pylist()
        if row["stage"] == f"{TASK}_reviewed"
    }
    assert steps["verdict"]["entered"] == len(world.folder.verdicts())
    assert all(row["entered"] == row["kept"] + row["dropped"] == row["kept"] + 1 for row in steps.values())
    item = next(one for one in world.folder.candidates() if one.id == world.stale)
    label = world.pairs("2.0.0", "qrels").get((item.query_id, item.corpus_id))
    assert label is None or label["label_status"] == "structural"


def test_answers_are_published_without_comments_or_accounts(world: World) -> None:
    rows: list[Row] = pq.read_table(world.directory("2.0.0") / "annotations").to_pylist()
    assert {row["annotator"] for row in rows} == {"A1", "A2", "A3", "B1"}
    assert {row["role"] for row in rows} == {"annotator", "adjudicator"}
    assert "comment" not in rows[0]
    for path in world.directory("2.0.0").rglob("*"):
        if path.is_file():
            assert b"words that stay private" not in path.read_bytes(), path


def test_labels_that_people_changed_are_told(world: World) -> None:
    """Counted here from the two releases alone."""
    before, after = world.pairs("1.0.0", "qrels"), world.pairs("2.0.0", "qrels")
    excluded = world.pairs("2.0.0", "excluded")
    rows: list[Row] = pq.read_table(world.directory("2.0.0") / "annotations").to_pylist()
    told: Counter[tuple[int | None, int | None, str]] = Counter()
    for pair in {(row["query-id"], row["corpus-id"]) for row in rows}:
        given = before[pair]["score"] if pair in before else None
        now = after[pair]["score"] if pair in after else None
        told[given, now, "" if now is not None else excluded[pair]["reason"]] += 1
    found = changes(query(), views(world.directory("2.0.0")))
    assert {(row["rule_grade"], row["grade"], row["excluded"]): row["pairs"] for row in found} == told
    assert all(
        row["is_same"] == (row["grade"] is not None and row["grade"] == row["rule_grade"]) for row in found
    )
    assert told[2, 1, ""] > 10 and told[None, 2, ""] > 100
    lost = max(told, key=lambda key: (key[1] is None and key[0] is not None, key[2] == "cannot_judge"))
    assert lost[1] is None and lost[2] == "cannot_judge", told

    made = {"path": "DIRECTORY", "judged_by_people": found, "exclusions": dict(world.second.exclusions)}
    lines = changed_labels(made)
    assert f"    grade 2 → grade 1: {told[2, 1, '']} pairs" in lines and "DIRECTORY/annotations" in lines[-1]
    before_it = "no label" if lost[0] is None else f"grade {lost[0]}"
    assert any(line.startswith(f"    {before_it} → excluded: People who were asked") for line in lines)
    assert changed_labels({**made, "judged_by_people": []}) == []
    assert changes(query(), views(world.directory("1.0.0"))) == []
    assert f"| grade 2 | grade 1 | {told[2, 1, '']} |" in reviewed_part(world, "2.0.0")


def reviewed_part(world: World, version: str) -> str:
    """What a card tells of the review."""
    card = card_text(world.directory(version))
    return card.partition("### Review by people")[2].partition("\n#")[0]


def test_a_card_tells_of_a_review_in_words_and_even_figures(world: World) -> None:
    told = reviewed_part(world, "2.0.0")
    cells = [line.split(" | ") for line in told.splitlines() if line.startswith("| ")]
    figures = [word for row in cells for word in re.findall(r"\d+\.\d+(?: %)?", " ".join(row[1:]))]
    assert len(figures) > 12 and all(re.fullmatch(r"0\.\d{3}|\d+\.\d %", word) for word in figures), figures
    assert "Krippendorff's α, ordinal" in told and "Gwet's AC2, linear weights" in told
    bare = re.sub(r"`[^`]+`", "", told)
    assert not re.findall(r"\b[a-z0-9]+_[a-z0-9_]+\b", bare), "keys instead of words"
    assert "each other's answers" not in told and "asked not to open those of others" in told


def test_silver_goes_only_when_the_minimum_is_met(world: World) -> None:
    judged = {
        pair[0]
        for pair, row in world.pairs("2.0.0", "qrels").items()
        if row["label_status"] in ("expert", "adjudicated")
    }
    assert (world.first.label, world.second.label) == ("silver", "expert")
    high = world.spec.model_copy(update={"expert_minimum": len(judged) + 1})
    third = released(world.workspace, high, "3.0.0", derives=False)
    assert third.label == "silver"
    card = card_text(world.directory("3.0.0"))
    assert f"**silver**: {len(judged)} queries" in card
    card = card_text(world.directory("2.0.0"))
    assert "**silver**" not in card
    rules = {row["rule"]: row for row in world.folder.json("precision.json")["precision"]}
    cites = rules["visual_context/cites-xref@1"]
    assert cites["reviewed"] + cites["unclear"] <= cites["population"] < cites["minimum"]
    is_whole = cites["reviewed"] == cites["population"]  # then nothing is left to sample
    assert cites["decision"] == ("keep" if is_whole else "not_run")


@pytest.mark.timeout(300)
def test_the_audit_of_a_reviewed_release_finds_nothing(world: World) -> None:
    directory = world.directory("2.0.0")
    report = audit(directory, query(), plant=False)
    assert [(item.rule, item.note) for item in report.rules if item.status in ("failed", "not_run")] == []
    chosen = [rule for rule in RULES if rule.id in ("review_labels", "evidence", "unjudged_negative")]
    proven = audit(directory, query(), rules=chosen)
    assert all(item.is_found for item in proven.canaries), proven.canaries
    assert {item.status for item in proven.rules} == {"passed"}


def test_a_rule_under_its_floor_needs_a_major_version_and_loses_its_labels(world: World) -> None:
    strict = Review(precision_floor=0.99, precision_minimum=5)
    spec = world.spec.model_copy(update={"review": strict})
    with pytest.raises(ReleaseError, match="too imprecise"):
        check_leaving(world.workspace, spec, TASK, "1.1.0")
    check_leaving(world.workspace, spec, TASK, "4.0.0")
    released(world.workspace, spec, "4.0.0", derives=False)
    labels = world.pairs("4.0.0", "qrels")
    assert {row["label_status"] for row in labels.values()} == {"expert", "adjudicated"}
    under = [
        pair for pair, row in world.pairs("4.0.0", "excluded").items() if row["reason"] == "rule_under_floor"
    ]
    before = world.pairs("2.0.0", "qrels")
    assert under and all(before[pair]["label_status"] == "structural" for pair in under if pair in before)
    check_leaving(world.workspace, spec, TASK, "4.1.0")


def test_an_unfinished_queue_by_doubt_measures_nothing(world: World, tmp_path: Path) -> None:
    """Whatever was drawn, answered and left open: here 20 times."""
    strict = Review(precision_floor=0.99, precision_minimum=5)
    folder = ReviewFolder(Path(shutil.copytree(world.folder.path, tmp_path / "by-doubt")))
    items = folder.candidates()
    of_pool = [item for item in items if item.origin == "pool"][::8]  # all would take long to read so often
    drawn = {item.id: item for item in items if item.origin == "positive"} | {
        item.id: item for item in of_pool
    }
    given = [row for row in folder.allotments() if row.candidate_id in drawn]
    verdicts = [row for row in folder.verdicts() if row.candidate_id in drawn]
    assert {row.candidate_id for row in given} <= {row.candidate_id for row in verdicts}
    folder.write_candidates(list(drawn.values()))
    folder.write_allotments(given)
    frame, decisions = folder.json(FRAME), set()
    for seed in range(20):
        chance = random.Random(seed)
        judged = [replace(row, grade=chance.choice((None, 0, 1, 2, 2, 2))) for row in verdicts]
        folder.write_verdicts(judged)
        folder.write_json(FRAME, frame)
        as_drawn = measure(folder, strict)
        folder.write_json(FRAME, frame | {BY_DOUBT: True})
        assert measure(folder, strict) == as_drawn  # when all is judged, its order no longer matters
        decisions |= {row["decision"] for row in as_drawn["precision"]}
        left = chance.choice((1, len(judged) // 2, len(judged)))
        folder.write_verdicts(chance.sample(judged, len(judged) - left))
        measured = measure(folder, strict)
        found = {(row["decision"], row["reason"]) for row in measured["precision"]}
        assert found == {("not_run", "not_random")}
        assert (measured["missed"]["rate"], measured["missed"]["reason"]) == (None, "not_random")
    assert "downgrade" in decisions


def test_a_second_push_of_the_same_release_changes_nothing(world: World) -> None:
    files = {path.name: path.read_bytes() for path in world.folder.path.iterdir() if path.is_file()}
    crew = (*numbered(3), Person("B1", adjudicates=True))
    again = prepare(world.directory("1.0.0"), world.workspace, Options(people=crew, ocr=False))
    assert (again.new, again.ended, again.short) == (0, {}, 0)
    now = {path.name: path.read_bytes() for path in world.folder.path.iterdir() if path.is_file()}
    assert now == files
    frame = json.loads(files["frame.json"])
    assert frame["release"]["release_hash"] == world.first.release_hash
    assert terms_of(world.folder) == Terms(2)
    pairs = {(item.query_id, item.corpus_id) for item in world.folder.candidates()}
    assert not pairs & set(world.pairs("1.0.0", "excluded"))
    known = {item.known_grade for item in world.folder.candidates() if item.origin == "gold"}
    assert known == {0, 2}


def test_what_a_reader_reported_is_withheld_until_a_decision_lifts_it(world: World, tmp_path: Path) -> None:
    workspace = copied(world.workspace, tmp_path / "ws")
    root, name = str(workspace.root), f"{DATASET}/{TASK}"
    folder = review_folder(workspace, DATASET, TASK)
    released_now = {row["corpus-id"] for row in world.pairs("2.0.0", "qrels").values()}
    item = next(row for row in folder.candidates() if row.corpus_id in released_now)
    row = replace(annotation(item.id, "A1", "annotator", None, 99), reason="privacy", id="ann:99")
    before = folder.annotations()
    write_answers(folder, [*before, replace(row, state="withdrawn")])  # taken back: it was reported
    assert status_of(root, name)["reviews"][0]["reports"] == 1
    (told,) = reports(root, name)[0]["standing"]
    assert (told["candidate_id"], told["reasons"], told["annotators"]) == (item.id, ["privacy"], ["A1"])
    released(workspace, world.spec, "9.0.0", derives=False)
    directory = workspace.releases / DATASET / "9.0.0" / TASK
    kept = {table: set(pq.read_table(directory / table)["id"].to_pylist()) for table in ("queries", "corpus")}
    assert item.query_id not in kept["queries"] and item.corpus_id not in kept["corpus"]
    drops = {row["id"]: row for row in pq.read_table(directory / "provenance" / "drops").to_pylist()}
    assert drops[item.corpus_id]["reason"] == "reported" and "privacy" in drops[item.corpus_id]["detail"]
    failed = [rule.rule for rule in audit(directory, query(), plant=False).rules if rule.status == "failed"]
    assert not failed
    made = prepare(world.directory("2.0.0"), workspace, Options(people=(*numbered(3),), ocr=False))
    assert made.held_back["reported by an annotator"]
    with pytest.raises(UsageError, match="who made it and why"):
        lift(root, item.id, "", "")
    with pytest.raises(UsageError, match="no report"):
        lift(root, "cand:0", "M", "no name in it")
    assert lift(root, item.id, "Maintainer", "the name is the author's").by == "Maintainer"
    assert reported_in(workspace, DATASET) == () and reports(root, name)[0]["lifted"]
    write_answers(folder, [*before, row, replace(row, id=f"{row.id}0", annotator="A2")])
    assert reports(root, name)[0]["standing"][0]["annotators"] == ["A2"]  # a later report stands again


def test_a_page_gives_no_answer_away_by_anything_but_its_content(world: World, tmp_path: Path) -> None:
    found = measured(world.directory("1.0.0"), world.workspace, ReviewFolder(tmp_path), 240)
    for group in ("positives", "known grades"):
        now = found[f"{group}, now"]
        assert now["items"] > 100 and now["wanted"] > 10, now
        assert now["area"] < 0.65, now  # with ± 0.04 by lot; every draw is another
    assert found["positives, with sources"]["area"] > 0.9, "an article named on both sides is told"
