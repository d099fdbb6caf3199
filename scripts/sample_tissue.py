"""Stained tissue and a signal for the case reports of the embedded sample.

Every picture is computed from ellipses, capsules and seeded noise: no patient and no third party is shown.
Where two articles show the same organ, the section, the window and the build of the patient differ.
"""

import itertools
import math

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from scripts.sample_photographs import cell
from scripts.sample_pictures import Rng, clouds, text, tint

# --- tissue -------------------------------------------------------------------------------------------
TISSUE = {  # stroma colour, colour of nuclei, radius of a nucleus, distance
    "ileum": ((236, 186, 206), (88, 60, 140), 4.0, 15),
    "woven": ((244, 206, 214), (96, 48, 116), 4.6, 24),
    "palisade": ((230, 176, 214), (70, 44, 128), 4.4, 17),
    "papillae": ((250, 236, 240), (104, 56, 138), 4.0, 26),
}


def tissue(rng: Rng, kind: str) -> Image.Image:
    """Haematoxylin and eosin field: ileum with a granuloma, woven bone, palisades, or papillae."""
    w, h = 480, 380
    stroma, nucleus, radius, step = TISSUE[kind]
    im = tint(
        0.5 + 0.2 * clouds(rng, w, h, 26, 3), [c - 26 for c in stroma], [min(255, c + 10) for c in stroma]
    )
    d = ImageDraw.Draw(im)
    if kind != "papillae":
        for gy, gx in itertools.product(range(0, h, step), range(0, w, step)):
            skew = 10 * math.sin(gy / 34) if kind == "palisade" else rng.normal(0, 4)
            if kind != "palisade" or (gy // step) % 5 < 2:
                cell(d, rng, gx + skew, gy + rng.normal(0, 3), radius + rng.normal(0, 0.5), nucleus)
    LAYERS[kind](d, rng, w, h)
    return im.filter(ImageFilter.GaussianBlur(0.9))


def granuloma(d: ImageDraw.ImageDraw, rng: Rng, w: int, h: int) -> None:
    """A pale round group of large cells and a dark follicle."""
    d.ellipse((70, 90, 250, 260), fill=(240, 204, 214))
    for _ in range(60):
        a, r = rng.uniform(0, 6.3), 84 * math.sqrt(rng.random())
        cell(d, rng, 160 + r * math.cos(a), 175 + r * math.sin(a), 5.5, (150, 110, 176))
    for _ in range(420):
        a, r = rng.uniform(0, 6.3), 92 * math.sqrt(rng.random())
        cell(d, rng, 380 + r * math.cos(a), 120 + r * math.sin(a), 4.2, (70, 44, 124))


def trabeculae(d: ImageDraw.ImageDraw, rng: Rng, w: int, h: int) -> None:
    """A mesh of pink bars rimmed by cells."""
    for _ in range(26):
        x, y, a, length = rng.uniform(0, w), rng.uniform(0, h), rng.uniform(0, 3.1), rng.uniform(50, 120)
        tip = (x + length * math.cos(a), y + length * math.sin(a))
        d.line([(x, y), tip], fill=(214, 92, 128), width=int(rng.uniform(12, 22)))
        for t in np.linspace(0, 1, int(length / 11)):
            for side in (-14, 14):
                px, py = x + t * (tip[0] - x) - side * math.sin(a), y + t * (tip[1] - y) + side * math.cos(a)
                cell(d, rng, px, py, 4.5, (86, 50, 122))


def vessels(d: ImageDraw.ImageDraw, rng: Rng, w: int, h: int) -> None:
    """Two vessels with thick, glassy walls."""
    for cx, cy, r in ((120, 110, 44), (350, 250, 58)):
        d.ellipse((cx - r, cy - r, cx + r, cy + r), fill=(236, 150, 180))
        d.ellipse((cx - r // 2, cy - r // 2, cx + r // 2, cy + r // 2), fill=(250, 240, 244))


def fronds(d: ImageDraw.ImageDraw, rng: Rng, w: int, h: int) -> None:
    """Fingers of tissue in one layer of cells, foamy inside."""
    for k in range(6):
        cx, cy, a = 40 + 82 * k + rng.normal(0, 8), rng.uniform(90, 290), rng.uniform(1.2, 1.9)
        for t in np.linspace(-95, 95, 26):
            px, py = cx + t * math.cos(a) + 12 * math.sin(t / 26), cy + t * math.sin(a)
            d.ellipse((px - 19, py - 19, px + 19, py + 19), fill=(244, 216, 220))
            for side in (-21, 21):
                cell(d, rng, px + side, py + rng.normal(0, 2), 4.3, (104, 56, 138))
        for t in np.linspace(-80, 80, 14):
            px, py = cx + t * math.cos(a), cy + t * math.sin(a)
            d.ellipse((px - 7, py - 7, px + 7, py + 7), fill=(252, 246, 242))


LAYERS = {"ileum": granuloma, "woven": trabeculae, "palisade": vessels, "papillae": fronds}


# --- signals ------------------------------------------------------------------------------------------
def deep_t_waves(rng: Rng) -> Image.Image:
    """Six leads on pink paper with deep, symmetrical negative T waves and a long QT interval."""
    w, h = 760, 420
    im = Image.new("RGB", (w, h), (255, 240, 240))
    d = ImageDraw.Draw(im)
    for k in range(0, max(w, h), 10):
        colour = (240, 170, 170) if k % 50 == 0 else (250, 215, 215)
        d.line([(k, 0), (k, h)], fill=colour)
        d.line([(0, k), (w, k)], fill=colour)
    t = np.arange(w)
    for n, depth in enumerate((6, 26, 44, 52, 40, 22)):
        base = 45 + 66 * n
        beat = (t + 3 * n) % 150
        v = 6 * np.exp(-(((beat - 22) / 7) ** 2)) + (30 - 2 * n) * np.exp(-(((beat - 45) / 3) ** 2))
        v -= depth * np.exp(-(((beat - 100) / 17) ** 2)) * 0.7
        points = [(int(a), float(base - b)) for a, b in zip(t, v + rng.normal(0, 0.4, w), strict=True)]
        d.line(points, fill=(20, 20, 60), width=2)
        text(d, (6, base - 30), f"V{n + 1}", 15, "black")
    return im
