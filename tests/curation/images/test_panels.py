"""Panels of compound images: generated figures, the marked shared figures, and what must stay whole."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

from benchmarks import panels as bench
from benchmarks.odd_panels import odd_compound
from curation.images.decode import open_image
from curation.images.panels import Box, find_panels
from sources.sample import bucket_dir

LARGE = ImageFont.load_default(26)


def _photos(columns: int, rows: int, side: int = 200, gutter: int = 10) -> Image.Image:
    image = Image.new("RGB", (columns * (side + gutter) - gutter, rows * (side + gutter) - gutter), "white")
    draw = ImageDraw.Draw(image)
    for row in range(rows):
        for column in range(columns):
            x, y = column * (side + gutter), row * (side + gutter)
            draw.rectangle((x, y, x + side - 1, y + side - 1), fill=(60 + 20 * row, 90, 60 + 20 * column))
    return image


def test_a_grid_of_photographs_is_cut_in_reading_order() -> None:
    assert find_panels(_photos(2, 2), "ABCD") == (
        Box("A", 0, 0, 200, 200),
        Box("B", 210, 0, 410, 200),
        Box("C", 0, 210, 200, 410),
        Box("D", 210, 210, 410, 410),
    )


@pytest.mark.parametrize(
    "letters", ["", "A", "AB", "ABC", "ABCDE", "AABB", ["left", "right", "top", "bottom"]]
)
def test_an_image_that_disagrees_with_its_caption_stays_whole(letters: list[str] | str) -> None:
    assert find_panels(_photos(2, 2), letters) == ()


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (1, 4000), (400, 300)])
def test_an_empty_image_has_no_panels(size: tuple[int, int]) -> None:
    assert find_panels(Image.new("RGB", size, "white"), "AB") == ()
    assert find_panels(Image.new("L", size, 0), "AB") == ()


def test_boxes_are_in_pixels_of_the_whole_image() -> None:
    large = _photos(2, 1).resize((3280, 1600), Image.Resampling.NEAREST)
    left, right = find_panels(large, "AB")
    assert bench.iou(left, Box("A", 0, 0, 1600, 1600)) > 0.98
    assert bench.iou(right, Box("B", 1680, 0, 3280, 1600)) > 0.98
    assert right.right == 3280 and right.bottom == 1600


def test_one_chart_is_not_cut_from_its_axis() -> None:
    image = bench.chart(random.Random(3), 600, 400)
    for count in (2, 3, 4):
        assert find_panels(image, bench.LETTERS[:count]) == ()


def _lettered(letters: str, columns: int, *, below: bool = False) -> Image.Image:
    """Photographs with a letter in the white above each one's left end, or under its middle."""
    rows, side, room = -(-len(letters) // columns), 180, 40
    image = Image.new("RGB", (columns * (side + 20), rows * (side + room + 20)), "white")
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(22)
    for number, letter in enumerate(letters):
        x, y = number % columns * (side + 20), number // columns * (side + room + 20)
        top = y if below else y + room
        draw.rectangle((x, top, x + side - 1, top + side - 1), fill=(90, 70 + 9 * number, 120))
        place = (x + side // 2 - 14, y + side + 6) if below else (x + 2, y + 4)
        draw.text(place, f"({letter.lower()})" if below else letter, fill="black", font=font, stroke_width=1)
    return image


def test_letters_may_stand_under_the_middle_of_their_panels() -> None:
    found = find_panels(_lettered("ABCD", 2, below=True), "ABCD")
    assert [(box.letter, box.left, box.top) for box in found] == [
        ("A", 0, 0),
        ("B", 200, 0),
        ("C", 0, 240),
        ("D", 200, 240),
    ]
    assert all(box.right - box.left == 180 and box.bottom - box.top > 185 for box in found)


def test_a_letter_that_no_glyph_tells_is_placed_by_the_others() -> None:
    found = find_panels(_lettered("ABCDEFGHI", 3), "ABCDEFGHI")  # an I is a bar, like many things
    assert [box.letter for box in found] == list("ABCDEFGHI")
    assert (found[-1].right, found[-1].bottom) == (580, 700)


@pytest.mark.parametrize("asked", ["ABC", "ABCDE", "WXYZ"])
def test_printed_letters_that_are_not_the_captions_split_nothing(asked: str) -> None:
    assert find_panels(_lettered("ABCD", 3), asked) == ()


def test_charts_without_letters_are_split_only_as_a_grid() -> None:
    chart = [bench.chart(random.Random(seed), 400, 300) for seed in range(4)]
    image = Image.new("RGB", (820, 620), "white")
    for number, part in enumerate(chart):
        image.paste(part, (number % 2 * 420, number // 2 * 320))
    assert len(find_panels(image, "ABCD")) == 4
    assert find_panels(image, "ABC") == find_panels(image, "ABCDEF") == ()
    assert find_panels(image.crop((0, 0, 820, 300)), "AB") == ()


def test_generated_compounds_are_split_rightly_or_not_at_all() -> None:
    made = [bench.compound(seed) for seed in range(1000, 1030)]
    found = [find_panels(item.image, item.letters) for item in made]
    result = bench.tally((boxes, item.panels) for boxes, item in zip(found, made, strict=True))
    assert result["precision"] >= 0.95
    assert result["recall"] >= 0.7
    assert found[:6] == [find_panels(item.image, item.letters) for item in made[:6]]


def test_odd_shapes_are_split_rightly_or_not_at_all() -> None:
    made = [odd_compound(seed) for seed in range(3000, 3008)]
    result = bench.tally((find_panels(item.image, item.letters), item.panels) for item in made)
    assert result["precision"] >= 0.95
    assert result["recall"] >= 0.75


def test_a_bright_frame_around_a_dark_figure_is_no_background() -> None:
    image = Image.new("RGB", (820, 420), "black")
    for number, letter in enumerate("AB"):
        image.paste(bench.photo(random.Random(number), 360, 340), (20 + 400 * number, 60))
        ImageDraw.Draw(image).text((20 + 400 * number, 20), letter, fill="#999999", font=LARGE)
    framed = Image.new("RGB", (826, 426), "white")
    framed.paste(image, (3, 3))
    found = find_panels(framed, "AB")
    assert [(box.letter, box.right > 415) for box in found] == [("A", False), ("B", True)]


def test_a_letter_that_cannot_be_read_does_not_stop_clear_gutters() -> None:
    image = Image.new("RGB", (1000, 400), "white")
    for number, letter in enumerate("AB"):
        image.paste(bench.chart(random.Random(number), 440, 340), (20 + 520 * number, 40))
        if letter == "A":
            ImageDraw.Draw(image).text((20, 8), letter, fill="black", font=LARGE)
    assert [box.letter for box in find_panels(image, "AB")] == ["A", "B"]
    assert find_panels(image, "CD") == ()


def test_one_panel_too_many_in_the_caption_splits_nothing() -> None:
    made = [bench.compound(seed) for seed in range(1000, 1015)]
    asked = bench.miscounted([(item.image, item.letters) for item in made])
    assert asked["one_more"] == {"images": 15, "split": 0}
    assert asked["one_fewer"]["split"] <= 1  # a letter left over is nearly always seen


def test_the_marks_are_boxes_inside_their_images() -> None:
    images = json.loads(bench.GOLD.read_text("utf-8"))["images"]
    assert len(images) >= 60 and sum(bool(entry["panels"]) for entry in images) >= 30
    assert len({entry["sha256"] for entry in images}) == len(images)
    for entry in images:
        boxes = bench.gold_boxes(entry)
        assert len({box.letter for box in boxes}) == len(boxes)
        for box in boxes:
            assert 0 <= box.left < box.right <= entry["width"]
            assert 0 <= box.top < box.bottom <= entry["height"]


SAMPLE = {  # file: letters, columns, width and height of a panel, as `scripts.sample_images` joins them
    "PMC990000001.1/12999_2024_1_Fig3_HTML.jpg": ("ABC", 3, 280, 280),
    "PMC990000002.1/msjd-12-e202-gf03.jpg": ("abcd", 2, 340, 275),
    "PMC990000003.1/msfn-14-990003-g0001.jpg": ("ABCD", 2, 330, 330),
}


def test_figures_of_the_sample_are_split_rightly_or_not_at_all() -> None:
    split = 0
    for name, (letters, columns, width, height) in SAMPLE.items():
        found = find_panels(open_image(bucket_dir() / name).image, letters)
        assert [box.letter for box in found] in ([], list(letters)), name
        for place, box in enumerate(found):
            left, top = place % columns * (width + 8), place // columns * (height + 8)
            whole = Box(box.letter, left, top, left + width, top + height)
            assert bench.iou(box, whole) > 0.75, name  # black margins of a scan are cut off
        split += bool(found)
    assert split >= 1


@pytest.fixture(scope="module")
def scored(shared_data: Path) -> list[dict[str, Any]]:
    """What becomes of every marked figure."""
    return bench.score(shared_data)


@pytest.mark.sibling("test_figures_of_the_sample_are_split_rightly_or_not_at_all")
@pytest.mark.parametrize("half", ["tuned on", "held out"])
def test_marked_figures_are_split_rightly_or_not_at_all(scored: list[dict[str, Any]], half: str) -> None:
    rows = [row for row in scored if (row["source"] in bench.TUNED) == (half == "tuned on")]
    result = bench.summary(rows)
    assert result["precision"] >= 0.95
    assert result["recall"] >= (0.85 if half == "tuned on" else 0.6)
