"""Concept mentions: a vocabulary concept named in a text, with offsets that re-extract."""

from __future__ import annotations

from typing import Literal

from schemas.record import column, record

MatchRule = Literal["exact", "form", "order", "typo", "short_form", "gloss", "paraphrase"]
"""exact: the name's own words, case and spacing apart; form: inflection, spelling, number forms, hyphens;
order: the words in another order; typo: letters differ; short_form: an abbreviation the document defines;
gloss: an English name, each of its words in another language; paraphrase: other words for some of its own."""


@record
class Mention:
    """One concept named in a text."""

    article_id: str = column("article id; of a question its collection")
    text_id: str = column("id of the text: passage, figure (its caption), …#title, …#keyword1, question")
    start: int = column("offset in that text")
    end: int = column("offset after it")
    text: str = column("the words as written; re-extracts")
    concept: str = column("CURIE, e.g. HP:0001250")
    name: str = column("the vocabulary name that matched")
    score: float = column("0 to 1, how sure: rule, ambiguity and context", default=1.0)
    rule: MatchRule = column("how the name was found", default="exact")
    is_negated: bool = column("'no fever'", default=False)
    is_hypothetical: bool = column("'if seizures recur', 'rule out sepsis'", default=False)
    is_historical: bool = column("'history of stroke'", default=False)
    is_family: bool = column("said of a relative: 'mother had diabetes'", default=False)


@record
class DocumentConcept:
    """One concept of one article: where and how it is named."""

    article_id: str = column("article id")
    concept: str = column("CURIE")
    name: str = column("the name that matched most often, the first of equals")
    mentions: int = column("mentions in all texts")
    asserted: int = column("mentions that are neither negated, hypothetical, historical nor of a relative")
    weight: float = column("sum over asserted mentions of the weight of the place they stand in", default=0.0)
    in_title: bool = column("named in the title", default=False)
    in_keywords: bool = column("named in an author keyword", default=False)
    captions: tuple[str, ...] = column("figures whose caption names it", default=())
    sections: tuple[str, ...] = column("titles of the top sections that name it, in order", default=())
