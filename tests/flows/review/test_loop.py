"""The whole review on a real Label Studio: three simulated clinicians, server and client killed, a replay."""

from __future__ import annotations

import dataclasses
import multiprocessing
import random
import shutil
import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from annotation.assignment import Person
from annotation.client import Client
from annotation.verdicts import read_log, replay
from curation.audit import audit
from curation.published.manifest import read_manifest
from curation.tasks.registry import TASKS
from curation.tasks.visual_context.build import shares_run
from flows.engine.connection import query
from flows.engine.progress import SilentReporter
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.release.versions import release_task
from flows.review import label_studio as servers
from flows.review import sync as review_sync
from flows.review.adjudication import ADJUDICATOR, adjudicate
from flows.review.agreement import report
from flows.review.candidates import Options, prepare
from flows.review.delivery import MediaFolder
from flows.review.foreign import decide, foreign
from flows.review.label_studio import Server
from flows.review.people import account_ids, local_accounts
from flows.review.reports import of_folder
from flows.review.store import ReviewFolder
from flows.review.sync import Target, pull, push
from flows.specs import DATA_CARDS, read_spec
from schemas.errors import FetchError, UsageError
from schemas.review import CANNOT_JUDGE, REPORTS, ReviewCandidate, Role
from schemas.spec import DatasetSpec
from tests.annotation.agreement.definitions import everything
from tests.browser import chromium
from tests.conftest import copied
from tests.flows.review.label_studio_server import server_venv, shared_folder
from tests.flows.review.loop_people import Clinician, Cut, Killer, Mortal
from tests.flows.review.replay import Outcome, Pair, dispute, near, outcome, released, true_agreement
from tests.flows.review.test_browser import Project, Site
from tests.pipeline import run_partition, run_stages

TASK = "visual_context"
NEAR_DOCUMENTS = "near_duplicate_documents"
SPEC = """
name = "reviewed"
title = "A review for a test"
licence_profile = "open"
[partition]
dev_share = 0.0
[baselines]
systems = ["bm25"]
[tasks.visual_context]
"""
CONFUSION = {
    "A1": ((0.96, 0.03, 0.01), (0.10, 0.80, 0.10), (0.01, 0.05, 0.94)),
    "A2": ((0.93, 0.06, 0.01), (0.15, 0.70, 0.15), (0.02, 0.08, 0.90)),
    "A3": ((0.88, 0.08, 0.04), (0.20, 0.60, 0.20), (0.06, 0.12, 0.82)),
}
"""Chance of each grade (across) given the true one (down)."""
TRUTH = {"positive": (0.06, 0.10, 0.84), "pool": (0.80, 0.12, 0.08), "random": (0.96, 0.03, 0.01)}
"""Shares of true grades among items of each origin; of gold items the grade is known."""
UNABLE = 0.02
SIZES = (
    pytest.param((50, 4), id="slice"),
    pytest.param((310, 10), id="whole", marks=pytest.mark.campaign),
)
"""Candidates, and how many of them one clinician answers in the browser."""


@dataclass
class Loop:
    """A review from release to release, and everything that was submitted on the way."""

    workspace: Workspace
    spec: DatasetSpec
    cards: Path
    server_folder: Path
    folder: ReviewFolder
    candidates: dict[str, ReviewCandidate]
    in_browser: int
    given: dict[str, dict[str, int | None]] = field(default_factory=dict)
    third: dict[str, int | None] = field(default_factory=dict)
    draw: random.Random = field(default_factory=lambda: random.Random(20))

    def start(self) -> Server:
        return servers.start(self.server_folder, venv=server_venv())

    def target(self, client: Client) -> Target:
        return Target(client, MediaFolder(self.server_folder / "media"), is_local=True)

    def client(self) -> Client:
        server = self.start()
        return Client(server.url, server.token)

    def accounts(self) -> dict[str, int]:
        names = (*CONFUSION, ADJUDICATOR)
        client = self.client()
        return account_ids(client, local_accounts(self.workspace, client, names, self.server_folder))

    def person(self, server: Server, name: str, role: Role = "annotator") -> Clinician:
        return Clinician(server, self.server_folder, self.spec.name, TASK, name, role)

    def release(self, version: str, minimum: int = 1, *, derives: bool = True) -> Path:
        """Baselines are run where candidates are drawn from their ranks, or an audit looks at them."""
        spec = self.spec.model_copy(update={"expert_minimum": minimum})
        run_partition(self.workspace, spec, version)
        session = Session(Settings(workspace=self.workspace.root), self.workspace, SilentReporter())
        release_task(session, TASKS[TASK], spec, self.cards, version, {}, derives=derives)
        return self.workspace.releases / self.spec.name / version / TASK


