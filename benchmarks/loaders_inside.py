"""Reads exports with the tools of consumers and replays run files through them; in their environment.

`python loaders_inside.py PLAN`: a JSON file with `exports` (format -> folder of `medqrels export`), `runs`
(system -> run file in TREC form, gzip) and `split`. Prints one JSON object: what each tool read, and nDCG@10
of each run. Nothing of this project is imported: MTEB needs another environment.
"""

import contextlib
import gzip
import hashlib
import importlib
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_NOTHING = (
    *("loader", "release_date", "languages", "n_parameters", "memory_usage_mb", "max_tokens", "embed_dim"),
    *("license", "open_weights", "public_training_code", "public_training_data", "similarity_fn_name"),
    *("use_instructions", "training_datasets"),
)
Run = Mapping[str, Mapping[str, float]]


def digest(rows: Iterable[tuple[str, ...]]) -> str:
    """Of rows in any order."""
    lines = sorted(json.dumps(row, ensure_ascii=True) for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def read_run(path: str) -> Run:
    """Query -> document -> score."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            query, _, document, _, score, _ = line.split()
            found[query][document] = float(score)
    return found


def of_mteb(folder: Path, runs: Mapping[str, Run], split: str) -> dict[str, Any]:
    """Through MTEB's own evaluator and the export's task definition, as if a model had made each run."""
    sys.path.insert(0, str(folder))
    mteb = importlib.import_module("mteb")
    definition = importlib.import_module("mteb_tasks").TASKS[0]
    meta = importlib.import_module("mteb.models.model_meta").ModelMeta

    class Replay:
        """What MTEB takes for a search model."""

        mteb_model_meta = meta(name="medqrels/replay", revision="1", framework=[], **dict.fromkeys(_NOTHING))

        def __init__(self, ranked: Run) -> None:
            self.ranked = ranked

        def index(self, corpus: Any, **_: Any) -> None:
            """Nothing: the run is there."""

        def search(self, queries: Any, **_: Any) -> dict[str, dict[str, float]]:
            """The run's rankings."""
            return {query["id"]: dict(self.ranked.get(query["id"], {})) for query in queries}

    task = definition()
    task.load_data()
    read = {}
    for subset, splits in task.dataset.items():
        data = splits[split]
        assert data["top_ranked"] is None
        read[subset] = {
            "corpus": digest(
                (row["id"], row.get("title") or "", row["text"] or "") for row in data["corpus"]
            ),
            "queries": digest((row["id"], row["text"] or "") for row in data["queries"]),
            "labels": sum(map(len, data["relevant_docs"].values())),
        }
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    for system, ranked in runs.items():
        found = mteb.evaluate(Replay(ranked), [definition()], cache=None, overwrite_strategy="always")
        for each in found.task_results[0].scores[split]:
            scores[each["hf_subset"]][system] = each["ndcg_at_10_unrounded"]
    return {"version": mteb.__version__, "read": read, "ndcg": scores}


def of_beir(folder: Path, runs: Mapping[str, Run], split: str) -> dict[str, Any]:
    """Through BEIR's loader and evaluator; queries without a positive are left out, as everywhere."""
    loader = importlib.import_module("beir.datasets.data_loader").GenericDataLoader
    evaluate = importlib.import_module("beir.retrieval.evaluation").EvaluateRetrieval.evaluate
    corpus, queries, qrels = loader(str(folder)).load(split)
    judged = {name: grades for name, grades in qrels.items() if max(grades.values()) > 0}
    scores = {}
    for system, ranked in runs.items():
        given = {query: dict(ranked.get(query, {"": 0.0})) for query in judged}
        scores[system] = evaluate(judged, given, [10])[0]["NDCG@10"]
    read = {
        "corpus": digest((name, row["title"] or "", row["text"] or "") for name, row in corpus.items()),
        "queries": digest((name, text or "") for name, text in queries.items()),
        "labels": sum(map(len, qrels.values())),
    }
    return {"version": _version("beir"), "read": {"default": read}, "ndcg": {"default": scores}}


def of_ir_datasets(folder: Path, runs: Mapping[str, Run], split: str) -> dict[str, Any]:
    """Through ir_datasets' registration that the export brings, scored by pytrec_eval."""
    sys.path.insert(0, str(folder))
    ir_datasets = importlib.import_module("ir_datasets")
    pytrec_eval = importlib.import_module("pytrec_eval")
    (registration,) = folder.glob("*_ir_datasets.py")
    name = importlib.import_module(registration.stem).NAME
    dataset = ir_datasets.load(f"{name}/{split}")
    qrels: dict[str, dict[str, int]] = defaultdict(dict)
    for row in dataset.qrels_iter():
        qrels[row.query_id][row.doc_id] = row.relevance
    judged = {query: grades for query, grades in qrels.items() if max(grades.values()) > 0}
    scores = {}
    for system, ranked in runs.items():
        measured = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.10"}).evaluate(
            {query: dict(ranked.get(query, {"": 0.0})) for query in judged}
        )
        scores[system] = sum(each["ndcg_cut_10"] for each in measured.values()) / len(judged)
    asked = [query for query in dataset.queries_iter() if query.query_id in qrels]
    documents = list(dataset.docs_iter())
    assert dataset.docs_store().get(documents[-1].doc_id) == documents[-1]
    read = {
        "corpus": digest((row.doc_id, row.title or "", row.text or "") for row in documents),
        "queries": digest((row.query_id, row.text or "") for row in asked),
        "labels": sum(map(len, qrels.values())),
    }
    return {"version": _version("ir-datasets"), "read": {"default": read}, "ndcg": {"default": scores}}


def _version(package: str) -> str:
    return str(importlib.import_module("importlib.metadata").version(package))


TOOLS = {"mteb": of_mteb, "beir": of_beir, "trec": of_ir_datasets}


def main(path: str) -> None:
    """Every tool on its export."""
    plan = json.loads(Path(path).read_text("utf-8"))
    runs = {system: read_run(run) for system, run in plan["runs"].items()}
    with contextlib.redirect_stdout(sys.stderr):
        told = {
            form: TOOLS[form](Path(folder), runs, plan["split"]) for form, folder in plan["exports"].items()
        }
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1])
