"""The verb `audit`: a published release or another dataset, from its own files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from flows.cli.common import DEFAULT, FAILURE, FINDING, OK, Common, DryRun, emit, with_progress

if TYPE_CHECKING:
    from flows.engine.settings import Settings
    from schemas.audit import AuditReport

audit_app = App(name="audit", help_format="plaintext")


@audit_app.default
def audit(
    *releases: Annotated[
        str, Parameter(help="Task or version folders, NAME@VERSION, or another dataset's folder.")
    ],
    against: Annotated[
        tuple[str, ...],
        Parameter(
            help="Other benchmarks to look for: a release, a dataset folder, a JSONL file or a hash list.",
            consume_multiple=True,
        ),
    ] = (),
    report: Annotated[
        Path | None,
        Parameter(
            help="Also write the page here; of several tasks, NAME-TASK.html each. With --against, nothing "
            "is written beside the release."
        ),
    ] = None,
    verify: Annotated[
        Path | None,
        Parameter(help="Recompute the audit and compare it with this audit.json (one task only)."),
    ] = None,
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Check a published release from its own files; exit 1 when something is wrong."""
    from flows.engine.releases import task_directories
    from flows.engine.settings import load_settings
    from flows.engine.workspace import Workspace, check_writable
    from flows.inspect.audit import describe, has_errors, is_invalid, stated_in
    from schemas.errors import UsageError
    from schemas.record import to_dict

    if not releases:
        raise UsageError(
            "audit needs a release", hint="medqrels audit NAME@VERSION, or a path to a task folder"
        )
    settings = load_settings(workspace=common.workspace)
    directories = [
        item for name in releases for item in task_directories(name, Workspace(settings.workspace))
    ]
    if verify is not None and len(directories) != 1:
        raise UsageError("--verify takes one task folder", hint="name a single task folder")
    stated = stated_in(verify) if verify is not None else None
    pages = _pages(report, directories) if report is not None and not dry_run else {}
    for page in pages.values():
        check_writable(page, "--report")
    is_own = verify is None and not against  # what else was compared is no part of the published report
    results = _run(common, settings, directories, against, pages, keeps=is_own and not dry_run)
    if stated is not None:
        return _compare(common, stated, results[0], directories[0])
    emit(common, [to_dict(item) for item in results], lambda: describe(results))
    if is_invalid(results):
        return FAILURE
    return FINDING if has_errors(results) else OK


def _pages(report: Path, directories: list[Path]) -> dict[Path, Path]:
    """Where the page of each task goes: the named file, or one beside it per task."""
    from flows.engine.workspace import check_outside_releases
    from schemas.errors import UsageError

    check_outside_releases(report, "a --report")
    if len(directories) == 1:
        return {directories[0]: report}
    whole = [directory.resolve() for directory in directories]
    names = [directory.name for directory in whole]
    if len(set(names)) < len(names):
        names = [f"{directory.parent.name}-{directory.name}" for directory in whole]
    if len(set(names)) < len(names):
        raise UsageError(
            "--report would give several tasks the same page: their folders have the same names",
            hint="audit them one by one",
        )
    suffix = report.suffix or ".html"
    return {
        directory: report.with_name(f"{report.stem}-{name}{suffix}")
        for directory, name in zip(directories, names, strict=True)
    }


def _run(
    common: Common,
    settings: Settings,
    directories: list[Path],
    against: tuple[str, ...],
    pages: dict[Path, Path],
    *,
    keeps: bool,
) -> list[AuditReport]:
    """Audit the tasks one after the other; what is found is written beside each release if `keeps`."""
    from flows.engine.session import current_reporter
    from flows.engine.workspace import write_atomic
    from flows.inspect.audit import auditor, write

    def work() -> list[AuditReport]:
        done = []
        with auditor(
            against=against,
            memory_limit=settings.memory_limit,
            workers=settings.worker_count,
            reporter=current_reporter(),
        ) as machine:
            for directory, audited in machine.audit_all(directories, apart=bool(pages)):
                if keeps:
                    write(audited, directory)
                if directory in pages:
                    write_atomic(pages[directory], audited.page_apart.encode("utf-8", "surrogatepass"))
                done.append(audited.report)
        return done

    made: list[AuditReport] = with_progress(common, work)
    return made


def _compare(common: Common, stated: dict[str, Any], found: AuditReport, directory: Path) -> int:
    """Tell whether a stated report is what the files give, and if not, whether it is claimed to be here."""
    from curation.audit.verify import verify as differences_of
    from flows.engine.environment import unlike_here

    differences = differences_of(stated, found)
    note = unlike_here(directory) if differences else ""
    lines = [*map(str, differences), *([f"the release was {note}"] if note else [])]
    emit(
        common,
        {"verified": not differences, "differences": [str(item) for item in differences], "note": note},
        lambda: "\n".join(lines or ["the report holds: recomputed, equal"]),
    )
    return FINDING if differences else OK


@audit_app.command
def hashlist(
    dataset: Annotated[
        Path | None,
        Parameter(help="A dataset folder or file, in any layout `audit` reads, or of the recipe."),
    ] = None,
    out: Annotated[Path | None, Parameter(help="The Parquet file to write.")] = None,
    /,
    *,
    recipe: Annotated[
        str, Parameter(help="A named public benchmark, read by its own field names; `list` shows them all.")
    ] = "",
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Write n-gram hashes of a benchmark, without its texts, for `audit --against`."""
    from flows.inspect.audit import make_hash_list, recipes
    from schemas.errors import UsageError

    if recipe == "list":
        known = recipes()
        emit(common, known, "\n".join("{name}: {title}. {expects} ({source})".format(**row) for row in known))
        return OK
    if dataset is None or out is None:
        raise UsageError(
            "audit hashlist needs a dataset and an output file", hint="medqrels audit hashlist DATASET OUT"
        )
    if dry_run:
        emit(
            common,
            {"dataset": str(dataset), "out": str(out)},
            f"would write the hashes of {dataset} to {out}",
        )
        return OK
    made = make_hash_list(dataset, out, recipe)
    emit(common, made, lambda: "\n".join(f"{name}: {value}" for name, value in sorted(made.items())))
    return OK
