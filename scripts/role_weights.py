"""Learns how words and order speak for the parts of a story and writes curation/cases/roles.toml.

A linear-chain conditional random field. From: sentences of the dev halves marked by hand, of shared and of
written articles (tests/gold/roles.json) and of written_roles.toml; what introduces and discusses a disease in
written articles of the dev half, put before and behind some of them, for sentences of no patient. Only words,
pairs of them and numbers are kept. Articles and stories of the test halves are never read.
"""

from __future__ import annotations

import collections
import json
import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from benchmarks.jats_speed import raw_of
from benchmarks.measure import SHARED, real_files
from curation.cases.narrative import mentions_patient
from curation.cases.roles import LABELS, Role, Told, is_across, shown, title_role
from curation.extract.sentences import sentence_spans
from curation.extract.stage import EXTRACT
from schemas.article import Article
from schemas.extracted import Passage
from sources import jats

ROOT = Path(__file__).resolve().parent.parent
GOLD = ROOT / "tests" / "gold"
WRITTEN = GOLD / "written_articles"
TARGET = ROOT / "curation" / "cases" / "roles.toml"
SEED = 1
RARE = 3
"""Fewer stories that show something: it is not learned."""
RIDGE = 1.0
LEAST = 0.12
"""What speaks less for or against any label is left out."""
BEFORE, BEHIND, TOGETHER = 0.4, 0.25, 0.6
"""Shares of the stories with general sentences before and behind them; of the former in their paragraph."""
TITLED = 0.15
"""Share of the stories whose parts are put under titles of their own, which few journals print."""
AHEAD = 0.15
"""Share of the stories that one of their later sentences is put before, as authors do now and then."""
_MARKS: dict[str, Role | None] = dict(zip("pfca", LABELS, strict=True))
_LONGEST = 45
_ROUNDS = 150
Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Story:
    """The sentences of a story with their labels, as places in LABELS."""

    sentences: tuple[Told, ...]
    labels: tuple[int, ...]

    @property
    def roles(self) -> list[Role | None]:
        """The labels by name."""
        return [LABELS[label] for label in self.labels]


def label_of(mark: str) -> int:
    """Place in LABELS of a letter of the gold."""
    return LABELS.index(_MARKS[mark])


def written_stories(half: str) -> Iterator[tuple[str, Story]]:
    """Language and story of one half of written_roles.toml."""
    for story in tomllib.loads((GOLD / "written_roles.toml").read_text("utf-8"))["story"]:
        lines = story["text"].strip().split("\n")
        if story["half"] == half:
            told = tuple(Told(line[2:], "", None) for line in lines)
            yield story["language"], Story(told, tuple(label_of(line[0]) for line in lines))


def marked_stories() -> Iterator[Story]:
    """Cases of articles whose sentences were marked."""
    files = real_files(SHARED)
    for row in json.loads((GOLD / "roles.json").read_text("utf-8")):
        path = files[row["file"]] if row["file"] in files else WRITTEN / row["file"]
        passages = {
            passage.id.partition("#")[2]: passage
            for passage in EXTRACT.process(_parsed(path))
            if isinstance(passage, Passage)
        }
        told = [
            Told(
                passages[of].text[start:end],
                passages[of].id,
                title_role(passages[of].section_path),
            )
            for of, start, end, _ in row["sentences"]
        ]
        yield Story(tuple(told), tuple(label_of(mark) for *_, mark in row["sentences"]))


def _parsed(path: Path) -> Article:
    data = path.read_bytes()
    return jats.parse(data, raw_of(path, data))


def general_sentences() -> Iterator[tuple[list[str], list[str]]]:
    """Sentences of no patient in introduction and discussion of each written article of the dev half."""
    halves = {row["file"]: row["half"] for row in json.loads((WRITTEN / "gold.json").read_text("utf-8"))}
    for path in sorted(WRITTEN.glob("*.xml")):
        if halves.get(path.name) != "dev":
            continue
        article = _parsed(path)
        titles = {section.number: section.title.lower() for section in article.sections}
        found: dict[str, list[str]] = {"intro": [], "discu": []}
        for passage in article.passages:
            for start, end in sentence_spans(passage.text):
                text = passage.text[start:end]
                kind = found.get(titles.get(passage.section, "")[:5])
                if kind is not None and len(text.split()) < _LONGEST and not mentions_patient(text):
                    kind.append(text)
        if found["intro"] and found["discu"]:
            yield found["intro"], found["discu"]


