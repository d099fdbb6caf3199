"""kill -9 at every commit point of `medqrels answer`; the rerun must end as if nothing happened.

A commit point is where something of a call or a stage has just become durable, or is about to: a call noted
as sent, an answer stored, its price noted, a shard renamed into place. No answer that was stored is asked for
again, at most the call under way is; the files of all stages are the same. Run: `python -m
benchmarks.answer_kills`
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
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from benchmarks.measure import save
from benchmarks.real_model import SPEC, built, outputs
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

MODEL, ARTICLES = "gpt-test", 2
_PRICES = Prices(Decimal(1), Decimal(1))


@dataclass(frozen=True, slots=True)
class Scene:
    """A workspace to be asked about, what an undisturbed run leaves, and its commit points in order."""

    root: Path
    spec: Path
    wanted: dict[str, bytes]
    points: tuple[str, ...]


def prepare(folder: Path) -> Scene:
    """Build the workspace, and run once undisturbed, counting the points."""
    workspace, _ = built(folder, ARTICLES)
    spec = folder / "spec.toml"
    spec.write_text(SPEC, "utf-8")
    undisturbed = Workspace(shutil.copytree(workspace.root, folder / "undisturbed"))
    with OpenAIServer() as server:
        _, points = _run(undisturbed.root, spec, server, 0)
    return Scene(workspace.root, spec, outputs(undisturbed), tuple(points))


def moment(scene: Scene, root: Path, number: int) -> dict[str, Any]:
    """Kill a run at one commit point and run again to the end.

    Args:
        scene: of :func:`prepare`.
        root: a new folder for the workspace.
        number: of the point, from 1.
    """
    workspace = Workspace(shutil.copytree(scene.root, root))
    with OpenAIServer() as server:
        killed = _run(root, scene.spec, server, number)[0] == -signal.SIGKILL
        before, stored = server.seen.requests, _stored(workspace)
        asked_before = {_material(body) for body in server.seen.bodies}
        again = _run(root, scene.spec, server, 0)[0] == 0
        after = [_material(body) for body in server.seen.bodies[before:]]
    found = outputs(workspace)
    totals = read_totals(verb.ledger_of(workspace))
    names = {*found, *scene.wanted}
    return {
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


def is_good(result: dict[str, Any]) -> bool:
    """Whether nothing stored was paid again, at most one call was lost, and the rest is as it should be."""
    wrong = result["differing"] or result["litter"] or result["paid_again"] > 0
    lost = max(result["asked_twice"], result["calls_without_end"])
    return bool(result["killed"] and result["rerun_complete"] and not wrong and lost <= 1)


def _material(body: dict[str, Any]) -> str:
    return json.dumps(body["messages"])


def _stored(workspace: Workspace) -> int:
    path = workspace.answers / f"{store_name(MODEL)[:24]}.sqlite"  # as AnswerCache names it
    if not path.is_file():
        return 0
    with contextlib.closing(sqlite3.connect(path)) as store:
        return int(store.execute("SELECT count(*) FROM answers").fetchone()[0])


def _run(root: Path, spec: Path, server: OpenAIServer, number: int) -> tuple[int, list[str]]:
    """Exit code of a run in a process of its own, and the points it came by."""
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["benchmarks.answer_kills"])  # imported once, not for each of them
    passed = root.parent / f"{root.name}.points"
    process = processes.Process(target=drive, args=(root, spec, server.environment, number, passed))
    process.start()
    process.join()
    points = passed.read_text("utf-8").split()
    passed.unlink()
    return int(process.exitcode or 0), points


def drive(root: Path, spec: Path, environment: Mapping[str, str], number: int, passed: Path) -> None:
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
    verb.answer(verb.Request(read_spec(spec), ("hyde",), terms), root, environment)


def main() -> None:
    """Every commit point; save what came of each."""
    with tempfile.TemporaryDirectory(prefix="medqrels-answer-kills-") as folder:
        scene = prepare(Path(folder))
        results = []
        for number in range(1, len(scene.points) + 1):
            root = Path(folder) / f"moment-{number}"
            results.append(moment(scene, root, number))
            shutil.rmtree(root)
    good = sum(map(is_good, results))
    campaign = {"points": len(results), "good": good, "bad": [one for one in results if not is_good(one)]}
    campaign["asked_twice"] = sum(one["asked_twice"] for one in results)
    campaign["paid_again"] = sum(one["paid_again"] for one in results)
    campaign["by_point"] = {
        name: sum(one["what"] == name for one in results) for name in sorted(set(scene.points))
    }
    print(save("answer_kills", campaign), f"{good} of {len(results)} good")


if __name__ == "__main__":
    main()
