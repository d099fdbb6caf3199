from __future__ import annotations

import re
from pathlib import Path

from annotation.agreement.coefficients import Coefficient, Undefined

PAGE = (Path(__file__).resolve().parents[3] / "docs/agreement.md").read_text("utf-8")


def test_the_examples_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    assert len(blocks) == 2
    for block in blocks:
        exec(block, {})


def test_every_figure_and_reason_is_explained() -> None:
    for name in Coefficient:
        first, _, last = str(name).rpartition("_")
        assert f"`{name}`" in PAGE or (f"`{first}_" in PAGE and f"`_{last}`" in PAGE)
    for reason in Undefined:
        assert f"| `{reason}` |" in PAGE