def framed(stories: Sequence[Story]) -> Iterator[Story]:
    """The stories, some with general sentences before or behind them."""
    general = list(general_sentences())
    draw = random.Random(SEED)
    none = LABELS.index(None)
    for story in stories:
        story = _ahead(story, draw) if draw.random() < AHEAD else story
        story = _titled(story) if draw.random() < TITLED else story
        first, last = story.sentences[0], story.sentences[-1]
        before, behind = draw.choice(general)[0], draw.choice(general)[1]
        count, at = draw.randint(1, 2), draw.randrange(len(before))
        before = before[at : at + count] if draw.random() < BEFORE else []
        behind = [draw.choice(behind)] if draw.random() < BEHIND else []
        where = first.paragraph if draw.random() < TOGETHER else "another"
        yield Story(
            (
                *(Told(text, where, first.stated) for text in before),
                *story.sentences,
                *(Told(text, last.paragraph, last.stated) for text in behind),
            ),
            (*([none] * len(before)), *story.labels, *([none] * len(behind))),
        )


def _ahead(story: Story, draw: random.Random) -> Story:
    """A story that begins with one of its later sentences."""
    at = draw.randrange(len(story.labels))
    moved = replace(story.sentences[at], paragraph=story.sentences[0].paragraph)
    return Story(
        (moved, *story.sentences[:at], *story.sentences[at + 1 :]),
        (story.labels[at], *story.labels[:at], *story.labels[at + 1 :]),
    )


def _titled(story: Story) -> Story:
    """A story with a title above each run of sentences of one part but the first."""
    told: list[Told] = []
    run = 0
    for at, (one, label) in enumerate(zip(story.sentences, story.labels, strict=True)):
        run += bool(at) and label != story.labels[at - 1]
        told.append(Told(one.text, f"{one.paragraph} {run}", LABELS[label] if run else one.stated))
    return replace(story, sentences=tuple(told))


def learn(stories: Sequence[Story]) -> tuple[dict[str, Array], Array]:
    """What sentences show -> weights per label, and weights of a label behind another, within and across."""
    seen = [list(shown(story.sentences)) for story in stories]
    counts = collections.Counter(one for found in seen for one in set().union(*found))
    names = sorted(one for one, count in counts.items() if count >= RARE or one.startswith("@"))
    chain = _Chain(stories, seen, {name: at for at, name in enumerate(names)})
    best = minimize(
        chain.loss, np.zeros(chain.size), jac=True, method="L-BFGS-B", options={"maxiter": _ROUNDS}
    )
    of, then = chain.parts(best.x)
    return dict(zip(names, of - of.mean(axis=1, keepdims=True), strict=True)), then


