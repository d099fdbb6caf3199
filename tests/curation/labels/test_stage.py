from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from curation.extract.stage import EXTRACT
from curation.labels.stage import LABELS
from flows.engine.runner import run_records
from schemas.article import Affiliation, Article
from schemas.case import Case, CaseSpan
from schemas.concept import Mention
from schemas.diagnosis import PrincipalDiagnosis, Statement
from schemas.extracted import Figure, Passage
from schemas.ids import title_id
from schemas.image import FigureImage
from schemas.label import Label, RecordLabels
from schemas.record import from_table, to_dict, to_table
from tests.curation.builders import article, figure

TEXTS = (
    "A man of 60 years was short of breath. A chest radiograph showed a nodule ([F1|Fig. 1]).",
    "The second patient had epilepsy with status epilepticus after a stroke.",
)


def lung() -> Article:
    made = article(
        TEXTS,
        [figure(1, "Fig. 1", "Before treatment."), figure(2, "Fig. 2", "Axial CT of the chest.")],
        title="Lung cancer after chemotherapy and pneumonia: a case report",
    )
    return replace(
        made,
        affiliations=(Affiliation(author="first", text="A Hospital, Lima, Peru"),),
        article_type="case-report",
    )


def tables(made: Article, **more: Sequence[Any]) -> dict[str, Sequence[Any]]:
    rows = list(EXTRACT.process(made))
    return {
        "parse.articles": [made],
        "extract.figures": [row for row in rows if isinstance(row, Figure)],
        "extract.passages": [row for row in rows if isinstance(row, Passage)],
        "cases.cases": [],
        "images.images": [],
        "ground.mentions": [],
        "diagnoses.diagnoses": [],
        **more,
    }


def run(made: Article, **more: Sequence[Any]) -> tuple[list[Label], dict[str, RecordLabels]]:
    kept, drops, counts = run_records(LABELS, tables(made, **more), {}, {})
    assert not drops
    assert counts["record"]["in"] == counts["record"]["kept"] == len(kept["records"])
    return kept["labels"], {row.id: row for row in kept["records"]}


def test_a_panel_has_what_its_own_words_say() -> None:
    caption = (
        "The patient in the second week. (A) Axial CT of the chest. (B) MRI of the brain. "
        "(C) The same four months later."
    )
    texts = [
        "Tuberculosis of a man of 60 years. Ultrasound of the liver showed a lesion ([F1|Fig. 1C]).",
        "On bone scintigraphy nothing was found in any part of the body ([F1|Fig. 1]).",
    ]
    _, records = run(article(texts, [figure(1, "Fig. 1", caption)], title="Tuberculosis: a case report"))
    found = {name.rpartition("#")[2]: row for name, row in records.items() if row.unit == "panel"}
    assert {name: row.modalities for name, row in found.items()} == {
        "F1.A": ("ct",),
        "F1.B": ("mri",),
        "F1.C": ("ultrasound",),
    }
    assert found["F1.A"].regions == ("thorax",) and found["F1.B"].region_parts == ("brain",)
    assert set(records["pmc:PMC1.1#F1"].modalities) == {"ct", "mri"}


def test_an_article_and_its_figures() -> None:
    rows, records = run(lung())
    whole = records["pmc:PMC1.1"]
    assert (whole.unit, whole.specialties, whole.body_systems) == (
        "article",
        ("oncology",),
        ("respiratory",),
    )
    assert (whole.domain, whole.country, whole.who_region) == ("clinical_case", "PE", "AMR")
    assert (whole.modalities, whole.modality_groups) == ((), ())
    shown = records["pmc:PMC1.1#F2"]
    assert (shown.unit, shown.modalities, shown.modality_groups) == ("figure", ("ct",), ("radiology",))
    assert (shown.specialties, shown.country) == (whole.specialties, "PE")
    assert records["pmc:PMC1.1#F1"].modalities == ("xray",)
    cited = next(row for row in rows if row.id == "pmc:PMC1.1#F1")
    assert {item.place for item in cited.evidence} == {"citing sentence"}


def test_every_record_has_a_row_for_each_of_its_facets() -> None:
    rows, _ = run(lung())
    by_record = {
        name: {row.facet for row in rows if row.id == name and row.rank == 1}
        for name in {row.id for row in rows}
    }
    assert by_record["pmc:PMC1.1"] == {"specialty", "body_system", "domain", "country"}
    assert by_record["pmc:PMC1.1#F1"] == by_record["pmc:PMC1.1#F2"] == {"modality", "region"}
    assert all((row.value == "") == bool(row.reason) == (row.confidence == 0) for row in rows)
    assert all(row.evidence for row in rows if row.value)


def test_images_lend_their_kind() -> None:
    plain = replace(lung(), passages=())
    image = FigureImage(
        id="pmc:PMC1.1#F1/1", article_id="pmc:PMC1.1", figure_id="pmc:PMC1.1#F1", sha256="0" * 64, path="x",
        format="jpeg", mode="L", width=1, height=1, is_fitting=True, phash="0" * 16, thumbnail="",
        kind="radiology",
    )  # fmt: skip
    _, without = run(plain)
    _, having = run(plain, **{"images.images": [image]})
    assert without["pmc:PMC1.1#F1"].modalities == ()
    assert having["pmc:PMC1.1#F1"].modalities == ("radiology",)


