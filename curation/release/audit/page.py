"""The audit as one self-contained HTML page: verdict first, then what was checked, found and released.

Everything shown is escaped; the page loads nothing and runs no script.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import jinja2
import pyarrow as pa
import pyarrow.parquet as pq

from curation.release.audit.rule import MAX_QUOTE
from curation.release.manifest import ReleaseManifest, read_manifest
from curation.release.tables import TABLES, Published
from schemas.audit import AuditReport, RuleResult, Side

SHOWN = 5
"""Examples a rule shows on the page; audit.json holds more."""
_CONTEXT = 70
_BY_NAME = {table.name: table for table in TABLES}
_VERDICTS = {
    "clean": ("Clean", "Every rule ran and none found an error."),
    "findings": ("Findings", "At least one rule found an error. This release must not be used as it is."),
    "incomplete": ("Incomplete", "No rule found an error, but not every rule could run. Nothing is proven."),
}


def render_page(report: AuditReport, directory: Path) -> str:
    """Render the page of a report beside the published files it is about.

    Args:
        report: what `audit` returned for this directory.
        directory: the task directory; only small columns are read, for the overview.

    Returns:
        One HTML document. The same report and files give the same text.
    """
    manifest = read_manifest(directory)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent.parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number=_number, state=_state, visible=_visible)
    overview = _overview(directory, manifest)
    return environment.get_template("audit.html.jinja").render(
        report=report,
        manifest=manifest,
        verdict=_VERDICTS[report.verdict],
        tally=_tally(report),
        rows=[row.partition(": ")[::2] for row in report.rows],
        examples=_examples(report, directory),
        flagged=[result for result in report.rules if result.status != "passed"],
        **overview,
    )


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _state(result: RuleResult) -> str:
    """The word a reader sees for a rule's status; a failed warning is a warning, not a failure."""
    if result.status == "failed":
        return "error" if result.severity == "error" else "warning"
    return {"passed": "passed", "declared": "declared", "not_run": "not run"}[result.status]


def _visible(text: str) -> str:
    """Text with control and direction-changing characters written out: nothing can hide or reorder."""
    return "".join(
        f"\\u{ord(character):04x}" if _is_deceptive(character) else character for character in text
    )


def _is_deceptive(character: str) -> bool:
    code = ord(character)
    is_control = (code < 32 and character not in "\n\t") or 127 <= code < 160
    return (
        is_control
        or code in range(0x202A, 0x202F)
        or code in range(0x2066, 0x206A)
        or 0xD800 <= code < 0xE000
    )


def _tally(report: AuditReport) -> list[tuple[str, int]]:
    counted = Counter(_state(result) for result in report.rules)
    return [
        (name, counted[name])
        for name in ("error", "warning", "not run", "declared", "passed")
        if counted[name]
    ]


def _texts(directory: Path, sides: list[Side]) -> dict[tuple[str, str], str]:
    """Full texts of the rows whose words are located, to show what stands around them."""
    texts: dict[tuple[str, str], str] = {}
    for table in ("queries", "corpus"):
        ids = sorted({item.id for item in sides if item.table == table and item.start is not None})
        for path in _BY_NAME[table].files(directory) if ids else ():
            try:
                rows = pq.read_table(path, columns=["id", "text"], filters=[("id", "in", ids)]).to_pylist()
            except (OSError, pa.ArrowException, KeyError):
                continue
            texts.update({(table, row["id"]): row["text"] or "" for row in rows})
    return texts


def _examples(report: AuditReport, directory: Path) -> dict[str, list[dict[str, Any]]]:
    """Rule -> the findings the page shows, each with its sides."""
    shown = {result.rule: result.findings[:SHOWN] for result in report.rules}
    sides = [item for findings in shown.values() for finding in findings for item in finding.sides]
    texts = _texts(directory, sides)
    return {
        rule: [
            {"message": finding.message, "sides": [_marked(item, texts) for item in finding.sides]}
            for finding in findings
        ]
        for rule, findings in shown.items()
    }


