"""Which concepts can be asked about, of all shards: those of which some passage or abstract answers a facet.

An abstract is a document where a record with headings has a name of its article; of another nobody can say
what it is about.
"""

from __future__ import annotations

from curation.tasks.crosslingual_qa.abstracts import ABSTRACTS
from curation.tasks.crosslingual_qa.passages import NAME
from curation.tasks.crosslingual_qa.records import (
    AskedConcept,
    ConceptPassage,
    FacetAnswer,
    IndexedAbstract,
    IndexedConcept,
    SearchedText,
)
from curation.tasks.crosslingual_qa.settings import OwnReason
from curation.tasks.shared.merge_sql import DROPPED_DOCUMENTS, KEPT
from schemas.benchmark import Document
from schemas.stages import Drop, SetAccount, SetStage, Sql

BY_QUALIFIER = f"{NAME}/mesh-qualifier@1"
_INDEXED = """
    indexed AS (
        SELECT f.corpus_id, i.concept, min(i.how) AS how,
            list_sort(list_distinct(flatten(list(i.facets)))) AS facets,
            list_sort(list_distinct(list_concat(any_value(f.touches), flatten(list(i.minor))))) AS touches,
            any_value(f.evidence) AS evidence
        FROM (SELECT *, unnest(names) AS name FROM facts) AS f
        JOIN (SELECT *, unnest(names) AS name FROM all_indexed) AS i ON i.name = f.name
        GROUP BY f.corpus_id, i.concept),
    all_documents AS (
        FROM all_passages UNION ALL
        SELECT a.* FROM all_abstracts AS a SEMI JOIN indexed AS i ON i.corpus_id = a.id)"""
"""Abstracts with what their headings say; every document."""
_DOCUMENTS = f"""
    WITH {_INDEXED}, {KEPT}
    SELECT d.* FROM all_documents AS d JOIN kept AS k ON d.id = k.id AND d.id = k.kept
"""
_ANSWERS = f"""
    WITH {_INDEXED}, {KEPT},
    every AS (
        FROM all_answers UNION ALL BY NAME
        SELECT corpus_id, concept, unnest(facets) AS facet, '{BY_QUALIFIER}' AS rule, evidence FROM indexed)
    SELECT a.* REPLACE (k.kept AS corpus_id) FROM every AS a JOIN kept AS k ON k.id = a.corpus_id
    QUALIFY row_number() OVER (PARTITION BY k.kept, concept, facet ORDER BY a.corpus_id) = 1
"""
_NAMED = f"""
    WITH {_INDEXED}, {KEPT},
    every AS (
        FROM all_named UNION ALL BY NAME SELECT corpus_id, concept, how, touches FROM indexed
        UNION ALL BY NAME
        SELECT n.* REPLACE (f.touches AS touches) FROM named_in_abstracts AS n
        JOIN facts AS f ON f.corpus_id = n.corpus_id
        ANTI JOIN indexed AS i ON i.corpus_id = n.corpus_id AND i.concept = n.concept)
    SELECT n.* REPLACE (k.kept AS corpus_id) FROM every AS n JOIN kept AS k ON k.id = n.corpus_id
    QUALIFY row_number() OVER (PARTITION BY k.kept, concept ORDER BY how, n.corpus_id) = 1
"""
"""Of equal passages of different subjects the one that is about the concept counts: 'about' sorts first."""
_DROPS = f"""
    WITH {_INDEXED}, {KEPT} {DROPPED_DOCUMENTS}
    UNION ALL
    SELECT 'document', a.id, a.article_id, '{OwnReason.NOT_INDEXED}', '' FROM all_abstracts AS a
    ANTI JOIN indexed AS i ON i.corpus_id = a.id
"""
_CONCEPTS = """
    SELECT a.concept, min(d.article_id) AS article_id, list_sort(list_distinct(list(a.facet))) AS facets,
        bool_or(d.is_synthetic) AS is_synthetic
    FROM answers AS a JOIN documents AS d ON d.id = a.corpus_id GROUP BY a.concept
"""
ASKED = SetStage(
    name=f"{NAME}_asked",
    version=2,
    inputs={
        "all_passages": (f"{NAME}.documents", Document),
        "all_answers": (f"{NAME}.answers", FacetAnswer),
        "all_named": (f"{NAME}.named", ConceptPassage),
        "all_abstracts": (f"{ABSTRACTS.name}.documents", Document),
        "facts": (f"{ABSTRACTS.name}.facts", IndexedAbstract),
        "all_indexed": (f"{ABSTRACTS.name}.indexed", IndexedConcept),
        "named_in_abstracts": (f"{ABSTRACTS.name}.named", ConceptPassage),
    },
    outputs={
        "texts": Sql(
            "SELECT id FROM all_passages UNION ALL SELECT id FROM all_abstracts", SearchedText, ("id",)
        ),
        "documents": Sql(_DOCUMENTS, Document, ("id",)),
        "answers": Sql(_ANSWERS, FacetAnswer, ("corpus_id", "concept", "facet")),
        "named": Sql(_NAMED, ConceptPassage, ("corpus_id", "concept")),
        "concepts": Sql(_CONCEPTS, AskedConcept, ("concept",)),
        "drops": Sql(_DROPS, Drop, ("unit", "id")),
    },
    accounts=(SetAccount("document", "texts", "id", "documents", "id"),),
    reasons=frozenset({OwnReason.NOT_INDEXED}),
)
