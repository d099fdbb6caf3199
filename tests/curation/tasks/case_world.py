"""Articles of cases for the tasks that pair cases, a vocabulary of one small tree, and a run over both."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from curation.tasks.case_study.task import TASK
from flows.engine.database import run_set_stage
from flows.engine.runner import run_records
from schemas.article import Article, Graphic, Licence
from schemas.benchmark import Document, Excluded, Qrel, Query
from schemas.case import Case, CaseSpan
from schemas.concept import DocumentConcept, Mention
from schemas.diagnosis import DiagnosisEvidence, PrincipalDiagnosis
from schemas.extracted import Figure, Passage, Pointer, Source
from schemas.hashing import sha256_text
from schemas.ids import title_id
from schemas.image import FigureImage
from schemas.label import RecordLabels
from schemas.record import from_table, to_table
from schemas.stages import Drop, RecordStage
from schemas.task import Task
from schemas.vocabulary import ConceptName, ConceptRelation, ConceptType

BY = Licence(spdx="CC-BY-4.0", evidence="jats:license/@href")

PARENTS = {
    "lung": "disease",
    "pneumonia": "lung",
    "fibrosis": "lung",
    "bacterial": "pneumonia",
    "viral": "pneumonia",
    "pneumococcal": "bacterial",
    "skin": "disease",
    "acne": "skin",
    "scabies": "skin",
    "gout": "disease",
    "cyst": "disease",
    "haematoma": "disease",
    "colon_haematoma": "haematoma",
    "heart_haematoma": "haematoma",
}
FINDINGS = frozenset({"haematoma", "colon_haematoma", "heart_haematoma"})
NAMES = {
    "gout": ("gout", "Podagra disease", "Lebrun arthropathy", "UAD"),
    "fibrosis": ("fibrosis of the lung", "Lung Fibrosis", "Fibrosis, Lung"),
    "acne": ("acne",),
    "scabies": ("scabies", "back of house"),
}
"""English names beside the word itself, as a source writes them that begins with small letters."""
FILLERS = {"skin": 60, "disease": 301}
"""Concepts nothing is made of, so that 'skin' joins no siblings and 'disease' pairs nobody."""
USED = (
    "lung",
    "pneumonia",
    "fibrosis",
    "bacterial",
    "viral",
    "pneumococcal",
    "acne",
    "scabies",
    "gout",
    "cyst",
)


def curie(name: str) -> str:
    """The concept a word stands for."""
    return f"MONDO:{name}"


def write_vocabulary(folder: Path) -> dict[str, Path]:
    """Names, types and relations of the tree as the stage's resources."""
    links = dict(PARENTS)
    for parent, count in FILLERS.items():
        links |= {f"{parent}{number}": parent for number in range(count)}
    types = [
        ConceptType(concept=curie(name), semantic_type="T033" if name in FINDINGS else "T047", group="DISO")
        for name in sorted({*links, *links.values()})
    ]
    relations = [
        ConceptRelation(concept=curie(name), relation="parent", other=curie(parent), source="TEST")
        for name, parent in sorted(links.items())
    ]
    names = [
        ConceptName(concept=curie(name), name=written, source="TEST")
        for name in sorted({*links, *links.values()})
        for written in NAMES.get(name, (name,))
    ]
    paths = {name: folder / f"{name}.parquet" for name in ("names", "types", "relations")}
    pq.write_table(to_table(ConceptName, names), paths["names"])
    pq.write_table(to_table(ConceptType, types), paths["types"])
    pq.write_table(to_table(ConceptRelation, relations), paths["relations"])
    return paths


