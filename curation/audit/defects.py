"""Plants the defects every rule must find into a small copy of the release, and checks that it finds them.

Where the release cannot show that a rule works (nothing to plant in, a broken table, the same defect already
there, other errors that hide it), an invented release is used instead: so a rule is proven on every run,
whatever it was handed, and one that misses what was planted fails the audit. See `copying`. Audits of one
command share what was planted in invented rows.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from curation.audit.copying import SIBLING, Copy, Unusable, cut, empty_second, invent, second
from curation.audit.dataset import Dataset
from curation.audit.executor import SerialExecutor
from curation.audit.rule import MAX_EXAMPLES, Context, Defect, FileDefect, Proof, Rule
from curation.published.query import Database, Sandbox, UnknownNameError
from schemas.audit import CanaryResult, Finding, OverlapCell, RuleResult
from schemas.errors import raise_if_of_machine

RunRule = Callable[[Rule, Context], tuple[RuleResult, tuple[OverlapCell, ...]]]
_Made = TypeVar("_Made")
_LONGEST_NOTE = 300
_AT_ONCE = MAX_EXAMPLES - 10
"""Fewer than a rule quotes."""
_WORK_OF_FILES = 6
_NOTHING, _INVENTED = "nothing there it could be planted in", "planted in invented rows: "
_DID_NOT_LOOK = frozenset({"not_run", "not_covered", "not_asked", "not_applicable"})


def shared_out(rules: Sequence[Rule], count: int) -> list[frozenset[str]]:
    """Ids of the rules in shares of about the same work, for as many processes.

    Those that damage files come together: what is damaged is written once in each process.
    """
    work = {rule.id: sum(_work(proof) for proof in rule.defects) for rule in rules}
    total, done = sum(work.values()), 0
    shares: list[set[str]] = [set() for _ in range(count)]
    for rule in sorted(rules, key=lambda rule: not any(isinstance(one, FileDefect) for one in rule.defects)):
        shares[done * count // total].add(rule.id)
        done += work[rule.id]
    return [frozenset(share) for share in shares if share]


def _work(proof: Proof) -> int:
    """About what it takes to plant and find a defect, by measurement; one in tables is 1."""
    return _WORK_OF_FILES if isinstance(proof, FileDefect) else 1


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
            else field.result(*known[item.rule, item.canary], why=f"the release has errors: {item.note}")
            for item in planted
        )


def _each(rule: Rule) -> Iterator[tuple[Rule, Proof]]:
    """Every defect of a rule, with the rule reduced to the one check that must find it."""
    for check in rule.checks:
        alone = dataclasses.replace(rule, checks=(check,))
        for proof in check.defects:
            yield alone, proof


def _alike(proofs: Sequence[Proof]) -> Iterator[list[Defect]]:
    """Defects in tables alone that may be planted together: what is beside them is in the same role."""
    of: dict[str, list[Defect]] = {}
    for proof in proofs:
        if isinstance(proof, Defect) and not (proof.stated or proof.files):
            of.setdefault(proof.second, []).append(proof)
    for alike in of.values():
        yield from (alike[start : start + _AT_ONCE] for start in range(0, len(alike), _AT_ONCE))


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
    """The copies of one run, and what each check says of them before anything is planted."""

    def __init__(self, context: Context, run_rule: RunRule, folder: Path, takes_own: bool) -> None:
        self.context = context
        self.run_rule = run_rule
        self.folder = folder
        self.folders = itertools.count()
        self.empty: Path | None = None
        self.before: dict[tuple[str, ...], frozenset[Finding]] = {}
        self.whole: dict[str, Context] = {}
        self._tables: Sandbox | None = None
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
            raise_if_of_machine(error, self.context.directories)
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
        """Every defect of a rule, each alone but for those of a check that takes many at once."""
        found: dict[str, str] = {}
        for check in rule.checks:
            for proofs in _alike(check.defects) if check.at_once else ():
                found |= self._together(dataclasses.replace(rule, checks=(check,)), proofs)
        return [
            CanaryResult(rule=rule.id, canary=proof.name, is_found=True, note=found[proof.name])
            if proof.name in found
            else self.result(of, proof)
            for of, proof in _each(rule)
        ]

    def _together(self, rule: Rule, proofs: Sequence[Defect]) -> dict[str, str]:
        """Names of the defects that are found when all are planted, each with a note.

        Those that have no place in the release's own rows are planted in invented ones.
        """
        found, nowhere = self._at_once(rule, proofs, self.own) if self.own else (set(), proofs)
        names = (proof.name for proof in nowhere)
        others = self._shared(
            lambda: self._at_once(rule, nowhere, self.invented)[0], rule, "together", *names
        )
        note = f"{_INVENTED}{_NOTHING if self.own else self.no_own}"[:_LONGEST_NOTE]
        return dict.fromkeys(found, "") | dict.fromkeys(others, note)

    def _at_once(self, rule: Rule, proofs: Sequence[Defect], base: Copy) -> tuple[set[str], list[Defect]]:
        """Names of the defects that are found when all are planted, and those that have no place there.

        Each counts only by findings that were not there before and name no row of another.
        """
        if not proofs:
            return set(), []
        wanted: dict[str, set[str]] = {}
        try:
            with self._undone(base, proofs[0].second):
                for proof in proofs:
                    wanted[proof.name] = set(proof.ids(self.tables))
                if not any(wanted.values()):
                    return set(), list(proofs)
                findings = self.run_rule(rule, self._given(proofs[0], base, ()))[0].findings
            is_new = base.ids.isdisjoint(set().union(*wanted.values()))
            before = frozenset() if is_new else self._before(rule, proofs[0], base)
        except UnknownNameError:  # the others without the one that has no place here
            at = len(wanted)
            rest = [*proofs[:at], *proofs[at + 1 :]] if at < len(proofs) else []
            found, nowhere = self._at_once(rule, rest, base)
            return found, [*proofs[at : at + 1], *nowhere]
        except Exception as error:  # each is planted alone later, and the reason kept
            raise_if_of_machine(error, self.context.directories)
            return set(), []
        new = [_named([finding]) for finding in findings if finding not in before]
        found = set()
        for name, ids in wanted.items():
            others = set().union(*(rows for of, rows in wanted.items() if of != name))
            if ids and ids <= set().union(*(names for names in new if not names & others)):
                found.add(name)
        return found, [proof for proof in proofs if not wanted[proof.name]]

    def result(self, rule: Rule, proof: Proof, why: str = "") -> CanaryResult:
        """Plant one defect: in the release's own rows, else, and `why`, in invented ones."""
        first = self._attempt(rule, proof, self.own) if self.own else _Attempt(None, why or self.no_own)
        if first.is_found is not None:
            return CanaryResult(rule=rule.id, canary=proof.name, is_found=first.is_found, note=first.note)
        second = self._shared(lambda: self._attempt(rule, proof, self.invented), rule, "alone", proof.name)
        if second.is_found:
            note = f"{_INVENTED}{first.note}"[:_LONGEST_NOTE]
        else:
            note = f"{second.note} (in the release's own rows: {first.note})"
        return CanaryResult(
            rule=rule.id, canary=proof.name, is_found=bool(second.is_found), note=note[:_LONGEST_NOTE]
        )

    def _shared(self, make: Callable[[], _Made], rule: Rule, how: str, *names: str) -> _Made:
        """What came of planting defects in invented rows, which are the same for every audit of a command."""
        key = (f"planted in invented rows, {how}", rule.id, *(check.name for check in rule.checks), *names)
        if key not in self.context.shared:
            self.context.shared[key] = make()
        made: _Made = self.context.shared[key]
        return made

    def _attempt(self, rule: Rule, proof: Proof, base: Copy) -> _Attempt:
        try:
            if isinstance(proof, FileDefect):
                directory = base.files_to_damage()
                ids = proof.damage(directory)
                given = self._context(base.reopened(directory))
                result = self.run_rule(rule, given)[0] if ids else None
            else:
                with self._undone(base, proof.second):
                    ids = proof.ids(self.tables) or None
                    result = self.run_rule(rule, self._given(proof, base, ids))[0] if ids else None
        except UnknownNameError as error:  # there the release has no such column; the invented one has them
            return _Attempt(None, _NOTHING if base is self.own else self._reason(error))
        except Exception as error:  # a defect that cannot be planted proves nothing; the reason is kept
            raise_if_of_machine(error, self.context.directories)
            return _Attempt(None, f"could not be planted: {self._reason(error)}")
        if ids is None or result is None:
            return _Attempt(None, _NOTHING if ids is None else "the defect names no row")
        return self._compared(rule, proof, base, ids, result)

    @contextlib.contextmanager
    def _undone(self, base: Copy, role: str = "") -> Iterator[Context]:
        """A copy's tables in the sandbox, whole; what is done to them is undone at the end."""
        if base.name not in self.whole:
            self.tables.load(base.name, base.tables())
            nowhere = self.folder / "nowhere"
            nowhere.mkdir(exist_ok=True)
            self.whole[base.name] = dataclasses.replace(
                self._context(base.stored(nowhere)), query=self.tables
            )
        if role and "second" not in self.whole:
            self.tables.load("second", empty_second())
            self.whole["second"] = self.whole[base.name]
        self.whole[base.name].scratch = self._folder()
        with self.tables.undone(base.name):
            yield self.whole[base.name]

    def _given(self, proof: Defect, base: Copy, ids: Sequence[str]) -> Context:
        """The tables as they are, with what the defect put beside them."""
        given = self.whole[base.name]
        subject = given.subject
        role = proof.second
        if role == "sibling" and subject.manifest is not None:
            subject = dataclasses.replace(
                subject, manifest=dataclasses.replace(subject.manifest, siblings=(SIBLING,))
            )
        if proof.stated:
            subject = dataclasses.replace(
                subject, manifest=dataclasses.replace(given.manifest, **proof.stated)
            )
        if proof.files:
            directory = self._folder()
            proof.files(directory, ids)
            subject = dataclasses.replace(subject, directory=directory)
        given = self._fresh(dataclasses.replace(given, subject=subject))
        if not role:
            return given
        other = (second(base, self.tables, role, given),)
        if role == "sibling":
            return dataclasses.replace(given, siblings=other)
        return dataclasses.replace(given, against=other)

    def _folder(self) -> Path:
        """An empty folder: one that was written to is left, as a reader may know its files."""
        if self.empty is None or any(self.empty.iterdir()):
            self.empty = self.folder / f"scratch-{next(self.folders)}"
            self.empty.mkdir()
        return self.empty

    def _context(self, subject: Dataset) -> Context:
        """A copy to run one rule on, and an empty folder for what it writes."""
        return self._fresh(dataclasses.replace(self.context, subject=subject, siblings=(), against=()))

    def _fresh(self, context: Context) -> Context:
        return dataclasses.replace(context, scratch=self._folder())

    def _compared(
        self, rule: Rule, proof: Proof, base: Copy, ids: Sequence[str], result: RuleResult
    ) -> _Attempt:
        """Whether findings that were not there before name every id."""
        said = f"{result.status} {result.note}".strip()
        missing = sorted(set(ids) - _named(result.findings))
        if missing:
            note = f"not named: {', '.join(missing)}; the rule says: {said}"[:_LONGEST_NOTE]
            is_cut = result.found > len(result.findings)
            return _Attempt(None if is_cut or result.status in _DID_NOT_LOOK else False, note)
        if not _is_outside(proof) and not base.ids.intersection(ids):
            return _Attempt(True)
        before = self._before(rule, proof, base)
        if set(ids) <= _named([finding for finding in result.findings if finding not in before]):
            return _Attempt(True)
        return _Attempt(None, "the same was found before anything was planted")

    def _before(self, rule: Rule, proof: Proof, base: Copy) -> frozenset[Finding]:
        """What the rule, or its one check, finds in the undamaged copy."""
        kind = "files" if isinstance(proof, FileDefect) else proof.second
        key = (rule.id, *(check.name for check in rule.checks), base.name, kind)
        if key not in self.before:
            if kind == "files":
                given = self._context(base.reopened(base.files()))
                findings = self.run_rule(rule, given)[0].findings
            elif kind:
                with self._undone(base, kind):
                    given = self._given(Defect("nothing", "", second=kind), base, ())
                    findings = self.run_rule(rule, given)[0].findings
            else:
                with self._undone(base) as given:  # shares what rules have read of it
                    findings = self.run_rule(rule, given)[0].findings
            self.before[key] = frozenset(findings)
        return self.before[key]

    def _reason(self, error: Exception) -> str:
        """Type and first line of an error, without the folders of this machine."""
        text = (str(error).splitlines() or [""])[0]
        for place in (self.folder, self.context.directory):
            text = text.replace(str(place), ".")
        return f"{type(error).__name__}: {text}"[:_LONGEST_NOTE]


def _is_outside(proof: Proof) -> bool:
    """Whether the defect is, in part, none of the tables."""
    return isinstance(proof, FileDefect) or bool(proof.stated)


def _named(findings: Sequence[Finding]) -> set[str]:
    return {item.id for finding in findings for item in finding.sides}
