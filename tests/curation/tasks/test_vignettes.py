"""Case reports cut at a decision: what stays, what is the answer, where a case makes no vignette."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.extract.neutralise import restore
from curation.tasks.clinical_evidence.decisions import treatment
from curation.tasks.clinical_evidence.records import Decision, Vignette
from curation.tasks.clinical_evidence.vignettes import ASKED, PER_ARTICLE
from curation.tasks.shared.hide import Sentence
from flows.engine.runner import run_records
from schemas.case import CaseSpan
from schemas.concept import Mention
from schemas.hashing import sha256_text
from schemas.record import to_table
from schemas.stages import Drop
from schemas.vocabulary import ConceptType
from tests.curation.tasks.case_world import Patient, Report, write_vocabulary

STORY = (
    "A 40-year-old man presented with pain in the left flank that had lasted for two weeks. He had taken "
    "paracetamol from a pharmacy. He denied fever and had lost no weight, and nobody in his family had been "
    "ill. His temperature was 37.1 °C, and the abdomen was soft and not tender on examination. "
    "Urine and blood tests were normal but for a creatinine of 1.9 mg/dL, which was repeated and confirmed."
)
TESTED = "Computed tomography showed a mass of 4 cm in the left kidney."
OPERATED = "He underwent partial nephrectomy under general anaesthesia."
_COURSE = re.compile("treated|underwent")
PROCEDURES = {"T:ct": "Computed tomography", "T:out": "nephrectomy"}
AFTER = "He recovered and was well a year later."


def run(folder: Path, *texts: str, **params: Any) -> tuple[list[Vignette], list[Decision], list[Drop]]:
    """The vignettes of one report, each text a passage; those about treatment tell its course."""
    vocabulary = write_vocabulary(folder)
    known = pq.read_table(vocabulary["types"])
    procedures = [ConceptType(concept=name, semantic_type="T061", group="PROC") for name in PROCEDURES]
    pq.write_table(pa.concat_tables([known, to_table(ConceptType, procedures)]), vocabulary["types"])
    roles = {at: "course" for at, text in enumerate(texts) if text == AFTER or _COURSE.search(text)}
    patient = Patient(texts=texts, concept="gout", roles=roles)
    tables: dict[str, list[Any]] = {item.table: [] for item in PER_ARTICLE.inputs}
    for name, rows in Report("pmc:PMC1.1", [patient]).rows().items():
        if name in tables:
            tables[name] += rows
    tables["ground.mentions"] += [
        Mention(
            article_id="pmc:PMC1.1",
            text_id=passage.id,
            start=found.start(),
            end=found.end(),
            text=found.group(),
            concept=concept,
            name=found.group(),
        )
        for passage in tables["extract.passages"]
        for concept, words in PROCEDURES.items()
        for found in re.finditer(words, passage.text)
    ]
    settings = {**PER_ARTICLE.params, "one_per_patient": False, **params}
    kept, drops, accounts = run_records(PER_ARTICLE, tables, settings, vocabulary)
    assert accounts["vignette"]["in"] == 3
    return kept["vignettes"], kept["decisions"], [drop for drop in drops if drop.unit == "vignette"]


def test_each_scenario_ends_before_its_decision(tmp_path: Path) -> None:
    vignettes, decisions, drops = run(tmp_path, STORY, TESTED, OPERATED, AFTER)
    of = {item.scenario: item for item in vignettes}
    assert of["examination"].text == f"{STORY}\n{ASKED['examination']}"
    assert of["treatment"].text == f"{STORY}\n{TESTED}\n{ASKED['treatment']}"
    assert (of["examination"].answer, of["treatment"].answer) == (TESTED, OPERATED)
    assert (of["examination"].targets, of["treatment"].targets) == (("T:ct",), ("T:out",))
    assert of["examination"].answer_words == ("Computed tomography",)
    assert of["treatment"].answer_words == ("nephrectomy",)
    for item in vignettes:
        assert sha256_text(restore(item.text, item.transforms)) == item.text_sha256
        assert [span.text for span in item.evidence] == [item.answer]
        assert item.patient_id == item.source_id == "pmc:PMC1.1#case1"
    whole = "\n".join((STORY, TESTED, OPERATED, AFTER))
    assert {item.how for item in decisions} == {"answer"}
    assert all(whole[item.start : item.end] == item.text for item in decisions)
    assert {drop.id.rpartition("/")[2]: str(drop.reason) for drop in drops} == {"diagnosis": "no_decision"}


def test_a_diagnosis_is_cut_as_in_clinical_case(tmp_path: Path) -> None:
    vignettes, decisions, _ = run(tmp_path, STORY, "It turned out to be gout of the kidney.", AFTER)
    (found,) = (item for item in vignettes if item.scenario == "diagnosis")
    assert found.text == f"{STORY}\n{ASKED['diagnosis']}" and found.targets == ("MONDO:gout",)
    assert [(item.text, item.how) for item in decisions if item.scenario == "diagnosis"] == [("gout", "name")]


@pytest.mark.parametrize(
    ("texts", "scenario", "reason"),
    [
        ((STORY, "Chest X-ray was normal."), "examination", "no_decision"),
        ((STORY, "A CT two years ago had shown a cyst."), "examination", "no_decision"),
        ((STORY, "Repeat CT revealed a larger mass."), "examination", "no_decision"),
        (("He had pain in the flank.", TESTED), "examination", "short_case"),
        ((STORY, "He was treated."), "treatment", "no_decision"),
        ((STORY, "He was treated with etoposide without improvement."), "treatment", "no_decision"),
        ((STORY, "He was treated at another hospital with a nephrectomy."), "treatment", "no_decision"),
        ((STORY, "He underwent splenectomy."), "treatment", "no_target"),
        (("A nephrectomy was discussed.", STORY, OPERATED), "treatment", "revealed_early"),
    ],
)
def test_what_is_no_decision_makes_no_vignette(
    tmp_path: Path, texts: tuple[str, ...], scenario: str, reason: str
) -> None:
    vignettes, _, drops = run(tmp_path, *texts)
    assert scenario not in {item.scenario for item in vignettes}
    assert {str(drop.reason) for drop in drops if drop.id.endswith(scenario)} == {reason}


@pytest.mark.parametrize("hint", ["He was referred for surgery.", "A nephrectomy was considered."])
def test_a_hint_before_the_decision_is_cut_as_well(tmp_path: Path, hint: str) -> None:
    vignettes, decisions, _ = run(tmp_path, STORY, hint, OPERATED)
    (found,) = (item for item in vignettes if item.scenario == "treatment")
    assert found.text == f"{STORY}\n{ASKED['treatment']}" and found.answer == OPERATED
    assert [(item.text, item.how) for item in decisions if item.scenario == "treatment"] == [(hint, "hint")]


def test_how_far_the_decision_may_lie_behind_the_cut_is_a_setting(tmp_path: Path) -> None:
    texts = (STORY, "A nephrectomy was considered.", "He slept well. He ate. He walked. He read.", OPERATED)
    for number, (params, reasons) in enumerate((({}, {"revealed_early"}), ({"max_gap": 5}, set()))):
        folder = tmp_path / str(number)
        folder.mkdir()
        _, _, drops = run(folder, *texts, **params)
        assert {str(drop.reason) for drop in drops if drop.id.endswith("treatment")} == reasons


def test_a_patient_makes_one_query_drawn_by_hash(tmp_path: Path) -> None:
    vignettes, decisions, drops = run(tmp_path, STORY, TESTED, OPERATED, one_per_patient=True)
    assert len(vignettes) == len(decisions) == 1
    assert sorted(str(drop.reason) for drop in drops) == ["no_decision", "other_scenario"]


@pytest.mark.parametrize(
    "other", ["His brother was treated with a nephrectomy.", "The patient's mother underwent nephrectomy."]
)
def test_what_was_done_to_a_relative_is_no_answer(tmp_path: Path, other: str) -> None:
    vignettes, _, drops = run(tmp_path, STORY, other)
    assert "treatment" not in {item.scenario for item in vignettes}
    assert {str(drop.reason) for drop in drops if drop.id.endswith("treatment")} == {"no_decision"}


def test_the_mother_is_the_patient_of_a_report_on_a_woman_only() -> None:
    of_child = [_told("A male newborn had a rash."), _told("The mother was treated with oxytocin.")]
    assert treatment(of_child, (), frozenset()) is None
    of_child.append(_told("The infant was treated with antibiotics."))
    assert (found := treatment(of_child, (), frozenset())) and found.at == 2
    of_woman = [_told("A pregnant woman had a rash."), _told("The mother was treated with antibiotics.")]
    assert (found := treatment(of_woman, (), frozenset())) and found.at == 1


def test_the_salt_of_a_drug_is_no_answer_of_its_own() -> None:
    text = "He was treated with cefuroxime sodium and sodium chloride."
    names = ("cefuroxime", "sodium", "sodium chloride")
    found = treatment(
        [_told("A man had fever."), _told(text)],
        [
            _drug(text, name, text.index(name) if name != "sodium" else text.index(" sodium") + 1)
            for name in names
        ],
        frozenset(names),
    )
    assert found is not None and found.words == ("cefuroxime", "sodium chloride")


def _told(text: str) -> Sentence:
    return Sentence(CaseSpan(passage_id=text, start=0, end=len(text), role="course"), text)


def _drug(text: str, name: str, at: int) -> Mention:
    return Mention(
        article_id="a", text_id=text, start=at, end=at + len(name), text=name, concept=name, name=name
    )
