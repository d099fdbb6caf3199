"""Sections, films and views of abdomen and chest for the case reports of the embedded sample.

Every picture is computed from ellipses, capsules and seeded noise: no patient and no third party is shown.
Where two articles show the same organ, the section, the window and the build of the patient differ.
"""

import itertools
import math

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from scripts.sample_pictures import Field, Rng, arrow, bar, blob, clouds, grey, grid, text, tint


def soften(f: Field, rng: Rng, noise: float = 0.025, blur: float = 0.8) -> Image.Image:
    """Grey picture of a field with the grain of a scanner."""
    return grey(f + rng.normal(0, noise, f.shape)).filter(ImageFilter.GaussianBlur(blur))


# --- abdomen ------------------------------------------------------------------------------------------
def trunk(x: Field, y: Field, rx: float, ry: float) -> Field:
    """Axial section of a body: fat, muscle, spine."""
    f = 0.16 * blob(x, y, 0, 0, rx, ry, 0.015) + 0.16 * blob(x, y, 0, 0.02, rx - 0.12, ry - 0.1, 0.02)
    f += 0.5 * blob(x, y, 0, ry - 0.36, 0.15, 0.13, 0.02)
    return f + 0.4 * bar(x, y, (0, ry - 0.24), (0, ry - 0.1), 0.04)


def bowel_axial(rng: Rng) -> Image.Image:
    """Thick two-layered loop on the right with combed vessels."""
    w, h = 520, 400
    x, y = grid(w, h)
    f = trunk(x, y, 1.16, 0.86)
    for cx, cy, r in ((0.5, -0.2, 0.2), (0.25, -0.42, 0.16), (0.72, 0.2, 0.17), (0.1, -0.1, 0.12)):
        f += 0.24 * blob(x, y, cx, cy, r, r * 0.8, 0.03) - 0.2 * blob(x, y, cx, cy, r * 0.6, r * 0.4, 0.03)
    for rx, up in ((0.27, 0.26), (0.2, -0.14), (0.14, 0.34), (0.07, -0.42)):
        f += up * blob(x, y, -0.58, 0.12, rx * 1.3, rx, 0.02, 0.5)
    for k in range(7):
        a = -1.0 + 0.28 * k
        f += 0.3 * bar(
            x, y, (-0.3 * math.cos(a) - 0.3, 0.3 * math.sin(a) + 0.1), (-0.02, 0.25 * math.sin(a)), 0.012
        )
    im = soften(np.minimum(f, 0.95), rng)
    arrow(im, (165, 250), (90, 320))
    return im


def coronal(x: Field, y: Field, liver: float = 0.24) -> Field:
    """Coronal section: walls, liver, spleen, spine in between, bladder below."""
    f = 0.16 * blob(x, y, 0, 0, 0.92, 1.3, 0.02) + 0.1 * blob(x, y, 0, 0, 0.8, 1.22, 0.02)
    f += liver * blob(x, y, -0.42, -0.66, 0.4, 0.36, 0.03, 0.3)
    f += 0.26 * blob(x, y, 0.58, -0.7, 0.18, 0.26, 0.03)
    return f + 0.22 * blob(x, y, 0, 1.0, 0.3, 0.18, 0.03)


def bowel_coronal(rng: Rng) -> Image.Image:
    """A long winding loop with a bright wall that ends at a valve, and two nodes."""
    w, h = 420, 560
    x, y = grid(w, h)
    f = coronal(x, y)
    at = [(-0.5 + 0.075 * k, 0.42 + 0.2 * math.sin(0.75 * k) + 0.02 * k) for k in range(12)]
    for p, q in itertools.pairwise(at):
        f = np.maximum(f, 0.62 * bar(x, y, p, q, 0.1))
    for p, q in itertools.pairwise(at):
        f -= 0.2 * bar(x, y, p, q, 0.03)
    for cx, cy in ((-0.1, 0.08), (0.14, 0.16)):
        f += 0.3 * blob(x, y, cx, cy, 0.07, 0.05, 0.02)
    for k in range(6):
        f += 0.16 * blob(x, y, 0.5, -0.2 + 0.2 * k, 0.14, 0.09, 0.03)
    f -= 0.22 * blob(x, y, -0.6, 0.05, 0.14, 0.34, 0.03)
    return soften(np.minimum(f, 0.95), rng)


