"""Sub-captions of panels in captions of the shared PMC articles, against one developer's marks.

A sub-caption is right when a marked one of the same letter shares at least .75 of the words of both.
Rules were written on the captions of dev; test was scored as often as TEST_RUNS says, and once its errors
were counted by kind (letters, too long, too short); none was read.

Run: `python -m benchmarks.subcaptions`; `--test` scores the test half too, `--explain` prints errors of dev.
"""

from __future__ import annotations

import argparse
import collections
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.jats_speed import raw_of
from benchmarks.measure import RESULTS, ROOT, SHARED, save
from curation.extract.stage import EXTRACT
from schemas.extracted import Figure
from schemas.hashing import sha256_text
from sources import jats

GOLD = ROOT / "tests" / "gold" / "subcaptions.json"
TARGET = 0.95
TEST_RUNS = 6
_SAME = 0.75
_WORD = re.compile(r"\w+")

Part = tuple[str, int, int]
"""Letter, start and end of a sub-caption."""


def figures(shared: Path, articles: set[str]) -> Iterator[Figure]:
    """Figures of the named articles of pmc-bucket."""
    for path in sorted((shared / "pmc-bucket").glob("PMC*/PMC*.xml")):
        if f"pmc:{path.stem}" in articles:
            data = path.read_bytes()
            rows = EXTRACT.process(jats.parse(data, raw_of(path, data)), **EXTRACT.params)
            yield from (row for row in rows if isinstance(row, Figure))


def right_of(caption: str, found: Iterable[Part], marked: Sequence[Part]) -> int:
    """How many found sub-captions have the letter and the words of a marked one."""
    known = {letter: _words(caption, start, end) for letter, start, end in marked}
    return sum(
        letter in known and _alike(_words(caption, start, end), known[letter]) for letter, start, end in found
    )


def _words(caption: str, start: int, end: int) -> frozenset[int]:
    return frozenset(word.start() for word in _WORD.finditer(caption, start, end))


def _alike(one: frozenset[int], other: frozenset[int]) -> bool:
    return len(one & other) >= _SAME * max(len(one | other), 1)


def score(rows: Iterable[tuple[str, Sequence[Part], Sequence[Part]]]) -> dict[str, Any]:
    """Precision, recall and F1 over (caption, found, marked)."""
    counts: collections.Counter[str] = collections.Counter()
    for caption, found, marked in rows:
        right = right_of(caption, found, marked)
        counts.update(captions=1, marked=len(marked), found=len(found), right=right)
        counts.update(whole=right == len(found) == len(marked))
    precision, recall = counts["right"] / counts["found"], counts["right"] / counts["marked"]
    return {
        **counts,
        "precision": round(precision, 3),
        "recall": round(recall, 3),
        "f1": round(2 * precision * recall / (precision + recall), 3),
    }


def marks() -> list[dict[str, Any]]:
    """The marked captions."""
    found: list[dict[str, Any]] = json.loads(GOLD.read_text("utf-8"))["captions"]
    return found


def compared(shared: Path, split: str) -> list[tuple[str, str, list[Part], list[Part]]]:
    """Figure id, caption, found and marked sub-captions of a half."""
    entries = {entry["figure"]: entry for entry in marks() if entry["split"] == split}
    rows = []
    for figure in figures(shared, {name.partition("#")[0] for name in entries}):
        entry = entries.get(figure.id)
        if entry is None:
            continue
        if sha256_text(figure.caption) != entry["sha256"]:
            raise SystemExit(f"{figure.id}: the caption is not the one that was marked")
        found = [(panel.letter, panel.start, panel.end) for panel in figure.panels]
        marked = [(part["letter"], part["start"], part["end"]) for part in entry["parts"]]
        rows.append((figure.id, figure.caption, found, marked))
    if len(rows) != len(entries):
        raise SystemExit(
            f"{len(entries) - len(rows)} marked captions of {split} are not in {shared}/pmc-bucket"
        )
    return rows


def section() -> list[str]:
    """The section of benchmarks/README.md."""
    result = json.loads((RESULTS / "subcaptions.json").read_text("utf-8"))
    lines = [
        "## Sub-captions of panels",
        "",
        "Captions of shared PMC articles whose letters may be panels, split by the SHA-256 of the article. "
        "Right: same letter, and at least .75 of the words of both. One developer marked them and then wrote "
        f"the rules, on dev. Test was scored {result['test_runs']} times; its errors were counted by kind "
        "once, not read. `python -m benchmarks.subcaptions --test`",
        "",
        "| half | captions | marked | found | right | precision | recall | F1 | captions wholly right |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for half in ("dev", "test"):
        row = result[half]
        cells = (half, *(row[key] for key in ("captions", "marked", "found", "right")))
        shares = (f"{row[key]:.3f}" for key in ("precision", "recall", "f1"))
        lines.append(f"| {' | '.join(map(str, cells))} | {' | '.join(shares)} | {row['whole']} |")
    verdict = "met" if result["test"]["f1"] >= TARGET else "missed"
    return [*lines, "", f"Target: F1 ≥ {TARGET} on test: {verdict}.", ""]


def main() -> None:
    """Score, print, save when both halves were scored."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=SHARED)
    options.add_argument("--test", action="store_true", help="score the test half too, and save")
    options.add_argument(
        "--explain", action="store_true", help="print the captions of dev that are not wholly right"
    )
    given = options.parse_args()
    dev = compared(given.data, "dev")
    result: dict[str, Any] = {"dev": score(row[1:] for row in dev)}
    if given.explain:
        for name, caption, found, marked in dev:
            if right_of(caption, found, marked) < max(len(found), len(marked)):
                print(
                    name,
                    caption,
                    *_told(caption, found, "found"),
                    *_told(caption, marked, "marked"),
                    sep="\n  ",
                )
    if given.test:
        result |= {"test": score(row[1:] for row in compared(given.data, "test")), "test_runs": TEST_RUNS}
        print(save("subcaptions", result))
    print(json.dumps(result, indent=1))


def _told(caption: str, parts: Sequence[Part], what: str) -> list[str]:
    return [
        f"{what} {letter}: {caption[start:end][:70]} … {caption[start:end][-30:]}"
        for letter, start, end in parts
    ]


if __name__ == "__main__":
    main()
