"""Mining: BM25 as the evaluation scores it, shared concepts, nothing of a query's own article."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from curation.evaluation.bm25 import build
from curation.evaluation.terms import Analyser
from curation.tasks.shared.mining.index import asserted, term_uses, view_of
from curation.tasks.shared.mining.records import IndexedDocument, IndexedView, Mined
from curation.tasks.shared.mining.sql import mined
from flows.engine.database import add_view, connect, select
from schemas.concept import Mention
from schemas.record import from_table, to_table

WORDS = sorted(
    {"heart", "valve", "fever", "rash", "kidney", "stone", "lung", "cough", "insulin", "eye", "bile"}
)


def texts(count: int) -> dict[str, str]:
    """Invented texts of drawn words, by id."""
    draw = np.random.default_rng(7)
    return {
        f"t:{number:03d}": " ".join(WORDS[place] for place in draw.integers(0, len(WORDS), 5 + number % 20))
        for number in range(count)
    }


def document(name: str, text: str, article: str = "", concepts: Sequence[str] = ()) -> IndexedDocument:
    terms = term_uses(text, "en")
    length = sum(term.uses for term in terms)
    return IndexedDocument(
        corpus_id=name, article_key=article or name, length=length, terms=terms, concepts=tuple(concepts)
    )


def view(text: str, concepts: Sequence[str] = (), article: str = "own") -> IndexedView:
    mentions = [mention(concept) for concept in concepts]
    return view_of("q1", "s1", "question", text, "en", own_article=article, mentions=mentions)


def mention(concept: str, **said: Any) -> Mention:
    return Mention(article_id="a", text_id="t", start=0, end=1, text="x", concept=concept, name="x", **said)


def mine(
    folder: Path, documents: Sequence[IndexedDocument], views: Sequence[IndexedView], depth: int = 5
) -> list[Mined]:
    pq.write_table(to_table(IndexedDocument, documents), folder / "documents.parquet")
    pq.write_table(to_table(IndexedView, views), folder / "views.parquet")
    with connect() as connection:
        add_view(connection, "documents_indexed", [folder / "documents.parquet"], IndexedDocument)
        add_view(connection, "views", [folder / "views.parquet"], IndexedView)
        connection.execute(f"SET VARIABLE depth = {depth}")
        batches = list(select(connection, mined("depth")))
    return [row for batch in batches for row in from_table(Mined, batch)]


def test_bm25_ranks_as_the_evaluation_does(tmp_path: Path) -> None:
    corpus, analyser = texts(60), Analyser()
    (tmp_path / "index").mkdir()
    index = build([(text, "en") for text in corpus.values()], tmp_path / "index", analyser)
    asked = "fever fever with a rash of the eye"
    wanted = index.search(analyser(asked, "en"), 10)
    found = sorted(mine(tmp_path, [document(*item) for item in corpus.items()], [view(asked)], 10),
                   key=lambda row: row.rank)  # fmt: skip
    names = list(corpus)
    assert [row.corpus_id for row in found] == [names[place] for place in wanted.documents]
    assert [row.score / 10_000 for row in found] == pytest.approx(list(wanted.scores), abs=5e-4)
    assert [row.rank for row in found] == list(range(1, 11)) and {row.system for row in found} == {"bm25"}


def test_rarer_shared_concepts_weigh_more_and_ties_go_by_id(tmp_path: Path) -> None:
    documents = [
        document("d1", "bone", concepts=["X:common"]),
        document("d2", "bone", concepts=["X:common"]),
        document("d3", "bone", concepts=["X:rare"]),
        document("d4", "bone", concepts=["X:other"]),
    ]
    found = mine(tmp_path, documents, [view("", ["X:common", "X:rare"])])
    assert [row.corpus_id for row in sorted(found, key=lambda row: row.rank)] == ["d3", "d1", "d2"]
    assert {row.system for row in found} == {"concepts"}


def test_nothing_of_the_own_article_is_mined_and_it_takes_no_place(tmp_path: Path) -> None:
    documents = [document("d1", "fever rash", "pmc:PMC1"), document("d2", "fever"), document("d3", "lens")]
    own = view_of("q1", "s1", "answer", "fever rash", "en", own_article="pmc:PMC1.2")
    found = mine(tmp_path, documents, [own], 1)
    assert [(row.corpus_id, row.rank, row.view) for row in found] == [("d2", 1, "answer")]


def test_order_of_rows_changes_no_rank(tmp_path: Path) -> None:
    documents = [document(*item, concepts=["X:1"]) for item in texts(40).items()]
    asked = [view("heart fever stone", ["X:1"])]
    assert mine(tmp_path, documents, asked) == mine(tmp_path, documents[::-1], asked)


def test_an_empty_corpus_gives_nothing(tmp_path: Path) -> None:
    assert mine(tmp_path, [], [view("fever")]) == mine(tmp_path, [document("d", "fever")], []) == []


def test_only_what_a_text_asserts_counts() -> None:
    said = [mention("X:1"), mention("X:2", is_negated=True), mention("X:3", is_family=True), mention("X:0")]
    assert asserted(said) == ("X:0", "X:1")
