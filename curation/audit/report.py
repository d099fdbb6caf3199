"""Runs every rule over one task directory, plants defects, states a verdict bound to the inputs' hashes."""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from curation.audit import defects
from curation.audit.checks import run_checks
from curation.audit.dataset import Dataset, open_release
from curation.audit.executor import SerialExecutor
from curation.audit.publishable import forbids
from curation.audit.rule import CannotRun, Context, Defect, Outcome, Rule
from curation.audit.rules import (
    answers,
    calibration,
    candidates,
    confusion_names,
    confusions,
    contamination,
    croissant,
    diagnostics,
    distractors,
    evidence,
    facet_results,
    facets,
    files,
    found_by,
    granularity,
    hidden,
    images,
    integrity,
    judgement,
    languages,
    layouts,
    leakage,
    merged_targets,
    mteb,
    multilingual,
    name_results,
    near_across_tasks,
    overlap,
    panels,
    pools,
    privacy,
    restricted,
    rights,
    runs,
    several_images,
    statistics,
    subsets,
    texts,
    translations,
    withdrawn,
)
from curation.published.query import QueryRunner
from schemas.audit import (
    AuditInput,
    AuditReport,
    CanaryResult,
    OverlapCell,
    RuleResult,
    RuleStatus,
    Severity,
    Verdict,
)
from schemas.errors import raise_if_of_machine

RULES: tuple[Rule, ...] = (
    *files.RULES,
    *croissant.RULES,
    *layouts.RULES,
    *integrity.RULES,
    *overlap.RULES,
    *leakage.RULES,
    *hidden.RULES,
    *answers.RULES,
    *confusions.RULES,
    *confusion_names.RULES,
    *found_by.RULES,
    *texts.RULES,
    *near_across_tasks.RULES,
    *merged_targets.RULES,
    *images.RULES,
    *several_images.RULES,
    *panels.RULES,
    *granularity.RULES,
    *facets.RULES,
    *evidence.RULES,
    *judgement.RULES,
    *candidates.RULES,
    *calibration.RULES,
    *pools.RULES,
    *distractors.RULES,
    *diagnostics.RULES,
    *runs.RULES,
    *facet_results.RULES,
    *name_results.RULES,
    *subsets.RULES,
    *rights.RULES,
    *withdrawn.RULES,
    *restricted.RULES,
    *privacy.RULES,
    *languages.RULES,
    *multilingual.RULES,
    *translations.RULES,
    *statistics.RULES,
    *mteb.RULES,
    *contamination.RULES,
)
_PICTURED = frozenset({*(rule.id for rule in images.RULES), "contaminated_images"})
"""Rules that run last: the pictures they need may be looked at by other processes meanwhile."""
SEPARATE: tuple[Rule, ...] = (*languages.RULES, *privacy.RULES, *statistics.RULES, *mteb.RULES)
"""Rules that ask only SQL and read every text: other processes may run them meanwhile."""
_LONGEST_REASON = 300
Ran = tuple[RuleResult, tuple[OverlapCell, ...]]


def audit(subject: Dataset | Path, query: QueryRunner, **options: Any) -> AuditReport:
    """Check one published task directory, or another dataset, from its files alone.

    Args, result and errors are those of `stepped`.
    """
    steps = stepped(subject, query, **options)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            report: AuditReport = end.value
            return report


