"""Releases to a Hub on loopback: what is sent, what is refused, and what faults leave behind."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from curation.published.manifest import AUDIT_JSON, read_manifest
from flows.publish.hub import Publisher
from flows.publish.ready import check_ready
from schemas.errors import FetchError, ReleaseError
from tests.flows.publish import hub_client as client
from tests.flows.publish.hub_client import serving
from tests.flows.publish.hub_server import ORGANIZATION, TOKEN, Fault, HubServer
from tests.flows.publish.two_tasks import TASKS, first, newer, sealed

REPOSITORIES = tuple(f"{ORGANIZATION}/known-{task}" for task in TASKS)


@pytest.fixture(scope="module")
def version(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a publishable version of two tasks; read-only."""
    return first(tmp_path_factory.mktemp("known"))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """A Hub that this process's library talks to, over LFS."""
    with serving(monkeypatch) as running:
        yield running


def publisher(version: Path, *, private: bool = False) -> Publisher:
    return client.publisher([version / task for task in TASKS], private=private)


def no_half_release(server: HubServer) -> Callable[[str, str], None]:
    """Looks after every effect: a tag or an item only when every repository has its commit."""

    def watch(name: str, when: str) -> None:
        held = [server.repositories.get(name) for name in REPOSITORIES]
        has_all = all(one is not None and "release-hash" in one.head.message for one in held)
        shows = any(one is not None and one.tags for one in held)
        shows = shows or any(one.items for one in server.collections.held.values())
        assert has_all or not shows

    return watch


def check_published(server: HubServer, version: Path) -> None:
    name = version.name
    for task, id in zip(TASKS, REPOSITORIES, strict=True):
        repository, manifest = server.repositories[id], read_manifest(version / task)
        commit = repository.at(name)
        assert commit is not None and manifest.release_hash in commit.message
        assert {*manifest.files, "release.json", AUDIT_JSON, ".gitattributes"} == set(commit.tree)
        for path, sha256 in manifest.files.items():
            blob = commit.tree[path]
            content = b"" if blob.is_large else blob.content
            assert blob.sha256 == sha256 or content == (version / task / path).read_bytes()
        ours = [one for one in repository.commits.values() if manifest.release_hash in one.message]
        assert len(ours) == 1, "no commit twice"
    (collection,) = server.collections.held.values()
    assert sorted(item["id"] for item in collection.items) == sorted(REPOSITORIES)


def test_first_publish_again_and_a_newer_version(server: HubServer, version: Path, tmp_path: Path) -> None:
    server.watch = no_half_release(server)
    plans = publisher(version).plan()
    assert not server.repositories and all(plan.additions and not plan.exists for plan in plans)
    assert publisher(version).publish()[1]
    check_published(server, version)
    effects = server.count("commit"), server.count("tag"), server.count("lfs-put")
    assert publisher(version).publish()[1] is False
    assert effects == (server.count("commit"), server.count("tag"), server.count("lfs-put"))
    following = newer(version, tmp_path)
    publisher(following).publish()
    check_published(server, following)
    check_published(server, version)
    assert server.count("lfs-put") == effects[2], "large files that did not change were not sent"
    with pytest.raises(ReleaseError, match="is on other content"):
        sealed(following / "summary", title="Another")
        publisher(following).publish()


