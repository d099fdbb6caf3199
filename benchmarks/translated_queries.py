"""100,000 translated queries through the task's own stage of checks: how many a second, what is rejected.

Queries are the questions of `crosslingual_qa` with the label of a concept in English and, as translations,
with its confirmed label in the language: each is another text, right but for labels that mislead. Each goes
through `multilingual_evidence_checked` as a build sends it: concepts of the text by the native matcher, the
names that were given with it withheld, every score kept. Target: 500 a second of one core.

    python -m benchmarks.translated_queries WORKSPACE [N]     of a workspace with names in other languages
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.measure import read_result, save
from curation.tasks.crosslingual_qa.facets import FACETS
from curation.tasks.crosslingual_qa.templates import templates
from curation.tasks.multilingual_evidence.checked import BACKEND, CHECKED
from curation.tasks.multilingual_evidence.records import GivenName, TranslatedQuestion, WantedTranslation
from curation.tasks.shared.names import NEVER
from flows.engine.progress import SilentReporter
from flows.engine.runner import run_records
from flows.engine.workspace import open_workspace
from flows.vocabulary.indexes import index_in_use
from flows.vocabulary.store import current
from schemas.hashing import sha256_text
from schemas.vocabulary import UNCONFIRMED

NAME = "translated_queries"
COUNT, TARGET = 100_000, 500
_BATCH = 5_000
_COLUMNS = ["concept", "name", "language", "source", "term_type", "is_preferred", "is_suppressed", "tier"]


def labels(path: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Concept -> language -> its confirmed label in the script of the language, the first in order."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    rows = pq.read_table(path, columns=_COLUMNS).to_pylist()
    for row in sorted(rows, key=lambda row: (row["concept"], row["language"], row["source"], row["name"])):
        known = templates().get(row["language"])
        is_label = row["is_preferred"] and not row["is_suppressed"] and row["tier"] != "restricted"
        if is_label and known and known.fits(row["name"]) and row["term_type"] not in {*NEVER, UNCONFIRMED}:
            found.setdefault(row["concept"], {}).setdefault(row["language"], row)
    return found


def pairs(path: Path, count: int) -> list[tuple[WantedTranslation, TranslatedQuestion]]:
    """Questions with their translations, those with the smallest hashes."""
    made = sorted(_pairs(path), key=lambda pair: sha256_text(pair[0].id))
    return made[:count]


def _pairs(path: Path) -> Iterator[tuple[WantedTranslation, TranslatedQuestion]]:
    english = templates()["en"]
    for concept, names in labels(path).items():
        if "en" not in names:
            continue
        for language in sorted(names.keys() - {"en"}):
            for facet in FACETS:
                text, _, _ = english.ask(facet, names["en"]["name"])
                translated, _, _ = templates()[language].ask(facet, names[language]["name"])
                name = f"{concept}/{facet}/{language}"
                given = GivenName(
                    concept=concept, english=names["en"]["name"], name=names[language]["name"],
                    source=names[language]["source"], tier=names[language]["tier"],
                )  # fmt: skip
                yield (
                    WantedTranslation(
                        id=name, query_id=f"{concept}/{facet}", article_id="generated", language=language,
                        text=text, names=(given,), told=(concept,), core_only=False,
                    ),
                    TranslatedQuestion(
                        wanted=name, text=translated, kind="generated@1", model="", served_model="",
                        prompt_sha256="",
                    ),
                )  # fmt: skip


def measure(root: str, count: int) -> dict[str, Any]:
    """Run the stage; queries a second, and rejections by language and reason."""
    workspace = open_workspace(Path(root))
    vocabulary = current(workspace)
    if vocabulary is None:
        raise SystemExit(f"{root} has no vocabulary: medqrels vocabulary build")
    resources = {
        "vocabulary": index_in_use(workspace, BACKEND, SilentReporter()).path,
        "types": vocabulary.table("types"),
        "relations": vocabulary.table("relations"),
    }
    asked = pairs(vocabulary.table("names"), count)
    seen: Counter[str] = Counter(wanted.language for wanted, _ in asked)
    reasons: dict[str, Counter[str]] = {language: Counter() for language in sorted(seen)}
    scores: Counter[str] = Counter()
    _run(asked[:200], resources)  # what is opened once is not counted
    started, before = time.monotonic(), time.process_time()
    for start in range(0, len(asked), _BATCH):
        kept, drops = _run(asked[start : start + _BATCH], resources)
        scores.update(f"{row.check} {row.status}" for row in kept["checks"])
        for drop in drops:
            reasons[drop.id.rpartition("/")[2]][str(drop.reason)] += 1
    seconds, cpu = time.monotonic() - started, time.process_time() - before
    return {
        "queries": len(asked),
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu, 1),
        "per_cpu_second": round(len(asked) / cpu, 1),
        "target": TARGET,
        "scores": dict(sorted(scores.items())),
        "languages": {
            language: {"queries": seen[language], "rejected": dict(sorted(found.items()))}
            for language, found in reasons.items()
        },
    }


def _run(
    asked: list[tuple[WantedTranslation, TranslatedQuestion]], resources: dict[str, Path]
) -> tuple[dict[str, list[Any]], list[Any]]:
    wanted, translated, backs = CHECKED.inputs
    tables: dict[str, list[Any]] = {
        wanted.table: [one for one, _ in asked],
        translated.table: [one for _, one in asked],
        backs.table: [],
    }
    kept, drops, _ = run_records(CHECKED, tables, CHECKED.params, resources)
    return kept, drops


def section() -> list[str]:
    """What benchmarks/README.md says of it."""
    result = read_result(NAME)
    lines = [
        "## Translated queries through the task's checks",
        "",
        f"{result['queries']:,} questions made of templates and confirmed labels in "
        f"{len(result['languages'])} languages, each another text, through `multilingual_evidence_checked`: "
        f"**{result['per_cpu_second']:,.0f} per CPU second** (target {result['target']}), "
        f"{result['cpu_seconds']:,.0f} CPU s in one process. What is rejected is a false rejection, but for "
        "labels that are wrong. `python -m benchmarks.translated_queries WORKSPACE`",
        "",
        "| language | queries | rejected | for |",
        "|---|---:|---:|---|",
    ]
    for language, found in result["languages"].items():
        rejected = sum(found["rejected"].values())
        listed = ", ".join(f"{reason} {count:,}" for reason, count in found["rejected"].items())
        lines.append(
            f"| {language} | {found['queries']:,} | {rejected / found['queries']:.3f} | {listed or '–'} |"
        )
    return [*lines, ""]


if __name__ == "__main__":
    save(NAME, measure(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else COUNT))
