"""Photographs and micrographs for the embedded sample: skin, fundus, retina, tissue and blood.

Every picture is computed from ellipses, polygons and seeded noise: no patient and no third party is shown.
"""

import itertools
import math

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from scripts.sample_pictures import Field, Rng, arrow, bar, blob, clouds, grey, grid, tint

Layer = tuple[Field, tuple[float, float, float], float]  # mask, colour 0 .. 1, strength


def ulcer(x: Field, y: Field, wob: Field, heal: float) -> list[Layer]:
    """Halo, raised border, red base and new skin; `heal` from 0 (fresh) to 1 (scar)."""
    s = 0.52 - 0.2 * heal
    fresh, scar = 0.95 * max(0.0, 1 - 1.25 * heal), 2.0 * max(0.0, heal - 0.6)
    return [
        (blob(x + wob, y + wob, 0, 0, s + 0.16, s + 0.12, 0.12), (0.66, 0.36, 0.38), 0.8 - 0.35 * heal),
        (blob(x + wob, y - wob, 0, 0, s, s * 0.9, 0.03), (0.55, 0.22, 0.27), 0.9 - 0.5 * heal),
        (blob(x - wob, y + wob, 0, 0, s * 0.66, s * 0.6, 0.03), (0.62, 0.10, 0.10), fresh),
        (blob(x + wob, y, 0, 0, s * 0.8, s * 0.7, 0.05), (0.86, 0.68, 0.64), scar),
    ]


def nodule(x: Field, y: Field, wob: Field) -> list[Layer]:
    """Inflamed dome with a yellow crust and a dark centre."""
    return [
        (blob(x + wob, y + wob, 0, 0, 0.5, 0.46, 0.1), (0.70, 0.36, 0.36), 0.9),
        (blob(x - wob, y + wob, -0.02, 0, 0.26, 0.22, 0.04), (0.62, 0.47, 0.22), 0.95),
        (blob(x + 2 * wob, y, 0.02, 0.02, 0.13, 0.1, 0.04), (0.33, 0.20, 0.10), 0.9),
    ]


def scar(x: Field, y: Field, wob: Field) -> list[Layer]:
    """Pale line between the creases of a finger."""
    line = bar(x, y + 1.5 * wob, (-0.5, 0.1), (0.5, -0.05), 0.022, 0.012)
    creases = [bar(x, y, (-1.2, c), (1.2, c + 0.02), 0.008) for c in (-0.52, -0.44, 0.5)]
    return [(line, (0.90, 0.62, 0.60), 0.9)] + [(c, (0.60, 0.42, 0.34), 0.5) for c in creases]


def skin(rng: Rng, kind: str, heal: float = 0.0) -> Image.Image:
    """Photograph of skin; kind: ulcer (at the stage `heal`), nodule or scar."""
    w, h = 520, 420
    x, y = grid(w, h)
    base = 0.78 + 0.05 * clouds(rng, w, h, 120, 2) + 0.025 * clouds(rng, w, h, 5, 1) - 0.12 * y * y
    rgb = np.stack([base, base * 0.78, base * 0.66], -1)
    wob = 0.03 * clouds(rng, w, h, 60, 2)
    draw = {"ulcer": lambda: ulcer(x, y, wob, heal), "nodule": lambda: nodule(x, y, wob)}
    layers = draw.get(kind, lambda: scar(x, y, wob))()
    grain = 1 + 0.09 * clouds(rng, w, h, 10, 2)
    for mask, colour, strength in layers:
        a = (mask * strength)[..., None]
        rgb = rgb * (1 - a) + np.array(colour) * grain[..., None] * a
    bump: Field = np.stack([m for m, _, _ in layers]).sum(axis=0)
    gy, gx = np.gradient(bump)
    rgb *= 1 + 3.5 * np.clip(np.asarray(-gx - gy), -0.06, 0.06)[..., None]
    return Image.fromarray((np.clip(rgb, 0, 1) * 255).astype(np.uint8)).filter(ImageFilter.GaussianBlur(0.8))


def branch(
    d: ImageDraw.ImageDraw, rng: Rng, at: tuple[float, float], ang: float, width: float, bend: float
) -> None:
    """Draw one retinal vessel as a random walk that forks and thins."""
    x, y = at
    while width > 1.2:
        n = (x + 14 * math.cos(ang), y + 14 * math.sin(ang))
        d.line([(x, y), n], fill=(120, 18, 10), width=round(width))
        x, y = n
        ang += bend + rng.normal(0, 0.17)
        width *= 0.965
        if rng.random() < 0.075 and width > 2:
            branch(d, rng, (x, y), ang + rng.choice([-0.6, 0.6]), width * 0.75, -bend * 0.5)
    d.line([(x, y), (x + 8, y)], fill=(120, 18, 10), width=1)


