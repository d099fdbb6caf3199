"""Bytes to the `<article>` (or a book's chapter): any encoding, hostile input refused, ill-formed recovered.

The tree handed on has no comments, processing instructions, entity nodes or foreign root, and bounded depth.
"""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Callable
from typing import NamedTuple

from lxml import etree

from schemas.errors import InputError
from schemas.stages import Reason
from sources.jats.entities import remove_doctype, resolve_named
from sources.jats.nodes import Element, local

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 100
"""Real articles stay below 30; the readers recurse, so this bounds them as well."""
_LIBXML_TEXT_LIMIT = 10_000_000
_WRAPPERS = frozenset({"pmc-articleset", "OAI-PMH", "articles"})
_REFERENCE_DIGITS = 20
_ENCODING = re.compile(rb"\A\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})[\"']")
_DECLARATION = re.compile(r"\A\s*<\?xml\b.*?\?>", re.DOTALL)
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_BARE_AMPERSAND = re.compile(r"&(?!(?:#\d+|#x[0-9A-Fa-f]+|amp|lt|gt|quot|apos);)")
_REFERENCE = re.compile(r"&#(?:(\d+)|[xX]([0-9A-Fa-f]+));")
_NAME = re.compile(r"^[A-Za-z_][\w.-]*$")
_TOO_DEEP = etree.XPath("boolean(" + "/*" * (MAX_DEPTH + 1) + ")")
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)


def _parser(*, recover: bool, huge: bool) -> etree.XMLParser:
    return etree.XMLParser(
        encoding="utf-8",
        recover=recover,
        huge_tree=huge,
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        remove_comments=True,
        remove_pis=True,
    )


def _declared_encoding(data: bytes) -> str | None:
    for mark, name in _BOMS:
        if data.startswith(mark):
            return name
    if data[:4] == b"<\x00?\x00" or data[:4] == b"<\x00a\x00":
        return "utf-16-le"
    if data[:4] == b"\x00<\x00?" or data[:4] == b"\x00<\x00a":
        return "utf-16-be"
    found = _ENCODING.match(data[:300])
    return found.group(1).decode("ascii").lower() if found else None


def decode(data: bytes) -> tuple[str, bool]:
    """Text of an XML file, and whether its encoding had to be guessed against the declaration.

    Order: byte order mark, declaration, UTF-8, Windows-1252 (undefined bytes as Latin-1).
    """
    stated = _declared_encoding(data)
    if stated and stated.startswith("utf-16") and b"\x00" not in data[:64]:
        stated = None  # the declaration survived a transcoding that nobody told it about
    for name in dict.fromkeys((stated or "utf-8", "utf-8")):
        try:
            if name != "utf-8" and not _is_text_encoding(name):
                continue
            text = data.decode(name)
            return text, bool(stated) and name != stated
        except (UnicodeDecodeError, UnicodeError):
            continue
    codecs.register_error("medqrels_latin1", _as_latin1)
    return data.decode("cp1252", "medqrels_latin1"), True


def _as_latin1(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


def _is_text_encoding(name: str) -> bool:
    """Whether Python knows the encoding and it is a character set, not a transform such as base64."""
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError):
        return False
    return getattr(info, "_is_text_encoding", True) and info.name not in {
        "idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "oem", "utf-7",
    }  # fmt: skip


def _read(text: str) -> tuple[Element, bool]:
    """The root element, and whether the file had to be recovered.

    Raises:
        InputError: `xml_invalid` or `xml_hostile`.
    """
    data = text.encode("utf-8", "surrogatepass")
    huge = len(data) > _LIBXML_TEXT_LIMIT
    try:
        root: Element = etree.fromstring(data, _parser(recover=False, huge=huge))
    except etree.XMLSyntaxError as error:
        if "depth" in str(error.msg).lower():
            raise _too_deep() from error
        root = _recover(text, huge=huge)
        return root, True
    if _TOO_DEEP(root):
        raise _too_deep()
    return root, False


