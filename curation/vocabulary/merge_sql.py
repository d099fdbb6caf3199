"""SQL of the merge: which cross-references could merge, and every table under the merged ids.

Views it reads: the tables of all sources together (names, types, …), `live` (concept), `members` (concept,
canonical: ids that are now another concept's) and `statuses` (what became of each cross-reference).
"""

from __future__ import annotations

from curation.vocabulary.merge import HUBS, LABELLED
from curation.vocabulary.tables import TABLES
from schemas.record import arrow_schema

OWN_NAMES = "term_type NOT IN ('BROAD', 'NARROW', 'RELATED', 'CAND') AND NOT is_suppressed"
"""Names that are the concept's own: not of something broader or narrower, no unconfirmed translation."""
_HUBS = "(" + ", ".join(f"'{item}'" for item in HUBS) + ")"
_LABELLED = "(" + ", ".join(f"'{item}'" for item in LABELLED) + ")"


def fold(column: str) -> str:
    """A name with case, punctuation and spacing apart."""
    return f"trim(regexp_replace(lower(nfc_normalize({column})), '[^\\p{{L}}\\p{{N}}]+', ' ', 'g'))"


TARGETS = """
    SELECT DISTINCT m.concept, m.other, m.source,
        CASE WHEN o.concept IS NOT NULL THEN m.other
            WHEN r.replacement IS NOT NULL THEN r.replacement
            WHEN i.concept IS NOT NULL THEN i.concept ELSE m.other END AS target,
        o.concept IS NOT NULL OR r.replacement IS NOT NULL OR i.concept IS NOT NULL AS is_live
    FROM (SELECT * FROM mappings WHERE status = 'stated') AS m
    JOIN live AS c ON c.concept = m.concept
    LEFT JOIN live AS o ON o.concept = m.other
    LEFT JOIN (SELECT concept, min(replacement) AS replacement FROM retired
        WHERE replacement IN (SELECT concept FROM live) AND concept NOT IN (SELECT concept FROM live)
        GROUP BY concept HAVING count(DISTINCT replacement) = 1) AS r ON r.concept = m.other
    LEFT JOIN live AS i ON starts_with(m.other, 'ICD10CM:') AND i.concept = 'ICD10:' || substr(m.other, 9)"""
"""Every stated cross-reference with the live id it means; an ICD-10-CM code may mean the ICD-10 code."""

CANDIDATES = f"""
    WITH joined AS (
        SELECT *, split_part(concept, ':', 1) AS concept_prefix, split_part(target, ':', 1) AS target_prefix
        FROM targets),
    outward AS (
        SELECT concept, source, target_prefix, count(DISTINCT target) AS n FROM joined GROUP BY ALL),
    inward AS (
        SELECT target, source, concept_prefix, count(DISTINCT concept) AS n FROM joined GROUP BY ALL),
    met AS (
        SELECT target FROM joined WHERE target_prefix IN {_HUBS} GROUP BY target
        HAVING count(DISTINCT concept) > 1),
    used AS (
        SELECT * FROM joined WHERE concept_prefix <> target_prefix
            AND (is_live OR target IN (SELECT target FROM met))),
    pairs AS (
        SELECT concept, target, target AS other_end FROM used WHERE is_live
        UNION
        SELECT a.concept, a.target, b.concept FROM used AS a JOIN used AS b ON b.target = a.target
        WHERE NOT a.is_live AND a.concept_prefix <> b.concept_prefix),
    ends AS (SELECT concept FROM pairs UNION SELECT other_end FROM pairs),
    folded AS (
        SELECT DISTINCT concept, {fold("name")} AS folded FROM names
        WHERE language = 'en' AND {OWN_NAMES}
            AND concept IN (SELECT concept FROM ends)),
    agreeing AS (
        SELECT DISTINCT p.concept, p.target FROM pairs AS p
        JOIN folded AS a ON a.concept = p.concept
        JOIN folded AS b ON b.concept = p.other_end AND b.folded = a.folded)
    SELECT u.concept, u.other, u.source, u.target, u.is_live, g.concept IS NOT NULL AS agrees,
        o.n = 1 AND i.n = 1 AS is_unique
    FROM used AS u
    JOIN outward AS o ON o.concept = u.concept AND o.source = u.source AND o.target_prefix = u.target_prefix
    JOIN inward AS i ON i.target = u.target AND i.source = u.source AND i.concept_prefix = u.concept_prefix
    LEFT JOIN agreeing AS g ON g.concept = u.concept AND g.target = u.target
    ORDER BY u.concept, u.other, u.source"""
