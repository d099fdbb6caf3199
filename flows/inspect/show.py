"""Follows one article by hand through every stage: what each made of it, and what was dropped and why."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from flows.engine.manifest import DROPPED, Output
from flows.engine.runner import shards_of
from flows.engine.workspace import Workspace
from flows.inspect.stages import stages_in
from schemas.errors import UsageError
from schemas.ids import article_of

_OWNER_COLUMNS = ("article_id", "id")


def trace(workspace: Workspace, record_id: str) -> dict[str, Any]:
    """Everything the workspace holds about the article of `record_id`, by `stage.table`.

    Args:
        workspace: an open workspace.
        record_id: article, figure, passage or question id; or a PMCID or path as it was asked for.

    Raises:
        UsageError: no stage knows it.
    """
    article = article_of(record_id)
    tables: dict[str, list[dict[str, Any]]] = {}
    for stage in stages_in(workspace):
        for shard, manifest in shards_of(workspace, stage).items():
            for name, output in manifest.outputs.items():
                rows = _rows_of(workspace, stage, shard, output, name, article)
                if rows:
                    tables.setdefault(f"{stage}.{name.lstrip('_')}", []).extend(rows)
    if not tables:
        raise UsageError(
            f"no record {article!r} in this workspace",
            record=record_id,
            file=str(workspace.root),
            hint="medqrels status lists what was crawled; ids look like pmc:PMC123.1",
        )
    return {"id": article, "tables": tables}


def _rows_of(
    workspace: Workspace, stage: str, shard: str, output: Output, name: str, article: str
) -> list[dict[str, Any]]:
    """Rows of an article in one table; of others, only the column that says whose they are is read."""
    if not output.rows:
        return []
    with pq.ParquetFile(workspace.stage(stage) / shard / output.file) as file:
        columns = ("corpus_id",) if name in {"qrels", "excluded"} else _OWNER_COLUMNS
        owner = next((column for column in columns if column in file.schema_arrow.names), None)
        if owner is None:
            return []
        owners = file.read([owner])[owner]
        inside = pc.starts_with(owners, article + "#")
        if owner == "corpus_id":
            wanted = inside
        elif name == DROPPED:  # before an article has an id, its drop carries the locator it was asked for by
            locator = article.partition(":")[2].rpartition(".")[0] or article
            wanted = pc.is_in(owners, value_set=pa.array([article, locator]))
        else:
            wanted = pc.equal(owners, article)
            if owner == "id":  # of a record inside the article
                wanted = pc.or_(wanted, inside)
        if not pc.any(wanted).as_py():
            return []
        rows: list[dict[str, Any]] = file.read().filter(wanted).to_pylist()
        return rows


def describe(found: dict[str, Any]) -> str:
    """The trace as text for people."""
    tables = found["tables"]
    lines = [found["id"]]
    for source in tables.get("extract.sources", []):
        scope = source["scope"] or "in scope"
        lines += [
            f"  {source['title']}",
            f"  {source['journal']} {source['year'] or ''} · {source['licence']['spdx']}"
            f" · {source['language']} · {scope}",
        ]
    for figure in tables.get("extract.figures", []):
        images = ", ".join(
            graphic["name"] or f"{graphic['href']} (missing)" for graphic in figure["graphics"]
        )
        lines += ["", f"  figure {figure['id']}  [{figure['label']}]  {images or 'no graphic'}"]
        lines.append(f"    {_short(figure['caption'], 160)}")
        lines += [
            f"    seen: {image['kind'] or 'kind undecided'}, {image['width']}x{image['height']}"
            f"{', ' + ', '.join(image['flags']) if image['flags'] else ''}"
            f"{', panels ' + ' '.join(box['letter'] for box in image['panels']) if image['panels'] else ''}"
            for image in tables.get("images.images", [])
            if image["figure_id"] == figure["id"]
        ]
        lines += [
            f"    cited in {mention['passage_id']} by {mention['rule']}: {mention['text']!r}"
            for mention in figure["mentions"]
        ]
    stated = {row["case_id"]: row["statements"] for row in tables.get("diagnoses.diagnoses", [])}
    for case in tables.get("cases.cases", []):
        lines += _case(case, stated.get(case["id"], []))
    for name in ("questions.questions", "exercises.questions"):
        lines += [line for question in tables.get(name, []) for line in _question(question)]
    for name, rows in tables.items():
        stage, _, table = name.partition(".")
        if table == "queries" and f"{stage}_all.queries" not in tables:
            lines += _queries(rows, tables.get(f"{stage}.qrels", []))
    counts = {name: len(rows) for name, rows in tables.items() if not name.endswith("dropped")}
    lines += ["", "  rows: " + ", ".join(f"{count} {name}" for name, count in counts.items())]
    lines += [
        f"  dropped in {name.partition('.')[0]}: {row['unit']} {row['id']}: "
        f"{row['reason']} {row['detail']}".rstrip()
        for name, rows in tables.items()
        if name.endswith("dropped")
        for row in rows
    ]
    return "\n".join(lines)


def _case(case: dict[str, Any], stated: list[dict[str, Any]]) -> list[str]:
    passages = list(dict.fromkeys(span["passage_id"].partition("#")[2] for span in case["spans"]))
    figures = [figure.partition("#")[2] for figure in case["figures"]]
    patient = ", ".join(filter(None, (case["age_text"], case["sex"]))) or "age and sex not stated"
    return [
        "",
        f"  case {case['id']}  [{case['label']}]  {patient}",
        f"    passages {', '.join(passages)}; figures {', '.join(figures) or 'none'}",
        *(
            f"    diagnosis in {statement['passage_id'] or statement['place']} by {statement['rule']}: "
            f"{_short(statement['text'], 120)!r}"
            for statement in stated
        ),
    ]


def _question(question: dict[str, Any]) -> list[str]:
    options = " · ".join(f"{option['letter']} {option['text']}" for option in question["options"])
    key = ", ".join(filter(None, (*question["correct"], _short(question["answer"], 120)))) or "none"
    lines = [
        f"  question {question['id']}  {question['section'] or question['subject']}".rstrip(),
        f"    {_short(' '.join(question['text'].split()), 160)}",
        f"    {_short(options, 160)}",
        f"    answer: {key}",
    ]
    return ["", *(line for line in lines if line.strip())]


def _queries(queries: list[dict[str, Any]], qrels: list[dict[str, Any]]) -> list[str]:
    lines = []
    for query in queries:
        lines += [
            "",
            f"  query {query['id']}  from {query['source_id']}",
            f"    {_short(query['text'], 160)}",
        ]
        lines += [
            f"    → {qrel['corpus_id']}  grade {qrel['score']}  {qrel['rule']}"
            for qrel in qrels
            if qrel["query_id"] == query["id"]
        ]
    return lines


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
