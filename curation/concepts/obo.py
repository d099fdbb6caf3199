"""Names of an OBO ontology: labels and exact synonyms of live terms.

Format: https://owlcollab.github.io/oboformat/doc/obo-syntax.html, read by fastobo.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import fastobo

from schemas.concept import ConceptName
from schemas.errors import InputError


def read_names(path: Path, prefix: str) -> Iterator[ConceptName]:
    """Labels and exact synonyms of the terms whose id starts with `prefix`, obsolete terms left out.

    Raises:
        InputError: the file is not OBO.
    """
    try:
        document = fastobo.load(str(path))
    except (SyntaxError, OSError, ValueError) as error:
        raise InputError(f"not an OBO file: {error}", file=str(path)) from error
    for frame in document:
        concept = str(frame.id)
        if not isinstance(frame, fastobo.term.TermFrame) or not concept.startswith(prefix + ":"):
            continue
        if any(isinstance(clause, fastobo.term.IsObsoleteClause) and clause.obsolete for clause in frame):
            continue
        for clause in frame:
            if isinstance(clause, fastobo.term.NameClause):
                yield ConceptName(concept=concept, name=str(clause.name), is_preferred=True)
            elif isinstance(clause, fastobo.term.SynonymClause) and clause.synonym.scope == "EXACT":
                yield ConceptName(concept=concept, name=str(clause.synonym.desc))
