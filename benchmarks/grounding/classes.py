"""Ways of writing a name that are not its own words, and traps beside them, made from a vocabulary's names.

A fifth of the concepts loses one synonym, which is then read in a sentence (`synonym_…`); a twentieth loses
all names, and whatever covers theirs is wrong (`absent`). The other kinds put names that stay into sentences:
over a conjunction, apart, with a modifier, as an adjective of a person. A kind that ends with `_trap` counts
the concept that must not be found. Concepts fall into `dev` and `test` by the hash of their id; rules are
made on `dev` only, and the committed result was taken with families counted on it alone (`python -m
scripts.word_families --half dev` first). `definition` reads every definition: how many name their own
concept, and what share of all concepts found there is related to it.
`python -m benchmarks.grounding.classes [--vocabulary hpo|mesh] [--half all]`.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.agreement.precision import wilson
from benchmarks.grounding.sets import vocabulary
from benchmarks.measure import save
from curation.concepts.index import build_index
from curation.concepts.native import NativeMatcher, open_index
from schemas.vocabulary import ConceptDefinition, ConceptName, ConceptRelation

_OWN = frozenset({"PT", "SY", "MH", "ET"})
_WORD = re.compile(r"[^\W\d_]+")
_SMALL = frozenset(
    ["a", "an", "the", "of", "in", "on", "at", "by", "for", "from", "to", "with", "and", "or", "due"]
)
_FRAME = ("The examination showed ", " in the second year of follow-up.")
_MODIFIERS = ("severe", "mild", "bilateral", "progressive", "left", "marked")
_PLAIN = re.compile(r"[A-Za-z]+(?: [a-z]+){1,2}\Z")
_MOST = 600
"""Cases of one kind in each half."""

Names = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Case:
    """A sentence, the part of it that counts, and the concepts that must or must not be found there.

    `wrong` None: whatever covers the whole part and is not in `right`.
    """

    kind: str
    half: str
    text: str
    start: int
    end: int
    right: frozenset[str]
    wrong: frozenset[str] | None = frozenset()


def share_of(concept: str, salt: str = "") -> float:
    """A number from 0 to 1 that a concept always has."""
    digest = hashlib.sha256(f"{salt}{concept}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def half_of(concept: str) -> str:
    """`dev` or `test`."""
    return "dev" if share_of(concept, "half ") < 0.5 else "test"


def written(name: str) -> str:
    """A name as it stands inside a sentence."""
    return name[0].lower() + name[1:] if name[1:2].islower() else name


def _case(
    kind: str, concept: str, middle: str, right: Iterable[str], wrong: Iterable[str] | None = ()
) -> Case:
    before, after = _FRAME
    start = len(before)
    refused = None if wrong is None else frozenset(wrong)
    return Case(
        kind, half_of(concept), before + middle + after, start, start + len(middle), frozenset(right), refused
    )


def _words(name: str) -> tuple[str, ...]:
    return tuple(word for word in map(str.lower, _WORD.findall(name)) if word not in _SMALL)


def difference(name: str, others: Iterable[str]) -> str:
    """How a synonym differs from the nearest of its concept's other names."""
    own = Counter(_words(name))
    kinds = set()
    for other in others:
        known = Counter(_words(other))
        gone, new = list((known - own).elements()), list((own - known).elements())
        if not gone and not new:
            kinds.add("order")
        elif len(gone) == len(new) == 1:
            kinds.add("form" if _share_stem(gone[0], new[0]) else "word")
        elif len(gone) + len(new) == 1:
            kinds.add("longer" if new else "shorter")
    return next((kind for kind in ("order", "form", "word", "shorter", "longer") if kind in kinds), "other")


