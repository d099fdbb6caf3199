"""How far a task's judge agrees with people: written beside the tables, read for card and head."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from schemas.judged_tables import CALIBRATION, JUDGEMENTS
from schemas.published import Published

FILE = "provenance/calibration.json"
CALIBRATED = "calibrated"
"""The one status with which a judge's grades count as labels."""
Row = Mapping[str, Any]
Calibrate = Callable[[Sequence[Row], Sequence[Row]], Mapping[str, Any]]
"""Rows of the tables judgements and calibration -> what is known of the judge."""


def write_calibration(directory: Path, calibrate: Calibrate) -> None:
    """Measure the judge on the released rows and write what came of it; nothing where no pair was mined."""
    judgements = _rows(directory, JUDGEMENTS)
    if not judgements:
        return
    content = calibrate(judgements, _rows(directory, CALIBRATION))
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    (directory / FILE).write_text(text + "\n", encoding="utf-8", newline="\n")


def calibration_facts(directory: Path) -> dict[str, Any]:
    """`calibration`: the content of the file, None where the task has no judge or the file cannot be read."""
    try:
        found: dict[str, Any] = json.loads((directory / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {"calibration": None}
    return {"calibration": found}


def _rows(directory: Path, table: Published) -> list[dict[str, Any]]:
    return [row for path in table.files(directory) for row in pq.read_table(path).to_pylist()]
