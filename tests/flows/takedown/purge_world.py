"""A workspace with two crawled articles, one of which is to be purged, and places it is published to."""

from __future__ import annotations

import io
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from curation.extract.stage import EXTRACT
from curation.published.manifest import read_manifest
from flows.adapters.cache import AnswerCache
from flows.adapters.llm_runner import key_of, store_name
from flows.adapters.places import open_place
from flows.cluster.sending import Sending
from flows.cluster.store import ShardStore, note_store
from flows.crawl.locators import read_ids
from flows.engine.manifest import read_manifest as read_shard
from flows.engine.progress import SilentReporter
from flows.engine.published import note
from flows.engine.runner import Resource, plan, table_files
from flows.engine.workspace import Workspace, open_workspace
from flows.publish.place import PlacePublisher
from flows.publish.ready import TaskRelease
from flows.release.recorded import keep
from flows.review.store import review_folder
from flows.specs import DATA_CARDS, read_dataset
from flows.takedown.purge import purge
from schemas.hashing import sha256_file
from schemas.prompt import Prompt, PromptPart
from schemas.record import to_table
from sources.sample import ids_path
from sources.stage import PARSE
from tests.flows.publish.hub_client import publisher
from tests.flows.publish.hub_server import ORGANIZATION
from tests.flows.review.small_review import candidate
from tests.pipeline import crawl_bucket, run_stages
from tests.releases import manifest, seal, write

DATASET, TASK = "small", "visual_context"
DESTINATION = f"hf:{ORGANIZATION}"
REPOSITORY = f"{ORGANIZATION}/{DATASET}-{TASK}"
SPEC = f'name = "{DATASET}"\ntitle = "Small"\nlicence_profile = "open"\n[tasks.{TASK}]\n'
RUN = f"medqrels run --spec data_cards/{DATASET}/spec.toml"


@dataclass(frozen=True)
class World:
    """The workspace, and places (folders, S3) that releases go to beside the Hub."""

    workspace: Workspace
    shelves: tuple[str, ...]
    stores: tuple[str, ...]
    """Places that machines share shards in."""
    articles: tuple[str, str]
    texts: tuple[str, str]
    """A passage of each."""

    @property
    def root(self) -> str:
        """Folder of the workspace."""
        return str(self.workspace.root)

    @property
    def words(self) -> bytes:
        """Words of the first article."""
        return self.texts[0][:40].encode()

    def directory(self, version: str) -> Path:
        """Task folder of a release."""
        return self.workspace.releases / DATASET / version / TASK

    def release(self, version: str, numbers: tuple[int, ...]) -> None:
        """A release of some of the articles, with what it was made from."""
        directory = write(self.directory(version), self.tables(numbers))
        (directory / "README.md").write_text(
            f"---\nlicense: cc-by-4.0\n---\n{self.texts[numbers[0]]}\n", "utf-8"
        )
        seal(directory, manifest(dataset=DATASET, task=TASK, version=version))
        keep(self.workspace, read_dataset(self.workspace.root.parent / "cards/spec.toml"), version)

    def tables(self, numbers: tuple[int, ...]) -> dict[str, list[dict[str, Any]]]:
        """A query and a document of each article."""
        rights = {"language": "en", "license": "CC-BY-4.0", "is_synthetic": True}
        of = [(number, self.articles[number]) for number in numbers]
        return {
            "queries": [{"id": f"q{n}", "text": f"Figure {n} of {id}", **rights} for n, id in of],
            "corpus": [{"id": f"d{n}", "title": "", "text": self.texts[n], **rights} for n, _ in of],
            "qrels": [{"query-id": f"q{n}", "corpus-id": f"d{n}", "score": 2} for n, _ in of],
            "provenance_queries": [
                {"id": f"q{n}", "source_id": f"{id}#f", "article_id": id, "split": "test"} for n, id in of
            ],
            "provenance_corpus": [{"id": f"d{n}", "article_id": id} for n, id in of],
            "provenance_qrels": [{"query-id": f"q{n}", "corpus-id": f"d{n}", "evidence": []} for n, _ in of],
        }

    def publish(self, version: str) -> None:
        """As the command does, without the audit, which these do not pass."""
        directory = self.directory(version)
        publisher([directory]).publish()
        task = TaskRelease(directory, read_manifest(directory))
        for shelf in self.shelves:
            place = open_place(shelf, attempts=3, timeout_seconds=10.0)
            PlacePublisher(place, [task], reporter=SilentReporter()).publish()
        for to in (DESTINATION, *self.shelves):
            note(self.workspace, DATASET, version, to, {})

    def purge(self, **options: Any) -> dict[str, Any]:
        """Purge the first article."""
        return purge(self.articles[0], "privacy", notice="A patient", workspace=self.root, **options)

    def run_again(self, version: str = "1.0.1") -> None:
        """What `medqrels run` does: stages without the article, and the next release."""
        run_stages(self.workspace, ground=False, tasks=())
        self.release(version, (1,))


