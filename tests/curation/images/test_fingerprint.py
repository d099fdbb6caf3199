"""Perceptual hashes and thumbnails: equal for equal pixels, near for near ones, far for others."""

from __future__ import annotations

import base64
import io

import numpy as np
from PIL import Image

from curation.images.decode import open_image
from curation.images.fingerprint import THUMBNAIL_SIDE, perceptual_hash, thumbnail
from tests.curation.images.conftest import Marked, corner, saved


def noise(seed: int, side: int = 8) -> Image.Image:
    blocks = np.random.default_rng(seed).integers(0, 256, (side, side, 3))
    return Image.fromarray(np.kron(blocks, np.ones((40, 40, 1))).astype(np.uint8))


def distance(one: str, two: str) -> int:
    return (int(one, 16) ^ int(two, 16)).bit_count()


def test_hash_survives_format_size_and_rotation_flag() -> None:
    image = noise(1)
    first = perceptual_hash(image)
    assert len(first) == 16 and int(first, 16) >= 0
    assert perceptual_hash(open_image(saved(image, "PNG")).image) == first
    assert distance(first, perceptual_hash(open_image(saved(image, "JPEG", quality=60)).image)) <= 4
    assert distance(first, perceptual_hash(image.resize((150, 150)))) <= 4
    exif = Image.Exif()
    exif[0x0112] = 6
    turned = open_image(saved(image.transpose(Image.Transpose.ROTATE_90), "PNG", exif=exif)).image
    assert perceptual_hash(turned) == first
    assert all(distance(first, perceptual_hash(noise(seed))) > 12 for seed in range(2, 12))


def test_tiny_and_plain_images_have_a_hash() -> None:
    for image in (Image.new("L", (1, 1)), Image.new("RGB", (3, 900), "white"), corner(2, 2)):
        assert len(perceptual_hash(image)) == 16 and thumbnail(image)


def test_thumbnail_is_small_repeatable_and_bare() -> None:
    profile = b"x" * 300
    image = open_image(saved(noise(3, 16), "JPEG", icc_profile=profile, comment=b"a remark")).image
    text = thumbnail(image)
    assert text == thumbnail(image)
    small = Image.open(io.BytesIO(base64.b64decode(text)))
    assert small.format == "JPEG" and max(small.size) == THUMBNAIL_SIDE
    assert "comment" not in small.info and "icc_profile" not in small.info
    assert Image.open(io.BytesIO(base64.b64decode(thumbnail(corner())))).size == (40, 20)
    narrow = Image.open(io.BytesIO(base64.b64decode(thumbnail(Image.new("L", (2_000, 3))))))
    assert narrow.size == (256, 1)


def test_marked_images_hash_apart(marked_images: Marked) -> None:
    hashes = {entry["file"]: perceptual_hash(open_image(path).image) for entry, path in marked_images}
    near = [
        (one, two)
        for one in hashes
        for two in hashes
        if one < two and distance(hashes[one], hashes[two]) <= 6
    ]
    # A SciELO article stores two figures as thumbnail and full size, one of the sample for print and web.
    copies = {
        ("0c10c88b56f3f9b4f4eccfe9ddbca3fd581aac1b.jpg", "fd89fb6a2a0f973016f2de7ee2b64b51ca573999.jpg"),
        ("10.5555_msjo.9.31-F1_OC.jpg", "10.5555_msjo.9.31-F1_PB.jpg"),
    }
    assert copies & set(near)
    assert len(near) <= 6, near
