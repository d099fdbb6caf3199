"""Rules on sections and articles as documents: made of their parts in order, labels follow from passages."""

from __future__ import annotations

from functools import partial

from curation.audit.rule import Check, Context, Defect, Rule
from curation.audit.rules.planting import GONE, new_row
from curation.audit.rules.text_rows import literal
from curation.tasks.shared.granularity import LeftOut
from schemas.image_tables import ORIGIN_IMAGES, PANELS
from schemas.larger_tables import PARTS, PASSAGE_LABELS

_PARTS, _LABELS = PARTS.name, PASSAGE_LABELS.name
_FROM, _CUT = ORIGIN_IMAGES.name, PANELS.name
_OF_RELEASE = "('held_elsewhere', 'near_copy', 'cannot_judge', 'rule_under_floor', 'middle')"
"""Exclusions that partition, release and review make of documents, whatever their passages are."""
_LIFTED = f"""held AS (
        SELECT "corpus-id" AS c, coalesce(nullif(same_as, ''), part_id) AS passage_id
        FROM {_PARTS} WHERE kind = 'passage' AND left_out = ''),
    lifted AS (
        SELECT l."query-id" AS q, h.c, max(l.score) AS highest,
            count(*) FILTER (l.score IS NULL) AS apart,
            bool_or(l.score IS NULL AND l.reason <> 'own_article') AS has_reason
        FROM {_LABELS} AS l JOIN held AS h USING (passage_id) GROUP BY ALL)"""
"""What the passages of each document say of each query."""
_GRADE = f"""WITH {_LIFTED} SELECT r."query-id" AS q, r."corpus-id" AS c FROM qrels AS r
    LEFT JOIN lifted AS l ON l.q = r."query-id" AND l.c = r."corpus-id"
    WHERE r.label_status NOT IN ('expert', 'adjudicated') AND l.highest IS DISTINCT FROM r.score"""
_UNLABELLED = f"""WITH {_LIFTED} SELECT l.q, l.c FROM lifted AS l
    ANTI JOIN (SELECT * FROM qrels WHERE score > 0 OR label_status IN ('expert', 'adjudicated')) AS r
        ON r."query-id" = l.q AND r."corpus-id" = l.c
    LEFT JOIN excluded AS e ON e."query-id" = l.q AND e."corpus-id" = l.c
    WHERE l.highest > 0 AND coalesce(e.reason, '') NOT IN {_OF_RELEASE}"""
_NOT_APART = f"""WITH {_LIFTED} SELECT l.q, l.c FROM lifted AS l
    ANTI JOIN excluded AS e ON e."query-id" = l.q AND e."corpus-id" = l.c
    ANTI JOIN qrels AS r ON r."query-id" = l.q AND r."corpus-id" = l.c
    WHERE l.apart > 0 AND coalesce(l.highest, 0) = 0"""
_LESS_SAID = f"""WITH {_LIFTED} SELECT l.q, l.c FROM lifted AS l
    JOIN excluded AS e ON e."query-id" = l.q AND e."corpus-id" = l.c
    WHERE l.has_reason AND e.reason = 'own_article'"""
_UNASKED = f"""SELECT id AS q FROM queries
    ANTI JOIN (SELECT * FROM {_LABELS} WHERE score > 0) AS l ON l."query-id" = id"""
_IN_ORDER = f"""SELECT DISTINCT "corpus-id" AS c FROM (
        SELECT "corpus-id", position - row_number() OVER place AS gap,
            number <= max(number) OVER (place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS is_back
        FROM (SELECT *, CASE WHEN kind = 'passage'
            THEN TRY_CAST(regexp_extract(part_id, '#p(\\d+)$', 1) AS BIGINT) END AS number FROM {_PARTS})
        WINDOW place AS (PARTITION BY "corpus-id" ORDER BY position))
    WHERE gap <> 0 OR is_back"""
