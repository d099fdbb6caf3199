"""Learn the points that choose a case's disease and the sentences that state it (`--fit` writes them).

What a case is about: a conditional logit over the diseases its report names, learned from the written
articles of the development half, whose diagnosis is marked. Sentences: a logistic model on the development
halves of the gold of cases, of written articles and of abstracts of case reports (tests/gold), drawn to an
order of trust written down before anything was learned. Both are checked by learning from seven eighths and
scoring the eighth. Points are whole numbers. Abstracts are scored here, both halves; cases by cases_gold.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import itertools
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
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
from curation.cases.diagnosis import select
from curation.cases.diagnosis_choice import POINTS, Candidate, Rest, best, candidates, rest_of
from curation.cases.diagnosis_topic import Topic, head_of, topic_of
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
    "explicit of another": -1.5,
}
"""How far each feature is trusted before anything is learned."""
PULL = 4.0
"""How strongly points are drawn to it; 4 and 8 give the same F1 on dev within .01, left out case by case."""
NEARLY = 0.02
"""F1 that is no reason to prefer a limit."""
NAMES = list(TRUST)
EVIDENCE = (
    "title",
    "abstract",
    "discussed",
    "stated",
    "last stated",
    "first named",
    "often",
    "strong",
    "superseded",
    "elsewhere",
)
"""What speaks for a disease, as curation.cases.diagnosis_choice reads it."""
TITLES = 170
"""For the title's disease: half of the titles learned from hide it by design, more than among reports."""
FOLDS, STEPS, RATE = 8, 400, 0.4
SETS = frozenset("BCD")
"""Written articles the points of sentences are learned from; with all of them abstracts were read worse."""
Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Story:
    """One case: its sentences, which of them the gold names, and what is read beside it.

    Attributes:
        file: what is learned from and scored together.
        of: shared, written or abstract.
        sentences: of the case, in order.
        is_stated: for each whether the gold names it.
        rest: the report beside it.
        named: the diseases it may be about.
        diagnosis: marked, '' where it is not.
    """

    file: str
    of: str
    sentences: Sequence[str]
    is_stated: Sequence[bool]
    rest: Rest
    named: Sequence[Candidate]
    diagnosis: str = ""

    def topic(self, points: Mapping[str, int]) -> Topic:
        """What it is about by these points."""
        return self.rest.topic_of(best(self.named, points))


def _story(file: str, of: str, sentences: Sequence[str], is_stated: Sequence[bool], rest: Rest) -> Story:
    return Story(file, of, sentences, is_stated, rest, list(candidates(sentences, rest)))


@dataclass(frozen=True, slots=True)
class Marked:
    """The sentences of one case: features, and which of them the gold names."""

    features: Array
    is_stated: Array


def stories() -> Iterator[Story]:
    """The cases and abstracts of the development halves."""
    files = real_files(SHARED)
    for row in gold_rows("dev"):
        if row["cases"]:
            data = files[row["file"]].read_bytes()
            yield from _of_article(row, told(jats.parse(data, raw_of(files[row["file"]], data))))
    for row in written_articles.gold_rows("dev"):
        yield from _of_written(row, told(written_articles.article_of(row)))
    for item in abstracts("dev"):
        is_stated = [at in item.stated for at in range(len(item.sentences))]
        yield _story(item.pmid, "abstract", item.sentences, is_stated, item.rest)


def _of_written(row: Mapping[str, Any], item: Told) -> Iterator[Story]:
    texts = {passage.id: passage.text for passage in item.passages}
    for at, (_, gold) in enumerate(zip(item.cases, row["patients"], strict=False)):
        sentences = [texts[name][a:b] for name, a, b in _sentences(item, at)]
        keys = {written_articles.key(text) for text in gold["sentences"]}
        is_stated = [written_articles.same(written_articles.key(text), keys) in keys for text in sentences]
        made = _story(row["file"], "written", sentences, is_stated, _rest(item))
        yield dataclasses.replace(made, diagnosis=gold.get("diagnosis") or "")


