"""The section of benchmarks/README.md on grounding, from benchmarks/results/grounding.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from benchmarks.grounding.generate import KINDS
from benchmarks.measure import RESULTS

TARGET_RATE, TARGET_MB = 2_000, 300
TARGET_RECALL = {"exact": 0.95, "case": 0.95, "plural": 0.90, "reorder": 0.90, "typo": 0.70}
_LABELS = {
    "native": "**medqrels**, native",
    "ground": "**medqrels**, native, with the document's short forms and context",
    "dictionary": "exact dictionary, longest run of whole words",
    "quickumls": "QuickUMLS (medspacy-quickumls {}) as a backend",
    "quickumls_1_4_2": "QuickUMLS {} as its users run it",
    "scispacy": "scispaCy {} as a backend",
}


def section() -> list[str]:
    """Lines of Markdown."""
    result = json.loads((RESULTS / "grounding.json").read_text("utf-8"))
    labels = {name: label.format(result["versions"].get(name, "")) for name, label in _LABELS.items()}
    lines = _generated(result["generated"], labels)
    for chosen in result["gold"].values():
        lines += _gold(chosen, labels)
    return lines


def _generated(result: Mapping[str, Any], labels: Mapping[str, str]) -> list[str]:
    rows = _in_order(result["contestants"])
    counts = ", ".join(f"{row['documents']:,}" for row in rows.values() if "documents" in row)
    lines = [
        "## Grounding",
        "",
        f"{result['names']:,} generated names; documents of {result['characters_per_document']:,} "
        f"characters with ten planted mentions each ({counts} documents in the order of the rows: slow ones "
        "read fewer). "
        "Documents per CPU second of one core; largest resident set of the process that reads; right: the "
        "planted concept on an overlapping span. Precision is low for all, as the filler has names too. "
        "`python -m benchmarks.grounding`",
        "",
        f"| what | docs/s | MB | index: CPU s | index: MB | {' | '.join(KINDS)} | all | precision |",
        "|---|" + "---:|" * (6 + len(KINDS)),
    ]
    for name, row in rows.items():
        if "not_run" in row:
            lines.append(f"| {labels[name]} | not run: {_cell(row['not_run'])} |" + " |" * (5 + len(KINDS)))
            continue
        scores = row["scores"]
        recalls = " | ".join(f"{scores[kind]:.3f}" for kind in (*KINDS, "all"))
        built = (row["index_cpu_seconds"], row["index_mb"])
        index = " | ".join("" if cell is None else f"{cell:,.1f}" for cell in built)
        cost = f"{row['documents_per_cpu_second']:,.0f} | {row['peak_mb']:,} | {index}"
        lines.append(f"| {labels[name]} | {cost} | {recalls} | {scores['precision']:.3f} |")
    return [*lines, "", _verdict(rows), ""]


def _verdict(rows: Mapping[str, Any]) -> str:
    ours, exact = rows["native"], rows["dictionary"]
    if "scores" not in ours or "scores" not in exact:
        return "Targets: not run."
    scores = ours["scores"]
    targets = {
        f"{TARGET_RATE:,} docs/s": ours["documents_per_cpu_second"] >= TARGET_RATE,
        f"{TARGET_MB} MB": ours["peak_mb"] <= TARGET_MB,
        "recall " + "/".join(f"{bound:.2f}" for bound in TARGET_RECALL.values()): all(
            scores[kind] >= bound for kind, bound in TARGET_RECALL.items()
        ),
        "precision no lower than the exact dictionary's": scores["precision"] >= exact["scores"]["precision"],
    }
    return (
        "Targets: "
        + "; ".join(f"{what}: {'met' if met else 'missed'}" for what, met in targets.items())
        + "."
    )


def _gold(result: Mapping[str, Any], labels: Mapping[str, str]) -> list[str]:
    lines = [
        f"{result['title']}: {result['documents']} documents, {result['names']:,} names. Mention: same "
        "offsets and concept; document: its set of concepts. Nested: names inside longer ones are reported "
        "too, as the gold has them.",
        "",
        "| what | mention P | R | F1 | F1, nested | document P | R | F1 | F1, nested |",
        "|---|" + "---:|" * 8,
    ]
    for name, row in _in_order(result["contestants"]).items():
        if "not_run" in row:
            lines.append(f"| {labels[name]} | not run: {_cell(row['not_run'])} |" + " |" * 7)
            continue
        cells = []
        for kind in ("span", "document"):
            flat = row["flat"][kind]
            cells += [flat["p"], flat["r"], flat["f1"], row["nested"][kind]["f1"]]
        lines.append(f"| {labels[name]} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |")
    return [*lines, ""]


def _in_order(rows: Mapping[str, Any]) -> dict[str, Any]:
    return {name: rows[name] for name in _LABELS if name in rows}


def _cell(text: str) -> str:
    return text.replace("|", "/").splitlines()[0] if text else "no reason given"
