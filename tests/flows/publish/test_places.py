"""Releases to a folder and to a real S3 server: what is sent, what is refused, what consumers read."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from curation.published.manifest import AUDIT_JSON, read_manifest
from flows.adapters.places import LocalPlace, Place, open_place
from flows.adapters.s3_place import S3Place
from flows.engine.progress import SilentReporter
from flows.engine.published import published
from flows.engine.workspace import open_workspace
from flows.inspect.status import describe, status
from flows.publish.place import CLAIM, MANIFEST, PlacePublisher
from flows.publish.publish import publish
from flows.publish.ready import TaskRelease
from schemas.errors import FetchError, ReleaseError, UsageError
from schemas.hashing import sha256_bytes
from sources.sample.loopback import Reply, Request
from tests.flows.publish.hub_server import Fault
from tests.flows.publish.s3_server import BUCKET, SECRET, S3Proxy, environment, running_s3, storage_options
from tests.flows.publish.test_publish import version
from tests.flows.publish.two_tasks import TASKS, newer, sealed

__all__ = ["version"]


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """Address of a real S3 server."""
    with running_s3() as endpoint:
        yield endpoint


def s3_place(endpoint: str, monkeypatch: pytest.MonkeyPatch, prefix: str = "") -> S3Place:
    for name, value in environment(endpoint).items():
        monkeypatch.setenv(name, value)
    return S3Place(f"s3://{BUCKET}/{prefix or uuid.uuid4().hex}", attempts=3, timeout_seconds=10.0)


@pytest.fixture(params=["folder", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """An empty place of each kind."""
    if request.param == "folder":
        return LocalPlace(tmp_path / "published")
    return s3_place(request.getfixturevalue("s3"), monkeypatch)


@pytest.fixture
def folder(tmp_path: Path) -> Place:
    """An empty folder."""
    return LocalPlace(tmp_path / "published")


def publisher(place: Place, release: Path) -> PlacePublisher:
    tasks = [TaskRelease(release / task, read_manifest(release / task)) for task in TASKS]
    return PlacePublisher(place, tasks, reporter=SilentReporter())


def check_published(place: Place, folder: Path) -> None:
    """The place holds the release byte for byte, and the manifest names all of it."""
    name = f"known/{folder.name}"
    written = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    there = place.listed(name)
    assert set(there) == {*written, MANIFEST}
    assert all(place.read(f"{name}/{one}") == path.read_bytes() for one, path in written.items())
    manifest = json.loads(place.read(f"{name}/{MANIFEST}") or b"")
    stated = {
        f"{task}/{path}": row
        for task, held in manifest["tasks"].items()
        for path, row in held["files"].items()
    }
    assert set(stated) == {one for one in written if not one.endswith(("audit.json", "audit.html"))}
    for one, row in stated.items():
        assert row == {
            "sha256": sha256_bytes(written[one].read_bytes()),
            "bytes": written[one].stat().st_size,
        }


class Watched:
    """A place that tells of every effect, in order."""

    def __init__(self, place: Place, told: Callable[[str, str], None]) -> None:
        self._place, self._told = place, told

    def __getattr__(self, name: str) -> Any:
        work = getattr(self._place, name)
        if name not in ("create", "put", "delete"):
            return work

        def effect(*given: Any) -> Any:
            self._told(name, given[0])
            return work(*given)

        return effect


def test_first_publish_again_and_a_newer_version(place: Place, version: Path, tmp_path: Path) -> None:
    effects: list[str] = []
    watched: Any = Watched(place, lambda kind, name: effects.append(name.removeprefix("known/1.0.0/")))
    plan = publisher(watched, version).plan()
    assert len(plan.to_send) == len([path for path in version.rglob("*") if path.is_file()]) and not effects
    assert publisher(watched, version).publish()[1]
    check_published(place, version)
    assert effects[0] == CLAIM and effects[-2:] == [MANIFEST, CLAIM]
    assert sorted(effects[-4:-2]) == [f"{task}/release.json" for task in TASKS]
    del effects[:]
    assert publisher(watched, version).publish()[1] is False and effects == [CLAIM]
    following = newer(version, tmp_path)
    publisher(place, following).publish()
    check_published(place, following)
    check_published(place, version)
    sealed(following / "summary", title="Another")
    with pytest.raises(ReleaseError, match=r"known/1\.0\.1 at .* is another release"):
        publisher(place, following).publish()


class Stopped(BaseException):
    """The process ends here."""


def test_stopped_anywhere_the_next_goes_on_and_a_manifest_means_all(folder: Place, version: Path) -> None:
    """At every eighth effect."""
    place, at, is_stopped = folder, 0, True
    while is_stopped:
        left = [at]

        def stop(kind: str, name: str, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0 and not name.endswith((".html", ".md")):
                raise Stopped

        watched: Any = Watched(place, stop)
        try:
            publisher(watched, version).publish()
            is_stopped = False
        except Stopped:
            has_manifest = place.read(f"known/1.0.0/{MANIFEST}") is not None
            assert not has_manifest or publisher(place, version).plan().is_published
        at += 8
    check_published(place, version)


def test_another_release_being_published_is_left_alone(folder: Place, version: Path, tmp_path: Path) -> None:
    place = folder
    other = Path(shutil.copytree(version, tmp_path / "1.0.0"))
    sealed(other / "summary", title="Another")

    def first_another(kind: str, name: str, others: list[bool] = [True]) -> None:  # noqa: B006
        if kind == "create" and others:
            others.pop()
            publisher(place, other).publish()

    watched: Any = Watched(place, first_another)
    with pytest.raises(ReleaseError, match="is another release"):
        publisher(watched, version).publish()
    check_published(place, other)


def test_two_publishers_of_one_release(place: Place, version: Path) -> None:
    def at_the_first_file(kind: str, name: str, others: list[bool] = [True]) -> None:  # noqa: B006
        if kind == "put" and others:
            others.pop()
            publisher(place, version).publish()

    watched: Any = Watched(place, at_the_first_file)
    publisher(watched, version).publish()
    check_published(place, version)


@pytest.mark.parametrize("when", ["begun", "published"])
@pytest.mark.parametrize("what", ["changed", "added", "deleted"])
def test_what_a_person_did_is_noticed(folder: Place, version: Path, what: str, when: str) -> None:
    place = folder
    if what == "deleted" and when == "begun":
        place.create("known/1.0.0/notes.txt", b"mine")  # before medqrels ever wrote there
    else:
        publisher(place, version).publish()
        if when == "begun":
            place.delete(f"known/1.0.0/{MANIFEST}")
            place.create(f"known/1.0.0/{CLAIM}", publisher(place, version)._claim)
        name = "known/1.0.0/summary/" + ("README.md" if what != "added" else "queries/test-mine.parquet")
        if what != "added":
            place.delete(name)
        if what != "deleted":
            place.create(name, b"mine")
    with pytest.raises(ReleaseError, match=r"is not as medqrels writes it: (summary/|notes)") as told:
        publisher(place, version).publish()
    assert "or release under a higher version" in told.value.hint


def test_an_audit_of_another_day_is_no_change(folder: Place, version: Path, tmp_path: Path) -> None:
    place = folder
    publisher(place, version).publish()
    later = Path(shutil.copytree(version, tmp_path / "1.0.0"))
    (later / "summary" / AUDIT_JSON).open("a").write("\n")
    assert publisher(place, later).publish()[1] is False
    check_published(place, version)


@pytest.mark.parametrize("kind", ["lost", "status", "nonsense"])
def test_faults_of_s3_pass(s3: str, version: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    fault = Fault(kind, status=503)
    with S3Proxy(s3, lambda method, count: fault if count % 7 == 4 and count < 40 else None) as proxy:
        held = s3_place(proxy.root, monkeypatch)
        for _ in range(6):
            try:
                publisher(held, version).publish()
            except FetchError as error:
                assert "the same command goes on" in error.hint and SECRET not in str(error)
            else:
                break
        else:
            raise AssertionError("it never ended")
    check_published(s3_place(s3, monkeypatch, held.prefix), version)


def test_refusals_say_what_helps(s3: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    s3_place(s3, monkeypatch)
    with pytest.raises(UsageError, match="no bucket 'nowhere'"):
        S3Place("s3://nowhere/x", attempts=1).create("a", b"")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(FetchError, match="403") as told:
        S3Place(f"s3://{BUCKET}/x", attempts=1).read("a")
    assert "AWS_PROFILE" in told.value.hint
    for wrong in ("", "gs://bucket/x", "s3://", "s3://bucket/../x"):
        with pytest.raises(UsageError, match=r"cannot publish to|names no place"):
            open_place(wrong, attempts=1, timeout_seconds=1.0)
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(UsageError, match="extra s3") as missing:
        S3Place("s3://bucket")
    assert "EXTRAS=s3" in missing.value.hint


@pytest.mark.parametrize("keeps_versions", [False, True])
def test_a_version_is_erased_with_all_that_a_bucket_keeps(
    s3: str, monkeypatch: pytest.MonkeyPatch, keeps_versions: bool
) -> None:
    place = s3_place(s3, monkeypatch)
    if keeps_versions:
        place.bucket = uuid.uuid4().hex
        place._system.call_s3("create_bucket", Bucket=place.bucket)
        keeps = {"Status": "Enabled"}
        place._system.call_s3("put_bucket_versioning", Bucket=place.bucket, VersioningConfiguration=keeps)
    for content in (b"first", b"second"):
        place.create(f"known/1.0.0/{MANIFEST}", content)
        place.create("known/1.0.0/summary/README.md", content)
        if content == b"first":
            place.delete("known/1.0.0/summary/README.md")
    place.create("known/1.0.01/kept", b"of another version")
    large = {"Bucket": place.bucket, "Key": place._key("known/1.0.0/large")}
    place._system.call_s3("create_multipart_upload", **large)

    def held(listing: str) -> list[str]:
        return [key.removeprefix(place._key("known/")) for key, _ in place._listed_all(listing, "known")]

    old = ["1.0.0/summary/README.md"] * (3 if keeps_versions else 1)  # two, and what marks one as deleted
    wanted = [f"1.0.0/{MANIFEST}", *old, "1.0.01/kept"]
    assert held("list_object_versions") == wanted and held("list_multipart_uploads") == ["1.0.0/large"]
    assert place.erase("known/1.0.0", MANIFEST) == [] and place.listed("known/1.0.0") == {}
    assert held("list_object_versions") == ["1.0.01/kept"] and held("list_multipart_uploads") == []
    assert place.erase("known/1.0.0", MANIFEST) == []


def test_what_cannot_be_erased_is_told(s3: str, version: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store without versions; one that will not list them; one that says it deleted and did not."""
    with S3Proxy(s3) as proxy:
        place = s3_place(proxy.root, monkeypatch)
        place.create("known/1.0.0/file", b"x")
        asked = proxy.answer
        answers: list[tuple[str, int, bytes]] = []

        def answer(request: Request) -> Reply:
            for part, status, body in answers:
                if part in f"{request.method} {request.target}":
                    return Reply(status, body)
            return asked(request)

        monkeypatch.setattr(proxy, "answer", answer)
        refused = b"<Error><Code>%s</Code><Message>no</Message></Error>"
        answers.append(("versions", 403, refused % b"AccessDenied"))
        with pytest.raises(FetchError, match=r"S3 would not list object versions known/1\.0\.0: 403") as told:
            place.erase("known/1.0.0", MANIFEST)
        assert "AWS_PROFILE" in told.value.hint
        answers[:] = [("versions", 501, refused % b"NotImplemented"), ("DELETE ", 204, b"")]
        assert place.erase("known/1.0.0", MANIFEST) == ["file"]
        answers.pop()
        assert place.erase("known/1.0.0", MANIFEST) == [] == list(place.listed("known"))


