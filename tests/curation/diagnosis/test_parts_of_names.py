"""What a sentence opens with, halves of names and wider concepts do not stand for a principal diagnosis."""

from __future__ import annotations

from tests.curation.diagnosis.builders import answer


def test_what_opens_a_sentence_takes_nothing_from_its_subject() -> None:
    told = "With a high score, a definite [sporotrichosis|MONDO:sporotrichosis] due to a thorn was diagnosed."
    found = answer(cases=(("He had nodules.", told),), rules=["was diagnosed"])
    assert found.concept == "MONDO:sporotrichosis"
    told = "Given a history of thorns, the patient was diagnosed with [sporotrichosis|MONDO:sporotrichosis]."
    found = answer(cases=(("He had nodules.", told),), rules=["diagnosed with"])
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
