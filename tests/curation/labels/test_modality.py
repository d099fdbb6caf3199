from __future__ import annotations

import pytest

from curation.labels import modality
from curation.labels.spelled import methods_in, spelled
from schemas.label import Label


def labels(caption: str, citing: tuple[str, ...] = (), kinds: tuple[str, ...] = ()) -> list[Label]:
    return list(modality.labels("a#F1", "a", caption, citing, kinds))


def both(rows: list[Label]) -> list[tuple[str, str]]:
    return [(row.parent, row.value) for row in rows]


@pytest.mark.parametrize(
    ("caption", "group", "leaf"),
    [
        ("Axial CT of the abdomen.", "radiology", "ct"),
        ("Sagittal T2-weighted image of the knee.", "radiology", "mri"),
        ("Plain radiograph of the left wrist.", "radiology", "xray"),
        ("CXR showed an effusion.", "radiology", "xray"),
        ("Transthoracic echocardiogram, four chambers.", "radiology", "ultrasound"),
        ("Digital subtraction angiography of the aorta.", "radiology", "angiography"),
        ("CT angiography of the neck.", "radiology", "ct"),
        ("FDG-PET of the pelvis.", "radiology", "pet"),
        ("Bone scintigraphy with technetium.", "radiology", "scintigraphy"),
        ("Barium swallow.", "radiology", "fluoroscopy"),
        ("Biopsy of the lip (H&E, ×100).", "pathology", "he"),
        ("Immunohistochemistry for a keratin.", "pathology", "ihc"),
        ("Masson trichrome of the kidney.", "pathology", "special_stain"),
        ("Cytology of the effusion.", "pathology", "cytology"),
        ("Gross specimen after nephrectomy.", "pathology", "gross"),
        ("Transmission electron microscopy of a podocyte.", "microscopy", "electron"),
        ("Tubules with swollen mitochondria (X 12,000).", "microscopy", "electron"),
        ("Confocal image, DAPI in blue.", "microscopy", "fluorescence"),
        ("Colonoscopy with a polyp.", "endoscopy", "gastrointestinal_endoscopy"),
        ("Bronchoscopy of the left lung.", "endoscopy", "bronchoscopy"),
        ("Fundus of the right eye.", "ophthalmology", "fundus"),
        ("OCT of the macula.", "ophthalmology", "oct"),
        ("Fluorescein angiography of the left eye.", "ophthalmology", "fluorescein_angiography"),
        ("Clinical photograph of a rash on the back.", "photograph", "clinical"),
        ("Intraoral view of the ulcer.", "photograph", "intraoral"),
        ("Intraoperative photograph of the mesh.", "photograph", "intraoperative"),
        ("Dermoscopy of the naevus.", "photograph", "dermoscopy"),
        ("12-lead electrocardiogram at admission.", "signal", "ecg"),
        ("Kaplan-Meier estimate of overall survival.", "chart", "survival"),
        ("Receiver operating characteristic curve.", "chart", "roc"),
        ("Forest plot of eight trials.", "chart", "forest_plot"),
        ("CONSORT flow diagram.", "diagram", "flowchart"),
        ("Pedigree of the family.", "diagram", "pedigree"),
        ("Timeline of events.", "diagram", "timeline"),
        ("Map of the districts.", "diagram", "map"),
        ("Western blot of three lysates.", "gel", "blot"),
        ("Sanger sequencing of exon 2.", "sequence", "chromatogram"),
    ],
)
def test_captions_tell_group_and_leaf(caption: str, group: str, leaf: str) -> None:
    row = labels(caption)[0]
    assert (row.parent, row.value, row.rank, row.reason) == (group, leaf, 1, "")
    assert row.evidence and row.evidence[0].place == "caption"


@pytest.mark.parametrize(
    ("caption", "groups"),
    [
        (
            "Study design and procedure. (A) Days of training. (B) Electrocardiography (ECG) features"
            " extraction with wavelets. (C) Model development from ECG features.",
            {"diagram"},
        ),
        (
            "Procedure of feature extraction and model building. (A) MRI acquisition and segmentation of"
            " the hippocampus. (B) Model training with the features of MRI.",
            {"diagram"},
        ),
        ("Workflow of the trial. (A) Recruitment. (B) CT reading by two raters.", {"diagram"}),
        ("Pipeline. (A) Axial CT images of the chest. (B) Network layers.", {"radiology"}),
        ("Overview of the case. (A) Chest CT shows a mass. (B) Biopsy of the mass (H&E).", {"radiology"}),
    ],
)
def test_panels_of_a_drawn_procedure_show_only_what_they_head(caption: str, groups: set[str]) -> None:
    starts = [caption.index(letter) for letter in ("(A)", "(B)", "(C)") if letter in caption]
    rows = modality.labels("a#F1", "a", caption, (), (), starts)
    found = {row.parent or row.value for row in rows}
    assert groups <= found and (groups != {"diagram"} or found == groups)