_LOAD = """
import json, sys, datasets
where, options = sys.argv[1], json.loads(sys.argv[2])
if options:
    files = {"test": f"{where}/queries/test-*.parquet"}
    rows = datasets.load_dataset("parquet", data_files=files, split="test", storage_options=options)
else:
    rows = datasets.load_dataset(where, "queries", split="test")
print(json.dumps(rows["id"][:]))
"""


@pytest.mark.parametrize("kind", ["folder", "s3"])
def test_the_command_and_its_consumers(s3: str, version: Path, tmp_path: Path, kind: str) -> None:
    to = str(tmp_path / "shelf") if kind == "folder" else f"s3://{BUCKET}/{uuid.uuid4().hex}"
    kept = {**os.environ, **environment(s3), "HF_HOME": str(tmp_path / "home"), "MEDQRELS_WORKERS": "1"}
    kept |= {"HF_HUB_OFFLINE": "0", "HF_ENDPOINT": "http://127.0.0.1:9"}  # no Hub: nothing asks it

    def run(*command: str) -> str:
        done = subprocess.run(command, env=kept, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    medqrels = str(Path(sys.executable).with_name("medqrels"))
    told = json.loads(run(medqrels, "publish", str(version), "--to", to, "--json"))
    assert told["sent"] and told["manifest"] == f"{to}/known/1.0.0/{MANIFEST}"
    options = storage_options(s3) if kind == "s3" else {}
    loaded = json.loads(run(sys.executable, "-c", _LOAD, f"{to}/known/1.0.0/summary", json.dumps(options)))
    assert loaded == pq.read_table(version / "summary" / "queries").column("id").to_pylist() != []


def test_a_place_is_noted_before_anything_is_sent_there(
    version: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A purge asks every place that may hold some of a release, also after a publish that was killed."""
    workspace = open_workspace(tmp_path / "ws", create=True)
    shutil.copytree(version, workspace.releases / "known/1.0.0")
    shelf = tmp_path / "shelf"
    monkeypatch.setattr(
        "flows.publish.publish.check_ready",
        lambda folders, workers: [TaskRelease(one, read_manifest(one)) for one in folders],
    )

    def tried() -> None:
        publish("known@1.0.0", str(shelf), workspace=workspace.root)

    with monkeypatch.context() as patch:

        def killed(*_: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(PlacePublisher, "_send", killed)
        with pytest.raises(KeyboardInterrupt):
            tried()
    assert published(workspace, "known", "1.0.0") == {str(shelf): {"unfinished": True}}
    assert f"not wholly published to {shelf} as 1.0.0" in describe(status(workspace))
    tried()
    hashes = {task: read_manifest(version / task).release_hash for task in TASKS}
    assert published(workspace, "known", "1.0.0") == {str(shelf): {"release_hashes": hashes}}
    assert f"  published to {shelf} as 1.0.0" in describe(status(workspace))

    shutil.rmtree(workspace.root / "published")
    (shelf / "known/1.0.0" / MANIFEST).write_text("{}", "utf-8")
    with pytest.raises(ReleaseError):
        tried()
    assert published(workspace, "known", "1.0.0") == {}, "somebody else's version is no concern of a purge"


def test_of_many_that_swap_a_file_one_does(place: Place, tmp_path: Path) -> None:
    """A pointer between machines: read with its tag, replaced only by who saw the last."""
    assert place.tagged("shards/a/current") is None and not place.has("shards/a/current")
    assert not place.swap("shards/a/current", b"never there", "tag")
    assert place.create("shards/a/current", b"first")
    found = place.tagged("shards/a/current")
    assert found is not None and found[0] == b"first"
    with ThreadPoolExecutor(8) as pool:
        new = [f"writer {number}".encode() for number in range(8)]
        won = list(pool.map(lambda content: place.swap("shards/a/current", content, found[1]), new))
    assert won.count(True) == 1
    assert place.fetch("shards/a/current", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == new[won.index(True)]
    assert not place.fetch("shards/b/current", tmp_path / "none") and not (tmp_path / "none").exists()
