"""Which captions name no subject, as "Clinical picture at follow-up" and "Timeline of the reported case".

Such a caption fits any article, so no passage is its own answer. Which words tell one article from another is
counted, not listed: general_words.txt holds the English words found in every twentieth medical article
(`python -m scripts.general_words`), after the idea of inverse document frequency (Spärck Jones 1972).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Container, Iterable, Iterator
from importlib import resources

from curation.labels.caption import clauses
from curation.labels.taxonomy import load
from schemas.extracted import Source
from schemas.hashing import normalise_text

_STUDY = r"(?:study|trial|protocol|project|participants?|patients?|subjects?)"
_COURSE = r"(?:flow|profile|design|schem[ae]|disposition)"
_PLAN = re.compile(
    r"(?:\S+ ){0,4}?(?:time ?lines?|flow ?(?:charts?|diagrams?)|consort|strobe|prisma|schedule"
    r"|flu[xj]ogramas?|cronogramas?|flu[xj]o d[aeo]s? \w+|linha d[eo] tempo|línea del? tiempo"
    rf"|{_STUDY} (?:\S+ )?{_COURSE}|(?:{_COURSE}|diagram) of (?:\S+ )?{_STUDY})\b"
)
"""A figure that shows how a study or a stay in hospital went, named among the first words of its caption."""
_NO_SUBJECT = (
    " timeline timelines time line flow flowchart flowcharts chart charts diagram diagrams consort strobe"
    " prisma schedule design scheme schema profile disposition fluxograma flujograma cronograma fluxo flujo"
    " linha línea tempo tiempo estudo estudio ensaio ensayo clínico clínica pesquisa investigación processo"
    " proceso caso casos relato reporte paciente pacientes participante participantes amostra muestra"
    " tratamento tratamiento revisão revisión "
)
"""Words of plans, and of titles in Portuguese and Spanish (too few articles to count theirs)."""
_COINED = r"(?=\S*[A-Z]\S*[A-Z])[\w-]+"
_LEGEND = re.compile(rf"[.;]\s+(?={_COINED}[,:=]?\s).*|\s{_COINED}\s?(?:=|indicates?\b|: ).*", re.DOTALL)
"""Short forms spelled out below a figure: they say nothing of what it shows."""


@functools.cache
def general_words() -> frozenset[str]:
    """English words that tell no article from another."""
    text = resources.files("curation.tasks.visual_context").joinpath("general_words.txt").read_text("utf-8")
    return frozenset(line for line in text.split("\n") if line and not line.startswith("#"))


@functools.cache
def _general_stems() -> frozenset[str]:
    return frozenset(map(_stem, general_words()))


def said_in(texts: Iterable[str]) -> frozenset[str]:
    """The words of an article's passages, as `vagueness` asks for them."""
    return frozenset(_stem(word) for text in texts for word in _words(text))


def vagueness(caption: str, source: Source, said: Container[str]) -> str:
    """Why a caption names no subject, '' if it does.

    One that shows the course of a study or a case must name what its article is about, in a word of the title
    or of the keywords. Any other English one must name a part of the body, or hold a word not in the list
    that the article says elsewhere, too: one that it never comes back to is no subject of it, but a view of
    the picture or a typing error.

    Args:
        caption: as released.
        source: its article.
        said: of `said_in`, of the article's passages.
    """
    shown = " ".join(clause.text for clause in clauses(caption))
    subject = {_stem(word) for word in _words(" ".join((source.title, *source.keywords)))}
    if _PLAN.match(normalise_text(caption)):
        telling = _telling(_LEGEND.sub("", shown, count=1))
        is_named = any(_stem(word) in subject for word in telling if f" {word} " not in _NO_SUBJECT)
        return "" if is_named else "names the plan of a study, no subject"
    is_english = source.language.lower().startswith("en")
    if not (is_english and caption.strip()) or load("region").words.find(shown):
        return ""
    telling = {_stem(word) for word in _telling(shown)}
    titled = {_stem(word) for word in _telling(caption)} & subject
    return "" if titled or any(word in said for word in telling) else "only general words"


def _telling(text: str) -> list[str]:
    return [word for word in _words(text) if _stem(word) not in _general_stems()]


def _words(text: str) -> Iterator[str]:
    return (word for word in normalise_text(text).split() if len(word) > 1 and not word.isdigit())


def _stem(word: str) -> str:
    """Singular and plural, "randomised" and "randomized" are one."""
    return word.replace("z", "s").removesuffix("s")
