"""Runs the audit of published directories and writes its report and page beside the data."""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit import RULES, SEPARATE, plant_defects, render_page, run_rule, shared_out, stepped
from curation.audit.dataset import Dataset
from curation.audit.executor import SerialExecutor
from curation.audit.layouts import RECIPES, open_by_recipe, open_dataset, recipe_of, write_hash_list
from curation.audit.pictures import begin
from curation.audit.rule import Context
from curation.audit.verify import read_stated, to_bytes
from curation.published.links import home
from curation.published.manifest import AUDIT_JSON, NAME, read_manifest
from flows.engine.connection import query
from flows.engine.execution import new_pool
from flows.engine.progress import Reporter, SilentReporter
from flows.engine.scratch import own_temporary
from flows.engine.settings import kib_of
from flows.engine.workspace import check_outside_releases, write_atomic
from schemas.audit import AuditReport, CanaryResult
from schemas.errors import UsageError
from schemas.wording import counted

LARGE_ROWS = 50_000
LARGE_BYTES = 500_000_000
SEPARATE_MEMORY = "500MB"
"""Of the database of each process beside this one, and the least of the one here."""
PAGE = "audit.html"
_MOST_SHARES = 4
"""Processes that share the rules whose defects are planted: each makes the copies of every task anew."""


@dataclass(frozen=True, slots=True)
class Audited:
    """One report and the page that shows it."""

    report: AuditReport
    page: str
    page_apart: str = ""
    """The page without links to those of the sibling tasks, if it was asked for: it may lie anywhere."""


@dataclass(frozen=True, slots=True)
class _Opened:
    """The datasets of one audit, and a folder of its own."""

    subject: Dataset
    siblings: tuple[Dataset, ...]
    against: tuple[Dataset, ...]
    scratch: Path

    @property
    def datasets(self) -> list[Dataset]:
        return [self.subject, *self.siblings, *self.against]

    @property
    def folders(self) -> list[Path]:
        """Where the files of an audit lie; nothing else is read, whatever a foreign release holds.

        Of other layouts, tables were made beside the scratch folder.
        """
        return sorted({self.scratch.parent, *(home(dataset.directory) for dataset in self.datasets)})


