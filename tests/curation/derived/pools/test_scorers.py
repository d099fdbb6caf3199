"""Pairs are scored as the rankings were: equal where a document was found, exact beyond the depth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from curation.derived.pools import PairScorer
from curation.evaluation import bm25, dense
from curation.evaluation.dense import Embedding, packed, rounded, search_vectors, write_embeddings
from curation.evaluation.ranking import Run
from curation.evaluation.terms import Analyser

WORDS = ["lobe", "fever", "lung", "heart", "retina", "bone", "pain", "cough", "rash", "node", "cell", "drug"]


def agree(score: PairScorer, run: Run, queries: list[str], documents: int) -> None:
    """Every pair of a run to its end has the run's score, in whatever order pairs are asked."""
    pairs = [(place, int(found)) for place, query in enumerate(queries) for found in run[query].documents]
    wanted = np.concatenate([run[query].scores for query in queries])
    asked, found = (np.array(column, np.int32) for column in zip(*pairs, strict=True))
    np.testing.assert_array_equal(score(asked, found), wanted)
    order = np.random.Generator(np.random.PCG64(3)).permutation(len(pairs))
    np.testing.assert_array_equal(score(asked[order], found[order]), wanted[order])
    others = sorted({(place, n) for place in range(len(queries)) for n in range(documents)} - set(pairs))
    if others:
        rest = score(*(np.array(column, np.int32) for column in zip(*others, strict=True)))
        assert not np.nan_to_num(rest).any()
    assert len(score(np.empty(0, np.int32), np.empty(0, np.int32))) == 0


def test_bm25_pairs(tmp_path: Path) -> None:
    rng = np.random.Generator(np.random.PCG64(5))
    texts = [" ".join(rng.choice(WORDS, int(rng.integers(0, 14)))) for _ in range(90)]
    analyse = Analyser()
    index = bm25.build(((text, "en") for text in texts), tmp_path, analyse)
    asked = [("q0", "fever of the lung lobe", "en"), ("q1", "rash rash node unheard", "en"), ("q2", "", "en")]
    run = dict(bm25.search_all(index, asked, {}, 100, analyse))
    agree(bm25.pair_scorer(index, asked, analyse), run, ["q0", "q1", "q2"], len(texts))


def test_dense_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.Generator(np.random.PCG64(6))
    ids, queries = [f"d{n:02}" for n in range(60)], [f"q{n}" for n in range(5)]
    files = []
    for names, kept in ((queries, queries[1:]), (ids, [name for name in ids if name != "d07"])):
        vectors = {
            name: packed(row)
            for name, row in zip(names, rounded(rng.normal(size=(len(names), 16))), strict=True)
        }
        files.append(tmp_path / f"{names[0]}.parquet")
        given = (Embedding(id=name, vector=vectors[name], tokens=1, tokens_kept=1) for name in kept)
        write_embeddings(given, files[-1])
    run = search_vectors(files[0], files[1], ids, {}, 60)
    score = dense.pair_scorer(files[0], files[1], queries, ids)
    for blocks in ((8_192, 16_384), (7, 3)):
        monkeypatch.setattr(dense, "_DOCUMENTS", blocks[0])
        monkeypatch.setattr(dense, "_PAIRS", blocks[1])
        agree(
            score, {**run, "q0": run["q1"].__class__(np.empty(0, np.int32), np.empty(0))}, queries, len(ids)
        )
    assert np.isnan(score(np.array([0, 1], np.int32), np.array([3, 7], np.int32))).all()
