"""Which language a name is in, by the runs of letters it is written with.

Names of diseases are short and much alike in related languages: a model of running text tells them badly.
Each run of a few letters speaks for the languages whose known names it stands in (naive Bayes). Weights and
bounds are fitted to known names by `benchmarks/name_weights.py` and are whole numbers, so that every
processor finds the same.
"""

from __future__ import annotations

import functools
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

LETTERS = range(2, 5)
"""Of a run in a word, whose ends count as letters."""
SIGNS = range(1, 3)
"""Of a run where there are no spaces."""
_WORD = re.compile(r"[^\W\d_]+")
_SIGN = re.compile(r"[\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
"""Han and kana."""


@dataclass(frozen=True, slots=True)
class NameRuns:
    """What runs of letters say of languages that one is mistaken for another of."""

    languages: tuple[str, ...]
    least: Mapping[str, int]
    """Tenths of a log-odds of its language against the likeliest other one, below which a name is of that."""
    weights: Mapping[str, Sequence[int]]
    """Run -> tenths of a log-odds of each language against all."""

    def odds(self, text: str, language: str) -> tuple[str, int] | None:
        """The likeliest language, and tenths of a log-odds of a name's own against the likeliest other one.

        None without a run that is known. Of names of any length alike: divided by the root of their runs.
        """
        known = [self.weights[run] for run in runs_of(text, self.languages) if run in self.weights]
        if not known:
            return None
        sums = dict(zip(self.languages, map(sum, zip(*known, strict=True)), strict=True))
        other = max(value for name, value in sums.items() if name != language)
        likely = max(sums, key=lambda name: (sums[name], name))
        return likely, round((sums[language] - other) / math.sqrt(len(known)))


def runs_of(text: str, languages: Sequence[str]) -> frozenset[str]:
    """The different runs of letters in a name, by whether its languages put spaces between words."""
    folded = text.lower()
    if "zh" in languages:
        parts, lengths = _SIGN.findall(folded), SIGNS
    else:
        parts, lengths = [f"^{word}$" for word in _WORD.findall(folded)], LETTERS
    return frozenset(
        part[start : start + length]
        for part in parts
        for length in lengths
        for start in range(len(part) - length + 1)
    )


@functools.cache
def name_runs(language: str) -> NameRuns | None:
    """What is known of the names of a language and of those it is mistaken for; None: nothing."""
    return next((group for group in _groups() if language in group.least), None)


@functools.cache
def _groups() -> tuple[NameRuns, ...]:
    text = (resources.files("curation.multilingual") / "name_runs.toml").read_text("utf-8")
    return tuple(
        NameRuns(
            tuple(group["languages"]),
            group["least"],
            {
                run: tuple(map(int, weights.split()))
                for run, _, weights in (line.partition(" ") for line in group["runs"].splitlines())
            },
        )
        for group in tomllib.loads(text)["group"]
    )
