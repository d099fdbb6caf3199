"""Reads a release's croissant.json with mlcroissant and compares every record with the Parquet files.

`python croissant_inside.py TASK_DIRECTORY`; prints one JSON object as its last line, before mlcroissant may
abort at exit: warnings, and for each record set rows, rows read and the first difference. Nothing of this
project is imported, so any environment with mlcroissant, pyarrow and pillow will do.
"""

import json
import logging
import sys
from pathlib import Path
from typing import Any

import mlcroissant
import pyarrow.parquet as pq


class _Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            self.told.append(record.getMessage())


def main(directory: Path) -> None:
    """Validate, read, compare."""
    kept = _Kept()
    for name in ("absl", ""):
        logging.getLogger(name).addHandler(kept)
    dataset = mlcroissant.Dataset(str(directory / "croissant.json"))
    stated = json.loads((directory / "croissant.json").read_text(encoding="utf-8"))
    folders = {
        part["@id"]: part["includes"] for part in stated["distribution"] if part["@type"] == "cr:FileSet"
    }
    found = {each["@id"]: _compared(dataset, directory, each, folders) for each in stated["recordSet"]}
    print(json.dumps({"warnings": kept.told, "record_sets": found}), flush=True)


def _compared(dataset: Any, directory: Path, stated: Any, folders: Any) -> dict[str, Any]:
    """One record set beside its files, whose rows are told apart by their key and split."""
    name = stated["@id"]
    files = sorted(directory.glob(folders[f"files/{name}"]))
    wanted = [
        {"split": path.name.split("-")[0], **row} for path in files for row in pq.read_table(path).to_pylist()
    ]
    fields = [field["name"] for field in stated["field"]]
    rows = [
        {field: _plain(record[f"{name}/{field}"], f"{name}/{field}") for field in fields}
        for record in dataset.records(name)
    ]
    wanted = [{field: _bytes(row[field]) for field in fields} for row in wanted]
    unlike = next(
        (place for place, pair in enumerate(zip(wanted, rows, strict=False)) if pair[0] != pair[1]), -1
    )
    missing = sorted({column for path in files for column in pq.read_schema(path).names} - set(fields))
    told = "" if unlike < 0 else f"{wanted[unlike]!r:.400} read as {rows[unlike]!r:.400}"
    return {"rows": len(wanted), "read": len(rows), "difference": told, "undeclared": missing}


def _bytes(value: Any) -> Any:
    """An image as its bytes; other values as they are."""
    return value["bytes"] if isinstance(value, dict) and set(value) == {"bytes", "path"} else value


def _plain(value: Any, name: str) -> Any:
    """A record's value as Parquet has it: mlcroissant gives texts as bytes, and decodes images."""
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if isinstance(value, list):
        return [_plain(each, name) for each in value]
    if isinstance(value, dict):
        return {key.removeprefix(f"{name}/"): _plain(each, name) for key, each in value.items()}
    if hasattr(value, "fp"):
        value.fp.seek(0)
        return value.fp.read()
    return value.item() if hasattr(value, "item") else value


if __name__ == "__main__":
    main(Path(sys.argv[1]))
