"""Flags: what was not checked says so; captions, detector and reader raise the rest."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

from curation.images import faces, ocr
from curation.images.decode import open_image
from curation.images.faces import count_faces
from curation.images.flags import FLAGS, flags_of
from curation.images.ocr import read_text
from schemas.errors import UsageError
from tests.curation.images.conftest import Marked


def raised(caption: str = "", kind: str = "photograph", **given: Any) -> set[str]:
    checks: dict[str, Any] = {"private": (), "faces": 0, "text": "", **given}
    found = flags_of(caption, kind, **checks)
    assert list(found) == sorted(set(found)) and set(found) <= set(FLAGS)
    return set(found)


def test_what_was_not_checked_is_said() -> None:
    assert raised() == set()
    assert raised(faces=None) == {"face_unchecked"}
    assert raised(text=None) == {"text_unchecked"}
    assert raised(faces=2, text="12 Jan") == {"face", "text"}
    assert raised(private=("location",)) == {"private_metadata"}


@pytest.mark.parametrize(
    ("caption", "kind", "flags"),
    [
        ("Photograph of the patient's face before treatment.", "photograph", {"face"}),
        ("Facial appearance at age six.", "", {"face"}),
        ("Clinical picture showing periorbital swelling of the left eyelids.", "photograph", {"face"}),
        ("Type I interface and surface features.", "", set()),
        ("Schematic of facial appearance.", "diagram", set()),
        ("Perianal lesion.", "photograph", {"sensitive"}),
        ("Surgical wound on day three.", "", {"sensitive"}),
        ("Quemadura de segundo grado.", "photograph", {"sensitive"}),
        ("Mammography of the left breast.", "radiology", set()),
        ("Burns per year.", "chart", set()),
        ("Analysis of the canal.", "photograph", set()),
    ],
)
def test_captions_raise_flags(caption: str, kind: str, flags: set[str]) -> None:
    assert raised(caption, kind) == flags


def without(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    original = importlib.import_module

    def refuse(wanted: str, package: str | None = None) -> Any:
        if wanted == name:
            raise ImportError(wanted)
        return original(wanted, package)

    monkeypatch.setattr(importlib, "import_module", refuse)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    faces._detectors.cache_clear()
    without(monkeypatch, "cv2")
    with pytest.raises(UsageError, match="EXTRAS=faces"):
        count_faces(Image.new("L", (99, 99)))
    without(monkeypatch, "pytesseract")
    with pytest.raises(UsageError, match="EXTRAS=ocr"):
        read_text(Image.new("L", (99, 99)))


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib, "import_module", lambda name: object())
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(UsageError, match="apt-get install tesseract-ocr"):
        ocr._engine()


def test_faces_with_the_extra_or_a_clear_error(marked_images: Marked) -> None:
    faces._detectors.cache_clear()
    portraits = [path for entry, path in marked_images if "WilliamJ" in entry["file"]]  # none in the sample
    diagrams = [path for entry, path in marked_images if entry["kind"] == "diagram"][:8]
    if importlib.util.find_spec("cv2") is None:
        with pytest.raises(UsageError, match="EXTRAS=faces"):
            count_faces(open_image([*portraits, *diagrams][0]).image)
        return
    assert [count_faces(open_image(path).image) for path in portraits] == [1] * len(portraits)
    assert sum(count_faces(open_image(path).image) for path in diagrams) == 0
    assert count_faces(Image.new("RGB", (9, 900))) == 0


def test_text_with_the_extra_or_a_clear_error() -> None:
    image = Image.new("RGB", (700, 120), "white")
    ImageDraw.Draw(image).text((20, 30), "PATIENT 40123", fill="black", font=ImageFont.load_default(60))
    if importlib.util.find_spec("pytesseract") is None or shutil.which("tesseract") is None:
        with pytest.raises(UsageError, match="ocr"):
            read_text(image)
        return
    assert "40123" in read_text(image) and read_text(image) == read_text(image)
    assert read_text(Image.new("L", (300, 300), 255)) == ""
    with pytest.raises(UsageError, match="language packs"):
        read_text(image, "qqq")
