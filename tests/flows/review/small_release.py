"""A small release as it is published, with what a review draws from: positives, a run, and an image."""

from __future__ import annotations

import gzip
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from curation.evaluation.runs import SUFFIX
from flows.engine.workspace import Workspace
from schemas.hashing import sha256_bytes
from tests.releases import manifest, write

TASK = "visual_context"
DOCUMENTS = 12


def small_release(workspace: Workspace, dataset: str, version: str = "1.0.0", *, queries: int = 6) -> Path:
    """Write a version of a dataset; its task folder.

    Args:
        workspace: where to.
        dataset: its name.
        version: of the release.
        queries: how many, each with a positive and three results; without any there is nothing to draw.
    """
    directory = workspace.releases / dataset / version / TASK
    write(directory, _tables(queries))
    runs = directory / "runs" / "test"
    runs.mkdir(parents=True)
    lines = [
        f"q{query} Q0 d{(query + rank) % DOCUMENTS} {rank} {9 - rank} bm25\n"
        for query in range(queries)
        for rank in range(1, 4)
    ]
    (runs / f"bm25{SUFFIX}").write_bytes(gzip.compress("".join(lines).encode()))
    head = manifest(dataset=dataset, task=TASK, shaped_by=("bm25",))
    (directory / "release.json").write_text(head.to_json(), "utf-8")
    return directory


def picture() -> bytes:
    """A grey PNG without any text in it."""
    made = io.BytesIO()
    Image.new("L", (64, 48), 90).save(made, "PNG")
    return made.getvalue()


def _tables(count: int) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    rights = {"language": "en", "license": "CC-BY-4.0", "is_synthetic": False}
    queries = [f"q{number}" for number in range(count)]
    documents = [f"d{number}" for number in range(DOCUMENTS)]
    image = picture()
    shown = {"image_source_sha256": sha256_bytes(image)}
    return {
        "queries": [
            {
                "id": name,
                "text": f"Figure {name}: axial CT of the chest.",
                **rights,
                "tier": "",
                "specialty": "",
            }
            | ({"image": {"bytes": image, "path": "a.png"}} if name == "q0" else {})
            for name in queries
        ],
        "corpus": [
            {"id": name, "title": "Sarcoid", "text": f"Passage {name} tells of <b>nodes</b>.", **rights}
            for name in documents
        ],
        "qrels": [
            {"query-id": name, "corpus-id": f"d{name[1:]}", "score": 2, "label_status": "structural"}
            | {"rule": "visual_context/cites-xref@1"}
            for name in queries
        ],
        "excluded": [{"query-id": "q1", "corpus-id": "d7", "reason": "same_article"}],
        "provenance_queries": [
            {"id": name, "split": "test", "source_id": name, "article_id": f"pmc:PMC{name[1:]}.1"}
            | (shown if name == "q0" else {})
            for name in queries
        ],
        "provenance_corpus": [
            {"id": name, "article_id": f"pmc:PMC{name[1:]}.1", "specialty": "radiology"} for name in documents
        ],
        "sources": [{"id": f"pmc:PMC{number}.1", "pmcid": f"PMC{number}"} for number in range(DOCUMENTS)],
    }