def test_the_group_stands_alone_where_no_leaf_is_told() -> None:
    (row,) = labels("Scatter plot of age and weight, error bars omitted.")
    assert (row.parent, row.value) == ("", "chart")


def test_a_figure_that_names_several_carries_them_all() -> None:
    rows = labels("(a) Chest radiograph. (b) Axial CT of the chest. (c) H&E stain of the biopsy.")
    assert sorted(both(rows)) == [("pathology", "he"), ("radiology", "ct"), ("radiology", "xray")]
    assert [row.rank for row in rows] == [1, 2, 3]


@pytest.mark.parametrize(
    ("caption", "leaves"),
    [
        ("Cardiac magnetic resonance imaging, short-axis view: late enhancement.", ["mri"]),
        ("Short-axis view of cardiac MRI.", ["mri"]),
        ("Four-chamber view with a mass.", ["ultrasound"]),
        ("CT urography: a filling defect.", ["ct"]),
        ("MR angiography of the neck.", ["mri"]),
        ("Intravenous urography.", ["fluoroscopy"]),
    ],
)
def test_views_and_studies_are_of_the_images_that_are_named(caption: str, leaves: list[str]) -> None:
    assert [row.value for row in labels(caption)] == leaves


def test_a_hint_beside_a_clear_word_makes_no_second_modality() -> None:
    assert both(labels("Axial CT; the lesion increased over months.")) == [("radiology", "ct")]


def test_citing_sentences_help_a_caption_that_says_nothing() -> None:
    row = labels("Before and after.", citing=("An ECG was recorded (Fig. 1).",))[0]
    assert (row.value, row.evidence[0].place) == ("ecg", "citing sentence")


def test_an_image_kind_decides_where_words_do_not() -> None:
    row = labels("Before and after.", kinds=("endoscopy",))[0]
    assert (row.value, row.evidence[0].place, row.evidence[0].text) == ("endoscopy", "image", "endoscopy")
    assert labels("Before and after.", kinds=("compound",))[0].reason == "no_evidence"


@pytest.mark.parametrize(
    ("caption", "reason"), [("Lesions.", "weak_evidence"), ("", "no_evidence"), ("Left.", "no_evidence")]
)
def test_undecided_says_why(caption: str, reason: str) -> None:
    (row,) = labels(caption)
    assert (row.value, row.reason, row.confidence) == ("", reason, 0.0)


def test_cycle_thresholds_and_pets_are_no_scans() -> None:
    assert labels("Ct values by day, plotted on the y-axis.")[0].value == "chart"
    assert "pet" not in {row.value for row in labels("A pet and its owner, photograph.")}


@pytest.mark.parametrize(
    "caption",
    [
        "White hair at the back of the head.",
        "Back of the patient's leg, lax skin.",
        "Contractures of the fingers.",
    ],
)
def test_a_sign_seen_from_outside_is_a_photograph(caption: str) -> None:
    assert both(labels(caption)) == [("photograph", "clinical")]


@pytest.mark.parametrize(
    "caption",
    [
        "Hair cells of the inner ear.",
        "Jaundice in the two groups.",
        "Prevalence of alopecia by district.",
        "Hair of a volunteer, scanning electron micrograph.",
        "CT of a patient with jaundice.",
    ],
)
def test_a_sign_that_is_counted_or_imaged_otherwise_is_none(caption: str) -> None:
    assert ("photograph", "clinical") not in both(labels(caption))
    assert both(labels("Blisters.", kinds=("pathology",)))[0][1] == "pathology"


def test_a_sign_of_the_lung_makes_no_second_modality() -> None:
    rows = labels("MRI of the brain. Ground-glass appearance of the white matter.")
    assert both(rows) == [("radiology", "mri")]
    assert both(labels("Ground-glass opacities in both lungs."))[0] == ("radiology", "ct")


def test_short_forms_of_methods_that_the_text_defines_are_read_in_captions() -> None:
    methods = methods_in(
        [
            "Non-contrast computerised tomography (NCCT) of the head and ultrasonography (US) were done.",
            "Endoscopic submucosal dissection (ESD) followed magnetic resonance imaging (MRI).",
        ]
    )
    assert set(methods) == {"NCCT", "US"}
    written, starts = spelled("A US of the neck. B NCCT after ESD in the US.", [0, 18], methods)
    assert written[starts[1] :].startswith("B Non-contrast computerised tomography after ESD")
    assert groups(*spelled("US image with a cyst of the kidney", [], methods)) == ["ultrasound"]
    assert groups(*spelled("NCCT showing a bleed", [], methods)) == ["ct"]
    assert spelled("US image", [], {}) == ("US image", [])


def groups(caption: str, starts: list[int]) -> list[str]:
    return [row.value for row in modality.labels("a#F1", "a", caption, starts=starts) if row.value]


def test_what_is_scattered_is_no_plot() -> None:
    assert both(labels("The removed valve is shown, with nodules scattered across its leaflets.")) == [
        ("", "")
    ]
    assert both(labels("Scatter of both scores.")) == [("", "chart")]
