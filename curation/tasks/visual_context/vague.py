"""Which captions name no subject, as "Clinical picture at follow-up" and "Timeline of the reported case".

Such a caption fits any article, so no passage is its own answer.
"""

from __future__ import annotations

import re
from collections.abc import Container

from curation.labels.caption import clauses
from curation.labels.taxonomy import load
from curation.tasks.shared.general_words import stems, telling
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
_NO_SUBJECT = frozenset(
    stems(
        "timeline time line flow flowchart chart diagram consort strobe prisma schedule design scheme schema"
        " profile disposition fluxograma flujograma cronograma fluxo flujo linha línea tempo tiempo estudo"
        " estudio ensaio ensayo clínico clínica pesquisa investigación processo proceso caso relato reporte"
        " paciente participante amostra muestra tratamento tratamiento revisão revisión"
    )
)
"""Words of plans, and of titles in Portuguese and Spanish (too few articles to count theirs)."""
_COINED = r"(?=\S*[A-Z]\S*[A-Z])[\w-]+"
_LEGEND = re.compile(rf"[.;]\s+(?={_COINED}[,:=]?\s).*|\s{_COINED}\s?(?:=|indicates?\b|: ).*", re.DOTALL)
"""Short forms spelled out below a figure: they say nothing of what it shows."""


def vagueness(caption: str, source: Source, said: Container[str]) -> str:
    """Why a caption names no subject, '' if it does.

    One that shows the course of a study or a case must name what its article is about, in a word of the title
    or of the keywords. Any other English one must name a part of the body, or hold a word not in the list
    that the article says elsewhere, too: one that it never comes back to is no subject of it, but a view of
    the image or a typing error.

    Args:
        caption: as released.
        source: its article.
        said: `stems` of the article's passages.
    """
    shown = " ".join(clause.text for clause in clauses(caption))
    subject = set(stems(" ".join((source.title, *source.keywords))))
    if _PLAN.match(normalise_text(caption)):
        told = set(telling(_LEGEND.sub("", shown, count=1))) - _NO_SUBJECT
        return "" if told & subject else "names the plan of a study, no subject"
    is_english = source.language.lower().startswith("en")
    if not (is_english and caption.strip()) or load("region").words.find(shown):
        return ""
    is_told = subject.intersection(telling(caption)) or any(word in said for word in telling(shown))
    return "" if is_told else "only general words"
