"""Whether a changed concept and a leaked answer are seen in translated questions, by a real vocabulary.

The vocabulary is HPO, MONDO and MeSH as installed, with the shared translations of HPO. Questions are those
of `crosslingual_qa` with an official label, which is what a translator is given; a *sibling* is another child
of the same parent with an official label, put in its place; an *answer* is another concept, of which one name
is put into the question. What people translated without being shown any names tells how often the check of
concepts rejects a right text whose translator chose other words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.measure import SHARED
from benchmarks.translation_pairs import Half, Pair
from curation.concepts.opening import open_backend
from curation.multilingual.checks import Translation, check
from curation.multilingual.scores import Checked, Fault, Score
from curation.tasks.crosslingual_qa.facets import FACETS
from curation.tasks.crosslingual_qa.templates import templates
from curation.tasks.multilingual_evidence.checked import BACKEND, concepts_of
from curation.tasks.multilingual_evidence.names import Names, all_of, given, names_of
from curation.tasks.multilingual_evidence.settings import Settings
from curation.vocabulary.umls import UmlsOptions
from flows.engine.progress import SilentReporter
from flows.engine.workspace import open_workspace
from flows.vocabulary.commands import add, babelon_readings, build
from flows.vocabulary.indexes import index_in_use
from flows.vocabulary.store import current
from schemas.hashing import sha256_text
from schemas.vocabulary import UNCONFIRMED

EACH = 300
"""Pairs of siblings of one language and half."""
_SOURCE = "HPO"
_FAMILY = Settings().max_family
_WITH_PLURAL = ("es", "fr", "pt")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Where a vocabulary lies, and names that were read of it."""

    names: Path
    resources: Mapping[str, Path]

    def told(self, text: str) -> tuple[str, ...]:
        """Concepts that an English text names."""
        matcher = open_backend(BACKEND, self.resources["vocabulary"])
        return tuple(sorted({match.concept for match in matcher.find(text, "en")}))


@dataclass(frozen=True, slots=True)
class Asked:
    """A question on one of two siblings, in English and another language, and the one on the other."""

    language: str
    source: str
    text: str
    wrong: str
    hidden: str
    """Concept that no text names: an answer."""
    number: int


def open_vocabulary(root: Path) -> Vocabulary:
    """The vocabulary of a workspace, made there unless there is one."""
    if not root.exists() or current(open_workspace(root)) is None:
        build(str(root), None, UmlsOptions())
        add(babelon_readings([SHARED / "vocab/hpo-translations/babelon"]), str(root))
    workspace = open_workspace(root)
    held = current(workspace)
    assert held is not None
    return Vocabulary(
        held.table("names"),
        {
            "vocabulary": index_in_use(workspace, BACKEND, SilentReporter()).path,
            "types": held.table("types"),
            "relations": held.table("relations"),
        },
    )


def _labels(path: Path) -> dict[str, dict[str, str]]:
    """Concept -> language -> its label in HPO, or the official translation of it."""
    columns = ["concept", "name", "language", "source", "term_type", "is_preferred", "is_suppressed"]
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for row in sorted(pq.read_table(path, columns=columns).to_pylist(), key=lambda row: str(row["name"])):
        is_label = row["is_preferred"] and not row["is_suppressed"] and row["term_type"] != UNCONFIRMED
        if is_label and row["source"].partition("_")[0] == _SOURCE:
            found[row["concept"]].setdefault(row["language"], row["name"])
    return found


