"""The whole audit at 100 k, 300 k and 1.2 M documents: seconds, seconds per rule, peak memory.

The release is made up (benchmarks/generate_release.py): two sibling tasks, at full size 164 K queries with
pictures. Then one defect of each family is planted in a copy of the largest, and the audit has to name it.
Each size is saved when it is done; with --data, what was generated is kept and used again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.generate_release import generate
from benchmarks.measure import RESULTS, ROOT, save
from benchmarks.planted_defects import PLANTED, plant
from curation.audit import RULES
from flows.engine.progress import Steps
from flows.inspect.audit import auditor, write
from schemas.hashing import sha256_bytes

FULL = 1_200_000
SIZES = (100_000, 300_000, FULL)
QUERIES_PER_DOCUMENT = 164 / 1_200
WORKERS, MEMORY = 2, "1GB"
_WRITERS = sorted([*ROOT.glob("benchmarks/generate*.py"), *ROOT.glob("curation/release/*.py")])
SECONDS, MEGABYTES = 300, 4_096
"""What is aimed at for the largest size."""
_EVERY = 0.2
_SHOWN = 12


class _Clock:
    """A reporter that notes when each rule was done."""

    def __init__(self) -> None:
        self.rules: dict[str, dict[str, float]] = {}
        self.before = time.perf_counter()
        """End of the last rule of any task: audits take turns."""
        self.ended: dict[str, float] = {}

    @contextlib.contextmanager
    def stage(self, name: str, total: int, unit: str) -> Iterator[Steps]:
        """Time the audit of one task."""
        self.rules[name] = {}
        yield _Lap(self.rules[name], self)
        self.ended[name] = time.perf_counter()

    def line(self, text: str) -> None:
        """Nothing to show."""


class _Lap:
    def __init__(self, rules: dict[str, float], clock: _Clock) -> None:
        self.rules, self.clock = rules, clock

    def advance(self, steps: int = 1, note: str = "") -> None:
        """One rule is done."""
        now = time.perf_counter()
        print(f"{now - self.clock.before:7.1f} s  {note}", file=sys.stderr)
        self.rules[note] = self.rules.get(note, 0.0) + now - self.clock.before
        self.clock.before = now


def run(directories: Sequence[Path]) -> dict[str, Any]:
    """Audit the tasks of a release as the command does, in this process, and say how long each rule took."""
    clock = _Clock()
    result: dict[str, Any] = {}
    with auditor(workers=WORKERS, memory_limit=MEMORY, reporter=clock) as machine:
        for directory, done in machine.audit_all(directories):
            write(done, directory)
            (name,) = [name for name in clock.rules if name.endswith(directory.name)]
            rules = clock.rules[name]
            result[directory.name] = {
                "seconds_waiting_for_canaries": round(rules.pop("defects"), 1),
                "seconds_rules": round(sum(rules.values()), 1),
                "seconds_page": round(time.perf_counter() - clock.ended[name], 1),
                "seconds_by_rule": {rule: round(value, 2) for rule, value in rules.items()},
                **_said(done.report),
            }
    return result


def _said(report: Any) -> dict[str, Any]:
    """Verdict, statuses, what was found."""
    return {
        "verdict": report.verdict,
        "statuses": dict(Counter(rule.status for rule in report.rules)),
        "found": {rule.rule: rule.found for rule in report.rules if rule.found},
        "not_proven": [f"{item.rule}: {item.canary}" for item in report.canaries if not item.is_found],
        "canaries": len(report.canaries),
        "notes": {rule.rule: rule.note for rule in report.rules if rule.status == "not_run"},
        "named": {
            rule.rule: sorted({side.id for finding in rule.findings for side in finding.sides})
            for rule in report.rules
            if rule.found and rule.severity != "declared"
        },
    }


def _family(pid: int) -> list[int]:
    """A process and all its descendants."""
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        found.append(one)
        for path in Path(f"/proc/{one}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                waiting += [int(child) for child in path.read_text().split()]
    return found


def _kilobytes(pid: int, file: str, field: str) -> int:
    with contextlib.suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/{file}").read_text().splitlines()
        return int(next(line for line in lines if line.startswith(field)).split()[1])
    return 0


class _Peak(threading.Thread):
    """Highest resident memory of a process and its descendants, five times a second.

    `resident` counts pages that processes share once for each; `proportional` counts them once, but is
    dear to ask for, so only every two seconds.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.resident, self.proportional = pid, 0, 0
        self.done = threading.Event()

    def run(self) -> None:
        """Sample until told to stop."""
        pids: list[int] = []
        turn = 0
        while not self.done.wait(_EVERY):
            if turn % 5 == 0:
                pids = _family(self.pid)
            self.resident = max(self.resident, sum(_kilobytes(pid, "status", "VmRSS:") for pid in pids))
            if turn % 10 == 0:
                shares = (_kilobytes(pid, "smaps_rollup", "Pss:") for pid in pids)
                self.proportional = max(self.proportional, sum(shares))
            turn += 1


