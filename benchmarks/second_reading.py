"""How far two readers agree on the marks that goals are measured against: scope, diagnosis sentences.

The test halves were read a second time by language models that saw the definitions of tests/gold/README.md,
never the first marks, a rule or what the product says. What two readers reach bounds what a rule can.
"""

from __future__ import annotations

import collections
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks import diagnosis_sentences
from benchmarks.cases_gold import GOLD
from benchmarks.measure import RESULTS, save
from benchmarks.principal_diagnosis import Vocabulary, default_vocabulary
from benchmarks.scope import SETS, invented
from scripts.scope_weights import half_of

CLEAR = frozenset({"", "not_human", "not_medical"})
TITLES = {
    "abstract": "abstracts of MEDLINE case reports",
    "shared": "shared reports",
    "written": "invented whole articles",
}


def second() -> dict[str, Any]:
    """The second reader's marks: labels by id; hashes of the sentences that state the diagnosis, by file."""
    found: dict[str, Any] = json.loads((GOLD / "second_reading.json").read_text("utf-8"))
    return found


def mark(sentence: str) -> str:
    """How a sentence is named where its text is not kept."""
    return hashlib.sha256(sentence.encode()).hexdigest()[:12]


def first_labels() -> Iterator[tuple[str, str, str]]:
    """Id, set and label of every article of the test half of the scope gate."""
    half = json.loads((GOLD / "scope_test.json").read_text("utf-8"))
    for name, of in (("random", "random"), ("articles", "")):
        for row in half[name]:
            is_citation = row["id"].startswith("pmid:")
            yield row["id"], of or ("medline" if is_citation else "shared"), row["label"]
    for case in invented():
        if half_of(case["id"]) == "test":
            yield case["id"], "invented", case["label"]


def of_scope(labels: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """For each set: articles read twice, clear to both, of these on the same side (people or not), alike."""
    counts: dict[str, dict[str, int]] = {
        name: dict.fromkeys(("read", "clear", "side", "label"), 0) for name in SETS
    }
    for article, of, label in first_labels():
        if article not in labels:
            continue
        row, other = counts[of], labels[article]
        row["read"] += 1
        if {label, other} <= CLEAR:
            row["clear"] += 1
            row["side"] += bool(label) == bool(other)
            row["label"] += label == other
    return counts


def of_sentences(marks: Mapping[str, list[str]], vocabulary: Vocabulary) -> dict[str, dict[str, int]]:
    """For each kind of text: patients, sentences marked by the first, by the second and by both."""
    counts: dict[str, dict[str, int]] = collections.defaultdict(
        lambda: dict.fromkeys(("patients", "first", "second", "both"), 0)
    )
    for story in diagnosis_sentences.stories(vocabulary, "test"):
        if story.file not in marks:
            continue  # in other languages, which have halves of their own and were not read again
        chosen = set(marks[story.file])
        row = counts[story.of]
        row["patients"] += 1
        for sentence, is_stated in zip(story.sentences, story.is_stated, strict=True):
            row["first"] += is_stated
            row["second"] += mark(sentence) in chosen
            row["both"] += is_stated and mark(sentence) in chosen
    return dict(sorted(counts.items()))


def section() -> list[str]:
    """The section of the report, from the committed results."""
    result = json.loads((RESULTS / "second_reading.json").read_text("utf-8"))
    lines = [
        "## Two readers",
        "",
        "The test halves of the gold of scope and of diagnosis sentences, read a second time by language "
        "models with the definitions of `tests/gold/README.md` and nothing else: a bound for what rules can "
        "reach, no clinician's reading. `python -m benchmarks.second_reading`",
        "",
        "| scope: articles | read twice | clear to both | the same side | the same label |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, row in result["scope"].items():
        lines.append(f"| {SETS[name]} | {row['read']} | {row['clear']} | {row['side']} | {row['label']} |")
    lines += [
        "",
        "| sentences that state the diagnosis | patients | first | second | both | F1 |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, row in result["sentences"].items():
        share = 2 * row["both"] / (row["first"] + row["second"])
        cells = [TITLES[name], *(str(row[key]) for key in ("patients", "first", "second", "both"))]
        lines.append(f"| {' | '.join(cells)} | {share:.3f} |")
    return [*lines, ""]


def main() -> int:
    """Compare, print, save."""
    marks = second()
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = default_vocabulary(Path(folder) / "workspace")
        result = {
            "scope": of_scope(marks["scope"]),
            "sentences": of_sentences(marks["sentences"], vocabulary),
        }
    print(save("second_reading", result))
    print("\n".join(section()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