@contextlib.contextmanager
def auditor(
    *,
    against: Sequence[str] = (),
    memory_limit: str = "2GB",
    workers: int = 1,
    reporter: Reporter | None = None,
) -> Iterator[Auditor]:
    """Something that audits directories one after the other, with other benchmarks opened once.

    Args:
        against: directories or files of other benchmarks.
        memory_limit: of DuckDB in all processes together, and of the texts that are compared in this one;
            beside others each database may hold 500 MB all the same.
        workers: processes for the comparing engines.
        reporter: where progress goes.

    Raises:
        UsageError: another benchmark's layout is not known.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(own_temporary())
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="medqrels-audit-")))
        pool: concurrent.futures.Executor | None = None
        if workers > 1:  # processes start when the first part is handed to them
            pool = stack.enter_context(new_pool(workers))
            memory_limit = _share_here(memory_limit, workers)
        others = []
        for number, name in enumerate(against):
            into = scratch / f"against-{number}"
            into.mkdir()
            others.append(open_dataset(Path(name), into, "against"))
        yield Auditor(tuple(others), memory_limit, pool, workers, scratch, reporter or SilentReporter(), {})


@dataclass(frozen=True, slots=True)
class Auditor:
    """What the audits of one command share."""

    against: tuple[Dataset, ...]
    memory_limit: str
    pool: concurrent.futures.Executor | None
    workers: int
    scratch: Path
    reporter: Reporter
    shared: dict[tuple[str, ...], Any]
    """Pictures are looked at once, and invented rows planted in once, however many audits ask."""

    def audit(self, directory: Path, given: Sequence[Path] = (), *, apart: bool = False) -> Audited:
        """Audit one task directory of ours, or another dataset, from its published files alone.

        Args:
            directory: a task folder, or a dataset in a layout of `curation.audit.layouts`.
            given: other directories named in the same command: those of the same release are siblings, as are
                the task folders beside this one.
            apart: whether to make the page for another place, too.
        """
        with self._opened(directory, given) as opened:
            return _ended(self._steps(opened, apart))

    def audit_all(
        self, directories: Sequence[Path], *, apart: bool = False
    ) -> Iterator[tuple[Path, Audited]]:
        """Audit several directories, each as `audit` does.

        With other processes, all first parts come before the second ones: while defects are planted and
        pictures compared elsewhere, this process reads the texts of one task after the other.
        """
        with contextlib.ExitStack() as opened:
            looked_at = [opened.enter_context(self._opened(path, directories)) for path in directories]
            if self.pool is None:
                for directory, audited in zip(directories, looked_at, strict=True):
                    yield directory, _ended(self._steps(audited, apart))
                return
            planting = self._planting(looked_at) if len(directories) > 1 else [None] * len(directories)
            begun = []
            for directory, audited, planted in zip(directories, looked_at, planting, strict=True):
                steps = self._steps(audited, apart, planted)
                opened.callback(steps.close)
                next(steps)
                begun.append((directory, steps))
            for directory, steps in begun:
                yield directory, _ended(steps)

    @contextlib.contextmanager
    def _opened(self, directory: Path, given: Sequence[Path]) -> Iterator[_Opened]:
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            subject = open_dataset(directory, Path(folder), "audited")
            beside = _siblings(subject, directory, given)
            siblings = tuple(open_dataset(path, Path(folder), "sibling") for path in beside)
            yield _Opened(subject, siblings, self.against, Path(folder))

    def _planting(self, opened: Sequence[_Opened]) -> list[Callable[[], tuple[CanaryResult, ...]]]:
        """What gives the defects of each audit, planted in other processes.

        Each process takes some rules through all of them: what was planted in invented rows is the same for
        all, and no two processes do it.
        """
        assert self.pool is not None
        shares = shared_out(RULES, min(self.workers, _MOST_SHARES))
        done = [self.pool.submit(_plant_all, opened, ids) for ids in shares]
        return [partial(_gathered, done, place) for place in range(len(opened))]

    def _steps(
        self,
        opened: _Opened,
        apart: bool,
        planted: Callable[[], tuple[CanaryResult, ...]] | None = None,
    ) -> Generator[None, None, Audited]:
        subject, datasets = opened.subject, opened.datasets
        pool = self.pool if _is_large(datasets) else None
        begun: dict[str, Any] = {"planted": planted}
        if pool is not None:  # before the pictures, of which there are many
            if planted is None:
                begun["planted"] = self._planting([opened])[0]
            begun["separate"] = {rule.id: pool.submit(_run_rule, rule.id, opened).result for rule in SEPARATE}
            begin(subject, opened.siblings, pool, self.shared)
        with self.reporter.stage(f"audit {subject.task}", len(RULES) + 1, "rules") as steps:
            report = yield from stepped(
                subject,
                query(self.memory_limit, opened.folders),
                siblings=opened.siblings,
                against=self.against,
                pool=pool,
                scratch=opened.scratch,
                shared=self.shared,
                progress=lambda rule: steps.advance(1, rule),
                **begun,
            )
        page = partial(render_page, report, subject.directory, datasets=datasets)
        return Audited(report, page(), page(links_siblings=False) if apart else "")


def _share_here(memory_limit: str, workers: int) -> str:
    """Half of what other databases leave of a limit; texts that are compared lie in this process, too."""
    whole, each = kib_of(memory_limit), kib_of(SEPARATE_MEMORY)
    return f"{max((whole - workers * each) // 2, min(whole, each))}KiB"


def _ended(steps: Generator[None, None, Audited]) -> Audited:
    """What a generator returns at its end."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            done: Audited = end.value
            return done


def _plant_all(opened: Sequence[_Opened], ids: frozenset[str]) -> list[tuple[CanaryResult, ...]]:
    """Defects of some rules in the copies of each audit, in another process."""
    shared: dict[tuple[str, ...], Any] = {}
    return [_plant(one, ids, shared) for one in opened]


def _plant(
    opened: _Opened, ids: frozenset[str], shared: dict[tuple[str, ...], Any]
) -> tuple[CanaryResult, ...]:
    return plant_defects(
        opened.subject,
        query(SEPARATE_MEMORY, opened.folders),
        siblings=opened.siblings,
        against=opened.against,
        scratch=opened.scratch,
        shared=shared,
        rules=[rule for rule in RULES if rule.id in ids],
    )


def _gathered(
    done: Sequence[concurrent.futures.Future[list[tuple[CanaryResult, ...]]]], place: int
) -> tuple[CanaryResult, ...]:
    """The defects of one audit, from all that share the rules, in their order."""
    found = [item for share in done for item in share.result()[place]]
    order = {rule.id: number for number, rule in enumerate(RULES)}
    return tuple(sorted(found, key=lambda item: order[item.rule]))


def _run_rule(rule_id: str, opened: _Opened) -> Any:
    """One rule, in another process."""
    rule = next(rule for rule in SEPARATE if rule.id == rule_id)
    asked = query(SEPARATE_MEMORY, opened.folders)
    context = Context(
        opened.subject, asked, opened.scratch, SerialExecutor(), opened.siblings, opened.against
    )
    return run_rule(rule, context)


def _is_large(datasets: Sequence[Dataset]) -> bool:
    """Whether starting processes, a second or two each, is worth it."""
    files = {
        path
        for dataset in datasets
        for table in ("queries", "corpus")
        for path in dataset.views.get(table, ())
    }
    rows = bytes_ = 0
    for path in files:
        try:
            rows += pq.read_metadata(path).num_rows
        except (OSError, pa.ArrowException):  # its rules will say so
            continue
        bytes_ += path.stat().st_size
    return rows > LARGE_ROWS or bytes_ > LARGE_BYTES


