"""Shows one question in all its languages: who wrote each text, what every check found, what became of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.tasks.multilingual_evidence.settings import NAME
from flows.engine.runner import table_files
from flows.engine.workspace import Workspace
from schemas.errors import UsageError

_SAID = {"passed": "", "failed": "!", "not_run": "?"}
"""Before the name of a check that failed or did not run."""


def is_of_a_family(record_id: str) -> bool:
    """Whether an id is that of such a query."""
    return record_id.startswith(f"{NAME}-")


def trace_family(workspace: Workspace, query_id: str) -> dict[str, Any]:
    """A question, its translations, and all scores of these, kept or rejected.

    Args:
        workspace: an open workspace.
        query_id: id of the English query or of a translation.

    Raises:
        UsageError: no such query was built.
    """
    origins = _tables(workspace, "all.translations")
    english = next(
        (row["query_id"] for row in origins if query_id in (row["query_id"], row["translated_id"])), ""
    )
    if not english:
        raise UsageError(
            f"no query {query_id!r} in this workspace",
            record=query_id,
            file=str(workspace.root),
            hint=f"medqrels build {NAME} makes the queries; ids stand in its queries table",
        )
    mine = pc.field("query_id") == english
    queries = _tables(workspace, "all.queries", pc.field("id") == english)
    texts = {
        row["wanted"].rpartition("/")[2]: row["text"]
        for row in _tables(
            workspace, "translations.translated", pc.starts_with(pc.field("wanted"), f"{english}/")
        )
    }
    texts |= {row["language"]: row["text"] for row in queries}
    wanted = _tables(workspace, "wanted.wanted", mine)
    return {
        "id": english,
        "source": queries[0]["source_id"],
        "targets": queries[0]["targets"],
        "names": {row["language"]: row["names"] for row in wanted},
        "texts": texts,
        "translations": [row for row in origins if row["query_id"] == english],
        "checks": _tables(workspace, "all.translation_checks", mine),
        "qrels": _tables(workspace, "all.qrels", mine),
    }


def _tables(workspace: Workspace, table: str, wanted: pc.Expression | None = None) -> list[dict[str, Any]]:
    files: tuple[Path, ...] = table_files(workspace, f"{NAME}_{table}")
    return [row for path in files for row in pq.read_table(path, filters=wanted).to_pylist()]


def describe_family(found: dict[str, Any]) -> str:
    """The family as text for people, the source first."""
    lines = [found["id"], f"  from {found['source']}; about {' '.join(found['targets'])}", ""]
    for row in sorted(found["translations"], key=lambda row: (row["verdict"] != "source", row["language"])):
        language = row["language"]
        reasons = f" ({', '.join(row['reasons'])})" if row["reasons"] else ""
        named = f"{'a person, ' if row['kind'] == 'human' else ''}{row['served_model'] or row['model']}"
        by = f", by {named}, {row['prompt']}" if row["model"] else ""
        lines.append(f"  {language} {row['verdict']}{reasons}{by}: {found['texts'].get(language, 'no text')}")
        lines += [
            f"     given {name['name']!r} of {name['source']} for {name['english']!r}"
            for name in found["names"].get(language, ())
        ]
        scores = [check for check in found["checks"] if check["language"] == language]
        lines += [f"     {', '.join(map(_score, scores))}"] if scores else []
    lines += ["", *(f"  {row['score']} {row['corpus_id']}  {row['rule']}" for row in found["qrels"])]
    return "\n".join(lines)


def _score(check: dict[str, Any]) -> str:
    """One check in short: `numbers 0`, `!negation 1 (lost)`, `?back_translation (no engine)`."""
    value = "" if check["value"] is None else f" {check['value']:g}"
    detail = f" ({check['detail']})" if check["detail"] and check["status"] != "passed" else ""
    return f"{_SAID[check['status']]}{check['check']}{value}{detail}"
