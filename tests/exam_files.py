"""Exam questions written by us (tests/gold/written_vignettes.toml) in the forms of published collections."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

WRITTEN = Path(__file__).parent / "gold" / "written_vignettes.toml"
GOLD: dict[str, list[dict[str, Any]]] = tomllib.loads(WRITTEN.read_text("utf-8"))
ITEMS, BROKEN = GOLD["item"], GOLD["broken"]
_SIDECAR = 'licence = "CC0-1.0"\nlanguage = "en"\nsynthetic = true\ntitle = "Invented"\n'
FORMS = ("medqa", "medmcqa", "medxpertqa")


def write_exams(folder: Path, items: Sequence[Mapping[str, Any]] = ITEMS) -> Path:
    """Write items in the three forms in turn, and the broken ones in the documented form; the folder."""
    folder.mkdir()
    for place, form in enumerate(FORMS):
        rows = [_FORMED[form](item) for item in items[place :: len(FORMS)]]
        counted = "correct_from = 1\n" if form == "medmcqa" else ""
        _write(folder, form, rows, f'preset = "{form}"\n{counted}')
    plain = [
        {"id": item["id"], "question": item["question"], "options": item["options"],
         "correct": list(item["correct"])}
        for item in BROKEN
    ]  # fmt: skip
    _write(folder, "broken", plain, "")
    return folder


def _write(folder: Path, name: str, rows: Sequence[Mapping[str, Any]], more: str) -> None:
    data = folder / f"{name}.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    data.with_name(f"{data.name}.meta.toml").write_text(
        f'name = "invented-{name}"\n{_SIDECAR}{more}', "utf-8"
    )


def _lettered(item: Mapping[str, Any]) -> dict[str, str]:
    return dict(zip("ABCD", item["options"], strict=True))


def _medqa(item: Mapping[str, Any]) -> dict[str, Any]:
    options = _lettered(item)
    return {
        "question": item["question"], "answer": options[item["correct"]], "options": options,
        "meta_info": "step2&3", "answer_idx": item["correct"],
    }  # fmt: skip


def _medmcqa(item: Mapping[str, Any]) -> dict[str, Any]:
    options = {f"op{letter.lower()}": text for letter, text in _lettered(item).items()}
    return {
        "id": item["id"], "question": item["question"], **options, "cop": "ABCD".index(item["correct"]) + 1,
        "choice_type": "single", "exp": item["path"], "subject_name": "Medicine",
    }  # fmt: skip


def _medxpertqa(item: Mapping[str, Any]) -> dict[str, Any]:
    options = _lettered(item)
    choices = " ".join(f"({letter}) {text}" for letter, text in options.items())
    return {
        "id": item["id"], "question": f"{item['question']}\nAnswer Choices: {choices}", "options": options,
        "label": item["correct"], "medical_task": "Diagnosis", "body_system": "Other",
    }  # fmt: skip


_FORMED = {"medqa": _medqa, "medmcqa": _medmcqa, "medxpertqa": _medxpertqa}
