"""SQL that merges the shards of a task: one query per id, one document per equal text, their pairs.

Of documents of equal texts the smallest id stands for all; labels and exclusions follow it.

Normalising a text (`schemas.hashing.normalise_text`) is the dearest thing a set stage does, so it is done
only for texts that agree in how often they hold some letters and digits: of ASCII texts those are counted at
once.
"""

from __future__ import annotations

from schemas.stages import SetAccount

_COUNTED = "etaoins0"
"""Characters counted: frequent ones, so that few different texts agree in all."""


def kept_of_equal(documents: str, kept: str = "kept") -> str:
    """Table expressions for WITH; the last, `kept`, has the columns id and kept.

    Args:
        documents: view of documents with the columns id and text.
        kept: name of the table expression.
    """
    counts = ", ".join(f"length(bare) - length(replace(bare, '{one}', ''))" for one in _COUNTED)
    return f"""
    {kept}_counted AS MATERIALIZED (
        SELECT id, [{counts}] AS counts FROM (
            SELECT id, CASE WHEN strlen(text) = length(text) THEN lower(text)
                ELSE normalise_text(text) END AS bare FROM {documents})),
    {kept}_alike AS MATERIALIZED (
        SELECT id FROM {kept}_counted
        WHERE counts IN (SELECT counts FROM {kept}_counted GROUP BY counts HAVING count(*) > 1)),
    {kept}_twins AS MATERIALIZED (
        SELECT id, min(id) OVER (PARTITION BY normalise_text(text)) AS kept
        FROM {documents} WHERE id IN (SELECT id FROM {kept}_alike)),
    {kept} AS MATERIALIZED (
        SELECT c.id, coalesce(t.kept, c.id) AS kept
        FROM {kept}_counted AS c LEFT JOIN {kept}_twins AS t ON t.id = c.id)"""


KEPT = kept_of_equal("all_documents")
KEPT_QUERIES = "kept_queries AS (SELECT id, min(source_id) AS source_id FROM all_queries GROUP BY id)"
QUERIES = f"""
    WITH {KEPT_QUERIES}
    SELECT q.* FROM all_queries AS q JOIN kept_queries AS k ON q.id = k.id AND q.source_id = k.source_id
    WHERE q.id IN (SELECT query_id FROM all_qrels)
"""
DOCUMENTS = f"WITH {KEPT} SELECT d.* FROM all_documents AS d JOIN kept AS k ON d.id = k.id AND d.id = k.kept"
QRELS = f"""
    WITH {KEPT}
    SELECT query_id, kept AS corpus_id, score, task, rule, label_status, evidence, via
    FROM all_qrels JOIN kept AS k ON corpus_id = k.id
    QUALIFY row_number() OVER (PARTITION BY query_id, kept ORDER BY score DESC, corpus_id, rule) = 1
"""
EXCLUDED = f"""
    WITH {KEPT}
    SELECT e.query_id, k.kept AS corpus_id, e.task, min(e.reason) AS reason
    FROM all_excluded AS e
    JOIN kept AS k ON e.corpus_id = k.id
    ANTI JOIN qrels ON qrels.query_id = e.query_id AND qrels.corpus_id = k.kept
    GROUP BY e.query_id, k.kept, e.task
"""
"""A positive label wins over an exclusion."""
DROPPED_DOCUMENTS = """
    SELECT 'document' AS unit, d.id, d.article_id, 'duplicate_document' AS reason, k.kept AS detail
    FROM all_documents AS d JOIN kept AS k ON d.id = k.id AND d.id <> k.kept
"""
DROPS = f"""
    WITH {KEPT}, {KEPT_QUERIES}
    SELECT 'query' AS unit, q.source_id AS id, q.article_id, 'duplicate_query' AS reason,
        k.source_id AS detail
    FROM all_queries AS q JOIN kept_queries AS k ON q.id = k.id AND q.source_id <> k.source_id
    UNION ALL {DROPPED_DOCUMENTS}
"""
ACCOUNTS = (
    SetAccount("query", "all_queries", "source_id", "queries", "source_id"),
    SetAccount("document", "all_documents", "id", "documents", "id"),
)
"""A query without a qrel would be neither kept nor dropped, so the first proves there is none."""
