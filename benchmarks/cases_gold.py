"""Case extraction against the hand-checked gold of patient cases (tests/gold): patients, spans, figures.

A predicted and a gold patient match when they share at least half of the passages of either. Boundary and
figures are F1 over (patient, passage) and (patient, figure) pairs; unmatched patients count as wholly missed
or wholly wrong.
"""

from __future__ import annotations

import argparse
import collections
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.jats_speed import raw_of
from benchmarks.measure import ROOT, SHARED, real_files, save
from benchmarks.principal_diagnosis import Told, Vocabulary, default_vocabulary, diagnoses_of, told
from schemas.case import Case
from schemas.diagnosis import Statement
from sources import jats

GOLD = ROOT / "tests" / "gold"
Pairs = set[tuple[str, ...]]


class Tally:
    """True positives, predicted and expected items of one measure."""

    def __init__(self) -> None:
        self.right = self.predicted = self.expected = 0
        self.misses: list[str] = []

    def add(self, predicted: Pairs, expected: Pairs) -> None:
        """Count two sets of pairs; what differs is kept by name."""
        self.right += len(predicted & expected)
        self.predicted += len(predicted)
        self.expected += len(expected)
        self.misses += [f"missed {' '.join(pair)}" for pair in sorted(expected - predicted)]
        self.misses += [f"wrong {' '.join(pair)}" for pair in sorted(predicted - expected)]

    def result(self) -> dict[str, Any]:
        """Precision, recall, F1 and the counts they come from."""
        precision = self.right / self.predicted if self.predicted else 1.0
        recall = self.right / self.expected if self.expected else 1.0
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        counts = {"right": self.right, "predicted": self.predicted, "expected": self.expected}
        rates = {"precision": round(precision, 3), "recall": round(recall, 3), "f1": round(f1, 3)}
        return {**rates, **counts, "misses": self.misses}


def extracted(
    path: Path, vocabulary: Vocabulary | None
) -> tuple[Told, dict[str, tuple[Statement, ...]], list[str]]:
    """One file through the stages, where each of its cases is stated, and its keywords in order."""
    data = path.read_bytes()
    item = told(jats.parse(data, raw_of(path, data)))
    stated = {one.case_id: one.statements for one in diagnoses_of(item, vocabulary)}
    return item, stated, [term for group in item.article.keywords for term in group.terms]


def fragment(any_id: str) -> str:
    """The part of an id after its article: '#p17'."""
    return "#" + any_id.partition("#")[2]


def passages_of(case: Case) -> list[str]:
    """Fragments of the passages of a case, in order, once each."""
    return list(dict.fromkeys(fragment(span.passage_id) for span in case.spans))


def matched(found: Sequence[Case], gold: Sequence[Mapping[str, Any]]) -> list[tuple[int, int]]:
    """Pairs (predicted, gold) that share half of the passages of either; most shared first, each once."""
    scored = []
    for one, case in enumerate(found):
        mine = set(passages_of(case))
        for other, row in enumerate(gold):
            share = len(mine & set(row["passages"])) / max(len(mine), len(row["passages"]))
            if share >= 0.5:
                scored.append((-share, abs(one - other), one, other))
    pairs: list[tuple[int, int]] = []
    for _, _, one, other in sorted(scored):
        if one not in {pair[0] for pair in pairs} and other not in {pair[1] for pair in pairs}:
            pairs.append((one, other))
    return sorted(pairs)


def compare(
    rows: Iterable[Mapping[str, Any]], files: Mapping[str, Path], vocabulary: Vocabulary | None
) -> dict[str, Any]:
    """All measures over the rows of one gold file."""
    names = ("detection", "boundary", "figures", "roles", "title", "sentences", "keywords", "age", "sex")
    tallies = {name: Tally() for name in names}
    reasons: collections.Counter[str] = collections.Counter()
    articles = 0
    for row in rows:
        item, stated, keywords = extracted(files[row["file"]], vocabulary)
        found = item.cases
        articles += 1
        if not row["is_case_report"]:
            given = item.drops[0].reason.value if item.drops else "kept" if found else "no claim"
            reasons[f"{row['reason']} -> {given}"] += 1
        pairs = matched(found, row["cases"])
        for one, other in pairs:
            name = f"{row['article']}#case{other + 1}"
            for measure, predicted, expected in _facets(
                name, found[one], stated[found[one].id], row["cases"][other], keywords
            ):
                tallies[measure].add(predicted, expected)
            tallies["detection"].add({(name,)}, {(name,)})
        for other in sorted(set(range(len(row["cases"]))) - {pair[1] for pair in pairs}):
            name, gold = f"{row['article']}#case{other + 1}", row["cases"][other]
            tallies["detection"].add(set(), {(name,)})
            tallies["boundary"].add(set(), {(name, item) for item in gold["passages"]})
            tallies["figures"].add(set(), {(name, item) for item in gold["figures"]})
        for one in sorted(set(range(len(found))) - {pair[0] for pair in pairs}):
            name, case = f"{row['article']}#case{one + 1} unmatched", found[one]
            tallies["detection"].add({(name,)}, set())
            tallies["boundary"].add({(name, item) for item in passages_of(case)}, set())
            tallies["figures"].add({(name, fragment(item)) for item in case.figures}, set())
    measures = {name: tally.result() for name, tally in tallies.items()}
    return {"articles": articles, "not_reports": dict(sorted(reasons.items())), "measures": measures}


