"""Facets of a disorder: which heading announces one, which sentence answers it."""

from __future__ import annotations

import pytest

from curation.tasks.crosslingual_qa.facets import (
    FACETS,
    answered,
    facet_of_heading,
    facets_of_types,
    looks_back,
    neighbours,
    touched,
)


def test_neighbours_are_symmetric_and_every_facet_can_be_asked_of_a_disease() -> None:
    assert all(facet in neighbours(other) for facet in FACETS for other in neighbours(facet))
    assert facets_of_types(("T047",)) == set(FACETS)
    assert "prognosis" not in facets_of_types(("T184",)) and facets_of_types(()) == frozenset()


@pytest.mark.parametrize(
    ("heading", "facet"),
    [
        ("3.2. Treatment of", "treatment"),
        ("Signs and Symptoms", "presentation"),
        ("Clinical presentation", "presentation"),
        ("Laboratory Diagnosis", "diagnosis"),
        ("Etiology", "cause"),
        ("Risk factors", None),
        ("Diagnosis and treatment", None),
        ("Treatment groups", None),
        ("Differential diagnosis", None),
        ("Methods", None),
    ],
)
def test_a_heading_announces_one_facet_or_none(heading: str, facet: str | None) -> None:
    assert facet_of_heading(heading) == facet


@pytest.mark.parametrize(
    ("sentence", "facets"),
    [
        ("Gout is an inflammatory disease of the joints.", {"definition"}),
        ("Gout is a risk factor for heart disease.", set()),
        ("Renal gout is a rare disease.", set()),
        ("Gout is a very rare disease.", set()),
        ("Gout is a rare disease of sailors.", {"definition"}),
        ("Our view of rest in the treatment of gout is limited to mice.", set()),
        ("Gout (UAD) is most often caused by crystals.", {"cause"}),
        ("Symptoms of gout include a hot toe.", {"presentation"}),
        ("Drugs relieved the symptoms of gout in mice.", set()),
        ("The diagnosis of gout requires crystals in the joint.", {"diagnosis"}),
        ("Colchicine is used to treat gout.", {"treatment"}),
        ("Our patient with gout is treated with colchicine.", set()),
        ("The prognosis of gout is good.", {"prognosis"}),
        ("Gout has a poor prognosis without care.", {"prognosis"}),
        ("Ink is a sign used for gout diagnosis.", set()),
        ("Ink is used for gout.", {"treatment"}),
        ("Gout presents itself with both slow and fast forms.", set()),
        ("Gout presents with a hot toe.", {"presentation"}),
        ("Wine was the only risk factor for gout: it doubled the odds.", set()),
        ("Crystals are the cause of gout.", {"cause"}),
        ("Gout is the second most frequent type of disease worldwide.", set()),
        ("Gout is the most common type of inflammatory disease.", {"definition"}),
        # what goes on, and what it is to something else
        ("Gout is the settling of crystals in a joint.", {"definition"}),
        ("Gout is a painful swelling of one toe.", {"definition"}),
        ("Gout is a problem of sailors.", set()),
        ("Gout is the easiest and cheapest of all disorders.", set()),
        ("Gout is a plague of growing public concern.", set()),
        ("Gout is the most common result of wine.", set()),
        ("Gout is a diagnosis of exclusion.", set()),
        # in apposition
        ("Gout, an old joint disease bound to crystals, is common.", {"definition"}),
        ("Gout (a disease of joints) is common.", {"definition"}),
        ("Gout, a rare disease, is painful.", set()),
        ("Gout (a rare disease) is painful.", set()),
        ("Gout, a joint disease and fever were seen.", set()),
        # of how many, how much
        ("Mortality from gout has declined over the years.", set()),
        ("The mortality of gout is 4%.", {"prognosis"}),
        ("Gout causes mild symptoms in young sailors.", set()),
        ("Gout causes mild to moderate symptoms such as a hot toe.", {"presentation"}),
        ("Gout causes mild pain.", {"presentation"}),
        ("About 5% of patients with gout present with cough.", set()),
        ("About 0.55% of patients with gout present with cough.", set()),
        ("About 45% of patients with gout present with a hot toe.", {"presentation"}),
    ],
)
def test_a_sentence_answers_by_the_words_around_the_name(sentence: str, facets: set[str]) -> None:
    start = sentence.lower().index("gout")
    assert set(answered(sentence, start, start + 4)) == facets