def fundus(rng: Rng) -> Image.Image:
    """Colour fundus photograph with a swollen disc, tortuous veins and haemorrhages in four quadrants."""
    w = h = 560
    x, y = grid(w, h)
    f = (
        0.75
        - 0.25 * np.hypot(x, y) ** 2
        + 0.04 * clouds(rng, w, h, 60, 3)
        - 0.28 * np.exp(-((np.hypot(x + 0.28, y - 0.03) / 0.17) ** 2))
    )
    im = tint(f, (60, 5, 0), (255, 130, 60))
    disc = Image.fromarray((255 * blob(x, y, 0.36, 0, 0.15, 0.17, 0.06)).astype(np.uint8))
    im.paste((250, 205, 140), mask=disc)
    d = ImageDraw.Draw(im)
    for ang, bend in ((-2.0, -0.045), (2.0, 0.045), (-1.0, 0.04), (1.0, -0.04), (-2.6, 0.03), (2.6, -0.03)):
        branch(d, rng, (380, 280), ang, 8.0, bend)
    for _ in range(120):
        a, r = rng.uniform(0, 2 * math.pi), rng.uniform(55, 245)
        cx, cy, size, ray = (
            380 + r * math.cos(a),
            280 + r * math.sin(a),
            rng.uniform(3, 11),
            a + rng.normal(0, 0.2),
        )
        for t in np.linspace(-1.6, 1.6, 9):
            px, py, q = (
                cx + t * size * math.cos(ray),
                cy + t * size * math.sin(ray),
                size * (0.55 - 0.2 * abs(t)),
            )
            d.ellipse((px - q, py - q, px + q, py + q), fill=(130, 8, 4))
    for cx, cy in ((300, 190), (330, 400), (450, 190)):
        d.ellipse((cx - 11, cy - 7, cx + 11, cy + 7), fill=(250, 225, 170))
    im = im.filter(ImageFilter.GaussianBlur(1.3))
    keep = Image.fromarray((255 * blob(x, y, 0, 0, 0.96, 0.96, 0.01)).astype(np.uint8))
    return Image.composite(im, Image.new("RGB", (w, h)), keep)


def oct_scan(rng: Rng) -> Image.Image:
    """Optical coherence tomogram of a macula with cystoid spaces and subretinal fluid."""
    w, h = 640, 360
    x, y = grid(w, h)
    top = -0.32 - 0.33 * np.exp(-((x / 0.75) ** 2)) + 0.06 * np.exp(-((x / 0.12) ** 2))
    low = 0.42 + 0.05 * x * x
    u = (y - top) / (low - top)  # 0 at the inner limiting membrane, 1 at the pigment epithelium
    f = (
        0.05
        + 0.30 * (u > 0) * (u < 1)
        + 0.25 * (u > 0) * (u < 0.12)
        - 0.13 * (u > 0.3) * (u < 0.4)
        - 0.13 * (u > 0.52) * (u < 0.68)
    )
    f += 0.6 * np.exp(-(((y - low) / 0.035) ** 2)) + 0.3 * (y > low) * np.exp(-(y - low) / 0.22)
    f -= 0.34 * blob(x, y, 0.05, 0.37, 0.42, 0.085, 0.02) * (y < low - 0.03)
    for k in range(16):
        cx = -0.72 + 0.095 * k + rng.normal(0, 0.02)
        f -= 0.36 * blob(
            x,
            y,
            cx,
            rng.uniform(-0.3, 0.05),
            rng.uniform(0.03, 0.055),
            rng.uniform(0.06, 0.17) * math.exp(-cx * cx),
            0.02,
        )
    return grey(np.clip(f, 0.02, 1) * rng.gamma(4, 0.25, (h, w))).filter(ImageFilter.GaussianBlur(0.9))


def cell(
    d: ImageDraw.ImageDraw,
    rng: Rng,
    cx: float,
    cy: float,
    r: float,
    fill: tuple[int, int, int],
    edge: str | None = None,
) -> None:
    """Irregular round outline such as a nucleus."""
    n, off = 12, rng.normal(0, 0.1, 12)
    pts = [
        (
            cx + r * (1 + off[i]) * math.cos(2 * math.pi * i / n),
            cy + r * (1 + off[i]) * math.sin(2 * math.pi * i / n),
        )
        for i in range(n)
    ]
    d.polygon(pts, fill=fill, outline=edge)


