"""Distractors: alike in the stated order, never judged, excluded or near, stable when the corpus grows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.derived.distractors import facts, make_distractors
from curation.derived.distractors.bands import BANDS, band_codes
from curation.evaluation.collection import open_collection
from schemas.errors import ReleaseError
from schemas.tables import DISTRACTORS, ORIGIN_CORPUS
from tests.curation.evaluation.world import Release
from tests.curation.release.known import run_sql

_SIZES = {"<25": 5, "25-49": 30, "50-99": 60, "": 0}


def document(name: str, band: str = "25-49", **more: Any) -> dict[str, Any]:
    """A document of cardiology, a case report of an article of its own; its length is as the band says."""
    text = " ".join(["word"] * _SIZES[band])
    plain = {"specialty": "cardiology", "genre": "case-report", "article_id": f"a-{name}", "patient_id": ""}
    return {
        "id": name,
        "title": "T",
        "text": text,
        "text_sha256": name,
        "image_sha256": None,
        **plain,
        **more,
    }


def write(root: Path, documents: list[dict[str, Any]], **changes: Any) -> Path:
    """Query q1, of article own and patient p1: d-best answers it, d-near is judged and d-out excluded."""
    given: dict[str, Any] = {
        "documents": sorted(documents, key=lambda row: row["id"]),
        "queries": [{"id": "q1", "text": "Q", "article_id": "own", "patient_id": "p1"}],
        "qrels": [("q1", "d-best", 2), ("q1", "d-near", 1), ("q1", "d-not", 0)],
        "excluded": [("q1", "d-out")],
    }
    made = Release(**(given | changes))
    folder = made.write(root)
    path = ORIGIN_CORPUS.files(folder)[0]
    rows = [{name: row.get(name) for name in ORIGIN_CORPUS.schema.names} for row in made.documents]
    pq.write_table(pa.Table.from_pylist(rows, schema=ORIGIN_CORPUS.schema), path)
    made.seal(folder)
    return folder


def chosen(folder: Path, count: int = 10, split: str = "test") -> list[dict[str, Any]]:
    make_distractors(open_collection(folder, split), count, folder)
    return [row for path in DISTRACTORS.files(folder) for row in pq.read_table(path).to_pylist()]


def judged() -> list[dict[str, Any]]:
    names = ("d-best", "d-near", "d-not", "d-out")
    return [document(name) for name in names]


def test_looser_matches_follow_when_the_ring_runs_short(tmp_path: Path) -> None:
    others = [
        document("x-all"),
        document("x-genre", genre="letter"),
        document("x-band", "50-99"),
        document("x-neither", "<25", genre="letter"),
        document("x-text", ""),
        document("x-specialty", specialty="neurology"),
        document("x-language", language="de"),
    ]
    rows = chosen(write(tmp_path, [*judged(), *others]))
    assert [row["rank"] for row in rows] == [1, 2, 3, 4, 5]
    found = {row["corpus-id"]: row["matched"] for row in rows}
    assert [row["corpus-id"] for row in rows[:2]] == ["x-all", "x-genre"]
    assert found == {
        "x-all": ["specialty", "genre", "length_band"],
        "x-genre": ["specialty", "length_band"],
        "x-band": ["specialty", "genre"],
        "x-neither": ["specialty"],
        "x-text": ["specialty", "genre"],
    }
    assert {row["label_status"] for row in rows} == {"unjudged"}
    assert {row["corpus-id"]: row["length_band"] for row in rows}["x-text"] == ""


@pytest.mark.parametrize(
    "near",
    [
        {"article_id": "own"},
        {"article_id": "a-d-best"},
        {"article_id": "a-d-near"},
        {"patient_id": "p1"},
        {"patient_id": "p2"},
        {"text_sha256": "d-best"},
        {"image_sha256": "f" * 64},
    ],
)
def test_nothing_near_the_query_or_a_positive(tmp_path: Path, near: dict[str, Any]) -> None:
    documents = [*judged(), document("x-good"), document("x-bad", **near)]
    documents[0] |= {"patient_id": "p2", "image_sha256": "f" * 64}
    assert [row["corpus-id"] for row in chosen(write(tmp_path, documents))] == ["x-good"]


def test_what_is_undecided_is_alike_but_not_called_matched(tmp_path: Path) -> None:
    undecided = {"specialty": "", "genre": ""}
    documents = [row | undecided for row in judged()]
    documents += [document("x-one", **undecided), document("x-other")]
    rows = chosen(write(tmp_path, documents))
    assert [(row["corpus-id"], row["matched"]) for row in rows] == [("x-one", ["length_band"])]


def test_empty_texts_are_no_copies_of_each_other(tmp_path: Path) -> None:
    documents = [document(row["id"], "", text_sha256="e") for row in judged()]
    rows = chosen(write(tmp_path, [*documents, document("x-one", "", text_sha256="e")]))
    assert [row["matched"] for row in rows] == [["specialty", "genre"]]


def test_the_best_positive_is_the_highest_grade_then_the_lowest_id(tmp_path: Path) -> None:
    documents = [*judged(), document("x-one", "<25"), document("x-two", "50-99")]
    for row in documents:
        if row["id"] == "d-near":
            row |= document("d-near", "<25")
        if row["id"] == "d-not":
            row |= document("d-not", "50-99")
    labels = [("q1", "d-best", 1), ("q1", "d-near", 2), ("q1", "d-not", 2)]
    rows = chosen(write(tmp_path, documents, qrels=labels), count=1)
    assert [row["corpus-id"] for row in rows] == ["x-one"]


def many(count: int, queries: int) -> dict[str, Any]:
    return {
        "documents": [*judged(), *(document(f"x{number:04}") for number in range(count))],
        "queries": [
            {"id": f"q{n:03}", "text": "Q", "article_id": f"own{n}", "split": "dev" if n % 4 == 0 else "test"}
            for n in range(queries)
        ],
        "qrels": [(f"q{n:03}", "d-best", 2) for n in range(queries)],
        "excluded": [(f"q{n:03}", "d-out") for n in range(queries)],
    }


def test_a_further_document_moves_few_lists(tmp_path: Path) -> None:
    """One of 201 documents stands in about 10 of 201 lists, and only those change."""
    lists = []
    for number, count in enumerate((200, 201)):
        rows = chosen(write(tmp_path / str(number), **many(count, 120)))
        found: dict[str, list[str]] = {}
        for row in rows:
            found.setdefault(row["query-id"], []).append(row["corpus-id"])
        lists.append(found)
    assert len(lists[0]) == 90 and all(len(set(found)) == 10 for found in lists[0].values())
    changed = [name for name in lists[0] if lists[0][name] != lists[1][name]]
    assert changed == [name for name in lists[1] if "x0200" in lists[1][name]]
    assert len(changed) < 20
    assert len({document for found in lists[0].values() for document in found}) > 150, (
        "spread over the corpus"
    )


def test_every_split_has_its_file_and_the_same_bytes_again(tmp_path: Path) -> None:
    written = []
    for number in range(2):
        folder = write(tmp_path / str(number), **many(30, 8))
        for split in ("test", "dev"):
            make_distractors(open_collection(folder, split), 3, folder)
        written.append({path.name: path.read_bytes() for path in DISTRACTORS.files(folder)})
    assert sorted(written[0]) == ["dev-00000-of-00001.parquet", "test-00000-of-00001.parquet"]
    assert written[0] == written[1]
    told = facts(folder, run_sql)
    assert told["distractors"]["matched"] == [
        {"matched": "specialty, genre, length_band", "pairs": 24, "queries": 8}
    ]
    assert (told["distractors"]["pairs"], told["distractors"]["queries"], told["distractors"]["most"]) == (
        24,
        8,
        3,
    )
    assert told["composition"]["specialty"] == [{"value": "cardiology", "documents": 34}]
    assert told["composition"]["length band"] == [{"value": "25-49", "documents": 34}]


def test_none_asked_for_or_none_there_is_no_file(tmp_path: Path) -> None:
    folder = write(tmp_path, judged())
    assert chosen(folder) == [] and chosen(folder, count=0) == []
    assert facts(folder, run_sql)["distractors"] is None


def test_a_ring_smaller_than_asked_is_walked_once(tmp_path: Path) -> None:
    rows = chosen(
        write(tmp_path, [*judged(), *(document(f"x{number:02}") for number in range(40))]), count=100
    )
    assert len(rows) == 40 and len({row["corpus-id"] for row in rows}) == 40


def test_provenance_of_other_documents_is_an_error(tmp_path: Path) -> None:
    folder = write(tmp_path, [*judged(), document("x")])
    path = ORIGIN_CORPUS.files(folder)[0]
    pq.write_table(pq.read_table(path).slice(1), path)
    (folder / "release.json").write_text((folder / "release.json").read_text("utf-8"), "utf-8")
    with pytest.raises(ReleaseError):
        chosen(folder)


def test_length_bands_at_their_edges() -> None:
    cases = [
        ("", "en", ""),
        (None, "en", ""),
        ("w " * 23 + "w", "en", "<25"),
        ("w " * 24 + "w", "en", "25-49"),
        ("w " * 49 + "w", "en", "50-99"),
        ("w " * 99 + "w", "en", "100-199"),
        ("w " * 199 + "w", "en", "200-399"),
        ("w " * 399 + "w", None, "400+"),
        ("症" * 49, "ja", "<25"),
        ("症" * 50, "zh-Hans", "25-49"),
        ("症" * 800, "ZH", "400+"),
        ("症" * 800, "zha", "<25"),
    ]
    texts, languages, expected = (list(column) for column in zip(*cases, strict=True))
    codes = band_codes(pa.array(texts, pa.string()), pa.array(languages, pa.string()))
    assert [BANDS[code] for code in codes] == expected
