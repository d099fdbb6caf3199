"""Whether a query of clinical_case gives its diagnosis away: 200 planted leaks of every class, and none.

The reports are generated (benchmarks/generated_leaks.py) and go through extraction, cases, grounding with the
default vocabulary, and the task's own stage; only their diagnosis is given instead of read.
"""

from __future__ import annotations

import argparse
import collections
import json
import re
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.generated_leaks import Disease, Leak, diseases, leaks, plain
from benchmarks.measure import RESULTS, save
from benchmarks.principal_diagnosis import interval, mentions_of, told
from curation.concepts.matcher import Matcher
from curation.concepts.native import open_index
from curation.diagnosis.concepts import GENERAL, Concepts
from curation.tasks.clinical_case.build import build
from curation.tasks.clinical_case.records import Cut
from curation.tasks.clinical_case.settings import Settings
from curation.tasks.shared.case_facts import read_concepts
from flows.engine.progress import SilentReporter
from flows.engine.workspace import open_workspace
from flows.vocabulary.indexes import index_in_use
from schemas.article import Licence
from schemas.benchmark import Query
from schemas.diagnosis import PrincipalDiagnosis
from schemas.stages import Drop
from tests.curation.cases.stories import report

COUNT = 200
FEWEST_GONE, MOST_FALSE = 0.95, 0.05
BY = Licence(spdx="CC-BY-4.0", evidence="generated")


@dataclass(frozen=True, slots=True)
class World:
    """A vocabulary in use, and the diseases that reports may be about."""

    matcher: Matcher
    concepts: Concepts
    tables: dict[str, Path]
    known: list[Disease]
    wide: list[Disease]


def open_world(folder: Path) -> World:
    """The vocabulary that a new workspace has; the folder must stay."""
    index = index_in_use(open_workspace(folder, create=True), "native", SilentReporter())
    tables = {name: index.vocabulary.table(name) for name in ("names", "types", "relations")}
    concepts = read_concepts(tables["types"], tables["relations"])
    names: dict[str, list[str]] = {}
    wanted = ["concept", "language", "name", "source", "is_preferred", "is_suppressed", "term_type"]
    for row in pq.read_table(tables["names"], columns=wanted).to_pylist():
        own = row["term_type"] not in ("BROAD", "NARROW", "RELATED") and not row["is_suppressed"]
        if row["concept"].startswith("MONDO:") and row["language"] == "en" and own:
            listed = names.setdefault(row["concept"], [])
            is_label = row["source"] == "MONDO" and row["is_preferred"]
            listed.insert(0 if is_label else len(listed), row["name"])
    known, wide = diseases(names, concepts), diseases(names, concepts, GENERAL)
    return World(open_index(index.path), concepts, tables, known, wide)


def outcome(leak: Leak, world: World) -> tuple[str, str]:
    """What became of a report: its query ('' where it was dropped), and the reason of its cut or drop."""
    parts = [("Case presentation", [leak.text])]
    parts += [("Discussion", [leak.discussion])] if leak.discussion else []
    article = report(parts, title="An unusual illness: a case report", licence=BY)
    item = told(article)
    case = item.cases[0]
    diagnosis = PrincipalDiagnosis(
        case_id=case.id, article_id=case.article_id, concept=leak.concept, rule="title", confidence=0.9
    )
    rows = list(
        build(
            item.source,
            [article],
            [case],
            item.passages,
            mentions_of(item, world.matcher),
            [],
            [],
            [diagnosis],
            settings=Settings(),
            **world.tables,
        )
    )
    query = next((row.text for row in rows if isinstance(row, Query)), "")
    cut = next((row.how for row in rows if isinstance(row, Cut)), "")
    drop = next((str(row.reason) for row in rows if isinstance(row, Drop) and row.unit == "query"), "")
    return query, cut or drop


def _holds(text: str, words: str) -> bool:
    """Whether some words stand in a text, in any case."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE) is not None


def measure(world: World, given: Iterable[Leak]) -> dict[str, Any]:
    """Per class: how many leaks are gone with a reason, the words of those that are not, queries left."""
    found: dict[str, dict[str, Any]] = {}
    given = list(given)
    patients = collections.Counter(leak.concept for leak in given)
    for leak in given:
        query, reason = outcome(leak, world)
        is_gone = bool(reason) and not (leak.told and _holds(query, leak.told))
        blank = {"reports": 0, "gone": 0, "asked": 0, "answered": 0, "by": collections.Counter(), "left": []}
        row = found.setdefault(leak.group, blank)
        row["reports"] += 1
        row["gone"] += is_gone
        row["asked"] += bool(query)
        row["answered"] += bool(query) and patients[leak.concept] > 1
        row["by"][reason or "none"] += 1
        if is_gone == (leak.group == "no leak") and len(row["left"]) < 20:
            row["left"].append([leak.concept, leak.told or reason])
    return found


def section() -> list[str]:
    """The lines of the benchmarks page."""
    result = json.loads((RESULTS / "hidden_diagnoses.json").read_text("utf-8"))
    lines = [
        "## Hidden diagnoses",
        "",
        "Queries of `clinical_case` are cut before what gives their diagnosis away. Reports generated over "
        "the default vocabulary, each with one sentence that does so in one way "
        "(`benchmarks/generated_leaks.py`), and reports that name another disease only. A leak is gone when "
        "its words are not in the query and the cut or the drop has a reason. The rules were written before "
        "the reports; adjectives in -ial and -ptic after a first look at them. "
        "`python -m benchmarks.hidden_diagnoses`",
        "",
        "| leak | reports | gone | share (95 %) | target | queries left | of a disease of several reports |",
        "|---|---:|---:|---|---|---:|---:|",
    ]
    for group, row in sorted(result["classes"].items(), key=lambda item: item[0] == "no leak"):
        low, high = interval(row["gone"], row["reports"])
        share = row["gone"] / row["reports"]
        is_plain = group == "no leak"
        is_met = share <= MOST_FALSE if is_plain else share >= FEWEST_GONE
        target = f"≤ {MOST_FALSE:.2f}" if is_plain else f"≥ {FEWEST_GONE:.2f}"
        shown = "none: cut or dropped all the same" if is_plain else group
        lines.append(
            f"| {shown} | {row['reports']} | {row['gone']} | {share:.3f} ({low:.2f}–{high:.2f}) "
            f"| {target}: {'met' if is_met else 'missed'} | {row['asked']} | {row['answered']} |"
        )
    sums = {name: sum(row[name] for row in result["classes"].values()) for name in ("reports", "asked")}
    return [
        *lines,
        "",
        f"Of {sums['reports']:,} generated reports {sums['asked']:,} make a query. On the shared articles "
        "no two cases of different articles share a diagnosis, so the task has no query there; what the "
        "walk below could have asked was read.",
        "",
    ]


def main() -> int:
    """Measure every class, and save."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=COUNT)
    options.add_argument("--workspace", type=Path, help="keep the vocabulary there")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        world = open_world(given.workspace or Path(folder) / "workspace")
        made = [*leaks(world.known, world.wide, world.concepts, given.count)]
        made += plain(world.known, world.concepts, 3 * given.count)
        found = measure(world, made)
    for group, row in found.items():
        print(group, row["reports"], row["gone"], dict(row["by"]), row["left"][:8])
    if given.count == COUNT:
        print(save("hidden_diagnoses", {"classes": found}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
