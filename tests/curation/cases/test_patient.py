from __future__ import annotations

import pytest

from curation.cases.newborn import is_of_mother, is_prenatal
from curation.cases.patient import ages_in, introduces, is_animal, sex_of


@pytest.mark.parametrize(
    ("sentence", "years", "sex"),
    [
        ("A 54-year-old woman presented with fever.", 54.0, "female"),
        ("A sixty-year-old male was seen.", 60.0, "male"),
        ("A twenty-one-year-old man was seen.", 21.0, "male"),
        ("A 65 yo gentleman was admitted.", 65.0, "male"),
        ("A 72 y/o lady was admitted.", 72.0, "female"),
        ("A 61-years-old male patient was seen.", 61.0, "male"),
        ("A 6-month-old girl was referred.", 0.5, "female"),
        ("A three-and-a-half-year-old boy was seen.", 3.5, "male"),
        ("A 10-day-old male infant was admitted.", 10 / 365.25, "male"),
        ("A female patient of 3.5 years of age was seen.", 3.5, "female"),
        ("The patient (48/F) complained of pain.", 48.0, "female"),
        ("A woman aged 37 years was referred.", 37.0, "female"),
        ("A boy aged 5 was referred.", 5.0, "male"),
        ("22-year, booked patient in her second pregnancy was admitted.", 22.0, "female"),
        ("A 31-year-old G2P1 at 30 weeks of gestation was admitted; she was pregnant.", 31.0, "female"),
        ("A woman in her 60s was admitted.", None, "female"),
        ("A man of 68 years was referred by his optician.", 68.0, "male"),
        ("Man, 52 years, shepherd, was brought in.", 52.0, "male"),
        ("The second patient, a girl (7 months), was pale.", 0.583, "female"),
        ("The second patient, a woman of 19 who studied law, was referred.", 19.0, "female"),
        ("Mr T, 36, worked in a quarry; he coughed.", 36.0, "male"),
        ("Our patient, a widow aged 76, mother of seven children, was admitted.", 76.0, "female"),
        ("In May, a primipara of 31 years was brought in with spasms.", 31.0, "female"),
        ("A para 1 of 24 years was seen by the anaesthetist.", 24.0, ""),
        ("She was 56, taught physics and had run a marathon.", 56.0, "female"),
        ("He had smoked until the age of 70; he was now 77.", 77.0, "male"),
        ("The patient is 45 and works as a baker.", 45.0, ""),
        ("An au pair from Georgia, 22 years of age, came with cramps.", 22.0, ""),
        (
            "The patient was first seen by his doctor in May 2021, at the age of 22 years, for pain.",
            22.0,
            "male",
        ),
        ("He was referred to us at seven years and two months of age with a rash.", 7.1667, "male"),
        ("Mujer de 45 años de edad que consulta por dolor.", 45.0, "female"),
        ("Paciente masculino, 3 meses de idade, foi internado.", 0.25, "male"),
        ("Une femme de 52 ans sans antécédents a consulté.", 52.0, "female"),
        ("Eine 67-jährige Patientin stellte sich vor.", 67.0, "female"),
        ("Un uomo di 70 anni, con febbre, è stato ricoverato.", 70.0, "male"),
        ("A seventy two years old male was seen.", 72.0, "male"),
        ("Varón de 61 años diagnosticado de un tumor del recto.", 61.0, "male"),
        ("Varón mestizo de 50 años al que se le realizó una derivación.", 50.0, "male"),
        ("Un patient âgé de 35 ans présentant une toux.", 35.0, "male"),
        ("Monsieur X, âgé de 42 ans, est suivi depuis l'âge de 27 ans.", 42.0, "male"),
        ("Mujer de 34 años acude a urgencias.", 34.0, "female"),
        ("Homem de 60 anos procurou o hospital.", 60.0, "male"),
        ("Paciente do sexo feminino de 45 anos procurou o hospital.", 45.0, "female"),
        ("La paciente de 86 años fue remitida.", 86.0, "female"),
        ("Paciente de 59 años remitida por dolor.", 59.0, "female"),
        ("Paciente de 59 años que, tras la muerte de su mujer, empeoró.", 59.0, ""),
        ("Une fille de 13 ans suivie pour une anémie.", 13.0, "female"),
        ("Lactante de 3 meses de vida con fiebre.", 0.25, ""),
        ("Mark is a 60-year-old software engineer who noticed a wound on his leg.", 60.0, "male"),
    ],
)
def test_age_and_sex(sentence: str, years: float | None, sex: str) -> None:
    age = introduces(sentence)
    assert age is not None
    assert age.years == (None if years is None else pytest.approx(years, abs=1e-3))
    assert sentence[age.start : age.end].strip(" ,") == age.text
    assert sex_of([sentence], age, sentence) == sex


