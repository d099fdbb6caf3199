"""What the solution of an exercise says: letters of options, true or false, or an answer in words.

English and Polish words; in other languages a letter alone, or an option repeated, is still a key.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from schemas.hashing import normalise_text

_LETTER = r"\(?(?:[A-Za-z]|\d{1,2})\)?"
_BETWEEN = r"\s*(?:,?\s*(?:\band\b|\boraz\b|\bi\b|&)|[,;/])\s*"
_CHOICE: Final = re.compile(
    rf"(?:(?:correct\s+)?(?:answer|odpowiedź)\s*(?:is|to)?\s*[:.]?\s*)?"
    rf"(?P<letters>{_LETTER}(?:{_BETWEEN}{_LETTER})*)(?:\s*[.,:;–—-]\s*|\s+(?=\()|\s*$)(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_TRUTH: Final = re.compile(
    r"(?P<truth>true|false|prawda|fałsz)\s*(?:[.,:;–—-]\s*(?P<rest>.*))?", re.IGNORECASE | re.DOTALL
)
_OPEN: Final = re.compile(
    r"\b(?:answers?|responses?|results?)\s+(?:will|may|can|might|could|should)?\s*(?:vary|differ)\b"
    r"|\bodpowied\w+\s+(?:mogą\s+(?:się\s+różnić|być\s+różne)|są\s+różne)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Key:
    """What a solution says.

    Attributes:
        correct: letters of the correct options, in the order of the options.
        answer: the answer in words, '' where letters say it.
        explanation: what the solution says besides.
    """

    correct: tuple[str, ...] = ()
    answer: str = ""
    explanation: str = ""


def option_letters(style: str, count: int, solution: str) -> tuple[str, ...]:
    """Letters of the items of a list, as the book prints them.

    Args:
        style: `number-style` of the list. Books whose style sheet sets the letters state none, or arabic:
            there a solution that begins with a letter says that they are letters. Roman numbers are no
            letters: such lists are the parts of an exercise.
        count: number of items.
        solution: text of the solution.
    """
    if style.endswith("roman"):
        return ()
    if style.startswith("lower"):
        return tuple(string.ascii_lowercase[:count])
    has_letters = style.startswith("upper") or not solution.lstrip("( ")[:1].isdigit()
    return tuple(string.ascii_uppercase[:count] if has_letters else map(str, range(1, count + 1)))


def choice_key(solution: str, options: Sequence[tuple[str, str]]) -> Key | None:
    """Which options a solution names, by letter or by repeating one; None when it names none.

    Args:
        solution: its text.
        options: letter and text of each option.

    Raises:
        KeyError: it names a letter that no option has.
    """
    found = _CHOICE.fullmatch(solution)
    words = normalise_text(solution)
    repeated = tuple(letter for letter, text in options if words and normalise_text(text) == words)
    if len(repeated) == 1 and not (found and not found["rest"]):  # "A. baumannii" is no A, a bare "A" is
        return Key(correct=repeated)
    if not found:
        return None
    given = [part.strip("( )").casefold() for part in re.split(_BETWEEN, found["letters"], flags=re.I)]
    known = {letter.casefold() for letter, _ in options}
    for letter in given:
        if letter not in known:
            raise KeyError(letter)
    named = tuple(letter for letter, _ in options if letter.casefold() in given)
    return Key(correct=named, explanation=found["rest"].strip())


def truth_key(solution: str) -> Key | None:
    """True or false, and why; None when the solution begins with neither."""
    found = _TRUTH.fullmatch(solution)
    return Key(answer=found["truth"], explanation=(found["rest"] or "").strip()) if found else None


def is_open(solution: str) -> bool:
    """Whether a solution says that answers vary."""
    return bool(_OPEN.search(solution))


def is_letter(solution: str) -> bool:
    """Whether a solution is the letter of an option and nothing else."""
    return bool(re.fullmatch(_LETTER + r"\.?", solution)) and not solution.strip("( ).").isdigit()
