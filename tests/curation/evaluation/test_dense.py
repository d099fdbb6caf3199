"""Nearest neighbours: exact, whatever the block sizes; ties by id; what is left out is not found."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from curation.evaluation import dense
from curation.evaluation.dense import (
    Embedding,
    packed,
    read_vectors,
    rounded,
    search_vectors,
    write_embeddings,
)


def save(path: Path, ids: list[str], vectors: NDArray[np.float64]) -> Path:
    rows = (
        Embedding(id=name, vector=packed(vector), tokens=1, tokens_kept=1)
        for name, vector in zip(ids, rounded(vectors), strict=True)
    )
    write_embeddings(rows, path, rows_per_group=16)
    return path


def test_the_nearest_are_found_in_exact_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.Generator(np.random.PCG64(8))
    ids = [f"d{n:03}" for n in range(200)]
    vectors = rng.normal(size=(200, 24))
    vectors[50] = vectors[20]  # a tie
    questions = np.concatenate([rng.normal(size=(9, 24)), vectors[20:21]])
    corpus = save(tmp_path / "c.parquet", ids, vectors)
    queries = save(tmp_path / "q.parquet", [f"q{n}" for n in range(10)], questions)
    left_out = {"q3": np.arange(0, 200, 2, dtype=np.int32)}
    found = search_vectors(queries, corpus, ids, left_out, 15)
    exact = rounded(questions).astype(np.int64) @ rounded(vectors).astype(np.int64).T
    for row in range(10):
        allowed = [n for n in range(200) if row != 3 or n % 2]
        expected = sorted((-int(exact[row, n]), n) for n in allowed)[:15]
        assert found[f"q{row}"].documents.tolist() == [n for _, n in expected]
    assert found["q9"].documents.tolist()[:2] == [20, 50]
    assert found["q9"].scores[0] == pytest.approx(1.0, abs=1e-3)
    monkeypatch.setattr(dense, "_QUERIES", 3)
    monkeypatch.setattr(dense, "_DOCUMENTS", 7)
    again = search_vectors(queries, corpus, ids, left_out, 15, threads=3)
    for query, ranking in found.items():
        np.testing.assert_array_equal(ranking.documents, again[query].documents)
        np.testing.assert_array_equal(ranking.scores, again[query].scores)


def test_fewer_documents_than_wanted(tmp_path: Path) -> None:
    corpus = save(tmp_path / "c.parquet", ["d1", "d3"], np.eye(2))
    queries = save(tmp_path / "q.parquet", ["q"], np.array([[0.0, 1.0]]))
    found = search_vectors(queries, corpus, ["d1", "d2", "d3"], {"q": np.array([0], np.int32)}, 10)
    assert found["q"].documents.tolist() == [2]


def test_files_of_equal_rows_are_equal(tmp_path: Path) -> None:
    vectors = np.random.Generator(np.random.PCG64(9)).normal(size=(40, 8))
    a = save(tmp_path / "a.parquet", [str(n) for n in range(40)], vectors)
    b = save(tmp_path / "b.parquet", [str(n) for n in range(40)], vectors)
    assert a.read_bytes() == b.read_bytes()
    ids, held = next(read_vectors(a))
    np.testing.assert_array_equal(held, rounded(vectors))
    assert ids == [str(n) for n in range(40)]


def test_a_zero_vector_stays_zero() -> None:
    assert rounded(np.zeros((1, 4))).tolist() == [[0, 0, 0, 0]]
    assert rounded(np.array([[5.0, 0.0]])).tolist() == [[32767, 0]]
