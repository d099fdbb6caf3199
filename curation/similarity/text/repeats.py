"""Which sentences of many texts repeat one of a few others: in runs of words, or copied with changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from curation.similarity.text.edited import MIN_RUN, Sentence, edited_copies, sentences_of
from curation.similarity.text.tokens import tokens_with_offsets

RUN = 13
"""Tokens in a row that are a repetition; of a shorter text all of it."""
_Run = tuple[str, ...]


class Repeats:
    """Asks of texts where they repeat some others."""

    def __init__(self, others: Iterable[str]) -> None:
        self.others = tuple(dict.fromkeys(others))
        self.runs: dict[int, set[_Run]] = {}
        for other in self.others:
            tokens = [token for token, _, _ in tokens_with_offsets(other)]
            if size := min(RUN, len(tokens)):
                self.runs.setdefault(size, set()).update(run for _, run in _runs(tokens, size))

    def sentences(self, text: str) -> list[tuple[int, int]]:
        """Start and end of each sentence that holds a repetition, or a part of one."""
        whole = list(sentences_of(text))
        ranges = [*self._in_a_row(text), *self._with_changes(whole)]
        return [
            (one.start, one.end)
            for one in whole
            if any(start < one.end and end > one.start for start, end in ranges)
        ]

    def _in_a_row(self, text: str) -> Iterator[tuple[int, int]]:
        placed = list(tokens_with_offsets(text))
        tokens = [token for token, _, _ in placed]
        for size, found in self.runs.items():
            for at, run in _runs(tokens, size):
                if run in found:
                    yield placed[at][1], placed[at + size - 1][2]

    def _with_changes(self, whole: Sequence[Sentence]) -> Iterator[tuple[int, int]]:
        for other in self.others:
            left = [one for one in whole if len(one.tokens) >= MIN_RUN]
            while left and (pairs := edited_copies(other, left)):
                copies = {copy.tokens for _, copy in pairs}
                yield from ((one.start, one.end) for one in left if one.tokens in copies)
                left = [one for one in left if one.tokens not in copies]


def _runs(tokens: Sequence[str], size: int) -> Iterator[tuple[int, _Run]]:
    return ((at, tuple(tokens[at : at + size])) for at in range(len(tokens) - size + 1))