@pytest.mark.parametrize(
    "sentence",
    [
        "El paciente falleció a los 4 meses del diagnóstico.",
        "Tras 24 meses de seguimiento, el paciente está bien.",
        "Paciente con 3 años de evolución de dolor.",
        "Niño con tos de 3 semanas de evolución.",
        "La patiente est suivie depuis 3 ans, sans récidive.",
        "Su mujer de 55 años estaba sana.",
        "A survey of Mrs Okafor, 12 nurses and a cook.",
        "At the age of 12 he had his tonsils removed.",
        "The 5-year survival of patients is 40%.",
        "He was followed for 3 years and 6 months.",
        "The patient, 3 months later, came back.",
        "Her mother (46 years) had had jaundice.",
        "A woman with a wound of 2 weeks was seen.",
        "His 45-year-old mother had the same disease.",
        "The kidney of a 30-year-old donor was used.",
        "Blood pressure was 120/80 mmHg and the dose 5 mg/d.",
        "The temperature of the patient was 38.5 °C.",
        "He was first seen when he was 14, and again later.",
        "The patient was 5, 6 and 7 days without fever.",
        "She was 3, her brother 5.",
        "She was 34 weeks pregnant and had pain.",
    ],
)
def test_numbers_that_introduce_nobody(sentence: str) -> None:
    assert introduces(sentence) is None


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        (["The patient was seen.", "She was given antibiotics, and her pain resolved."], "female"),
        (["The patient was seen.", "He recovered; his mother agreed."], "male"),
        (["The patient was seen.", "She recovered.", "He was discharged."], ""),
        (["The patient was seen."], ""),
    ],
)
def test_sex_from_the_whole_case(sentences: list[str], expected: str) -> None:
    assert sex_of(sentences, None, "") == expected


def test_relatives_do_not_lend_their_sex() -> None:
    sentence = "The patient, 54 years of age, lived with his mother and sister."
    assert sex_of([sentence], introduces(sentence), sentence) == "male"


def test_a_patient_told_of_as_a_relative_has_the_sex_of_the_word() -> None:
    sentence = "His daughter, 19 years, had headache when he was admitted."
    age = introduces(sentence, may_be_kin=True)
    assert age is not None and sex_of([sentence], age, sentence) == "female"


def test_animals_and_mothers_are_told_from_patients() -> None:
    assert not is_animal("A 66-year-old sheep farmer passed red urine.")
    assert not is_animal("A 30-year-old dog-owner presented with fever.")
    assert not is_animal("A 19-year-old male recruit reported cramping of the right calf.")
    assert not is_animal("A 40-year-old male with a dog bite was seen.")
    assert is_animal("A 5-year-old spayed Labrador was presented.")
    assert not is_animal(
        "A 5-year-old girl who had been bitten was presented; later a dog was found in the yard of the house."
    )
    mother = "A 24-year-old primigravida was referred."
    (age,) = ages_in(mother)
    assert is_of_mother(mother, age, "Prenatal diagnosis of a cyst")
    assert not is_of_mother(mother, age, "Eclampsia in a young woman")


@pytest.mark.parametrize(
    ("title", "is_unborn"),
    [
        ("Prenatal diagnosis of a goitre", True),
        ("Fetal goitre treated in utero", True),
        ("Ruptured heterotopic pregnancy with a living intrauterine fetus", False),
        ("Failed induction of labour for intrauterine fetal death", False),
    ],
)
def test_a_child_named_beside_what_its_mother_has_is_not_the_patient(title: str, is_unborn: bool) -> None:
    assert is_prenatal(title) is is_unborn
    age = introduces(sentence := "A 28-year-old gravida 3 was admitted.")
    assert age is not None
    assert is_of_mother(sentence, age, title) is is_unborn


def test_a_mother_of_a_newborn_beside_is_the_patient() -> None:
    age = introduces(sentence := "A 31-year-old gravida 4 was admitted.")
    assert age is not None
    assert not is_of_mother(sentence, age, "Advanced abdominal pregnancy with a live newborn")
    assert is_of_mother(sentence, age, "Chylothorax in a newborn")


def test_an_age_behind_born_to_is_the_mothers() -> None:
    born = "A female infant was born at term to a healthy 24-year-old woman."
    age = introduces(born)
    assert age is not None
    assert is_of_mother(born, age, "Blisters of the skin")
    for own in (
        "A 14-year-old girl, born to a 40-year-old woman, was seen.",
        "A 30-year-old woman delivered a healthy boy.",
        "A man born in Norway presented to a clinic; the 40-year-old man was seen again.",
    ):
        age = introduces(own)
        assert age is not None
        assert not is_of_mother(own, age, "Blisters of the skin")


def test_sex_by_article_and_agreement() -> None:
    assert (
        sex_of(["El paciente ingresó. Tras la muerte de su mujer, el paciente empeoró."], None, "") == "male"
    )
    assert sex_of(["La paciente ingresó con fiebre."], None, "") == "female"
    assert sex_of(["Le patient a été opéré. Ce patient allait bien."], None, "") == "male"
    assert sex_of(["Sa femme a été prévenue."], None, "") == ""
