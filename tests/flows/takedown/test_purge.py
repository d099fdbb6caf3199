"""A purge: what it lists and deletes here and on the Hub, what it waits for, and that a killed one ends."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from flows.adapters.cache import AnswerCache
from flows.adapters.hub import Hub
from flows.adapters.llm_runner import key_of, store_name
from flows.cli.app import run_cli
from flows.crawl.locators import read_ids
from flows.engine.published import note
from flows.engine.runner import table_files
from flows.engine.workspace import Workspace, open_workspace
from flows.release.rebuild import NotRebuildable, rebuild
from flows.release.recorded import keep, read_record, record_folder
from flows.review.store import review_folder
from flows.specs import DATA_CARDS, read_dataset
from flows.takedown import purge as purging
from flows.takedown.purge import describe, purge, read_purged
from schemas.errors import ReleaseError, UsageError, WorkspaceError
from schemas.hashing import sha256_file
from schemas.prompt import Prompt, PromptPart
from schemas.record import to_table
from sources.sample import ids_path
from tests.flows.publish.hub_client import client, publisher, serving
from tests.flows.publish.hub_server import ORGANIZATION, HubServer
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
    """A workspace with two crawled articles, and a folder that releases go to beside the Hub."""

    workspace: Workspace
    shelf: Path
    articles: tuple[str, str]
    texts: tuple[str, str]
    """A passage of each."""

    @property
    def root(self) -> str:
        return str(self.workspace.root)

    @property
    def words(self) -> bytes:
        """Words of the first article."""
        return self.texts[0][:40].encode()

    def directory(self, version: str) -> Path:
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
        publisher([self.directory(version)]).publish()
        shutil.copytree(self.directory(version), self.shelf / DATASET / version / TASK)
        for to in (DESTINATION, str(self.shelf)):
            note(self.workspace, DATASET, version, to, {})

    def purge(self, **options: Any) -> dict[str, Any]:
        return purge(self.articles[0], "privacy", notice="A patient", workspace=self.root, **options)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two articles, extracted; an answer and an item under review for each; read-only."""
    folder = tmp_path_factory.mktemp("purge")
    workspace = open_workspace(folder / "ws", create=True)
    crawl_bucket(workspace, read_ids(ids_path())[:2], shard_size=1)
    run_stages(workspace, ground=False, tasks=())
    shutil.copytree(DATA_CARDS / "medqrels-sample", folder / "cards")
    (folder / "cards/spec.toml").write_text(SPEC, "utf-8")
    return folder


@pytest.fixture
def world(made: Path, tmp_path: Path) -> World:
    copy = Path(shutil.copytree(made, tmp_path / "purge"))
    workspace = Workspace(copy / "ws")
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
    return World(workspace, tmp_path / "shelf", (first, second), (texts[0], texts[1]))


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    monkeypatch.setattr(purging, "hub_of", lambda settings: client())
    with serving(monkeypatch) as running:
        yield running


def prompt(number: int, text: str) -> Prompt:
    parts = (PromptPart(kind="text", value=f"Passage: {text}"),)
    return Prompt(
        id=f"prompt:{number}", subject=f"pair {number}", task=TASK, kind="judge@1", form="single",
        system="Judge.", parts=parts, answer_schema="{}", max_tokens=9,
    )  # fmt: skip


def stored(root: Path) -> list[bytes]:
    """Bytes of all stores of answers, and what they hold."""
    return [path.read_bytes() for path in sorted(root.rglob("*.sqlite*")) if path.parent.name == "answers"]


