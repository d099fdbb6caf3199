"""Diagnostics end to end on small releases with known answers: conditions, reasons, shortcuts, same bytes."""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from curation.derived.diagnostics import facts
from curation.derived.diagnostics.candidates import published
from curation.derived.diagnostics.table import NOTES, read_notes
from curation.evaluation.collection import open_collection
from curation.evaluation.systems import parse_systems
from curation.published.writer import write_table
from flows.evaluate.diagnostics import DiagnosticOptions, DiagnosticSummary, diagnose
from flows.evaluate.retrieval import Bench, Options
from flows.release.baselines import text_systems
from schemas.tables import TOP_RANKED
from tests.curation.evaluation.world import Release, picture
from tests.curation.release.known import run_sql
from tests.flows.evaluate.test_models import FAKE

Row = dict[str, Any]


@pytest.fixture
def clip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A stand-in for sentence-transformers."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sentence_transformers.py").write_text(FAKE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "sentence_transformers", raising=False)
    importlib.import_module("sentence_transformers")
    yield
    sys.modules.pop("sentence_transformers", None)


def cases(*, images: bool = True, more: int = 0) -> Release:
    """Four queries of four articles: q1 needs its text, q2 its image, q3 either, q4 finds nothing by text.

    Documents d1 … d4 are their answers, d5 … d8 are of other articles. `more` queries of as many articles
    find theirs by text and by image.
    """
    told = ["gallbladder stones", "fever", "retinal bleeding", "unknown"]
    answers = [
        "gallbladder stones on sonography",
        "a rash was seen",
        "retinal bleeding of one eye",
        "swollen joint",
    ]
    release = Release()
    for place, (text, answer) in enumerate(zip(told, answers, strict=True), 1):
        query: Row = {
            "id": f"q{place}",
            "text": text,
            "article_id": f"a{place}",
            "source_id": f"a{place}#fig{place}",
        }
        document: Row = {"id": f"d{place}", "title": "", "text": answer, "article_id": f"b{place}"}
        other: Row = {"id": f"d{place + 4}", "title": "", "text": f"nothing {place} " * place}
        if images:
            query["image"] = picture(place)
            document["image"] = picture(place if place in (2, 3) else 50 + place)
            other["image"] = picture(70 + place)
        release.queries.append(query)
        release.documents += [document, other]
        release.qrels.append((f"q{place}", f"d{place}", 2))
    for place in range(more):
        query = {
            "id": f"r{place}", "text": f"finding{place}", "article_id": f"c{place}",
            "source_id": f"c{place}#fig1",
        }  # fmt: skip
        document = {"id": f"e{place}", "title": "", "text": f"finding{place}", "article_id": f"g{place}"}
        query["image"] = document["image"] = picture(100 + place)
        release.queries.append(query)
        release.documents.append(document)
        release.qrels.append((f"r{place}", f"e{place}", 2))
    release.documents.sort(key=lambda row: row["id"])
    return release


def hashes(directory: Path, given: dict[str, str]) -> None:
    """Provenance with another image hash in every row, but for those given."""
    for side in ("queries", "corpus"):
        path = directory / "provenance" / side / "test-00000-of-00001.parquet"
        table = pq.read_table(path)
        made = [
            row["image_sha256"] and given.get(row["id"], row["id"].ljust(64, "0"))
            for row in table.to_pylist()
        ]
        place = table.column_names.index("image_sha256")
        pq.write_table(table.set_column(place, "image_sha256", [made]), path)


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., tuple[DiagnosticSummary, dict[str, Row], Path]]:
    """Writes a release and its diagnostics; returns the summary, rows by query, and the folder."""

    def call(
        release: Release,
        *systems: str,
        name: str = "1",
        before: Callable[[Path], object] = lambda directory: hashes(directory, {}),
        **options: Any,
    ) -> tuple[DiagnosticSummary, dict[str, Row], Path]:
        directory = release.write(tmp_path / name)
        before(directory)
        release.seal(directory)
        collection = open_collection(directory)
        scratch = tmp_path / name / "scratch"
        scratch.mkdir()
        bench = Bench(collection, Options(k=10), tmp_path / "cache", scratch)
        for system in parse_systems(systems):
            bench.run(system)
        summary = diagnose(bench, collection, directory, DiagnosticOptions(**options))
        table = pq.read_table(directory / "diagnostics" / "test-00000-of-00001.parquet")
        return summary, {row["query-id"]: row for row in table.to_pylist()}, directory

    return call


