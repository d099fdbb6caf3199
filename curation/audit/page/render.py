"""The audit as one self-contained HTML page: verdict first, then what was compared, proven and found.

Everything shown is escaped; the page loads nothing and runs no script.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2

from curation.audit.dataset import Dataset
from curation.audit.page import excerpts, matrix, wording
from curation.audit.page.overview import overview
from curation.published.manifest import ReleaseManifest, read_manifest
from curation.release.facts import views
from schemas.audit import AuditInput, AuditReport, CanaryResult, Coverage, RuleResult
from schemas.tables import TABLES
from schemas.wording import counted

_PRESSING = ("error", "unproven", "not run", "warning", "declared")
"""Statuses that get an article of their own, in the order the articles come."""
_SAFE_TASK = re.compile(r"[A-Za-z0-9_-]{1,80}")


@dataclass(frozen=True, slots=True)
class Planted:
    """Planted defects of one rule."""

    result: RuleResult
    canaries: tuple[CanaryResult, ...]

    @property
    def found(self) -> int:
        """How many were found."""
        return sum(item.is_found for item in self.canaries)


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that was not looked at, and why."""

    result: RuleResult
    state: str
    why: str


def render_page(
    report: AuditReport,
    directory: Path,
    *,
    datasets: Sequence[Dataset] = (),
    links_siblings: bool = True,
) -> str:
    """Render the page of a report beside the published files it is about.

    Args:
        report: what `audit` returned for these files.
        directory: the audited directory; its release.json and small columns are read for the overview.
        datasets: the audited dataset and those it was compared with, as they were opened; lets the page show
            texts and images of every input. Without them only those of our own release in `directory`.
        links_siblings: whether to link `../<task>/audit.html` of the sibling tasks that were read; off when
            the page is written elsewhere than beside the data.

    Returns:
        One HTML document. The same report and files give the same text.
    """
    subject = next((item for item in datasets if item.role == "audited"), None)
    inputs: dict[str, excerpts.Views] = {item.name: item.views for item in datasets}
    inputs[""] = subject.views if subject else views(directory)
    manifest = _manifest(report, directory, subject)
    shown = excerpts.findings(report, inputs)
    states = {result.rule: wording.state(result) for result in report.rules}
    planted = _planted(report)
    return (
        _environment()
        .get_template("audit.html.jinja")
        .render(
            report=report,
            manifest=manifest,
            kind=report.inputs[0].kind if report.inputs else "release",
            verdict=wording.VERDICTS[report.verdict],
            states=states,
            tally=[(name, n) for name in wording.STATUSES if (n := list(states.values()).count(name))],
            statuses=wording.STATUSES,
            pressing=_pressing(report, states),
            findings=shown,
            planted=planted,
            planted_total=sum(len(item.canaries) for item in planted.values()),
            planted_found=sum(item.found for item in planted.values()),
            matrix=matrix.build(report),
            coverage=_coverage(report),
            gaps=_gaps(report, states),
            rows=_rows(report.rows, inputs[""]),
            tables=_tables(inputs[""], manifest),
            siblings=_siblings(report) if links_siblings else [],
            words=wording,
            has_hash=re.fullmatch(r"[0-9a-f]{64}", report.release_hash) is not None,
            overview=overview(inputs[""], manifest),
        )
    )


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=wording.number,
        visible=wording.visible,
        shortened=wording.shortened,
        breakable=wording.breakable,
        plural=counted,
    )
    return environment


def _manifest(report: AuditReport, directory: Path, subject: Dataset | None) -> ReleaseManifest | None:
    if subject is not None:
        return subject.manifest
    is_foreign = bool(report.inputs) and report.inputs[0].kind != "release"
    return None if is_foreign else read_manifest(directory)


def _pressing(report: AuditReport, states: Mapping[str, str]) -> list[tuple[str, RuleResult]]:
    """Rules a reader must look at, most pressing first, otherwise in rule order."""
    chosen = [(states[result.rule], result) for result in report.rules if states[result.rule] in _PRESSING]
    return sorted(chosen, key=lambda item: _PRESSING.index(item[0]))


def _planted(report: AuditReport) -> dict[str, Planted]:
    by_rule: dict[str, list[CanaryResult]] = {}
    for item in report.canaries:
        by_rule.setdefault(item.rule, []).append(item)
    return {
        result.rule: Planted(result, tuple(by_rule[result.rule]))
        for result in report.rules
        if result.rule in by_rule
    }


def _coverage(report: AuditReport) -> list[tuple[RuleResult, tuple[Coverage, ...]]]:
    return [(result, result.coverage) for result in report.rules if result.coverage]


def _gaps(report: AuditReport, states: Mapping[str, str]) -> list[Gap]:
    """Rules that looked at nothing or not at everything."""
    silent = ("not run", "not covered", "not asked", "not applicable", "unproven")
    chosen = [
        Gap(result, states[result.rule], result.note)
        for result in report.rules
        if states[result.rule] in silent
    ]
    return sorted(chosen, key=lambda gap: silent.index(gap.state))


def _rows(rows: Sequence[str], given: excerpts.Views) -> list[tuple[str, int | None, str]]:
    """(table, rows, why they could not be counted)."""
    split = [row.partition(": ")[::2] for row in rows]
    named = {name for name, _ in split}
    split += [(name, "not counted") for name in given if name not in named]
    return [(name, int(said) if said.isdigit() else None, said) for name, said in split]


def _tables(given: excerpts.Views, manifest: ReleaseManifest | None) -> dict[str, tuple[str, int]]:
    """View name -> where its shards lie inside a release, and how many there are."""
    if manifest is None:
        return {}
    folders = {table.name: table.folder for table in TABLES}
    return {
        name: (f"{folders[name]}/*.parquet", len(files)) for name, files in given.items() if name in folders
    }


def _siblings(report: AuditReport) -> list[tuple[str, AuditInput]]:
    """Sibling tasks whose pages lie beside this one: (task, input)."""
    found = []
    for item in report.inputs:
        release, _, task = item.name.rpartition("/")
        is_task = item.role == "sibling" and item.kind == "release" and release == report.release
        if is_task and _SAFE_TASK.fullmatch(task) and task != report.task:
            found.append((task, item))
    return found
