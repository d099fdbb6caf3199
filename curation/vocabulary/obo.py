"""OBO ontologies: names, definitions, parents, cross-references and retired ids.

Format: https://owlcollab.github.io/oboformat/doc/obo-syntax.html, read by fastobo.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fastobo

from curation.vocabulary.curies import normalise
from curation.vocabulary.known_sources import abbreviation, describe, left_out, tier_of
from curation.vocabulary.semantic import by_hierarchy
from curation.vocabulary.tables import Row, Rows
from schemas.errors import InputError
from schemas.stages import Drop, Reason
from schemas.vocabulary import (
    ConceptDefinition,
    ConceptMapping,
    ConceptName,
    ConceptRelation,
    RetiredConcept,
    Tier,
)

SCOPES = {"EXACT": "SY", "BROAD": "BROAD", "NARROW": "NARROW", "RELATED": "RELATED"}
"""Synonym scope to term type. Only PT, SY and AB name the concept itself."""
_EXACT = {"skos:exactMatch", "exactMatch", "oboInOwl:hasExactMatch", "MONDO:exactMatch"}
_INEXACT = {"skos:closeMatch", "skos:broadMatch", "skos:narrowMatch", "skos:relatedMatch"} | {
    "closeMatch",
    "broadMatch",
    "narrowMatch",
    "relatedMatch",
}
_SKOS = "http://www.w3.org/2004/02/skos/core#"
_ID = re.compile(rb"^id: ([A-Za-z][A-Za-z0-9_]*):", re.MULTILINE)
_EQUIVALENT = ("equivalentTo", "equivalentObsolete")


@dataclass(slots=True)
class _Term:
    """What is kept of one term while the hierarchy is not known yet."""

    rows: list[Row] = field(default_factory=list)
    parents: list[str] = field(default_factory=list)


def read(path: Path, sha256: str, *, root: str = "", source: str = "") -> Rows:
    """Everything an OBO file says of its own terms.

    Args:
        path: an OBO file; terms of other vocabularies in it (imports) are left out.
        sha256: hex SHA-256 of the file.
        root: the term whose descendants count, itself left out; '' for all. HPO's HP:0000118 (phenotypic
            abnormality) leaves out modifiers such as 'Severe', which are no findings.
        source: abbreviation of the source; by default that of the commonest prefix.

    Raises:
        InputError: the file is not OBO, or the root is not in it.
    """
    try:
        document = fastobo.load(str(path))
    except (SyntaxError, OSError, ValueError) as error:
        raise InputError(f"not an OBO file: {error}", file=str(path)) from error
    except BaseException as error:  # the parser is written in Rust, whose panic is no Exception
        if type(error).__name__ != "PanicException":
            raise
        raise InputError("not an OBO file: its parser broke off", file=str(path)) from None
    frames = [frame for frame in document if isinstance(frame, fastobo.term.TermFrame)]
    prefixes = Counter(str(frame.id).partition(":")[0] for frame in frames)
    if not prefixes:
        raise InputError("an OBO file without terms", file=str(path))
    prefix = min(prefixes, key=lambda item: (-prefixes[item], item))
    abbr = source or abbreviation(prefix)
    header = _header(document.header)
    title, licence = header.get("title", ""), header.get("licence", "")
    yield describe(abbr, header.get("release", ""), sha256, title=title, licence=licence)
    yield from _terms(frames, prefix, abbr, tier_of(abbr, licence), root, path)


def prefix_of(path: Path) -> str:
    """The commonest prefix of the ids in an OBO file.

    Raises:
        InputError: the file has no terms.
    """
    prefixes = Counter(_ID.findall(path.read_bytes()))
    if not prefixes:
        raise InputError("not an OBO file: no terms", file=str(path))
    prefix: bytes = min(prefixes, key=lambda item: (-prefixes[item], item))
    return prefix.decode("ascii")


def _header(header: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for clause in header:
        text = str(clause.raw_value())
        if isinstance(clause, fastobo.header.DataVersionClause):
            found["release"] = text.rstrip("/").rsplit("/", 1)[-1] if text.endswith(".owl") else text
        elif isinstance(clause, fastobo.header.PropertyValueClause):
            value = _literal(clause.property_value)
            name = str(clause.property_value.relation).rsplit("/", 1)[-1].rsplit(":", 1)[-1]
            if name == "title":
                found["title"] = value
            elif name == "license":
                found["licence"] = value
            elif name == "versionInfo":
                found.setdefault("version", value)
    if "version" in found and "release" not in found:
        found["release"] = found["version"]
    return found


def _literal(value: Any) -> str:
    return str(getattr(value, "value", ""))


def _terms(frames: Sequence[Any], prefix: str, abbr: str, tier: Tier, root: str, path: Path) -> Rows:
    terms: dict[str, _Term] = {}
    for frame in frames:
        concept = str(frame.id)
        if not concept.startswith(prefix + ":"):
            continue
        if _is_obsolete(frame):
            yield from _retired(concept, frame, abbr)
            continue
        term = _Term()
        for row in _rows(concept, frame, abbr, tier, term):
            if isinstance(row, RetiredConcept):
                yield row
            else:
                term.rows.append(row)
        if not any(isinstance(row, ConceptName) and row.is_preferred for row in term.rows):
            yield _unnamed(concept, path)
            continue
        terms[concept] = term
    parents = {concept: term.parents for concept, term in terms.items()}
    kept = below(root, parents) if root else set(terms)
    if unwanted := left_out(abbr):
        kept -= {unwanted, *below(unwanted, parents)}
    if root and root not in parents:
        raise InputError(f"the root {root} is not in the file", file=str(path))
    types = list(by_hierarchy(parents))
    for concept in sorted(kept):
        yield from terms[concept].rows
        for parent in terms[concept].parents:
            if parent in kept:
                yield ConceptRelation(concept=concept, relation="parent", other=parent, source=abbr)
    yield from (row for row in types if row.concept in kept)


def _unnamed(concept: str, path: Path) -> Drop:
    return Drop(
        unit="term",
        id=concept,
        article_id=path.name,
        reason=Reason.RECORD_INVALID,
        detail="a term without a name",
    )


def _is_obsolete(frame: Any) -> bool:
    return any(isinstance(clause, fastobo.term.IsObsoleteClause) and clause.obsolete for clause in frame)


def _retired(concept: str, frame: Any, abbr: str) -> Iterator[RetiredConcept]:
    replacements = {str(c.term) for c in frame if isinstance(c, fastobo.term.ReplacedByClause)}
    one = (
        replacements.pop() if len(replacements) == 1 else ""
    )  # two replacements are a choice, no replacement
    yield RetiredConcept(concept=concept, replacement=one, source=abbr)


def _rows(concept: str, frame: Any, abbr: str, tier: Tier, term: _Term) -> Iterator[Row]:
    for clause in frame:
        if isinstance(clause, fastobo.term.NameClause):
            name = str(clause.name).strip()
            if name:
                yield ConceptName(
                    concept=concept, name=name, source=abbr, term_type="PT", tier=tier, is_preferred=True
                )
        elif isinstance(clause, fastobo.term.SynonymClause):
            yield from _synonym(concept, clause.synonym, abbr, tier)
        elif isinstance(clause, fastobo.term.DefClause):
            text = str(clause.definition).strip()
            if text:
                yield ConceptDefinition(concept=concept, text=text, source=abbr, tier=tier)
        elif isinstance(clause, fastobo.term.IsAClause):
            term.parents.append(str(clause.term))
        elif isinstance(clause, fastobo.term.AltIdClause):
            yield RetiredConcept(concept=str(clause.alt_id), replacement=concept, source=abbr)
        elif isinstance(clause, fastobo.term.XrefClause):
            yield from _xref(concept, clause, abbr)
        elif isinstance(clause, fastobo.term.PropertyValueClause):
            yield from _match(concept, clause.property_value, abbr)


def _synonym(concept: str, synonym: Any, abbr: str, tier: Tier) -> Iterator[ConceptName]:
    kind, name = str(synonym.type or ""), str(synonym.desc).strip()
    term_type = SCOPES[synonym.scope]
    if term_type == "SY" and "abbreviation" in kind.lower():
        term_type = "AB"
    if name:
        yield ConceptName(
            concept=concept,
            name=name,
            source=abbr,
            term_type=term_type,
            tier=tier,
            is_suppressed="obsolete" in kind.lower() or "deprecated" in kind.lower(),
        )


def _xref(concept: str, clause: Any, abbr: str) -> Iterator[ConceptMapping]:
    other = normalise(str(clause.xref.id))
    said = str(clause)
    if other is not None and other != concept:
        # Mondo says of each cross-reference how it is meant; one that is not equivalent never merges.
        qualified = 'source="MONDO:' in said
        exact = not qualified or any(f"MONDO:{word}" in said for word in _EQUIVALENT)
        yield ConceptMapping(concept=concept, other=other, source=abbr, status="stated" if exact else "kept")


def _match(concept: str, value: Any, abbr: str) -> Iterator[ConceptMapping]:
    predicate = str(value.relation).replace(_SKOS, "skos:")
    if predicate not in _EXACT | _INEXACT:
        return
    other = normalise(_literal(value))
    if other is not None and other != concept:
        status: Any = "stated" if predicate in _EXACT else "kept"
        yield ConceptMapping(concept=concept, other=other, source=abbr, status=status)


def below(root: str, parents: Mapping[str, Sequence[str]]) -> set[str]:
    """Descendants of a term, itself left out.

    Args:
        root: a term.
        parents: parents of every term.
    """
    children: dict[str, list[str]] = {}
    for concept, above in parents.items():
        for parent in above:
            children.setdefault(parent, []).append(concept)
    found: set[str] = set()
    waiting = list(children.get(root, []))
    while waiting:
        concept = waiting.pop()
        if concept not in found:
            found.add(concept)
            waiting.extend(children.get(concept, []))
    return found
