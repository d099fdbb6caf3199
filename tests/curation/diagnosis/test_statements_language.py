"""The ways case reports state a diagnosis, one family of phrases each, and what takes a diagnosis back."""

from __future__ import annotations

import pytest

from curation.diagnosis.statements import select
from curation.diagnosis.topic import topic_of

SPLEEN = "Splenic rupture following colonoscopy: a case report"
NOCARDIA = "Primary cutaneous nocardiosis due to Nocardia brasiliensis in a gardener"
ARTERITIS = "Giant cell arteritis presenting with tongue necrosis"
APPENDIX = "Adenocarcinoma of the appendix in a young woman"
EMBOLISM = "Pulmonary embolism as the first sign of nephrotic syndrome"
PNEUMONITIS = "Methotrexate-induced pneumonitis in rheumatoid arthritis"
LUPUS = "Systemic lupus erythematosus presenting with chorea"
PREGNANCY = "Ectopic pregnancy in a caesarean scar"
SKIN = "A novel COL7A1 mutation in dystrophic epidermolysis bullosa"
UNTOLD = "An unusual cause of dysphagia in an elderly man"


def stated(title: str, sentence: str) -> str:
    """The rule by which the middle sentence of a case of three states its diagnosis, '' if it does not."""
    text = "systemic lupus erythematosus (SLE)"
    found = dict(select(["He had pain.", sentence, "He went home."], topic_of(title, text)))
    assert set(found) <= {1}
    return found.get(1, "")


@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        (ARTERITIS, "Giant cell arteritis was diagnosed on the basis of the biopsy."),
        (ARTERITIS, "We finally diagnosed her with giant cell arteritis."),
        (LUPUS, "The antibodies established the diagnosis of systemic lupus erythematosus."),
        (LUPUS, "This led us to the diagnosis of systemic lupus erythematosus."),
        (LUPUS, "Based on these results, SLE was diagnosed."),
        (NOCARDIA, "Other causes were excluded and the diagnosis of nocardiosis was established."),
        (PNEUMONITIS, "The final impression was pneumonitis caused by methotrexate."),
        (UNTOLD, "The final diagnosis was oesophageal leiomyoma."),
        (UNTOLD, "A diagnosis of oesophageal leiomyoma was therefore made."),
        (PREGNANCY, "A scar ectopic gestation was diagnosed."),
        (ARTERITIS, "We therefore diagnosed giant cell arteritis."),
        (PREGNANCY, "The radiologist diagnosed an ectopic pregnancy in the scar."),
        (UNTOLD, "A confident diagnosis of oesophageal leiomyoma was agreed upon."),
    ],
)
def test_diagnoses_made(title: str, sentence: str) -> None:
    assert stated(title, sentence) in {"diagnosis made", "diagnosed with", "was diagnosed", "final diagnosis"}


@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        (APPENDIX, "The specimen was reported as a well-differentiated adenocarcinoma of the appendix."),
        (APPENDIX, "Microscopic examination of the appendix was in favour of adenocarcinoma."),
        (APPENDIX, "Histology came back as adenocarcinoma."),
        (APPENDIX, "The histopathological features were suggestive of adenocarcinoma."),
        (ARTERITIS, "Temporal artery biopsy was positive for giant cell arteritis."),
        (ARTERITIS, "A temporal artery biopsy proved the presence of arteritis."),
        (NOCARDIA, "Culture of the pus grew Nocardia brasiliensis after five days."),
        (NOCARDIA, "The isolate was identified as Nocardia brasiliensis by 16S rRNA sequencing."),
        (SKIN, "Exome sequencing identified a homozygous change in COL7A1."),
        (UNTOLD, "A biopsy confirmed oesophageal leiomyoma, and the cells were positive for desmin."),
        (APPENDIX, "The pathological study of the piece reported adenocarcinoma of 6 cm."),
        (APPENDIX, "Cytology was in agreement with adenocarcinoma."),
    ],
)
def test_pathology_and_laboratory_findings(title: str, sentence: str) -> None:
    assert stated(title, sentence) in {"pathology revealed", "pathology confirmed", "finding revealed"}


@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        (SPLEEN, "Computed tomography of the abdomen demonstrated a ruptured spleen with free fluid."),
        (SPLEEN, "At laparotomy the spleen was found to be torn at its hilum."),
        (SPLEEN, "Free blood was aspirated, and a laceration of the spleen was seen at the lower pole."),
        (EMBOLISM, "CT pulmonary angiography revealed bilateral pulmonary emboli."),
        (EMBOLISM, "A filling defect was seen in the left artery, indicating pulmonary embolism."),
        (PREGNANCY, "Transvaginal ultrasound showed an ectopic pregnancy in the scar."),
        (NOCARDIA, "Nocardia brasiliensis grew from the pus."),
        (NOCARDIA, "These features were in keeping with cutaneous nocardiosis."),
    ],
)
def test_findings_of_imaging_operation_and_culture(title: str, sentence: str) -> None:
    assert stated(title, sentence)


