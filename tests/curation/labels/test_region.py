from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from curation.labels import modality, region
from curation.labels.stage import LABELS
from curation.labels.taxonomy import load
from flows.engine.runner import run_records
from schemas.label import Label
from schemas.stages import Drop
from tests.curation.builders import ID
from tests.curation.labels.test_stage import case, diagnosis, lung, run, tables

REGIONS = {
    "head_neck": {"brain", "eye_orbit", "face_mouth", "ear_nose_throat", "neck"},
    "thorax": {"lung", "heart", "mediastinum", "chest_wall_breast"},
    "abdomen": {"liver_pancreas_spleen", "digestive_tract"},
    "pelvis_urogenital": {"kidney_urinary", "female_pregnancy", "male"},
    "spine_trunk": set(),
    "limbs": {"upper_limb", "lower_limb"},
    "skin": set(),
    "whole_body": set(),
}
"""The closed taxonomy: a change here is a new VERSION of the stage and a line in the changelog."""


def labels(
    caption: str, citing: tuple[str, ...] = (), names: tuple[str, ...] = (), groups: tuple[str, ...] = ()
) -> list[Label]:
    """Regions of a figure whose modality is decided from the same caption, where no groups are given."""
    if not groups:
        decided = modality.labels("a#F1", "a", caption, citing)
        groups = tuple(row.parent or row.value for row in decided if row.value)
    tallies = region.of_figure(caption, citing, names, groups)
    return list(region.labels("a#F1", "a", tallies, caption, groups))


def both(rows: list[Label]) -> list[tuple[str, str]]:
    return [(row.parent, row.value) for row in rows]


def test_the_taxonomy_is_closed_and_every_phrase_finds_its_label() -> None:
    taxonomy = load("region")
    found: dict[str, set[str]] = {name: set() for name, one in taxonomy.labels.items() if not one.parent}
    for name, one in taxonomy.labels.items():
        if one.parent:
            found[one.parent].add(name)
    assert found == REGIONS
    assert {entry.label for entry in taxonomy.entries} == set(taxonomy.labels)
    for entry in taxonomy.entries:
        hits = taxonomy.words.find(entry.phrase.replace("*", ""))
        assert any(entry in hit.entries for hit in hits), entry
    groups = {name for name, one in load("modality").labels.items() if not one.parent}
    assert groups > modality.DRAWN


@pytest.mark.parametrize(
    ("caption", "parent", "value"),
    [
        ("Axial CT of the abdomen.", "", "abdomen"),
        ("Coronal CT of the liver with a cyst.", "abdomen", "liver_pancreas_spleen"),
        ("Colonoscopy: polyp of the sigmoid colon.", "abdomen", "digestive_tract"),
        ("Brain MRI with a mass of the left temporal lobe.", "head_neck", "brain"),
        ("Fundus photograph of the right eye.", "head_neck", "eye_orbit"),
        ("Panoramic radiograph of the mandible.", "head_neck", "face_mouth"),
        ("CT of the paranasal sinuses and the nasal cavity.", "head_neck", "ear_nose_throat"),
        ("Ultrasound of the thyroid.", "head_neck", "neck"),
        ("Chest radiograph at admission.", "", "thorax"),
        ("Chest CT: nodule in the right upper lobe.", "thorax", "lung"),
        ("12-lead electrocardiogram of the patient.", "thorax", "heart"),
        ("Mammography of the left breast.", "thorax", "chest_wall_breast"),
        ("Biopsy of the kidney, PAS stain.", "pelvis_urogenital", "kidney_urinary"),
        ("Transvaginal ultrasound of the uterus.", "pelvis_urogenital", "female_pregnancy"),
        ("MRI of the prostate.", "pelvis_urogenital", "male"),
        ("Sagittal MRI of the lumbar spine.", "", "spine_trunk"),
        ("Radiograph of the left wrist.", "limbs", "upper_limb"),
        ("Anteroposterior radiograph of the knee.", "limbs", "lower_limb"),
        ("Dermoscopy of a naevus of the skin.", "", "skin"),
        ("Peripheral blood smear with blasts; bone marrow aspirate.", "", "whole_body"),
    ],
)
def test_captions_tell_region_and_part(caption: str, parent: str, value: str) -> None:
    row = labels(caption)[0]
    assert (row.parent, row.value, row.rank, row.reason) == (parent, value, 1, "")
    assert row.evidence and row.evidence[0].place == "caption" and row.evidence[0].text in caption


def test_a_short_form_means_what_the_caption_says() -> None:
    assert both(labels("Radiograph of a wrist in rheumatoid arthritis (RA).")) == [("limbs", "upper_limb")]
    assert both(labels("CT with an enlarged right atrium (RA).")) == [("thorax", "heart")]


