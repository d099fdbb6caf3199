"""Bodies without sections, as conversions from HTML have them: headings in bold, front matter printed again.

What stands before the running text and says again what the front matter holds (title, names, addresses,
abstract, keywords) is told by what it repeats, by its place behind the title, and by its form. A short
paragraph all in bold is a heading.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from sources.jats.nodes import Element, local, squeeze
from sources.jats.text import flatten

_MAX_HEADING = 90
_MAX_KEYWORD = 60
_FAR = 8
"""Blocks before which the title must be repeated."""
_SAME_TITLE, _SAME_TEXT = 90, 85
"""How alike, of 100, a title and a paragraph are to what they repeat."""
_WORDS_OF_TITLE = 3
_LETTERS = re.compile(r"[^\W\d_]+")
_MARK = re.compile(r"[\s(]*(?:[IVX]{1,5}|\d{1,2}|[a-h]|\W{1,3})[\s.,)]*")
_ABSTRACTS = frozenset(
    {
        "abstract",
        "summary",
        "resumo",
        "resumen",
        "resumé",
        "resume",
        "riassunto",
        "zusammenfassung",
        "sumario",
    }
)
"""What the heading of an abstract says, without accents."""
_REFERENCES = frozenset(
    {
        "references", "bibliography", "referencias", "referencias bibliograficas", "bibliografia",
        "bibliographie", "literatur", "literature cited", "literatura citada",
    }
)  # fmt: skip
_BULLET = re.compile(r"[;,·•|]|\.\s")
_NAME = re.compile(r"(?:(?:d[aeo]s?|del|e|y|and|van|von|der|la)\s+|[^\W\d_a-z][\w.'’-]*[\s.]*)+[\W\d_]*")


@dataclass(frozen=True, slots=True)
class Known:
    """What the front matter says, for comparison.

    Attributes:
        titles: of the article in all languages.
        abstracts: in all languages.
        surnames: of the authors.
    """

    titles: Sequence[str]
    abstracts: Sequence[str]
    surnames: Sequence[str]


def is_flat(body: Element) -> bool:
    """Whether a body has no sections."""
    return body.find("sec") is None


def heading(block: Element) -> str:
    """The text of a short paragraph all in bold, '' of any other block."""
    if block.tag != "p" or not len(block) or (block.text and not block.text.isspace()):
        return ""
    for child in block:
        if local(child) not in {"bold", "break", "xref"} or (child.tail and child.tail.strip(" \t\n:.")):
            return ""
    if block.find("bold") is None:
        return ""
    text = flatten(block).strip()
    is_one = 0 < len(text) <= _MAX_HEADING and text[-1] not in ".;,?!" and _LETTERS.search(text) is not None
    return text.rstrip(":") if is_one else ""


def headings(body: Element, repeated: set[Element]) -> dict[Element, str]:
    """The headings of a flat body with their texts; one alone heads nothing.

    Args:
        body: without sections.
        repeated: its front matter.
    """
    found = {block: text for block in body if block not in repeated and (text := heading(block))}
    return found if len(found) > 1 else {}


def is_of_references(title: str) -> bool:
    """Whether a heading is that of a list of references."""
    return _plain(title) in _REFERENCES


def front_matter(body: Element, known: Known) -> set[Element]:
    """The blocks of a flat body that repeat the front matter; empty when its title is not among the first.

    Args:
        body: without sections.
        known: what the front matter says.
    """
    blocks = [block for block in body if local(block) == "p" and squeeze("".join(map(str, block.itertext())))]
    texts = [squeeze(" ".join(map(str, block.itertext()))) for block in blocks]
    titles = [_plain(title) for title in known.titles if len(_LETTERS.findall(title)) >= _WORDS_OF_TITLE]
    anchor = next((at for at, text in enumerate(texts[:_FAR]) if _is_title(text, titles)), None)
    if anchor is None or not all(map(heading, blocks[:anchor])):
        return set()
    found = set(blocks[: anchor + 1])
    kinds = _kinds(blocks[anchor + 1 :], texts[anchor + 1 :], titles, known)
    found.update(block for block, _ in zip(blocks[anchor + 1 :], kinds, strict=False))
    return found


def _kinds(
    blocks: Sequence[Element], texts: Sequence[str], titles: Sequence[str], known: Known
) -> Iterator[bool]:
    """One item for each block behind the title that belongs to the front matter."""
    is_abstract = False
    for block, text in zip(blocks, texts, strict=True):
        if _plain(text).strip() in _ABSTRACTS:
            is_abstract = True
        elif _is_keywords(block, text):
            is_abstract = False
        elif not (
            _is_title(text, titles)
            or _is_names(text, known)
            or (not heading(block) and (is_abstract or _is_address(block, text) or _is_abstract(text, known)))
        ):
            return
        yield True


def _plain(text: str) -> str:
    """Letters of a text, without case, accents and signs, one space between words."""
    bare = "".join(one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one))
    return " ".join(_LETTERS.findall(bare.casefold()))


def _is_title(text: str, titles: Sequence[str]) -> bool:
    plain = _plain(text)
    return any(fuzz.ratio(plain, title, score_cutoff=_SAME_TITLE) > 0 for title in titles)


def _is_abstract(text: str, known: Known) -> bool:
    plain = _plain(text)
    if len(plain) < _MAX_HEADING:
        return False
    return any(fuzz.partial_ratio(plain, _plain(one), score_cutoff=_SAME_TEXT) > 0 for one in known.abstracts)


def _is_names(text: str, known: Known) -> bool:
    """Whether a line is a list of names, one of an author among them."""
    words = set(_plain(text).split())
    is_ours = any(set(_plain(name).split()) & words for name in known.surnames if len(name) > 2)
    return is_ours and all(
        _NAME.fullmatch(part.strip()) for part in re.split(r"[;,]", text) if part.strip(" *")
    )


def _is_address(block: Element, text: str) -> bool:
    """Whether a line is an affiliation, which begins with a raised mark, or tells whom to write to."""
    if block.find(".//email") is not None or block.find(".//xref[@ref-type='corresp']") is not None:
        return True
    if not text[0].isalnum() and block.find("sup") is None:
        return False
    is_led = not squeeze(block.text) and len(block) > 0 and local(block[0]) == "sup"
    return is_led and _MARK.fullmatch(squeeze("".join(map(str, block[0].itertext())))) is not None


def _is_keywords(block: Element, text: str) -> bool:
    """Whether a line is a label in bold or italic and a list of short items: "Keywords: one; two"."""
    if squeeze(block.text) or not len(block) or local(block[0]) not in {"bold", "italic"}:
        return False
    label, colon, rest = text.partition(":")
    items = [item for item in _BULLET.split(rest.rstrip(". ")) if item.strip()]
    return (
        bool(colon)
        and len(_LETTERS.findall(label)) <= _WORDS_OF_TITLE
        and len(items) > 1
        and all(len(item) <= _MAX_KEYWORD for item in items)
    )
