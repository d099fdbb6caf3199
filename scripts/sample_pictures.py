"""Medical pictures for the embedded sample: radiographs, sections, ultrasound, and the tools to draw them.

Every picture is computed from ellipses, capsules and seeded noise: no patient and no third party is shown.
"""

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter, ImageFont

Rng = np.random.Generator
Field = NDArray[np.float64]  # grey picture, shape (height, width), 0 black .. 1 white


# --- drawing tools ------------------------------------------------------------------------------------
def grid(w: int, h: int) -> tuple[Field, Field]:
    """Coordinates x, y of each pixel; the shorter side spans -1 .. 1."""
    s = min(w, h)
    y, x = np.mgrid[0:h, 0:w].astype(float)
    return (2 * x - w) / s, (2 * y - h) / s


def blob(
    x: Field, y: Field, cx: float, cy: float, rx: float, ry: float, soft: float = 0.04, tilt: float = 0.0
) -> Field:
    """Ellipse with a soft edge, 1 inside and 0 outside; `tilt` in radians."""
    c, s = math.cos(tilt), math.sin(tilt)
    u, v = (x - cx) * c + (y - cy) * s, (y - cy) * c - (x - cx) * s
    r = np.sqrt((u / rx) ** 2 + (v / ry) ** 2)
    return np.asarray(1 / (1 + np.exp(np.clip((r - 1) / soft * min(rx, ry) / 0.3, -40, 40))))


def bar(
    x: Field, y: Field, a: tuple[float, float], b: tuple[float, float], r: float, soft: float = 0.012
) -> Field:
    """Capsule of radius `r` from point a to point b with a soft edge."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    t = np.clip(((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy + 1e-9), 0, 1)
    d = np.hypot(x - a[0] - t * dx, y - a[1] - t * dy)
    return np.asarray(1 / (1 + np.exp(np.clip((d - r) / soft, -40, 40))))


def clouds(rng: Rng, w: int, h: int, cell: int, octaves: int = 3) -> Field:
    """Smooth noise of mean 0 and standard deviation 1; the coarsest grain is `cell` pixels."""
    out = np.zeros((h, w))
    for k in range(octaves):
        n = max(2, cell >> k)
        small = Image.fromarray(rng.normal(size=(h // n + 2, w // n + 2)).astype(np.float32))
        out += np.asarray(small.resize((w, h), Image.Resampling.BICUBIC), dtype=float) / (k + 1)
    return np.asarray((out - out.mean()) / (out.std() + 1e-9))


def grey(f: Field) -> Image.Image:
    """Grey RGB picture of a field, clipped to 0 .. 1."""
    return Image.fromarray((np.clip(f, 0, 1) * 255).astype(np.uint8)).convert("RGB")


def tint(f: Field, low: Sequence[int], high: Sequence[int]) -> Image.Image:
    """Map 0 .. 1 onto the straight line between two RGB colours."""
    lo, hi = np.array(low, dtype=float), np.array(high, dtype=float)
    return Image.fromarray((lo + np.clip(f, 0, 1)[..., None] * (hi - lo)).astype(np.uint8))


def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The font that ships inside Pillow, so that bytes do not depend on the machine."""
    return ImageFont.load_default(size)


def text(
    d: ImageDraw.ImageDraw,
    at: tuple[float, float],
    s: str,
    size: int = 16,
    fill: str = "black",
    anchor: str = "lt",
) -> None:
    """Write a string; `anchor` as in Pillow."""
    d.text(at, s, fill=fill, anchor=anchor, font=font(size))


def arrow(im: Image.Image, tip: tuple[int, int], tail: tuple[int, int], colour: str = "white") -> None:
    """Draw an arrow from tail to tip, in pixels."""
    d = ImageDraw.Draw(im)
    ang = math.atan2(tail[1] - tip[1], tail[0] - tip[0])
    d.line([tip, tail], fill=colour, width=4)
    d.polygon(
        [tip] + [(tip[0] + 16 * math.cos(ang + k), tip[1] + 16 * math.sin(ang + k)) for k in (-0.45, 0.45)],
        fill=colour,
    )


