"""Traces and charts for the embedded sample: electrocardiograms, curves, bars and diagrams.

The numbers agree with the prose of the articles they illustrate.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from scripts.sample_pictures import Rng, arrow, clouds, font, panels, text

Points = Sequence[tuple[float, float]]


def ecg(rng: Rng, kind: str) -> Image.Image:
    """Rhythm strip on millimetre paper, 5 pixels per mm and 25 mm/s; kind: block or fibrillation."""
    w, h, fs = 880, 320, 125
    im = Image.new("RGB", (w, h), (255, 246, 244))
    d = ImageDraw.Draw(im)
    for step, colour in ((5, (250, 222, 220)), (25, (236, 168, 168))):
        for k in range(0, max(w, h), step):
            d.line([(k, 0), (k, h)], fill=colour)
            d.line([(0, k), (w, k)], fill=colour)
    t = np.arange(w) / fs
    beats: np.ndarray[Any, Any]
    waves: np.ndarray[Any, Any]
    if kind == "block":
        beats, waves = np.arange(0.45, 8, 60 / 38), np.arange(0.1, 8, 60 / 92)
    else:
        beats, waves = np.cumsum(rng.uniform(0.2, 0.42, 40)), np.zeros(0)
    v = 0.012 * rng.normal(size=w)
    if kind == "fibrillation":
        v += 0.06 * np.sin(2 * math.pi * 6.2 * t + 1.5 * np.sin(3 * t)) + 0.03 * clouds(rng, w, 2, 8, 1)[0]
    for b in waves:
        v += 0.17 * np.exp(-(((t - b) / 0.035) ** 2))
    for b in beats:
        for shift, width, size in (
            (-0.03, 0.010, -0.12),
            (0, 0.013, 1.15),
            (0.035, 0.012, -0.3),
            (0.30 if kind == "block" else 0.13, 0.05, 0.28),
        ):
            v += size * np.exp(-(((t - b - shift) / width) ** 2))
    d.line([(i, h * 0.62 - 75 * v[i]) for i in range(w)], fill="black", width=2)
    text(d, (14, 12), "II", 22)
    text(d, (w - 14, h - 12), "25 mm/s  10 mm/mV", 15, anchor="rb")
    return im


class Plot:
    """Axes on white with linear scales; x and y in data units."""

    def __init__(
        self,
        xs: tuple[float, float],
        ys: tuple[float, float],
        xlabel: str,
        ylabel: str,
        size: tuple[int, int] = (600, 440),
    ) -> None:
        """Draw the frame, five ticks on each axis and both labels."""
        self.im = Image.new("RGB", size, "white")
        self.d, self.xs, self.ys = ImageDraw.Draw(self.im), xs, ys
        self.box = (78, 24, size[0] - 22, size[1] - 66)
        x0, y0, x1, y1 = self.box
        self.d.line([(x0, y0), (x0, y1), (x1, y1)], fill="black", width=2)
        for k in range(5):
            vx, vy = xs[0] + k * (xs[1] - xs[0]) / 4, ys[0] + k * (ys[1] - ys[0]) / 4
            if xlabel:
                text(self.d, (self.at(vx, 0)[0], y1 + 8), f"{vx:g}", 15, anchor="mt")
            text(self.d, (x0 - 8, self.at(0, vy)[1]), f"{vy:g}", 15, anchor="rm")
            self.d.line([(x0 - 5, self.at(0, vy)[1]), (x0, self.at(0, vy)[1])], fill="black", width=2)
        text(self.d, ((x0 + x1) / 2, size[1] - 12), xlabel, 18, anchor="mb")
        side = Image.new("L", (y1 - y0, 26), 0)
        text(ImageDraw.Draw(side), ((y1 - y0) / 2, 13), ylabel, 18, "white", "mm")
        self.im.paste("black", (4, y0), side.rotate(90, expand=True))

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Pixel of a data point."""
        x0, y0, x1, y1 = self.box
        return x0 + (x - self.xs[0]) / (self.xs[1] - self.xs[0]) * (x1 - x0), y1 - (y - self.ys[0]) / (
            self.ys[1] - self.ys[0]
        ) * (y1 - y0)

    def line(
        self, pts: Points, colour: str, name: str = "", dots: bool = False, dash: bool = False, row: int = 0
    ) -> "Plot":
        """Add a curve and, if it has a name, its legend entry in the given row."""
        px = [self.at(*p) for p in pts]
        for i in range(len(px) - 1):
            if not dash or i % 2 == 0:
                self.d.line(px[i : i + 2], fill=colour, width=3)
        for a, b in px if dots else []:
            self.d.ellipse((a - 5, b - 5, a + 5, b + 5), fill=colour)
        if name:
            y = self.box[1] + 10 + 24 * row
            self.d.line([(self.box[2] - 200, y), (self.box[2] - 170, y)], fill=colour, width=3)
            text(self.d, (self.box[2] - 162, y), name, 15, anchor="lm")
        return self

    def bars(
        self, names: Sequence[str], values: Sequence[float], spread: Sequence[float], colours: Sequence[str]
    ) -> "Plot":
        """Add bars with error bars, evenly spaced, each named below the axis."""
        step = (self.xs[1] - self.xs[0]) / len(names)
        for i, (name, v, e) in enumerate(zip(names, values, spread, strict=True)):
            mid = self.xs[0] + (i + 0.5) * step
            (a, b), (c, z) = self.at(mid - 0.32 * step, v), self.at(mid + 0.32 * step, self.ys[0])
            self.d.rectangle((a, b, c, z), fill=colours[i % len(colours)], outline="black")
            self.d.line([self.at(mid, v - e), self.at(mid, v + e)], fill="black", width=2)
            text(self.d, ((a + c) / 2, z + 8), name, 15, anchor="mt")
        return self


