"""The store of a workspace's shards: who follows what an error says finds it whole, and never other bytes."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from flows.adapters.places import LocalPlace
from flows.build.jobs import jobs_of
from flows.cluster import packs, worker
from flows.cluster.orders import Order
from flows.cluster.sending import Sending, raw_files
from flows.cluster.store import LostInStore, ShardStore
from flows.engine.manifest import Output, read_manifest
from flows.engine.progress import SilentReporter
from flows.engine.runner import Job
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.pipeline import PIPELINE, Choices
from schemas.errors import ConservationError, MedqrelsError, WorkspaceError
from tests.flows.toy import snapshot


class Machines:
    """A coordinator, a worker of another machine, and the store between them, in one process."""

    def __init__(self, sample: Workspace, folder: Path) -> None:
        self.sample = sample
        shutil.copytree(
            sample.root, folder / "here", ignore=shutil.ignore_patterns("runs", "releases", "tmp")
        )
        self.here = Workspace(folder / "here")
        self.root = folder / "store"
        self.store = ShardStore(LocalPlace(self.root))
        self.there = folder / "there"
        self.there.mkdir()

    def job(self, stage: str) -> Job:
        """The first shard of a stage."""
        return self.jobs(stage)[0]

    def jobs(self, stage: str) -> list[Job]:
        """Every shard of a stage."""
        step = next(step for step in PIPELINE if step.name == stage)
        session = Session(Settings(workspace=self.here.root), self.here, SilentReporter())
        return jobs_of(session, step, Choices())

    def make(self, stage: str) -> None:
        """What a command does with a shard: order it, have it made, take it in."""
        job, sending = self.job(stage), Sending(self.here, self.store)
        shutil.rmtree(job.folder, ignore_errors=True)
        (order,) = sending.orders([job])
        manifest, run = worker._make(Order.from_dict(order.to_dict()), self.store)
        sending.take(job, manifest, run)
        assert snapshot(job.folder) == snapshot(self.sample.stage(stage) / job.shard)

    def table(self, folder: Path, name: str) -> Path:
        """Where the store has a table of a shard."""
        manifest = read_manifest(folder)
        assert manifest is not None
        return self.root / "shards" / folder.name / "tables" / manifest.outputs[name].sha256

    def new_process(self) -> None:
        """What a worker knows of packs that it looked through goes with its process."""
        packs._checked.clear()


@pytest.fixture
def machines(sample: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machines:
    """Two of them."""
    made = Machines(sample, tmp_path)
    monkeypatch.setattr(worker, "_own", lambda: made.there)
    packs._checked.clear()
    return made


def replace_file(path: Path, data: bytes) -> None:
    """Not in place: a process that has the file mapped would die of it."""
    path.unlink()
    path.write_bytes(data)


def rot(path: Path) -> None:
    """Other bytes, as many."""
    data = path.read_bytes()
    place = len(data) // 3
    replace_file(
        path, data[:place] + bytes(255 - byte for byte in data[place : place + 9]) + data[place + 9 :]
    )


def cut(path: Path) -> None:
    """Half of it."""
    replace_file(path, path.read_bytes()[: path.stat().st_size // 2])


HARM: tuple[Callable[[Path], None], ...] = (rot, cut, Path.unlink)


@pytest.mark.parametrize("harm", HARM)
def test_a_lost_or_damaged_table_is_made_or_sent_again(
    machines: Machines, harm: Callable[[Path], None]
) -> None:
    machines.make("parse")
    harm(machines.table(machines.job("parse").folder, "articles"))  # which is sealed
    if harm is not Path.unlink:  # what is not there is seen before anybody wants it
        with pytest.raises(LostInStore, match="was damaged in the store") as caught:
            machines.make("parse")
        assert "same command again" in caught.value.hint
    machines.make("parse")
    machines.make("extract")
    harm(machines.table(machines.job("parse").folder, "articles"))  # an input now
    for table in ("figures", "passages"):
        machines.table(machines.job("extract").folder, table).unlink()
    if harm is not Path.unlink:
        with pytest.raises(LostInStore, match="was damaged in the store"):
            machines.make("extract")
    machines.make("extract")
    assert not list(machines.there.glob("shard-*"))


def test_a_damaged_table_is_never_sent(machines: Machines) -> None:
    articles = machines.job("parse").folder / "articles.parquet"
    whole = articles.read_bytes()
    rot(articles)
    with pytest.raises(WorkspaceError, match="was changed or removed") as caught:
        machines.make("extract")
    assert caught.value.hint == "medqrels extract makes it again"
    assert not machines.table(articles.parent, "articles").exists()
    articles.write_bytes(whole)
    machines.make("extract")


@pytest.mark.parametrize("harm", HARM)
def test_fetched_files_are_held_to_their_hashes_when_packed_and_when_unpacked(
    machines: Machines, harm: Callable[[Path], None]
) -> None:
    (first, _), *_ = raw_files(machines.here, machines.job("parse"))
    fetched = machines.here.raw / first
    whole = fetched.read_bytes()
    harm(fetched)
    with pytest.raises(WorkspaceError) as caught:
        machines.make("parse")
    assert "medqrels crawl fetches it again" in caught.value.hint and str(fetched) == caught.value.file
    assert not list(machines.root.rglob("*.tar"))
    fetched.write_bytes(whole)
    machines.make("parse")

    (pack,) = machines.root.glob("shards/*/raw/*.tar")
    shutil.rmtree(machines.root / "shards" / machines.job("parse").shard / "parse")
    harm(pack)
    if harm is not Path.unlink:
        with pytest.raises(LostInStore, match="a pack was damaged in the store"):
            machines.make("parse")
    machines.make("parse")


@pytest.mark.parametrize("harm", HARM)
def test_a_vocabulary_is_never_other_bytes(machines: Machines, harm: Callable[[Path], None]) -> None:
    def again() -> None:
        shutil.rmtree(machines.root / "shards", ignore_errors=True)
        machines.make("ground")

    again()
    kept = machines.there / worker.CACHE
    largest = max((path for path in kept.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
    whole = largest.read_bytes()
    harm(largest)
    machines.new_process()
    again()
    assert largest.read_bytes() == whole
    largest.unlink()  # by what tidies up /tmp, under a process that goes on
    again()
    assert largest.read_bytes() == whole
    next(largest.parent.glob(packs.LIST)).unlink()
    machines.new_process()
    again()

    for pack in machines.root.glob("resources/*.tar"):
        harm(pack)
    shutil.rmtree(kept)
    machines.new_process()
    met = 0
    while True:
        try:
            again()
            break
        except LostInStore as error:
            assert "a pack was damaged in the store" in str(error)
            met += 1
    assert met <= 3 and bool(met) == (harm is not Path.unlink)  # vocabulary, types, relations
    assert largest.read_bytes() == whole


def test_what_says_which_shard_counts_heals_too(machines: Machines) -> None:
    machines.make("parse")
    job = machines.job("parse")
    folder = machines.root / "shards" / job.shard / "parse"
    (sealed,) = folder.glob("*.json")
    text = sealed.read_text("utf-8")
    for damaged in ("{", text.replace('"parse"', '"other"')):
        sealed.write_text(damaged, "utf-8")
        (folder / "current").write_text(damaged, "utf-8")
        machines.make("parse")
        assert sealed.read_text("utf-8") == text
        assert machines.store.pointer("parse", job.shard)[0] == sealed.stem
    manifest = read_manifest(job.folder)
    assert manifest is not None
    other = next(iter(manifest.outputs.values())).sha256
    sealed.write_text(text.replace(other, "0" * 64), "utf-8")
    with pytest.raises(ConservationError, match="the bytes are others") as caught:
        machines.make("parse")
    assert "delete the object" in caught.value.hint
    Path(caught.value.file).unlink()
    machines.make("parse")


def test_a_worker_says_when_it_does_not_see_the_store(tmp_path: Path) -> None:
    with pytest.raises(MedqrelsError, match="does not see the store") as caught:
        worker._store(str(tmp_path / "not mounted"), 1, 1.0)
    assert "mount" in caught.value.hint
    ShardStore(LocalPlace(tmp_path / "store")).begin()
    assert worker._store(str(tmp_path / "store"), 1, 1.0).is_seen()


def test_scratch_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flows.engine.scratch.system_temporary", lambda: tmp_path)
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    worker._own.cache_clear()
    mine = worker._scratch()
    assert mine.parent == tmp_path and mine.stat().st_mode & 0o777 == 0o700
    mine.rmdir()
    mine.symlink_to(theirs)  # where anybody may write, anybody may have been first
    worker._own.cache_clear()
    assert worker._scratch() not in (mine, theirs)
    worker._own.cache_clear()


def test_a_store_refuses_other_bytes_and_older_work(sample: Workspace, tmp_path: Path) -> None:
    """What a worker that was thought lost can still do: say the same again. Nothing else."""
    store = ShardStore(LocalPlace(tmp_path))
    folder = next(path for path in sorted(sample.stage("parse").iterdir()))
    manifest = read_manifest(folder)
    assert manifest is not None
    store.seal(manifest)
    store.seal(manifest)
    other = {name: Output(out.file, "0" * 64, out.rows) for name, out in manifest.outputs.items()}
    with pytest.raises(ConservationError, match="the bytes are others"):
        store.seal(replace(manifest, outputs=other))
    store.point(manifest, "")
    _, tag = store.pointer("parse", manifest.shard)
    newer = replace(manifest, inputs={**manifest.inputs, "changed": "1"})
    store.point(newer, tag)
    store.point(newer, tag)
    with pytest.raises(WorkspaceError, match="another run moved shard"):
        store.point(manifest, tag)
    with pytest.raises(LostInStore, match="is not in the store"):
        store.fetch(manifest.shard, "0" * 64, tmp_path / "x")


def test_a_pack_of_anything_else_is_refused(tmp_path: Path) -> None:
    place = LocalPlace(tmp_path / "store")
    index = tmp_path / "index"
    (index / "deep").mkdir(parents=True)
    (index / "deep" / "terms").write_bytes(b"terms")
    (index / "head.json").write_bytes(b"{}")
    files = packs.hashed(index)
    assert [name for name, _ in files] == ["deep/terms", "head.json"]
    name = packs.resource_name(files)
    packs.send_pack(place, name, index, files, tmp_path, "make it")
    packs.unpack(place, name, tmp_path / "out")
    (tmp_path / "out" / packs.LIST).unlink()
    assert snapshot(tmp_path / "out") == snapshot(index)
    away = [("../away", files[0][1])]
    shutil.copy(index / "deep" / "terms", tmp_path / "away")
    outside = packs.resource_name(away)
    packs.send_pack(place, outside, index, away, tmp_path, "make it")
    (tmp_path / "away").unlink()
    shutil.copy(tmp_path / "store" / name, tmp_path / "store" / packs.resource_name(files[:1]))
    for wrong in (outside, packs.resource_name(files[:1])):
        with pytest.raises(LostInStore, match="was damaged in the store"):
            packs.unpack(place, wrong, tmp_path / "other")
        assert not place.has(wrong)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index", "out", "store"]


def test_packs_of_several_groups_are_sent_side_by_side_and_one_that_several_want_once(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    both_are_sending, put, sent = threading.Barrier(2), LocalPlace.put, list[str]()

    def watched(place: LocalPlace, name: str, path: Path, sha256: str) -> bool:
        if name.endswith(".tar"):
            sent.append(name)
            if "/raw/" in name:
                both_are_sending.wait(60)  # one behind the other would never come here together
        return put(place, name, path, sha256)

    monkeypatch.setattr(LocalPlace, "put", watched)
    sending = Sending(machines.here, machines.store)
    for stage in ("parse", "ground"):
        with ThreadPoolExecutor(2) as threads:
            orders = list(threads.map(sending.orders, [[job] for job in machines.jobs(stage)[:2]]))
        assert [len(one) for one in orders] == [1, 1]
    assert len(sent) == len(set(sent)) > 2


def test_a_stage_is_sent_what_it_may_read_and_no_more(machines: Machines) -> None:
    def sent(stage: str) -> set[str]:
        return {path for job in machines.jobs(stage) for path, _ in raw_files(machines.here, job)}

    everything, images = sent("parse"), sent("images")
    assert images and images < everything and not any(path.endswith((".xml", ".nxml")) for path in images)
    assert not sent("questions") and not sent("exercises")  # the sample has no file of either
