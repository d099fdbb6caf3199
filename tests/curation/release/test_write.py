"""Write and seal: a release loads with `datasets`, repeats byte for byte, refuses what must not go out."""

from __future__ import annotations

import dataclasses
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from curation.audit import audit
from curation.published.manifest import ReleaseManifest, hash_files, read_manifest, unlike
from curation.published.writer import write_table
from curation.release import card, facts
from curation.release.write import Written
from curation.tasks.image_search.facts import ImageCheck
from schemas.article import Graphic
from schemas.columns import FACETS
from schemas.errors import ConservationError, ReleaseError, WorkspaceError
from schemas.hashing import canonical_json, sha256_bytes, sha256_text
from schemas.label import RecordLabels
from schemas.record import to_table
from schemas.stages import Reason
from schemas.tables import IMAGE_CHECKS, ORIGIN_CORPUS, QUERIES
from tests.curation.release.known import World, make_world, noise_image, run_sql
from tests.releases import card_text


def tree(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def test_loads_offline_with_datasets(known: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    import datasets

    def load(config: str) -> Any:
        return datasets.load_dataset(str(known), config, split="test", cache_dir=str(tmp_path / "cache"))

    queries, corpus, qrels, excluded = (load(name) for name in ("queries", "corpus", "qrels", "excluded"))
    assert queries.column_names == QUERIES.schema.names
    assert [image.size for image in queries["image"]] and all(
        isinstance(image, Image.Image) for image in queries["image"]
    )
    assert set(qrels["query-id"]) == set(queries["id"])
    assert set(qrels["corpus-id"]) | set(excluded["corpus-id"]) == set(corpus["id"])
    assert set(qrels["score"]) == {2}
    evidence = load("provenance_qrels")[0]["evidence"]
    assert evidence[0]["text"].startswith("Radiography") or evidence[0]["start"] == 0
    assert set(datasets.get_dataset_config_names(str(known))) >= {"queries", "corpus", "qrels", "excluded"}
    assert datasets.load_dataset(str(known), split="test", cache_dir=str(tmp_path / "cache")).column_names[
        0
    ] == ("query-id")


def test_queries_hold_no_trace_of_their_source(known: Path) -> None:
    (path,) = (known / "queries").glob("*.parquet")
    for row in pq.read_table(path).to_pylist():
        shown = f"{row['id']} {row['text']} {row['image']['path']}"
        assert "PMC" not in shown and "f1" not in row["image"]["path"] and "#" not in shown


def test_jpeg_and_png_are_copied_and_gif_becomes_png(world: World) -> None:
    directory = world.release()
    (path,) = (directory / "queries").glob("*.parquet")
    released = {row["id"]: row["image"]["bytes"] for row in pq.read_table(path).to_pylist()}
    (path,) = (directory / "provenance" / "queries").glob("*.parquet")
    origins = {row["id"]: row for row in pq.read_table(path).to_pylist()}
    for query in world.queries:
        assert query.image is not None and query.image.path is not None
        source = (world.root / "raw" / query.image.path).read_bytes()
        origin = origins[query.id]
        assert origin["image_sha256"] == sha256_bytes(released[query.id])
        assert origin["image_source_sha256"] == sha256_bytes(source)
        if query.image.format == "gif":
            assert origin["image_transform"] == "gif to png, first frame"
            wanted = Image.open(io.BytesIO(source)).convert("RGB")
            assert Image.open(io.BytesIO(released[query.id])).tobytes() == wanted.tobytes()
        else:
            assert released[query.id] == source and origin["image_transform"] == ""


def test_two_builds_are_equal_whatever_the_directory_order_or_batch_size(tmp_path: Path) -> None:
    first, second = make_world(tmp_path / "a"), make_world(tmp_path / "deeper" / "b")
    for rows in (second.queries, second.documents, second.qrels, second.excluded, second.sources):
        rows.reverse()

    def whole(text: str, views: Mapping[str, Sequence[Path]]) -> Iterator[pa.RecordBatch]:
        yield from pa.Table.from_batches(list(run_sql(text, views))).combine_chunks().to_batches()

    def patched(text: str, views: Mapping[str, Sequence[Path]]) -> Iterator[pa.RecordBatch]:
        batches = list(run_sql(text, views))
        return whole(text, views) if batches else iter(())

    assert tree(first.release()) == tree(second.release(query=patched))


def test_an_equal_release_is_left_alone_and_another_is_refused(world: World) -> None:
    directory = world.release()
    before = {name: (directory / name).stat().st_mtime_ns for name in tree(directory)}
    world.release()
    assert before == {name: (directory / name).stat().st_mtime_ns for name in tree(directory)}
    world.documents[0] = dataclasses.replace(world.documents[0], title="Another title")
    with pytest.raises(ReleaseError, match="taken by other content"):
        world.release()
    assert before == {name: (directory / name).stat().st_mtime_ns for name in tree(directory)}
    assert [path.name for path in directory.parent.iterdir()] == ["visual_context"]
    assert world.release(version="1.0.1").is_dir()


def test_a_damaged_release_is_not_taken_for_an_equal_one(world: World) -> None:
    directory = world.release()
    (directory / "README.md").write_text("changed", encoding="utf-8")
    with pytest.raises(ReleaseError, match="taken"):
        world.release()


def test_the_hash_ignores_the_audit_and_nothing_else(world: World) -> None:
    directory = world.release()
    manifest = read_manifest(directory)
    assert manifest.release_hash == manifest.computed_hash()
    (directory / "audit.json").write_text("{}", encoding="utf-8")
    (directory / "audit.html").write_text("x", encoding="utf-8")
    (directory / ".audit.json.tmp").write_text("{", encoding="utf-8")  # as a killed audit leaves it
    assert hash_files(directory) == dict(manifest.files)
    assert {"README.md", "corpus/test-00000-of-00001.parquet"} <= set(manifest.files)
    text = (directory / "release.json").read_text(encoding="utf-8")
    assert str(world.root) not in text and "PMC909" not in text


@pytest.mark.parametrize("rows", [0, 1, 99, 100, 101, 250])
def test_shards_are_cut_by_rows_and_payload_alone(tmp_path: Path, rows: int) -> None:
    images = [
        {"bytes": noise_image("png", 3 + number % 5), "path": f"{number}.png"} for number in range(rows)
    ]
    table = pa.Table.from_pydict(
        {
            "id": [f"q{number:04d}" for number in range(rows)],
            "text": ["words"] * rows,
            "image": images,
            "language": ["en"] * rows,
            "license": ["CC0-1.0"] * rows,
            "is_synthetic": [False] * rows,
            **{column.name: [0.0 if column.type == pa.float64() else ""] * rows for column in FACETS},
        },
        schema=QUERIES.schema,
    )
    written = []
    for name, step in (("a", 7), ("b", 1000)):
        chunks = (table.slice(start, step) for start in range(0, rows, step))
        assert write_table(QUERIES, chunks, tmp_path / name, max_shard_bytes=1) == rows
        written.append(tree(tmp_path / name))
    assert written[0] == written[1]
    count = max(1, -(-rows // 100))
    assert list(written[0]) == [f"queries/test-{n:05d}-of-{count:05d}.parquet" for n in range(count)]
    shard = pq.ParquetFile(tmp_path / "a" / "queries" / f"test-00000-of-{count:05d}.parquet")
    if rows:
        codecs = {
            shard.metadata.row_group(0).column(n).path_in_schema: shard.metadata.row_group(0)
            .column(n)
            .compression
            for n in range(shard.metadata.num_columns)
        }
        assert codecs["image.bytes"] == "UNCOMPRESSED" and codecs["text"] == "ZSTD"


@pytest.mark.usefixtures("fewer_defects")
def test_an_empty_build_is_an_empty_release(world: World) -> None:
    """`datasets` refuses to materialise a split without rows, so the card lists no such config."""
    world.queries, world.documents, world.qrels, world.excluded = [], [], [], []
    directory = world.release()
    assert load_every_config(directory) == {"funnel": ["test"], "drops": ["test"]}
    card = card_text(directory)
    assert "**empty**: no queries" in card and "There is nothing to ask" in card
    assert "load_dataset(path" not in card
    manifest = read_manifest(directory)
    assert manifest.is_empty and not manifest.publishable_by_content
    report = audit(directory, run_sql)
    assert report.verdict == "clean" and "corpus: 0" in report.rows
    assert not report.publishable and "no query" in report.not_publishable_because[0]


def load_every_config(directory: Path) -> dict[str, list[str]]:
    """Every config a card lists, each of its splits loaded as a consumer would; none may be without rows."""
    import datasets

    found: dict[str, list[str]] = {}
    for name in datasets.get_dataset_config_names(str(directory)):
        loaded = datasets.load_dataset(str(directory), name, cache_dir=str(directory.parent / "cache"))
        found[name] = sorted(loaded, reverse=True)
        assert all(split.num_rows for split in loaded.values()), name
    return found


def test_every_config_of_the_card_loads_and_none_with_rows_is_missing(world: World) -> None:
    world.dev = {world.queries[0].id}
    world.excluded = [row for row in world.excluded if row.query_id not in world.dev]
    directory = world.release()
    found = load_every_config(directory)
    assert found["queries"] == found["qrels"] == ["test", "dev"]
    assert found["excluded"] == ["test"], "no pair of the dev query is excluded"
    held = {path.parent.name for path in directory.rglob("*.parquet") if pq.read_metadata(path).num_rows}
    assert {name.removeprefix("provenance_") for name in found} == held


def test_a_card_says_of_a_setting_what_the_release_was_built_with(world: World) -> None:
    text = card_text(world.release())
    assert "A figure without a usable image makes no query." in text
    assert "at least 25 words, cites at most 2 figures" in text
    world.settings["visual_context"] |= {"require_image": False, "min_words": 30}
    text = card_text(world.release(version="2.0.0"))
    assert "A figure without a usable image is a query by its caption alone." in text
    assert "makes no query" not in text and "at least 30 words, cites" in text


def test_a_manifest_of_the_older_format_is_read_and_keeps_its_hash(known: Path, tmp_path: Path) -> None:
    """As format 2 was written: `publishable`, and neither of the newer fields."""
    body = json.loads((known / "release.json").read_text("utf-8"))
    body["publishable"] = body.pop("publishable_by_content")
    for name in ("change", "made_with", "restricted_names", "vocabularies", "release_hash"):
        del body[name]
    body["format_version"] = 2
    body["release_hash"] = sha256_text(canonical_json(body))
    path = tmp_path / "release.json"
    path.write_text(json.dumps(body), "utf-8")
    manifest = read_manifest(tmp_path)
    assert manifest.publishable_by_content and manifest.change == {}
    assert "before releases recorded" in unlike(manifest.made_with, {"python": "3.11"})
    assert manifest.computed_hash() == manifest.release_hash == body["release_hash"]
    assert json.loads(manifest.to_json()) == body
    path.write_text(json.dumps(body | {"change": {}}), "utf-8")
    with pytest.raises(ReleaseError, match="says it is of format 2, but"):
        read_manifest(tmp_path)


def test_synthetic_rows_make_a_release_unpublishable(world: World) -> None:
    assert world.manifest().publishable_by_content
    world.queries[0] = dataclasses.replace(world.queries[0], is_synthetic=True)
    manifest = world.manifest(version="1.0.1")
    assert not manifest.publishable_by_content and "synthetic" in manifest.not_publishable_because[0]


def nd_licence(world: World) -> None:
    world.documents[0] = dataclasses.replace(world.documents[0], license="CC-BY-ND-4.0")


def retracted_source(world: World) -> None:
    world.sources[0] = dataclasses.replace(world.sources[0], is_retracted=True)


def missing_image(world: World) -> None:
    image = world.queries[0].image
    assert image is not None and image.path is not None
    (world.root / "raw" / image.path).unlink()


def changed_image(world: World) -> None:
    image = world.queries[0].image
    assert image is not None and image.path is not None
    (world.root / "raw" / image.path).write_bytes(noise_image("jpeg", 77))


def truncated_image(world: World) -> None:
    image = world.queries[0].image
    assert image is not None and image.path is not None
    data = (world.root / "raw" / image.path).read_bytes()[:200]
    (world.root / "raw" / image.path).write_bytes(data)
    broken: Graphic = dataclasses.replace(image, sha256=sha256_bytes(data))
    world.queries[0] = dataclasses.replace(world.queries[0], image=broken)


def missing_prose(world: World) -> None:
    (world.cards / "visual_context" / "limitations.md").unlink()


def empty_prose(world: World) -> None:
    (world.cards / "limitations.md").write_text(" \n", encoding="utf-8")


def typed_number(world: World) -> None:
    (world.cards / "visual_context" / "summary.md").write_text(
        "It has 4 queries, made in 2026 under CC BY 4.0.", encoding="utf-8"
    )


def unknown_fact(world: World) -> None:
    (world.cards / "visual_context" / "summary.md").write_text(
        "It has {{ counts.nonsense }} queries.", encoding="utf-8"
    )


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (nd_licence, "CC-BY-ND-4.0"),
        (retracted_source, "pmc:PMC901.1"),
        (missing_image, "no longer there"),
        (changed_image, "have changed since"),
        (truncated_image, "does not decode"),
        (missing_prose, "data_cards/known/visual_context/limitations.md"),
        (empty_prose, "data_cards/known/limitations.md"),
        (typed_number, "'4'"),
        (unknown_fact, "data_cards/known/visual_context/summary.md"),
    ],
)
def test_refusals_name_the_culprit_and_leave_nothing(
    world: World, damage: Callable[[World], None], message: str
) -> None:
    damage(world)
    with pytest.raises((ReleaseError, WorkspaceError)) as caught:
        world.release()
    assert message in str(caught.value)
    assert not list((world.root / "releases").rglob("*.parquet"))
    assert not list((world.root / "releases").rglob(".*"))


def test_what_dies_between_the_steps_leaves_no_release(world: World) -> None:
    seen: list[list[str]] = []

    def dies(written: Written) -> tuple[str, ...]:
        seen.append([path.name for path in written.directory.iterdir() if path.is_file()])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        world.release(derive=dies)
    assert seen == [[]], "neither release.json nor a card before the seal"
    assert not [path for path in (world.root / "releases").rglob("*") if path.is_file()]
    other = make_world(world.root / "other")
    assert tree(world.release()) == tree(other.release())


def test_facts_of_written_tables_hold_to_the_end(world: World) -> None:
    kept: list[Written] = []

    def keep(written: Written) -> tuple[str, ...]:
        kept.append(written)
        return ()

    directory = world.release(derive=keep)
    whole = facts.compute(directory, run_sql)
    assert whole == {**kept[0].facts, **facts.of_derived(directory, run_sql)}
    manifest = read_manifest(directory)
    assert dataclasses.replace(manifest, files={}, release_hash="") == read_back(kept[0].head)


def read_back(head: ReleaseManifest) -> ReleaseManifest:
    """A manifest with the types that JSON keeps."""
    content = json.loads(head.to_json())
    lists = ("not_publishable_because", "stages", "siblings", "shaped_by", "vocabularies")
    return ReleaseManifest(**{**content, **{name: tuple(content[name]) for name in lists}})


def test_licences_that_fit_no_common_one_are_refused(world: World) -> None:
    world.profile = "noncommercial"
    world.documents[0] = dataclasses.replace(world.documents[0], license="CC-BY-NC-4.0")
    with pytest.raises(ReleaseError, match=r"no licence fits.*CC-BY-NC-4.0"):
        world.release()


def test_a_funnel_that_loses_units_is_refused(world: World) -> None:
    world.drops["crawl"] = world.drops["crawl"][:1]
    with pytest.raises(ConservationError, match="4 article entered, 2 kept, 1 dropped"):
        world.release()


def test_the_funnel_and_the_card_tell_what_was_dropped(world: World) -> None:
    directory = world.release()
    card = card_text(directory)
    assert "| crawl | article | 4 | 2 | 2 | licence_not_allowed 1, retracted 1 |" in card
    assert "There are 4 queries." in card
    views = {"drops": sorted((directory / "provenance" / "drops").glob("*.parquet"))}
    reasons = [
        row["reason"]
        for batch in run_sql("SELECT reason FROM drops ORDER BY id", views)
        for row in batch.to_pylist()
    ]
    assert sorted(reasons) == sorted([Reason.RETRACTED, Reason.LICENCE_NOT_ALLOWED, Reason.NO_CITING_PASSAGE])


def test_front_matter_is_yaml_the_hub_accepts(known: Path) -> None:
    from huggingface_hub import DatasetCard

    data = DatasetCard.load(known / "README.md").data.to_dict()
    assert data["license"] == "cc-by-sa-4.0" and data["language"] == ["en"]
    assert data["size_categories"] == ["n<1K"]
    assert [config["config_name"] for config in data["configs"] if config.get("default")] == ["qrels"]


def test_what_was_read_in_images_is_published_and_told(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    ids = sorted(row.id for row in world.documents)[:3]
    checks = [
        ImageCheck(id=name, kind="ct", text_check="passed" if name > ids[0] else "not_run", flags=("face",))
        for name in ids
    ]
    path = tmp_path / "checks.parquet"
    pq.write_table(to_table(ImageCheck, checks[::-1]), path)
    world.more = {"image_checks": [path]}
    directory = world.release()
    (file,) = IMAGE_CHECKS.files(directory)
    assert pq.read_table(file).to_pylist() == [
        {"id": row.id, "kind": "ct", "text_check": row.text_check, "flags": ["face"]} for row in checks
    ]
    assert "2 images passed; **not run** for 1 images" in card_text(directory)


def test_documents_without_labels_of_their_own_take_those_of_their_article(world: World) -> None:
    first, second, *others = world.sources
    world.sources = [
        *others,
        dataclasses.replace(first, article_type="case-report"),
        dataclasses.replace(second, is_book=True),
    ]
    world.labels = [
        RecordLabels(
            id=first.id, article_id=first.id, unit="article", specialties=("pulmonology", "oncology")
        )
    ]
    own = dataclasses.replace(world.documents[0], specialty="nursing", genre="letter")
    world.documents[0] = own
    directory = world.release()
    (file,) = ORIGIN_CORPUS.files(directory)
    found = {row["id"]: (row["specialty"], row["genre"]) for row in pq.read_table(file).to_pylist()}
    labels = {first.id: ("pulmonology", "case-report"), second.id: ("", "book")}
    assert found == {row.id: labels[row.article_id] for row in world.documents} | {
        own.id: ("nursing", "letter")
    }


SURE = ("domain", "domain_confidence", "body_system", "body_system_confidence")


def test_domain_and_body_system_are_published_with_their_confidence(world: World) -> None:
    """A figure's own body system counts before its article's, and brings its own confidence."""
    query, article = world.queries[0], world.queries[0].article_id
    whole = RecordLabels(
        id=article,
        article_id=article,
        unit="article",
        domain="clinical_case",
        domain_confidence=0.9,
        body_systems=("respiratory",),
        body_system_confidence=0.8,
    )
    own = dataclasses.replace(
        whole, id=query.source_id, unit="figure", body_systems=("nervous",), body_system_confidence=0.6
    )
    other = next(item for item in world.queries if item.article_id != article)
    unsure = dataclasses.replace(
        whole, id=other.article_id, article_id=other.article_id, domain_confidence=0.19, body_systems=()
    )
    world.labels = [whole, own, dataclasses.replace(unsure, body_system_confidence=0.0)]
    directory = world.release()
    rows = [row for file in QUERIES.files(directory) for row in pq.read_table(file).to_pylist()]
    found = {row["id"]: tuple(row[name] for name in SURE) for row in rows}
    assert found[query.id] == ("clinical_case", 0.9, "nervous", 0.6)
    elsewhere = [item for item in world.queries if item.article_id != article and item.id in found]
    for item in elsewhere:
        below = 0.19 if item.article_id == other.article_id else 0.0
        assert found[item.id] == ("", below, "", 0.0)
    (file,) = ORIGIN_CORPUS.files(directory)
    told = {row["article_id"]: tuple(row[name] for name in SURE) for row in pq.read_table(file).to_pylist()}
    assert told[article] == ("clinical_case", 0.9, "respiratory", 0.8)
    card = (directory / "card" / "origin.md").read_text("utf-8")
    assert re.search(r"\| domain \| clinical_case \| \d+ \| 0\.900 \|", card)
    assert re.search(r"\| domain \| undecided \(\d+ of them below the floor of 0\.6\) \| \d+ \|", card)


def test_the_card_says_that_articles_went_by_lot(world: World) -> None:
    """Only where another task of the dataset drew as well, and of releases that know the lot."""
    head = read_manifest(world.release())
    both = ["summary", head.task]
    for version, tasks, said in ((5, both, True), (4, both, False), (5, [head.task], False)):
        stage = {"name": "partition", "version": version, "params": {"tasks": tasks}}
        assert bool(card.drawn_with(dataclasses.replace(head, stages=(stage,)))) == said
