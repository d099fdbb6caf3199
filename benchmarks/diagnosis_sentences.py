"""Learn the points by which sentences are chosen that state a case's final diagnosis (`--fit` writes them).

A logistic model on the development halves of the gold of cases and of abstracts of case reports (tests/gold),
drawn to an order of trust written down before anything was learned; checked by leaving out one case at a
time. Points are tenths of log odds, rounded. Abstracts are scored here, both halves; cases by cases_gold.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import written_articles
from benchmarks.cases_gold import GOLD, Tally, fragment, gold_rows, matched, real_files
from benchmarks.jats_speed import raw_of
from benchmarks.measure import ROOT, SHARED, save
from benchmarks.principal_diagnosis import Told, told
from curation.cases import diagnosis_score
from curation.cases.diagnosis import Topic, select, topic_of
from curation.extract.sentences import sentence_spans
from scripts.scope_medline import records
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
    "germ found": 1.0,
    "concluding": 0.5,
    "reported": 1.5,
    "developed": 1.0,
    "caused": 0.7,
    "follow-up": -0.5,
    "early": -0.3,
    "history": -0.5,
    "elsewhere": -2.0,
    "superseded": -2.5,
    "strong untitled": 0.5,
}
"""How far each feature is trusted before anything is learned."""
PULL = 4.0
"""How strongly points are drawn to it; 4 and 8 give the same F1 on dev within .01, left out case by case."""
NEARLY = 0.02
"""F1 that is no reason to prefer a limit."""
SETS = "BCD"
"""Written articles learned from; with E to G and J as well F1 of the shared development half fell."""
NAMES = list(TRUST)
Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Marked:
    """The sentences of one case: features, and which of them the gold names."""

    case: str
    features: Array
    is_stated: Array


def marked() -> Iterator[Marked]:
    """The cases and abstracts of the development halves."""
    files = real_files(SHARED)
    for row in gold_rows("dev"):
        if row["cases"]:
            data = files[row["file"]].read_bytes()
            yield from _of_article(row, told(jats.parse(data, raw_of(files[row["file"]], data))))
    for row in written_articles.gold_rows("dev"):
        if row["file"][0] in SETS:
            yield from _of_written(row, told(written_articles.article_of(row)))
    yield from map(_of_abstract, abstracts("dev"))


def _of_written(row: Mapping[str, Any], item: Told) -> Iterator[Marked]:
    texts = {passage.id: passage.text for passage in item.passages}
    for at, (_, gold) in enumerate(zip(item.cases, row["patients"], strict=False)):
        sentences = [texts[name][a:b] for name, a, b in _sentences(item, at)]
        read = diagnosis_score.features(sentences, _topic(item))
        keys = {written_articles.key(text) for text in gold["sentences"]}
        is_stated = [written_articles.same(written_articles.key(text), keys) in keys for text in sentences]
        yield Marked(
            f"{row['file']}#{at + 1}", _table(found for found, _ in read), np.array(is_stated, dtype=float)
        )


def _topic(item: Told) -> Topic:
    texts = [abstract.text for abstract in item.article.abstracts]
    return topic_of(item.source.title, " ".join([*texts, *(passage.text for passage in item.passages)]))


def _of_article(row: Any, item: Told) -> Iterator[Marked]:
    texts = {passage.id: passage.text for passage in item.passages}
    topic = _topic(item)
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
            _table(found for found, _ in read),
            np.array(is_stated, dtype=float),
        )


@dataclass(frozen=True, slots=True)
class Abstract:
    """An abstract from the first sentence on its patient to the last, and which state the diagnosis."""

    pmid: str
    sentences: tuple[str, ...]
    stated: frozenset[int]
    topic: Topic


def abstracts(half: str) -> Iterator[Abstract]:
    """The marked abstracts: even PMIDs are dev, odd ones test.

    Raises:
        ValueError: an abstract is not the one that was marked.
    """
    rows = {row["pmid"]: row for row in json.loads((GOLD / "sentences_medline.json").read_text("utf-8"))}
    for found in records():
        row = rows.get(found.pmid)
        if row is None or int(found.pmid) % 2 != (half == "test"):
            continue
        if hashlib.sha256(found.abstract.encode()).hexdigest() != row["sha256"]:
            raise ValueError(f"sentences_medline.json: the abstract of PMID {found.pmid} is another one")
        first, last = row["first"], row["last"] + 1
        places = itertools.islice(sentence_spans(found.abstract), first, last)
        yield Abstract(
            found.pmid,
            tuple(found.abstract[start:end] for start, end in places),
            frozenset(at - first for at in row["stated"]),
            topic_of(found.title, found.abstract),
        )


def _of_abstract(item: Abstract) -> Marked:
    read = diagnosis_score.features(item.sentences, item.topic)
    return Marked(item.pmid, _table(found for found, _ in read), _flags(len(read), item.stated))


def _table(read: Iterable[set[str]]) -> Array:
    return np.array([[float(name in found or name == "start") for name in NAMES] for found in read])


def _flags(count: int, stated: frozenset[int]) -> Array:
    return np.array([float(at in stated) for at in range(count)])


def of_abstracts(half: str) -> dict[str, Any]:
    """What is chosen in the abstracts of one half against the marks."""
    tally = Tally()
    for item in abstracts(half):
        chosen = {(item.pmid, str(at)) for at, _ in select(item.sentences, item.topic)}
        tally.add(set(chosen), {(item.pmid, str(at)) for at in item.stated})
    return tally.result()


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
    for _ in range(20):
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


def steady(reached: dict[int, tuple[float, str]]) -> int:
    """The middle of the limits that reach nearly the best F1: less a matter of luck than the best one."""
    best = max(found for found, _ in reached.values())
    near = [limit for limit, (found, _) in sorted(reached.items()) if found >= best - NEARLY]
    return near[len(near) // 2]


def main() -> int:
    """Check by leaving out, and with `--fit` write the points."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--fit", action="store_true")
    given = options.parse_args()
    cases = list(marked())
    points = left_out(cases)
    reached = {enough: f1(cases, points, enough) for enough in range(-40, 31, 2)}
    enough = steady(reached)
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
    result = {half: of_abstracts(half) for half in ("dev", "test")}
    for half, row in result.items():
        print("abstracts", half, {name: value for name, value in row.items() if name != "misses"})
    best, counts = reached[enough]
    print(
        save(
            "diagnosis_sentences", {"left_out": {"f1": round(best, 3), "counts": counts}, "abstracts": result}
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
