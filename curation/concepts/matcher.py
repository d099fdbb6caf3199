"""What every way of finding concepts gives: matches of names in one text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from schemas.concept import MatchRule


class Match(NamedTuple):
    """One name found in a text; offsets in code points, score 0 to 1."""

    start: int
    end: int
    concept: str
    name: str
    rule: MatchRule = "exact"
    score: float = 1.0


class Matcher(Protocol):
    """A backend, opened over one vocabulary."""

    def find_many(
        self, texts: Iterable[str], language: str = "en", *, overlaps: bool = False
    ) -> Iterator[list[Match]]:
        """Names in each of many texts of one language, as :meth:`find` gives them."""

    def find(self, text: str, language: str = "en", *, overlaps: bool = False) -> list[Match]:
        """Names in a text, sorted by (start, -end, concept).

        Args:
            text: any text.
            language: its language, BCP-47.
            overlaps: names inside longer ones too; else the longest from left to right.

        Returns:
            Matches; a span with several readings has its best one only.
        """
