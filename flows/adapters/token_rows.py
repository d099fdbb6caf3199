"""What the sentence encoder knows of a token whatever stands beside it, kept for the tokens used of late.

Embedding, projection and each token's share in the first convolution are half of the work, and a
twentieth of the vocabulary makes nearly all of a corpus.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

EMBEDDING, CHANNELS = 512, 256
ORDERS = ((2, 0), (3, 1), (5, 2))
"""Window sizes of the convolutions, and how many tokens of a window stand before its own."""
FINE = 1 << 24
"""Steps of 1.0 that activations are rounded to before a product in float64."""
ROWS = 8_192
"""Tokens kept, 15 KB each."""

FEATURE_STEPS = 1 << 12
"""Steps of 1.0 that features are rounded to before they are summed."""

_CHUNKS = 17  # the embedding table is quantised in 17 parts: token n stands in part n mod 17
_SUMMED = 1 << 20
_MOST = 1 << 8

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Ints = NDArray[np.int64]


def whole_steps(weights: NDArray[np.floating[Any]]) -> tuple[F64, float]:
    """A quantised matrix as whole numbers and the step they count.

    Raises:
        ValueError: it is not one: its entries are no multiples of one step up to 127.
    """
    wide = weights.astype(np.float64)
    step = float(np.abs(wide).max()) / 127
    whole: F64 = np.rint(wide / (step or 1.0))
    if not step or np.abs(wide - whole * step).max() > 1e-3 * step:
        raise ValueError("these weights are not 8-bit whole numbers of one step")
    return whole, step


class TokenRows:
    """Row numbers of tokens, and tables to look up by them; row 0 is all zeros, for where no token is.

    What a row holds does not depend on which tokens it was computed with, or when.
    """

    def __init__(self, held: Mapping[str, NDArray[Any]], rows: int = ROWS) -> None:
        """Prepare empty tables.

        Args:
            held: arrays of the package's weights by name.
            rows: tokens to keep; more if one batch has more.
        """
        table = [held[f"q{part + 1}"] for part in range(_CHUNKS)]
        self._table = np.stack(table, axis=1).reshape(-1, EMBEDDING)
        self._scale, self._low = held["scale"].astype(np.float64), held["lo"].astype(np.float64)
        parts = [whole_steps(held[f"proj{order}"]) for order, _ in ORDERS]
        self._projection = np.concatenate([whole for whole, _ in parts], axis=1)
        self._projection_step = np.repeat([step for _, step in parts], CHANNELS)
        self._projection_bias = _joined(held, "proj_b")
        self._gain, self._offset, self._floor = (
            _joined(held, "ln_g"),
            _joined(held, "ln_b"),
            float(held["eps"]),
        )
        self._convolutions = [whole_steps(held[f"w1_{order}"]) for order, _ in ORDERS]
        self.bias: list[F32] = [held[f"b1_{order}"].astype(np.float32) for order, _ in ORDERS]
        self._row_of = np.zeros(len(self._table), np.int64)
        self._make(rows)

    def _make(self, rows: int) -> None:
        self._row_of[:] = 0
        self._token_of = np.zeros(rows + 1, np.int64)
        self._used = np.zeros(rows + 1, np.int64)
        self._batches = 0
        self.embeddings = np.zeros((rows + 1, EMBEDDING), np.float32)
        self.totals, self.squares = np.zeros(rows + 1), np.zeros(rows + 1)
        self.inputs: list[F32] = [np.zeros((rows + 1, CHANNELS), np.float32) for _ in ORDERS]
        self.shares: list[list[F32]] = [
            [np.zeros((rows + 1, CHANNELS), np.float32) for _ in range(order)] for order, _ in ORDERS
        ]

    def of(self, tokens: Ints) -> Ints:
        """The row of each token; what is not kept is computed, in place of what was used longest ago."""
        known = np.unique(tokens)
        if len(known) > len(self._used) - 1:
            self._make(2 * len(known))
        self._batches += 1
        rows = self._row_of[known]
        self._used[rows] = self._batches
        if len(missing := known[rows == 0]):
            self._used[0] = np.iinfo(np.int64).max  # never given away
            free = np.argpartition(self._used, len(missing) - 1)[: len(missing)]
            given_up = self._token_of[free[self._used[free] > 0]]
            self._row_of[given_up] = 0
            self._row_of[missing], self._token_of[free], self._used[free] = free, missing, self._batches
            self._compute(missing, free)
        return self._row_of[tokens]

    def _compute(self, tokens: Ints, rows: Ints) -> None:
        coded = self._table[tokens].astype(np.float64)
        scale, low = self._scale[tokens % _CHUNKS, None], self._low[tokens % _CHUNKS, None]
        whole = np.rint((coded * scale + low) * FEATURE_STEPS)
        self.embeddings[rows] = whole / FEATURE_STEPS
        self.totals[rows] = whole.sum(axis=1)
        self.squares[rows] = np.einsum("ij,ij->i", whole, whole)
        counted = (coded @ self._projection) * scale + self._projection.sum(axis=0) * low
        entered = self._normalised(counted * self._projection_step + self._projection_bias)
        for place, (order, _) in enumerate(ORDERS):
            part = entered[:, place * CHANNELS : (place + 1) * CHANNELS]
            self.inputs[place][rows] = part
            steps = np.rint(np.clip(part, -_MOST, _MOST) * FINE)
            weights, step = self._convolutions[place]
            for offset in range(order):
                block = weights[offset * CHANNELS : (offset + 1) * CHANNELS]
                self.shares[place][offset][rows] = steps @ block * (step / FINE)

    def _normalised(self, values: F64) -> F64:
        """Layer normalisation of each row. Sums are of whole numbers, below 2^52 for every token."""
        width = values.shape[1]
        whole = np.rint(values * _SUMMED)
        centred = np.rint((whole - whole.sum(axis=1, keepdims=True) / width) / 16)
        squares = np.einsum("ij,ij->i", centred, centred)[:, None] / (_SUMMED / 16) ** 2
        unit = centred / (_SUMMED / 16) / np.sqrt(squares / width + self._floor)
        normalised: F64 = unit * self._gain + self._offset
        return normalised


def _joined(held: Mapping[str, NDArray[Any]], name: str) -> F64:
    return np.concatenate([held[f"{name}{order}"].astype(np.float64) for order, _ in ORDERS])
