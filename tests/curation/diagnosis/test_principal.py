"""The principal diagnosis of cases written for each rule."""

from __future__ import annotations

import dataclasses

import pytest

from curation.diagnosis import score
from curation.diagnosis.stage import of_article
from schemas.vocabulary import ConceptRelation
from tests.curation.diagnosis.builders import ID, Report, answer, answers, concepts, parts


def test_the_title_names_it() -> None:
    found = answer(title="[Sporotrichosis|MONDO:sporotrichosis] of the nose: a case report")
    assert (found.concept, found.rule, found.reason) == ("MONDO:sporotrichosis", "title", "")
    assert found.name == "sporotrichosis" and found.contenders == ()
    assert [(item.place, item.text_id, item.start, item.text) for item in found.evidence] == [
        ("title", f"{ID}#title", 0, "Sporotrichosis")
    ]
    assert 0 < found.confidence < 1


def test_a_statement_counts_without_a_title_and_more_with_it() -> None:
    told = (("He had nodules.", "Our final diagnosis was [sporotrichosis|MONDO:sporotrichosis]."),)
    alone = answer(cases=told)
    both = answer(title="[Sporotrichosis|MONDO:sporotrichosis] of the nose", cases=told)
    assert alone.concept == both.concept == "MONDO:sporotrichosis"
    assert alone.rule == "final diagnosis" and set(both.rule.split("+")) == {"final diagnosis", "title"}
    assert both.confidence > alone.confidence
    assert [item.place for item in both.evidence] == ["statement", "title", "case"][: len(both.evidence)]


def test_evidence_re_extracts() -> None:
    report = Report(
        title="An odd case of [sporotrichosis|MONDO:sporotrichosis]",
        keywords=["fungi", "[sporotrichosis|MONDO:sporotrichosis]"],
        cases=(("He had nodules.", "He was diagnosed with [sporotrichosis|MONDO:sporotrichosis]."),),
        discussion=["We report a case of [sporotrichosis|MONDO:sporotrichosis]."],
    )
    [found] = answers(report)
    texts = {
        f"{ID}#title": "An odd case of sporotrichosis",
        f"{ID}#keyword2": "sporotrichosis",
        f"{ID}#p2": "He was diagnosed with sporotrichosis.",
    }
    assert {item.place for item in found.evidence} == {"title", "keyword", "statement", "case"}
    for item in found.evidence:
        assert texts[item.text_id][item.start : item.end] == item.text


@pytest.mark.parametrize(
    "title",
    [
        "[Sporotrichosis|MONDO:sporotrichosis] secondary to [reflux disease|MONDO:gerd]",
        "[Sporotrichosis|MONDO:sporotrichosis] due to [reflux disease|MONDO:gerd]",
        "[Sporotrichosis|MONDO:sporotrichosis] in a patient with [melanoma|MONDO:melanoma]",
        "[Sporotrichosis|MONDO:sporotrichosis] in a 60-year-old frail woman with [lupus|MONDO:lupus]",
        "[Sporotrichosis|MONDO:sporotrichosis] arising in [lupus|MONDO:lupus]",
        "[Sporotrichosis|MONDO:sporotrichosis] complicating [lupus|MONDO:lupus]",
        "[Sporotrichosis|MONDO:sporotrichosis] after treatment of [lupus|MONDO:lupus]",
        "[Sporotrichosis|MONDO:sporotrichosis] presenting as [cough|HP:cough]",
        "[Sporotrichosis|MONDO:sporotrichosis] presenting clinically as [Kaposi sarcoma|MONDO:kaposi]",
        "[Sporotrichosis|MONDO:sporotrichosis] mimicking [Kaposi sarcoma|MONDO:kaposi]",
        "[Sporotrichosis|MONDO:sporotrichosis] misdiagnosed as [Kaposi sarcoma|MONDO:kaposi]",
        "[Sporotrichosis|MONDO:sporotrichosis] complicated by [melanoma|MONDO:melanoma]",
        "[Lupus|MONDO:lupus]-associated [sporotrichosis|MONDO:sporotrichosis]",
        "[Cough|HP:cough] as the first manifestation of [sporotrichosis|MONDO:sporotrichosis]",
        "[Melanoma|MONDO:melanoma] leading to the diagnosis of [sporotrichosis|MONDO:sporotrichosis]",
        "Ultrasound in the diagnosis of [sporotrichosis|MONDO:sporotrichosis]",
        "Unusual course in a case of [sporotrichosis|MONDO:sporotrichosis] with [fever|HP:fever]",
        "Anaesthesia for a patient with [sporotrichosis|MONDO:sporotrichosis]",
    ],
)
def test_what_a_title_is_about(title: str) -> None:
    found = answer(title=title)
    assert (found.concept, found.reason) == ("MONDO:sporotrichosis", "")