def _share_stem(first: str, second: str) -> bool:
    return (
        len(first) > 3
        and len(second) > 3
        and first[: max(4, min(len(first), len(second)) // 2)]
        == (second[: max(4, min(len(first), len(second)) // 2)])
    )


def hold_out(rows: Iterable[ConceptName]) -> tuple[list[ConceptName], list[Case]]:
    """The names that stay, and the cases of those that are left out."""
    names: dict[str, list[ConceptName]] = defaultdict(list)
    for row in rows:
        names[row.concept].append(row)
    holders: dict[str, set[str]] = defaultdict(set)
    for concept, own in names.items():
        for row in own:
            holders[row.name.lower()].add(concept)
    kept: list[ConceptName] = []
    cases: list[Case] = []
    for concept in sorted(names):
        own = sorted(names[concept], key=lambda row: row.name)
        share = share_of(concept)
        alone = [row for row in own if holders[row.name.lower()] == {concept} and row.term_type in _OWN]
        synonyms = [row for row in alone if not row.is_preferred]
        if share < 0.05:
            cases += [_case("absent", concept, written(row.name), (), None) for row in alone[:2]]
        elif share < 0.25 and synonyms and len(own) > 1:
            left = min(synonyms, key=lambda row: share_of(row.name))
            rest = [row for row in own if row.name.lower() != left.name.lower()]
            kind = "synonym_" + difference(left.name, [row.name for row in rest])
            cases.append(_case(kind, concept, written(left.name), (concept,), None))
            kept += rest
        else:
            kept += own
    return kept, cases


def _two_words(names: Names) -> Iterator[tuple[str, str, str]]:
    """(concept, first words, last word) of names of two and three plain words."""
    for concept, own in names.items():
        for name in own:
            if _PLAIN.match(name) and not _SMALL & set(name.lower().split()):
                first, _, last = written(name).rpartition(" ")
                yield concept, first, last


def coordinated(
    names: Names, holders: Mapping[str, set[str]], parents: Mapping[str, set[str]]
) -> Iterator[Case]:
    """Names that share a word, over a conjunction; and full names whose words cross into a third."""
    by_last, by_first = defaultdict(list), defaultdict(list)
    for concept, first, last in _two_words(names):
        by_last[last].append((concept, first))
        if " " not in first:
            by_first[first].append((concept, last))
    for kind, groups in (("shared_head", by_last), ("shared_start", by_first)):
        for word, members in sorted(groups.items()):
            for (one, first), (other, second) in itertools.combinations(sorted(members), 2):
                if one == other or not parents[one] & parents[other] or first == second:
                    continue
                joined = (
                    f"{first} and {second} {word}"
                    if kind == "shared_head"
                    else f"{word} {first} and {second}"
                )
                if joined.lower() not in holders:
                    yield _case(kind, one, joined, (one, other))
    phrases = sorted(_two_words(names))
    for place, (concept, first, last) in enumerate(phrases):
        other, second, head = phrases[int(share_of(f"{place}", "pair") * len(phrases))]
        yield from _crossed(holders, (concept, first, last), (other, second, head))
    for concept, first, last in phrases:
        for other, second, head in _crossing(by_first, by_last, concept, first):
            yield from _crossed(holders, (concept, first, last), (other, second, head))


def _crossing(by_first: Any, by_last: Any, concept: str, first: str) -> Iterator[tuple[str, str, str]]:
    """Another name whose last word makes a third one with the first word of this one."""
    for third, head in by_first.get(first, ())[:4]:
        for other, second in by_last[head][:6]:
            if len({concept, third, other}) == 3:
                yield other, second, head


def _crossed(
    holders: Mapping[str, set[str]], one: tuple[str, str, str], other: tuple[str, str, str]
) -> Iterator[Case]:
    wrong = set(holders.get(f"{one[1]} {other[2]}".lower(), ())) - {one[0], other[0]}
    if wrong:
        text = f"{one[1]} {one[2]} and {other[1]} {other[2]}"
        yield _case("conjunction_trap", one[0], text, (), wrong)


_APART = (
    "{0}, mostly of the {1}",
    "{0} of the left {1}",
    "{0} of both the chin and the {1}",
    "{0} of the skin and the {1}",
    "{0} involving the {1}",
    "{0} affecting the {1}",
    "{0} arising in the {1}",
    "{0} (mostly severe) of the {1}",
    "{0} which is found in the {1}",
)
_APART_TRAPS = (
    "{0} treated by removal of the {1}",
    "{0} and a normal {1}",
    "{0}, and the {1} was spared",
    "{0} after surgery of the {1}",
    "{0} without involvement of the {1}",
    "{0} in a patient whose {1} was normal",
    "{0} or swelling of the {1}",
    "{0} with a scan of the {1}",
)


def apart(names: Names) -> Iterator[Case]:
    """Names "X of the Y" with words between, and with words that part them."""
    for concept, own in sorted(names.items()):
        for name in own:
            found = re.match(r"([A-Za-z]+(?: [a-z]+)?) of (?:the )?([a-z]+)\Z", name)
            if found:
                parts = written(found[1]), found[2]
                draw = share_of(name, "apart ")
                yield _case("apart", concept, _APART[int(draw * len(_APART))].format(*parts), (concept,))
                trap = _APART_TRAPS[int(draw * len(_APART_TRAPS))].format(*parts)
                yield _case("apart_trap", concept, trap, (), (concept,))
                break


def modified(names: Names, holders: Mapping[str, set[str]]) -> Iterator[Case]:
    """Names with a modifier before them or inside."""
    for concept, first, last in sorted(_two_words(names)):
        modifier = _MODIFIERS[int(share_of(f"{first} {last}") * len(_MODIFIERS))]
        before, inside = f"{modifier} {first} {last}", f"{first} {modifier} {last}"
        if before.lower() not in holders:
            yield _case("modifier_before", concept, before, (concept,))
        if inside.lower() not in holders and " " not in first:
            yield _case("modifier_inside", concept, inside, (concept,))


_PERSON = re.compile(
    r"(?:plegia|tonia|emia|itis|opathy|plasia|cephaly|trophy|penia|algia|opia|epsy|axia|ism|esity)\Z"
)
_PERSONS = ("The child was {0} at birth.", "She became {0} and tired.", "They saw {0} patients again.")
_THINGS = (
    "They used {0} solution twice.",
    "They measured {0} residues.",
    "A {0} gradient was seen.",
    "The solution was {0} at first.",
    "The patient had {0} encephalopathy.",
    "The buffer became {0}, and patients were treated.",
)
_ADJECTIVES = (
    ("plegia", "plegic"), ("tonia", "tonic"), ("emia", "emic"), ("cephaly", "cephalic"),
    ("trophy", "trophic"), ("penia", "penic"), ("opia", "opic"),
    ("epsy", "eptic"), ("axia", "actic"), ("axia", "axic"),
    ("autism", "autistic"), ("obesity", "obese"), ("deafness", "deaf"), ("blindness", "blind"),
    ("fever", "febrile"), ("jaundice", "jaundiced"), ("dehydration", "dehydrated"),
)  # fmt: skip


def predicated(names: Names) -> Iterator[Case]:
    """Findings of one word said of a person by their adjective; and the adjective of a thing."""
    for concept, own in sorted(names.items()):
        for name in own:
            word = name.lower()
            pair = next((pair for pair in _ADJECTIVES if word.endswith(pair[0])), None)
            if not word.isalpha() or pair is None:
                continue
            adjective = word[: -len(pair[0])] + pair[1]
            for kind, frames, right in (("adjective", _PERSONS, True), ("adjective_trap", _THINGS, False)):
                frame = frames[int(share_of(name, kind) * len(frames))]
                start = frame.index("{0}")
                yield Case(
                    kind, half_of(concept), frame.format(adjective), start, start + len(adjective),
                    frozenset({concept} if right else ()), frozenset(() if right else {concept}),
                )  # fmt: skip
            break


def _is_trap(case: Case, names: Names) -> bool:
    """Whether no name of the wrong concept stands in the sentence as it is written."""
    own = (name.lower() for concept in case.wrong or () for name in names[concept])
    return bool(case.right) or not any(re.sub(r"s?$", "", name) in case.text for name in own)


def cases(
    rows: Sequence[ConceptName], relations: Iterable[ConceptRelation]
) -> tuple[list[ConceptName], list[Case]]:
    """The names to index, and every case."""
    kept, made = hold_out(rows)
    names: dict[str, list[str]] = defaultdict(list)
    holders: dict[str, set[str]] = defaultdict(set)
    for row in kept:
        holders[row.name.lower()].add(row.concept)
        if row.term_type in _OWN:
            names[row.concept].append(row.name)
    parents = parents_of(relations)
    more = (coordinated(names, holders, parents), apart(names), modified(names, holders), predicated(names))
    for case in itertools.chain.from_iterable(more):
        if _is_trap(case, names):
            made.append(case)
    return kept, _sampled(made)


def _sampled(made: Iterable[Case]) -> list[Case]:
    """At most `_MOST` cases of each kind and half, drawn by the hash of the text."""
    groups: dict[tuple[str, str], dict[str, Case]] = defaultdict(dict)
    for case in made:
        groups[case.kind, case.half].setdefault(case.text, case)
    return [
        case
        for _, group in sorted(groups.items())
        for case in sorted(group.values(), key=lambda item: share_of(item.text))[:_MOST]
    ]


def score(matcher: NativeMatcher, made: Sequence[Case]) -> dict[str, Any]:
    """By kind and half: cases, concepts found of those expected, cases with a wrong concept."""
    found = matcher.find_many((case.text for case in made), overlaps=True)
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for case, matches in zip(made, found, strict=True):
        inside = [match for match in matches if match.start < case.end and case.start < match.end]
        whole = {match.concept for match in inside if match.start <= case.start and match.end >= case.end}
        wrong = whole - case.right if case.wrong is None else case.wrong & {match.concept for match in inside}
        row = counts[case.kind, case.half]
        row[0] += 1
        row[1] += len(case.right)
        row[2] += len(case.right & {match.concept for match in inside})
        row[3] += bool(wrong)
    return {f"{kind}/{half}": _row(row) for (kind, half), row in sorted(counts.items())}


def _row(counts: Sequence[int]) -> dict[str, Any]:
    cases, expected, found, wrong = counts
    row: dict[str, Any] = {"cases": cases}
    if expected:
        row["recall"] = [round(found / expected, 3), *(round(bound, 3) for bound in wilson(found, expected))]
    row["wrong"] = [round(wrong / cases, 3), *(round(bound, 3) for bound in wilson(wrong, cases))]
    return row


def score_definitions(
    matcher: NativeMatcher, definitions: Sequence[ConceptDefinition], parents: Mapping[str, set[str]]
) -> dict[str, Any]:
    """How many definitions name their own concept; of all concepts found in them, which are related to it."""
    above: dict[str, set[str]] = {}

    def ancestors(concept: str) -> set[str]:
        if concept not in above:
            above[concept] = set()
            for parent in parents.get(concept, ()):
                above[concept] |= {parent} | ancestors(parent)
        return above[concept]

    found = matcher.find_many((item.text for item in definitions), overlaps=True)
    own = related = total = 0
    for item, matches in zip(definitions, found, strict=True):
        concepts = {match.concept for match in matches}
        own += item.concept in concepts
        total += len(concepts)
        kin = ancestors(item.concept) | {item.concept}
        related += sum(
            concept in kin or item.concept in ancestors(concept) or bool(parents.get(concept, set()) & kin)
            for concept in concepts
        )
    return {
        "definitions": len(definitions),
        "own": [
            round(own / len(definitions), 4),
            *(round(edge, 4) for edge in wilson(own, len(definitions))),
        ],
        "found": total,
        "related": [round(related / total, 4), *(round(edge, 4) for edge in wilson(related, total))],
    }


def parents_of(relations: Iterable[ConceptRelation]) -> dict[str, set[str]]:
    """Parents by concept."""
    parents: dict[str, set[str]] = defaultdict(set)
    for relation in relations:
        if relation.relation == "parent":
            parents[relation.concept].add(relation.other)
    return parents


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vocabulary", choices=("hpo", "mesh"), default="hpo")
    parser.add_argument("--half", default="dev", help="print this half only; 'all' saves both")
    options = parser.parse_args()
    rows = vocabulary(options.vocabulary)
    kept, made = cases(
        [row for row in rows if isinstance(row, ConceptName)],
        [row for row in rows if isinstance(row, ConceptRelation)],
    )
    with tempfile.TemporaryDirectory() as folder:
        build_index(kept, Path(folder) / "index")
        result = score(open_index(Path(folder) / "index"), made)
        definitions = [row for row in rows if isinstance(row, ConceptDefinition)]
        if definitions:
            build_index([row for row in rows if isinstance(row, ConceptName)], Path(folder) / "whole")
            parents = parents_of(row for row in rows if isinstance(row, ConceptRelation))
            result["definition/all"] = score_definitions(
                open_index(Path(folder) / "whole"), definitions, parents
            )
    if options.half == "all":
        print(save("grounding_classes", result))
    for key, row in result.items():
        if options.half == "all" or key.endswith((options.half, "all")):
            print(f"{key:28}", json.dumps(row))


if __name__ == "__main__":
    main()
