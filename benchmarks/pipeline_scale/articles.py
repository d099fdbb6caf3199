"""Three kinds of made-up articles: full ones with figures, case series, records that are only an abstract."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.generated_texts import Writer
from benchmarks.pipeline_scale.parts import (
    Draft,
    Rows,
    Stored,
    add_figure,
    add_mention,
    add_passage,
    add_section,
    finish,
    lengths,
    licence,
)
from benchmarks.pipeline_scale.world import (
    CASES_PER_SERIES,
    PLACES,
    World,
    diagnosis_id,
    diagnosis_name,
    place_id,
)
from schemas.article import Abstract
from schemas.case import Case, CaseReport, CaseSpan
from schemas.diagnosis import DiagnosisEvidence, PrincipalDiagnosis, Statement
from schemas.extracted import Passage
from schemas.ids import case_id
from schemas.label import Label, LabelEvidence, RecordLabels

FIGURES, PASSAGES = 7, 18
_SECTIONS = (("Introduction", 3), ("Methods", 4), ("Results", 6), ("Discussion", 5))
_CLINICAL = 3
_PER_PASSAGE = 4
"""Cases told in one passage of a series."""
_OPENING = 18
"""Words of a case that count as presentation: too few for a query of image search."""
_SURE = 0.4
_SECOND_FIGURE = 0.2
_COPY, _NEAR, _STANDING, _UNCITED = 0.003, 0.004, 0.2, 0.04
_NAMES = """
    cardiology dermatology endocrinology gastroenterology haematology infectious_diseases nephrology
    neurology oncology ophthalmology orthopaedics psychiatry pulmonology rheumatology surgery urology"""
_SPECIALTIES = tuple(_NAMES.split())
_GENRES = ("research-article", "review-article", "case-report", "systematic-review")
_MODALITIES = (("ct", "radiology"), ("mri", "radiology"), ("xray", "radiology"), ("he", "pathology"))
_REGIONS = ("brain", "lung", "heart", "abdomen", "thorax")
_CHART = ("chart", "chart")
"""What captions of most figures speak of: image search leaves these images out."""

Place = tuple[Passage, int, int]
"""Where a case stands: passage, start, end."""

_SAID = LabelEvidence(rule="made up", place="caption", text="", points=1.0)
"""What decided a label."""


class Shelf:
    """Makes the rows of one shard."""

    def __init__(self, world: World, shard: int, writer: Writer, pictures: Iterator[Stored]) -> None:
        self.world, self.shard, self.writer, self.pictures = world, shard, writer, pictures
        self.random = world.random(7, shard)
        self.rows: Rows = {}
        self.specialty = ""

    def fill(self, tables: list[str]) -> Rows:
        """Rows of every table in the order of the articles.

        Args:
            tables: `stage.table` names.
        """
        self.rows = {name: [] for name in tables}
        mix = self.world.mix
        for number in range(mix.full):
            self._full(number, number < mix.with_abstract, number >= mix.full - mix.with_clinical_images)
        for number in range(mix.full, mix.full + mix.series):
            self._series(number)
        self._records(range(mix.full + mix.series, mix.articles))
        return self.rows

    def _draft(self, number: int, genre: str, diagnosis: int) -> Draft:
        pmcid = self.world.pmcid(self.shard, number)
        title = self.writer.titles(self.random, 1)[0]
        name = diagnosis_name(diagnosis)
        self.specialty = _SPECIALTIES[diagnosis % len(_SPECIALTIES)]
        topics = ((diagnosis_id(diagnosis), name),)
        return Draft(f"pmc:{pmcid}.1", pmcid, f"{title} in {name}", genre, licence(self.random), topics)

    def _finish(self, draft: Draft, number: int) -> None:
        finish(draft, self.rows, self.shard * self.world.mix.articles + number)
        self._label(draft, draft.id, "article")

    def _full(self, number: int, has_abstract: bool, is_clinical: bool) -> None:
        """Eighteen passages and seven figures; nearly every figure is cited once or twice."""
        random = self.random
        draft = self._draft(number, _GENRES[number % 2], int(random.integers(self.world.diagnoses)))
        texts = self.writer.texts(random, lengths(random, PASSAGES))
        order = random.permutation(PASSAGES)
        cites: dict[int, list[int]] = {}
        for at in range(FIGURES + 3):
            if at >= FIGURES or random.random() >= _UNCITED:
                cites.setdefault(int(order[at]), []).append(at % FIGURES + 1)
        place = 0
        for title, count in _SECTIONS:
            section = add_section(draft, title)
            for _ in range(count):
                passage = add_passage(draft, section, texts[place], cites.get(place, ()))
                self._name_place(draft, passage.id, passage.text)
                place += 1
        if has_abstract:
            (text,) = self.writer.texts(random, [max(60, int(lengths(random, 1)[0]))])
            draft.abstracts.append(Abstract(language="en", type="", text=text))
        captions = self.writer.texts(random, random.integers(14, 46, FIGURES))
        for at, caption in enumerate(captions):
            clinical = is_clinical and at < _CLINICAL
            name = add_figure(draft, caption, next(self.pictures), "radiology" if clinical else "chart")
            says_region = not clinical or at == 0  # a caption that names nothing makes no query
            if says_region:
                self._name_place(draft, name, caption)
            said = _MODALITIES[int(random.integers(3))] if clinical else _CHART
            self._label_figure(draft, name, said, with_region=says_region)
        self._finish(draft, number)

    def _name_place(self, draft: Draft, text_id: str, text: str, start: int = 0) -> None:
        """The word after the next space, as if it were the name of a part of the body."""
        at = text.index(" ", start) + 1
        end = text.find(" ", at)
        concept = place_id(int(self.random.integers(PLACES)))
        add_mention(draft, text_id, text, at, len(text) if end < 0 else end, concept)

    def _series(self, number: int) -> None:
        """Some patients with one diagnosis; of two in five it is stated."""
        random = self.random
        diagnosis = self.world.diagnosis(random)
        draft = self._draft(number, "case-report", diagnosis)
        opening, *texts = self.writer.texts(
            random, lengths(random, 1 + int(random.integers(CASES_PER_SERIES[0], CASES_PER_SERIES[1] + 1)))
        )
        add_passage(draft, add_section(draft, "Introduction"), opening)
        section = add_section(draft, "Cases")
        is_sure = random.random(len(texts)) < _SURE
        is_sure[0] = True
        name = diagnosis_name(diagnosis)
        texts = [
            f"{text} The final diagnosis was {name}." if sure else text
            for text, sure in zip(texts, is_sure, strict=True)
        ]
        shown = 2 if random.random() < _SECOND_FIGURE and is_sure[1] else 1
        places = _told(draft, section, texts)
        figures = []
        for caption in self.writer.texts(random, random.integers(14, 46, shown)):
            figure = add_figure(draft, caption, next(self.pictures), "radiology")
            self._label_figure(draft, figure, _CHART, with_region=False)
            figures.append(figure)
        for at, (place, sure) in enumerate(zip(places, is_sure, strict=True)):
            self._case(draft, at + 1, place, diagnosis if sure else None, tuple(figures[at : at + 1]))
        self.rows["cases.reports"].append(
            CaseReport(article_id=draft.id, claims=("type: case-report",), cases=len(texts))
        )
        self._finish(draft, number)

    def _case(
        self,
        draft: Draft,
        number: int,
        place: Place,
        diagnosis: int | None,
        figures: tuple[str, ...],
    ) -> None:
        """One patient: a stretch of a passage, what is named in it, the diagnosis if it is stated."""
        passage, start, end = place
        text = passage.text
        turn = start
        for _ in range(_OPENING):
            turn = text.index(" ", turn + 1)
        for step in range(2):
            self._name_place(draft, passage.id, text, start + step * 60)
        name = case_id(draft.id, number)
        self.rows["cases.cases"].append(
            Case(
                id=name,
                article_id=draft.id,
                number=number,
                label=f"Case {number}",
                rule="numbered",
                age_years=float(self.random.integers(1, 90)),
                sex=("female", "male", "")[int(self.random.integers(3))],
                spans=(
                    CaseSpan(passage_id=passage.id, start=start, end=turn, role="presentation"),
                    CaseSpan(passage_id=passage.id, start=turn + 1, end=end, role="course"),
                ),
                figures=figures,
            )
        )
        self.rows["diagnoses.diagnoses"].append(_decided(draft, name, place, diagnosis))
        self._label(draft, name, "case")

    def _records(self, numbers: range) -> None:
        """Abstracts without a text, some of them copies of the one before or nearly so."""
        random = self.random
        texts = self.writer.texts(random, np.maximum(lengths(random, len(numbers)), 60))
        for at, number in enumerate(numbers):
            chance = float(random.random())
            if at and chance < _COPY:
                texts[at] = texts[at - 1]
            elif at and chance < _COPY + _NEAR:
                texts[at] = self.writer.nearly(random, texts[at - 1])
            elif chance > 1 - _STANDING:
                texts[at] += " " + self.writer.boilerplate(random)
            draft = self._draft(number, _GENRES[number % 4], int(random.integers(self.world.diagnoses)))
            draft.abstracts.append(Abstract(language="en", type="", text=texts[at]))
            self._finish(draft, number)

    def _label(self, draft: Draft, name: str, unit: Any) -> None:
        self.rows["labels.records"].append(
            RecordLabels(id=name, article_id=draft.id, unit=unit, specialties=(self.specialty,))
        )
        self.rows["labels.labels"].append(
            Label(
                id=name,
                article_id=draft.id,
                facet="specialty",
                rank=1,
                value=self.specialty,
                confidence=0.9,
                evidence=(_SAID,),
            )
        )

    def _label_figure(self, draft: Draft, name: str, modality: tuple[str, str], *, with_region: bool) -> None:
        region = _REGIONS[int(self.random.integers(len(_REGIONS)))] if with_region else ""
        self.rows["labels.records"].append(
            RecordLabels(
                id=name,
                article_id=draft.id,
                unit="figure",
                specialties=(self.specialty,),
                modalities=modality[:1],
                modality_groups=modality[1:],
                regions=(region,) if region else (),
            )
        )
        row: dict[str, Any] = {"id": name, "article_id": draft.id, "rank": 1}
        sure: dict[str, Any] = {"confidence": 0.9, "evidence": (_SAID,)}
        self.rows["labels.labels"] += [
            Label(**row, **sure, facet="modality", value=modality[0], parent=modality[1]),
            Label(**row, **(sure if region else {"confidence": 0.0}), facet="region", value=region),
        ]


def _told(draft: Draft, section: int, texts: Sequence[str]) -> list[Place]:
    """Cases told one after the other, some to a passage."""
    places: list[Place] = []
    for start in range(0, len(texts), _PER_PASSAGE):
        part = texts[start : start + _PER_PASSAGE]
        passage = add_passage(draft, section, " ".join(part))
        at = 0
        for text in part:
            places.append((passage, at, at + len(text)))
            at += len(text) + 1
    return places


def _stated(draft: Draft, place: Place, diagnosis: int) -> tuple[Statement, ...]:
    """The sentence that states a diagnosis; its name there is a mention."""
    passage, first, end = place
    at = passage.text.rindex(diagnosis_name(diagnosis), first, end)
    start = passage.text.rindex("The final", first, end)
    add_mention(draft, passage.id, passage.text, at, end - 1, diagnosis_id(diagnosis))
    span: dict[str, Any] = {"start": start, "end": end, "text": passage.text[start:end]}
    return (Statement(place="passage", passage_id=passage.id, rule="final diagnosis", **span),)


def _decided(draft: Draft, case: str, place: Place, diagnosis: int | None) -> PrincipalDiagnosis:
    """The principal diagnosis of a case, open when it is not stated."""
    if diagnosis is None:
        return PrincipalDiagnosis(case_id=case, article_id=draft.id, reason="not_named")
    passage, first, end = place
    start = passage.text.rindex(diagnosis_name(diagnosis), first, end)
    words: dict[str, Any] = {"start": start, "end": end - 1, "text": passage.text[start : end - 1]}
    return PrincipalDiagnosis(
        case_id=case,
        article_id=draft.id,
        concept=diagnosis_id(diagnosis),
        name=diagnosis_name(diagnosis),
        rule="final diagnosis+title",
        confidence=0.9,
        evidence=(DiagnosisEvidence(place="statement", text_id=passage.id, **words),),
        statements=_stated(draft, place, diagnosis),
    )
