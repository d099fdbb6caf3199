"""Panels of compound images: generated figures, the marked shared figures, and what must stay whole."""

from __future__ import annotations

import json
import random

import pytest
from PIL import Image, ImageDraw

from benchmarks import panels as bench
from benchmarks.measure import SHARED
from curation.images.panels import Box, find_panels

needs_data = pytest.mark.skipif(not SHARED.exists(), reason="shared data absent")


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
    image = bench._chart(random.Random(3), 600, 400)
    for count in (2, 3, 4):
        assert find_panels(image, bench.LETTERS[:count]) == ()


def test_generated_compounds_are_split_rightly_or_not_at_all() -> None:
    made = [bench.compound(seed) for seed in range(1000, 1030)]
    found = [find_panels(item.image, item.letters) for item in made]
    result = bench.tally((boxes, item.panels) for boxes, item in zip(found, made, strict=True))
    assert result["precision"] >= 0.95
    assert result["recall"] >= 0.2
    assert found == [find_panels(item.image, item.letters) for item in made]


def test_one_panel_too_many_in_the_caption_splits_nothing() -> None:
    made = [bench.compound(seed) for seed in range(1000, 1015)]
    assert not any(
        find_panels(item.image, bench.LETTERS[: len(item.letters) + 1])
        for item in made[::2]
        if len(item.letters) < len(bench.LETTERS)
    )


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


@needs_data
@pytest.mark.parametrize("half", ["tuned on", "held out"])
def test_marked_figures_are_split_rightly_or_not_at_all(half: str) -> None:
    rows = [row for row in bench.score(SHARED) if (row["source"] in bench.TUNED) == (half == "tuned on")]
    result = bench.summary(rows)
    assert result["precision"] >= 0.95
    assert result["recall"] >= 0.3
