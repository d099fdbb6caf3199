"""Words of wikitext that differ by language: image options, sections without prose, templates that hold text.

Image options: https://www.mediawiki.org/wiki/Help:Images (the English ones hold on every wiki).
"""

from __future__ import annotations

import re
from typing import Final

FILE_PREFIXES: Final = frozenset({"file", "image"})
CATEGORY_PREFIXES: Final = frozenset({"category"})
"""Canonical names; a wiki's own are in the head of its dump."""

BLOCK_IMAGE: Final = frozenset(
    [
        "thumb",
        "thumbnail",
        "frame",
        "framed",
        "mini",
        "miniatur",
        "gerahmt",
        "vignette",
        "cadre",
        "miniatura",
        "miniaturadeimagen",
        "marco",
        "miniaturaimagen",
        "miniatyr",
        "miniatuur",
        "moldura",
        "commoldura",
        "мини",
        "миниатюра",
        "サムネイル",
        "フレーム",
        "缩略图",
        "縮圖",
        "有框",
    ]
)
"""Options that make an image stand apart with its caption."""
_IMAGE_OPTIONS: Final = frozenset(
    [
        "border",
        "rand",
        "frameless",
        "rahmenlos",
        "left",
        "right",
        "center",
        "centre",
        "none",
        "links",
        "rechts",
        "zentriert",
        "ohne",
        "gauche",
        "droite",
        "centré",
        "néant",
        "izquierda",
        "derecha",
        "centro",
        "centrada",
        "centrado",
        "no",
        "esquerda",
        "direita",
        "sinistra",
        "destra",
        "upright",
        "hochkant",
        "redresse",
        "baseline",
        "middle",
        "sub",
        "super",
        "text-top",
        "text-bottom",
        "top",
        "bottom",
        "слева",
        "справа",
        "центр",
        "左",
        "右",
        "中央",
        "なし",
        "居中",
        "无",
    ]
)
_OPTION: Final = re.compile(
    r"(?:alt|link|lang|page|seite|class|start|end|thumbtime|upright|hochkant|redresse|verweis|lien|enlace)\s*=.*"
    r"|\d*(?:x\d+)?\s*px|\d+x\s*px|upright\s+[\d.]+",
    re.IGNORECASE | re.DOTALL,
)

TEXT_TEMPLATES: Final = {
    "nowrap": 1,
    "nobr": 1,
    "nobreak": 1,
    "abbr": 1,
    "abbrlink": 1,
    "small": 1,
    "big": 1,
    "em": 1,
    "strong": 1,
    "sub": 1,
    "sup": 1,
    "val": 1,
    "visible anchor": 1,
    "vanchor": 1,
    "chem": 1,
    "lang": 2,
    "langue": 2,
    "transl": 2,
    "transliteration": 2,
    "ill": 1,
    "interlanguage link": 1,
    "tooltip": 1,
    "quote": 1,
    "cquote": 1,
    "formatnum": 1,
    "unité": 1,
    "unité/2": 1,
    "date-": 1,
    "nombre": 1,
    "em dash": 0,
}
"""Templates that stand for one of their arguments, by name in lower case; all others are left out."""
CONVERTERS: Final = frozenset({"convert", "cvt"})
"""Templates that stand for a number (first argument) and its unit (second)."""

NOT_PROSE: Final = frozenset(
    name.casefold()
    for name in (
        "See also",
        "References",
        "External links",
        "Further reading",
        "Notes",
        "Bibliography",
        "Sources",
        "Citations",
        "Footnotes",
        "Works cited",
        "Notes and references",
        "Einzelnachweise",
        "Weblinks",
        "Literatur",
        "Siehe auch",
        "Quellen",
        "Anmerkungen",
        "Notes et références",
        "Références",
        "Bibliographie",
        "Liens externes",
        "Voir aussi",
        "Articles connexes",
        "Referencias",
        "Enlaces externos",
        "Véase también",
        "Bibliografía",
        "Notas",
        "Referências",
        "Ligações externas",
        "Ver também",
        "Bibliografia",
        "Note",
        "Altri progetti",
        "Collegamenti esterni",
        "Voci correlate",
        "Примечания",
        "Ссылки",
        "Литература",
        "См. также",
        "脚注",
        "出典",
        "参考文献",
        "外部リンク",
        "関連項目",
        "参考资料",
        "參考資料",
        "外部链接",
        "外部連結",
        "参见",
        "參見",
    )
)
"""Sections of links and references: their lists are no running text."""


def is_image_option(text: str) -> bool:
    """Whether a part of an image link is an option and not its caption."""
    plain = text.strip().casefold()
    return plain in _IMAGE_OPTIONS or plain in BLOCK_IMAGE or bool(_OPTION.fullmatch(plain))


def normal_title(text: str) -> str:
    """A page, file or template name as MediaWiki compares it: spaces, and the first letter upper case."""
    clean = " ".join(text.replace("_", " ").split())
    return clean[:1].upper() + clean[1:]
