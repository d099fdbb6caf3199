"""What comparing texts says: pairs, what was compared, what was left out as boilerplate."""

from __future__ import annotations

from dataclasses import dataclass

from curation.similarity.text.candidates import Suppressed
from schemas.audit import Coverage


@dataclass(frozen=True, slots=True)
class Match:
    """One pair: ids and rows of both, and how much they share."""

    one: str
    other: str
    value: float
    """Similarity from 0 to 1, or words of the longest run copied."""
    one_row: int
    other_row: int
    token: int = 0
    """Where the longest run copied begins in `one`, in tokens; see `locate.char_span`."""
    tokens: int = 0
    """Its length."""
    is_exact: bool = False
    """All tokens are equal and in the same order (set by `match_hash_list`)."""


@dataclass(frozen=True, slots=True)
class Matches:
    """Pairs found, in order of ids."""

    pairs: tuple[Match, ...]
    compared: int
    """Pairs of texts the result speaks about: all were compared, most of them by their hashes."""
    verified: int
    """Pairs nominated by hashes and compared token by token."""
    suppressed: Suppressed
    without_tokens: int = 0
    """Texts that have no token: they are compared with nothing."""

    def coverage(self, compared_with: str = "", unit: str = "pairs of texts") -> tuple[Coverage, ...]:
        """What was compared and what was left out, for a report."""
        rows = [Coverage(compared_with=compared_with, compared=self.compared, unit=unit)]
        left = self.suppressed
        if left:
            why = (
                f"boilerplate: runs of words that stand in more than {left.limit} texts ({left.postings} "
                f"places in {left.texts} texts)"
            )
            unit = "fingerprints suppressed"
            rows.append(_left_out(compared_with, unit, left.fingerprints, why))
        if self.without_tokens:
            why = "no letter or digit in the text"
            rows.append(_left_out(compared_with, "texts", self.without_tokens, why))
        return tuple(rows)


def _left_out(compared_with: str, unit: str, count: int, why: str) -> Coverage:
    return Coverage(compared_with=compared_with, compared=0, unit=unit, skipped=count, why=why)
