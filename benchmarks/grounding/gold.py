"""Public gold of concept mentions, and how found mentions are scored against it.

Files hold blocks parted by an empty line: id, text, then `start end words id` rows, parted by tabs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class Found(Protocol):
    """What a mention needs to be scored: curation.concepts.matcher.Match has it."""

    @property
    def start(self) -> int:
        """Offset in code points."""

    @property
    def end(self) -> int:
        """Offset after it."""

    @property
    def concept(self) -> str:
        """Its id."""


@dataclass(frozen=True, slots=True)
class GoldMention:
    """One annotated span; `concepts` are all ids the annotators gave it, any of which is right."""

    start: int
    end: int
    concepts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GoldDocument:
    """One annotated text."""

    id: str
    text: str
    mentions: tuple[GoldMention, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of one way of scoring."""

    right: int
    predicted: int
    expected: int
    recalled: int

    @property
    def precision(self) -> float:
        """Right among predicted."""
        return self.right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Found among expected."""
        return self.recalled / self.expected if self.expected else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of the two."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def row(self) -> dict[str, float]:
        """Rounded, for a report."""
        return {"p": round(self.precision, 3), "r": round(self.recall, 3), "f1": round(self.f1, 3)}


def read(path: Path) -> list[GoldDocument]:
    """Documents of a gold file.

    Raises:
        ValueError: offsets do not re-extract the words beside them.
    """
    blocks = path.read_text("utf-8").replace("\r\n", "\n").split("\n\n")
    return [_document(block.strip("\n").split("\n")) for block in blocks if block.strip()]


def _document(lines: Sequence[str]) -> GoldDocument:
    text = lines[1]
    mentions = []
    for line in lines[2:]:
        start, end, words, concept = line.split("\t")[:4]
        if text[int(start) : int(end)] != words:
            raise ValueError(f"{lines[0]}: {start}-{end} is not {words!r}")
        mentions.append(GoldMention(int(start), int(end), tuple(concept.split("|"))))
    return GoldDocument(lines[0], text, tuple(mentions))


def score(documents: Iterable[GoldDocument], found: Mapping[str, Sequence[Found]]) -> dict[str, Score]:
    """Micro-averaged scores.

    Args:
        documents: the gold.
        found: mentions per document id; a document may be absent.

    Returns:
        `span`: same offsets and id; `overlap`: a shared character and the same id; `document`: the set of
        ids of each document.
    """
    totals = {"span": [0] * 4, "overlap": [0] * 4, "document": [0] * 4}
    for document in documents:
        mentions = list(found.get(document.id, ()))
        for name, counts in _counts(document, mentions).items():
            totals[name] = [old + new for old, new in zip(totals[name], counts, strict=True)]
    return {name: Score(*counts) for name, counts in totals.items()}


def _counts(document: GoldDocument, mentions: Sequence[Found]) -> dict[str, tuple[int, int, int, int]]:
    expected = {(m.start, m.end, m.concepts) for m in document.mentions}
    predicted = {(m.start, m.end, m.concept) for m in mentions}
    return {
        "span": _matched(expected, predicted, lambda gold, mine: gold[:2] == mine[:2] and mine[2] in gold[2]),
        "overlap": _matched(
            expected,
            predicted,
            lambda gold, mine: gold[0] < mine[1] and mine[0] < gold[1] and mine[2] in gold[2],
        ),
        "document": _matched(
            {(0, 0, gold[2]) for gold in expected},
            {(0, 0, mine[2]) for mine in predicted},
            lambda gold, mine: mine[2] in gold[2],
        ),
    }


def _matched(
    expected: set[tuple[int, int, tuple[str, ...]]],
    predicted: set[tuple[int, int, str]],
    is_same: Callable[[tuple[int, int, tuple[str, ...]], tuple[int, int, str]], bool],
) -> tuple[int, int, int, int]:
    right = sum(any(is_same(gold, mine) for gold in expected) for mine in predicted)
    recalled = sum(any(is_same(gold, mine) for mine in predicted) for gold in expected)
    return right, len(predicted), len(expected), recalled


def concepts(documents: Iterable[GoldDocument]) -> Iterator[str]:
    """Every id the gold names."""
    for document in documents:
        for mention in document.mentions:
            yield from mention.concepts
