"""English texts and what people made of them in other languages: checks are tried on these.

Questions are the project's own (known_questions.toml), all else is of the shared data.

Where a file pairs sentences wrongly, whole documents are left out (`paired_wrongly`).
"""

from __future__ import annotations

import csv
import hashlib
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lxml import etree

from benchmarks.measure import SHARED

_QUESTIONS = Path(__file__).with_name("known_questions.toml")
LANGUAGES = ("de", "es", "fr", "it", "ja", "pt", "ru", "zh")
_LATIN = ("de", "es", "fr", "it", "pt")
_LEAST_PLACE = 0.75
"""Half way between sentences that stand anywhere and those beside their own."""
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
Half = Literal["fit", "test"]


@dataclass(frozen=True, slots=True)
class Pair:
    """One English text, the other, its language, and what kind of text it is."""

    kind: str
    language: str
    source: str
    text: str
    document: str = ""
    """Where it stands: the document of a sentence, the concept of a name, the number of a question."""

    @property
    def half(self) -> Half:
        """By a hash of the document: no half has seen a part of the other's. Of questions, every other."""
        if self.kind == "question":
            return "test" if int(self.document) % 2 == 0 else "fit"
        return "test" if self.place[0] % 2 else "fit"

    @property
    def place(self) -> bytes:
        """A place of its document among others that says nothing of it."""
        return hashlib.sha256((self.document or self.source).encode()).digest()

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
            document = str(unit.get("tuid")).partition(":")[0]
            for language, text in texts.items():
                yield Pair("sentence", language, source, text, document)


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
                        row["subject_id"],
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
                yield Pair("abstract", language, texts["en"], texts[language], path.stem)


def questions() -> Iterator[Pair]:
    """Questions of known_questions.toml with each of its names of diseases."""
    table = tomllib.loads(_QUESTIONS.read_text("utf-8"))
    for number, question in enumerate(table["questions"], start=1):
        for names in table["names"]:
            for language in LANGUAGES:
                name = names[language]
                forms = name if isinstance(name, dict) else {}
                text = question[language].format(name, **forms)
                source = question["en"].format(names["en"])
                yield Pair("question", language, source, text, str(number))


def pairs(shared: Path = SHARED) -> list[Pair]:
    """All pairs, each once, in order of where they are from."""
    vocab = shared / "vocab"
    found = [
        *_sentences(vocab / "tico-19"),
        *_names(vocab / "hpo-translations/babelon"),
        *_abstracts(shared / "jats-multilingual"),
        *questions(),
    ]
    known = {item: None for item in found if item.language in LANGUAGES and item.source and item.text}
    wrong = paired_wrongly(known)
    return [item for item in known if (item.language, item.document) not in wrong]


def paired_wrongly(found: Iterable[Pair]) -> dict[tuple[str, str], float]:
    """Documents whose sentences stand beside the wrong English ones: (language, document) -> mean place.

    The place of a sentence is the share of the English sentences of its document, each with what other
    languages in Latin script make of it, that it is less like than its own, by the letters they share. Places
    of sentences that stand anywhere have a mean of one half. Only languages in Latin script can be told so.
    """
    documents: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for pair in found:
        if pair.kind == "sentence" and pair.language in _LATIN:
            documents[pair.document][pair.source][pair.language] = pair.text
    wrong = {}
    for document, texts in documents.items():
        for language in _LATIN:
            own = {source: _grams(kept[language]) for source, kept in texts.items() if language in kept}
            others = {
                source: _grams(
                    " ".join([source, *(kept[name] for name in _LATIN if name in kept and name != language)])
                )
                for source, kept in texts.items()
            }
            if len(own) > 1 and (place := _mean_place(own, others)) < _LEAST_PLACE:
                wrong[language, document] = place
    return wrong


def _grams(text: str) -> frozenset[str]:
    folded = " ".join(re.findall(r"\w+", text.lower()))
    return frozenset(folded[at : at + 4] for at in range(len(folded) - 3))


def _mean_place(own: Mapping[str, frozenset[str]], others: Mapping[str, frozenset[str]]) -> float:
    """Mean share of other texts that are less like each text than its own one; halves of those as like."""
    rare = {
        gram: 1 / count for gram, count in Counter(gram for text in others.values() for gram in text).items()
    }

    def likeness(one: frozenset[str], other: frozenset[str]) -> float:
        return float(sum(rare[gram] for gram in one & other) / max(1, len(other)) ** 0.5)

    places = []
    for source, text in own.items():
        mine = likeness(text, others[source])
        found = [likeness(text, other) for name, other in others.items() if name != source]
        places.append(sum((mine > value) + (mine == value) / 2 for value in found) / len(found))
    return sum(places) / len(places)
