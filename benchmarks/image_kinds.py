"""Kinds of the shared images against one developer's marks: confusion matrix, decided share, speed.

Rules and thresholds were set on the images of TUNED; the others were only scored. Both are reported apart.
"""

from __future__ import annotations

import argparse
import collections
import json
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import etree

from benchmarks.measure import ROOT, SHARED, save
from curation.extract.stage import EXTRACT
from curation.images.decode import open_image
from curation.images.features import measure
from curation.images.fingerprint import perceptual_hash, thumbnail
from curation.images.kinds import decide
from schemas.article import Article
from schemas.extracted import Figure
from schemas.stages import Drop
from sources import folder
from sources.ledger import Ledger
from sources.stage import PARSE
from sources.store import RawStore

GOLD = ROOT / "tests" / "gold" / "image_kinds.json"
TUNED = frozenset(
    {"10.1101_2020.04.07.030213", "10.1371_journal.pone.0091296", "10.7554_eLife.00353", "psychologia"}
)
_CNXML = "{http://cnx.rice.edu/cnxml}"


@dataclass(frozen=True, slots=True)
class Captioned:
    """One shared image and what its figure says."""

    caption: str = ""
    panels: tuple[str, ...] = ()


def figures_of(shared: Path, scratch: Path) -> Iterator[tuple[Figure, Path]]:
    """Figures of the articles with images, and the raw/ folder their graphics lie in."""
    store = RawStore(scratch / "raw", Ledger(scratch / "ledger.sqlite"))
    root = shared / "jats-with-images"
    context = folder.FolderContext(root=root, store=store)
    for locator in folder.discover(root):
        fetched = folder.fetch(locator, context)
        if isinstance(fetched, Drop):
            continue
        for article in PARSE.process(fetched, raw=scratch / "raw", **PARSE.params):
            if isinstance(article, Article):
                rows = EXTRACT.process(article, **EXTRACT.params)
                yield from ((row, scratch / "raw") for row in rows if isinstance(row, Figure))


def captions(shared: Path) -> Mapping[str, Captioned]:
    """Caption by SHA-256 of the image: articles by our own reader, book modules by a look at their XML."""
    found: dict[str, Captioned] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for figure, _ in figures_of(shared, Path(scratch)):
            texts = tuple(figure.caption[panel.start : panel.end] for panel in figure.panels)
            for graphic in figure.graphics:
                if graphic.sha256:
                    found.setdefault(graphic.sha256, Captioned(figure.caption, texts))
    return found


def book_captions(shared: Path) -> Mapping[str, str]:
    """Caption by file name of the image, from CNXML figures."""
    found: dict[str, str] = {}
    for path in sorted((shared / "openstax").rglob("*.cnxml")):
        tree = etree.parse(path, etree.XMLParser(resolve_entities=False, no_network=True))
        for element in tree.iter(f"{_CNXML}figure"):
            text = " ".join(
                " ".join(str(part) for part in caption.itertext())
                for caption in element.iter(f"{_CNXML}caption")
            )
            for image in element.iter(f"{_CNXML}image"):
                found.setdefault(str(image.get("src")).rsplit("/", 1)[-1], " ".join(text.split()))
    return found


def score(shared: Path) -> list[dict[str, Any]]:
    """One row per marked image: what was marked, what was decided and why."""
    gold = json.loads(GOLD.read_text("utf-8"))["images"]
    by_hash, by_name = captions(shared), book_captions(shared)
    rows = []
    for entry in gold:
        within = "media" if (shared / "openstax" / entry["source"]).is_dir() else ""
        base = shared / ("openstax" if within else "jats-with-images") / entry["source"] / within
        known = by_hash.get(entry["sha256"]) or Captioned(by_name.get(entry["file"], ""))
        image = open_image(base / entry["file"])
        if image.sha256 != entry["sha256"]:
            raise SystemExit(f"{entry['file']} is not the image that was marked")
        kind, evidence = decide(measure(image.image), known.caption, known.panels)
        rows.append({**entry, "decided": kind, "evidence": evidence, "has_caption": bool(known.caption)})
    return rows


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts, accuracy of what was decided and of all, and the confusion matrix (marked -> decided)."""
    matrix: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for row in rows:
        matrix[row["kind"]][row["decided"] or "undecided"] += 1
    decided = [row for row in rows if row["decided"]]
    right = sum(row["decided"] == row["kind"] for row in decided)
    return {
        "images": len(rows),
        "decided": len(decided),
        "right": right,
        "precision_of_decided": round(right / max(len(decided), 1), 3),
        "accuracy_of_all": round(right / max(len(rows), 1), 3),
        "marked_to_decided": {kind: dict(sorted(counts.items())) for kind, counts in sorted(matrix.items())},
    }


def speed(shared: Path) -> dict[str, float]:
    """Images per CPU second through everything that is measured of an image, and through decoding alone."""
    files = sorted(path for path in (shared / "jats-with-images").rglob("*") if path.is_file())
    files = [path for path in files if path.suffix != ".xml"]
    started = time.process_time()
    images = [open_image(path) for path in files]
    decoded = time.process_time() - started
    started = time.process_time()
    for image in images:
        decide(measure(image.image), "")
        perceptual_hash(image.image)
        thumbnail(image.image)
    looked = time.process_time() - started
    return {
        "images": len(files),
        "megapixels": round(sum(image.width * image.height for image in images) / 1e6, 1),
        "decode_per_second": round(len(files) / decoded, 1),
        "all_per_second": round(len(files) / (decoded + looked), 1),
    }


def main() -> None:
    """Score, print the mistakes, save."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=SHARED)
    options.add_argument(
        "--explain", action="store_true", help="print every wrong or undecided image of TUNED"
    )
    given = options.parse_args()
    rows = score(given.data)
    tuned = [row for row in rows if row["source"] in TUNED]
    result = {
        "gold": "one developer's reading",
        "tuned_on": summary(tuned),
        "held_out": summary([row for row in rows if row["source"] not in TUNED]),
        "all": summary(rows),
        "speed": speed(given.data),
    }
    if given.explain:
        for row in tuned:
            if row["decided"] != row["kind"]:
                print(row["file"], row["kind"], "->", row["decided"] or "?", *row["evidence"], sep="\n   ")
    print(json.dumps(result, indent=1))
    print(save("image_kinds", result))


if __name__ == "__main__":
    main()
