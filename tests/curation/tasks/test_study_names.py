"""Whose name a study's name is, and how the article's own is taken out of a text."""

from __future__ import annotations

import pytest

from curation.extract.neutralise import neutralise_caption, restore
from curation.tasks.shared.study_names import names_of, study_names, unnamed


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("Rest in gout: the RESTore randomised trial", {"RESTore"}),
        ("Stopping early: the multicentre Slow Down trial", {"Slow Down"}),
        ("A phase II trial of rest", set()),
        ("Rest in gout (REGO): a study protocol", {"REGO"}),
        ("RESTore Trial protocol: rest in gout", {"RESTore"}),
        ("A Cohort Study of Rest in Gout", set()),
        ("Rest in a man with MRI-proven gout", set()),
    ],
)
def test_names_a_title_gives_its_study(title: str, names: set[str]) -> None:
    assert study_names(title) == names


def test_a_coined_word_mostly_before_study_is_a_name_and_goes_everywhere() -> None:
    texts = [
        "The RESTore trial enrolled adults with COPD.",
        "In RESTore, rest was given (RESTore goes on).",
        "In a COPD study, COPD was worse. The COPD cohort had COPD. COPD rose, COPD fell.",
    ]
    names = names_of(["Rest in COPD: the RESTore trial"], ["Adults with COPD rested in RESTore."], texts)
    assert names.anywhere == frozenset()  # before a noun at two of five places
    names = names_of(["Rest in COPD: the RESTore trial"], ["The RESTore study of COPD."], texts)
    assert names.before_noun == {"RESTore", "COPD"}
    assert names.anywhere == {"RESTore"}
    source = "The RESTore study (Fig. 1) and RESTore-2: rest in RESTore, unlike RESTored joints."
    released, transforms = unnamed(*neutralise_caption(source, "en"), names)
    assert released == "The study and [study name]-2: rest in [study name], unlike RESTored joints."
    assert restore(released, transforms) == source


@pytest.mark.parametrize(
    ("abstract", "text", "names"),
    [
        ("Screening worked in the SLEEPeR trial.", "The SLEEPeR trial was large.", set()),
        ("Adults rested in the SLEEPeR trial.", "Our multicentre SLEEPeR trial is large.", {"SLEEPeR"}),
        ("The SLEEPeR trial (NCT01234567) asked adults.", "SLEEPeR study nurses called.", {"SLEEPeR"}),
        ("The trial is NCT01234567. Unlike the SLEEPeR trial, it ran.", "The SLEEPeR trial ran.", set()),
        ("Rest helped.", "Our SLEEPeR trial ran, this SLEEPeR study did not.", set()),
    ],
)
def test_an_abstract_names_its_own_study_or_another(abstract: str, text: str, names: set[str]) -> None:
    found = names_of(["Rest in gout"], [abstract], [text])
    assert found.anywhere == names and found.before_noun == names


def test_ordinary_words_of_a_title_are_no_name() -> None:
    title = "Rest in gout: a multicentre Case-Control study"
    assert not names_of([title], (), ["It was planned as a case-control study."]).before_noun
    title = "Rest in gout: the multicentre Slow Down trial"
    names = names_of([title], (), ["The Slow Down trial ran.", "They were asked to slow down, not to Slow."])
    assert not names.before_noun
    names = names_of([title], (), ["The Slow Down trial ran, and Slow Down nurses called."])
    assert names.anywhere == {"Slow Down"}
    assert (
        unnamed("Slow Down nurses of the Slow Down trial.", (), names)[0]
        == "[study name] nurses of the trial."
    )
