"""Left and right in a text: which side each part of the body is said to be on.

'Left' that leaves and 'right' that is correct or at once are told from sides by the words around them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from curation.fidelity.quantities import CLAUSE_END
from curation.fidelity.words import FUNCTION_WORDS, content_words, listed, stem

Side = Literal["left", "right", "both"]

_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|[.;,:()]")
_QUADRANTS = {
    "ruq": ("right", "upper"),
    "rlq": ("right", "lower"),
    "luq": ("left", "upper"),
    "llq": ("left", "lower"),
}
_BOTH = frozenset({"bilateral", "bilaterally", "both"})
_LEAVES_BEFORE = listed(
    "he she they it i we who patient man woman boy girl child was were is are had has been having just"
)
_LEAVES_AFTER = listed(
    "the his her their a an home hospital against untreated unchanged behind work school town in to for"
    " with without off alone when after before because and"
)
_CORRECT_AFTER = listed("away now after before then when handed answer choice diagnosis decision")
_REACH = 3
"""Words of a noun phrase that a side may belong to."""
_SAYS_SIDE = frozenset({"side", "sided", "hand", "handed"})


def sides(text: str) -> dict[str, set[Side]]:
    """Stem of a word -> sides it is said to be on; '' -> every side the text names."""
    tokens = [match.group().lower() for match in _TOKEN.finditer(_hyphens_as_spaces(text))]
    told: dict[str, set[Side]] = {"": set()}
    for at, token in enumerate(tokens):
        side = _side(tokens, at)
        if side is None:
            continue
        told[""].add(side)
        for word in _belonging(tokens, at, token):
            told.setdefault(word, set()).add(side)
    return told


def said_of_sides(text: str) -> dict[Side, set[str]]:
    """Side -> stems of all words of the clauses that name this side alone."""
    told: dict[Side, set[str]] = {}
    for clause in CLAUSE_END.split(text):
        named = sides(clause)
        if len(named[""]) == 1:
            words = {word.stem for word in content_words(clause)} - {"left", "right"}
            told.setdefault(next(iter(named[""])), set()).update(words)
    return told


def _hyphens_as_spaces(text: str) -> str:
    return re.sub(r"[-‐‑‒–]", " ", text)


def _side(tokens: list[str], at: int) -> Side | None:
    token = tokens[at]
    before = tokens[at - 1] if at else ""
    after = tokens[at + 1] if at + 1 < len(tokens) else ""
    if token in _QUADRANTS:
        return "left" if token.startswith("l") else "right"
    if token in _BOTH:  # "both" may count patients or tests as well
        is_of_sides = token != "both" or not {"side", "sides"}.isdisjoint(tokens[at + 1 : at + 3])
        return "both" if is_of_sides else None
    if token == "left":
        leaves = before in _LEAVES_BEFORE and (after in _LEAVES_AFTER or after in ".;,:" or not after)
        return None if leaves or (after in {"untreated", "behind", "against", "home"}) else "left"
    if token in {"right", "rightward", "rightwards"}:
        return None if after in _CORRECT_AFTER or before in {"all", "is", "was", "be"} else "right"
    return "left" if token in {"leftward", "leftwards"} else None


def _belonging(tokens: list[str], at: int, token: str) -> Iterator[str]:
    """Stems of the words a side is said of: those that follow it, or, after 'on the …', those before."""
    if token in _QUADRANTS:
        yield from (stem(_QUADRANTS[token][1]), stem("quadrant"))
        return
    after = list(_phrase(tokens[at + 1 :]))
    if after and not set(after) <= _SAYS_SIDE:
        yield from (stem(word) for word in after if word not in _SAYS_SIDE)
        return
    before = tokens[:at]
    while before and before[-1] in FUNCTION_WORDS:
        before = before[:-1]
    yield from (stem(word) for word in _phrase(before[::-1]))


def _phrase(tokens: list[str]) -> Iterator[str]:
    for token in tokens[:_REACH]:
        if token in FUNCTION_WORDS or not token[0].isalpha() or token in {"left", "right"}:
            return
        yield token
