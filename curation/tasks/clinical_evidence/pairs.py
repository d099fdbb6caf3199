"""Which passages may not be evidence for a vignette, whatever a judge would say of them."""

from __future__ import annotations

from curation.tasks.clinical_evidence.patient import same_patient
from curation.tasks.clinical_evidence.records import Vignette
from schemas.benchmark import Document
from schemas.ids import family_key

OWN_ARTICLE, SAME_PATIENT = "own_article", "same_patient"
"""Exclusion codes of schemas.grades."""


def why_excluded(vignette: Vignette, document: Document) -> str:
    """The exclusion code of a pair that tells the vignette's own story, '' when it may be judged.

    A passage of the article the vignette was made of, in whatever version or repository, of its patient, or
    one that tells the same patient again elsewhere, is no evidence: it holds the answer because it is the
    same case.
    """
    if vignette.origin == "case" and family_key(document.article_id) == family_key(vignette.article_id):
        return OWN_ARTICLE
    is_own = bool(vignette.patient_id) and document.patient_id == vignette.patient_id
    return SAME_PATIENT if is_own or same_patient(vignette.text, document.text) else ""
