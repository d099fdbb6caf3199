"""What is known of a query beside its text: where it was cut, and what in it points to its diagnosis."""

from __future__ import annotations

from schemas.record import column, record
from schemas.vocabulary import ClueKind


@record
class Cut:
    """The first words of a case that give its diagnosis away: its query ends before their sentence."""

    query_id: str = column("query")
    case_id: str = column("case it was made of")
    start: int = column("offset of the words in the source text of the case")
    end: int = column("offset after them")
    text: str = column("the words as written; re-extracts")
    how: str = column("name, near_name, mention, short_form, word or eponym")


@record
class Clue:
    """One drug, gene or test of the diagnosis that a query names."""

    query_id: str = column("query")
    case_id: str = column("case it was made of")
    concept: str = column("CURIE of the drug, gene or test")
    kind: ClueKind = column("what it is of the diagnosis")
    start: int = column("offset in the source text of the query")
    end: int = column("offset after it")
    text: str = column("the words as written; re-extracts")
