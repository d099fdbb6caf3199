"""pHash in whole numbers: imagehash's bits, and ties that are ties."""

from __future__ import annotations

import imagehash
import numpy as np
from PIL import Image

from curation.images.decode import open_image
from curation.images.phash import SIDE, hash_bits, image_bits
from sources.sample import bucket_dir


def test_pictures_of_the_sample_and_parts_of_them_have_imagehash_s_bits() -> None:
    generator = np.random.default_rng(5)
    paths = sorted(path for path in bucket_dir().rglob("*") if path.suffix in (".jpg", ".png"))
    assert len(paths) >= 30
    for path in paths:
        image = open_image(path.read_bytes()).image
        assert image_bits(image).tolist() == imagehash.phash(image).hash.ravel().tolist(), path.name
        for _ in range(10):
            left, top = (int(generator.integers(0, side // 2)) for side in image.size)
            part = image.crop((left, top, left + image.width // 3 + 1, top + image.height // 3 + 1))
            if np.asarray(part.convert("L")).std() >= 4:  # below, imagehash's bits are noise of its floats
                assert (image_bits(part) == imagehash.phash(part).hash.ravel()).all(), path.name


def test_a_symmetric_picture_has_a_symmetric_hash() -> None:
    half = np.random.default_rng(2).integers(0, 256, (50, SIDE, SIDE), dtype=np.uint8)
    bits = hash_bits(np.maximum(half, half.transpose(0, 2, 1))).reshape(-1, 8, 8)
    assert (bits == bits.transpose(0, 2, 1)).all()


def test_pictures_of_one_colour_share_a_hash_and_none_has_none() -> None:
    hashes = {tuple(image_bits(Image.new("L", (50, 40), level)).tolist()) for level in (1, 90, 255)}
    assert len(hashes) == 1
    assert hash_bits(np.zeros((0, SIDE, SIDE), np.uint8)).shape == (0, 64)
