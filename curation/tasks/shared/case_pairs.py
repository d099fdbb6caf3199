"""Pairs the cases of all shards by diagnosis, and merges cases with one text: for any task that pairs cases.

Pairs are found between concepts first and then spread over their cases. Labels and exclusions follow the case
that is kept of equal texts; own case, own article and a patient who may be the same are never positive.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from curation.tasks.shared.case_facts import CaseFacts, NamedConcept, Neighbour, Shingle
from curation.tasks.shared.merge_sql import ACCOUNTS, DOCUMENTS, DROPPED_DOCUMENTS, KEPT
from schemas.benchmark import Document, Excluded, Qrel, Query
from schemas.record import column, record
from schemas.stages import Drop, SetStage, Sql

GRADES: Mapping[str, int] = {
    "same-diagnosis": 2,
    "parent": 1,
    "child": 1,
    "sibling": 1,
    "grandparent": 1,
    "grandchild": 1,
}
"""Relation of two diagnoses -> grade of their cases, where a task counts it."""
SAME = "same-diagnosis"
MIN_SHARED = 3
"""Of 32 shingles: cases that share as many have at least a long stretch of text in common."""
MAX_HOLDERS = 100
"""A shingle that more cases have is a phrase of the trade."""


@record
class CasePair:
    """One query and one other case that is not simply unjudged."""

    query_id: str = column("query")
    corpus_id: str = column("case, the one kept of equal texts")
    case_id: str = column("case the label rests on: itself or one merged into it, '' without relation")
    score: int = column("grade by relation, 0 without one that counts")
    rule: str = column("rule of the relation, '' when none")
    via: str = column("concept that links both diagnoses, '' when none")
    reason: str = column("why it is left out, '' for a positive")


_ASKED = """asked AS MATERIALIZED (
        SELECT q.id AS query_id, q.source_id, k.kept AS own, f.concept, f.family, f.age_years, f.sex,
            f.authors, f.systems, f.regions
        FROM all_queries AS q JOIN kept AS k ON k.id = q.source_id
        JOIN all_facts AS f ON f.case_id = q.source_id
        QUALIFY row_number() OVER (PARTITION BY k.kept ORDER BY q.source_id) = 1
            AND row_number() OVER (PARTITION BY q.id ORDER BY q.source_id) = 1)"""
"""One query per text of a case and of a query: the first by case id."""


def rule_id(task: str, relation: str) -> str:
    """The rule that labels cases of such a relation in a task."""
    return f"{task}/{relation}@1"


def _related(task: str, graded: Collection[str]) -> str:
    """The nearest relation of every two diagnoses; without a rule when it is none that the task grades."""
    rules = {name: f"'{rule_id(task, name) if name in graded else ''}'" for name in GRADES}
    return f"""steps AS (
        SELECT DISTINCT concept, other, hops, joins_siblings, is_loose, is_local FROM all_neighbours),
    ways AS (
        SELECT a.concept AS one, b.concept AS two, a.other AS via, CASE
            WHEN a.hops = 0 AND b.hops = 0 THEN {rules[SAME]}
            WHEN a.hops = 1 AND b.hops = 0 THEN {rules["parent"]}
            WHEN a.hops = 0 AND b.hops = 1 THEN {rules["child"]}
            WHEN a.hops = 1 AND b.hops = 1 AND a.joins_siblings THEN {rules["sibling"]}
            WHEN a.hops = 2 AND b.hops = 0 THEN {rules["grandparent"]}
            WHEN a.hops = 0 AND b.hops = 2 THEN {rules["grandchild"]}
            ELSE '' END AS rule, a.hops + b.hops AS hops, a.is_loose, a.is_local
        FROM steps AS a JOIN steps AS b ON a.other = b.other),
    related AS MATERIALIZED (
        SELECT one, two, via, rule, is_loose, is_local,
            CASE WHEN rule = {rules[SAME]} THEN {GRADES[SAME]} WHEN rule <> '' THEN 1 ELSE 0 END AS score
        FROM ways
        QUALIFY row_number() OVER (
            PARTITION BY one, two ORDER BY rule = '', hops, is_loose, is_local, rule, via) = 1)"""


_IS_ELSEWHERE = """((r.is_loose AND NOT list_has_any(f.systems, a.systems))
                OR (r.is_local AND len(f.regions) > 0 AND len(a.regions) > 0
                    AND NOT list_has_any(f.regions, a.regions)))"""
_LINKED = f"""linked AS MATERIALIZED (
        SELECT a.query_id, k.kept AS corpus_id, f.case_id, r.via,
            CASE WHEN {_IS_ELSEWHERE} THEN 0 ELSE r.score END AS score,
            CASE WHEN {_IS_ELSEWHERE} THEN '' ELSE r.rule END AS rule,
            r.score > 0 AND f.sex <> '' AND f.sex = a.sex AND f.age_years = a.age_years
                AND list_has_any(f.authors, a.authors) AS is_same_patient
        FROM asked AS a JOIN related AS r ON r.one = a.concept JOIN all_facts AS f ON f.concept = r.two
        JOIN kept AS k ON k.id = f.case_id
        WHERE k.kept <> a.own)"""
"""Cases by their diagnoses; what may sit anywhere in the body relates only cases of one system and region."""
_COPIED = f"""telling AS MATERIALIZED (
        SELECT case_id, hash FROM all_shingles
        QUALIFY count(*) OVER (PARTITION BY hash) <= {MAX_HOLDERS}),
    copied AS (
        SELECT a.query_id, k.kept AS corpus_id
        FROM asked AS a JOIN telling AS m ON m.case_id = a.source_id JOIN telling AS o ON o.hash = m.hash
        JOIN kept AS k ON k.id = o.case_id
        GROUP BY a.query_id, k.kept, o.case_id HAVING count(*) >= {MIN_SHARED})"""
_SET_APART = """set_apart AS (
        SELECT query_id, own AS corpus_id, 0 AS rank FROM asked
        UNION ALL SELECT a.query_id, k.kept, 1 FROM asked AS a
            JOIN all_facts AS f ON f.family = a.family JOIN kept AS k ON k.id = f.case_id
        UNION ALL SELECT query_id, corpus_id, 2 FROM linked WHERE is_same_patient
        UNION ALL SELECT query_id, corpus_id, 2 FROM copied
        UNION ALL SELECT query_id, corpus_id, CASE WHEN score > 0 THEN 3 ELSE 4 END FROM linked
        UNION ALL SELECT a.query_id, k.kept, 5 FROM asked AS a
            JOIN all_named AS n ON n.concept = a.concept JOIN kept AS k ON k.id = n.case_id)"""


def _pairs(task: str, graded: Collection[str]) -> str:
    return f"""
    WITH {KEPT}, {_ASKED}, {_related(task, graded)}, {_LINKED}, {_COPIED}, {_SET_APART},
    reasons AS (SELECT query_id, corpus_id, min(rank) AS rank FROM set_apart GROUP BY ALL),
    best AS (SELECT * FROM linked QUALIFY
        row_number() OVER (PARTITION BY query_id, corpus_id ORDER BY score DESC, case_id, rule) = 1)
    SELECT r.query_id, r.corpus_id, coalesce(b.case_id, '') AS case_id, coalesce(b.score, 0) AS score,
        coalesce(b.rule, '') AS rule, coalesce(b.via, '') AS via,
        CASE r.rank WHEN 0 THEN 'own_case' WHEN 1 THEN 'same_article' WHEN 2 THEN 'same_patient'
            WHEN 3 THEN '' WHEN 4 THEN 'related_diagnosis' ELSE 'mentions_target' END AS reason
    FROM reasons AS r LEFT JOIN best AS b ON b.query_id = r.query_id AND b.corpus_id = r.corpus_id
