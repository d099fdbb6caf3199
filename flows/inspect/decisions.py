"""Follows one query, question or case through every stage: kept, dropped or asked about, with the answer.

What a stage makes of a record bears its id, or names it; what is made from that is followed, too: the query
of a case, the pairs of a query, the prompts about a pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from flows.adapters.answering import store_of
from flows.adapters.llm_runner import held
from flows.engine.manifest import DROPPED
from flows.engine.runner import shards_of
from flows.engine.workspace import Workspace
from flows.inspect.stages import stages_in
from flows.pipeline import PARTITION
from schemas.ids import article_of
from schemas.prompt import Prompt, models_in
from schemas.record import from_dict

_NAMES: Final = (
    "id", "unit", "subject", "pair", "prompt_id", "query_id", "vignette_id", "case_id", "source_id",
)  # fmt: skip
"""Columns that say which record a row is of."""
_KINDS: Final[Mapping[str, str]] = {"queries": "query", "questions": "question", "cases": "case"}
"""Table -> what its rows are: records that can be followed."""
_OF_PARTITION: Final = ("assignments", DROPPED)
_FACTS: Final = (
    "scenario", "answered", "is_right", "right", "tries", "is_suspect", "key_rule", "why", "scores", "seeded",
)  # fmt: skip
"""Columns that say what a stage found out of a record, beside the grade."""
_GRADED: Final = ("qrels", "judged")
"""Tables whose score is a grade."""
_BELOW: Final = "/"
"""Stands between a record's id and what is made of it: case/treatment."""
_MOST_SHOWN, _MOST_TEXT = 4, 400


@dataclass(slots=True)
class _Way:
    """What belongs to the record followed: its own ids, which grow, and what it was made from."""

    own: set[str]
    origin: set[str] = field(default_factory=set)

    def holds(self, table: pa.Table) -> pa.BooleanArray:
        """Which rows of a table are of the record."""
        names = pa.array(sorted(self.own), pa.string())
        found = pa.array([False] * len(table), pa.bool_())
        for column in table.column_names:
            values = table[column].combine_chunks().cast(pa.string())
            found = pc.or_(found, pc.is_in(values, value_set=names))
            for name in self.own if column in ("id", "unit", "subject") else ():
                found = pc.or_(found, pc.fill_null(pc.starts_with(values, name + _BELOW), False))
            if column == "id" and self.origin:
                origin = pa.array(sorted(self.origin), pa.string())
                found = pc.or_(found, pc.is_in(values, value_set=origin))
        return found

    def grow(self, rows: Iterable[Mapping[str, Any]], *, from_query: bool) -> None:
        """Take in the ids that rows of the record bear, and of a query what it was made from."""
        for row in rows:
            if row.get("id") in self.origin:
                continue
            self.own.update(row[name] for name in ("id", "pair") if row.get(name))
            if ":" in str(row.get("unit")):  # elsewhere it names a kind
                self.own.add(row["unit"])
            if from_query and row.get("source_id") and row.get("id") in self.own:
                self.origin.add(row["source_id"])


def follow(workspace: Workspace, record_id: str) -> dict[str, Any] | None:
    """Every stage's decision for one query, question or case; None when the id is of none.

    Args:
        workspace: an open workspace.
        record_id: the id.

    Returns:
        `id`, `kind`, `article`, and `decisions` in the order of the stages: stage, table (of a drop, its
        unit), decision (kept, dropped, not_run, asked), id, reason, detail and row; of a prompt its text,
        answer and state.
    """
    kind = _kind_of(workspace, record_id)
    if not kind:
        return None
    way, before, tables = _Way({record_id}), (0, 0), list(_tables(workspace))
    while before != (size := (len(way.own), len(way.origin))):
        before = size
        found = [
            (stage, name, rows)
            for stage, name, path in tables
            if (rows := _rows(path, name, way, from_query=kind == "query"))
        ]
    decisions = [one for stage, name, rows in found for one in _decisions(workspace, stage, name, rows)]
    article = next((row["article_id"] for _, _, rows in found for row in rows if row.get("article_id")), "")
    article = article or (article_of(record_id) if kind != "query" else "")
    return {"id": record_id, "kind": kind, "article": article, "decisions": decisions}


def _kind_of(workspace: Workspace, record_id: str) -> str:
    """What an id is of, '' when it is of no record that can be followed."""
    for _, name, path in _tables(workspace):
        kind = _KINDS.get(name, "")
        if not kind and name != DROPPED:
            continue
        with pq.ParquetFile(path) as file:
            ids = file.read(["id"] if kind else ["id", "unit"])
        mine = ids.filter(pc.equal(ids["id"], record_id)).to_pylist()
        if mine and (kind or mine[0]["unit"] in _KINDS.values()):
            return kind or str(mine[0]["unit"])
    return ""


def _tables(workspace: Workspace) -> Iterator[tuple[str, str, Path]]:
    """(stage, table, file) of every shard, in the order of the pipeline; of the partition what it decided.

    Files without rows are left out.
    """
    for stage in stages_in(workspace):
        for shard, manifest in shards_of(workspace, stage).items():
            for name, output in manifest.outputs.items():
                if output.rows and (stage != PARTITION or name in _OF_PARTITION):
                    yield stage, name, workspace.stage(stage) / shard / output.file


