"""What the start of a process costs: a command's help, the first article, the first grounded sentence.

Every worker process of a flow pays it again, and no measurement of a long run shows it. CPU seconds of fresh
processes, in turn; the peer of the first article is pubmed_parser's four passes over the same file.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.grounding import generate
from benchmarks.jats_speed import PEER_PASSES
from benchmarks.measure import ROOT, SHARED, read_result, save
from curation.concepts.index import build_index

RESULT = "start"
ROUNDS, NAMES = 7, 20_000
_MEDQRELS = str(Path(sys.executable).with_name("medqrels"))
_ARTICLE = """
import sys
from pathlib import Path
from benchmarks.jats_speed import raw_of
from curation.extract.stage import EXTRACT
from sources import jats
path = Path(sys.argv[1])
data = path.read_bytes()
assert list(EXTRACT.process(jats.parse(data, raw_of(path, data)), **EXTRACT.params))
"""
_PEER = """
import sys
import pubmed_parser
for name in sys.argv[2].split():
    getattr(pubmed_parser, name)(sys.argv[1])
"""
_SENTENCE = """
import sys
from pathlib import Path
from curation.concepts.annotate import Text, annotate
from curation.concepts.opening import open_backend
matcher = open_backend("native", Path(sys.argv[1]))
text = "She had no fever but pneumonia was suspected, and her mother had Chronic arthritis."
annotate("one", [Text("one", text)], matcher)
"""


def starts(article: Path, index: Path) -> dict[str, list[str]]:
    """What is started: name and command."""
    python = [sys.executable, "-c"]
    return {
        "python -c pass": [*python, "pass"],
        "medqrels --version": [_MEDQRELS, "--version"],
        "medqrels --help": [_MEDQRELS, "--help"],
        "first article parsed and extracted": [*python, _ARTICLE, str(article)],
        "first article by pubmed_parser": [*python, _PEER, str(article), " ".join(PEER_PASSES)],
        "first sentence grounded, native": [*python, _SENTENCE, str(index)],
    }


def cpu_seconds(command: list[str]) -> float:
    """User and system CPU seconds of one process.

    Raises:
        CalledProcessError: it failed.
    """
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        told = process.stderr.read() if process.stderr else ""
        raise subprocess.CalledProcessError(process.returncode, command[0], stderr=told)
    return usage.ru_utime + usage.ru_stime


def measure() -> dict[str, Any]:
    """CPU seconds of every start: median, least and most of the rounds."""
    article = min((SHARED / "pmc-bucket").glob("*/*.xml"))
    taken: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        build_index(generate.names(NAMES), index)
        for number in range(ROUNDS + 1):
            for name, command in starts(article, index).items():
                seconds = cpu_seconds(command)
                if number:  # the first one fills the disk's cache
                    taken.setdefault(name, []).append(seconds)
    rows = {
        name: {"median": round(statistics.median(some), 3), "min": min(some), "max": max(some)}
        for name, some in taken.items()
    }
    return {"rounds": ROUNDS, "article_bytes": article.stat().st_size, "names": NAMES, "cpu_seconds": rows}


def section() -> list[str]:
    """The lines of the benchmarks page."""
    result = read_result(RESULT)
    lines = [
        "## Start of a process",
        "",
        f"CPU seconds of fresh processes, median (least–most) of {result['rounds']} rounds: an article "
        f"of {result['article_bytes'] / 1000:.0f} kB, an index of {result['names']:,} generated names. "
        "`python -m benchmarks.start`",
        "",
        "| what | CPU s |",
        "|---|---:|",
    ]
    for name, row in result["cpu_seconds"].items():
        lines.append(f"| {name} | {row['median']:.2f} ({row['min']:.2f}–{row['max']:.2f}) |")
    return [*lines, ""]


def main() -> int:
    """Measure and save."""
    print(save(RESULT, measure()))
    print("\n".join(section()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
