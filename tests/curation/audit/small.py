"""Small datasets made by hand for tests of single rules: tables as lists of dicts, columns as published."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.dataset import Dataset
from curation.audit.executor import SerialExecutor
from curation.audit.report import run_rule
from curation.audit.rule import Context, Rule
from schemas.audit import Kind, RuleResult
from schemas.tables import TABLES
from tests.curation.release.known import run_sql
from tests.releases import Tables, manifest

SCHEMAS = {table.name: table.without("image").schema for table in TABLES}


def dataset(folder: Path, tables: Tables, kind: Kind = "release", **changes: Any) -> Dataset:
    """Write tables, one file each; columns beyond the published ones take the type pyarrow gives them."""
    views: dict[str, list[Path]] = {}
    for name, rows in tables.items():
        schema = SCHEMAS[name]
        if kind != "release":
            schema = pa.schema(
                [schema.field(column) for column in schema.names if rows and column in rows[0]]
            )
        extra = sorted({column for row in rows for column in row} - set(schema.names))
        guessed = pa.Table.from_pylist([{column: row.get(column) for column in extra} for row in rows])
        for column in extra:
            schema = schema.append(pa.field(column, guessed.schema.field(column).type))
        views[name] = [folder / name / "test-00000-of-00001.parquet"]
        views[name][0].parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), views[name][0])
    head = manifest(**changes) if kind == "release" else None
    return Dataset("small", "audited", kind, folder, "0" * 64, views, head)


def check(rule: Rule, subject: Dataset, scratch: Path, query: Any = run_sql) -> RuleResult:
    """What one rule says of a dataset."""
    return run_rule(rule, Context(subject, query, scratch, SerialExecutor()))[0]


def rule_of(rules: Sequence[Rule], name: str) -> Rule:
    """A rule by its id."""
    return next(rule for rule in rules if rule.id == name)


def named(result: RuleResult) -> set[str]:
    """Ids on the sides of its findings."""
    return {item.id for finding in result.findings for item in finding.sides}


def texts(*rows: tuple[str, str], language: str = "en", **more: Any) -> list[dict[str, Any]]:
    """Rows of queries or corpus."""
    return [
        {
            "id": name,
            "text": text,
            "title": "",
            "language": language,
            "license": "CC-BY-4.0",
            "is_synthetic": False,
            **more,
        }
        for name, text in rows
    ]


def queries(*rows: tuple[str, str], language: str = "en", **more: Any) -> list[dict[str, Any]]:
    """Rows of queries."""
    made = texts(*rows, language=language, **more)
    for row in made:
        del row["title"]
    return made


def qrels(*pairs: tuple[str, str], score: int = 2, status: str = "structural") -> list[dict[str, Any]]:
    """Rows of qrels."""
    return [
        {"query-id": query, "corpus-id": document, "score": score, "label_status": status, "rule": "r@1"}
        for query, document in pairs
    ]


def planted(rules: Sequence[Rule], subject: Dataset, scratch: Path) -> dict[str, str]:
    """Canaries of some rules that were not found: name -> note."""
    from curation.audit import defects

    results = defects.run(rules, Context(subject, run_sql, scratch, SerialExecutor()), run_rule)
    return {f"{item.rule}: {item.canary}": item.note for item in results if not item.is_found}
