"""A release published to a loopback Hub, loaded back by `datasets` and by MTEB, and scored through both.

Nothing local is read by either: tables come through `load_dataset("ORG/NAME-TASK", CONFIG)`, run files
through the Hub's client, MTEB's tables through its own loader, and its task definition from an export of the
copy that was downloaded, which keeps no table then. Tasks of several languages are scored by language
too. Every score is compared with runs/results.json of the release; BM25 is also run again over that
copy.

Run: `python -m benchmarks.loaded_back [RELEASE...]`; that of `medqrels demo` is always among them.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.loaders import SPLIT, Scores, measured, sample_release, stated
from benchmarks.measure import ROOT, read_result, save
from curation.published.manifest import read_manifest
from schemas.hashing import sha256_file
from schemas.published import languages_of
from schemas.tables import QUERIES
from scripts import setup_venv
from tests.flows.publish.hub_client import publisher, serving
from tests.flows.publish.hub_server import ORGANIZATION, HubServer

NAME = "loaded_back"
_INSIDE = Path(__file__).with_name("loaders_inside.py")
_MEDQRELS = str(Path(sys.executable).with_name("medqrels"))
_PLACES = 9
"""Places of the scores in runs/results.json."""


def compared(python: Path, release: Path) -> Iterator[dict[str, Any]]:
    """Every task of a release, published and loaded back: nDCG@10 of each system here and there.

    Args:
        python: the interpreter of `.venv-mteb`.
        release: folder of a version, with runs; whether it may be published is not asked.
    """
    import pytest

    tasks = sorted(path.parent for path in release.glob("*/release.json"))
    asked = [task for task in tasks if not read_manifest(task).is_empty]  # without queries nothing is scored
    with pytest.MonkeyPatch.context() as patch, serving(patch) as hub, tempfile.TemporaryDirectory() as home:
        publisher(tasks).publish()
        for task in asked:
            yield _compared(hub, python, task, Path(home))


def _compared(hub: HubServer, python: Path, task: Path, home: Path) -> dict[str, Any]:
    manifest = read_manifest(task)
    repository = f"{ORGANIZATION}/{manifest.dataset}-{manifest.task}"
    _, systems = measured(task)
    languages = languages_of(QUERIES.files(task, SPLIT))
    ours = stated(systems, languages)
    kept = {**os.environ, **hub.environment(home, xet=False), "MEDQRELS_WORKERS": "1"}
    plan: dict[str, Any] = {"repository": repository, "revision": manifest.version}
    plan |= {"systems": sorted(systems), "languages": languages}
    loaded = _asked([sys.executable, "-m", f"benchmarks.{NAME}", "--load", json.dumps(plan)], kept)
    asked = hub.count("resolve")
    copy = Path(loaded["folder"])
    told = {"datasets": loaded["ndcg"], "mteb": _of_mteb(python, copy, loaded["runs"], repository, kept)}
    differences = {
        tool: [
            abs(score - ours[subset][name])
            for subset, of in scores.items()
            if subset in ours
            for name, score in of.items()
        ]
        for tool, scores in told.items()
    }
    return {
        "dataset": manifest.dataset,
        "task": task.name,
        "rows": loaded["rows"],
        "files": len(manifest.files),
        "equal_files": sum(sha256_file(copy / name) == digest for name, digest in manifest.files.items()),
        "systems": sorted(systems),
        "languages": sorted(ours.keys() - {"default"}),
        "scored": {tool: len(found) for tool, found in differences.items()},
        "largest_difference": {
            tool: round(max(found), _PLACES) for tool, found in differences.items() if found
        },
        "bm25_again": _again(copy, home / f"again-{task.name}", kept, ours["default"]),
        "read_by_mteb": hub.count("resolve") > asked,
    }


def _of_mteb(python: Path, copy: Path, runs: Mapping[str, str], repository: str, kept: Any) -> Scores:
    """Scores through MTEB, whose loader reads a repository of the Hub."""
    with tempfile.TemporaryDirectory() as scratch:
        out = f"{scratch}/mteb"
        command = [_MEDQRELS, "export", str(copy), out, "--format", "mteb"]
        subprocess.run(command, check=True, capture_output=True, env=kept)
        for path in Path(out).rglob("*.parquet"):
            if path.parent.name != "left_out":
                path.unlink()  # its tables come from the Hub or not at all
        plan = Path(scratch) / "plan.json"
        plan.write_text(json.dumps({"exports": {"mteb": out}, "runs": runs, "split": SPLIT}), "utf-8")
        told = _asked([str(python), str(_INSIDE), str(plan)], {**kept, "MEDQRELS_MTEB_PATH": repository})
    found: Scores = told["mteb"]["ndcg"]
    return found


def _again(copy: Path, out: Path, kept: Mapping[str, str], ours: Mapping[str, float]) -> float | None:
    """Difference of BM25 over the downloaded copy; None where it was not run."""
    if "bm25" not in ours:
        return None
    _asked([_MEDQRELS, "evaluate", str(copy), "--system", "bm25", "--out", str(out), "--json"], kept, 0)
    (found,) = out.rglob("results.json")
    (system,) = json.loads(found.read_text("utf-8"))["systems"]
    return round(abs(float(system["overall"]["nDCG@10"]["mean"]) - ours["bm25"]), _PLACES)


def _asked(command: list[str], kept: Mapping[str, str], line: int = -1) -> dict[str, Any]:
    done = subprocess.run(command, env=dict(kept), cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[:3]}: {done.stderr[-3000:]}")
    found: dict[str, Any] = json.loads(done.stdout if line == 0 else done.stdout.splitlines()[line])
    return found


def load(plan: Mapping[str, Any]) -> dict[str, Any]:
    """In a process of its own, told where the Hub is: load every table and score every run.

    Returns:
        folder of the downloaded copy; rows by table; path of each run; nDCG@10 by subset and system.
    """
    from huggingface_hub import snapshot_download

    name, revision = plan["repository"], plan["revision"]
    whole = _tables(name, revision)
    subsets = {"default": whole} | {
        language: {**whole, **_tables(name, revision, f"{language}-", ("queries", "qrels"))}
        for language in plan["languages"]
    }
    folder = snapshot_download(name, repo_type="dataset", revision=revision)
    runs = {system: f"{folder}/runs/{SPLIT}/{system}.trec.gz" for system in plan["systems"]}
    return {
        "folder": folder,
        "rows": {config: len(table) for config, table in whole.items()},
        "runs": runs,
        "ndcg": {
            subset: {system: ndcg(tables, path) for system, path in runs.items()}
            for subset, tables in subsets.items()
        },
    }


def _tables(
    name: str,
    revision: str,
    before: str = "",
    configs: Sequence[str] = ("queries", "corpus", "qrels", "excluded"),
) -> dict[str, Any]:
    """Configs of a repository by their names without the language."""
    import datasets

    there = datasets.get_dataset_config_names(name, revision=revision)
    return {
        config: datasets.load_dataset(name, before + config, split=SPLIT, revision=revision)
        for config in configs
        if before + config in there  # a table without rows is no config
    }


def ndcg(tables: Mapping[str, Any], run: str) -> float:
    """Mean nDCG@10 over queries with a positive, of a run without the excluded pairs, from loaded tables."""
    import pytrec_eval

    known = {row["id"] for row in tables["queries"].select_columns(["id"])}
    documents = {row["id"] for row in tables["corpus"].select_columns(["id"])}
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for row in tables["qrels"].select_columns(["query-id", "corpus-id", "score"]):
        grades[row["query-id"]][row["corpus-id"]] = row["score"]
    judged = {query: of for query, of in grades.items() if query in known and max(of.values()) > 0}
    excluded = {(row["query-id"], row["corpus-id"]) for row in tables.get("excluded", ())}
    ranked: dict[str, dict[str, float]] = {query: {"": 0.0} for query in judged}
    with gzip.open(run, "rt", encoding="utf-8") as lines:
        for line in lines:
            query, _, document, _, score, _ = line.split()
            if query in ranked and document in documents and (query, document) not in excluded:
                ranked[query][document] = float(score)
    measured = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.10"}).evaluate(ranked)
    return sum(each["ndcg_cut_10"] for each in measured.values()) / len(judged)


def section() -> list[str]:
    """The section of benchmarks/README.md."""
    lines = [
        "## Published to a Hub, loaded back, scored",
        "",
        "Releases published to a loopback Hub; tables loaded from there by `datasets`, and by MTEB's own "
        "loader, the baselines' run files scored through both. Largest difference of nDCG@10 from what the "
        "release states, over its systems and, where a task has them, languages; BM25 also run again over "
        "the downloaded copy. Where nothing ran, "
        "there is no score. "
        "`python -m benchmarks.loaded_back RELEASE…`",
        "",
        "| dataset | task | languages | queries | corpus | qrels | excluded | files equal | runs "
        "| `datasets` | MTEB | again |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in read_result(NAME)["rows"]:
        rows = (row["rows"].get(name, 0) for name in ("queries", "corpus", "qrels", "excluded"))
        of = (*(row["largest_difference"].get(tool) for tool in ("datasets", "mteb")), row["bm25_again"])
        found = ("–" if value is None else f"{value:.0e}" for value in of)
        files = f"{row['equal_files']} of {row['files']}"
        languages = ", ".join(row["languages"]) or "en"
        cells = (row["dataset"], f"`{row['task']}`", languages, *rows, files, len(row["systems"]), *found)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return [*lines, ""]


def main(arguments: list[str]) -> None:
    """Every release named."""
    with tempfile.TemporaryDirectory() as scratch:
        releases = [sample_release(Path(scratch)), *map(Path, arguments)]
        python = setup_venv.ensure_own(ROOT, "mteb", Path(sys.executable)) / "python"
        save(NAME, {"rows": [row for path in releases for row in compared(python, path)]})


if __name__ == "__main__":
    if sys.argv[1:2] == ["--load"]:
        print(json.dumps(load(json.loads(sys.argv[2]))))
    else:
        main(sys.argv[1:])
