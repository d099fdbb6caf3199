"""Planted identifiers of invented people are found in pictures, and what was read before is known."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from annotation.layouts.fields import IMAGES
from benchmarks.review_phi import _picture
from curation.privacy import BURNED_IN, hits
from curation.privacy.images import READ_VERSION, read_hits
from flows.review.candidates import _seen
from flows.review.privacy import hold_withdrawn
from flows.review.store import IMAGES as READ
from flows.review.store import ReviewFolder
from schemas.review import ReviewCandidate, ShownItem
from schemas.withdrawal import Withdrawn


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")
def test_a_name_as_dicom_writes_it_is_read_from_a_picture() -> None:
    """Tesseract takes `^` for another sign and is unsure of the word."""
    pytest.importorskip("pytesseract")
    pictures = [_picture(random.Random(seed), "LEE^ANNA") for seed in (1, 2, 3)]
    found = [{kind for kind, _, _ in read_hits(picture) or ()} for picture in pictures]
    assert sum("a name as scanners print it" in kinds for kinds in found) >= 2
    kinds = {kind for sign in "^*~°" for kind, _, _ in hits(f"T2 OKONKWO{sign}PIERRE SE", BURNED_IN)}
    assert kinds == {"a name as scanners print it"}
    assert not list(hits("T2* GRE SWI B*1500 HLA-B*27", BURNED_IN))


def test_images_read_for_other_patterns_are_read_again(tmp_path: Path) -> None:
    folder = ReviewFolder(tmp_path)
    found = {"ab" * 32: [["a date", 0, 10]]}
    folder.write_json(READ, {"scan": READ_VERSION, "found": found})
    assert _seen(folder) == {"ab" * 32: [("a date", 0, 10)]}
    folder.write_json(READ, found)  # as version 1 wrote it
    assert _seen(folder) == {}
    assert IMAGES == ("query_image", "document_image")


def test_what_was_withdrawn_is_shown_to_nobody() -> None:
    shown = (ShownItem(name="query_image", value="ab" * 32),)
    item = ReviewCandidate(
        id="cand:1",
        dataset="known",
        task="visual_context",
        kind="relevance_image",
        query_id="visual_context-1",
        corpus_id="pmc:PMC1.1#p2",
        shown=shown,
        origin="pool",
    )

    def held(id: str, unit: Any) -> bool:
        return bool(hold_withdrawn([item], [Withdrawn(id=id, unit=unit, reason="privacy")]))

    assert held("pmc:PMC1.2", "article") and held("ab" * 32, "image")
    assert held("visual_context-1", "query") and held("pmc:PMC1.1#p2", "passage")
    assert not held("pmc:PMC11.1", "article") and not held("pmc:PMC1.1#p1", "passage")
