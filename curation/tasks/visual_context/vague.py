"""Which captions name no subject, as "Clinical picture at follow-up" and "Timeline of the reported case".

Such a caption fits any article, so no passage is its own answer. Which words tell one article from another is
counted, not listed: general_words.txt holds the English words found in every twentieth medical article
(`python -m scripts.general_words`), after the idea of inverse document frequency (Spärck Jones 1972).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from importlib import resources

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
_STUDY_NAME = re.compile(rf"{_COINED}(?=\s(?i:{_STUDY})\b)")


@functools.cache
def general_words() -> frozenset[str]:
    """English words that tell no article from another."""
    text = resources.files("curation.tasks.visual_context").joinpath("general_words.txt").read_text("utf-8")
    return frozenset(line for line in text.split("\n") if line and not line.startswith("#"))


def vagueness(caption: str, source: Source) -> str:
    """Why a caption names no subject, '' if it does.

    One that shows the course of a study or a case must name what its article is about, in a word of the title
    or of the keywords; any other English one must name a part of the body or hold a word not in the list.

    Args:
        caption: without label and figure numbers.
        source: its article.
    """
    if _PLAN.match(normalise_text(caption)):
        shown = _telling(_STUDY_NAME.sub(" ", _LEGEND.sub("", caption, count=1)))
        subject = {_stem(word) for word in _words(" ".join((source.title, *source.keywords)))}
        is_named = any(_stem(word) in subject for word in shown if f" {word} " not in _NO_SUBJECT)
        return "" if is_named else "names the plan of a study, no subject"
    is_english = source.language.lower().startswith("en")
    if not (is_english and caption.strip()) or _telling(caption) or load("region").words.find(caption):
        return ""
    return "only general words"


def _telling(text: str) -> list[str]:
    return [word for word in _words(text) if word not in general_words()]


def _words(text: str) -> Iterator[str]:
    return (word for word in normalise_text(text).split() if len(word) > 1 and not word.isdigit())


def _stem(word: str) -> str:
    """Singular and plural, "randomised" and "randomized" are one."""
    return word.replace("z", "s").removesuffix("s")