@pytest.fixture(params=SIZES)
def loop(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    sample: Workspace,
    label_studio: Server,
) -> Iterator[Loop]:
    """A release of the sample, its candidates, and a server of this test's own that may be killed."""
    count, in_browser = request.param
    root = tmp_path_factory.mktemp("loop")
    cards = root / "data_cards"
    shutil.copytree(DATA_CARDS / "medqrels-sample", cards)
    (cards / "spec.toml").write_text(SPEC, "utf-8")
    spec = read_spec(cards / "spec.toml")
    workspace = copied(sample, root / "ws")
    run_stages(workspace, spec=spec)
    server_folder = root / "ws" / "review" / "server"
    shutil.copytree(shared_folder(tmp_path_factory) / "fresh", server_folder)
    server_folder.chmod(0o700)
    begun = Loop(workspace, spec, cards, server_folder, ReviewFolder(Path()), {}, in_browser)
    published = begun.release("1.0.0")
    people = tuple(Person(name) for name in CONFUSION)
    media = MediaFolder(server_folder / "media")
    options = Options(3, sample=count, people=people, ocr=False)
    made = prepare(published, workspace, options, images=media.write)
    begun.folder = made.folder
    begun.candidates = {item.id: item for item in made.folder.candidates()}
    assert len(begun.candidates) > 0.9 * count
    yield begun
    servers.stop(server_folder)


@pytest.mark.timeout(900)
def test_a_review_equals_the_replay_of_its_answers(loop: Loop) -> None:
    """One test, for its steps need each other: pushed, answered, pulled, adjudicated, released.

    `make bench` does it with a review of the usual size.
    """
    pushed_through_a_kill(loop)
    answered(loop)
    pulled_through_a_cut(loop)
    adjudicated(loop)
    check_every_answer_arrived_once(loop)
    check_verdicts(loop)
    check_agreement(loop)
    check_labels(loop)
    check_precision(loop)
    check_audit(loop)
    second_release(loop)