def test_the_look_of_it_never_counts_anywhere() -> None:
    found = answer(
        title="A strange rash mimicking [Kaposi sarcoma|MONDO:kaposi]",
        keywords=["[Kaposi sarcoma|MONDO:kaposi]"],
        discussion=["We report a case of [Kaposi sarcoma|MONDO:kaposi]."],
    )
    assert (found.concept, found.reason) == ("", "unsure")


@pytest.mark.parametrize("flag", ["negated", "hypothetical", "historical", "family"])
def test_flagged_mentions_never_count(flag: str) -> None:
    mention = f"[sporotrichosis|MONDO:sporotrichosis!{flag}]"
    found = answer(
        title=f"About {mention}",
        keywords=[mention],
        cases=(("He came.", f"He was diagnosed with {mention}."),),
        discussion=[f"Our patient was diagnosed with {mention}."],
    )
    assert found.concept == "" and found.reason == "not_named" and not found.evidence


@pytest.mark.parametrize(
    "sentence",
    [
        "He was initially diagnosed with [Kaposi sarcoma|MONDO:kaposi].",
        "He had been diagnosed with [Kaposi sarcoma|MONDO:kaposi] ten years before.",
        "The diagnosis of [Kaposi sarcoma|MONDO:kaposi] was ruled out.",
        "The differential diagnosis was [Kaposi sarcoma|MONDO:kaposi].",
        "Biopsy was negative for [Kaposi sarcoma|MONDO:kaposi].",
        "A presumptive diagnosis of [Kaposi sarcoma|MONDO:kaposi] was made.",
        "He was presumed to have [Kaposi sarcoma|MONDO:kaposi].",
    ],
)
def test_sentences_that_take_it_back(sentence: str) -> None:
    found = answer(cases=(("He came.", sentence),))
    assert found.concept == ""


def test_what_was_suspected_and_then_confirmed_counts() -> None:
    told = (
        (
            "He came.",
            "The diagnosis of [sporotrichosis|MONDO:sporotrichosis], long suspected, was confirmed.",
        ),
    )
    assert answer(cases=told).concept == "MONDO:sporotrichosis"


@pytest.mark.parametrize(
    "sentence",
    [
        "He was diagnosed with [sporotrichosis|MONDO:sporotrichosis] with [fever|HP:fever].",
        "A diagnosis of [sporotrichosis|MONDO:sporotrichosis] due to [melanoma|MONDO:melanoma] was made.",
        "Initially treated for [melanoma|MONDO:melanoma], he was finally diagnosed with "
        "[sporotrichosis|MONDO:sporotrichosis].",
        "In view of his [lupus|MONDO:lupus], [sporotrichosis|MONDO:sporotrichosis] was diagnosed.",
    ],
)
def test_which_disease_a_statement_states(sentence: str) -> None:
    assert answer(cases=(("He came.", sentence),)).concept in ("MONDO:sporotrichosis", "")


def test_a_part_of_a_longer_word_is_another_disease() -> None:
    assert answer(title="Relapsed non-[Hodgkin lymphoma|MONDO:dlbcl] of the eye").concept == ""
    assert answer(title="Relapsed [Hodgkin lymphoma|MONDO:dlbcl] of the eye").concept == "MONDO:dlbcl"
    assert answer(title="Response to [SLE|MONDO:lupus]-1 inhibitors").concept == ""


def test_half_of_a_hyphenated_name_is_no_diagnosis() -> None:
    assert answer(title="[Lupus|MONDO:lupus]-[melanoma|MONDO:melanoma] of a child").concept == ""


def test_a_disease_that_is_only_tested_for_is_no_diagnosis() -> None:
    assert answer(title="A positive [lupus|MONDO:lupus] screen in a farmer").concept == ""
    assert answer(title="A half “[quoted” lupus|MONDO:lupus] in a farmer with a rash").concept == ""


