"""Prints a hash of what each numeric routine makes of generated inputs, to be run under several settings.

`python -m tests.processor_routines` prints JSON: name -> SHA-256, in two parts. `same` is ours and what we
trust; `differing` are functions that do depend on the processor: they tell that a setting took effect.
"""

from __future__ import annotations

import io
import json
import math
import string
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from annotation.agreement import drift
from annotation.agreement.intervals import agreement
from annotation.agreement.precision import clopper_pearson, wilson
from curation.audit.layouts.hashlist import wide_hashes
from curation.derived.diagnostics.shortcuts import Lists, tied
from curation.derived.subsets.correlation import SystemValues, correlate
from curation.evaluation import bm25, measures, pictures, statistics
from curation.evaluation.terms import Analyser
from curation.images import panel_letters as letters
from curation.images.phash import hash_bits
from curation.similarity.image import confirm, places, points
from schemas import exact
from schemas.hashing import sha256_bytes, sha256_text

Floats = NDArray[np.float64]
SEED = 20_261


def main() -> None:
    """Print the hashes."""
    generator = np.random.Generator(np.random.PCG64(SEED))
    found = {
        "same": {routine.__name__: _digest(routine(generator)) for routine in SAME},
        "differing": {routine.__name__: _digest(routine(generator)) for routine in DIFFERING},
    }
    json.dump(found, sys.stdout)


def _digest(made: Any) -> str:
    """SHA-256 of arrays by their bytes, of all else by its text: floats are written to the last bit."""
    if isinstance(made, np.ndarray):
        return sha256_bytes(np.ascontiguousarray(made).tobytes())
    if isinstance(made, (list, tuple)):
        return sha256_text("".join(map(_digest, made)))
    return sha256_text(repr(made))


