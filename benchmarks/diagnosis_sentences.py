"""Learn the points that choose the sentences which state a case's diagnosis (`--fit` writes them).

A logistic model on the development halves of the gold of cases, of written articles and of abstracts of case
reports (tests/gold), drawn to an order of trust written down before anything was learned. What each case is
about is chosen by the ranking of diagnoses. Both are checked by learning from seven eighths of the articles
and scoring the eighth. Points are whole numbers; how many are enough is set on cases, which are what is read.
Abstracts, of whose sentences four times as many state it, and written_statements.toml are scored here, other
cases by cases_gold.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import itertools
import json
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import diagnosis_ranking, medline_diagnoses, written_articles
from benchmarks.cases_gold import GOLD, Tally, fragment, gold_rows, matched
from benchmarks.jats_speed import raw_of
from benchmarks.measure import ROOT, SHARED, real_files, save
from benchmarks.principal_diagnosis import (
    Told,
    Vocabulary,
    default_vocabulary,
    diagnoses_of,
    mentions_of,
    told,
)
from curation.diagnosis import score as ranking
from curation.diagnosis import sentences
from curation.diagnosis.named import Rest
from curation.diagnosis.principal import Ranked, ranked
from curation.diagnosis.stage import read_from
from curation.diagnosis.story import Sentence, story_of
from curation.diagnosis.topic import NAMES as AGREES
from curation.diagnosis.topic import Topic
from curation.extract.sentences import sentence_spans
from schemas.article import Abstract, KeywordGroup
from scripts.scope_medline import records
from sources import jats
from tests.curation.cases.stories import report

STATES = "* "
"""Begins a line of written_statements.toml that states the diagnosis."""
WEIGHTS = ROOT / "curation" / "diagnosis" / "sentences.toml"
TRUST = {
    "start": -5.0,
    "strong": 0.3,
    "hedged": 0.3,
    "event": 0.2,
    "topic stated": 1.5,
    "topic touched": 0.5,
    "topic named": 0.5,
    "topic in several words": 0.7,
    "disease stated": 0.5,
    "first on the topic": 0.5,
    "last explicit": 0.5,
    "last of pathology": 1.0,
    "developed": 1.0,
    "only hedged": 1.0,
    "germ found": 1.0,
    "concluding": 0.5,
    "reported": 1.5,
    "follow-up": -0.5,
    "explicit: disease": -0.5,
    "strong: concept": 1.5,
    "strong: wider": 0.7,
    "strong: disease": -0.3,
    "strong: finding": -0.3,
    "strong: cue": 0.0,
    "weak: wider": 0.5,
    "weak: disease": -0.3,
    "weak: finding": -0.3,
    "weak: cue": 0.0,
    "concept named": 0.7,
    "first of the concept": 0.3,
}
"""How far each feature is trusted before anything is learned."""
PULL = 4.0
"""How strongly points are drawn to it; 4 and 8 give the same F1 on dev within .01, left out case by case."""
NEARLY = 0.02
"""F1 that is no reason to prefer a limit."""
NAMES = list(TRUST)
FOLDS = 8
Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Story:
    """One case: its sentences, which of them the gold names, and what it may be about.

    Attributes:
        file: what is learned from and scored together.
        of: shared, written, statements or abstract.
        sentences: of the case, in order.
        is_stated: for each whether the gold names it.
        told: the candidates for its diagnosis.
        rest: what is read beside the case.
        diagnosis: marked, '' where it is not.
    """

    file: str
    of: str
    sentences: Sequence[str]
    is_stated: Sequence[bool]
    told: Ranked
    rest: Rest
    diagnosis: str = ""

    def topic(self, weights: Mapping[str, float]) -> Topic:
        """What it is about by these weights."""
        return self.rest.topic_of(dataclasses.replace(self.told, weights=weights).phrase())


@dataclass(frozen=True, slots=True)
class Marked:
    """The sentences of one case: features, and which of them the gold names."""

    features: Array
    is_stated: Array


def stories(vocabulary: Vocabulary, half: str = "dev") -> Iterator[Story]:
    """The cases and abstracts of the halves of the gold that are called so."""
    files = real_files(SHARED)
    for row in gold_rows(half):
        if row["cases"]:
            data = files[row["file"]].read_bytes()
            yield from _of_article(row, told(jats.parse(data, raw_of(files[row["file"]], data))), vocabulary)
    for row in written_articles.gold_rows(half):
        yield from _of_written(row, told(written_articles.article_of(row)), vocabulary)
    for item in abstracts(half):
        yield from _stories(item.id, "abstract", item.told, vocabulary, [item.is_stated])
    for item in reports(half):
        yield from _stories(item.id, "statements", item.told, vocabulary, [item.is_stated])


def _stories(
    file: str,
    of: str,
    item: Told,
    vocabulary: Vocabulary,
    stated: Iterable[Callable[[Sentence], bool] | None],
    diagnoses: Sequence[str] = (),
) -> Iterator[Story]:
    """Cases of an article with what tells the marked sentences of each; None leaves a case out."""
    found = mentions_of(item, vocabulary.matcher)
    texts = read_from(item.article, item.source, item.cases, item.passages, found)
    for case, is_stated, diagnosis in itertools.zip_longest(item.cases, stated, diagnoses):
        if case is None or is_stated is None:
            continue
        story = story_of(case, {**texts.continued, **texts.passages}, texts.headed)
        yield Story(
            file,
            of,
            story.texts,
            [is_stated(sentence) for sentence in story.sentences],
            ranked(case, story, texts, vocabulary.concepts),
            texts.rest,
            diagnosis or "",
        )


def _of_written(row: Mapping[str, Any], item: Told, vocabulary: Vocabulary) -> Iterator[Story]:
    def among(wanted: Iterable[str]) -> Callable[[Sentence], bool]:
        keys = {written_articles.key(text) for text in wanted}
        return lambda sentence: written_articles.same(written_articles.key(sentence.text), keys) in keys

    patients = row["patients"]
    stated = [among(patient["sentences"]) for patient in patients]
    diagnoses = [patient.get("diagnosis") or "" for patient in patients]
    yield from _stories(row["file"], "written", item, vocabulary, stated, diagnoses)


def _of_article(row: Any, item: Told, vocabulary: Vocabulary) -> Iterator[Story]:
    def among(gold: Sequence[Mapping[str, Any]]) -> Callable[[Sentence], bool]:
        return lambda sentence: any(
            place["place"] == "passage"
            and place["passage"] == fragment(sentence.text_id)
            and sentence.start < place["end"]
            and place["start"] < sentence.start + len(sentence.text)
            for place in gold
        )

    gold = dict(matched(item.cases, row["cases"]))
    stated = [
        among(row["cases"][gold[at]]["diagnosis"]) if at in gold else None for at in range(len(item.cases))
    ]
    yield from _stories(item.source.id, "shared", item, vocabulary, stated)


@dataclass(frozen=True, slots=True)
class OneCase:
    """An abstract or a report of one case, and where sentences that state its diagnosis begin."""

    id: str
    told: Told
    starts: frozenset[int]

    def is_stated(self, sentence: Sentence) -> bool:
        """Whether a sentence is one of the marked ones."""
        return sentence.start in self.starts


def abstracts(half: str) -> Iterator[OneCase]:
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
        item = medline_diagnoses.as_report(found)
        (case,) = item.cases
        places = sentence_spans(item.passages[0].text)
        span = dataclasses.replace(case.spans[0], start=places[row["first"]][0], end=places[row["last"]][1])
        yield OneCase(
            found.pmid,
            dataclasses.replace(item, cases=(dataclasses.replace(case, spans=(span,)),)),
            frozenset(places[at][0] for at in row["stated"]),
        )


def marked(story: Story, weights: Mapping[str, float]) -> Marked:
    """A story as the points of sentences are learned from it, its disease chosen by these weights."""
    grounded = dataclasses.replace(story.told, weights=weights).grounded()
    read = sentences.features(story.sentences, story.topic(weights), grounded)
    table = [[float(name in found or name == "start") for name in NAMES] for found, _ in read]
    return Marked(np.array(table), np.array(story.is_stated, dtype=float))


def reports(half: str) -> Iterator[OneCase]:
    """The reports of written_statements.toml: a sentence a line, what states the diagnosis behind `* `."""
    for row in tomllib.loads((GOLD / "written_statements.toml").read_text("utf-8"))["report"]:
        if row["half"] != half:
            continue
        lines = row["story"].splitlines()
        sentences = [line.removeprefix(STATES) for line in lines]
        starts = itertools.accumulate((len(sentence) + 1 for sentence in sentences), initial=0)
        item = told(
            report(
                [("Case presentation", [" ".join(sentences)])],
                title=row["title"],
                abstracts=(Abstract(language="en", type="", text=row["abstract"]),),
                keywords=(KeywordGroup(language="en", type="", terms=tuple(row["keywords"])),),
            )
        )
        yield OneCase(
            row["id"],
            dataclasses.replace(item, cases=(medline_diagnoses.whole(item),)),
            frozenset(start for start, line in zip(starts, lines, strict=False) if line.startswith(STATES)),
        )


def score(items: Iterable[OneCase], vocabulary: Vocabulary) -> dict[str, Any]:
    """What is chosen in texts of one case against the marks."""
    tally = Tally()
    for item in items:
        (answer,) = diagnoses_of(item.told, vocabulary)
        chosen = {(item.id, str(one.start)) for one in answer.statements if one.place == "passage"}
        tally.add(set(chosen), {(item.id, str(at)) for at in item.starts})
    return tally.result()


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


def check(told: Sequence[Story], cases: Sequence[diagnosis_ranking.Marked]) -> Checked:
    """Learn from seven eighths of the files, points and the ranking, and score the eighth, in turn."""
    made = Checked([], [], [])
    files = {story.file for story in told} | {case.article for case in cases}
    fold = {name: int(hashlib.sha256(name.encode()).hexdigest(), 16) % FOLDS for name in files}
    for number in range(FOLDS):
        others = [story for story in told if fold[story.file] != number]
        own = [story for story in told if fold[story.file] == number]
        found = diagnosis_ranking.learned([case for case in cases if fold[case.article] != number])
        weights = dict(zip(diagnosis_ranking.NAMES, map(float, found), strict=True))
        points = tenths(learned([marked(story, weights) for story in others]))
        for story in own:
            case = marked(story, weights)
            made.stories.append(story)
            made.cases.append(case)
            made.points.append(scored(case, points))
            if story.diagnosis:
                made.choosable += 1
                made.chosen += story.topic(weights).agreement(story.diagnosis) == AGREES
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
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = default_vocabulary(Path(folder) / "workspace")
    all_stories = list(stories(vocabulary))
    checked = check(all_stories, list(diagnosis_ranking.marked(vocabulary)))
    bodies = [at for at, story in enumerate(checked.stories) if story.of != "abstract"]
    cases, points = [checked.cases[at] for at in bodies], [checked.points[at] for at in bodies]
    reached = {limit: f1(cases, points, limit) for limit in range(-40, 31, 2)}
    enough = steady(reached)
    for limit, found in reached.items():
        print(f"left out, {limit}:", *found, "*" if limit == enough else "")
    print(f"about the diagnosis marked: {checked.chosen} of {checked.choosable}")
    parts = {of: _of(checked, of, enough) for of in ("shared", "written", "statements", "abstract")}
    print(parts)
    if given.fit:
        _write(all_stories, enough)
        return 0
    result = {half: score(abstracts(half), vocabulary) for half in ("dev", "test")}
    unread = score(reports("test"), vocabulary)
    for half, row in {**result, "reports": unread}.items():
        print(half, {name: value for name, value in row.items() if name != "misses"})
    found_f1, counts = reached[enough]
    left_out = {
        "f1": round(found_f1, 3),
        "counts": counts,
        "parts": parts,
        "about": [checked.chosen, checked.choosable],
    }
    print(save("diagnosis_sentences", {"left_out": left_out, "abstracts": result, "reports": unread}))
    return 0


def _of(checked: Checked, of: str, enough: int) -> dict[str, Any]:
    own = [at for at, story in enumerate(checked.stories) if story.of == of]
    found, counts = f1([checked.cases[at] for at in own], [checked.points[at] for at in own], enough)
    return {"f1": round(found, 3), "counts": counts}


def _write(told: Sequence[Story], enough: int) -> None:
    """Write the points, learned from all, each disease as the product's ranking chooses it."""
    points = tenths(learned([marked(story, ranking.weights()) for story in told]))
    lines = [
        "# Made by `python -m benchmarks.diagnosis_sentences --fit`: points, and how many are enough.",
        f"enough = {enough}",
        "",
        "[points]",
    ]
    lines += [f'"{name}" = {value}' for name, value in points.items()]
    WEIGHTS.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
