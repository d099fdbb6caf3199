"""What consumers' tools read of an export, and what they score: MTEB, BEIR and ir_datasets beside medqrels.

`python -m benchmarks.loaders [RELEASE…]`: folders of releases with runs; that of `medqrels demo` without one.
The first run makes `.venv-mteb` from its lock, some gigabytes: MTEB needs torch.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.loaders_inside import digest
from benchmarks.measure import ROOT, read_result, save
from curation.evaluation.variants import WHOLE, named_languages, tables_of
from curation.published.manifest import read_manifest
from schemas.published import Published, languages_of
from schemas.tables import QUERIES
from scripts import setup_venv

NAME = "loaders"
SPLIT = "test"
_INSIDE = Path(__file__).with_name("loaders_inside.py")
_MEDQRELS = str(Path(sys.executable).with_name("medqrels"))
_PLACES = 9
"""Places of the scores in runs/results.json."""
_TOOLS = {"mteb": "MTEB", "beir": "BEIR", "trec": "ir_datasets"}
Read = dict[str, Any]
Scores = Mapping[str, Mapping[str, float]]
"""nDCG@10 by subset, which is `default` or a language, and system."""


def compared(python: Path, release: Path) -> Iterator[dict[str, Any]]:
    """Every task of a release through every tool: what was read, and each system's nDCG@10 here and there."""
    for task in sorted(path.parent for path in release.glob("*/release.json")):
        if read_manifest(task).is_empty:
            continue
        queries, systems = measured(task)
        told = _told(python, task, list(systems))
        languages = languages_of(QUERIES.files(task, SPLIT))
        ours = {
            language: _read(task, language) for language in ("default", *languages, *named_languages(task))
        }
        wanted = stated(systems, languages)
        for form, tool in _TOOLS.items():
            found = told[form]
            scores = [
                (wanted[subset][system], score)
                for subset, of in found["ndcg"].items()
                if subset in wanted
                for system, score in of.items()
            ]
            yield {
                "task": task.name,
                "tool": tool,
                "version": found["version"],
                "subsets": sorted(found["read"]),
                "queries": queries,
                "reads_equal": {name: read == ours[name] for name, read in sorted(found["read"].items())},
                "scores": len(scores),
                "largest_difference": round(
                    max((abs(one - two) for one, two in scores), default=0.0), _PLACES
                ),
            }


def measured(task: Path) -> tuple[int, dict[str, Any]]:
    """Queries measured, and what the release states of each system; nothing where nothing was to be run."""
    path = task / "runs/results.json"
    if not path.is_file():
        return 0, {}
    results = json.loads(path.read_text("utf-8"))[SPLIT]
    systems = {item["name"]: item for item in results["systems"] if item["status"] == "measured"}
    return results["queries_measured"], systems


def _told(python: Path, task: Path, systems: list[str]) -> dict[str, Any]:
    """What the tools say of the exports of one task."""
    with tempfile.TemporaryDirectory() as scratch:
        exports = {form: str(Path(scratch) / form) for form in _TOOLS}
        for form, out in exports.items():
            command = [_MEDQRELS, "export", str(task), out, "--format", form]
            subprocess.run(command, check=True, capture_output=True)
        runs = {name: str(task / f"runs/{SPLIT}/{name}.trec.gz") for name in systems}
        plan = Path(scratch) / "plan.json"
        plan.write_text(json.dumps({"exports": exports, "runs": runs, "split": SPLIT}), "utf-8")
        homes = {"HF_HOME": f"{scratch}/hf", "IR_DATASETS_HOME": f"{scratch}/ir"}
        done = subprocess.run(
            [str(python), str(_INSIDE), str(plan)],
            env={**os.environ, **homes, "HF_HUB_OFFLINE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise SystemExit(f"{task.name}: {done.stderr[-3000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _read(task: Path, language: str) -> Read:
    """What a tool should have read, from the Parquet files; tools leave out queries without a label."""
    tables = tables_of(task, language)
    is_part = language != "default" and tables is WHOLE
    split = f"{SPLIT}-{language}" if is_part else SPLIT
    labels = _rows(task, tables.qrels, ("query-id", "corpus-id"), split)
    labelled = {row[0] for row in labels}
    queries = _rows(task, tables.queries, ("id", "text"), split)
    return {
        "corpus": digest(_rows(task, tables.corpus, ("id", "title", "text"))),
        "queries": digest(row for row in queries if row[0] in labelled),
        "labels": len(labels),
    }


def _rows(task: Path, table: Published, names: tuple[str, ...], split: str = "") -> list[tuple[str, ...]]:
    files = table.files(task, split)
    rows = [row for path in files for row in pq.read_table(path, columns=list(names)).to_pylist()]
    return [tuple(row[name] or "" for name in names) for row in rows]


def stated(systems: Mapping[str, Any], languages: Sequence[str]) -> Scores:
    """nDCG@10 that a release states, by subset and system.

    Of all queries (`default`), and of each language all of whose queries are one subset: those of known items
    in Spanish (`parallel-es`) and the others (`es`) have one score between them, which no subset has.
    """
    alone = [one for one in languages if not any(other.endswith(f"-{one}") for other in languages)]
    found = {"default": {name: system["overall"] for name, system in systems.items()}}
    for language in alone:
        of = {name: system["facets"]["language"].get(language) for name, system in systems.items()}
        found |= {language: of} if all(of.values()) else {}
    return {
        subset: {name: one["nDCG@10"]["mean"] for name, one in of.items()} for subset, of in found.items()
    }


def section() -> list[str]:
    """The section of benchmarks/README.md."""
    lines = [
        "## The same exports and runs through MTEB, BEIR and ir_datasets",
        "",
        "Every task exported, read by the tool (ids, titles, texts and labels compared with the Parquet "
        "files), and the run files of its baseline systems scored by the tool beside `medqrels`: largest "
        "difference of nDCG@10, over systems and, in MTEB, languages. Excluded pairs are out of all, so are "
        "queries without a positive. A release of the embedded sample, and one of the shared articles with "
        "names in eight languages. BEIR rounds its scores to five places; where no system ran, no score. "
        "`python -m benchmarks.loaders RELEASE…`",
        "",
        "| task | tool | subsets | queries | read as published | scores | largest difference |",
        "|---|---|---|---:|---|---:|---:|",
    ]
    for row in read_result(NAME)["rows"]:
        equal = "yes" if all(row["reads_equal"].values()) else "**no**"
        difference = f"{row['largest_difference']:.0e}" if row["scores"] else "–"
        cells = (f"`{row['task']}`", f"{row['tool']} {row['version']}", ", ".join(row["subsets"]))
        numbers = (row["queries"], equal, row["scores"], difference)
        lines.append(f"| {' | '.join(map(str, (*cells, *numbers)))} |")
    return [*lines, ""]


def sample_release(folder: Path) -> Path:
    """The release of `medqrels demo`."""
    command = [_MEDQRELS, "demo", "--workspace", str(folder / "workspace"), "--json"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return Path(json.loads(done.stdout)["releases"][0]["path"]).parent


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        releases = [Path(name) for name in sys.argv[1:]] or [sample_release(Path(scratch))]
        python = setup_venv.ensure_own(ROOT, "mteb", Path(sys.executable)) / "python"
        save(NAME, {"rows": [row for path in releases for row in compared(python, path)]})