class _Chain:
    """Loss and gradient of the field over all stories at once, padded to the longest."""

    def __init__(
        self, stories: Sequence[Story], seen: Sequence[Sequence[set[str]]], places: Mapping[str, int]
    ):
        labels = np.array([label for story in stories for label in story.labels])
        lengths = [len(story.labels) for story in stories]
        starts = np.cumsum([0, *lengths[:-1]])
        flat = [found for story in seen for found in story]
        cells = [
            (row, places[one]) for row, found in enumerate(flat) for one in sorted(found) if one in places
        ]
        rows, columns = np.array(cells).T
        self._of = csr_matrix((np.ones(len(cells)), (rows, columns)), shape=(len(flat), len(places)))
        self._by = self._of.T.tocsr()
        self._count = len(places)
        across = [is_across(story.sentences, at) for story in stories for at in range(len(story.labels))]
        self._at = np.zeros((len(stories), max(lengths)), dtype=int)
        self._is = np.zeros(self._at.shape, dtype=bool)
        for row, (start, length) in enumerate(zip(starts, lengths, strict=True)):
            self._at[row, :length] = np.arange(start, start + length)
            self._is[row, :length] = True
        self._across = np.array(across, dtype=int)[self._at]
        self._pairs = self._is[:, 1:]
        one_hot = np.eye(len(LABELS))[labels]
        self._gold = np.asarray(self._by @ one_hot)
        given = labels[self._at]
        self._gold_then = np.zeros((2, len(LABELS), len(LABELS)))
        followed = (self._across[:, 1:], given[:, :-1], given[:, 1:])
        np.add.at(self._gold_then, tuple(part[self._pairs] for part in followed), 1)

    @property
    def size(self) -> int:
        """How many weights there are."""
        return self._count * len(LABELS) + 2 * len(LABELS) ** 2

    def parts(self, weights: Array) -> tuple[Array, Array]:
        """Weights of what sentences show, and of labels behind labels."""
        cut = self._count * len(LABELS)
        return weights[:cut].reshape(-1, len(LABELS)), weights[cut:].reshape(2, len(LABELS), len(LABELS))

    def loss(self, weights: Array) -> tuple[float, Array]:
        """Negative log-likelihood with a ridge, and its gradient."""
        of, then = self.parts(weights)
        own = np.asarray(self._of @ of)[self._at]
        steps = then[self._across]
        forward, backward = np.zeros_like(own), np.zeros_like(own)
        forward[:, 0] = own[:, 0]
        last = own.shape[1] - 1
        for at in range(1, last + 1):
            reached = own[:, at] + _summed(forward[:, at - 1, :, None] + steps[:, at], 1)
            forward[:, at] = np.where(self._is[:, at, None], reached, forward[:, at - 1])
        for at in range(last - 1, -1, -1):
            reached = _summed(steps[:, at + 1] + (own[:, at + 1] + backward[:, at + 1])[:, None, :], 2)
            backward[:, at] = np.where(self._is[:, at + 1, None], reached, 0)
        total = _summed(forward[:, -1], 1)
        likely = np.exp(forward + backward - total[:, None, None])
        told = np.zeros((self._of.shape[0], len(LABELS)))
        told[self._at[self._is]] = likely[self._is]
        both = (
            forward[:, :-1, :, None] + steps[:, 1:] + (own[:, 1:] + backward[:, 1:])[:, :, None, :]
        ) - total[:, None, None, None]
        pairs = np.exp(both) * self._pairs[:, :, None, None]
        expected = np.stack([pairs[self._across[:, 1:] == kind].sum(0) for kind in (0, 1)])
        value = (of * self._gold).sum() + (then * self._gold_then).sum() - total.sum()
        gradient = np.concatenate(
            [(self._gold - np.asarray(self._by @ told)).ravel(), (self._gold_then - expected).ravel()]
        )
        return -(value - RIDGE / 2 * (weights @ weights)), -(gradient - RIDGE * weights)


def _summed(values: Array, axis: int) -> Array:
    top = values.max(axis=axis, keepdims=True)
    found: Array = (top + np.log(np.exp(values - top).sum(axis=axis, keepdims=True))).squeeze(axis)
    return found


def write(of: Mapping[str, Array], then: Array) -> None:
    """The weights as whole numbers, in 1/100."""
    lines = ["# Learned by scripts/role_weights.py: how words and place speak for each part, in 1/100."]
    for name, table in zip(("within", "across"), np.rint(then * 100).astype(int).tolist(), strict=True):
        lines.append(f"{name} = {json.dumps(table)}")
    lines.append("words = '''")
    for word, row in of.items():
        if np.abs(row).max() >= LEAST:
            lines.append(f"{word}\t{' '.join(str(int(value)) for value in np.rint(row * 100))}")
    TARGET.write_text("\n".join([*lines, "'''", ""]), "utf-8")


def main() -> None:
    """Learn and write."""
    marked = list(marked_stories())
    own = [story for _, story in written_stories("dev")]
    write(*learn([*framed(marked), *own]))
    print(TARGET.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
