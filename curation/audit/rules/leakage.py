"""Rules on answers that leak into queries: a name of a hidden target, a column that gives the answer away.

Names are published as salted hashes only (curation.release.target_names), so every run of words of a query is
hashed with its own targets as salt and looked up.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from curation.audit.rule import (
    CannotRun,
    Check,
    Collector,
    Context,
    Defect,
    NotApplicable,
    NotCovered,
    Outcome,
    Rule,
    side,
)
from curation.audit.rules.planting import new_row
from curation.concepts.name_forms import LONGEST_ACRONYM, Reading, as_bytes, located
from curation.release.target_names import names_rows
from schemas.tables import QUERIES

_AT_ONCE = 2_000
_HIDDEN = "SELECT q.id, q.text FROM queries q JOIN provenance_queries p ON p.id = q.id WHERE p.hides_target"
_TARGETS = """SELECT DISTINCT "query-id" AS q, key AS concept FROM keys WHERE dimension = 'target_concept'"""
_ASKED = f"""SELECT id, text, coalesce(concepts, []) AS concepts FROM ({_HIDDEN}) LEFT JOIN (
    SELECT q, list(concept ORDER BY concept) AS concepts FROM ({_TARGETS}) GROUP BY 1) k ON k.q = id
    ORDER BY id"""
_NAMES = """SELECT concept, words, list(DISTINCT name_hash ORDER BY name_hash) AS hashes FROM target_names
    WHERE concept IN (SELECT k.key FROM keys k JOIN provenance_queries p ON p.id = k."query-id"
        WHERE k.dimension = 'target_concept' AND p.hides_target)
    GROUP BY concept, words ORDER BY concept, words"""

Names = Mapping[str, Sequence[tuple[int, frozenset[str]]]]
"""Concept -> (words of a name, hashes of the names that long)."""
Leak = tuple[str, str, str]
"""Query id, concept, the words found."""


def _require(context: Context) -> None:
    """Whether queries hide a target, and their names are published."""
    if "provenance_queries" not in context.views:
        raise NotCovered("nothing says which queries hide a target: no provenance_queries")
    hidden = context.select("SELECT count(*) AS n FROM provenance_queries WHERE hides_target")[0]["n"]
    if not hidden:
        raise NotApplicable("no query hides a target concept")
    for name in ("target_names", "keys", "queries"):
        if name not in context.views:
            raise CannotRun(f"{hidden} queries hide a target, but table {name} is absent")


def _targets(select: str) -> Callable[[Context], str]:
    """SQL of a check that asks about hidden targets."""

    def test(context: Context) -> str:
        _require(context)
        return select

    return test


def _answer_names(context: Context) -> Outcome:
    _require(context)
    names: dict[str, list[tuple[int, frozenset[str]]]] = {}
    for row in context.rows(_NAMES, "target_names", "keys", "provenance_queries"):
        names.setdefault(row["concept"], []).append((row["words"], frozenset(row["hashes"])))
    found = Collector("answer_names", "error")
    compared = 0
    for chunk, leaking in _searched(context, names):
        compared += len(chunk)
        texts = {name: text for name, text, _ in chunk}
        for name, concept, words in leaking:
            found.add(
                f"a name of the hidden target {concept} stands in the query",
                side("queries", name, texts[name], *located(texts[name], words)),
                side("target_names", concept),
            )
    return found.outcome(compared, f"names of {len(names)} targets, in every language published")


Question = tuple[str, str, tuple[str, ...]]
"""Query id, its text, its targets."""


def _searched(context: Context, names: Names) -> Iterator[tuple[list[Question], list[Leak]]]:
    """Hidden queries in id order, part by part, with the leaks found in each part."""
    waiting: list[tuple[list[Question], Any]] = []
    for batch in context.batches(_ASKED, "queries", "provenance_queries", "keys"):
        rows = [(row["id"], row["text"] or "", tuple(row["concepts"])) for row in batch.to_pylist()]
        for start in range(0, len(rows), _AT_ONCE):
            chunk = rows[start : start + _AT_ONCE]
            wanted = {concept: names[concept] for row in chunk for concept in row[2] if concept in names}
            waiting.append((chunk, context.pool.submit(leaks, chunk, wanted)))
            if len(waiting) > 8:  # a few parts under way, so that texts do not pile up
                done, future = waiting.pop(0)
                yield done, future.result()
    for done, future in waiting:
        yield done, future.result()


def leaks(queries: Sequence[Question], names: Names) -> list[Leak]:
    """Names of targets that stand in their queries, in query order."""
    found: list[Leak] = []
    sha256 = hashlib.sha256
    for query, text, concepts in queries:
        runs: dict[int, list[bytes]] = {}
        reading = Reading.of(text)
        for concept in concepts:
            salt = as_bytes(f"{concept} ")
            hits: set[bytes] = set()
            for words, hashes in names.get(concept, ()):
                if words not in runs:
                    runs[words] = sorted(reading.runs(words))
                known = frozenset(map(bytes.fromhex, hashes))
                hits.update(run for run in runs[words] if sha256(salt + run).digest()[:8] in known)
            found += [(query, concept, run.decode("utf-8", "surrogatepass")) for run in sorted(hits)]
    return found


_DECLARED = frozenset(QUERIES.schema.names) | {"_id"}
_HARMLESS = frozenset(
    {"query-id", "query_id", "title", "split", "instruction", "metadata", "modality", "source"}
)
_TELLING = re.compile(
    r"(?:^|[-_ .])(?:answers?|labels?|gold|truth|targets?|positives?|pos|qrels?|relevan\w*|docs?|docids?|"
    r"corpus|diagnos[ie]s|solution|options?|pmid|pmcid|doi|article|passages?|evidence|hyp?othetical|"
    r"hy[-_]?doc)(?:$|[-_ .])"
)
_VALUES = """SELECT q.id, v.value FROM (SELECT id, CAST("{column}" AS VARCHAR) AS said FROM queries) q,
    unnest(list_distinct(list_append(
        regexp_split_to_array(said, '[\\s,;|\\[\\]"''{{}}()]+'), said))) AS v(value)
    WHERE length(v.value) > 0"""
_FIRST = """SELECT id, CAST("{column}" AS VARCHAR) AS said FROM queries
    WHERE CAST("{column}" AS VARCHAR) <> '' ORDER BY id LIMIT 1"""
_IDS = {
    ("corpus",): """SELECT DISTINCT id AS value, '' AS query FROM corpus
        WHERE length(id) >= 6 AND regexp_matches(id, '[^0-9]')""",
    ("qrels",): """SELECT DISTINCT "corpus-id" AS value, "query-id" AS query FROM qrels WHERE score > 0""",
    ("provenance_corpus", "sources"): """SELECT DISTINCT value, '' AS query FROM (
        SELECT unnest([c.article_id, s.pmcid, s.pmid, s.doi]) AS value
        FROM provenance_corpus c LEFT JOIN sources s ON s.id = c.article_id) WHERE length(value) >= 6""",
}
"""What gives a document away, and in which tables it stands. Short ids and plain numbers (a year, a count)
only count when they are a positive of the very query."""


def _columns(context: Context) -> list[str]:
    """Columns of the queries table beyond the declared."""
    if "queries" not in context.views:
        raise NotCovered("table absent: queries")
    return sorted(set(context.columns("queries")) - _DECLARED)


def _gold_columns(context: Context) -> Outcome:
    found = Collector("gold_columns", "error")
    columns = _columns(context)
    for column in columns:
        spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column).lower()
        if column not in _HARMLESS and _TELLING.search(spaced):
            first = context.select(_FIRST.format(column=_name(column)))
            row = first[0] if first else {"id": column, "said": ""}
            message = f"the queries table has a column named {column!r}, which can give the answer away"
            found.add(message, side("queries", row["id"], row["said"]))
    return found.outcome(len(columns), f"columns beyond the declared: {', '.join(columns) or 'none'}")


def _gold_values(context: Context) -> str:
    """Values that are ids of documents, or of the articles documents come from."""
    columns = _columns(context)
    known = " UNION ".join(text for tables, text in _IDS.items() if set(tables) <= set(context.views))
    return known and " UNION ALL ".join(
        f"""SELECT '{column.replace("'", "''")}' AS named, id AS queries, min(value) AS corpus,
                min(value) AS text
            FROM ({_VALUES.format(column=_name(column))}) v
            SEMI JOIN ({known}) k ON k.value = v.value AND k.query IN ('', v.id) GROUP BY id"""
        for column in columns
    )


def _name(column: str) -> str:
    return column.replace('"', '""')


_POSITIVE = """(SELECT "query-id" AS q, "corpus-id" AS c FROM qrels SEMI JOIN queries ON id = "query-id"
    WHERE score > 0 ORDER BY qrels.rowid LIMIT 1)"""

_ARTICLE = "(SELECT any_value(article_id) FROM provenance_corpus WHERE id = c)"


def _column(name: str, value: str, named: str) -> str:
    """SQL: a further column of the queries table, empty but for one query (q) with a positive (c)."""
    return f"""CREATE OR REPLACE TABLE queries AS
        SELECT o.*, CASE WHEN id = q THEN {value} ELSE '' END AS {name} FROM queries o, {_POSITIVE};
        SELECT {named} FROM {_POSITIVE}"""


def _hides(number: int, text: str, *targets: str, names: Sequence[tuple[str, str]] = ()) -> str:
    """SQL: a query that hides targets, which have such names in some languages."""
    query = f"canary:{number}"
    rows = [
        new_row("queries", {"id": query, "text": text}),
        new_row("provenance_queries", {"id": query, "hides_target": True}),
    ]
    for target in targets:
        rows.append(new_row("keys", {"query-id": query, "dimension": "target_concept", "key": target}))
        rows += [new_row("target_names", row) for row in names_rows(target, names)]
    return "; ".join((*rows, f"SELECT '{query}' AS id"))


def _named(what: str, number: int, text: str, name: str, language: str = "en") -> Defect:
    """A query that hides a target, with a name of it in its text."""
    return Defect(what, _hides(number, text, f"CANARY:{number}", names=[(language, name)]))


RULES = (
    Rule(
        "answer_names",
        1,
        "No name of a hidden diagnosis",
        "No name of a target concept that a query hides stands in its text, in any language the vocabulary "
        "has: every run of words (of characters where a script writes no spaces) is hashed with the concept "
        "and compared with the published hashes of its names. Case, width, punctuation, accents, "
        f"possessives, hyphens and English plurals are folded; names of up to {LONGEST_ACRONYM} capitals "
        "only count in capitals. Other inflections and misspellings are not folded.",
        "error",
        "queries that hide a target",
        checks=(
            Check(
                "the query hides a target, but no target is published",
                _targets(f"""SELECT id AS q, text FROM ({_HIDDEN}) ANTI JOIN ({_TARGETS}) t ON t.q = id"""),
                Defect("a hidden target that is not published", _hides(0, "")),
            ),
            Check(
                "no name of the hidden target {target_names} is published",
                _targets(
                    f"""SELECT id AS q, concept AS target_names, text FROM ({_HIDDEN})
                    JOIN ({_TARGETS}) t ON t.q = id ANTI JOIN target_names n USING (concept)"""
                ),
                Defect("a hidden target without names", _hides(0, "", "CANARY:0")),
            ),
            Check(
                "a name of the hidden target stands in the query",
                _answer_names,
                (
                    _named(
                        "a name of the hidden target, in other case and punctuation",
                        1,
                        "She was found to have CANARY'S-lung fever.",
                        "canary's lung fever",
                    ),
                    _named(
                        "a plural of the hidden target's name",
                        2,
                        "Several canary granulomas were seen.",
                        "canary granuloma",
                    ),
                    _named(
                        "a name of the hidden target in a script without spaces",
                        3,
                        "患者は金糸雀肺炎と診断された。",
                        "金糸雀肺炎",
                        "ja",
                    ),
                    _named(
                        "an acronym of the hidden target",
                        4,
                        "The final diagnosis was CNLF, all agreed.",
                        "CNLF",
                    ),
                ),
                at_once=True,
            ),
        ),
    ),
    Rule(
        "gold_columns",
        1,
        "No answer column beside a query",
        "No column of the queries table beyond the declared ones is named like an answer (answer, label, "
        "doc_id, gold, relevant, …) or holds the id of a document, or of a document's article, PMC id, PMID "
        "or DOI.",
        "error",
        "columns",
        checks=(
            Check(
                "the queries table has a column named like an answer",
                _gold_columns,
                Defect("a column 'answer'", _column("answer", "'yes'", "q")),
            ),
            Check(
                "column {named!r} of the query holds the id of a document or its article: {corpus}",
                _gold_values,
                (
                    Defect(
                        "the id of a document in a column of another name",
                        _column("notes", """'["' || c || '"]'""", "q, c"),
                    ),
                    Defect(
                        "the id of a document's article in such a column",
                        _column("notes", f"'see ' || {_ARTICLE}", f"q, {_ARTICLE} AS article"),
                    ),
                ),
            ),
        ),
    ),
)
