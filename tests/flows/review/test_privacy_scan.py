"""Planted identifiers of invented people are found in pictures, and what was read before is known."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from annotation.layouts.fields import IMAGES
from benchmarks.review_phi import _picture
from curation.privacy import BURNED_IN, hits
from curation.privacy.images import READ_VERSION, read_hits
from flows.review.candidates import _seen
from flows.review.store import IMAGES as READ
from flows.review.store import ReviewFolder


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