def test_mentions_count_and_nothing_else_changes_without_them() -> None:
    quiet = article(("Nothing is said here of note.",), [], title="Letter", journal="Notes")
    _, without = run(quiet)
    mentions = [
        Mention(
            article_id=quiet.id, text_id=f"{quiet.id}#p{number}", start=0, end=7, text="Nothing",
            concept=f"HP:{number}", name="Abnormal retina",
        )
        for number in range(20)
    ]  # fmt: skip
    rows, having = run(quiet, **{"ground.mentions": mentions})
    assert without[quiet.id].specialties == ()
    assert having[quiet.id].specialties == ("ophthalmology",)
    assert {item.place for row in rows if row.facet == "specialty" for item in row.evidence} == {"concept"}


def test_what_a_title_only_compares_with_is_not_its_field() -> None:
    title = "Abscess mimicking metastatic cancer"
    made = article(("A man came.",), [], title=title, journal="Notes")
    cancer = Mention(
        article_id=made.id, text_id=title_id(made.id), start=18, end=35, text="metastatic cancer",
        concept="MADE:1", name="cancer", is_hypothetical=True,
    )  # fmt: skip
    _, plain = run(made)
    _, told = run(made, **{"ground.mentions": [cancer]})
    assert "oncology" in plain[made.id].specialties
    assert "oncology" not in told[made.id].specialties


def case(number: int, passage: str, end: int) -> Case:
    return Case(
        id=f"pmc:PMC1.1#case{number}", article_id="pmc:PMC1.1", number=number, label="",
        rule="numbered", figures=(),
        spans=(CaseSpan(passage_id=passage, start=0, end=end, role="presentation"),),
    )  # fmt: skip


def diagnosis(number: int, passage: str, text: str) -> PrincipalDiagnosis:
    stated = Statement(place="passage", passage_id=passage, start=0, end=len(text), text=text, rule="final")
    return PrincipalDiagnosis(
        case_id=f"pmc:PMC1.1#case{number}", article_id="pmc:PMC1.1", reason="unsure", statements=(stated,)
    )


def test_a_case_of_another_topic_has_its_own() -> None:
    made = lung()
    first, second = made.passages
    cases = [
        case(1, first.id, len(first.text)),
        case(2, second.id, len(second.text)),
    ]
    diagnoses = [
        diagnosis(1, first.id, "He had lung cancer."),
        diagnosis(2, second.id, "The diagnosis was status epilepticus after stroke."),
    ]
    given: dict[str, Sequence[Any]] = {"cases.cases": cases, "diagnoses.diagnoses": diagnoses}
    rows, records = run(made, **given)
    assert records["pmc:PMC1.1#case1"].specialties == ("oncology",)
    assert records["pmc:PMC1.1#case2"].specialties == ("neurology",)
    assert records["pmc:PMC1.1#case2"].country == "PE"
    own = {row.facet for row in rows if row.id == "pmc:PMC1.1#case2"}
    assert own == {"specialty", "body_system", "region"}
    assert {row.facet for row in rows if row.id == "pmc:PMC1.1#case1"} == {"region"}


def test_the_only_case_of_an_article_takes_its_topic() -> None:
    made = lung()
    second = made.passages[1]
    rows, records = run(made, **{"cases.cases": [case(1, second.id, len(second.text))]})
    assert records["pmc:PMC1.1#case1"].specialties == ("oncology",)
    assert {row.facet for row in rows if "#case" in row.id} == {"region"}


def test_a_non_medical_article_has_no_topic() -> None:
    made = article(("Wheat was sown.",), [], title="Wheat yield and soil in crop rotation", journal="Plants")
    rows, records = run(replace(made, article_type="research-article"))
    assert records[made.id].domain == "non_medical"
    assert records[made.id].specialties == records[made.id].body_systems == ()
    assert {row.reason for row in rows if row.facet in ("specialty", "body_system")} == {"not_medical"}


def test_rows_pass_through_their_schema() -> None:
    rows, records = run(lung())
    assert from_table(Label, to_table(Label, rows)) == rows
    kept = list(records.values())
    assert from_table(RecordLabels, to_table(RecordLabels, kept)) == kept


_PRINT = """
import json
from curation.labels.stage import LABELS
from schemas.record import to_dict
from tests.curation.labels.test_stage import lung, tables
made = tables(lung())
rows = LABELS.process(lung(), made["extract.figures"], made["extract.passages"])
print(json.dumps([to_dict(row) for row in rows]))
"""


@pytest.mark.parametrize("seed", ["0", "1", "77"])
def test_the_same_article_gives_the_same_rows_whatever_the_hash_seed(seed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PRINT],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    made = tables(lung())
    here = LABELS.process(lung(), made["extract.figures"], made["extract.passages"])
    assert json.loads(done.stdout) == json.loads(json.dumps([to_dict(row) for row in here]))
