"""Every way of finding concepts in one run: speed, memory, recall per perturbation, F1 on public gold.

Each contestant builds its index and finds names in a process of its own, one after the other, on one core.
QuickUMLS 1.4.2, which cannot share our environment, gets its own from a hashed lock.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.grounding import generate, gold, sets
from benchmarks.grounding.contestant import INDEX_OF, WARM_UP
from benchmarks.measure import ROOT, save
from scripts import setup_venv

HERE = Path(__file__).parent
LOCK = HERE / "requirements-quickumls.lock.txt"
PEER = "quickumls_1_4_2"
DOCUMENTS = {
    "native": 2_000,
    "ground": 2_000,
    "dictionary": 2_000,
    "quickumls": 200,
    PEER: 200,
    "scispacy": 40,
}
"""Generated documents each reads; slow ones fewer."""


@dataclass(frozen=True, slots=True)
class Span:
    """A reported mention."""

    start: int
    end: int
    concept: str


def peer_python() -> Path:
    """Interpreter of QuickUMLS 1.4.2's environment, made on first use and after a change of its lock.

    Raises:
        SetupError: there is no Python 3.11, or a package did not install (leveldb needs a C++ compiler).
    """
    venv = ROOT / "build" / "venv-quickumls"
    stamp = venv / f"lock-{setup_venv.sha256_of(LOCK)}"
    if not stamp.exists():
        python = sys.executable if sys.version_info[:2] == (3, 11) else shutil.which("python3.11")
        if python is None:
            raise setup_venv.SetupError("QuickUMLS 1.4.2 needs Python 3.11")
        venv.parent.mkdir(exist_ok=True)
        setup_venv.create(venv, Path(python))
        setup_venv.pip(venv, "--no-deps", "--require-hashes", "-r", LOCK)
        stamp.touch()
    return setup_venv.python_of(venv)


def run(name: str, folder: Path, documents: int, *, nested: bool) -> dict[str, Any]:
    """Index and findings of one contestant; `not_run` with the reason if it cannot take part."""
    try:
        if name == PEER:
            start = [str(peer_python()), str(HERE / "peers_quickumls.py")]
            build, find = [*start, "build", str(folder)], [*start, "find", str(folder), str(documents)]
        else:
            start = [sys.executable, "-m", "benchmarks.grounding.contestant"]
            build, find = (
                [*start, "build", name, str(folder)],
                [*start, "find", name, str(folder), str(documents)],
            )
        if name not in INDEX_OF:
            _call(build)
        _call([*find, "nested"] if nested else find)
    except (setup_venv.SetupError, RuntimeError) as error:
        return {"not_run": str(error)}
    result: dict[str, Any] = json.loads((folder / f"{name}.json").read_text())
    built = folder / f"{INDEX_OF.get(name, name)}.build.json"
    return {**result, "index": json.loads(built.read_text()) if built.exists() else None}


def _call(command: Sequence[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise RuntimeError(lines[-1] if lines else f"exit {done.returncode}")


def spans(found: Mapping[str, Sequence[Sequence[Any]]]) -> dict[str, list[Span]]:
    """Mentions by document as the scorers take them."""
    return {key: [Span(*item) for item in mentions] for key, mentions in found.items()}


def measure_generated(folder: Path, documents: Sequence[generate.Document], share: float) -> dict[str, Any]:
    """Speed, memory, and recall per perturbation of every contestant."""
    rows = {}
    for name, count in DOCUMENTS.items():
        print(f"generated: {name}", flush=True)
        result = run(name, folder, max(int(count * share), 5), nested=False)
        rows[name] = result if "not_run" in result else _generated_row(result, documents)
    return rows


def _generated_row(result: Mapping[str, Any], documents: Sequence[generate.Document]) -> dict[str, Any]:
    count, index = result["documents"], result["index"]
    return {
        "documents": count,
        "documents_per_cpu_second": round(count / result["cpu_seconds"], 1),
        "peak_mb": round(result["peak_mb"]),
        "open_cpu_seconds": round(result["open_seconds"], 2),
        "index_cpu_seconds": round(index["cpu_seconds"], 1) if index else None,
        "index_mb": round(index["bytes"] / 1e6, 1) if index else None,
        "scores": generate.score(documents[:count], spans(result["flat"])),
    }


def measure_gold(folder: Path, chosen: sets.GoldSet) -> dict[str, Any]:
    """Scores of every contestant on one gold set, with and without nested mentions."""
    names = sets.write_gold(folder, chosen)
    rows: dict[str, Any] = {}
    for name in DOCUMENTS:
        print(f"{chosen.name}: {name}", flush=True)
        result = run(name, folder, len(chosen.documents), nested=True)
        rows[name] = result if "not_run" in result else _gold_row(result, chosen)
    return {"title": chosen.title, "names": names, "documents": len(chosen.documents), "contestants": rows}


def _gold_row(result: Mapping[str, Any], chosen: sets.GoldSet) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for way in ("flat", "nested"):
        scores = gold.score(chosen.documents, spans(result[way]))
        row[way] = {kind: score.row() for kind, score in scores.items()}
    return row


def versions() -> dict[str, str]:
    """Releases of the peers, as installed or locked."""
    found = {PEER: "1.4.2"}
    for name, package in {"quickumls": "medspacy-quickumls", "scispacy": "scispacy"}.items():
        try:
            found[name] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[name] = ""
    return found


def main() -> int:
    """Measure all and save; 1 if a contestant could not run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", type=int, default=sets.GENERATED_NAMES, help="generated names")
    parser.add_argument("--share", type=float, default=1.0, help="share of the generated documents to read")
    parser.add_argument("--dry-run", action="store_true", help="print, do not save")
    options = parser.parse_args()
    documents = generate.documents(
        options.names, max(int(max(DOCUMENTS.values()) * options.share), 5) + WARM_UP
    )
    with tempfile.TemporaryDirectory(prefix="grounding-") as scratch:
        folder = Path(scratch)
        sets.write_generated(folder / "generated", options.names, documents)
        rows = measure_generated(folder / "generated", documents, options.share)
        scores = {chosen.name: measure_gold(folder / chosen.name, chosen) for chosen in sets.gold_sets()}
    size = round(sum(len(item.text) for item in documents) / len(documents))
    result = {
        "versions": versions(),
        "generated": {"names": options.names, "characters_per_document": size, "contestants": rows},
        "gold": scores,
    }
    print(json.dumps(result, indent=1) if options.dry_run else save("grounding", result))
    every = [rows, *(item["contestants"] for item in scores.values())]
    return int(any("not_run" in row for group in every for row in group.values()))


if __name__ == "__main__":
    sys.exit(main())
