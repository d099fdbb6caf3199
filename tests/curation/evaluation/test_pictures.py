"""The image baseline finds copies and look-alikes, and is the same every time."""

import io

import numpy as np
from PIL import Image

from curation.evaluation.pictures import image_vector
from tests.curation.evaluation.world import picture


def changed(data: bytes, scale: float) -> bytes:
    image = Image.open(io.BytesIO(data))
    out = io.BytesIO()
    image.resize((int(image.width * scale), int(image.height * scale))).save(out, format="JPEG", quality=90)
    return out.getvalue()


def test_a_resized_copy_is_nearest() -> None:
    originals = np.stack([image_vector(picture(seed)) for seed in range(8)])
    for seed in range(8):
        copy = image_vector(changed(picture(seed), 1.5))
        assert int(np.argmax(originals @ copy)) == seed


def test_vectors_are_finite_and_repeat() -> None:
    flat = io.BytesIO()
    Image.new("L", (5, 3), 128).save(flat, format="PNG")
    for data in (picture(1), flat.getvalue()):
        vector = image_vector(data)
        assert vector.shape == (256,)
        assert np.isfinite(vector).all()
        np.testing.assert_array_equal(vector, image_vector(data))
