"""JATS parse + extract beside pubmed_parser 0.5.1 and bare lxml, on the same real files, in one run.

Files per CPU second of one core, Parquet apart. pubmed_parser does four passes (article, captions, text and
references), and with its fifth (tables) what `parse` reads too; all cover less than `parse` + `extract`. Its
crashes are counted.
"""

from __future__ import annotations

import argparse
import collections
import importlib
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lxml import etree

from benchmarks.measure import SHARED, rate, rounds, save
from curation.extract.stage import EXTRACT
from flows.engine.execution import collect_rarely
from schemas.article import RawArticle
from schemas.errors import InputError
from schemas.hashing import sha256_bytes
from schemas.ids import folder_article_id, pmc_article_id
from sources import jats

PEER_PASSES = (
    "parse_pubmed_xml",
    "parse_pubmed_caption",
    "parse_pubmed_paragraph",
    "parse_pubmed_references",
)


TABLES = "parse_pubmed_table"
"""The peer's pass over tables, which `parse` reads since it makes rows of them."""


def raw_of(path: Path, data: bytes) -> RawArticle:
    """The crawl row a file would have, without media; the name of a bucket file is its id."""
    digest = sha256_bytes(data)
    bucket = re.fullmatch(r"(PMC\d+)\.(\d+)", path.stem)
    if bucket is None:
        return RawArticle(
            id=folder_article_id(None, digest),
            source="folder",
            locator=path.name,
            path=path.name,
            sha256=digest,
        )
    name, version = bucket.group(1), int(bucket.group(2))
    return RawArticle(
        id=pmc_article_id(name, version),
        source="pmc",
        locator=name,
        version=version,
        path=path.name,
        sha256=digest,
    )


def measure(folder: Path, count: int) -> dict[str, Any]:
    """Rates of all contestants over the bucket's XML files."""
    files = sorted(folder.glob("*/*.xml"))
    loaded = [(path, path.read_bytes()) for path in files]
    raws = [(raw_of(path, data), data) for path, data in loaded]
    found: collections.Counter[str] = collections.Counter()
    crashes: dict[str, str] = {}

    def ours() -> None:
        found.clear()
        for raw, data in raws:
            try:
                article = jats.parse(data, raw)
            except InputError as error:
                found[f"quarantined {error.reason}"] += 1
                continue
            for row in EXTRACT.process(article, **EXTRACT.params):
                found[type(row).__name__] += 1

    def bare() -> None:
        for path, _ in loaded:
            etree.parse(str(path), etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True))

    collect_rarely()  # as worker processes do; it serves every contestant
    contestants: dict[str, Callable[[], object]] = {"medqrels": ours, "lxml.etree.parse": bare}
    for name, passes in (
        ("pubmed_parser", PEER_PASSES),
        ("pubmed_parser with tables", (*PEER_PASSES, TABLES)),
    ):
        peer = _peer(files, passes, crashes)
        if peer is not None:
            contestants[name] = peer
    seconds = rounds(contestants, count)
    return {
        "files": len(files),
        "bytes": sum(len(data) for _, data in loaded),
        "rounds": count,
        "files_per_cpu_second": {name: rate(len(files), taken) for name, taken in seconds.items()},
        "medqrels_rows": dict(sorted(found.items())),
        "medqrels_crashes": 0,
        "pubmed_parser_crashes": dict(sorted(crashes.items())),
    }


def _peer(files: list[Path], names: tuple[str, ...], crashes: dict[str, str]) -> Callable[[], object] | None:
    try:
        module = importlib.import_module("pubmed_parser")
    except ImportError:
        return None
    passes = [getattr(module, name) for name in names]

    def work() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for path in files:
                for one in passes:
                    try:
                        one(str(path))
                    except Exception as error:  # a crash is what is being counted
                        crashes[f"{path.stem} {one.__name__}"] = f"{type(error).__name__}: {error}"[:120]

    return work


def main() -> None:
    """Measure and save."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=SHARED / "pmc-bucket")
    options.add_argument("--rounds", type=int, default=5)
    given = options.parse_args()
    result = measure(given.data, given.rounds)
    print(save("jats_speed", result), result["files_per_cpu_second"], len(result["pubmed_parser_crashes"]))


if __name__ == "__main__":
    main()