def enterography(rng: Rng) -> Image.Image:
    """Coronal T2 picture: bright loops, one wide, and two dark-walled narrowings."""
    w, h = 460, 520
    x, y = grid(w, h)
    f = 0.5 * blob(x, y, 0, 0, 0.95, 1.12, 0.02) - 0.22 * blob(x, y, 0, 0, 0.84, 1.04, 0.02)
    f -= 0.16 * blob(x, y, -0.46, -0.68, 0.34, 0.26, 0.03)
    for cx, cy, rx, ry in ((0.3, -0.3, 0.4, 0.17), (-0.36, 0.1, 0.22, 0.12), (0.4, 0.42, 0.24, 0.11)):
        f += 0.55 * blob(x, y, cx, cy, rx, ry, 0.02, -0.3)
        f -= 0.1 * np.sin(34 * x) * blob(x, y, cx, cy, rx, ry, 0.02, -0.3)
    for p, q in (((-0.12, -0.2), (-0.3, -0.02)), ((0.02, 0.3), (0.2, 0.38))):
        f = f * (1 - bar(x, y, p, q, 0.12)) + 0.06 * bar(x, y, p, q, 0.12) + 0.5 * bar(x, y, p, q, 0.018)
    im = soften(f, rng, 0.03)
    arrow(im, (190, 230), (120, 180))
    arrow(im, (250, 345), (240, 430))
    return im


def ileoscopy(rng: Rng) -> Image.Image:
    """Endoscopic view: red mucosa, a dark lumen, and pale ulcers that run towards it."""
    w = h = 440
    x, y = grid(w, h)
    r, a = np.hypot(x - 0.1, y + 0.12), np.arctan2(y + 0.12, x - 0.1)
    f = 0.35 + 0.6 * np.clip(r, 0, 0.9) + 0.06 * clouds(rng, w, h, 40, 3) + 0.05 * np.sin(26 * r)
    rgb = np.asarray(tint(f, (40, 4, 4), (236, 112, 84)), dtype=float)
    for at, wide in ((-2.6, 0.13), (-1.2, 0.1), (0.5, 0.16), (2.0, 0.12)):
        path = np.exp(-(((a - at - 0.5 * (r - 0.5) + 0.1 * np.sin(9 * r)) / wide) ** 2)) * (r > 0.3)
        rgb += (path * (0.7 + 0.1 * clouds(rng, w, h, 9, 2)))[..., None] * (np.array((232, 214, 168)) - rgb)
    rgb *= 1 + 0.1 * clouds(rng, w, h, 8, 2)[..., None]
    rgb[np.hypot(x, y) > 0.9] = 6
    return Image.fromarray(np.clip(rgb, 0, 255).astype(np.uint8)).filter(ImageFilter.GaussianBlur(1.0))


def kidney_axial(rng: Rng) -> Image.Image:
    """Two bright kidneys; the left one holds a round nodule that takes up little."""
    w, h = 520, 380
    x, y = grid(w, h)
    f = trunk(x, y, 1.2, 0.84) + 0.26 * blob(x, y, -0.62, -0.3, 0.46, 0.4, 0.03, 0.3)
    for cx, tilt in ((-0.56, 0.5), (0.56, -0.5)):
        f += 0.5 * blob(x, y, cx, 0.26, 0.24, 0.32, 0.02, tilt) - 0.3 * blob(x, y, cx, 0.24, 0.1, 0.14, 0.04)
    nodule = blob(x, y, 0.86, 0.34, 0.19, 0.19, 0.02)
    f = f * (1 - nodule) + nodule * (0.38 + 0.02 * clouds(rng, w, h, 20, 2))
    for k in range(5):
        f += 0.2 * blob(x, y, 0.5 - 0.2 * k, -0.46 + 0.05 * (k % 2), 0.12, 0.09, 0.03)
    im = soften(np.minimum(f, 0.96), rng)
    arrow(im, (455, 280), (500, 340))
    return im