def test_an_acronym_counts_only_when_the_document_defines_it() -> None:
    said = {"title": "[SLE|MONDO:lupus] of the skin", "discussion": ["[SLE|MONDO:lupus] is rare."]}
    written, source, cases, passages, mentions = parts(Report(**said))  # type: ignore[arg-type]
    assert answer(**said).reason == "not_named"
    defined = [dataclasses.replace(mention, rule="short_form") for mention in mentions]
    [found] = of_article(written, source, cases, passages, defined, concepts())
    assert found.concept == "MONDO:lupus"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("[Tuberculosis|MONDO:tb] vaccination causing fever", ""),
        (
            "Diagnosis of [melanoma|MONDO:melanoma] delayed by the [tuberculosis|MONDO:tb] outbreak",
            "MONDO:melanoma",
        ),
        ("[Melanoma|MONDO:melanoma] causing [reflux|MONDO:gerd]", "MONDO:melanoma"),
        ("Use of topiramate inducing [reflux disease|MONDO:gerd]", "MONDO:gerd"),
        ("[Reflux|MONDO:gerd]: an unusual presentation of [melanoma|MONDO:melanoma]", "MONDO:melanoma"),
        ("[Melanoma|MONDO:melanoma]: an unusual presentation of a common disease", "MONDO:melanoma"),
        ("[Lupus|MONDO:lupus] as a risk factor for [tuberculosis|MONDO:tb]", "MONDO:tb"),
        ("[Tuberculosis|MONDO:tb] followed by [lupus|MONDO:lupus]", "MONDO:tb"),
        ("Surgery in a patient with [lupus|MONDO:lupus]", "MONDO:lupus"),
    ],
)
def test_phrases_of_titles(title: str, expected: str) -> None:
    assert answer(title=title).concept == expected


def test_a_statement_settles_what_the_title_leaves_open() -> None:
    title = "Spontaneous [haematoma|HP:haematoma] due to [polyarteritis nodosa|MONDO:pan]"
    told = (("He had pain.", "A diagnosis of [polyarteritis nodosa|MONDO:pan] was made."),)
    assert answer(title=title, cases=told).concept == "MONDO:pan"


_QUOTED = "Nine years of “seronegative [lupus|MONDO:lupus]” undone by a biopsy"


@pytest.mark.parametrize("marks", ["“”", '""', "‘’"])
def test_what_a_title_puts_in_quotation_marks_gives_way_to_a_stated_diagnosis(marks: str) -> None:
    told = (
        ("He came with [lupus|MONDO:lupus].", "This confirmed the diagnosis of [tuberculosis|MONDO:tb]."),
    )
    keywords = ("[Lupus|MONDO:lupus]",)
    title = _QUOTED.replace("“", marks[0]).replace("”", marks[1])
    found = answer(title=title, cases=told, keywords=keywords)
    plain = answer(title=_QUOTED.replace("“", "").replace("”", ""), cases=told, keywords=keywords)
    assert found.concept == "MONDO:tb" and found.confidence > plain.confidence


def test_an_apostrophe_quotes_nothing() -> None:
    title = "The patient’s [lupus|MONDO:lupus] and her sister’s advice"
    assert answer(title=title).concept == "MONDO:lupus"


def test_a_disease_in_quotation_marks_counts_only_where_the_case_states_it() -> None:
    assert answer(title="“[Lupus|MONDO:lupus]” in a farmer").concept == ""
    told = ("A man came.", "He was diagnosed with [lupus|MONDO:lupus].")
    assert answer(title="“[Lupus|MONDO:lupus]” in a farmer", cases=(told,)).concept == "MONDO:lupus"
    rare = ["[Lupus|MONDO:lupus] is rare."]
    assert answer(title="“A farmer with [lupus|MONDO:lupus]”", discussion=rare).concept == "MONDO:lupus"


def test_joined_diagnoses_are_ambiguous() -> None:
    found = answer(title="[Tuberculosis|MONDO:tb] and [melanoma|MONDO:melanoma] in one patient")
    assert (found.concept, found.reason) == ("", "ambiguous")
    assert found.contenders == ("MONDO:melanoma", "MONDO:tb")
    assert found.confidence == 0 and not found.evidence


