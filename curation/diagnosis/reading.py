"""What a title or a sentence says of each disease it names: the diagnosis, its cause, its setting, its look.

A text is read from connective to connective: 'A secondary to B in a patient with C' names A as what the
patient has, B as its cause, C as the setting.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from curation.diagnosis import phrases
from curation.diagnosis.topic import is_disease, names_disease

Role = Literal["main", "cause", "setting", "sign", "never"]
"""main: what the patient has; cause: what it came from; setting: what else the patient has; sign: how it
showed or what followed; never: what it looked like, was taken for, was before, or was only thought of."""
Span = tuple[int, int]
_WORD = re.compile(r"[^\W\d_]+")
_DAMAGED = re.compile(r"[^\W\d_]+ed [^\W\d_]{3}")
"""'Infected arthroplasty', 'ruptured spleen': a disease by what happened to the part."""
_LED_IN = re.compile(r"[^,;:]{1,120},(?: (?!and\b|or\b)[\w’'-]+){0,4} ?\Z")
"""What opens a sentence before its subject: "With a score of 7, a definite X was diagnosed"."""
_NEAR = 100
"""Characters before a mention in which words that name its patient begin."""
_Reading = Role | Literal["effect"]


def roles_in_title(text: str, spans: Sequence[Span]) -> list[Role]:
    """What a title says of each disease named.

    Args:
        text: the title, or the part of it that counts.
        spans: where the diseases stand, sorted.
    """
    masked = _masked(text, spans)
    roles: list[Role] = []
    for span in spans:
        read = _role(masked, 0, span)
        if read == "main" and _is_turned(masked, span, spans):
            read = "sign"
        roles.append(_settled(read, "sign" if "main" in roles else "main"))
    return roles


def head_end(text: str, spans: Sequence[Span]) -> int:
    """Where a title turns from what the patient has to its cause, setting or sign; its end if nowhere."""
    masked = _masked(text, spans)
    found = [other for other in phrases.CONNECTIVE.finditer(masked) if not other["neutral"]]
    return len(text) if not found or any(other["turn"] for other in found) else found[0].start()


def are_joined(text: str, one: Span, other: Span) -> bool:
    """Whether two diseases named one after the other stand in one clause with no connective between them."""
    between = text[one[1] : other[0]]
    return phrases.CONNECTIVE.search(between) is None and phrases.RESET.search(between) is None


def without(text: str, spans: Iterable[Span]) -> str:
    """A text with its mentions blotted out."""
    kept = list(text)
    for start, stop in spans:
        kept[start:stop] = " " * len(kept[start:stop])
    return "".join(kept)


def names_unknown(rest: str) -> bool:
    """Whether what is left of a title names a disease: 'shaft fracture', not 'a rash'."""
    words = list(_WORD.finditer(rest))
    for before, word in zip([None, *words], words, strict=False):
        if names_disease(word.group()):
            return True
        if _DAMAGED.match(rest, word.start()) and is_disease(word.group()):
            return True
        if before is None or not is_disease(word.group()):
            continue
        is_next = not rest[before.end() : word.start()].strip(" -‐–") and word.start() - before.end() == 1
        if is_next and before.group().lower() not in phrases.GENERIC:
            return True
    return False


def roles_in_statement(text: str, spans: Sequence[Span]) -> list[Role]:
    """What a sentence that states a diagnosis says of each disease named at `spans`.

    The diagnosis stands behind the words that state it ('diagnosed with X'); where nothing does, before them
    ('X was confirmed').
    """
    masked = _masked(text, spans)
    behind = _anchored(masked, spans, phrases.STATED)
    if any(behind):
        return _behind(masked, spans, behind)
    return [
        _settled(_role(masked, 0, span), "sign") if phrases.FOUND_AFTER.match(masked, span[1]) else "setting"
        for span in spans
    ]


def _anchored(masked: str, spans: Sequence[Span], words: re.Pattern[str]) -> list[Span | None]:
    """For each mention the last of the words that state a disease before it."""
    anchors = [found.span() for found in words.finditer(masked)]
    return [max((mark for mark in anchors if mark[1] <= span[0]), default=None) for span in spans]


def _behind(masked: str, spans: Sequence[Span], behind: Sequence[Span | None]) -> list[Role]:
    return [
        "setting" if mark is None else _stated(masked, mark, span)
        for span, mark in zip(spans, behind, strict=True)
    ]


def _stated(masked: str, mark: Span, span: Span) -> Role:
    """The role of a mention behind the words that state it, unless words before those take it back."""
    is_back = False
    for found in _events(masked, 0, mark[1]):
        is_back = found is not None and (is_back or _takes_back(masked, found))
    return "never" if is_back else _settled(_role(masked, mark[1], span), "sign")


def _settled(read: _Reading, effect: Role) -> Role:
    return effect if read == "effect" else read


def _masked(text: str, spans: Sequence[Span]) -> str:
    """The text with its mentions blotted out: names of diseases hold connectives of their own."""
    for start, end in spans:
        text = f"{text[:start]}{'x' * (end - start)}{text[end:]}"
    return text


def _takes_back(text: str, found: re.Match[str]) -> bool:
    return bool(found["never"]) or (bool(found["doubt"]) and phrases.CONFIRMED.search(text) is None)


def _role(text: str, start: int, span: Span) -> _Reading:
    """The role of one mention, read from `start` on: the last connective before it in its clause decides."""
    role: _Reading = "main"
    for found in _events(text, start, span[0]):
        if found is None or found["turn"] or found["neutral"] or _is_led_in(text, found, span):
            role = "main"
        elif _takes_back(text, found):
            role = "never"
        elif role != "never" and not found["doubt"]:
            role = _named_by(found)
    if phrases.NEVER_AFTER.match(text, span[1]) or phrases.NOT_BEFORE.search(text[: span[0]]):
        return "never"
    if role == "main" and _is_inside(text, span):
        return "setting"
    return "cause" if role == "main" and phrases.CAUSE_AFTER.match(text, span[1]) else role


def _is_led_in(text: str, found: re.Match[str], span: Span) -> bool:
    """Whether a connective opens the sentence, and what it joins ends before a mention that was found."""
    if text[: found.start()].strip() or found["never"] or found["doubt"]:
        return False
    is_subject = _LED_IN.match(text[found.end() : span[0]]) is not None
    return is_subject and phrases.FOUND_AFTER.match(text, span[1]) is not None


def _is_inside(text: str, span: Span) -> bool:
    """Whether a mention stands inside the words that name a patient: 'in a hyponatremic newborn with'."""
    around = phrases.CONNECTIVE.finditer(text, max(0, span[0] - _NEAR))
    found = next((found for found in around if found.end() >= span[1]), None)
    return found is not None and found.start() < span[0] and bool(found["setting"])


def _named_by(found: re.Match[str]) -> _Reading:
    if found["effect"]:
        return "effect"
    return "cause" if found["cause"] else "sign" if found["sign"] else "setting"


def _is_turned(text: str, span: Span, spans: Sequence[Span]) -> bool:
    """Whether what follows in the clause names another disease, of which this one is a sign."""
    for found in phrases.CONNECTIVE.finditer(text, span[1]):
        opened = found.start() - 2 if text[found.start() - 2 : found.start()] == ": " else found.start()
        if found["turn"] and phrases.RESET.search(text, span[1], opened) is None:
            return any(
                other[0] >= found.end() and phrases.RESET.search(text, found.end(), other[0]) is None
                for other in spans
            )
    return False


def _events(text: str, start: int, end: int) -> list[re.Match[str] | None]:
    """Connectives between two offsets in order; None where a clause ends and reading starts anew."""
    marks: list[tuple[int, re.Match[str] | None]] = [
        (found.start(), found) for found in phrases.CONNECTIVE.finditer(text, start, end)
    ]
    marks += [(found.start(), None) for found in phrases.RESET.finditer(text, start, end)]
    return [found for _, found in sorted(marks, key=lambda mark: mark[0])]
