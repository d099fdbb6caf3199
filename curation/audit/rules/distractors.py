"""Rules on distractors: published, unjudged, of another article and patient, and as alike as is said."""

from __future__ import annotations

from functools import partial

from curation.audit.checks import placed
from curation.audit.rule import Check, Context, Defect, Rule
from curation.audit.rules.planting import GONE, add_row, set_row

_TABLE = "distractors"
_MINE = f'SELECT "query-id" AS q, "corpus-id" AS c FROM {_TABLE}'
_POSITIVE = 'SELECT "query-id" AS q, "corpus-id" AS p FROM qrels WHERE score > 0'
_LENGTH = """
    SELECT id, language, CASE
        WHEN text IS NULL OR text = '' THEN ''
        WHEN n >= 400 THEN '400+' WHEN n >= 200 THEN '200-399' WHEN n >= 100 THEN '100-199'
        WHEN n >= 50 THEN '50-99' WHEN n >= 25 THEN '25-49' ELSE '<25' END AS band
    FROM (SELECT id, language, text, CASE WHEN lower(split_part(language, '-', 1)) IN ('ja', 'zh')
        THEN length(text) // 2
        ELSE 1 + length(text) - length(translate(text, ' ', '')) END AS n FROM corpus)"""
_KNOWN = f"""
    SELECT id, language, coalesce(specialty, '') AS specialty, coalesce(genre, '') AS genre, band
    FROM ({_LENGTH}) JOIN provenance_corpus USING (id)"""


_FIRST = f"(SELECT * FROM {_TABLE} WHERE rowid = 0)"
_QUERY, _DOCUMENT = f'(SELECT "query-id" FROM {_FIRST})', f'(SELECT "corpus-id" FROM {_FIRST})'
_COUNT = f'SELECT count(*) FROM {_TABLE} WHERE "query-id" = {_QUERY}'
_Q = '"query-id"'
_IDS = f'SELECT "query-id", "corpus-id" FROM {_FIRST}'
"""Defects are planted in, or around, the first distractor."""
_POSITIVES = f'SELECT "corpus-id" FROM qrels WHERE score > 0 AND "query-id" = {_QUERY}'


def _paired(table: str, message: str, defect: str, values: str) -> Check:
    """No distractor is a pair of another table."""
    plant = f"""INSERT INTO {table} BY NAME SELECT "query-id", "corpus-id", {values} FROM {_FIRST}
        RETURNING "query-id", "corpus-id" """
    return Check(
        message,
        f'SELECT DISTINCT q, c FROM ({_MINE}) SEMI JOIN {table} r ON r."query-id" = q AND r."corpus-id" = c',
        Defect(defect, plant),
    )


def _near(column: str, what: str) -> Check:
    """No distractor shares an article or patient with the query or one of its positives."""
    known = f"coalesce({column}, '') <> ''"
    taken = f"""SELECT id AS q, {column} AS v FROM provenance_queries WHERE {known} UNION
        SELECT q, {column} FROM ({_POSITIVE}) JOIN provenance_corpus ON id = p WHERE {known}"""
    mine = f"UPDATE provenance_corpus SET {column} = 'canary:shared' WHERE id = {_DOCUMENT}"
    own = f"UPDATE provenance_queries SET {column} = 'canary:shared' WHERE id = {_QUERY}"
    other = f"UPDATE provenance_corpus SET {column} = 'canary:shared' WHERE id IN ({_POSITIVES})"
    return Check(
        f"a distractor shares {column} with the query or a positive",
        f"""SELECT DISTINCT q, c FROM (SELECT q, c, {column} AS v FROM ({_MINE})
            JOIN provenance_corpus ON id = c) SEMI JOIN ({taken}) USING (q, v)""",
        (
            Defect(f"a document of the query's {what}", f"{mine}; {own}; {_IDS}"),
            Defect(f"a document of a positive's {what}", f"{mine}; {other}; {_IDS}"),
        ),
    )


