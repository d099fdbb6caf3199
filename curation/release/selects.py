"""What of the work tables becomes rows of the published ones: SQL over the views of one task.

Columns and order of a table come from its declaration; here is only which rows it has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from curation.labels.floors import FLOORS
from curation.partition.keys_sql import article_key, literal, patient_key
from schemas.facet_table import FACET_DECISIONS
from schemas.name_tables import NAMED_CORPUS, NAMED_QRELS, NAMED_QUERIES
from schemas.published import Published
from schemas.string_tables import RECIPES
from schemas.tables import CORPUS, EXCLUDED, HARD_POOL, KEYS, ORIGIN_QRELS, QRELS, QUERIES, SOURCES
from schemas.task import Task

_WORD = re.compile(r"\w+")
_SURE = (
    "CASE WHEN own.{name} <> '' THEN own.{name}_confidence ELSE coalesce(whole.{name}_confidence, 0.0) END"
)
_OF_ARTICLE = ", ".join(
    f"if({_SURE.format(name=name)} >= {floor}, coalesce(nullif(own.{name}, ''), whole.{name}, ''), '')"
    f" AS {name}, {_SURE.format(name=name)} AS {name}_confidence"
    for name, floor in FLOORS.items()
)
"""A label below its floor is not published; its confidence stays, so that nobody takes it for undecided."""
_KEPT = {
    "placed": """SELECT query_id, split, since FROM assignments
        ANTI JOIN (SELECT id AS query_id FROM identified WHERE unit = 'query') USING (query_id)
        WHERE task = '{task}'""",
    "hidden": "SELECT id AS corpus_id FROM identified WHERE unit = 'document'",
    "labelled": """SELECT id, coalesce(specialties[1], '') AS specialty,
        coalesce(modalities[1], '') AS modality, coalesce(regions[1], '') AS region,
        if(len(modalities) = 1, modalities[1], '') AS one_modality,
        if(len(regions) = 1, regions[1], '') AS one_region,
        coalesce(modality_groups[1], '') AS modality_group,
        domain, domain_confidence, coalesce(body_systems[1], '') AS body_system, body_system_confidence
        FROM labels""",
    "of_sets": """SELECT id, CASE WHEN min(modality) = max(modality) THEN min(modality)
            WHEN min(modality_group) = max(modality_group) THEN min(modality_group) ELSE '' END AS modality,
            if(min(region) = max(region), min(region), '') AS region
        FROM (SELECT m.id, coalesce(l.modality, '') AS modality, coalesce(l.region, '') AS region,
                coalesce(l.modality_group, '') AS modality_group
            FROM (SELECT id, unnest(list_transform(string_split(source_id, '+'), lambda name, place:
                    if(place = 1, name, split_part(source_id, '#', 1) || '#' || name))) AS figure
                FROM queries WHERE contains(source_id, '+')) m
            LEFT JOIN labelled l ON l.id = m.figure)
        GROUP BY id""",
    "kept": """SELECT q.* REPLACE (
            coalesce(nullif(q.specialty, ''), nullif(own.specialty, ''), whole.specialty, '') AS specialty,
            coalesce(nullif(q.modality, ''), nullif(own.modality, ''), {of_figures_modality}'') AS modality,
            coalesce(nullif(q.region, ''), nullif(own.region, ''), {of_figures_region}'') AS region),
            {of_article},
            a.split, coalesce(nullif(a.since, ''), '{version}') AS since
        FROM queries q JOIN placed a ON a.query_id = q.id{of_figures}
        LEFT JOIN labelled own ON own.id = q.source_id LEFT JOIN labelled whole ON whole.id = q.article_id""",
    "shown": """SELECT k.id AS query_id, min(f.id) AS id FROM kept k
        JOIN (SELECT id, article_id, unnest(graphics).sha256 AS sha256 FROM figures) f
            ON f.article_id = k.article_id AND f.sha256 = k.image.sha256
        GROUP BY k.id""",
    "told_of": """SELECT a.query_id, split_part(q.source_id, '+', 1) AS id, 0 AS place
        FROM queries q JOIN placed a ON a.query_id = q.id
        UNION ALL SELECT query_id, id, 1 FROM shown
        UNION ALL SELECT id, article_id, 2 FROM kept""",
    "nearest": """SELECT t.query_id, f.facet, min(t.place) AS place
        FROM told_of t JOIN facets f USING (id) JOIN kept k ON k.id = t.query_id
        WHERE f.rank = 1 AND CASE f.facet WHEN 'specialty' THEN k.specialty WHEN 'domain' THEN k.domain
            WHEN 'body_system' THEN k.body_system WHEN 'modality' THEN k.modality
            WHEN 'region' THEN k.region END IN (nullif(f.value, ''), nullif(f.parent, ''))
        GROUP BY ALL""",
    "decided": """SELECT t.query_id, t.id, n.facet FROM told_of t
        JOIN nearest n ON n.query_id = t.query_id AND n.place = t.place""",
    "held": "SELECT query_id, corpus_id FROM withheld WHERE task = '{task}'",
    "judged": """SELECT r.* REPLACE (if(label_status = 'structural' AND rule NOT IN ({sure}),
            '{status}', label_status) AS label_status), a.split
        FROM qrels r JOIN placed a USING (query_id)
        ANTI JOIN held USING (query_id, corpus_id) ANTI JOIN hidden USING (corpus_id)""",
    "told_apart": """SELECT query_id, corpus_id, reason, a.split FROM (
            SELECT query_id, corpus_id, reason FROM excluded
            UNION ALL SELECT query_id, corpus_id, 'held_elsewhere' FROM held)
        JOIN placed a USING (query_id) ANTI JOIN hidden USING (corpus_id)""",
    "near": """SELECT DISTINCT r.query_id, c.other AS corpus_id, 'near_copy' AS reason, r.split
        FROM judged r JOIN alike c ON c.one = r.corpus_id
        ANTI JOIN judged j ON j.query_id = r.query_id AND j.corpus_id = c.other
        ANTI JOIN told_apart t ON t.query_id = r.query_id AND t.corpus_id = c.other
        ANTI JOIN hidden g ON g.corpus_id = c.other
        WHERE r.score > 0""",
    "apart": "FROM told_apart UNION ALL FROM near",
    "of_documents": """SELECT d.id, coalesce(nullif(d.specialty, ''), whole.specialty, '') AS specialty,
            coalesce(nullif(d.genre, ''), if(s.is_book, 'book', s.article_type), '') AS genre,
            {of_article}
        FROM (SELECT id, article_id, specialty, genre FROM documents) d
        LEFT JOIN labelled own ON own.id = d.id LEFT JOIN labelled whole ON whole.id = d.article_id
        LEFT JOIN sources s ON s.id = d.article_id
        ANTI JOIN hidden g ON g.corpus_id = d.id""",
    "described": """SELECT d.* REPLACE (t.specialty AS specialty, t.genre AS genre),
            t.* EXCLUDE (id, specialty, genre)
        FROM documents d JOIN of_documents t ON t.id = d.id""",
    "lost": """SELECT DISTINCT r.query_id, d.article_id, d.patient_id
        FROM qrels r JOIN hidden USING (corpus_id) JOIN documents d ON d.id = r.corpus_id
        WHERE r.score > 0""",
    "left_to": """SELECT id AS query_id, article_id, patient_id FROM kept UNION ALL
        SELECT j.query_id, d.article_id, d.patient_id
        FROM judged j JOIN documents d ON d.id = j.corpus_id WHERE j.score > 0""",
    "gone": "FROM ({lost_keys}) EXCEPT FROM ({left_keys})",
    "rests": """SELECT k.query_id, k.dimension, k.key FROM keys k JOIN placed a USING (query_id)
        ANTI JOIN gone USING (query_id, dimension, key) WHERE k.task = '{task}'""",
    "cited": """SELECT *, licence.spdx AS license, licence.url AS license_url,
            licence.evidence AS license_evidence, licence.statement AS license_statement
        FROM sources WHERE id IN (
            SELECT article_id FROM kept UNION SELECT article_id FROM described{named})""",
}
"""Name -> SELECT of what is left; each asks only those before it."""
_NARROW = frozenset({"of_documents", "decided"})
"""Finished before texts are joined to them: else DuckDB takes the texts into memory for each join inside."""


_SPELT_OUT = """ UNION SELECT 'vocabulary:' || source FROM name_recipes
    SEMI JOIN placed USING (query_id) WHERE text <> ''"""
"""Sources of names that recipes hold as they are."""


_OF_PANEL = (
    " LEFT JOIN panels ON panels.query_id = q.id LEFT JOIN labelled figure ON figure.id = panels.figure_id"
)
"""A panel whose words tell nothing has what its whole figure shows, where that is one thing."""
_OF_SET = " LEFT JOIN of_sets ON of_sets.id = q.id"
"""A query over several figures (source `pmc:PMC1.1#F1+F2`) has what all show, or the group of that."""


def kept(task: Task, version: str, *, with_panels: bool = False, with_sets: bool = False) -> dict[str, str]:
    """What partition and privacy left of a task: SELECTs by the names that others ask them by.

    Its queries with their split, and all that hangs on them. Rows without labels of their own take those of
    their article. A key that only a withheld document gave goes with it. What rules say are candidates where
    the task says so and not of that rule.

    Args:
        task: the task.
        version: of the release.
        with_panels: whether its queries may show panels, listed in the view `panels`.
        with_sets: whether its queries may be of several figures.
    """
    keys = {f"{part}_keys": _keys_of(table) for part, table in (("lost", "lost"), ("left", "left_to"))}
    status = "candidate" if task.candidates_because else "structural"
    sure = ", ".join(map(literal, task.sure_rules)) or "''"
    has_names = NAMED_CORPUS.name in task.extra_tables
    named = f" UNION SELECT article_id FROM {ROWS[NAMED_CORPUS.name]}{_SPELT_OUT}" if has_names else ""
    own = {"of_figures": _OF_PANEL * with_panels + _OF_SET * with_sets}
    for label in ("modality", "region"):
        told = f"figure.one_{label}, " * with_panels + f"of_sets.{label}, " * with_sets
        own[f"of_figures_{label}"] = told
    given = {"task": task.name, "version": version, "status": status, "sure": sure, "named": named}
    return {name: text.format(of_article=_OF_ARTICLE, **given, **own, **keys) for name, text in _KEPT.items()}


def asking(left: dict[str, str], text: str) -> str:
    """A SELECT behind the WITH of those parts of :func:`kept` that it asks: to plan all takes much longer."""
    asked = set(_WORD.findall(text))
    for name in reversed(left):
        if name in asked:
            asked.update(_WORD.findall(left[name]))
    parts = ", ".join(
        f"{name} AS {'MATERIALIZED ' * (name in _NARROW)}({part})"
        for name, part in left.items()
        if name in asked
    )
    return f"WITH {parts} {text}" if parts else text


def _keys_of(table: str) -> str:
    """Keys of articles and patients in a table."""
    return f"""SELECT query_id, 'article' AS dimension, {article_key("article_id")} AS key FROM {table}
        UNION SELECT query_id, 'patient', {patient_key("patient_id")} FROM {table}"""


_FLOORED = " AND ".join(f"(f.facet <> '{name}' OR f.confidence >= {floor})" for name, floor in FLOORS.items())
_QUOTED = """list_transform(evidence, lambda e: struct_pack(rule := e.rule, place := e.place,
    text := if(e.place = 'concept', regexp_extract(e.text, '^[A-Za-z]+:[^ ]+'), e.text),
    points := e.points))"""
"""Names of concepts are the vocabulary's own, and may be restricted."""
ROWS: dict[str, str] = {
    QUERIES.name: "kept",
    CORPUS.name: "described",
    QRELS.name: "judged",
    ORIGIN_QRELS.name: "judged",
    EXCLUDED.name: "apart",
    KEYS.name: "rests",
    SOURCES.name: "cited",
    RECIPES.name: """recipes
        SEMI JOIN kept ON kept.family = recipes.concept || '/' || recipes.facet""",
    FACET_DECISIONS.name: f"""(SELECT * EXCLUDE (evidence), {_QUOTED} AS evidence FROM (
            SELECT t.query_id, f.*, f.id AS record FROM facets f
            JOIN decided t ON t.id = f.id AND t.facet = f.facet
            WHERE f.value <> '' AND {_FLOORED}))""",
    HARD_POOL.name: """hard_pool JOIN placed USING (query_id)
        ANTI JOIN (SELECT * FROM judged WHERE label_status NOT IN ('structural', 'candidate'))
            USING (query_id, corpus_id)
        ANTI JOIN near USING (query_id, corpus_id) ANTI JOIN hidden USING (corpus_id)""",
    NAMED_QUERIES.name: """(SELECT k.*, n.document_language, n.status FROM kept AS k
        JOIN named_queries AS n ON n.query_id = k.id)""",
    NAMED_QRELS.name: """(SELECT j.*, n.document_language FROM judged AS j
        JOIN named_qrels AS n ON n.query_id = j.query_id AND n.corpus_id = j.corpus_id)""",
    NAMED_CORPUS.name: """(SELECT d.* FROM named_corpus AS d SEMI JOIN (
        SELECT c.corpus_id, n.document_language FROM confusions AS c
        JOIN named_queries AS n ON n.query_id = c.query_id JOIN placed AS p ON p.query_id = c.query_id) AS u
        ON u.corpus_id = d.id AND u.document_language = d.language)""",
}
"""Published table -> its rows. Any other one has those of the work table of its name whose query was kept
and whose document is not hidden."""


