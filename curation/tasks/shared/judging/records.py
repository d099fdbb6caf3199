"""Rows of judged pairs, on their way from mining to labels."""

from __future__ import annotations

from schemas.benchmark import Evidence, Transform
from schemas.record import column, record


@record
class AskedPair:
    """One query and one passage that somebody found for it, to be judged."""

    id: str = column("query and document, joined by a space")
    query_id: str = column("query")
    corpus_id: str = column("document")
    article_id: str = column("article or collection that the query was made of")
    question: str = column("the question")
    answer: str = column("its answer in words")
    reasoning: str = column("how the answer follows, '' where only the answer is judged", default="")
    passage: str = column("the document's released text")
    transforms: tuple[Transform, ...] = column("from the document's source text to it", default=())


@record
class MinedPair:
    """One pair that a judge was to be asked about: what found it, and what came of it in each order."""

    query_id: str = column("query")
    corpus_id: str = column("document")
    score: int | None = column("grade the judge gave, null where it gave none", default=None)
    reason: str = column("exclusion code, not_run without a valid answer, '' where there is a grade")
    forward: str = column("scores in the first order, one for each axis; '' when not judged")
    reversed: str = column("scores in the other order")
    seeded: str = column("scores in the first order again, with a seed; '' when not asked or not judged so")
    found_by: tuple[str, ...] = column("what found it: system:view:rank, as bm25:answer:3, or citation")
    only_reasoning: bool = column("whether no other view than a reasoning path found it")
    model: str = column("model as it was asked for, '' when not judged")
    served_model: str = column("model as the server named it, '' when it did not")
    prompt_sha256: str = column("hex SHA-256 of all that the prompts have in common, '' when not judged")


@record
class Judgement:
    """What a model said of a pair in one order of its parts."""

    prompt_id: str = column("prompt")
    pair: str = column("pair asked about")
    form: str = column("forward or reversed; forward#1 with seed 1")
    scores: tuple[int, ...] = column("0 to 3: support of the answer, and of the reasoning where it was asked")
    starts: tuple[int, ...] = column("offsets of the words quoted, in the released passage")
    ends: tuple[int, ...] = column("offsets after them")
    kind: str = column("kind of prompt and its version, e.g. answer@1")
    model: str = column("model as it was asked for")
    served_model: str = column("model as the server named it, '' when it did not")
    prompt_sha256: str = column("hex SHA-256 of all that the prompts of this kind have in common")


@record
class JudgedPair:
    """What follows of both orders: a grade, or why the pair is left out."""

    pair: str = column("pair")
    query_id: str = column("query")
    corpus_id: str = column("document")
    score: int | None = column("grade, null where the pair is left out", default=None)
    reason: str = column("exclusion code, '' where there is a grade", default="")
    scores: str = column("numbers of each order, forward first")
    seeded: str = column("numbers of the first order again, with a seed; '' without", default="")
    evidence: tuple[Evidence, ...] = column("words quoted, with offsets in the source passage", default=())
    kind: str = column("kind of prompt and its version")
    model: str = column("model as it was asked for")
    served_model: str = column("model as the server named it, '' when it did not")
    prompt_sha256: str = column("hex SHA-256 of all that the prompts of this kind have in common")
