"""`medqrels answer` before a real model on loopback: exam questions of clinical_evidence, stage after stage.

The model is a toy (benchmarks/model_server.py), so what it says is poor; measured is that every prompt ends
as answered, refused, invalid or not_run, and that what is stored gives the same bytes without a server. Run:
`python -m benchmarks.real_model [PROMPTS]`; the first run makes `.venv-model-server` from its lock.
"""

from __future__ import annotations

import contextlib
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from benchmarks import answer_scenes
from benchmarks.answer_scenes import EVIDENCE, MODEL, SPECS
from benchmarks.measure import ROOT, read_result, save
from benchmarks.model_server import NAME
from flows.adapters.answering import Terms
from flows.adapters.llm_runner import Patience
from flows.build.answer import Request, answer
from flows.build.model_stages import settle_own
from flows.engine.progress import SilentReporter
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.specs import read_spec
from schemas.spec import DatasetSpec
from scripts import setup_venv

PROFILE = "model-server"


@contextlib.contextmanager
def served(python: Path) -> Iterator[Mapping[str, str]]:
    """What a client's environment needs to reach the model, while it is served on a free port."""
    command = [str(python), "-m", "benchmarks.model_server", "0"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            ready = process.stdout.readline().split()
            if ready[:1] != ["ready"]:
                raise SystemExit("the model server did not start: python -m benchmarks.model_server 0")
            yield {"OPENAI_BASE_URL": f"http://127.0.0.1:{ready[1]}/v1"}
        finally:
            process.kill()


def asked(workspace: Workspace, spec: DatasetSpec, reach: Mapping[str, str], limit: int) -> dict[str, Any]:
    """What came of asking some prompts, one at a time, and whether it is built again without the model."""
    terms = Terms(NAME, Decimal(0), concurrency=1, patience=Patience(timeout=600))
    made = answer(Request(spec, (), terms, limit), workspace.root, reach)
    stages = [stage["stage"] for stage in made["stages"]]
    before = outputs(workspace, stages)
    for name in stages:
        for folder in workspace.work.glob(f"{name}_*"):
            shutil.rmtree(folder)
    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    settle_own(session, spec, list(spec.tasks), dict.fromkeys(stages, NAME))
    counts = ("prompts", "answered", "unusable", "not_run")
    return {
        "stages": {stage["stage"]: {name: stage[name] for name in counts} for stage in made["stages"]},
        "served_models": sorted({name for stage in made["stages"] for name in stage["served_models"]}),
        **{name: made["run"][name] for name in ("calls", "rejected", "tokens_in", "tokens_out", "seconds")},
        "same_bytes_without_the_model": outputs(workspace, stages) == before,
    }


def outputs(workspace: Workspace, stages: Iterable[str]) -> dict[str, bytes]:
    """Every file of some model stages but what tells time and host."""
    found = sorted(path for name in stages for path in workspace.work.glob(f"{name}*/all/*"))
    return {
        str(path.relative_to(workspace.root)): path.read_bytes() for path in found if path.name != "_run.json"
    }


def section() -> list[str]:
    """The lines of the benchmarks page."""
    result = read_result("real_model")
    lines = [
        "## `answer` before a real model",
        "",
        f"Seven invented exam questions of `clinical_evidence`, put to {result['model']} (llama.cpp, on "
        "loopback, held to each schema by a grammar), a stage when the one before has its answers, at most "
        f"{result['asked_at_most']} prompts: {result['calls']} calls, {result['tokens_in']:,} tokens in, "
        f"{result['tokens_out']:,} out, {result['seconds']:,.0f} s. The model is a toy: what it says is "
        "worth nothing, and every prompt ends as a count. Built again without the model: "
        f"{'the same bytes' if result['same_bytes_without_the_model'] else 'OTHER bytes'}. "
        "`python -m benchmarks.real_model`",
        "",
        "| stage | prompts | answered | unusable | not run |",
        "|---|---:|---:|---|---:|",
    ]
    for name, row in result["stages"].items():
        unusable = ", ".join(f"{why} {count}" for why, count in row["unusable"].items())
        lines.append(f"| `{name}` | {row['prompts']} | {row['answered']} | {unusable} | {row['not_run']} |")
    return [*lines, ""]


def main(limit: str = "80") -> None:
    """Measure and save the figures."""
    with tempfile.TemporaryDirectory() as scratch:
        workspace, path = answer_scenes.built(Path(scratch), EVIDENCE, SPECS[EVIDENCE].replace(MODEL, NAME))
        python = setup_venv.ensure_own(ROOT, PROFILE, Path(sys.executable)) / "python"
        with served(python) as reach:
            result = asked(workspace, read_spec(path), reach, int(limit))
        result["server_cpu_seconds"] = round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, 1)
    print(save("real_model", {"model": NAME, "asked_at_most": int(limit), **result}))


if __name__ == "__main__":
    main(*sys.argv[1:])