@pytest.mark.parametrize(("chance", "concept"), [(0.35, "MONDO:pan"), (0.25, "MONDO:vasculitis")])
def test_a_kind_nearly_as_likely_as_what_it_is_a_kind_of_is_the_diagnosis(
    monkeypatch: pytest.MonkeyPatch, chance: float, concept: str
) -> None:
    chances = {"MONDO:vasculitis": 0.6, "MONDO:pan": chance, "": 0.4 - chance}
    monkeypatch.setattr(score, "chances", lambda *_: chances)
    found = answer(title="[Polyarteritis|MONDO:pan], a [vasculitis|MONDO:vasculitis]")
    assert found.concept == concept
    assert found.confidence == (0.95 if concept == "MONDO:pan" else 0.6)


def test_what_the_title_calls_in_two_ways_is_no_rival_of_itself() -> None:
    title = "[Tuberculosis|MONDO:tb] of the hand: Pott's fever as it was called"
    assert answer(title=title).concept == "MONDO:tb"


def test_a_comment_behind_the_colon_joins_nothing() -> None:
    assert answer(title="[Tuberculosis|MONDO:tb] of the hand: an unusual infection").concept == "MONDO:tb"


def test_half_of_a_joined_name_is_no_diagnosis() -> None:
    found = answer(title="Pulmonary and [tuberculosis|MONDO:tb] of the hand")
    assert found.concept == ""


def test_one_statement_decides_between_joined_diagnoses() -> None:
    found = answer(
        title="[Tuberculosis|MONDO:tb] and [melanoma|MONDO:melanoma] in one patient",
        cases=(("He came.", "The final diagnosis was [tuberculosis|MONDO:tb]."),),
    )
    assert found.concept == "MONDO:tb"


def test_the_specific_wins_over_its_ancestor_and_takes_its_evidence() -> None:
    found = answer(
        title="An aggressive [lymphoma|MONDO:lymphoma]",
        cases=(("He had nodes.", "Biopsy showed [diffuse large B-cell lymphoma|MONDO:dlbcl]."),),
    )
    assert found.concept == "MONDO:dlbcl"
    assert {item.place for item in found.evidence} >= {"title", "statement"}


def test_what_is_said_of_a_wider_concept_is_said_of_the_kind_that_is_named() -> None:
    found = answer(
        title="[Vasculitis|MONDO:vasculitis] of the kidney",
        keywords=["[vasculitis|MONDO:vasculitis]", "[polyarteritis nodosa|MONDO:pan]"],
        cases=(("He had [vasculitis|MONDO:vasculitis].", "It was [polyarteritis nodosa|MONDO:pan]."),),
        discussion=["[Polyarteritis nodosa|MONDO:pan] is rare."],
    )
    assert found.concept == "MONDO:pan"
    assert {item.text for item in found.evidence} >= {"Vasculitis", "polyarteritis nodosa"}


def test_a_chapter_of_the_vocabulary_is_no_diagnosis() -> None:
    many = [
        ConceptRelation(concept=f"MONDO:k{n}", relation="parent", other="MONDO:lymphoma", source="TEST")
        for n in range(400)
    ]
    [found] = answers(Report(title="An aggressive [lymphoma|MONDO:lymphoma]"), concepts(many))
    assert (found.concept, found.reason) == ("", "not_in_vocabulary")


def test_a_bare_kind_of_disease_is_no_diagnosis() -> None:
    found = answer(title="Aortic [rupture|MONDO:lupus] after a fall")
    assert (found.concept, found.reason) == ("", "not_in_vocabulary")


def test_the_setting_of_an_unknown_disease_is_not_taken_for_it() -> None:
    found = answer(title="Femoral shaft fracture in [lupus|MONDO:lupus] treated with a nail")
    assert (found.concept, found.reason) == ("", "not_in_vocabulary")


def test_findings_stand_back_behind_diseases() -> None:
    found = answer(
        title="[Fever|HP:fever] in a traveller",
        cases=(("He came.", "He was diagnosed with [tuberculosis|MONDO:tb]."),),
    )
    assert found.concept == "MONDO:tb"


def test_a_finding_that_no_sentence_states_decides_nothing() -> None:
    named = answer(title="Chronic [cough|HP:cough] for ten years", keywords=["[cough|HP:cough]"])
    assert (named.concept, named.reason) == ("", "not_named")
    beside = answer(
        title="Chronic [cough|HP:cough] for ten years",
        discussion=["[Cough|HP:cough] is common."] * 5,
        cases=(("He had [cough|HP:cough].", "No [lupus|MONDO:lupus] was seen."),),
    )
    assert beside.concept == ""


