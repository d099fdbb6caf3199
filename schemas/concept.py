"""Concept mentions: a vocabulary concept named in a text, with offsets that re-extract."""

from __future__ import annotations

from typing import Literal

from schemas.record import column, record

MatchRule = Literal["exact", "form", "order", "typo", "short_form"]
"""exact: the name's own words, case and spacing apart; form: inflection, spelling, number forms, hyphens;
order: the words in another order; typo: letters differ; short_form: an abbreviation the document defines."""


@record
class Mention:
    """One concept named in a passage or caption."""

    article_id: str = column("article id")
    text_id: str = column("passage id or figure id (its caption)")
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
