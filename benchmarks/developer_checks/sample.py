"""Draws rows of a released task for a developer to read, and checks the verdicts that are committed.

The release hash seeds the draw, so that a release has one sample and nobody chooses it.
The verdicts are one developer's reading, not an expert's judgement.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from schemas.hashing import sha256_text

ROWS = 40
LEAST = 0.80
KIND = "developer check"
VERDICTS = ("acceptable", "wrong", "unsure")
FIELDS = ("release_hash", "task", "query-id", "corpus-id", "score", "rule", "verdict", "reason", "kind")
SHOWN_EXCLUDED = 8

Row = dict[str, Any]


def named(directory: Path) -> tuple[str, str]:
    """Release hash and task of a released task, of any format version: old releases stay readable."""
    manifest = json.loads((directory / "release.json").read_text("utf-8"))
    return str(manifest["release_hash"]), str(manifest["task"])


def read_table(directory: Path, name: str) -> list[Row]:
    """Rows of one table of a released task, all splits, without image bytes; none if the table is absent."""
    found: list[Row] = []
    for path in sorted((directory / name).glob("*.parquet")):
        columns = [column for column in pq.read_schema(path).names if column != "image"]
        split = path.name.partition("-")[0]
        found += [{**row, "split": split} for row in pq.ParquetFile(path).read(columns).to_pylist()]
    return found


def draw(
    release_hash: str, rows: Iterable[Row], ids: Sequence[str], count: int, per: Sequence[str]
) -> list[Row]:
    """`count` of the rows in the order of sha256(release hash + ids), one from each stratum in turn.

    Args:
        release_hash: seeds the draw.
        rows: rows with the columns of `ids` and `per`.
        ids: columns that identify a row.
        count: how many rows to draw; fewer if there are fewer.
        per: columns whose values are the strata; a stratum that runs out gives its places to the others.

    Returns:
        The drawn rows, by stratum, then by hash.
    """
    strata: dict[tuple[str, ...], list[tuple[str, Row]]] = defaultdict(list)
    for row in rows:
        key = sha256_text(release_hash + "".join(str(row[name]) for name in ids))
        strata[tuple(str(row[name]) for name in per)].append((key, row))
    turns = []
    for name, members in strata.items():
        for place, (key, row) in enumerate(sorted(members, key=lambda member: member[0])):
            turns.append((place, name, key, row))
    turns.sort(key=lambda turn: turn[:3])
    return [row for _, _, _, row in sorted(turns[:count], key=lambda turn: (turn[1], turn[2]))]


def sample(directory: Path, count: int = ROWS) -> list[Row]:
    """The qrels of a released task to read: as many of each grade as there are, up to `count` in all."""
    released, _ = named(directory)
    return draw(released, read_table(directory, "qrels"), ("query-id", "corpus-id"), count, ("score",))


def lower_bound(right: int, of: int) -> float:
    """Wilson's lower 95 % bound of a share, 0 of nothing (https://doi.org/10.1080/01621459.1927.10502953)."""
    if not of:
        return 0.0
    share, square = right / of, 1.959964**2
    middle = share + square / (2 * of)
    half = math.sqrt(square * (share * (1 - share) / of + square / (4 * of * of)))
    return (middle - half) / (1 + square / of)


def problems(rows: Sequence[Mapping[str, Any]], drawn: Sequence[Row] | None = None) -> list[str]:
    """What is wrong with committed verdicts: their form and, given the drawn rows, which pairs they judge."""
    found = []
    for number, row in enumerate(rows, start=1):
        if set(row) != set(FIELDS):
            found.append(f"line {number}: fields {sorted(set(row) ^ set(FIELDS))} are missing or unknown")
        elif row["verdict"] not in VERDICTS or row["kind"] != KIND or not str(row["reason"]).strip():
            found.append(f"line {number}: a verdict of {VERDICTS}, a reason and kind '{KIND}' are needed")
    pairs = Counter((row.get("query-id"), row.get("corpus-id")) for row in rows)
    found += [f"{pair}: judged {times} times" for pair, times in pairs.items() if times > 1]
    if len({(row.get("release_hash"), row.get("task")) for row in rows}) > 1:
        found.append("rows of more than one release or task")
    if drawn is not None:
        wanted = {(row["query-id"], row["corpus-id"]) for row in drawn}
        found += [f"{pair}: in the sample, not judged" for pair in sorted(wanted - pairs.keys())]
        found += [f"{pair}: judged, not in the sample" for pair in sorted(pairs.keys() - wanted)]
    return found


def check(path: Path, directory: Path | None = None) -> int:
    """Print counts and the lower bound of a file of verdicts.

    Args:
        path: JSON lines with the fields of FIELDS.
        directory: the released task; if given, the rows must be exactly its sample.

    Returns:
        0 if the file is whole and the bound is at least LEAST, 1 if the bound is lower, 2 if it is not whole.
    """
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    found = problems(rows, sample(directory) if directory else None)
    if directory and {(row.get("release_hash"), row.get("task")) for row in rows} - {named(directory)}:
        found.append("rows of another release or task")
    for line in found:
        print(line, file=sys.stderr)
    counts = Counter(row.get("verdict") for row in rows)
    bound = lower_bound(counts["acceptable"], len(rows))
    print(f"n {len(rows)}  " + "  ".join(f"{name} {counts[name]}" for name in VERDICTS))
    print(f"Wilson 95 % lower bound of acceptable: {bound:.3f} (needed {LEAST:.2f})")
    return 2 if found else int(bound < LEAST)


