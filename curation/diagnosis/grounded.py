"""Names of the vocabulary in the sentences of a case, and what each is to the likeliest diagnosis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from curation.diagnosis.cues import UNAFFIRMED

Kind = Literal["concept", "wider", "disease", "finding"]
"""concept: the likeliest diagnosis or a kind of it; wider: what that is a kind of; else another disease or
finding."""
KINDS: tuple[Kind, ...] = ("concept", "wider", "disease", "finding")
"""Those that say more first."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a sentence: offsets in it, and what it is to the diagnosis."""

    start: int
    end: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class Grounded:
    """Names in the sentences of a case.

    Attributes:
        names: those of each sentence; of none if empty.
        is_known: whether a concept is the likeliest diagnosis; else words that name the topic stand for it.
    """

    names: Sequence[Sequence[Name]] = ()
    is_known: bool = False

    def affirmed(self, at: int, sentence: str) -> list[Name]:
        """The names of one sentence that it does not deny, fear, treat or recall."""
        if not self.names:
            return []
        taken = [found.span() for found in UNAFFIRMED.finditer(sentence)]
        return [
            name
            for name in self.names[at]
            if not any(start < name.end and name.start < end for start, end in taken)
        ]


UNGROUNDED = Grounded()
"""Of a case that is read by its words alone."""
