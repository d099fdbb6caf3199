"""BM25 on 50,000 documents and 1,000 queries: index and search beside plain bm25s and rank_bm25.

Each contestant runs in a process of its own on the same made-up texts; rank_bm25 answers fewer queries, as it
looks at every document in Python.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import ROOT, save
from curation.evaluation import bm25
from curation.evaluation.terms import Analyser

DOCUMENTS, QUERIES, K = 50_000, 1_000, 100
RANK_BM25_QUERIES = 20
SEED = 20_261_121
_VOCABULARY = 120_000
_ENDINGS = ("", "s", "ed", "ing", "itis", "osis", "ectomy", "al", "ic", "-2", "oma", "ation")
_SYLLABLES = tuple(a + b for a in "bcdfghlmnprstv" for b in "aeiou")


def texts(documents: int, queries: int) -> tuple[list[str], list[str]]:
    """Zipf-distributed made-up words; lengths of passages (about 110 words) and captions (about 30)."""
    rng = np.random.Generator(np.random.PCG64(SEED))
    stems = rng.integers(0, len(_SYLLABLES), (_VOCABULARY, 4))
    sizes, ends = rng.integers(2, 5, _VOCABULARY), rng.integers(0, len(_ENDINGS), _VOCABULARY)
    words = [
        "".join(_SYLLABLES[part] for part in stem[:size]) + _ENDINGS[end]
        for stem, size, end in zip(stems, sizes, ends, strict=True)
    ]
    weights = np.cumsum(1 / (np.arange(1, _VOCABULARY + 1) + 20.0))
    cut = weights / weights[-1]

    def written(count: int, mean: float) -> list[str]:
        lengths = np.clip(rng.lognormal(np.log(mean), 0.5, count), 5, 800).astype(int)
        chosen = np.searchsorted(cut, rng.random(int(lengths.sum())))
        starts = np.concatenate([[0], np.cumsum(lengths)])
        return [
            " ".join(words[place] for place in chosen[starts[i] : starts[i + 1]]).capitalize() + "."
            for i in range(count)
        ]

    return written(documents, 97), written(queries, 27)


def ours(documents: list[str], queries: list[str]) -> dict[str, Any]:
    """Our analyser and index, with exclusions honoured and ties ordered by id."""
    with tempfile.TemporaryDirectory() as folder:
        analyse = Analyser()
        started = time.perf_counter()
        index = bm25.build(((text, "en") for text in documents), Path(folder), analyse)
        indexed = time.perf_counter()
        left_out = {str(number): np.array([number], np.int32) for number in range(len(queries))}
        asked = ((str(number), text, "en") for number, text in enumerate(queries))
        found = dict(bm25.search_all(index, asked, left_out, K, analyse))
        return _took(started, indexed, sum(map(len, found.values())), len(queries))


def plain_bm25s(documents: list[str], queries: list[str]) -> dict[str, Any]:
    """bm25s as its page shows it: its tokenizer, English stop words and stemmer, numpy back end."""
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    started = time.perf_counter()
    made = bm25s.tokenize(documents, stopwords="en", stemmer=stemmer, show_progress=False)
    index = bm25s.BM25(k1=bm25.K1, b=bm25.B, method="lucene")
    index.index(made, show_progress=False)
    indexed = time.perf_counter()
    asked = bm25s.tokenize(queries, stopwords="en", stemmer=stemmer, show_progress=False, return_ids=False)
    found, _ = index.retrieve(asked, k=K, show_progress=False)
    return _took(started, indexed, found.size, len(queries))


def rank_bm25(documents: list[str], queries: list[str]) -> dict[str, Any]:
    """rank_bm25's BM25Okapi on lower-cased words."""
    from rank_bm25 import BM25Okapi

    started = time.perf_counter()
    index = BM25Okapi([text.lower().split() for text in documents], k1=bm25.K1, b=bm25.B)
    indexed = time.perf_counter()
    found = 0
    for text in queries[:RANK_BM25_QUERIES]:
        found += len(np.argsort(index.get_scores(text.lower().split()))[::-1][:K])
    return _took(started, indexed, found, RANK_BM25_QUERIES)


CONTESTANTS: dict[str, Callable[[list[str], list[str]], dict[str, Any]]] = {
    "medqrels": ours,
    "bm25s": plain_bm25s,
    "rank_bm25": rank_bm25,
}


def _took(started: float, indexed: float, found: int, queries: int) -> dict[str, Any]:
    ended = time.perf_counter()
    return {
        "index_seconds": round(indexed - started, 2),
        "search_seconds": round(ended - indexed, 2),
        "queries": queries,
        "queries_per_second": round(queries / (ended - indexed), 1),
        "results": found,
        **_used(),
    }


def _used() -> dict[str, Any]:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {"cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1), "peak_mb": usage.ru_maxrss // 1024}


def main() -> int:
    """Run every contestant and save the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--one", choices=sorted(CONTESTANTS), help="run this one here and print its numbers")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(CONTESTANTS[given.one](*texts(given.documents, given.queries))))
        return 0
    found = {}
    for name in CONTESTANTS:
        command = [sys.executable, "-m", "benchmarks.evaluation", "--one", name]
        sizes = ["--documents", str(given.documents), "--queries", str(given.queries)]
        done = subprocess.run([*command, *sizes], cwd=ROOT, check=True, capture_output=True, text=True)
        found[name] = json.loads(done.stdout.splitlines()[-1])
        print(name, found[name], flush=True)
    path = save(
        "evaluation", {"documents": given.documents, "queries": given.queries, "k": K, "contestants": found}
    )
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
