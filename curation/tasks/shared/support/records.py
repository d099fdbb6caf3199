"""Rows of questions and the passages that support their answers."""

from __future__ import annotations

from schemas.benchmark import Evidence, LabelStatus
from schemas.record import column, record


@record
class AnsweredQuery:
    """The answer of a query; published apart from it."""

    query_id: str = column("query")
    source_id: str = column("question or exercise")
    answer: str = column("the answer in words")
    explanation: str = column("reasoning given with it, '' when none", default="")


@record
class CitedSource:
    """One document that a question's answer names: a citation, a snippet's source, an exercise's module."""

    query_id: str = column("query")
    source_id: str = column("question or exercise")
    key: str = column("pmid:, pmcid: or doi: and the identifier; article: and the id of an exercise's module")
    snippets: tuple[str, ...] = column("texts quoted from it in support of the answer", default=())


@record
class ArticleKey:
    """One identifier by which an answer can name an article of the corpus."""

    article_id: str = column("article")
    key: str = column("as in CitedSource")


@record
class DocumentPart:
    """Which document a passage is in: of passages itself, of whole articles that of its article."""

    passage_id: str = column("passage")
    corpus_id: str = column("document")


@record
class CitedArticle:
    """One article of the corpus that a query's answer names."""

    query_id: str = column("query")
    article_key: str = column("the article without its version")
    snippets: tuple[str, ...] = column("texts quoted from it", default=())


@record
class FoundPair:
    """How a pair came to be asked about."""

    pair: str = column("pair")
    query_id: str = column("query")
    corpus_id: str = column("document")
    found_by: tuple[str, ...] = column("system, view and rank of each that found it, e.g. bm25:answer:3")
    is_cited: bool = column("the document is of an article that the answer names")
    cited_rank: int | None = column("best rank within the articles named, null when not among the first")
    snippets: tuple[str, ...] = column("texts quoted from the document's article", default=())


@record
class LabelledPair:
    """What a pair is, by judge or by citation."""

    pair: str = column("pair")
    query_id: str = column("query")
    corpus_id: str = column("document")
    score: int | None = column("grade, null where the pair is left out", default=None)
    reason: str = column("exclusion code, '' where there is a grade", default="")
    rule: str = column("named, versioned rule, '' where the pair is left out", default="")
    label_status: LabelStatus = column("who or what says so", default="candidate")
    evidence: tuple[Evidence, ...] = column("spans of the source passage", default=())
