"""Panels found in the shared images, against one developer's marks, and in generated compounds.

A predicted panel is right when its IoU with the marked panel of the same letter is at least .75.
Thresholds were set on the articles of TUNED; the others were only scored (HELD_OUT_RUNS times since LATER
joined them). Whole images are asked for panels they do not have. Regular grids and odd shapes
(benchmarks.odd_panels) are generated, from other seeds than those that were looked at.
"""

from __future__ import annotations

import argparse
import collections
import io
import json
import random
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from benchmarks.measure import ROOT, SHARED, save
from curation.images.decode import open_image
from curation.images.panels import Box, find_panels

GOLD = ROOT / "tests" / "gold" / "panels.json"
LATER = "10.1101_2020.04.07.030213"
"""Held out until its misses were looked at: a second result leaves it with the others."""
TUNED = frozenset(
    {"10.7554_eLife.46793", "10.1371_journal.pone.0091296", "10.7554_eLife.00353", "psychologia", LATER}
)
HELD_OUT_RUNS = 5
LETTERS = "ABCDEFGHIJKL"
_MIN_IOU = 0.75
_GRIDS = ((1, 2), (2, 1), (1, 3), (2, 2), (2, 3), (3, 2), (3, 3), (3, 4))
_CONTENTS = ("photo", "chart", "mixed")


@dataclass(frozen=True, slots=True)
class Compound:
    """A generated image, the letters its caption would name, and its panels ([] when it has none)."""

    image: Image.Image
    letters: tuple[str, ...]
    panels: tuple[Box, ...]
    style: str


def iou(one: Box, other: Box) -> float:
    """Intersection over union of two boxes."""
    width = min(one.right, other.right) - max(one.left, other.left)
    height = min(one.bottom, other.bottom) - max(one.top, other.top)
    common = max(width, 0) * max(height, 0)
    return common / (_area(one) + _area(other) - common)


def _area(box: Box) -> int:
    return (box.right - box.left) * (box.bottom - box.top)


def right_of(found: Sequence[Box], gold: Sequence[Box]) -> int:
    """How many predicted panels are right."""
    known = {box.letter: box for box in gold}
    return sum(box.letter in known and iou(box, known[box.letter]) >= _MIN_IOU for box in found)


def tally(pairs: Iterable[tuple[Sequence[Box], Sequence[Box]]]) -> dict[str, Any]:
    """Precision over predicted and recall over marked panels; (found, marked) of each image."""
    counts: collections.Counter[str] = collections.Counter()
    for found, gold in pairs:
        right = right_of(found, gold)
        counts.update(images=1, compounds=bool(gold), split=bool(found))
        counts.update(panels=len(gold), predicted=len(found), right=right)
    precision = round(counts["right"] / counts["predicted"], 3) if counts["predicted"] else None
    recall = round(counts["right"] / counts["panels"], 3) if counts["panels"] else None
    return {**counts, "precision": precision, "recall": recall}


def gold_boxes(entry: Mapping[str, Any]) -> tuple[Box, ...]:
    """The marked panels of one image."""
    return tuple(Box(**panel) for panel in entry["panels"])


def load(entry: Mapping[str, Any], shared: Path) -> Image.Image:
    """The marked image itself."""
    book = shared / "openstax" / entry["source"] / "media" / entry["file"]
    path = book if book.exists() else shared / "jats-with-images" / entry["source"] / entry["file"]
    opened = open_image(path)
    if opened.sha256 != entry["sha256"]:
        raise SystemExit(f"{entry['file']} is not the image that was marked")
    return opened.image


