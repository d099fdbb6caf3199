"""What every command shares: options, exit codes, printing, progress."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

OK, FINDING, USAGE, FAILURE, INTERRUPTED = 0, 1, 2, 3, 130


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Common:
    """Options every verb has."""

    json: Annotated[bool, Parameter(negative="", help="Print the result as JSON on stdout.")] = False
    workspace: Annotated[Path | None, Parameter(help="Folder of raw/, work/ and releases/.")] = None
    log_level: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR"] | None, Parameter(help="Log level on stderr.")
    ] = None

    @property
    def root(self) -> str | None:
        """The workspace as text, None to take it from the settings."""
        return None if self.workspace is None else str(self.workspace)


DryRun = Annotated[bool, Parameter(negative="", help="Say what would be done, change nothing.")]
Spec = Annotated[Path | None, Parameter(help="A dataset's spec.toml.")]
Overrides = Annotated[
    tuple[str, ...],
    Parameter(
        name="--set", negative="", help="Override a key of the spec, key=value; recorded in the release."
    ),
]
Version = Annotated[
    str | None,
    Parameter(help="MAJOR.MINOR.PATCH; by default it follows from what changed since the newest release."),
]
DEFAULT = Common()


def emit(common: Common, result: Any, text: str | Callable[[], str]) -> None:
    """Print a result: JSON for machines, text for people. A pipe closed early, by `| head`, is no error."""
    if common.json:
        shown = json.dumps(result, indent=1, sort_keys=True, ensure_ascii=False, default=str)
    else:
        shown = text if isinstance(text, str) else text()
    try:
        if shown:
            print(shown, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the flush at exit finds it writable


def with_progress(common: Common, work: Callable[[], Any]) -> Any:
    """Run a flow with progress on stderr."""
    from flows.engine.progress import reporter_for
    from flows.engine.scratch import own_temporary
    from flows.engine.session import reporting
    from flows.engine.settings import load_settings

    level = common.log_level or load_settings().log_level
    logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s")
    with own_temporary(), reporting(reporter_for()):
        return work()
