"""Replays a run file of a release through MTEB's own evaluator; runs in an environment that has MTEB.

`python mteb_replay_inside.py EXPORT RUN`: a folder that `medqrels export --format mteb` wrote, and a run in
TREC form (gzip). Prints one JSON object. Nothing of this project is imported: MTEB needs another environment.
"""

import gzip
import importlib
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

_NOTHING = (
    *("loader", "release_date", "languages", "n_parameters", "memory_usage_mb", "max_tokens", "embed_dim"),
    *("license", "open_weights", "public_training_code", "public_training_data", "similarity_fn_name"),
    *("use_instructions", "training_datasets"),
)


def main(export: Path, run: Path) -> None:
    """Evaluate the run as if a model had made it."""
    sys.path.insert(0, str(export))
    mteb = importlib.import_module("mteb")
    task = importlib.import_module("mteb_tasks").TASKS[0]()
    meta = importlib.import_module("mteb.models.model_meta").ModelMeta
    ranked: dict[str, dict[str, float]] = defaultdict(dict)
    with gzip.open(run, "rt", encoding="utf-8") as lines:
        for line in lines:
            query, _, document, _, score, _ = line.split()
            ranked[query][document] = float(score)

    class Replay:
        """What MTEB takes for a search model."""

        mteb_model_meta = meta(name="medqrels/replay", revision="1", framework=[], **dict.fromkeys(_NOTHING))

        def index(self, corpus: Any, **_: Any) -> None:
            """Nothing: the run is there."""

        def search(self, queries: Any, **_: Any) -> dict[str, dict[str, float]]:
            """The run's rankings."""
            return {query["id"]: dict(ranked[query["id"]]) for query in queries}

    found = mteb.evaluate(Replay(), [task], cache=None, overwrite_strategy="always")
    (scores,) = found.task_results[0].scores["test"]
    told = {"mteb": mteb.__version__, "ndcg_at_10": scores["ndcg_at_10_unrounded"]}
    print(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