def _marked(item: Side, texts: dict[tuple[str, str], str]) -> dict[str, Any]:
    """One side: the located words marked, with what stands around them."""
    cut = "…" if len(item.quote) == MAX_QUOTE else ""
    pieces, at = [(item.quote + cut, False)], ""
    if item.start is not None and item.end is not None:
        text = texts.get((item.table, item.id), "")
        is_there = text[item.start : item.end][: len(item.quote)] == item.quote
        before = text[max(0, item.start - _CONTEXT) : item.start] if is_there else ""
        after = text[item.end : item.end + _CONTEXT] if is_there else ""
        left = "…" if is_there and item.start > _CONTEXT else ""
        right = "…" if is_there and item.end + _CONTEXT < len(text) else ""
        pieces = [(left + before, False), (item.quote, True), (after + right, False)]
        at = f"characters {item.start:,}–{item.end:,}"
    return {"table": item.table, "id": item.id, "at": at, "pieces": [piece for piece in pieces if piece[0]]}


def _column(directory: Path, table: Published, *names: str) -> list[tuple[Any, ...]]:
    """Distinct values of small columns with counts, most frequent first; [] if unreadable."""
    parts = []
    for path in table.files(directory):
        try:
            parts.append(pq.read_table(path, columns=list(names)))
        except (OSError, pa.ArrowException, KeyError):
            return []
    if not parts or any(part.column_names != list(names) for part in parts):
        return []
    try:
        counted = pa.concat_tables(parts).group_by(list(names)).aggregate([([], "count_all")])
    except (pa.ArrowException, TypeError):
        return []
    rows = [(tuple(row[name] for name in names), row["count_all"]) for row in counted.to_pylist()]
    return [(*key, count) for key, count in sorted(rows, key=lambda row: (-row[1], tuple(map(str, row[0]))))]


def _overview(directory: Path, manifest: ReleaseManifest) -> dict[str, Any]:
    """What the release holds, from its own columns."""
    return {
        "funnel": _funnel(directory),
        "licences": _two_sided(directory, "license"),
        "languages": _two_sided(directory, "language"),
        "statuses": _column(directory, _BY_NAME["qrels"], "label_status"),
        "scores": [
            (score, manifest.grades.get(str(score), "not defined"), count)
            for score, count in _column(directory, _BY_NAME["qrels"], "score")
        ],
        "exclusions": [
            (reason, manifest.exclusions.get(str(reason), "not defined"), count)
            for reason, count in _column(directory, _BY_NAME["excluded"], "reason")
        ],
    }


def _two_sided(directory: Path, column: str) -> list[tuple[str, int, int]]:
    """(value, queries, documents), most frequent first."""
    queries = dict(_column(directory, _BY_NAME["queries"], column))
    corpus = dict(_column(directory, _BY_NAME["corpus"], column))
    values = sorted(
        set(queries) | set(corpus),
        key=lambda value: (-queries.get(value, 0) - corpus.get(value, 0), str(value)),
    )
    return [(str(value or "none"), queries.get(value, 0), corpus.get(value, 0)) for value in values]


def _funnel(directory: Path) -> list[dict[str, Any]]:
    """Steps with bar widths in percent of the largest count of the same unit, and drop reasons."""
    names = ("step", "stage", "unit", "entered", "kept", "dropped")
    steps = [
        dict(zip(names, row[:-1], strict=True)) for row in _column(directory, _BY_NAME["funnel"], *names)
    ]
    steps.sort(key=lambda step: step["step"] or 0)
    reasons = _column(directory, _BY_NAME["drops"], "stage", "unit", "reason")
    widest: dict[str, int] = {}
    for step in steps:
        widest[step["unit"]] = max(widest.get(step["unit"], 1), step["entered"] or 0)
    for step in steps:
        whole = widest[step["unit"]]
        step["kept_width"] = round(1000 * (step["kept"] or 0) / whole) / 10
        step["dropped_width"] = round(1000 * (step["dropped"] or 0) / whole) / 10
        step["reasons"] = [(row[2], row[3]) for row in reasons if row[:2] == (step["stage"], step["unit"])]
    return steps