def pushed_through_a_kill(loop: Loop) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(review_sync, "BATCH_TASKS", len(loop.candidates) // 5)
        with pytest.raises(FetchError):
            push(loop.folder, loop.target(Killer(loop.start(), at_import=8)))
        assert servers.running(loop.server_folder) is None
        loop.start()
        killed = multiprocessing.get_context("fork").Process(target=push_and_die, args=(loop,))
        killed.start()
        killed.join(120)
        assert killed.exitcode == -signal.SIGKILL
        made = push(loop.folder, loop.target(loop.client()))
    assert sum(row["create"] for row in made) > 0
    again = push(loop.folder, loop.target(loop.client()))
    assert all(row["create"] == row["duplicates"] == 0 and not row["conflicts"] for row in again)


def push_and_die(loop: Loop) -> None:
    server = loop.start()
    push(loop.folder, loop.target(Mortal(server.url, server.token)))


def answered(loop: Loop) -> None:
    """Every clinician answers every item; the first of A1 in the browser."""
    loop.accounts()
    server = loop.start()
    truth = {
        name: item.known_grade
        if item.known_grade is not None
        else loop.draw.choices((0, 1, 2), TRUTH[item.origin])[0]
        for name, item in sorted(loop.candidates.items())
    }
    for annotator, rows in CONFUSION.items():
        person = loop.person(server, annotator)
        queue = [row["data"]["candidate_id"] for row in person.tasks()]
        told: dict[str, tuple[int | None, str]] = {}
        for name in queue:
            grade = loop.draw.choices((0, 1, 2), rows[truth[name] or 0])[0]
            unable = loop.draw.random() < UNABLE and len(told) >= loop.in_browser
            told[name] = (
                (None, loop.draw.choice(sorted(CANNOT_JUDGE.keys() - REPORTS))) if unable else (grade, "")
            )
        if annotator == "A1":
            in_browser(loop, person, {name: told[name][0] or 0 for name in queue[: loop.in_browser]})
            person.submit({name: told[name] for name in queue[loop.in_browser :]})
        else:
            person.submit(told)
        for name, (chosen, _) in told.items():
            loop.given.setdefault(name, {})[annotator] = chosen


def in_browser(loop: Loop, person: Clinician, grades: Mapping[str, int]) -> None:
    shown = [loop.candidates[name] for name in grades]
    account = dataclasses.replace(person.server, login=person.login, password=person.password)
    with chromium() as tab:
        site = Site(account, tab)
        site.log_in()
        project = Project(person.project, shown[0].kind, TASK, tuple(shown))
        site.open(project)
        for item in shown:
            site.await_task(item)
            site.key(str(grades[item.id]))
            site.submit()


def pulled_through_a_cut(loop: Loop) -> None:
    """The server itself is killed during a pull in test_sync_kills."""
    accounts = loop.accounts()
    with pytest.raises(FetchError):
        pull(loop.folder, Cut(loop.start()), accounts)
    kept = loop.folder.annotations()
    assert {row.annotator for row in kept} == {"A1"}
    pull(loop.folder, loop.client(), accounts)
    table = loop.folder.path / "annotations.parquet"
    before = table.read_bytes()
    pull(loop.folder, loop.client(), accounts)
    assert table.read_bytes() == before


def adjudicated(loop: Loop) -> None:
    """The third person sees what the readers said, and decides."""
    first = adjudicate(loop.folder)
    push(loop.folder, loop.target(loop.client()))
    person = loop.person(loop.start(), ADJUDICATOR, "adjudicator")
    tasks = person.tasks()
    assert {row["data"]["candidate_id"] for row in tasks} == {
        row["candidate_id"] for row in first["disputed"]
    }
    for row in tasks:
        text = row["data"]["readers"]
        assert text.count("<li>Annotator ") == 3 and not any(name in text for name in CONFUSION)
        loop.third[row["data"]["candidate_id"]] = loop.draw.choice((0, 1, 2))
    person.submit({name: (grade, "") for name, grade in loop.third.items()})
    pull(loop.folder, loop.client(), loop.accounts())
    assert adjudicate(loop.folder)["disputed"] == []


def outcomes(loop: Loop) -> dict[str, Outcome]:
    return {
        name: outcome(given, loop.candidates[name].known_grade, loop.third.get(name))
        for name, given in loop.given.items()
    }


def check_every_answer_arrived_once(loop: Loop) -> None:
    assert loop.given.keys() == loop.candidates.keys()
    rows = loop.folder.annotations()
    found = Counter((row.candidate_id, row.annotator, row.grade) for row in rows)
    expected = Counter((name, who, grade) for name, row in loop.given.items() for who, grade in row.items())
    expected.update((name, ADJUDICATOR, grade) for name, grade in loop.third.items())
    assert found == expected and all(row.state == "current" for row in rows)
    timed = [row for row in rows if row.seconds > 0]
    assert len(timed) == loop.in_browser and {row.annotator for row in timed} == {"A1"}
    person = loop.person(loop.start(), "A2")
    held = Counter(row["data"]["candidate_id"] for row in person.tasks())
    assert set(held) == set(loop.candidates) and set(held.values()) == {1}


def check_verdicts(loop: Loop) -> None:
    disputed = {
        name for name, given in loop.given.items() if dispute(given, loop.candidates[name].known_grade)
    }
    assert disputed == set(loop.third)
    verdicts = loop.folder.verdicts()
    found = {row.candidate_id: Outcome(row.grade, row.label_status, row.rule) for row in verdicts}
    assert found == outcomes(loop)
    assert len({item.rule for item in found.values()}) == 3
    log = read_log((loop.folder.path / "log.jsonl").read_text("utf-8"))
    assert replay(loop.folder.annotations(), log) == verdicts


def check_agreement(loop: Loop) -> None:
    items = {name for name, item in loop.candidates.items() if item.known_grade is None}
    rows = [[loop.given[name][who] for who in CONFUSION] for name in sorted(items)]
    summary, page = report(loop.folder)
    assert page.is_file()
    found = {(row["group"], row["coefficient"]): row for row in summary["figures"]}
    for group, columns in (("", (0, 1, 2)), ("A1|A2", (0, 1)), ("A1|A3", (0, 2)), ("A2|A3", (1, 2))):
        part = [[row[column] for column in columns] for row in rows]
        if group:  # a pair's figures are of the items that both graded
            part = [row for row in part if None not in row]
        expected = everything(part, (0, 1, 2))
        for name, value in expected.items():
            assert found[group, name]["value"] == pytest.approx(float(value), abs=1e-9), (group, name)
    origins = Counter(loop.candidates[name].origin for name in items)
    prevalence = [sum(TRUTH[origin][t] * n for origin, n in origins.items()) / len(items) for t in range(3)]
    missed = {
        (first, second)
        for first, second in (("A1", "A2"), ("A1", "A3"), ("A2", "A3"))
        for name, value in true_agreement(CONFUSION, prevalence, first, second).items()
        if not near(value, found[f"{first}|{second}", name])
    }
    assert not missed, "one review; tests/annotation/agreement/test_review_intervals.py has the rate"


def check_labels(loop: Loop) -> None:
    before = loop.workspace.releases / "reviewed/1.0.0" / TASK
    verdicts = {
        (loop.candidates[name].query_id, loop.candidates[name].corpus_id): found
        for name, found in outcomes(loop).items()
        if not is_copy(loop, name, labels(before))
    }
    expected, unjudged = released(labels(before), verdicts)
    by_people = {query for (query, _), (_, status) in expected.items() if status != "structural"}
    after = loop.release("2.0.0", len(by_people))
    short = loop.release("3.0.0", len(by_people) + 1, derives=False)
    assert [read_manifest(made).label for made in (before, after, short)] == ["silver", "expert", "silver"]
    marked = ["**silver**" in (made / "README.md").read_text("utf-8") for made in (before, after, short)]
    assert marked == [True, False, True]
    assert {status for _, status in labels(before).values()} == {"structural"}
    assert labels(after) == expected
    assert {status for _, status in expected.values()} >= {"expert", "adjudicated"}
    excluded = {pair: row["reason"] for pair, row in pairs(after / "excluded")}
    assert {pair for pair, reason in excluded.items() if reason == "cannot_judge"} == unjudged
    names = {row["id"] for row in pq.read_table(after / "queries", columns=["id"]).to_pylist()}
    assert names == {query for query, _ in expected}
    people = {row["annotator"] for _, row in pairs(after / "annotations")}
    assert people == {*CONFUSION, ADJUDICATOR}
    assert not any(b"@medqrels.local" in path.read_bytes() for path in after.rglob("*") if path.is_file())


def is_copy(loop: Loop, name: str, before: Mapping[Pair, tuple[int, str]]) -> bool:
    """Whether a new positive repeats 13 words of its query, or the whole of a shorter one."""
    item, found = loop.candidates[name], outcomes(loop)[name]
    if not found.grade or (item.query_id, item.corpus_id) in before:
        return False
    shown = {part.name: part.value for part in item.shown}
    return shares_run(shown.get("query_text", ""), shown.get("document_text", ""))


def check_precision(loop: Loop) -> None:
    """precision.json says of each rule, and of each band of ranks, what the verdicts say."""
    told, frame = loop.folder.json("precision.json"), loop.folder.json("frame.json")
    sizes = {(row["origin"], row["group"]): row["size"] for row in frame["populations"]}
    judged: dict[tuple[str, str], list[int | None]] = {}
    for name, found in outcomes(loop).items():
        item = loop.candidates[name]
        bands = ((3, "rank 1-3"), (10, "rank 4-10"), (20, "rank 11-20"))
        band = next((title for last, title in bands if item.rank <= last), "")
        group = item.rule if item.origin == "positive" else band
        judged.setdefault((item.origin, group), []).append(found.grade)
    rules = {row["rule"]: row for row in told["precision"]}
    assert rules.keys() == {group for origin, group in sizes if origin == "positive"}
    for rule, row in rules.items():
        grades = judged["positive", rule]
        known = [grade > 0 for grade in grades if grade is not None]
        assert row["value"] == pytest.approx(sum(known) / len(known), abs=1e-4)
        counts = len(known), len(grades) - len(known), sizes["positive", rule]
        assert (row["reviewed"], row["unclear"], row["population"]) == counts
        assert row["low"] <= row["value"] <= row["high"]
    pool = {group: size for (origin, group), size in sizes.items() if origin == "pool"}
    missed = 0.0
    for group, size in pool.items():
        known = [grade > 0 for grade in judged["pool", group] if grade is not None]
        missed += size * sum(known) / len(known)
    assert told["missed"]["rate"] == pytest.approx(missed / sum(pool.values()), abs=1e-4)
    assert told["missed"]["population"] == sum(pool.values())
    assert told["missed"]["found_share"] == pytest.approx(
        frame["positives"] / (frame["positives"] + missed), abs=1e-3
    )


def check_audit(loop: Loop) -> None:
    """Nothing that a review adds breaks a rule of the audit, but that readers grade near copies unlike."""
    directory = loop.workspace.releases / "reviewed/2.0.0" / TASK
    report = audit(directory, query(), plant=False)
    failed = {item.rule: item.note for item in report.rules if item.status == "failed"}
    judged = {pair for pair, _ in pairs(directory / "qrels")}
    for found in (item for rule in report.rules for item in rule.findings if item.rule == NEAR_DOCUMENTS):
        one, other, asking = (part.id for part in found.sides)
        assert {(asking, one), (asking, other)} <= judged
        failed.pop(NEAR_DOCUMENTS, None)
    if failed:
        before = audit(loop.workspace.releases / "reviewed/1.0.0" / TASK, query(), plant=False)
        assert failed.keys() <= {item.rule for item in before.rules if item.status == "failed"}, failed
    done = {item.rule: item.status for item in report.rules}
    assert done["review_labels"] == done["self_match"] == "passed"


def second_release(loop: Loop) -> None:
    """The review goes on after its labels were released: nothing is asked twice, three answers change."""
    published = loop.workspace.releases / "reviewed/2.0.0" / TASK
    people = (*(Person(name) for name in CONFUSION), Person(ADJUDICATOR, adjudicates=True))
    made = prepare(published, loop.workspace, Options(3, people=people, ocr=False))
    assert made.new == 0 and {item.id for item in made.folder.candidates()} == set(loop.candidates)
    for row in push(loop.folder, loop.target(loop.client())):
        assert not any(row[what] for what in ("create", "refresh", "supersede", "withdraw", "duplicates")), (
            row
        )

    before = labels(published)
    settled = {
        item.id: (item.query_id, item.corpus_id)
        for item in loop.candidates.values()
        if item.origin == "positive"
        and loop.given[item.id] == {"A1": 2, "A2": 2, "A3": 2}
        and before.get((item.query_id, item.corpus_id)) == (2, "expert")
    }
    corrected, reported, lost, elsewhere = sorted(settled)[:4]
    server = loop.start()
    people_by_name = {name: loop.person(server, name) for name in CONFUSION}
    people_by_name["A1"].correct(corrected, 0, "")
    people_by_name["A2"].correct(reported, None, "privacy")
    people_by_name["A3"].correct(lost, None, "text_incomplete")
    people_by_name["A3"].answer_in(people_by_name["A2"], elsewhere, 0)
    found = {row["annotator"]: row for row in pull(loop.folder, loop.client(), loop.accounts())}
    assert {name: found[name]["conflicts"] for name in CONFUSION} == {"A1": 1, "A2": 1, "A3": 1}
    [strange] = found["A2"]["aside"]
    assert (strange["candidate_id"], strange["given_by"], strange["after_owner"]) == (elsewhere, "A3", True)
    root = str(loop.workspace.root)
    with pytest.raises(UsageError, match="A3 has answered this pair already"):
        decide(root, strange["answer"], "assigned", "Ada M.", "the wrong tab")
    decide(root, strange["answer"], "ask_again", "Ada M.", "A3 answered it in the own project")
    assert not any(item["standing"] for item in foreign(root, f"reviewed/{TASK}"))
    assert [item.candidate.id for item in of_folder(loop.folder)] == [reported], "told before it is accepted"
    pull(loop.folder, loop.client(), loop.accounts(), accept=True)

    disputed = adjudicate(loop.folder)["disputed"]
    assert {row["candidate_id"] for row in disputed} == {corrected, reported, lost}
    log = read_log((loop.folder.path / "log.jsonl").read_text("utf-8"))
    assert {item.candidate_id: item.reason for item in log if item.event == "withdrawn"} == {
        corrected: "distant_grades",
        reported: "cannot_judge",
        lost: "cannot_judge",
    }
    push(loop.folder, loop.target(loop.client()))
    loop.person(server, ADJUDICATOR, "adjudicator").submit(
        {corrected: (1, ""), reported: (2, ""), lost: (None, "text_incomplete")}
    )
    pull(loop.folder, loop.client(), loop.accounts())
    assert adjudicate(loop.folder)["disputed"] == []

    after = loop.release("4.0.0", derives=False)
    now, item = labels(after), loop.candidates[reported]
    assert now[settled[corrected]] == (1, "adjudicated")
    why = {pair: row["reason"] for pair, row in pairs(after / "excluded")}
    assert settled[lost] not in now
    assert now[settled[elsewhere]] == (2, "expert"), (
        "what was answered in the wrong project counts for nobody"
    )
    assert settled[lost][0] not in {query for query, _ in now} or why[settled[lost]] == "cannot_judge"
    names = {
        row["id"]
        for table in ("queries", "corpus")
        for row in pq.read_table(after / table, columns=["id"]).to_pylist()
    }
    assert not {item.query_id, item.corpus_id} & names, "whoever is named is on one of the sides"
    asked, changed = {query for query, _ in now}, {settled[corrected], settled[lost]}
    expected = {
        pair: label
        for pair, label in before.items()
        if pair[0] in asked and pair[1] != item.corpus_id and pair not in changed
    }
    assert expected.items() <= now.items()


def pairs(folder: Path) -> list[tuple[Pair, dict[str, Any]]]:
    rows = pq.read_table(folder).to_pylist()
    return [((row["query-id"], row["corpus-id"]), row) for row in rows]


def labels(release: Path) -> dict[Pair, tuple[int, str]]:
    return {pair: (row["score"], row["label_status"]) for pair, row in pairs(release / "qrels")}
