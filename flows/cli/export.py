"""The verb `export`: a release in the formats of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from flows.cli.common import DEFAULT, OK, Common, DryRun, emit, with_progress

export_app = App(name="export", help_format="plaintext")


@export_app.default
def export(
    release: Annotated[str, Parameter(help="A task or version folder, NAME@VERSION or NAME@VERSION/TASK.")],
    out: Annotated[
        Path, Parameter(help="Folder to make; one below it for each task where there are several.")
    ],
    /,
    *,
    form: Annotated[
        Literal["beir", "trec", "mteb", "mbeir", "webdataset"],
        Parameter(name="--format", help="Whose tools shall read it."),
    ],
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Write a release in the format of other tools, excluded pairs beside it; the release is only read."""
    from flows.engine.releases import task_directories
    from flows.engine.session import current_reporter
    from flows.engine.settings import load_settings
    from flows.engine.workspace import Workspace
    from flows.release.export import describe, export_all, places, planned

    settings = load_settings(workspace=common.workspace)
    pairs = places(task_directories(release, Workspace(settings.workspace)), out)
    if dry_run:
        told = planned(pairs, form)
        lines = [
            f"would export {item['dataset']}@{item['version']}/{item['task']} to {item['out']}"
            for item in told
        ]
        emit(common, told, "\n".join(lines))
        return OK

    def work() -> Any:
        return export_all(pairs, form, current_reporter())

    made = with_progress(common, work)
    emit(common, made, lambda: describe(made))
    return OK
