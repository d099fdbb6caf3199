"""How many documents a system does not read to the end, and how many of the positives.

An encoder with a limit cuts a long text, so of a section or article it may never see what answers a query:
the larger the documents, the more of a low measure can come of that. BM25 and the default encoder cut none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from curation.evaluation.collection import Collection
from curation.evaluation.results import Measured


def truncation(collection: Collection, systems: Iterable[Measured]) -> dict[str, Any]:
    """What results.json says of truncation.

    Args:
        collection: what was evaluated on.
        systems: those that ran and those that could not.

    Returns:
        `granularity` (what a document is, '' for a task without the choice); `systems`: by name `documents`,
        `positives` (pairs of a measured query and a positive), how many of both are cut, and the shares; None
        for a system that reads no texts, or of which that is not known.
    """
    known = set(collection.corpus_ids)
    positives = [
        document
        for grades in collection.qrels.values()
        for document, score in grades.items()
        if score > 0 and document in known
    ]
    return {
        "granularity": _granularity(collection),
        "systems": {
            system.name: None if system.cut is None else _shares(system.cut, known, positives)
            for system in systems
            if system.run is not None
        },
    }


def _granularity(collection: Collection) -> str:
    task = collection.head.task
    found = (
        dict(stage["params"]).get("granularity") for stage in collection.head.stages if stage["name"] == task
    )
    return next((str(value) for value in found if value), "")


def _shares(cut: frozenset[str], documents: set[str], positives: list[str]) -> dict[str, float | int | None]:
    of_documents = len(cut & documents)
    of_positives = sum(document in cut for document in positives)
    return {
        "documents": len(documents),
        "documents_cut": of_documents,
        "share_of_documents": _share(of_documents, len(documents)),
        "positives": len(positives),
        "positives_cut": of_positives,
        "share_of_positives": _share(of_positives, len(positives)),
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole else None
