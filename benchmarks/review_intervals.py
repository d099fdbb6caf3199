"""How often a review's intervals hold the truth: whole reviews of simulated readers, without a server.

Three readers with known confusion matrices answer the same candidates; their answers go through the verdict
rules (`annotation.verdicts`) with a third person, and through the figures of the report. The truth is that of
infinitely many items: of agreement from the matrices alone, of a rule's precision from every row of answers
that three readers can give. Run: `python -m benchmarks.review_intervals`.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.agreement.coefficients import COEFFICIENTS, Table, values
from annotation.agreement.precision import Stratum, proportion
from annotation.report.summary import overall
from annotation.verdicts import Terms, conclude, counted, resolve
from benchmarks.measure import save
from schemas.review import ReviewAnnotation, ReviewCandidate, Role, ShownItem, annotation_id

SEEDS, ITEMS, UNABLE = 200, 300, 0.02
SCALE = (0, 1, 2)
PREVALENCE = (0.45, 0.15, 0.40)
READERS: Mapping[str, Sequence[Sequence[float]]] = {
    "A1": ((0.96, 0.03, 0.01), (0.10, 0.80, 0.10), (0.01, 0.05, 0.94)),
    "A2": ((0.93, 0.06, 0.01), (0.15, 0.70, 0.15), (0.02, 0.08, 0.90)),
    "A3": ((0.88, 0.08, 0.04), (0.20, 0.60, 0.20), (0.06, 0.12, 0.82)),
}
"""Chance of each grade (across) given the true one (down)."""
Answered = tuple[list[ReviewCandidate], list[ReviewAnnotation]]


def candidate(number: int) -> ReviewCandidate:
    """One candidate; what it shows does not matter here."""
    shown = (
        ShownItem(name="query_text", value=f"query {number}"),
        ShownItem(name="document_text", value=f"document {number}"),
    )
    return ReviewCandidate(
        id=f"cand:{number:06}",
        dataset="simulated",
        task="visual_context",
        kind="relevance_text",
        query_id=f"q{number}",
        corpus_id=f"d{number}",
        shown=shown,
        origin="positive",
        rule="rule@1",
    )


def answer(item: str, who: str, role: Role, grade: int | None) -> ReviewAnnotation:
    """One current answer."""
    reason = "ambiguous" if grade is None else ""
    return ReviewAnnotation(
        id=annotation_id(item, who, role, grade, reason),
        candidate_id=item,
        task="visual_context",
        annotator=who,
        role=role,
        grade=grade,
        reason=reason,
        sequence=int(item[5:]) + 1,
    )


def review(seed: int, items: int) -> Answered:
    """Answers of the readers, and of a third person, who knows the truth, to what they dispute."""
    draw = random.Random(f"review {seed}")
    asked, rows = [], []
    for number in range(items):
        item = candidate(number)
        truth = draw.choices(SCALE, PREVALENCE)[0]
        given = [
            answer(
                item.id,
                who,
                "annotator",
                None if draw.random() < UNABLE else draw.choices(SCALE, m[truth])[0],
            )
            for who, m in READERS.items()
        ]
        if conclude(item, given, Terms(len(READERS))).dispute:
            given.append(answer(item.id, "ADJ1", "adjudicator", truth))
        asked.append(item)
        rows += given
    return asked, rows


def _rows() -> Iterator[tuple[int, tuple[int | None, ...], float]]:
    """(truth, answers of the readers, chance) of everything that can be answered to one item."""
    options: tuple[int | None, ...] = (*SCALE, None)
    for truth, prevalence in enumerate(PREVALENCE):
        for given in itertools.product(options, repeat=len(READERS)):
            chance = prevalence
            for grade, matrix in zip(given, READERS.values(), strict=True):
                chance *= UNABLE if grade is None else (1 - UNABLE) * matrix[truth][grade]
            yield truth, given, chance


def true_agreement() -> dict[str, float]:
    """Every figure over infinitely many items."""
    import numpy as np

    rows: Counter[tuple[int, ...]] = Counter()
    for _, given, chance in _rows():
        rows[tuple(-1 if grade is None else grade for grade in given)] += chance  # type: ignore[assignment]
    kept = [(codes, share) for codes, share in sorted(rows.items()) if max(codes) >= 0]
    shares = np.asarray([share for _, share in kept])
    table = Table(np.asarray([codes for codes, _ in kept], dtype=np.int64), np.ones(len(kept)), SCALE)
    found = values(table, (shares / shares.sum())[None] * 1e12)[0]
    return {str(name): float(value) for name, value in zip(COEFFICIENTS, found, strict=True)}


def true_precision() -> float:
    """Share of items with a verdict whose verdict is above 0."""
    above = whole = 0.0
    for truth, given, chance in _rows():
        grades = [grade for grade in given if grade is not None]
        if (len(grades) < len(given) and grades) or (grades and max(grades) - min(grades) > 1):
            final: int | None = truth  # the third person's
        else:
            final = sorted(grades)[len(grades) // 2] if grades else None
        whole += chance * (final is not None)
        above += chance * (final is not None and final > 0)
    return above / whole


def coverage(seeds: Sequence[int], items: int = ITEMS) -> dict[str, Any]:
    """Share of reviews whose 95 % interval holds the truth, by figure, and over all figures."""
    truth = {**true_agreement(), "rule_precision": true_precision()}
    held: Counter[str] = Counter()
    for seed in seeds:
        asked, rows = review(seed, items)
        verdicts, _ = resolve(rows, asked, (), Terms(len(READERS)))
        assert len(verdicts) == items == len(counted(rows))
        for row in overall(asked, rows, SCALE, COEFFICIENTS):
            name = row["coefficient"]
            held[name] += row["low"] is not None and row["low"] <= truth[name] <= row["high"]
        judged = [row.grade for row in verdicts if row.grade is not None]
        found = proportion([Stratum("all", 10**9, len(judged), sum(grade > 0 for grade in judged))])
        assert found.low is not None and found.high is not None
        held["rule_precision"] += found.low <= truth["rule_precision"] <= found.high
    return {
        "reviews": len(seeds),
        "items": items,
        "covered": {name: round(held[name] / len(seeds), 4) for name in truth},
        "all": round(sum(held.values()) / len(seeds) / len(truth), 4),
        "truth": {name: round(value, 4) for name, value in truth.items()},
    }


def main() -> None:
    """Measure, write the result and print it."""
    print(save("review_intervals", coverage(range(SEEDS))).read_text("utf-8"))


if __name__ == "__main__":
    main()
