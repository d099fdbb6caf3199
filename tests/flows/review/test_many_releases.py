"""Ten releases of a changing world, reviewed all the while: no verdict goes without a reason given."""

from __future__ import annotations

import gzip
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from annotation.adjudication import DISPUTES
from annotation.assignment import Person, numbered
from annotation.candidates import ENDINGS
from annotation.sync.answers import Reader, ServerAnswer, TaskAnswers, merge
from annotation.verdicts import WITHDRAWN, Terms
from curation.audit.copies import copies
from curation.evaluation.runs import SUFFIX
from curation.release.reviewed import Copied, JudgedAnswer, RuleUnderFloor, reviewed_stage
from flows.engine.database import run_set_stage
from flows.engine.manifest import DROPPED, write_parquet
from flows.engine.workspace import Workspace
from flows.review.candidates import Options, Prepared, prepare
from flows.review.notes import people_of
from flows.review.reports import lift, of_folder, reported_in
from flows.review.store import ENDED, FRAME, ReviewFolder, review_folder
from flows.review.verdicts import settle
from schemas.benchmark import Document, Excluded, Qrel, Query
from schemas.record import to_table
from schemas.review import Verdict
from tests.releases import manifest, write

TASK, DATASET = "visual_context", "many"
RULE = f"{TASK}/cites-xref@1"
QUERIES, PER_QUERY = 8, 4
CREW = (*numbered(3), Person("B1", adjudicates=True))
Labels = dict[tuple[str, str], tuple[int | None, str]]


@dataclass(frozen=True)
class Given:
    """What an annotator submitted, as a layout reads it."""

    grade: int | None
    reason: str = ""
    comment: str = ""