def _facts(row: Mapping[str, Any], names: Sequence[str]) -> str:
    return "  ".join(f"{name}={row[name]}" for name in names if row.get(name) not in (None, "", 0))


class _Released:
    """The tables a reader needs beside a pair of ids."""

    def __init__(self, directory: Path) -> None:
        self.queries = {row["id"]: row for row in read_table(directory, "queries")}
        self.documents = {row["id"]: row for row in read_table(directory, "corpus")}
        self.query_facts = {row["id"]: row for row in read_table(directory, "provenance/queries")}
        self.document_facts = {row["id"]: row for row in read_table(directory, "provenance/corpus")}
        self.evidence = {
            (row["query-id"], row["corpus-id"]): row["evidence"]
            for row in read_table(directory, "provenance/qrels")
        }
        self.excluded: dict[str, list[Row]] = defaultdict(list)
        for row in read_table(directory, "excluded"):
            self.excluded[row["query-id"]].append(row)

    def texts(self, query: str, document: str) -> list[str]:
        """Both sides of a pair, with what is known of them."""
        sizes = ("image_width", "image_height")
        image = ("image_count", "image_sha256", *sizes, "image_transform", "is_synthetic")
        asked, held = self.queries[query], self.documents[document]
        asked, held = {**self.query_facts[query], **asked}, {**self.document_facts[document], **held}
        facets = ("language", "specialty", "modality", "region", "tier", "genre", "patient_id", "title")
        return [
            f"query    {_facts(asked, ('article_id', 'source_id', *facets))}",
            f"  image  {_facts(asked, image)}",
            f"  text   {asked['text']}",
            f"document {_facts(held, ('article_id', *facets))}",
            f"  image  {_facts(held, image)}",
            f"  text   {held['text']}",
        ]

    def row(self, row: Row) -> list[str]:
        """A qrel with its texts, evidence and the query's excluded pairs."""
        pair = (row["query-id"], row["corpus-id"])
        lines = [f"{' → '.join(pair)}  {_facts(row, ('score', 'rule', 'via', 'split'))}", *self.texts(*pair)]
        for span in self.evidence.get(pair, []):
            lines.append(f"evidence {span['text_id']} [{span['start']}:{span['end']}] {span['text']}")
        by_reason: dict[str, list[str]] = defaultdict(list)
        for other in self.excluded[row["query-id"]]:
            by_reason[other["reason"]].append(other["corpus-id"])
        for reason, ids in sorted(by_reason.items()):
            some = ", ".join(sorted(ids)[:SHOWN_EXCLUDED])
            lines.append(f"excluded {reason} ({len(ids)}): {some}{', …' * (len(ids) > SHOWN_EXCLUDED)}")
        return lines


def _blank(released: tuple[str, str], row: Row) -> Row:
    judged = {name: row.get(name, "") for name in FIELDS}
    return {**judged, "release_hash": released[0], "task": released[1], "kind": KIND}


def _print_rows(directory: Path, options: argparse.Namespace) -> None:
    released = named(directory)
    texts, seed = _Released(directory), released[0]
    if options.drops:
        drops = [row for row in read_table(directory, "provenance/drops") if row["stage"] != "crawl"]
        for row in draw(seed, drops, ("stage", "unit", "id"), options.drops, ("stage", "unit", "reason")):
            print(_facts(row, ("stage", "unit", "reason", "id", "article_id", "detail")))
    elif options.excluded:
        pairs = [row for rows in texts.excluded.values() for row in rows]
        for row in draw(seed, pairs, ("query-id", "corpus-id"), options.excluded, ("reason",)):
            pair = (row["query-id"], row["corpus-id"])
            print("\n".join([f"\n## {' → '.join(pair)}  {row['reason']}", *texts.texts(*pair)]))
    else:
        for number, row in enumerate(sample(directory, options.rows), start=1):
            line = json.dumps(_blank(released, row), ensure_ascii=False)
            print(line if options.blank else "\n".join([f"\n## {number}. {seed[:12]}", *texts.row(row)]))


def main() -> int:
    """Command line; exit code 1 if the committed verdicts do not reach the bound, 2 if they are not whole."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("directory", type=Path, nargs="?", help="directory of one released task")
    options.add_argument("--rows", type=int, default=ROWS, help="how many qrels")
    options.add_argument("--excluded", type=int, default=0, metavar="N", help="N excluded pairs instead")
    options.add_argument("--drops", type=int, default=0, metavar="N", help="N dropped units instead")
    options.add_argument("--blank", action="store_true", help="JSON lines without verdicts, to fill in")
    options.add_argument("--check", type=Path, metavar="FILE", help="verdicts to count")
    given = options.parse_args()
    if given.check:
        return check(given.check, given.directory)
    if given.directory is None:
        options.error("a directory of a released task is needed")
    _print_rows(given.directory, given)
    return 0


if __name__ == "__main__":
    sys.exit(main())
