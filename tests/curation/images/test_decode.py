"""Decoding: caps, every mode and orientation, first frame, damaged files."""

from __future__ import annotations

import random
import struct
import time
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageCms

from benchmarks.hostile.images import LIMITS, mutants, outcome, seeds
from curation.images.containers import gif_frames
from curation.images.decode import open_image
from schemas.errors import InputError
from schemas.stages import Reason
from tests.curation.images.conftest import Marked, corner, samples, saved


def refused(data: bytes | Path, **caps: int) -> str:
    with pytest.raises(InputError) as caught:
        open_image(data, **caps)
    return caught.value.reason


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "TIFF", "WEBP"])
def test_every_format_opens_as_eight_bit(kind: str, tmp_path: Path) -> None:
    data = saved(corner(), kind)
    path = tmp_path / "misleading.txt"
    path.write_bytes(data)
    image = open_image(path)
    assert (image.format, image.width, image.height, image.frames) == (kind.lower(), 40, 20, 1)
    assert image.image.mode == "RGB" and image.data == data
    assert samples(image.image)[2, 2, 0] > 150 > samples(image.image)[2, 2, 1]
    assert image.is_fitting == (kind in {"JPEG", "PNG"})
    assert open_image(data) == image or samples(open_image(data).image).tobytes() == image.image.tobytes()


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_is_applied_once(kind: str, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    options: dict[str, Any] = {"lossless": True} if kind == "WEBP" else {}
    image = open_image(saved(corner(), kind, exif=exif, **options))
    assert image.orientation == orientation
    assert (image.width, image.height) == ((20, 40) if orientation >= 5 else (40, 20))
    red = samples(image.image)[..., 1] < 128
    rows, columns = np.nonzero(red)
    # Where the top left quarter goes: EXIF 2.3, 4.6.4 A, Orientation.
    is_top = orientation in {1, 2, 5, 6}
    is_left = orientation in {1, 4, 5, 8}
    assert (rows.mean() < image.height / 2) == is_top, (rows.mean(), columns.mean())
    assert (columns.mean() < image.width / 2) == is_left
    assert image.is_fitting == (orientation == 1 and kind in {"JPEG", "PNG"})


def test_cmyk_and_ycck_come_out_in_the_right_sense() -> None:
    image = open_image(saved(corner(mode="CMYK"), "JPEG", quality=95))
    assert (image.mode, image.is_fitting) == ("CMYK", False)
    red, white = samples(image.image)[2, 2], samples(image.image)[18, 38]
    assert red[0] > 150 and red[1] < 90 and min(white) > 235
    assert "cmyk to rgb" in image.steps


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
@pytest.mark.parametrize("byte_order", ["<", ">"])
def test_wide_grey_is_scaled_from_minimum_to_maximum(kind: str, byte_order: str) -> None:
    ramp = np.linspace(1_000, 5_095, 4_096).astype(f"{byte_order}u2").reshape(64, 64)
    image = open_image(saved(Image.fromarray(ramp), kind))
    grey = samples(image.image)
    assert (image.image.mode, int(grey[0, 0]), int(grey[-1, -1])) == ("L", 0, 255)
    assert (np.diff(grey.ravel().astype(int)) >= 0).all() and len(np.unique(grey)) == 256
    assert not image.is_fitting and "wide samples" in image.steps[0]


def test_white_is_zero_is_turned() -> None:
    ramp = np.arange(0, 6_400, 100, dtype="<u2").reshape(8, 8)
    data = bytearray(saved(Image.fromarray(ramp), "TIFF"))
    at = data.index(struct.pack("<HHI", 262, 3, 1))
    struct.pack_into("<I", data, at + 8, 0)
    plain, turned = open_image(saved(Image.fromarray(ramp), "TIFF")), open_image(bytes(data))
    assert (samples(turned.image) == 255 - samples(plain.image)).all()


def test_floats_with_gaps_and_constants() -> None:
    values = np.array([[0.0, 0.5], [1.0, np.nan]], dtype=np.float32)
    assert samples(open_image(saved(Image.fromarray(values), "TIFF")).image).tolist() == [[0, 128], [255, 0]]
    flat = np.full((4, 4), 3.5, dtype=np.float32)
    assert not samples(open_image(saved(Image.fromarray(flat), "TIFF")).image).any()


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_transparency_is_put_on_white(mode: str) -> None:
    image = corner(mode="RGBA" if mode == "P" else mode)
    alpha = Image.new("L", image.size, 255)
    alpha.paste(0, (20, 0, 40, 20))
    if mode == "P":
        paletted = corner().quantize(4)
        paletted.paste(int(samples(paletted)[19, 39]), (0, 0, 40, 20))
        image = paletted
        data = saved(image, "PNG", transparency=image.getpixel((0, 0)))
    else:
        image.putalpha(alpha)
        data = saved(image, "PNG")
    decoded = open_image(data)
    assert "transparency on white" in decoded.steps and not decoded.is_fitting
    assert np.asarray(decoded.image.convert("L"))[:, 21:].min() == 255


def test_one_bit_palette_and_lab() -> None:
    assert set(np.unique(samples(open_image(saved(corner(mode="1"), "TIFF")).image))) <= {0, 255}
    assert open_image(saved(corner().quantize(8), "PNG")).image.mode == "RGB"
    assert not open_image(saved(corner().quantize(8), "PNG")).is_fitting
    lab = corner().convert("RGB")
    profile = ImageCms.createProfile("LAB")
    as_lab = ImageCms.profileToProfile(lab, ImageCms.createProfile("sRGB"), profile, outputMode="LAB")
    assert as_lab is not None
    back = samples(open_image(saved(as_lab, "TIFF")).image).astype(int)
    assert np.abs(back - samples(lab)).max() <= 10  # Lab in 8 bits is coarse


def test_a_profile_is_followed_and_a_broken_one_ignored() -> None:
    # A profile that exchanges nothing but has another white and gamma: XYZ read as RGB gives other numbers.
    xyz = ImageCms.ImageCmsProfile(ImageCms.createProfile("XYZ")).tobytes()
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    plain = open_image(saved(corner(), "PNG"))
    assert open_image(saved(corner(), "PNG", icc_profile=srgb)).steps == ()
    for profile in (xyz, b"no profile at all" * 20):
        image = open_image(saved(corner(), "PNG", icc_profile=profile))
        assert image.steps in {("colour profile to sRGB",), ("unusable colour profile ignored",)}
        assert image.image.size == plain.image.size
    broken = open_image(saved(corner(), "PNG", icc_profile=b"x" * 200))
    assert broken.steps == ("unusable colour profile ignored",)
    assert broken.image.tobytes() == plain.image.tobytes()


@pytest.mark.parametrize("kind", ["GIF", "TIFF", "WEBP", "PNG"])
def test_first_frame_counts_and_frames_are_capped(kind: str) -> None:
    others = [Image.new("RGB", (40, 20), (0, 0, shade)) for shade in range(60, 260, 40)]
    options: dict[str, Any] = {"lossless": True} if kind == "WEBP" else {}
    data = saved(corner(), kind, save_all=True, append_images=others, **options)
    image = open_image(data)
    assert image.frames == 6 and not image.is_fitting
    assert samples(image.image)[2, 2, 0] > 150
    assert open_image(data, max_frames=6).frames == 6
    assert refused(data, max_frames=5) == Reason.IMAGE_TOO_LARGE
    assert kind != "GIF" or gif_frames(data) == 6


def test_caps_on_bytes_and_pixels(tmp_path: Path) -> None:
    data = saved(Image.new("L", (300, 200)), "PNG")
    assert open_image(data, max_pixels=60_000).width == 300
    assert refused(data, max_pixels=59_999) == Reason.IMAGE_TOO_LARGE
    assert refused(data, max_bytes=10) == Reason.IMAGE_TOO_LARGE
    assert refused(tmp_path / "none") == Reason.IMAGE_MISSING
    assert refused(b"") == refused(b"<html>") == refused(b"%PDF-1.7") == Reason.IMAGE_CORRUPT


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "TIFF", "WEBP"])
def test_a_cut_file_is_corrupt(kind: str) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (120, 160, 3)).astype(np.uint8)
    whole = saved(Image.fromarray(noise), kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert refused(whole[: len(whole) // 2]) == refused(whole[:20]) == Reason.IMAGE_CORRUPT


@pytest.mark.parametrize(
    "bomb",
    ["pixels", "text", "chunks", "scans", "frames"],
)
def test_bombs_are_refused_at_once(bomb: str) -> None:
    small = saved(Image.new("L", (9, 9)), "PNG")

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    if bomb == "pixels":
        data = saved(Image.new("1", (12_000, 12_000)), "PNG")
    elif bomb == "text":
        data = small[:33] + chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(300_000_000), 9)) + small[33:]
    elif bomb == "chunks":
        data = small[:33] + chunk(b"abCd", b"") * 1_000_000 + small[33:]
    elif bomb == "scans":
        whole = saved(Image.new("L", (4_000, 4_000), 99), "JPEG", progressive=True)
        data = whole[:-2] + whole[whole.rfind(b"\xff\xda") : -2] * 20_000 + whole[-2:]
    else:
        whole = saved(Image.new("P", (8, 8)), "GIF")
        start = whole.index(b"\x2c")
        data = whole[:start] + whole[start:-1] * 300_000 + b";"
    started = time.process_time()
    assert refused(data) in {Reason.IMAGE_TOO_LARGE, Reason.IMAGE_CORRUPT}
    assert time.process_time() - started < 3


def test_a_progressive_jpeg_as_encoders_write_it_opens() -> None:
    data = saved(corner(640, 480), "JPEG", progressive=True)
    assert 2 < data.count(b"\xff\xda") <= 12 and open_image(data).is_fitting


def test_damaged_files_are_read_or_refused() -> None:
    files = seeds()
    seen: set[str] = set()
    for _, _, data in mutants(files, 104, 20261121):
        first = outcome(data)
        assert first == "read" or Reason(first.removeprefix("quarantined: "))
        seen.add(first)
    assert seen >= {"read", "quarantined: image_corrupt", "quarantined: image_too_large"}


def test_damaged_files_give_the_same_pixels_every_time() -> None:
    rng = random.Random(3)
    for _, _, data in mutants(seeds(), 24, rng.randrange(1_000)):
        results = []
        for _ in range(2):
            try:
                results.append(open_image(data, **LIMITS).image.tobytes())
            except InputError as error:
                results.append(str(error).encode())
        assert results[0] == results[1]


def test_marked_images_all_open(marked_images: Marked) -> None:
    for entry, path in marked_images:
        image = open_image(path)
        assert image.sha256 == entry["sha256"] and image.image.mode in {"L", "RGB"}
