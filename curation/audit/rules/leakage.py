"""Rules on answers that leak into queries: a name of a hidden target, a column that gives the answer away.

Names are published as salted hashes only (curation.release.target_names), so every run of words of a query is
hashed with its own targets as salt and looked up.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curation.audit.rule import (
    MAX_EXAMPLES,
    Canary,
    CannotRun,
    Collector,
    Context,
    NotApplicable,
    NotCovered,
    Outcome,
    Rows,
    Rule,
    side,
)
from curation.release.target_names import (
    LONGEST_ACRONYM,
    is_unspaced,
    names_rows,
    squeezed,
    without_marks,
    without_possessives,
)
from schemas.hashing import normalise_text
from schemas.tables import QUERIES

_AT_ONCE = 2_000
_HIDDEN = """SELECT q.id, q.text, coalesce(k.concepts, []) AS concepts FROM queries q
    JOIN provenance_queries p ON p.id = q.id LEFT JOIN (
        SELECT "query-id" AS id, list(DISTINCT key ORDER BY key) AS concepts FROM keys
        WHERE dimension = 'target_concept' GROUP BY 1) k ON k.id = q.id
    WHERE p.hides_target ORDER BY q.id"""
_NAMES = """SELECT concept, words, list(DISTINCT name_hash ORDER BY name_hash) AS hashes FROM target_names
    WHERE concept IN (SELECT k.key FROM keys k JOIN provenance_queries p ON p.id = k."query-id"
        WHERE k.dimension = 'target_concept' AND p.hides_target)
    GROUP BY concept, words ORDER BY concept, words"""
_CAPITALS = re.compile(rf"(?<![^\W_])[A-Z0-9]{{2,{LONGEST_ACRONYM}}}(?![^\W_])")
_SPACE = re.compile(b" ")
_JOINED = re.compile(r"(?<=\w)[-‐‑](?=\w)")

Names = Mapping[str, Sequence[tuple[int, frozenset[str]]]]
"""Concept -> (words of a name, hashes of the names that long)."""
Leak = tuple[str, str, str]
"""Query id, concept, the words found."""


def _answer_names(context: Context) -> Outcome:
    if "provenance_queries" not in context.views:
        raise NotCovered("nothing says which queries hide a target: no provenance_queries")
    hidden = context.rows(
        "SELECT count(*) AS n FROM provenance_queries WHERE hides_target", "provenance_queries"
    )[0]["n"]
    if not hidden:
        raise NotApplicable("no query hides a target concept")
    if "target_names" not in context.views:
        raise CannotRun(f"{hidden} queries hide a target, but table target_names is absent")
    names: dict[str, list[tuple[int, frozenset[str]]]] = {}
    for row in context.rows(_NAMES, "target_names", "keys", "provenance_queries"):
        names.setdefault(row["concept"], []).append((row["words"], frozenset(row["hashes"])))
    found = Collector("answer_names", "error")
    compared = 0
    for chunk, leaks in _searched(context, names):
        compared += len(chunk)
        leaking: dict[str, list[Leak]] = {}
        for leak in leaks:
            leaking.setdefault(leak[0], []).append(leak)
        for name, text, concepts in chunk:
            if not concepts:
                found.add("the query hides a target, but no target is published", side("queries", name, text))
            for concept in concepts:
                if concept not in names:
                    message = f"no name of the hidden target {concept} is published"
                    found.add(message, side("queries", name, text), side("target_names", concept))
            for _, concept, words in leaking.get(name, ()):
                found.add(
                    f"a name of the hidden target {concept} stands in the query",
                    side("queries", name, text, *_located(text, words)),
                    side("target_names", concept),
                )
    return found.outcome(compared, f"names of {len(names)} targets, in every language published")


Question = tuple[str, str, tuple[str, ...]]
"""Query id, its text, its targets."""


def _searched(context: Context, names: Names) -> Iterator[tuple[list[Question], list[Leak]]]:
    """Hidden queries in id order, part by part, with the leaks found in each part."""
    waiting: list[tuple[list[Question], Any]] = []
    for batch in context.batches(_HIDDEN, "queries", "provenance_queries", "keys"):
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
        reading = _Reading.of(text)
        for concept in concepts:
            salt = _bytes(f"{concept} ")
            hits: set[bytes] = set()
            for words, hashes in names.get(concept, ()):
                if words not in runs:
                    runs[words] = sorted(reading.runs(words))
                known = frozenset(map(bytes.fromhex, hashes))
                hits.update(run for run in runs[words] if sha256(salt + run).digest()[:8] in known)
            found += [(query, concept, run.decode("utf-8", "surrogatepass")) for run in sorted(hits)]
    return found


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class _Reading:
    """A text as a reader could spell it: normalised, squeezed where no spaces are written, its capitals."""

    normal: tuple[bytes, ...]
    letters: tuple[str, ...]
    capitals: frozenset[bytes]

    @classmethod
    def of(cls, text: str) -> _Reading:
        plain = unicodedata.normalize("NFKC", text)
        normal = {normalise_text(plain), normalise_text(without_possessives(plain))}
        if _JOINED.search(plain):
            normal.add(normalise_text(_JOINED.sub("", plain)))
        normal |= {without_marks(one) for one in normal}
        letters = sorted({squeezed(one) for one in normal}) if is_unspaced(plain) else []
        capitals = frozenset(map(_bytes, _CAPITALS.findall(plain)))
        return cls(tuple(map(_bytes, sorted(normal))), tuple(letters), capitals)

    def runs(self, words: int) -> set[bytes]:
        """Every run of so many words; of so many characters for a negative number."""
        if words < 0:
            return {
                _bytes(run)
                for text in self.letters
                for start in range(len(text) + words + 1)
                if is_unspaced(run := text[start : start - words])
            }
        found: set[bytes] = set()
        for text in self.normal:
            spaces = [-1, *(match.start() for match in _SPACE.finditer(text)), len(text)]
            found.update(text[one + 1 : end] for one, end in zip(spaces, spaces[words:], strict=False))
        return found | self.capitals if words == 1 else found


def _located(text: str, words: str) -> tuple[int | None, int | None]:
    """Where a normalised run stands in the text as published; nowhere when folding moved its letters."""
    parts = list(words) if is_unspaced(words) else words.split()
    pattern = (r"[\W_]*" if is_unspaced(words) else r"(?:['’ʼ]s)?[\W_]+").join(map(re.escape, parts))
    flags = re.NOFLAG if words.isupper() else re.IGNORECASE
    match = re.search(pattern, text, flags)
    return (match.start(), match.end()) if match else (None, None)


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


def _gold_columns(context: Context) -> Outcome:
    found = Collector("gold_columns", "error")
    if "queries" not in context.views:
        raise NotCovered("table absent: queries")
    columns = sorted(set(context.columns("queries")) - _DECLARED)
    for column in columns:
        spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column).lower()
        if column not in _HARMLESS and _TELLING.search(spaced):
            row = _first(context, column)
            message = f"the queries table has a column named {column!r}, which can give the answer away"
            found.add(message, side("queries", row.get("id", column), row.get("said", "")))
        _gold_values(context, column, found)
    return found.outcome(len(columns), f"columns beyond the declared: {', '.join(columns) or 'none'}")


def _first(context: Context, column: str) -> dict[str, Any]:
    name = column.replace('"', '""')
    rows = context.rows(
        f"""SELECT id, CAST("{name}" AS VARCHAR) AS said FROM queries
            WHERE "{name}" IS NOT NULL AND CAST("{name}" AS VARCHAR) <> '' ORDER BY id LIMIT 1""",
        "queries",
    )
    return rows[0] if rows else {}


def _gold_values(context: Context, column: str, found: Collector) -> None:
    """Values of one column that are ids of documents, or of the articles documents come from."""
    values = _VALUES.format(column=column.replace('"', '""'))
    usable = [tables for tables in _IDS if set(tables) <= set(context.views)]
    if not usable:
        return
    known = " UNION ".join(_IDS[tables] for tables in usable)
    text = f"""SELECT v.id, min(v.value) AS value FROM ({values}) v SEMI JOIN ({known}) k
        ON k.value = v.value AND k.query IN ('', v.id) GROUP BY v.id"""
    tables = ("queries", *(name for names in usable for name in names))
    count = int(context.rows(f"SELECT count(*) AS n FROM ({text})", *tables)[0]["n"])
    for row in context.rows(f"{text} ORDER BY id LIMIT {MAX_EXAMPLES}", *tables) if count else ():
        found.add(
            f"column {column!r} of the query holds the id of a document or its article: {row['value']}",
            side("queries", row["id"], row["value"]),
            side("corpus", row["value"]),
        )
    found.found += max(0, count - MAX_EXAMPLES)


def _plant_name(text: str, *, name: str, language: str) -> Any:
    """A canary: a query that hides a target, with a name of it in its text."""

    def plant(rows: Rows, _: Rows) -> Sequence[str] | None:
        if not rows["provenance_queries"] or not rows["queries"]:
            return None
        chosen = _take(rows, text)
        concept = f"CANARY:{len(rows['keys'])}"
        rows["keys"].append({"query-id": chosen["id"], "dimension": "target_concept", "key": concept})
        rows["target_names"] += names_rows(concept, [(language, name)])
        return [chosen["id"]]

    return plant


def _take(rows: Rows, text: str) -> dict[str, Any]:
    """The first query not used by another canary, made to hide its target, its text replaced."""
    used = {row["query-id"] for row in rows["keys"] if str(row["key"]).startswith("CANARY:")}
    chosen = next((row for row in rows["queries"] if row["id"] not in used), rows["queries"][0])
    chosen["text"] = text if chosen["id"] not in used else f"{chosen['text']} {text}"
    for row in rows["provenance_queries"]:
        if row["id"] == chosen["id"]:
            row["hides_target"] = True
    return chosen


def _plant_column(column: str) -> Any:
    """A canary: a column of the queries table that tells the answer, by its name or by its values."""

    def plant(rows: Rows, _: Rows) -> Sequence[str] | None:
        positives = {row["query-id"]: row["corpus-id"] for row in rows["qrels"] if row["score"] > 0}
        chosen = next((row for row in rows["queries"] if row["id"] in positives), None)
        if chosen is None:
            return None
        for row in rows["queries"]:
            row.setdefault(column, "")
        chosen[column] = "yes" if column == "answer" else f'["{positives[chosen["id"]]}"]'
        return [chosen["id"]] if column == "answer" else [chosen["id"], positives[chosen["id"]]]

    return plant


RULES = (
    Rule(
        "answer_names",
        1,
        "No name of a hidden diagnosis",
        "No name of a target concept that a query hides stands in its text, in any language the vocabulary "
        "has: every run of words (of characters where a script writes no spaces) is hashed with the concept "
        "and compared with the published hashes of its names. Case, width, punctuation, accents, "
        f"possessives, hyphens and English plurals are folded; names of up to {LONGEST_ACRONYM} capitals "
        "only "
        "count in capitals. Other inflections and misspellings are not folded.",
        "error",
        "queries that hide a target",
        _answer_names,
        canaries=(
            Canary(
                "a name of the hidden target, in other case and punctuation",
                _plant_name(
                    "She was found to have CANARY'S-lung fever.", name="canary's lung fever", language="en"
                ),
            ),
            Canary(
                "a plural of the hidden target's name",
                _plant_name("Several canary granulomas were seen.", name="canary granuloma", language="en"),
            ),
            Canary(
                "a name of the hidden target in a script without spaces",
                _plant_name("患者は金糸雀肺炎と診断された。", name="金糸雀肺炎", language="ja"),
            ),
            Canary(
                "an acronym of the hidden target",
                _plant_name("The final diagnosis was CNLF, all agreed.", name="CNLF", language="en"),
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
        _gold_columns,
        canaries=(
            Canary("a column 'answer'", _plant_column("answer")),
            Canary("the id of a document in a column of another name", _plant_column("notes")),
        ),
    ),
)