def _copy(column: str, what: str) -> Check:
    """No distractor is a copy of a positive; all documents without text have the same text."""
    of = f"SELECT id, {column} AS v FROM provenance_corpus WHERE coalesce({column}, '') <> ''"
    both = f"id IN ({_POSITIVES} UNION SELECT {_DOCUMENT})"
    plant = f"UPDATE provenance_corpus SET {column} = 'canary' WHERE {both}; {_IDS}"
    if column == "text_sha256":
        of += " AND id IN (SELECT id FROM corpus WHERE text <> '')"
        plant = f"UPDATE corpus SET text = 'canary' WHERE {both}; {plant}"
    return Check(
        f"a distractor shares {column} with a positive",
        f"""SELECT DISTINCT q, c FROM ({_MINE}) JOIN ({of}) d ON d.id = c
            SEMI JOIN (SELECT q AS of_q, v AS of_v FROM ({_POSITIVE}) JOIN ({of}) ON id = p)
            ON of_q = q AND of_v = v""",
        Defect(f"a copy of a positive's {what}", plant),
    )


def _splits(context: Context) -> str:
    rows = placed(context, _TABLE)
    return (
        rows
        and f"""SELECT DISTINCT q, NULL AS c FROM ({rows}) t JOIN provenance_queries o ON o.id = q
        WHERE t.split IS DISTINCT FROM o.split"""
    )


FIT = (
    Check(
        "a query is not published",
        f"SELECT DISTINCT q, c FROM ({_MINE}) ANTI JOIN queries ON id = q",
        Defect("a query that is not published", set_row(_TABLE, f"\"query-id\" = '{GONE}'")),
    ),
    Check(
        "a document is not published",
        f"SELECT DISTINCT q, c FROM ({_MINE}) ANTI JOIN corpus ON id = c",
        Defect("a document that is not published", set_row(_TABLE, f"\"corpus-id\" = '{GONE}'")),
    ),
    _paired("qrels", "a distractor is judged", "a judged document", "0 AS score"),
    _paired("excluded", "a distractor is excluded", "an excluded document", "'own_article' AS reason"),
    Check(
        "a distractor is the query's own record",
        f"""SELECT DISTINCT q, c FROM ({_MINE})
            SEMI JOIN provenance_queries o ON o.id = q AND o.source_id = c""",
        Defect(
            "the query's own record",
            f"UPDATE provenance_queries SET source_id = {_DOCUMENT} WHERE id = {_QUERY} "
            "RETURNING id, source_id",
        ),
    ),
    _near("article_id", "article"),
    _near("patient_id", "patient"),
    _copy("text_sha256", "text"),
    _copy("image_sha256", "image"),
    Check(
        "ranks of a query are not 1 to n, or a document stands twice",
        f"""SELECT "query-id" AS q, NULL AS c FROM {_TABLE} GROUP BY "query-id" HAVING min(rank) <> 1
            OR max(rank) <> count(*) OR count(DISTINCT rank) <> count(*) OR count(rank) <> count(*)
            OR count(DISTINCT "corpus-id") <> count(*)""",
        (
            Defect("a rank that was skipped", set_row(_TABLE, "rank = 99", names=_Q)),
            Defect("a document twice", add_row(_TABLE, f"1 + ({_COUNT}) AS rank", names=_Q)),
        ),
    ),
    Check(
        "a distractor is not called unjudged",
        f"SELECT DISTINCT q, c FROM ({_MINE} WHERE label_status IS DISTINCT FROM 'unjudged')",
        Defect("a distractor called negative", set_row(_TABLE, "label_status = 'negative'")),
    ),
    Check(
        "a distractor is of another split than its query",
        _splits,
        Defect(
            "a distractor in a file of the other split",
            f"""UPDATE placed SET split = if(split = 'test', 'dev', 'test')
                WHERE tab = '{_TABLE}' AND q = {_QUERY} RETURNING q""",
        ),
    ),
)


_BEST = """SELECT "query-id" AS q, "corpus-id" AS p FROM qrels WHERE score > 0
    QUALIFY row_number() OVER (PARTITION BY "query-id" ORDER BY score DESC, "corpus-id") = 1"""
