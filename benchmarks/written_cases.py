"""Stories written by us for kinds of error met on unseen articles (tests/gold/written_*.toml), per class.

They measure whether a kind of error is gone, not how often it occurs: authors write less
evenly than we do.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import RESULTS, save
from benchmarks.principal_diagnosis import (
    GOLD,
    Told,
    Vocabulary,
    default_vocabulary,
    diagnoses_of,
    interval,
    mentions_of,
    told,
)
from curation.cases.roles import roles_of
from schemas.diagnosis import PrincipalDiagnosis
from scripts.role_weights import written_stories
from tests.curation.cases.stories import report

OPENING = (
    "A 41-year-old man presented to our hospital because he had felt unwell for several weeks. He had no "
    "relevant history. On examination he looked tired, and laboratory tests were performed."
)
"""Begins every story; with it a text is long enough to be a case."""


@dataclass(frozen=True, slots=True)
class Story:
    """One story and what it must be read as: the name of its diagnosis, '' when it has to stay open."""

    group: str
    half: str
    title: str
    text: str
    diagnosis: str


def stories(given: Mapping[str, Any]) -> Iterator[Story]:
    """Every template of the file filled with every set of diseases, or every head."""
    for group, half in itertools.product(("misdiagnosed", "complication", "named"), ("dev", "test")):
        for template, (x, y, s) in itertools.product(given[group][half], given["diseases"]):
            yield _filled(group, half, template, {"X": x, "Y": y, "S": s, "P": "He"}, x)
    for half, head in itertools.product(("dev", "test"), given["head_noun"]["heads"]):
        for template in given["head_noun"][half]:
            yield _filled("head_noun", half, template, {"H": head, "P": "He"}, "")


def _filled(group: str, half: str, template: Mapping[str, str], words: Mapping[str, str], x: str) -> Story:
    title = template["title"].format(**words)
    sentences = template["text"].format(**words).split(". ")
    text = ". ".join(sentence[:1].upper() + sentence[1:] for sentence in sentences)
    return Story(group, half, title[:1].upper() + title[1:], text, x)


def read(story: Story, vocabulary: Vocabulary) -> PrincipalDiagnosis | None:
    """The principal diagnosis of a story, through the stages; None when no case was found."""
    item = told(report([("Case presentation", [f"{OPENING} {story.text}"])], title=story.title))
    return next(diagnoses_of(item, vocabulary), None)


def judged(story: Story, answer: PrincipalDiagnosis | None, wanted: set[str]) -> str:
    """right, wrong, the reason for which it is open, or no case."""
    if answer is None:
        return "no case"
    if not answer.concept:
        return "right" if not story.diagnosis and answer.reason == "not_in_vocabulary" else answer.reason
    return "right" if answer.concept in wanted else "wrong"


def measure(vocabulary: Vocabulary, show: str) -> dict[str, Any]:
    """Verdicts per class and half."""
    given = tomllib.loads((GOLD / "written_diagnoses.toml").read_text("utf-8"))
    meant = {name: concepts_of(name, vocabulary) for name, _, _ in given["diseases"]}
    tallies: dict[str, collections.Counter[str]] = {}
    for story in stories(given):
        answer = read(story, vocabulary)
        verdict = judged(story, answer, meant.get(story.diagnosis, set()))
        tallies.setdefault(f"{story.group} {story.half}", collections.Counter())[verdict] += 1
        if story.half == show and verdict != "right":
            print(" ", story.group, verdict, answer and answer.name, "|", story.title, "|", story.text)
    return {name: _summed(found) for name, found in tallies.items()}


def concepts_of(name: str, vocabulary: Vocabulary) -> set[str]:
    """The concepts that a name stands for."""
    return {found.concept for found in mentions_of_text(name, vocabulary)}


def mentions_of_text(name: str, vocabulary: Vocabulary) -> list[Any]:
    """What the vocabulary calls a name that stands alone."""
    item = told(report([("Case presentation", [f"{name} was seen."])], title=name))
    return [found for found in mentions_of(item, vocabulary.matcher) if found.text.lower() == name.lower()]


def people() -> dict[str, dict[str, Any]]:
    """Verdicts per class and half on openings with an age, and on sentences of consent and ethics."""
    given = tomllib.loads((GOLD / "written_people.toml").read_text("utf-8"))
    tallies: dict[str, collections.Counter[str]] = {}
    for group, half in itertools.product(("relatives", "compound", "ranges"), ("dev", "test")):
        for opening, meant in _openings(given[group], half):
            verdict = "right" if (found := _age_of(opening)) == meant else "wrong"
            tallies.setdefault(f"{group} {half}", collections.Counter())[verdict] += 1
            if verdict == "wrong":
                MISSES.append((half, f"{group} {found} for {meant} | {opening}"))
    for group, half in itertools.product(("ethics", "consent_to_treatment"), ("dev", "test")):
        for sentence, place in itertools.product(given[group][half], range(len(PLACES))):
            is_kept = sentence in _told(place, sentence)
            verdict = "right" if is_kept == (group != "ethics") else "wrong"
            tallies.setdefault(f"{group} {half}", collections.Counter())[verdict] += 1
            if verdict == "wrong":
                MISSES.append((half, f"{group} place {place} | {sentence}"))
    return {name: _summed(found) for name, found in tallies.items()}


def openings() -> dict[str, dict[str, Any]]:
    """Verdicts per class and half on what stands before a patient, how one is met, and on siblings."""
    given = tomllib.loads((GOLD / "written_openings.toml").read_text("utf-8"))
    tallies: dict[str, collections.Counter[str]] = {}
    for half in ("dev", "test"):
        for group, text, is_right in itertools.chain(
            _before(given, half), _met(given, half), _kin(given, half)
        ):
            tally = tallies.setdefault(f"{group} {half}", collections.Counter())
            tally["right" if is_right else "wrong"] += 1
            if not is_right:
                MISSES.append((half, f"{group} | {text}"))
    return {name: _summed(found) for name, found in tallies.items()}


def parts() -> dict[str, dict[str, Any]]:
    """Sentences of written stories whose part is right, per half."""
    tallies = {}
    for half in ("dev", "test"):
        tally = tallies[f"roles {half}"] = collections.Counter[str]()
        for _, story in written_stories(half):
            found = roles_of(story.sentences, lambda sentence: False)
            tally.update(
                "right" if one == other else "wrong" for one, other in zip(found, story.roles, strict=True)
            )
    return {name: _summed(found) for name, found in tallies.items()}


def _before(given: Mapping[str, Any], half: str) -> Iterator[tuple[str, str, bool]]:
    """What stands before a patient, in his paragraph or another, and whether none of it is told."""
    for number, opening in enumerate(given["before"][half]):
        age = 31 + 7 * number % 37
        before, _, patient = opening.format(A=age).partition(" | ")
        for joined in " \n":
            item = told(report([("Case presentation", f"{before}{joined}{patient} {STORY}".split("\n"))]))
            first = _texts_of(item)[:1]
            is_right = [case.age_years for case in item.cases] == [age] and first[0].startswith(patient)
            yield "before", f"{before}{joined}{patient}", is_right


def _met(given: Mapping[str, Any], half: str) -> Iterator[tuple[str, str, bool]]:
    """How a patient is met, and whether age and sex are read."""
    neutral = re.sub(r"\bhe\b", "the patient", re.sub(r"\bHe\b", "The patient", STORY))
    for number, opening in enumerate(given["met"][half]):
        age = 31 + 7 * number % 37
        text, _, sex = opening.format(A=age).rpartition(" [")
        item = told(report([("Case presentation", [f"{text} {neutral}"])]))
        yield "met", text, [(case.age_years, case.sex) for case in item.cases] == [(age, sex.rstrip("]"))]


def _kin(given: Mapping[str, Any], half: str) -> Iterator[tuple[str, str, bool]]:
    """Siblings told of together, and whether each has the sentences that are his or of both."""
    for story in given["siblings"][half]:
        marked = re.findall(r"(\d): (.+?)(?= \d: |$)", story)
        text = " ".join(sentence for _, sentence in marked)
        item = told(
            report([("Case presentation", [text])], title="A rare disease in siblings: a case report")
        )
        whose = [" ".join(sentence for of, sentence in marked if of in {"0", one}) for one in "12"]
        yield "siblings", text, _texts_of(item) == whose


def _texts_of(item: Told) -> list[str]:
    """What each case of an article tells."""
    texts = {passage.id: passage.text for passage in item.passages}
    return [
        " ".join(texts[span.passage_id][span.start : span.end] for span in case.spans) for case in item.cases
    ]


def _openings(group: Mapping[str, Any], half: str) -> Iterator[tuple[str, str]]:
    """Openings of one class with the age each must be read as."""
    for number, text in enumerate(group[half]):
        for a, b in group.get("pairs", ()):
            units = [YEARS[unit] for unit in re.findall("year|month|day", text)]
            yield text.format(a=a, b=b), f"{round(a * units[0] + b * units[1], 3):g}"
        for at, who in enumerate(group.get("who", [""] * 5) if "pairs" not in group else ()):
            age = 31 + (10 * number + at) % 37
            opening, _, said = text.format(A=age, W=who).partition(" [")
            yield opening, said.rstrip("]") or str(age)


YEARS = {"year": 1.0, "month": 1 / 12, "day": 1 / 365.25}
MISSES: list[tuple[str, str]] = []
STORY = (
    "He had no relevant history. On examination he looked tired, and laboratory tests were performed. He was "
    "admitted, received antibiotics for a week, and recovered without sequelae."
)
PLACES = ("{o} {s}", "{s} {o}", "{o} {s} He was seen again after a year.", "{o}\n{s}")
"""Where a sentence stands: last, first, in the middle, in a paragraph of its own."""


def _age_of(opening: str) -> str:
    item = told(report([("Case presentation", [f"{opening} {STORY}"])]))
    age = item.cases[0].age_years if item.cases else None
    return "none" if age is None else f"{round(age, 3):g}"


def _told(place: int, sentence: str) -> str:
    whole = PLACES[place].format(o=f"{OPENING} {STORY}", s=sentence)
    item = told(report([("Case presentation", whole.split("\n"))]))
    texts = {passage.id: passage.text for passage in item.passages}
    return " ".join(texts[span.passage_id][span.start : span.end] for span in item.cases[0].spans)


def _summed(found: collections.Counter[str]) -> dict[str, Any]:
    count, right = sum(found.values()), found["right"]
    return {"stories": count, **dict(sorted(found.items())), "interval": interval(right, count)}


def section() -> list[str]:
    """The lines of the benchmarks page."""
    result = json.loads((RESULTS / "written_cases.json").read_text("utf-8"))
    lines = [
        "## Stories for kinds of error",
        "",
        "Cases written for kinds of error met on unseen articles (`tests/gold/written_*.toml`), before "
        "the rules; the test half was only scored. Misdiagnosed, complication and named ask for the one "
        "diagnosis, head noun that a name no vocabulary has stays open; relatives, compound and ranges for "
        "the age; ethics is no part of a case, consent to treatment is; before: what is said of the disease "
        "or of consent first is left out; met: age and sex of a patient; siblings: to whom each sentence "
        "belongs; roles: sentences, not stories. They show whether a kind of error "
        "is gone, not how often it occurs. `python -m benchmarks.written_cases`",
        "",
        "| class | half | stories | right before | right now (95 %) |",
        "|---|---|---:|---:|---:|",
    ]
    for name, now in result["now"].items():
        group, half = name.split()
        before = result["before"][name]
        low, high = now["interval"]
        shares = (
            f"{before.get('right', 0) / before['stories']:.2f} | {now.get('right', 0) / now['stories']:.2f}"
        )
        lines.append(
            f"| {group.replace('_', ' ')} | {half} | {now['stories']} | {shares} ({low:.2f}–{high:.2f}) |"
        )
    return [*lines, ""]


def main() -> int:
    """Measure all stories and save, or `--show dev`: print those of a half that are not right."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--show", choices=("", "dev", "test"), default="")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = default_vocabulary(Path(folder) / "workspace")
    result = {**measure(vocabulary, given.show), **people(), **openings(), **parts()}
    for half, miss in MISSES:
        if half == given.show:
            print(" ", miss)
    for name, found in result.items():
        print(name, found)
    if not given.show:
        before = json.loads((RESULTS / "written_cases.json").read_text("utf-8"))["before"]
        print(save("written_cases", {"before": before, "now": result}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
