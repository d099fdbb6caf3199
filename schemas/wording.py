"""Words for counts, one way for every message and page; what a terminal is shown of texts and addresses."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable
from typing import TextIO

_OF_AN_ACCOUNT = re.compile(r"(?<=://)[^/@\s]*@")
_COMMANDS = (
    *(code for code in range(0x20) if chr(code) not in "\n\t"),
    *range(0x7F, 0xA0),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
)
"""Control characters, which may tell a terminal to do something, and those that turn the order of a line."""
_SPELT = {code: f"\\u{code:04x}" for code in _COMMANDS}


def visible(text: str) -> str:
    """A text as a terminal may show it: texts and names of others can hold commands for it, which are spelt.

    JSON stays the same JSON.
    """
    return text.translate(_SPELT)


def tell(text: str, stream: TextIO) -> None:
    """Print lines as a terminal may show them. A pipe closed early, by `| head`, ends no work."""
    try:
        stream.write(visible(text) + "\n")  # one call: lines of several threads do not mix
        stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # the flush at exit finds it writable


def counted(count: int, one: str, many: str = "") -> str:
    """A count with its noun: `1 item`, `2,000 items`, `3 queries`; `many` where the plural is irregular."""
    if not many:
        many = f"{one[:-1]}ies" if one.endswith("y") and one[-2:-1] not in set("aeiou") else f"{one}s"
    return f"{count:,} {one if count == 1 else many}"


def meant(name: str, known: Iterable[str]) -> str:
    """What follows a name that there is none of: `; did you mean …?`, or nothing where none is like it."""
    like = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {like[0]!r}?" if like else ""


def without_password(text: str) -> str:
    """A text whose addresses name no user and password."""
    return _OF_AN_ACCOUNT.sub("", text)
