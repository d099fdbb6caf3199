"""What tells a diagnosis without naming it: germs, growths, a last diagnosis that was another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.tasks.clinical_case.task import TASK
from curation.tasks.shared.tellers import GROWTH, germs, grown, places, renamed
from curation.tasks.shared.wordings import Name, Wordings
from tests.curation.tasks.case_world import Patient, Report, run, story


def _wordings(*names: str, above: tuple[str, ...] = ()) -> Wordings:
    listed = [Name("X:1", "en", name) for name in names] + [Name("X:2", "en", name) for name in above]
    return Wordings.of("X:1", listed, (), (), {"ovary": 50}, {"X:2"})


def test_germs_are_read_off_names_of_infections() -> None:
    names = ("Infections, Mycobacterium", "Borrelia infection", "skin infection", "Wound Infections", "ague")
    assert list(germs(names)) == ["borrelia", "mycobacteria"]


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("Mycobacterial growth was seen.", True),
        ("The smear held acid-fast rods.", True),
        ("The smear held acid.", False),
        ("Bacteria were not seen.", False),
    ],
)
def test_the_germ_of_a_disease_tells_it(text: str, is_told: bool) -> None:
    wordings = _wordings("consumption", above=("Mycobacterium infection",))
    assert (wordings.find(text) is not None) is is_told
    assert Wordings.of("X:1", [Name("X:1", "en", "consumption")], (), (), {}).find(text) is None


@pytest.mark.parametrize(
    ("text", "is_told"),
    [("Biopsy showed a lipoma.", True), ("Lipomas were felt.", True), ("Lipid levels were high.", False)],
)
def test_the_growth_of_a_disease_of_many_tells_it(text: str, is_told: bool) -> None:
    assert (_wordings("familial lipomatosis").find(text) is not None) is is_told
    assert grown("lipomatosis") == "lipoma" and not grown("sclerosis")


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("Ultrasound showed a mass of the left ovary.", True),
        ("A lesion was found in the ovary.", True),
        ("The ovary was normal.", False),
        ("A mass of the liver was found.", False),
    ],
)
def test_a_name_that_says_only_where_something_grows_is_said_by_any_growth_there(
    text: str, is_told: bool
) -> None:
    assert (_wordings("ovary tumour").find(text) is not None) is is_told
    assert _wordings("malignant ovary tumour").find(text) is None
    assert places("ovary tumour", ("ovary", "tumor")) == ("ovary", GROWTH)
    assert places("growth hormone deficiency", ("growth", "hormone")) == ()


@pytest.mark.parametrize(
    ("language", "name", "text", "is_told"),
    [
        ("pt", "linfoma folicular", "Derrame pleural, secundário a linfoma.", True),
        ("fr", "lymphome folliculaire", "Une masse évoquant un lymphome.", True),
        ("es", "linfoma folicular", "Se palpaba una masa folicular.", False),
        ("de", "follikuläres Lymphom", "Ein follikuläres Bild.", False),
    ],
)
def test_the_noun_of_a_name_tells_it_where_nouns_stand_first(
    language: str, name: str, text: str, is_told: bool
) -> None:
    names = [Name("X:1", "en", "follicular lymphoma"), Name("X:1", language, name)]
    assert (Wordings.of("X:1", names, (), (), {"follicular": 50}).find(text) is not None) is is_told
    plain = [Name("X:1", "en", "Marfan disease"), Name("X:1", "pt", "doença alta")]
    assert Wordings.of("X:1", plain, (), (), {"marfan": 50}).find("Negava outra doença.") is None


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("He was sent to the unit of temporomandibular dysfunction.", True),
        ("A temporomandibular syndrome was in her file.", True),
        ("The temporomandibular region was tender.", False),
    ],
)
def test_a_disorder_goes_by_other_words_for_being_ill(text: str, is_told: bool) -> None:
    listed = [Name("X:1", "en", "temporomandibular disorders")]
    found = Wordings.of("X:1", listed, (), (), {"temporomandibular": 50}).find(text)
    assert (found is not None) is is_told
    assert list(renamed("disease")) == [] and "Down disease" in renamed("Down syndrome")


@pytest.mark.parametrize(
    ("sentence", "is_kept"),
    [
        ("With a rash he was diagnosed with scabies.", False),
        ("Two years ago he was diagnosed with scabies.", True),
        ("A rash like scabies was seen.", True),
    ],
)
def test_a_last_sentence_that_says_another_was_diagnosed_is_left_out(
    sentence: str, is_kept: bool, tmp_path: Path
) -> None:
    texts = [f"It began in May. {story(1, 60)} {sentence}", "It was gout."]
    one = Patient(texts, "gout", roles={1: "findings"}, names=("scabies",))
    two = Patient([f"It began in June. {story(2, 60)}", "It was gout."], "gout", roles={1: "course"})
    built = run([Report("pmc:PMC1.1", [one]), Report("pmc:PMC2.1", [two])], tmp_path, TASK)
    (query,) = [row for row in built.queries if row.source_id == "pmc:PMC1.1#case1"]
    assert (sentence in query.text) is is_kept and "It began" in query.text
