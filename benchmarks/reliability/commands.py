"""What a fork of the campaign does: one command line, counted and perhaps killed on its way."""

from __future__ import annotations

import itertools
import json
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.reliability.steps import Step, Watch
from curation.audit import defects
from curation.audit.rule import Context, Rule
from flows.engine import runs
from schemas.audit import CanaryResult

ERRNO, CLOCK = "RELIABILITY_ERRNO", "RELIABILITY_CLOCK"
"""Variables: the error to raise at the step, in the place of a kill; whether the clock goes back."""
DEFECTS_OF_RULES = 12
"""Of every so many rules one has its defects planted: all of them take ten seconds an audit, and tell no more
of kills."""


def run(
    now: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    kill: Sequence[object] | None,
    told: str,
) -> int:
    """Run one command in `now`.

    Args:
        now: folder of the workspace, and of `tmp/`.
        arguments: of medqrels.
        environment: variables beside those that are set.
        kill: a step, as in :class:`Step`.
        told: file for the steps counted, written at the end.

    Returns:
        exit code.
    """
    from flows.cli.app import run_cli

    os.environ |= environment
    os.environ["TMPDIR"] = f"{now}/tmp"
    os.chdir(now)
    tempfile.tempdir = None
    _plant_fewer()
    number = int(environment.get(ERRNO, 0))
    if environment.get(CLOCK):
        _turn_back_the_clock()
    watch = Watch(Path(now), Step(*kill) if kill else None, error=number)  # type: ignore[arg-type]  # from JSON
    watch.begin()
    code = run_cli(list(arguments))
    counted = [[kind, name, count] for (kind, name), count in sorted(watch.counts.items())]
    Path(told).write_text(json.dumps(counted), "utf-8")
    return code


def _turn_back_the_clock() -> None:
    """Have each look at the clock show an hour less than the one before."""
    begun, looks = time.time(), itertools.count(1)
    time.time = lambda: begun - 3600.0 * next(looks)
    runs.now = lambda: datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="milliseconds")


def _plant_fewer() -> None:
    whole = defects.run

    def fewer(rules: Sequence[Rule], context: Context, run_rule: defects.RunRule) -> tuple[CanaryResult, ...]:
        return whole(rules[::DEFECTS_OF_RULES], context, run_rule)

    defects.run = fewer
