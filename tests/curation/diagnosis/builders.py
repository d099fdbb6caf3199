"""Small articles of cases with their mentions, and a vocabulary of invented size, built by hand.

A mention is written into the text as `[words|CURIE]`, with flags after it: `[words|CURIE!negated]`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from curation.diagnosis.concepts import Concepts, build
from curation.diagnosis.stage import of_article
from curation.extract.front import FrontText
from schemas.article import Article, Licence
from schemas.case import Case, CaseSpan
from schemas.concept import Mention
from schemas.diagnosis import PrincipalDiagnosis
from schemas.extracted import Passage, Source
from schemas.hashing import sha256_text
from schemas.ids import keyword_id, title_id
from schemas.vocabulary import ConceptRelation, ConceptType
from tests.curation.builders import article
from tests.curation.builders import passage as told_in

ID = "pmc:PMC1.1"
_MARK = re.compile(r"\[(?P<text>[^\]|]+)\|(?P<concept>[A-Z]+:\w+)(?:!(?P<flags>[a-z,]+))?\]")

PARENTS = {
    "MONDO:vasculitis": "MONDO:disease",
    "MONDO:pan": "MONDO:vasculitis",
    "MONDO:lymphoma": "MONDO:disease",
    "MONDO:dlbcl": "MONDO:lymphoma",
    "MONDO:tb": "MONDO:disease",
    "MONDO:sporotrichosis": "MONDO:disease",
    "MONDO:kaposi": "MONDO:disease",
    "MONDO:melanoma": "MONDO:disease",
    "MONDO:lupus": "MONDO:disease",
    "MONDO:gerd": "MONDO:disease",
    "MONDO:myeloma": "MONDO:disease",
}
KINDS_OF = "MONDO:lymphoma"
"""A concept with so many kinds that its bare name may be half of one."""
FINDINGS = ("HP:cough", "HP:haematoma", "HP:cvst", "HP:fever")


@dataclass
class Report:
    """What is said where; texts carry their mentions in brackets."""

    title: str = "A case to remember"
    keywords: Sequence[str] = ()
    cases: Sequence[Sequence[str]] = (("A man came.",),)
    discussion: Sequence[str] = ()
    is_book: bool = False
    is_headed: bool = False
    """Whether the last passage of a case stands under "Final diagnosis"."""
    mentions: list[Mention] = field(default_factory=list)

    def plain(self, text_id: str, marked: str) -> str:
        """The text without marks; its mentions are noted."""
        text, position = "", 0
        for found in _MARK.finditer(marked):
            text += marked[position : found.start()]
            start = len(text)
            text += found["text"]
            flags: dict[str, Any] = {f"is_{flag}": True for flag in (found["flags"] or "").split(",") if flag}
            self.mentions.append(
                Mention(
                    article_id=ID,
                    text_id=text_id,
                    start=start,
                    end=len(text),
                    text=found["text"],
                    concept=found["concept"],
                    name=found["text"].lower(),
                    **flags,
                )
            )
            position = found.end()
        return text + marked[position:]


def concepts(more: Sequence[ConceptRelation] = ()) -> Concepts:
    """Diseases and findings of this page, with their parents."""
    types = [ConceptType(concept=name, semantic_type="T047", group="DISO") for name in PARENTS]
    types += [ConceptType(concept=name, semantic_type="T033", group="DISO") for name in FINDINGS]
    links = [
        ConceptRelation(concept=name, relation="parent", other=parent, source="TEST")
        for name, parent in PARENTS.items()
    ]
    links += [
        ConceptRelation(concept=f"MONDO:kind{number}", relation="parent", other=KINDS_OF, source="TEST")
        for number in range(8)
    ]
    return build(types, [*links, *more])


def title_of(text: str) -> FrontText:
    """An English title."""
    return FrontText(title_id(ID), text, "en")


def parts(report: Report) -> tuple[Article, Source, list[Case], list[Passage], list[Mention]]:
    """The records of a report."""
    title = report.plain(title_id(ID), report.title)
    keywords = tuple(
        report.plain(keyword_id(ID, number), text) for number, text in enumerate(report.keywords, start=1)
    )
    passages: list[Passage] = []
    cases: list[Case] = []

    def passage(marked: str, section: str) -> Passage:
        number = len(passages) + 1
        text = report.plain(f"{ID}#p{number}", marked)
        made = Passage(
            id=f"{ID}#p{number}",
            article_id=ID,
            number=number,
            section=1,
            section_path=(section,),
            text=text,
            text_sha256=sha256_text(text),
            language="en",
        )
        passages.append(made)
        return made

    for number, told in enumerate(report.cases, start=1):
        titles = ["Case"] * len(told)
        titles[-1] = "Final diagnosis" if report.is_headed else "Case"
        mine = [passage(marked, title) for marked, title in zip(told, titles, strict=True)]
        cases.append(
            Case(
                id=f"{ID}#case{number}",
                article_id=ID,
                number=number,
                label="",
                rule="section",
                spans=tuple(
                    CaseSpan(passage_id=item.id, start=0, end=len(item.text), role="course") for item in mine
                ),
            )
        )
    for marked in report.discussion:
        passage(marked, "Discussion")
    source = Source(
        id=ID,
        title=title,
        language="en",
        keywords=keywords,
        licence=Licence(spdx="CC-BY-4.0", evidence="jats:license/@href"),
        is_book=report.is_book,
        raw_sha256="0" * 64,
    )
    texts = [told_in(item.number, item.text) for item in passages]
    kind = "book-chapter" if report.is_book else "case-report"
    written = replace(article(texts, [], title=title), article_type=kind)
    return written, source, cases, passages, report.mentions


def answers(report: Report, vocabulary: Concepts | None = None) -> list[PrincipalDiagnosis]:
    """Principal diagnoses of a report's cases."""
    return list(of_article(*parts(report), vocabulary or concepts()))


def answer(**given: Any) -> PrincipalDiagnosis:
    """The principal diagnosis of a report of one case."""
    [only] = answers(Report(**given))
    return only