@dataclass
class World:
    """Articles that come, change and go; a review of what is released of them; the server as it is seen."""

    workspace: Workspace
    draw: random.Random
    is_there: dict[str, bool] = field(default_factory=dict)
    edition: dict[str, int] = field(default_factory=dict)
    barred: set[tuple[str, str]] = field(default_factory=set)
    versions: int = 0
    server: dict[tuple[str, str], dict[str, list[ServerAnswer]]] = field(default_factory=dict)
    answers: int = 0
    changed: set[str] = field(default_factory=set)
    """Candidates of which somebody changed or deleted an answer, or that somebody adjudicated."""

    def __post_init__(self) -> None:
        queries = [f"q{number}" for number in range(QUERIES)]
        self.is_there = {name: True for name in (*queries, *(d for q in queries for d in documents(q)))}
        self.edition = dict.fromkeys(self.is_there, 0)

    @property
    def folder(self) -> ReviewFolder:
        return review_folder(self.workspace, DATASET, TASK)

    def text(self, name: str) -> str:
        return f"{name}, edition {self.edition[name]}: axial view of the chest."

    def history(self) -> None:
        """Between two releases texts change (and change back), articles go and come, pairs are excluded."""
        for name in self.is_there:
            chance = self.draw.random()
            if chance < 0.06:
                self.edition[name] = 1 - self.edition[name]
            elif chance < 0.16:
                self.is_there[name] = not self.is_there[name]
        for query in (name for name in self.is_there if name.startswith("q")):
            pair = (query, self.draw.choice(documents(query)))
            self.barred ^= {pair} if self.draw.random() < 0.15 else set()

    # a release

    def release(self, folder: Path) -> Labels:
        """Build, apply verdicts with the stage of the product, publish; the labels and excluded pairs."""
        self.versions += 1
        hidden = {row.text for row in reported_in(self.workspace, DATASET)}
        here = [
            name for name, is_there in self.is_there.items() if is_there and self.text(name) not in hidden
        ]
        queries = [name for name in here if name.startswith("q")]
        kept = [name for name in here if name.startswith("d")]
        positive = [(q, d) for q in queries for d in documents(q)[:2] if d in kept]
        barred = [pair for pair in positive if pair in self.barred]
        labelled = [pair for pair in positive if pair not in self.barred]
        tables = self.reviewed(folder / str(self.versions), queries, kept, labelled, barred)
        directory = self.workspace.releases / DATASET / f"1.0.{self.versions}" / TASK
        found = [(q, d) for q in queries for d in documents(q)[2:] if d in kept]
        publish(self, directory, tables, kept, found)
        labels: Labels = {
            (row["query_id"], row["corpus_id"]): (row["score"], row["label_status"])
            for row in tables["qrels"]
        }
        excluded: Labels = {
            (row["query_id"], row["corpus_id"]): (None, row["reason"]) for row in tables["excluded"]
        }
        assert not labels.keys() & excluded.keys()
        self.check_labels(labels | excluded, set(queries), set(kept), set(barred))
        return labels | excluded

    def reviewed(
        self,
        folder: Path,
        queries: Sequence[str],
        kept: Sequence[str],
        labelled: Sequence[tuple[str, str]],
        barred: Sequence[tuple[str, str]],
    ) -> dict[str, list[dict[str, Any]]]:
        verdicts = self.folder.verdicts()
        wanted = {row.candidate_id for row in verdicts}
        given: dict[str, tuple[type, list[Any]]] = {
            "given_queries": (Query, [made(Query, n, self.text(n), source_id=n) for n in queries]),
            "documents": (Document, [made(Document, n, self.text(n), title="") for n in kept]),
            "given_qrels": (
                Qrel,
                [
                    Qrel(query_id=q, corpus_id=d, score=2, task=TASK, rule=RULE, label_status="structural")
                    for q, d in labelled
                ],
            ),
            "given_excluded": (
                Excluded,
                [Excluded(query_id=q, corpus_id=d, task=TASK, reason="own_article") for q, d in barred],
            ),
            "verdicts": (Verdict, verdicts),
            "answers": (JudgedAnswer, []),
            "under_floor": (RuleUnderFloor, []),
            "copies": (Copied, copies([c for c in self.folder.candidates() if c.id in wanted])),
        }
        files = {}
        folder.mkdir(parents=True)
        for name, (row, rows) in given.items():
            write_parquet(folder / f"{name}.parquet", to_table(row, rows))
            files[name] = [folder / f"{name}.parquet"]
        staged = folder / "out"
        staged.mkdir()
        run_set_stage(reviewed_stage(TASK), files, staged, memory_limit="256MB")
        names = ("qrels", "excluded", "queries", DROPPED)
        return {name: pq.read_table(staged / f"{name}.parquet").to_pylist() for name in names}

    def check_labels(
        self, labels: Labels, queries: set[str], kept: set[str], barred: set[tuple[str, str]]
    ) -> None:
        """A verdict is the label of its pair wherever the pair stands as it was judged."""
        left = {query for query, _ in labels}
        shown = {item.id: {part.name: part.value for part in item.shown} for item in self.folder.candidates()}
        for row in self.folder.verdicts():
            pair = (row.query_id, row.corpus_id)
            is_whole = row.query_id in queries & left and row.corpus_id in kept and pair not in barred
            texts = shown[row.candidate_id]
            is_same = texts["query_text"] == self.text(row.query_id)
            is_same = is_same and texts["document_text"] == self.text(row.corpus_id)
            if is_whole and is_same:
                expected = (None, "cannot_judge") if row.grade is None else (row.grade, row.label_status)
                assert labels.get(pair) == expected, (pair, row)

    # people

    def push(self, sample: int | None = None) -> Prepared:
        newest = self.workspace.releases / DATASET / f"1.0.{self.versions}" / TASK
        made = prepare(newest, self.workspace, Options(sample=sample, people=CREW, ocr=False))
        asked = {(row.candidate_id, row.annotator, row.role) for row in self.folder.allotments()}
        assert len(asked) == len(self.folder.allotments()), "nobody is asked the same thing twice"
        for who in people_of(self.folder):
            tasks = self.server.setdefault(who, {})
            wanted = {name for name, *person in asked if tuple(person) == who}
            for name in [name for name, given in tasks.items() if name not in wanted and not given]:
                del tasks[name]
            for name in wanted - tasks.keys():
                tasks[name] = []
        return made

    def answer(self) -> None:
        """Some of what is open is answered; some answers are changed, deleted, or report something."""
        for (_, role), tasks in sorted(self.server.items()):
            for name, given in sorted(tasks.items()):
                chance = self.draw.random()
                if not given and chance < 0.6:
                    said: int | str = self.draw.choice((2, 2, 1, 0, 0, "ambiguous"))
                    given.append(self.said("privacy" if chance < 0.01 else said))
                    if role == "adjudicator":
                        self.changed.add(name)
                elif given and chance < 0.03:
                    given[:] = [] if chance < 0.01 else [self.said(self.draw.choice([2, 1, 0]))]
                    self.changed.add(name)

    def said(self, what: int | str) -> ServerAnswer:
        self.answers += 1
        return ServerAnswer(self.answers, 1, [{"said": what}], False, 1.0, f"{self.answers:09}")

    def pull(self, *, accept: bool = False) -> None:
        everything = self.folder.annotations()
        rows = [row for row in everything if (row.annotator, row.role) not in self.server]
        for (name, role), tasks in self.server.items():
            before = [row for row in everything if (row.annotator, row.role) == (name, role)]
            found = [
                TaskAnswers(at, task, False, tuple(given))
                for at, (task, given) in enumerate(tasks.items(), 1)
            ]
            reader = Reader(name, role, TASK, None)  # type: ignore[arg-type]
            rows += merge(before, found, reader, read, is_complete=True, accept=accept).rows
        self.folder.write_annotations(rows)

    def conclude(self) -> None:
        """Verdicts as of today: the only ones that ended are of answers that somebody changed."""
        before = {row.candidate_id: row for row in self.folder.verdicts()}
        done = settle(self.folder, Terms(), CREW)
        now = {row.candidate_id: row for row in done.verdicts}
        for name, old in before.items():
            if name not in now:
                last = [
                    entry for entry in done.log if entry.candidate_id == name and entry.event == "withdrawn"
                ]
                assert last[-1].reason in WITHDRAWN.keys() | DISPUTES.keys()
            assert name in self.changed or now.get(name) == old, (name, old, now.get(name))

    def decide(self) -> None:
        """The maintainer looks at reports, and lifts most."""
        for report in of_folder(self.folder):
            if self.draw.random() < 0.7:
                lift(str(self.workspace.root), report.candidate.id, "M", "no person is named")