def test_conditions_of_known_queries(run: Any) -> None:
    summary, rows, _ = run(cases(), "bm25", "image")
    assert summary.rows == 4
    assert [rows[query]["text_only"] for query in ("q1", "q2", "q3", "q4")] == [1.0, 0.0, 1.0, 0.0]
    assert rows["q2"]["image_only"] == rows["q3"]["image_only"] == 1.0 > rows["q1"]["image_only"]
    assert [rows[query]["needs"] for query in ("q2", "q3")] == ["image", "either"]
    assert rows["q1"]["needs"] in ("text", "either")
    assert rows["q2"]["shuffled_image"] < rows["q2"]["text_and_image"] == 1.0
    assert [rows[query]["bm25_solvable"] for query in ("q1", "q2", "q3", "q4")] == [True, False, True, False]
    assert all(row["caption_for_image"] is None for row in rows.values())
    told = summary.notes["conditions"]
    assert told["text_and_image"]["system"] == "reciprocal rank fusion of bm25 and image, image alone"
    assert (
        told["caption_for_image"]["why_not"] == "no words of the image are published beside the query's text"
    )


def test_what_cannot_run_is_null_with_its_reason(run: Any) -> None:
    release = cases()
    for document in release.documents:
        del document["image"]
    summary, rows, _ = run(release, "bm25")
    told = summary.notes["conditions"]
    assert {told[name]["why_not"] for name in ("image_only", "text_and_image", "shuffled_image")} == {
        "no system compares images with texts"
    }
    for row in rows.values():
        assert row["needs"] == "" and row["text_only"] is not None
        assert row["image_only"] is row["text_and_image"] is row["shuffled_image"] is None
    plain, _, _ = run(cases(images=False), "bm25", name="2")
    assert plain.notes["conditions"]["image_only"]["why_not"] == "queries of this task have no images"


def test_a_query_without_image_or_without_positive(run: Any) -> None:
    release = cases()
    del release.queries[1]["image"]
    release.queries[1]["image"] = None
    release.qrels.remove(("q4", "d4", 2))
    summary, rows, _ = run(release, "bm25", "image")
    assert rows["q2"]["image_only"] is None and rows["q2"]["needs"] == "" and rows["q2"]["text_only"] == 0.0
    assert summary.notes["conditions"]["image_only"]["not_for"] == {"the query has no image": 1}
    last = rows["q4"]
    assert last["candidates"] == 0 and last["needs"] == "" and last["shortcuts"] == []
    assert last["text_only"] is last["chance"] is last["bm25_solvable"] is None


@pytest.mark.usefixtures("clip")
def test_words_of_the_image_take_its_place(run: Any) -> None:
    """d7 shows the very image of q2, and its words hold those of d2."""
    release = cases()
    release.documents[6] |= {"image": picture(2), "text": "rash"}

    def same_image(directory: Path) -> None:
        hashes(directory, {"q2": "e" * 64, "d7": "e" * 64})

    summary, rows, _ = run(release, "bm25", "image", before=same_image)
    assert rows["q2"]["text_only"] == 0.0 and rows["q2"]["caption_for_image"] > 0.6
    assert [query for query, row in rows.items() if row["caption_for_image"] is not None] == ["q2"]
    assert summary.notes["conditions"]["caption_for_image"]["queries"] == 1
    _, others, _ = run(release, "st:toy", name="2", before=same_image, text=("st:toy",))
    assert others["q2"]["caption_for_image"] is not None


@pytest.mark.usefixtures("clip")
def test_the_best_text_system_is_taken(run: Any) -> None:
    summary, rows, _ = run(cases(), text=("st:toy", "bm25"))
    means = {}
    for place, system in enumerate(("bm25", "st:toy")):
        alone = run(cases(), name=f"alone{place}", text=(system,))[1]
        means[system] = sum(row["text_only"] for row in alone.values())
    assert means["bm25"] != means["st:toy"]
    assert summary.notes["conditions"]["text_only"]["system"] == max(means, key=lambda system: means[system])
    assert sum(row["text_only"] for row in rows.values()) == max(means.values())
    bare = cases()
    for document in bare.documents:
        document["text"] = ""
    lacking, rows, _ = run(bare, "image", name="2")
    assert lacking.notes["conditions"]["text_only"]["why_not"] == "the documents of this task have no texts"
    assert lacking.notes["bm25_solvable"]["why_not"] and rows["q1"]["bm25_solvable"] is None


@pytest.mark.usefixtures("clip")
def test_a_clip_model_reads_both(run: Any) -> None:
    summary, rows, _ = run(cases(more=10), "bm25", "clip:toy")
    told = summary.notes["conditions"]
    assert told["image_only"]["system"] == "clip:toy, image alone" and rows["q2"]["image_only"] > 0
    assert all(row["needs"] for row in rows.values())
    bare = cases(more=10)
    for document in bare.documents:
        document["text"] = ""
    summary, rows, _ = run(bare, "clip:toy", name="2")
    assert summary.notes["conditions"]["text_only"]["system"] == "clip:toy, text alone"
    assert rows["q1"]["text_and_image"] is not None


