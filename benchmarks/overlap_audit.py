"""Overlap between two sets of paragraphs: ours beside datasketch, rensa and a plain set of 13-grams.

Then passages of different real articles compared with each other: how many are flagged, a sample to read.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.labels import articles
from benchmarks.measure import ROOT, SHARED, save
from curation.extract.stage import EXTRACT
from curation.similarity.text.engine import SPAN, Match, Texts, copied_spans, exact_pairs, locate, near_pairs
from schemas.extracted import Passage

SEED = 20_261_121
SIZE, PLANTED, WORDS, COPIED = 10_000, 200, 150, 20
CHANGED = 0.05
KINDS = ("exact", "near", "span")
TARGETS = {"docs_per_second": 30_000, "exact": 1.0, "near": 0.99, "span": 1.0, "false_positives": 0}
READ = ROOT / "benchmarks" / "developer_checks" / "overlap_audit.json"
_PERMUTATIONS, _BANDS, _THRESHOLD = 128, 32, 0.5
Pairs = set[tuple[int, int]]
"""(candidate, reference) that a tool says overlap."""


@dataclass(frozen=True, slots=True)
class Input:
    """Two sets of paragraphs and what was planted: kind -> candidate -> reference."""

    reference: list[str]
    candidates: list[str]
    planted: dict[str, dict[int, int]]


def words(count: int, chance: random.Random) -> list[str]:
    """Invented words, shorter ones more frequent as in a language."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["".join(chance.choices(letters, k=2 + number % 9)) + str(number % 7) for number in range(count)]


def changed(text: str, share: float, vocabulary: Sequence[str], chance: random.Random) -> str:
    """A copy with a share of its words replaced."""
    copy = text.split()
    for place in chance.sample(range(len(copy)), round(share * len(copy))):
        copy[place] = chance.choice(vocabulary)
    return " ".join(copy)