def test_a_phenotype_with_the_name_of_a_disease_is_one() -> None:
    found = answer(
        title="[Cerebral venous sinus thrombosis|HP:cvst] in a patient with [lupus|MONDO:lupus]",
        cases=(("He came.", "Imaging showed [cerebral venous sinus thrombosis|HP:cvst]."),),
    )
    assert found.concept == "HP:cvst"


def test_a_keyword_alone_decides_nothing() -> None:
    alone = answer(title="A rare cause of swelling", keywords=["[tuberculosis|MONDO:tb]"])
    assert (alone.concept, alone.reason) == ("", "unsure")
    told = (("Clinics for [tuberculosis|MONDO:tb] sent him on.",),)
    looked = answer(title="A cause of swelling", keywords=["hand", "[tuberculosis|MONDO:tb]"], cases=told)
    assert looked.reason == "unsure"


def test_a_keyword_that_the_whole_article_is_about_is_the_diagnosis() -> None:
    told = (("A man came.", "He had [tuberculosis|MONDO:tb] of the hand."),)
    about = ["[Tuberculosis|MONDO:tb] is rare in hands.", "[Tuberculosis|MONDO:tb] may be cured."] * 2
    found = answer(
        title="A cause of swelling",
        keywords=["[tuberculosis|MONDO:tb]"],
        cases=told,
        discussion=about,
    )
    assert (found.concept, found.rule) == ("MONDO:tb", "developed+keyword")
    assert [item.place for item in found.evidence] == ["statement", "keyword", "case"]


def test_what_the_title_sets_aside_gives_way_to_its_main_disease() -> None:
    told = (("He had [tuberculosis|MONDO:tb].", "There was [melanoma|MONDO:melanoma] of the hand."),)
    title = "[Melanoma|MONDO:melanoma] after [tuberculosis|MONDO:tb]"
    assert answer(title=title, cases=told).concept == "MONDO:melanoma"


def test_what_a_disease_was_taken_for_is_not_taken_from_the_keywords() -> None:
    found = answer(
        title="A swelling misdiagnosed as [tuberculosis|MONDO:tb]", keywords=["[tuberculosis|MONDO:tb]"]
    )
    assert found.concept == ""


def test_a_word_for_the_patient_gives_way_to_what_he_has() -> None:
    told = (("He had [lupus|MONDO:lupus] with a rash.",),)
    title = "Response in a [tuberculous|MONDO:tb] newborn with [lupus|MONDO:lupus]"
    assert answer(title=title, cases=told).concept == "MONDO:lupus"


def test_two_keywords_name_no_one_diagnosis() -> None:
    told = (("He had [tuberculosis|MONDO:tb] and [melanoma|MONDO:melanoma].",),)
    keywords = ["[tuberculosis|MONDO:tb]", "[melanoma|MONDO:melanoma]"]
    assert answer(title="A rare case", keywords=keywords, cases=told).concept == ""


def test_what_no_place_names_is_never_decided() -> None:
    about = ["[Tuberculosis|MONDO:tb] is rare. [Tuberculosis|MONDO:tb] may be cured."] * 5
    assert answer(title="A swelling", discussion=about).reason == "unsure"


def test_of_two_that_the_title_joins_the_one_spoken_of_is_the_diagnosis() -> None:
    title = "[Tuberculosis|MONDO:tb] and [melanoma|MONDO:melanoma]"
    assert answer(title=title).reason == "ambiguous"
    discussion = ["[Melanoma|MONDO:melanoma] is rare there."] * 3
    assert answer(title=title, discussion=discussion).concept == "MONDO:melanoma"


def test_one_diagnosis_holds_for_both_patients() -> None:
    found = answers(
        Report(
            title="[Tuberculosis|MONDO:tb] of the hand: report of two cases",
            cases=(("The first man came.",), ("The second man came.",)),
        )
    )
    assert [item.case_id for item in found] == [f"{ID}#case1", f"{ID}#case2"]
    assert [item.concept for item in found] == ["MONDO:tb", "MONDO:tb"]


def test_two_patients_with_two_diagnoses() -> None:
    found = answers(
        Report(
            title="[Tuberculosis|MONDO:tb] and [melanoma|MONDO:melanoma]: two lessons",
            cases=(
                ("The first.", "He was diagnosed with [tuberculosis|MONDO:tb]."),
                ("The second.", "She was diagnosed with [melanoma|MONDO:melanoma]."),
            ),
        )
    )
    assert [item.concept for item in found] == ["MONDO:tb", "MONDO:melanoma"]