_TRUTH = f"""
    WITH known AS MATERIALIZED ({_KNOWN})
    SELECT q, c, is_true, is_alike, stated, matched, level < before AS is_late FROM (
        SELECT *, max(level) OVER (PARTITION BY q ORDER BY rank, c) AS before FROM (
            SELECT t."query-id" AS q, t."corpus-id" AS c, t.rank, array_to_string(t.matched, ' ') AS stated,
                coalesce(t.specialty, '') = d.specialty AND coalesce(t.genre, '') = d.genre
                    AND t.length_band IS NOT DISTINCT FROM d.band AS is_true,
                coalesce(d.language = p.language AND d.specialty = p.specialty, false) AS is_alike,
                concat_ws(' ',
                    CASE WHEN d.specialty = p.specialty AND d.specialty <> '' THEN 'specialty' END,
                    CASE WHEN d.genre = p.genre AND d.genre <> '' THEN 'genre' END,
                    CASE WHEN d.band = p.band AND d.band <> '' THEN 'length_band' END) AS matched,
                CASE WHEN d.band <> p.band THEN 2 WHEN d.genre <> p.genre THEN 1 ELSE 0 END AS level
            FROM {_TABLE} t JOIN known d ON d.id = t."corpus-id"
            LEFT JOIN ({_BEST}) b ON b.q = t."query-id" LEFT JOIN known p ON p.id = b.p))"""
"""One row for each distractor: what its document and the query's best positive are, and share."""
_MINE_ALL = f'SELECT "corpus-id" FROM {_TABLE} WHERE "query-id" = {_QUERY} UNION {_POSITIVES}'
MATCH = (
    Check(
        "specialty, genre or length band is not that of the document",
        "NOT is_true",
        tuple(
            Defect(f"{what} that is not the document's", set_row(_TABLE, f"{column} = 'canary'"))
            for what, column in (
                ("a length", "length_band"),
                ("a genre", "genre"),
                ("a specialty", "specialty"),
            )
        ),
        of=_TRUTH,
    ),
    Check(
        "the document is not of specialty and language of the query's best positive",
        "NOT is_alike",
        (
            Defect(
                "a document of another specialty",
                f"UPDATE provenance_corpus SET specialty = 'canary' WHERE id = {_DOCUMENT}; {_IDS}",
            ),
            Defect(
                "a document in another language",
                f"UPDATE corpus SET language = 'canary' WHERE id = {_DOCUMENT}; {_IDS}",
            ),
        ),
        of=_TRUTH,
    ),
    Check(
        "what was matched is not what the two documents share",
        "stated IS DISTINCT FROM matched",
        Defect("a match that does not hold", set_row(_TABLE, "matched = ['canary']")),
        of=_TRUTH,
    ),
    Check(
        "a document stands before one that matches better",
        "is_late",
        Defect(
            "a document of another genre before one of the same",
            f"""UPDATE corpus SET text = 'canary' WHERE id IN ({_MINE_ALL});
            UPDATE provenance_corpus SET genre = if(id = {_DOCUMENT}, 'canary:other', 'canary')
                WHERE id IN ({_MINE_ALL});
            SELECT "query-id", "corpus-id" FROM {_TABLE} WHERE rowid = 1 AND "query-id" = {_QUERY}""",
        ),
        of=_TRUTH,
    ),
)
_rule = partial(
    Rule,
    severity="error",
    unit="pairs",
    about=(_TABLE,),
    holds="distractors",
    compared=f"FROM {_TABLE}",
)
RULES = (
    _rule(
        "distractors",
        1,
        "Distractors are unjudged documents from elsewhere",
        "Every distractor is a published document for a published query of its split, neither judged nor "
        "excluded, not the query's own record, of another article and patient than query and positives, no "
        "copy of a positive's text or image, called unjudged; the ranks of a query are 1 to n.",
        checks=FIT,
        tables=("queries", "corpus", "qrels", "excluded", "provenance_queries", "provenance_corpus"),
    ),
    _rule(
        "distractors_match",
        1,
        "Distractors match as stated",
        "Specialty, genre and length band of every distractor are those of its document; it has specialty "
        "and language of the query's best positive (highest grade, then lowest id); matched lists what the "
        "two share, recomputed; a better match stands before one that is alike in less.",
        checks=MATCH,
        tables=("corpus", "qrels", "provenance_corpus"),
    ),
)
