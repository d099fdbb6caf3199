"""What Prefect costs: a flow that finds nothing to do, and the CPU of 1,000 articles extracted and grounded.

The same work runs as flows that report to a running server, and as plain calls of the same jobs in the same
worker processes. Seconds count for the empty flow; for the articles CPU seconds of the process, its workers
and the server, which other work on the machine does not change. What the server uses while nobody asks it
anything is told apart: it runs all day.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import SHARED, save
from benchmarks.prefect_server import PrefectServer
from benchmarks.processes import descendants

ROUNDS = 5
IDLE_SECONDS = 60.0

_TIMED = """
import sys, time
from flows.build.extract import extract
from flows.engine.session import reporting
from flows.engine.progress import SilentReporter
with reporting(SilentReporter()):
    extract(sys.argv[1])
    for _ in range(int(sys.argv[2])):
        started = time.monotonic()
        extract(sys.argv[1])
        print(time.monotonic() - started)
"""
_BARE = """
import sys, time
from pathlib import Path
from flows.engine.runner import Resource, plan
from flows.engine.workspace import open_workspace
from curation.extract.stage import EXTRACT
from sources.stage import PARSE
workspace = open_workspace(Path(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    started = time.monotonic()
    for stage in (PARSE, EXTRACT):
        jobs = plan(workspace, stage, resources={"raw": Resource(workspace.raw)})
        assert all(job.is_done() for job in jobs)
    print(time.monotonic() - started)
"""


_HEAD = """
import json, os, resource, sys, time
def spent():
    of = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in of)
"""
_FLOWS = """
from flows.build.extract import extract
from flows.build.ground import ground
from flows.engine.session import reporting
from flows.engine.progress import SilentReporter
before, started = spent(), time.monotonic()
with reporting(SilentReporter()):
    told = [extract(sys.argv[1]), ground(sys.argv[1])]
"""
_CALLS = """
from concurrent.futures import ThreadPoolExecutor
import flows.build.ground
from flows.build.jobs import jobs_of
from flows.cluster.hired import hired
from flows.engine.execution import split_done
from flows.engine.progress import SilentReporter
from flows.engine.session import reporting, write_session
from flows.pipeline import Choices, steps
from flows.vocabulary.indexes import index_in_use
from schemas.spec import Grounding
before, started = spent(), time.monotonic()
for name, chosen in (("extract", Choices.of(None)), ("ground", Choices(grounding=Grounding()))):
    silent = reporting(SilentReporter())
    with silent, write_session(sys.argv[1], flow=name) as session, hired(session) as pool:
        if name == "ground":
            index_in_use(session.workspace, "native", session.reporter)
        for step in steps(name):
            waiting = list(split_done(jobs_of(session, step, chosen))[1].values())
            with ThreadPoolExecutor(32) as threads:
                list(threads.map(lambda group: list(pool.run_group(group)), pool.groups(waiting)))
"""
_TAIL = """
print(json.dumps({"cpu_seconds": spent() - before, "seconds": time.monotonic() - started}))
"""
ARTICLES = 1_000


def articles(count: int, out: Path) -> None:
    """So many articles in the layout of PMC's bucket: the shared ones repeated, with ids of their own."""
    found = sorted((SHARED / "pmc-bucket").glob("PMC*"))
    for number in range(count):
        folder = found[number % len(found)]
        about = json.loads((folder / f"{folder.name}.json").read_text("utf-8"))
        old = folder.name.removeprefix("PMC").split(".")[0]
        new = str(20_000_000 + number)
        ids = {old: new}
        if about["doi"]:  # the same DOI or PMID would make one article of two
            ids[about["doi"]] = f"{about['doi']}.{new}"
        if about["pmid"]:
            ids[str(about["pmid"])] = str(80_000_000 + number)
        for path in sorted(folder.rglob("*.*")):
            if path.is_file():
                copy = out / path.relative_to(folder.parent).as_posix().replace(old, new)
                copy.parent.mkdir(parents=True, exist_ok=True)
                text = path.read_bytes()
                for one, other in ids.items():
                    text = text.replace(one.encode(), other.encode())
                copy.write_bytes(text)


def _cpu_of(pid: int) -> float:
    """CPU seconds of a process and those below it."""
    ticks = 0
    for one in (pid, *descendants(pid)):
        fields = Path(f"/proc/{one}/stat").read_text("utf-8").rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def thousand(workspace: Path, environment: dict[str, str], server: int) -> dict[str, Any]:
    """CPU seconds of extracting and grounding, as flows and as calls, in copies of one crawled workspace."""
    given = workspace.with_name("articles")
    articles(ARTICLES, given)
    crawl = ["crawl", "folder", str(given), "--profile", "noncommercial", "--workspace", str(workspace)]
    medqrels = str(Path(sys.executable).with_name("medqrels"))
    subprocess.run([medqrels, *crawl], check=True, env=environment, capture_output=True)
    found: dict[str, Any] = {"articles": ARTICLES}
    before = _cpu_of(server)
    time.sleep(IDLE_SECONDS)
    idle = (_cpu_of(server) - before) / IDLE_SECONDS
    for name, script in (("calls", _CALLS), ("flows", _FLOWS)):
        copy = shutil.copytree(workspace, workspace.with_name(name))
        before = _cpu_of(server)
        command = [sys.executable, "-c", _HEAD + script + _TAIL, str(copy)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr[-3000:])
        found[name] = json.loads(done.stdout.splitlines()[-1])
        found[name]["server_cpu_seconds"] = round(_cpu_of(server) - before, 2) if name == "flows" else 0.0
    flows, calls = found["flows"], found["calls"]
    flows["server_idle_cpu_seconds"] = round(idle * flows["seconds"], 2)
    more = flows["cpu_seconds"] + flows["server_cpu_seconds"] - calls["cpu_seconds"]
    return {
        **found,
        "overhead_share": round((more - flows["server_idle_cpu_seconds"]) / calls["cpu_seconds"], 4),
        "overhead_share_with_idle": round(more / calls["cpu_seconds"], 4),
    }


def _seconds(script: str, workspace: Path, environment: dict[str, str]) -> list[float]:
    command = [sys.executable, "-c", script, str(workspace), str(ROUNDS)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [float(line) for line in done.stdout.split()]


def measure(home: Path) -> dict[str, Any]:
    """Seconds per flow run with and without Prefect, over the demo's workspace."""
    from flows.demo import demo

    workspace = home / "ws"
    os.environ["HOME"] = str(home)
    demo(workspace)
    with PrefectServer(home / "prefect") as server:
        environment = {**os.environ, **server.environment}
        with_prefect = _seconds(_TIMED, workspace, environment)
        without = _seconds(_BARE, workspace, environment)
        many = thousand(workspace, environment, server.pid)
    overhead = statistics.median(with_prefect) - statistics.median(without)
    return {
        "flow_seconds": [round(value, 3) for value in with_prefect],
        "same_work_without_prefect_seconds": [round(value, 3) for value in without],
        "overhead_seconds_median": round(overhead, 3),
        "thousand": many,
    }


def main() -> None:
    """Measure and save."""
    with tempfile.TemporaryDirectory(prefix="medqrels-bench-") as folder:
        result = measure(Path(folder))
    print(save("flow_overhead", result), result)


if __name__ == "__main__":
    main()
