"""The verb `audit`: a published release or another dataset, from its own files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from flows.cli_common import DEFAULT, FAILURE, FINDING, OK, Common, DryRun, emit, with_progress

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
    report: Annotated[Path | None, Parameter(help="Also write the page here (one task only).")] = None,
    verify: Annotated[
        Path | None, Parameter(help="Compare with this audit.json instead of writing one (one task only).")
    ] = None,
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Check a published release from its own files; exit 1 when something is wrong."""
    from curation.audit.verify import verify as differences_of
    from flows.auditing import auditor, describe, has_errors, is_invalid, stated_in, task_directories, write
    from flows.session import current_reporter
    from flows.settings import load_settings
    from flows.workspace import Workspace, write_atomic
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
    for name, given in (("--report", report), ("--verify", verify)):
        if given is not None and len(directories) != 1:
            raise UsageError(f"{name} takes one task folder", hint="name a single task folder")

    stated = stated_in(verify) if verify is not None else None

    def work() -> list[Any]:
        with auditor(
            against=against,
            memory_limit=settings.memory_limit,
            workers=settings.worker_count,
            reporter=current_reporter(),
        ) as machine:
            made = []
            for directory, done in machine.audit_all(directories, links_siblings=report is None):
                if not dry_run and verify is None:
                    write(done, directory)
                if report is not None and not dry_run:
                    write_atomic(report, done.page.encode("utf-8", "surrogatepass"))
                made.append(done.report)
            return made

    results = with_progress(common, work)
    if stated is not None:
        differences = differences_of(stated, results[0])
        emit(
            common,
            {"verified": not differences, "differences": [str(item) for item in differences]},
            lambda: "\n".join(
                ["the report holds: recomputed, equal"] if not differences else map(str, differences)
            ),
        )
        return FINDING if differences else OK
    emit(common, [to_dict(item) for item in results], lambda: describe(results))
    if is_invalid(results):
        return FAILURE
    return FINDING if has_errors(results) else OK


@audit_app.command
def hashlist(
    dataset: Annotated[Path, Parameter(help="A dataset folder or file, in any layout `audit` reads.")],
    out: Annotated[Path, Parameter(help="The Parquet file to write.")],
    /,
    *,
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Write n-gram hashes of a benchmark, without its texts, for `audit --against`."""
    from flows.auditing import make_hash_list

    if dry_run:
        emit(
            common,
            {"dataset": str(dataset), "out": str(out)},
            f"would write the hashes of {dataset} to {out}",
        )
        return OK
    made = make_hash_list(dataset, out)
    emit(common, made, lambda: "\n".join(f"{name}: {value}" for name, value in sorted(made.items())))
    return OK
