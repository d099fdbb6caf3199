"""TREC run files: written with equal bytes for equal rankings, read with every repair told.

Written scores strictly fall as 32-bit floats: tools that break ties their own way then keep our order.
"""

from __future__ import annotations

import gzip
import io
import itertools
import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

import numpy as np

from curation.evaluation.ranking import Ranking, Run
from schemas.errors import ReleaseError

SUFFIX = ".trec.gz"
_TAG = re.compile(r"[^A-Za-z0-9._+-]+")


@dataclass(frozen=True, slots=True)
class ReadRun:
    """A run as read. `notes` tell what was repaired; `tag` is its last column."""

    name: str
    tag: str
    run: Run
    notes: tuple[str, ...]


def file_stem(system: str) -> str:
    """A file name for a system's name."""
    return _TAG.sub("-", system).strip("-") or "system"


def write_run(run: Run, queries: Sequence[str], corpus_ids: Sequence[str], tag: str, path: Path) -> None:
    """Write `query Q0 document rank score tag` lines, gzipped without a time stamp.

    Scores are lowered by the least 32-bit step where they would not fall.
    """
    tag = file_stem(tag)
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:
        out = io.TextIOWrapper(packed, encoding="utf-8", newline="\n")
        for query in queries:
            ranking = run.get(query)
            if ranking is None:
                continue
            ids = [corpus_ids[place] for place in ranking.documents]
            for rank, (document, score) in enumerate(
                zip(ids, falling(ranking.scores.tolist()), strict=True), 1
            ):
                out.write(f"{query} Q0 {document} {rank} {score!s} {tag}\n")
        out.flush()
        out.detach()


def falling(scores: Sequence[float]) -> Iterator[np.float32]:
    """32-bit scores that strictly fall, each at most the given one."""
    last = np.float32(math.inf)
    for score in scores:
        last = min(np.float32(score), np.nextafter(last, np.float32(-math.inf)))
        yield last


def read_run(path: Path, known: Sequence[str], corpus_ids: Sequence[str]) -> ReadRun:
    """Read a run file, plain or gzipped.

    Order is by score, ties by document id; the rank column is not used, as in trec_eval.

    Raises:
        ReleaseError: a line is malformed, an id is unknown, or a document comes twice for a query.
    """
    queries = set(known)
    places = {document: place for place, document in enumerate(corpus_ids)}
    found: dict[str, dict[int, float]] = {}
    order: dict[str, list[tuple[float, int]]] = {}
    tags: set[str] = set()
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        query, document, rank, score, tag = _fields(line, number, path)
        if query not in queries:
            raise _wrong(f"query {query!r} is not in this split", number, path)
        place = places.get(document)
        if place is None:
            raise _wrong(f"document {document!r} is not in the corpus", number, path)
        scores = found.setdefault(query, {})
        if place in scores:
            raise _wrong(f"query {query!r} has document {document!r} twice", number, path)
        scores[place] = score
        order.setdefault(query, []).append((rank, place))
        tags.add(tag)
    run, notes = _in_order(found, order)
    if missing := len(queries) - len(found):
        notes.append(f"{missing} of {len(queries)} queries are not in the run; they count as nothing found")
    name = path.name.removesuffix(".gz").removesuffix(".trec").removesuffix(".txt").removesuffix(".run")
    return ReadRun(name, ", ".join(sorted(tags)), run, tuple(notes))


def _in_order(
    found: Mapping[str, Mapping[int, float]], order: Mapping[str, Sequence[tuple[float, int]]]
) -> tuple[dict[str, Ranking], list[str]]:
    """Rankings by score, then id, and what had to be put right; `order` has the ranks that were stated."""
    run: dict[str, Ranking] = {}
    reordered = tied = 0
    for query, scores in found.items():
        listed = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        documents = [place for place, _ in listed]
        run[query] = Ranking(np.array(documents, np.int32), np.array([score for _, score in listed]))
        stated = [scores[place] for _, place in sorted(order[query], key=itemgetter(0))]
        reordered += any(later > earlier for earlier, later in itertools.pairwise(stated))
        tied += len(set(scores.values())) < len(scores)
    notes = []
    if reordered:
        notes.append(f"{reordered} queries were not in order of score; put in order (ranks are not used)")
    if tied:
        notes.append(f"{tied} queries have equal scores; those are in order of document id")
    return run, notes


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open("rb") as raw:
            is_packed = raw.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rt", encoding="utf-8") if is_packed else path.open(encoding="utf-8") as file:
            yield from file
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise ReleaseError(f"the run cannot be read: {why}", file=str(path)) from error


def _fields(line: str, number: int, path: Path) -> tuple[str, str, float, float, str]:
    parts = line.split()
    if len(parts) != 6:
        raise _wrong(f"{len(parts)} columns, not 6 (query Q0 document rank score tag)", number, path)
    if "_" in parts[3] + parts[4]:  # Python reads 1_0 as ten, other tools do not
        raise _wrong("rank or score is no number", number, path)
    try:
        rank, score = float(parts[3]), float(parts[4])
    except ValueError as error:
        raise _wrong("rank or score is no number", number, path) from error
    for what, value in (("rank", rank), ("score", score)):
        if not math.isfinite(value):
            raise _wrong(f"the {what} is {value}", number, path)
    return parts[0], parts[2], rank, score, parts[5]


def _wrong(message: str, number: int, path: Path) -> ReleaseError:
    return ReleaseError(message, record=f"line {number}", file=str(path), hint="correct the run file")
