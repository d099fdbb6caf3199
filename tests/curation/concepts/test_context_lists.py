"""Acronyms, ages, what should be considered, effects, populations and lists: sentences of our own."""

from __future__ import annotations

import pytest

from curation.concepts.context import assign
from curation.concepts.context_rules import FLAGS
from tests.curation.concepts.test_context_clauses import LETTERS, MARKED

# [mention|flags]: n negated, h hypothetical, p historical (past), f family; none of them when empty.
SENTENCES = {
    "acronyms": """
        IF showed [IgA nephropathy|] and [fibrosis|].
        Sections stained by IF were read for [amyloid|].
        NO relaxes the [aorta|] and lowers [hypertension|].
        Low NO levels were tied to [preeclampsia|].
        The OR MAY rise with [gout|].
        If [gout|h] comes back, call us.
        NO [FEVER|n] OR [RASH|n].
        They have NO [gout|n] at all.
        She did NOT have [gout|n].
    """,
    "ages": """
        We used 8-9 weeks old [mice|].
        A 5-week old [lamb|] had [anaemia|].
        Ten weeks old [piglets|] were weighed.
        The old patients had [gout|].
        An old [stroke|p] was seen.
    """,
    "what should be considered": """
        [Gout|] and [lupus|] differ in their course and should be considered separate entities.
        [Gout|], [lupus|] and [asthma|] show overlap and must be considered independent diseases.
        [Asthma|] should be considered a chronic disease.
        [Lupus|h] should be considered.
        [Lupus|h] mimics [gout|h] and should be considered in every child.
        [Lupus|] and [gout|] mimic each other and should be considered separately.
        [Lupus|h] should be considered as a differential diagnosis.
        [Lupus|h] should be considered among the causes of [fever|].
        [Lupus|h] should be considered in children with [rash|].
    """,
    "effects and populations": """
        The trial did not show a clear benefit for walking in [gout|].
        It failed to show superiority of [aspirin|] over [heparin|].
        We did not find any effect of [smoking|] on [asthma|].
        The finding is not consistent with an infection of the gut in the [leprosy|] population.
        The score was not consistent with the [biopsy|] results in [leprosy|].
        Our rates are not consistent with earlier studies on [gout|].
        The picture was not consistent with [gout|n].
        The picture was not consistent with the tests for [gout|nh].
        Men without [fever|n] in the [gout|] group went home.
        A third of these but no patient in the placebo group developed [sepsis|n].
        No biopsy in the placebo group showed [gout|n].
        None of the men in the placebo group had [gout|n].
        There was no [fever|n] in the [gout|] cohort.
        There was no [rash|n] among children with [measles|].
        He had no [pain|n] in the [knee|n].
    """,
    "lists": """
        Exclusion criteria: (i) [gout|n]; (ii) [asthma|n]; (iii) [stroke|n].
        Exclusion criteria were as follows: 1) [gout|n]; 2) [asthma|n]; and 3) [stroke|n].
        Exclusion criteria: [gout|n]; [asthma|n]; [stroke|n].
        Her medical history included (i) [gout|p]; (ii) [asthma|p]; (iii) [stroke|p].
        We saw (i) no [gout|n]; (ii) [asthma|]; (iii) [stroke|].
        He had no [gout|n]; [asthma|] was mild.
        None of the volunteers were [smokers|n], had [asthma|n], or showed [gout|n].
        None of the men had [gout|n], reported [asthma|n] nor had undergone [surgery|n].
        None of the men had [gout|n], but [asthma|] was seen.
        None of the men had [gout|n], and the women had [asthma|].
    """,
    "chance": """
        Older cows had a higher likelihood of being [seropositive|].
        The likelihood of [gout|h] rises.
    """,
}
CASES = [line.strip() for block in SENTENCES.values() for line in block.strip().splitlines()]


@pytest.mark.parametrize("marked", CASES)
def test_labelled_sentences(marked: str) -> None:
    text, spans, wanted, last = "", [], [], 0
    for found in MARKED.finditer(marked):
        text += marked[last : found.start()]
        spans.append((len(text), len(text) + len(found[1])))
        text, last = text + found[1], found.end()
        wanted.append(found[2])
    got = [
        "".join(LETTERS[flag] for flag in FLAGS if getattr(context, f"is_{flag}"))
        for context in assign(text + marked[last:], spans)
    ]
    assert got == wanted