def make(folder: Path) -> Path:
    """Two articles, crawled and extracted, and the cards of their dataset."""
    workspace = open_workspace(folder / "ws", create=True)
    crawl_bucket(workspace, read_ids(ids_path())[:2], shard_size=1)
    run_stages(workspace, ground=False, tasks=())
    shutil.copytree(DATA_CARDS / "medqrels-sample", folder / "cards")
    (folder / "cards/spec.toml").write_text(SPEC, "utf-8")
    return folder


def brought(workspace: Workspace, address: str) -> None:
    """Bring the workspace to a store as a run on several machines does, with all that they made."""
    note_store(workspace, address)
    store = ShardStore(open_place(address, attempts=3, timeout_seconds=10.0))
    store.begin()
    sending = Sending(workspace, store)
    for stage, resources in ((PARSE, {"raw": Resource(workspace.raw)}), (EXTRACT, {})):
        jobs = plan(workspace, stage, resources=resources)
        sending.orders(jobs)
        for job in jobs:
            manifest = read_shard(job.folder)
            assert manifest is not None
            for output in manifest.outputs.values():
                store.send(job.shard, job.folder / output.file, output.sha256)
            store.seal(manifest)
            store.point(manifest, "")


def opened(folder: Path, shelves: Sequence[str], stores: Sequence[str] = ()) -> World:
    """The same, brought to stores, with an answer of a model and an item under review for each article."""
    workspace = Workspace(folder / "ws")
    for address in stores:
        brought(workspace, address)
    rows = [
        row for path in table_files(workspace, "extract.passages") for row in pq.read_table(path).to_pylist()
    ]
    first, second = sorted({row["article_id"] for row in rows})
    texts = [max((r["text"] for r in rows if r["article_id"] == id), key=len) for id in (first, second)]
    prompts = [prompt(number, text) for number, text in enumerate(texts)]
    table = workspace.work / "summary_judge/all/prompts.parquet"
    table.parent.mkdir(parents=True)
    pq.write_table(to_table(Prompt, prompts), table)
    with AnswerCache(workspace.answers, store_name("a-model")) as store:
        store.put({key_of(one): f"said of {n}: {texts[n]}".encode() for n, one in enumerate(prompts)})
    review_folder(workspace, DATASET, TASK).write_candidates(candidate(DATASET, n, texts[n]) for n in (0, 1))
    return World(workspace, tuple(shelves), tuple(stores), (first, second), (texts[0], texts[1]))


def prompt(number: int, text: str) -> Prompt:
    """A question that shows a passage."""
    parts = (PromptPart(kind="text", value=f"Passage: {text}"),)
    return Prompt(
        id=f"prompt:{number}", subject=f"pair {number}", task=TASK, kind="judge@1", form="single",
        system="Judge.", parts=parts, answer_schema="{}", max_tokens=9,
    )  # fmt: skip


def holding(root: Path, words: bytes) -> list[str]:
    """Files with these words in them, in the open or in a cell of a table."""
    found = []
    for path in sorted(root.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            if content[:4] == b"PAR1":
                content = str(pq.read_table(io.BytesIO(content)).to_pylist()).encode()
            found += [path.relative_to(root).as_posix()] if words in content else []
    return found


def bytes_of(root: Path) -> dict[str, str]:
    """Hashes of all files but the lock and the ledger, whose file changes when it is closed."""
    files = (path for path in sorted(root.rglob("*")) if path.is_file() and path.name != ".lock")
    return {
        path.relative_to(root).as_posix(): sha256_file(path)
        for path in files
        if not path.name.startswith("ledger.sqlite")
    }
