"""Learn the points by which sentences are chosen that state a case's final diagnosis (`--fit` writes them).

A logistic model on the development half of the gold of cases, drawn to an order of trust written down before
anything was learned; checked by leaving out one case at a time. Points are tenths of log odds, rounded.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.cases_gold import fragment, gold_rows, matched, real_files
from benchmarks.jats_speed import raw_of
from benchmarks.measure import ROOT, SHARED
from benchmarks.principal_diagnosis import Told, told
from curation.cases import diagnosis_score
from curation.cases.diagnosis import topic_of
from curation.extract.sentences import sentence_spans
from sources import jats

WEIGHTS = ROOT / "curation" / "cases" / "diagnosis_score.toml"
TRUST = {
    "start": -5.0,
    "final": 2.0,
    "explicit": 1.5,
    "confirmed": 0.5,
    "pathology": 0.7,
    "strong": 0.3,
    "weak": 0.3,
    "hedged": 0.3,
    "event": 0.2,
    "topic stated": 1.5,
    "topic touched": 0.5,
    "topic named": 0.5,
    "topic in several words": 0.7,
    "disease stated": 0.5,
    "explicit on the topic": 1.0,
    "explicit without topic": 1.0,
    "first on the topic": 0.5,
    "first explicit": 0.5,
    "last explicit": 0.5,
    "last of pathology": 1.0,
    "only hedged": 1.0,
    "follow-up": -0.5,
    "early": -0.3,
    "history": -0.5,
    "stated before": -1.0,
}
"""How far each feature is trusted before anything is learned."""
PULL = 3.0
"""How strongly points are drawn to it; .5 to 1000 give F1 .69 to .75 on dev, left out case by case."""
NAMES = list(TRUST)
Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Marked:
    """The sentences of one case: features, and which of them the gold names."""

    case: str
    features: Array
    is_stated: Array


def marked() -> Iterator[Marked]:
    """The cases of the development half."""
    files = real_files(SHARED)
    for row in gold_rows("dev"):
        if row["cases"]:
            data = files[row["file"]].read_bytes()
            yield from _of_article(row, told(jats.parse(data, raw_of(files[row["file"]], data))))


def _of_article(row: Any, item: Told) -> Iterator[Marked]:
    texts = {passage.id: passage.text for passage in item.passages}
    topic = topic_of(item.source.title, " ".join(texts.values()))
    for one, other in matched(item.cases, row["cases"]):
        gold = [place for place in row["cases"][other]["diagnosis"] if place["place"] == "passage"]
        places = list(_sentences(item, one))
        read = diagnosis_score.features([texts[name][a:b] for name, a, b in places], topic)
        is_stated = [
            any(
                place["passage"] == fragment(name) and start < place["end"] and place["start"] < end
                for place in gold
            )
            for name, start, end in places
        ]
        yield Marked(
            f"{item.source.id}#case{other + 1}",
            np.array([[float(name in found or name == "start") for name in NAMES] for found, _ in read]),
            np.array(is_stated, dtype=float),
        )


def _sentences(item: Told, place: int) -> Iterator[tuple[str, int, int]]:
    """The sentences of one case: passage, start and end."""
    case = item.cases[place]
    texts = {passage.id: passage.text for passage in item.passages}
    for name in dict.fromkeys(span.passage_id for span in case.spans):
        for start, end in sentence_spans(texts[name]):
            if any(span.passage_id == name and span.start <= start < span.end for span in case.spans):
                yield name, start, end


def learned(cases: Sequence[Marked]) -> Array:
    """Log odds per feature: Newton's method on the penalised likelihood."""
    features = np.vstack([case.features for case in cases])
    is_stated = np.concatenate([case.is_stated for case in cases])
    trust = np.array([TRUST[name] for name in NAMES])
    pull = np.full(len(NAMES), PULL)
    pull[0] = 0.01
    weights = trust.copy()
    for _ in range(40):
        chance = 1 / (1 + np.exp(-features @ weights))
        slope = features.T @ (chance - is_stated) + pull * (weights - trust)
        bend = (features * (chance * (1 - chance))[:, None]).T @ features + np.diag(pull)
        weights = weights - np.linalg.solve(bend, slope)
    return weights


def tenths(weights: Array) -> dict[str, int]:
    """Points as they are written: tenths of log odds."""
    return {name: round(float(10 * weight)) for name, weight in zip(NAMES, weights, strict=True)}


def scored(case: Marked, points: dict[str, int]) -> list[int]:
    """Points of the sentences of a case."""
    return [round(float(value)) for value in case.features @ np.array([points[name] for name in NAMES])]


def f1(cases: Sequence[Marked], given: Sequence[Sequence[int]], enough: int) -> tuple[float, str]:
    """F1 of the sentences with enough points, and the counts behind it."""
    right = chosen = stated = 0
    for case, points in zip(cases, given, strict=True):
        picked = [at for at, value in enumerate(points) if value >= enough]
        right += sum(bool(case.is_stated[at]) for at in picked)
        chosen += len(picked)
        stated += int(case.is_stated.sum())
    return 2 * right / (chosen + stated), f"right {right}, chosen {chosen}, stated {stated}"


def left_out(cases: Sequence[Marked]) -> list[list[int]]:
    """Points of every case by what was learned from the others."""
    return [scored(case, tenths(learned([other for other in cases if other is not case]))) for case in cases]


def main() -> int:
    """Check by leaving out, and with `--fit` write the points."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--fit", action="store_true")
    given = options.parse_args()
    cases = list(marked())
    points = left_out(cases)
    reached = {enough: f1(cases, points, enough) for enough in range(-40, 31, 5)}
    enough = max(reached, key=lambda limit: (reached[limit][0], -limit))
    for limit, found in reached.items():
        print(f"left out case by case, {limit}:", *found, "*" if limit == enough else "")
    if given.fit:
        whole = tenths(learned(cases))
        head = "# Made by `python -m benchmarks.diagnosis_sentences --fit`: points, and how many are enough."
        lines = [head, f"enough = {enough}", "", "[points]"]
        lines += [f'"{name}" = {value}' for name, value in whole.items()]
        WEIGHTS.write_text("\n".join(lines) + "\n", "utf-8")
        print("learned from all:", *f1(cases, [scored(case, whole) for case in cases], enough))
    return 0


if __name__ == "__main__":
    sys.exit(main())
