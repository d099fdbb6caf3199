"""Which of the languages of queries a text is in, by py3langid's model.

The model is added up here in whole numbers: the library multiplies in float32, which another processor may
round otherwise, and a score is published.
"""

from __future__ import annotations

import functools
import math
import unicodedata
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from py3langid.langid import MODEL_FILE, LanguageIdentifier, visit_counts

LANGUAGES = ("de", "en", "es", "fr", "it", "ja", "pt", "ru", "zh")
"""Those that queries are in: told that there are no others, it tells them apart in a few words."""
_STEPS = 1 << 20
_MOST_COUNTED = 4096


@dataclass(frozen=True, slots=True)
class _Model:
    """An automaton over bytes, whose places with an output are features; weights in steps."""

    moves: Any
    rows: list[int]
    outputs: Any
    weights: NDArray[np.int64]
    priors: NDArray[np.int64]
    counted: NDArray[np.int64]
    """Steps by how often a feature was seen."""


def log_odds(text: str) -> dict[str, int]:
    """Language -> log-odds, in hundredths, that a text is in it and not in the likeliest other one.

    As the model does, they are of a text of any length alike: divided by the root of its bytes. Empty without
    anything it knows.
    """
    model = _model()
    said = unicodedata.normalize("NFC", text.lower() if text.isupper() else text).encode("utf-8", "replace")
    seen = visit_counts(model.moves, model.rows, model.outputs, said)
    if not seen:
        return {}
    counts = model.counted[np.minimum(np.fromiter(seen.values(), np.int64, len(seen)), _MOST_COUNTED)]
    weights = model.weights[np.fromiter(seen.keys(), np.int64, len(seen))]
    sums = (counts[:, None] * weights // _STEPS).sum(axis=0) + model.priors
    best, second = sorted(map(int, sums), reverse=True)[:2]
    scale = _STEPS * math.sqrt(len(said)) / 100
    return {
        language: round((int(value) - (second if int(value) == best else best)) / scale)
        for language, value in zip(LANGUAGES, sums, strict=True)
    }


@functools.cache
def _model() -> _Model:
    found = LanguageIdentifier.from_model_file(MODEL_FILE)
    places = [list(found.nb_classes).index(language) for language in LANGUAGES]
    return _Model(
        moves=found.tk_nextmove,
        rows=[row << 8 for row in found.tk_row],
        outputs=found.tk_output,
        weights=_steps(found.nb_ptc[:, places]),
        priors=_steps(found.nb_pc[places]),
        counted=np.array([round(math.log1p(count) * _STEPS) for count in range(_MOST_COUNTED + 1)]),
    )


def _steps(values: NDArray[Any]) -> NDArray[np.int64]:
    return np.rint(values.astype(np.float64) * _STEPS).astype(np.int64)