def test_words_that_mean_two_places_are_read_with_their_neighbours() -> None:
    assert both(labels("Cervical spine, lateral view.")) == [("", "spine_trunk")]
    assert both(labels("Histology: cancer of the uterine cervix.")) == [
        ("pelvis_urogenital", "female_pregnancy")
    ]
    assert both(labels("CT of the renal pelvis.")) == [("pelvis_urogenital", "kidney_urinary")]
    assert both(labels("Enlarged left ventricle.")) == [("thorax", "heart")]
    assert both(labels("Enlarged lateral ventricles.")) == [("head_neck", "brain")]
    assert labels("Outcome by treatment arm.")[0].reason == "no_evidence"


def test_skin_and_whole_body_hold_only_where_no_place_is_told() -> None:
    assert both(labels("Rash of the skin of the foot.")) == [("limbs", "lower_limb")]
    assert both(labels("Skin biopsy.")) == [("", "skin")]


def test_a_figure_of_two_regions_carries_both_the_first_named_first() -> None:
    rows = labels("(a) CT of the liver. (b) Radiograph of the femur.")
    assert both(rows) == [("abdomen", "liver_pancreas_spleen"), ("limbs", "lower_limb")]
    assert [row.rank for row in rows] == [1, 2]


def test_citing_sentences_and_concepts_help_a_silent_caption() -> None:
    told = ("The brain was imaged; a meningeal mass was seen.",)
    row = labels("Before and after.", citing=told, groups=("radiology",))[0]
    assert (row.value, row.evidence[0].place) == ("brain", "citing sentence")
    row = labels("A mass.", names=("Renal cell carcinoma", "Bladder neoplasm"), groups=("radiology",))[0]
    assert (row.value, row.evidence[0].place) == ("kidney_urinary", "concept")


@pytest.mark.parametrize(
    ("caption", "citing", "groups", "reason"),
    [
        ("Before and after.", (), (), "no_evidence"),
        ("Cortical thinning.", (), ("radiology",), "weak_evidence"),
        ("Shown.", ("The liver, the gallbladder, the femur and the tibia.",), ("radiology",), "tie"),
        ("Shown.", ("The liver and the gallbladder.",), (), "no_evidence"),
        ("Survival by stage of lung cancer.", (), ("chart",), "not_anatomical"),
    ],
)
def test_undecided_says_why(
    caption: str, citing: tuple[str, ...], groups: tuple[str, ...], reason: str
) -> None:
    (row,) = labels(caption, citing, groups=groups)
    assert (row.value, row.reason, row.confidence) == ("", reason, 0.0)


def test_a_chart_beside_an_image_does_not_hide_the_region() -> None:
    assert labels("CT of the lung and survival.", groups=("chart", "radiology"))[0].value == "lung"


def test_figures_and_cases_of_an_article_have_regions() -> None:
    made = lung()
    first = made.passages[0]
    given: dict[str, Sequence[Any]] = {
        "cases.cases": [case(1, first.id, len(first.text))],
        "diagnoses.diagnoses": [diagnosis(1, first.id, "He had lung cancer.")],
    }
    rows, records = run(made, **given)
    assert (records[f"{ID}#F2"].regions, records[f"{ID}#F2"].region_parts) == (("thorax",), ())
    assert (records[f"{ID}#case1"].regions, records[f"{ID}#case1"].region_parts) == (("thorax",), ("lung",))
    assert records[ID].regions == ()
    told = [row for row in rows if row.id == f"{ID}#case1" and row.facet == "region"]
    assert {item.place for item in told[0].evidence} == {"case", "title"}


def test_rows_are_the_same_in_any_order_of_inputs() -> None:
    made = tables(lung())
    one, drops, _ = run_records(LABELS, made, {}, {})
    two, _, _ = run_records(LABELS, {name: list(rows) for name, rows in made.items()}, {}, {})
    assert one == two and not [row for row in drops if isinstance(row, Drop)]


def test_a_layer_is_no_place() -> None:
    assert both(labels("Subcutaneous mass on CT.")) == [("", "")]
    assert both(labels("CT of a subcutaneous mass of the chest wall.")) == [("thorax", "chest_wall_breast")]


def test_heads_of_patients_are_heads_and_signs_of_the_lung_do_not_stand_against_an_organ() -> None:
    assert both(labels("Photograph of the patient's head.")) == [("", "head_neck")]
    assert both(labels("CT of the head of the femur.")) != [("", "head_neck")]
    rows = labels("MRI of the brain. Ground-glass appearance of the white matter.")
    assert both(rows) == [("head_neck", "brain")]