_COVER = f"""SELECT DISTINCT "corpus-id" AS c FROM (
        SELECT p."corpus-id", "start", "end", length(d.text) AS whole,
            lag("end") OVER place AS before, lead("end") OVER place AS behind
        FROM {_PARTS} AS p JOIN corpus AS d ON d.id = p."corpus-id" WHERE left_out = ''
        WINDOW place AS (PARTITION BY p."corpus-id" ORDER BY position))
    WHERE NOT coalesce("start" = coalesce(before + 1, 0) AND "end" > "start"
        AND (behind IS NOT NULL OR "end" = whole), false)"""
_UNMADE = f"""SELECT id AS c FROM corpus
    ANTI JOIN (SELECT * FROM {_PARTS} WHERE kind = 'passage' AND left_out = '') AS p ON p."corpus-id" = id"""
_FOREIGN = f"""SELECT DISTINCT "corpus-id" AS c FROM {_PARTS}
    WHERE split_part("corpus-id", '#', 1) <> split_part(part_id, '#', 1)"""
_ASKED_FOR = {
    "provenance_queries": "SELECT id AS q, source_id AS figure FROM provenance_queries",
    _FROM: f"SELECT id, figure_id FROM {_FROM} WHERE side = 'query'",
    _CUT: f'SELECT "query-id", figure_id FROM {_CUT}',
}
"""Tables that say which figure a query shows: alone, among several, a panel of it."""


def _shown(context: Context) -> str:
    """Documents that show a figure which a query asks for."""
    asked = " UNION ".join(text for name, text in _ASKED_FOR.items() if name in context.views)
    return f"""SELECT DISTINCT o.q, p."corpus-id" AS c FROM {_PARTS} AS p
        JOIN ({asked}) AS o ON o.figure = p.part_id WHERE p.kind = 'figure' AND p.left_out = ''"""


_KNOWN = ", ".join(map(literal, ("", *LeftOut)))
_UNKNOWN = f"""SELECT DISTINCT "corpus-id" AS c FROM {_PARTS}
    WHERE left_out NOT IN ({_KNOWN}) OR kind NOT IN ('passage', 'figure', 'table')"""

_DOCUMENT, _ASKED, _PASSAGE = "canary:document", "canary:asked", "canary:document#p1"
_NAMED = f"""SELECT '{_ASKED}' AS "query-id", '{_DOCUMENT}' AS "corpus-id\""""


def _pair(*more: str, passage: dict[str, object]) -> str:
    """SQL: a document of one passage, what this is to a query, and further rows."""
    part = {"corpus-id": _DOCUMENT, "position": 1, "kind": "passage", "part_id": _PASSAGE}
    part |= {"start": 0, "end": 9, "left_out": "", "same_as": ""}
    label = {"query-id": _ASKED, "passage_id": _PASSAGE, "reason": "", **passage}
    return "; ".join((new_row(_PARTS, part), new_row(_LABELS, label), *more, _NAMED))


_FIGURE = f"{_DOCUMENT}#F1"


def _figure_of(asked: str) -> str:
    """SQL: a query that shows a figure, and a document that shows it, too."""
    part = {"corpus-id": _DOCUMENT, "position": 1, "kind": "figure", "part_id": _FIGURE, "left_out": ""}
    return "; ".join((asked, new_row(_PARTS, part), _NAMED))


def _labelled(score: int) -> str:
    row = {"query-id": _ASKED, "corpus-id": _DOCUMENT, "score": score, "label_status": "structural"}
    return new_row("qrels", row)


def _excluded(reason: str) -> str:
    return new_row("excluded", {"query-id": _ASKED, "corpus-id": _DOCUMENT, "reason": reason})


_FIRST = f"(SELECT min(rowid) FROM {_PARTS} WHERE left_out = '' AND kind = 'passage')"


def _moved(values: str) -> str:
    """SQL: some cells of the first passage that stands in a document."""
    return f"""UPDATE {_PARTS} SET {values} WHERE rowid = {_FIRST} RETURNING "corpus-id\""""


