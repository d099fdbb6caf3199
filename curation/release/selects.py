"""What of the work tables becomes rows of the published ones: SQL over the views of one task."""

from __future__ import annotations

from schemas.tables import IMAGE_CHECKS

KEPT = """
    WITH placed AS (SELECT query_id, split, since FROM assignments
        ANTI JOIN (SELECT id AS query_id FROM identified WHERE unit = 'query') USING (query_id)
        WHERE task = '{task}'),
    hidden AS (SELECT id AS corpus_id FROM identified WHERE unit = 'document'),
    labelled AS (SELECT id, coalesce(specialties[1], '') AS specialty,
        coalesce(modalities[1], '') AS modality, coalesce(regions[1], '') AS region FROM labels),
    kept AS (
        SELECT q.* REPLACE (
            coalesce(nullif(q.specialty, ''), nullif(own.specialty, ''), whole.specialty, '') AS specialty,
            coalesce(nullif(q.modality, ''), own.modality, '') AS modality,
            coalesce(nullif(q.region, ''), nullif(own.region, ''), '') AS region),
            a.split, coalesce(nullif(a.since, ''), '{version}') AS since
        FROM queries q JOIN placed a ON a.query_id = q.id
        LEFT JOIN labelled own ON own.id = q.source_id LEFT JOIN labelled whole ON whole.id = q.article_id),
    held AS (SELECT query_id, corpus_id FROM withheld WHERE task = '{task}'),
    judged AS (SELECT r.*, a.split FROM qrels r JOIN placed a USING (query_id)
        ANTI JOIN held USING (query_id, corpus_id) ANTI JOIN hidden USING (corpus_id)),
    told_apart AS (SELECT query_id, corpus_id, reason, a.split FROM (
            SELECT query_id, corpus_id, reason FROM excluded
            UNION ALL SELECT query_id, corpus_id, 'held_elsewhere' FROM held)
        JOIN placed a USING (query_id) ANTI JOIN hidden USING (corpus_id)),
    near AS (SELECT DISTINCT r.query_id, c.other AS corpus_id, 'near_copy' AS reason, r.split
        FROM judged r JOIN alike c ON c.one = r.corpus_id
        ANTI JOIN judged j ON j.query_id = r.query_id AND j.corpus_id = c.other
        ANTI JOIN told_apart t ON t.query_id = r.query_id AND t.corpus_id = c.other
        ANTI JOIN hidden g ON g.corpus_id = c.other
        WHERE r.score > 0),
    apart AS (FROM told_apart UNION ALL FROM near),
    described AS (SELECT d.* REPLACE (
            coalesce(nullif(d.specialty, ''), whole.specialty, '') AS specialty,
            coalesce(nullif(d.genre, ''), if(s.is_book, 'book', s.article_type), '') AS genre)
        FROM documents d LEFT JOIN labelled whole ON whole.id = d.article_id
        LEFT JOIN sources s ON s.id = d.article_id
        ANTI JOIN hidden g ON g.corpus_id = d.id),
    rests AS (SELECT k.query_id, k.dimension, k.key FROM keys k JOIN placed a USING (query_id)
        WHERE k.task = '{task}')
"""
"""What partition and privacy left of a task: its queries with their split, and all that hangs on them. Rows
without labels of their own take those of their article."""
USED = "(SELECT article_id FROM kept UNION SELECT article_id FROM described)"
ROWS: dict[str, str] = {
    "qrels": """SELECT query_id AS "query-id", corpus_id AS "corpus-id", score, label_status, rule, via, split
        FROM judged ORDER BY query_id, corpus_id""",
    "provenance_qrels": """SELECT query_id AS "query-id", corpus_id AS "corpus-id", evidence
        FROM judged ORDER BY query_id, corpus_id""",
    "excluded": """SELECT query_id AS "query-id", corpus_id AS "corpus-id", reason, split
        FROM apart ORDER BY query_id, corpus_id""",
    "keys": """SELECT query_id AS "query-id", dimension, key FROM rests ORDER BY query_id, dimension, key""",
    "sources": f"""SELECT id, title, authors, journal, year, doi, pmid, pmcid, article_type, language,
        subjects, licence.spdx AS license, licence.url AS license_url, licence.evidence AS license_evidence,
        licence.statement AS license_statement, is_retracted, is_synthetic, scope_evidence, raw_sha256
        FROM sources WHERE id IN {USED} ORDER BY id""",
}
_COMMON = """id, text, language, license, is_synthetic, article_id, patient_id, license_evidence, text_sha256,
    transforms, specialty, image.path AS image_path, image.sha256 AS image_stored_sha256"""
QUERY_ROWS = f"""SELECT {_COMMON}, split, source_id, family, hides_target, since, image_count,
    modality, region, tier
    FROM kept ORDER BY id"""
DOCUMENT_ROWS = f"SELECT {_COMMON}, title, genre FROM described ORDER BY id"
FURTHER = {
    "same_article": """SELECT query_id AS "query-id", corpus_id AS "corpus-id", score, rule, via
        FROM same_article JOIN placed USING (query_id) ANTI JOIN hidden USING (corpus_id) ORDER BY 1, 2""",
    "hard_pool": """SELECT query_id AS "query-id", corpus_id AS "corpus-id", rank, why, label_status
        FROM hard_pool JOIN placed USING (query_id)
        ANTI JOIN (SELECT * FROM judged WHERE label_status <> 'structural') USING (query_id, corpus_id)
        ANTI JOIN near USING (query_id, corpus_id) ANTI JOIN hidden USING (corpus_id)
        ORDER BY 1, 3""",
    "annotations": """SELECT query_id AS "query-id", corpus_id AS "corpus-id", annotator, role, grade, reason,
            seconds, rule
        FROM annotations JOIN placed USING (query_id) ANTI JOIN hidden USING (corpus_id)
        ORDER BY 1, 2, 4, 3""",
    IMAGE_CHECKS.name: """SELECT id, kind, text_check, flags FROM image_checks
        ANTI JOIN hidden ON hidden.corpus_id = image_checks.id ORDER BY id""",
}
