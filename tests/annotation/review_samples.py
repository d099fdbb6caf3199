"""Invented review candidates of every kind, with text that tries to be markup."""

from __future__ import annotations

import json

from annotation.layouts import SHOWN
from schemas.review import Kind, ReviewCandidate, ShownItem, candidate_id

HOSTILE = (
    "<script>window.hacked=1</script><img src=x onerror='window.hacked=2'>"
    '"><svg/onload=window.hacked=3> &lt;b&gt; ${left} </div></textarea>'
)
STORY = (
    "A 54-year-old woman presented with dry cough and exertional dyspnoea for three months. "
    "Chest radiography showed bilateral hilar lymphadenopathy. High-resolution CT confirmed perilymphatic "
    "nodules in both upper lobes. Bronchoscopy with transbronchial biopsy showed non-caseating granulomas; "
    "cultures stayed negative.\n"
)
CAPTION = "Axial CT of the chest with a 12 mm nodule in the left upper lobe (arrow)."
_SOURCES = {
    "source_url": "https://pmc.ncbi.nlm.nih.gov/articles/PMC990000001/?a=1&b=2",
    "license": "CC-BY-4.0",
    "query_source_url": "https://pmc.ncbi.nlm.nih.gov/articles/PMC990000002/",
    "query_license": "CC0-1.0",
}
_NAMES = (
    "Multiple sclerosis", "Morphine sulfate", "Mitral stenosis", "Magnesium sulfate", "Marfan syndrome",
    "Metabolic syndrome", "Mass spectrometry", "Muscle strength", "Mental status",
)  # fmt: skip
LAYOUTS: tuple[tuple[Kind, str], ...] = (
    ("relevance_image", "visual_context"),
    ("relevance_image", "image_search"),
    ("relevance_image", "summary"),
    ("relevance_text", "case_study"),
    ("relevance_text", "clinical_evidence"),
    ("confusion", "concept_discrimination"),
    ("translation", "multilingual_evidence"),
    ("figure_caption", "figure_caption"),
    ("case_boundary", "case_boundary"),
    ("answer_key", "clinical_evidence_keys"),
)
"""Every layout, by kind and task."""


def concept(field: str, text: str, words: str, name: str = "") -> dict[str, object]:
    """One span of `concepts`."""
    start = text.index(words)
    curie = "HP:0012735" if name else ""
    return {"field": field, "start": start, "end": start + len(words), "id": curie, "name": name}


def candidate(kind: Kind, task: str, fields: dict[str, str], *, sensitive: bool = False) -> ReviewCandidate:
    """A candidate that shows these fields and hides things a reader would recognise."""
    unknown = set(fields) - set(SHOWN[kind])
    assert not unknown, unknown
    shown = tuple(ShownItem(name=name, value=fields[name]) for name in SHOWN[kind] if name in fields)
    return ReviewCandidate(
        id=candidate_id(kind, task, "query-hidden", "corpus-hidden", shown),
        dataset="dataset-hidden",
        task=task,
        kind=kind,
        query_id="query-hidden",
        corpus_id="corpus-hidden",
        shown=shown,
        is_sensitive=sensitive,
        origin="gold",
        rule="rule-hidden@1",
        rule_grade=2,
        rank=987654321,
        systems=("system-hidden",),
        known_grade=2,
        specialty="specialty-hidden",
        tier="tier-hidden",
    )


def fields(kind: Kind, task: str, image: str, extra: str = "") -> dict[str, str]:
    """Long fields of a layout, nearly all there are; `extra` is put into every text."""
    caption, story = CAPTION + extra, STORY * 12 + extra
    marks = json.dumps([concept("query_text", caption, "nodule", "Pulmonary nodule")])
    if kind == "confusion":
        passage = STORY * 2 + "The patient was given MS for pain, with relief within 20 minutes." + extra
        options = [{"id": f"X:{n}", "name": name + extra, "text": STORY} for n, name in enumerate(_NAMES)]
        asked = json.dumps([concept("query_text", passage, "MS")])
        sources = {name: _SOURCES[name] for name in ("query_source_url", "query_license")}
        return {"query_text": passage, "concepts": asked, "options": json.dumps(options), **sources}
    document = {name: _SOURCES[name] for name in ("source_url", "license")}
    if kind == "translation":
        translated = "لا يوجد دليل على وجود نقائل في الرئة اليسرى." + extra
        texts = {"source_text": "No evidence of metastasis in the left lung." + extra}
        return {"source_language": "en", "language": "ar", **texts, "translated_text": translated, **document}
    if kind == "figure_caption":
        return {"document_image": image, "caption_text": caption, **document}
    if kind == "case_boundary":
        around = {"text_before": STORY + extra, "text_after": STORY * 4 + extra}
        return {"document_title": "Two cases" + extra, "case_text": story, **around, **document}
    if kind == "answer_key":
        choices = [f"{letter}. {name + extra}" for letter, name in zip("ABCDE", _NAMES, strict=False)]
        texts = {"answer_key": choices[1], "explanation": STORY + extra}
        return {"query_text": story, "answer_options": "\n".join(choices), **texts}
    if task == "image_search":
        return {"language": "de", "query_text": story, "document_image": image}
    side = {"document_title": "Sarcoidosis in primary care" + extra, "document_text": story}
    if task == "case_study":
        return {"query_text": story, "reference_diagnosis": "Pulmonary sarcoidosis" + extra, **side}
    if task == "clinical_evidence":
        told = {"answer": "Biopsy of a node" + extra, "reasoning": STORY * 3 + extra}
        return {"query_text": story, **told, **side}
    if task == "summary":
        return {"query_text": story, "query_image": image, **side}
    return {"query_text": caption, "query_image": image, "concepts": marks, **side}
