"""SQL of the sets in other languages: each document is the name of its concept, where all eight have one.

Queries, sets, tiers and ids are those in English; only what is ranked is in another language.
"""

from __future__ import annotations

from curation.tasks.concept_discrimination.languages_sql import FITS, LISTED, SPOKEN
from curation.tasks.concept_discrimination.records import (
    AskedSet,
    NamedDocument,
    NamedLabel,
    NamedSet,
    NameInLanguage,
    NameRecipe,
)
from curation.tasks.concept_discrimination.settings import OwnReason
from curation.tasks.shared.names import IS_NAME_SQL, RANK_SQL, RESTRICTED
from curation.vocabulary.merge_sql import fold
from schemas.stages import Reason, Sql
from schemas.vocabulary import UNCONFIRMED

UNSPACED = ("ja", "zh")
_STATUS = f"if(term_type = '{UNCONFIRMED}', 'candidate', 'official')"
NAMED = f"""
    SELECT concept, {SPOKEN} AS language, name, source, coalesce(nullif(code, ''), concept) AS code, atom,
        term_type, restriction, tier, {FITS} AS is_in_script
    FROM names SEMI JOIN confusions AS c ON c.concept = names.concept
    WHERE {SPOKEN} IN ({LISTED}) AND {IS_NAME_SQL}
    QUALIFY row_number() OVER (PARTITION BY concept, {SPOKEN} ORDER BY NOT {FITS}, {RANK_SQL}) = 1
"""
_BARE = f"if(e.document_language IN ({', '.join(map(repr, UNSPACED))}), {{0}}, ' ' || {{0}} || ' ')"
"""Words are found as words where the script writes spaces, else as characters."""


def _named(own: str, other: str) -> str:
    """SQL: whether a folded name stands in another one."""
    return f"({other} <> '' AND contains({_BARE.format(own)}, {_BARE.format(other)}))"


def _concepts(condition: str) -> str:
    """SQL: the concepts of a set for which something holds, at most three."""
    return f"array_to_string(list_sort(list(e.concept) FILTER ({condition}))[1:3], ' ')"


_NAMING = f"e.role = 'member' AND ({_named('e.folded', 'g.gold')} OR {_named('e.folded', 'e.surface')})"
_ASKED = f"""
    WITH wanted AS (
        SELECT q.id AS query_id, q.article_id, {SPOKEN.replace("language", "q.language")} AS spoken,
            {fold("a.surface")} AS surface, l.document_language
        FROM queries AS q JOIN anchored AS a ON a.query_id = q.id
        CROSS JOIN (SELECT unnest([{LISTED}]) AS document_language) AS l),
    each AS (
        SELECT w.*, c.concept, c.role, n.name, {fold("n.name")} AS folded, n.is_in_script, n.tier, n.term_type
        FROM wanted AS w JOIN confusions AS c ON c.query_id = w.query_id
        LEFT JOIN named AS n ON n.concept = c.concept AND n.language = w.document_language),
    golds_named AS (SELECT query_id, document_language, folded AS gold FROM each WHERE role = 'gold'),
    called AS (
        SELECT DISTINCT concept, {SPOKEN} AS document_language, {fold("name")} AS folded FROM names
        SEMI JOIN confusions AS c ON c.concept = names.concept
        WHERE {SPOKEN} IN ({LISTED}) AND NOT is_suppressed),
    sharing AS (
        SELECT a.query_id, m.document_language, min(a.concept || ' ' || b.concept) AS detail
        FROM confusions AS a JOIN called AS m ON m.concept = a.concept AND m.folded <> ''
        JOIN confusions AS b ON b.query_id = a.query_id AND b.concept > a.concept
        JOIN called AS o ON o.concept = b.concept AND o.document_language = m.document_language
            AND o.folded = m.folded
        GROUP BY ALL),
    told AS (
        SELECT e.query_id, e.article_id, e.document_language, any_value(e.spoken) AS spoken,
            if(bool_or(e.term_type = '{UNCONFIRMED}'), 'candidate', 'official') AS status,
            {_concepts("e.name IS NULL")} AS without,
            {_concepts("NOT e.is_in_script")} AS not_in_script,
            {_concepts(_NAMING)} AS naming,
            {_concepts(f"e.tier = '{RESTRICTED}'")} AS restricted
        FROM each AS e JOIN golds_named AS g USING (query_id, document_language) GROUP BY ALL),
    judged AS (
        SELECT t.*, coalesce(s.detail, '') AS sharing, CASE
            WHEN t.spoken = t.document_language THEN '{OwnReason.OWN_LANGUAGE}'
            WHEN t.without <> '' THEN '{Reason.NO_NAME_IN_LANGUAGE}'
            WHEN t.not_in_script <> '' THEN '{Reason.NAME_NOT_IN_LANGUAGE}'
            WHEN s.detail IS NOT NULL THEN '{Reason.SHARED_NAME}'
            WHEN t.naming <> '' THEN '{OwnReason.NAMES_GOLD}'
            WHEN t.restricted <> '' THEN '{Reason.RESTRICTED_NAME}' ELSE '' END AS reason
        FROM told AS t LEFT JOIN sharing AS s USING (query_id, document_language))
    SELECT query_id || '/' || document_language AS id, query_id, article_id, document_language, status,
        reason,
        CASE reason WHEN '{Reason.NO_NAME_IN_LANGUAGE}' THEN without
            WHEN '{Reason.NAME_NOT_IN_LANGUAGE}' THEN not_in_script
            WHEN '{Reason.SHARED_NAME}' THEN sharing WHEN '{OwnReason.NAMES_GOLD}' THEN naming
            WHEN '{Reason.RESTRICTED_NAME}' THEN restricted ELSE '' END AS detail
    FROM judged
"""
"""Details name concepts, never names: a name may be restricted, and drops are published."""
_QUERIES = "SELECT id, query_id, document_language, status FROM asked_sets WHERE reason = ''"
_QRELS = """
    SELECT q.query_id, c.corpus_id, q.document_language FROM named_queries AS q
    JOIN confusions AS c ON c.query_id = q.query_id AND c.role = 'gold'
"""


