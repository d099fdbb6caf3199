"""Invented case reports in the layouts journals use, run through the stages."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from curation.cases.stage import CASES
from curation.diagnosis.concepts import build
from curation.diagnosis.stage import of_article
from curation.extract.stage import EXTRACT
from flows.engine.runner import run_records
from schemas.article import Article, ArticleFigure, ArticlePassage, Box, Section
from schemas.case import Case
from schemas.diagnosis import Statement
from schemas.extracted import Figure, Passage, Source
from schemas.stages import Drop
from tests.curation.builders import article, passage

INTRODUCTION = (
    "Splenic torsion is a rare disease of adults. It is often diagnosed late in patients with acute pain."
)
DISCUSSION = (
    "Torsion of the spleen is uncommon, and 40 cases have been reported in the literature. In this "
    "patient surgery was needed; the treatment of choice is splenectomy in most patients."
)
CONSENT = "Written informed consent was obtained from the patient for publication of this case report."
WOMAN = (
    "A 34-year-old woman presented to our hospital with a two-day history of abdominal pain. She had no "
    "history of trauma. Physical examination showed a tender mass, and computed tomography revealed a "
    "whorled splenic pedicle. She underwent laparoscopic splenectomy and was discharged on the fourth "
    "day."
)
MAN = (
    "A 61-year-old man was admitted with fever and abdominal pain. His white blood cell count was "
    "elevated. Ultrasound showed an enlarged spleen without flow. He was treated with antibiotics and "
    "underwent splenectomy. He recovered well."
)
CHILD = (
    "A nine-month-old boy was referred because of vomiting. On examination he was pale and had a "
    "palpable mass. Ultrasound showed torsion of the spleen. He was operated on and recovered without "
    "complications."
)


def section(number: int, title: str, parent: int = 0) -> Section:
    """A body section."""
    return Section(number=number, parent=parent, title=title, part="body")


def report(
    parts: Sequence[tuple[str, Sequence[str]]],
    figures: Sequence[ArticleFigure] = (),
    *,
    title: str = "Torsion of a wandering spleen: a case report",
    boxes: tuple[Box, ...] = (),
    box: int = 0,
    **changes: Any,
) -> Article:
    """An article of titled sections; a title '' puts its passages outside any; `>` opens a subsection."""
    sections: list[Section] = []
    passages: list[ArticlePassage] = []
    for name, texts in parts:
        number = len(sections) + 1 if name else 0
        if name:
            parent = (
                max((s.number for s in sections if s.parent == 0), default=0) if name.startswith(">") else 0
            )
            sections.append(section(number, name.lstrip("> "), parent))
        for text in texts:
            passages.append(passage(len(passages) + 1, text, section=number))
    if box:
        passages = [dataclasses.replace(item, box=box) for item in passages]
    of = article(passages, figures, title=title, sections=tuple(sections))
    return dataclasses.replace(of, boxes=boxes, **changes)


def extracted(of: Article) -> tuple[list[Case], list[Drop]]:
    """Cases and drops of an article, through the runner's own checks."""
    rows = list(EXTRACT.process(of))
    kept, drops, units = run_records(
        CASES,
        {
            "parse.articles": [of],
            "extract.sources": [row for row in rows if isinstance(row, Source)],
            "extract.figures": [row for row in rows if isinstance(row, Figure)],
            "extract.passages": [row for row in rows if isinstance(row, Passage)],
        },
        {},
        {},
    )
    assert units["report"]["in"] == len(kept["reports"]) + len(drops)
    return kept["cases"], drops


def cases_of(of: Article) -> list[Case]:
    """The cases of an article that must not be dropped."""
    cases, drops = extracted(of)
    assert not drops, drops
    return cases


def stated_in(of: Article) -> list[tuple[Statement, ...]]:
    """What states the diagnosis of each case of an article, with a vocabulary that has no names."""
    rows = list(EXTRACT.process(of))
    (source,) = (row for row in rows if isinstance(row, Source))
    passages = [row for row in rows if isinstance(row, Passage)]
    return [item.statements for item in of_article(of, source, cases_of(of), passages, [], build([], []))]


def numbers_of(case: Case) -> list[int]:
    """Numbers of the passages of a case, in order, once each."""
    return list(dict.fromkeys(int(span.passage_id.rpartition("#p")[2]) for span in case.spans))
