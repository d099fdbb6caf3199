"""Checks of translations: false rejects of what people translated, and planted errors caught.

Bounds were fitted on one half, figures are of the other; no document is in both. A cell with fewer than 20
cases is "not measured", with its n. *Questions* are what the task checks: those of known_questions.toml, and,
for changed concepts and leaked answers, those of `crosslingual_qa` on siblings in HPO
(translated_concepts.py). *Texts* are sentences of TICO-19, without documents that stand beside the wrong
English ones, names and definitions of HPO, and abstracts of SciELO articles.

    python -m benchmarks.translations [WORKSPACE]    measure, and write the results; a vocabulary is made in
                                                     WORKSPACE, or in a folder that is removed again
    python -m benchmarks.translations --fit          write fitted.toml and name_runs.toml of
                                                     curation/multilingual from one half
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation.agreement.precision import wilson
from benchmarks import denial_weights, name_weights, told_languages, translated_concepts
from benchmarks.measure import ROOT, cpu_seconds, save
from benchmarks.planted_translations import PLANTS, by_source
from benchmarks.translation_pairs import LANGUAGES, Pair, pairs
from curation.multilingual.checks import Translation, check
from curation.multilingual.numbers import plain
from curation.multilingual.scores import Checked, Fault
from curation.multilingual.words import denials, words_of

FITTED = ROOT / "curation/multilingual/fitted.toml"
NAME_RUNS = FITTED.with_name("name_runs.toml")
LEAST = 20
EACH, UNSHOWN = 3000, 400
"""Pairs of one kind and language at most, the first in order of their hash; of those, for a vocabulary."""
MOST_REJECTED, LEAST_FOUND = 0.05, 0.95
_SHORT = 40
_TAIL = 0.005
_RARE, _NEUTRAL, _CHARACTERS = 2, 0.8, 2
CAUGHT_BY: Mapping[str, frozenset[Fault]] = {
    "number": frozenset({Fault.NUMBER_CHANGED, Fault.UNIT_CHANGED}),
    "unit": frozenset({Fault.UNIT_CHANGED, Fault.NUMBER_CHANGED}),
    "negation_lost": frozenset({Fault.NEGATION_CHANGED}),
    "negation_new": frozenset({Fault.NEGATION_CHANGED}),
    "side": frozenset({Fault.SIDE_CHANGED}),
    "side_added": frozenset({Fault.SIDE_CHANGED}),
    "side_lost": frozenset({Fault.SIDE_CHANGED}),
    "wrong_language": frozenset({Fault.WRONG_LANGUAGE, Fault.WRONG_SCRIPT}),
    "wrong_language_short": frozenset({Fault.WRONG_LANGUAGE, Fault.WRONG_SCRIPT}),
    "untranslated": frozenset({Fault.UNTRANSLATED, Fault.WRONG_LANGUAGE, Fault.WRONG_SCRIPT}),
}
"""Reasons that count as having found a class; another reason is a rejection, but not for what is wrong."""


def neutral_pairs(known: Iterable[Pair]) -> dict[str, list[str]]:
    """Words that deny, with a neighbour, where they mostly deny nothing: language -> pairs of words.

    Learnt from texts of which only one has a word of denial, and the other none that may stand for one.
    """
    english = words_of("en")
    denying: dict[str, Counter[str]] = defaultdict(Counter)
    other: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in known:
        words = words_of(pair.language)
        source, text = plain(pair.source).lower(), plain(pair.text).lower()
        told, retold = list(denials(source, english)), list(denials(text, words))
        for language, found, opposite, hint in (
            (pair.language, retold, told, english.hints.search(source)),
            ("en", told, retold, words.hints.search(text)),
        ):
            if not hint:
                for at in found:
                    (denying if opposite else other)[language].update(set(at))
    return {
        language: sorted(
            at
            for at, count in counts.items()
            if _is_learnt(at, language)
            and count >= _RARE
            and count / (count + denying[language][at]) >= _NEUTRAL
        )
        for language, counts in sorted(other.items())
    }


def _is_learnt(at: str, language: str) -> bool:
    """Without spaces, single characters alone are parts of other words; endings of verbs always deny."""
    return not words_of(language).is_unspaced or len(at) == _CHARACTERS


def ratios(known: Iterable[Pair]) -> dict[str, tuple[float, float]]:
    """Language -> bounds that all but the shortest and longest half percent of translations keep to."""
    found: dict[str, list[float]] = defaultdict(list)
    for pair in known:
        if len(pair.source) >= _SHORT:
            found[pair.language].append(len(plain(pair.text)) / len(plain(pair.source)))
    bounds = {}
    for language, values in sorted(found.items()):
        values.sort()
        cut = int(len(values) * _TAIL)
        bounds[language] = (round(values[cut], 2), round(values[-1 - cut], 2))
    return bounds


def fitted(known: Sequence[Pair]) -> str:
    """The text of fitted.toml."""
    neutral, bounds = neutral_pairs(known), ratios(known)
    learnt = {fold: neutral_pairs(denial_weights.without(known, fold)) for fold in denial_weights.FOLDS}
    lines = [
        "# Written by `python -m benchmarks.translations --fit` from known translations; not to be edited.",
        "# ratio: characters of a translation to those of its source. neutral: words that deny, with the",
        "# word before or behind, where they mostly deny nothing. denial: weights of what speaks for a",
        "# denial in the English text, hundredths of a log-odds; below `lost`, of a text that denies, and",
        "# `new`, of one that does not, what the English says is too unlikely.",
    ]
    for language in sorted(bounds.keys() | {name for name, found in neutral.items() if found}):
        lines += ["", f"[{language}]"]
        if language in bounds:
            lines.append(f"ratio = [{bounds[language][0]}, {bounds[language][1]}]")
        if neutral.get(language):
            lines.append(f"neutral = [{', '.join(map(_quoted, neutral[language]))}]")
        by_fold = {fold: found.get(language, []) for fold, found in learnt.items()}
        if (weighed := denial_weights.fit(known, language, by_fold)) is not None:
            denial = weighed.denial
            lines += [
                "",
                f"[{language}.denial]",
                f"bias = {denial.bias}",
                f"lost = {denial.lost}",
                f"new = {denial.new}",
            ]
            lines += ["", f"[{language}.denial.weights]"]
            lines += [f"{_quoted(name)} = {weight}" for name, weight in sorted(denial.weights.items())]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def _share(found: Sequence[bool]) -> dict[str, Any]:
    if len(found) < LEAST:
        return {"n": len(found), "share": None, "why": "not measured: too few cases"}
    low, high = wilson(sum(found), len(found))
    return {
        "n": len(found),
        "share": round(sum(found) / len(found), 4),
        "interval": [round(low, 4), round(high, 4)],
    }


def _checked(pair: Pair) -> Checked:
    return check(Translation(pair.source, pair.text, pair.language))


def measure(known: Sequence[Pair]) -> dict[str, Any]:
    """False rejects by language and kind, with reasons; errors caught by language and class."""
    others = by_source(known)
    rejected: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    documents: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    reasons: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    caught: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for pair in known:
        found = _checked(pair)
        rejected[pair.language][pair.kind].append(not found.is_kept)
        reasons[pair.language][pair.kind].update(found.faults)
        for name, plant in PLANTS.items():
            if (planted := plant(pair, others[pair.source])) is not None:
                seen = set(_checked(planted).faults)
                caught[pair.language][name].append(bool(seen & CAUGHT_BY[name]))
                documents[pair.language][name].add(pair.document)
    return {
        "false_rejects": {
            language: {
                kind: _share(found) | {"reasons": dict(sorted(reasons[language][kind].items()))}
                for kind, found in sorted(kinds.items())
            }
            for language, kinds in sorted(rejected.items())
        },
        "caught": {
            language: {
                name: _share(caught[language].get(name, [])) | {"documents": len(documents[language][name])}
                for name in PLANTS
            }
            for language in LANGUAGES
        },
    }


def limited(known: Iterable[Pair], most: int) -> list[Pair]:
    """At most so many of each language and kind, in an order that the texts give."""
    counts: Counter[tuple[str, str]] = Counter()
    kept = []
    for pair in sorted(known, key=lambda pair: (pair.language, pair.kind, pair.rank)):
        counts[pair.language, pair.kind] += 1
        if counts[pair.language, pair.kind] <= most:
            kept.append(pair)
    return kept


def _concepts(chosen: Sequence[Pair], root: Path) -> dict[str, Any]:
    """Siblings and answers found, right questions rejected, and how often the check of concepts ran."""
    unshown = limited((pair for pair in chosen if pair.kind in ("question", "sentence")), UNSHOWN)
    found = translated_concepts.measure(translated_concepts.open_vocabulary(root), unshown, "test")
    return {
        "shares": {
            language: {name: _share(rows.get(name, [])) for name in ("sibling", "answer", "rejected")}
            for language, rows in sorted(found["rows"].items())
        },
        "runs": {language: dict(sorted(runs.items())) for language, runs in sorted(found["runs"].items())},
        "unshown": found["unshown"],
    }


def main() -> None:
    """Fit, or measure."""
    known = pairs()
    if "--fit" in sys.argv:
        half = [pair for pair in known if pair.half == "fit"]
        FITTED.write_text(fitted(half), "utf-8")
        NAME_RUNS.write_text(name_weights.fitted(half), "utf-8")
        return
    chosen = limited((pair for pair in known if pair.half == "test"), EACH)
    speed = limited(chosen, 200)
    seconds = cpu_seconds(lambda: [_checked(pair) for pair in speed])
    with tempfile.TemporaryDirectory() as made:
        concepts = _concepts(chosen, Path(sys.argv[1]) if sys.argv[1:] else Path(made) / "workspace")
    save(
        "translations",
        {
            "pairs": len(chosen),
            "per_cpu_second": round(len(speed) / seconds),
            "questions": measure([pair for pair in chosen if pair.kind == "question"]),
            "texts": measure([pair for pair in chosen if pair.kind != "question"]),
            "concepts": concepts,
            "languages": told_languages.measure(limited(chosen, 500), _share),
        },
    )


if __name__ == "__main__":
    main()
