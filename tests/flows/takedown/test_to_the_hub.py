"""From a sweep to the Hub: a retracted article leaves everything; a label changed by review is major."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from annotation.assignment import Person, numbered
from annotation.sync.diff import diff
from annotation.sync.tasks import HeldTask, wanted_task
from annotation.verdicts import Terms
from flows.engine.progress import SilentReporter
from flows.engine.register import REGISTER, read_register
from flows.inspect.audit import auditor, write
from flows.publish.ready import check_ready
from flows.release.export import export_all, places
from flows.review.candidates import Options, prepare
from flows.review.store import ReviewFolder, review_folder
from flows.review.verdicts import settle
from flows.takedown.sweep import Sweeper
from flows.takedown.takedown import describe, takedown
from schemas.errors import ReleaseError, WorkspaceError
from schemas.review import ReviewAnnotation, annotation_id
from sources import pmc
from sources.europepmc.api import EuropePmcContext
from sources.http import ClientSettings, PoliteClient
from sources.ledger import Ledger
from sources.sample import bucket_dir
from sources.sample.server import BucketServer
from sources.store import RawStore
from tests.fewer import plant_fewer
from tests.flows.publish.hub_client import publisher, serving
from tests.flows.publish.hub_server import ORGANIZATION, HubServer
from tests.flows.release.test_release import DATASET, SPEC, Maintainer
from tests.flows.takedown.test_takedown import TASK
from tests.pipeline import run_stages
from tests.releases import card_text
from tests.sources.fakes.europepmc import FakeEuropePmc

FORMATS = ("beir", "trec", "mteb", "mbeir", "webdataset")
REPOSITORY = f"{ORGANIZATION}/{DATASET}-{TASK}"
CREW = (*numbered(2), Person("B1", adjudicates=True))


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    plant_fewer(monkeypatch)
    with serving(monkeypatch) as running:
        yield running


@dataclass(frozen=True)
class Article:
    """One article of a release, and words that only it has."""

    id: str
    pmcid: str
    own: list[str]
    sentence: str


def cells(directory: Path) -> set[str]:
    """Every text of every column of a release's tables, the tombstones and drops apart."""
    found: set[str] = set()
    for path in directory.rglob("*.parquet"):
        if path.parent.name not in ("withdrawn", "drops"):
            found.add(str(pq.read_table(path).drop_columns(["image"]).to_pylist())) if "image" in (
                pq.read_schema(path).names
            ) else found.add(str(pq.read_table(path).to_pylist()))
    return found


def article_of(maintainer: Maintainer) -> Article:
    """An article that a query, documents and items under review rest on."""
    folder = maintainer.directory("1.0.0")
    rows = pq.read_table(folder / "provenance/queries").to_pylist()
    documents = pq.read_table(folder / "provenance/corpus").to_pylist()
    texts = {row["id"]: row["text"] for row in pq.read_table(folder / "corpus").to_pylist()}
    listed = pq.read_table(folder / "provenance/sources").to_pylist()
    by = {row["id"]: row["pmcid"] for row in listed if row["license"] == "CC-BY-4.0" and row["pmcid"]}
    id = next(row["article_id"] for row in rows if row["article_id"] in by)
    mine = [row["id"] for row in documents if row["article_id"] == id]
    own = [row["id"] for row in rows if row["article_id"] == id] + mine
    return Article(id, by[id], own, max((texts[name] for name in mine), key=len))


def retract(root: Path, pmcid: str) -> Path:
    """The metadata of a bucket in which PMC marks an article as retracted; lies over the sample's."""
    (found,) = (bucket_dir() / "metadata").glob(f"{pmcid}.*.json")
    changed = json.dumps({**json.loads(found.read_text("utf-8")), "is_retracted": True})
    for folder in ("metadata", found.stem):
        (root / folder).mkdir(parents=True)
        (root / folder / found.name).write_text(changed, "utf-8")
    return root


def swept(maintainer: Maintainer, changed: Path) -> Mapping[str, Any]:
    client = PoliteClient(ClientSettings(("127.0.0.1",), "test@example.org", requests_per_second=1e6))
    workspace = maintainer.workspace
    with (
        FakeEuropePmc(records=[]) as europepmc,
        BucketServer([changed, bucket_dir()]) as server,
        Ledger(workspace.ledger) as ledger,
        client,
    ):
        store = RawStore(workspace.raw, ledger)
        bucket = pmc.PmcContext(client, store, endpoint=server.endpoint)
        notices = EuropePmcContext(client, store, endpoint=europepmc.endpoint, pause=lambda seconds: None)
        return Sweeper(workspace, bucket, notices, "flag", SilentReporter(), 4).sweep().shown()


def audited(directory: Path) -> None:
    """Audit as the command does; nothing but that the sample is invented stands against publishing."""
    with auditor() as work:
        made = work.audit(directory)
    failed = [row.rule for row in made.report.rules if row.status == "failed" and row.severity == "error"]
    assert failed == []
    assert all(row.is_found is not False for row in made.report.canaries)
    write(made, directory)
    with pytest.raises(ReleaseError, match="is not publishable") as refused:
        check_ready([directory])
    assert "synthetic" in refused.value.message or "invented" in refused.value.message


def publish(maintainer: Maintainer, version: str) -> None:
    directory = maintainer.directory(version)
    plans, sent = publisher([directory]).publish()
    assert sent and all(plan.is_tagged for plan in plans)


def asked(folder: ReviewFolder) -> set[str]:
    return {row.candidate_id for row in folder.allotments()}