"""Cross-references between vocabularies that could merge (view `targets`); see merge.CrossReference.

The two ends of one agree when they share a name; at a hub that is not loaded, when two that refer to it do.
"""


NAMESAKES = f"""
    WITH own AS (
        SELECT split_part(concept, ':', 1) AS prefix, concept, {fold("name")} AS folded,
            bool_or(is_preferred) AS is_label
        FROM names WHERE language = 'en' AND {OWN_NAMES} AND split_part(concept, ':', 1) IN {_LABELLED}
            AND concept IN (SELECT concept FROM types WHERE "group" = 'DISO')
        GROUP BY ALL),
    labels AS (
        SELECT prefix, folded, min(concept) AS concept FROM own WHERE is_label AND folded <> ''
        GROUP BY prefix, folded HAVING count(*) = 1),
    single AS (
        SELECT prefix, folded, min(concept) AS concept, bool_or(is_label) AS is_label FROM own
        WHERE folded <> '' GROUP BY prefix, folded HAVING count(*) = 1),
    called AS (
        SELECT a.concept AS labelled, b.concept AS named FROM single AS a JOIN single AS b
        ON b.folded = a.folded AND b.prefix <> a.prefix WHERE a.is_label)
    SELECT a.concept, b.concept FROM labels AS a JOIN labels AS b
        ON b.folded = a.folded AND a.prefix < b.prefix
    UNION
    SELECT x.labelled, x.named FROM called AS x JOIN called AS y
        ON y.labelled = x.named AND y.named = x.labelled WHERE x.labelled < x.named
    ORDER BY 1, 2"""
"""Disorders of two vocabularies that have one label, or of which each has the other's label for a name, when
no other disorder of either vocabulary has it."""


LOST_SCOPES = ("MONDO", "DOID")
"""Sources of which we have synonyms without their scopes: broader and related ones stand among the exact."""
THINGS = ("ANAT", "CHEM", "CONC", "DEVI", "GEOG", "LIVB", "OBJC", "OCCU", "PHEN", "PROC")
"""Semantic groups of what is no disorder; behaviour and physiology (ACTI, PHYS) often are one."""
_LOST_SCOPES = "(" + ", ".join(f"'{item}'" for item in LOST_SCOPES) + ")"
_THINGS = "(" + ", ".join(f"'{item}'" for item in THINGS) + ")"

MISNAMED = f"""
    WITH kinds AS (
        SELECT coalesce(m.canonical, t.concept) AS merged, bool_or("group" = 'DISO') AS is_disorder,
            bool_or("group" IN {_THINGS}) AS is_thing, bool_or("group" = 'OCCU') AS is_trade
        FROM types AS t LEFT JOIN members AS m ON m.concept = t.concept GROUP BY ALL),
    own AS (
        SELECT k.*, n.concept, n.name, lower(n.name) AS folded, n.is_preferred,
            n.term_type IN ('BROAD', 'NARROW', 'RELATED') AS is_loose,
            n.source IN {_LOST_SCOPES} AS is_unscoped
        FROM names AS n LEFT JOIN members AS m ON m.concept = n.concept
        JOIN kinds AS k ON k.merged = coalesce(m.canonical, n.concept)
        WHERE n.language = 'en' AND NOT n.is_suppressed),
    doubtful AS (
        SELECT * FROM own WHERE is_disorder AND NOT is_preferred AND (is_loose OR is_unscoped)
            AND (merged, folded) NOT IN (
                SELECT (merged, folded) FROM own
                WHERE is_disorder AND (is_preferred OR NOT (is_loose OR is_unscoped)))),
    things AS (
        SELECT folded FROM own WHERE is_thing AND NOT is_disorder AND NOT is_loose
        UNION
        SELECT split_part(folded, ', ', 1) FROM own WHERE is_trade AND NOT is_disorder AND NOT is_loose),
    taken AS (SELECT DISTINCT merged, folded FROM doubtful SEMI JOIN things USING (folded)),
    parts AS (
        SELECT DISTINCT d.merged, d.folded FROM doubtful AS d JOIN taken AS t
        ON t.merged = d.merged AND list_has_all(string_split(t.folded, ' '), string_split(d.folded, ' ')))
    SELECT DISTINCT d.concept, d.name FROM doubtful AS d JOIN parts AS p
        ON p.merged = d.merged AND p.folded = d.folded"""
"""Names of disorders that are those of an organ, an organism or another thing, which another concept is.

A disorder of the pituitary gland is not called "pituitary gland", nor, as part of that, "pituitary"; a tumour
is not "oncology". Only names that may be broader than the disorder are asked: a label, and what a source with
scopes calls exact, stay.
"""


