"""SQL that lifts labels from passages to the sections or articles they stand in.

A grade is the highest of the passages; a 0 holds where every passage was judged 0. Without a positive, one
excluded passage excludes the pair, for the reason that says most. Passages of equal text in several articles
share their labels, so each document that holds one of them has them too. A task whose documents are passages
has no parts: the labels of its passages are then those of its documents.
"""

from __future__ import annotations

from curation.tasks.shared.merge_sql import EXCLUDED, QRELS, kept_of_equal
from schemas.benchmark import Excluded, Part, PassageLabel, Qrel
from schemas.stages import Sql

ARE_PASSAGES = "NOT EXISTS (SELECT 1 FROM all_parts)"
"""Condition: the documents are passages."""
PAIR = ("query_id", "corpus_id")
ALL_DOCUMENTS = f"""all_documents AS (SELECT * FROM larger_documents
        UNION ALL SELECT * FROM passage_documents WHERE {ARE_PASSAGES})"""
"""For WITH: the documents of every article, before equal ones become one."""
_PASSAGES = "all_documents AS (SELECT * FROM passage_documents)"
_HELD = """held AS (
        SELECT corpus_id, part_id, coalesce(nullif(same_as, ''), part_id) AS passage_id, source_start
        FROM document_parts WHERE kind = 'passage' AND left_out = '')"""
"""What stands in documents, by the passage whose labels hold for it."""
_SHIFTED = """list_transform(r.evidence, lambda e: if(e.text_id = h.part_id,
        struct_update(e, text_id := h.corpus_id, "start" := e."start" + h.source_start,
            "end" := e."end" + h.source_start), e))"""
"""Evidence in the document's own source text; of a passage that only equals it, it stays where it is."""
_LIFTED_QRELS = f"""
    WITH {_HELD},
    graded AS (
        SELECT r.query_id, h.corpus_id, r.score, r.task, r.rule, r.label_status, r.via, h.source_start,
            {_SHIFTED} AS evidence,
            max(r.score) OVER (PARTITION BY r.query_id, h.corpus_id) AS highest,
            count(*) OVER (PARTITION BY r.query_id, h.corpus_id) AS judged
        FROM passage_qrels AS r JOIN held AS h ON h.passage_id = r.corpus_id),
    sizes AS (SELECT corpus_id, count(*) AS passages FROM held GROUP BY corpus_id)
    SELECT g.query_id, g.corpus_id, g.score, any_value(g.task) AS task, min(g.rule) AS rule,
        min(g.label_status) AS label_status, flatten(list(g.evidence ORDER BY g.source_start)) AS evidence,
        min(g.via) AS via
    FROM graded AS g JOIN sizes AS s ON s.corpus_id = g.corpus_id
    WHERE g.score = g.highest AND (g.highest > 0 OR g.judged = s.passages)
    GROUP BY g.query_id, g.corpus_id, g.score"""
_LIFTED_EXCLUDED = f"""
    WITH {_HELD}
    SELECT e.query_id, h.corpus_id, any_value(e.task) AS task,
        coalesce(min(e.reason) FILTER (e.reason <> 'own_article'), 'own_article') AS reason
    FROM passage_excluded AS e JOIN held AS h ON h.passage_id = e.corpus_id
    SEMI JOIN queries AS q ON q.id = e.query_id
    ANTI JOIN (SELECT * FROM qrels WHERE score > 0) AS r
        ON r.query_id = e.query_id AND r.corpus_id = h.corpus_id
    GROUP BY e.query_id, h.corpus_id"""
_ALL = "all_documents AS (SELECT * FROM larger_documents)"


def lifting(qrels: str, excluded: str) -> dict[str, Sql]:
    """The labels of passages, then of documents: outputs by name, but for documents and queries.

    Args:
        qrels: SELECT of all shards' qrels of passages. Views beside: `passage_documents`, `larger_documents`,
            `all_parts`; before `excluded` come the outputs `qrels` and `queries`.
        excluded: SELECT of their excluded pairs.
    """
    given = f"{_PASSAGES}, all_qrels AS ({qrels})"
    apart = f"{_PASSAGES}, all_excluded AS ({excluded}), qrels AS (SELECT * FROM passage_qrels)"
    up = f"WITH {_ALL}, all_qrels AS ({_LIFTED_QRELS}) SELECT * FROM ({QRELS})"
    up_apart = f"WITH {_ALL}, all_excluded AS ({_LIFTED_EXCLUDED}) SELECT * FROM ({EXCLUDED})"
    return {
        "document_parts": _DOCUMENT_PARTS,
        "passage_qrels": Sql(f"WITH {given} SELECT * FROM ({QRELS})", Qrel, PAIR),
        "passage_excluded": Sql(f"WITH {apart} SELECT * FROM ({EXCLUDED})", Excluded, PAIR),
        "qrels": Sql(
            f"SELECT * FROM ({up}) UNION ALL SELECT * FROM passage_qrels WHERE {ARE_PASSAGES}", Qrel, PAIR
        ),
        "excluded": Sql(
            f"SELECT * FROM ({up_apart}) UNION ALL SELECT * FROM passage_excluded WHERE {ARE_PASSAGES}",
            Excluded,
            PAIR,
        ),
    }


_HELD_TEXTS = "(SELECT * FROM passage_documents WHERE EXISTS (SELECT 1 FROM all_parts))"
_DOCUMENT_PARTS = Sql(
    f"""WITH held_texts AS {_HELD_TEXTS}, {kept_of_equal("held_texts", "same")}
    SELECT p.* REPLACE (if(s.kept <> p.part_id, s.kept, '') AS same_as)
    FROM all_parts AS p LEFT JOIN same AS s ON s.id = p.part_id""",
    Part,
    ("part_id",),
)
PARTS = Sql(
    "SELECT p.* FROM document_parts AS p SEMI JOIN documents AS d ON d.id = p.corpus_id", Part, ("part_id",)
)
"""Of documents that were kept."""
PASSAGE_LABELS = Sql(
    f"""SELECT query_id, corpus_id AS passage_id, score, '' AS reason, rule FROM passage_qrels
    WHERE NOT {ARE_PASSAGES}
    UNION ALL SELECT query_id, corpus_id, NULL, reason, '' FROM passage_excluded WHERE NOT {ARE_PASSAGES}""",
    PassageLabel,
    ("query_id", "passage_id"),
)
LOST_QUERIES = """
    SELECT 'query' AS unit, source_id AS id, article_id, 'self_match' AS reason,
        'in no section or article is a passage left that answers it' AS detail
    FROM {asked} WHERE id NOT IN (SELECT query_id FROM qrels WHERE score > 0)
"""
"""Drops of queries whose positives all repeat a caption; `asked` is a view of queries, each once."""
