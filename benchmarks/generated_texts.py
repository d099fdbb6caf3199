"""Invented English-looking texts: Zipf words, sentences, numbers; many at once with numpy and Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_SMALL_WORDS = """
    the of and in to a was with for is were by that on as at from an this no be which not are or had after we
    it his her have been he she but than these has patient patients during who also showed both all most"""
_SMALL = tuple(_SMALL_WORDS.split())
_NUMBERS = (
    *(str(number) for number in range(2, 100)),
    *(f"{number}%" for number in range(5, 95)),
    *(f"{number / 10:.1f}" for number in range(11, 60)),
    *(f"{number}-year-old" for number in range(18, 85)),
    *("mg/dL", "(n", "mmHg", "cm", "(p", "<0.05)", "T2-weighted", "CT", "MRI", "II", "β-catenin"),
)
_PARTS = """
    ba ce di fo gu ka le mi no pu ra se ti vo zu bra cle dri flo gru pla sto tre vin mor len tal pon ser"""
_SYLLABLES = tuple(_PARTS.split())
_LAST = "a us ic al osis itis oma in ent ed ing ly tion ment ar"
_ENDINGS = tuple(_LAST.split())
_CONTENT = 40_000
_TABLE = 1 << 20
_PER_SENTENCE = 17
_BOILERPLATE = 12

Array = Any


class Writer:
    """Draws texts from one vocabulary."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng([seed, 1])
        made = self._content(random)
        self.content = made
        words = [*_SMALL, *_NUMBERS, *made]
        self.count = len(words)
        forms = [*words, *(word[0].upper() + word[1:] for word in words), *(f"{word}." for word in words)]
        self.forms = pa.array(forms, pa.string())
        weight = np.concatenate([
            0.40 * self._zipf(len(_SMALL), 1.0),
            np.full(len(_NUMBERS), 0.04 / len(_NUMBERS)),
            0.56 * self._zipf(len(made), 1.0),
        ])  # fmt: skip
        self.drawn = np.searchsorted(
            np.cumsum(weight / weight.sum()), (np.arange(_TABLE) + 0.5) / _TABLE
        ).astype(np.int32)
        self.standing = self.texts(random, random.integers(15, 30, _BOILERPLATE))

    @staticmethod
    def _content(random: np.random.Generator) -> list[str]:
        """Different invented words, long enough not to be anybody's small words."""
        found: dict[str, None] = {}
        while len(found) < _CONTENT:
            for count in random.integers(2, 4, 5_000):
                stem = "".join(_SYLLABLES[place] for place in random.integers(0, len(_SYLLABLES), count))
                found[stem + _ENDINGS[int(random.integers(len(_ENDINGS)))]] = None
        return [word for word in found if len(word) > 5][:_CONTENT]

    @staticmethod
    def _zipf(count: int, power: float) -> Array:
        weight = 1.0 / (np.arange(count) + 2.7) ** power
        return weight / weight.sum()

    def texts(self, random: np.random.Generator, lengths: Array) -> list[str]:
        """Texts of so many words each, in sentences."""
        lengths = np.asarray(lengths, np.int64)
        ends = np.cumsum(lengths)
        total = int(ends[-1]) if len(ends) else 0
        chosen = self.drawn[random.integers(0, _TABLE, total)].astype(np.int64)
        is_last = random.random(total) < 1 / _PER_SENTENCE
        is_last[ends - 1] = True
        is_first = np.concatenate([[True], is_last[:-1]])
        is_last &= ~is_first  # a sentence has two words at least
        is_last[ends - 1] = True
        is_first &= ~is_last
        form = np.where(is_last, 2, np.where(is_first, 1, 0))
        words = self.forms.take(pa.array(chosen + form * self.count))
        offsets = pa.array(np.concatenate([[0], ends]), pa.int32())
        joined: list[str] = pc.binary_join(pa.ListArray.from_arrays(offsets, words), " ").to_pylist()
        return joined

    def titles(self, random: np.random.Generator, count: int) -> list[str]:
        """Titles of articles."""
        made = self.texts(random, random.integers(6, 12, count))
        return [title[0].upper() + title[1:].rstrip(".") for title in made]

    def boilerplate(self, random: np.random.Generator) -> str:
        """One of a few sentences that stand in many texts."""
        return self.standing[int(random.integers(len(self.standing)))]

    def nearly(self, random: np.random.Generator, text: str) -> str:
        """The text with one word in twenty replaced by another."""
        words = text.split(" ")
        for place in random.choice(len(words), max(len(words) // 20, 1), replace=False):
            words[place] = self.content[int(random.integers(len(self.content)))]
        return " ".join(words)

    def names(self, random: np.random.Generator) -> Sequence[tuple[str, str]]:
        """(language, name) of an invented disease; `y` and `x` stand in no word of a text."""
        stem = "".join(_SYLLABLES[place] for place in random.integers(0, len(_SYLLABLES), 4)) + "yx"
        return (
            ("en", f"{stem} disease"),
            ("en", f"{stem} syndrome"),
            ("en", f"familial {stem} disease"),
            ("de", f"{stem}-Krankheit"),
            ("es", f"enfermedad de {stem}"),
        )
