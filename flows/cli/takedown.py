"""The commands `takedown` and `sweep`: what was published is withdrawn, by name or as a source asks."""

from __future__ import annotations

import sys
from typing import Annotated, Any

from cyclopts import Parameter

from flows.cli.common import DEFAULT, FINDING, OK, Common, DryRun, Overrides, Spec, emit, with_progress
from schemas.errors import UsageError
from schemas.wording import visible


def takedown(
    record: Annotated[
        str,
        Parameter(help="An article, figure, passage, patient, query or document id, or an image's SHA-256."),
    ],
    /,
    *,
    reason: Annotated[str, Parameter(help="Reason code, see docs/takedown.md.")],
    notice: Annotated[str, Parameter(help="One line for people; it is published.")] = "",
    purge: Annotated[
        bool,
        Parameter(
            help="Delete it for good, too: raw bytes, old versions and their history wherever they were "
            "published.",
        ),
    ] = False,
    yes: Annotated[bool, Parameter(help="Do not ask before deleting for good.")] = False,
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Withdraw an article, figure, image, patient or row: no table or release holds it again."""
    if purge:
        return _purge(record, reason, notice, yes=yes, dry_run=dry_run, common=common)
    from flows.takedown.takedown import describe
    from flows.takedown.takedown import takedown as work

    done = work(record, reason, notice=notice, dry_run=dry_run, workspace=common.root)
    emit(common, done, lambda: describe(done))
    return OK


def _purge(record: str, reason: str, notice: str, *, yes: bool, dry_run: bool, common: Common) -> int:
    """Delete for good, after the id was typed once more."""
    from flows.takedown.purge import describe, purge

    def work(only_plan: bool) -> dict[str, Any]:
        return purge(record, reason, notice=notice, dry_run=only_plan, workspace=common.root)

    if not (dry_run or yes):
        if not sys.stdin.isatty():
            raise UsageError(
                "nobody is here to confirm", record=record, hint="look at --dry-run first, then add --yes"
            )
        print(visible(describe(work(True))), file=sys.stderr)
        print(f"Nothing brings it back. Type {record} to delete it for good: ", end="", file=sys.stderr)
        if sys.stdin.readline().strip() != record:
            raise UsageError("not confirmed: nothing was changed", record=record)
    done = with_progress(common, lambda: work(dry_run))
    emit(common, done, lambda: describe(done))
    return OK if dry_run or done["is_done"] else FINDING


def sweep(
    *, spec: Spec = None, overrides: Overrides = (), dry_run: DryRun = False, common: Common = DEFAULT
) -> int:
    """Ask the sources for retractions, concerns, corrections, changed licences and vanished articles."""
    from flows.specs import given_spec, parse_overrides
    from flows.takedown.sweep import check_answered, describe
    from flows.takedown.sweep import sweep as work

    wanted = given_spec(spec, parse_overrides(overrides))
    done = with_progress(common, lambda: work(wanted, dry_run=dry_run, workspace=common.root))
    emit(common, done, lambda: describe(done, is_plan=dry_run))
    check_answered(done)
    return FINDING if done["findings"] else OK