def documents(query: str) -> list[str]:
    return [f"d{query[1:]}{number}" for number in range(PER_QUERY)]


def read(_: str, result: Sequence[Mapping[str, Any]]) -> Given:
    said = result[0]["said"]
    return Given(said) if isinstance(said, int) else Given(None, said)


def made(record: Any, name: str, text: str, **more: Any) -> Any:
    rights = {"license": "CC-BY-4.0", "license_evidence": "", "text_sha256": "", "language": "en"}
    return record(id=name, task=TASK, text=text, article_id=f"pmc:PMC{name[1:]}.1", **rights, **more)


def publish(
    world: World,
    directory: Path,
    tables: Mapping[str, Sequence[Mapping[str, Any]]],
    kept: Sequence[str],
    found: Sequence[tuple[str, str]],
) -> None:
    queries = [row["id"] for row in tables["queries"]]
    rights = {"language": "en", "license": "CC-BY-4.0", "is_synthetic": False}

    def pair(row: Mapping[str, Any]) -> dict[str, Any]:
        return {"query-id": row["query_id"], "corpus-id": row["corpus_id"]}

    body = {
        "queries": [{"id": n, "text": world.text(n), "tier": "", "specialty": "", **rights} for n in queries],
        "corpus": [{"id": n, "title": "", "text": world.text(n), **rights} for n in kept],
        "qrels": [
            {**pair(row), **{name: row[name] for name in ("score", "label_status", "rule")}}
            for row in tables["qrels"]
            if row["query_id"] in queries
        ],
        "excluded": [{**pair(row), "reason": row["reason"]} for row in tables["excluded"]],
        "drops": [{**row, "stage": f"{TASK}_reviewed"} for row in tables[DROPPED]],
        "provenance_queries": [
            {"id": n, "split": "test", "source_id": n, "article_id": f"pmc:PMC{n[1:]}.1"} for n in queries
        ],
        "provenance_corpus": [{"id": n, "article_id": f"pmc:PMC{n[1:]}.1", "specialty": ""} for n in kept],
        "sources": [{"id": f"pmc:PMC{n[1:]}.1", "pmcid": f"PMC{n[1:]}"} for n in kept],
    }
    write(directory, body, splits=("test",))
    runs = directory / "runs" / "test"
    runs.mkdir(parents=True)
    lines = [f"{q} Q0 {d} 1 9 bm25\n" for q, d in found if q in queries]
    (runs / f"bm25{SUFFIX}").write_bytes(gzip.compress("".join(lines).encode()))
    head = manifest(
        dataset=DATASET, task=TASK, version=f"1.0.{world.versions}", release_hash=f"{world.versions:064}"
    )
    (directory / "release.json").write_text(head.to_json(), "utf-8")


@pytest.mark.parametrize("seed", [1])
def test_no_verdict_goes_without_a_reason(workspace: Workspace, tmp_path: Path, seed: int) -> None:
    world = World(workspace, random.Random(seed))
    world.release(tmp_path)
    world.push()
    drawn = {(row.query_id, row.corpus_id) for row in world.folder.candidates()}
    for _ in range(9):
        world.history()
        for step in world.draw.choices(
            (world.answer, world.pull, world.conclude, world.push, world.decide), (3, 3, 3, 1, 1), k=8
        ):
            step()
        world.pull(accept=world.draw.random() < 0.5)
        world.conclude()
        first = world.release(tmp_path)
        world.push()
        world.pull()
        world.conclude()
        assert world.release(tmp_path) == first, "nothing was said meanwhile"
        assert {(row.query_id, row.corpus_id) for row in world.folder.candidates()} == drawn
    reasons = world.folder.json(FRAME)[ENDED].values()
    assert set(reasons) <= ENDINGS.keys() and len(world.folder.verdicts()) > len(drawn) // 2


def test_a_review_keeps_its_draw_until_it_is_asked_to_grow(workspace: Workspace, tmp_path: Path) -> None:
    world = World(workspace, random.Random(3))
    late = [name for name in world.is_there if name[1] in "67"]
    world.is_there |= dict.fromkeys(late, False)
    world.release(tmp_path)
    before = world.push()
    frame = world.folder.json(FRAME)
    world.is_there |= dict.fromkeys(late, True)
    world.release(tmp_path)
    same = world.push()
    assert (same.new, same.drawn, before.undrawn) == (0, before.drawn, 0) and same.undrawn > 5
    assert world.folder.json(FRAME) == frame
    assert world.push(sample=before.drawn).new == 0
    grown = world.push(sample=before.drawn + 5)
    assert grown.drawn >= before.drawn + 5 and world.folder.json(FRAME)["release"]["version"] == "1.0.2"
    assert world.push(sample=1000).undrawn == 0
