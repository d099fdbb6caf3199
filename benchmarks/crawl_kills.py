"""kill -9 at random moments of a crawl from a misbehaving server; the rerun must end as if nothing happened.

Checked: crawl shard and raw/ equal an undisturbed crawl's byte for byte; no object whose file and ledger row
stood at the kill is sent again; nothing is left out; no temporary file is left over.
"""

from __future__ import annotations

import collections
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.bucket import RunningBucket, generate, serve
from benchmarks.crawl_driver import crawl
from benchmarks.faults import transient
from benchmarks.measure import ROOT, save
from benchmarks.processes import descendants, left_running
from sources.ledger import Ledger
from sources.store import RawStore

MOMENTS = 20
WITH_COMMAND = 2
ARTICLES = 80
SEED = 20261121
_PATIENCE_SECONDS = 120.0
_LEDGER = "ledger.sqlite"


@dataclass(frozen=True, slots=True)
class Scene:
    """What every moment of a campaign has in common: the bucket, its ids, and what the end must look like."""

    bucket: Path
    ids: Path
    pmcids: Sequence[str]
    expected: dict[str, str]


def prepare(folder: Path, articles: int) -> Scene:
    """Generate a bucket and crawl it undisturbed."""
    bucket, ids = folder / "bucket", folder / "ids.txt"
    pmcids = generate(bucket, articles)
    ids.write_text("\n".join(pmcids) + "\n", "utf-8")
    with serve(bucket) as server:
        crawl(server.endpoint, folder / "calm", pmcids)
    return Scene(bucket, ids, pmcids, _outcome(folder / "calm"))


def moment(scene: Scene, root: Path, seed: int, *, with_command: bool = False) -> dict[str, Any]:
    """Crawl under faults of that seed, kill at a random time, crawl again to the end, compare.

    Args:
        scene: from :func:`prepare`.
        root: workspace to use; must not exist.
        seed: of the faults and the time.
        with_command: crawl with the installed `medqrels crawl pmc`, Prefect and all, not the bare driver.
    """
    rng = random.Random(seed)
    fraction = rng.uniform(0.02, 0.98)
    with serve(scene.bucket, seed=seed) as server:
        requests = round(fraction * (5 * len(scene.pmcids)))
        killed, left = _killed_crawl(scene, root, server, requests, rng.uniform(0.0, 0.02), with_command)
        before = server.served()
        stored = _stored(root, [key for _, key, status in before if status == 200])
        finished = 0
        if with_command:  # the driver then only reads what the command has done
            finished = _command(scene, root, server.endpoint).wait(_PATIENCE_SECONDS)
        again = crawl_again(scene, root, server)
        after = server.served(len(before))
    sent = collections.Counter(key for _, key, status in after if status == 200)
    return {
        "seed": seed,
        "with_command": with_command,
        "killed": killed,
        "requests_before": len(before),
        "objects_stored_before": len(stored),
        "requests_after": len(after),
        "rerun_exit": finished,
        "rerun_complete": not with_command or not again["made"],
        "faults": _acted_out(seed, [*before, *after]),
        "sent_again": sorted(stored & set(sent)),
        "dropped": again["dropped"],
        "differing": _differing(_outcome(root), scene.expected),
        "left_running": left,
        "litter": _litter(root),
    }


def is_good(result: dict[str, Any]) -> bool:
    """Whether one moment went as it must."""
    wrong = ("sent_again", "dropped", "differing", "left_running", "litter", "rerun_exit")
    return bool(result["killed"] and result["rerun_complete"]) and not any(result[name] for name in wrong)


def crawl_again(scene: Scene, root: Path, server: RunningBucket) -> dict[str, Any]:
    """The driver once more, to its end; what it says."""
    done = subprocess.run(
        _driver(scene, root, server.endpoint), cwd=ROOT, capture_output=True, text=True, check=True
    )
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def _killed_crawl(
    scene: Scene, root: Path, server: RunningBucket, requests: int, delay: float, with_command: bool
) -> tuple[bool, list[int]]:
    """Start a crawl and kill -9 it soon after that many requests.

    Returns:
        Whether it was still running; what it had started that did not end by itself.
    """
    if with_command:
        process = _command(scene, root, server.endpoint)
    else:
        process = subprocess.Popen(_driver(scene, root, server.endpoint), cwd=ROOT, stdout=subprocess.DEVNULL)
    end = time.monotonic() + _PATIENCE_SECONDS
    while server.count() < requests and process.poll() is None and time.monotonic() < end:
        time.sleep(0.002)
    time.sleep(delay)  # anywhere between two requests, while files and rows are being written
    started = descendants(process.pid)
    process.kill()
    return process.wait() == -signal.SIGKILL, left_running(started)


