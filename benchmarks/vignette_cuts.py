"""What case reports of the shared data become when they are cut at a decision: how many, and why not.

Every article goes through extraction, cases, grounding with the default vocabulary, diagnoses and the stage
of clinical_evidence itself; all scenarios of a case are counted, not the one that would be drawn.
"""

from __future__ import annotations

import argparse
import collections
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.jats_speed import raw_of
from benchmarks.measure import RESULTS, SHARED, real_files, save
from benchmarks.principal_diagnosis import mentions_of, told
from curation.concepts.native import open_index
from curation.diagnosis.stage import of_article
from curation.prompts.intent import SCENARIOS
from curation.tasks.clinical_evidence.vignettes import PER_ARTICLE
from curation.tasks.shared.case_facts import read_concepts
from flows.engine.progress import SilentReporter
from flows.engine.runner import run_records
from flows.engine.workspace import open_workspace
from flows.vocabulary.indexes import index_in_use
from schemas.errors import InputError
from sources import jats

READ = {"vignettes": 45, "answer_in_text": 0, "answer_does_not_follow": 7}
"""One developer's reading of one vignette of each patient, drawn by hash; some were dropped by later changes.
Of the longest, the beginning or the middle was not read."""


def measure(workspace: Path) -> dict[str, Any]:
    """Kept and dropped by scenario."""
    index = index_in_use(open_workspace(workspace, create=True), "native", SilentReporter())
    files = {name: index.vocabulary.table(name) for name in PER_ARTICLE.resources}
    concepts, matcher = read_concepts(files["types"], files["relations"]), open_index(index.path)
    tables: dict[str, list[Any]] = {item.table: [] for item in PER_ARTICLE.inputs}
    for _, path in sorted(real_files(SHARED).items()):
        data = path.read_bytes()
        try:
            article = jats.parse(data, raw_of(path, data))
        except InputError:
            continue
        item = told(article)
        if not item.cases:
            continue
        found = mentions_of(item, matcher)
        tables["extract.sources"].append(item.source)
        tables["parse.articles"].append(article)
        tables["cases.cases"] += item.cases
        tables["extract.passages"] += item.passages
        tables["ground.mentions"] += found
        read = of_article(article, item.source, item.cases, item.passages, found, concepts)
        tables["diagnoses.diagnoses"] += read
    kept, drops, accounts = run_records(
        PER_ARTICLE, tables, {**PER_ARTICLE.params, "one_per_patient": False}, files
    )
    made = collections.Counter(row.scenario for row in kept["vignettes"])
    why = collections.Counter((drop.id.rpartition("/")[2], str(drop.reason)) for drop in drops)
    return {
        "cases": len(tables["cases.cases"]),
        "articles": len(tables["extract.sources"]),
        "account": accounts["vignette"],
        "scenarios": {
            one: {"kept": made[one], "dropped": {reason: n for (of, reason), n in why.items() if of == one}}
            for one in SCENARIOS
        },
        "read": READ,
    }


def section() -> list[str]:
    """The lines of the benchmarks page."""
    result = json.loads((RESULTS / "vignette_cuts.json").read_text("utf-8"))
    lines = [
        "## Vignettes cut from case reports",
        "",
        f"The {result['cases']} cases of {result['articles']} shared reports, cut before the examination, "
        "the diagnosis or the treatment. `python -m benchmarks.vignette_cuts`",
        "",
        "| scenario | vignettes | dropped |",
        "|---|---:|---|",
    ]
    for one, row in result["scenarios"].items():
        dropped = sorted(row["dropped"].items(), key=lambda item: (-item[1], item[0]))
        listed = ", ".join(f"`{reason}` {count}" for reason, count in dropped)
        lines.append(f"| {one} | {row['kept']} | {listed} |")
    read = result["read"]
    return [
        *lines,
        "",
        f"{read['vignettes']} of them were read by one developer, the longest in part: "
        f"{read['answer_in_text']} say their answer; of {read['answer_does_not_follow']} the answer does not "
        "follow from what is left, mostly because the diagnosis read for the case is a finding or "
        "complication; rules that were added later drop some of them. The rules were mended on the same "
        "reports.",
        "",
    ]


def main() -> int:
    """Count, and save."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--workspace", type=Path, help="keep the vocabulary there")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = measure(given.workspace or Path(folder) / "workspace")
    print(json.dumps(result, indent=1))
    print(save("vignette_cuts", result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
