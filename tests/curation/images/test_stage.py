"""The stage: one FigureImage or Drop per graphic, nothing lost, the same rows every time."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import pytest
from PIL import Image

from curation.images.stage import IMAGES
from schemas.article import Graphic
from schemas.errors import UsageError, WorkspaceError
from schemas.extracted import Figure, Panel
from schemas.hashing import sha256_bytes
from schemas.image import FigureImage
from schemas.record import from_table, to_table
from schemas.stages import Drop, Reason
from tests.curation.builders import BY
from tests.curation.images.conftest import corner, saved
from tests.curation.images.test_kinds import clouds, scan

CAPTION = "(A) Axial CT of the chest. (B) Photograph of the hand."


@pytest.fixture
def figure(tmp_path: Path) -> Figure:
    """A figure with a usable JPEG and GIF, a missing file, a known problem, a cut file, a huge one."""
    exif = Image.Exif()
    exif[0x0112] = 6
    files = {
        "a.jpg": saved(corner(80, 60), "JPEG"),
        "b.gif": saved(corner(), "GIF", save_all=True, append_images=[Image.new("RGB", (40, 20))]),
        "c.jpg": saved(corner(80, 60), "JPEG", exif=exif),
        "e.jpg": saved(corner(), "JPEG")[:300],
        "f.png": saved(Image.new("1", (4_000, 4_000)), "PNG"),
    }
    graphics = []
    for name in ("a.jpg", "b.gif", "c.jpg", None, "known", "e.jpg", "f.png"):
        data = files.get(name or "")
        if name and data is not None:
            (tmp_path / name).write_bytes(data)
        graphics.append(
            Graphic(
                href=str(name),
                name=name,
                path=name,
                sha256=sha256_bytes(data) if data is not None else None,
                problem="image_corrupt" if name == "known" else "",
            )
        )
    letters = [("A", 0, 26), ("B", 27, len(CAPTION))]
    return Figure(
        id="pmc:PMC1.1#F1",
        article_id="pmc:PMC1.1",
        number=1,
        caption=CAPTION,
        graphics=tuple(graphics),
        panels=tuple(Panel(id=f"pmc:PMC1.1#F1.{x}", letter=x, start=at, end=to) for x, at, to in letters),
        section=1,
        licence=BY,
    )


def rows(figure: Figure, raw: Path, **given: object) -> list[FigureImage | Drop]:
    return list(IMAGES.process(figure, raw=raw, **{**IMAGES.params, "max_pixels": 1_000_000, **given}))


def test_every_graphic_is_kept_or_dropped(figure: Figure, tmp_path: Path) -> None:
    found = rows(figure, tmp_path)
    kept = [row for row in found if isinstance(row, FigureImage)]
    drops = {row.id: row.reason for row in found if isinstance(row, Drop)}
    (account,) = IMAGES.accounts
    assert [row.id for row in found] == list(account.units(figure))
    assert drops == {
        "pmc:PMC1.1#F1/4": Reason.IMAGE_MISSING,
        "pmc:PMC1.1#F1/5": Reason.IMAGE_CORRUPT,
        "pmc:PMC1.1#F1/6": Reason.IMAGE_CORRUPT,
        "pmc:PMC1.1#F1/7": Reason.IMAGE_TOO_LARGE,
    }
    assert all(row.detail and row.unit == account.unit for row in found if isinstance(row, Drop))
    first, second, third = kept
    assert (first.is_fitting, second.is_fitting, third.is_fitting) == (True, False, False)
    assert (second.frames, second.format, second.mode) == (2, "gif", "P")
    assert (third.width, third.height, third.orientation) == (60, 80, 6)
    assert first.sha256 == figure.graphics[0].sha256 and first.path == "a.jpg"
    assert first.kind == "compound" and first.kind_evidence and len(first.phash) == 16
    assert first.flags == ("face_unchecked", "text_unchecked") and first.text == ""


def test_panels_are_linked_when_one_image_holds_them_all(figure: Figure, tmp_path: Path) -> None:
    two = Image.new("RGB", (420, 200), "white")
    for left in (0, 220):
        two.paste(Image.effect_noise((200, 200), 60).point(lambda value: value // 2), (left, 0))
    data = saved(two, "PNG")
    (tmp_path / "two.png").write_bytes(data)
    graphic = Graphic(href="two", name="two", path="two.png", sha256=sha256_bytes(data))
    (row,) = rows(dataclasses.replace(figure, graphics=(graphic,)), tmp_path)
    assert isinstance(row, FigureImage)
    assert [(box.panel_id, box.letter) for box in row.panels] == [
        ("pmc:PMC1.1#F1.A", "A"),
        ("pmc:PMC1.1#F1.B", "B"),
    ]
    assert [(box.left, box.top, box.right, box.bottom) for box in row.panels] == [
        (0, 0, 200, 200),
        (220, 0, 420, 200),
    ]
    both = rows(dataclasses.replace(figure, graphics=(graphic, graphic)), tmp_path)
    assert not any(each.panels for each in both if isinstance(each, FigureImage))


def test_rows_are_equal_every_time_and_survive_parquet(figure: Figure, tmp_path: Path) -> None:
    kept = [row for row in rows(figure, tmp_path) if isinstance(row, FigureImage)]
    assert kept == [row for row in rows(figure, tmp_path) if isinstance(row, FigureImage)]
    assert from_table(FigureImage, to_table(FigureImage, kept)) == kept
    assert pickle.loads(pickle.dumps(IMAGES)).name == "images"


def test_changed_files_stop_the_stage(figure: Figure, tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(saved(corner(90, 60), "JPEG"))
    with pytest.raises(WorkspaceError, match="crawl fetches it again"):
        rows(figure, tmp_path)


def test_a_figure_without_graphics_gives_nothing(figure: Figure, tmp_path: Path) -> None:
    assert rows(dataclasses.replace(figure, graphics=()), tmp_path) == []


def test_checks_are_run_when_asked(figure: Figure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curation.images.stage.count_faces", lambda image: 1)
    monkeypatch.setattr("curation.images.stage.read_text", lambda image, languages: f"read {languages}")
    one = dataclasses.replace(figure, graphics=figure.graphics[:1])
    (row,) = rows(one, tmp_path, faces="on", ocr="on", ocr_languages="eng+deu")
    assert isinstance(row, FigureImage)
    assert row.flags == ("face", "text") and row.text == "read eng+deu"

    def absent(image: object) -> int:
        raise UsageError("no", hint="make setup EXTRAS=faces")

    monkeypatch.setattr("curation.images.stage.count_faces", absent)
    with pytest.raises(UsageError):
        rows(one, tmp_path, faces="on")


def test_each_panel_has_a_kind_of_its_own(figure: Figure, tmp_path: Path) -> None:
    """By its pixels and words: the figure as a whole is compound."""
    image = Image.new("RGB", (410, 200), "white")
    image.paste(scan().resize((200, 200)), (0, 0))
    image.paste(clouds(3, (200, 200)), (210, 0))
    data = saved(image, "PNG")
    (tmp_path / "one.png").write_bytes(data)
    graphic = Graphic(href="one", name="one", path="one.png", sha256=sha256_bytes(data))
    (row,) = rows(dataclasses.replace(figure, graphics=(graphic,)), tmp_path)
    assert isinstance(row, FigureImage) and row.kind == "compound"
    assert {box.letter: box.kind for box in row.panels} == {"A": "radiology", "B": "photograph"}
