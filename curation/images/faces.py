"""Faces by OpenCV's Haar cascades (Viola and Jones 2001), the extra `faces`: frontal and profile.

The cascades come with OpenCV. They miss turned, covered and small faces and now and then see one in a
texture: the flag sends an image to a reviewer, it does not clear one.
"""

from __future__ import annotations

import functools
import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from PIL import Image

from curation.images.features import shrunk
from schemas.errors import UsageError

SIDE = 640
_CASCADES = ("haarcascade_frontalface_alt2.xml", "haarcascade_profileface.xml")
_SCALE, _NEIGHBOURS, _SMALLEST = 1.1, 5, 32


def count_faces(image: Image.Image) -> int:
    """Faces found by the cascade that finds most, in a grey copy of at most 640 pixels a side.

    Args:
        image: upright, mode L or RGB.

    Raises:
        UsageError: the extra `faces` is not installed.
    """
    opencv, cascades = _detectors()
    grey = shrunk(image, SIDE, Image.Resampling.BOX).convert("L")
    if min(grey.size) < _SMALLEST:
        return 0
    samples = opencv.equalizeHist(np.asarray(grey))
    return max(
        len(cascade.detectMultiScale(samples, _SCALE, _NEIGHBOURS, minSize=(_SMALLEST, _SMALLEST)))
        for cascade in cascades
    )


@functools.cache
def _detectors() -> tuple[ModuleType, tuple[Any, ...]]:
    try:
        opencv: Any = importlib.import_module("cv2")
    except ImportError as error:
        raise UsageError(
            "the face check needs OpenCV, which is not installed",
            hint="install the extra: make setup EXTRAS=faces",
        ) from error
    opencv.setNumThreads(1)
    folder = Path(opencv.data.haarcascades)
    return opencv, tuple(opencv.CascadeClassifier(str(folder / name)) for name in _CASCADES)
