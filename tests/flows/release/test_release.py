"""Releases without a version: it follows from what changed; what was killed or damaged is found out."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from curation.published.manifest import OLDEST_FORMAT, ReleaseManifest, read_manifest
from curation.release import seal as sealing
from flows.adapters.sentence_encoder import SentenceEncoder
from flows.engine.progress import SilentReporter
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.release import versions
from flows.release.versions import Made, Maker
from flows.specs import DATA_CARDS, read_spec
from schemas.errors import ReleaseError, UsageError
from tests.conftest import copied, made_once
from tests.pipeline import run_partition
from tests.releases import card_text

DATASET = "versioned"
SPEC = """
name = "versioned"
title = "A dataset whose versions follow"
[baselines]
systems = []
[partition]
dev_share = 0.2
[tasks.visual_context]
"""
AND_SUMMARY = "[tasks.summary]\n"


class Maintainer:
    """Someone who releases again and again, in one workspace."""

    def __init__(self, root: Path, sample: Workspace) -> None:
        self.cards = root / "data_cards"
        shutil.copytree(DATA_CARDS / "medqrels-sample", self.cards)
        (self.cards / "spec.toml").write_text(SPEC, "utf-8")
        self.workspace = copied(sample, root / "ws")
        self.overrides: dict[str, str] = {}

    def maker(self) -> Maker:
        spec = read_spec(self.cards / "spec.toml", self.overrides)
        session = Session(Settings(workspace=self.workspace.root), self.workspace, SilentReporter())
        shutil.rmtree(self.workspace.temporary, ignore_errors=True)  # as every session begins

        def partition(version: str | None) -> None:
            run_partition(self.workspace, spec, version)

        return Maker(session, spec, self.cards, {}, partition)

    def release(self, version: str | None = None) -> Made:
        return self.maker().make(version)

    def write_spec(self, leave_out: str = "", more: str = "") -> None:
        """The spec without one query, or with a task more."""
        listed = f'dev_share = 0.2\nleave_out = ["{leave_out}"]' if leave_out else "dev_share = 0.2"
        text = SPEC.replace("dev_share = 0.2", listed) + more
        (self.cards / "spec.toml").write_text(text, "utf-8")

    def directory(self, version: str, task: str = "visual_context") -> Path:
        return self.workspace.releases / DATASET / version / task

    def queries(self, version: str) -> list[str]:
        found: list[str] = pq.read_table(self.directory(version) / "queries", columns=["id"])[
            "id"
        ].to_pylist()
        return found

    def versions(self) -> list[str]:
        return sorted(path.name for path in (self.workspace.releases / DATASET).iterdir())


@pytest.fixture(scope="module", autouse=True)
def nothing_is_loaded() -> Iterator[None]:
    """That a release loads is asked in test_loading, and of whole releases in test_rebuild and test_run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(versions, "check_loads", lambda *_: None)
        yield


@pytest.fixture
def maintainer(tmp_path: Path, sample: Workspace) -> Maintainer:
    """Someone who has released nothing yet."""
    return Maintainer(tmp_path, sample)


