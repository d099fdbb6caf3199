"""The command `takedown`: what was published is withdrawn, from every table and every later release."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from flows.cli.common import DEFAULT, OK, Common, DryRun, emit


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