def _recover(text: str, *, huge: bool) -> Element:
    legal = _REFERENCE.sub(_legal_reference, _ILLEGAL.sub("", text))
    repaired = _BARE_AMPERSAND.sub("&amp;", legal)
    parser = _parser(recover=True, huge=huge)
    try:
        root = etree.fromstring(repaired.encode("utf-8"), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise InputError("not XML: nothing could be recovered", reason=Reason.XML_INVALID) from error
    if root is None:
        raise InputError("not XML: nothing could be recovered", reason=Reason.XML_INVALID)
    if _TOO_DEEP(root) or any("depth" in entry.message.lower() for entry in parser.error_log):
        raise _too_deep()
    return root


def _legal_reference(match: re.Match[str]) -> str:
    """A character reference, or nothing: recovery would put what is no character into the tree."""
    digits, base = (match.group(1), 10) if match.group(1) else (match.group(2), 16)
    number = int(digits, base) if len(digits) <= _REFERENCE_DIGITS else 0
    is_legal = 0 < number <= sys.maxunicode and not _ILLEGAL.match(chr(number))
    return match.group() if is_legal else ""


def _too_deep() -> InputError:
    return InputError(f"elements nested more than {MAX_DEPTH} deep", reason=Reason.XML_HOSTILE)


def _drop_namespaces(root: Element) -> None:
    """Plain names for every element outside MathML; undeclared prefixes of recovered files go too."""
    for element in root.iter():
        tag = str(element.tag)
        if ("}" in tag or ":" in tag) and "MathML" not in tag:
            name = local(element)
            element.tag = name if _NAME.match(name) else "unnamed"


def _article_in(root: Element) -> tuple[Element, bool]:
    """The one article of a file, and whether it had to be taken out of a wrapper.

    Raises:
        InputError: `not_an_article`.
    """
    name = local(root)
    if name == "article":
        return root, False
    if name in _WRAPPERS:
        inside = list(root.iter("{*}article"))
        if len(inside) == 1:
            return inside[0], True
        raise InputError(f"<{name}> holds {len(inside)} articles, not one", reason=Reason.NOT_AN_ARTICLE)
    raise InputError(f"the root element is <{name[:60]}>, not <article>", reason=Reason.NOT_AN_ARTICLE)


class Shape(NamedTuple):
    """How a kind of document is found in a file and put back together.

    Attributes:
        find: the document in the root element, and whether it was taken out of a wrapper; raises InputError.
        parts: names of its parts, which a lost end tag may have left inside one another.
        others: elements whose parts are not its own.
    """

    find: Callable[[Element], tuple[Element, bool]]
    parts: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


ARTICLE = Shape(_article_in, ("front", "body", "floats-group", "back"), ("sub-article", "response"))


def reattach(document: Element, parts: tuple[str, ...], others: tuple[str, ...]) -> None:
    """A lost end tag leaves the body inside the front: put each part back under the document."""
    for name in parts:
        if document.find(name) is None:
            part = next(document.iterdescendants(name), None)
            other = None if part is None else next(part.iterancestors(*others), None)
            if part is not None and (other is None or other is document):
                document.append(part)


def load(data: bytes, shape: Shape = ARTICLE) -> tuple[Element, set[str]]:
    """Read one file into its `<article>` element, or the document of another shape.

    Args:
        data: bytes of the file.
        shape: what to look for.

    Returns:
        The document's element and flags: `xml_recovered`, `encoding_repaired`, `entity_unknown`,
        `article_unwrapped`.

    Raises:
        InputError: `too_large`, `xml_hostile`, `xml_invalid` or `not_an_article`.
    """
    if len(data) > MAX_BYTES:
        raise InputError(f"{len(data)} bytes, more than {MAX_BYTES}", reason=Reason.TOO_LARGE)
    text, is_repaired = decode(data)
    text, declared = remove_doctype(_DECLARATION.sub("", text.lstrip("\ufeff"), count=1))
    text, has_unknown = resolve_named(text, declared)
    root, is_recovered = _read(text)
    article, is_unwrapped = shape.find(root)
    if is_recovered or is_unwrapped or "}" in str(article.tag) or 'xmlns="' in text:
        _drop_namespaces(article)
    if is_recovered:
        reattach(article, shape.parts, shape.others)
    flags = {
        "encoding_repaired": is_repaired,
        "entity_unknown": has_unknown,
        "xml_recovered": is_recovered,
        "article_unwrapped": is_unwrapped,
    }
    return article, {flag for flag, is_set in flags.items() if is_set}
