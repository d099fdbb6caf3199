"""Weights of runs of letters that tell the languages of names, fitted to known names (naive Bayes).

No planted error is looked at: a bound is what all but SHARE of held-out right names reach.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.denial_weights import FOLDS, fold_of
from benchmarks.translation_pairs import Pair
from curation.multilingual.name_runs import NameRuns, runs_of

GROUPS = (("de", "en", "es", "fr", "it", "pt"), ("ja", "zh"))
"""Languages of one script."""
SHARE = 0.02
"""Right names that may be taken for names in another language."""
_ADDED = 0.1
_RARE: Mapping[int, int] = {6: 10, 2: 3}
_ALIKE: Mapping[int, int] = {6: 15, 2: 10}
"""By languages of a group: the fewest names that a run stands in, and the fewest tenths that it tells."""


def fitted(known: Sequence[Pair]) -> str:
    """The text of name_runs.toml."""
    lines = [
        "# Written by `python -m benchmarks.translations --fit` from known names; not to be edited.",
        "# runs: letters (^ and $ are the ends of a word) and tenths of a log-odds of each language.",
        "# least: tenths of a log-odds of its language below which a name is of another.",
    ]
    names = [pair for pair in known if pair.kind == "name"]
    for group in GROUPS:
        made = fit(names, group)
        least = ", ".join(f"{language} = {bound}" for language, bound in made.least.items())
        listed = (f"{run} {' '.join(map(str, weights))}" for run, weights in sorted(made.weights.items()))
        languages = ", ".join(f'"{language}"' for language in group)
        lines += ["", "[[group]]", f"languages = [{languages}]", f"least = {{ {least} }}"]
        lines += ["runs = '''", *listed, "'''"]
    return "\n".join(lines) + "\n"


def fit(names: Sequence[Pair], group: Sequence[str]) -> NameRuns:
    """Weights of all names, and bounds by names of which those of the same fold were left out."""
    told: dict[str, list[int]] = {}
    for fold in FOLDS:
        if fold is None:
            continue
        model = NameRuns(tuple(group), {}, _weights([pair for pair in names if fold_of(pair) != fold], group))
        for pair in names:
            if (
                fold_of(pair) == fold
                and pair.language in group
                and (found := model.odds(pair.text, pair.language))
            ):
                told.setdefault(pair.language, []).append(found[1])
    least = {
        language: min(0, sorted(odds)[int(SHARE * len(odds))])  # what is likelier than not is never rejected
        for language, odds in sorted(told.items())
    }
    return NameRuns(tuple(group), least, _weights(names, group))


def _weights(names: Sequence[Pair], group: Sequence[str]) -> dict[str, tuple[int, ...]]:
    counts = {language: Counter[str]() for language in group}
    for language, text in _texts(names, group):
        counts[language].update(runs_of(text, group))
    met = sum(counts.values(), Counter[str]())
    sizes = {language: counts[language].total() + _ADDED * len(met) for language in group}
    found = {}
    for run, count in met.items():
        if count < _RARE[len(group)]:
            continue
        logs = [math.log((counts[language][run] + _ADDED) / sizes[language]) for language in group]
        weights = tuple(round(10 * (value - sum(logs) / len(logs))) for value in logs)
        if max(weights) - min(weights) >= _ALIKE[len(group)]:
            found[run] = weights
    return found


def _texts(names: Sequence[Pair], group: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(language, name), of English ones each once."""
    english = {pair.document: pair.source for pair in names} if "en" in group else {}
    yield from (("en", text) for text in english.values())
    yield from ((pair.language, pair.text) for pair in names if pair.language in group)
