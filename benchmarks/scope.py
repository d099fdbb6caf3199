"""The scope gate against one developer's marks: citations and whole articles, real and invented, apart.

The weights were learned with the dev half, never with the test half. `unclear` articles do not count.
"""

from __future__ import annotations

import argparse
import collections
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.agreement.precision import wilson
from benchmarks.labels import articles
from benchmarks.measure import RESULTS, ROOT, SHARED, save
from curation.extract.scope import NOTICE, decide
from curation.extract.stage import EXTRACT
from schemas.article import Abstract, Article, ArticlePassage, KeywordGroup, Licence
from schemas.hashing import sha256_text
from scripts.scope_medline import records
from scripts.scope_weights import half_of

GOLD = ROOT / "tests" / "gold"
SETS = {
    "medline": "MEDLINE citations",
    "random": "MEDLINE citations drawn at random later",
    "shared": "whole articles (shared data)",
    "invented": "invented articles",
}
BEFORE = {
    "dev": {
        "medline": ((113, 172), (113, 114)),
        "shared": ((56, 62), (56, 56)),
        "invented": ((10, 41), (10, 11)),
    },
    "test": {
        "medline": ((97, 135), (97, 100)),
        "random": ((83, 85), (83, 89)),
        "shared": ((67, 69), (67, 67)),
        "invented": ((3, 47), (3, 3)),
    },
}
"""The gate of version 4 (points for listed words) on the same marks: kept of human, human of kept; on what
was drawn later the gate before its weights were learned again; of the dev half's, drawn last, nothing."""
_LICENCE = Licence(spdx="CC-BY-4.0", evidence="invented")


@dataclass(frozen=True, slots=True)
class Marked:
    """One marked article and what the gate decides."""

    id: str
    of: str
    kind: str
    label: str
    found: str
    evidence: tuple[str, ...]
    title: str


def invented() -> list[dict[str, Any]]:
    """Articles written by us, with what kind of edge each is."""
    found: list[dict[str, Any]] = json.loads((GOLD / "scope_cases.json").read_text("utf-8"))["cases"]
    return found


def article_of(case: Mapping[str, Any]) -> Article:
    """An invented article or a citation as the parser would give it."""
    body = case.get("body", "")
    return Article(
        id=case["id"],
        source="folder",
        language=case["language"],
        article_type=case["article_type"],
        title=case["title"],
        journal=case["journal"],
        keywords=(KeywordGroup(language=case["language"], type="", terms=tuple(case["keywords"])),),
        abstracts=(Abstract(language=case["language"], type="", text=case["abstract"]),),
        passages=(ArticlePassage(id=f"{case['id']}#p1", section=0, text=body, text_sha256=sha256_text(body)),)
        if body
        else (),
        licence=_LICENCE,
        raw_sha256="0" * 64,
    )


def citations(wanted: set[str]) -> Iterator[Article]:
    """The marked MEDLINE citations; none where the package that has them is not installed."""
    for record in records():
        if (name := f"pmid:{record.pmid}") in wanted:
            wanted.remove(name)  # the package has some twice
            yield article_of(
                {
                    "id": name,
                    "language": "en",
                    "article_type": "research-article",
                    "title": record.title.strip("[]"),
                    "journal": record.journal,
                    "keywords": record.keywords,
                    "abstract": record.abstract or record.other,
                }
            )


def judged(shared: Path) -> Iterator[Marked]:
    """Every marked article, decided."""
    labels: dict[str, str] = {}
    halves = [json.loads((GOLD / f"scope_{half}.json").read_text("utf-8")) for half in ("dev", "test")]
    drawn = {row["id"] for half in halves for row in half["random"]}
    for row in (row for half in halves for row in (*half["articles"], *half["random"])):
        labels[row["id"]] = row["label"]
    for article in citations(set(labels)):
        of = "random" if article.id in drawn else "medline"
        yield _judged(article, of, "citation", labels[article.id])
    for article in articles(shared):
        if article.id in labels:
            yield _judged(article, "shared", article.article_type, labels[article.id])
    for case in invented():
        yield _judged(article_of(case), "invented", case["kind"], case["label"])


def _judged(article: Article, of: str, kind: str, label: str) -> Marked:
    found, evidence = decide(article)
    return Marked(article.id, of, kind, label, found, evidence, article.title)


