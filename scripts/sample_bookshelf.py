"""Write the images of the sample book; its prose is written by hand and stays as it is.

The pictures are computed with fixed seeds. Run from the repository root: python -m scripts.sample_bookshelf
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from scripts import sample_charts as chart
from scripts import sample_photographs as photo
from scripts import sample_pictures as pic
from scripts.sample_images import MAX_BYTES, Draw, encode, seeded
from sources.sample.bookshelf import BOOK_DIR


def liver_tests() -> Image.Image:
    """Enzyme and bilirubin as multiples of normal over twelve weeks: the enzyme rises first."""
    plot = chart.Plot((0, 12), (0, 14), "Weeks after the course", "Multiple of upper limit")
    plot.line([(0, 1), (1, 4), (2, 9), (3, 12), (4, 9), (6, 4), (9, 1.6), (12, 0.8)], "#1f4e9c", "ALT", True)
    bilirubin = [(0, 0.6), (2, 1.2), (3, 4), (4, 7.5), (5, 7), (7, 3.5), (9, 1.5), (12, 0.7)]
    return plot.line(bilirubin, "#c0392b", "bilirubin", True, row=1).im


def taper() -> Image.Image:
    """Enzyme over eighteen months with the six months of prednisone shaded."""
    plot = chart.Plot((0, 18), (0, 900), "Months", "ALT (U/L)")
    plot.d.rectangle((*plot.at(0.1, 900), *plot.at(6, 4)), fill="#e8eef8")
    course = [(0, 780), (0.5, 240), (1, 90), (2, 42), (4, 34), (6, 31), (9, 30), (12, 33), (18, 29)]
    return plot.line([(float(x), float(y)) for x, y in course], "#1f4e9c", "ALT", True).im


def scheme() -> Image.Image:
    """Weights of four criteria as bars."""
    plot = chart.Plot((0, 4), (0, 5), "", "Points")
    names = ("interval", "antibody", "histology", "withdrawal")
    return plot.bars(names, (2, 2, 3, 4), (0, 0, 0, 0), ("#9ecae1", "#6baed6", "#4292c6", "#2171b5")).im


PICTURES: dict[str, Draw] = {
    "Doravexin-F1.png": lambda _: liver_tests(),
    "Doravexin-F2.jpg": lambda rng: photo.histology(rng, "granuloma"),
    "Doravexin-F3.jpg": pic.ct_abdomen,
    "Pheno-F1.png": lambda _: taper(),
    "Pheno-F2.png": lambda _: scheme(),
}


def main() -> None:
    """Draw every picture; the seed is the file's name."""
    for name, draw in PICTURES.items():
        data = encode(draw(seeded(name)), Path(name).suffix)
        if len(data) > MAX_BYTES:
            raise SystemExit(f"{name}: {len(data)} bytes, limit {MAX_BYTES}: make it smaller")
        (BOOK_DIR / name).write_bytes(data)
        print(f"{name}: {len(data):,} bytes")


if __name__ == "__main__":
    main()