"""


_WITH_ASKED = f"WITH {KEPT}, {_ASKED}"
_QUERIES = f"""
    {_WITH_ASKED}
    SELECT q.* FROM all_queries AS q JOIN asked AS a ON a.query_id = q.id AND a.source_id = q.source_id
    WHERE q.id IN (SELECT query_id FROM pairs WHERE reason = '')
"""


def _labels(task: str, rule: str, where: str) -> str:
    """Qrels of some pairs, with what both diagnoses rest on."""
    return f"""
    SELECT p.query_id, p.corpus_id, p.score, '{task}' AS task, {rule} AS rule, 'structural' AS label_status,
        list_concat(a.evidence, b.evidence) AS evidence, p.via
    FROM pairs AS p JOIN queries AS q ON q.id = p.query_id
    JOIN all_facts AS a ON a.case_id = q.source_id JOIN all_facts AS b ON b.case_id = p.case_id
    WHERE {where}
"""


def _excluded(task: str) -> str:
    return f"""
    SELECT query_id, corpus_id, '{task}' AS task, reason FROM pairs
    WHERE reason <> '' AND query_id IN (SELECT id FROM queries)
"""


_DROPS = f"""
    {_WITH_ASKED},
    near AS (SELECT DISTINCT query_id FROM pairs WHERE reason = 'same_article' AND score > 0)
    SELECT 'query' AS unit, q.source_id AS id, q.article_id,
        CASE WHEN o.query_id IS NULL THEN 'duplicate_query'
            WHEN n.query_id IS NOT NULL THEN 'only_same_article' ELSE 'no_relevant_case' END AS reason,
        coalesce(o.concept, a.source_id, i.source_id, q.id) AS detail
    FROM all_queries AS q JOIN kept AS k ON k.id = q.source_id
    LEFT JOIN asked AS o ON o.source_id = q.source_id
    LEFT JOIN asked AS a ON a.own = k.kept LEFT JOIN asked AS i ON i.query_id = q.id
    LEFT JOIN near AS n ON n.query_id = o.query_id
    WHERE q.source_id NOT IN (SELECT source_id FROM queries)
    UNION ALL {DROPPED_DOCUMENTS}