def stepped(
    subject: Dataset | Path,
    query: QueryRunner,
    *,
    siblings: Sequence[Dataset] = (),
    against: Sequence[Dataset] = (),
    pool: Executor | None = None,
    scratch: Path | None = None,
    rules: Sequence[Rule] | None = None,
    plant: bool = True,
    planted: Callable[[], tuple[CanaryResult, ...]] | None = None,
    separate: Mapping[str, Callable[[], Ran]] | None = None,
    shared: dict[tuple[str, ...], Any] | None = None,
    progress: Callable[[str], None] = lambda rule: None,
) -> Generator[None, None, AuditReport]:
    """Check one published task directory, or another dataset, from its files alone, with one pause.

    The pause comes before what may still be under way in other processes: another audit can go on meanwhile.

    Args:
        subject: a task directory of ours, or any dataset opened by `curation.audit.layouts`.
        query: runs SQL over Parquet.
        siblings: the other tasks of the same release, for rules across tasks.
        against: other benchmarks, for contamination.
        pool: where comparing engines run their parts; in this process when not given.
        scratch: where copies and intermediate files go; the system's temporary folder when not given.
        rules: rules to run, all when not given.
        plant: whether defects are planted; without them the verdict is at best incomplete.
        planted: gives what came of `plant_defects` of the same datasets, if that was begun elsewhere.
        separate: rule id -> gives what `run_rule` said of the same datasets, for rules begun elsewhere.
        shared: what the audits of one command share; empty at first.
        progress: told each rule's id when the rule has run, and `defects` when they were planted.

    Returns:
        The report; the same files give the same report. Its hash is computed from the files as they are now,
        so a report on changed files never carries the original release's hash.

    Raises:
        ReleaseError: the directory has no readable release.json.
    """
    opened = open_release(subject) if isinstance(subject, Path) else subject
    chosen = RULES if rules is None else tuple(rules)
    with _scratch(scratch) as folder:
        held = {} if shared is None else shared
        given = Context(opened, query, folder, pool or SerialExecutor(), siblings, against, held)
        run = _Run(chosen, given, separate or {}, progress)
        run.first()
        yield
        results, cells = run.later()
        found: tuple[CanaryResult, ...] = ()
        if plant:
            found = planted() if planted else defects.run(chosen, given, run_rule)
            if _has_errors(results):
                found = defects.again(found, chosen, given, run_rule)
        progress("defects")
    results = [_proven(result, found) for result in results]
    manifest = opened.manifest
    forbidding = tuple(forbids(manifest, chosen, results, found, was_planted=plant))
    return AuditReport(
        release=f"{manifest.dataset}@{manifest.version}" if manifest else opened.name,
        task=opened.task,
        release_hash=opened.sha256,
        verdict=_verdict(results, found, plant),
        publishable=not forbidding,
        not_publishable_because=forbidding,
        rules=tuple(results),
        rows=tuple(_rows(given, opened)),
        inputs=tuple(
            AuditInput(
                name=item.name,
                role=item.role,
                kind=item.kind,
                sha256=item.sha256,
                rows=tuple(_rows(given, item)),
            )
            for item in (opened, *siblings, *against)
        ),
        canaries=found,
        matrix=cells,
    )


def plant_defects(
    subject: Dataset,
    query: QueryRunner,
    *,
    siblings: Sequence[Dataset] = (),
    against: Sequence[Dataset] = (),
    scratch: Path | None = None,
    shared: dict[tuple[str, ...], Any] | None = None,
    rules: Sequence[Rule] = RULES,
) -> tuple[CanaryResult, ...]:
    """Plant every defect of some rules into copies of a dataset's rows; can run beside the rest of an audit.

    Args and result are those of `audit`.
    """
    with _scratch(scratch) as folder:
        held = {} if shared is None else shared
        given = Context(subject, query, folder, SerialExecutor(), siblings, against, held)
        return defects.run(rules, given, run_rule)


@dataclasses.dataclass
class _Run:
    """The rules of one audit, in two parts; results are in the order of the rules."""

    chosen: Sequence[Rule]
    given: Context
    separate: Mapping[str, Callable[[], Ran]]
    progress: Callable[[str], None]
    made: dict[str, Ran] = dataclasses.field(default_factory=dict)

    def first(self) -> None:
        """Run the rules that wait for nothing, and forget the texts they shared."""
        for rule in self.chosen:
            if rule.id not in _PICTURED and rule.id not in self.separate:
                self._note(rule, run_rule(rule, self.given))
        for name in ("queries", "corpus"):
            vars(self.given).pop(name, None)

    def later(self) -> tuple[list[RuleResult], tuple[OverlapCell, ...]]:
        """Take what other processes made of the others; all results and matrix cells."""
        for rule in self.chosen:
            if rule.id in self.separate:
                self._note(rule, self.separate[rule.id]())
        for rule in self.chosen:
            if rule.id not in self.made:
                self._note(rule, run_rule(rule, self.given))
        ordered = [self.made[rule.id] for rule in self.chosen]
        return [result for result, _ in ordered], tuple(cell for _, found in ordered for cell in found)

    def _note(self, rule: Rule, ran: Ran) -> None:
        self.made[rule.id] = ran
        self.progress(rule.id)


