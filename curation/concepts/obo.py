"""Names of an OBO ontology: labels and exact synonyms of live terms.

Format: https://owlcollab.github.io/oboformat/doc/obo-syntax.html, read by fastobo.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import fastobo

from schemas.errors import InputError
from schemas.vocabulary import ConceptName


def read_names(path: Path, root: str) -> Iterator[ConceptName]:
    """Labels and exact synonyms of the live terms below `root`, which is itself left out.

    Args:
        path: an OBO file.
        root: the term whose descendants count, e.g. HP:0000118 (phenotypic abnormality): HPO also holds
            modifiers such as 'Severe' or 'Frequency', which are no findings.

    Raises:
        InputError: the file is not OBO.
    """
    try:
        document = fastobo.load(str(path))
    except (SyntaxError, OSError, ValueError) as error:
        raise InputError(f"not an OBO file: {error}", file=str(path)) from error
    names: dict[str, list[ConceptName]] = {}
    children: dict[str, list[str]] = {}
    for frame in document:
        if not isinstance(frame, fastobo.term.TermFrame) or _is_obsolete(frame):
            continue
        concept = str(frame.id)
        names[concept] = list(_names(concept, frame))
        for clause in frame:
            if isinstance(clause, fastobo.term.IsAClause):
                children.setdefault(str(clause.term), []).append(concept)
    for concept in sorted(_below(root, children)):
        yield from names.get(concept, [])


def _is_obsolete(frame: Any) -> bool:
    return any(isinstance(clause, fastobo.term.IsObsoleteClause) and clause.obsolete for clause in frame)


def _names(concept: str, frame: Any) -> Iterator[ConceptName]:
    for clause in frame:
        if isinstance(clause, fastobo.term.NameClause):
            yield ConceptName(concept=concept, name=str(clause.name), is_preferred=True)
        elif isinstance(clause, fastobo.term.SynonymClause) and clause.synonym.scope == "EXACT":
            yield ConceptName(concept=concept, name=str(clause.synonym.desc))


def _below(root: str, children: Mapping[str, Sequence[str]]) -> set[str]:
    found: set[str] = set()
    waiting = list(children.get(root, []))
    while waiting:
        concept = waiting.pop()
        if concept not in found:
            found.add(concept)
            waiting.extend(children.get(concept, []))
    return found
