"""Rules on the nano variant and balanced subsets: rows of the whole, nothing judged lost, equal counts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from curation.audit.rule import Check, Collector, Context, Defect, Outcome, Rule, side
from curation.audit.rules.planting import GONE, add_row, drop_row, set_row
from curation.derived.subsets.balance import FACETS, MODALITY, WITH, WITHOUT
from curation.evaluation.variants import NANO_NAME, SPLIT
from schemas.tables import NANO, SUBSETS

_NANO = tuple(table.name for table in NANO)
_NAMES = ", ".join(f"'{name}'" for name in (MODALITY, *FACETS))
_PAIR = '"query-id", "corpus-id"'
_WHOLE = (("corpus", "c"), ("queries", "q"))
"""Tables the nano variant has rows of, and what a finding calls their rows."""


def _other_columns(context: Context) -> Outcome:
    found = Collector("nano_rows", "error")
    for whole, _ in _WHOLE:
        small = f"{NANO_NAME}_{whole}"
        for column in sorted(set(context.columns(small)) ^ set(context.columns(whole))):
            found.add(f"{small} and {whole} do not both have column {column}", side(small, column))
    return found.outcome(0)


def _differs(small: str, whole: str, c: str) -> Callable[[Context], str]:
    """SQL: row n is not row w in one of some columns; an image not the one whose hash o has."""

    def text(context: Context) -> str:
        names = [name for name in context.columns(small) if name in context.columns(whole)]
        told = [f'n."{name}" IS DISTINCT FROM w."{name}"' for name in names if name not in ("id", "image")]
        if "image" in names:
            told.append("n.image.path IS DISTINCT FROM w.image.path")
            told.append("sha256(n.image.bytes) IS DISTINCT FROM o.image_sha256")
        return f"""SELECT n.id AS {c} FROM {small} n JOIN {whole} w ON w.id = n.id
            LEFT JOIN provenance_{whole} o ON o.id = n.id WHERE {" OR ".join(told) or "false"}"""

    return text


def _pictured(small: str) -> str:
    """SQL: the first row with an image has other bytes, or another file name."""
    first = f"(SELECT min(rowid) FROM {small} WHERE image.bytes IS NOT NULL)"
    return f"UPDATE {small} SET image = {{}} WHERE rowid = {first} RETURNING id"


_BYTES = "{bytes: image.bytes || '\\x01'::BLOB, path: image.path}"
_PATH = "{bytes: image.bytes, path: 'canary.png'}"


def _of_table(whole: str, c: str) -> tuple[Check, ...]:
    small = f"{NANO_NAME}_{whole}"
    kind = "document" if whole == "corpus" else "query"
    return (
        Check(
            f"a row of {small} is not in {whole}",
            f"SELECT id AS {c} FROM {small} ANTI JOIN {whole} USING (id)",
            Defect(f"a {kind} the whole does not have", set_row(small, f"id = '{GONE}'")),
        ),
        Check(
            f"a row of {small} stands twice",
            f"SELECT id AS {c} FROM {small} GROUP BY id HAVING count(*) > 1",
            Defect(f"a {kind} that stands twice", add_row(small, at=1)),
        ),
        Check(
            f"a row of {small} is not as in {whole}",
            _differs(small, whole, c),
            (
                Defect(f"a {kind} with another text", set_row(small, "text = 'canary'")),
                Defect(f"a {kind} with another licence", set_row(small, "license = 'canary'", at=1)),
                Defect(f"a {kind} with another image", _pictured(small).format(_BYTES)),
                Defect(f"a {kind} whose image has another name", _pictured(small).format(_PATH)),
            ),
        ),
    )


ROWS = (
    Check(
        "the nano variant has not the columns of the whole",
        _other_columns,
        Defect("a column left out", "ALTER TABLE nano_queries DROP COLUMN language; SELECT 'language'"),
    ),
    *(check for whole, c in _WHOLE for check in _of_table(whole, c)),
)
_ANSWERED = "(SELECT * FROM {} WHERE score > 0)"
_OF_QUERY = 'SEMI JOIN nano_queries nq ON nq.id = r."query-id"'
_OF_BOTH = f'{_OF_QUERY} SEMI JOIN nano_corpus nd ON nd.id = r."corpus-id"'
_LAST = "(SELECT * FROM nano_qrels WHERE score > 0 ORDER BY rowid DESC LIMIT 1)"
"""Defects are planted around the last positive of the nano variant."""


def _of_dev(table: str, where: str = "true") -> str:
    """SQL: the first query of a table is one of the other split."""
    first = f"(SELECT id FROM {table} WHERE {where} ORDER BY rowid LIMIT 1)"
    return f"UPDATE provenance_queries SET split = 'dev' WHERE id = {first} RETURNING id"


def _same(name: str, nouns: tuple[str, str]) -> tuple[Check, ...]:
    """A table of pairs of the nano variant holds those of the whole between its rows, and no other."""
    small = f"{NANO_NAME}_{name}"

    def compare(one: str, other: str) -> Callable[[Context], str]:
        def text(context: Context) -> str:
            theirs = context.columns(small)
            listed = ", ".join(f'"{column}"' for column in context.columns(name) if column in theirs)
            rows = {name: f"{name} r {_OF_BOTH}", small: small}
            first, second = (f"SELECT {listed} FROM {rows[table]}" for table in (one, other))
            return f'SELECT "query-id" AS q, "corpus-id" AS c FROM ({first} EXCEPT ALL {second})'

        return text

    lost, further = nouns
    return (
        Check(
            f"a row of {name} is missing in {small}",
            compare(name, small),
            Defect(f"{lost} left out", drop_row(small)),
        ),
        Check(
            f"a row of {small} is not in {name}",
            compare(small, name),
            Defect(f"{further} the whole does not have", add_row(small, f"'{GONE}' AS \"corpus-id\"")),
        ),
    )


PAIRS = (
    Check(
        f"a query of the nano variant is not of split {SPLIT}",
        f"""SELECT n.id AS q FROM nano_queries n LEFT JOIN provenance_queries o ON o.id = n.id
            WHERE o.split IS DISTINCT FROM '{SPLIT}'""",
        Defect("a query of the other split", _of_dev("nano_queries")),
    ),
    Check(
        "a query of the nano variant has no positive in it",
        f'SELECT id AS q FROM nano_queries ANTI JOIN {_ANSWERED.format("nano_qrels")} r ON r."query-id" = id',
        Defect(
            "a query without a positive",
            """DELETE FROM nano_qrels WHERE "query-id" = (SELECT id FROM nano_queries WHERE rowid = 0);
            SELECT id FROM nano_queries WHERE rowid = 0""",
        ),
    ),
    Check(
        "a positive of the whole is not in the nano corpus",
        f"""SELECT "query-id" AS q, "corpus-id" AS c FROM qrels r {_OF_QUERY}
            ANTI JOIN nano_corpus d ON d.id = r."corpus-id" WHERE r.score > 0""",
        Defect(
            "a positive that is not in the corpus",
            f"""DELETE FROM nano_corpus WHERE id = (SELECT "corpus-id" FROM {_LAST});
            SELECT {_PAIR} FROM {_LAST}""",
        ),
    ),
    *_same("qrels", ("a label", "a label")),
    *_same("excluded", ("an excluded pair", "an exclusion")),
)
_MINE = "(SELECT subset, id FROM subsets WHERE kind = 'query')"
_LISTED = "(SELECT subset, id FROM subsets WHERE kind = 'document')"
_POSITIVE = '(SELECT "query-id" AS q, "corpus-id" AS d FROM qrels WHERE score > 0)'
_SUBSET_OF = f"{_POSITIVE} p JOIN {_MINE} m ON m.id = q JOIN {_LISTED} l ON l.subset = m.subset"


def _further(**row: str) -> str:
    """SQL: a row of a subset that should not be there."""
    values = ", ".join(f"'{value}' AS {name}" for name, value in row.items())
    return add_row("subsets", values, names="id")


RESOLVE = (
    Check(
        f"a subset has a query that is not one of split {SPLIT}",
        f"""SELECT id AS q, subset AS subsets FROM {_MINE} ANTI JOIN (SELECT id FROM queries SEMI JOIN (
            SELECT id FROM provenance_queries WHERE split = '{SPLIT}') USING (id)) USING (id)""",
        (
            Defect("a query that is not published", _further(kind="query", id=GONE)),
            Defect("a query of the other split", _of_dev("subsets", "kind = 'query'")),
        ),
    ),
    Check(
        "a query of a subset has no positive",
        f"SELECT id AS q, subset AS subsets FROM {_MINE} ANTI JOIN {_POSITIVE} ON q = id",
        Defect("a query without a positive", _further(kind="query", id=GONE)),
    ),
    Check(
        "a subset is of no known name, or a row is neither query nor document",
        f"""SELECT id AS q, subset AS subsets FROM subsets WHERE coalesce(subset, '') NOT IN ({_NAMES})
            OR coalesce(kind, '') NOT IN ('query', 'document')""",
        (
            Defect("a row that is neither query nor document", _further(kind="canary", id=GONE)),
            Defect("a subset of an unknown name", _further(subset="canary", id=GONE)),
        ),
    ),
    Check(
        "a row stands twice",
        """SELECT id AS q, subset AS subsets FROM subsets GROUP BY subset, kind, id HAVING count(*) > 1""",
        Defect("a row that stands twice", add_row("subsets")),
    ),
    Check(
        "a subset has a document that is not in the corpus",
        f"SELECT id AS c, subset AS subsets FROM {_LISTED} ANTI JOIN corpus USING (id)",
        Defect("a document that is not in the corpus", _further(kind="document", id=GONE)),
    ),
    Check(
        "a subset has documents without a query",
        f"SELECT id AS c, subset AS subsets FROM {_LISTED} ANTI JOIN {_MINE} q USING (subset)",
        Defect("documents listed without queries", _further(kind="document", subset="canary", id=GONE)),
    ),
    Check(
        "a positive of a query is not among the documents of its subset",
        f"""SELECT q, d AS c FROM {_POSITIVE} JOIN {_MINE} m ON m.id = q
            SEMI JOIN {_LISTED} s ON s.subset = m.subset
            ANTI JOIN {_LISTED} l ON l.subset = m.subset AND l.id = d""",
        Defect(
            "a positive that is not listed",
            f"""UPDATE subsets SET id = 'canary:' || id WHERE kind = 'document'
                AND id = (SELECT min(d) FROM {_SUBSET_OF} AND l.id = d);
            SELECT q, d FROM {_SUBSET_OF} AND l.id = 'canary:' || d""",
        ),
    ),
)


def _valued(context: Context) -> str:
    """SQL: rows of subsets and what they are balanced by."""
    image = f"CASE WHEN o.image_sha256 IS NULL THEN '{WITHOUT}' ELSE '{WITH}' END AS value"
    held = context.columns("queries")
    parts = [
        f"""SELECT s.subset, s.id, q."{facet}" AS value FROM subsets s JOIN queries q ON q.id = s.id
            WHERE s.subset = '{facet}' AND s.kind = 'query'"""
        for facet in FACETS
        if facet in held
    ]
    listed = f"SELECT count(*) FROM subsets WHERE subset = '{MODALITY}' AND kind = 'document'"
    for kind, whole, when in (("query", "queries", "= 0"), ("document", "corpus", "> 0")):
        parts.append(
            f"""SELECT s.subset, s.id, {image} FROM subsets s JOIN provenance_{whole} o ON o.id = s.id
                WHERE s.subset = '{MODALITY}' AND s.kind = '{kind}' AND ({listed}) {when}"""
        )
    return " UNION ALL ".join(parts)


def _undecided(context: Context) -> str:
    return f"SELECT id AS q, subset AS subsets FROM ({_valued(context)}) WHERE coalesce(value, '') = ''"


def _unequal(context: Context) -> str:
    counts = f"SELECT subset, value, count(*) AS n FROM ({_valued(context)}) WHERE value <> '' GROUP BY ALL"
    return f"""SELECT subset AS subsets FROM ({counts}) GROUP BY subset
        HAVING min(n) <> max(n) OR count(*) < 2"""


_TEST = f"(SELECT id FROM provenance_queries WHERE split = '{SPLIT}')"


def _by_facet(facet: str, value: str) -> str:
    """SQL: a subset of all test queries, the first with one `value` of a facet, all others with another."""
    first = f"(SELECT min(id) FROM {_TEST})"
    return f"""UPDATE queries SET {facet} = if(id = {first}, '{value}', 'canary') WHERE id IN {_TEST};
        DELETE FROM subsets WHERE subset = '{facet}';
        INSERT INTO subsets BY NAME SELECT '{facet}' AS subset, 'query' AS kind, id FROM {_TEST};
        SELECT {f"'{facet}'" if value else first} WHERE (SELECT count(*) FROM {_TEST}) > 2"""


def _pictured_less(kind: str, table: str) -> str:
    """SQL: one document, or query, with an image less in the subset that has as many without."""
    first = f"""(SELECT min(id) FROM subsets SEMI JOIN (SELECT id FROM {table}
        WHERE image_sha256 IS NOT NULL) USING (id) WHERE kind = '{kind}' AND subset = '{MODALITY}')"""
    return f"DELETE FROM subsets WHERE kind = '{kind}' AND id = {first} RETURNING '{MODALITY}'"


BALANCED = (
    Check(
        "a query of a balanced subset has no value",
        _undecided,
        Defect("a query without a region", _by_facet("region", "")),
    ),
    Check(
        "a subset has not equally many of two or more values",
        _unequal,
        (
            Defect("a specialty with more queries", _by_facet("specialty", "canary:first")),
            Defect("one image too few", _pictured_less("document", "provenance_corpus")),
        ),
    ),
)
_rule = partial(Rule, severity="error")
_nano_rule = partial(_rule, about=_NANO, holds="nano variant")
_subset_rule = partial(_rule, about=(SUBSETS.name,), holds="subsets")
RULES = (
    _nano_rule(
        "nano_rows",
        1,
        "The nano variant is part of the whole",
        "Every document and query of the nano variant stands in it once and is the row of the whole release "
        "of that id, in every column; images are compared by the hash in provenance.",
        unit="rows",
        checks=ROWS,
        tables=("corpus", "queries", "provenance_corpus", "provenance_queries"),
        compared=" UNION ALL ".join(f"SELECT 1 FROM {name}" for name in _NANO[:2]),
    ),
    _nano_rule(
        "nano_pairs",
        1,
        "The nano variant has all its labels",
        f"Queries of the nano variant are of split {SPLIT} and have a positive; every positive of theirs is "
        "in its corpus; its qrels and excluded pairs are those of the whole between its queries and "
        "documents, and no other.",
        unit="pairs",
        checks=PAIRS,
        tables=("qrels", "excluded", "provenance_queries"),
        compared=" UNION ALL ".join(f"SELECT 1 FROM {name}" for name in _NANO[2:]),
    ),
    _subset_rule(
        "subsets",
        1,
        "Subsets resolve",
        f"Rows of subsets are published queries of split {SPLIT} that have a positive, or documents of the "
        "corpus, each once, in subsets of known names; a subset that lists documents has queries and holds "
        "every positive of theirs.",
        unit="rows",
        checks=RESOLVE,
        tables=("queries", "corpus", "qrels", "provenance_queries"),
        compared="FROM subsets",
    ),
    _subset_rule(
        "subsets_balanced",
        1,
        "Subsets are balanced",
        f"A subset has equally many queries for each of two or more values of what it is named after; "
        f"{MODALITY}: with and without an image, of documents where it lists some.",
        unit="rows",
        checks=BALANCED,
        tables=("queries", "provenance_queries", "provenance_corpus"),
        compared=_valued,
    ),
)