def rates(rows: Sequence[Marked]) -> dict[str, Any]:
    """Recall and precision of what is kept, with Wilson intervals, and how often the reason is right."""
    rows = [row for row in rows if row.found != NOTICE]
    clear = [row for row in rows if row.label != "unclear"]
    human = [row for row in clear if not row.label]
    kept = [row for row in clear if not row.found]
    both = sum(not row.found for row in human)
    out = [row for row in clear if row.label and row.found]
    return {
        "recall": rate(both, len(human)),
        "precision": rate(both, len(kept)),
        "reason": rate(sum(row.label == row.found for row in out), len(out)),
        "unclear": {
            "kept": sum(not row.found for row in rows if row.label == "unclear"),
            "of": len(rows) - len(clear),
        },
    }


def rate(right: int, of: int) -> dict[str, Any]:
    """A share with its interval."""
    low, high = wilson(right, of) if of else (0.0, 1.0)
    return {
        "right": right,
        "of": of,
        "share": round(right / max(of, 1), 3),
        "low": round(low, 3),
        "high": round(high, 3),
    }


def speed(shared: Path, rounds: int = 5) -> dict[str, float]:
    """Milliseconds of the gate and of all of extract for one shared article, the fastest of some rounds."""
    read = list(articles(shared))
    gate, whole = [], []
    for _ in range(rounds):
        started = time.process_time()
        for article in read:
            decide(article)
        gate.append(time.process_time() - started)
        started = time.process_time()
        for article in read:
            collections.deque(EXTRACT.process(article, **EXTRACT.params), maxlen=0)
        whole.append(time.process_time() - started)
    return {
        "gate_ms": round(1000 * min(gate) / len(read), 3),
        "extract_ms": round(1000 * min(whole) / len(read), 3),
    }


def section() -> list[str]:
    """The section of the report, from the committed results."""
    result = json.loads((RESULTS / "scope.json").read_text("utf-8"))
    lines = [
        "## Scope gate",
        "",
        "Is an article about human medicine? One developer's marks (`tests/gold/README.md`), split by hash "
        "of the id. Weights learned with the dev half, but for what was drawn at random; `unclear` articles "
        "left out, and notices (corrections), which leave before. In brackets 95 % Wilson intervals; before: "
        "the points for listed words of version 4, whose words had been written with the shared articles of "
        "both halves in view. Invented articles are short and mostly edges. "
        "`python -m benchmarks.scope`",
        "",
        "| articles | half | recall before | recall | precision before | precision | reason right |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for half in ("dev", "test"):
        for name, title in SETS.items():
            row = result[half][name]
            before = [f"{right / of:.3f}" for right, of in BEFORE[half].get(name, ())] or ["", ""]
            lines.append(
                f"| {title} | {half} | {before[0]} | {_shown(row['recall'])} | {before[1]} | "
                f"{_shown(row['precision'])} | {row['reason']['share']:.3f} |"
            )
        row = result[half]["all"]
        lines.append(
            f"| all | {half} | | {_shown(row['recall'])} | | {_shown(row['precision'])} | "
            f"{row['reason']['share']:.3f} |"
        )
    took = result["speed"]
    lines += ["", f"{took['gate_ms']} ms of {took['extract_ms']} ms of extract for a shared article.", ""]
    wrong = ", ".join(
        f"{kind} {right} of {of}" for kind, (right, of) in result["kinds"].items() if right < of
    )
    return [*lines, f"Invented kinds of the test half not all decided rightly: {wrong or 'none'}.", ""]


def _shown(row: Mapping[str, Any]) -> str:
    return f"{row['share']:.3f} ({row['right']}/{row['of']}; {row['low']:.3f}–{row['high']:.3f})"


def main() -> None:
    """Score, print, save."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=SHARED)
    options.add_argument("--explain", action="store_true", help="print what is wrong in dev")
    given = options.parse_args()
    rows = list(judged(given.data))
    result: dict[str, Any] = {"speed": speed(given.data)}
    for half in ("dev", "test"):
        own = [row for row in rows if half_of(row.id) == half]
        result[half] = {name: rates([row for row in own if row.of == name]) for name in SETS}
        result[half]["all"] = rates(own)
    kinds: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
    for row in rows:
        if row.of == "invented" and half_of(row.id) == "test":
            kinds[row.kind][0] += bool(row.label) == bool(row.found)
            kinds[row.kind][1] += 1
    result["kinds"] = dict(sorted(kinds.items()))
    if given.explain:
        for row in rows:
            is_wrong = row.label != "unclear" and bool(row.label) != bool(row.found)
            if half_of(row.id) == "dev" and is_wrong:
                print(row.id, row.label or "human", "->", row.found or "human", row.title[:90], row.evidence)
    print(save("scope", result))
    print("\n".join(section()))


if __name__ == "__main__":
    main()
