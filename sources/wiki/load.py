"""Wikitext into nodes, safely: the parser's cost grows with the square of what is opened and never closed."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

import mwparserfromhell
from mwparserfromhell.wikicode import Wikicode

from schemas.errors import InputError
from schemas.stages import Reason

MAX_BYTES: Final = 1024 * 1024
"""MediaWiki refuses pages over 2 MiB; the longest medical ones have a third of one."""
MAX_OPEN: Final = 100
"""Most constructs of one kind that may be open at once."""

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")
_SWITCH = re.compile(r"__[A-Z]{3,30}__")
_BRACKET = re.compile(r"(?P<open>\{\{|\[\[|\{\||\[)|(?P<close>\}\}|\]\]|\|\}|\])")
_TAG = re.compile(r"<(?P<end>/)?\s*(?P<tag>[A-Za-z]{1,20})\b(?P<rest>[^<>]*)>?")
_REFERENCE = re.compile(r"<ref(?P<rest>\s[^<>]*|\s*/)?>", re.IGNORECASE)
_REFERENCE_END = re.compile(r"</ref\s*>", re.IGNORECASE)
_PAIRS: Final = {"}}": "{{", "]]": "[[", "|}": "{|", "]": "["}
_SINGLE: Final = frozenset(
    ["br", "hr", "wbr", "img", "meta", "link", "li", "dd", "dt", "td", "th", "tr", "p"]
)


def load(data: bytes) -> Wikicode:
    """Parse a page.

    Raises:
        InputError: `too_large`, or `record_invalid` when it is not UTF-8 or its markup does not close.
    """
    if len(data) > MAX_BYTES:
        raise InputError(f"longer than {MAX_BYTES} bytes", reason=Reason.TOO_LARGE.value)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _invalid(f"not UTF-8 at byte {error.start}") from None
    text = _SWITCH.sub("", _COMMENT.sub("", _CONTROL.sub(" ", text.replace("\r\n", "\n"))))
    text = _without_references(text)
    _check_closed(text)
    try:
        return mwparserfromhell.parse(text)
    except (RecursionError, mwparserfromhell.parser.ParserError):
        raise _invalid("markup nested too deeply") from None


def _without_references(text: str) -> str:
    """The page without its footnotes, which the parser leaves in the text when one has damaged markup.

    A footnote that is not closed before the next one loses its opening tag alone.
    """
    kept: list[str] = []
    opening = _REFERENCE.search(text)
    done = 0
    while opening is not None:
        kept.append(text[done : opening.start()])
        done = opening.end()
        following = _REFERENCE.search(text, done)
        if not (opening["rest"] or "").endswith("/"):
            limit = following.start() if following is not None else len(text)
            end = _REFERENCE_END.search(text, done, limit)
            done = end.end() if end is not None else done
        opening = following
    return _REFERENCE_END.sub("", "".join([*kept, text[done:]]))


def _check_closed(text: str) -> None:
    """Refuse what only damage or malice writes: a hundred things of one kind open at once.

    Brackets count inside tags too: the parser looks for links where a tag never ends.
    """
    depth: Counter[str] = Counter()
    for mark in _BRACKET.finditer(text):
        _count(depth, mark["open"] or _PAIRS[mark["close"]], 1 if mark["open"] else -1)
    for tag in _TAG.finditer(text):
        name = tag["tag"].lower()
        if tag["end"]:
            _count(depth, name, -1)
        elif name not in _SINGLE and not tag["rest"].endswith("/"):
            _count(depth, name, 1)


def _count(depth: Counter[str], name: str, change: int) -> None:
    depth[name] = max(0, depth[name] + change)
    if depth[name] > MAX_OPEN:
        raise _invalid(f"more than {MAX_OPEN} {name!r} open at once")


def _invalid(what: str) -> InputError:
    return InputError(what, reason=Reason.RECORD_INVALID.value)
