"""The generated shards of the scale benchmark, small: true to the real stages, built, repeatable."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from benchmarks.measure import each_once
from benchmarks.pipeline_scale.__main__ import growth
from benchmarks.pipeline_scale.shards import STAGES, generate
from benchmarks.pipeline_scale.spec import TASKS, write_spec
from benchmarks.pipeline_scale.world import Mix, World
from curation.extract.pointers import pointers_in
from curation.images.fingerprint import perceptual_hash
from curation.release.pieces import is_pieced
from curation.tasks.registry import TASKS as BUILT
from flows.build.resources import task_resources
from flows.engine.execution import workers
from flows.engine.manifest import read_manifest
from flows.engine.runner import Resource, plan, read_rows, table_files
from flows.engine.workspace import Workspace
from flows.pipeline import VERSIONS, parameters_of
from flows.specs import read_spec
from flows.vocabulary.indexes import planned_index
from schemas.concept import Mention
from schemas.diagnosis import PrincipalDiagnosis
from schemas.extracted import Figure, Passage
from schemas.hashing import sha256_bytes, sha256_text
from schemas.image import FigureImage
from schemas.stages import RecordStage
from tests.pipeline import run_jobs, run_partition

SMALL = Mix(full=5, series=14, records=24, with_abstract=2)
WORLD = World(shards=2, seed=7, mix=SMALL)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A generated workspace."""
    return generate(tmp_path_factory.mktemp("scale") / "workspace", WORLD, workers=1)


@pytest.fixture(scope="module")
def built(made: Workspace) -> Workspace:
    """The same with every task built and shared out."""
    spec = read_spec(write_spec(made.root.parent / "card"))
    with workers(1) as pool:
        for name in TASKS:
            params = parameters_of(spec)[name]
            resources = task_resources(made, name, BUILT[name].per_article)
            run_jobs(plan(made, BUILT[name].per_article, params=params, resources=resources), pool)
            for step in BUILT[name].steps:
                assert isinstance(step, RecordStage)
                run_jobs(plan(made, step, params=params, versions=VERSIONS), pool)
            run_jobs(plan(made, BUILT[name].over_all, versions=VERSIONS), pool)
    run_partition(made, spec)
    return made


def _rows(workspace: Workspace, table: str) -> int:
    return sum(pq.read_metadata(path).num_rows for path in table_files(workspace, table))


def test_every_stage_takes_the_shards_for_its_own(made: Workspace) -> None:
    index = planned_index(made, "native")
    assert index is not None
    resources = {**index.resources, "raw": Resource(made.raw)}
    for stage in STAGES:
        jobs = plan(made, stage, resources=resources, versions=VERSIONS)
        assert [job.is_done() for job in jobs] == [True, True], stage.name


def test_what_rows_say_of_texts_and_files_is_true(made: Workspace) -> None:
    passages = {row.id: row for row in read_rows(Passage, table_files(made, "extract.passages"))}
    figures = read_rows(Figure, table_files(made, "extract.figures"))
    texts = {row.id: row.text for row in passages.values()} | {row.id: row.caption for row in figures}
    for row in passages.values():
        assert row.text_sha256 == sha256_text(row.text)
        found = [(item.start, item.end) for item in pointers_in(row.text)]
        assert [(item.start, item.end) for item in row.pointers] == found
    for mention in (one for row in figures for one in row.mentions):
        assert texts[mention.passage_id][mention.start : mention.end] == mention.text
    named = read_rows(Mention, table_files(made, "ground.mentions"))
    assert all(texts[row.text_id][row.start : row.end] == row.text for row in named if row.text_id in texts)
    for found_diagnosis in read_rows(PrincipalDiagnosis, table_files(made, "diagnoses.diagnoses")):
        for item in found_diagnosis.evidence:
            assert texts[item.text_id][item.start : item.end] == item.text == found_diagnosis.name
    images = read_rows(FigureImage, table_files(made, "images.images"))
    assert len({row.sha256 for row in images}) == len(images) == len(figures)
    assert all(sha256_bytes((made.raw / row.path).read_bytes()) == row.sha256 for row in images)
    _check_hash(made.raw / images[0].path, images[0].phash)


