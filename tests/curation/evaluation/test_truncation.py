"""How many documents and positives a system cuts, counted over the corpus and over measured pairs."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from curation.evaluation.collection import open_collection
from curation.evaluation.dense import Embedding, texts_cut, write_embeddings
from curation.evaluation.page.render import render
from curation.evaluation.results import Measured, summarise
from curation.evaluation.truncation import truncation
from curation.evaluation.values import by_value
from tests.curation.evaluation.world import toy


def test_shares_of_documents_and_positives(tmp_path: Path) -> None:
    release = toy()
    release.head["stages"] = [{"name": "toy", "version": 1, "params": {"granularity": "section"}}]
    collection = open_collection(release.write(tmp_path))
    positives = [name for grades in collection.qrels.values() for name, score in grades.items() if score > 0]
    cut = frozenset({positives[0], "no document"})
    systems = [
        Measured("limited", "st", {}, cut=cut),
        Measured("bm25", "bm25", {}, cut=frozenset()),
        Measured("image", "image", {}),
        Measured("absent", "dense", None, why_not="not here"),
    ]
    told = truncation(collection, systems)
    assert told["granularity"] == "section"
    assert told["systems"]["image"] is None and "absent" not in told["systems"]
    limited = told["systems"]["limited"]
    assert (limited["documents"], limited["documents_cut"]) == (len(collection.corpus_ids), 1)
    assert (limited["positives"], limited["positives_cut"]) == (len(positives), positives.count(positives[0]))
    assert told["systems"]["bm25"]["share_of_documents"] == 0.0
    results = summarise(collection, systems, 10)
    assert by_value(collection, pa.table({"system": pa.array([], pa.string())}), [])["facets"].keys() <= {
        "specialty"
    }
    page = render({**results.summary, "truncation": told})
    assert "A document is a section." in page
    assert f'<td class="number">1 of {len(collection.corpus_ids)}</td>' in page


def test_texts_that_a_model_did_not_read_to_the_end(tmp_path: Path) -> None:
    path = tmp_path / "made.parquet"
    rows = [("whole", 3, 3), ("cut", 9, 4), ("empty", 0, 0)]
    write_embeddings(
        [Embedding(id=name, vector=b"\0\0", tokens=long, tokens_kept=kept) for name, long, kept in rows], path
    )
    assert texts_cut(path) == {"cut"}