def generated(size: int = SIZE, planted: int = PLANTED, seed: int = SEED) -> Input:
    """Reference and candidate paragraphs; each planted candidate has a reference paragraph of its own."""
    chance = random.Random(seed)
    vocabulary = words(30_000, chance)
    weights = list(itertools.accumulate(1 / (rank + 20) for rank in range(len(vocabulary))))

    def paragraph() -> str:
        return " ".join(chance.choices(vocabulary, cum_weights=weights, k=WORDS))

    reference = [paragraph() for _ in range(size)]
    candidates = [paragraph() for _ in range(size)]
    places, sources = chance.sample(range(size), 3 * planted), chance.sample(range(size), 3 * planted)
    kinds: dict[str, dict[int, int]] = {kind: {} for kind in KINDS}
    for number, (place, source) in enumerate(zip(places, sources, strict=True)):
        kind = KINDS[number // planted]
        kinds[kind][place] = source
        if kind == "exact":
            candidates[place] = reference[source]
        elif kind == "near":
            candidates[place] = changed(reference[source], CHANGED, vocabulary, chance)
        else:
            start, at = chance.randrange(WORDS - COPIED), chance.randrange(WORDS - COPIED)
            own = candidates[place].split()
            own[at : at + COPIED] = reference[source].split()[start : start + COPIED]
            candidates[place] = " ".join(own)
    return Input(reference, candidates, kinds)


def ours(reference: Texts, candidates: Texts) -> Pairs:
    """Exact, near and span rules, as the audit runs them between two sets."""
    found = [
        exact_pairs(candidates, reference),
        near_pairs(candidates, reference),
        copied_spans(candidates, reference),
    ]
    return {(pair.one_row, pair.other_row) for matches in found for pair in matches.pairs}


def in_memory(name: str, texts: Sequence[str]) -> Texts:
    """Paragraphs as the other tools get them: strings in a list."""
    return Texts.of(name, [str(number) for number in range(len(texts))], texts)


def shingles(text: str) -> list[str]:
    """Runs of five words, the usual unit of MinHash on documents."""
    tokens = text.lower().split()
    return [" ".join(tokens[at : at + 5]) for at in range(max(1, len(tokens) - 4))]


def by_datasketch(given: Input) -> Pairs:
    """MinHash with LSH."""
    import datasketch

    def digest(text: str) -> datasketch.MinHash:
        made = datasketch.MinHash(num_perm=_PERMUTATIONS)
        made.update_batch([shingle.encode() for shingle in shingles(text)])
        return made

    index = datasketch.MinHashLSH(threshold=_THRESHOLD, num_perm=_PERMUTATIONS)
    for number, text in enumerate(given.reference):
        index.insert(number, digest(text))
    return {
        (number, found) for number, text in enumerate(given.candidates) for found in index.query(digest(text))
    }


def by_rensa(given: Input) -> Pairs:
    """R-MinHash with LSH, through its batch calls."""
    import rensa

    def digests(texts: Sequence[str]) -> Any:
        return rensa.RMinHash.from_token_sets([shingles(text) for text in texts], _PERMUTATIONS, SEED)

    index = rensa.RMinHashLSH(_THRESHOLD, _PERMUTATIONS, _BANDS)
    index.insert_many(digests(given.reference))
    found = index.query_all(digests(given.candidates))
    return {(number, other) for number, others in enumerate(found) for other in others}


def by_gram_set(given: Input) -> Pairs:
    """Every run of 13 words in a dictionary: the rule used for language models, in plain Python."""
    index: dict[tuple[str, ...], list[int]] = {}
    for number, text in enumerate(given.reference):
        for gram in _grams(text):
            index.setdefault(gram, []).append(number)
    return {
        (number, other)
        for number, text in enumerate(given.candidates)
        for gram in _grams(text)
        for other in index.get(gram, ())
    }


def _grams(text: str) -> Iterator[tuple[str, ...]]:
    tokens = text.lower().split()
    return zip(*(tokens[at:] for at in range(SPAN)), strict=False)


def contestants(given: Input, folder: Path, pool: Executor) -> dict[str, Callable[[], Pairs]]:
    """Name -> work; each starts from the paragraphs and ends with pairs."""
    files = {}
    for name, texts in (("reference", given.reference), ("candidates", given.candidates)):
        files[name] = folder / f"{name}.parquet"
        table = pa.table({"id": [str(number) for number in range(len(texts))], "text": texts})
        pq.write_table(table, files[name], row_group_size=max(1, len(texts) // 4))

    def pooled() -> Pairs:
        return ours(
            Texts("reference", files=[files["reference"]], pool=pool, part=len(given.reference) // 4),
            Texts("candidates", files=[files["candidates"]], pool=pool, part=len(given.candidates) // 4),
        )

    return {
        "medqrels": lambda: ours(
            in_memory("reference", given.reference), in_memory("candidates", given.candidates)
        ),
        "medqrels, 2 processes, from Parquet": pooled,
        f"datasketch {version('datasketch')}": lambda: by_datasketch(given),
        f"rensa {version('rensa')}": lambda: by_rensa(given),
        "13-gram set": lambda: by_gram_set(given),
    }


def score(given: Input, pairs: Pairs) -> dict[str, int]:
    """Planted pairs found of each kind, and candidates flagged although nothing was planted in them."""
    found = {
        kind: sum((candidate, source) in pairs for candidate, source in planted.items())
        for kind, planted in given.planted.items()
    }
    touched = {candidate for planted in given.planted.values() for candidate in planted}
    return {**found, "false_positives": len({candidate for candidate, _ in pairs} - touched)}


def compared(given: Input, rounds: int) -> dict[str, Any]:
    """What every contestant found and its rate, in turn, after one warm-up each.

    Rates are of wall time; `docs_per_cpu_second` (this process only) says what one core does when others use
    the machine too.
    """
    taken: dict[str, list[float]] = {}
    used: dict[str, list[float]] = {}
    scores: dict[str, dict[str, int]] = {}
    documents = len(given.reference) + len(given.candidates)
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(2) as pool:
        works = contestants(given, Path(folder), pool)
        for number in range(rounds + 1):
            for name, work in works.items():
                gc.collect()
                started, cpu = time.perf_counter(), time.process_time()
                pairs = work()
                seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
                scores[name] = score(given, pairs)
                if number:
                    taken.setdefault(name, []).append(seconds)
                    used.setdefault(name, []).append(cpu)
    return {
        name: {
            **scores[name],
            "docs_per_second": round(documents / statistics.median(taken[name])),
            "docs_per_second_slowest": round(documents / max(taken[name])),
            "docs_per_second_fastest": round(documents / min(taken[name])),
            **(
                {}
                if "processes" in name
                else {"docs_per_cpu_second": round(documents / statistics.median(cpu))}
            ),
        }
        for name, cpu in used.items()
    }


def by_share_changed(planted: int = PLANTED, seed: int = SEED) -> dict[str, float]:
    """Share of near copies found, by share of words replaced, at the threshold the rules use."""
    chance = random.Random(seed)
    vocabulary = words(30_000, chance)
    found = {}
    for percent in (2, 5, 8, 10, 12, 15, 18):
        texts = [" ".join(chance.choices(vocabulary, k=WORDS)) for _ in range(planted)]
        copies = [changed(text, percent / 100, vocabulary, chance) for text in texts]
        pairs = near_pairs(in_memory("texts", texts), in_memory("copies", copies)).pairs
        found[f"{percent:02d}"] = sum(pair.one_row == pair.other_row for pair in pairs) / planted
    return found


def passages(data: Path) -> tuple[list[str], list[str]]:
    """Ids and texts of every passage of the shared articles."""
    names, texts = [], []
    for article in articles(data):
        for row in EXTRACT.process(article, **EXTRACT.params):
            if isinstance(row, Passage) and row.text:
                names.append(row.id)
                texts.append(row.text)
    return names, texts


def real(names: Sequence[str], texts: Sequence[str], sample: int = 10, seed: int = SEED) -> dict[str, Any]:
    """Pairs of passages of different articles that are flagged, as ids, offsets and words; no text.

    A pair counts once: as exact, else as near, else as span.
    """
    held = Texts.of("passages", names, texts)
    spans = copied_spans(held, held)
    flagged = {"exact": exact_pairs(held, held).pairs, "near": near_pairs(held).pairs, "span": spans.pairs}
    seen: set[tuple[int, int]] = set()
    inside, apart = dict.fromkeys(KINDS, 0), {}
    for kind in KINDS:
        new = {_rows(pair): pair for pair in flagged[kind] if pair.one_row != pair.other_row}
        new = {rows: pair for rows, pair in new.items() if rows not in seen}
        seen.update(new)
        apart[kind] = [pair for _, pair in sorted(new.items()) if _article(pair.one) != _article(pair.other)]
        inside[kind] = len(new) - len(apart[kind])
    chance = random.Random(seed)
    chosen = [
        (kind, pair) for kind in KINDS for pair in chance.sample(apart[kind], min(sample, len(apart[kind])))
    ]
    left = spans.suppressed
    return {
        "passages": len(names),
        "articles": len({_article(name) for name in names}),
        "pairs_compared": len(names) * (len(names) - 1) // 2,
        "flagged_of_different_articles": {kind: len(pairs) for kind, pairs in apart.items()},
        "distinct_passages_concerned": {
            kind: len({name for pair in pairs for name in (pair.one, pair.other)})
            for kind, pairs in apart.items()
        },
        "flagged_inside_an_article": inside,
        "boilerplate_suppressed": {
            "fingerprints": left.fingerprints,
            "places": left.postings,
            "passages": left.texts,
        },
        "sample": [_told(kind, pair, texts) for kind, pair in chosen],
    }


def _rows(pair: Match) -> tuple[int, int]:
    return min(pair.one_row, pair.other_row), max(pair.one_row, pair.other_row)


def _article(name: str) -> str:
    return name.split("#")[0]


def _told(kind: str, pair: Match, texts: Sequence[str]) -> dict[str, Any]:
    """Where to read one pair."""
    found = locate(texts[pair.one_row], texts[pair.other_row])
    told = {"kind": kind, "one": pair.one, "other": pair.other, "value": pair.value}
    if found is None:
        return told
    return {**told, "one_span": list(found.one), "other_span": list(found.other), "words": found.words}


def section() -> list[str]:
    """The part of benchmarks/README.md."""
    result = json.loads((ROOT / "benchmarks/results/overlap_audit.json").read_text("utf-8"))
    lines = [
        "## Overlap audit: two sets of paragraphs",
        "",
        f"{SIZE:,} reference and {SIZE:,} candidate paragraphs of {WORDS} words; planted: {PLANTED} exact, "
        f"{PLANTED} near ({CHANGED:.0%} of the words changed), {PLANTED} with a span of {COPIED} words. "
        "Rates are of whole wall time. `python -m benchmarks.overlap_audit`",
        "",
        "| tool | docs/s (slowest–fastest) | docs per CPU second | exact | near | span | false positives |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, row in result["tools"].items():
        span = f"{row['docs_per_second_slowest']:,}–{row['docs_per_second_fastest']:,}"
        lines.append(
            f"| {name} | {row['docs_per_second']:,} ({span}) | {row.get('docs_per_cpu_second', '')} | "
            f"{row['exact']} | {row['near']} | {row['span']} | {row['false_positives']} |"
        )
    shares = ", ".join(f"{share} %: {found:.1%}" for share, found in sorted(result["near_found"].items()))
    lines += ["", f"Near copies found by share of words changed: {shares}.", ""]
    if real_articles := result.get("real"):
        flagged = real_articles["flagged_of_different_articles"]
        lines += [
            f"Real: {real_articles['passages']:,} passages of {real_articles['articles']:,} articles, "
            f"{real_articles['pairs_compared']:,} pairs; flagged between different articles: "
            + ", ".join(f"{count} {kind}" for kind, count in flagged.items())
            + ".",
            "",
        ]
    if READ.is_file():
        check = json.loads(READ.read_text("utf-8"))
        summary = check["summary"]
        lines += [f"{summary['read']} of them were read by {check['who']}: {summary['text']}", ""]
    return lines


def main() -> None:
    """Run and save."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=SHARED)
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    result: dict[str, Any] = {
        "seed": SEED,
        "targets": TARGETS,
        "tools": compared(generated(), given.rounds),
        "near_found": by_share_changed(),
    }
    if given.data.is_dir():
        result["real"] = real(*passages(given.data))
    save("overlap_audit", result)
    print("\n".join(section()))


if __name__ == "__main__":
    main()
