"""Films and sections of bones and of the head for the case reports of the embedded sample.

Every picture is computed from ellipses, capsules and seeded noise: no patient and no third party is shown.
Where two articles show the same organ, the section, the window and the build of the patient differ.
"""

import math

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from scripts.sample_pictures import Rng, arrow, bar, blob, clouds, grey, grid, text
from scripts.sample_trunk import soften


# --- bone ---------------------------------------------------------------------------------------------
def hip_film(rng: Rng) -> Image.Image:
    """Frontal film of a left hip with a faint spot in the neck of the femur."""
    w, h = 440, 520
    x, y = grid(w, h)
    f = 0.16 + 0.18 * blob(x, y, 0.1, 0.3, 1.0, 1.3, 0.05)
    bone = np.maximum(blob(x, y, -0.26, -0.46, 0.28, 0.28, 0.02), bar(x, y, (-0.2, -0.4), (0.24, 0.0), 0.16))
    bone = np.maximum(
        bone, np.maximum(bar(x, y, (0.24, 0.0), (0.1, 1.4), 0.17), blob(x, y, 0.36, -0.1, 0.16, 0.2))
    )
    shaft = bar(x, y, (0.22, 0.3), (0.1, 1.4), 0.08, 0.03)
    pelvis = np.abs(np.hypot((x + 0.34) / 0.42, (y + 0.5) / 0.42) - 1) < 0.13
    f += bone * (0.46 + 0.03 * clouds(rng, w, h, 8, 2)) - 0.16 * shaft + 0.34 * pelvis * (x < 0.0)
    f += 0.3 * bar(x, y, (-0.7, -1.0), (-0.5, -0.8), 0.2) + 0.1 * blob(x, y, 0.0, 0.02, 0.13, 0.13, 0.06)
    im = soften(f - 0.2 * blob(x, y, 0.0, 0.02, 0.05, 0.05, 0.03), rng, 0.012)
    text(ImageDraw.Draw(im), (400, 20), "L", 30, "white")
    return im


def hip_ct(rng: Rng, needle: bool) -> Image.Image:
    """Axial section through a femoral neck with a nidus; or, wider, with a needle in it."""
    w, h = (520, 360) if needle else (420, 400)
    x, y = grid(w, h)
    s = 0.7 if needle else 1.0
    f = 0.2 * blob(x, y, 0, 0, 1.1, 0.86, 0.02) + 0.1 * blob(x, y, 0.1, 0.3, 0.6, 0.4, 0.05)
    f += 0.03 * clouds(rng, w, h, 26, 3) * (f > 0.1)
    neck = np.maximum(
        blob(x, y, -0.4 * s, -0.2 * s, 0.34 * s, 0.32 * s, 0.02),
        bar(x, y, (-0.3 * s, -0.1), (0.4 * s, 0.2), 0.2 * s),
    )
    inner = np.maximum(
        blob(x, y, -0.4 * s, -0.2 * s, 0.28 * s, 0.26 * s, 0.02),
        bar(x, y, (-0.3 * s, -0.1), (0.36 * s, 0.2), 0.13 * s),
    )
    f += 0.66 * neck - 0.26 * inner
    nx, ny = 0.02 * s, 0.2 * s
    f += 0.2 * blob(x, y, nx, ny, 0.16 * s, 0.12 * s, 0.05)
    f -= 0.5 * blob(x, y, nx, ny, 0.075 * s, 0.075 * s, 0.02) - 0.5 * blob(
        x, y, nx, ny, 0.025 * s, 0.025 * s, 0.01
    )
    if needle:
        f += 1.2 * bar(x, y, (1.3, 0.62), (nx, ny), 0.016) - 0.2 * bar(x, y, (nx, ny), (-0.5, 0.05), 0.03)
        f += 0.4 * (np.abs(np.hypot(x + 0.9, y + 0.2) - 0.3) < 0.06)
        return soften(np.minimum(f, 0.98), rng, 0.05)
    im = soften(np.minimum(f, 0.97), rng)
    arrow(im, (215, 250), (215, 340))
    return im


def scintigram(rng: Rng) -> Image.Image:
    """Posterior view of a spine in dots of counts, one focus hot."""
    w, h = 360, 500
    x, y = grid(w, h)
    f = 0.1 * blob(x, y, 0, 0, 0.6, 1.5, 0.1)
    for k in range(11):
        f += 0.3 * blob(x, y, 0.05 * math.sin(0.5 * k), -1.3 + 0.25 * k, 0.1, 0.09, 0.15)
    for s in (-1, 1):
        f += 0.25 * blob(x, y, s * 0.42, -0.2, 0.13, 0.2, 0.2) + 0.34 * blob(
            x, y, s * 0.4, 0.95, 0.22, 0.3, 0.2
        )
    f += 0.4 * blob(x, y, 0.16, 0.2, 0.12, 0.1, 0.15) + 0.5 * blob(x, y, 0.17, 0.2, 0.05, 0.045, 0.1)
    counts = rng.poisson(np.clip(f, 0, 1) * 22) / 22
    return grey(counts).filter(ImageFilter.GaussianBlur(1.6))


