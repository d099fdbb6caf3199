"""Rules on references: every id and every pair resolves, and none stands twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from curation.audit.rule import OPTIONAL, Check, Context, Defect, Rule
from curation.audit.rules.planting import ANY_PAIR, GONE, PAIR, add_row, exclude, set_row
from schemas.tables import TABLES

_CORE = ("queries", "corpus", "qrels")
_PROVENANCE = ("provenance_queries", "provenance_corpus", "provenance_qrels", "keys", "sources")
_RELEASE = (*_CORE, "excluded", *_PROVENANCE)
_FOLLOWED = {*_RELEASE, *OPTIONAL}
_UNIQUE = ("queries", "corpus", "provenance_queries", "provenance_corpus", "sources")
_UNIQUE_PAIRS = ("qrels", "excluded", "provenance_qrels")
_KEYS = {table.name: table.key for table in TABLES}
_BOTH = f"concat_ws(' ', {PAIR})"


def _where_present(text: str, *tables: str) -> Callable[[Context], str]:
    """SQL for files that have these tables: which ones they must have, `_rows_of` says."""
    return lambda context: text if all(name in context.views for name in tables) else ""


def _rows_of(of_release: Sequence[str], of_any: Sequence[str], *further: str) -> Callable[[Context], str]:
    """SQL for the rows of what a release must have, or of what another layout happens to have of it.

    Raises (when it is asked for):
        CannotRun: a release lacks one. NotCovered: another layout lacks one that every layout has.
    """

    def text(context: Context) -> str:
        context.rows("SELECT 1", *(of_release if context.subject.kind == "release" else of_any))
        tables = [name for name in (*of_release, *further) if name in context.views]
        return " UNION ALL ".join(f"SELECT 1 FROM {name}" for name in tables)

    return text


def _refers(table: str, column: str, target: str, key: str, *, defect: Defect | None = None) -> Check:
    """Every value of a column stands in another table."""
    holder = ", ".join(f't."{name}"' for name in _KEYS[table])
    gone = f"'{GONE}:{table}:{column}' AS \"{column}\""
    return Check(
        f"{column} of {table} is not in {target}: {{id}}",
        _where_present(
            f"""SELECT DISTINCT id, nullif(id, holder) AS {target}, holder AS {table} FROM (
                SELECT t."{column}" AS id, concat_ws(' ', {holder}) AS holder
                FROM {table} t ANTI JOIN {target} o ON o."{key}" = t."{column}")""",
            table,
            target,
        ),
        defect
        or Defect(
            f"a row of {table} whose {column} is not in {target}",
            add_row(table, gone, names=f'"{column}"'),
        ),
    )


def _has_origin(table: str, kind: str) -> Check:
    """Every query or document has provenance."""
    origin = f"provenance_{table}"
    known = f"SELECT min(id) FROM {origin} SEMI JOIN {table} USING (id)"
    lost = f"DELETE FROM {origin} WHERE id = ({known}) RETURNING id"
    return _refers(table, "id", origin, "id", defect=Defect(f"a {kind} without provenance", lost))


def _has_pairs(table: str, target: str, defect: str) -> Check:
    """Every pair of a table stands in another."""
    known = f"SELECT min(p) FROM (SELECT {_BOTH} AS p FROM {table} INTERSECT SELECT {_BOTH} FROM {target})"
    return Check(
        f"the pair of {table} is not in {target}: {{{table}}}",
        _where_present(
            f"SELECT DISTINCT {_BOTH} AS {table} FROM {table} ANTI JOIN {target} USING ({PAIR})",
            table,
            target,
        ),
        Defect(defect, f"DELETE FROM {target} WHERE {_BOTH} = ({known}) RETURNING {_BOTH}"),
    )


_DECLARED = (
    (table.name, column.name, *column.refers.split("."))
    for table in TABLES
    for column in table.columns
    if column.refers
)
REFERENCES = (
    *(_refers(*item) for item in _DECLARED if {item[0], item[2]} <= _FOLLOWED),
    _has_origin("queries", "query"),
    _has_origin("corpus", "document"),
    _has_pairs("qrels", "provenance_qrels", "a qrel without provenance"),
    _has_pairs("provenance_qrels", "qrels", "provenance of a pair nobody judged"),
)


def _unique_id(table: str) -> Check:
    return Check(
        f"id of {table} stands {{n}} times: {{id}}",
        _where_present(
            f"""SELECT id, coalesce(id, 'None') AS {table}, count(*) AS n FROM {table}
                GROUP BY id HAVING count(*) > 1 OR id IS NULL""",
            table,
        ),
        (
            Defect(f"an id twice in {table}", add_row(table)),
            Defect(f"a row without an id in {table}", set_row(table, "id = NULL", 1, names="'None'")),
        ),
        at_once=True,
    )


def _unique_pair(table: str, defect: str, plant: str) -> Check:
    return Check(
        f"the pair stands {{n}} times in {table}",
        _where_present(
            f"""SELECT "query-id" AS q, "corpus-id" AS c, count(*) AS n FROM {table}
                GROUP BY q, c HAVING count(*) > 1""",
            table,
        ),
        Defect(defect, plant),
    )


UNIQUE_PAIRS = (
    _unique_pair("qrels", "a pair judged twice", add_row("qrels")),
    _unique_pair("excluded", "a pair excluded twice", f"{exclude(ANY_PAIR)}; {exclude(ANY_PAIR)}"),
    _unique_pair("provenance_qrels", "a pair with two provenances", add_row("provenance_qrels", at=1)),
)
_rule = partial(Rule, severity="error")
RULES = (
    _rule(
        "dangling_ids",
        3,
        "References resolve",
        (
            "Every id in qrels, excluded pairs, keys and provenance exists in the table it points to, and "
            "every row has provenance. Of another layout, only qrels are followed."
        ),
        unit="rows",
        checks=REFERENCES,
        compared=_rows_of(_RELEASE, _CORE, *sorted(OPTIONAL)),
    ),
    _rule(
        "duplicate_ids",
        2,
        "Ids are unique",
        "No id is missing or stands twice in queries, corpus, sources or their provenance, over all splits.",
        unit="rows",
        checks=tuple(_unique_id(table) for table in _UNIQUE),
        compared=_rows_of(_UNIQUE, ("queries", "corpus")),
    ),
    _rule(
        "duplicate_pairs",
        2,
        "Pairs are unique",
        "No query–document pair stands twice in qrels, in excluded or in the provenance of qrels.",
        unit="pairs",
        checks=UNIQUE_PAIRS,
        compared=_rows_of(_UNIQUE_PAIRS, ("qrels",)),
    ),
)
