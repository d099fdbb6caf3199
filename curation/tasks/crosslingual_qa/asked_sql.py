"""Which concepts can be asked about, of all shards: those of which some passage answers a facet."""

from __future__ import annotations

from curation.tasks.crosslingual_qa.passages import NAME
from curation.tasks.crosslingual_qa.records import AskedConcept, ConceptPassage, FacetAnswer
from curation.tasks.shared.merge_sql import DOCUMENTS, DROPPED_DOCUMENTS, KEPT
from schemas.benchmark import Document
from schemas.stages import Drop, SetAccount, SetStage, Sql

_ANSWERS = f"""
    WITH {KEPT}
    SELECT a.* REPLACE (k.kept AS corpus_id) FROM all_answers AS a JOIN kept AS k ON k.id = a.corpus_id
    QUALIFY row_number() OVER (PARTITION BY k.kept, concept, facet ORDER BY a.corpus_id) = 1
"""
_NAMED = f"""
    WITH {KEPT}
    SELECT n.* REPLACE (k.kept AS corpus_id) FROM all_named AS n JOIN kept AS k ON k.id = n.corpus_id
    QUALIFY row_number() OVER (PARTITION BY k.kept, concept ORDER BY how, n.corpus_id) = 1
"""
"""Of equal passages of different subjects the one that is about the concept counts: 'about' sorts first."""
_CONCEPTS = """
    SELECT a.concept, min(d.article_id) AS article_id, list_sort(list_distinct(list(a.facet))) AS facets,
        bool_or(d.is_synthetic) AS is_synthetic
    FROM answers AS a JOIN documents AS d ON d.id = a.corpus_id GROUP BY a.concept
"""
ASKED = SetStage(
    name=f"{NAME}_asked",
    version=1,
    inputs={
        "all_documents": (f"{NAME}.documents", Document),
        "all_answers": (f"{NAME}.answers", FacetAnswer),
        "all_named": (f"{NAME}.named", ConceptPassage),
    },
    outputs={
        "documents": Sql(DOCUMENTS, Document, ("id",)),
        "answers": Sql(_ANSWERS, FacetAnswer, ("corpus_id", "concept", "facet")),
        "named": Sql(_NAMED, ConceptPassage, ("corpus_id", "concept")),
        "concepts": Sql(_CONCEPTS, AskedConcept, ("concept",)),
        "drops": Sql(f"WITH {KEPT} {DROPPED_DOCUMENTS}", Drop, ("unit", "id")),
    },
    accounts=(SetAccount("document", "all_documents", "id", "documents", "id"),),
)
