"""The document type declaration, read by hand and removed, and named entities turned into their characters.

libxml2 never sees a DTD: no expansion bomb, no external entity, and `&nbsp;` does not vanish without one.
"""

from __future__ import annotations

import html
import re
from html.entities import html5

from schemas.errors import InputError
from schemas.stages import Reason

MAX_DECLARED = 256
MAX_VALUE = 64

_PROLOG = re.compile(r"\A\ufeff?(?:\s+|<\?.*?\?>|<!--.*?-->)*", re.DOTALL)
# What never ends takes all the rest: looked for again at every place, it would cost the square of the length.
_SUBSET_TOKEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|\"[^\"]*\"|'[^']*'|[\[\]<>]|[^\[\]<>\"']+", re.DOTALL
)
_ENTITY = re.compile(r"<!ENTITY\s+(?P<percent>%\s*)?(?P<name>[^\s%\"'>]+)\s+(?P<rest>[^>]*)", re.DOTALL)
_LITERAL = re.compile(r"^(?:\"([^\"]*)\"|'([^']*)')\s*$", re.DOTALL)
_CHARACTERS_ONLY = re.compile(r"^(?:[^&<%]|&#(?:\d{1,7}|x[0-9A-Fa-f]{1,6});|&(?:amp|lt|gt|quot|apos);)*$")
_NAMED = re.compile(
    r"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|&([A-Za-z][A-Za-z0-9._-]{0,63});", re.DOTALL
)
_ANY_NAMED = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z]")
_ESCAPED_TWICE = re.compile(r"&amp;([A-Za-z]{2,8});")
_XML_NAMES = frozenset({"amp", "lt", "gt", "quot", "apos"})


def _hostile(what: str) -> InputError:
    return InputError(
        f"the document type declaration {what}", reason=Reason.XML_HOSTILE, hint="fetch the article again"
    )


def _declaration_end(text: str, start: int) -> tuple[int, str]:
    """End of the DOCTYPE that starts at `start`, and its internal subset ('' when there is none)."""
    depth, angle, subset_start, subset = 0, 0, -1, ""
    for token in _SUBSET_TOKEN.finditer(text, start):
        mark = token.group()
        if mark == "[":
            depth += 1
            subset_start = token.end() if subset_start < 0 else subset_start
        elif mark == "]":
            depth -= 1
            subset = text[subset_start : token.start()] if depth == 0 else subset
        elif mark == "<":
            angle += 1
        elif mark == ">":
            angle -= 1
            if angle == 0 and depth <= 0:
                return token.end(), subset
    raise _hostile("never ends")


def _declared(subset: str) -> dict[str, str]:
    """Plain character entities of an internal subset.

    Raises:
        InputError: `xml_hostile` for external, parameter, nested, large or too many entities.
    """
    found: dict[str, str] = {}
    for match in _ENTITY.finditer(re.sub(r"<!--.*?(?:-->|\Z)", "", subset, flags=re.DOTALL)):
        name = match.group("name")
        literal = _LITERAL.match(match.group("rest"))
        if match.group("percent") or literal is None:
            raise _hostile(f"declares an external or parameter entity {name[:40]!r}")
        value = literal.group(1) if literal.group(1) is not None else literal.group(2)
        if len(value) > MAX_VALUE or not _CHARACTERS_ONLY.match(value):
            raise _hostile(f"declares an entity that is large or expands others {name[:40]!r}")
        if len(found) >= MAX_DECLARED:
            raise _hostile(f"declares more than {MAX_DECLARED} entities")
        found.setdefault(name, html.unescape(value))
    if "%" in subset and re.search(r"%[\w.-]+;", subset):
        raise _hostile("uses parameter entities")
    return found


def remove_doctype(text: str) -> tuple[str, dict[str, str]]:
    """The document without its DOCTYPE, and the plain character entities that one declared.

    Raises:
        InputError: `xml_hostile`.
    """
    prolog = _PROLOG.match(text)
    start = prolog.end() if prolog else 0
    if text[start : start + 9].upper() != "<!DOCTYPE":
        return text, {}
    end, subset = _declaration_end(text, start)
    return text[:start] + text[end:], _declared(subset) if "!ENTITY" in subset or "%" in subset else {}


def _once(match: re.Match[str]) -> str:
    value = html5.get(f"{match.group(1)};")
    return match.group() if value is None else html.escape(value, quote=True)


def resolve_named(text: str, declared: dict[str, str]) -> tuple[str, bool]:
    """Named entities as their characters, also where they were escaped once more ("&amp;quot;").

    An unknown name stays readable as `&name;`.

    Returns:
        The text, and whether an unknown name was met.
    """
    text = _ESCAPED_TWICE.sub(_once, text)
    if not _ANY_NAMED.search(text):
        return text, False
    unknown = False

    def replace(match: re.Match[str]) -> str:
        nonlocal unknown
        name = match.group(1)
        if name is None or name in _XML_NAMES:
            return match.group()
        value = declared.get(name) or html5.get(f"{name};")
        if value is None:
            unknown = True
            return f"&amp;{name};"
        return html.escape(value, quote=True)

    return _NAMED.sub(replace, text), unknown