def holding(root: Path, words: bytes) -> list[str]:
    """Files with these words in them, in the open or in a cell of a table."""
    found = []
    for path in sorted(root.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            if path.suffix == ".parquet":
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


def run_again(world: World, version: str = "1.0.1") -> None:
    """What `medqrels run` does: stages without the article, and the next release."""
    run_stages(world.workspace, ground=False, tasks=())
    world.release(version, (1,))


def test_an_article_is_deleted_for_good_and_every_place_is_asked(world: World, hub: HubServer) -> None:
    workspace, id = world.workspace, world.articles[0]
    world.release("1.0.0", (0, 1))
    world.publish("1.0.0")
    raw = workspace.raw / "pmc" / id.removeprefix("pmc:")
    old = hub.repositories[REPOSITORY].head
    places = {name.split("/")[0] for name in holding(workspace.root, world.words)}
    assert places == {"raw", "work", "releases", "answers", "review", "recorded"} and raw.is_dir()

    before = bytes_of(workspace.root)
    planned = world.purge(dry_run=True)
    assert bytes_of(workspace.root) == before and planned["answers"] == 1
    assert planned["releases"] == [f"{DATASET}@1.0.0"]
    assert planned["published"] == {to: [f"{DATASET}@1.0.0"] for to in (str(world.shelf), DESTINATION)}
    assert planned["raw"] == [f"pmc/{raw.name}/{path.name}" for path in sorted(raw.iterdir())] != []
    assert {"q0", "d0"} <= {row["id"] for row in planned["withdrawn"]}
    told = describe(planned)
    assert told.startswith(f"would delete for good: {id}") and f"raw/pmc/{raw.name}/" in told

    first = world.purge()
    assert not first["is_done"] and first["waiting"] == [RUN]
    assert {name.split("/")[0] for name in holding(workspace.root, world.words)} == {"releases"}
    assert not raw.exists() and hub.repositories[REPOSITORY].head == old
    run_again(world)
    waits = world.purge()
    assert waits["waiting"] == [f"medqrels publish {DATASET}@1.0.1 --to {DESTINATION}"]
    world.publish("1.0.1")
    (listed,) = world.purge(dry_run=True)["hub"]
    assert listed["is_current"] and old.oid in listed["commits"] and listed["tags"] == ["1.0.0", "1.0.1"]

    killed_everywhere(world)
    done = world.purge()
    assert done["is_done"] and not done["waiting"] and not done["served"], describe(done)
    nothing_left(world, hub, old.oid)

    stands, changes = bytes_of(workspace.root), hub_changes(hub)
    assert world.purge()["is_done"] and bytes_of(workspace.root) == stands and hub_changes(hub) == changes
    assert publisher([world.directory("1.0.1")]).publish()[1] is False
    for version in ("1.0.0", "1.0.1"):
        with pytest.raises(NotRebuildable, match="not_rebuildable: purged: privacy"):
            rebuild(f"{DATASET}@{version}", world.root)


def hub_changes(hub: HubServer) -> list[int]:
    return [hub.count(name) for name in ("squash", "lfs-delete", "tag", "tag-delete", "commit")]


def killed_everywhere(world: World) -> None:
    """Ended after each change of the Hub and of the workspace, the same command goes on."""
    steps: list[tuple[Any, str]] = [
        (purging, "add_to_register"), (purging, "settle"), (purging, "scrub"), (purging, "scrub_records"),
        (purging, "delete_raw"), (purging, "delete_version"), (Hub, "delete_tag"), (Hub, "squash_history"),
        (Hub, "delete_large_files"), (Hub, "create_tag"), (purging, "delete_release"),
    ]  # fmt: skip
    for owner, name in steps:
        whole = getattr(owner, name)

        def ended(*given: Any, work: Any = whole, **named: Any) -> None:
            work(*given, **named)
            raise KeyboardInterrupt

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(owner, name, ended)
            with pytest.raises(KeyboardInterrupt):
                world.purge()
        (entry,) = read_purged(world.workspace)
        assert not entry.is_done and entry.releases == [f"{DATASET}@1.0.0"]


def nothing_left(world: World, hub: HubServer, old: str) -> None:
    """The Hub has one commit, one tag and its own large files; no file of ours holds the words."""
    repository = hub.repositories[REPOSITORY]
    assert list(repository.commits) == [repository.head.oid] != [old]
    assert repository.tags == {"1.0.1": repository.head.oid}
    assert set(repository.objects) == {one.sha256 for one in repository.head.tree.values() if one.is_large}
    assert not any(world.words in blob.content for blob in repository.head.tree.values())
    assert not holding(world.workspace.root, world.words) and not holding(world.shelf, world.words)
    assert not world.directory("1.0.0").exists()
    assert all(b"said of 0" not in content for content in stored(world.workspace.root))
    assert any(b"said of 1" in content for content in stored(world.workspace.root))
    shown = {row.query_id: [item.value for item in row.shown] for row in review_of(world)}
    assert shown["q0"] == ["", ""] and shown["q1"][1] == world.texts[1]
    record = record_folder(world.workspace, DATASET, "1.0.1")
    kept = read_record(record)
    assert kept is not None and all(
        sha256_file(record / name) == digest for name, digest in kept.files.items()
    )


def review_of(world: World) -> list[Any]:
    return review_folder(world.workspace, DATASET, TASK).candidates()


def test_what_the_hub_still_serves_is_told_and_nothing_is_called_done(world: World, hub: HubServer) -> None:
    world.release("1.0.0", (0, 1))
    world.publish("1.0.0")
    world.purge()
    run_again(world)
    world.publish("1.0.1")
    repository = hub.repositories[REPOSITORY]
    old, squash = repository.commits[repository.tags["1.0.0"]], repository.squash
    repository.branches["drafts"] = old.oid

    def half(message: str) -> None:
        squash(message)
        repository.commits[old.oid] = old

    repository.squash = half  # type: ignore[method-assign]
    done = world.purge()
    assert not done["is_done"] and f"{REPOSITORY}: branch drafts is there" in done["served"]
    assert f"{REPOSITORY}: commit {old.oid[:12]} is still served" in done["served"]
    assert "still there: " in describe(done)
    del repository.branches["drafts"]
    repository.collect()
    assert world.purge()["is_done"]
    repository.edit(README__md=b"---\n---\nMine\n")
    with pytest.raises(ReleaseError, match="changed on the Hub"):
        world.purge(dry_run=True)


def test_what_cannot_be_purged_and_who_confirms(
    world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = [
        row["id"]
        for path in table_files(world.workspace, "extract.figures")
        for row in pq.read_table(path).to_pylist()
    ]
    with pytest.raises(UsageError, match="only a whole article") as told:
        purge(figures[0], "privacy", workspace=world.root)
    assert figures[0].split("#")[0] in told.value.hint
    with pytest.raises(UsageError, match="nothing is deleted for good because of 'retracted'"):
        purge(world.articles[0], "retracted", workspace=world.root)
    command = ["takedown", world.articles[0], "--reason", "court", "--purge", "--workspace", world.root]
    assert run_cli(command) == 2 and "add --yes" in capsys.readouterr().err

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal("pmc:PMC1.1\n"))
    assert run_cli(command) == 2 and "not confirmed" in capsys.readouterr().err
    assert not read_purged(world.workspace)
    monkeypatch.setattr("sys.stdin", Terminal(f"{world.articles[0]}\n"))
    assert run_cli(command) == 0 and read_purged(world.workspace)[0].is_done
    assert not any(world.workspace.raw.rglob("PMC990000001*"))
    (world.workspace.root / "purged.jsonl").write_text("{}\n", "utf-8")
    with pytest.raises(WorkspaceError, match="what was purged is damaged"):
        read_purged(world.workspace)