@pytest.fixture(scope="session")
def released_once(tmp_path_factory: pytest.TempPathFactory, sample: Workspace) -> Workspace:
    """The workspace of one who has made 1.0.0; read-only."""

    def make(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(versions, "check_loads", lambda *_: None)
            first = Maintainer(folder, sample).release()
        assert (first.version, first.is_new, first.why) == ("1.0.0", True, "first release")

    return Workspace(made_once(tmp_path_factory, "released-once", make) / "ws")


@pytest.fixture
def released(tmp_path: Path, released_once: Workspace) -> Maintainer:
    """Someone who has made 1.0.0 and goes on from there."""
    return Maintainer(tmp_path, released_once)


def files(directory: Path) -> Mapping[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def test_day_after_day(released: Maintainer) -> None:
    maintainer, first = released, read_manifest(released.directory("1.0.0"))
    same = maintainer.release()
    assert (same.version, same.is_new, same.why) == ("1.0.0", False, "nothing changed")
    assert [*same.manifests] == [first]
    assert same.line(DATASET) == "no new release, nothing changed: versioned@1.0.0 stands"

    maintainer.write_spec(maintainer.queries("1.0.0")[0])
    withdrawn = maintainer.release()
    assert (withdrawn.version, withdrawn.is_new) == ("1.0.1", True)
    assert withdrawn.why.startswith("patch since 1.0.0: visual_context −1 query withdrawn")
    (change,) = [item.change for item in withdrawn.manifests]
    assert (change["previous"], change["parent"]) == ("1.0.0", first.release_hash)
    assert {"table": "queries", "change": "removed", "reason": "withdrawal", "rows": 1} in change["counts"]
    assert maintainer.release().version == "1.0.1"

    (maintainer.cards / "collection.md").write_text("Told in other words.\n", "utf-8")
    patch = maintainer.release()
    assert (patch.version, patch.why) == (
        "1.0.2",
        "patch since 1.0.1: the card's prose, or what baseline runs give",
    )
    card = card_text(maintainer.directory("1.0.2"))
    assert "Since 1.0.1: no query, document or label of this task changed." in card

    maintainer.write_spec(maintainer.queries("1.0.0")[0], AND_SUMMARY)
    with pytest.raises(
        ReleaseError, match=r"1\.0\.3 says too little, 1\.1\.0 is demanded: minor since 1\.0\.2"
    ):
        maintainer.release("1.0.3")
    minor = maintainer.release()
    assert minor.version == "1.1.0"
    notes = {item.task: item.change["notes"] for item in minor.manifests}
    assert notes["summary"] == ["the task is new in the dataset"]
    assert notes["visual_context"][0] == "tasks of the dataset: +summary"
    assert "tasks of the dataset: +summary" in minor.why
    told = next(item.change for item in minor.manifests if item.task == "visual_context")
    assert [item["version"] for item in told["earlier"]] == ["1.0.2", "1.0.1", "1.0.0"]

    maintainer.write_spec(maintainer.queries("1.0.0")[0])
    major = maintainer.release()
    assert (major.version, len(major.manifests)) == ("2.0.0", 1)
    assert "tasks of the dataset: −summary" in major.why
    with pytest.raises(UsageError, match=r"1\.0\.3 comes before 2\.0\.0, the newest release of versioned"):
        maintainer.release("1.0.3")
    assert maintainer.versions() == ["1.0.0", "1.0.1", "1.0.2", "1.1.0", "2.0.0"]
    assert not list(maintainer.workspace.releases.rglob("*trial*"))


def test_the_release_before_was_purged(released: Maintainer) -> None:
    """What a release published itself says where its rows lie when what it followed is gone."""
    released.write_spec(released.queries("1.0.0")[0])
    assert released.release().version == "1.0.1"
    shutil.rmtree(released.directory("1.0.0").parent)
    same = released.release()
    assert (same.version, same.is_new, same.why) == ("1.0.1", False, "nothing changed")


def test_vectors_of_one_release_serve_the_next(
    maintainer: Maintainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    encode = SentenceEncoder.encode

    def counted(self: SentenceEncoder, texts: Sequence[Sequence[int]]) -> Any:
        asked.append(len(texts))
        return encode(self, texts)

    monkeypatch.setattr(SentenceEncoder, "encode", counted)
    spec = SPEC.replace("systems = []", 'systems = ["dense"]\nnano_queries = 0')
    (maintainer.cards / "spec.toml").write_text(spec, "utf-8")
    maintainer.release()
    assert sum(asked) > 200
    asked.clear()
    (maintainer.cards / "collection.md").write_text("Told in other words.\n", "utf-8")
    assert maintainer.release("1.0.1").is_new
    assert asked == []


def test_a_run_that_was_killed_leaves_no_half_release_and_the_next_gives_the_same(
    released: Maintainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed after the first task of the release, and again when all but the move into place was done.

    The other maintainer names the version by hand: the same inputs after the same release, the same bytes.
    """
    other = Maintainer(tmp_path / "elsewhere", released.workspace)
    for one in (released, other):
        one.write_spec(one.queries("1.0.0")[0], AND_SUMMARY)
    other.release("1.1.0")
    whole = sealing.settle
    seen: list[str] = []

    def dies(partial: Path, target: Path, manifest: ReleaseManifest) -> ReleaseManifest:
        seen.append(manifest.version)
        if manifest.version == "1.1.0" and manifest.task == "visual_context":
            raise KeyboardInterrupt
        return whole(partial, target, manifest)

    monkeypatch.setattr(sealing, "settle", dies)
    with pytest.raises(KeyboardInterrupt):
        released.release()
    assert "1.1.0" in seen and released.versions() == ["1.0.0"]
    monkeypatch.setattr(sealing, "settle", whole)
    placed = Maker._placed

    def never(self: Maker, *_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Maker, "_placed", never)
    with pytest.raises(KeyboardInterrupt):
        released.release("1.1.0")
    assert released.versions() == ["1.0.0"]
    monkeypatch.setattr(Maker, "_placed", placed)
    assert released.release().version == "1.1.0"
    here, there = (one.workspace.releases / DATASET / "1.1.0" for one in (released, other))
    assert files(here) == files(there)


def test_a_named_version_is_taken_or_stands_as_ever(released: Maintainer) -> None:
    before = files(released.workspace.releases)
    assert released.release("1.0.0").version == "1.0.0"
    assert files(released.workspace.releases) == before
    released.write_spec(released.queries("1.0.0")[0])
    with pytest.raises(ReleaseError, match="taken by other content"):
        released.release("1.0.0")
    assert files(released.workspace.releases) == before


def test_after_a_release_changed_by_hand_nothing_follows(released: Maintainer) -> None:
    manifest, card = (released.directory("1.0.0") / name for name in ("release.json", "README.md"))
    written = manifest.read_text("utf-8")
    manifest.write_text(written.replace("2026", "2062"), "utf-8")
    with pytest.raises(ReleaseError, match="not as it was made"):
        released.release()
    manifest.write_text(written, "utf-8")
    card.write_text("other", "utf-8")
    with pytest.raises(ReleaseError, match="not as it was made") as caught:
        released.release()
    assert "visual_context" in caught.value.file and "audit" in caught.value.hint


def test_after_a_release_of_the_older_format_a_new_one_follows(released: Maintainer) -> None:
    path = released.directory("1.0.0") / "release.json"
    old = dataclasses.replace(read_manifest(path.parent), format_version=OLDEST_FORMAT)
    path.write_text(dataclasses.replace(old, release_hash=old.computed_hash()).to_json(), "utf-8")
    assert '"publishable": false' in path.read_text("utf-8")
    made = released.release()
    assert (made.version, made.is_new) == ("1.0.1", True)
