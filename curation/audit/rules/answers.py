"""Rules on answers that are published apart: every query has one, and no query gives its own away."""

from __future__ import annotations

from curation.audit.rule import Check, Collector, Context, Defect, Outcome, Rule, side
from curation.audit.rules.planting import drop_row, set_row
from curation.tasks.shared.general_words import general_words

_LEAST = 3
"""Words of the shortest answer that is looked for: a single word may stand in any question."""
_HELD = f"""SELECT q FROM (
        SELECT q.id AS q, normalise_text(q.text) AS asked, normalise_text(a.answer) AS told
        FROM answers a JOIN queries q ON q.id = a."query-id")
    WHERE len(string_split(told, ' ')) >= {_LEAST} AND contains(' ' || asked || ' ', ' ' || told || ' ')"""
_LETTERS = 8
"""Letters of the shortest answer of fewer words that is looked for."""
_SHORT = f"""SELECT q, told FROM (
        SELECT q.id AS q, normalise_text(q.text) AS asked, normalise_text(a.answer) AS told
        FROM answers a JOIN queries q ON q.id = a."query-id")
    WHERE len(string_split(told, ' ')) < {_LEAST} AND len(replace(told, ' ', '')) >= {_LETTERS}
        AND contains(' ' || asked || ' ', ' ' || told || ' ') ORDER BY q"""
_LONG = "CASE WHEN len(string_split(trim(text), ' ')) >= 3 THEN text ELSE text || ' this and that' END"
_MISSING = """SELECT q.id AS q FROM queries q LEFT JOIN answers a ON a."query-id" = q.id
    WHERE trim(coalesce(a.answer, '')) = ''"""


def _short(context: Context) -> Outcome:
    """Queries that hold their short answer, where it is more than words that every article has."""
    found = Collector("short_answers_apart", "warn")
    rows = context.select(_SHORT)
    for row in rows:
        if not general_words().issuperset(row["told"].split()):
            found.add("the query holds its own short answer", side("queries", row["q"], row["told"]))
    return found.outcome(len(rows))


def _planted(name: str, answer: str) -> Defect:
    """A query that names its own answer."""
    return Defect(
        name,
        f"""UPDATE queries SET text = text || ' It was {answer}.' WHERE id = (
            SELECT "query-id" FROM answers WHERE rowid = 0);
        UPDATE answers SET answer = '{answer}' WHERE rowid = 0 RETURNING "query-id" """,
    )


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
    Rule(
        "short_answers_apart",
        1,
        "Short answers apart from queries",
        "Where answers are published, no query holds the whole words of its own answer of fewer than "
        f"{_LEAST} words, if it has at least {_LETTERS} letters and a word that is rare among medical "
        "articles. A question may offer its answer, a relative may have the disease: a person should look.",
        "warn",
        "answers",
        checks=(
            Check(
                "the query holds its own short answer",
                _short,
                (
                    _planted("a query that names its diagnosis of one word", "endocarditis"),
                    _planted("a query that names its diagnosis of two words", "Graves disease"),
                ),
            ),
        ),
        compared="FROM answers",
        tables=("queries",),
        about=("answers",),
        holds="answers",
    ),
)
