"""The verb `rebuild`: proves a release from what was recorded of its making."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter

from flows.cli.common import DEFAULT, FINDING, OK, Common, emit, with_progress
from schemas.errors import UsageError


def rebuild(
    release: Annotated[str, Parameter(help="The release, as NAME@VERSION.")],
    /,
    *,
    check: Annotated[
        bool, Parameter(help="Compare what is built with the release; it is left as it is.")
    ] = False,
    common: Common = DEFAULT,
) -> int:
    """Build a release again, aside, from raw/ and what was recorded, and compare every byte."""
    if not check:
        raise UsageError(
            "rebuild proves a release, it replaces none", hint=f"medqrels rebuild {release} --check proves it"
        )
    from flows.release.rebuild import rebuild as rebuild_release

    result = with_progress(common, lambda: rebuild_release(release, common.root))
    emit(common, result, lambda: _told(result))
    return OK if result["is_equal"] else FINDING


def _told(result: dict[str, Any]) -> str:
    """The verdict; where a byte differs, the first place and the stage it comes from."""
    whole = f"{result['files']:,} files, {result['bytes']:,} bytes, {len(result['tasks'])} tasks"
    code = "" if result["same_code"] else "; the program has changed since, these bytes have not"
    if result["is_equal"]:
        return f"{result['release']}: rebuilt, every byte is equal: {whole}{code}"
    first, others = result["first"], len(result["differing"]) - 1
    return "\n".join(
        [
            f"{result['release']}: rebuilt, and it differs: {len(result['differing']):,} of {whole}",
            f"  first: {first['task']}/{first['file']}, from stage {first['stage']}",
            f"    released {first['expected']}",
            f"    rebuilt  {first['found']}",
            *([f"  and {others:,} more; --json lists them"] if others else []),
            *([] if result["same_code"] else ["  the program has changed since the release was made"]),
        ]
    )
