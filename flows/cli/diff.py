"""The verb `diff`: what changed between two releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from flows.cli.common import DEFAULT, OK, Common, emit

diff_app = App(name="diff", help_format="plaintext")


@diff_app.default
def diff(
    old: Annotated[str, Parameter(help="The earlier release: a folder, NAME@VERSION or NAME@VERSION/TASK.")],
    new: Annotated[str, Parameter(help="The later one.")],
    /,
    *,
    page: Annotated[Path | None, Parameter(help="Also write it as an HTML page to this file.")] = None,
    common: Common = DEFAULT,
) -> int:
    """Show what changed between two releases: counts first, then every row with its reason."""
    from flows.engine.settings import load_settings
    from flows.engine.workspace import Workspace
    from flows.inspect.diff import compare, content, describe, write_page

    settings = load_settings(workspace=common.workspace)
    found, alone = compare(old, new, Workspace(settings.workspace), settings.memory_limit)
    if page is not None:
        write_page(found, alone, page)
    emit(common, content(found, alone), lambda: describe(found, alone))
    return OK
