"""Invented reports with one sentence that gives the diagnosis away, in one of several ways, and some without.

Diseases are those of a vocabulary; the stories, adjectives and eponyms are written by us. What is drawn
follows from the SHA-256 of class, disease and number: the same vocabulary gives the same reports.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from curation.diagnosis.concepts import Concepts

STORY = (
    "A 43-year-old teacher presented to our clinic because she had felt unwell for five weeks.",
    "She lived with her family in a small town and had two children.",
    "She had been well until then and took no regular medicines.",
    "She reported that she slept badly and that climbing stairs had become hard.",
    "Her appetite was good, and her weight had not changed since spring.",
    "On examination her temperature was 36.9 °C, her pulse 84 per minute and her blood pressure 128/76 mmHg.",
    "Both ankles and wrists moved freely, and she walked without help.",
    "Haemoglobin was 131 g/L, creatinine 71 µmol/L and C-reactive protein 9 mg/L.",
    "Urine collected on the following morning was clear.",
    "An ultrasound of the abdomen showed organs of normal size and shape.",
    "Blood was sent to a second laboratory, which reported values within its own limits.",
    "Tissue was taken on the fifth day and examined in two departments.",
)
"""Presentation and findings that fit any disease."""
LATEST = 10
"""A leak stands before a sentence from half of the story up to this one, so that enough comes before it."""
EARLIEST = 6
SAID = (
    "The findings were those of {}.",
    "The referring doctor had written {} on the form.",
    "At that time {} was discussed with her.",
    "The report of the second laboratory named {} first.",
    "Her notes from another hospital mentioned {} without comment.",
)
DENIED = (
    "There was no sign of {}.",
    "At first {} was considered and ruled out.",
    "A colleague suspected {}, but nobody else did.",
    "Her sister was said to have {}.",
)
FEATURES = (
    "The {} features were pointed out by a student.",
    "Changes of a {} kind were described in the report.",
    "The word {} was used in the letter of the first clinic.",
    "A {} lesion was seen by the second department.",
)
ADJECTIVES: Mapping[str, str] = {
    "sarcoidosis": "sarcoid",
    "tuberculosis": "tuberculous",
    "diabetes mellitus": "diabetic",
    "leprosy": "leprous",
    "syphilis": "syphilitic",
    "psoriasis": "psoriatic",
    "gout": "gouty",
    "asthma": "asthmatic",
    "epilepsy": "epileptic",
    "leukemia": "leukaemic",
    "lymphoma": "lymphomatous",
    "cirrhosis of liver": "cirrhotic",
    "malaria": "malarial",
    "rabies": "rabid",
    "amyloidosis": "amyloid",
    "thyrotoxicosis": "thyrotoxic",
    "schistosomiasis": "schistosomal",
    "leishmaniasis": "leishmanial",
    "candidiasis": "candidal",
    "brucellosis": "brucellar",
    "toxoplasmosis": "toxoplasmic",
    "pellagra": "pellagrous",
    "scurvy": "scorbutic",
    "rickets": "rachitic",
    "myasthenia gravis": "myasthenic",
    "narcolepsy": "narcoleptic",
    "schizophrenia": "schizophrenic",
    "vasculitis": "vasculitic",
    "bronchiectasis": "bronchiectatic",
    "pulmonary emphysema": "emphysematous",
    "endometriosis": "endometriotic",
    "acromegaly": "acromegalic",
    "eclampsia": "eclamptic",
    "porphyria": "porphyric",
    "filariasis": "filarial",
    "trachoma": "trachomatous",
    "glaucoma": "glaucomatous",
    "keratoconus": "keratoconic",
    "achalasia": "achalasic",
    "cholangiocarcinoma": "cholangiocarcinomatous",
    "neurofibromatosis": "neurofibromatous",
    "tetanus": "tetanic",
    "pneumoconiosis": "pneumoconiotic",
    "silicosis": "silicotic",
    "asbestosis": "asbestotic",
    "mastocytosis": "mastocytic",
    "dermatomyositis": "dermatomyositic",
    "hypothyroidism": "hypothyroid",
    "hyperparathyroidism": "hyperparathyroid",
    "botulism": "botulinic",
}
"""Disease -> an adjective of it; irregular ones (scorbutic, rachitic) on purpose."""
EPONYMS: Mapping[str, str] = {
    "Crohn disease": "Crohn",
    "Takayasu arteritis": "Takayasu",
    "Hodgkins lymphoma": "Hodgkin",
    "Graves disease": "Graves",
    "Addison disease": "Addison",
    "Cushing syndrome": "Cushingoid",
    "Marfan syndrome": "Marfanoid",
    "Behcet disease": "Behçet",
    "Wilson disease": "Wilson",
    "Gaucher disease": "Gaucher",
    "Fabry disease": "Fabry",
    "Alport syndrome": "Alport",
    "Sjogren syndrome": "Sjögren",
    "Guillain-Barre syndrome": "Guillain-Barré",
    "Huntington disease": "Huntington",
    "Parkinson disease": "Parkinsonian",
    "Alzheimer disease": "Alzheimer",
    "Kaposi's sarcoma": "Kaposi",
    "Whipple disease": "Whipple",
    "Chagas disease": "Chagas",
    "Lyme disease": "Lyme",
    "Ewing sarcoma": "Ewing",
    "Meniere disease": "Ménière",
    "Hirschsprung disease": "Hirschsprung",
    "Peutz-Jeghers syndrome": "Peutz-Jeghers",
    "Turner syndrome": "Turner",
    "Klinefelter syndrome": "Klinefelter",
    "Prader-Willi syndrome": "Prader-Willi",
    "Angelman syndrome": "Angelman",
    "Rett syndrome": "Rett",
    "Caroli disease": "Caroli",
    "Budd-Chiari syndrome": "Budd-Chiari",
    "Zollinger-Ellison syndrome": "Zollinger-Ellison",
    "Mallory-Weiss syndrome": "Mallory-Weiss",
    "Barrett esophagus": "Barrett's",
    "Brugada syndrome": "Brugada",
    "Erdheim-Chester disease": "Erdheim-Chester",
    "Castleman disease": "Castleman",
    "Churg-Strauss syndrome": "Churg-Strauss",
    "Kearns-Sayre syndrome": "Kearns-Sayre",
    "Wolff-Parkinson-White syndrome": "Wolff-Parkinson-White",
    "Kartagener syndrome": "Kartagener",
    "Goodpasture syndrome": "Goodpasture",
    "Wiskott-Aldrich syndrome": "Wiskott-Aldrich",
    "Tourette syndrome": "Tourette",
    "Perthes disease": "Perthes",
    "Sheehan syndrome": "Sheehan",
    "Stevens-Johnson syndrome": "Stevens-Johnson",
    "Li-Fraumeni syndrome": "Li-Fraumeni",
    "Noonan syndrome": "Noonan",
}
"""Disease -> its eponym as it stands alone."""
_PLAIN = frozenset(
    [
        "acute",
        "chronic",
        "congenital",
        "disease",
        "disorder",
        "syndrome",
        "type",
        "familial",
        "hereditary",
        "primary",
        "secondary",
        "other",
        "infection",
        "infectious",
        "related",
        "system",
        "cancer",
        "tumor",
        "neoplasm",
        "deficiency",
        "benign",
        "malignant",
        "obsolete",
        "susceptibility",
    ]
)
_ACRONYM = re.compile(r"[A-Z]{3,6}")


@dataclass(frozen=True, slots=True)
class Disease:
    """One disease of the vocabulary and its English names, the one of MONDO first."""

    concept: str
    names: tuple[str, ...]

    @property
    def label(self) -> str:
        """What MONDO calls it."""
        return self.names[0]


@dataclass(frozen=True, slots=True)
class Leak:
    """One report: its disease, its case text, a discussion, and the words that give the disease away."""

    group: str
    concept: str
    text: str
    told: str
    discussion: str = ""


def _drawn(*parts: object) -> int:
    return int.from_bytes(hashlib.sha256(" ".join(map(str, parts)).encode()).digest()[:6], "big")


def diseases(names: Mapping[str, Sequence[str]], concepts: Concepts, most: int = 50) -> list[Disease]:
    """Diseases that a report may be about, in an order of no meaning.

    Args:
        names: concept of MONDO -> its English names, MONDO's label first.
        concepts: the vocabulary's hierarchy.
        most: concepts below a disease, at most.
    """
    found = [
        Disease(concept, tuple(dict.fromkeys(given)))
        for concept, given in names.items()
        if concepts.kind(concept) == "disease"
        and not concepts.has_kinds(concept, most + 1)
        and re.fullmatch(r"[A-Za-z][A-Za-z'’ -]{6,50}", given[0])
        and len(given[0].split()) <= 4
        and not {"obsolete", "susceptibility", "or"} & set(given[0].lower().split())
    ]
    return sorted(found, key=lambda item: _drawn("disease", item.concept))


def _report(group: str, number: int, concept: str, sentence: str, told: str, discussion: str = "") -> Leak:
    at = EARLIEST + _drawn("place", group, number) % (LATEST - EARLIEST + 1)
    sentence = sentence[:1].upper() + sentence[1:]
    return Leak(group, concept, " ".join((*STORY[:at], sentence, *STORY[at:])), told, discussion)


def _of(templates: Sequence[str], number: int, words: str) -> str:
    return templates[number % len(templates)].format(words)


def leaks(
    known: Sequence[Disease], wide: Sequence[Disease], concepts: Concepts, count: int
) -> Iterator[Leak]:
    """So many reports of every class.

    Args:
        known: see :func:`diseases`.
        wide: the same with more below them, for those we list by name.
        concepts: the vocabulary's hierarchy.
        count: of each class; fewer where the vocabulary gives fewer.
    """
    labels = {item.concept: item.label for item in known}
    by_name = {name.lower(): item.concept for item in reversed(wide) for name in item.names}
    for group, made in (
        ("name", _named(known, SAID, "name")),
        ("negated", _named(known[::-1], DENIED, "negated")),
        ("synonym", _synonyms(known)),
        ("spelling", _spelled(known)),
        ("acronym", _acronyms(known)),
        ("short form", _short_forms(known)),
        ("narrower", _relatives(known, labels, concepts, up=False)),
        ("wider", _relatives(known, labels, concepts, up=True)),
        ("adjective", _listed(ADJECTIVES, by_name, "adjective", count)),
        ("eponym", _listed(EPONYMS, by_name, "eponym", count)),
        ("words apart", _apart(known)),
        ("typo", _typos(known)),
    ):
        for number, leak in enumerate(made):
            if number == count:
                break
            assert leak.group == group
            yield leak


def _named(known: Sequence[Disease], templates: Sequence[str], group: str) -> Iterator[Leak]:
    for number, item in enumerate(known):
        yield _report(group, number, item.concept, _of(templates, number, item.label), item.label)


def _synonyms(known: Sequence[Disease]) -> Iterator[Leak]:
    for number, item in enumerate(known):
        others = [name for name in item.names[1:] if len(name) > 6 and name.lower() != item.label.lower()]
        if others:
            name = others[_drawn("synonym", item.concept) % len(others)]
            yield _report("synonym", number, item.concept, _of(SAID, number, name), name)


def _spelled(known: Sequence[Disease]) -> Iterator[Leak]:
    """Capitals, hyphens and apostrophes otherwise, a plural."""
    for number, item in enumerate(known):
        name = item.label
        ways = [name.upper(), name.title(), f"{name}s" if name[-1] not in "s" else f"{name}es"]
        if "-" in name:
            ways.append(name.replace("-", " "))
        if " " in name:
            ways.append(name.replace(" ", "-", 1))
        name = ways[_drawn("spelling", item.concept) % len(ways)]
        yield _report("spelling", number, item.concept, _of(SAID, number, name), name)


def _acronyms(known: Sequence[Disease]) -> Iterator[Leak]:
    for number, item in enumerate(known):
        if short := next((name for name in item.names if _ACRONYM.fullmatch(name)), ""):
            yield _report("acronym", number, item.concept, _of(SAID, number, short), short)


def _short_forms(known: Sequence[Disease]) -> Iterator[Leak]:
    """Initials that only the discussion explains."""
    for number, item in enumerate(known):
        words = re.findall(r"[A-Za-z]+", item.label)
        short = "".join(word[0] for word in words).upper()
        if len(words) >= 3 and len(short) >= 3 and not {"of", "and", "with", "in"} & set(words):
            told = f"{item.label[:1].upper()}{item.label[1:]} ({short}) is seldom met in practice."
            yield _report("short form", number, item.concept, _of(SAID, number, short), short, told)


def _relatives(
    known: Sequence[Disease], labels: Mapping[str, str], concepts: Concepts, *, up: bool
) -> Iterator[Leak]:
    links, group = (concepts.parents, "wider") if up else (concepts.children, "narrower")
    for number, item in enumerate(known):
        near = [other for other in links.get(item.concept, ()) if other in labels]
        if near:
            name = labels[near[_drawn(group, item.concept) % len(near)]]
            yield _report(group, number, item.concept, _of(SAID, number, name), name)


def _listed(pairs: Mapping[str, str], by_name: Mapping[str, str], group: str, count: int) -> Iterator[Leak]:
    known = [(by_name[name.lower()], word) for name, word in pairs.items() if name.lower() in by_name]
    for number in range(count if known else 0):
        concept, word = known[number % len(known)]
        yield _report(group, number, concept, _of(FEATURES, number // len(known), word), word)


def _apart(known: Sequence[Disease]) -> Iterator[Leak]:
    for number, item in enumerate(known):
        words = item.label.split()
        if len(words) == 2 and min(map(len, words)) > 4 and not _PLAIN & {word.lower() for word in words}:
            sentence = f"A {words[1]} was described by both, and the {words[0]} part of it was measured."
            yield _report("words apart", number, item.concept, sentence, words[1])


def _typos(known: Sequence[Disease]) -> Iterator[Leak]:
    """One letter of the longest word left out."""
    for number, item in enumerate(known):
        word = max(item.label.split(), key=len)
        if len(word) >= 9:
            at = 3 + _drawn("typo", item.concept) % (len(word) - 5)
            name = item.label.replace(word, word[:at] + word[at + 1 :])
            yield _report("typo", number, item.concept, _of(SAID, number, name), name)


def plain(known: Sequence[Disease], concepts: Concepts, count: int) -> Iterator[Leak]:
    """Reports that name another disease only, of another kind and in other words."""
    made = 0
    for number, item in enumerate(known):
        other = known[_drawn("other", item.concept) % len(known)]
        mine = {word[:5].lower() for name in item.names for word in re.findall(r"[^\W\d_]+", name)}
        theirs = {word[:5].lower() for word in re.findall(r"[^\W\d_]+", other.label)} - {"disea", "syndr"}
        above = concepts.ancestors(item.concept) | {item.concept}
        if mine & theirs or above & {other.concept, *concepts.parents.get(other.concept, ())}:
            continue
        templates = SAID if number % 2 else DENIED
        yield _report("no leak", number, item.concept, _of(templates, number, other.label), "")
        made += 1
        if made == count:
            return