@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        (SPLEEN, "Emergency laparotomy confirmed splenic rupture."),
        (SPLEEN, "The cause of the bleeding was a rupture of the spleen."),
        (ARTERITIS, "The patient fulfilled the criteria for giant cell arteritis."),
        (ARTERITIS, "It turned out to be a giant cell arteritis."),
        (ARTERITIS, "The patient was thus confirmed to have giant cell arteritis."),
        (ARTERITIS, "The appearances were those of giant cell arteritis."),
        (APPENDIX, "On further review the tumour was classified as an adenocarcinoma."),
        (PNEUMONITIS, "We concluded that this was a case of methotrexate pneumonitis."),
        (EMBOLISM, "Her dyspnoea was secondary to pulmonary embolism."),
        (EMBOLISM, "The suspected pulmonary embolism was confirmed by scintigraphy."),
    ],
)
def test_confirmation_identity_criteria_and_cause(title: str, sentence: str) -> None:
    assert stated(title, sentence)


@pytest.mark.parametrize(
    ("sentence", "rule", "beside"),
    [
        ("The picture suggested pneumonitis.", "hedged", [1]),
        ("In the second week he developed pneumonitis.", "developed", [0, 1]),
        ("Therefore, pneumonitis was suspected.", "hedged", [1]),
    ],
)
def test_what_is_only_likely_counts_where_nothing_is_firmer_and_what_befell_beside_it(
    sentence: str, rule: str, beside: list[int]
) -> None:
    assert stated(PNEUMONITIS, sentence) == rule
    firm = "A diagnosis of methotrexate pneumonitis was made."
    assert [at for at, _ in select([sentence, firm], topic_of(PNEUMONITIS))] == beside


@pytest.mark.parametrize(
    ("title", "sentence", "is_chosen"),
    [
        ("Nocardia infection of the knee", "Nocardia grew in two cultures of the fluid.", True),
        ("Nocardia infection of the knee", "Nocardia was sought in two cultures of the fluid.", False),
        (PNEUMONITIS, "We report a man with methotrexate pneumonitis.", True),
        (PNEUMONITIS, "Reports on methotrexate pneumonitis are few.", False),
    ],
)
def test_germs_and_whom_a_report_is_about(title: str, sentence: str, is_chosen: bool) -> None:
    firm = f"The final diagnosis was {title.lower()}."
    assert (0 in [at for at, _ in select([sentence, firm], topic_of(title))]) is is_chosen


@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        (SPLEEN, "There was no evidence of splenic rupture."),
        (SPLEEN, "Splenic rupture was ruled out by ultrasound."),
        (SPLEEN, "CT was done to rule out splenic rupture."),
        (SPLEEN, "He had a history of splenic rupture in childhood."),
        (ARTERITIS, "Giant cell arteritis was considered in the differential diagnosis."),
        (ARTERITIS, "Her mother had been diagnosed with giant cell arteritis."),
        (ARTERITIS, "A temporal artery biopsy was performed to confirm giant cell arteritis."),
        (ARTERITIS, "He was a known case of giant cell arteritis."),
        (ARTERITIS, "A presumptive diagnosis of giant cell arteritis was made."),
        (APPENDIX, "The biopsy was negative for adenocarcinoma."),
        (APPENDIX, "She was told of the risk of adenocarcinoma."),
        (APPENDIX, "There has been no recurrence of adenocarcinoma."),
        (APPENDIX, "The referring diagnosis was adenocarcinoma."),
        (APPENDIX, "The follow-up scan showed that the adenocarcinoma had not returned."),
        (EMBOLISM, "CT showed pneumonia or pulmonary embolism."),
    ],
)
def test_what_does_not_state_a_diagnosis(title: str, sentence: str) -> None:
    assert stated(title, sentence) == ""


def test_doubt_that_led_to_a_test_is_no_doubt_on_its_result() -> None:
    assert stated(APPENDIX, "A biopsy was taken to exclude lymphoma and revealed an adenocarcinoma.")
    assert stated(LUPUS, "A woman with a history of headache was diagnosed with lupus.")


@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        ("Glioblastoma in a patient with Lynch syndrome", "Sequencing confirmed Lynch syndrome."),
        (
            "Hearing loss after spinal anaesthesia for fracture of the hip",
            "Radiographs showed a hip fracture.",
        ),
    ],
)
def test_background_of_a_title_counts_only_where_the_head_is_never_named(title: str, sentence: str) -> None:
    topic = topic_of(title)
    head = "MRI revealed a glioblastoma." if "Glio" in title else "Audiometry showed hearing loss."
    assert [at for at, _ in select([sentence, "He rested.", head], topic)] == [2]
    assert [at for at, _ in select([sentence, "He rested."], topic)] == [0]


def test_a_diagnosis_made_is_taken_where_the_title_names_none() -> None:
    sentences = [
        "CT angiography revealed a double aortic arch.",
        "Feeding was difficult.",
        "The final diagnosis was a vascular ring due to a double aortic arch.",
    ]
    assert [at for at, _ in select(sentences, topic_of("An unusual cause of stridor"))] == [2]


def test_findings_after_the_diagnosis_only_add_to_it_unless_they_confirm_it() -> None:
    sentences = [
        "Ultrasound showed an ectopic pregnancy.",
        "A diagnosis of ectopic pregnancy was made.",
        "A scan showed the ectopic pregnancy again.",
        "Histology confirmed ectopic pregnancy.",
    ]
    assert [at for at, _ in select(sentences, topic_of(PREGNANCY))] == [0, 1, 3]


def test_selection_is_bounded_on_long_sentences() -> None:
    sentence = "The biopsy of the diagnosis was " + "no evidence of a history of " * 2000
    assert isinstance(select([sentence], topic_of(APPENDIX)), list)