def survival(rng: Rng, names: tuple[str, str], rates: tuple[float, float]) -> Image.Image:
    """Kaplan-Meier plot of two groups over 90 days with confidence bands."""
    p = Plot((0, 100), (0, 1), "Days of treatment", "Culture positive", (440, 400))
    for row, (name, rate, colour, band) in enumerate(
        zip(names, rates, ("#1f4e9c", "#c0392b"), ("#c9d8f0", "#f3cfca"), strict=True)
    ):
        times = np.sort(10 + rng.weibull(1.7, 60) * rate)
        steps, s = [(0.0, 1.0)], 1.0
        for t in times[times < 90]:
            steps += [(float(t), s), (float(t), s - 1 / 60)]
            s -= 1 / 60
        steps.append((90.0, s))
        half = [0.9 * math.sqrt(max(0.0, q * (1 - q)) / 14) for _, q in steps]
        edge = [p.at(t, min(1, q + e)) for (t, q), e in zip(steps, half, strict=True)]
        edge += [p.at(t, max(0, q - e)) for (t, q), e in reversed(list(zip(steps, half, strict=True)))]
        p.d.polygon(edge, fill=band)
        p.line(steps, colour, name, row=row)
    return p.im


def roc(curves: Sequence[tuple[str, float, bool]]) -> Image.Image:
    """Receiver operating characteristic curves, each given as (name, area under the curve, dashed)."""
    p = Plot((0, 1), (0, 1), "1 - specificity", "Sensitivity", (520, 480))
    p.line([(k / 40, k / 40) for k in range(41)], "#999999", dash=True)
    fpr = np.linspace(0, 1, 61) ** 2
    for (name, area, dash), colour in zip(curves, ("#1f4e9c", "#c0392b"), strict=False):
        p.line([(float(f), float(f ** ((1 - area) / area))) for f in fpr], colour, dash=dash)
        row = 300 + 26 * (colour == "#c0392b")
        text(p.d, (270, row), f"{name}: AUC {area:.2f}", 16, colour)
    return p.im


def boxes(
    size: tuple[int, int],
    items: Sequence[tuple[float, float, str]],
    links: Sequence[tuple[int, int]],
    fill: str = "#eef3fb",
) -> Image.Image:
    """Boxes of text, each centred at (x, y) in fractions of the size, joined by arrows."""
    im = Image.new("RGB", size, "white")
    d = ImageDraw.Draw(im)
    at = [(round(x * size[0]), round(y * size[1])) for x, y, _ in items]
    for a, b in links:
        (ax, ay), (bx, by) = at[a], at[b]
        down = abs(by - ay) >= abs(bx - ax)
        sign = 1 if (by > ay if down else bx > ax) else -1
        tip = (bx, by - sign * 34) if down else (bx - sign * 92, by)
        arrow(im, tip, (ax, ay), "#444444")
    for (x, y), (_, _, label) in zip(at, items, strict=True):
        d.rectangle((x - 92, y - 32, x + 92, y + 32), fill=fill, outline="black", width=2)
        d.multiline_text((x, y), label, fill="black", anchor="mm", align="center", font=font(15))
    return im


def line_of_text(label: str, size: tuple[int, int], height: int) -> Image.Image:
    """A formula or a short text set in one line, as publishers ship equations."""
    im = Image.new("RGB", size, "white")
    text(ImageDraw.Draw(im), (size[0] / 2, size[1] / 2), label, height, anchor="mm")
    return im


def pressure(rng: Rng) -> Image.Image:
    """Blood pressure over three days with the recovery of vision marked."""
    t = np.arange(0, 73, 4.0)
    p = Plot((0, 72), (40, 200), "Hours after admission", "Blood pressure (mmHg)")
    for row, (name, top, end, colour) in enumerate(
        (("systolic", 178, 114, "#c0392b"), ("diastolic", 112, 70, "#1f4e9c"))
    ):
        v = end + (top - end) * np.exp(-t / 17) + rng.normal(0, 2.5, t.size)
        p.line([(float(a), float(b)) for a, b in zip(t, v, strict=True)], colour, name, True, row=row)
    p.line([(46, 40 + 4 * k) for k in range(33)], "black", dash=True)
    return p.im