def _check_hash(path: Path, phash: str) -> None:
    from PIL import Image

    with Image.open(path) as image:
        assert perceptual_hash(image) == phash


def test_every_task_gets_what_it_was_made_for(built: Workspace) -> None:
    documents = {name: _rows(built, f"{name}_all.documents") for name in TASKS}
    assert documents["image_search"] == 2 * 3
    passages, cases = _rows(built, "extract.passages"), _rows(built, "cases.cases")
    assert documents["visual_context"] == passages
    assert 0.95 * cases < documents["case_study"] <= cases
    assert documents["summary"] + _rows(built, "summary_all._dropped") == 2 * (SMALL.records + 2)
    queries = {name: _rows(built, f"{name}_all.queries") for name in TASKS}
    assert queries["summary"] == 2 * 2
    assert queries["image_search"] == 2
    assert queries["visual_context"] > 0.8 * 2 * SMALL.full * 7
    assert queries["case_study"] > 0.5 * 2 * SMALL.series
    assert 0 < _rows(built, "partition._dropped") < sum(queries.values())


def test_the_same_seed_gives_the_same_shards(made: Workspace, tmp_path: Path) -> None:
    again = generate(tmp_path / "again", WORLD, workers=1)
    other = generate(tmp_path / "other", World(shards=1, seed=8, mix=SMALL), workers=1)
    assert _digest(made, WORLD) == _digest(again, WORLD)
    assert _digest(other, World(shards=1, seed=8, mix=SMALL)) != _digest(made, World(1, 7, SMALL))


def _digest(workspace: Workspace, world: World) -> str:
    """Hash of the output hashes of every generated shard."""
    found = []
    for stage in STAGES:
        for shard in range(world.shards):
            manifest = read_manifest(workspace.stage(stage.name) / world.shard_name(shard))
            assert manifest is not None
            found += [f"{stage.name}.{name} {out.sha256}" for name, out in manifest.outputs.items()]
    return hashlib.sha256("\n".join(found).encode()).hexdigest()


def test_a_usual_world_has_the_mix_and_size_that_is_asked_for() -> None:
    for documents in (10_000, 100_000, 1_200_000):
        world = World.of(documents)
        assert abs(world.shards * world.mix.documents - documents) < 0.1 * documents
    assert World.of(1_200_000).diagnoses > 10 * World.of(100_000).diagnoses


def test_growth_is_the_exponent_between_neighbouring_sizes() -> None:
    results = {
        100: {"build": {"seconds": 2.0, "peak_rss_mb": 50}},
        1_000: {"build": {"seconds": 20.0, "peak_rss_mb": 50}},
        10_000: {"build": {"seconds": 2_000.0}},
    }
    assert growth(results) == {
        "100-1000": {"build.seconds": 1.0, "build.peak_rss_mb": 0.0},
        "1000-10000": {"build.seconds": 2.0},
    }


def test_a_short_sentence_left_alone_is_the_articles_own() -> None:
    sources = [
        "It was seen in all of them at once. And so. Nobody knew why it was.",
        "Another passage of it.",
    ]
    assert is_pieced("It was seen in all of them at once.\nAnd so.\nAnother passage of it.", sources)
    assert not is_pieced("It was seen in all of them at once.\nso. Nobody\nAnother passage of it.", sources)
    assert not is_pieced("It was seen in all of them at once. And now. Another passage of it.", sources)


def test_a_finished_step_is_not_run_again(tmp_path: Path) -> None:
    notes, ran = tmp_path / "figures.json", list[str]()

    def run(step: str) -> dict[str, int]:
        if step == "b" and ran.count("b") == 0:
            ran.append(step)
            raise KeyboardInterrupt
        ran.append(step)
        return {"seconds": len(ran)}

    with pytest.raises(KeyboardInterrupt):
        each_once(notes, ("a", "b", "c"), run)
    found = each_once(notes, ("a", "b", "c"), run)
    assert ran == ["a", "b", "b", "c"]
    assert [found[step]["seconds"] for step in ("a", "b", "c")] == [1, 3, 4]
