"""How sure a label must be to be published: a floor per facet whose confidence stands beside it.

On the dev half of the marked records (benchmarks/results/labels.json, `dev_reliability`) a floor is the least
step of confidence from which on every step is right in nine of ten decisions or more (`floor_of`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

LEAST_RIGHT = 0.9
FLOORS: Mapping[str, float] = MappingProxyType({"domain": 0.6, "body_system": 0.6})


def floor_of(steps: Sequence[Mapping[str, float | int | None]]) -> float:
    """The floor that a table of reliability demands; above 1 where no step is good enough.

    Args:
        steps: by rising confidence, each with `from` and the share `right` of what was decided.
    """
    floor = 1.01
    for step in reversed(steps):
        right, least = step["right"], step["from"]
        if right is None or right < LEAST_RIGHT or least is None:
            break
        floor = float(least)
    return floor
