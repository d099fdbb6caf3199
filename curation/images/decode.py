"""Opens any image file under caps and gives its first frame upright, in sRGB, 8 bits a sample.

Bytes are hostile until decoded: limits on bytes, work, pixels and frames come before the decoder.
Of several frames or pages the first is used, except that files with more than `max_frames` are refused.
"""

from __future__ import annotations

import io
import threading
import warnings
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from curation.images.colour import to_eight_bit
from curation.images.containers import check_work, gif_frames
from curation.images.metadata import orientation_of, private_metadata
from schemas.errors import InputError
from schemas.hashing import sha256_bytes
from schemas.stages import Reason

FORMATS = ("JPEG", "PNG", "GIF", "TIFF", "WEBP")
MAX_PIXELS = 100_000_000
MAX_BYTES = 64 * 1024 * 1024
MAX_FRAMES = 1_000

_MAGIC = (
    (b"\xff\xd8\xff", "jpeg"),
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"II*\x00", "tiff"),
    (b"MM\x00*", "tiff"),
    (b"II+\x00", "tiff"),
    (b"MM\x00+", "tiff"),
)
_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_PNG_BIT_DEPTH = 24
# Pillow warns about large and about odd images; the filter list is process-wide, hence the lock.
_warnings_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Decoded:
    """One image file, decoded once for everything that looks at it.

    `image` is the first frame, upright, mode L or RGB, sRGB, transparency on white; `mode` is that of the
    file. `is_plain`: an upright 8-bit grey or RGB JPEG or PNG of one frame. `steps` names what was done to
    the stored samples, in order. `private` names metadata that may identify a person or place (see
    :mod:`curation.images.metadata`).
    """

    image: Image.Image
    data: bytes
    sha256: str
    format: str
    mode: str
    orientation: int
    frames: int
    is_plain: bool
    steps: tuple[str, ...] = ()
    private: tuple[str, ...] = ()

    @property
    def is_fitting(self) -> bool:
        """Releasable byte for byte: plain, and without identifying metadata."""
        return self.is_plain and not self.private

    @property
    def width(self) -> int:
        """Pixels, upright."""
        return self.image.width

    @property
    def height(self) -> int:
        """Pixels, upright."""
        return self.image.height


def open_image(
    source: Path | bytes,
    *,
    max_pixels: int = MAX_PIXELS,
    max_bytes: int = MAX_BYTES,
    max_frames: int = MAX_FRAMES,
) -> Decoded:
    """Decode one image file under caps.

    Args:
        source: the file, or its bytes.
        max_pixels: width × height of the first frame above this is not decoded (decompression bombs).
        max_bytes: larger files are not read.
        max_frames: files of more frames or pages are refused.

    Raises:
        InputError: image_missing, image_corrupt or image_too_large; nothing else, whatever the bytes.
    """
    data = _read(source, max_bytes)
    kind = sniff(data)
    if not kind:
        raise InputError(f"no raster image, first bytes {data[:8].hex()}", reason=Reason.IMAGE_CORRUPT)
    check_work(data, kind)
    with _warnings_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _decode(data, kind, max_pixels, max_frames)
        except InputError:
            raise
        except Image.DecompressionBombError as error:
            message = "more pixels than can be opened safely"
            raise InputError(message, reason=Reason.IMAGE_TOO_LARGE) from error
        except Exception as error:  # decoders of hostile bytes raise anything, MemoryError too
            message = f"does not decode: {type(error).__name__}"
            raise InputError(message, reason=Reason.IMAGE_CORRUPT) from error


def sniff(data: bytes) -> str:
    """Format told by the first bytes: jpeg, png, gif, tiff or webp; '' for anything else."""
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            return kind
    return "webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else ""


def _read(source: Path | bytes, max_bytes: int) -> bytes:
    if isinstance(source, bytes):
        size, data = len(source), source
    else:
        try:
            size = source.stat().st_size
            data = source.read_bytes() if size <= max_bytes else b""
        except OSError as error:
            message = f"cannot be read: {type(error).__name__}"
            raise InputError(message, reason=Reason.IMAGE_MISSING) from error
    if size > max_bytes:
        raise InputError(f"{size} bytes, limit {max_bytes}", reason=Reason.IMAGE_TOO_LARGE)
    return data


def _decode(data: bytes, kind: str, max_pixels: int, max_frames: int) -> Decoded:
    frames = _frames(data, kind, max_frames)
    with Image.open(io.BytesIO(data), formats=[kind.upper()]) as image:
        _check_pixels(image, max_pixels)
        # TIFF is turned by its decoder; every other format only says how it should be turned.
        orientation = orientation_of(image)
        mode, is_transparent = image.mode, "transparency" in image.info
        image.load()
        _check_pixels(image, max_pixels)
        private = private_metadata(image, data, kind)
        flat, steps = to_eight_bit(image, kind)
    if orientation != 1:
        steps = (*steps, "upright")
        if kind != "tiff":
            flat = flat.transpose(_UPRIGHT[orientation])
    is_plain = (
        kind in {"jpeg", "png"}
        and mode in {"L", "RGB"}
        and not is_transparent
        and orientation == 1
        and frames == 1
        and (kind == "jpeg" or data[_PNG_BIT_DEPTH] == 8)
    )
    return Decoded(
        flat, data, sha256_bytes(data), kind, mode, orientation, frames, is_plain, tuple(steps), private
    )


def _check_pixels(image: Image.Image, max_pixels: int) -> None:
    if image.width * image.height > max_pixels:
        detail = f"{image.width} x {image.height} pixels, limit {max_pixels}"
        raise InputError(detail, reason=Reason.IMAGE_TOO_LARGE)


def _frames(data: bytes, kind: str, max_frames: int) -> int:
    """Frames or pages as the container tells; a broken chain of TIFF pages ends the count."""
    if kind == "gif":
        count = max(gif_frames(data), 1)
    else:
        with Image.open(io.BytesIO(data), formats=[kind.upper()]) as image:
            count = _pages(image, max_frames) if kind == "tiff" else int(getattr(image, "n_frames", 1))
    if count > max_frames:
        raise InputError(f"more than {max_frames} frames", reason=Reason.IMAGE_TOO_LARGE)
    return count


def _pages(image: Image.Image, max_frames: int) -> int:
    count = 1
    while count <= max_frames:
        try:
            image.seek(count)
        except Exception:  # EOFError at the end; anything where the chain is damaged
            break
        count += 1
    return count
