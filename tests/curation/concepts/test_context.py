"""Sentences of our own with labelled mentions, by kind of rule; limits of scopes; any text is safe."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.concepts.context import Context, assign, of_heading, rules

# [mention|flags]: n negated, h hypothetical, p historical (past), f family; none of them when empty.
SENTENCES = {
    "negation forward": """
        There was no [fever|n].
        He denies [chest pain|n], [cough|n] and [dyspnea|n].
        She denied any [weight loss|n] or [night sweats|n].
        CT showed no evidence of [metastasis|n].
        The scan was without signs of [haemorrhage|n].
        The lungs were free of [consolidation|n].
        The absence of [fever|n] was noted.
        There was a lack of [appetite loss|n].
        He never had [seizures|n].
        He had neither [fever|n] nor [rash|n].
        The urine was negative for [glucosuria|n].
        She did not have [headache|n], [vomiting|n] or [neck stiffness|n].
        The child did not develop [hearing loss|n].
        Biopsy failed to show [lymphoma|n].
        It was [gout|] rather than [septic arthritis|n].
        MRI ruled out [stroke|n].
        The findings are inconsistent with [sarcoidosis|n].
        The patient is no longer experiencing [vertigo|n].
        None of them had [jaundice|n].
        He is not [cyanotic|n].
        No findings suggestive of [tuberculosis|n] were seen.
        There were no signs indicating [sepsis|n].
        The scan did not show any lesions consistent with [metastases|n].
        There was no fever, consistent with [viral infection|].
        There is no further drug for patients with [asthma|].
        She cannot have [malaria|n].
        The findings argued against [tuberculosis|n].
        It was not due to [infection|n].
        Reflexes were normal with no [clonus|n].
        No patient presented episodes of [tachycardia|n].
        No child developed [rickets|n].
        After excluding [tuberculosis|n], the diagnosis of [sarcoidosis|] was made.
        Having excluded [obstruction|n], and given the [casts|] seen, [nephropathy|] was diagnosed.
        Tests excluded [lupus|n], and [sarcoidosis|] was diagnosed.
        Tests excluded [lupus|n], [gout|n], and [sarcoidosis|n] was left open.
        A woman without a significant past medical history was diagnosed with [acute pancreatitis|].
        There wasn't any [fever|n]; she didn't have [cough|n].
        Family history was negative for [liver disease|n] and [kidney disease|n].
        The drug did not relieve her [pain|].
        Children with [asthma|] were excluded from the study.
    """,
    "negation backward": """
        [Pulmonary embolism|n] was ruled out.
        [Tuberculosis|n] was subsequently excluded.
        [Fever|n], [cough|n] and [rash|n] were absent.
        Headache is unusual, but [dissection|n] and [vasculitis|n] were excluded by CT.
        [Hepatosplenomegaly|n] was not found.
        [Lymphadenopathy|n] was not clinically apparent.
        [Malignancy|n] is unlikely.
        [Syphilis|n] has been ruled out by serology.
        [Hepatitis B|n] and [hepatitis C|n] were negative.
        [Papilloedema|n] was never observed.
        [Ascites|n] did not occur.
        [Edema|n]: none.
        [Meningitis|n] was considered unlikely.
    """,
    "negation ends": """
        No [fever|n] but [cough|] was present.
        He had no [fever|n]; [cough|] was present.
        There was no [fever|n], however, he had [cough|].
        She was well without [fever|n], she had a [rash|].
        No [bleeding|n] except [epistaxis|] was seen.
        There was no [fever|n], and CT showed [pneumonia|].
        There was no [fever|n] and he had [cough|].
        No [pain|n] because of [neuropathy|].
        A man with no [fever|n] presented with [syncope|].
        No [deaths|n] were seen in patients with [asthma|].
        [Seizures|] (no [fever|n]) and [ataxia|] followed.
        He has no [pain|n]. He has [nausea|].
        Adults without [dementia|n] were at increased [mortality|] over time.
        Despite the absence of [fever|n], [sepsis|] was diagnosed.
        CT showed [pneumonia|], and [embolism|n] was ruled out.
        [Cough|] was present, but [fever|n] was absent.
        The patient had no [rash|n], although [itching|] was severe.
        There was no [jaundice|n] while [vomiting|] continued.
        He was afebrile with [rigors|] and without [meningism|n].
        No [metastases|n] were found, which excluded [cancer spread|n].
        Vomiting stopped without [dehydration|n], and the patient developed [diarrhea|].
        Apart from [obesity|] there was no [comorbidity|n].
        Adults without [asthma|n] treated for [pneumonia|] recovered.
        Men without [gout|n] (mean age 50 y) diagnosed with [psoriasis|] took part.
        Women free of [anemia|n] undergoing [hysterectomy|] were asked.
        He left the ward without [seizures|n] accompanied by [vomiting|n].
        Rather than [infection|n], these signs reflect a [lymphoma|].
        Instead of [surgery|n], [radiotherapy|] cured the [melanoma|].
        Without [treatment|n], the [tumour|] spreads.
        Without [fever|n], [cough|n] or [rash|n], he went home.
        In the absence of [fever|n], [cough|n], and [rash|n], [tuberculosis|] remains likely.
        [Mortality|] fell in those without [diabetes|n], particularly from [breast cancer|].
        Patients without [diabetes|n], [gout|n], or [asthma|n] took part.
    """,
    "negation pseudo": """
        There was no increase in [pain|].
        No significant change in [edema|] was seen.
        He had not only [fever|] and [cough|].
        There was no difference in [mortality|] between groups.
        No association between smoking and [asthma|] was found.
        Age was not associated with [delirium|].
        Not all patients had [fever|].
        [Fever|] is not uncommon.
        [Infection|] is not always present.
        The cause of [anemia|] is not known.
        Patients with or without [diabetes|] took part.
        The [seizures|] did not respond to treatment.
        [Encephalitis|] has not been reported before.
        There was no improvement in [ataxia|].
        Absence seizures and [ataxia|] were seen.
        Gram-negative [sepsis|] was treated.
        The false negative rate for [cancer|] was high.
        Negative symptoms of [schizophrenia|] were severe.
        There is no cure for [dementia|].
        [Tumour spread|] is unlikely to explain it.
        Biopsy is useful in ruling out other causes of [diarrhea|].
        He left with no improvement, even severer [pain|].
        No doubt [malaria|] is common.
        The drug did not reduce [pain|].
        The [cough|] had not resolved.
        Triple-negative [breast cancer|] was treated.
        Bone loss was measured in women with and without [gout|].
        Doses for children with or without [asthma|] differ.
        The absence of evaluation of [arrhythmia|] is a limit.
        He decided without knowledge of the [fracture|].
        The drug acts without altering the [pulse|].
        She did not mention the [falls|].
        No treatment for [albinism|] exists.
    """,
    "hypothetical": """
        The differential diagnosis included: [herpes|h], [syphilis|h] and [rubella|h].
        Differentials: [mumps|h], [measles|h].
        We suspected that the child had [sepsis|h].
        Return if [fever|h] recurs.
        If [seizures|h] occur, give diazepam.
        Should [vomiting|h] occur, call us.
        In case of [bleeding|h], stop the drug.
        CT was done to rule out [stroke|h].
        A biopsy was taken to exclude [cancer|h].
        She is at risk of [thrombosis|h].
        Obesity is a risk factor for [diabetes|h].
        [Dementia|h] risk was lower.
        He was admitted with suspected [sepsis|h].
        Possible [pneumonia|h] was seen.
        [Lymphoma|h] cannot be excluded.
        [Lymphoma|h] could not be ruled out.
        [Tuberculosis|h] was suspected.
        There was a high risk of [relapse|h] and [death|h].
        The drug gave no increased risk of [asthma|h].
        It is possible that [gout|h] remits.
        Women were screened for [anemia|h].
        Screening for [colorectal cancer|h] began.
        Heparin was given to prevent [embolism|h].
        The vaccine against [measles|h] was given.
        There was concern for [meningitis|h].
        There is a possibility of [relapse|h].
        The differential diagnosis included [gout|h] and [sepsis|h].
        [Sarcoidosis|h] should be considered.
        It is unknown whether [fever|h] persists.
        [Abscess|h] must be ruled out.
        A high index of suspicion for [malaria|h] is needed.
        The tumour mimics [appendicitis|h].
        She was initially diagnosed with [asthma|h].
        It was originally presumed to be a [chordoma|h].
        Presumed [sepsis|h] was treated.
        The cyst with its daughter vesicles was a sign of [echinococcosis|].
        We looked for [relapse|] and tested for [HIV infection|h].
    """,
    "hypothetical ends and pseudo": """
        [Stroke|h] was suspected, but [migraine|] was diagnosed.
        The risk of [stroke|h] was higher in patients with [diabetes|].
        Suspected [sepsis|h] was confirmed as [malaria|].
        Signs suspicious of [lung cancer|h] ([weight loss|], new [cough|]) were seen.
        There was a risk of [pulmonary embolism|h] ([PE|h]).
        Even if [pain|] is mild, treat it.
        The diagnosis is probable [Alzheimer disease|].
        The picture was consistent with [pneumonia|].
        The study had a low risk of bias and [pain|] was measured.
        [Anemia|] may cause [fatigue|].
        It was possible to treat the [fracture|].
        [Sepsis|] was treated as soon as possible.
        Possible [pneumonia|h] in a child with [fever|].
        [Fever|] and [rash|] were seen if any.
        Risk factors for [stroke|h]: [diabetes|] and [gout|].
        Possible risk factors include [diabetes|].
        The risk of [death|h] was greater than in [influenza|].
    """,
    "historical": """
        After resolution of the [fever|p] she went home.
        He had a history of [stroke|p].
        Past medical history included [asthma|p] and [gout|p].
        Her medical history was significant for [hypertension|p].
        Previous [myocardial infarction|p] was noted.
        He had a prior [fracture|p] of the hip.
        She had [measles|p] in childhood.
        He had [hepatitis|p] 10 years ago.
        Five years earlier, he had a [seizure|p].
        He is status post [stroke|p].
        S/p [fracture|p] of the femur.
        She was previously diagnosed with [lupus|p].
        A woman with a history of [depression|p] presented with [syncope|].
        Survivors of [stroke|p] were asked.
        There was no history of [trauma|np].
        He denied any history of [asthma|np].
        As a child, he had [rickets|p].
        An old [infarct|p] was seen.
        He had [seizures|p] in the past.
        Several years ago she had [thyroiditis|p].
        Medical history: [gout|p], [psoriasis|p].
        Two years previously, [melanoma|p] was removed.
        She had recovered from [pneumonia|p].
        She had [pneumonia|p] a year ago but now has [asthma|].
    """,
    "historical pseudo": """
        She had a 2 mo history of [cough|] and a 3-d history of [pain|].
        History of present illness: [fever|] and [cough|].
        The natural history of [hepatitis|] is variable.
        He had a 3-day history of [fever|].
        A two-week history of [cough|] was given.
        A 5-year history of [tremor|] was reported.
        A long history of [pain|] was told.
        The previously healthy girl had [fever|].
        Previous studies of [asthma|] were small.
        [Encephalitis|] was previously reported.
        Prior to surgery, [pain|] was severe.
        Three days ago [fever|] began.
        [Meningitis|] has changed in the past decades.
        On history taking, [pain|] was the complaint.
        Social history was unremarkable and [cough|] went on.
        As previously described, [ataxia|] is common.
        Previously activated [lymphocytes|] were counted.
        A previously resected [melanoma|p] was seen.
    """,
    "family": """
        His mother had [diabetes|f].
        The patient's father died of [lung cancer|f].
        There was a family history of [breast cancer|f].
        There was no family history of [epilepsy|nf].
        Negative family history for [cancer|nf].
        Family history: [gout|f].
        A maternal aunt had [schizophrenia|f].
        Her older sister was diagnosed with [lupus|f].
        [Hypertension|f] in his father was known.
        [Ataxia|f] runs in the family.
        Her grandmother and uncle had [glaucoma|f].
        Both parents had [hypertension|f].
        His two siblings had [deafness|f].
        Parents were told of [deafness|].
        Two siblings with [deafness|] were our patients.
        Her mother had [asthma|f], and the patient had [eczema|].
        His father had [gout|f] but he had [psoriasis|].
        Family history of [goiter|f] was associated with [goiter|].
        The mother reported [fever|] and [cough|].
        According to his mother, [seizures|] began at night.
        He was brought by his mother with [vomiting|].
        Sister chromatid exchange and [anemia|] were seen.
        Mother-to-child transmission of [HIV infection|] occurred.
        Mother cells and [edema|] were seen.
        Her mother noticed [jaundice|] on day three.
        The parent compound inhibits [serotonin uptake|].
        A parent with [epilepsy|f] was asked.
        [Migraine|f] in a parent was common.
    """,
    "no context": """
        He had [fever|], [cough|] and [dyspnea|].
        The patient presented with [syncope|].
        [Absent speech|] and [ataxia|] were seen.
        Mutations cause [ataxia|] and [deafness|].
        No-reflow and [infarction|] were seen.
        A nodule of the [thyroid|] was noted.
    """,
}
OTHERS = {
    "es": """
        El paciente niega [fiebre|n] y [tos|n].
        No presentó [fiebre|n], pero sí [tos|].
        Sin [edema|n] ni [ictericia|n].
        La [tuberculosis|n] fue descartada.
        Antecedentes familiares de [diabetes|f].
        Tiene antecedentes de [asma|p].
        No solo [fiebre|] sino también [tos|].
        Hay riesgo de [trombosis|h].
    """,
    "pt": """
        O paciente nega [febre|n] e [tosse|n].
        Não apresentou [febre|n], mas teve [tosse|].
        Ausência de [edema|n].
        A [tuberculose|n] foi descartada.
        História familiar de [diabetes|f].
        Não apenas [febre|] foi vista.
        Há risco de [trombose|h].
    """,
    "fr": """
        Pas de [fièvre|n] ni de [toux|n].
        Il n’y avait pas d’[ictère|n].
        Sans [fièvre|n] mais avec une [toux|].
        La [tuberculose|n] a été exclue.
        Antécédents familiaux de [diabète|f].
        Il existe un risque d'[embolie|h].
    """,
    "de": """
        Kein [Fieber|n], aber [Husten|].
        Der Patient war ohne [Ikterus|n].
        [Tuberkulose|n] wurde ausgeschlossen.
        Verdacht auf [Sepsis|h].
        Nicht nur [Fieber|] trat auf.
        Zustand nach [Herzinfarkt|p].
    """,
    "ja": """
        [発熱|n]はなかった。
        [咳嗽|]があり、[発熱|n]を認めなかった。
        [肺炎|h]の疑い。
    """,
    "zh": """
        患者无[发热|n]、[咳嗽|n]，有[头痛|]。
        否认[高血压|n]。
        不能排除[肺炎|h]。
        其母有[糖尿病|f]。
    """,
}
CASES = [("en", line.strip()) for block in SENTENCES.values() for line in block.strip().splitlines()]
CASES += [(code, line.strip()) for code, block in OTHERS.items() for line in block.strip().splitlines()]
_MARK = re.compile(r"\[([^\]|]+)\|([nhpf]*)\]")


def parsed(marked: str) -> tuple[str, list[tuple[int, int]], list[str]]:
    """Text, spans and flags of a marked sentence."""
    spans, flags, text, done = [], [], "", 0
    for found in _MARK.finditer(marked):
        text += marked[done : found.start()]
        spans.append((len(text), len(text) + len(found[1])))
        flags.append(found[2])
        text, done = text + found[1], found.end()
    return text + marked[done:], spans, flags


def letters(context: Context) -> str:
    flags = zip(
        "nhpf",
        (context.is_negated, context.is_hypothetical, context.is_historical, context.is_family),
        strict=True,
    )
    return "".join(letter for letter, is_set in flags if is_set)


def test_there_are_sentences_for_every_kind() -> None:
    assert sum(language == "en" for language, _ in CASES) >= 150
    assert len(CASES) == len(set(CASES))


@pytest.mark.parametrize(("language", "marked"), CASES)
def test_labelled_sentences(language: str, marked: str) -> None:
    text, spans, flags = parsed(marked)
    assert spans
    assert [letters(context) for context in assign(text, spans, language)] == flags


@pytest.mark.parametrize(("language", "marked"), CASES)
def test_a_sentence_reads_the_same_among_others(language: str, marked: str) -> None:
    text, spans, flags = parsed(marked)
    before = "这里有头痛。" if language in ("ja", "zh") else "Xyz qrs. "
    moved = [(start + len(before), end + len(before)) for start, end in spans]
    found = assign(f"{before}{text} Xyz no abc if.", moved, language)
    assert [letters(context) for context in found] == flags


@pytest.mark.parametrize(
    ("heading", "language", "flags"),
    [
        ("PAST MEDICAL HISTORY", "en", "p"),
        ("Past history:", "en", "p"),
        ("Family history", "en", "f"),
        ("Antecedentes personales", "es", "p"),
        ("History of present illness", "en", ""),
        ("A brief history of dengue", "en", ""),
        ("Mother and child", "en", ""),
        ("Differential diagnosis", "en", ""),
        ("Past medical history of the patients and how they were followed in both of the groups", "en", ""),
    ],
)
def test_headings_of_the_past_and_of_relatives(heading: str, language: str, flags: str) -> None:
    found = of_heading(heading, language)
    assert ("" if found is None else letters(found)) == flags


def test_a_language_without_rules_sets_no_flag() -> None:
    assert rules("ko") is None
    assert assign("no fever", [(3, 8)], "ko") == [Context()]


def test_regional_languages_take_the_rules_of_their_language() -> None:
    assert assign("No fever.", [(3, 8)], "en-GB") == [Context(is_negated=True)]


def test_spans_may_come_in_any_order_and_nested() -> None:
    text = "Breast cancer but no lung cancer."
    spans = [(21, 32), (0, 13), (26, 32), (7, 13)]
    assert [letters(context) for context in assign(text, spans)] == ["n", "", "n", ""]
    assert assign(text, []) == []


def test_a_trigger_inside_a_name_is_none() -> None:
    text = "Absence of the corpus callosum and ataxia"
    assert assign(text, [(0, 30), (35, 41)]) == [Context(), Context()]


def test_capitals_double_spaces_hyphens_and_curly_apostrophes_are_read() -> None:
    text = "NO  EVIDENCE\nOF fever. A 3‑day history of cough. The patient’s mother had gout."
    spans = [(text.index(word), text.index(word) + len(word)) for word in ("fever", "cough", "gout")]
    assert [letters(context) for context in assign(text, spans)] == ["n", "", "f"]


PIECES = [
    *(
        "no",
        "fever",
        "but",
        "was",
        "ruled out",
        "history of",
        "3 days ago",
        "İ",
        "not",
        "his mother",
        "if",
        "and",
    ),
    *("was subsequently", "showed", "had", "12", "\n", "  ", "-", "’s", ",", ".", ";", ":", "(", ")", "?"),
]


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("x was  therefore\nexcluded", "n"),
        ("x was later also excluded", "n"),
        ("her two older sisters had x", "f"),
        ("her first-degree relatives had x", "f"),
        ("his three first‑degree relatives had x", "f"),
        ("the patient’s late father had x", "f"),
        ("several   years ago had x", "p"),
        ("A 2.5-year-long x", ""),
        ("a 3- to 4-day history of x", ""),
        ("s/p x", "p"),
        ("r/o x", "h"),
        ("no statistically significant change in x", ""),
        ("no clear evidence of x", "n"),
    ],
)
def test_numbers_and_fillers_in_phrases(text: str, flag: str) -> None:
    at = text.index("x") if "ex" not in text else text.index("x ")
    assert letters(assign(text, [(at, at + 1)])[0]) == flag


@given(
    st.lists(
        st.sampled_from(PIECES),
        max_size=30,
    ),
    st.sampled_from(["en", "es", "pt", "fr", "de", "ja", "zh", "ko"]),
)
def test_any_text_gets_one_context_for_each_span(words: list[str], language: str) -> None:
    text = " ".join(words)
    spans = [found.span() for found in re.finditer("fever", text)]
    assert len(assign(text, spans, language)) == len(spans)


@pytest.mark.parametrize(
    "piece", ["no ", "no fever, ", "(no ", "was ", "history of ", "a", "no (", "12 ", "3 years ", ", ", " "]
)
def test_long_sentences_take_linear_time(piece: str) -> None:
    assign("no fever", [(3, 8)])

    def seconds(size: int) -> float:
        text = (piece * size)[:size]
        started = time.process_time()
        assign(text, [(at, at + 1) for at in range(0, size, 10)])
        return time.process_time() - started

    small = seconds(10_000)
    assert any(seconds(80_000) < 8 * small * 4 + 0.5 for _ in range(3))  # the collector may run in one
