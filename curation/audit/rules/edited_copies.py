"""The rule on sentences that a query copies, with changes, from a positive document of its own article."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future

from curation.audit.rule import (
    MAX_EXAMPLES,
    Check,
    Collector,
    Context,
    Defect,
    NotCovered,
    Outcome,
    Rule,
    side,
)
from curation.audit.rules.planting import set_row
from curation.audit.rules.text_rows import literal
from curation.similarity.text.edited import MIN_COPY, MIN_RUN, copyable, edited_copies

_AT_ONCE, _UNDER_WAY = 500, 8
_PAIRS = """SELECT q.id AS q, c.id AS c, q.text AS asked, c.text AS answer
    FROM (SELECT DISTINCT "query-id", "corpus-id" FROM qrels WHERE score > 0) r
    JOIN queries q ON q.id = r."query-id" JOIN corpus c ON c.id = r."corpus-id"
    JOIN provenance_queries pq ON pq.id = q.id JOIN provenance_corpus pc ON pc.id = c.id
    WHERE pq.article_id = pc.article_id AND length(q.text) > 0 AND length(c.text) > 0{but} ORDER BY 1, 2"""
_STRINGS = "strings"
_BUT_TEMPLATES = f""" AND q.id NOT IN (SELECT q.id FROM {_STRINGS} s JOIN queries q ON q.id = s."query-id"
    WHERE s.kind = 'template' AND s.name <> ''
    AND substr(q.text, s.start + 1, s."end" - s.start) = s.name)"""
"""Of a question that a template makes only the name is not the template's: its words were copied nowhere."""
_TABLES = ("queries", "corpus", "qrels", "provenance_queries", "provenance_corpus")

Pair = tuple[str, str, str, str]
"""Query id, document id, their texts."""
Copy = tuple[Pair, tuple[int, int], tuple[int, int]]
"""A pair, where the copied sentence stands in the query and in the document."""


def copies(pairs: Sequence[Pair]) -> list[Copy]:
    """Of each pair the first sentence of the query that is an edited copy of the document's."""
    found: list[Copy] = []
    for pair in pairs:
        for item, other in edited_copies(pair[2], copyable([pair[3]]))[:1]:
            found.append((pair, (item.start, item.end), (other.start, other.end)))
    return found


def _edited_copies(context: Context) -> Outcome:
    missing = [name for name in _TABLES if name not in context.views]
    if missing:
        raise NotCovered(f"nothing says which pairs are of one article: no {missing[0]}")
    found = Collector("edited_copy", "error")
    compared = 0
    waiting: deque[Future[list[Copy]]] = deque()
    has_strings = _STRINGS in context.views
    pairs = _PAIRS.format(but=_BUT_TEMPLATES if has_strings else "")
    for batch in context.batches(pairs, *_TABLES, *([_STRINGS] if has_strings else [])):
        rows = [(row["q"], row["c"], row["asked"], row["answer"]) for row in batch.to_pylist()]
        compared += len(rows)
        for start in range(0, len(rows), _AT_ONCE):
            waiting.append(context.pool.submit(copies, rows[start : start + _AT_ONCE]))
            if len(waiting) > _UNDER_WAY:  # a few parts under way, so that texts do not pile up
                _tell(found, waiting.popleft().result())
    for future in waiting:
        _tell(found, future.result())
    return found.outcome(compared)


def _tell(found: Collector, copied: Sequence[Copy]) -> None:
    for (query, document, asked, answer), here, there in copied:
        sides = (side("queries", query, asked, *here), side("corpus", document, answer, *there))
        shown = sides if len(found.kept) < MAX_EXAMPLES else ()
        found.add("a sentence of the query stands, with changes, in a document judged relevant", *shown)


_ASKED = "Rest for a week eased the pain of gout in most of the old men seen."
_ANSWER = "We found that rest for one week eased pain of gout in most old men. Later they walked."
_WHOLE = "Rest eased the pain quickly."
_HOLDS = "Of all that he tried, rest eased the pain quickly, or so he said."


def _copied(what: str, asked: str, answer: str) -> Defect:
    pair = "queries q, corpus c WHERE q.rowid = 0 AND c.rowid = 0"
    return Defect(
        what,
        f"""{set_row("queries", f"text = {literal(asked)}")};
        {set_row("corpus", f"text = {literal(answer)}")};
        UPDATE provenance_corpus SET article_id = (SELECT p.article_id FROM provenance_queries p
            JOIN queries q USING (id) WHERE q.rowid = 0)
            WHERE id = (SELECT id FROM corpus WHERE rowid = 0);
        INSERT INTO qrels BY NAME SELECT q.id AS "query-id", c.id AS "corpus-id", 2 AS score FROM {pair};
        SELECT q.id, c.id AS c FROM {pair}""",
    )


RULES = (
    Rule(
        "edited_copy",
        2,
        "No query edits a sentence of its answer",
        "No sentence of a query shares two thirds of the shorter one's words, in the same order, with a "
        "sentence of a positive document of its own article, and none holds the whole of a sentence of "
        f"{MIN_RUN} to {MIN_COPY - 1} words of the document. Questions made by a template are left out.",
        "error",
        "positive pairs of one article",
        checks=(
            Check(
                "a sentence of the query is an edited copy",
                _edited_copies,
                (
                    _copied("a sentence with words changed", _ASKED, _ANSWER),
                    _copied(
                        "a short sentence of the document in a longer one",
                        f"In gout {_WHOLE.lower()[:-1]} again, he said.",
                        _WHOLE,
                    ),
                ),
            ),
        ),
    ),
)