def _rest(item: Told) -> Rest:
    spans: dict[str, list[tuple[int, int]]] = {}
    for case in item.cases:
        for span in case.spans:
            spans.setdefault(span.passage_id, []).append((span.start, span.end))
    passages = ((passage.id, passage.text) for passage in item.passages if not passage.boilerplate)
    return rest_of(item.source.title, item.source.keywords, item.article, passages, spans)


def _of_article(row: Any, item: Told) -> Iterator[Story]:
    texts = {passage.id: passage.text for passage in item.passages}
    for one, other in matched(item.cases, row["cases"]):
        gold = [place for place in row["cases"][other]["diagnosis"] if place["place"] == "passage"]
        places = list(_sentences(item, one))
        is_stated = [
            any(
                place["passage"] == fragment(name) and start < place["end"] and place["start"] < end
                for place in gold
            )
            for name, start, end in places
        ]
        sentences = [texts[name][a:b] for name, a, b in places]
        yield _story(item.source.id, "shared", sentences, is_stated, _rest(item))


@dataclass(frozen=True, slots=True)
class Abstract:
    """An abstract from the first sentence on its patient to the last, and which state the diagnosis."""

    pmid: str
    sentences: tuple[str, ...]
    stated: frozenset[int]
    rest: Rest


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
            Rest(title=found.title, keywords=found.keywords, text=found.abstract),
        )


def marked(story: Story, points: Mapping[str, int]) -> Marked:
    """A story as the points of sentences are learned from it, its disease chosen by these points."""
    read = diagnosis_score.features(story.sentences, story.topic(points))
    table = [[float(name in found or name == "start") for name in NAMES] for found, _ in read]
    return Marked(np.array(table), np.array(story.is_stated, dtype=float))


def of_abstracts(half: str) -> dict[str, Any]:
    """What is chosen in the abstracts of one half against the marks."""
    tally = Tally()
    for item in abstracts(half):
        chosen = {(item.pmid, str(at)) for at, _ in select(item.sentences, item.rest.topic(item.sentences))}
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


def is_learned(story: Story) -> bool:
    """Whether the points of sentences are learned from a story."""
    return story.of != "written" or story.file[0] in SETS


def learned(cases: Sequence[Marked]) -> Array:
    """Log odds per feature: damped Newton steps on the penalised likelihood."""
    features = np.vstack([case.features for case in cases])
    is_stated = np.concatenate([case.is_stated for case in cases])
    trust = np.array([TRUST[name] for name in NAMES])
    pull = np.full(len(NAMES), PULL)
    pull[0] = 0.01

    def cost(weights: Array) -> float:
        odds = features @ weights
        likelihood = np.logaddexp(0, odds).sum() - is_stated @ odds
        return float(likelihood + 0.5 * pull @ (weights - trust) ** 2)

    weights: Array = trust.copy()
    for _ in range(30):
        chance = 1 / (1 + np.exp(-np.clip(features @ weights, -40, 40)))
        slope = features.T @ (chance - is_stated) + pull * (weights - trust)
        bend = (features * (chance * (1 - chance))[:, None]).T @ features + np.diag(pull)
        step, size = np.linalg.solve(bend, slope), 1.0
        while cost(weights - size * step) > cost(weights) and size > 1e-4:
            size /= 2
        weights = weights - size * step
    return weights


@dataclass(frozen=True, slots=True)
class Choice:
    """The diseases of one story: what speaks for each, and which are the one marked."""

    evidence: Array
    is_right: Array


def choices(story: Story) -> Choice | None:
    """A story as the choice of its disease is learned from it; None where no candidate is the one marked."""
    wanted = topic_of(story.diagnosis)
    right = [
        wanted.agreement(item.phrase or head_of(story.rest.title)) == 2
        or item.topic.agreement(story.diagnosis) == 2
        for item in story.named
    ]
    if not any(right):
        return None
    table = [[item.evidence[name] for name in EVIDENCE] for item in story.named]
    return Choice(np.array(table), np.array(right, dtype=float))


