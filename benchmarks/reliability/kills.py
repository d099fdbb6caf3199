"""kill -9 at the commit points of every command: the same command again ends as if nothing had happened.

Each command is run undisturbed twice, which must agree; its steps are those of the first. A kill comes before
or after a step. Then the command is run once more, and everything is compared: each byte of the workspace and
of what stands beside it, temporary files, and processes that still run.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.reliability.standing import differing
from benchmarks.reliability.steps import AFTER, BEFORE, COMMIT, RENAME, SEND, Step
from benchmarks.reliability.world import World

COMMITS = frozenset({RENAME, COMMIT, SEND})
"""Kinds of steps that are commit points."""
_MOST_RUNS = 3


@dataclass(frozen=True)
class Verb:
    """One command line, and exit codes with which it ends well."""

    name: str
    arguments: tuple[str, ...]
    codes: tuple[int, ...] = (0,)
    is_flow: bool = True
    repeats: bool = False
    """Whether it does what other commands here do."""


SPEC = ("--spec", "cards/spec.toml")
VERBS = (
    Verb("vocabulary add", ("vocabulary", "add", "obo", "toy.obo"), is_flow=False),
    Verb("vocabulary build", ("vocabulary", "build", "--umls", "umls"), is_flow=False),
    Verb("crawl", ("crawl", "pmc", "--ids", "ids.txt")),
    Verb("extract", ("extract",)),
    Verb("ground", ("ground",)),
    Verb("build", ("build", *SPEC)),
    Verb("release", ("release", "cards/spec.toml", "--version", "1.0.0"), (0, 1)),
    Verb("audit", ("audit", "small@1.0.0", "--report", "audited.html"), (0, 1), is_flow=False),
    Verb("export", ("export", "small@1.0.0", "exported", "--format", "beir"), is_flow=False),
    Verb("publish", ("publish", "known@1.0.0", "--to", "shelf"), is_flow=False),
    Verb("rebuild", ("rebuild", "small@1.0.0", "--check"), repeats=True),
    Verb("sweep", ("sweep", *SPEC), (0, 1), is_flow=False),
    Verb("takedown", ("takedown", "pmc:PMC990000001.1", "--reason", "privacy"), is_flow=False),
    Verb("run", ("run", *SPEC), (0, 1), repeats=True),
)
"""In the order in which they are run: each begins where the one before it ended."""


@dataclass(frozen=True)
class Case:
    """A command with what it begins with, what it leaves undisturbed, and its steps."""

    verb: Verb
    before: Path
    wanted: dict[str, str]
    steps: tuple[tuple[str, str, int], ...]

    @property
    def points(self) -> list[Step]:
        """Every place for a kill, in order of names."""
        return [
            Step(kind, name, count, when)
            for kind, name, most in self.steps
            for count in range(1, most + 1)
            for when in (BEFORE, AFTER)
        ]

    def chosen(self, others: int, seed: int) -> list[Step]:
        """Before and after every commit point, the first of its name, and so many other steps.

        Of a command that does the work of others, whose points are tried there, so many of each sort.
        """
        if self.verb.repeats:
            return self.drawn(3 * others, seed)
        commits = [step for step in self.points if step.kind in COMMITS and step.nth == 1]
        drawn = self.drawn(len(commits) + len(self.points), seed)
        return [*commits, *[step for step in drawn if step.kind not in COMMITS][:others]]

    def drawn(self, count: int, seed: int) -> list[Step]:
        """So many of them: commit points first, no name twice before each was drawn once."""
        draw = random.Random(f"{seed} {self.verb.name}")
        points = self.points
        draw.shuffle(points)
        seen: dict[tuple[str, str, str], int] = {}
        ranked: list[tuple[int, bool, int, Step]] = []
        for step in points:
            place = (step.kind, step.name, step.when)
            seen[place] = seen.get(place, 0) + 1
            ranked.append((seen[place], step.kind not in COMMITS, len(ranked), step))
        half = [item[-1] for item in sorted(ranked, key=lambda item: (item[1], item[0], item[2]))]
        others = [item[-1] for item in sorted(ranked) if item[1]]
        commits = [step for step in half if step.kind in COMMITS][: max(count * 2 // 3, count - len(others))]
        return [*commits, *others[: count - len(commits)]]


def prepared(world: World, verb: Verb) -> Case:
    """Run a command undisturbed, twice.

    Raises:
        RuntimeError: it failed, left something behind, or did not do the same twice.
    """
    before = world.keep(f"before-{verb.name.replace(' ', '-')}")
    ends = []
    for _ in range(2):
        world.restore(before)
        run = world.run(verb.arguments)
        if run.ended.code not in verb.codes or run.ended.left or world.litter():
            raise RuntimeError(f"undisturbed, {verb.name}: {run.ended} {world.litter()}\n{run.said}")
        ends.append((run, world.stands()))
    (run, wanted), (_, again) = ends
    if unlike := differing(wanted, again):
        raise RuntimeError(f"{verb.name} did not do the same twice: {unlike}")
    return Case(verb, before, wanted, tuple(run.steps))


def kill(world: World, case: Case, step: Step) -> dict[str, Any]:
    """Run, kill at a step, run again to the end."""
    world.restore(case.before)
    killed = world.run(case.verb.arguments, step)
    codes: list[int] = []
    said = ""
    left = list(killed.ended.left)
    while len(codes) < _MOST_RUNS and not (codes and codes[-1] in case.verb.codes):
        again = world.run(case.verb.arguments)
        codes.append(again.ended.code)
        left += again.ended.left
        said = again.said
    is_finished = codes[-1] in case.verb.codes
    return {
        "verb": case.verb.name,
        "step": list(step),
        "killed": killed.ended.is_killed,
        "runs": len(codes),
        "is_finished": is_finished,
        "said": "" if is_finished and len(codes) == 1 else said[-600:],
        "differing": differing(world.stands(), case.wanted),
        "litter": world.litter(),
        "left_running": left,
    }


def is_good(result: dict[str, Any]) -> bool:
    """Whether one kill went as it must."""
    wrong = result["differing"] or result["litter"] or result["left_running"]
    return bool(result["killed"] and result["is_finished"] and result["runs"] == 1 and not wrong)


def campaign(
    world: World, verbs: Collection[Verb], others: int, seed: int, tell: Callable[[Any], None]
) -> None:
    """Kill some commands at every commit point and at so many other steps; the rest are run undisturbed."""
    for verb in VERBS:
        if verb not in verbs:
            world.run(verb.arguments)
            continue
        case = prepared(world, verb)
        tell(f"{verb.name}: {len(case.points)} points, {len(case.wanted)} files")
        for step in case.chosen(others, seed):
            result = kill(world, case, step)
            tell(result | {"what": verb.name, "points": len(case.points), "good": is_good(result)})
        world.restore(case.before)
        world.run(verb.arguments)
