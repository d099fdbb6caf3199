"""What the tests of `evaluate` share: the verb, called as from a shell."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.cli.evaluate import evaluate_app


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def call(*arguments: str) -> Any:
        given = [*arguments, "--json", "--workspace", str(tmp_path / "workspace")]
        code = evaluate_app(given, exit_on_error=False, result_action="return_value")
        assert code == 0
        return json.loads(capsys.readouterr().out)

    return call