def asked(vocabulary: Vocabulary, half: Half, each: int) -> Iterator[Asked]:
    """Questions on one of two siblings, those with the smallest hashes."""
    labels = _labels(vocabulary.names)
    children: dict[str, list[str]] = defaultdict(list)
    for row in pq.read_table(vocabulary.resources["relations"]).to_pylist():
        if row["relation"] == "parent" and "en" in labels.get(row["concept"], {}):
            children[row["other"]].append(row["concept"])
    links = {(child, parent) for parent, listed in children.items() for child in listed}
    for language in sorted(templates().keys() - {"en"}):
        pairs = {
            (one, other)
            for listed in children.values()
            for one, other in _neighbours(sorted(c for c in set(listed) if language in labels[c]))
            if not {(one, other), (other, one)} & links
            and labels[one][language].casefold() != labels[other][language].casefold()
        }
        chosen = sorted(pair for pair in pairs if _is_of(half, pair[0]))
        chosen.sort(key=lambda pair: sha256_text(" ".join(pair)))
        for number, (one, other) in enumerate(chosen[:each]):
            facet = FACETS[number % len(FACETS)]
            english, own = templates()["en"], templates()[language]
            yield Asked(
                language,
                english.ask(facet, labels[one]["en"])[0],
                own.ask(facet, labels[one][language])[0],
                own.ask(facet, labels[other][language])[0],
                chosen[number - 1][1],
                number,
            )


def _neighbours(listed: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield from zip(listed[::2], listed[1::2], strict=False)


def _is_of(half: Half, concept: str) -> bool:
    return (int(sha256_text(concept)[:2], 16) % 2 == 1) == (half == "test")


def _leaked(item: Asked, names: Sequence[str], english: str) -> str:
    """A question that says the answer: by a name of its language, by the English one, or inflected."""
    said = (names[0], english, names[0].lower())[item.number % 3]
    if item.number % 3 == 2 and item.language in _WITH_PLURAL and said[-1] in "aeo":
        said += "s"
    end = len(item.text.rstrip("?？。"))
    return f"{item.text[:end]} ({said}){item.text[end:]}"


def checked(
    vocabulary: Vocabulary,
    known: Names,
    source: str,
    text: str,
    language: str,
    answers: Iterable[str] = (),
    *,
    are_shown: bool = True,
) -> Checked:
    """All checks of one question as a build makes them."""
    told = vocabulary.told(source)
    names = given(known, told, language)
    found = concepts_of(
        told, names, text, language, are_shown=are_shown, max_family=_FAMILY, **vocabulary.resources
    )
    return check(Translation(source, text, language, tuple(answers)), found)


def _score(found: Checked, name: str) -> Score:
    return next(score for score in found.scores if score.check == name)


def measure(vocabulary: Vocabulary, pairs: Sequence[Pair], half: Half, each: int = EACH) -> dict[str, Any]:
    """What is found of siblings and answers, and what is rejected of right texts, for each language.

    Args:
        vocabulary: that concepts are told by.
        pairs: what people translated without being shown names.
        half: of the siblings.
        each: siblings of a language at most.
    """
    questions = list(asked(vocabulary, half, each))
    told = {concept for pair in pairs for concept in vocabulary.told(pair.source)}
    told |= {concept for item in questions for concept in vocabulary.told(item.source)}
    known = names_of(vocabulary.names, told | {item.hidden for item in questions})
    rows: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    runs: dict[str, Counter[str]] = defaultdict(Counter)
    for item in questions:
        own = known.get(item.hidden, {})
        if not own.get(item.language) or not own.get("en"):
            continue
        answers = sorted(all_of(known, [item.hidden], item.language))
        right = checked(vocabulary, known, item.source, item.text, item.language, answers)
        sibling = checked(vocabulary, known, item.source, item.wrong, item.language)
        names = [name.name for name in own[item.language]]
        leaked = _leaked(item, names, own["en"][0].name)
        said = checked(vocabulary, known, item.source, leaked, item.language, answers)
        mine = rows[item.language]
        mine["rejected"].append(bool({Fault.CONCEPT_CHANGED, Fault.ANSWER_LEFT} & set(right.faults)))
        mine["sibling"].append(Fault.CONCEPT_CHANGED in sibling.faults)
        mine["answer"].append(Fault.ANSWER_LEFT in said.faults)
        runs[item.language][_score(right, "concepts").status] += 1
    unshown: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for pair in pairs:
        for kind, are_shown in ((f"{pair.kind} by an engine", False), (f"{pair.kind} held to names", True)):
            found = checked(vocabulary, known, pair.source, pair.text, pair.language, are_shown=are_shown)
            unshown[pair.language][kind][_score(found, "concepts").status] += 1
    return {"rows": rows, "runs": runs, "unshown": unshown}