def caval_coronal(rng: Rng) -> Image.Image:
    """A large streaked mass on the right and the wide vein above it."""
    w, h = 440, 540
    x, y = grid(w, h)
    f = coronal(x, y, 0.3) + 0.45 * blob(x, y, 0.44, 0.0, 0.15, 0.3, 0.03, 0.2)
    mass = blob(x + 0.03 * clouds(rng, w, h, 60, 2), y, -0.46, 0.24, 0.36, 0.44, 0.03)
    f += mass * (0.22 + 0.14 * clouds(rng, w, h, 34, 3))
    column = np.maximum(
        bar(x, y, (-0.2, 0.15), (-0.06, -0.1), 0.11), bar(x, y, (-0.06, -0.1), (-0.02, -0.9), 0.14)
    )
    f = f * (1 - column) + column * (0.5 + 0.1 * clouds(rng, w, h, 18, 2))
    f += 0.5 * bar(x, y, (0.14, -1.0), (0.12, 0.8), 0.06)
    im = soften(np.minimum(f, 0.96), rng)
    arrow(im, (245, 200), (320, 160))
    arrow(im, (235, 120), (310, 70))
    return im


def caval_ultrasound(rng: Rng) -> Image.Image:
    """Longitudinal view of a wide vein filled but for a dark crescent, under the liver."""
    w, h = 520, 380
    x, y = grid(w, h)
    f = 0.42 + 0.06 * clouds(rng, w, h, 60, 3) - 0.2 * (y > 0.55)
    vein = np.exp(-(((y - 0.16 - 0.16 * x) / 0.26) ** 6))
    clot = np.exp(-(((y - 0.24 - 0.16 * x) / 0.17) ** 6)) * (x > -0.75)
    f = f * (1 - vein) + 0.04 * vein + clot * (0.34 + 0.08 * clouds(rng, w, h, 16, 2))
    f += 0.35 * np.exp(-(((y - 0.16 - 0.16 * x - 0.29) / 0.03) ** 2))
    f += 0.3 * np.exp(-(((y + 0.9) / 0.05) ** 2))
    return grey(np.clip(f, 0.02, 1) * rng.gamma(2.4, 1 / 2.4, (h, w))).filter(ImageFilter.GaussianBlur(1.1))


def specimen(rng: Rng) -> Image.Image:
    """Photograph of a cut kidney with a tan mass, on a blue cloth with a ruler."""
    w, h = 520, 400
    x, y = grid(w, h)
    rgb = np.asarray(tint(0.5 + 0.12 * clouds(rng, w, h, 18, 3), (58, 96, 132), (96, 140, 172)), dtype=float)
    layers = (
        (blob(x, y, -0.1, 0.02, 0.86, 0.58, 0.03, 0.15), (140, 52, 44)),
        (blob(x, y, -0.36, -0.02, 0.3, 0.2, 0.1, 0.2), (206, 150, 112)),
        (blob(x, y, 0.3, 0.08, 0.42, 0.4, 0.015), (232, 212, 184)),
        (blob(x, y, 0.3, 0.08, 0.38, 0.36, 0.015), (182, 130, 84)),
    )
    for mask, colour in layers:
        rgb += (mask[..., None]) * (np.array(colour) * (1 + 0.06 * clouds(rng, w, h, 12, 2))[..., None] - rgb)
    for _ in range(70):
        a, r = rng.uniform(0, 6.3), 0.34 * math.sqrt(rng.random())
        spot = blob(x, y, 0.3 + r * math.cos(a), 0.08 + r * math.sin(a), 0.022, 0.016, 0.01)
        rgb += spot[..., None] * (np.array((226, 192, 86)) - rgb)
    im = Image.fromarray(np.clip(rgb, 0, 255).astype(np.uint8)).filter(ImageFilter.GaussianBlur(0.9))
    d = ImageDraw.Draw(im)
    d.rectangle((30, 362, 490, 386), fill="white")
    for k in range(24):
        d.line([(34 + 19 * k, 362), (34 + 19 * k, 376 if k % 5 else 384)], fill="black", width=2)
    return im


