"""Runs every rule over one task directory and states a verdict bound to the release hash."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from curation.release.audit import evidence, files, integrity, rights, texts
from curation.release.audit.rule import CannotRun, Context, Rule
from curation.release.manifest import hash_files, read_manifest
from curation.release.query import QueryRunner
from curation.release.tables import TABLES
from schemas.audit import AuditReport, Finding, RuleResult, RuleStatus

RULES: tuple[Rule, ...] = (*files.RULES, *integrity.RULES, *rights.RULES, *texts.RULES, *evidence.RULES)
_LONGEST_REASON = 300


def audit(directory: Path, query: QueryRunner) -> AuditReport:
    """Check one published task directory from its files alone.

    Args:
        directory: holds README.md, release.json and the tables.
        query: runs SQL over Parquet.

    Returns:
        The report; the same files give the same report. Its hash is computed from the files as they are now,
        so a report on changed files never carries the original release's hash.

    Raises:
        ReleaseError: the directory has no readable release.json.
    """
    manifest = read_manifest(directory)
    actual = dataclasses.replace(manifest, files=hash_files(directory))
    context = Context(directory, manifest, query)
    results = tuple(_run(rule, context) for rule in RULES)
    failed = any(result.severity == "error" and result.status == "failed" for result in results)
    not_run = any(result.status == "not_run" for result in results)
    return AuditReport(
        release=f"{manifest.dataset}@{manifest.version}",
        task=manifest.task,
        release_hash=actual.computed_hash(),
        verdict="findings" if failed else "incomplete" if not_run else "clean",
        publishable=manifest.publishable and not any(result.status == "declared" for result in results),
        rules=results,
        rows=tuple(_rows(context)),
    )


def _run(rule: Rule, context: Context) -> RuleResult:
    """One rule; whatever stops it is written down as the reason why it did not run."""
    compared, found = 0, 0
    findings: tuple[Finding, ...] = ()
    status: RuleStatus
    try:
        outcome = rule.check(context)
        compared, found, findings, note = outcome.compared, outcome.found, outcome.findings, outcome.note
        status = "passed" if not found else "declared" if rule.severity == "declared" else "failed"
    except CannotRun as reason:
        status, note = "not_run", str(reason)
    except (
        Exception
    ) as error:  # files an auditor is handed can be broken in any way; that must be said, not raised
        status, note = "not_run", _reason(error, context.directory)
    return RuleResult(
        rule=rule.id,
        version=rule.version,
        title=rule.title,
        definition=rule.definition,
        severity=rule.severity,
        status=status,
        compared=compared,
        unit=rule.unit,
        found=found,
        findings=findings,
        note=note,
    )


def _reason(error: Exception, directory: Path) -> str:
    """First line of an error, without the place the directory happens to lie in."""
    lines = str(error).splitlines() or [""]
    text = lines[0].replace(str(directory), ".").replace(str(directory.resolve()), ".")
    return f"{type(error).__name__}: {text}"[:_LONGEST_REASON]


def _rows(context: Context) -> list[str]:
    rows = []
    for table in TABLES:
        if table.name in context.views:
            try:
                rows.append(f"{table.name}: {context.count(table.name)}")
            except Exception as error:  # see _run
                rows.append(f"{table.name}: {_reason(error, context.directory)}")
    return rows
