"""How a pattern is looked for: exactly in one text, loosely in SQL over many, and how a find is quoted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Hit = tuple[str, int, int]
"""(kind, start, end) of one find in a text."""
_BEFORE, _AFTER = 90, 45
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Pattern:
    """One thing to look for.

    Every repeat in `exact` has an upper bound, so the time a text takes grows with its length alone. `unless`
    rules a hit out by the words around it. `guard` is something simple that stands in every text with a hit
    and in few others: it is looked for first.
    """

    kind: str
    exact: re.Pattern[str]
    unless: re.Pattern[str] | None = None
    guard: re.Pattern[str] | None = None


def hits(text: str, patterns: Sequence[Pattern]) -> Iterator[Hit]:
    """What stands in a text, by pattern and place."""
    stands: dict[re.Pattern[str], bool] = {}
    for pattern in patterns:
        if (guard := pattern.guard) is not None:
            if guard not in stands:
                stands[guard] = guard.search(text) is not None
            if not stands[guard]:
                continue
        for match in pattern.exact.finditer(text):
            start, end = match.span()
            near = text[max(0, start - _BEFORE) : end + _AFTER]
            if pattern.unless is None or not pattern.unless.search(near):
                yield pattern.kind, start, end


def masked(quote: str) -> str:
    """A find as a report may print it: of names and numbers only how they begin.

    Small letters stay, so that labels can be read; but not in an address of e-mail, which may hold a name.

    >>> masked("Mrs. Harper, MRN 4482913")
    'M••. H•••••, M•• 4••••••'
    """
    keeps_small = "@" not in quote

    def hide(word: re.Match[str]) -> str:
        said = word[0]
        if keeps_small and said.islower() and said.isalpha():
            return said
        return said[0] + "•" * (len(said) - 1)

    return _WORD.sub(hide, quote)


def re2(pattern: str) -> str:
    """The pattern for RE2, loosened where RE2 knows or does less.

    No look-around and no word edges, Unicode spaces, any sign beyond ASCII for a letter, and no long
    counted repeats: it would write them out.
    """
    pattern = re.sub(r"\(\?<?[=!](?:[^()]|\(\?:[^()]*\))*\)|\\b", "", pattern)
    pattern = re.sub(r"(\\.)|\{(\d+),(\d+)\}", _loosened, pattern)
    classes = {"s": r"\s\x{a0}\x{2000}-\x{200a}\x{202f}\x{3000}", "w": r"0-9A-Za-z_\x{80}-\x{10ffff}"}
    parts, inside = [], False
    for token in re.findall(r"\\.|.", pattern, re.DOTALL):
        inside = inside or token == "["
        known = classes.get(token[1:]) if token[0] == "\\" else None
        parts.append(token if known is None else known if inside else f"[{known}]")
        inside = inside and token != "]"
    return "".join(parts)


def _loosened(found: re.Match[str]) -> str:
    """A counted repeat as RE2 is given it: without an upper bound that is high."""
    escaped, least, most = found.groups()
    if escaped or int(most) <= 3:
        return found[0]
    return {"0": "*", "1": "+"}.get(least, f"{{{least},}}")


def nominated(patterns: Sequence[Pattern], column: str = "text") -> str:
    """SQL condition: true for every text that holds one of the patterns, and for few others.

    Each pattern is asked for alone: RE2 is fast at any of them and slow at all in one.
    """
    groups: dict[re.Pattern[str] | None, list[str]] = {}
    for pattern in patterns:
        groups.setdefault(pattern.guard, []).append(_matches(pattern.exact, column))
    parts = []
    for guard, conditions in groups.items():
        anyone = " OR ".join(conditions)
        parts.append(f"({_matches(guard, column)} AND ({anyone}))" if guard else anyone)
    return f"({' OR '.join(parts)})"


_FEW = 100_000


def gathered(parts: Sequence[str], count: int) -> str:
    """Rows of several SELECTs, to be searched for :func:`nominated`: SQL for a FROM.

    DuckDB runs each part of a union by itself and compiles the patterns anew for each, which takes as long as
    to look for them in some thousand texts. A few rows are brought together first; many would be by one
    thread, and in memory.

    Args:
        parts: SELECTs of the same columns.
        count: how many rows they have, about.
    """
    together = " UNION ALL ".join(parts)
    return f"(FROM ({together}) LIMIT 100%)" if count < _FEW else f"({together})"


def _matches(pattern: re.Pattern[str], column: str) -> str:
    return f"regexp_matches({column}, '" + re2(pattern.pattern).replace("'", "''") + "')"
