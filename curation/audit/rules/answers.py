"""Rules on answers that are published apart: every query has one, and no query gives its own away."""

from __future__ import annotations

from curation.audit.rule import Check, Defect, Rule
from curation.audit.rules.planting import drop_row, set_row

_LEAST = 3
"""Words of the shortest answer that is looked for: a single word may stand in any question."""
_HELD = f"""SELECT q FROM (
        SELECT q.id AS q, normalise_text(q.text) AS asked, normalise_text(a.answer) AS told
        FROM answers a JOIN queries q ON q.id = a."query-id")
    WHERE len(string_split(told, ' ')) >= {_LEAST} AND contains(' ' || asked || ' ', ' ' || told || ' ')"""
_LONG = "CASE WHEN len(string_split(trim(text), ' ')) >= 3 THEN text ELSE text || ' this and that' END"
_MISSING = """SELECT q.id AS q FROM queries q LEFT JOIN answers a ON a."query-id" = q.id
    WHERE trim(coalesce(a.answer, '')) = ''"""

RULES = (
    Rule(
        "answers_apart",
        1,
        "Answers apart from queries",
        "Where answers are published, every query has one, and no query holds the words of its own answer "
        f"(of {_LEAST} words and more).",
        "error",
        "answers",
        checks=(
            Check(
                "the query holds its own answer",
                _HELD,
                Defect(
                    "a query that ends with its answer",
                    f"""UPDATE queries SET text = {_LONG} WHERE id = (
                        SELECT "query-id" FROM answers WHERE rowid = 0);
                    UPDATE answers SET answer = (SELECT text FROM queries WHERE id = "query-id")
                        WHERE rowid = 0 RETURNING "query-id" """,
                ),
            ),
            Check(
                "the query has no answer",
                _MISSING,
                (
                    Defect("a query whose answer is lost", drop_row("answers")),
                    Defect("a query with an empty answer", set_row("answers", "answer = ' '")),
                ),
            ),
        ),
        compared="FROM answers",
        tables=("queries",),
        about=("answers",),
        holds="answers",
    ),
)