def everything(root: Path) -> bytes:
    """All bytes of an export."""
    return b"\n".join(path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file())


def answers(folder: ReviewFolder, grade: int) -> list[ReviewAnnotation]:
    """Both readers give every item the same grade."""
    return [
        ReviewAnnotation(
            id=annotation_id(row.candidate_id, row.annotator, row.role, grade, ""),
            candidate_id=row.candidate_id,
            task=TASK,
            annotator=row.annotator,
            role=row.role,
            grade=grade,
            sequence=row.place,
        )
        for row in folder.allotments()
    ]


def test_a_retraction_reaches_the_hub_and_a_changed_label_is_major(
    tmp_path: Path, sample: Any, loads_in_one_process: None, hub: HubServer
) -> None:
    maintainer = Maintainer(tmp_path, sample)
    spec = SPEC.replace("systems = []", 'systems = ["bm25"]')
    (maintainer.cards / "spec.toml").write_text(spec, "utf-8")
    assert maintainer.release().version == "1.0.0"
    publish(maintainer, "1.0.0")
    article = article_of(maintainer)
    prepare(maintainer.directory("1.0.0"), maintainer.workspace, Options(people=CREW, ocr=False))
    folder = review_folder(maintainer.workspace, DATASET, TASK)
    shown = {row.id for row in folder.candidates() if {row.query_id, row.corpus_id} & set(article.own)}
    before = asked(folder)
    assert shown & before and before - shown

    root = maintainer.workspace.root
    planned = takedown(article.id, "retracted", dry_run=True, workspace=str(root))
    assert not (root / REGISTER).exists()
    assert set(article.own) <= {row["id"] for row in planned["withdrawn"]}
    assert set(article.own) <= set(planned["releases"][f"{DATASET}/1.0.0/{TASK}"])
    assert set(planned["review"][f"{DATASET}/{TASK}"]) == shown
    done = swept(maintainer, retract(tmp_path / "bucket", article.pmcid))
    assert done["withdrawn"] == [article.id] and not done["unanswered"]
    register = (root / REGISTER).read_bytes()
    assert {row.id for row in read_register(maintainer.workspace)} == {r["id"] for r in planned["withdrawn"]}
    again = takedown(article.pmcid, "court", workspace=str(root))
    assert (again["added"], again["shards"]) == (0, []) and "withdrawn before" in describe(again)
    assert (root / REGISTER).read_bytes() == register
    with pytest.raises(WorkspaceError, match="out of date"):
        maintainer.release()
    run_stages(maintainer.workspace, tasks=[TASK])
    assert maintainer.release("1.0.1").why.startswith("patch since 1.0.0")
    audited(maintainer.directory("1.0.1"))
    publish(maintainer, "1.0.1")
    gone_from(maintainer.directory("1.0.1"), article, tmp_path / "out")
    on_the_hub(hub, article)

    prepare(maintainer.directory("1.0.1"), maintainer.workspace, Options(people=CREW, ocr=False))
    left = asked(folder)
    assert not left & shown and before - shown <= left
    withdrawn_on_the_server(before, left, shown)

    folder.write_annotations(answers(folder, 1))
    assert settle(folder, Terms(), CREW).verdicts
    with pytest.raises(
        ReleaseError, match=r"1\.0\.2 says too little, 2\.0\.0 is demanded: major since 1\.0\.1"
    ):
        maintainer.release("1.0.2")


def gone_from(directory: Path, article: Article, out: Path) -> None:
    """No table, run, pool, image or export holds it; the changelog, the list and the card say why."""
    texts = cells(directory)
    assert not any(name in text for text in texts for name in (article.id, article.sentence, *article.own))
    changelog = (directory / "CHANGELOG.md").read_text("utf-8")
    assert all(f"`{name}` (withdrawn)" in changelog for name in article.own)
    assert f"| article | `{article.id}` | retracted | " in card_text(directory)
    for form in FORMATS:
        export_all(places([directory], out / form), form, SilentReporter())
        content = everything(out / form)
        assert article.sentence.encode() not in content
        assert not any(name.encode() in content for name in article.own)


def on_the_hub(hub: HubServer, article: Article) -> None:
    """Main and the new tag hold the new version and name it; the old tag stays as it was."""
    repository = hub.repositories[REPOSITORY]
    old, new = (repository.at(name) for name in ("1.0.0", "1.0.1"))
    assert old is not None and new is not None and new == repository.head and old != new
    assert set(repository.tags) == {"1.0.0", "1.0.1"}
    said = json.loads(new.tree["withdrawn.json"].content)["withdrawn"]
    assert (article.id, "retracted") in {(row["id"], row["reason"]) for row in said}
    assert "withdrawn.json" not in old.tree
    pages = b"".join(blob.content for name, blob in new.tree.items() if name.endswith(".md"))
    assert article.id.encode() in pages


def withdrawn_on_the_server(before: set[str], left: set[str], shown: set[str]) -> None:
    """What the next push does to a project that holds all of it, one item answered."""
    answered = min(shown & before)
    held = [
        HeldTask(at, name, "", is_edited=False, answers=int(name == answered), has_draft=False)
        for at, name in enumerate(sorted(before), 1)
    ]
    wanted = [wanted_task(name, ("", name), {}) for name in sorted(left)]
    plan = diff(wanted, held, {})
    assert set(plan.withdrawn) == shown & before
    deleted = {task.candidate_id for task in held if task.id in plan.delete}
    assert deleted == (shown & before) - {answered}
