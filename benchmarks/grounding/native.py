"""The native matcher with as many names as UMLS has: time and memory of build and search, recall.

Names are generated; build and search run in processes of their own on one core. Searching is measured on
texts never seen before, then on the same again. `python -m benchmarks.grounding.native [--names 10000000]`.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.grounding import generate
from benchmarks.measure import ROOT, save

DOCUMENTS, WARM_UP = 2_000, 300


def build(names: int, index: Path) -> dict[str, Any]:
    """CPU seconds and peak memory of building an index, and its size."""
    from curation.concepts.index import build_index

    started = time.process_time()
    build_index(generate.names(names), index)
    return {
        "build_cpu_seconds": round(time.process_time() - started, 1),
        "build_peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "index_mb": round(index.stat().st_size / 1e6),
    }


def search(names: int, index: Path) -> dict[str, Any]:
    """Time to open, documents a CPU second, resident memory (shared pages of the file apart), recall."""
    from curation.concepts.native import open_index

    documents = generate.documents(names, DOCUMENTS)
    started = time.perf_counter()
    matcher = open_index(index)
    result: dict[str, Any] = {"open_seconds": round(time.perf_counter() - started, 4)}
    list(matcher.find_many(document.text for document in generate.documents(names, WARM_UP, seed=9)))
    for name in ("new_texts_per_second", "seen_texts_per_second"):
        started = time.process_time()
        found = list(matcher.find_many(document.text for document in documents))
        result[name] = round(DOCUMENTS / (time.process_time() - started))
    ids = [document.id for document in documents]
    return result | _memory() | generate.score(documents, dict(zip(ids, found, strict=True)))


def _memory() -> dict[str, int]:
    """Resident megabytes of this process: of its own, and of mapped files, which processes share."""
    status = Path("/proc/self/status").read_text("utf-8")
    own, mapped = (int(re.findall(rf"{name}:\s+(\d+)", status)[0]) // 1024 for name in ("RssAnon", "RssFile"))
    return {"own_mb": own, "mapped_mb": mapped}


def main() -> None:
    """Command line; each step prints one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", type=int, default=10_000_000)
    parser.add_argument("--step", choices=("build", "search"), help=argparse.SUPPRESS)
    parser.add_argument("--index", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        step = build if options.step == "build" else search
        print(json.dumps(step(options.names, options.index)))
        return
    result: dict[str, Any] = {"names": options.names, "documents": DOCUMENTS}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("build", "search"):
            command = [sys.executable, "-m", "benchmarks.grounding.native", "--names", str(options.names)]
            command += ["--step", name, "--index", str(Path(folder) / "index")]
            done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
            result |= json.loads(done.stdout)
    print(save("grounding_native", result))


if __name__ == "__main__":
    main()