@contextlib.contextmanager
def _scratch(given: Path | None) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="medqrels-audit-", dir=given) as folder:
        yield Path(folder)


def _has_errors(results: Sequence[RuleResult]) -> bool:
    return any(result.severity == "error" and result.status == "failed" for result in results)


def _verdict(results: Sequence[RuleResult], planted: Sequence[CanaryResult], was_planted: bool) -> Verdict:
    statuses = {result.status for result in results}
    if any(not item.is_found for item in planted):
        return "invalid"
    if _has_errors(results):
        return "findings"
    if "not_run" in statuses or not was_planted:
        return "incomplete"
    return "partial" if "not_covered" in statuses else "clean"


def _proven(result: RuleResult, planted: Sequence[CanaryResult]) -> RuleResult:
    """A rule that missed its own defect is not passed, whatever it said of the release."""
    missed = [item.canary for item in planted if item.rule == result.rule and not item.is_found]
    if not missed:
        return result
    note = f"did not find what was planted: {'; '.join(missed)}. {result.note}".strip()
    return dataclasses.replace(result, status="unproven", note=note)


def run_rule(rule: Rule, context: Context) -> Ran:
    """One rule; whatever stops it is written down as the reason why it did not run."""
    severity = rule.severity_for(context.subject.task)
    status: RuleStatus = "not_run"
    outcome = Outcome(0, 0)
    try:
        outcome = run_checks(rule, context)
        note = ". ".join(part for part in (outcome.note, outcome.missed, outcome.nothing) if part)
        status = _status(rule, outcome, severity)
        if status in ("not_covered", "not_applicable") and not note:
            note = f"nothing was compared: 0 {rule.unit}"
    except CannotRun as reason:
        status, note = reason.status, str(reason)
    except (
        Exception
    ) as error:  # files an auditor is handed can be broken in any way; that must be said, not raised
        raise_if_of_machine(error, context.directories)
        note = _reason(error, context.directory)
    result = RuleResult(
        rule=rule.id,
        version=rule.version,
        title=rule.title,
        definition=rule.definition,
        severity=severity,
        status=status,
        compared=outcome.compared,
        unit=rule.unit,
        found=outcome.found,
        findings=tuple(dataclasses.replace(item, severity=severity) for item in outcome.findings),
        note=note,
        coverage=outcome.coverage,
    )
    return result, outcome.matrix


def _status(rule: Rule, outcome: Outcome, severity: Severity) -> RuleStatus:
    """What an outcome comes to: without a finding a rule has passed only if it compared something.

    With nothing compared, a rule that looks at the audited files alone has nothing to say of them; one that
    looks for their rows elsewhere has not found out.
    """
    if outcome.found:
        return "declared" if severity == "declared" else "failed"
    if outcome.missed:
        return "not_covered"
    if outcome.compared:
        return "passed"
    is_elsewhere = any(isinstance(proof, Defect) and proof.second for proof in rule.defects)
    return "not_covered" if is_elsewhere and not outcome.nothing else "not_applicable"


def _reason(error: Exception, directory: Path) -> str:
    """First line of an error, without the place the directory happens to lie in."""
    lines = str(error).splitlines() or [""]
    text = lines[0].replace(str(directory), ".").replace(str(directory.resolve()), ".")
    return f"{type(error).__name__}: {text}"[:_LONGEST_REASON]


def _rows(context: Context, dataset: Dataset) -> list[str]:
    rows = []
    for name, files_of in dataset.views.items():
        try:
            counted = context.query(f'SELECT count(*) AS n FROM "{name}"', {name: files_of})
            rows.append(f"{name}: {next(iter(counted)).to_pylist()[0]['n']}")
        except Exception as error:  # see run_rule
            raise_if_of_machine(error, context.directories)
            rows.append(f"{name}: {_reason(error, dataset.directory)}")
    return rows