# --- heart and chest ----------------------------------------------------------------------------------
def apical_view(rng: Rng, ballooned: bool) -> Image.Image:
    """Apical four-chamber loop in systole; the left ventricle wide at its tip, or emptied evenly."""
    w, h = 460, 480
    x, y = grid(w, h)
    r, a = np.hypot(x, y + 1.1), np.arctan2(x, y + 1.1)
    sector = (np.abs(a) < 0.66) * (r > 0.12) * (r < 2.05)
    f = 0.46 + 0.08 * clouds(rng, w, h, 46, 3)
    wide = 0.36 if ballooned else 0.15
    cavity = blob(x, y, 0.2, -0.42 if ballooned else -0.2, wide, 0.34, 0.03)
    cavity = np.maximum(cavity, blob(x, y, 0.18, 0.08, 0.14, 0.22, 0.03))
    right = blob(x, y, -0.36, -0.05 if ballooned else 0.02, 0.15, 0.38, 0.03, -0.2)
    atria = np.maximum(blob(x, y, 0.2, 0.6, 0.27, 0.22, 0.03), blob(x, y, -0.3, 0.62, 0.22, 0.24, 0.03))
    f -= 0.44 * np.maximum(np.maximum(cavity, right), atria)
    f += 0.4 * bar(x, y, (0.05, 0.34), (0.2, 0.22 if ballooned else 0.36), 0.016)
    speckle = rng.gamma(2.3, 1 / 2.3, (h, w)) ** 0.8
    return grey(np.clip(f, 0.02, 1) * speckle * sector).filter(ImageFilter.GaussianBlur(1.1))


def ventriculogram(rng: Rng) -> Image.Image:
    """Contrast in a left ventricle with a round tip and a narrow neck, ribs and a catheter."""
    w, h = 500, 420
    x, y = grid(w, h)
    f = 0.62 - 0.06 * np.hypot(x, y) + 0.05 * clouds(rng, w, h, 80, 3)
    for k in range(5):
        f -= 0.05 * np.exp(-(((y - 0.4 * x + 1.0 - 0.45 * k) / 0.05) ** 2))
    pot = np.maximum(
        blob(x, y, 0.3, 0.22, 0.52, 0.42, 0.02, 0.5), bar(x, y, (-0.25, -0.2), (0.1, 0.02), 0.12)
    )
    pot = np.maximum(pot, bar(x, y, (-0.3, -0.25), (-0.34, -0.9), 0.15))
    f -= 0.42 * pot * (1 + 0.06 * clouds(rng, w, h, 30, 2)) + 0.3 * blob(x, y, -0.9, 1.0, 0.7, 0.5, 0.03)
    f -= 0.14 * bar(x, y, (-0.36, -1.0), (0.2, 0.2), 0.014)
    f *= blob(x, y, 0, 0, 1.16, 0.99, 0.01)
    return soften(f, rng, 0.02)


