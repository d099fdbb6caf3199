"""Texts whose language is known, cut to lengths that are met: whole abstracts, sentences, titles, names."""

from __future__ import annotations

import csv
import hashlib
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from benchmarks.measure import SHARED

LENGTHS = {"whole": 0, "200": 200, "50": 50, "20": 20}
"""Characters that are kept, up to the last whole word; texts that have fewer are left out. 0: all of them."""
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_TARGET = re.compile(r"</?tgt>")


@dataclass(frozen=True, slots=True)
class Known:
    """A piece of a text, where it is from, its language and the half it belongs to."""

    source: str
    language: str
    length: str
    half: str
    text: str


def _flat(text: str) -> str:
    return " ".join(text.split())


def _words(item: etree._Element) -> str:
    return " ".join(map(str, item.itertext()))


def _articles(folder: Path) -> Iterator[tuple[str, str, str]]:
    for path in sorted(folder.glob("*.xml")):
        root = etree.parse(str(path)).getroot()
        of_article = root.get(_LANG, "")
        for tag in ("abstract", "trans-abstract"):
            for item in root.findall(f"front/article-meta/{tag}"):
                language = item.get(_LANG, of_article if tag == "abstract" else "")
                yield "article abstract", language[:2], _words(item)
        titles = [(of_article, item) for item in root.findall("front//title-group/article-title")]
        titles += [
            (group.get(_LANG, ""), item)
            for group in root.iterfind("front//trans-title-group")
            for item in group.iterfind("trans-title")
        ]
        for item in root.iterfind("body//p"):
            yield "article paragraph", of_article[:2], _words(item)
        for language, item in titles:
            yield "article title", language[:2], _words(item)


def _parallel(folder: Path) -> Iterator[tuple[str, str, str]]:
    for number, path in enumerate(sorted(folder.glob("all.en-*.tmx"))):
        for item in etree.parse(str(path)).getroot().iter("tuv"):
            language = item.get(_LANG, "")[:2]
            if language != "en" or number == 0:
                yield "TICO-19", language, _words(item)


def _contexts(folder: Path) -> Iterator[tuple[str, str, str]]:
    for path in sorted(folder.glob("*_1k_test_query_with_context.txt")):
        for line in path.read_text("utf-8").splitlines():
            yield "XL-BEL context", path.name[:2], _TARGET.sub("", line.split("||", 2)[2])


def _questions(folder: Path) -> Iterator[tuple[str, str, str]]:
    for name in ("train", "dev", "test"):
        for row in json.loads((folder / f"{name}.json").read_text("utf-8")):
            yield "FrenchMedMCQA", "fr", row["question"]


def _definitions(folder: Path) -> Iterator[tuple[str, str, str]]:
    for path in sorted(folder.glob("hp-*.babelon.tsv")):
        with path.open(encoding="utf-8") as lines:
            for row in csv.DictReader(lines, delimiter="\t"):
                if row["translation_value"] and row["predicate_id"] == "IAO:0000115":
                    yield "HPO definition", path.name[3:5], row["translation_value"]


def _chapters(folder: Path) -> Iterator[tuple[str, str, str]]:
    for path in sorted(folder.glob("*/modules/*/index.cnxml")):
        language = "pl" if "psychologia" in path.parts else "en"
        for item in etree.parse(str(path)).getroot().iter("{*}para"):
            yield "textbook paragraph", language, _words(item)


def known_texts(most: int, shared: Path = SHARED) -> list[Known]:
    """Pieces of every source, language and length, `most` of each and half; a text is in one half only."""
    vocab = shared / "vocab"
    every = [
        *_articles(shared / "jats-multilingual"),
        *_parallel(vocab / "tico-19"),
        *_contexts(vocab / "xl-bel"),
        *_questions(vocab / "FrenchMedMCQA"),
        *_definitions(vocab / "hpo-translations/babelon"),
        *_chapters(shared / "openstax"),
    ]
    groups: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    stated = ((source, language, _flat(text)) for source, language, text in every if language)
    for source, language, text in dict.fromkeys(stated):
        half = "test" if hashlib.sha256(text.encode()).digest()[0] % 2 else "dev"
        for length, limit in LENGTHS.items():
            if not limit:
                groups[source, language, length, half].append(text)
            elif len(text) > limit:
                cut = text[:limit]
                spaced = cut.rpartition(" ")[0] if text[limit] != " " and " " in cut else cut
                groups[source, language, length, half].append(spaced)
    draw = random.Random(0)
    return [
        Known(*key, text)
        for key, texts in sorted(groups.items())
        for text in sorted(draw.sample(texts, min(most, len(texts))))
        if any(map(str.isalpha, text))
    ]