def _facets(
    name: str,
    case: Case,
    statements: Sequence[Statement],
    gold: Mapping[str, Any],
    keywords: Sequence[str],
) -> Iterator[tuple[str, Pairs, Pairs]]:
    """(measure, predicted, expected) of one matched patient."""
    yield (
        "boundary",
        {(name, item) for item in passages_of(case)},
        {(name, item) for item in gold["passages"]},
    )
    yield (
        "figures",
        {(name, fragment(item)) for item in case.figures},
        {(name, item) for item in gold["figures"]},
    )
    yield (
        "roles",
        {(name, fragment(span.passage_id), span.role) for span in case.spans},
        {(name, item, role) for item, roles in gold["roles"].items() for role in roles},
    )
    yield "sentences", *_sentences(name, statements, gold)
    places = {item["place"] for item in gold["diagnosis"]}
    titled = any(item.place == "title" for item in statements)
    yield "title", {(name,)} if titled else set(), {(name,)} if "title" in places else set()
    named: Pairs = {(name, str(item["index"])) for item in gold["diagnosis"] if item["place"] == "keyword"}
    own: Pairs = {(name, str(keywords.index(item.text))) for item in statements if item.place == "keyword"}
    yield "keywords", own, named
    age = "" if gold["age_years"] is None else f"{gold['age_years']:.1f}"
    own_age = "" if case.age_years is None else f"{case.age_years:.1f}"
    yield "age", {(name, own_age)}, {(name, age)}
    yield "sex", {(name, case.sex)}, {(name, gold["sex"])}


def _sentences(name: str, statements: Sequence[Statement], gold: Mapping[str, Any]) -> tuple[Pairs, Pairs]:
    """Predicted and expected diagnosis sentences; one that overlaps a gold one is that one.

    The annotator and the splitter may cut sentences differently.
    """
    stated = [item for item in gold["diagnosis"] if item["place"] == "passage"]
    predicted: Pairs = set()
    for own in statements:
        if own.place != "passage":
            continue
        same = [
            item["start"]
            for item in stated
            if item["passage"] == fragment(own.passage_id)
            and own.start < item["end"]
            and item["start"] < own.end
        ]
        predicted.add((name, fragment(own.passage_id), str(same[0] if same else own.start)))
    return predicted, {(name, item["passage"], str(item["start"])) for item in stated}


def gold_rows(split: str) -> list[dict[str, Any]]:
    """Rows of one half of the gold."""
    rows: list[dict[str, Any]] = json.loads((GOLD / f"cases_{split}.json").read_text("utf-8"))
    return rows


def main() -> None:
    """Measure both halves of the gold, or one, and save."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--split", choices=("dev", "test", "both"), default="both")
    options.add_argument("--show", action="store_true", help="print what was missed")
    given = options.parse_args()
    files = real_files(SHARED)
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = default_vocabulary(Path(folder) / "workspace")  # mapped: it outlives its name
    splits = ("dev", "test") if given.split == "both" else (given.split,)
    result = {}
    for split in splits:
        result[split] = compare(gold_rows(split), files, vocabulary)
        print(split, result[split]["articles"], "articles", result[split]["not_reports"])
        for name, measure in result[split]["measures"].items():
            print(
                f"  {name:10} P {measure['precision']:.3f} R {measure['recall']:.3f} F1 {measure['f1']:.3f}",
                measure["right"],
                measure["predicted"],
                measure["expected"],
            )
            if given.show:
                print("".join(f"      {line}\n" for line in measure["misses"]), end="")
    if given.split == "both":
        print(save("cases_gold", result))


if __name__ == "__main__":
    main()