def vertebra_ct(rng: Rng) -> Image.Image:
    """Axial lumbar vertebra: body, canal, and a pedicle that is white around a dark core."""
    w, h = 440, 420
    x, y = grid(w, h)
    f = 0.18 * blob(x, y, 0, 0, 1.0, 0.9, 0.05) + 0.03 * clouds(rng, w, h, 20, 3)
    for s in (-1, 1):
        f += 0.1 * blob(x, y, s * 0.6, 0.5, 0.34, 0.3, 0.03) + 0.08 * blob(
            x, y, s * 0.62, -0.2, 0.22, 0.26, 0.03
        )
    bone = np.maximum(blob(x, y, 0, -0.34, 0.46, 0.36, 0.02), bar(x, y, (0, 0.5), (0, 0.85), 0.06))
    for s in (-1, 1):
        bone = np.maximum(
            bone,
            np.maximum(
                bar(x, y, (s * 0.3, -0.1), (s * 0.3, 0.3), 0.09), bar(x, y, (s * 0.3, 0.3), (0, 0.5), 0.08)
            ),
        )
        bone = np.maximum(bone, bar(x, y, (s * 0.3, 0.24), (s * 0.82, 0.16), 0.06))
    f += 0.5 * bone - 0.2 * blob(x, y, 0, -0.34, 0.38, 0.28, 0.02)
    f += 0.34 * blob(x, y, -0.32, 0.12, 0.22, 0.24, 0.03) - 0.6 * blob(x, y, -0.32, 0.1, 0.075, 0.08, 0.02)
    return soften(np.minimum(f, 0.97), rng)


# --- head ---------------------------------------------------------------------------------------------
def canal_t1(rng: Rng) -> Image.Image:
    """Axial T1 at the level of the ear: brainstem, cerebellum, and a bright plug in one canal."""
    w, h = 440, 460
    x, y = grid(w, h)
    f = 0.62 * blob(x, y, 0, 0, 0.86, 0.96, 0.015) - 0.5 * blob(x, y, 0, 0, 0.79, 0.89, 0.015)
    f += 0.3 * blob(x, y, 0, 0.46, 0.6, 0.36, 0.03) + 0.32 * blob(x, y, 0, 0.02, 0.2, 0.19, 0.03)
    f += 0.26 * np.maximum(
        blob(x, y, -0.44, -0.46, 0.28, 0.26, 0.04), blob(x, y, 0.44, -0.46, 0.28, 0.26, 0.04)
    )
    f += 0.02 * clouds(rng, w, h, 14, 3) - 0.14 * blob(x, y, 0, 0.24, 0.09, 0.06, 0.03)
    f += 0.04 * np.sin(46 * y) * blob(x, y, 0, 0.5, 0.54, 0.3, 0.03)
    f += 0.62 * np.maximum(
        bar(x, y, (-0.26, 0.0), (-0.46, -0.02), 0.05), blob(x, y, -0.26, 0.0, 0.08, 0.09, 0.02)
    )
    im = soften(f, rng)
    arrow(im, (120, 225), (50, 175))
    return im


def canal_t2(rng: Rng) -> Image.Image:
    """Coronal T2 through both canals: bright fluid above and below, a gap on one side."""
    w, h = 480, 380
    x, y = grid(w, h)
    f = 0.5 * blob(x, y, 0, -0.15, 1.1, 1.1, 0.02) - 0.2 * blob(x, y, 0, -0.15, 1.02, 1.02, 0.02)
    rim = np.sin(8 * clouds(rng, w, h, 60, 1) + 12 * np.hypot(x, y + 0.3))
    f += 0.12 * (rim > 0.6) * blob(x, y, 0, -0.4, 0.96, 0.6, 0.04)
    for s in (-1, 1):
        f += 0.5 * blob(x, y, s * 0.14, -0.5, 0.06, 0.18, 0.03, s * 0.4)
        f -= 0.26 * blob(x, y, s * 0.62, 0.34, 0.34, 0.22, 0.03)
        f += 0.55 * bar(x, y, (s * 0.24, 0.3), (s * 0.5, 0.3), 0.05) + 0.4 * blob(
            x, y, s * 0.62, 0.3, 0.05, 0.06, 0.02
        )
    f -= 0.5 * bar(x, y, (-0.26, 0.3), (-0.43, 0.3), 0.055)
    f += 0.3 * blob(x, y, 0, 0.3, 0.16, 0.4, 0.03) - 0.16 * blob(x, y, 0, 0.9, 0.5, 0.24)
    return soften(f, rng, 0.03)


def angle_mass(rng: Rng) -> Image.Image:
    """Axial section with a large cystic mass beside a displaced brainstem."""
    w, h = 420, 480
    x, y = grid(w, h)
    f = 0.5 * blob(x, y, 0, 0, 0.88, 1.04, 0.015) - 0.22 * blob(x, y, 0, 0, 0.8, 0.96, 0.015)
    f += 0.02 * clouds(rng, w, h, 12, 3) + 0.16 * blob(x, y, -0.1, 0.52, 0.56, 0.34, 0.03)
    f += 0.1 * blob(x, y, -0.14, 0.0, 0.2, 0.22, 0.03) - 0.24 * bar(x, y, (-0.2, 0.28), (-0.12, 0.3), 0.05)
    mass = blob(x + 0.02 * clouds(rng, w, h, 40, 2), y, 0.34, 0.12, 0.32, 0.3, 0.02)
    f = f * (1 - mass) + mass * (0.72 + 0.08 * clouds(rng, w, h, 20, 2))
    for cx, cy, rx, ry in ((0.2, 0.2, 0.13, 0.11), (0.26, -0.02, 0.1, 0.08)):
        f -= 0.55 * blob(x, y, cx, cy, rx, ry, 0.02)
    for s in (-1, 1):
        f -= 0.22 * blob(x, y, s * 0.2, -0.55, 0.09, 0.24, 0.03, s * -0.4)
    return soften(f, rng)