def long_axis_mr(rng: Rng, kind: str) -> Image.Image:
    """Heart in a long axis: dark muscle without scar (kind late), or slender ventricles and large atria."""
    w, h = 440, 440
    x, y = grid(w, h)
    f = 0.2 + 0.1 * clouds(rng, w, h, 70, 3) - 0.18 * blob(x, y, 0.85, -0.2, 0.5, 0.9, 0.03)
    if kind == "late":
        muscle = blob(x, y, 0.1, 0.1, 0.42, 0.76, 0.02, 0.6)
        f = f * (1 - muscle) + 0.03 * muscle + 0.62 * blob(x, y, 0.08, 0.06, 0.26, 0.58, 0.02, 0.6)
        return soften(f + 0.5 * blob(x, y, 0.52, -0.62, 0.24, 0.22, 0.03), rng)
    for cx, cy, rx, ry, tilt in (
        (0.28, 0.1, 0.11, 0.46, -0.5),
        (-0.02, 0.26, 0.09, 0.4, -0.5),
        (0.1, -0.56, 0.3, 0.24, 0.0),
        (-0.48, -0.3, 0.36, 0.3, 0.4),
    ):
        f += 0.6 * blob(x, y, cx, cy, rx, ry, 0.02, tilt)
    return soften(f - 0.2 * bar(x, y, (0.6, 0.7), (-0.3, 0.75), 0.05), rng)


def septum_mr(rng: Rng) -> Image.Image:
    """Short axis of both ventricles; the wall between them is flat."""
    w, h = 380, 420
    x, y = grid(w, h)
    f = 0.14 + 0.06 * clouds(rng, w, h, 50, 3) + 0.3 * (y < -0.78) + 0.22 * blob(x, y, -0.7, 0.95, 0.8, 0.4)
    left = blob(x, y, 0.22, 0.12, 0.44, 0.46, 0.02) * (x > -0.1)
    right = blob(x, y, -0.34, 0.06, 0.42, 0.5, 0.02) * (x < -0.2)
    f = f * (1 - left) + left * 0.1
    f += 0.55 * blob(x, y, 0.24, 0.12, 0.29, 0.32, 0.02) * (x > 0.02) + 0.5 * right
    f -= 0.5 * (np.hypot((x + 0.02) / 0.94, (y - 0.1) / 0.76) > 0.98) * (np.hypot(x, y) < 0.9) * 0.3
    return soften(f, rng, 0.035)


def shell_ct(rng: Rng, plane: str) -> Image.Image:
    """Heart in a rim of calcium; plane axial or sagittal."""
    w, h = (540, 400) if plane == "axial" else (400, 500)
    x, y = grid(w, h)
    if plane == "axial":
        f = trunk(x, y, 1.2, 0.86) - 0.3 * np.maximum(
            blob(x, y, -0.72, 0.05, 0.34, 0.6, 0.02), blob(x, y, 0.8, 0.1, 0.28, 0.54, 0.02)
        )
        f += 0.26 * blob(x, y, 0.1, -0.22, 0.5, 0.42, 0.02, 0.3)
        rim = np.abs(np.hypot((x - 0.1) / 0.53, (y + 0.22) / 0.44) - 1) < 0.075
        f += 0.9 * rim * (x < 0.42) + 0.3 * blob(x, y, -0.1, 0.3, 0.1, 0.1, 0.02)
        im = soften(np.minimum(f, 0.98), rng)
        arrow(im, (170, 120), (80, 60))
        return im
    f = 0.3 * bar(x, y, (-0.2, -1.0), (0.1, 1.2), 0.8, 0.02) - 0.24 * blob(x, y, 0.1, -0.1, 0.72, 0.9, 0.03)
    for k in range(8):
        f += 0.5 * blob(x, y, 0.78 - 0.02 * (k - 4) ** 2, -1.0 + 0.27 * k, 0.12, 0.1, 0.02)
    f += 0.34 * blob(x, y, -0.28, 0.22, 0.42, 0.4, 0.03) + 0.28 * bar(x, y, (-0.1, -0.2), (0.05, -0.8), 0.14)
    f += 0.26 * blob(x, y, 0.0, 1.06, 0.8, 0.36, 0.03)
    ring = np.abs(np.hypot((x + 0.28) / 0.45, (y - 0.22) / 0.43) - 1) < 0.08
    return soften(np.minimum(f + 0.9 * ring * (y > -0.02), 0.98), rng)


