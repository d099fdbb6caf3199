"""Plants the defects every rule must find into a small copy of the release, and checks that it finds them.

Where the release cannot show that a rule works (nothing to plant in, a broken table, the same defect already
there, other errors that hide it), an invented release is used instead: so a rule is proven on every run,
whatever it was handed, and one that misses what was planted fails the audit. See `copying`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from curation.audit.copying import Copy, Unusable, clone, cut, invent
from curation.audit.dataset import Dataset
from curation.audit.executor import SerialExecutor
from curation.audit.mending import empty
from curation.audit.rule import SECONDS, Canary, Context, Defect, Proof, Rows, Rule
from curation.published.query import Database, Sandbox, UnknownNameError
from schemas.audit import CanaryResult, Finding, OverlapCell, RuleResult

RunRule = Callable[[Rule, Context], tuple[RuleResult, tuple[OverlapCell, ...]]]
_LONGEST_NOTE = 300
_NOTHING, _INVENTED = "nothing there it could be planted in", "planted in invented rows: "
_SCRATCH, _UNDAMAGED = "scratch", "scratch-undamaged"
_DID_NOT_LOOK = frozenset({"not_run", "not_covered", "not_asked", "not_applicable"})


def run(rules: Sequence[Rule], context: Context, run_rule: RunRule) -> tuple[CanaryResult, ...]:
    """Plant and look for every canary of some rules, in their order.

    A rule that said nothing about the release (not applicable, not covered, not asked) still has its canaries
    planted: what it could find is proven all the same. A rule without canaries counts as one that missed.
    """
    with _field(context, run_rule) as field:
        results: list[CanaryResult] = []
        for rule in rules:
            results += field.results(rule)
            if not rule.defects:
                note = "the rule names no defect that it must find"
                results.append(CanaryResult(rule=rule.id, canary="none", is_found=False, note=note))
        return tuple(results)


def again(
    planted: Sequence[CanaryResult], rules: Sequence[Rule], context: Context, run_rule: RunRule
) -> tuple[CanaryResult, ...]:
    """Plant what was missed once more, in invented rows.

    For a release in which rules found errors: what is wrong there may hide what is planted beside it, and the
    verdict says that the release has errors, unless the rule finds nothing in sound rows either.
    """
    if all(item.is_found for item in planted):
        return tuple(planted)
    known = {(rule.id, proof.name): (of, proof) for rule in rules for of, proof in _each(rule)}
    with _field(context, run_rule, takes_own=False) as field:
        return tuple(
            item
            if item.is_found or (item.rule, item.canary) not in known
            else field.alone(*known[item.rule, item.canary], why=f"the release has errors: {item.note}")
            for item in planted
        )


def _each(rule: Rule) -> Iterator[tuple[Rule, Proof]]:
    """Every defect of a rule, with the rule reduced to the one check that must find it."""
    for canary in rule.canaries:
        yield rule, canary
    for check in rule.checks:
        alone = dataclasses.replace(rule, checks=(check,), canaries=())
        for proof in check.defects:
            yield alone, proof


@contextlib.contextmanager
def _field(context: Context, run_rule: RunRule, *, takes_own: bool = True) -> Iterator[_Field]:
    folder = context.scratch / "canaries"
    folder.mkdir(parents=True)
    small = dataclasses.replace(context, pool=SerialExecutor())  # a copy is too small to be shared out
    field = _Field(small, run_rule, folder, takes_own)
    try:
        yield field
    finally:
        field.close()
        shutil.rmtree(folder, ignore_errors=True)


@dataclasses.dataclass(frozen=True, slots=True)
class _Attempt:
    """What came of planting one canary in one copy; `is_found` is None when that proves nothing."""

    is_found: bool | None
    note: str = ""


class _Field:
    """The copies of one run, and what each rule says of them before anything is planted."""

    def __init__(self, context: Context, run_rule: RunRule, folder: Path, takes_own: bool) -> None:
        self.context = context
        self.run_rule = run_rule
        self.folder = folder
        self._tables: Sandbox | None = None
        self.before: dict[tuple[str, ...], frozenset[Finding]] = {}
        self.stored: dict[str, Context] = {}
        self.sound: dict[str, Context] = {}
        self._invented: Copy | None = None
        self.own: Copy | None = None
        self.no_own = ""
        if not takes_own:
            return
        try:
            self.own = cut(context, folder / "own")
        except Unusable as reason:
            self.no_own = str(reason)
        except Exception as error:  # a release can be broken in any way; its own rules say what is wrong
            self.no_own = f"the release could not be copied: {self._reason(error)}"

    @property
    def tables(self) -> Sandbox:
        """Where the tables of the copies may be damaged, opened when first needed.

        Raises:
            TypeError: what runs SQL lends no sandbox.
        """
        if self._tables is None:
            if not isinstance(self.context.query, Database):
                raise TypeError("defects are planted in a sandbox of the database, and this one lends none")
            self._tables = self.context.query.sandbox()
        return self._tables

    def close(self) -> None:
        """Let go of the tables."""
        if self._tables is not None:
            self._tables.close()

    @property
    def invented(self) -> Copy:
        """The invented release, made when first needed."""
        if self._invented is None:
            self._invented = invent(self.context, self.folder / "invented")
        return self._invented

    def results(self, rule: Rule) -> list[CanaryResult]:
        """Plant every canary of a rule: several at once where they cannot be mistaken, the others alone."""
        if rule.checks:
            return [self.alone(of, proof) for of, proof in _each(rule)]
        notes: dict[int, str] = {}
        for second in ("", *SECONDS):
            numbers = [
                number for number, item in enumerate(rule.canaries) if item.plant and item.second == second
            ]
            if len(numbers) < 2:
                continue
            why = self.no_own
            if self.own:
                found, numbers = self._together(rule, numbers, self.own)
                notes |= dict.fromkeys(found, "")
                why = _NOTHING
            if len(numbers) > 1:
                found, _ = self._together(rule, numbers, self.invented)
                notes |= dict.fromkeys(found, f"{_INVENTED}{why}"[:_LONGEST_NOTE])
        return [
            CanaryResult(rule=rule.id, canary=canary.name, is_found=True, note=notes[number])
            if number in notes
            else self.alone(rule, canary)
            for number, canary in enumerate(rule.canaries)
        ]

    def _together(self, rule: Rule, numbers: Sequence[int], base: Copy) -> tuple[set[int], list[int]]:
        """Numbers of the canaries found when all that name different rows are planted in one copy.

        A canary counts only by findings that were not there before and name no other canary's row. Beside
        them, the numbers of those that this copy has no place for.
        """
        rows, other = base.rows_to_damage(), base.no_rows()
        wanted: dict[int, frozenset[str]] = {}
        without: list[int] = []
        for number in numbers:
            trial, beside = rows.fork(), clone(other)
            try:
                plant = rule.canaries[number].plant
                planted = plant(trial, beside) if plant else None
            except Exception:  # it is planted alone later, and its reason kept
                continue
            ids = frozenset(planted or ())
            if planted is None:
                without.append(number)
            elif ids and not any(ids & taken for taken in wanted.values()):
                wanted[number], rows, other = ids, trial, beside
        if not wanted:
            return set(), without
        first = rule.canaries[numbers[0]]
        try:
            result, _ = self.run_rule(rule, self._given(first, base, rows, other))
            before = self._before(rule, first, base)
        except Exception:
            return set(), without
        new = [_named([finding]) for finding in result.findings if finding not in before]
        found: set[int] = set()
        for number, ids in wanted.items():
            others = frozenset().union(*(item for of, item in wanted.items() if of != number))
            if ids <= frozenset().union(*(names for names in new if not names & others)):
                found.add(number)
        return found, without

    def alone(self, rule: Rule, canary: Proof, why: str = "") -> CanaryResult:
        """Plant one defect: in the release's own rows, else, and `why`, in invented ones."""
        first = self._attempt(rule, canary, self.own) if self.own else _Attempt(None, why or self.no_own)
        if first.is_found is not None:
            return CanaryResult(rule=rule.id, canary=canary.name, is_found=first.is_found, note=first.note)
        second = self._attempt(rule, canary, self.invented)
        if second.is_found:
            note = f"{_INVENTED}{first.note}"[:_LONGEST_NOTE]
        else:
            note = f"{second.note} (in the release's own rows: {first.note})"
        return CanaryResult(
            rule=rule.id, canary=canary.name, is_found=bool(second.is_found), note=note[:_LONGEST_NOTE]
        )

    def _attempt(self, rule: Rule, canary: Proof, base: Copy) -> _Attempt:
        try:
            if isinstance(canary, Defect):
                with self._undone(base) as given:
                    ids: Sequence[str] | None = canary.ids(self.tables) or None
                    result, _ = self.run_rule(rule, self._beside(given, canary, ids)) if ids else (None, ())
            else:
                ids, given = self._planted(canary, base)
                result, _ = self.run_rule(rule, given) if ids else (None, ())
        except (
            UnknownNameError
        ) as error:  # there the release has no such column; the invented one has them all
            return _Attempt(None, _NOTHING if base is self.own else self._reason(error))
        except Exception as error:  # a defect that cannot be planted proves nothing; the reason is kept
            return _Attempt(None, f"could not be planted: {self._reason(error)}")
        if ids is None or result is None:
            return _Attempt(None, _NOTHING if ids is None else "the canary names no row")
        return self._compared(rule, canary, base, ids, result)

    @contextlib.contextmanager
    def _undone(self, base: Copy) -> Iterator[Context]:
        """A copy's tables in the sandbox, whole; what is done to them is undone at the end."""
        if base.name not in self.stored:
            self.tables.load(base.name, base.tables())
            self.stored[base.name] = self._context(base.stored(self.folder / "no-files"))
        with self.tables.undone(base.name):
            given = self.stored[base.name]
            yield dataclasses.replace(given, query=self.tables)

    def _beside(self, given: Context, defect: Defect, ids: Sequence[str]) -> Context:
        """The tables with another release.json or other files beside them."""
        subject = given.subject
        if defect.stated:
            subject = dataclasses.replace(
                subject, manifest=dataclasses.replace(given.manifest, **defect.stated)
            )
        if defect.files:
            directory = self.folder / "files"
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir()
            defect.files(directory, ids)
            subject = dataclasses.replace(subject, directory=directory)
        return given if subject is given.subject else dataclasses.replace(given, subject=subject)

    def _planted(self, canary: Canary, base: Copy) -> tuple[Sequence[str] | None, Context]:
        """A damaged copy on disk, and the ids the rule must name."""
        if canary.files:
            ids = canary.files(base.files_to_damage())
            return ids, self._context(base.reopened())
        rows, other = base.rows_to_damage(), base.no_rows()
        ids = canary.plant(rows, other) if canary.plant else None
        return ids, self.context if not ids else self._given(canary, base, rows, other)

    def _given(self, canary: Canary, base: Copy, rows: Rows, other: Rows, folder: str = _SCRATCH) -> Context:
        """Rows written out, with the dataset beside them that the canary needs."""
        given = self._context(base.write(rows, canary.second), folder)
        if not canary.second:
            return given
        second = base.write_second(other, canary.second)
        if canary.second == "sibling":
            return dataclasses.replace(given, siblings=(second,))
        return dataclasses.replace(given, against=(second,))

    def _context(self, subject: Dataset, folder: str = _SCRATCH) -> Context:
        """A copy to run one rule on, and an empty folder for what it writes."""
        scratch = self.folder / folder
        empty(scratch)
        return dataclasses.replace(self.context, subject=subject, scratch=scratch, siblings=(), against=())

    def _compared(
        self, rule: Rule, canary: Proof, base: Copy, ids: Sequence[str], result: RuleResult
    ) -> _Attempt:
        """Whether findings that were not there before name every id."""
        said = f"{result.status} {result.note}".strip()
        missing = sorted(set(ids) - _named(result.findings))
        if missing:
            note = f"not named: {', '.join(missing)}; the rule says: {said}"[:_LONGEST_NOTE]
            is_cut = result.found > len(result.findings)
            return _Attempt(None if is_cut or result.status in _DID_NOT_LOOK else False, note)
        if not _is_outside(canary) and not base.ids.intersection(ids):
            return _Attempt(True)
        before = self._before(rule, canary, base)
        if set(ids) <= _named([finding for finding in result.findings if finding not in before]):
            return _Attempt(True)
        return _Attempt(None, "the same was found before anything was planted")

    def _before(self, rule: Rule, canary: Proof, base: Copy) -> frozenset[Finding]:
        """What the rule, or its one check, finds in the undamaged copy."""
        kind = "tables" if isinstance(canary, Defect) else "files" if canary.files else canary.second
        key = (rule.id, *(check.name for check in rule.checks), base.name, kind)
        if key not in self.before:
            if isinstance(canary, Defect):
                with self._undone(base) as given:
                    findings = self.run_rule(rule, given)[0].findings
            else:
                findings = self.run_rule(rule, self._undamaged(canary, base))[0].findings
            self.before[key] = frozenset(findings)
        return self.before[key]

    def _undamaged(self, canary: Canary, base: Copy) -> Context:
        """The undamaged copy; where its files stay as they are, rules share what they have read of it."""
        if canary.files:
            base.files_to_damage()
            return self._context(base.reopened(), _UNDAMAGED)
        if canary.second:
            return self._given(canary, base, base.rows, base.no_rows(), _UNDAMAGED)
        if base.name not in self.sound:
            self.sound[base.name] = self._context(base.write(base.rows), f"{_SCRATCH}-{base.name}")
        return self.sound[base.name]

    def _reason(self, error: Exception) -> str:
        """Type and first line of an error, without the folders of this machine."""
        text = (str(error).splitlines() or [""])[0]
        for copy in (self.own, self._invented):
            for place in copy.places if copy else ():
                text = text.replace(str(place), "./planted")
        for place in (self.folder, self.context.directory):
            text = text.replace(str(place), ".")
        return f"{type(error).__name__}: {text}"[:_LONGEST_NOTE]


def _is_outside(proof: Proof) -> bool:
    """Whether the defect is, in part, none of the tables."""
    return bool(proof.stated) if isinstance(proof, Defect) else proof.files is not None


def _named(findings: Sequence[Finding]) -> set[str]:
    return {item.id for finding in findings for item in finding.sides}
