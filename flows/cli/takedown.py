"""The commands `takedown` and `sweep`: what was published is withdrawn, by name or as a source asks."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from flows.cli.common import DEFAULT, FINDING, OK, Common, DryRun, Overrides, Spec, emit, with_progress


def takedown(
    record: Annotated[
        str,
        Parameter(help="An article, figure, passage, patient, query or document id, or an image's SHA-256."),
    ],
    /,
    *,
    reason: Annotated[str, Parameter(help="Reason code, see docs/takedown.md.")],
    notice: Annotated[str, Parameter(help="One line for people; it is published.")] = "",
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Withdraw an article, figure, image, patient or row: no table or release holds it again."""
    from flows.takedown.takedown import describe
    from flows.takedown.takedown import takedown as work

    done = work(record, reason, notice=notice, dry_run=dry_run, workspace=common.root)
    emit(common, done, lambda: describe(done))
    return OK


def sweep(
    *, spec: Spec = None, overrides: Overrides = (), dry_run: DryRun = False, common: Common = DEFAULT
) -> int:
    """Ask the sources for retractions, concerns, corrections, changed licences and vanished articles."""
    from flows.specs import given_spec, parse_overrides
    from flows.takedown.sweep import describe
    from flows.takedown.sweep import sweep as work

    wanted = given_spec(spec, parse_overrides(overrides))
    done = with_progress(common, lambda: work(wanted, dry_run=dry_run, workspace=common.root))
    emit(common, done, lambda: describe(done, is_plan=dry_run))
    return FINDING if done["findings"] else OK
