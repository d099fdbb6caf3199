"""What a release gets: the file itself, the file without private metadata, or an upright sRGB PNG."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import ExifTags, Image

from curation.images.decode import open_image
from curation.images.metadata import without_metadata
from curation.images.normalise import cut_out, normalise
from curation.release.images import read_image
from schemas.errors import InputError, ReleaseError, WorkspaceError
from schemas.hashing import sha256_bytes
from schemas.stages import Reason
from tests.curation.images.conftest import Marked, corner, samples, saved

BY, ND = "CC-BY-4.0", "CC-BY-ND-4.0"


def gps() -> Image.Exif:
    exif = Image.Exif()
    exif[0x0131] = "a program"  # Pillow writes no EXIF that has sub-directories only into a PNG
    exif.get_ifd(ExifTags.IFD.GPSInfo)[ExifTags.GPS.GPSLatitude] = (52.0, 31.0, 12.0)
    return exif


def serial() -> Image.Exif:
    exif = Image.Exif()
    exif[0x0131] = "a program"  # Pillow writes no EXIF that has sub-directories only into a PNG
    exif.get_ifd(ExifTags.IFD.Exif)[0xA431] = "SN 0042"
    return exif


@pytest.mark.parametrize(
    ("mode", "kind", "extension"), [("RGB", "JPEG", "jpg"), ("L", "JPEG", "jpg"), ("L", "PNG", "png")]
)
@pytest.mark.parametrize("license", [BY, ND])
def test_a_fitting_file_is_copied(mode: str, kind: str, extension: str, license: str) -> None:
    exif = Image.Exif()
    exif[0x0131] = "a program"
    data = saved(corner(mode=mode), kind, exif=exif)
    released = normalise(open_image(data), license=license)
    assert (released.data, released.extension, released.transform) == (data, extension, "")


def others() -> list[tuple[str, bytes]]:
    turned = Image.Exif()
    turned[0x0112] = 6
    wide = Image.fromarray(np.arange(0, 60_000, 100, dtype="<u2").reshape(20, 30))
    return [
        ("jpeg to png, first frame, cmyk to rgb", saved(corner(mode="CMYK"), "JPEG")),
        ("jpeg to png, first frame, upright", saved(corner(), "JPEG", exif=turned)),
        ("tiff to png, first frame", saved(corner(), "TIFF")),
        ("webp to png, first frame", saved(corner(), "WEBP")),
        ("png to png, first frame, transparency on white", saved(corner(mode="RGBA"), "PNG")),
        ("png to png, first frame, wide samples to 8 bits, minimum to maximum", saved(wide, "PNG")),
        ("tiff to png, first frame, 1 bit to 8", saved(corner(mode="1"), "TIFF")),
    ]


@pytest.mark.parametrize(("transform", "data"), others(), ids=[name for name, _ in others()])
def test_anything_else_becomes_png_but_never_under_nd(transform: str, data: bytes) -> None:
    image = open_image(data)
    released = normalise(image, license=BY)
    assert (released.transform, released.extension) == (transform, "png")
    again = open_image(released.data)
    assert again.is_fitting and again.image.tobytes() == image.image.tobytes()
    assert normalise(open_image(data), license=BY) == released
    assert set(Image.open(io.BytesIO(released.data)).info) == set()
    with pytest.raises(InputError, match=ND) as caught:
        normalise(image, license=ND)
    assert caught.value.reason == Reason.LICENCE_NOT_ALLOWED
    with pytest.raises(InputError):
        normalise(image, license="LicenseRef-unknown")


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
@pytest.mark.parametrize(("exif", "named"), [(gps(), "location"), (serial(), "serial_number")])
def test_private_metadata_goes_and_no_pixel_changes(kind: str, exif: Image.Exif, named: str) -> None:
    profile = Image.open(io.BytesIO(saved(corner(), "PNG"))).info.get("icc_profile")
    data = saved(corner(), kind, exif=exif, icc_profile=profile, dpi=(300, 300))
    image = open_image(data)
    assert image.private == (named,) and image.is_plain and not image.is_fitting
    released = normalise(image, license=BY)
    assert released.transform == f"metadata removed ({named.replace('_', ' ')})"
    assert released.extension == {"JPEG": "jpg", "PNG": "png"}[kind] and b"SN 0042" not in released.data
    clean = open_image(released.data)
    assert clean.is_fitting and clean.image.tobytes() == image.image.tobytes()
    assert not Image.open(io.BytesIO(released.data)).getexif()
    with pytest.raises(InputError):
        normalise(image, license=ND)


def test_xmp_position_is_found() -> None:
    packet = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><a exif:GPSLatitude="52,31.2N"/></x:xmpmeta>'
    assert open_image(saved(corner(), "JPEG", xmp=packet)).private == ("location",)
    assert open_image(saved(corner(), "JPEG", xmp=packet.replace(b"GPSLatitude", b"Pixels"))).private == ()


def photoshop(preview: bytes) -> bytes:
    """An APP13 segment with one thumbnail resource (1036), as Photoshop writes it."""
    body = bytes(28) + preview
    body += b"\0" * (len(body) % 2)
    resource = b"8BIM" + (1036).to_bytes(2, "big") + b"\0\0" + len(body).to_bytes(4, "big") + body
    payload = b"Photoshop 3.0\0" + resource
    return b"\xff\xed" + (len(payload) + 2).to_bytes(2, "big") + payload


def test_a_preview_of_another_picture_goes_one_of_the_same_stays() -> None:
    noise = np.kron(np.random.default_rng(5).integers(0, 256, (8, 10, 3)), np.ones((16, 16, 1)))
    whole = Image.fromarray(noise.astype(np.uint8))
    cropped = whole.crop((0, 0, 80, 128))
    same = saved(cropped.resize((50, 80)), "JPEG")
    uncropped = saved(whole.resize((100, 80)), "JPEG")
    coded = saved(cropped, "JPEG")
    kept = coded[:2] + photoshop(same) + coded[2:]
    assert open_image(kept).private == () and normalise(open_image(kept), license=BY).data == kept
    leaking = coded[:2] + photoshop(uncropped) + coded[2:]
    assert open_image(leaking).private == ("preview",)
    released = normalise(open_image(leaking), license=BY)
    assert released.data == coded and released.transform == "metadata removed (preview)"


def test_bytes_after_the_image_are_cut_with_the_metadata() -> None:
    for kind in ("jpeg", "png"):
        data = saved(corner(), kind)
        assert without_metadata(data + b"something hidden", kind) == data
    assert without_metadata(saved(corner(), "jpeg")[:200], "jpeg") is None
    assert without_metadata(saved(corner(), "png")[:-12], "png") is None


def test_release_names_what_it_did_and_refuses_changed_or_barred_files(tmp_path: Path) -> None:
    data = saved(corner(mode="CMYK"), "JPEG")
    (tmp_path / "a.jpg").write_bytes(data)
    released = read_image(tmp_path, "a.jpg", sha256_bytes(data), "q1", license="CC0-1.0")
    assert released.sha256 == sha256_bytes(released.data) != released.source_sha256 == sha256_bytes(data)
    assert (released.width, released.height, released.extension) == (40, 20, "png")
    with pytest.raises(ReleaseError, match="byte-for-byte copy only"):
        read_image(tmp_path, "a.jpg", sha256_bytes(data), "q1", license=ND)
    with pytest.raises(WorkspaceError, match="have changed since"):
        read_image(tmp_path, "a.jpg", "0" * 64, "q1", license="CC0-1.0")
    with pytest.raises(WorkspaceError, match="no longer there"):
        read_image(tmp_path, "b.jpg", "0" * 64, "q1", license="CC0-1.0")
    (tmp_path / "c.jpg").write_bytes(data[:300])
    with pytest.raises(ReleaseError, match="does not decode"):
        read_image(tmp_path, "c.jpg", sha256_bytes(data[:300]), "q1", license="CC0-1.0")


def test_marked_images_keep_every_pixel(marked_images: Marked) -> None:
    copied = 0
    for _, path in marked_images:
        image = open_image(path)
        released = normalise(image, license=BY)
        copied += released.data == path.read_bytes()
        assert (samples(open_image(released.data).image) == samples(image.image)).all()
    assert copied >= 0.75 * len(marked_images)


def test_a_panel_is_cut_pixel_for_pixel(tmp_path: Path) -> None:
    data = saved(corner(80, 60), "JPEG")
    whole = open_image(data)
    cut = cut_out(whole, (10, 20, 50, 60), license=BY)
    found = open_image(cut.data)
    assert (found.format, found.image.size) == ("png", (40, 40))
    assert found.image.tobytes() == whole.image.crop((10, 20, 50, 60)).tobytes()
    assert cut == cut_out(open_image(data), (10, 20, 50, 60), license=BY)
    with pytest.raises(InputError) as caught:
        cut_out(whole, (10, 20, 50, 60), license=ND)
    assert caught.value.reason == Reason.LICENCE_NOT_ALLOWED
    (tmp_path / "a.jpg").write_bytes(data)
    name = sha256_bytes(data)
    released = read_image(tmp_path, "a.jpg", name, "q", license=BY, box=(10, 20, 50, 60))
    assert (released.width, released.height, released.source_sha256) == (40, 40, name)
    assert released.data == cut.data and "panel 10,20,50,60 cut out" in released.transform
    for box in ((-1, 0, 5, 5), (0, 0, 81, 5), (5, 0, 5, 5), (0, 9, 5, 8)):
        with pytest.raises(ReleaseError, match="not inside"):
            read_image(tmp_path, "a.jpg", name, "q", license=BY, box=box)
