"""The native matcher: each linguistic rule on small vocabularies, and where a name must not be found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from curation.concepts.index import build_index
from curation.concepts.native import NativeMatcher, open_index
from schemas.vocabulary import ConceptName, ConceptType

Open = Callable[..., NativeMatcher]


def found(
    matcher: NativeMatcher, text: str, language: str = "en", *, overlaps: bool = False
) -> list[tuple[str, str]]:
    """(words, concept) of every match; each must re-extract from within the text."""
    matches = matcher.find(text, language, overlaps=overlaps)
    assert matches == sorted(matches, key=lambda match: (match.start, -match.end, match.concept))
    assert all(0 <= match.start < match.end <= len(text) and 0 < match.score <= 1 for match in matches)
    return [(text[match.start : match.end], match.concept) for match in matches]


@pytest.mark.parametrize(
    ("name", "text", "words", "rule"),
    [
        ("Breast carcinoma", "a breast carcinoma was", "breast carcinoma", "exact"),
        ("Breast carcinoma", "BREAST CARCINOMA", "BREAST CARCINOMA", "exact"),
        ("Breast carcinoma", "two breast carcinomas, then", "breast carcinomas", "form"),
        ("Breast carcinoma", "carcinoma of the breast", "carcinoma of the breast", "order"),
        ("Breast carcinoma", "carcinoma, breast", "carcinoma, breast", "order"),
        ("Carcinoma of the breast", "breast carcinoma", "breast carcinoma", "order"),
        ("Low-set ears", "with low set ears", "low set ears", "exact"),
        ("Low-set ears", "a lowset ear", "lowset ear", "form"),
        ("Lowset ears", "low-set ears", "low-set ears", "form"),
        ("Oedema", "severe edema", "edema", "form"),
        ("Edema", "oedema of", "oedema", "form"),
        ("Hemorrhage", "a haemorrhage", "haemorrhage", "form"),
        ("Adrenal tumour", "adrenal tumors", "adrenal tumors", "form"),
        ("Melanocytic nevus", "melanocytic naevi", "melanocytic naevi", "form"),
        ("Bone metastasis", "bone metastases", "bone metastases", "form"),
        ("Type 2 diabetes mellitus", "type II diabetes mellitus", "type II diabetes mellitus", "form"),
        ("Diabetes mellitus type 1", "diabetes mellitus type I", "diabetes mellitus type I", "form"),
        ("Alpha-thalassemia", "α-thalassaemia", "α-thalassaemia", "form"),
        ("NF-2 schwannoma", "NF2 schwannoma", "NF2 schwannoma", "exact"),
        ("Crohn disease", "Crohn's disease", "Crohn's disease", "exact"),
        ("Sjögren syndrome", "Sjogren's syndrome", "Sjogren's syndrome", "exact"),
        ("Sjögren syndrome", "Sjo\u0308gren syndrome", "Sjo\u0308gren syndrome", "exact"),
        ("Abnormality of the kidney", "renal anomalies", "renal anomalies", "order"),
        ("Hypoplasia of the thumb", "hypoplastic thumbs", "hypoplastic thumbs", "form"),
        ("Vertebral fusion", "fused vertebrae", "fused vertebrae", "order"),
        ("Tapered finger", "her fingers tapered", "fingers tapered", "order"),
        ("Bone infection", "of infection, bone", "infection, bone", "order"),
        ("Bone infection", "of infection, Bone was", "infection, Bone", "order"),
        ("Bone infection", "of infection, Bone, was", "infection, Bone", "order"),
        ("Localized skin lesion", "skin lesions", "skin lesions", "form"),
        ("Increased blood glucose", "elevated blood glucose", "elevated blood glucose", "form"),
        ("Rhabdomyolysis", "rhabodmyolysis and", "rhabodmyolysis", "typo"),
        ("Schizophrenia", "schizophrennia", "schizophrennia", "typo"),
        ("Pulmonary embolism", "pulmonray embolism", "pulmonray embolism", "typo"),
        ("Asthma (disorder)", "asthma", "asthma", "form"),
        ("Nephritis, NOS", "nephritis", "nephritis", "form"),
        ("Odd renal anaemia (ORA)", "an odd renal anaemia (ORA) was", "odd renal anaemia", "exact"),
        ("ORA (Odd Renal Anaemia)", "an odd renal anaemia (ORA) was", "odd renal anaemia", "exact"),
        ("Cervix cancer", "cervical cancer", "cervical cancer", "form"),
        ("Trichinosis", "trichinosis", "trichinosis", "exact"),
        ("Hearing abnormality", "abnormal hearing", "abnormal hearing", "order"),
        ("Testicular pain", "pain in both testicles", "pain in both testicles", "order"),
        ("Decreased carnitine level", "reduction in the carnitine level", None, "form"),
        ("Breast hemangioma", "hemangioma affecting the breast", None, "order"),
        ("Neoplasm of the kidney", "neoplasms, mostly benign, of the kidney", None, "form"),
        ("Neoplasm of the kidney", "neoplasms arising in the kidney", None, "form"),
        (
            "Juvenile osteoporosis",
            "a juvenile form of osteoporosis",
            "juvenile form of osteoporosis",
            "exact",
        ),
        ("Renal agenesis", "agenesis of the left kidney", None, "order"),
        ("Hearing loss", "hearing severe loss", None, "exact"),
        ("Short hand", "short, broad hands", None, "form"),
        ("Falls", "repeated falls", "falls", "exact"),
        ("Gene", "GENE THERAPY", "GENE", "exact"),
        ("ITS Studies", "three ITS studies", "ITS studies", "exact"),
        ("HER2 amplification", "amplification of HER2", None, "order"),
        ("AT-rich regions", "an AT-rich region", "AT-rich region", "form"),
        ("Disease of the hand", "on the other side, diseases of the hand", "diseases of the hand", "form"),
    ],
)
def test_a_way_of_writing_a_name_is_found(
    matcher: Open, name: str, text: str, words: str | None, rule: str
) -> None:
    matches = matcher(f"1={name}").find(text)
    found = [
        (text[match.start : match.end], match.rule, match.name) for match in matches if match.name == name
    ]
    assert found == [(words or text, rule, name)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("All", "all patients"),
        ("ALL", "all patients"),
        ("AT", "at night"),
        ("Ill", "ill or not"),
        ("Rose", "creatinine rose"),
        ("II", "ii"),
        ("X", "x X"),
        ("Patient", "the patient"),
        ("Breast carcinoma", "breast. Carcinoma"),
        ("Breast carcinoma", "breast and carcinoma"),
        ("Breast carcinoma", "breast (carcinoma)"),
        ("Kidney cyst", "kidney, cyst"),
        ("Pelvic kidney", "renal pelvis"),
        ("Kidney", "renal"),
        ("Hyperplasia of the mandible", "hyperplasia of the mandibular"),
        ("Protein S", "a protein"),
        ("Fever syndrome", "syndrome the fever"),
        ("Blue light", "a light blue sclera"),
        ("Foot", "a 3-foot film"),
        ("Social change", "a change in social life"),
        ("Liver diseases", "liver, and no other disease"),
        ("Depression", "repression"),
        ("Hydrophobia", "hydrophobic"),
        ("Hemothorax", "hemithorax"),
        ("Clonus", "clones"),
        ("Spinning", "spina"),
        ("On edge", "the edges"),
        ("ITS Studies", "its studies, this study"),
        ("SD/THE", "the SD was 2"),
        ("HIS deficiency", "a deficiency"),
        ("Bundle of His", "vascular bundles"),
        ("HER2 genes", "2 genes"),
        ("AT V1", "area V1"),
        ("Wills", "it will"),
        ("Pet", "a PET scan"),
        ("Ants", "processed with ANTs"),
        ("Falls", "a fall in pressure"),
        ("Systematics", "a systematic review"),
        ("SAIDS", "he said"),
        ("Hand", "On the other hand, on one hand and on the one hand"),
        ("Pneumonia", "mycoplasma pneumoniae"),
        ("Wrist sign", "pain in the wrist, no contact and no symptoms"),
        ("Right-to-left shunt", "left-to-right shunt of"),
        ("Dose reduction", "a low dose"),
        ("Intestinal inflammation", "inflammatory bowel disease"),
        ("Thrombopenia", "thrombogenic"),
        ("Aplasia of the testis", "the testis lacks a capsule"),
        ("Spinal lipoma", "between the spinal cord and the lipoma"),
        ("Cell number", "cells of the stroma and the number of vessels"),
        ("Renal anemia", "renal failure was treated and anemia"),
        ("Blood cancer", "the blood of cancer patients"),
        ("Neoplasms by site", "tumor sites"),
        ("Evasion tumor", "a tumor, evasion followed"),
        ("Evasion tumor", "Tumor, Evasion and"),
        ("Evasion tumor", "a tumor, Evasion patients"),
        ("Self stimulation", "power, stimulation, self-direction"),
        ("Deficiency anemia", "anemia, and micronutrient deficiencies"),
        ("Metabolic diseases", "metabolic features"),
        ("Anxiety disorder", "symptoms of anxiety"),
        ("Pediatric ALL", "all pediatric patients"),
        ("Africans", "African buffalo in African countries"),
        ("North Americans", "the North American Registry"),
        ("Aged", "people aged 16, aged between 20 and 30"),
        ("DRB", "DRB1 and -DRB12"),
        ("End stage renal disease (ESRD) clinic", "renal disease (ESRD"),
        ("chi", "by χ test, χ2 = 3, Chi-square and chi"),
    ],
)
def test_what_only_looks_like_a_name_is_not_found(matcher: Open, name: str, text: str) -> None:
    assert found(matcher(f"1={name}"), text) == []


def test_acronyms_are_found_in_their_own_capitals_and_score_less(matcher: Open) -> None:
    opened = matcher("1=ALL", "2=COPD")
    assert found(opened, "all with ALL and COPD, not copd") == [("ALL", "T:1"), ("COPD", "T:2")]
    short, longer = opened.find("ALL COPD")
    assert short.score < longer.score
    assert found(opened, "ALL PATIENTS WITH FEVER") == []
    assert found(matcher("1=ASTHMA"), "asthma") == [("asthma", "T:1")]


def test_a_letter_by_itself_tells_names_apart(matcher: Open) -> None:
    opened = matcher("1=Hepatitis A", "2=Hepatitis", "3=Protein S deficiency")
    assert found(opened, "hepatitis A, a hepatitis, protein S deficiency") == [
        ("hepatitis A", "T:1"),
        ("hepatitis", "T:2"),
        ("protein S deficiency", "T:3"),
    ]


def test_the_longest_name_wins_and_nested_ones_come_when_asked(matcher: Open) -> None:
    opened = matcher("1=Cleft palate", "2=Cleft lip and palate surgery", "3=Cleft lip", "4=Surgery")
    text = "Cleft lip and palate surgery"
    assert found(opened, text) == [(text, "T:2")]
    assert (text, "T:2") in found(opened, text, overlaps=True)
    assert ("Cleft lip", "T:3") in found(opened, text, overlaps=True)


def test_the_head_of_a_longer_name_is_nested_unless_it_is_the_same_concept(matcher: Open) -> None:
    opened = matcher("1=Basal cell carcinoma", "2=Carcinoma", "3=Mandibular prognathism", "3~Prognathism")
    text = "basal cell carcinoma, mandibular prognathism"
    assert found(opened, text, overlaps=True) == [
        ("basal cell carcinoma", "T:1"),
        ("carcinoma", "T:2"),
        ("mandibular prognathism", "T:3"),
    ]


def test_words_shared_over_a_conjunction_are_read_for_both(matcher: Open) -> None:
    opened = matcher("1=Short thumb", "2=Broad thumb", "3=Renal anomaly", "4=Hypoplastic toenail")
    assert found(opened, "short and broad thumbs", overlaps=True) == [
        ("short and broad thumbs", "T:1"),
        ("broad thumbs", "T:2"),
    ]
    assert found(opened, "renal, cardiac or skeletal anomalies") == [
        ("renal, cardiac or skeletal anomalies", "T:3")
    ]
    assert found(opened, "hypoplastic fingernails and toenails") == [
        ("hypoplastic fingernails and toenails", "T:4")
    ]


@pytest.mark.parametrize(
    "text",
    ["renal cysts and hepatic fibrosis", "renal disease and a fibrosis", "renal disease. And fibrosis"],
)
def test_words_are_not_shared_where_the_second_part_stands_alone(matcher: Open, text: str) -> None:
    assert found(matcher("1=Renal fibrosis", "2=Cysts", "4=Disease"), text, overlaps=True) in (
        [("cysts", "T:2")],
        [("disease", "T:4")],
    )


@pytest.mark.parametrize(
    "text",
    [
        "a {} infant",
        "the girl was {} at birth",
        "He was severely {}.",
        "two patients, who were obese, short and {}",
        "he was febrile (38.4 °C), pale and {} (grade 2)",
        "She was found {} on arrival",
    ],
)
def test_an_adjective_said_of_a_person_names_the_finding(matcher: Open, text: str) -> None:
    written = text.format("hypotonic")
    assert ("hypotonic", "T:1") in found(matcher("1=Hypotonia", "2=Kidney"), written)
    assert found(matcher("1=Hypotonia", "2=Kidney"), text.format("renal")) == []


@pytest.mark.parametrize(
    "text",
    [
        "a hypotonic solution",
        "The solution was hypotonic.",
        "the girl was given hypotonic fluids",
        "hypotonic",
    ],
)
def test_an_adjective_of_a_thing_names_nothing(matcher: Open, text: str) -> None:
    assert found(matcher("1=Hypotonia"), text) == []


def test_a_shared_beginning_is_read_for_both(matcher: Open) -> None:
    opened = matcher(
        "1=Short hands", "2=Short feet", "3=Abnormality of the heart", "4=Abnormality of the kidney"
    )
    both = [("short hands and feet", "T:2"), ("short hands", "T:1")]
    assert found(opened, "short hands and feet in a boy", overlaps=True) == both
    assert found(opened, "short hands and feet in a boy") == both
    for text in ("anomalies of the heart and kidney", "anomalies of the heart and of the kidney"):
        assert {concept for _, concept in found(opened, text, overlaps=True)} == {"T:3", "T:4"}


def test_a_modifier_left_out_hides_no_name_inside(matcher: Open) -> None:
    opened = matcher("1=Many diseases", "2=Chronic diseases")
    assert found(opened, "many chronic diseases") == [("chronic diseases", "T:2")]


def test_own_words_win_over_other_forms_and_labels_over_synonyms(matcher: Open) -> None:
    opened = matcher("1=Renal malformation", "2=Abnormality of the kidney", "3~Renal malformation")
    assert found(opened, "renal malformation") == [("renal malformation", "T:1")]
    assert found(opened, "kidney abnormality") == [("kidney abnormality", "T:2")]


def test_a_loose_synonym_loses_against_a_name(tmp_path: Path) -> None:
    rows = [
        ConceptName(concept="T:1", name="Cancer", term_type="RELATED"),
        ConceptName(concept="T:2", name="cancers", term_type="SY"),
    ]
    build_index(rows, tmp_path / "index")
    assert [match.concept for match in open_index(tmp_path / "index").find("cancer")] == ["T:2"]


def test_suppressed_names_are_left_out(tmp_path: Path) -> None:
    build_index([ConceptName(concept="T:1", name="Asthma", is_suppressed=True)], tmp_path / "index")
    assert open_index(tmp_path / "index").find("asthma") == []


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("Africans", "African patients, an African.", ["African", "African"]),
        ("Delayed diagnosis", "a delay in diagnosis", ["delay in diagnosis"]),
        ("Bone infection", "of infection, bone", ["infection, bone"]),
        ("Aged", "care of aged people", ["aged"]),
        ("AUC", "AUC0-10 and AUC 5", ["AUC", "AUC"]),
        ("Influenza A (H1N1)", "with influenza A (H1N1) infection", ["influenza A (H1N1)"]),
    ],
)
def test_what_stands_beside_a_name_leaves_it_one(
    matcher: Open, name: str, text: str, words: list[str]
) -> None:
    assert [written for written, _ in found(matcher(f"1={name}"), text, overlaps=True)] == words


def test_a_mention_holds_no_half_of_a_bracket(matcher: Open) -> None:
    opened = matcher("1=disease (ESRD), end stage renal", "2=End stage renal disease")
    text = "of end stage renal disease (ESRD) and"
    assert found(opened, text, overlaps=True) == [("end stage renal disease", "T:2")]


def test_an_unknown_form_of_a_known_word_is_no_misspelling(matcher: Open) -> None:
    opened = matcher("1=Integrase", "2=Integration", "3=Fertilizer")
    assert found(opened, "to integrate") == []
    assert found(opened, "an integrasse") == [("integrasse", "T:1")]
    assert found(opened, "with fertiliser") == [("fertiliser", "T:3")]


@pytest.mark.parametrize(
    ("text", "count"),
    [("it outlines the work", 0), ("outlines of the work", 1), ("in our outlines the work", 1)],
)
def test_a_kind_of_document_before_a_noun_phrase_is_a_verb(matcher: Open, text: str, count: int) -> None:
    kind = ConceptType(concept="T:1", semantic_type="T170", group="CONC", rule="test")
    assert len(found(matcher("1=Outlines", types=[kind]), text)) == count


DISORDER = ConceptType(concept="T:1", semantic_type="T037", group="DISO", rule="test")


@pytest.mark.parametrize(
    "text",
    ["burn patients", "Burn injuries", "a [burn] of the hand", "Music in Burn Patients", "first-degree burn"],
)
def test_an_everyday_word_that_is_a_disorder_is_met_as_a_noun(matcher: Open, text: str) -> None:
    read = matcher("1=burn", "1~Burns", types=[DISORDER]).find(text.replace("[", "").replace("]", ""))
    assert [(match.concept, match.rule) for match in read] == [("T:1", "exact")]


@pytest.mark.parametrize("text", ["to burn wood", "they burn patients", "burn rate", "muscles burn"])
def test_an_everyday_word_that_is_a_disorder_is_no_verb(matcher: Open, text: str) -> None:
    assert found(matcher("1=burn", types=[DISORDER]), text) == []


def test_an_everyday_word_is_a_name_of_disorders_alone(matcher: Open) -> None:
    assert found(matcher("1=burn"), "a burn of the hand") == []
    assert found(matcher("1~burn", types=[DISORDER]), "a burn of the hand") == []


def test_an_ambiguous_name_goes_to_what_the_text_speaks_of(matcher: Open) -> None:
    names = ("1=Cold", "2=Cold", "2~Low temperature", "3=Cough", "4=Ice")
    types = [
        ConceptType(concept="T:1", semantic_type="T047", group="DISO"),
        ConceptType(concept="T:2", semantic_type="T070", group="PHEN"),
        ConceptType(concept="T:3", semantic_type="T184", group="DISO"),
        ConceptType(concept="T:4", semantic_type="T070", group="PHEN"),
    ]
    opened = matcher(*names, types=types)
    assert found(opened, "cough and cold")[-1] == ("cold", "T:1")
    assert found(opened, "ice cold")[-1] == ("cold", "T:2")
    assert ("cold", "T:2") in found(opened, "low temperature; cold")
    (guess,) = opened.find("cold")
    (sure,) = [match for match in opened.find("low temperature; cold") if match.start]
    assert guess.concept == "T:1"
    assert guess.score < sure.score


def test_names_of_each_language_are_found_in_its_texts(tmp_path: Path) -> None:
    rows = [
        ConceptName(concept="T:1", name=name, language=language)
        for language, name in {
            "en": "Liver cirrhosis",
            "de": "Leberzirrhose",
            "fr": "Cirrhose hépatique",
            "es": "Cirrosis hepática",
            "pt": "Cirrose hepática",
            "ru": "Цирроз печени",
            "ja": "肝硬変",
            "zh": "肝硬化",
        }.items()
    ]
    build_index(rows, tmp_path / "index")
    opened = open_index(tmp_path / "index")
    for language, text, words in (
        ("de-AT", "mit Leberzirrhosen", "Leberzirrhosen"),
        ("fr", "des cirrhoses hépatiques graves", "cirrhoses hépatiques"),
        ("es", "con cirrosis hepáticas", "cirrosis hepáticas"),
        ("pt-BR", "cirroses hepáticas", "cirroses hepáticas"),
        ("ru", "с циррозом печени", "циррозом печени"),
        ("ja", "患者は肝硬変と診断された。", "肝硬変"),
        ("zh-Hans", "患者有肝硬化病史", "肝硬化"),
        ("ko", "liver cirrhosis", "liver cirrhosis"),  # no Korean names: read as English
    ):
        assert found(opened, text, language) == [(words, "T:1")], language
    assert found(opened, "Leberzirrhose", "en") == []
    assert found(opened, "liver cirrhoses", "ko") == []


def test_small_words_are_no_inflected_names(tmp_path: Path) -> None:
    rows = [
        ConceptName(concept="T:1", name=name, language=language)
        for language, name in (("es", "Coma"), ("it", "Coma"), ("fr", "Carie"))
    ]
    build_index(rows, tmp_path / "index")
    opened = open_index(tmp_path / "index")
    for language, text in (
        ("es", "¿Cómo se trata, como se ha visto?"),
        ("it", "Come si tratta?"),
        ("fr", "traité car la douleur dure"),
    ):
        assert found(opened, text, language) == [], language
    assert found(opened, "El paciente estaba en coma.", "es") == [("coma", "T:1")]
    assert found(opened, "des caries", "fr") == [("caries", "T:1")]


def test_a_greek_letter_is_no_stem_of_a_word(matcher: Open) -> None:
    opened = matcher("1=Chiado", language="pt")
    assert found(opened, "o teste χ e um chiado", "pt") == [("chiado", "T:1")]


def test_scripts_without_spaces_match_the_longest_run_of_characters(matcher: Open) -> None:
    opened = matcher("1=糖尿病", "2=2型糖尿病", "3=ガン", "4=喘息", "5=癌", language="ja")
    assert found(opened, "彼は2型糖尿病と喘息がある", "ja") == [("2型糖尿病", "T:2"), ("喘息", "T:4")]
    assert found(opened, "病尿糖", "ja") == []  # order matters
    assert found(opened, "ガンマ線、胃癌", "ja") == []  # a cut word; one character says too little
    assert found(opened, "ガンの疑い", "ja") == [("ガン", "T:3")]


def test_many_texts_give_what_each_gives_alone(matcher: Open) -> None:
    opened = matcher("1=Breast carcinoma", "2=Low-set ears", "3=Carcinoma")
    texts = ["breast", "carcinoma", "", "low", "-set ears", "...", "breast carcinomas; low-set ears"] * 3
    assert list(opened.find_many(texts)) == [opened.find(text) for text in texts]
    assert list(opened.find_many([])) == []


def test_a_permuted_term_adds_nothing_to_what_it_permutes(tmp_path: Path) -> None:
    straight = ConceptName(concept="T:1", name="Tissue calcium", is_preferred=True)
    names = [straight, ConceptName(concept="T:1", name="Calcium, Tissue", term_type="PM")]
    build_index(names, tmp_path / "index")
    build_index([straight], tmp_path / "alone")
    assert (tmp_path / "index").read_bytes() == (tmp_path / "alone").read_bytes()
    matcher = open_index(tmp_path / "index")
    assert found(matcher, "calcium, tissue") == [("calcium, tissue", "T:1")]
