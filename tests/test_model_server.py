"""The server of the real model, with an invented one in its place: what `answer` makes of all it can reply.

The real one takes minutes of a core for a prompt: benchmarks/real_model.py.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from benchmarks import model_server
from curation.prompts.hyde import HYDE
from curation.tasks.registry import TASKS
from flows.adapters.answering import Terms, access, ask
from flows.adapters.llm_ledger import read_totals
from flows.adapters.llm_runner import Patience
from flows.engine.progress import SilentReporter

TASK = TASKS["visual_context"]
TEXT = "A cyst of the left kidney with a thin wall, seen by chance and left alone. " * 2


class Invented:
    """Answers as llama.cpp would, piece by piece, under a grammar that is the schema itself."""

    vocab = SimpleNamespace(tokenize=lambda text, **options: text.split())

    def __init__(self, weights: str) -> None:
        assert weights == "weights.gguf"

    def generate_with_grammar(
        self, prompt: str, grammar: Any, *, config: Any, on_token: Callable[[str], None]
    ) -> None:
        assert grammar["required"] == ["passage"] and config.temperature == 0.0
        assert prompt.startswith("<|im_start|>system\n") and prompt.endswith("<|im_start|>assistant\n")
        on_token('{"passage": "')
        on_token("endless " * 600 if "endless" in prompt else TEXT)
        if "endless" not in prompt:
            on_token('"}')
            raise AssertionError("it was not stopped when the object was whole")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The server, running with the invented model."""
    parts: dict[str, dict[str, Any]] = {
        "cyllama.agents.constrained": {"GrammarConstrainedLLM": Invented},
        "cyllama.utils.json_schema_to_grammar": {"json_schema_to_grammar": lambda schema: schema},
        "cyllama.api": {"GenerationConfig": SimpleNamespace},
    }
    for name, content in parts.items():
        module = ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(model_server, "weights", lambda: Path("weights.gguf"))
    server = model_server.server_of(model_server.Model(), 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield {"OPENAI_BASE_URL": f"http://127.0.0.1:{server.server_address[1]}/v1"}
    server.shutdown()
    thread.join()
    server.server_close()


def test_answers_of_a_local_model_end_as_answered_invalid_or_too_long(
    environment: dict[str, str], tmp_path: Path
) -> None:
    texts = ("a scan of the kidney", "an endless scan", "scan " * model_server.CONTEXT)
    prompts = [HYDE.ask(f"q{place}", TASK.name, text, TASK.scale) for place, text in enumerate(texts)]
    run = ask(
        prompts,
        Terms(model_server.NAME, Decimal(0), concurrency=2, patience=Patience(first_wait=0.02)),
        access(environment),
        store=tmp_path,
        ledger=tmp_path / "ledger.jsonl",
        reporter=SilentReporter(),
        name="test",
    )
    states = {answer.subject: answer.state for answer in run.answers}
    assert states == {"q0": "answered", "q1": "invalid", "q2": "too_long"}
    assert run.outcomes == Counter({"answered": 1, "finish_length": 3, "http_400 context_length_exceeded": 1})
    assert {answer.served_model for answer in run.answers} == {model_server.NAME, ""}
    totals = read_totals(tmp_path / "ledger.jsonl")
    assert totals.rejected == 3 and totals.spent == 0 and not totals.open
