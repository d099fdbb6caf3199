"""kill -9 at commit points of `medqrels answer`, for every kind of prompt; the rerun ends as if nothing was.

A commit point is where something of a call or a stage has just become durable, or is about to: a call noted
as sent, an answer stored, its price noted, a shard renamed into place. No answer that was stored is asked for
again, at most the call under way is; the files of all stages are the same. Run: `python -m
benchmarks.answer_kills [KIND…] [--all]`: of each kind the middle point of every sort, or all points.
"""

from __future__ import annotations

import contextlib
import functools
import json
import multiprocessing
import os
import shutil
import signal
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from benchmarks.answer_scenes import KINDS, MODEL, Kind, Waiting, waiting
from benchmarks.measure import RESULTS, save
from flows.adapters.answering import Terms
from flows.adapters.cache import AnswerCache
from flows.adapters.llm_ledger import Ledger, Prices, read_totals
from flows.adapters.llm_runner import store_name
from flows.build import answer as verb
from flows.build import model_stages
from flows.engine import runner
from flows.engine.workspace import Workspace
from flows.specs import read_spec
from tests.flows.review.openai_server import OpenAIServer

_PRICES = Prices(Decimal(1), Decimal(1))


@dataclass(frozen=True, slots=True)
class Scene:
    """Prompts of a kind that wait, what an undisturbed run leaves, and its commit points in order."""

    waiting: Waiting
    wanted: Mapping[str, bytes]
    points: tuple[str, ...]

    @property
    def kind(self) -> Kind:
        """What is asked."""
        return self.waiting.kind


def scenes(folder: Path, task: str) -> Iterator[Scene]:
    """Each kind of prompt of a task, after a run that nobody disturbed."""
    told: dict[str, tuple[str, ...]] = {}

    def undisturbed(scene: Waiting, root: Path) -> Workspace:
        made = Workspace(shutil.copytree(scene.workspace.root, root))
        with OpenAIServer(says=scene.says) as server:
            code, points = _run(made.root, scene, server, 0)
        assert code == 0 and points, f"{scene.kind.name}: an undisturbed run ended with {code}"
        told[scene.kind.name] = tuple(points)
        return made

    for scene in waiting(folder, task, undisturbed):
        wanted = outputs(Workspace(folder / f"after-{scene.kind.name}"))
        yield Scene(scene, wanted, told[scene.kind.name])


def outputs(workspace: Workspace) -> dict[str, bytes]:
    """Every file of the stages but what tells time and host."""
    found = sorted(workspace.work.glob("*/*/*"))
    return {
        str(path.relative_to(workspace.root)): path.read_bytes() for path in found if path.name != "_run.json"
    }


def chosen(points: Sequence[str]) -> list[int]:
    """Numbers, from 1, of the middle point of every sort."""
    found = []
    for name in set(points):
        places = [number for number, point in enumerate(points, 1) if point == name]
        found.append(places[len(places) // 2])
    return sorted(found)


def moment(scene: Scene, root: Path, number: int) -> dict[str, Any]:
    """Kill a run at one commit point and run again to the end.

    Args:
        scene: of :func:`scenes`.
        root: a new folder for the workspace.
        number: of the point, from 1.
    """
    workspace = Workspace(shutil.copytree(scene.waiting.workspace.root, root))
    had = _stored(workspace)
    with OpenAIServer(says=scene.waiting.says) as server:
        killed = _run(root, scene.waiting, server, number)[0] == -signal.SIGKILL
        before, stored = server.seen.requests, _stored(workspace) - had
        asked_before = {_material(body) for body in server.seen.bodies}
        again = _run(root, scene.waiting, server, 0)[0] == 0
        after = [_material(body) for body in server.seen.bodies[before:]]
    found = outputs(workspace)
    totals = read_totals(verb.ledger_of(workspace))
    names = {*found, *scene.wanted}
    return {
        "kind": scene.kind.name,
        "point": number,
        "what": scene.points[number - 1],
        "killed": killed,
        "rerun_complete": again,
        "stored_before": stored,
        "asked_twice": len(asked_before & set(after)),
        "paid_again": before + len(after) - len(asked_before | set(after)) - (before - stored),
        "calls_without_end": len(totals.open),
        "differing": sorted(name for name in names if found.get(name) != scene.wanted.get(name)),
        "litter": sorted(path.name for path in workspace.temporary.glob("*")),
    }


def is_good(result: Mapping[str, Any]) -> bool:
    """Whether nothing stored was paid again, at most one call was lost, and the rest is as it should be."""
    wrong = result["differing"] or result["litter"] or result["paid_again"] > 0
    lost = max(result["asked_twice"], result["calls_without_end"])
    return bool(result["killed"] and result["rerun_complete"] and not wrong and lost <= 1)


def _material(body: dict[str, Any]) -> str:
    return json.dumps([body["messages"], body.get("seed")])


def _stored(workspace: Workspace) -> int:
    path = workspace.answers / f"{store_name(MODEL)[:24]}.sqlite"  # as AnswerCache names it
    if not path.is_file():
        return 0
    with contextlib.closing(sqlite3.connect(path)) as store:
        return int(store.execute("SELECT count(*) FROM answers").fetchone()[0])


def _run(root: Path, scene: Waiting, server: OpenAIServer, number: int) -> tuple[int, list[str]]:
    """Exit code of a run in a process of its own, and the points it came by."""
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["benchmarks.answer_kills"])  # imported once, not for each of them
    passed = root.parent / f"{root.name}.points"
    given = (root, scene.spec, scene.kind.stage, server.environment, number, passed)
    process = processes.Process(target=drive, args=given)
    process.start()
    process.join()
    points = passed.read_text("utf-8").split() if passed.is_file() else []
    passed.unlink(missing_ok=True)
    return int(process.exitcode or 0), points


def drive(
    root: Path, spec: Path, stage: str, environment: Mapping[str, str], number: int, passed: Path
) -> None:
    """Answer the prompts, name every commit point in a file, and die at one of them; 0 for none."""
    count = 0

    def point(name: str) -> None:
        nonlocal count
        count += 1
        with passed.open("a", encoding="utf-8") as file:
            file.write(f"{name}\n")
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)

    def watched(call: Callable[..., Any], name: str) -> Callable[..., Any]:
        @functools.wraps(call)
        def wrapper(*given: Any, **named: Any) -> Any:
            point(f"before-{name}")
            made = call(*given, **named)
            point(f"after-{name}")
            return made

        return wrapper

    for owner, name in (
        (AnswerCache, "put"),
        (Ledger, "sent"),
        (Ledger, "ended"),
        (model_stages, "publish"),
        (runner, "publish"),
    ):
        setattr(owner, name, watched(getattr(owner, name), name))
    terms = Terms(MODEL, Decimal(5), _PRICES, concurrency=1)
    verb.answer(verb.Request(read_spec(spec), (stage,), terms), root, environment)


