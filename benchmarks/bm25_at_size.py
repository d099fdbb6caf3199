"""BM25 over three made-up corpora of 1.2 million documents together, in the proportions of M3Retrieve.

Texts are those of `benchmarks.pipeline_scale`. Some queries of each task are run, on one core, and what all
of them would take is projected: a release of that size has 153,000 test queries. The rankings of some are
compared with what every document scores; bm25s, which adds up every posting, answers the same queries.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.evaluation import K
from benchmarks.generated_texts import Writer
from benchmarks.measure import ROOT, save
from benchmarks.pipeline_scale.parts import lengths
from curation.evaluation import bm25
from curation.evaluation.terms import Analyser

CHUNK, SEED = 20_000, 7
ASKED, COMPARED = 1_000, 25


@dataclass(frozen=True, slots=True)
class Shape:
    """Documents and test queries of one task; its queries are captions, or as long as documents."""

    documents: int
    queries: int
    has_captions: bool


SHAPES = {
    "case_study": Shape(475_954, 60_843, has_captions=False),
    "summary": Shape(222_110, 2_931, has_captions=False),
    "visual_context": Shape(512_604, 89_519, has_captions=True),
}
"""As `benchmarks.pipeline_scale` made them."""


def documents(writer: Writer, count: int) -> Iterator[tuple[str, str]]:
    """(text, language) of each document."""
    random = np.random.default_rng([SEED, 1])
    for start in range(0, count, CHUNK):
        for text in writer.texts(random, lengths(random, min(CHUNK, count - start))):
            yield text, "en"


def queries(writer: Writer, shape: Shape, count: int) -> list[str]:
    """Texts that are asked."""
    random = np.random.default_rng([SEED, 2])
    words = random.integers(14, 46, count) if shape.has_captions else lengths(random, count)
    return writer.texts(random, words)


def ours(shape: Shape, size: int, asked: int, folder: Path) -> dict[str, Any]:
    """Index and search, and how many of some rankings are those of all scores."""
    writer, analyser = Writer(SEED), Analyser()
    started = time.process_time()
    index = bm25.build(documents(writer, size), folder, analyser)
    indexed = time.process_time()
    texts = [(str(number), text, "en") for number, text in enumerate(queries(writer, shape, asked))]
    begun = time.process_time()
    found = dict(bm25.search_all(index, texts, {}, K, analyser))
    ended = time.process_time()
    every = np.arange(size, dtype=np.int32)
    equal = 0
    for name, text, language in texts[:COMPARED]:
        scores = index.scores_of(analyser(text, language), every)
        best = np.lexsort((every, -scores))[: len(found[name])]
        equal += np.array_equal(best, found[name].documents) and np.array_equal(
            scores[best], found[name].scores
        )
    return {
        **_took(indexed - started, ended - begun, asked),
        "compared": min(COMPARED, asked),
        "equal_to_all_scores": int(equal),
        "files_mb": round(sum(path.stat().st_size for path in folder.iterdir()) / 1e6),
    }


def plain_bm25s(shape: Shape, size: int, asked: int, folder: Path) -> dict[str, Any]:
    """bm25s with its numpy back end, on terms of our analyser; `folder` is not used."""
    import bm25s

    writer, analyser = Writer(SEED), Analyser()
    started = time.process_time()
    numbers: dict[str, int] = {}
    made = [
        np.asarray([numbers.setdefault(term, len(numbers)) for term in analyser(text, language)], np.int32)
        for text, language in documents(writer, size)
    ]
    index = bm25s.BM25(k1=bm25.K1, b=bm25.B, method="lucene")
    index.index((made, numbers), show_progress=False)
    indexed = time.process_time()
    texts = queries(writer, shape, asked)
    begun = time.process_time()
    terms = [[term for term in analyser(text, "en") if term in numbers] for text in texts]
    index.retrieve(terms, k=K, show_progress=False)
    return _took(indexed - started, time.process_time() - begun, asked)


def _took(indexed: float, searched: float, asked: int) -> dict[str, Any]:
    return {
        "index_cpu_s": round(indexed, 1),
        "search_cpu_ms": round(1e3 * searched / asked, 2),
        "asked": asked,
    }


CONTESTANTS = {"medqrels": ours, "bm25s": plain_bm25s}


def main() -> int:
    """Measure every task with both, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", type=float, default=1.0, help="share of the documents")
    parser.add_argument("--asked", type=int, default=ASKED)
    parser.add_argument("--one", nargs=2, metavar=("TASK", "TOOL"), help="measure this here and print it")
    given = parser.parse_args()
    if given.one:
        shape = SHAPES[given.one[0]]
        with tempfile.TemporaryDirectory() as folder:
            run = CONTESTANTS[given.one[1]]
            print(json.dumps(run(shape, round(shape.documents * given.part), given.asked, Path(folder))))
        return 0
    found: dict[str, Any] = {}
    for task, shape in SHAPES.items():
        found[task] = {"documents": round(shape.documents * given.part), "queries": shape.queries}
        for tool in CONTESTANTS:
            command = [sys.executable, "-m", "benchmarks.bm25_at_size", "--one", task, tool]
            sizes = ["--part", str(given.part), "--asked", str(given.asked)]
            done = subprocess.run([*command, *sizes], cwd=ROOT, check=True, capture_output=True, text=True)
            took = json.loads(done.stdout.splitlines()[-1])
            took["projected_cpu_s"] = round(took["index_cpu_s"] + took["search_cpu_ms"] * shape.queries / 1e3)
            found[task][tool] = took
            print(task, tool, took, flush=True)
    totals = {tool: sum(found[task][tool]["projected_cpu_s"] for task in found) for tool in CONTESTANTS}
    print(save("bm25_at_size", {"k": K, "tasks": found, "projected_cpu_s": totals}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
