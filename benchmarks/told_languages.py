"""Whether a translation is in its language: langdetect and py3langid, alone and together, and our check.

Both are told that the languages of queries are all there are. A text is rejected where its own is unlikelier
than the bound; a planted one is the same text in another language in Latin script.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langdetect.lang_detect_exception import LangDetectException

from benchmarks.planted_translations import by_source, in_another
from benchmarks.translation_pairs import Pair
from curation.extract.language import _detectors
from curation.multilingual.checks import LEAST_LETTERS, LEAST_ODDS, LEAST_ODDS_OF_NAME
from curation.multilingual.language import log_odds
from curation.multilingual.name_runs import name_runs

LATIN = ("de", "es", "fr", "it", "pt")
_LIKELY = ("de", "en", "es", "fr", "it", "ja", "pt", "ru", "zh-cn", "zh-tw")
_LEAST, _LEAST_OF_NAME = 0.5, 0.1
Told = Callable[[Pair], bool]


def _chance(pair: Pair) -> float:
    detector = _detectors().create()
    detector.set_prior_map(dict.fromkeys(_LIKELY, 1.0))
    detector.append(pair.text)
    try:
        found = detector.get_probabilities()
    except LangDetectException:
        return 1.0
    return float(sum(one.prob for one in found if one.lang.partition("-")[0] == pair.language))


def _is_name(pair: Pair) -> bool:
    return pair.kind == "name" and sum(map(str.isalpha, pair.text)) < LEAST_LETTERS


def by_langdetect(pair: Pair) -> bool:
    """Whether langdetect rejects a text."""
    return _chance(pair) < (_LEAST_OF_NAME if _is_name(pair) else _LEAST)


def by_py3langid(pair: Pair) -> bool:
    """Whether py3langid does."""
    return log_odds(pair.text).get(pair.language, 0) < (LEAST_ODDS_OF_NAME if _is_name(pair) else LEAST_ODDS)


def by_check(pair: Pair) -> bool:
    """Whether our check does: names by their runs of letters, all else by py3langid."""
    runs = name_runs(pair.language) if _is_name(pair) else None
    if runs is None or (found := runs.odds(pair.text, pair.language)) is None:
        return by_py3langid(pair)
    return found[1] < runs.least[pair.language]


CONTESTANTS: Mapping[str, Callable[[bool, bool, bool], bool]] = {
    "langdetect": lambda one, other, ours: one,
    "py3langid": lambda one, other, ours: other,
    "either": lambda one, other, ours: one or other,
    "both": lambda one, other, ours: one and other,
    "medqrels": lambda one, other, ours: ours,
}


_TOLD: tuple[Told, ...] = (by_langdetect, by_py3langid, by_check)


def measure(known: Sequence[Pair], share: Callable[[Sequence[bool]], Any]) -> dict[str, Any]:
    """Contestant -> kind of text -> shares of right texts rejected and of wrong ones found."""
    sources = by_source(known)
    said: dict[str, dict[str, list[tuple[bool, ...]]]] = defaultdict(lambda: defaultdict(list))
    for pair in known:
        if pair.language in LATIN:
            others = {language: text for language, text in sources[pair.source].items() if language in LATIN}
            said[pair.kind]["rejected"].append(tuple(told(pair) for told in _TOLD))
            if (wrong := in_another(pair, others)) is not None:
                said[pair.kind]["found"].append(tuple(told(wrong) for told in _TOLD))
    return {
        name: {
            kind: {what: share([told(*each) for each in rows]) for what, rows in found.items()}
            for kind, found in said.items()
        }
        for name, told in CONTESTANTS.items()
    }


def lines(result: Mapping[str, Any]) -> list[str]:
    """The table of the page."""
    measured = next(iter(result.values()))
    kinds = sorted(
        kind
        for kind, cells in measured.items()
        if all(cells.get(what, {}).get("share") is not None for what in ("rejected", "found"))
    )
    shown = [f"{kind}s ({measured[kind]['rejected']['n']})" for kind in kinds]
    rows = [
        "Which language: right texts rejected / wrong ones found, of languages in Latin script. medqrels "
        "tells that of names by their runs of letters, of all else by py3langid.",
        "",
        f"| told by | {' | '.join(shown)} |",
        f"|---|{'---|' * len(kinds)}",
    ]
    for name, found in result.items():
        cells = [
            f"{found[kind]['rejected']['share']:.3f} / {found[kind]['found']['share']:.3f}" for kind in kinds
        ]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return [*rows, ""]
