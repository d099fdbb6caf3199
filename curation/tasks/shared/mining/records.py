"""Rows that mining reads and makes."""

from __future__ import annotations

from typing import Literal

from schemas.record import column, record

View = Literal["question", "answer", "reasoning"]
System = Literal["bm25", "concepts"]


@record
class TermUse:
    """One index term of a text."""

    term: str = column("as the analyser of BM25 makes it")
    uses: int = column("how often the text has it")


@record
class IndexedDocument:
    """What is searched of one document."""

    corpus_id: str = column("document")
    article_key: str = column("its article without version; nothing of a query's own article is mined")
    length: int = column("index terms, repetitions counted")
    terms: tuple[TermUse, ...] = column("index terms, by term")
    concepts: tuple[str, ...] = column("concepts (CURIEs) the text asserts, in order", default=())


@record
class IndexedView:
    """One text that stands for a query when passages are searched."""

    query_id: str = column("query")
    view: View = column("which text of it")
    source_id: str = column("record the query was made of")
    article_key: str = column("article without version whose passages are not searched, '' for none")
    terms: tuple[TermUse, ...] = column("index terms, by term")
    concepts: tuple[str, ...] = column("concepts (CURIEs) the text names, in order", default=())


@record
class Mined:
    """One passage that one system found for one view of a query. It says nothing of relevance."""

    query_id: str = column("query")
    corpus_id: str = column("document")
    view: View = column("text of the query that was searched with")
    system: System = column("bm25, or concepts: those that view and passage share")
    rank: int = column("1-based")
    score: int = column("ten-thousandths of what the system computes")