def _documents(licence: str) -> str:
    """SQL of the documents.

    Args:
        licence: SQL of the licence of a row of the vocabulary's sources, `v`.
    """
    return f"""
    WITH credited AS (SELECT source, min(licence) AS licence, max(tier) AS tier FROM sources GROUP BY source),
    used AS (SELECT DISTINCT c.corpus_id, c.concept, q.document_language FROM named_queries AS q
        JOIN confusions AS c ON c.query_id = q.query_id)
    SELECT u.corpus_id AS id, '' AS title, n.name AS text, n.language, {licence} AS license,
        'vocabulary: ' || v.licence AS license_evidence, false AS is_synthetic,
        'vocabulary:' || n.source AS article_id, n.concept, n.source, n.code, n.atom, n.term_type,
        {_STATUS} AS status, n.restriction, n.tier, sha256(n.name) AS text_sha256
    FROM used AS u JOIN named AS n ON n.concept = u.concept AND n.language = u.document_language
    JOIN credited AS v ON v.source = n.source
    """


def _recipes(licence: str) -> str:
    """SQL of what makes the sets with a restricted name; `licence` as for the documents."""
    return f"""
    WITH credited AS (SELECT source, min(licence) AS licence, max(tier) AS tier FROM sources GROUP BY source)
    SELECT a.query_id, c.corpus_id, a.document_language, n.concept,
        if(n.tier = '{RESTRICTED}', '', n.name) AS text,
        if(n.tier = '{RESTRICTED}', 'LicenseRef-restricted-' || n.source, {licence}) AS license,
        {_STATUS} AS status, n.source, n.code, n.atom, n.term_type, n.tier, sha256(n.name) AS text_sha256
    FROM asked_sets AS a JOIN confusions AS c ON c.query_id = a.query_id
    JOIN named AS n ON n.concept = c.concept AND n.language = a.document_language
    JOIN credited AS v ON v.source = n.source
    WHERE a.reason = '{Reason.RESTRICTED_NAME}'
    """


DROPPED = """
    SELECT 'set' AS unit, id, article_id, reason, detail FROM asked_sets WHERE reason <> ''
"""


def named_sql(licence: str) -> dict[str, Sql]:
    """The statements, in the order in which they run."""
    return {
        "named": Sql(NAMED, NameInLanguage, ("concept", "language")),
        "asked_sets": Sql(_ASKED, AskedSet, ("id",)),
        "named_queries": Sql(_QUERIES, NamedSet, ("id",)),
        "named_qrels": Sql(_QRELS, NamedLabel, ("query_id", "corpus_id", "document_language")),
        "named_corpus": Sql(_documents(licence), NamedDocument, ("language", "id")),
        "name_recipes": Sql(_recipes(licence), NameRecipe, ("query_id", "document_language", "corpus_id")),
    }
