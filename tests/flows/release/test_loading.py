"""What a release says of itself to `datasets`: true as it is made, and found out where it is not."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from curation.audit.layouts.recognise import recognise
from curation.evaluation import variants
from curation.published.manifest import read_manifest
from flows.engine.progress import SilentReporter
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.release import loading
from flows.release.loading import check_loads, first_difference
from flows.release.versions import Maker
from schemas.errors import ReleaseError
from schemas.published import card_features
from schemas.tables import CORPUS, QUERIES, TABLES
from tests.curation.release.known import make_world


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small release with images, built once; read-only."""
    world = make_world(tmp_path_factory.mktemp("released"))
    world.dev = {world.queries[0].id}
    return world.release()


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture
def damaged(released: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(released, tmp_path / "damaged"))


def replace_in_card(directory: Path, pattern: str, by: str) -> None:
    card = directory / "README.md"
    text, count = re.subn(pattern, by, card.read_text("utf-8"), count=1, flags=re.S)
    assert count
    card.write_text(text, "utf-8")


def with_broken_image(table: pa.Table) -> pa.Table:
    images = [{"bytes": b"no image", "path": item["path"]} for item in table["image"].to_pylist()]
    place = table.schema.get_field_index("image")
    return table.set_column(place, table.schema.field("image"), pa.array(images, table["image"].type))


def rewrite(directory: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    (path,) = QUERIES.files(directory, "test")
    pq.write_table(change(pq.read_table(path)), path)


def cut(directory: Path) -> None:
    (path,) = QUERIES.files(directory, "test")
    path.write_bytes(path.read_bytes()[:-20])


def test_what_is_made_loads_and_the_cache_is_gone(released: Path, tmp_path: Path) -> None:
    check_loads([released], tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (
            lambda it: replace_in_card(it, r'("dtype": )"string"(, "name": "language")', r'\1"int64"\2'),
            r"config 'corpus', ",
        ),
        (
            lambda it: replace_in_card(it, r'("num_examples": )(\d+)', r"\g<1>9\2"),
            r"config 'corpus', NonMatchingSplitsSizesError",
        ),
        (lambda it: replace_in_card(it, "config_name: excluded", "config_name: exclusions"), "'exclu"),
        (lambda it: replace_in_card(it, r"\n---\n", "\n: [\n---\n"), "its card"),
        (lambda it: rewrite(it, lambda rows: rows.slice(1)), r"config 'queries', NonMatchingSplits"),
        (lambda it: rewrite(it, lambda rows: rows.drop_columns(["license"])), r"config 'queries'.*license"),
        (lambda it: rewrite(it, with_broken_image), r"config 'queries', split 'test': row 0 cannot be dec"),
        (cut, "card or its files cannot be read"),
    ],
    ids=["features", "rows", "config", "card", "a row less", "a column less", "image", "cut"],
)
def test_a_difference_is_told(
    damaged: Path, damage: Callable[[Path], None], told: str, tmp_path: Path
) -> None:
    damage(damaged)
    assert re.search(told, first_difference(damaged, tmp_path / "scratch"))


def test_the_error_names_task_and_what_differs(damaged: Path, tmp_path: Path) -> None:
    rewrite(damaged, with_broken_image)
    with pytest.raises(ReleaseError, match=r"damaged does not load .*'queries', split 'test': row 0"):
        check_loads([damaged], tmp_path)


def die(*_: Any) -> str:
    os._exit(1)


def test_a_process_that_dies_is_told(released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "_load", die)
    with pytest.raises(ReleaseError, match="the process that loads it died"):
        check_loads([released], tmp_path)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_features_are_stated_as_datasets_states_them(table: Any) -> None:
    import datasets

    for schema in table.schemas:
        stated = datasets.Features._from_yaml_list(card_features(schema))
        assert list(stated.items()) == list(datasets.Features.from_arrow_schema(schema).items())


def test_the_card_holds_features_rows_and_sizes_of_every_config(released: Path) -> None:
    stated = yaml.safe_load((released / "README.md").read_text("utf-8").split("---")[1])
    infos = {info["config_name"]: info for info in stated["dataset_info"]}
    assert list(infos) == [config["config_name"] for config in stated["configs"]]
    (path,) = CORPUS.files(released, "test")
    rows = pq.read_metadata(path).num_rows
    assert infos["corpus"]["splits"][0].items() >= {"name": "test", "num_examples": rows}.items()
    assert infos["corpus"]["download_size"] == sum(item.stat().st_size for item in CORPUS.files(released))


def test_what_does_not_load_is_not_put_in_place(damaged: Path, tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "workspace")
    manifest = read_manifest(damaged)
    staged = workspace.temporary / "release" / manifest.dataset / manifest.version / manifest.task
    shutil.move(damaged, staged)
    rewrite(staged, with_broken_image)
    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    spec = SimpleNamespace(name=manifest.dataset)
    maker = Maker(session, spec, tmp_path, {}, lambda version: None)  # type: ignore[arg-type]
    with pytest.raises(ReleaseError, match="does not load with datasets"):
        maker._placed(manifest.version, [manifest])
    assert not workspace.releases.exists() or not any(workspace.releases.iterdir())


def test_queries_of_one_value_load_by_the_name_of_their_config(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(variants, "MINIMUM", 1)
    world = make_world(tmp_path / "made")
    world.queries = [replace(one, specialty=("", "cardiology")[n % 2]) for n, one in enumerate(world.queries)]
    folder = world.release()
    (config,) = variants.value_configs(folder)
    assert (config.name, config.splits) == ("specialty-cardiology-queries", ("test",))
    assert first_difference(folder, tmp_path) == ""
    loaded = datasets.load_dataset(str(folder), config.name, split="test", cache_dir=str(tmp_path / "cache"))
    wanted = sorted(one.id for one in world.queries if one.specialty == "cardiology")
    assert wanted and sorted(loaded["id"]) == wanted
    assert f'load_dataset(path, "{config.name}", split="test")' in (folder / "README.md").read_text("utf-8")
    plan = recognise(folder, lambda name: [])
    assert not any("cardiology" in part.subset for part in plan.parts), "a part of the files of all"
    replace_in_card(folder, '"cardiology"', '"neurology"')
    assert config.name in first_difference(folder, tmp_path)
