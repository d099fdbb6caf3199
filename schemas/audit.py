"""What an audit says: findings per rule, coverage, canaries, overlap matrix, a verdict bound to hashes."""

from __future__ import annotations

from typing import Literal

from schemas.overlap_policy import Dimension, Level
from schemas.record import column, record

Severity = Literal["error", "warn", "declared"]
RuleStatus = Literal[
    "passed", "failed", "declared", "not_run", "not_covered", "not_asked", "not_applicable", "unproven"
]
"""not_run: should have run and could not. not_covered: needs what these files do not hold (an absent sibling
task, a table another layout lacks). not_asked: needs an input the user did not name (`--against`).
not_applicable: the rule has nothing to say about this task. unproven: a canary of the rule was not found."""
Verdict = Literal["clean", "partial", "findings", "incomplete", "invalid"]
"""clean: no error, every rule ran. partial: no error, some rules not covered. findings: at least one error.
incomplete: a rule could not run. invalid: a canary was not found, so no result of this run counts."""
Role = Literal["audited", "sibling", "against"]
Kind = Literal["release", "mteb", "beir", "jsonl", "images", "hashlist"]


@record
class Side:
    """One side of a finding: which row, which words."""

    table: str = column("published table, e.g. corpus")
    id: str = column("row id")
    start: int | None = column("offset of the quoted words in the row's text", default=None)
    end: int | None = column("offset after them", default=None)
    quote: str = column("the words, at most 300 characters", default="")
    dataset: str = column("name of the input the row is in, '' for the audited one", default="")


@record
class Finding:
    """One violation of one rule."""

    rule: str = column("rule id")
    severity: Severity = column("error, warn or declared")
    message: str = column("one sentence")
    sides: tuple[Side, ...] = column("the rows concerned", default=())


@record
class Coverage:
    """What one rule looked at, and what it left out and why."""

    compared_with: str = column("name of the other input, '' when the rule looks at the audited files alone")
    compared: int = column("how many rows, pairs or images were looked at")
    unit: str = column("what was counted: rows, pairs, images, …")
    skipped: int = column("how many were left out", default=0)
    why: str = column("why they were left out, '' when none was", default="")


@record
class RuleResult:
    """What one rule compared and found."""

    rule: str = column("rule id")
    version: int = column("rule version")
    title: str = column("short name")
    definition: str = column("what is checked, one or two sentences")
    severity: Severity = column("severity of its findings for this task")
    status: RuleStatus = column("a rule that could not run is not_run, never passed")
    compared: int = column("how many rows or pairs were looked at")
    unit: str = column("what was counted: rows, pairs, images, …")
    found: int = column("how many findings, before any cap on examples")
    findings: tuple[Finding, ...] = column("findings, at most 50 a rule", default=())
    note: str = column("what was not covered and why", default="")
    coverage: tuple[Coverage, ...] = column("per other input, and what was left out", default=())


@record
class CanaryResult:
    """One defect planted into a copy of the release, and whether its rule found it."""

    rule: str = column("rule id")
    canary: str = column("what was planted, e.g. 'a span of 13 words copied into another task'")
    is_found: bool = column("whether the rule named the planted row")
    note: str = column("what the rule said instead, or why nothing could be planted", default="")


@record
class AuditInput:
    """One set of files the audit read."""

    name: str = column("<dataset>@<version>/<task>, or the name of the folder or file")
    role: Role = column("audited, sibling (other task of the release) or against (other benchmark)")
    kind: Kind = column("layout of the files")
    sha256: str = column("release hash, or hash over names and bytes of all files")
    rows: tuple[str, ...] = column("'table: count' of what was read", default=())


@record
class OverlapCell:
    """How much two parts share along one dimension; a part is a split of a task, or another benchmark."""

    dimension: Dimension = column("what is compared")
    one: str = column("<task>/<split> of the audited release")
    other: str = column("<task>/<split> of it or a sibling, or the name of another benchmark")
    level: Level = column("what the overlap policy asks for this pair")
    shared: int | None = column("keys both have; null when it could not be compared")
    keys: int = column("keys of the smaller part", default=0)


@record
class AuditReport:
    """The whole report of one task directory."""

    release: str = column("dataset name and version")
    task: str = column("task name")
    release_hash: str = column("hash the report is bound to")
    verdict: Verdict = column("clean: no error, every rule ran")
    publishable: bool = column("by content, without an error, and every required rule ran and was proven")
    rules: tuple[RuleResult, ...] = column("results in rule order")
    rows: tuple[str, ...] = column("'table: count' of what was read", default=())
    inputs: tuple[AuditInput, ...] = column("everything that was read, the audited files first", default=())
    canaries: tuple[CanaryResult, ...] = column("planted defects in rule order", default=())
    matrix: tuple[OverlapCell, ...] = column("overlap between parts, along every dimension", default=())
    version: int = column("version of the audit as a whole", default=3)
    not_publishable_because: tuple[str, ...] = column("what forbids publishing, in sentences", default=())