@pytest.mark.parametrize(
    ("sentence", "facets"),
    [
        # denied
        ("No herb, drug or diet is approved for gout.", set()),
        ("Leeches are not effective for gout.", set()),
        ("There is no treatment of gout that lasts.", set()),
        ("Neither rest nor wine is the treatment of choice for gout.", set()),
        ("Treatment of gout is not needed between attacks.", set()),
        ("Cold water isn’t used to treat gout.", set()),
        ("Colchicine is not only used to treat gout but also relieves other fevers.", {"treatment"}),
        ("In sailors with no kidney disease, colchicine is used to treat gout.", {"treatment"}),
        ("Wine does no harm, but colchicine is used to treat gout.", {"treatment"}),
        ("Colchicine is used to treat gout that does not respond to rest.", {"treatment"}),
        ("Symptoms of gout include a hot toe, not a cold one.", {"presentation"}),
        # unknown
        ("It is unclear which species cause gout.", set()),
        ("The pathogenesis of gout remains poorly understood.", set()),
        ("The prognosis of gout is still debated.", set()),
        ("The causes of gout are unknown, but involve the kidneys.", {"cause"}),
        ("Although its cause is unknown, colchicine is used to treat gout.", {"treatment"}),
        ("Evidence on the outcomes of gout is scarce.", set()),
        # told elsewhere
        ("Symptoms of gout are listed in Table 4.", set()),
        ("The treatment of gout is discussed in the next chapter.", set()),
        ("Gout is treated in Section 5.2.", set()),
        ("The diagnosis of gout is reviewed in detail elsewhere.", set()),
        ("The prognosis of gout is outside the scope of this essay.", set()),
        ("As shown in Figure 2, crystals are the cause of gout.", {"cause"}),
        ("Symptoms of gout include a hot toe (listed in Table 4).", {"presentation"}),
        ("Gout is found in other parts of the body and is an inflammatory disease.", set()),
        # who, where, when, beside what
        ("Gout is often identified as a comorbidity.", set()),
        ("Gout is often diagnosed late.", set()),
        ("Gout is usually diagnosed by needle.", {"diagnosis"}),
        ("Gout is usually managed by rheumatologists.", set()),
        ("Gout is mostly treated in primary care.", set()),
        ("Gout is mostly treated by rest and colchicine.", {"treatment"}),
        ("Signs of gout must be monitored.", set()),
        # how great a burden
        ("Gout is a major public health disorder.", set()),
        ("Gout is an important disease in this region.", set()),
        ("Gout is a serious and growing health condition among sailors.", set()),
        ("Gout is a serious toe threatening condition; rest is needed.", set()),
        ("Gout is an uncommon condition with a prevalence of 2%.", set()),
        ("Gout is a common disease in which crystals settle in joints.", {"definition"}),
        ("Gout is a painful metabolic disease in this region.", {"definition"}),
    ],
)
def test_what_is_denied_unknown_told_elsewhere_or_a_burden_is_no_answer(
    sentence: str, facets: set[str]
) -> None:
    start = sentence.lower().index("gout")
    assert set(answered(sentence, start, start + 4)) == facets


def test_words_of_a_facet_are_told_where_they_stand() -> None:
    assert touched("It resolves after surgery.") == ("treatment",)
    assert touched("In sailors with gout, a disease of joints, wine is rare.") == ("definition",)
    assert touched("Toes that are characterized by heat.") == ("definition",)
    assert touched("Attacks appear with the drinking of wine.") == ("cause",)
    assert touched("Wine provokes it.") == ("cause",)


@pytest.mark.parametrize(
    ("sentence", "is_so"),
    [
        ("These were the cause of gout.", True),
        ("However, it is used to treat gout.", True),
        ("Those with gout rest.", False),
        ("Gout is such a disease.", False),
    ],
)
def test_a_sentence_looks_back_by_its_first_word(sentence: str, is_so: bool) -> None:
    assert looks_back(sentence) == is_so
