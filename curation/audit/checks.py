"""Runs the checks of a rule: the one way SQL tests become findings.

SQL of a check selects one violation a row. A column named like a published table or release.json is a side of
the finding: the id of a row there, left out when null (`q` and `c` are short for `queries` and `corpus`). A
column `text` is what the first side quotes, from the characters `start` to `end` if there are such columns.
Others may stand in the message. Findings come in the order of the columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from curation.audit.rule import (
    MAX_EXAMPLES,
    SPLITS,
    CannotRun,
    Check,
    Collector,
    Context,
    NotApplicable,
    NotCovered,
    Outcome,
    Rule,
    side,
)
from curation.published.manifest import NAME
from curation.published.query import Row
from schemas.audit import Side
from schemas.tables import TABLES

Select = Callable[[str], list[Row]]
"""Gives the rows of a SELECT, as `Context.select`."""
_SIDES = {table.name: table.name for table in TABLES} | {NAME: NAME, "q": "queries", "c": "corpus"}


def run_checks(rule: Rule, context: Context) -> Outcome:
    """All checks of a rule, one after the other.

    Raises:
        NotApplicable: the files have none of the tables it is about.
        CannotRun: a release lacks a table. NotCovered: another layout has no such table.
    """
    _require(rule, context)
    found = Collector(rule.id, rule.severity)
    own: list[Outcome] = []
    for of, checks in groupby(rule.checks, key=lambda check: check.of):
        if of:
            _conditions(list(checks), of, context, found)
            continue
        for check in checks:
            test = check.test if isinstance(check.test, str) else check.test(context)
            if isinstance(test, Outcome):
                own.append(test)
                _take(test, found)
            elif test:
                add_violations(found, check.name, test, context.select)
    text = rule.compared if isinstance(rule.compared, str) else rule.compared(context)
    compared = _count(context.select, text) if text else sum(item.compared for item in own)
    return Outcome(
        compared,
        found.found,
        tuple(found.kept),
        ". ".join(item.note for item in own if item.note),
        tuple(covered for item in own for covered in item.coverage),
        "; ".join(item.missed for item in own if item.missed),
        tuple(cell for item in own for cell in item.matrix),
        "; ".join(item.nothing for item in own if item.nothing),
    )


def _require(rule: Rule, context: Context) -> None:
    if rule.about and not any(name in context.views for name in rule.about):
        raise NotApplicable(f"the files hold no {rule.holds}")
    absent = [name for name in (*rule.about, *rule.tables) if name not in context.views]
    if absent:
        is_ours = rule.about or context.subject.kind == "release"
        raise (CannotRun if is_ours else NotCovered)(f"table absent: {', '.join(absent)}")


def _count(select: Select, text: str) -> int:
    return int(select(f"SELECT count(*) AS n FROM ({text})")[0]["n"])


def _conditions(checks: Sequence[Check], of: str, context: Context, found: Collector) -> None:
    """Checks that are conditions on the rows of one SELECT: counted in one scan."""
    counts = ", ".join(f"count(*) FILTER ({check.test}) AS n{place}" for place, check in enumerate(checks))
    counted = context.select(f"SELECT {counts} FROM ({of})")[0]
    for place, check in enumerate(checks):
        if counted[f"n{place}"]:
            text = f"SELECT * FROM ({of}) WHERE {check.test}"
            add_violations(found, check.name, text, context.select)


def add_violations(found: Collector, name: str, text: str, select: Select) -> None:
    """Describe the first violations that SQL selects, and count all; `name` is that of a check."""
    before = found.found
    rows = select(f"SELECT * FROM ({text}) ORDER BY ALL LIMIT {MAX_EXAMPLES + 1}")
    for row in rows[:MAX_EXAMPLES]:
        found.add(name.format_map(row) if "{" in name else name, *_sides(row))
    found.found = before + (len(rows) if len(rows) <= MAX_EXAMPLES else _count(select, text))


def _sides(row: Mapping[str, Any]) -> Iterator[Side]:
    quoted = (row.get("text"), row.get("start"), row.get("end"))
    for name, value in row.items():
        if name in _SIDES and value is not None:
            yield side(_SIDES[name], value, *quoted)
            quoted = ("", None, None)


def _take(outcome: Outcome, found: Collector) -> None:
    """Findings of a function."""
    found.found += outcome.found
    found.kept += outcome.findings[: MAX_EXAMPLES - len(found.kept)]


_WITH_SPLITS = {table.name: table for table in TABLES if table.has_splits}


def placed(context: Context, *tables: str) -> str:
    """SQL for the split whose files rows are in: q (query) and split; '' where no file says it."""
    if "placed" in context.views:
        listed = ", ".join(f"'{name}'" for name in tables)
        return f"SELECT q, split FROM placed WHERE tab IN ({listed})"
    parts = []
    for table in tables:
        query = f'"{_WITH_SPLITS[table].query_column}"'
        for split in SPLITS:
            if any(path.name.startswith(f"{split}-") for path in context.views.get(table, ())):
                parts.append(f"SELECT {query} AS q, '{split}' AS split FROM {table}_{split}")
    return " UNION ALL ".join(parts)