def weighed(made: Sequence[Choice]) -> dict[str, int]:
    """Hundredths of log odds per kind of evidence: steps up the slope of the conditional likelihood."""
    weights: Array = np.zeros(len(EVIDENCE))
    for _ in range(STEPS):
        slope: Array = -weights
        for one in made:
            odds = one.evidence @ weights
            chance = np.exp(odds - odds.max())
            chance /= chance.sum()
            right = chance * one.is_right
            slope = slope + one.evidence.T @ (right / right.sum() - chance)
        weights = weights + RATE * slope / len(made)
    learned_points = {
        name: round(float(100 * weight)) for name, weight in zip(EVIDENCE, weights, strict=True)
    }
    return {"title's": TITLES, **learned_points}


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


@dataclass(slots=True)
class Checked:
    """Stories scored by what was learned from the others."""

    stories: list[Story]
    cases: list[Marked]
    points: list[list[int]]
    chosen: int = 0
    choosable: int = 0


def check(told: Sequence[Story]) -> Checked:
    """Learn from seven eighths of the files and score the eighth, in turn."""
    made = Checked([], [], [])
    files = sorted({story.file for story in told})
    fold = {name: int(hashlib.sha256(name.encode()).hexdigest(), 16) % FOLDS for name in files}
    offered = {id(story): choices(story) for story in told if story.diagnosis}
    for number in range(FOLDS):
        others = [story for story in told if fold[story.file] != number]
        own = [story for story in told if fold[story.file] == number]
        weights = weighed([one for story in others if (one := offered.get(id(story))) is not None])
        points = tenths(learned([marked(story, weights) for story in others if is_learned(story)]))
        for story in own:
            case = marked(story, weights)
            made.stories.append(story)
            made.cases.append(case)
            made.points.append(scored(case, points))
            if story.diagnosis:
                made.choosable += 1
                made.chosen += story.topic(weights).agreement(story.diagnosis) == 2
    return made


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
    all_stories = list(stories())
    checked = check(all_stories)
    own = [at for at, story in enumerate(checked.stories) if is_learned(story)]
    cases, points = [checked.cases[at] for at in own], [checked.points[at] for at in own]
    reached = {limit: f1(cases, points, limit) for limit in range(-40, 31, 2)}
    enough = steady(reached)
    for limit, found in reached.items():
        print(f"left out, {limit}:", *found, "*" if limit == enough else "")
    print(f"about the diagnosis marked: {checked.chosen} of {checked.choosable}")
    parts = {of: _of(checked, of, enough) for of in ("shared", "written", "abstract")}
    print(parts)
    if given.fit:
        _write(all_stories, enough)
        return 0
    result = {half: of_abstracts(half) for half in ("dev", "test")}
    for half, row in result.items():
        print("abstracts", half, {name: value for name, value in row.items() if name != "misses"})
    found_f1, counts = reached[enough]
    left_out = {
        "f1": round(found_f1, 3),
        "counts": counts,
        "parts": parts,
        "about": [checked.chosen, checked.choosable],
    }
    print(save("diagnosis_sentences", {"left_out": left_out, "abstracts": result}))
    return 0


def _of(checked: Checked, of: str, enough: int) -> dict[str, Any]:
    own = [at for at, story in enumerate(checked.stories) if story.of == of]
    found, counts = f1([checked.cases[at] for at in own], [checked.points[at] for at in own], enough)
    return {"f1": round(found, 3), "counts": counts}


def _write(told: Sequence[Story], enough: int) -> None:
    """Write the points of both, learned from all."""
    head = "# Made by `python -m benchmarks.diagnosis_sentences --fit`: "
    weights = weighed([one for story in told if story.diagnosis and (one := choices(story)) is not None])
    lines = [f"{head}hundredths of log odds.", "[points]"]
    lines += [f'"{name}" = {value}' for name, value in weights.items()]
    POINTS.write_text("\n".join(lines) + "\n", "utf-8")
    points = tenths(learned([marked(story, weights) for story in told if is_learned(story)]))
    lines = [f"{head}points, and how many are enough.", f"enough = {enough}", "", "[points]"]
    lines += [f'"{name}" = {value}' for name, value in points.items()]
    WEIGHTS.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