def abscess_film(rng: Rng, healed: bool) -> Image.Image:
    """Frontal chest film of a slim man: a round shadow with a level on the right, or a small star."""
    w, h = 500, 560
    x, y = grid(w, h)
    x = x * (1.0 if healed else 1.06) - (0.0 if healed else 0.05)
    f = 0.08 + 0.56 * blob(x, y, 0, 0.3, 0.99, 1.3, 0.05)
    lungs = np.maximum(
        blob(x, y, -0.45, 0.06, 0.33, 0.86, 0.03, 0.1), blob(x, y, 0.45, 0.06, 0.33, 0.84, 0.03, -0.1)
    )
    f -= 0.46 * lungs * (1 - 0.9 * blob(x, y, 0.2, 0.5, 0.3, 0.3, 0.06)) + 0.03 * lungs * clouds(
        rng, w, h, 22, 3
    )
    for k in range(8):
        f += 0.07 * np.exp(-(((y + 0.78 - 0.22 * k - 0.3 * np.abs(x) ** 2) / 0.03) ** 2)) * (np.abs(x) > 0.1)
    f += 0.2 * np.exp(-((x / 0.1) ** 4))
    if healed:
        for a in np.linspace(0, 2.6, 4):
            f += 0.22 * bar(
                x, y, (-0.5 - 0.1 * math.cos(a), 0.1 - 0.1 * math.sin(a)),
                (-0.5 + 0.1 * math.cos(a), 0.1 + 0.1 * math.sin(a)), 0.012,
            )  # fmt: skip
    else:
        ball = blob(x, y, -0.46, 0.08, 0.25, 0.26, 0.03)
        f += 0.42 * ball - 0.34 * blob(x, y, -0.46, 0.04, 0.17, 0.18, 0.02) * (y < 0.1)
        f += 0.12 * blob(x, y, -0.46, 0.1, 0.36, 0.36, 0.2)
    im = soften(f, rng, 0.012)
    text(ImageDraw.Draw(im), (w - 40, 20), "L" if healed else "PA", 26, "white", "rt")
    return im


def abscess_ct(rng: Rng, healed: bool) -> Image.Image:
    """Lung window of the lower lobes: a thick wall with fluid, or a thin ring of air."""
    w, h = (500, 360) if healed else (520, 420)
    x, y = grid(w, h)
    f = 0.7 * blob(x, y, 0, 0, 1.22, 0.88, 0.02)
    lungs = np.maximum(blob(x, y, -0.6, 0.1, 0.42, 0.6, 0.02), blob(x, y, 0.66, 0.12, 0.36, 0.56, 0.02))
    f -= 0.6 * lungs - 0.2 * blob(x, y, 0.02, -0.2, 0.42, 0.36, 0.03)
    for _ in range(70):
        s, cx, cy = rng.choice([-1, 1]), rng.uniform(0.34, 0.92), rng.uniform(-0.36, 0.56)
        f += 0.4 * blob(x, y, s * cx, cy, 0.014, 0.014, 0.006) * lungs
    if healed:
        ring = np.abs(np.hypot(x + 0.66, y - 0.3) - 0.1) < 0.014
        f += 0.5 * ring
    else:
        wob = 0.02 * clouds(rng, w, h, 30, 2)
        halo = blob(x + 2 * wob, y + 2 * wob, -0.62, 0.24, 0.36, 0.32, 0.2)
        wall = blob(x + wob, y, -0.62, 0.24, 0.26, 0.24, 0.02)
        f += (
            0.3 * halo * lungs
            + 0.35 * wall * lungs
            - 0.5 * blob(x - wob, y + wob, -0.62, 0.2, 0.16, 0.14, 0.02) * (y < 0.26)
        )
    return soften(np.minimum(f, 0.92), rng, 0.02, 0.6)
