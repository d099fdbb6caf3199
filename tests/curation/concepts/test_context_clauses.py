"""Lists as subjects, new noun phrases and clauses, laboratory wording, likeness: sentences of our own."""

from __future__ import annotations

import re

import pytest

from curation.concepts.context import assign
from curation.concepts.context_rules import FLAGS

# [mention|flags]: n negated, h hypothetical, p historical (past), f family; none of them when empty.
SENTENCES = {
    "laboratory wording": """
        The donor was sero-negative for [syphilis|n], [Chagas disease|n], and [hepatitis E virus|n].
        She was seronegative for [rubella|n] and [measles|n].
        [Syphilis|n] and [hepatitis C|n] serologies were both non-reactive.
        [Brucella|n], [Bartonella|n] and [Q fever|n] antibodies were all nonreactive.
        [Lead|n] and [methanol|n] were undetected.
        [Dengue|n] RNA was undetectable.
        The rapid [malaria|n] tests showed negative.
        Stains for [amyloid|n] were negative.
        Tests for [lupus|h] were unremarkable.
        Cultures for [tuberculosis|n] came back negative.
        Immunostaining showed negative results for [melanoma|n].
    """,
    "rejected, and learner English": """
        The diagnosis of [leprosy|n] could not be supported.
        A diagnosis of [gout|n] cannot be supported in this man.
        The normal lactate eliminates the diagnosis of [mesenteric ischemia|n].
        The biopsy eliminated the possibility of [vasculitis|n].
        The scan did not found any [abscess|n].
        We did not detected [parasites|n] or [fungi|n].
        She does not has [asthma|n].
    """,
    "lists that are ruled out": """
        It pointed to lupus because [syphilis|n], [leprosy|n], and [scabies|n] were all excluded.
        We favour [gout|] since [cellulitis|n], [septic arthritis|n] and [trauma|n] were excluded.
        CT showed a [mass|], and [infection|n], [stroke|n], and [haemorrhage|n] were ruled out.
        CT showed a [mass|], and [infection|n] was ruled out.
        CT showed [ascites|] and [cirrhosis|n] was excluded.
    """,
    "doubt": """
        He was suspected to have [leprosy|h].
        She was initially suspected to have [dengue|h].
        The child was suspected of having [meningitis|h].
        He received steroids for a probable diagnosis of [myasthenia gravis|h].
        The lesion was suggestive of [sarcoma|h] or [lymphoma|h].
        The picture was consistent with [lupus|].
        The findings were compatible with acute or chronic [pancreatitis|].
    """,
    "likeness": """
        The mass closely resembled [lipoma|h].
        The plaques, closely resembling [psoriasis|h], were on the knees.
    """,
    "relatives": """
        The elder brother had [epilepsy|f], [deafness|f] and [ataxia|f].
        His elder brother had [rickets|f], [short stature|f], and [hypotonia|f].
        An elder brother had [rickets|f] and [goitre|f].
        There was no family history of [cardiac|nf], [renal|nf], or [skin diseases|nf].
        No family history of [cardiac|nf], [renal|nf], or [skin diseases|nf] was reported.
        No family history of [gout|nf], [asthma|nf] or [eczema|nf] was noted.
        The girl, who had two relatives with [gout|f], complained of [joint pain|].
        A man, whose brother had [epilepsy|f], had [seizures|].
        A boy, who had three family members with [goitre|f], suffered from [fatigue|].
        He had an aunt with a [goitre|f] which came with [hoarseness|f].
    """,
    "lists, and where they end": """
        No [fever|n], [cough|n], or [rash|n] was noted.
        We saw a man without any lesions of the [skin|n] and a girl with [leprosy|].
        There was no [oedema|n] and a small [goitre|] was felt.
        There was no [oedema|n], and a small [goitre|] was felt.
        There was no [ascites|n] and an enlarged [spleen|].
        He had no [mass|n] or a [cyst|n].
        She came without a [fever|n] and a [cough|n].
        No [vomiting|n] occurred, and her [headache|] subsided.
        No [bleeding|n] recurred, and the [anaemia|] resolved.
        No [relapse|n] occurred and his [rash|] faded.
        There was no [fever|n], and the [cough|] persisted.
        She denied [fever|n], [cough|n], and [chills|n].
        No [thrombus|n] was seen on [echocardiography|].
        The girls were treated between an acute and a chronic [hepatitis|].
        There was no difference between a mild and a severe [dengue|].
    """,
    "what a denied thing would suggest": """
        There were no granulations suggesting [tuberculosis|n].
        No nodules suggestive of [metastasis|n] were seen.
        There was no rash consistent with [measles|n].
        Biopsy showed no granuloma, indicating [lymphoma|].
        No mass was found, consistent with [atrophy|].
        She had no rash but [measles|] was confirmed by serology.
    """,
    "a missing space behind a full stop": """
        He had no [fever|n].The liver was enlarged and [jaundice|] was seen.
        She improved.No [edema|n] was noted.
        There was no swelling.[Arthritis|] of the knee had developed.
    """,
    "what it was treated as": """
        She was treated as [urinary tract infection|h] but did not improve.
        He was managed as a case of [pneumonia|h] at a local clinic.
        She was treated as an outpatient for [cellulitis|].
        It is usually treated as a single [tissue|].
        The initial impression was [cellulitis|h].
    """,
    "neither denied nor left open": """
        No one knew of the swallowed [coin|].
        Nobody was aware of the [burn|].
        No one was aware of the [needle|].
        His parents were not aware of the [coin|f].
        To exclude other causes of [jaundice|], a [liver biopsy|] was taken.
        During tests to exclude other causes of [anaemia|], a small [polyp|] and an [ulcer|] were seen.
        To rule out [fracture|h], a [cast|] was removed and films were taken.
        During the work-up to exclude [stroke|h], a [meningioma|] and mild [oedema|] were noted.
        She had two positive tests for [cryptococcal antigen|].
        A positive test for [malaria|] was obtained.
        Her medical history included being [obese|p], current [drinking|] and use of [opioids|].
        A girl with history of [vomiting|] since 2 years of age came to us.
    """,
    "what is examined or done is not denied": """
        No abnormalities in [ultrasound|] and [endoscopy|] were seen.
        There were no abnormalities at [physical examination|].
        He had no complications from the [surgery|].
        No abnormality was found in the [CT|] or [MRI|].
        No abnormalities were found on [chest X-ray|] and [ultrasound|].
        No complications arose during [anaesthesia|].
        No complications of [diabetes|] were seen.
        There were no [abnormal findings|n] in the [colonoscopy|] and the [biopsy|].
        She had no [complications|n] during [pregnancy|].
        No pathological findings on [endoscopy|] or [biopsy|] were reported.
    """,
}
CASES = [line.strip() for block in SENTENCES.values() for line in block.strip().splitlines()]
LETTERS = {"negated": "n", "hypothetical": "h", "historical": "p", "family": "f"}
MARKED = re.compile(r"\[([^|\]]*)\|([nhpf]*)\]")


@pytest.mark.parametrize("marked", CASES)
@pytest.mark.parametrize("around", ["{}", "He had gout. {} No cough was heard."])
def test_labelled_sentences(marked: str, around: str) -> None:
    text, spans, wanted, last = "", [], [], 0
    whole = around.format(marked)
    for found in MARKED.finditer(whole):
        text += whole[last : found.start()]
        spans.append((len(text), len(text) + len(found[1])))
        text, last = text + found[1], found.end()
        wanted.append(found[2])
    got = [
        "".join(LETTERS[flag] for flag in FLAGS if getattr(context, f"is_{flag}"))
        for context in assign(text + whole[last:], spans)
    ]
    assert got == wanted
