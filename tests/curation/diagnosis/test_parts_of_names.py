"""What a sentence opens with, halves of names and wider concepts do not stand for a principal diagnosis."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.diagnosis.concepts import build
from curation.diagnosis.heads import leaves_out_site
from curation.diagnosis.stage import families
from schemas.concept import Mention
from schemas.vocabulary import ConceptRelation, ConceptType
from tests.curation.diagnosis.builders import answer, concepts

_SPECIES = tuple(f"T:{number}" for number in range(1, 10))


def mention(text: str, concept: str) -> Mention:
    """A mention that begins its text."""
    return Mention(
        article_id="a", text_id="t", start=0, end=len(text), text=text, concept=concept, name=text.lower()
    )


def test_what_opens_a_sentence_takes_nothing_from_its_subject() -> None:
    told = "With a high score, a definite [sporotrichosis|MONDO:sporotrichosis] due to a thorn was diagnosed."
    found = answer(cases=(("He had nodules.", told),))
    assert found.concept == "MONDO:sporotrichosis"
    told = "Given a history of thorns, the patient was diagnosed with [sporotrichosis|MONDO:sporotrichosis]."
    found = answer(cases=(("He had nodules.", told),))
    assert found.concept == "MONDO:sporotrichosis"


def test_a_lesion_of_another_disease_is_half_a_name() -> None:
    found = answer(
        title="Tuberculous [sporotrichosis|MONDO:sporotrichosis] of the wrist",
        discussion=["The bacteria of [tuberculosis|MONDO:tb] reach a wrist."],
    )
    assert found.concept == ""
    found = answer(
        title="Metastatic [melanoma|MONDO:melanoma] of the wrist",
        discussion=["It may follow [tuberculosis|MONDO:tb]."],
    )
    assert found.concept == "MONDO:melanoma"


def test_what_a_vocabulary_files_above_a_disease_is_evidence_only_where_it_names_it() -> None:
    found = answer(
        title="An aggressive [diffuse large B-cell lymphoma|MONDO:dlbcl]",
        keywords=["[swelling|MONDO:lymphoma]"],
    )
    assert (found.concept, found.rule) == ("MONDO:dlbcl", "title")
    assert all(item.text != "swelling" for item in found.evidence)


def test_a_process_without_the_part_it_happened_to_is_half_a_name() -> None:
    kinds = concepts()
    for text, whole in (
        ("Spontaneous rupture of the spleen", False),
        ("Spontaneous rupture in an adult", True),
        ("Spontaneous rupture of unknown cause in the spleen", True),
    ):
        named = mention(text[: len("Spontaneous rupture")], "HP:haematoma")
        assert leaves_out_site(named, text, 0, kinds) is not whole
    assert not leaves_out_site(mention("Tuberculosis", "MONDO:tb"), "Tuberculosis of the spleen", 0, kinds)


def test_infections_with_any_member_of_a_family_say_too_little() -> None:
    known = build(
        [ConceptType(concept=name, semantic_type="T047", group="DISO") for name in ("T:all", *_SPECIES)],
        [ConceptRelation(concept=name, relation="parent", other="T:all", source="TEST") for name in _SPECIES],
        ["T:all", "T:1"],
    )
    assert known.is_general("T:all") and not known.is_general("T:1")


@pytest.mark.parametrize(
    ("name", "is_family"),
    [
        ("Herpesviridae Infections", True),
        ("poxviridae infectious disease", True),
        ("Enterobacteriaceae infection", True),
        ("Herpes simplex infection", False),
        ("Candida <Debaryomycetaceae> infection", False),
        ("Infection, Mucorales", False),
    ],
)
def test_a_family_is_known_by_its_ending(name: str, is_family: bool, tmp_path: Path) -> None:
    file = tmp_path / "names.parquet"
    pq.write_table(pa.table({"concept": ["T:1"], "name": [name]}), file)
    assert families(file) == ({"T:1"} if is_family else set())


def test_what_the_discussion_says_outright_of_the_patient_counts() -> None:
    told = (("A newborn had pustules.",),)
    said = "In our patient, pustules spread. Cultures grew moulds. These findings established a diagnosis of "
    named = "[sporotrichosis|MONDO:sporotrichosis]."
    found = answer(cases=told, discussion=[said + named])
    assert (found.concept, found.rule) == ("MONDO:sporotrichosis", "final diagnosis")
    for other in (
        "Smith et al. reported this. These findings established a diagnosis of ",
        "In our patient, pustules spread. In the literature, cultures established a diagnosis of ",
        "In our patient, pustules spread. Our case confirms the value of making a diagnosis of ",
        "In our patient, pustules spread. In his father, a diagnosis was made of ",
    ):
        assert answer(cases=told, discussion=[other + named]).concept == ""


def test_initials_of_what_the_title_spells_out_name_it() -> None:
    told = (("He had bone pain.", "Stains were decisive for the final diagnosis of LBL.", "He went home."),)
    spelt = answer(title="[Large bone lymphoma|MONDO:dlbcl] of the jaw", cases=told)
    assert (spelt.concept, spelt.rule) == ("MONDO:dlbcl", "final diagnosis+title")


def test_a_cause_that_is_firmly_stated_is_surer_than_one_that_is_seen() -> None:
    title = "Pigment cast nephropathy caused by [melanoma|MONDO:melanoma]"
    told = (("He came.", "A scan revealed [melanoma|MONDO:melanoma].", "He went home."),)
    weak = answer(title=title, cases=told)
    firm = (("He came.", "The final diagnosis was [melanoma|MONDO:melanoma].", "He went home."),)
    found = answer(title=title, cases=firm)
    assert found.concept == "MONDO:melanoma" and found.confidence > weak.confidence


def test_a_final_diagnosis_that_is_only_a_name_is_read_like_a_title() -> None:
    name = "[Sporotrichosis|MONDO:sporotrichosis] secondary to [reflux disease|MONDO:gerd]."
    found = answer(
        cases=(("He had nodules.", "Then he was well.", name),),
        discussion=["[Sporotrichosis|MONDO:sporotrichosis] is rare."],
        is_headed=True,
    )
    assert (found.concept, found.rule) == ("MONDO:sporotrichosis", "final diagnosis")
