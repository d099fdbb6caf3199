"""A way in which reports state a disease."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Side = Literal["after", "before", "from", "clause"]


@dataclass(frozen=True, slots=True)
class Cue:
    """One way of stating a disease.

    Args:
        name: what the statement's rule is called.
        pattern: the words.
        side: where the disease stands.
        doubtable: words of suspicion beside it take it back; not so what was suspected and is now confirmed.
    """

    name: str
    pattern: re.Pattern[str]
    side: Side
    doubtable: bool = True


def cue(name: str, side: Side, pattern: str, *, doubtable: bool = True) -> Cue:
    """A cue of a pattern without regard to case."""
    return Cue(name, re.compile(pattern, re.IGNORECASE), side, doubtable)