def asked(entry: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Letters to ask an image for; a whole one is asked for 2, 3, 4 and 6 panels it does not have."""
    if entry["panels"]:
        return [tuple(entry["letters"])]
    return [tuple(LETTERS[:count]) for count in (2, 3, 4, 6)]


def score(shared: Path) -> list[dict[str, Any]]:
    """One row per marked image: boxes found and boxes marked."""
    rows = []
    for entry in json.loads(GOLD.read_text("utf-8"))["images"]:
        image, gold = load(entry, shared), gold_boxes(entry)
        started = time.process_time()
        found = [find_panels(image, letters) for letters in asked(entry)]
        taken = (time.process_time() - started) / len(found)
        rows.append({**entry, "found": found, "gold": gold, "seconds": taken})
    return rows


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Tally of compounds and whole images together."""
    return tally((found, row["gold"]) for row in rows for found in row["found"])


def compound(seed: int) -> Compound:
    """One generated figure; the same for the same seed."""
    rng = random.Random(seed)
    rows, columns = rng.choice(_GRIDS)
    content, label = rng.choice(_CONTENTS), rng.choice(("outside", "inside", "none", "bracket"))
    gutter = rng.choice((0, 2, 4, 8, 14, 20))
    dark = content == "photo" and rng.random() < 0.25
    widths = _sides(rng, columns, 900)
    heights = _sides(rng, rows, 700)
    room = 34 if label in {"outside", "bracket"} else 0
    size = (sum(widths) + gutter * (columns - 1), sum(heights) + (gutter + room) * rows)
    image = Image.new("RGB", size, "black" if dark else "white")
    boxes = []
    y = 0
    for row in range(rows):
        x = 0
        for column in range(columns):
            letter = LETTERS[row * columns + column]
            drawn = _panel(rng, content, widths[column], heights[row])
            image.paste(drawn, (x, y + room))
            _label(image, letter, label, x, y, dark, inside=content == "photo")
            boxes.append(ink_box(image, letter, (x, y, x + widths[column], y + room + heights[row]), dark))
            x += widths[column] + gutter
        y += heights[row] + room + gutter
    packed = io.BytesIO()
    image.save(packed, "JPEG", quality=rng.choice((70, 85, 95)))
    return Compound(
        Image.open(packed).convert("RGB"),
        tuple(box.letter for box in boxes),
        tuple(boxes),
        f"{content} {label} gutter {gutter}",
    )


def _sides(rng: random.Random, count: int, total: int) -> list[int]:
    weights = [rng.uniform(0.7, 1.3) if rng.random() < 0.5 else 1.0 for _ in range(count)]
    return [round(total * weight / sum(weights)) for weight in weights]


def _panel(rng: random.Random, content: str, width: int, height: int) -> Image.Image:
    is_photo = content == "photo" or (content == "mixed" and rng.random() < 0.5)
    return photo(rng, width, height) if is_photo else chart(rng, width, height)


def photo(rng: random.Random, width: int, height: int) -> Image.Image:
    """Smoothed noise over a gradient: no uniform row or column, like tissue or a scan."""
    noise = np.random.default_rng(rng.randrange(2**32)).integers(30, 200, (height // 6 + 1, width // 6 + 1))
    image = Image.fromarray(noise.astype(np.uint8)).resize((width, height), Image.Resampling.BICUBIC)
    return image.filter(ImageFilter.GaussianBlur(1)).convert("RGB")


def chart(rng: random.Random, width: int, height: int) -> Image.Image:
    """Bars or points with axes, ticks and labels: wide white space inside."""
    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(11)
    left, bottom = 46, height - 36
    draw.line((left, 8, left, bottom, width - 8, bottom), fill="black", width=2)
    for tick in range(4):
        at = bottom - tick * (bottom - 14) // 4
        draw.text((left - 24, at - 7), str(10 * tick), fill="black", font=font)
    draw.text(((left + width) // 2 - 20, height - 16), "time (h)", fill="black", font=font)
    draw.text((4, height // 2), "n", fill="black", font=font)
    count = rng.randint(2, 5)
    step = (width - left - 20) / count
    for number in range(count):
        x, top = left + 14 + step * number, bottom - rng.uniform(0.2, 0.9) * (bottom - 14)
        draw.rectangle((x, top, x + step * 0.45, bottom), fill=rng.choice(("#335577", "#aa3333", "#888888")))
        draw.text((x, bottom + 4), f"g{number}", fill="black", font=font)
    return image


def _label(image: Image.Image, letter: str, label: str, x: int, y: int, dark: bool, *, inside: bool) -> None:
    if label == "none" or (label == "inside" and not inside):
        return
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(24)
    if label == "inside":
        draw.rectangle((x + 6, y + 6, x + 34, y + 36), fill="white")
        draw.text((x + 11, y + 6), letter, fill="black", font=font, stroke_width=1)
    else:
        text = f"({letter.lower()})" if label == "bracket" else letter
        draw.text((x + 2, y + 1), text, fill="white" if dark else "black", font=font, stroke_width=1)


def ink_box(image: Image.Image, letter: str, place: tuple[int, int, int, int], dark: bool) -> Box:
    """What of a place is not background, as the box of a letter."""
    part = np.asarray(image.crop(place).convert("L")).astype(np.int16)
    ink = np.abs(part - (0 if dark else 255)) > 32
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    left, top = place[0], place[1]
    return Box(
        letter,
        left + int(columns[0]),
        top + int(rows[0]),
        left + int(columns[-1]) + 1,
        top + int(rows[-1]) + 1,
    )


def miscounted(compounds: Sequence[tuple[Image.Image, Sequence[str]]]) -> dict[str, Any]:
    """What is split, wrongly, when a compound is asked for one panel more or fewer than it has."""
    more = [find_panels(image, (*letters, chr(ord(letters[-1]) + 1))) for image, letters in compounds]
    fewer = [find_panels(image, letters[:-1]) for image, letters in compounds if len(letters) > 2]
    return {
        "one_more": {"images": len(more), "split": sum(bool(found) for found in more)},
        "one_fewer": {"images": len(fewer), "split": sum(bool(found) for found in fewer)},
    }


def marked_compounds(shared: Path) -> list[tuple[Image.Image, Sequence[str]]]:
    """The marked compounds and their letters."""
    entries = json.loads(GOLD.read_text("utf-8"))["images"]
    return [(load(entry, shared), entry["letters"]) for entry in entries if entry["panels"]]


def generated(count: int, first: int = 0) -> dict[str, Any]:
    """Tally of generated compounds, asked for their letters; every second one also for other counts."""
    made = [compound(seed) for seed in range(first, first + count)]
    fair = [(item, find_panels(item.image, item.letters)) for item in made]
    styles = sorted({item.style.rsplit(" gutter", 1)[0] for item in made})
    return {
        "asked_rightly": tally((found, item.panels) for item, found in fair),
        "asked_wrongly": miscounted([(item.image, item.letters) for item in made[::2]]),
        "by_style": {
            style: tally((found, item.panels) for item, found in fair if item.style.startswith(style))
            for style in styles
        },
    }


def odd(count: int, first: int) -> dict[str, Any]:
    """Tally of generated compounds of odd shapes, asked for their letters and for one more or fewer."""
    from benchmarks.odd_panels import odd_compound

    made = [odd_compound(seed) for seed in range(first, first + count)]
    return {
        "asked_rightly": tally((find_panels(item.image, item.letters), item.panels) for item in made),
        "asked_wrongly": miscounted([(item.image, item.letters) for item in made[::2]]),
    }


def main() -> None:
    """Score, print what went wrong, save."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=SHARED)
    options.add_argument("--count", type=int, default=240, help="generated compounds")
    options.add_argument(
        "--first", type=int, default=0, help="first seed; tune on others than those reported"
    )
    options.add_argument("--odd", type=int, default=160, help="generated compounds of odd shapes")
    options.add_argument("--explain", action="store_true", help="print every image of TUNED not wholly right")
    given = options.parse_args()
    rows = score(given.data)
    tuned = [row for row in rows if row["source"] in TUNED]
    speed = sorted(row["seconds"] for row in rows)
    result = {
        "gold": "one developer's reading",
        "tuned_on": summary(tuned),
        "held_out": summary([row for row in rows if row["source"] not in TUNED]),
        "held_out_with_later": summary([row for row in rows if row["source"] not in TUNED - {LATER}]),
        "held_out_runs": HELD_OUT_RUNS,
        "all": summary(rows),
        "marked_asked_wrongly": miscounted(marked_compounds(given.data)),
        "generated": generated(given.count, given.first),
        "odd": odd(given.odd, given.first + 1_000),
        "milliseconds": {"median": round(speed[len(speed) // 2] * 1e3, 1), "max": round(speed[-1] * 1e3, 1)},
    }
    if given.explain:
        for row in tuned:
            right = max(right_of(found, row["gold"]) for found in row["found"])
            predicted = max(len(found) for found in row["found"])
            if right < len(row["gold"]) or predicted > right:
                print(row["file"], len(row["gold"]), "marked", predicted, "predicted", right, "right")
    print(json.dumps(result, indent=1))
    print(save("panels", result))


if __name__ == "__main__":
    main()
