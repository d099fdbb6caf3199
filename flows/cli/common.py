"""What every command shares: options, exit codes, printing, progress."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from schemas.wording import counted, tell, visible, without_password

if TYPE_CHECKING:  # they load pyarrow, which `medqrels --help` does not need
    from flows.pipeline import Verb
    from schemas.spec import DatasetSpec, Grounding

OK, FINDING, USAGE, FAILURE, INTERRUPTED = 0, 1, 2, 3, 130


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Common:
    """Options every verb has."""

    json: Annotated[bool, Parameter(help="Print the result as JSON on stdout.")] = False
    workspace: Annotated[Path | None, Parameter(help="Folder of raw/, work/ and releases/.")] = None
    log_level: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR"] | None, Parameter(help="Log level on stderr.")
    ] = None

    @property
    def root(self) -> str | None:
        """The workspace as text, None to take it from the settings."""
        return None if self.workspace is None else str(self.workspace)


DryRun = Annotated[bool, Parameter(help="Say what would be done, change nothing.")]
Spec = Annotated[Path | None, Parameter(help="A dataset's spec.toml.")]
Overrides = Annotated[
    tuple[str, ...],
    Parameter(name="--set", help="Override a key of the spec, key=value; recorded in the release."),
]
Version = Annotated[
    str | None,
    Parameter(help="MAJOR.MINOR.PATCH; by default it follows from what changed since the newest release."),
]
DEFAULT = Common()


def emit(common: Common, result: Any, text: str | Callable[[], str]) -> None:
    """Print a result: JSON for machines, text for people."""
    if common.json:
        shown = json.dumps(result, indent=1, sort_keys=True, ensure_ascii=False, default=str)
    else:
        shown = text if isinstance(text, str) else text()
    if shown:
        tell(shown, sys.stdout)


def emit_plan(
    common: Common, verb: Verb, chosen: DatasetSpec | Grounding | None, tasks: Sequence[str] = ()
) -> int:
    """Print what the stages of a verb have to do."""
    from flows.inspect.preview import preview_stages
    from flows.pipeline import Choices, steps
    from schemas.spec import Grounding

    choices = Choices(grounding=chosen) if isinstance(chosen, Grounding) else Choices.of(chosen)
    result = preview_stages(common.root, steps(verb, tasks), choices)
    lines = [
        f"{item['stage']}: {counted(item['to_do'], 'shard')} to do, {item['done']} up to date"
        for item in result
    ]
    emit(common, result, "\n".join(lines))
    return OK


def check_workspace(common: Common) -> None:
    """Find out before a flow is started that there is no workspace.

    Raises:
        WorkspaceError: there is none.
    """
    from flows.engine.session import read_session

    read_session(common.root)


class _Plain(logging.Formatter):
    """What libraries log may hold a password of an address, or commands for the terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """The record without both, tracebacks included."""
        return visible(without_password(super().format(record)))


def with_progress(common: Common, work: Callable[[], Any]) -> Any:
    """Run a flow with progress on stderr."""
    from flows.engine.progress import reporter_for
    from flows.engine.scratch import own_temporary
    from flows.engine.session import reporting
    from flows.engine.settings import load_settings

    level = common.log_level or load_settings().log_level
    handler = logging.StreamHandler()
    handler.setFormatter(_Plain("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level, handlers=[handler])
    logging.getLogger("medqrels").setLevel(level)  # Prefect gives the root another one when a flow begins
    with own_temporary(), reporting(reporter_for()):
        return work()