def calcium() -> Image.Image:
    """Ionised calcium through a pregnancy, with the reference band and the day of surgery."""
    p = Plot((18, 52), (1.0, 2.0), "Weeks of gestation", "Ionised calcium (mmol/L)")
    p.d.rectangle((*p.at(18.1, 1.30), *p.at(52, 1.15)), fill="#dddddd")
    values = (
        (19, 1.78),
        (19.4, 1.62),
        (20, 1.56),
        (20.8, 1.57),
        (21.2, 1.24),
        (22, 1.17),
        (26, 1.21),
        (32, 1.22),
    )
    p.line([*values, (39, 1.20), (51, 1.23)], "#1f4e9c", dots=True)
    tip, tail = p.at(21.1, 1.45), p.at(23.5, 1.75)
    arrow(p.im, (round(tip[0]), round(tip[1])), (round(tail[0]), round(tail[1])), "black")
    text(p.d, (tail[0] + 6, tail[1] - 20), "surgery", 16)
    return p.im


def platelets() -> Image.Image:
    """Platelet count and scaled lactate dehydrogenase; the days of plasma exchange are shaded."""
    p = Plot((0, 20), (0, 400), "Day", "Platelets (x10^9/L)")
    p.d.rectangle((*p.at(0.1, 400), *p.at(8, 1)), fill="#e8eef8")
    counts = (14, 22, 58, 96, 131, 168, 204, 241, 262, 270, 281, 276, 268, 274, 270, 262, 258, 255, 251, 249)
    ldh = (328, 246, 170, 122, 92, 74, 62, 55, 50, 47, 45, 44, 44, 43, 42, 42, 41, 41, 40, 40)
    p.line([(k, v) for k, v in enumerate(counts)], "#1f4e9c", "platelets", True, row=0)
    return p.line([(k, v) for k, v in enumerate(ldh)], "#c0392b", "LDH / 5 (U/L)", True, row=1).im


def dog_course() -> Image.Image:
    """Ventricular diameter and heart rate over eleven months."""
    p = Plot((0, 12), (0, 240), "Months of treatment", "Diameter (mm), rate (/min)")
    p.line([(0, 51), (2, 50), (4, 50), (6, 51), (8, 51), (10, 53), (11, 55)], "#1f4e9c", "LV diameter", True)
    rate = [(0.0, 210.0), (0.5, 140.0), (2, 118), (4, 116), (6, 119), (8, 122), (10, 130), (11, 150)]
    return p.line(rate, "#c0392b", "heart rate", True, row=1).im


def grades() -> Image.Image:
    """Spleen stiffness by endoscopic grade of varices."""
    p = Plot((0, 3), (0, 80), "", "Spleen stiffness (kPa)")
    names, colours = ("no varices", "small varices", "large varices"), ("#9ecae1", "#6baed6", "#2171b5")
    return p.bars(names, (31, 38, 58), (7, 8, 11), colours).im


def months() -> Image.Image:
    """Culture conversion at the end of three months by time to positivity."""
    p = Plot((0, 6), (0, 100), "", "Culture negative (%)", (680, 440))
    names = [f"{m} {g}" for m in ("M1", "M2", "M3") for g in ("<7 d", ">14 d")]
    return p.bars(names, (18, 41, 58, 86, 81, 96), (6, 8, 8, 5, 6, 3), ("#c0392b", "#1f4e9c")).im


def km_pair(rng: Rng) -> Image.Image:
    """Conversion by cavitation and by HIV status."""
    left = survival(rng, ("cavity", "no cavity"), (58, 30))
    return panels([left, survival(rng, ("HIV positive", "HIV negative"), (40, 41))], "AB", 2, (440, 400))


def enrolment() -> Image.Image:
    """Flow of participants."""
    items = (
        (0.35, 0.1, "301 screened"), (0.78, 0.26, "87 excluded"), (0.35, 0.42, "214 enrolled"),
        (0.78, 0.58, "7 lost to\nfollow-up"), (0.35, 0.76, "207 analysed"),
    )  # fmt: skip
    return boxes((560, 520), items, ((0, 2), (2, 4), (0, 1), (2, 3)))


def feedback() -> Image.Image:
    """Regulation of serum calcium."""
    items = (
        (0.5, 0.12, "Parathyroid glands"), (0.2, 0.5, "Bone:\nosteoclasts"),
        (0.8, 0.5, "Kidney:\ncalcitriol"), (0.5, 0.86, "Serum calcium"),
    )  # fmt: skip
    return boxes((640, 460), items, ((0, 1), (0, 2), (1, 3), (2, 3), (3, 0)), "#fdf1dc")


def timeline() -> Image.Image:
    """Course of a pregnancy as a row of boxes."""
    items = (
        (0.13, 0.5, "19 weeks\npancreatitis"), (0.38, 0.5, "20 weeks\nultrasound"),
        (0.63, 0.5, "21 weeks\nsurgery"), (0.88, 0.5, "39 weeks\ndelivery"),
    )  # fmt: skip
    return boxes((880, 200), items, ((0, 1), (1, 2), (2, 3)), "#eaf6ea")
