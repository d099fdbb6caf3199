"""Images of a page: links with caption, galleries and the infobox's image, as names of Commons' files."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

import mwparserfromhell
from mwparserfromhell.nodes import Node, Tag, Template, Text, Wikilink
from mwparserfromhell.wikicode import Wikicode

from sources.wiki.names import BLOCK_IMAGE, FILE_PREFIXES, is_image_option, normal_title

_IMAGE_NAME = re.compile(r"[^\[\]{}|<>\n#]{1,240}\.(?:jpe?g|png|gif|tiff?|webp|svg)", re.IGNORECASE)
_INFOBOX_IMAGES: Final = ("image", "Image", "bild", "Bild", "imagen", "imagem", "immagine", "画像")
_INFOBOX_CAPTIONS: Final = (
    "caption",
    "Caption",
    "legende",
    "légende",
    "leyenda",
    "pie",
    "pie de imagen",
    "legenda",
    "didascalia",
    "画像説明",
)
_ALT = re.compile(r"(?:alt|alternativtext)\s*=\s*([^\[\]{}<>]*)", re.IGNORECASE)
_MAX_GALLERY: Final = 200


@dataclass(frozen=True, slots=True)
class WikiImage:
    """One image that stands apart: its file, its caption still as wikitext, and where it stood."""

    name: str
    caption: Wikicode
    type: str
    alt: str = ""


def split_prefix(title: str) -> tuple[str, str]:
    """Namespace prefix (lower case) and rest of a link's target, ('', title) when there is none."""
    prefix, colon, rest = title.partition(":")
    return (" ".join(prefix.replace("_", " ").split()).casefold(), rest.strip()) if colon else ("", title)


def file_name(text: str) -> str | None:
    """The name of an image file as Commons writes it, None when the text is no such name."""
    clean = normal_title(html.unescape(text))
    return clean if _IMAGE_NAME.fullmatch(clean) else None


def linked_image(link: Wikilink, prefixes: Collection[str]) -> WikiImage | None:
    """The image of a file link that stands apart (thumb or frame); None for icons in the text."""
    prefix, rest = split_prefix(str(link.title))
    name = file_name(rest) if prefix in prefixes or prefix in FILE_PREFIXES else None
    if name is None or link.text is None:
        return None
    parts = _parts(link.text)
    if not any(str(part).strip().casefold() in BLOCK_IMAGE for part in parts):
        return None
    captions = [part for part in parts if str(part).strip() and not is_image_option(str(part))]
    alt = _alt([str(part) for part in parts])
    return WikiImage(name, captions[-1] if captions else Wikicode([]), "thumb", alt)


def _alt(parts: Iterable[str]) -> str:
    """The text for people who cannot see the image."""
    found = (_ALT.fullmatch(part.strip()) for part in parts)
    return next((" ".join(each.group(1).split()) for each in found if each), "")


def _parts(code: Wikicode) -> list[Wikicode]:
    """What stands between the vertical bars of a link, bars inside nested markup apart."""
    parts: list[list[Node]] = [[]]
    for node in code.nodes:
        if isinstance(node, Text):
            first, *others = str(node).split("|")
            parts[-1].append(Text(first))
            parts.extend([Text(other)] for other in others)
        else:
            parts[-1].append(node)
    return [Wikicode(part) for part in parts]


def gallery_images(tag: Tag, prefixes: Collection[str]) -> list[WikiImage]:
    """Images of a `<gallery>`: one a line, `File:name|caption`; the prefix may be left out."""
    found = []
    for line in str(tag.contents).split("\n")[: _MAX_GALLERY + 1]:
        target, _, caption = line.strip().partition("|")
        prefix, rest = split_prefix(target)
        name = file_name(rest if prefix in prefixes or prefix in FILE_PREFIXES else target)
        if name is not None:
            parts = caption.split("|")
            bare = "|".join(part for part in parts if not is_image_option(part))
            found.append(WikiImage(name, mwparserfromhell.parse(bare), "gallery", _alt(parts)))
    return found


def infobox_image(template: Template, prefixes: Collection[str]) -> WikiImage | None:
    """The main image of an infobox."""
    value = _argument(template, _INFOBOX_IMAGES)
    if value is None:
        return None
    caption = _argument(template, _INFOBOX_CAPTIONS) or Wikicode([])
    for link in value.filter_wikilinks(recursive=False):
        prefix, rest = split_prefix(str(link.title))
        if prefix in prefixes or prefix in FILE_PREFIXES:
            name = file_name(rest)
            inside = linked_image(link, prefixes)
            own = inside.caption if inside is not None else Wikicode([])
            return WikiImage(name, caption if caption.nodes else own, "infobox") if name else None
    prefix, rest = split_prefix(str(value).strip())
    name = file_name(rest if prefix in FILE_PREFIXES or prefix in prefixes else str(value))
    return WikiImage(name, caption, "infobox") if name else None


def _argument(template: Template, names: Collection[str]) -> Wikicode | None:
    for name in names:
        if template.has(name, ignore_empty=True):
            value: Wikicode = template.get(name).value
            return value
    return None
