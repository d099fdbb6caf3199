"""The rule on restricted vocabulary: a name of it can only stand in a text that somebody made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from curation.audit.rule import MAX_EXAMPLES, Canary, CannotRun, Collector, Context, Outcome, Rows, Rule, side
from curation.audit.rules.evidence import texts_of, untraced
from curation.audit.rules.planting import cell
from curation.published.manifest import FORMAT_VERSION
from curation.release.restricted import piece_hash, pieces
from curation.vocabulary.known_sources import is_restricted
from schemas.audit import Coverage
from schemas.tables import MADE_TEXTS, RESTRICTED_NAMES

_OTHER_TITLES = """SELECT id, title FROM corpus WHERE coalesce(title, '') <> ''
    AND title NOT IN (SELECT title FROM sources WHERE title IS NOT NULL) ORDER BY id"""
_LISTED = 'SELECT "table" AS tab, id, field FROM made_texts ORDER BY ALL'
_MADE = """SELECT m."table" AS tab, m.id, m.field, t.id IS NOT NULL AS is_there, t.words
    FROM made_texts m LEFT JOIN (
        SELECT 'queries' AS tab, id, 'text' AS field, text AS words FROM queries
        UNION ALL SELECT 'corpus', id, 'text', text FROM corpus
        UNION ALL SELECT 'corpus', id, 'title', title FROM corpus
    ) t ON t.tab = m."table" AND t.id = m.id AND t.field = m.field ORDER BY ALL"""
_CONCEPTS = {
    "keys": "SELECT key AS concept, \"query-id\" AS id FROM keys WHERE dimension = 'target_concept'",
    "qrels": 'SELECT via AS concept, "query-id" AS id FROM qrels',
    "target_names": "SELECT concept, concept AS id FROM target_names",
}
_PREFIXES = """SELECT split_part(concept, ':', 1) AS prefix, min(id) AS id FROM ({concepts})
    WHERE concept LIKE '%:%' GROUP BY ALL ORDER BY ALL"""


def _restricted_strings(context: Context) -> Outcome:
    found = Collector("restricted_strings", "error")
    stated = context.manifest.made_texts
    has_list = MADE_TEXTS.name in context.views
    if stated and not has_list and context.manifest.format_version < FORMAT_VERSION:
        raise CannotRun(f"{stated} released texts are no article's own, and this format does not say which")
    listed = context.rows(_LISTED, MADE_TEXTS.name) if has_list else []
    if len(listed) != stated:
        found.add(
            f"release.json says that {stated} texts and titles were made; {len(listed)} are listed",
            side("release.json", "made_texts"),
        )
    compared = _unlisted(context, found, {(row["tab"], row["id"], row["field"]) for row in listed})
    _concepts(context, found)
    note = "no text was made: each leads back to the hash of an article's text, each title to an article"
    looked = len(listed)
    if listed:
        note = _made(context, found)
    why = "" if looked else "none was made"
    coverage = Coverage(compared_with="", compared=looked, unit="made texts and titles", why=why)
    return Outcome(compared, found.found, tuple(found.kept), "" if found.found else note, (coverage,))


def _unlisted(context: Context, found: Collector, listed: set[tuple[str, str, str]]) -> int:
    """Texts and titles that lead to no article and are not listed as made; how many were looked at."""
    compared, wrong = untraced(context)
    wrong = [(table, name) for table, name in wrong if (table, name, "text") not in listed]
    texts = texts_of(context, wrong[:MAX_EXAMPLES])
    for table, name in wrong:
        found.add(
            "the text is no article's own, and is not listed as made",
            side(table, name, texts.get((table, name))),
        )
    for row in context.rows(_OTHER_TITLES, "corpus", "sources"):
        if ("corpus", row["id"], "title") not in listed:
            found.add(
                "the title is no article's own, and is not listed as made",
                side("corpus", row["id"], row["title"]),
            )
    return compared + context.count("corpus")


def _concepts(context: Context, found: Collector) -> None:
    """A release that says that no restricted name was in use rests on no concept of a restricted source."""
    if context.manifest.restricted_names:
        return
    present = [name for name in _CONCEPTS if name in context.views]
    text = _PREFIXES.format(concepts=" UNION ALL ".join(_CONCEPTS[name] for name in present))
    for row in context.rows(text, *present) if present else ():
        if is_restricted(row["prefix"]):
            found.add(
                f"rests on a concept of {row['prefix']}, although release.json says that no restricted name "
                "was in use",
                side("release.json", "restricted_names"),
                side("keys", row["id"]),
            )


def _made(context: Context, found: Collector) -> str:
    """Look for restricted names in the texts that were made; what that proves."""
    count = 0
    hashes: set[str] | None = None
    if RESTRICTED_NAMES.name in context.views:
        rows = context.batches("SELECT name_hash FROM restricted_names", RESTRICTED_NAMES.name)
        hashes = {name for batch in rows for name in batch.column(0).to_pylist()}
    for row in _rows(context):
        count += 1
        if not row["is_there"]:
            found.add("listed as made, and not there", side(MADE_TEXTS.name, row["id"]))
        elif hashes:
            for piece in pieces([(row["id"], row["words"] or "")]):
                if piece_hash(piece) in hashes:
                    found.add(
                        f"a made {row['field']} holds a name that only restricted sources give",
                        side(row["tab"], row["id"], piece),
                    )
    in_use = context.manifest.restricted_names
    if in_use and hashes is None:
        found.add(
            f"release.json says that {in_use} restricted names were in use, and none is listed by its hash",
            side("release.json", "restricted_names"),
        )
    if hashes is not None:
        return (
            f"{count} made texts and titles hold none of {len(hashes)} names listed by hash; that the list "
            "is whole, only the vocabulary can show"
        )
    return (
        f"{count} texts and titles were made where, as release.json says, the vocabulary in use had no "
        "restricted name; no concept of the release is of a source known to be restricted"
    )


def _rows(context: Context) -> Iterator[Mapping[str, Any]]:
    for batch in context.batches(_MADE, MADE_TEXTS.name, "queries", "corpus"):
        yield from batch.to_pylist()


_NOBODY_S = "What does the disorder with a name nobody may print look like?"


def _rewritten(rows: Rows, second: Rows) -> Sequence[str] | None:
    if not rows["queries"] or not rows["provenance_queries"]:
        return None
    rows["queries"][-1]["text"] = _NOBODY_S
    return [rows["queries"][-1]["id"]]


def _named(rows: Rows, second: Rows) -> Sequence[str] | None:
    """A made text, listed as such, with a name that is listed by its hash."""
    if not rows["queries"] or not rows["made_texts"]:
        return None
    row = rows["queries"][0]
    row["text"] = _NOBODY_S
    rows["made_texts"].append({"table": "queries", "id": row["id"], "field": "text"})
    rows["restricted_names"].append({"name_hash": piece_hash("disorder with a name nobody may print")})
    return [row["id"]]


def _gone(rows: Rows, second: Rows) -> Sequence[str] | None:
    if not rows["made_texts"]:
        return None
    rows["made_texts"].append({"table": "corpus", "id": "canary:gone", "field": "text"})
    return ["canary:gone"]


RULES = (
    Rule(
        "restricted_strings",
        2,
        "No restricted name",
        (
            "Restricted names could only stand in texts somebody made. A text that does not lead back to an "
            "article's text by hash, and a title that is no article's, must be listed as made; a made one "
            "must hold no name of the restricted names listed by hash. Where none is listed, release.json "
            "must say that none was in use, and no concept may be of a source known to be restricted. That "
            "the hash of an article's text is one, and that no name is missing from the list, cannot be seen "
            "from these files."
        ),
        "error",
        "texts and titles",
        _restricted_strings,
        canaries=(
            Canary("a query that is no article's own", _rewritten),
            Canary("a title that is no article's own", cell("corpus", "title", "A title nobody printed")),
            Canary("a restricted name in a made text", _named),
            Canary("a made text that is not there", _gone),
        ),
    ),
)
