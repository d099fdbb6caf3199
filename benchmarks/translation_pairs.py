"""English texts and what people made of them in other languages: checks are tried on these."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lxml import etree

from benchmarks.measure import SHARED

LANGUAGES = ("de", "es", "fr", "it", "ja", "pt", "ru", "zh")
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
Half = Literal["fit", "test"]


@dataclass(frozen=True, slots=True)
class Pair:
    """One English text, the other, its language, and what kind of text it is."""

    kind: str
    language: str
    source: str
    text: str

    @property
    def half(self) -> Half:
        """By a hash of the English text: all translations of one are in one half."""
        return "test" if self.rank[0] % 2 else "fit"

    @property
    def rank(self) -> bytes:
        """A place among others that says nothing of the text."""
        return hashlib.sha256(self.source.encode()).digest()


def _flat(item: etree._Element) -> str:
    return " ".join("".join(map(str, item.itertext())).split())


def _sentences(folder: Path) -> Iterator[Pair]:
    """TICO-19: sentences on COVID-19, and some spoken ones."""
    for path in sorted(folder.glob("all.en-*.tmx")):
        for unit in etree.parse(str(path)).getroot().iter("tu"):
            texts = {str(item.get(_LANG))[:2]: _flat(item) for item in unit.iter("tuv")}
            source = texts.pop("en", "")
            for language, text in texts.items():
                yield Pair("sentence", language, source, text)


def _names(folder: Path) -> Iterator[Pair]:
    """HPO: labels and definitions."""
    kinds = {"rdfs:label": "name", "IAO:0000115": "definition"}
    for path in sorted(folder.glob("hp-*.babelon.tsv")):
        with path.open(encoding="utf-8") as lines:
            for row in csv.DictReader(lines, delimiter="\t"):
                if row["predicate_id"] in kinds and row["translation_value"]:
                    yield Pair(
                        kinds[row["predicate_id"]],
                        path.name[3:5],
                        row["source_value"],
                        row["translation_value"],
                    )


def _abstracts(folder: Path) -> Iterator[Pair]:
    """Abstracts that the authors gave in several languages."""
    for path in sorted(folder.glob("*.xml")):
        root = etree.parse(str(path)).getroot()
        texts: dict[str, str] = {}
        for tag in ("abstract", "trans-abstract"):
            for item in root.findall(f"front/article-meta/{tag}"):
                own = item.get(_LANG) or (root.get(_LANG) if tag == "abstract" else "") or ""
                texts.setdefault(str(own)[:2], _flat(item))
        for language in sorted(texts.keys() - {"en"}):
            if texts.get("en"):
                yield Pair("abstract", language, texts["en"], texts[language])


def pairs(shared: Path = SHARED) -> list[Pair]:
    """All pairs, each once, in order of where they are from."""
    vocab = shared / "vocab"
    found = [
        *_sentences(vocab / "tico-19"),
        *_names(vocab / "hpo-translations/babelon"),
        *_abstracts(shared / "jats-multilingual"),
    ]
    known = {item: None for item in found if item.language in LANGUAGES and item.source and item.text}
    return list(known)