def _pictures(generator: np.random.Generator, count: int, side: int = 200) -> Iterator[Image.Image]:
    """Smooth random pictures with discs and letters, as unlike as figures are."""
    for _ in range(count):
        coarse = generator.integers(0, 256, (6, 7, 3), dtype=np.uint8)
        image = Image.fromarray(coarse).resize((side, side - 40), Image.Resampling.BICUBIC)
        draw = ImageDraw.Draw(image)
        for letter in string.ascii_uppercase[:4]:
            x, y, size = (int(value) for value in generator.integers(8, side - 80, 3))
            draw.ellipse((x, y, x + size // 3, y + size // 4), fill=int(generator.integers(0, 1 << 24)))
            draw.rectangle((y, x, y + 22, x + 26), fill="white")
            draw.text((y + 5, x + 2), letter, fill="black", font_size=18)
        yield image


def _encoded(image: Image.Image, quality: int) -> bytes:
    out = io.BytesIO()
    image.save(out, "JPEG", quality=quality)
    return out.getvalue()


def logarithms(generator: np.random.Generator) -> Any:
    ratios = (generator.random(2_000) * 1e6 + 1e-9).tolist()
    return [(exact.log(value), exact.log2(value)) for value in ratios]


def normal_distribution(generator: np.random.Generator) -> Any:
    shares = generator.random(500).tolist()
    return [(exact.normal_quantile(share), exact.normal_cdf(8 * share - 4)) for share in shares]


def products(generator: np.random.Generator) -> Any:
    weights = generator.integers(0, 9, (60, 700)).astype(np.float64)
    return [exact.product(weights, generator.standard_normal((700, width)) * 10.0**width) for width in (1, 5)]


def bootstrap(generator: np.random.Generator) -> Any:
    values = generator.random((300, 7))
    groups = generator.integers(0, 140, 300)
    systems = [(name, generator.random((300, 2))) for name in "abc"]
    return [
        [astuple(item) for item in statistics.estimates(values, groups)],
        [astuple(item) for item in statistics.compare(systems, ("x", "y"), groups)],
    ]


def subset_correlation(generator: np.random.Generator) -> Any:
    whole, part = (
        SystemValues(
            tuple(map(str, range(count))),
            tuple(str(number // 2) for number in range(count)),
            {f"s{n}": generator.random(count) + n / 20 for n in range(6)},
        )
        for count in (160, 40)
    )
    return astuple(correlate(whole, part))


def agreement_intervals(generator: np.random.Generator) -> Any:
    truth = generator.integers(0, 4, (150, 1))
    ratings = np.where(generator.random((150, 3)) < 0.6, truth, generator.integers(0, 4, (150, 3)))
    given = np.where(generator.random((150, 3)) < 0.8, ratings, np.nan)
    return [astuple(item) for item in agreement(given, resamples=500)]


def reviewed_proportions(generator: np.random.Generator) -> Any:
    sizes = (generator.random(3_000) * 300 + 1).tolist()
    shares = generator.random(3_000).tolist()
    pairs = [(size * share, size) for size, share in zip(sizes, shares, strict=True)]
    return [(clopper_pearson(*pair), wilson(*pair)) for pair in pairs]


def drift_charts(generator: np.random.Generator) -> Any:
    return [astuple(drift.chart(0.02 * n, 0.02 * n + 0.15, 40)) for n in range(1, 9)]


def bm25_scores(generator: np.random.Generator) -> Any:
    vocabulary = [f"term{number}" for number in range(400)]
    drawn = generator.zipf(1.3, (500, 60)) % len(vocabulary)
    texts = [" ".join(vocabulary[place] for place in row) for row in drawn.tolist()]
    with tempfile.TemporaryDirectory() as folder:
        index = bm25.build(((text, "en") for text in texts), Path(folder), Analyser())
        rankings = [index.search(text.split()[:12], 50) for text in texts[:60]]
    return [(item.documents, item.scores) for item in rankings]


def rank_measures(generator: np.random.Generator) -> Any:
    """trec_eval takes log2 of 2 to 11 from libm, so these must be the nearest doubles on every processor."""
    names = [f"d{number:03d}" for number in range(120)]
    grades, scores = generator.integers(0, 3, (60, 120)), generator.random((60, 120))
    qrels = {str(q): dict(zip(names, row, strict=True)) for q, row in enumerate(grades.tolist())}
    runs = {str(q): dict(zip(names, row, strict=True)) for q, row in enumerate(scores.tolist())}
    found = ir_measures.iter_calc(measures._ALL, qrels, runs)
    discounts = [math.log2(rank) for rank in range(2, 12)]
    assert discounts == [exact.log2(rank) for rank in range(2, 12)]
    return sorted((item.query_id, str(item.measure), item.value) for item in found)


def tied_rankings(generator: np.random.Generator) -> Any:
    starts = np.arange(0, 901, 30)
    lists = Lists(starts, np.arange(900, dtype=np.int32), generator.integers(-1, 3, 900))
    return tied(lists, generator.integers(0, 5, 900).astype(np.float64))


def image_vectors(generator: np.random.Generator) -> Any:
    return [pictures.image_vector(_encoded(image, 80)) for image in _pictures(generator, 12)]


def image_hashes(generator: np.random.Generator) -> Any:
    thumbs = generator.integers(0, 256, (300, 32, 32), dtype=np.uint8)
    symmetric = np.maximum(thumbs, thumbs.transpose(0, 2, 1))
    return [(hash_bits(part), wide_hashes(part)) for part in (thumbs, symmetric, thumbs // 86 * 86)]


def panel_letters(generator: np.random.Generator) -> Any:
    greys = [np.asarray(image.convert("L")) for image in _pictures(generator, 10, 400)]
    found = [letters.read_print(grey, string.ascii_uppercase).letters for grey in greys]
    shapes = list(generator.integers(0, 256, (40, 400), dtype=np.uint8))
    return [[astuple(item) for part in found for item in part], letters._likeness(shapes, letters._faces())]


def image_copies(generator: np.random.Generator) -> Any:
    made = []
    for image in _pictures(generator, 6):
        one = image.convert("L")
        other = one.crop((7, 5, 190, 150)).resize((170, 140))
        made.append(confirm.compare(one, other, confirm.stretched(one, other)))
    planes = generator.integers(0, 256, (2, 90, 120)).astype(np.float64)
    return [made, confirm._step(confirm._standard(planes[0]), confirm._standard(planes[1]))]


def image_keypoints(generator: np.random.Generator) -> Any:
    greys = [np.asarray(image.convert("L").resize((90, 90))) for image in _pictures(generator, 4)]
    found = points.keypoints_of(greys)
    sizes = [len(item.x) for item in found]
    owner = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    joined = places.Keypoints(
        owner, *(np.concatenate([getattr(p, n) for p in found]) for n in ("x", "y", "size"))
    )
    matches = np.sort(generator.integers(0, sum(sizes), (600, 2)), axis=1)
    alike = places.lying_alike(matches[owner[matches[:, 0]] < owner[matches[:, 1]]], joined)
    return [*map(astuple, found), astuple(alike)]


def resized_and_decoded(generator: np.random.Generator) -> Any:
    """Pillow's filters are whole numbers, and its JPEG decoder is exact in any of its forms."""
    filters = (Image.Resampling.LANCZOS, Image.Resampling.HAMMING, Image.Resampling.BICUBIC)
    made: list[Any] = []
    for image in _pictures(generator, 4):
        data = [_encoded(image, quality) for quality in (30, 85)]
        made += [data, *(np.asarray(Image.open(io.BytesIO(part))) for part in data)]
        made += [np.asarray(image.resize((77, 32), way, reducing_gap=2.0)) for way in filters]
    return made


def numpy_reductions(generator: np.random.Generator) -> Any:
    """What `schemas.exact` says needs no care."""
    made: list[Any] = []
    for kind in (np.float32, np.float64):
        table: Any = (generator.random((257, 333)) * 50).astype(kind)
        for axis in (None, 0, 1):
            made += [of(table, axis=axis) for of in (np.sum, np.mean, np.std, np.cumsum, np.median)]
        owners = np.arange(257) % 9
        gathered = np.zeros((9, 333), kind)
        np.add.at(gathered, owners, table)
        made += [gathered, np.add.reduceat(table, np.arange(0, 257, 7), axis=0), table**2, np.sqrt(table)]
        made += [np.bincount(owners, table[:, 0]), table[::3, ::2].sum(1), np.gradient(table)]
        made += [np.percentile(table, [2.5, 97.5], axis=0), np.einsum("ij,kj->ik", table, table)]
        made += [np.einsum("ij,j->i", table, table[0]), np.linalg.norm(table, axis=1)]
    return made


def seeded_draws(generator: np.random.Generator) -> Any:
    """numpy's binomials use libm, but give whole numbers: a last bit decides one in 10**15."""
    share = generator.random(40)
    share /= share.sum()
    return [
        generator.multinomial(5_000, share, size=500),
        generator.choice(40, 20_000, p=share),
        generator.integers(0, 77, 20_000),
        generator.permutation(2_000),
    ]


def blas(generator: np.random.Generator) -> Any:
    table = generator.random((60, 700))
    return table @ generator.random((700, 9))


def numpy_loops(generator: np.random.Generator) -> Any:
    table = generator.random(60_000)
    return [np.log(table), np.exp(table), np.arctan2(table, table[::-1])]


def libm(generator: np.random.Generator) -> Any:
    return [
        (math.log(value), math.exp(value), math.cos(value)) for value in generator.random(60_000).tolist()
    ]


Routine = Callable[[np.random.Generator], Any]
SAME: tuple[Routine, ...] = (
    logarithms, normal_distribution, products, bootstrap, subset_correlation, agreement_intervals,
    reviewed_proportions, drift_charts, bm25_scores, rank_measures, tied_rankings, image_vectors,
    image_hashes, panel_letters, image_copies, image_keypoints, resized_and_decoded, numpy_reductions,
    seeded_draws,
)  # fmt: skip
DIFFERING: tuple[Routine, ...] = (blas, numpy_loops, libm)

if __name__ == "__main__":
    main()