def test_nothing_named_and_words_outside_the_vocabulary() -> None:
    assert answer(title="An unexpected finding").reason == "not_named"
    assert answer(title="Aortoenteric fistula treated with a graft").reason == "not_in_vocabulary"
    stated = answer(cases=(("He came.", "The diagnosis was a complex odontogenic infection."),))
    assert stated.reason == "not_in_vocabulary"


def test_a_textbook_box_is_not_read_by_the_title_of_its_chapter() -> None:
    found = answer(title="[Tuberculosis|MONDO:tb]", is_book=True)
    assert found.reason == "not_named"


@pytest.mark.parametrize(
    "title",
    [
        "Misdiagnosis of [sporotrichosis|MONDO:sporotrichosis] as [lupus|MONDO:lupus]",
        "[Sporotrichosis|MONDO:sporotrichosis] wrongly treated as [lupus|MONDO:lupus]",
        "[Sporotrichosis|MONDO:sporotrichosis] confused with [lupus|MONDO:lupus]",
        "Not [lupus|MONDO:lupus] but [sporotrichosis|MONDO:sporotrichosis]",
        "[Sporotrichosis|MONDO:sporotrichosis] treated as [lupus|MONDO:lupus] for two years",
    ],
)
def test_a_misdiagnosis_never_counts(title: str) -> None:
    assert answer(title=title).concept == "MONDO:sporotrichosis"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Granular [lymphoma|MONDO:lymphoma]", ""),
        ("Granular crested [lymphoma|MONDO:lymphoma]", ""),
        ("[Lymphoma|MONDO:lymphoma] serpens", ""),
        ("[Lymphoma|MONDO:lymphoma]", "MONDO:lymphoma"),
        ("Severe recurrent [lymphoma|MONDO:lymphoma]", "MONDO:lymphoma"),
        ("Gastric [lymphoma|MONDO:lymphoma]", "MONDO:lymphoma"),
        ("Granular [melanoma|MONDO:melanoma]", "MONDO:melanoma"),
    ],
)
def test_the_head_of_a_longer_name_is_not_the_disease(name: str, expected: str) -> None:
    told = (("He came.", f"The final diagnosis was {name.lower().replace('mondo', 'MONDO')}."),)
    spoken = ["[Lymphoma|MONDO:lymphoma] of the hand.", "On [melanoma|MONDO:melanoma]."]
    titled = answer(title=f"{name} in a man", discussion=spoken)
    for found in (titled, answer(cases=told)):
        assert found.concept == expected
        assert found.reason == ("" if expected else "not_in_vocabulary")


def test_the_head_of_a_longer_name_counts_where_its_kind_is_stated() -> None:
    told = (("He came.", "The final diagnosis was [diffuse large B-cell lymphoma|MONDO:dlbcl]."),)
    title = "Granular [lymphoma|MONDO:lymphoma]"
    found = answer(title=title, cases=told)
    assert (found.concept, found.rule) == ("MONDO:dlbcl", "final diagnosis+title")


def test_an_acronym_counts_where_the_article_names_it_in_words() -> None:
    title = "[SLE|MONDO:lupus] of the skin"
    assert answer(title=title).concept == ""
    assert answer(title=title, discussion=["On [lupus|MONDO:lupus]."]).concept == "MONDO:lupus"


def test_a_sign_gives_way_to_its_cause_where_only_that_is_stated() -> None:
    title = "[Melanoma|MONDO:melanoma] due to [tuberculosis|MONDO:tb]"
    assert answer(title=title).concept == "MONDO:melanoma"
    told = (("He came.", "A diagnosis of [tuberculosis|MONDO:tb] was made."),)
    assert answer(title=title, cases=told).concept == "MONDO:tb"


def test_a_question_in_a_title_is_settled_by_the_keywords() -> None:
    title = "Diet in [lupus|MONDO:lupus!hypothetical]?"
    assert answer(title=title).concept == ""
    assert answer(title=title, keywords=["[lupus|MONDO:lupus]", "diet"]).concept == "MONDO:lupus"


def test_a_title_names_what_happened_to_a_part() -> None:
    assert answer(title="Infected arthroplasties of the hip").reason == "not_in_vocabulary"
