"""Options of a question as one text, in an order that a sample chooses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schemas.question import Option

LETTERS: Final = "ABCDEFGHIJ"


def listed(options: Sequence[Option]) -> str:
    """One option a line with its letter; 'none' for an open question."""
    return "\n".join(f"{item.letter}: {' '.join(item.text.split())}" for item in options) or "none"


def turned(options: Sequence[Option], sample: int) -> tuple[Option, ...]:
    """The options in the order of a sample, lettered anew: each stands in another place than before.

    Models prefer places; the same question asked in other orders tells what they know from what they prefer.
    """
    count = len(options)
    order = [options[(place + sample) % count] for place in range(count)]
    return tuple(Option(letter=LETTERS[place], text=item.text) for place, item in enumerate(order))
