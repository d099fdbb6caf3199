"""Rules on queries that hide their target: where they were cut, and what in them points to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from curation.audit.rule import Check, Collector, Context, Defect, NotApplicable, Outcome, Rule, side
from curation.audit.rules.evidence import undo
from curation.audit.rules.planting import new_row
from curation.audit.rules.text_rows import literal
from schemas.audit import Coverage
from schemas.vocabulary import ClueKind

_CASES = """SELECT k."query-id" AS q, k."start" AS first, k."end" AS stop, coalesce(k.text, '') AS words,
        q.text AS asked, p.transforms AS asked_changes, d.text AS told, o.transforms AS told_changes
    FROM cuts k LEFT JOIN queries q ON q.id = k."query-id"
    LEFT JOIN provenance_queries p ON p.id = k."query-id"
    LEFT JOIN corpus d ON d.id = p.source_id LEFT JOIN provenance_corpus o ON o.id = p.source_id ORDER BY q"""
"""Cut queries with the document made of the same case: it holds the words, and what was left out."""
_TABLES = ("cuts", "queries", "provenance_queries", "corpus", "provenance_corpus")
_CLUES = """SELECT k."query-id" AS q, k.concept, k."start" AS first, k."end" AS stop,
        coalesce(k.text, '') AS words, q.text AS asked, p.transforms AS asked_changes
    FROM gives_away k LEFT JOIN queries q ON q.id = k."query-id"
    LEFT JOIN provenance_queries p ON p.id = k."query-id" ORDER BY q, k.concept, first"""
_KINDS = ", ".join(map(literal, get_args(ClueKind)))
Row = Mapping[str, Any]


def _quoted(source: str | None, row: Row) -> bool:
    """Whether the words stand at their place in a text."""
    first, stop, words = row["first"], row["stop"], row["words"]
    if source is None or first is None or stop is None or not words:
        return False
    return bool(0 <= first < stop <= len(source) and source[first:stop] == words)


def _is_before(asked: str, told: str) -> bool:
    """Whether all words of one text stand in another one in that order."""
    words: Iterator[str] = iter(told.split())
    return all(word in words for word in asked.split())


def _cuts(context: Context) -> Outcome:
    """Cuts whose words are not in the case, and queries that hold what stands behind their cut."""
    found = Collector("cuts", "error")
    compared = unpublished = 0
    for batch in context.batches(_CASES, *_TABLES):
        for row in batch.to_pylist():
            compared += 1
            if row["told"] is None:
                unpublished += 1
                continue
            told = undo(row["told"], row["told_changes"] or ())
            asked = undo(row["asked"] or "", row["asked_changes"] or ())
            sides = (side("queries", row["q"], row["asked"]), side("cuts", row["q"], row["words"]))
            if not _quoted(told, row):
                found.add("the words of the cut do not stand in the query's own case", *sides)
            elif asked is None or told is None or not _is_before(asked, told[: row["first"]]):
                found.add("the query holds what does not stand before its cut", *sides)
    why = "their cases are not published as documents of their own" if unpublished else ""
    coverage = Coverage(
        compared_with="", compared=compared - unpublished, unit="queries", skipped=unpublished, why=why
    )
    return Outcome(compared, found.found, tuple(found.kept), "", (coverage,))


def _clues(context: Context) -> Outcome:
    """Clues whose words are not in the query."""
    found = Collector("gives_away", "error")
    compared = 0
    for batch in context.batches(_CLUES, "gives_away", "queries", "provenance_queries"):
        for row in batch.to_pylist():
            compared += 1
            if not _quoted(undo(row["asked"] or "", row["asked_changes"] or ()), row):
                found.add(
                    "the words of the clue do not stand in the query",
                    side("queries", row["q"], row["asked"]),
                    side("gives_away", row["q"], row["words"]),
                )
    return found.outcome(compared)


def _tiers(context: Context) -> str:
    """Queries whose tier says something else than the table.

    Raises:
        NotApplicable: clues were not looked for.
    """
    tiers = context.select("SELECT count(*) AS n FROM queries WHERE tier <> ''")[0]["n"]
    if not tiers and not context.count("gives_away"):
        raise NotApplicable("nobody looked for clues: no query has a tier and none is listed")
    return """SELECT id AS q, tier, CASE WHEN k.q IS NULL THEN 'hidden' ELSE 'gives_away' END AS wanted
        FROM queries LEFT JOIN (SELECT DISTINCT "query-id" AS q FROM gives_away) k ON k.q = id
        WHERE tier IS DISTINCT FROM wanted"""


def _cut_row(number: int, asked: str, told: str, words: str, **place: int) -> str:
    """SQL: a cut query, its case as a document, and the cut."""
    query, case = f"canary:cut{number}", f"canary:case{number}"
    first = place.get("start", told.find(words))
    cut = {"query-id": query, "start": first, "end": first + len(words), "text": words, "how": "name"}
    return "; ".join(
        (
            new_row("queries", {"id": query, "text": asked}),
            new_row("provenance_queries", {"id": query, "source_id": case, "hides_target": True}),
            new_row("corpus", {"id": case, "text": told}),
            new_row("provenance_corpus", {"id": case}),
            new_row("cuts", cut),
            f"SELECT '{query}' AS id",
        )
    )


_STORY = "A glazier came with burning soles. It was linnet fever. He went."


def _clue_row(number: int, words: str, start: int, kind: str = "drug", tier: str = "gives_away") -> str:
    query = f"canary:clue{number}"
    place = {"start": start, "end": start + len(words), "text": words}
    clue = {"query-id": query, "concept": "CANARY:1", "kind": kind, **place}
    return "; ".join(
        (
            new_row("queries", {"id": query, "text": "He took linnetine daily.", "tier": tier}),
            new_row("provenance_queries", {"id": query, "hides_target": True}),
            new_row("gives_away", clue),
            f"SELECT '{query}' AS id",
        )
    )


RULES = (
    Rule(
        "cuts",
        1,
        "Cut before the target",
        "Where a query that hides its target was cut, the words it was cut by stand in the query's own case, "
        "at their offsets, and every word of the query stands before them. Cases that are not published as "
        "documents of their own are counted, not checked.",
        "error",
        "queries",
        checks=(
            Check(
                "a query is cut by words, and holds nothing behind them",
                _cuts,
                (
                    Defect(
                        "a cut one character off",
                        _cut_row(1, "A glazier came with burning soles.", _STORY, "linnet fever", start=43),
                    ),
                    Defect(
                        "a query that goes on behind its cut",
                        _cut_row(2, "A glazier came with burning soles. He went.", _STORY, "linnet fever"),
                    ),
                    Defect(
                        "a cut by words that the case does not hold",
                        _cut_row(3, "A glazier came with burning soles.", _STORY, "gout", start=5),
                    ),
                ),
                at_once=True,
            ),
            Check(
                "a query was cut but hides no target",
                """SELECT "query-id" AS q FROM cuts ANTI JOIN (
                    SELECT id FROM provenance_queries WHERE hides_target) p ON p.id = "query-id" """,
                Defect(
                    "a cut of a query that hides nothing",
                    f"""{_cut_row(4, "A glazier.", _STORY, "linnet fever")}; UPDATE provenance_queries
                        SET hides_target = false WHERE id = 'canary:cut4' RETURNING id""",
                ),
            ),
        ),
        about=("cuts",),
        holds="cuts of queries",
    ),
    Rule(
        "gives_away",
        1,
        "Clues are told",
        "Each drug, gene or test listed as pointing to a hidden target stands in its query at its offsets, "
        "and the tier of a query says whether one is listed.",
        "error",
        "clues",
        checks=(
            Check(
                "the words of a clue do not stand in its query",
                _clues,
                (
                    Defect("a clue one character off", _clue_row(1, "linnetine", 9)),
                    Defect("a clue that the query does not name", _clue_row(2, "penicillin", 8)),
                ),
                at_once=True,
            ),
            Check(
                "a clue is a {kind!r}, not one of drug, gene and test",
                f'SELECT "query-id" AS q, kind FROM gives_away WHERE coalesce(kind NOT IN ({_KINDS}), true)',
                Defect("a clue of an unknown kind", _clue_row(3, "linnetine", 8, kind="canary")),
            ),
            Check(
                "the tier of the query is {tier!r}, and its clues say {wanted!r}",
                _tiers,
                (
                    Defect("a query with a clue called hidden", _clue_row(4, "linnetine", 8, tier="hidden")),
                    Defect(
                        "a query without a clue said to have one",
                        "; ".join(
                            (
                                _clue_row(5, "linnetine", 8),
                                new_row("queries", {"id": "canary:none", "text": "-", "tier": "gives_away"}),
                                "SELECT 'canary:none' AS id",
                            )
                        ),
                    ),
                ),
            ),
        ),
        about=("gives_away",),
        holds="clues",
    ),
)