def translated(view: str) -> str:
    """Names of a translation for concepts that the vocabulary it translates has; retired ids are replaced.

    Views: `base` (live concepts of that vocabulary), `base_retired`.
    """
    columns = ", ".join(
        "coalesce(r.replacement, n.concept) AS concept" if field.name == "concept" else f'n."{field.name}"'
        for field in arrow_schema(TABLES["names"].row)
    )
    return f"""SELECT {columns} FROM "{view}" AS n
        LEFT JOIN base_retired AS r ON r.concept = n.concept
        WHERE coalesce(r.replacement, n.concept) IN (SELECT concept FROM base)"""


def _under(table: str, condition: str) -> str:
    """Rows of a table under the merged ids whose merged id is in a range."""
    return f"""
        SELECT n.concept AS merged, n.* FROM (SELECT * FROM {table} WHERE {condition}) AS n
            ANTI JOIN members AS m ON m.concept = n.concept
        UNION ALL
        SELECT m.canonical AS merged, n.* FROM {table} AS n
            JOIN (SELECT * FROM members WHERE {condition.replace("concept", "canonical")}) AS m
            ON m.concept = n.concept"""


def names(condition: str = "true") -> str:
    """Names under merged ids; `code` keeps the id a name came with."""
    return f"""
        SELECT merged AS concept, name, language, source,
            CASE WHEN code = merged THEN '' WHEN code = '' AND merged <> concept THEN concept ELSE code END
                AS code,
            term_type, restriction, tier, is_preferred,
            is_suppressed OR (language = 'en' AND NOT is_preferred AND (concept, name) IN (FROM misnamed))
                AS is_suppressed,
            atom
        FROM ({_under("names", condition)})"""


def relations(condition: str = "true") -> str:
    """Relations under merged ids; what has become a relation of a concept to itself is left out."""
    return f"""
        SELECT r.merged AS concept, r.relation, coalesce(m.canonical, r.other) AS other, r.source
        FROM ({_under("relations", condition)}) AS r LEFT JOIN members AS m ON m.concept = r.other
        WHERE r.merged <> coalesce(m.canonical, r.other)"""


def definitions(condition: str = "true") -> str:
    """Definitions under merged ids."""
    return f"""
        SELECT merged AS concept, text, language, source, tier
        FROM ({_under("definitions", condition)})"""


def types(condition: str = "true") -> str:
    """Types under merged ids; where a source states types, those that rest on a rule are left out."""
    return f"""
        WITH t AS ({_under("types", condition)})
        SELECT merged AS concept, semantic_type, "group", rule FROM t
        WHERE rule = 'source' OR merged NOT IN (SELECT merged FROM t WHERE rule = 'source')"""


MAPPINGS = """
    SELECT coalesce(m.canonical, x.concept) AS concept, x.other, x.source,
        coalesce(s.status, 'kept') AS status
    FROM mappings AS x LEFT JOIN members AS m ON m.concept = x.concept
    LEFT JOIN statuses AS s ON s.concept = x.concept AND s.other = x.other AND s.source = x.source
    WHERE x.other <> coalesce(m.canonical, x.concept)
    UNION ALL
    SELECT m.canonical, m.concept, coalesce(p.source, split_part(m.concept, ':', 1)), 'merged'
    FROM members AS m
    LEFT JOIN (SELECT concept, min(source) AS source FROM names
        WHERE concept IN (SELECT concept FROM members) AND is_preferred GROUP BY concept) AS p
        ON p.concept = m.concept"""
"""Cross-references of merged concepts, and one row for every id that is now another concept's."""

RETIRED = """
    WITH RECURSIVE chain AS (
        SELECT concept, source, replacement, 1 AS depth FROM retired WHERE replacement <> ''
        UNION ALL
        SELECT c.concept, c.source, r.replacement, c.depth + 1 FROM chain AS c
            JOIN retired AS r ON r.concept = c.replacement WHERE r.replacement <> '' AND c.depth < 8),
    ended AS (
        SELECT concept, source, arg_min(replacement, (depth, replacement)) AS replacement FROM chain
        WHERE replacement IN (SELECT concept FROM live) GROUP BY concept, source)
    SELECT r.concept, coalesce(m.canonical, e.replacement, r.replacement) AS replacement, r.source
    FROM retired AS r LEFT JOIN ended AS e ON e.concept = r.concept AND e.source = r.source
    LEFT JOIN members AS m ON m.concept = e.replacement
    WHERE r.concept NOT IN (SELECT concept FROM live)"""
"""Retired ids with the live concept at the end of their replacements."""

SOURCES = "SELECT * FROM sources"
