"""Shows a cross-lingual question in all its languages: text, origin of its words, why one has none."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.tasks.crosslingual_qa.parallel import PARALLEL
from curation.tasks.crosslingual_qa.passages import NAME
from flows.engine.manifest import DROPPED
from flows.engine.runner import table_files
from flows.engine.workspace import Workspace
from flows.inspect import decisions
from schemas.errors import UsageError

_LONGEST = 300
"""Characters of a text that are shown."""


def is_a_question(record_id: str) -> bool:
    """Whether an id is that of such a query, or of one that is a recipe."""
    return record_id.startswith(f"{NAME}-")


def trace_question(workspace: Workspace, query_id: str) -> dict[str, Any]:
    """A question, its translations with the origin of their words, and its labels.

    Args:
        workspace: an open workspace.
        query_id: id of the query in any language, of a known item, or of a recipe.

    Raises:
        UsageError: no such query was built.
    """
    family = _family(workspace, query_id)
    queries = _tables(workspace, "all.queries", pc.field("family") == family)
    ids = [row["id"] for row in queries]
    chosen = pc.field("query_id").isin(ids)
    concept, _, facet = family.rpartition("/")
    recipes = _tables(
        workspace, "all.recipes", (pc.field("concept") == concept) & (pc.field("facet") == facet)
    )
    is_human = any(row["tier"] == PARALLEL for row in queries)
    drops = () if is_human else _tables(
        workspace, f"questions.{DROPPED}", pc.starts_with(pc.field("id"), f"{family}/")
    )  # fmt: skip
    shown = next((row["id"] for row in queries if row["id"] == query_id), ids[0] if ids else "")
    return {
        "id": query_id,
        "family": family,
        "queries": sorted(queries, key=lambda row: row["language"]),
        "strings": {row["query_id"]: row for row in _tables(workspace, "all.strings", chosen)},
        "recipes": recipes,
        "drops": [{"language": row["id"].rpartition("/")[2], **row} for row in drops],
        "version": _tables(workspace, "all.documents", pc.field("id") == family),
        "qrels": _tables(workspace, "all.qrels", pc.field("query_id") == shown),
        "hard_pool": _tables(workspace, "all.hard_pool", pc.field("query_id") == shown),
        "excluded": dict(
            sorted(
                Counter(
                    row["reason"] for row in _tables(workspace, "all.excluded", pc.field("query_id") == shown)
                ).items()
            )
        ),
        "way": decisions.follow(workspace, query_id),
    }


def _family(workspace: Workspace, query_id: str) -> str:
    """The family that a query or a recipe is of."""
    for row in _tables(workspace, "all.queries", pc.field("id") == query_id):
        return str(row["family"])
    for row in _tables(workspace, "all.recipes", pc.field("query_id") == query_id):
        return f"{row['concept']}/{row['facet']}"
    raise UsageError(
        f"no query {query_id!r} in this workspace",
        record=query_id,
        file=str(workspace.root),
        hint=f"medqrels build {NAME} makes the queries; ids stand in its tables queries and recipes",
    )


def _tables(workspace: Workspace, table: str, wanted: pc.Expression) -> list[dict[str, Any]]:
    files = table_files(workspace, f"{NAME}_{table}")
    return [row for path in files for row in pq.read_table(path, filters=wanted).to_pylist()]


def describe_question(found: dict[str, Any]) -> str:
    """The question as text for people: its languages side by side, labels, what each stage decided."""
    lines = [found["id"], f"  family {found['family']}", ""]
    for row in found["queries"]:
        lines.append(f"  {row['language']} {row['id']}: {_cut(row['text'])}")
        lines += [f"     {_origin(string)}" for string in (found["strings"].get(row["id"]),) if string]
    for row in found["recipes"]:
        lines.append(f"  {row['language']} {row['query_id']}: a recipe, no text: {row['frame']}")
        lines.append(f"     name of {row['source']} {row['term_type']}, code {row['code']}, restricted")
    recipes = {row["language"] for row in found["recipes"]}
    lines += [
        f"  {row['language']} no query: {row['reason']}{_detail(row['detail'])}"
        for row in found["drops"]
        if row["language"] not in recipes
    ]
    lines += [f"  en {row['id']}: {_cut(row['text'])}" for row in found["version"]]
    lines.append("")
    for row in sorted(found["qrels"], key=lambda row: (-row["score"], row["corpus_id"])):
        quoted = "".join(f": {_cut(span['text'])}" for span in row["evidence"][:1])
        lines.append(f"  {row['score']} {row['corpus_id']}  {row['rule']}{quoted}")
    lines += [f"  - {row['corpus_id']}  {row['why']}, unjudged" for row in found["hard_pool"]]
    lines += [f"  {count} excluded: {reason}" for reason, count in found["excluded"].items()]
    if found["way"] is not None:
        lines += ["", decisions.describe(found["way"])]
    return "\n".join(lines)


def _origin(row: dict[str, Any]) -> str:
    """Where the words of a query come from."""
    if row["kind"] == "human":
        about = f", about {row['concept']}" if row["concept"] else ""
        return f"human text {row['record']} of {row['source']}, {row['license']}{about}"
    release = f" {row['release']}" if row["release"] else ""
    return (
        f"template {row['template']}, name {row['name']!r} at {row['start']}-{row['end']} of "
        f"{row['source']}{release} {row['term_type']}, {row['status']}, {row['license']}"
    )


def _detail(text: str) -> str:
    return f" ({text})" if text else ""


def _cut(text: str) -> str:
    """A text on one line, its end left out where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