PALE = {  # stroma colour of each histology
    "granuloma": (232, 170, 195),
    "amastigotes": (226, 160, 190),
    "brown": (228, 165, 180),
    "chief": (238, 205, 225),
}
GIANT_CELLS = {
    "granuloma": [(150, 150), (370, 270), (420, 70)],
    "brown": [(130, 120), (350, 110), (250, 300), (440, 310)],
}


def stroma_cell(d: ImageDraw.ImageDraw, rng: Rng, kind: str, cx: float, cy: float, r: float) -> None:
    """One nucleus with what the histology adds: amastigotes around it or haemosiderin beside it."""
    cell(d, rng, cx, cy, r + rng.normal(0, 0.5), (92, 52, 130) if rng.random() < 0.6 else (120, 70, 150))
    if kind == "amastigotes" and rng.random() < 0.4:
        for _ in range(6):
            px, py = cx + rng.normal(0, 7), cy + rng.normal(0, 7)
            d.ellipse((px - 1.8, py - 1.8, px + 1.8, py + 1.8), fill=(60, 20, 90))
    if kind == "brown" and rng.random() < 0.12:
        cell(d, rng, cx + 8, cy, 6, (140, 84, 30))


def histology(rng: Rng, kind: str) -> Image.Image:
    """Haematoxylin and eosin field; kind: granuloma, amastigotes, brown or chief."""
    w, h = 520, 420
    low, high = [c - 28 for c in PALE[kind]], [min(255, c + 24) for c in PALE[kind]]
    im = tint(0.5 + 0.22 * clouds(rng, w, h, 30, 3), low, high)
    d, hubs, horseshoe = ImageDraw.Draw(im), GIANT_CELLS.get(kind, []), kind == "granuloma"
    for hx, hy in hubs:
        body = (236, 176, 200) if horseshoe else (222, 140, 165)
        d.ellipse((hx - 62, hy - 54, hx + 62, hy + 54), fill=body)
    step = 15 if kind == "chief" else 19
    for gy, gx in itertools.product(range(0, h, step), range(0, w, step)):
        cx, cy = gx + rng.normal(0, 4), gy + rng.normal(0, 4)
        near = min((math.hypot(cx - hx, cy - hy) for hx, hy in hubs), default=99.0)
        if near < 60 or (horseshoe and near < 95 and rng.random() < 0.5):
            continue  # the giant cell itself, or the loose epithelioid zone around it
        stroma_cell(d, rng, kind, cx, cy, 4.2 if (horseshoe and near > 95) or kind == "chief" else 5.4)
    for (hx, hy), k in itertools.product(hubs, range(13)):
        a, r = (0.4 + k * 0.36, 40.0) if horseshoe else (rng.uniform(0, 6.3), rng.uniform(0, 30))
        cell(d, rng, hx + r * math.cos(a), hy + r * math.sin(a), 6, (84, 44, 124))
    im = im.filter(ImageFilter.GaussianBlur(0.9))
    for hx, hy in hubs[:2]:
        arrow(im, (hx + 48, hy + 30), (hx + 96, hy + 62), "black")
    return im


def blood_film(rng: Rng) -> Image.Image:
    """Peripheral blood film with schistocytes among normal red cells and no platelets."""
    w, h = 560, 440
    im = tint(0.6 + 0.1 * clouds(rng, w, h, 90, 2), (225, 215, 215), (250, 244, 240))
    d = ImageDraw.Draw(im)
    for gy in range(28, h, 54):
        for gx in range(28, w, 56):
            cx, cy, r = gx + rng.normal(0, 7), gy + rng.normal(0, 7), rng.uniform(19, 24)
            if rng.random() < 0.24:
                a, spread = rng.uniform(0, 6.3), rng.uniform(1.9, 2.6)
                pts = [
                    (cx + r * k * math.cos(a + t), cy + r * k * math.sin(a + t))
                    for t, k in ((0, 1.1), (0.7, 0.85), (spread, 1.0), (spread + 1.6, 0.3))
                ]
                d.polygon(pts, fill=(186, 98, 98))
            else:
                d.ellipse((cx - r, cy - 0.95 * r, cx + r, cy + 0.95 * r), fill=(205, 128, 122))
                d.ellipse((cx - r * 0.4, cy - r * 0.4, cx + r * 0.4, cy + r * 0.4), fill=(232, 190, 182))
    return im.filter(ImageFilter.GaussianBlur(1.6))