def measure(directories: Sequence[Path]) -> dict[str, Any]:
    """One audit in a process of its own."""
    before, cpu = os.getloadavg()[0], _cpu_of_children()
    started = time.perf_counter()
    command = [sys.executable, "-m", "benchmarks.audit_scale", "--run", *map(str, directories)]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    peak = _Peak(child.pid)
    peak.start()
    out, _ = child.communicate()
    seconds = time.perf_counter() - started
    peak.done.set()
    peak.join()
    if child.returncode:
        raise RuntimeError(f"the audit ended with {child.returncode}")
    return {
        "seconds": round(seconds, 1),
        "cpu_seconds": round(_cpu_of_children() - cpu, 1),
        "peak_rss_mb": peak.resident // 1024,
        "peak_pss_mb": peak.proportional // 1024,
        "load_before": round(before, 1),
        "load_after": round(os.getloadavg()[0], 1),
        "tasks": json.loads(out),
    }


def _cpu_of_children() -> float:
    usage = os.times()
    return usage.children_user + usage.children_system


def generated(documents: int, scratch: Path) -> tuple[list[Path], float]:
    """Task folders of a release of this many documents, and the seconds it took to make them, if now.

    What an earlier run made is used when neither the generator nor the writers of releases have changed.
    """
    folder = scratch / str(documents)
    made_by, made = (
        folder / "made_by",
        sha256_files([*sorted(ROOT.glob("benchmarks/generate*.py")), *_WRITERS]),
    )
    tasks = sorted(folder.glob("*/*/*/release.json"), reverse=True)
    if made_by.is_file() and made_by.read_text() == made:
        return [path.parent for path in tasks], 0.0
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    started = time.perf_counter()
    directories = generate(folder, documents, round(documents * QUERIES_PER_DOCUMENT))
    made_by.write_text(made)
    return directories, time.perf_counter() - started


def sha256_files(paths: Sequence[Path]) -> str:
    """One hash of the contents of some files."""
    return sha256_bytes(b"\0".join(path.read_bytes() for path in paths))


def size(documents: int, scratch: Path, *, with_defects: bool) -> dict[str, Any]:
    """Make a release of this many documents, audit it, and a copy with defects planted in it."""
    directories, seconds = generated(documents, scratch)
    result: dict[str, Any] = {
        "documents": documents,
        "queries": round(documents * QUERIES_PER_DOCUMENT),
        "seconds_to_generate": round(seconds, 1),
        **measure(directories),
    }
    if with_defects:
        result["with_defects"] = damaged(directories, scratch)
    for task in result["tasks"].values():
        del task["named"]
    result["slowest_rules"] = slowest(result)
    return result


def damaged(directories: Sequence[Path], scratch: Path) -> dict[str, Any]:
    """Plant defects in a copy of the first task, audit it beside the others, and say which were named."""
    folder = scratch / "damaged"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        one, *others = directories
        copy = shutil.copytree(one, folder / one.name)
        for other in others:
            shutil.copytree(other, folder / other.name, copy_function=os.link)
        wanted = plant(copy)
        measured = measure([copy])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    found = measured["tasks"][copy.name]
    return {
        "seconds": measured["seconds"],
        "cpu_seconds": measured["cpu_seconds"],
        "verdict": found["verdict"],
        "found": found["found"],
        "planted": [
            {"defect": PLANTED[rule], "rule": rule, "is_named": set(ids) <= set(found["named"].get(rule, ()))}
            for rule, ids in wanted.items()
        ],
    }


def slowest(result: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Rules by seconds over all tasks."""
    total: Counter[str] = Counter()
    for task in result["tasks"].values():
        total.update(task["seconds_by_rule"])
    return [(rule, round(seconds, 1)) for rule, seconds in total.most_common(_SHOWN)]


def main() -> int:
    """Measure every size, or (internally) audit once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", nargs="+", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--measure", nargs="+", type=Path, help="audit these folders and show the times")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--data", type=Path, help="keep what is generated here, and use it again")
    chosen = parser.parse_args()
    if chosen.run:
        print(json.dumps(run(chosen.run)))
        return 0
    if chosen.measure:
        result = measure(chosen.measure)
        print(json.dumps(result, indent=1))
        print(slowest(result))
        return 0
    with tempfile.TemporaryDirectory(prefix="audit-scale-") as folder:
        scratch = chosen.data or Path(folder)
        for documents in sorted(chosen.sizes):
            result = size(documents, scratch, with_defects=documents == max(chosen.sizes))
            print(json.dumps(result, indent=1))
            print(keep({f"{documents}_documents": result}), flush=True)
    return 0


def keep(results: Mapping[str, Any]) -> Path:
    """Save the sizes that were measured, beside those measured before: each takes minutes."""
    path = RESULTS / "audit_scale.json"
    before = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    sizes: dict[str, Any] = {name: value for name, value in before.items() if name.endswith("_documents")}
    sizes.update(results)
    target = {"seconds": SECONDS, "peak_mb": MEGABYTES, "documents": FULL}
    head: dict[str, Any] = {
        "workers": WORKERS,
        "duckdb_memory": MEMORY,
        "rules": len(RULES),
        "target": target,
    }
    return save("audit_scale", {**head, **sizes})


if __name__ == "__main__":
    sys.exit(main())