@pytest.mark.usefixtures("clip")
@pytest.mark.parametrize(("more", "is_blind"), [(0, False), (10, True)])
def test_a_clip_model_that_is_not_seen_to_read_images_fills_no_column(
    run: Any, monkeypatch: pytest.MonkeyPatch, more: int, is_blind: bool
) -> None:
    """Too few articles to tell; or a model to which all images look alike."""
    if is_blind:
        fake: Any = sys.modules["sentence_transformers"]
        one = fake.SentenceTransformer.one
        same = picture(1)
        monkeypatch.setattr(
            fake.SentenceTransformer, "one",
            lambda self, item: one(self, item if isinstance(item, str) else Image.open(io.BytesIO(same))),
        )  # fmt: skip
    summary, rows, _ = run(cases(more=more), "bm25", "clip:toy")
    told = summary.notes["conditions"]
    for name in ("image_only", "text_and_image", "shuffled_image"):
        assert {row[name] for row in rows.values()} == {None}
        assert "by a query's own image than by another's" in told[name]["why_not"]
    assert not any(row["needs"] for row in rows.values())
    assert any(row["text_only"] for row in rows.values())


@pytest.mark.usefixtures("clip")
def test_a_clip_model_in_a_folder_is_loaded_from_there(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = sys.modules["sentence_transformers"]
    make, loaded = library.SentenceTransformer, []

    def load(model: str) -> Any:
        loaded.append(model)
        return make(model)

    monkeypatch.setattr(library, "SentenceTransformer", load)
    folders = [tmp_path / "models" / name for name in ("toy", "another")]
    for folder in folders:
        folder.mkdir(parents=True)
    summary, _, _ = run(cases(more=10), "bm25", *(f"clip:{folder}" for folder in folders))
    assert (
        summary.notes["conditions"]["image_only"]["system"] == "clip:toy, image alone"
    )  # the first asked for
    assert set(loaded) == {str(folder) for folder in folders}
    assert loaded[-1] == str(folders[0])


def test_text_systems_of_a_spec(tmp_path: Path) -> None:
    folder = tmp_path / "toy"
    folder.mkdir()
    asked = ("image", "hybrid", f"st:{folder}", "clip:toy", "bm25", "bm25+rerank:toy", "dense")
    ran = {parse_systems([name])[0].name for name in asked} - {"dense"}
    assert text_systems(asked, ran) == ("hybrid", f"st:{folder}", "bm25")
    assert text_systems(("image",), {"image"}) == ("bm25",)


def test_candidates_are_those_published(run: Any) -> None:
    def pool(directory: Path) -> None:
        listed = {"q1": ["d1", "d5", "d6"], "q2": ["d2"], "q3": ["d8"], "q4": ["d4", "d5"]}
        rows = [{"query-id": query, "corpus-ids": ids} for query, ids in listed.items()]
        write_table(TOP_RANKED, [pa.Table.from_pylist(rows, schema=TOP_RANKED.schema)], directory)

    summary, rows, directory = run(cases(), "bm25", before=pool)
    assert summary.notes["shortcuts"]["candidates"] == "top_ranked"
    assert [rows[query]["candidates"] for query in ("q1", "q2", "q3", "q4")] == [3, 1, 2, 2]
    assert rows["q2"]["chance"] is None and rows["q2"]["shortcut_scores"] == []
    assert rows["q1"]["chance_first"] == round(1 / 3, 6)
    given = published(open_collection(directory), directory)
    assert given is not None and given["q3"].tolist() == [7]


def test_without_any_system_documents_are_drawn(run: Any) -> None:
    release = cases()
    for document in release.documents:
        document["text"] = ""
        del document["image"]
    release.excluded.append(("q1", "d8"))
    summary, rows, _ = run(release)
    assert summary.notes["shortcuts"]["candidates"].startswith("100 documents drawn")
    assert rows["q1"]["candidates"] == 7 and rows["q2"]["candidates"] == 8
    assert "length/longest" in summary.notes["shortcuts"]["why_not"]


def test_same_bytes_and_the_numbers_of_the_card(run: Any) -> None:
    _, _, first = run(cases(), "bm25", "image")
    _, _, second = run(cases(), "image", "bm25", name="2")
    for name in ("diagnostics/test-00000-of-00001.parquet", NOTES):
        assert (first / name).read_bytes() == (second / name).read_bytes()
    made = facts.facts(first, run_sql)["test"]
    assert made["conditions"]["text_only"]["mean"] == 0.5 and made["bm25_solvable"]["mean"] == 0.5
    assert made["bm25_solvable"]["groups"] == 4 and made["needs"]["image"]["mean"] >= 0.25
    assert sum(share["mean"] for share in made["needs"].values()) == pytest.approx(1)
    assert "caption_for_image" not in made["conditions"]
    assert made["differences"]["text_and_image - shuffled_image"]["mean"] > 0
    longest = made["shortcuts"]["length/longest"]
    gap = longest["ndcg"]["mean"] - longest["chance"]["mean"]
    assert longest["gain"]["mean"] == pytest.approx(gap, abs=1e-8)
    assert made["facets"]["language"]["en"]["queries"] == 4
    assert made["notes"] == read_notes(first)["test"]
    assert facts.facts(cases().write(first / "bare"), run_sql) == {}