def campaign(folder: Path, names: Sequence[str], every: bool) -> list[dict[str, Any]]:
    """What came of each kill, of the kinds named or of all."""
    results = []
    for task, kinds in KINDS.items():
        if names and not set(names) & {kind.name for kind in kinds}:
            continue
        home = folder / task
        home.mkdir()
        for scene in scenes(home, task):
            if names and scene.kind.name not in names:
                continue
            numbers = list(range(1, len(scene.points) + 1)) if every else chosen(scene.points)
            for number in numbers:
                root = home / f"moment-{number}"
                results.append(moment(scene, root, number))
                shutil.rmtree(root)
                print(json.dumps(results[-1]), file=sys.stderr, flush=True)
            print(
                f"{scene.kind.name}: {len(numbers)} of {len(scene.points)} points",
                file=sys.stderr,
                flush=True,
            )
    return results


def section() -> list[str]:
    """The lines of the benchmarks page."""
    result = json.loads((RESULTS / "answer_kills.json").read_text("utf-8"))
    lines = [
        "## `answer` killed at every kind of prompt",
        "",
        "SIGKILL while `medqrels answer` runs, at the middle one of each sort of commit point (a call noted, "
        "an answer stored, its price noted, a shard renamed into place; before and after each), then the "
        f"same command again. {result['good']} of {result['kills']} reruns ended as they should: every file "
        "of every stage as after an undisturbed run, nothing stored paid again, at most the call under way "
        "asked twice. `python -m benchmarks.answer_kills`",
        "",
        "| kind | kills | as undisturbed | asked twice | paid again |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, row in result["by_kind"].items():
        counts = " | ".join(str(row[key]) for key in ("kills", "good", "asked_twice", "paid_again"))
        lines.append(f"| `{name}` | {counts} |")
    return [*lines, ""]


def summed(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What came of all kills, by kind."""
    by_kind = {}
    for name in dict.fromkeys(one["kind"] for one in results):
        mine = [one for one in results if one["kind"] == name]
        by_kind[name] = {
            "kills": len(mine),
            "good": sum(map(is_good, mine)),
            "asked_twice": sum(one["asked_twice"] for one in mine),
            "paid_again": sum(one["paid_again"] for one in mine),
            "by_point": dict(sorted(Counter(one["what"] for one in mine).items())),
        }
    bad = [dict(one) for one in results if not is_good(one)]
    return {"kills": len(results), "good": len(results) - len(bad), "bad": bad, "by_kind": by_kind}


def main(*words: str) -> None:
    """Kill, run again, and save what came of it by kind; of kinds that were named it is only printed."""
    names = [word for word in words if word != "--all"]
    with tempfile.TemporaryDirectory(prefix="medqrels-answer-kills-") as folder:
        told = summed(campaign(Path(folder), names, "--all" in words))
    print(json.dumps(told, indent=1) if names else save("answer_kills", told))


if __name__ == "__main__":
    main(*sys.argv[1:])