def _rows(path: Path, name: str, way: _Way, *, from_query: bool) -> list[dict[str, Any]]:
    """Rows of a file that are of the record; the way grows by what they name."""
    skipped = ("unit",) if name == DROPPED else ()  # there it names a kind
    with pq.ParquetFile(path) as file:
        columns = [one for one in file.schema_arrow.names if one in _NAMES and one not in skipped]
        if not columns:
            return []
        mask = way.holds(file.read(columns))
        if not pc.any(mask).as_py():
            return []
        rows: list[dict[str, Any]] = file.read().filter(mask).to_pylist()
    if name != DROPPED:
        way.grow(rows, from_query=from_query)
    return rows


def _decisions(
    workspace: Workspace, stage: str, name: str, rows: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """What a stage decided by some rows of one of its tables; stored answers stand with their prompts."""
    if name == "prompts" and (answered := shards_of(workspace, f"{stage}_answers")):
        (manifest,) = answered.values()
        for model in models_in(manifest.params) or ("",):
            yield from _asked(workspace, stage, rows, model)
        return
    if name == "answers" and stage.endswith("_answers"):
        return
    for row in rows:
        reason = str(row.get("reason") or "")
        is_drop = name == DROPPED
        if is_drop and stage.endswith("_answers") and row["unit"] == "prompt":
            continue
        yield {
            "stage": stage,
            "table": str(row["unit"]) if is_drop else name,
            "decision": "kept" if not is_drop else "not_run" if reason == "not_run" else "dropped",
            "id": _id_of(row, is_drop),
            "reason": reason,
            "detail": str(row.get("detail") or ", ".join(row.get("found_by", ()))),
            "row": dict(row),
        }


def _id_of(row: Mapping[str, Any], is_drop: bool) -> str:
    """What a row is of: its own id, or the pair or record that it names."""
    found = next(
        (str(row[name]) for name in _NAMES if row.get(name) and not (is_drop and name == "unit")), ""
    )
    return f"{found} {row['corpus_id']}" if row.get("corpus_id") and found == row.get("query_id") else found


def _asked(
    workspace: Workspace, stage: str, rows: Sequence[Mapping[str, Any]], model: str
) -> Iterator[dict[str, Any]]:
    """Prompts with what is stored of their answers, also of those that are refused or in no valid form."""
    prompts = [from_dict(Prompt, row) for row in rows]
    stored = {answer.prompt_id: answer for answer in held(prompts, model, store_of(workspace))}
    for prompt in prompts:
        answer = stored.get(prompt.id)
        parts = [part.value if part.kind == "text" else f"<image {part.value}>\n" for part in prompt.parts]
        yield {
            "stage": stage,
            "table": "prompts",
            "decision": "asked" if answer else "not_run",
            "id": prompt.id,
            "subject": prompt.subject,
            "prompt": prompt.kind,
            "form": prompt.form,
            "system": prompt.system,
            "text": "".join(parts),
            "state": answer.state if answer else "not_run",
            "answer": answer.text if answer else "",
            "model": model,
            "served_model": answer.served_model if answer else "",
        }


def describe(found: Mapping[str, Any]) -> str:
    """The way of a record as text for people; of many rows the first ones, and what they add up to."""
    lines = [f"{found['id']}  {found['kind']}"]
    for (stage, table, decision), group in groupby(found["decisions"], _heading):
        rows = list(group)
        lines.append(f"  {stage}: {decision} {f'{len(rows):,} ' if len(rows) > 1 else ''}{table}")
        for row in rows[:_MOST_SHOWN]:
            lines += [f"    {line}" for line in _lines(row)]
        if len(rows) > _MOST_SHOWN:
            told = Counter(_outcome(row) for row in rows)
            summed = ", ".join(f"{count} {name}" for name, count in sorted(told.items()) if name)
            lines.append(f"    … all {len(rows):,} with --json{f'; {summed}' if summed else ''}")
    if found["article"]:
        lines.append(f"  its article: medqrels show {found['article']}")
    return "\n".join(lines)


def _heading(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["stage"], row["table"], row["decision"]


def _outcome(row: Mapping[str, Any]) -> str:
    """What a row adds up under: the state of an answer, the reason of a drop, the score of a label."""
    if "prompt" in row:
        return str(row["state"])
    is_graded = row["table"] in _GRADED and row["row"]["score"] is not None
    return row["reason"] or (f"score {row['row']['score']}" if is_graded else "")


def _lines(row: Mapping[str, Any]) -> Iterator[str]:
    if "prompt" not in row:
        facts = [
            f"{name} {value}" for name in _FACTS if (value := row["row"].get(name)) not in (None, "", [])
        ]
        told = " ".join(filter(None, (_outcome(row), row["detail"], ", ".join(facts))))
        yield f"{row['id']}{f': {told}' if told else ''}"
        if text := row["row"].get("text"):
            yield f"  {_short(text)}"
        return
    yield f"{row['prompt']} {row['form']} about {row['subject']}: {row['state']}, {row['model'] or 'nobody'}"
    yield f"  prompt: {_short(row['text'])}"
    if row["answer"]:
        yield f"  answer: {_short(row['answer'])}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MOST_TEXT else line[: _MOST_TEXT - 1] + "…"
