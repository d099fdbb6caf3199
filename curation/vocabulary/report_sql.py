"""SQL of `vocabulary info` and `vocabulary diff`: what is in a vocabulary, what differs between two."""

from __future__ import annotations

from curation.vocabulary.merge_sql import OWN_NAMES, fold

INFO = {
    "languages": "SELECT language, count(*) AS names, count(DISTINCT concept) AS concepts FROM names"
    " GROUP BY language ORDER BY names DESC, language",
    "sources": "SELECT source, count(*) AS names, count(DISTINCT concept) AS concepts FROM names"
    " GROUP BY source ORDER BY names DESC, source",
    "tiers": "SELECT tier, count(*) AS names, max(restriction) AS highest_restriction FROM names"
    " GROUP BY tier ORDER BY tier",
    "groups": 'SELECT "group", count(DISTINCT concept) AS concepts FROM types GROUP BY "group"'
    " ORDER BY concepts DESC, 1",
    "semantic_types": 'SELECT semantic_type, "group", count(*) AS concepts FROM types'
    " GROUP BY ALL ORDER BY concepts DESC, semantic_type",
    "relations": "SELECT relation, count(*) AS relations FROM relations GROUP BY relation"
    " ORDER BY relations DESC, relation",
    "cross_references": "SELECT status, split_part(other, ':', 1) AS prefix, count(*) AS mappings"
    " FROM mappings GROUP BY ALL ORDER BY mappings DESC, prefix, status",
}
"""Tables of one vocabulary, largest first."""

AMBIGUOUS = f"""
    SELECT language, folded, count(DISTINCT concept) AS n, min(name) AS name,
        list(DISTINCT concept ORDER BY concept)[1:5] AS concepts
    FROM (SELECT language, concept, name, {fold("name")} AS folded FROM names WHERE {OWN_NAMES})
    WHERE folded <> '' GROUP BY language, folded HAVING count(DISTINCT concept) > 1"""
"""Names that more than one concept has as its own, case and punctuation apart."""

HOMES = """
    SELECT o.concept, CASE WHEN n.concept IS NOT NULL THEN o.concept
        WHEN m.home IS NOT NULL THEN m.home ELSE coalesce(r.home, '') END AS home,
        CASE WHEN n.concept IS NOT NULL THEN 'same' WHEN m.home IS NOT NULL THEN 'merged'
        WHEN r.home <> '' THEN 'retired' WHEN r.home IS NOT NULL THEN 'retired without replacement'
        ELSE 'gone' END AS why
    FROM old_live AS o LEFT JOIN new_live AS n ON n.concept = o.concept
    LEFT JOIN (SELECT other AS concept, min(concept) AS home FROM new_mappings WHERE status = 'merged'
        GROUP BY other) AS m ON m.concept = o.concept
    LEFT JOIN (SELECT concept, max(replacement) AS home FROM new_retired GROUP BY concept) AS r
        ON r.concept = o.concept"""
"""Where each concept of the old vocabulary is in the new one (views old_* and new_*; *_live: concepts)."""

CHANGED_NAMES = """
    WITH o AS (SELECT DISTINCT h.home AS concept, n.language, n.name FROM old_names AS n
        JOIN homes AS h ON h.concept = n.concept WHERE NOT n.is_suppressed AND h.home <> ''),
    n AS (SELECT DISTINCT concept, language, name FROM new_names WHERE NOT is_suppressed)
    SELECT coalesce(o.concept, n.concept) AS concept, coalesce(o.language, n.language) AS language,
        coalesce(o.name, n.name) AS name, o.concept IS NULL AS is_new
    FROM o FULL JOIN n ON o.concept = n.concept AND o.language = n.language AND o.name = n.name
    WHERE o.concept IS NULL OR n.concept IS NULL"""
"""Names that came or went, under the concept's id in the new vocabulary."""

ADDED = "SELECT concept FROM new_live WHERE concept NOT IN (SELECT home FROM homes) ORDER BY concept"
MOVED = "SELECT concept, home, why FROM homes WHERE why <> 'same' ORDER BY concept"
MERGED = """
    SELECT home, list(concept ORDER BY concept) AS concepts FROM homes WHERE home <> ''
    GROUP BY home HAVING count(*) > 1 ORDER BY home"""
SPLIT = """
    SELECT m.other AS concept, min(m.concept) AS was FROM old_mappings AS m
    JOIN new_live AS n ON n.concept = m.other
    WHERE m.status = 'merged' AND m.other <> m.concept AND m.other NOT IN (SELECT concept FROM old_live)
    GROUP BY m.other ORDER BY m.other"""
TOUCHED = """
    SELECT concept FROM homes WHERE why <> 'same'
    UNION SELECT h.concept FROM changed_names AS c JOIN homes AS h ON h.home = c.concept"""
"""Old ids whose concept moved, or has other names now."""
MENTIONS = """
    SELECT article_id, count(*) AS mentions FROM mentions WHERE concept IN (SELECT concept FROM touched)
    GROUP BY article_id ORDER BY article_id"""
"""Grounded articles that mention a touched concept."""
