"""The retention table of a release and the drops behind it, checked against each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from curation.privacy import gathered
from curation.published.manifest import Retention
from curation.published.query import QueryRunner
from curation.release import identified
from schemas.errors import ConservationError
from schemas.published import Published
from schemas.tables import DROPS, FUNNEL

_OF_STAGE = "drops/"


def retained(
    query: QueryRunner, tables: Mapping[str, Sequence[Path]], task: str, passed: Iterable[Retention]
) -> Iterator[tuple[Published, pa.Table]]:
    """The tables `drops` and `funnel` with their rows.

    Args:
        query: runs SQL over Parquet.
        tables: `drops/<stage>`: Drop rows by stage; others are not looked at.
        task: its name; the partition's drops of other tasks are left out.
        passed: what entered and left each stage, in order.

    Raises:
        ConservationError: what entered a stage is not what left it and what it dropped.
    """
    dropped: Counter[tuple[str, str]] = Counter()
    parts = [DROPS.schema.empty_table()]
    named = [name for name in sorted(tables) if name.startswith(_OF_STAGE) and tables[name]]
    asked = [_of_stage(number, name, task) for number, name in enumerate(named)]
    files = {f"drops_{number}": tables[name] for number, name in enumerate(named)}
    count = sum(pq.read_metadata(path).num_rows for name in named for path in tables[name])
    text = f"SELECT *, {identified.SUSPECT} FROM {gathered(asked, count)} ORDER BY ALL"
    for batch in query(text, files) if asked else ():
        rows = identified.without_identifiers(pa.Table.from_batches([batch]))
        dropped.update(zip(*(rows.column(name).to_pylist() for name in ("stage", "unit")), strict=True))
        parts.append(rows.select(DROPS.schema.names).cast(DROPS.schema))
    yield DROPS, pa.concat_tables(parts)
    steps = []
    for number, step in enumerate(passed, start=1):
        lost = dropped[step.stage, step.unit]
        if step.entered != step.kept + lost:
            raise ConservationError(
                f"{step.stage}: {step.entered} {step.unit} entered, {step.kept} kept, {lost} dropped",
                hint=f"rebuild: medqrels build {task}",
            )
        values = (number, step.stage, step.unit, step.entered, step.kept, lost)
        steps.append(dict(zip(FUNNEL.schema.names, values, strict=True)))
    yield FUNNEL, pa.Table.from_pylist(steps, schema=FUNNEL.schema)


def _of_stage(number: int, name: str, task: str) -> str:
    """SQL for the drops of one stage; the partition's are those of all tasks."""
    stage = name.removeprefix(_OF_STAGE)
    mine = f" WHERE starts_with(id, '{task}-')" if stage == "partition" else ""
    columns = "unit, id, article_id, reason, detail"
    return f"SELECT {number} AS place, '{stage}' AS stage, {columns} FROM drops_{number}{mine}"
