"""The rule on restricted vocabulary: a name of it can only stand in a text that somebody made."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from curation.audit.rule import (
    MAX_EXAMPLES,
    CannotRun,
    Check,
    Collector,
    Context,
    Defect,
    FileDefect,
    Outcome,
    Rule,
    side,
)
from curation.audit.rules.evidence import texts_of, untraced
from curation.audit.rules.planting import GONE, set_row, table_file
from curation.published.manifest import NAME
from curation.published.query import Sandbox, UnknownNameError
from curation.release.restricted import piece_hash, pieces
from curation.vocabulary.known_sources import is_restricted
from schemas.audit import Coverage
from schemas.tables import MADE_TEXTS, RESTRICTED_NAMES

_LIST, _HASHES = MADE_TEXTS.name, RESTRICTED_NAMES.name
_OTHER_TITLES = """SELECT id, title FROM corpus WHERE coalesce(title, '') <> ''
    AND title NOT IN (SELECT title FROM sources WHERE title IS NOT NULL) ORDER BY id"""
_LISTED = 'SELECT "table" AS tab, id, field FROM made_texts'
_MADE = """SELECT m."table" AS tab, m.id, m.field, t.id IS NOT NULL AS is_there, t.words
    FROM made_texts m LEFT JOIN (
        SELECT 'queries' AS tab, id, 'text' AS field, text AS words FROM queries
        UNION ALL SELECT 'corpus', id, 'text', text FROM corpus
        UNION ALL SELECT 'corpus', id, 'title', title FROM corpus
    ) t ON t.tab = m."table" AND t.id = m.id AND t.field = m.field"""
_LISTED_SINCE = 3
"""Format of release.json with which made texts are listed."""
_CONCEPTS = {
    "keys": "SELECT key AS concept, \"query-id\" AS id FROM keys WHERE dimension = 'target_concept'",
    "qrels": 'SELECT via AS concept, "query-id" AS id FROM qrels',
    "target_names": "SELECT concept, concept AS id FROM target_names",
}
_PREFIXES = """SELECT split_part(concept, ':', 1) AS prefix, min(id) AS id FROM ({concepts})
    WHERE concept LIKE '%:%' GROUP BY ALL ORDER BY ALL"""


def _counted(context: Context) -> str:
    """Whether as many made texts are listed as release.json says."""
    stated = context.manifest.made_texts
    has_list = _LIST in context.views
    if stated and not has_list and context.manifest.format_version < _LISTED_SINCE:
        raise CannotRun(
            f"{stated} released texts are not an article's own, and this format does not say which"
        )
    listed = f"FROM {_LIST}" if has_list else "WHERE false"
    return f"""SELECT 'made_texts' AS "{NAME}", {stated} AS stated, count(*) AS listed {listed}
        HAVING count(*) <> {stated}"""


def _unlisted(context: Context) -> Outcome:
    """Texts and titles that lead to no article and are not listed as made."""
    found = Collector("restricted_strings", "error")
    rows = context.rows(_LISTED, _LIST) if _LIST in context.views else []
    listed = {(row["tab"], row["id"], row["field"]) for row in rows}
    compared, wrong = untraced(context)
    wrong = [(table, name) for table, name in wrong if (table, name, "text") not in listed]
    texts = texts_of(context, wrong[:MAX_EXAMPLES])
    for table, name in wrong:
        quoted = side(table, name, texts.get((table, name)))
        found.add("the text is in no article and is not listed as made", quoted)
    for row in context.rows(_OTHER_TITLES, "corpus", "sources"):
        if ("corpus", row["id"], "title") not in listed:
            quoted = side("corpus", row["id"], row["title"])
            found.add("the title is not an article's and is not listed as made", quoted)
    note = "no text was made: each leads back to the hash of an article's text, each title to an article"
    is_none_made = not (listed or found.found or context.manifest.made_texts)
    return found.outcome(compared + context.count("corpus"), note if is_none_made else "")


def _concepts(context: Context) -> Outcome:
    """A release that says that no restricted name was in use rests on no concept of a restricted source."""
    found = Collector("restricted_strings", "error")
    if context.manifest.restricted_names:
        return found.outcome(0)
    present = [name for name in _CONCEPTS if name in context.views]
    text = _PREFIXES.format(concepts=" UNION ALL ".join(_CONCEPTS[name] for name in present))
    for row in context.rows(text, *present) if present else ():
        if is_restricted(row["prefix"]):
            found.add(
                f"rests on a concept of {row['prefix']}, although release.json says that no restricted name "
                "was in use",
                side(NAME, "restricted_names"),
                side("keys", row["id"]),
            )
    made = context.count(_LIST) if _LIST in context.views and _HASHES not in context.views else 0
    note = (
        f"{made} texts and titles were made where, as release.json says, the vocabulary in use had no "
        "restricted name; no concept of the release is of a source known to be restricted"
    )
    return found.outcome(0, note if made and not found.found else "")


def _gone(context: Context) -> str:
    text = f"SELECT tab, id AS {_LIST} FROM ({_MADE}) WHERE NOT is_there"
    return text if _LIST in context.views else ""


def _named(context: Context) -> Outcome:
    """Look for restricted names in the texts that were made; what that proves."""
    found = Collector("restricted_strings", "error")
    looked = context.count(_LIST) if _LIST in context.views else 0
    note = ""
    if looked and _HASHES in context.views:
        rows = context.batches(f"SELECT name_hash FROM {_HASHES}", _HASHES)
        hashes = {name for batch in rows for name in batch.column(0).to_pylist()}
        made = f"SELECT tab, id, field, words FROM ({_MADE}) WHERE is_there ORDER BY tab, id, field"
        for batch in context.batches(made, _LIST, "queries", "corpus") if hashes else ():
            for row in batch.to_pylist():
                for piece in pieces([(row["id"], row["words"] or "")]):
                    if piece_hash(piece) in hashes:
                        found.add(
                            f"a made {row['field']} contains a name that only restricted sources have",
                            side(row["tab"], row["id"], piece),
                        )
        note = (
            f"{looked} made texts and titles hold none of {len(hashes)} names listed by hash; that the list "
            "is whole, only the vocabulary can show"
        )
    why = "" if looked else "none was made"
    coverage = Coverage(compared_with="", compared=looked, unit="made texts and titles", why=why)
    return Outcome(0, found.found, tuple(found.kept), "" if found.found else note, (coverage,))


def _unhashed(context: Context) -> str:
    """Whether restricted names were in use that made texts cannot be compared with."""
    in_use = context.manifest.restricted_names
    if not in_use or _LIST not in context.views or _HASHES in context.views:
        return ""
    return f"SELECT DISTINCT 'restricted_names' AS \"{NAME}\", {in_use} AS in_use FROM {_LIST}"


_NOBODY_S = "What does the disorder with a name nobody may print look like?"
_HASH = piece_hash("disorder with a name nobody may print")


def _made(name: str, table: str, field: str, at: int = 0) -> Defect:
    """A made text, listed as such, with a name that is listed by its hash."""
    return Defect(
        name,
        f"""INSERT INTO made_texts BY NAME SELECT '{table}' AS "table", id, '{field}' AS field
            FROM {table} WHERE rowid = {at};
        INSERT INTO restricted_names BY NAME SELECT '{_HASH}' AS name_hash;
        {set_row(table, f"{field} = '{_NOBODY_S}'", at)}""",
    )


def _untaken(tables: Sandbox) -> Sequence[str] | None:
    """Another text for the first query that is not listed as made; None where all are."""
    try:
        listed = {row["id"] for row in tables.run(f"""SELECT id FROM {_LIST} WHERE "table" = 'queries'""")}
    except UnknownNameError:  # no text was made
        listed = set()
    rows = tables.run("SELECT rowid AS at, id FROM queries ORDER BY rowid")
    at = next((row["at"] for row in rows if row["id"] not in listed), None)
    if at is None:
        return None
    return [row["id"] for row in tables.run(set_row("queries", f"text = '{_NOBODY_S}'", at))]


def _resting(name: str, table: str, values: str, names: str) -> Defect:
    """A concept of a restricted source, where none was in use."""
    plant = set_row(table, values, names=f"{names}, 'restricted_names'")
    return Defect(name, plant, stated={"restricted_names": 0})


def _without_hashes(directory: Path) -> Sequence[str] | None:
    """Hashes of the names in use taken away, with texts left that were made."""
    if table_file(directory, _LIST) is None or table_file(directory, _HASHES) is None:
        return None
    shutil.rmtree(directory / RESTRICTED_NAMES.folder)
    return ["restricted_names"]


_CHECKS = (
    Check(
        "release.json says that {stated} texts and titles were made; {listed} are listed",
        _counted,
        (
            Defect(
                "a made text that release.json does not count",
                """INSERT INTO made_texts BY NAME SELECT 'corpus' AS "table", id, 'text' AS field FROM corpus
                WHERE rowid = 0; SELECT 'made_texts'""",
            ),
            Defect("other texts made than listed", "SELECT 'made_texts'", stated={"made_texts": 10**6}),
        ),
    ),
    Check(
        "a text or title is in no article and is not listed as made",
        _unlisted,
        (
            Defect("a query not taken from an article", _untaken),
            Defect("a document not taken from an article", set_row("corpus", f"text = '{_NOBODY_S}'")),
            Defect(
                "a title not taken from an article", set_row("corpus", "title = 'A title nobody made'", 1)
            ),
        ),
        at_once=True,
    ),
    Check(
        "a concept is of a restricted source, although no restricted name was in use",
        _concepts,
        (
            _resting(
                "a restricted target concept",
                "keys",
                "dimension = 'target_concept', key = 'ICD10:a'",
                '"query-id"',
            ),
            _resting("a label by a restricted concept", "qrels", "via = 'ICD10:canary'", '"query-id"'),
            _resting(
                "names for a restricted concept",
                "target_names",
                "concept = 'ICD10:canary'",
                "concept",
            ),
        ),
    ),
    Check(
        "listed as made, and not there",
        _gone,
        tuple(
            Defect(
                f"a made {field} of {table} that is not there",
                f"""INSERT INTO made_texts BY NAME SELECT '{table}' AS "table", '{field}' AS field,
                '{GONE}:{table}:{field}' AS id RETURNING id""",
            )
            for table, field in (("queries", "text"), ("corpus", "text"), ("corpus", "title"))
        ),
        at_once=True,
    ),
    Check(
        "a made text or title contains a name that only restricted sources have",
        _named,
        (
            _made("a restricted name in a made query", "queries", "text"),
            _made("a restricted name in a made document", "corpus", "text"),
            _made("a restricted name in a made title", "corpus", "title", 1),
        ),
        at_once=True,
    ),
    Check(
        "release.json says that {in_use} restricted names were in use, and none is listed by its hash",
        _unhashed,
        FileDefect("restricted names without their hashes", _without_hashes),
    ),
)
RULES = (
    Rule(
        "restricted_strings",
        2,
        "No restricted name",
        (
            "Restricted names could only stand in texts somebody made. A text that does not lead back to an "
            "article's text by hash, and a title that is not an article's must be listed as made; a made one "
            "must hold no name of the restricted names listed by hash. Where none is listed, release.json "
            "must say that none was in use, and no concept may be of a source known to be restricted. That "
            "the hash of an article's text is one, and that no name is missing from the list, cannot be seen "
            "from these files."
        ),
        "error",
        "texts and titles",
        checks=_CHECKS,
    ),
)