@dataclass
class Patient:
    """One case as a test writes it."""

    texts: Sequence[str]
    concept: str = ""
    confidence: float = 0.9
    contenders: tuple[str, ...] = ()
    age: float | None = None
    sex: Any = ""
    names: tuple[str, ...] = ()
    """Concepts the case asserts beside its diagnosis."""
    denies: tuple[str, ...] = ()
    kind: str = "radiology"
    flags: tuple[str, ...] = ("face_unchecked",)
    graphics: int = 1
    systems: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    """Of its figure."""
    sites: tuple[str, ...] = ("thorax",)
    """Regions of the case itself."""
    pointers: Mapping[int, tuple[Pointer, ...]] = field(default_factory=dict)
    roles: Mapping[int, Any] = field(default_factory=dict)
    """Passage, from 0, -> what it tells; the others are presentation."""
    figure: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Report:
    """One article as a test writes it."""

    id: str
    patients: Sequence[Patient]
    authors: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Concepts only the rest of the article names."""
    source: Mapping[str, Any] = field(default_factory=dict)
    parsed: Mapping[str, Any] = field(default_factory=dict)
    """Of the article as it was parsed."""

    def rows(self) -> dict[str, list[Any]]:
        """Its rows by input table."""
        made: dict[str, list[Any]] = {item.table: [] for item in TASK.per_article.inputs}
        made["extract.sources"].append(_source(self))
        made["parse.articles"].append(_article(self))
        number = 0
        for position, patient in enumerate(self.patients, start=1):
            name = f"{self.id}#case{position}"
            passages = [
                _passage(
                    self.id,
                    number + at,
                    text,
                    patient.pointers.get(at - 1, ()),
                    self.source.get("language", "en"),
                )
                for at, text in enumerate(patient.texts, start=1)
            ]
            number += len(passages)
            made["extract.passages"] += passages
            figures = [f"{self.id}#F{position}"] if patient.graphics else []
            made["cases.cases"].append(_case(self, name, position, patient, passages, figures))
            made["diagnoses.diagnoses"].append(_diagnosis(self.id, name, patient, passages))
            made["ground.mentions"] += _mentions(self.id, patient, passages)
            _add_figure(made, self.id, figures, patient)
            made["labels.records"].append(
                RecordLabels(
                    id=name,
                    article_id=self.id,
                    unit="case",
                    specialties=("pulmonology", "surgery"),
                    regions=patient.sites,
                    body_systems=patient.systems,
                )
            )
        named = {name for patient in self.patients for name in (*patient.names, patient.concept)} - {""}
        made["ground.concepts"] += [
            DocumentConcept(article_id=self.id, concept=curie(name), name=name, mentions=1, asserted=1)
            for name in sorted({*named, *self.names})
        ]
        return made


def _source(report: Report) -> Source:
    made = Source(
        id=report.id,
        title="A patient with a rare finding",
        authors=report.authors,
        language="en",
        article_type="case-report",
        licence=BY,
        raw_sha256="0" * 64,
    )
    return replace(made, **report.source)


def _article(report: Report) -> Article:
    made = Article(
        id=report.id,
        source="pmc",
        language="en",
        title="A patient with a rare finding",
        licence=BY,
        raw_sha256="0" * 64,
    )
    return replace(made, **report.parsed)


def _passage(
    article: str, number: int, text: str, pointers: tuple[Pointer, ...], language: str = "en"
) -> Passage:
    return Passage(
        id=f"{article}#p{number}",
        article_id=article,
        number=number,
        section=1,
        text=text,
        text_sha256=sha256_text(text),
        language=language,
        pointers=pointers,
    )


def _case(
    report: Report,
    name: str,
    number: int,
    patient: Patient,
    passages: Sequence[Passage],
    figures: Sequence[str],
) -> Case:
    return Case(
        id=name,
        article_id=report.id,
        number=number,
        label="",
        rule="section",
        age_years=patient.age,
        sex=patient.sex,
        spans=tuple(
            CaseSpan(
                passage_id=item.id, start=0, end=len(item.text), role=patient.roles.get(at, "presentation")
            )
            for at, item in enumerate(passages)
        ),
        figures=tuple(figures),
    )


def _diagnosis(article: str, case: str, patient: Patient, passages: Sequence[Passage]) -> PrincipalDiagnosis:
    if not patient.concept:
        reason: Any = "ambiguous" if patient.contenders else "not_named"
        contenders = tuple(curie(name) for name in patient.contenders)
        return PrincipalDiagnosis(case_id=case, article_id=article, reason=reason, contenders=contenders)
    first = passages[0]
    spans = (
        DiagnosisEvidence(place="title", text_id=title_id(article), start=0, end=9, text="A patient"),
        DiagnosisEvidence(place="statement", text_id=first.id, start=2, end=9, text=first.text[2:9]),
    )
    return PrincipalDiagnosis(
        case_id=case,
        article_id=article,
        concept=curie(patient.concept),
        name=patient.concept,
        rule="title",
        confidence=patient.confidence,
        evidence=spans,
    )


def _mentions(article: str, patient: Patient, passages: Sequence[Passage]) -> list[Mention]:
    """All in the first passage: where the word stands in it, else at its beginning.

    A diagnosis that it does not name is mentioned nowhere.
    """
    first = passages[0]
    said = [(name, False) for name in (patient.concept, *patient.names) if name]
    said += [(name, True) for name in patient.denies]
    made = []
    for name, is_negated in said:
        match = re.search(rf"\b{name}\b", first.text)
        if name == patient.concept and not match:
            continue
        start, end = match.span() if match else (0, 3)
        made.append(
            Mention(
                article_id=article,
                text_id=first.id,
                start=start,
                end=end,
                text=first.text[start:end],
                concept=curie(name),
                name=name,
                is_negated=is_negated,
            )
        )
    return made


def _add_figure(made: dict[str, list[Any]], article: str, names: Sequence[str], patient: Patient) -> None:
    for name in names:
        number = int(name.rpartition("#F")[2])
        files = [
            Graphic(href=f"{n}.jpg", path=f"m/{n}.jpg", sha256=sha256_text(f"{name}/{n}"))
            for n in range(1, patient.graphics + 1)
        ]
        shown = Figure(
            id=name, article_id=article, number=number, section=1, licence=BY, graphics=tuple(files)
        )
        made["extract.figures"].append(replace(shown, **patient.figure))
        made["labels.records"].append(
            RecordLabels(
                id=name, article_id=article, unit="figure", modalities=("ct",), regions=patient.regions
            )
        )
        made["images.images"] += [
            FigureImage(
                id=f"{name}/{position}",
                article_id=article,
                figure_id=name,
                sha256=file.sha256 or "",
                path=file.path or "",
                format="jpeg",
                mode="L",
                width=10,
                height=10,
                is_fitting=True,
                phash="0" * 16,
                thumbnail="",
                kind=patient.kind,
                flags=patient.flags,
            )
            for position, file in enumerate(files, start=1)
        ]


@dataclass
class Built:
    """Everything a run of the task gave."""

    per_article: dict[str, list[Any]]
    drops: list[Drop]
    tables: dict[str, list[Any]]

    @property
    def queries(self) -> list[Query]:
        """Released queries."""
        return self.tables["queries"]

    @property
    def documents(self) -> list[Document]:
        """Released documents."""
        return self.tables["documents"]

    def of_case(self) -> dict[str, str]:
        """Query id to the case it was made of."""
        return {query.id: query.source_id for query in self.queries}

    def labels(self, table: str = "qrels") -> dict[tuple[str, str], Qrel]:
        """Labels by case of the query and document."""
        cases = self.of_case()
        return {(cases[row.query_id], row.corpus_id): row for row in self.tables[table]}

    def excluded(self) -> dict[tuple[str, str], str]:
        """Reasons by case of the query and document."""
        cases = self.of_case()
        rows: list[Excluded] = self.tables["excluded"]
        return {(cases[row.query_id], row.corpus_id): row.reason for row in rows}

    def reasons(self, unit: str) -> dict[str, str]:
        """Reasons of all drops of a unit, of both stages."""
        return {row.id: str(row.reason) for row in [*self.drops, *self.tables["drops"]] if row.unit == unit}


def run(reports: Sequence[Report], folder: Path, task: Task = TASK, **params: Any) -> Built:
    """Both stages of a task over some reports, as the runner runs them."""
    vocabulary = folder / "vocabulary"
    if not vocabulary.exists():
        vocabulary.mkdir()
        write_vocabulary(vocabulary)
    resources = {name: vocabulary / f"{name}.parquet" for name in task.per_article.resources}
    tables: dict[str, list[Any]] = {item.table: [] for item in task.per_article.inputs}
    for report in reports:
        for name, rows in report.rows().items():
            if name in tables:
                tables[name] += rows
    chosen = {**task.per_article.params, **params}
    kept, drops, _ = run_records(task.per_article, tables, chosen, resources)
    tables |= {f"{task.name}.{name}": rows for name, rows in kept.items()}
    for step in task.steps:
        assert isinstance(step, RecordStage)
        more, lost, _ = run_records(step, tables, chosen, {})
        tables |= {f"{step.name}.{name}": rows for name, rows in more.items()}
        drops += lost
    inputs = {}
    for view, (table, row) in task.over_all.inputs.items():
        inputs[view] = [folder / f"{view}.parquet"]
        pq.write_table(to_table(row, tables[table]), inputs[view][0])
    out = folder / "out" / "all"
    out.mkdir(parents=True, exist_ok=True)
    outputs, _, _ = run_set_stage(task.over_all, inputs, out, "1GB")
    kinds = {name: sql.row for name, sql in task.over_all.outputs.items()}
    made: dict[str, list[Any]] = {
        name: from_table(kind, pq.read_table(out / outputs["_dropped" if name == "drops" else name].file))
        for name, kind in kinds.items()
    }
    return Built(kept, drops, made)


def story(seed: int, words: int = 110) -> str:
    """A text of invented words that shares no stretch with that of another seed."""
    chance = random.Random(seed)
    return " ".join("".join(chance.choices("abdegiklmnoprstu", k=6)) for _ in range(words)) + "."
