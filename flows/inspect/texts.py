"""Grounds any text: one line for a person, or a JSON Lines file, without a crawl and without Prefect."""

from __future__ import annotations

import concurrent.futures
import contextlib
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from curation.concepts.annotate import Text, annotate, annotate_many
from curation.concepts.opening import open_backend
from flows.engine.execution import new_pool
from flows.vocabulary.indexes import Index
from schemas.concept import Mention
from schemas.errors import UsageError

LINES_PER_BATCH = 500
MAX_LINE_BYTES = 4 * 1024 * 1024
_FLAGS = ("negated", "hypothetical", "historical", "family")


def ground_text(
    text: str, index: Index, language: str = "en", *, overlaps: bool = False
) -> list[dict[str, Any]]:
    """Mentions in one text, as `mention_of` describes them."""
    matcher = open_backend(index.backend, index.path)
    return [
        mention_of(row)
        for row in annotate("text", [Text("text", text, language)], matcher, overlaps=overlaps)
    ]


def mention_of(row: Mention) -> dict[str, Any]:
    """A mention as a JSON object; flags that hold are true, others absent but `negated`."""
    made: dict[str, Any] = {
        "start": row.start,
        "end": row.end,
        "text": row.text,
        "concept": row.concept,
        "name": row.name,
        "score": row.score,
        "rule": row.rule,
        "negated": row.is_negated,
    }
    return made | {name: True for name in _FLAGS[1:] if getattr(row, f"is_{name}")}


def annotated(text: str, mentions: Sequence[Mapping[str, Any]]) -> str:
    """The text with mentions in brackets, one in another too: `no [fever | HP:0001945 Fever; negated]`."""
    marks: list[tuple[int, int, int, str]] = []
    for mention in mentions:
        start, end = mention["start"], mention["end"]
        flags = "".join(f"; {name}" for name in _FLAGS if mention.get(name))
        marks.append((start, 1, -end, "["))
        marks.append((end, 0, -start, f" | {mention['concept']} {mention['name']}{flags}]"))
    parts, done = [], 0
    for place, _, _, mark in sorted(marks):
        parts += [text[done:place], mark]
        done = place
    return "".join([*parts, text[done:]])


@dataclass(frozen=True, slots=True)
class _Batch:
    lines: tuple[bytes, ...]
    first: int
    index: Index
    overlaps: bool


def ground_file(
    source: Path,
    target: Path,
    index: Index,
    *,
    overlaps: bool = False,
    workers: int = 1,
    progress: Callable[[int], None] = lambda count: None,
) -> dict[str, int]:
    """Ground a JSON Lines file, `{"id", "text"[, "language"]}` → `{"id", "mentions": […]}`, in its order.

    Lines that cannot be read go to `<target>.dropped.jsonl` with their number and what is wrong. Both files
    appear when all is done; a run that was killed leaves neither.

    Args:
        source: UTF-8, one object a line; empty lines are passed over.
        target: file to write.
        index: what to find, and how.
        overlaps: names inside longer names too.
        workers: processes.
        progress: told how many lines were done since it was last told.

    Returns:
        `texts` grounded, `mentions` found, lines `dropped`.

    Raises:
        UsageError: the source cannot be read, or the target not written.
    """
    dropped = target.with_name(target.name + ".dropped.jsonl")
    texts = mentions = lost = 0
    with contextlib.ExitStack() as stack:
        lines = stack.enter_context(_opened(source, "rb", "the input cannot be read"))
        kept_file = stack.enter_context(_partial(target))
        lost_file = stack.enter_context(_partial(dropped))
        for made in _batches(lines, index, overlaps, workers):
            for row in made:
                is_drop = "error" in row
                line = json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"
                (lost_file if is_drop else kept_file).write(line.encode("utf-8", "backslashreplace"))
                texts, lost = texts + (not is_drop), lost + is_drop
                mentions += len(row.get("mentions", ()))
            progress(len(made))
    os.replace(_part(target), target)
    if lost:
        os.replace(_part(dropped), dropped)
    else:
        _part(dropped).unlink()
        dropped.unlink(missing_ok=True)
    return {"texts": texts, "mentions": mentions, "dropped": lost}


def _part(path: Path) -> Path:
    return path.with_name(f".{path.name}.part")


def _partial(path: Path) -> IO[bytes]:
    return _opened(_part(path), "wb", "the output cannot be written")


def _opened(path: Path, mode: str, problem: str) -> IO[bytes]:
    try:
        opened: IO[bytes] = path.open(mode)
    except OSError as error:
        hint = "name another file"
        raise UsageError(f"{problem}: {error.strerror}", file=str(path), hint=hint) from error
    return opened


def _batches(
    lines: Iterable[bytes], index: Index, overlaps: bool, workers: int
) -> Iterator[list[dict[str, Any]]]:
    """Batches in order, a few ahead of the writer."""
    cut = (
        _Batch(tuple(part), number * LINES_PER_BATCH + 1, index, overlaps)
        for number, part in enumerate(_cut(lines))
    )
    if workers == 1:
        yield from map(_ground_batch, cut)
        return
    with new_pool(workers) as pool:
        waiting: list[concurrent.futures.Future[list[dict[str, Any]]]] = []
        for batch in cut:
            waiting.append(pool.submit(_ground_batch, batch))
            if len(waiting) > 2 * workers:
                yield waiting.pop(0).result()
        for each in waiting:
            yield each.result()


def _cut(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    waiting = iter(lines)
    while part := list(itertools.islice(waiting, LINES_PER_BATCH)):
        yield part


def _ground_batch(batch: _Batch) -> list[dict[str, Any]]:
    matcher = open_backend(batch.index.backend, batch.index.path)
    rows = [_read(line, number) for number, line in enumerate(batch.lines, start=batch.first) if line.strip()]
    documents = [
        (str(row["id"]), [Text("text", row["text"], row["language"])]) for row in rows if "error" not in row
    ]
    found = annotate_many(documents, matcher, overlaps=batch.overlaps)
    return [
        row if "error" in row else {"id": row["id"], "mentions": [mention_of(each) for each in next(found)]}
        for row in rows
    ]


def _read(line: bytes, number: int) -> dict[str, Any]:
    """Id, text and language of a line; else its number and the error."""
    try:
        if len(line) > MAX_LINE_BYTES:
            raise ValueError(f"longer than {MAX_LINE_BYTES} bytes")
        row = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        if not isinstance(row, dict) or not isinstance(row.get("text"), str) or "id" not in row:
            raise ValueError('not an object with "id" and "text"')
        if not isinstance(row["id"], str | int) or isinstance(row["id"], bool):
            raise ValueError('"id" is neither text nor a number')
        language = row.get("language") or "en"
        if not isinstance(language, str):
            raise ValueError('"language" is not text')
    except (ValueError, RecursionError) as error:
        return {"line": number, "error": str(error)[:200]}
    return {"id": row["id"], "text": row["text"], "language": language}