"""


def over_all(
    task: str,
    *,
    version: int,
    graded: Collection[str] = tuple(GRADES),
    inputs: Mapping[str, tuple[str, type]] | None = None,
    outputs: Mapping[str, Sql] | None = None,
) -> SetStage:
    """The stage that pairs the cases of a task.

    Args:
        task: its name; it made the tables of curation.tasks.shared.case_facts.
        version: of the stage.
        graded: relations of diagnoses that make a case relevant; of the others it is excluded.
        inputs: further tables of the task.
        outputs: further tables that are made of them; they may read `queries`.

    Returns:
        A stage whose `same_article` holds labels that the main qrels leave out: other patients of the
        query's own article.
    """
    apart = f"'{rule_id(task, 'same-article')}'"
    pair = ("query_id", "corpus_id")
    return SetStage(
        name=f"{task}_all",
        version=version,
        inputs={
            "all_queries": (f"{task}.queries", Query),
            "all_documents": (f"{task}.documents", Document),
            "all_facts": (f"{task}.facts", CaseFacts),
            "all_neighbours": (f"{task}.neighbours", Neighbour),
            "all_named": (f"{task}.named", NamedConcept),
            "all_shingles": (f"{task}.shingles", Shingle),
            **(inputs or {}),
        },
        outputs={
            "pairs": Sql(_pairs(task, graded), CasePair, pair),
            "queries": Sql(_QUERIES, Query, ("id",)),
            "documents": Sql(DOCUMENTS, Document, ("id",)),
            "qrels": Sql(_labels(task, "p.rule", "p.reason = ''"), Qrel, pair),
            "same_article": Sql(
                _labels(task, apart, "p.reason = 'same_article' AND p.score > 0"), Qrel, pair
            ),
            "excluded": Sql(_excluded(task), Excluded, pair),
            **(outputs or {}),
            "drops": Sql(_DROPS, Drop, ("unit", "id")),
        },
        accounts=ACCOUNTS,
    )