def panels(ims: Sequence[Image.Image], letters: str, cols: int, size: tuple[int, int]) -> Image.Image:
    """Multi-panel figure on white with a letter in the upper left corner of each panel."""
    (w, h), gap = size, 8
    rows = -(-len(ims) // cols)
    out = Image.new("RGB", (cols * w + (cols - 1) * gap, rows * h + (rows - 1) * gap), "white")
    for i, (im, letter) in enumerate(zip(ims, letters, strict=True)):
        im = im.resize(size, Image.Resampling.LANCZOS)
        d = ImageDraw.Draw(im)
        d.rectangle((6, 6, 36, 38), fill="white")
        text(d, (21, 22), letter, 24, anchor="mm")
        out.paste(im, ((i % cols) * (w + gap), (i // cols) * (h + gap)))
    return out


# --- radiographs --------------------------------------------------------------------------------------
def ribs(x: Field, y: Field) -> Field:
    """Brightness of nine pairs of ribs: posterior parts run down and outwards, anterior ones inwards."""
    f = np.zeros_like(x)
    for i in range(9):
        for side in (-1, 1):
            u = np.abs(x - side * 0.08)
            back = y - (-0.82 + 0.19 * i + 0.30 * u**2 - 0.05 * u)
            front = y - (-0.62 + 0.21 * i - 0.42 * (u - 0.1))
            half = (side * x > 0.05) * blob(x, y, 0, 0.05, 0.9, 1.05, 0.03)
            f += half * 0.11 * np.exp(-((back / 0.028) ** 2))
            f += half * 0.05 * np.exp(-((front / 0.03) ** 2)) * (u > 0.35)
    return f


PATIENTS = {
    "normal": (0.0, 1.0, 1.0, 0.0, 0.0),
    "hila": (-0.07, 0.9, 1.05, 0.05, 0.06),
    "opacities": (0.05, 1.1, 0.94, -0.04, -0.08),
    "cavity": (0.1, 0.98, 1.16, 0.07, 0.1),
}
"""Tilt in radians, width, height, and shift of each patient: two people's films are two pictures."""


def build(
    x: Field, y: Field, tilt: float, wide: float, high: float, right: float, down: float
) -> tuple[Field, Field]:
    """The grid as one patient's body fills it."""
    u, v = x - right, y - down
    return (
        (u * np.cos(tilt) + v * np.sin(tilt)) / wide,
        (v * np.cos(tilt) - u * np.sin(tilt)) / high,
    )


def chest(rng: Rng, kind: str = "normal") -> Image.Image:
    """Posteroanterior chest radiograph; kind: hila, opacities or cavity."""
    w, h = 560, 600
    x, y = build(*grid(w, h), *PATIENTS[kind])
    f = 0.05 + 0.62 * blob(x, y, 0, 0.25, 0.97, 1.25, 0.05) + 0.1 * blob(x, y, 0, -0.95, 0.22, 0.3)
    lungs = np.maximum(
        blob(x, y, -0.47, 0.0, 0.36, 0.72, 0.03, 0.12), blob(x, y, 0.47, 0.0, 0.36, 0.72, 0.03, -0.12)
    )
    dome = np.maximum(blob(x, y, -0.48, 0.98, 0.5, 0.46), blob(x, y, 0.5, 1.03, 0.5, 0.46))
    lungs = lungs * (1 - dome)
    f -= 0.47 * lungs
    f += ribs(x, y)
    for side in (-1, 1):
        f += 0.16 * bar(x, y, (side * 0.08, -0.70), (side * 0.75, -0.86), 0.035)
    f += 0.16 * np.exp(-((x / 0.10) ** 4)) * (0.9 + 0.1 * np.sin(y * 42))
    f += 0.30 * blob(x, y, 0.14, 0.42, 0.38, 0.34, 0.05, 0.5) + 0.12 * blob(x, y, 0.0, -0.15, 0.17, 0.5)
    f -= 0.10 * bar(x, y, (0, -1.0), (0.0, -0.3), 0.045)
    marks = clouds(rng, w, h, 26, 3)
    f += lungs * 0.035 * marks + lungs * 0.13 * np.exp(-((np.hypot(np.abs(x) - 0.2, y - 0.02) / 0.22) ** 2))
    if kind == "hila":
        for side in (-1, 1):
            for cx, cy, r in ((0.27, -0.08, 0.12), (0.31, 0.06, 0.13), (0.25, 0.18, 0.10)):
                f += 0.22 * blob(x, y, side * cx, cy, r, r * 1.1, 0.03)
    spots = {"opacities": ((-0.5, 0.05, 0.2), (-0.42, 0.3, 0.14), (0.5, 0.1, 0.19), (0.6, -0.14, 0.12))}.get(
        kind, ()
    )
    for cx, cy, r in spots:
        f += 0.27 * blob(x + 0.03 * marks, y + 0.03 * clouds(rng, w, h, 40, 2), cx, cy, r, r, 0.12)
    if kind == "cavity":
        f += 0.3 * (blob(x, y, -0.44, -0.42, 0.19, 0.17) - 1.05 * blob(x, y, -0.44, -0.43, 0.13, 0.11))
    im = grey(f + rng.normal(0, 0.012, f.shape)).filter(ImageFilter.GaussianBlur(0.8))
    text(ImageDraw.Draw(im), (24, 24), "R", 30, "white")
    return im


DIGITS = (  # knuckle x, y, tip x, y, width; little finger first
    (-0.36, 0.24, -0.50, -0.56, 0.9),
    (-0.14, 0.16, -0.17, -0.92, 1.0),
    (0.08, 0.16, 0.14, -1.04, 1.05),
    (0.28, 0.22, 0.42, -0.86, 0.95),
    (0.36, 0.62, 0.84, 0.02, 1.1),
)
CARPALS = ((-0.2, 0.86), (-0.06, 0.84), (0.08, 0.86), (0.2, 0.92), (-0.17, 1.0), (-0.03, 0.99), (0.12, 1.02))


def digit(x: Field, y: Field, k: int, lesion: bool) -> Field:
    """Metacarpal and phalanges of digit k; `lesion` replaces the proximal phalanx by a thin bright shell."""
    kx, ky, tx, ty, wide = DIGITS[k]
    cuts = (0.0, 0.46, 0.76, 1.0) if k < 4 else (0.0, 0.55, 1.0)
    joints = [(0.45 * kx, 0.78 + 0.1 * (k == 4))] + [(kx + a * (tx - kx), ky + a * (ty - ky)) for a in cuts]
    bone = np.zeros_like(x)
    for n, (p, q) in enumerate(itertools.pairwise(joints)):
        dx, dy = q[0] - p[0], q[1] - p[1]
        p, q = (p[0] + 0.14 * dx, p[1] + 0.14 * dy), (q[0] - 0.14 * dx, q[1] - 0.14 * dy)
        r = (0.058, 0.05, 0.042, 0.034)[n] * wide
        ends = np.maximum(bar(x, y, p, p, r * 1.28), bar(x, y, q, q, r * 1.22))
        outer = np.maximum(bar(x, y, p, q, r), ends)
        bone = np.maximum(bone, outer * (1 - 0.42 * bar(x, y, p, q, r * 0.5, 0.02)))
        if lesion and n == 1:
            mid = (p[0] + 0.45 * (q[0] - p[0]), p[1] + 0.45 * (q[1] - p[1]))
            shell = blob(x, y, *mid, 0.125, 0.17, 0.02)
            cyst = 0.85 * shell - 0.62 * blob(x, y, *mid, 0.105, 0.148, 0.02)
            bone = np.maximum(bone * (1 - shell), cyst)
    return bone


def hand(rng: Rng) -> Image.Image:
    """Radiograph of a left hand with an expansile lytic area in the ring finger."""
    w, h = 520, 680
    x, y = grid(w, h)
    soft = np.maximum(blob(x, y, 0.03, 0.52, 0.41, 0.46), bar(x, y, (0, 0.8), (0, 1.4), 0.29))
    bone = np.maximum(bar(x, y, (0.1, 1.2), (0.1, 1.5), 0.15), bar(x, y, (-0.17, 1.2), (-0.17, 1.5), 0.08))
    for k, (kx, ky, tx, ty, wide) in enumerate(DIGITS):
        soft = np.maximum(soft, bar(x, y, (kx, ky), (tx, ty), 0.105 * wide, 0.02))
        bone = np.maximum(bone, digit(x, y, k, lesion=k == 1))
    for cx, cy in CARPALS:
        bone = np.maximum(bone, 0.85 * blob(x, y, cx, cy, 0.085, 0.08, 0.02))
    f = 0.04 + 0.25 * soft + bone * (0.56 + 0.03 * clouds(rng, w, h, 8, 2)) + rng.normal(0, 0.012, (h, w))
    im = grey(f).filter(ImageFilter.GaussianBlur(0.8))
    arrow(im, (164, 322), (92, 300))
    text(ImageDraw.Draw(im), (24, 24), "L", 30, "white")
    return im


# --- sections and ultrasound --------------------------------------------------------------------------
def brain(rng: Rng, kind: str, oedema: bool = True, low: bool = False) -> Image.Image:
    """Axial brain slice; kind flair, dwi or adc; `low` is the level of the basal ganglia."""
    w = h = 460
    x, y = grid(w, h)
    head, inner, tissue = (blob(x, y, 0, 0, r, r * 1.16, 0.015) for r in (0.80, 0.74, 0.67))
    folds = np.sin(9 * clouds(rng, w, h, 70, 1) + 14 * np.hypot(x, y))
    rim = tissue - blob(x, y, 0, 0, 0.52, 0.62, 0.1)
    f = 0.42 * tissue + 0.10 * rim - 0.16 * rim * (folds > 0.72) + 0.02 * clouds(rng, w, h, 12, 2) * tissue
    f -= 0.25 * tissue * np.exp(-((x / 0.012) ** 2)) * (np.abs(y) > 0.3)
    for s in (-1, 1):
        f -= 0.36 * bar(x, y, (s * 0.07, -0.22), (s * 0.13, 0.18), 0.035 if low else 0.06)
        if low:
            f += 0.10 * blob(x, y, s * 0.22, 0.0, 0.09, 0.2) + 0.06 * blob(x, y, s * 0.12, 0.12, 0.07, 0.1)
        if oedema:
            patch = blob(
                x + 0.05 * clouds(rng, w, h, 50, 2),
                y + 0.04 * clouds(rng, w, h, 50, 2),
                s * 0.27,
                0.5,
                0.18,
                0.16,
                0.06,
            )
            f += {"flair": 0.42, "dwi": 0.04, "adc": 0.38}[kind] * patch * tissue
    if kind == "adc":
        f = np.where(tissue > 0.5, f + 0.75 * (f < 0.15), 0)
    scalp = (head - inner) * {"flair": 0.55, "dwi": 0.12, "adc": 0.0}[kind]
    im = grey(f + scalp + rng.normal(0, 0.02, f.shape))
    return im.filter(ImageFilter.GaussianBlur({"flair": 0.7}.get(kind, 2.2)))


def heart_mr(rng: Rng, pet: float | None = None) -> Image.Image:
    """Short-axis late enhancement slice; with `pet` (0 .. 1) the septal uptake is fused in hot colours."""
    w = h = 420
    x, y = grid(w, h)
    lv = blob(x, y, 0.12, 0.05, 0.44, 0.44, 0.02) - blob(x, y, 0.12, 0.05, 0.27, 0.27, 0.02)
    pool = blob(x, y, 0.12, 0.05, 0.27, 0.27, 0.02)
    rv = blob(x, y, -0.32, 0.05, 0.34, 0.46, 0.02) * (1 - blob(x, y, 0.12, 0.05, 0.46, 0.46, 0.02))
    septum = np.exp(-(((np.hypot(x - 0.12, y - 0.05) - 0.355) / 0.045) ** 2)) * np.exp(
        -((np.arctan2(y - 0.05, -(x - 0.12)) / 0.62) ** 2)
    )
    f = 0.30 + 0.10 * clouds(rng, w, h, 60, 3) * (1 - lv) - 0.22 * lv + 0.32 * pool + 0.30 * rv
    f += 0.45 * (1 - blob(x, y, 0, 0, 0.88, 0.86, 0.02)) * blob(x, y, 0, 0, 0.98, 0.97) - 0.25 * blob(
        x, y, 0.75, -0.3, 0.2, 0.5
    )
    if pet is None:
        return grey(f + 0.72 * septum + rng.normal(0, 0.025, f.shape)).filter(ImageFilter.GaussianBlur(0.8))
    wide = np.clip(pet * septum * 1.5, 0, 1)
    wide = np.asarray(grey(wide).filter(ImageFilter.GaussianBlur(9)), dtype=float)[..., 0] / 255
    wide = np.clip(1.6 * wide + 0.10 * pool, 0, 1)
    base = np.asarray(grey(0.6 * f), dtype=float) / 255
    hot = np.stack([np.clip(3 * wide, 0, 1), np.clip(3 * wide - 1, 0, 1), np.clip(3 * wide - 2, 0, 1)], -1)
    return Image.fromarray((np.clip(base * (1 - wide[..., None]) + hot, 0, 1) * 255).astype(np.uint8))


def ct_chest(rng: Rng, level: str) -> Image.Image:
    """Axial lung-window slice with the galaxy sign; level: upper or carina."""
    w, h = 520, 400
    x, y = grid(w, h)
    f = 0.72 * blob(x, y, 0, 0, 1.16, 0.86, 0.02)
    lungs = np.maximum(
        blob(x, y, -0.56, 0.0, 0.44, 0.66, 0.02, 0.1), blob(x, y, 0.56, 0.0, 0.44, 0.66, 0.02, -0.1)
    )
    f -= 0.62 * lungs
    f += 0.25 * blob(x, y, 0, 0.52, 0.15, 0.14, 0.02) + 0.25 * bar(x, y, (0, 0.62), (0, 0.8), 0.05)
    for s in (-1, 1):
        f -= 0.7 * bar(x, y, (s * 0.09, 0.1), (s * 0.09, 0.1), 0.06) * (level == "carina")
        for a in np.linspace(-1.1, 1.2, 7):
            f += 0.25 * blob(x, y, s * 1.07 * math.cos(a), 0.78 * math.sin(a), 0.05, 0.05)
    f -= 0.7 * blob(x, y, 0, 0.05, 0.09, 0.1, 0.02) * (level == "upper")
    centres = (
        ((-0.55, -0.12, 0.17), (0.6, 0.08, 0.19), (0.45, -0.35, 0.1))
        if level == "upper"
        else ((0.66, 0.2, 0.15), (-0.7, 0.25, 0.1))
    )
    dots = [
        (cx + r * rng.normal(0, 0.9), cy + r * rng.normal(0, 0.9), 0.012 + 0.012 * rng.random())
        for cx, cy, r in centres
        for _ in range(60)
    ]
    dots += [
        (s * (0.25 + 0.6 * t), 0.3 - 0.45 * t + rng.normal(0, 0.012), 0.014)
        for s in (-1, 1)
        for t in rng.random(14)
    ] * (level == "carina")
    dots += [
        (s * rng.uniform(0.2, 0.9), rng.uniform(-0.5, 0.5), rng.uniform(0.006, 0.016))
        for s in (-1, 1)
        for _ in range(60)
    ]
    for cx, cy, r in dots:
        f += 0.42 * blob(x, y, cx, cy, r, r, 0.006) * lungs
    for cx, cy, r in centres:
        f += 0.55 * blob(x + 0.02 * clouds(rng, w, h, 24, 2), y, cx, cy, r, r, 0.06) * lungs
    return grey(np.minimum(f, 0.92) + rng.normal(0, 0.02, f.shape)).filter(ImageFilter.GaussianBlur(0.6))


def ct_abdomen(rng: Rng) -> Image.Image:
    """Axial contrast-enhanced slice with a large spleen and collateral veins."""
    w, h = 600, 460
    x, y = grid(w, h)
    f = 0.22 * blob(x, y, 0, 0, 1.2, 0.9, 0.015) + 0.10 * blob(x, y, 0, 0.02, 1.1, 0.8, 0.015)
    liver = blob(x, y, -0.58, -0.05, 0.46, 0.6, 0.02, 0.25) + 0.9 * blob(x, y, -0.1, -0.42, 0.36, 0.2, 0.03)
    spleen = blob(x, y, 0.68, 0.16, 0.34, 0.52, 0.02, -0.35)
    f += 0.24 * np.clip(liver, 0, 1) + 0.30 * spleen + 0.03 * clouds(rng, w, h, 30, 3) * (x > -1)
    f -= 0.12 * blob(x, y, 0.34, -0.38, 0.26, 0.2, 0.03) + 0.25 * blob(x, y, 0.36, -0.5, 0.16, 0.07, 0.02)
    f += (
        0.55 * blob(x, y, 0, 0.46, 0.17, 0.15, 0.02)
        + 0.45 * bar(x, y, (0, 0.6), (0, 0.76), 0.05)
        + 0.55 * blob(x, y, 0.08, 0.2, 0.08, 0.08, 0.02)
    )
    f += 0.35 * blob(x, y, -0.12, 0.16, 0.08, 0.06, 0.02)
    for _ in range(12):
        cx, cy = 0.3 + rng.normal(0, 0.06), 0.05 + rng.normal(0, 0.13)
        f += 0.32 * bar(x, y, (cx, cy), (cx + rng.normal(0, 0.05), cy + rng.normal(0, 0.05)), 0.026)
    for a in np.linspace(0, 2 * math.pi, 16):
        f += (
            0.5
            * blob(x, y, 1.1 * math.cos(a), 0.8 * math.sin(a), 0.06, 0.03, 0.03, a + 1.6)
            * (abs(math.sin(a)) < 0.85)
        )
    return grey(np.minimum(f, 0.98) + rng.normal(0, 0.035, f.shape)).filter(ImageFilter.GaussianBlur(0.8))


def fan(rng: Rng, kind: str) -> Image.Image:
    """Sector ultrasound; kind: spleen, pelvis or echo."""
    w, h = 560, 460
    x, y = grid(w, h)
    r, a = np.hypot(x, y + 1.12), np.arctan2(x, y + 1.12)
    sector = (np.abs(a) < 0.72) * (r > 0.26) * (r < 2.02)
    f = 0.30 + 0.10 * np.sin(13 * r) * np.exp(-r) + 0.07 * clouds(rng, w, h, 60, 3)
    if kind == "spleen":
        body = blob(x, y, 0.02, 0.05, 0.72, 0.50, 0.03, -0.2)
        f += 0.16 * body + 0.5 * np.exp(
            -(((blob(x, y, 0.02, 0.05, 0.75, 0.53, 0.03, -0.2) - 0.5) / 0.2) ** 2)
        ) * (y > 0.1)
        f -= 0.3 * bar(x, y, (0.12, 0.3), (0.3, 0.42), 0.05)
    elif kind == "pelvis":
        f += (
            0.12 * blob(x, y, -0.05, 0.1, 0.6, 0.42)
            - 0.28 * blob(x, y, -0.4, -0.3, 0.3, 0.16)
            - 0.3 * blob(x, y, 0.05, 0.1, 0.26, 0.16)
        )
        f += 0.3 * blob(x, y, 0.08, 0.12, 0.1, 0.06)
    else:
        for cx, cy, rx, ry in ((0.1, 0.16, 0.56, 0.32), (-0.22, -0.3, 0.34, 0.12), (-0.56, 0.25, 0.22, 0.22)):
            f += 0.34 * (
                blob(x, y, cx, cy, rx + 0.07, ry + 0.07, 0.02) - 1.75 * blob(x, y, cx, cy, rx, ry, 0.03)
            )
        f += 0.5 * bar(x, y, (-0.42, 0.02), (-0.25, 0.22), 0.02)
    speckle = rng.gamma(2.2, 1 / 2.2, (h, w)) ** 0.8
    im = grey(np.clip(f, 0.02, 1) * speckle * sector).filter(ImageFilter.GaussianBlur(1.1))
    d = ImageDraw.Draw(im)
    if kind == "spleen":
        d.rectangle((190, 190, 300, 270), outline="#66ccff", width=3)
    if kind == "pelvis":
        for dy in (-14, 14):
            d.line([(250, 330 + dy), (330, 330 + dy)], fill="yellow", width=3)
    return im


def neck(rng: Rng) -> Image.Image:
    """Linear transverse ultrasound of the neck with a hypoechoic nodule behind the thyroid lobe."""
    w, h = 440, 360
    x, y = grid(w, h)
    f = (
        0.34
        + 0.07 * clouds(rng, w, h, 70, 3)
        + 0.22 * np.exp(-(((y + 0.62 - 0.1 * x * x) / 0.05) ** 2))
        - 0.15 * (y < -0.66) * (y > -0.9)
    )
    f += (
        0.18 * blob(x, y, -0.1, -0.2, 0.5, 0.32, 0.04)
        + 0.25 * blob(x, y, -0.98, -0.05, 0.3, 0.4)
        - 0.4 * blob(x, y, -1.02, 0.1, 0.24, 0.4)
    )
    f -= 0.5 * blob(x, y, 0.72, -0.1, 0.21, 0.21, 0.02)
    f += 0.3 * blob(x, y, 0.0, 0.34, 0.40, 0.20, 0.03) - 0.55 * blob(x, y, 0.0, 0.34, 0.36, 0.16, 0.03)
    im = grey(np.clip(f, 0.02, 1) * rng.gamma(2.5, 0.4, (h, w))).filter(ImageFilter.GaussianBlur(1.2))
    d = ImageDraw.Draw(im)
    for px in (154, 287):
        text(d, (px, 241), "+", 28, "yellow", "mm")
    return im.convert("L")