CHECKS = (
    Check(
        "the grade is not the highest of the document's passages",
        _GRADE,
        (
            Defect("a grade above that of the passage", _pair(_labelled(2), passage={"score": 1})),
            Defect(
                "a grade where the passage is set aside",
                _pair(_labelled(1), passage={"reason": "own_article"}),
            ),
        ),
    ),
    Check(
        "a document holds a positive passage and is neither labelled nor set aside by release or review",
        _UNLABELLED,
        (
            Defect("a positive passage in an unjudged document", _pair(passage={"score": 2})),
            Defect(
                "a positive passage in a document set aside as of the same article",
                _pair(_excluded("own_article"), passage={"score": 2}),
            ),
        ),
    ),
    Check(
        "a document holds an excluded passage and no positive, and is not excluded",
        _NOT_APART,
        Defect("an excluded passage in an unjudged document", _pair(passage={"reason": "own_article"})),
    ),
    Check(
        "a document is excluded as of the same article although a passage has a reason of its own",
        _LESS_SAID,
        Defect(
            "a reason lost on the way up",
            _pair(_excluded("own_article"), passage={"reason": "short_passage"}),
        ),
    ),
    Check(
        "no passage answers the query",
        _UNASKED,
        Defect(
            "a query without a positive passage",
            f"""DELETE FROM {_LABELS} WHERE "query-id" = (SELECT min(id) FROM queries);
            SELECT min(id) FROM queries""",
        ),
    ),
    Check(
        "the parts of a document are not in the order of the article",
        _IN_ORDER,
        (
            Defect("a part without its number", _moved("position = position + 100")),
            Defect(
                "a passage before one that comes earlier",
                f"""INSERT INTO {_PARTS} BY NAME SELECT * EXCLUDE (place, last)
                    REPLACE (split_part(part_id, '#', 1) || '#p0' AS part_id, last + 1 AS position)
                FROM (SELECT *, rowid AS place, max(position) OVER (PARTITION BY "corpus-id") AS last
                    FROM {_PARTS}) WHERE place = {_FIRST} RETURNING "corpus-id\"""",
            ),
        ),
    ),
    Check(
        "the parts do not make up the text of the document",
        _COVER,
        (
            Defect("a part that begins too late", _moved('"start" = "start" + 1')),
            Defect("a part without an end", _moved('"end" = NULL')),
        ),
    ),
    Check(
        "no passage stands in the document",
        _UNMADE,
        Defect("a document of no passage", new_row("corpus", {"id": GONE}) + f"; SELECT '{GONE}'"),
    ),
    Check(
        "a part is of another article than its document",
        _FOREIGN,
        Defect("a part of another article", _moved(f"part_id = '{GONE}#p1'")),
    ),
    Check(
        "a document shows the figure of a query",
        _shown,
        (
            Defect(
                "a figure that is a query, in a document",
                _figure_of(new_row("provenance_queries", {"id": _ASKED, "source_id": _FIGURE})),
            ),
            Defect(
                "a figure that is one of a query's, in a document",
                _figure_of(
                    new_row(_FROM, {"side": "query", "id": _ASKED, "position": 1, "figure_id": _FIGURE})
                ),
            ),
            Defect(
                "a figure whose panel is a query, in a document",
                _figure_of(new_row(_CUT, {"query-id": _ASKED, "figure_id": _FIGURE})),
            ),
        ),
    ),
    Check(
        "a part is of no known kind, or left out for no known reason",
        _UNKNOWN,
        (
            Defect("a part left out for no known reason", _moved("left_out = 'canary'")),
            Defect("a part of no known kind", _moved("kind = 'canary'")),
        ),
    ),
)
_rule = partial(Rule, severity="error", about=(_PARTS,), holds="documents larger than a passage")
RULES = (
    _rule(
        "granularity",
        2,
        "Sections and articles agree with their passages",
        "Every section or article is made of passages, captions and tables of one article, without a gap and "
        "the passages in its order; none shows a figure that a query shows, alone, among others or as a "
        "panel. A grade is the highest of the passages; without a positive, "
        "one excluded passage excludes the pair, by a reason of its own where there is one; each "
        "query is answered by a passage.",
        unit="parts",
        checks=CHECKS,
        compared=f"FROM {_PARTS}",
        tables=(_LABELS, "queries", "corpus", "qrels", "excluded", "provenance_queries"),
    ),
)
