"""What is about the publication: notices, and passages left out of every task as boilerplate.

Counts over the shared articles, and notices among the titles of the MEDLINE citations the scope gate learns
from. What each rule took was read by one developer; the counts of what was wrong stand in `READ`.
"""

from __future__ import annotations

import collections
import json
import sys
from typing import Any

from benchmarks.labels import articles
from benchmarks.measure import RESULTS, SHARED, save
from curation.extract.notices import notice
from curation.extract.stage import EXTRACT
from schemas.extracted import Passage
from scripts.scope_medline import records
from tests.curation.cases.stories import report

RESULT = "publication"
TITLES_ALONE = 438
"""Passages that the list of whole titles, which stood before, took of the same articles."""
READ = {
    "passages of articles not taken before": (36, 1, "an inclusion criterion: a signed consent form"),
    "learning objectives of a textbook, of 75 alike": (3, 0, ""),
    "titles of notices of the shared articles": (14, 0, ""),
    "MEDLINE titles": (212, 1, "an essay that calls itself an addendum"),
}
"""What was read: how many, how many wrong, which."""


def measure() -> dict[str, Any]:
    """Notices by what told them, passages by what told them."""
    notices, passages = collections.Counter[str](), collections.Counter[str]()
    count = 0
    for article in articles(SHARED):
        count += 1
        if told := notice(article):
            notices[told.partition(":")[0]] += 1
        for row in EXTRACT.process(article, **EXTRACT.params):
            if isinstance(row, Passage):
                passages["all"] += 1
                if row.boilerplate:
                    passages[_told(row)] += 1
    titles = [record.title.strip("[]") for record in records()]
    return {
        "articles": count,
        "notices": dict(sorted(notices.items())),
        "passages": dict(sorted(passages.items())),
        "titles": len(titles),
        "title_notices": sum(bool(notice(report([("", ["x"])], title=title))) for title in titles),
    }


def _told(passage: Passage) -> str:
    if passage.boilerplate.startswith("section type "):
        return "section type"
    return "whole title" if passage.boilerplate in passage.section_path else "paragraph"


def section() -> list[str]:
    """The lines of the benchmarks page."""
    result = json.loads((RESULTS / f"{RESULT}.json").read_text("utf-8"))
    told = result["passages"]
    taken = sum(count for name, count in told.items() if name != "all")
    kinds = ", ".join(f"{count} by {name}" for name, count in told.items() if name != "all")
    lines = [
        "## What is about the publication",
        "",
        f"Of {result['articles']} shared articles {sum(result['notices'].values())} are notices; of "
        f"{told['all']:,} passages {taken} are about the publication ({kinds}; {TITLES_ALONE} by the list of "
        f"titles that stood before); of {result['titles']:,} titles of MEDLINE citations "
        f"{result['title_notices']} are those of notices. `python -m benchmarks.publication`",
        "",
        "| read by one developer | rows | wrong |",
        "|---|---:|---|",
    ]
    for name, (rows, wrong, what) in READ.items():
        lines.append(f"| {name} | {rows} | {wrong}{f' ({what})' if what else ''} |")
    return [*lines, ""]


def main() -> int:
    """Count and save."""
    print(save(RESULT, measure()))
    print("\n".join(section()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
