"""The scores a judge gives; what they mean in a task, and the grade each gives, its `scale` says.

The four-point scale is that of UMBRELA (Upadhyay et al. 2024, arXiv 2406.06519), after Bing's assessor
(Thomas et al. 2024, arXiv 2309.10621): related or not, and if it is, how much of the need is met. The
wording is ours.
"""

from __future__ import annotations

from typing import Final, Literal

VERSION: Final = 1
"""Of prompts, parsing and tables together; part of a judge's name, so that old rows keep theirs."""
Variant = Literal["umbrela", "two-axis", "support"]
VARIANTS: Final[tuple[Variant, ...]] = ("umbrela", "two-axis")
"""Those that ask by the scale of a task; `support` is the judge of a task that has one in its build."""

SCORES: Final = (0, 1, 2, 3)
AXIS: Final = (0, 1, 2)
TWO_AXIS: Final[dict[tuple[int, int], int]] = {
    (0, 0): 0,
    (0, 1): 0,
    (0, 2): 0,
    (1, 0): 0,
    (1, 1): 1,
    (1, 2): 2,
    (2, 0): 1,
    (2, 1): 2,
    (2, 2): 3,
}
"""(topic, need) -> score. A document of another topic meets no need, whatever is claimed for it."""


def variant_name(variant: Variant) -> str:
    """Variant and version, e.g. umbrela@1."""
    return f"{variant}@{VERSION}"


def judge_name(model: str, variant: Variant) -> str:
    """Annotator name of a judge."""
    return f"judge:{model}/{variant_name(variant)}"
