"""The release of the scale benchmark at a small size: clean, repeatable, planted defects are named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.generate_release import generate
from benchmarks.generated_pictures import pictures
from benchmarks.planted_defects import PLANTED, plant, smaller
from curation.audit import audit
from curation.audit.dataset import open_release
from curation.audit.executor import SerialExecutor
from curation.published.manifest import read_manifest
from curation.similarity.image import ImageFeatures, features, nominate, pairs, same_images
from curation.similarity.image.pairs import same_among
from schemas.audit import AuditReport
from schemas.published import IMAGE
from tests.curation.release.known import run_sql


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two sibling tasks."""
    return generate(tmp_path_factory.mktemp("generated"), 1_200, 160, seed=7, workers=1)


def _audit(directory: Path, beside: Path) -> AuditReport:
    return audit(directory, run_sql, siblings=[open_release(beside, "sibling")], plant=False)


def test_both_tasks_are_clean(release: list[Path]) -> None:
    for directory, beside in (release, release[::-1]):
        report = _audit(directory, beside)
        wrong = {rule.rule: rule.findings[:2] for rule in report.rules if rule.found}
        assert set(wrong) == {"synthetic"}, wrong
        assert {rule.rule for rule in report.rules if rule.status == "not_run"} == set()
        assert {rule.rule for rule in report.rules if rule.status == "not_covered"} == set()


def test_the_same_seed_gives_the_same_release(release: list[Path], tmp_path: Path) -> None:
    again = generate(tmp_path / "again", 1_200, 160, seed=7, workers=2)
    other = generate(tmp_path / "other", 1_200, 160, seed=8, workers=1)
    hashes = [[read_manifest(path).release_hash for path in made] for made in (release, again, other)]
    assert hashes[0] == hashes[1]
    assert set(hashes[0]).isdisjoint(hashes[2])


def test_planted_defects_are_named(release: list[Path], tmp_path: Path) -> None:
    damaged = shutil.copytree(release[0], tmp_path / release[0].name)
    wanted = plant(damaged)
    assert set(wanted) == set(PLANTED)
    report = _audit(damaged, release[1])
    for rule in report.rules:
        if rule.rule in wanted:
            named = {side.id for finding in rule.findings for side in finding.sides}
            assert set(wanted[rule.rule]) <= named, (rule.rule, wanted[rule.rule], rule.note)
    assert report.verdict == "findings"


def _images(folder: Path, name: str, kept: slice, shrink: tuple[int, ...]) -> ImageFeatures:
    """Features of some generated pictures, of which a few are half as large and re-encoded."""
    made = pictures(folder / f"{name}.bin", 3, 0, 0, 14)
    data = (folder / f"{name}.bin").read_bytes()
    rows = []
    for number, picture in list(enumerate(made))[kept]:
        found = data[picture.offset : picture.offset + picture.length]
        if number in shrink:
            found = smaller(found)
        rows.append({"id": f"{name}{number}", "image": {"bytes": found, "path": None}})
    path = folder / f"{name}.parquet"
    schema = pa.schema([("id", pa.string()), ("image", IMAGE)])
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path, row_group_size=4)
    return features({"queries": [path]}, SerialExecutor())


def test_pictures_in_blocks_and_many_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = _images(tmp_path, "a", slice(0, 10), ())
    other = _images(tmp_path, "b", slice(6, 14), (7, 8))
    pool = SerialExecutor()
    whole = same_among([one, other], pool)
    assert whole[0, 0] == whole[1, 1] == []
    assert {(pair.one, pair.other, pair.how) for pair in whole[0, 1]} == {
        (6, 0, "bytes"),
        (7, 1, "rescaled"),
        (8, 2, "rescaled"),
        (9, 3, "bytes"),
    }
    assert whole[0, 1] == same_images(one, other, pool)
    monkeypatch.setattr(pairs, "_POINTS_AT_ONCE", 97)
    assert same_among([one, other], pool) == whole
    monkeypatch.setattr(nominate, "_MANY", 1)
    assert same_among([one, other], pool) == whole