def _driver(scene: Scene, root: Path, endpoint: str) -> list[str]:
    return [sys.executable, "-m", "benchmarks.crawl_driver", endpoint, str(root), str(scene.ids)]


def _command(scene: Scene, root: Path, endpoint: str) -> subprocess.Popen[bytes]:
    home = root.parent / f"{root.name}-home"
    home.mkdir(exist_ok=True)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PREFECT_", "MEDQRELS_"))}
    environment = {
        **kept,
        "HOME": str(home),
        "TMPDIR": str(home),
        "MEDQRELS_CONTACT": "bench@localhost",
        "MEDQRELS_PMC__ENDPOINT": endpoint,
        "MEDQRELS_HTTP__DEADLINE_SECONDS": "1",
        "MEDQRELS_HTTP__ATTEMPTS": "8",
    }
    medqrels = str(Path(sys.executable).with_name("medqrels"))
    command = [medqrels, "crawl", "pmc", "--ids", str(scene.ids), "--workspace", str(root)]
    return subprocess.Popen(
        command, env=environment, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def _stored(root: Path, keys: Sequence[str]) -> set[str]:
    """The keys whose file and ledger row stand."""
    if not (root / "raw" / _LEDGER).exists():
        return set()
    with Ledger(root / "raw" / _LEDGER) as ledger:
        store = RawStore(root / "raw", ledger)
        return {key for key in keys if (held := store.held("pmc", key)) and store.read(held) is not None}


def _outcome(root: Path) -> dict[str, str]:
    """Hashes of raw/ without its ledger (which knows times and attempts) and of the crawl shards."""
    files = [path for path in (root / "raw").rglob("*") if not path.name.startswith(_LEDGER)]
    files += [path for path in (root / "work").rglob("*") if path.name != "_run.json"]
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if path.is_file()
    }


def _differing(outcome: dict[str, str], expected: dict[str, str]) -> list[str]:
    names = outcome.keys() | expected.keys()
    return sorted(name for name in names if outcome.get(name) != expected.get(name))


def _acted_out(seed: int, served: Sequence[tuple[str, str, int]]) -> dict[str, int]:
    """How often each kind of fault befell a request, replayed from the seed."""
    faults, asked = transient(seed), collections.Counter[tuple[str, str]]()
    kinds: collections.Counter[str] = collections.Counter()
    for method, key, _ in served:
        asked[method, key] += 1
        fault = faults(method, key, asked[method, key])
        if fault is not None:
            kinds[f"{fault.kind} {fault.status}" if fault.kind == "status" else fault.kind] += 1
    return dict(sorted(kinds.items()))


def _litter(root: Path) -> list[str]:
    """Temporary files and half-written shards."""
    scratch = list((root / "tmp").rglob("*")) if (root / "tmp").is_dir() else []
    scratch += root.parent.glob(f"{root.name}-home/medqrels-*/*")
    named = [path for path in root.rglob(".*") if path.suffix in (".part", ".tmp", ".new")]
    return sorted({os.path.relpath(path, root) for path in [*scratch, *named]})


def main() -> int:
    """Run the whole campaign and save it; 1 if any moment went wrong."""
    results = []
    with tempfile.TemporaryDirectory(prefix="medqrels-kills-") as folder:
        scene = prepare(Path(folder), ARTICLES)
        for number in range(MOMENTS):
            with_command = number >= MOMENTS - WITH_COMMAND
            result = moment(scene, Path(folder) / f"w{number}", SEED + number, with_command=with_command)
            results.append({**result, "good": is_good(result)})
            print(number, json.dumps(results[-1]), flush=True)
    good = sum(result["good"] for result in results)
    campaign = {"articles": ARTICLES, "objects": 4 * ARTICLES, "good": good, "moments": results}
    print(save("crawl_kills", campaign), f"{good} of {MOMENTS} good")
    return int(good != MOMENTS)


if __name__ == "__main__":
    sys.exit(main())
