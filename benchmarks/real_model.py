"""`medqrels answer` before a real model on loopback: queries of the sample asked, counted, built without it.

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
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, save
from benchmarks.model_server import NAME
from flows.adapters.answering import Terms
from flows.adapters.llm_runner import Patience
from flows.build.answer import Request, answer
from flows.build.model_stages import settle, stages_of
from flows.engine.progress import SilentReporter
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.specs import read_spec
from schemas.spec import DatasetSpec
from scripts import setup_venv
from sources.sample import bucket_dir
from tests.pipeline import crawl_bucket, new_workspace, run_stages

PROFILE = "model-server"
SPEC = """
name = "real"
title = "Answers of a real model"
[prompts]
stages = ["hyde"]
is_trial = true
[tasks.visual_context]
"""


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


def built(folder: Path, articles: int) -> tuple[Workspace, DatasetSpec]:
    """Some articles of the sample with one task built, and a spec that asks for texts of its queries."""
    workspace = new_workspace(folder / "workspace")
    ids = sorted({path.name.partition(".")[0] for path in bucket_dir().glob("PMC*")})
    crawl_bucket(workspace, ids[:articles])
    run_stages(workspace, ground=False)
    path = folder / "spec.toml"
    path.write_text(SPEC, "utf-8")
    return workspace, read_spec(path)


def asked(workspace: Workspace, spec: DatasetSpec, reach: Mapping[str, str], limit: int) -> dict[str, Any]:
    """What came of asking some prompts, one at a time, and whether it is built again without the model."""
    terms = Terms(NAME, Decimal(0), concurrency=1, patience=Patience(timeout=600))
    made = answer(Request(spec, ("hyde",), terms, limit), workspace.root, reach)
    before = outputs(workspace)
    for folder in workspace.work.glob("*_hyde*"):
        shutil.rmtree(folder)
    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    settle(session, spec, asked={stage.name: NAME for stage in stages_of(spec)})
    [stage] = made["stages"]
    return {
        **{name: stage[name] for name in ("prompts", "answered", "unusable", "not_run", "served_models")},
        **{name: made["run"][name] for name in ("calls", "rejected", "tokens_in", "tokens_out", "seconds")},
        "same_bytes_without_the_model": outputs(workspace) == before,
    }


def outputs(workspace: Workspace) -> dict[str, bytes]:
    """Every file of the model stages but what tells time and host."""
    found = sorted(workspace.work.glob("*_hyde*/all/*"))
    return {
        str(path.relative_to(workspace.root)): path.read_bytes() for path in found if path.name != "_run.json"
    }


def main(limit: str = "12") -> None:
    """Measure and save the figures."""
    with tempfile.TemporaryDirectory() as scratch:
        workspace, spec = built(Path(scratch), 8)
        python = setup_venv.ensure_own(ROOT, PROFILE, Path(sys.executable)) / "python"
        with served(python) as reach:
            result = asked(workspace, spec, reach, int(limit))
        result["server_cpu_seconds"] = round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, 1)
    print(save("real_model", {"model": NAME, "asked_at_most": int(limit), **result}))


if __name__ == "__main__":
    main(*sys.argv[1:])
