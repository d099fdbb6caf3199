"""The command `publish`: a release to the Hub, a folder or S3."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from flows.cli.common import DEFAULT, OK, Common, DryRun, emit, with_progress


def publish(
    release: Annotated[str, Parameter(help="NAME@VERSION, or the folder of a version.")],
    /,
    *,
    to: Annotated[
        str,
        Parameter(
            help="hf:ORG, a user or organization of the Hugging Face Hub; a folder; or s3://BUCKET/PREFIX."
        ),
    ],
    private: Annotated[
        bool, Parameter(help="Make new repositories of the Hub and the collection private.")
    ] = False,
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Publish an audited release: to the Hub, a repository per task, tagged; or to a folder or S3."""
    from flows.publish.publish import publish as work

    done = with_progress(
        common,
        lambda: work(release, to, private=private, dry_run=dry_run, workspace=common.workspace),
    )

    def told() -> str:
        from flows.publish import hub, place

        describe = hub.describe if "endpoint" in done else place.describe
        head = f"{done['dataset']}@{done['version']} to {done['to']}"
        head += f" ({done['endpoint']})" if "endpoint" in done else ""
        tail = "" if dry_run or done["sent"] else "\nnothing was sent: all of it is there"
        return f"{head}\n{describe(done['repositories'], is_plan=dry_run)}{tail}"

    emit(common, done, told)
    return OK
