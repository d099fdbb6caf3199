"""Rules on distractors: published, unjudged, of another article and patient, and as alike as is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from curation.audit.rule import CannotRun, Collector, Context, NotApplicable, Outcome, Rule, side
from curation.audit.rules import distractors_canaries as planted

Views = Mapping[str, Sequence[Path]]
_TABLE = "distractors"
_SPLITS = ("test", "dev")
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


def _given(context: Context, *more: str) -> dict[str, Sequence[Path]]:
    """The files a rule reads.

    Raises:
        NotApplicable: the release has no distractors. CannotRun: it lacks a table they are compared with.
    """
    views = context.views
    if _TABLE not in views:
        raise NotApplicable("the files hold no distractors")
    absent = [name for name in more if name not in views]
    if absent:
        raise CannotRun(f"table absent: {', '.join(absent)}")
    return {name: views[name] for name in (_TABLE, *more)}


def _run(context: Context, rule: str, views: Views, checks: Sequence[tuple[str, str]]) -> Outcome:
    """Violations of several checks, each SQL that selects them as q and c, of which c may be null."""
    found = Collector(rule, "error")
    for message, text in checks:
        for batch in context.query(f"SELECT DISTINCT q, c FROM ({text}) ORDER BY q, c", views):
            for row in batch.to_pylist():
                sides = [side("queries", row["q"]), *([side("corpus", row["c"])] if row["c"] else [])]
                found.add(message, *sides)
    counted = context.query(f"SELECT count(*) AS n FROM {_TABLE}", views)
    return found.outcome(int(next(iter(counted)).to_pylist()[0]["n"]))


def _fit(context: Context) -> Outcome:
    views = _given(
        context, "queries", "corpus", "qrels", "excluded", "provenance_queries", "provenance_corpus"
    )
    pair = 'ON r."query-id" = q AND r."corpus-id" = c'
    checks = [
        ("a query is not published", f'{_MINE} ANTI JOIN queries ON id = "query-id"'),
        ("a document is not published", f'{_MINE} ANTI JOIN corpus ON id = "corpus-id"'),
        ("a distractor is judged", f"SELECT q, c FROM ({_MINE}) SEMI JOIN qrels r {pair}"),
        ("a distractor is excluded", f"SELECT q, c FROM ({_MINE}) SEMI JOIN excluded r {pair}"),
        (
            "a distractor is the query's own record",
            f"SELECT q, c FROM ({_MINE}) SEMI JOIN provenance_queries o ON o.id = q AND o.source_id = c",
        ),
        *(_near(column) for column in ("article_id", "patient_id")),
        *(_copy(column) for column in ("text_sha256", "image_sha256")),
        (
            "ranks of a query are not 1 to n, or a document stands twice",
            f"""SELECT "query-id" AS q, NULL AS c FROM {_TABLE} GROUP BY "query-id" HAVING min(rank) <> 1
                OR max(rank) <> count(*) OR count(DISTINCT rank) <> count(*) OR count(rank) <> count(*)
                OR count(DISTINCT "corpus-id") <> count(*)""",
        ),
        ("a distractor is not called unjudged", f"{_MINE} WHERE label_status IS DISTINCT FROM 'unjudged'"),
        *_splits(context, views),
    ]
    return _run(context, "distractors", views, checks)


def _near(column: str) -> tuple[str, str]:
    """Distractors that share an article or patient with the query or one of its positives."""
    known = f"coalesce({column}, '') <> ''"
    taken = f"""SELECT id AS q, {column} AS v FROM provenance_queries WHERE {known} UNION
        SELECT q, {column} FROM ({_POSITIVE}) JOIN provenance_corpus ON id = p WHERE {known}"""
    return (
        f"a distractor shares {column} with the query or a positive",
        f"""SELECT q, c FROM (SELECT q, c, {column} AS v FROM ({_MINE}) JOIN provenance_corpus ON id = c)
            SEMI JOIN ({taken}) USING (q, v)""",
    )


def _copy(column: str) -> tuple[str, str]:
    """Distractors that are copies of a positive; all documents without text have the same text."""
    of = f"SELECT id, {column} AS v FROM provenance_corpus WHERE coalesce({column}, '') <> ''"
    if column == "text_sha256":
        of += " AND id IN (SELECT id FROM corpus WHERE text <> '')"
    return (
        f"a distractor shares {column} with a positive",
        f"""SELECT q, c FROM ({_MINE}) JOIN ({of}) d ON d.id = c
            SEMI JOIN (SELECT q AS of_q, v AS of_v FROM ({_POSITIVE}) JOIN ({of}) ON id = p)
            ON of_q = q AND of_v = v""",
    )


def _splits(context: Context, views: dict[str, Sequence[Path]]) -> list[tuple[str, str]]:
    """SQL for queries whose rows are in files of another split; adds a view per split."""
    parts = []
    for split in _SPLITS:
        files = [path for path in context.views[_TABLE] if path.name.startswith(f"{split}-")]
        if files:
            views[f"{_TABLE}_{split}"] = files
            parts.append(f"""SELECT "query-id" AS q, '{split}' AS split FROM {_TABLE}_{split}""")
    if not parts:
        return []
    text = f"""SELECT q, NULL AS c FROM ({" UNION ALL ".join(parts)}) t
        JOIN provenance_queries o ON o.id = q WHERE t.split IS DISTINCT FROM o.split"""
    return [("a distractor is of another split than its query", text)]


def _match(context: Context) -> Outcome:
    views = _given(context, "corpus", "qrels", "provenance_corpus")
    best = """SELECT "query-id" AS q, "corpus-id" AS p FROM qrels WHERE score > 0
        QUALIFY row_number() OVER (PARTITION BY "query-id" ORDER BY score DESC, "corpus-id") = 1"""
    truth = f"""
        WITH known AS MATERIALIZED ({_KNOWN})
        SELECT t."query-id" AS q, t."corpus-id" AS c, t.rank, t.matched AS stated,
            coalesce(t.specialty, '') = d.specialty AND coalesce(t.genre, '') = d.genre
                AND t.length_band IS NOT DISTINCT FROM d.band AS is_true,
            coalesce(d.language = p.language AND d.specialty = p.specialty, false) AS is_alike,
            concat_ws(' ',
                CASE WHEN d.specialty = p.specialty AND d.specialty <> '' THEN 'specialty' END,
                CASE WHEN d.genre = p.genre AND d.genre <> '' THEN 'genre' END,
                CASE WHEN d.band = p.band AND d.band <> '' THEN 'length_band' END) AS matched,
            CASE WHEN d.band <> p.band THEN 2 WHEN d.genre <> p.genre THEN 1 ELSE 0 END AS level
        FROM {_TABLE} t JOIN known d ON d.id = t."corpus-id" LEFT JOIN ({best}) b ON b.q = t."query-id"
        LEFT JOIN known p ON p.id = b.p"""
    said = {
        "specialty, genre or length band is not that of the document": "NOT is_true",
        "the document is not of specialty and language of the query's best positive": "NOT is_alike",
        "what was matched is not what the two documents share": (
            "array_to_string(stated, ' ') IS DISTINCT FROM matched"
        ),
        "a document stands before one that matches better": "level < before",
    }
    cases = ", ".join(f"CASE WHEN {wrong} THEN {number} END" for number, wrong in enumerate(said.values()))
    text = f"""SELECT q, c, what FROM (SELECT q, c, unnest([{cases}]) AS what FROM (
        SELECT *, max(level) OVER (PARTITION BY q ORDER BY rank, c) AS before FROM ({truth})))
        WHERE what IS NOT NULL ORDER BY what, q, c"""
    found, messages = Collector("distractors_match", "error"), list(said)
    for batch in context.query(text, views):
        for row in batch.to_pylist():
            found.add(messages[row["what"]], side("queries", row["q"]), side("corpus", row["c"]))
    counted = context.query(f"SELECT count(*) AS n FROM {_TABLE}", views)
    return found.outcome(int(next(iter(counted)).to_pylist()[0]["n"]))


RULES = (
    Rule(
        "distractors",
        1,
        "Distractors are unjudged documents from elsewhere",
        "Every distractor is a published document for a published query of its split, neither judged nor "
        "excluded, not the query's own record, of another article and patient than query and positives, no "
        "copy of a positive's text or image, called unjudged; the ranks of a query are 1 to n.",
        "error",
        "pairs",
        _fit,
        canaries=planted.FIT,
    ),
    Rule(
        "distractors_match",
        1,
        "Distractors match as is said",
        "Specialty, genre and length band of every distractor are those of its document; it has specialty "
        "and language of the query's best positive (highest grade, then lowest id); matched lists what the "
        "two share, recomputed; a better match stands before one that is alike in less.",
        "error",
        "pairs",
        _match,
        canaries=planted.MATCH,
    ),
)