def select_rows(table: Published, split: str = "", *, more: Sequence[str] = (), queries: str = "") -> str:
    """SELECT with the declared columns of a table, in the order of its key; the text follows `kept`.

    Args:
        table: any that is made of work tables.
        split: only rows of it; '' for all.
        more: further expressions.
        queries: SQL condition on the kept queries that are wanted, or whose rows are; '' for all.
    """
    declared = (f'"{column.name.replace("-", "_")}" AS "{column.name}"' for column in table.columns)
    named = ", ".join([*declared, *more])
    key = ", ".join(f'"{column}"' for column in table.key)
    kept_here = [f"split = '{split}'"] if split else []
    if queries:
        place = "id" if table.name == QUERIES.name else "query_id"
        kept_here.append(f"{place} IN (SELECT id FROM kept WHERE {queries})")
    where = f" WHERE {' AND '.join(kept_here)}" if kept_here else ""
    return f"SELECT {named} FROM {ROWS.get(table.name) or _of_work(table)}{where} ORDER BY {key}"


def _of_work(table: Published) -> str:
    """Rows of the work table of the same name that hang on what was kept."""
    found = table.name
    for column in table.columns:
        place = column.name.replace("-", "_")
        if column.refers == "queries.id":
            found += f" JOIN (SELECT query_id AS {place}, split FROM placed) USING ({place})"
        elif column.refers == "corpus.id":
            found += f" ANTI JOIN (SELECT corpus_id AS {place} FROM hidden) USING ({place})"
    return found
