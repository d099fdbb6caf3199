"""Which figures show which patient: by where they are cited, what their captions name, what they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from curation.cases.headings import number_of
from curation.cases.patient import Age, Sex, introduces, sex_of
from schemas.case import CaseSpan
from schemas.extracted import Figure

_GENERAL = re.compile(
    r"\b(?:schema\w*|flow[- ]?charts?|flow diagram|diagram\w*|algorithm|cartoon|literature"
    r"|reported cases|published|proposed (?:mechanism|model)|mechanism of|pathway|normal (?:anatomy"
    r"|subject|control)|healthy (?:control|subject)|forest plot|search strategy|prisma|bottles?"
    r"|packag\w+|commercial product)\b",
    re.IGNORECASE,
)
_PATIENT = re.compile(
    r"\b(?:patient\w*|our case|case|his|her|pre-?operative|post-?operative|intra-?operative|follow-?up"
    r"|admission|treatment|showing|shows|showed|demonstrat\w+|reveal\w*|biopsy|specimen|ct|mri"
    r"|tomograph\w*|radiograph\w*|x-?ray|ultraso\w+|stain\w*|histolog\w*|histopatholog\w*|photograph\w*"
    r"|pedigree|timeline|clinical course|paciente)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b(?:cases?|patients?|probands?|siblings?|twins?|caso|paciente|cas)\s*(?:no\.?|n[°ºo]\.?"
    r"|#)?\s*(?P<one>\d{1,2}|[IVX]{1,4}\b|[A-D]\b|one|two|three|four)(?:\s*(?:,|and|&|y|e"
    r"|et)\s*(?P<two>\d{1,2}|two|three|four)\b)?|\b(?P<ordinal>first|second|third|fourth"
    r"|fifth)\s+(?:case|patient|sibling|twin)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Profile:
    """What figures are told apart by: where the patient's story stands, age and sex."""

    spans: Sequence[CaseSpan]
    age: Age | None
    sex: Sex


def assign(
    figures: Sequence[Figure], cases: Mapping[int, Profile], *, is_report: bool
) -> dict[int, tuple[str, ...]]:
    """Ids of the figures of each case, in document order.

    Args:
        figures: the article's figures.
        cases: the patients by their number in the text (what "Case 2" counts by).
        is_report: the whole article is a case report, so a figure its case part does not cite may still show
            its only patient.
    """
    found: dict[int, list[str]] = {number: [] for number in cases}
    for figure in sorted(figures, key=lambda item: item.number):
        for number in _owners(figure, cases, is_report):
            found[number].append(figure.id)
    return {number: tuple(ids) for number, ids in found.items()}


def _owners(figure: Figure, cases: Mapping[int, Profile], is_report: bool) -> list[int]:
    """Numbers of the cases a figure shows."""
    if figure.is_third_party or _GENERAL.search(figure.caption):
        return []
    cited = [number for number, profile in cases.items() if _is_cited(figure, profile.spans)]
    if len(cases) > 1:
        caption = f"{figure.label} {figure.caption}"
        named = sorted(set(_named(caption)) & cases.keys())
        return named or _aged(figure.caption, cases) or cited
    if cited or not is_report:
        return cited
    return list(cases) if _PATIENT.search(figure.caption) else []


def _is_cited(figure: Figure, spans: Sequence[CaseSpan]) -> bool:
    return any(
        mention.passage_id == span.passage_id and span.start <= mention.start < span.end
        for mention in figure.mentions
        for span in spans
    )


def _aged(caption: str, cases: Mapping[int, Profile]) -> list[int]:
    """The one case whose age, and sex if both state it, a caption gives."""
    age = introduces(caption)
    if age is None or age.years is None:
        return []
    sex = sex_of([], age, caption)
    fitting = [
        number
        for number, profile in cases.items()
        if profile.age and profile.age.years == age.years and (not sex or profile.sex in {"", sex})
    ]
    return fitting if len(fitting) == 1 else []


def _named(caption: str) -> Iterator[int]:
    """Numbers of the patients a caption names."""
    for match in _NAMED.finditer(caption):
        for group in ("one", "two", "ordinal"):
            if match[group] and (number := number_of(match[group])):
                yield number