def write(audited: Audited, directory: Path) -> None:
    """Write report and page beside a release's data; folders of others are left as they are."""
    if (directory / NAME).is_file() and os.access(directory, os.W_OK):
        write_atomic(directory / AUDIT_JSON, to_bytes(audited.report))
        write_atomic(directory / PAGE, audited.page.encode("utf-8", "surrogatepass"))


def _siblings(subject: Dataset, directory: Path, given: Sequence[Path]) -> list[Path]:
    """Folders of the other tasks of the same release: named in the command, or beside this one."""
    if subject.manifest is None:
        return []
    wanted = set(subject.manifest.siblings)
    found: dict[str, Path] = {}
    beside = [directory.resolve().parent / name for name in sorted(wanted)]
    for path in (*given, *beside):
        if not (path / NAME).is_file() or path.resolve() == directory.resolve():
            continue
        manifest = read_manifest(path)
        is_same = (manifest.dataset, manifest.version) == (subject.manifest.dataset, subject.manifest.version)
        if is_same and manifest.task in wanted:
            found.setdefault(manifest.task, path)
    return [found[task] for task in sorted(found)]


def stated_in(path: Path) -> dict[str, Any]:
    """A stated audit.json, to be compared by `curation.audit.verify.verify`.

    Raises:
        UsageError: the file cannot be read.
    """
    try:
        return read_stated(path.read_bytes(), str(path))
    except OSError as error:
        raise UsageError(
            f"the report cannot be read: {error}", file=str(path), hint="give an audit.json"
        ) from error


def make_hash_list(source: Path, out: Path, recipe: str = "") -> dict[str, Any]:
    """Write the hash list of a benchmark; what it holds, and how many of its rows could not be read and why.

    Args:
        source: a dataset folder or file.
        out: the Parquet file to write.
        recipe: name of a recipe of `curation.audit.layouts.recipes`; any layout is recognised without.

    Raises:
        UsageError: the file would lie inside a release.
    """
    check_outside_releases(out, "a file")
    with own_temporary(), tempfile.TemporaryDirectory(prefix="medqrels-hashlist-") as folder:
        if recipe:
            opened = open_by_recipe(source, recipe_of(recipe), Path(folder))
        else:
            opened = open_dataset(source, Path(folder), "against")
        tool = f"medqrels {version('medqrels')}"
        made = dict(write_hash_list(opened, out, SerialExecutor(), tool=tool))
        problems = [path for path in opened.views.get("problems", ()) if path.is_file()]
        counted = Counter(
            reason for path in problems for reason in pq.read_table(path).column("reason").to_pylist()
        )
        return made | {"problems": dict(sorted(counted.items()))}


def recipes() -> list[dict[str, str]]:
    """Every recipe: name, title, forms with the fields they need, and where those were read."""
    return [
        {
            "name": item.name,
            "title": item.title,
            "expects": item.layout
            or "; or ".join(f"{form.what}: {', '.join(form.needed)}" for form in item.forms),
            "source": item.source,
        }
        for item in RECIPES
    ]


def describe(results: Sequence[AuditReport]) -> str:
    """The verdicts as text for people."""
    lines = []
    for result in results:
        lines.append(f"{result.release} {result.task}: {result.verdict}  ({result.release_hash[:16]})")
        planted = [item for item in result.canaries if item.is_found]
        lines.append(
            f"  {sum(rule.status == 'passed' for rule in result.rules)} of "
            f"{counted(len(result.rules), 'rule')} passed; "
            f"{len(planted)} of {counted(len(result.canaries), 'planted defect')} found"
        )
        for rule in result.rules:
            if rule.status not in ("passed", "not_applicable"):
                count = f"{rule.found} " if rule.found else ""
                lines.append(
                    f"  {rule.status:<11} {rule.severity:<8} {rule.rule}: {count}{rule.note}".rstrip()
                )
                lines += [f"    {finding.message}" for finding in rule.findings[:3]]
        lines += [
            f"  planted defect not found  {item.rule}: {item.canary}"
            for item in result.canaries
            if not item.is_found
        ]
        if not result.publishable and result.inputs and result.inputs[0].kind == "release":
            lines.append(f"  not publishable: {' '.join(result.not_publishable_because)}")
    return "\n".join(lines)


def has_errors(results: Sequence[AuditReport]) -> bool:
    """Whether any audit found an error or could not run a rule."""
    return any(result.verdict not in ("clean", "partial") for result in results)


def is_invalid(results: Sequence[AuditReport]) -> bool:
    """Whether any audit missed a defect it had planted itself."""
    return any(result.verdict == "invalid" for result in results)
