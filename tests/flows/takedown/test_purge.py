"""A purge: what it lists and deletes here and on the Hub, what it waits for, and that a killed one ends."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from flows.cli.app import run_cli
from flows.crawl.selection import selections
from flows.engine.manifest import MANIFEST, Manifest
from flows.engine.purged import read_purged
from flows.engine.runner import shards_of, table_files
from flows.engine.workspace import Workspace
from flows.inspect.status import status
from flows.release.rebuild import NotRebuildable, rebuild
from flows.release.recorded import read_record, record_folder
from flows.review.store import review_folder
from flows.takedown import purge as purging
from flows.takedown import purge_local
from flows.takedown import takedown as taking_down
from flows.takedown.purge import describe, purge
from schemas.errors import ReleaseError, UsageError, WorkspaceError
from schemas.hashing import sha256_file
from tests.flows.publish.hub_client import client, publisher, serving
from tests.flows.publish.hub_server import HubServer
from tests.flows.takedown.purge_world import (
    DATASET,
    DESTINATION,
    REPOSITORY,
    RUN,
    TASK,
    World,
    bytes_of,
    holding,
    make,
    opened,
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two articles, extracted; read-only."""
    return make(tmp_path_factory.mktemp("purge"))


@pytest.fixture
def world(made: Path, tmp_path: Path) -> World:
    """With an answer and an item under review for each."""
    folder = Path(shutil.copytree(made, tmp_path / "purge"))
    return opened(folder, [str(tmp_path / "shelf")], [str(tmp_path / "store")])


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    monkeypatch.setattr(purging, "hub_of", lambda settings: client())
    with serving(monkeypatch) as running:
        yield running


def stored(root: Path) -> list[bytes]:
    """Bytes of all stores of answers, and what they hold."""
    return [path.read_bytes() for path in sorted(root.rglob("*.sqlite*")) if path.parent.name == "answers"]


def test_an_article_is_deleted_for_good_and_every_place_is_asked(world: World, hub: HubServer) -> None:
    workspace, id = world.workspace, world.articles[0]
    world.release("1.0.0", (0, 1))
    world.publish("1.0.0")
    raw = workspace.raw / "pmc" / id.removeprefix("pmc:")
    old = hub.repositories[REPOSITORY].head
    assert {name.split("/")[2] for name in holding(Path(world.stores[0]), world.words)} == {"raw", "tables"}
    places = {name.split("/")[0] for name in holding(workspace.root, world.words)}
    assert places == {"raw", "work", "releases", "answers", "review", "recorded"} and raw.is_dir()

    before = bytes_of(workspace.root)
    planned = world.purge(dry_run=True)
    assert bytes_of(workspace.root) == before and planned["answers"] == 1
    assert planned["releases"] == [f"{DATASET}@1.0.0"]
    assert planned["published"] == {to: [f"{DATASET}@1.0.0"] for to in (world.shelves[0], DESTINATION)}
    shards = {item.locators: item.shard for item in selections(workspace)}
    gone = shards.pop((id.removeprefix("pmc:").partition(".")[0],))
    assert planned["stores"] == {world.stores[0]: [gone]}
    assert planned["raw"] == [f"pmc/{raw.name}/{path.name}" for path in sorted(raw.iterdir())] != []
    assert {"q0", "d0"} <= {row["id"] for row in planned["withdrawn"]}
    told = describe(planned)
    assert told.startswith(f"would delete for good: {id}") and f"raw/pmc/{raw.name}/" in told

    killed_on_the_way(world)
    first = world.purge()
    crawled = shards_of(workspace, "crawl").values()
    assert sorted(one.units["article"]["kept"] for one in crawled) == [0, 1]
    assert not first["is_done"] and first["waiting"] == [RUN]
    waiting = {"id": id, "reason": first["reason"]}
    assert status(workspace)["purges"] == [{**waiting, "next": "medqrels run --spec SPEC"}]
    assert {name.split("/")[0] for name in holding(workspace.root, world.words)} == {"releases"}
    store = Path(world.stores[0])
    assert [path.name for path in (store / "shards").iterdir()] == [*shards.values()]
    kept = {path.parent.name for path in (store / "shards").rglob("*") if path.is_file()}
    assert kept == {"raw", "tables", "parse", "extract"}
    assert not raw.exists() and hub.repositories[REPOSITORY].head == old
    world.run_again()
    again = f"medqrels takedown {id} --reason {first['reason']} --purge"
    assert status(workspace)["purges"] == [{**waiting, "next": again}] and status(workspace)["next"] == again
    waits = world.purge()
    assert waits["waiting"] == [f"medqrels publish {DATASET}@1.0.1 --to {DESTINATION}"]
    world.publish("1.0.1")
    (listed,) = world.purge(dry_run=True)["hub"]
    assert listed["is_current"] and old.oid in listed["commits"] and listed["tags"] == ["1.0.0", "1.0.1"]

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


def killed_on_the_way(world: World) -> None:
    """Ended where a crawl shard has no manifest, where a shard has lost a table, and where prompts are gone
    that say whose answers are whose: what a SIGKILL leaves there. benchmarks/purge_kills.py kills everywhere.
    """
    whole, remove = purge_local.clear_work, shutil.rmtree

    def without_a_manifest(workspace: Workspace, wanted: Manifest, *given: Any) -> None:
        (workspace.stage("crawl") / wanted.shard / MANIFEST).unlink()
        raise KeyboardInterrupt

    def half_a_shard(path: Any, **given: Any) -> None:
        if (figures := Path(path, "figures.parquet")).is_file():
            figures.unlink()
            raise KeyboardInterrupt
        remove(path, **given)

    def cleared(*given: Any) -> None:
        whole(*given)
        raise KeyboardInterrupt

    steps: tuple[tuple[Any, str, Any], ...] = (
        (taking_down, "publish_shard", without_a_manifest), (shutil, "rmtree", half_a_shard),
        (purging, "clear_work", cleared),
    )  # fmt: skip
    for owner, name, ended in steps:
        with pytest.MonkeyPatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(owner, name, ended)
            world.purge()
        (entry,) = read_purged(world.workspace)
        assert not entry.is_done and not entry.is_cleared and entry.releases == [f"{DATASET}@1.0.0"]


def nothing_left(world: World, hub: HubServer, old: str) -> None:
    """The Hub has one commit, one tag and its own large files; no file of ours holds the words."""
    repository = hub.repositories[REPOSITORY]
    assert list(repository.commits) == [repository.head.oid] != [old]
    assert repository.tags == {"1.0.1": repository.head.oid}
    assert set(repository.objects) == {one.sha256 for one in repository.head.tree.values() if one.is_large}
    assert not any(world.words in blob.content for blob in repository.head.tree.values())
    assert not holding(world.workspace.root, world.words) and not holding(Path(world.shelves[0]), world.words)
    assert not holding(Path(world.stores[0]), world.words)
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
    world.run_again()
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


def test_a_store_that_cannot_be_seen_is_waited_for(world: World) -> None:
    store = Path(world.stores[0])
    away = store.rename(store.with_name("not mounted"))
    waits = world.purge()
    assert not waits["is_done"] and waits["waiting"] == [
        f"mount the store {store}; if it is gone for good, delete its line in stores.txt"
    ]
    away.rename(store)
    assert world.purge()["is_done"] and not holding(store, world.words)
    shutil.rmtree(store)
    assert not world.purge()["is_done"]
    (world.workspace.root / "stores.txt").unlink()
    assert world.purge()["is_done"]


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