def test_what_another_publisher_commits_in_between_is_taken_into_account(
    server: HubServer, version: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit follows what main holds then: a file that only the other version has goes."""
    following, others = newer(version, tmp_path), [publisher(version)]
    one = publisher(following)
    commit = one.hub.commit

    def after_others(*given: Any, **named: Any) -> str:
        while others:
            others.pop().publish()
        return commit(*given, **named)

    monkeypatch.setattr(one.hub, "commit", after_others)
    one.publish()
    assert all(list(server.repositories[name].tags) == ["1.0.0", "1.0.1"] for name in REPOSITORIES)
    (collection,) = server.collections.held.values()
    assert len(collection.items) == len(REPOSITORIES)
    check_published(server, version)
    check_published(server, following)


def test_a_commit_that_holds_something_else_is_not_tagged(server: HubServer, version: Path) -> None:
    def spoil(name: str, when: str) -> None:
        if (name, when) == ("commit", "before"):
            repository = server.repositories[REPOSITORIES[0]]
            tree = dict(repository.head.tree)
            stray = dataclasses.replace(repository.head, tree=tree | {"stray.txt": tree[".gitattributes"]})
            repository.commits[stray.oid] = stray

    server.watch = spoil
    with pytest.raises(ReleaseError, match="does not hold this release: no tag is set"):
        publisher(version).publish()
    assert not any(one.tags for one in server.repositories.values()) and not server.collections.held


def test_a_manifest_kept_as_a_large_file_is_the_same(
    server: HubServer, version: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tests.flows.publish.hub_repository._LARGE", ("*.parquet", "*.jpg", "*.png", "*.json")
    )
    publisher(version).publish()
    assert server.repositories[REPOSITORIES[0]].head.tree["release.json"].is_large
    assert publisher(version).publish()[1] is False


def test_private_is_private_altogether(server: HubServer, version: Path) -> None:
    publisher(version, private=True).publish()
    assert all(one.is_private for one in server.repositories.values())
    (collection,) = server.collections.held.values()
    assert collection.is_private
    collection.is_private = False
    with pytest.raises(ReleaseError, match=r"collection .* is public, and --private"):
        publisher(version, private=True).publish()
    server.repositories[REPOSITORIES[0]].is_private = False
    with pytest.raises(ReleaseError, match="known-summary is public, and --private"):
        publisher(version, private=True).publish()


@pytest.mark.parametrize("kind", ["lost", "reset", "status"])
@pytest.mark.parametrize(
    "endpoint", ["create", "lfs-put", "commit", "tag", "collection-create", "collection-item"]
)
def test_a_fault_passes(server: HubServer, version: Path, endpoint: str, kind: str) -> None:
    server.watch = no_half_release(server)
    fault = Fault(kind, status=429 if endpoint == "tag" else 503, retry_after="1")
    server.faults = lambda name, count: fault if name == endpoint and count == 1 else None
    for _ in range(3):
        try:
            publisher(version).publish()
        except FetchError as error:
            assert "the same command goes on" in error.hint
        else:
            break
    check_published(server, version)


def test_what_a_person_wrote_is_not_overwritten(server: HubServer, version: Path, tmp_path: Path) -> None:
    publisher(version).publish()
    repository = server.repositories[REPOSITORIES[0]]
    before = repository.head.tree["README.md"].content
    edited = repository.edit(README__md=b"---\nlicense: mit\n---\nMine\n")
    following = newer(version, tmp_path)
    with pytest.raises(ReleaseError, match=r"changed on the Hub.*README.md") as refused:
        publisher(following).publish()
    assert "revert the commit" in refused.value.hint
    assert repository.head == edited and "1.0.1" not in server.repositories[REPOSITORIES[1]].tags
    repository.edit("Revert", README__md=before)
    publisher(following).publish()
    check_published(server, following)


def test_a_tag_elsewhere_is_refused(server: HubServer, version: Path) -> None:
    publisher(version).publish()
    repository = server.repositories[REPOSITORIES[1]]
    repository.tags["1.0.0"] = repository.edit(README__md=b"---\n---\nMine\n").oid
    with pytest.raises(ReleaseError, match=r"tag 1.0.0 of acme/known-visual_context is on other content"):
        publisher(version).publish()


@pytest.mark.parametrize(("status", "said"), [(401, "401"), (403, "403"), (409, "409")])
def test_a_refusal_is_told_without_the_token(
    server: HubServer, version: Path, status: int, said: str
) -> None:
    server.faults = lambda name, count: Fault("status", status) if name == "preupload" else None
    with pytest.raises(FetchError, match=said) as told:
        publisher(version).publish()
    assert TOKEN not in str(told.value) and "Signature" not in str(told.value)
    assert not any(one.tags for one in server.repositories.values())


def test_what_the_hubs_client_cannot_do_by_itself_is_no_defect(server: HubServer, version: Path) -> None:
    publishing = client.publisher([version / TASKS[0]])

    def spoilt(*_: object, **__: object) -> None:
        raise RuntimeError(
            f"Internal error: cannot write shard with {TOKEN}: No space left on device\nat 0x1"
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.HfApi.preupload_lfs_files", spoilt)
        with pytest.raises(FetchError, match=r"client could not .*No space left on device\n") as raised:
            publishing.publish()
    assert TOKEN not in str(raised.value) and "HF_HUB_DISABLE_XET=1" in raised.value.hint
    publishing.publish()  # the same command goes on from there
    assert server.repositories[f"{ORGANIZATION}/known-{TASKS[0]}"].tags


@pytest.mark.parametrize("endpoint", ["tag", "commit"])
def test_a_longer_wait_than_anybody_has_ends_it(server: HubServer, version: Path, endpoint: str) -> None:
    server.faults = lambda name, count: Fault("status", 429, "301") if name == endpoint else None
    with pytest.raises(FetchError, match=r"would not .*: 429"):
        publisher(version).publish()
    assert server.asked[endpoint] == 1


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda folder: (folder / "README.md").open("a").write("x"), "README.md was changed"),
        (lambda folder: (folder / "more.txt").write_text("x"), "more.txt is no part"),
        (lambda folder: (folder / AUDIT_JSON).unlink(), "It has no audit"),
        (lambda folder: sealed(folder, publishable_by_content=False), "is not publishable"),
        (lambda folder: shutil.rmtree(folder), "summary is not among"),
    ],
)
def test_what_may_not_be_published(
    version: Path, tmp_path: Path, damage: Callable[[Path], object], said: str
) -> None:
    copy = Path(shutil.copytree(version, tmp_path / "copy"))
    damage(copy / "summary")
    with pytest.raises(ReleaseError, match=said):
        check_ready([path for path in (copy / "visual_context", copy / "summary") if path.exists()])


_LOAD = """
import sys, datasets, pyarrow.parquet as pq
repository, folder = sys.argv[1:]
for config in datasets.get_dataset_config_names(repository, revision="1.0.0"):
    for split, rows in datasets.load_dataset(repository, config, revision="1.0.0").items():
        inside = "" if config in ("corpus", "queries", "qrels", "excluded") else "provenance/"
        place = inside + config.removeprefix("provenance_")
        table = rows.with_format("arrow")[:]
        written = pq.read_table(folder + "/" + place) if split == "test" else None
        print(config, split, rows.num_rows, written is not None and table.to_pylist() == written.to_pylist())
"""


def test_the_command_over_xet_and_what_datasets_loads_back(version: Path, tmp_path: Path) -> None:
    with HubServer() as running:
        environment = {**os.environ, **running.environment(tmp_path / "home"), "MEDQRELS_WORKERS": "1"}
        command = [str(Path(sys.executable).with_name("medqrels")), "publish", str(version), "--json"]
        done = subprocess.run(
            [*command, "--to", f"hf:{ORGANIZATION}"],
            env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["sent"] and TOKEN not in done.stdout + done.stderr
        check_published(running, version)
        assert running.count("xet-token") and not running.count("lfs-put")
        loaded = subprocess.run(
            [sys.executable, "-c", _LOAD, REPOSITORIES[1], str(version / TASKS[1])],
            env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert loaded.returncode == 0, loaded.stderr[-2000:]
    lines = [line.split() for line in loaded.stdout.splitlines()]
    assert {"corpus", "queries", "qrels"} <= {line[0] for line in lines}
    assert all(line[3] == "True" for line in lines), loaded.stdout
