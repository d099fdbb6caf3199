"""Hashes of words and of sequences of words; the same on all machines, for index files hold them."""

from __future__ import annotations

import functools
import hashlib
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

_MODULUS = 1 << 64
_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, _MODULUS)
_MIX = 0xBF58476D1CE4E5B9

Array = npt.NDArray[Any]


def form_hash(language: str, form: str) -> int:
    """64 bits that stand for a key form of one language; sums of them stand for a name in any order."""
    data = f"{language}\0{form}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


def word_hash(word: str) -> int:
    """32 bits that stand for a word where order is checked."""
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))


COMMA_AFTER = 0x1F123BB5D
"""Added to a word's hash when a comma follows."""


def sequence_hash(words: Iterable[int]) -> int:
    """32 bits that stand for words in their order, from their word hashes (with commas after them added)."""
    total, power = 0, 1
    for word in words:
        total += word * power
        power = power * _BASE % _MODULUS
    return (total * _MIX % _MODULUS) >> 32


@functools.lru_cache(maxsize=8)
def _powers(size: int) -> tuple[Array, Array]:
    """Powers of the base and of its inverse, 0 to size - 1."""
    powers, inverse = np.ones(size, dtype=np.uint64), np.ones(size, dtype=np.uint64)
    powers[1:], inverse[1:] = _BASE, _INVERSE
    return np.cumprod(powers), np.cumprod(inverse)


class Sequences:
    """Sequence hashes of any stretch of an array of word hashes."""

    def __init__(self, words: Array, commas: Array) -> None:
        self._powers, self._inverse = _powers(1 << max(8, len(words).bit_length()))
        self._words = words
        self._sums = np.zeros(len(words) + 1, dtype=np.uint64)
        marked = words + commas.astype(np.uint64) * np.uint64(COMMA_AFTER)
        np.cumsum(marked * self._powers[: len(words)], out=self._sums[1:])

    def of(self, first: Array, last: Array) -> Array:
        """Hashes of the stretches from `first` to `last`, a comma after the last one apart."""
        return self._mixed(self._raw(first, last))

    def rotated(self, first: Array, middle: Array, last: Array) -> Array:
        """Hashes of the stretches with what stands up to `middle` moved to their end."""
        moved = self._raw(first, middle) * self._powers[last - middle]
        return self._mixed(self._raw(middle + 1, last) + moved)

    def _raw(self, first: Array, last: Array) -> Array:
        sums = (self._sums[last] - self._sums[first]) * self._inverse[first]
        whole: Array = sums + self._words[last] * self._powers[last - first]
        return whole

    @staticmethod
    def _mixed(sums: Array) -> Array:
        return (sums * np.uint64(_MIX)) >> np.uint64(32)
