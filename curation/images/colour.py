"""Samples of any mode to 8-bit grey or RGB in sRGB, transparency on white.

Wide samples (16-bit grey, integers, floats) are mapped linearly, minimum to 0 and maximum to 255: scanners
store 10 to 14 bits in 16, and percentiles would clip the rare bright pixels a reader looks for.
"""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, ImageCms

_WIDE = frozenset({"I;16", "I;16L", "I;16B", "I;16N", "I", "F"})
_PHOTOMETRIC = 262
_WHITE_IS_ZERO = 0


def to_eight_bit(image: Image.Image, kind: str) -> tuple[Image.Image, tuple[str, ...]]:
    """A decoded frame as mode L or RGB, and the names of the steps that took it there.

    Args:
        image: the loaded frame, as stored.
        kind: format of the file; TIFF alone may state that white is zero.

    Raises:
        ValueError: no conversion from its mode is known.
    """
    steps: list[str] = []
    profile = image.info.get("icc_profile")
    if image.mode in _WIDE:
        steps.append("wide samples to 8 bits, minimum to maximum")
        is_inverted = kind == "tiff" and image.tag_v2.get(_PHOTOMETRIC) == _WHITE_IS_ZERO  # type: ignore[attr-defined]
        return _narrow(image, is_inverted), tuple(steps)
    if image.mode == "1":
        return image.convert("L"), ("1 bit to 8",)
    alpha = _alpha(image)
    flat = _opaque(image)
    if profile and not _is_srgb(profile):
        converted = _through_profile(flat, profile)
        steps.append("colour profile to sRGB" if converted else "unusable colour profile ignored")
        flat = converted or flat
    if flat.mode not in ("L", "RGB"):
        steps.append(f"{flat.mode.lower()} to rgb")
        flat = _lab_to_rgb(flat) if flat.mode == "LAB" else flat.convert("RGB")
    if alpha is not None:
        steps.append("transparency on white")
        ground = Image.new(flat.mode, flat.size, "white")
        ground.paste(flat, mask=alpha)
        flat = ground
    flat = flat.copy() if flat is image else flat
    flat.info = {}  # a profile, comment or resolution would be written with every copy
    return flat, tuple(steps)


def _alpha(image: Image.Image) -> Image.Image | None:
    if image.mode in ("RGBA", "LA"):
        return image.getchannel("A")
    if image.mode in ("RGBa", "La", "PA") or "transparency" in image.info:
        return image.convert("RGBA").getchannel("A")
    return None


def _opaque(image: Image.Image) -> Image.Image:
    """Without alpha and palette; CMYK, LAB and YCbCr stay, their profile may be for them."""
    if image.mode in ("LA", "La"):
        return image.convert("LA").getchannel("L")
    if image.mode in ("P", "PA"):
        return image.convert("RGBA").convert("RGB")
    if image.mode in ("RGBA", "RGBa", "RGBX"):
        return image.convert("RGBA").convert("RGB")
    return image


def _is_srgb(profile: bytes) -> bool:
    try:
        described = ImageCms.getProfileDescription(ImageCms.ImageCmsProfile(io.BytesIO(profile)))
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return False
    return "srgb" in described.casefold()


def _through_profile(image: Image.Image, profile: bytes) -> Image.Image | None:
    """Colours as the embedded ICC profile means them, or None where profile and image do not fit."""
    target = "L" if image.mode == "L" else "RGB"
    try:
        converted = ImageCms.profileToProfile(
            image,
            ImageCms.ImageCmsProfile(io.BytesIO(profile)),
            ImageCms.createProfile("sRGB"),
            renderingIntent=ImageCms.Intent.PERCEPTUAL,
            outputMode="RGB",
        )
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return None
    return None if converted is None else converted.convert(target)


def _lab_to_rgb(image: Image.Image) -> Image.Image:
    converted = ImageCms.profileToProfile(
        image, ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB"), outputMode="RGB"
    )
    if converted is None:
        raise ValueError("no conversion from LAB")
    return converted


def _narrow(image: Image.Image, is_inverted: bool) -> Image.Image:
    samples = np.asarray(image)
    if samples.dtype.kind == "f":
        finite = np.isfinite(samples)
        low = float(samples.min(where=finite, initial=np.inf))
        high = float(samples.max(where=finite, initial=-np.inf))
        samples = np.nan_to_num(samples, nan=low, posinf=high, neginf=low)
    else:
        low, high = float(samples.min()), float(samples.max())
    scale = 255.0 / (high - low) if high > low else 0.0
    narrow = np.empty(samples.shape, np.uint8)
    for row in range(0, samples.shape[0], 256):  # in strips: an image may fill a tenth of the memory
        strip = (samples[row : row + 256].astype(np.float64) - low) * scale
        narrow[row : row + 256] = np.rint(strip if scale else np.zeros_like(strip))
    return Image.fromarray(255 - narrow if is_inverted else narrow)
