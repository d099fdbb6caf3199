"""What an audit says: findings per rule, coverage, and a verdict bound to the release hash."""

from __future__ import annotations

from typing import Literal

from schemas.record import column, record

Severity = Literal["error", "warn", "declared"]
RuleStatus = Literal["passed", "failed", "declared", "not_run"]


@record
class Side:
    """One side of a finding: which row, which words."""

    table: str = column("published table, e.g. corpus")
    id: str = column("row id")
    start: int | None = column("offset of the quoted words in the row's text", default=None)
    end: int | None = column("offset after them", default=None)
    quote: str = column("the words, at most 300 characters", default="")


@record
class Finding:
    """One violation of one rule."""

    rule: str = column("rule id")
    severity: Severity = column("error, warn or declared")
    message: str = column("one sentence")
    sides: tuple[Side, ...] = column("the rows concerned", default=())


@record
class RuleResult:
    """What one rule compared and found."""

    rule: str = column("rule id")
    version: int = column("rule version")
    title: str = column("short name")
    definition: str = column("what is checked, one or two sentences")
    severity: Severity = column("severity of its findings")
    status: RuleStatus = column("a rule that could not run is not_run, never passed")
    compared: int = column("how many rows or pairs were looked at")
    unit: str = column("what was counted: rows, pairs, images, …")
    found: int = column("how many findings, before any cap on examples")
    findings: tuple[Finding, ...] = column("findings, at most 50 a rule", default=())
    note: str = column("what was not covered and why", default="")


@record
class AuditReport:
    """The whole report of one task directory."""

    release: str = column("dataset name and version")
    task: str = column("task name")
    release_hash: str = column("hash the report is bound to")
    verdict: Literal["clean", "findings", "incomplete"] = column("clean: no error, every rule ran")
    publishable: bool = column("false when a declared finding forbids publishing")
    rules: tuple[RuleResult, ...] = column("results in rule order")
    rows: tuple[str, ...] = column("'table: count' of what was read", default=())
