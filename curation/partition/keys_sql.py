"""SQL of what every query and its positives rest on: articles, patients, texts, images, target concepts.

Views it reads: `<task>_queries`, `<task>_qrels`, `<task>_documents`, `<task>_images` of a task whose rows may
have several, `images`, `published`, `merged`, `near_queries`. Texts are the same when
`schemas.hashing.normalise_text` makes them so: whoever opens the database makes that function known to it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from curation.partition.components_sql import components
from curation.similarity.hashes_sql import MASKS, NEAR, is_telling
from curation.tasks.registry import by_lot, level, listing_images
from schemas.overlap_policy import DIMENSIONS, Dimension
from schemas.task import Side

IS_ARTICLE = "article_id <> '' AND NOT starts_with(article_id, 'questions:')"
"""SQL: a row is of an article. A file of questions is none: its questions share where they were found."""


def literal(text: str) -> str:
    """Text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def article_key(column: str) -> str:
    """`schemas.ids.family_key` in SQL."""
    name = f"substr({column}, strpos({column}, ':') + 1)"
    return (
        f"CASE WHEN starts_with({column}, 'pmc:') THEN 'pmc:' || regexp_replace({name}, '\\.[^.]*$', '')"
        f" WHEN starts_with({column}, 'europepmc:') AND regexp_full_match({name}, '(?i)(PMC)?[0-9]{{1,12}}')"
        f" THEN 'pmc:' || {name} ELSE {column} END"
    )


def patient_key(column: str) -> str:
    """A case id with its article's version left out."""
    article = f"split_part({column}, '#', 1)"
    return f"({article_key(article)}) || substr({column}, length({article}) + 1)"


def dimensions_of(task: str) -> tuple[Dimension, ...]:
    """Dimensions along which the task may share nothing."""
    return tuple(dimension for dimension in DIMENSIONS if level(task, task, dimension) == "zero")


def union(parts: Sequence[str]) -> str:
    """UNION ALL of some SELECTs."""
    return "\n        UNION ALL ".join(parts)


def candidates(tasks: Sequence[str], weights: Mapping[str, int], leave_out: Collection[str]) -> str:
    """Every query with its worth and what is published of it.

    A task that draws articles counts them, not queries: an article is worth the same with one figure and ten.

    Args:
        tasks: task names.
        weights: millionths, for every task.
        leave_out: ids of queries that may not be released.
    """
    listed = union(
        [f'SELECT {literal(t)} AS task, id AS query_id, article_id FROM "{t}_queries"' for t in tasks]
    )
    named = ", ".join(map(literal, sorted(leave_out))) or "NULL"
    weight = " ".join(f"WHEN {literal(task)} THEN {weights[task]}" for task in tasks)
    drawing = ", ".join(map(literal, by_lot(tasks))) or "NULL"
    return f"""
    WITH listed AS (SELECT *, coalesce(query_id IN ({named}), false) AS is_left_out FROM ({listed})),
    sized AS (
        SELECT task, CASE WHEN task IN ({drawing}) THEN {article_key("article_id")} ELSE '' END AS article,
            count(*) AS n FROM listed WHERE NOT is_left_out GROUP BY ALL),
    shares AS (
        SELECT *, CASE WHEN task IN ({drawing}) THEN n * count(*) OVER (PARTITION BY task) ELSE n END AS parts
        FROM sized),
    earlier AS (
        SELECT task, query_id, arg_min(split, "order") AS split, arg_min(since, "order") AS since,
            min("order") AS "order" FROM published GROUP BY ALL)
    SELECT row_number() OVER (ORDER BY md5(l.query_id), l.task, l.query_id) - 1 AS number, l.task, l.query_id,
        l.article_id,
        greatest(1, (CASE l.task {weight} END)::BIGINT * 1000000000 // coalesce(s.parts, 1)) AS worth,
        l.is_left_out, e.split, coalesce(e.since, '') AS since, e."order"
    FROM listed AS l LEFT JOIN shares AS s ON s.task = l.task
        AND s.article = CASE WHEN l.task IN ({drawing}) THEN {article_key("l.article_id")} ELSE '' END
    LEFT JOIN earlier AS e ON e.task = l.task AND e.query_id = l.query_id"""


def _positives(task: str) -> str:
    return f'(SELECT DISTINCT query_id, corpus_id FROM "{task}_qrels" WHERE score > 0)'


def _further(task: str, side: Side) -> str:
    """Every image of queries, or of positive documents, that have several."""
    positive = f" AND id IN (SELECT corpus_id FROM {_positives(task)})" if side == "document" else ""
    return f"""(SELECT id, image FROM "{task}_images" WHERE side = '{side}'{positive})"""


def likenesses(tasks: Sequence[str]) -> str:
    """Family keys of every perceptual hash in use.

    A published hash stands for itself alone, so that nothing published moves. Another one stands for itself,
    for the smallest hash of its cluster (closed over other unpublished ones) and for every published one near
    it: a new image that resembles two published ones belongs to both.
    """
    used = union(
        [f'SELECT image.sha256 AS sha256 FROM "{task}_queries" WHERE image IS NOT NULL' for task in tasks]
        + [
            f'SELECT image.sha256 FROM "{task}_documents" WHERE image IS NOT NULL'
            f" AND id IN (SELECT corpus_id FROM {_positives(task)})"
            for task in tasks
        ]
        + [
            f"SELECT image.sha256 FROM {_further(task, side)}"
            for task in listing_images(tasks)
            for side in ("query", "document")
        ]
    )
    near = "SELECT one::BIGINT AS u, other::BIGINT AS v FROM near_new"
    return f"""
    WITH RECURSIVE used AS ({used}),
    known AS (SELECT DISTINCT substr(key, 7) AS phash FROM published
        WHERE dimension = 'image_family' AND starts_with(key, 'phash:')),
    hashes AS MATERIALIZED (
        SELECT lower(phash) AS phash, try_cast('0x' || phash AS UBIGINT) AS bits,
            bool_or(is_known) AS is_known, bool_or(NOT is_known) AS is_used
        FROM (SELECT phash, false AS is_known FROM images WHERE sha256 IN (SELECT sha256 FROM used)
            UNION ALL SELECT phash, true FROM known)
        WHERE bits IS NOT NULL AND length(phash) = 16 AND {is_telling("bits")}
        GROUP BY ALL),
    numbered AS MATERIALIZED (SELECT *, row_number() OVER (ORDER BY phash) AS n FROM hashes),
    parts AS MATERIALIZED (
        SELECT h.n, h.bits, h.is_known, (m.number::HUGEINT << 64) | (h.bits & m.mask)::HUGEINT AS part
        FROM numbered AS h CROSS JOIN (VALUES {MASKS}) AS m(number, mask)),
    near AS MATERIALIZED (
        SELECT DISTINCT a.n AS one, b.n AS other, a.is_known AS one_known, b.is_known AS other_known
        FROM parts AS a JOIN parts AS b ON a.part = b.part AND a.n < b.n
        WHERE bit_count(xor(a.bits, b.bits)) <= {NEAR} AND NOT (a.is_known AND b.is_known)),
    near_new AS (SELECT one, other FROM near WHERE NOT one_known AND NOT other_known),
    {components("cluster", "SELECT n::BIGINT AS node FROM numbered WHERE NOT is_known", near)}
    SELECT phash, 'phash:' || phash AS key FROM numbered WHERE is_used
    UNION SELECT a.phash, 'phash:' || b.phash FROM cluster AS c
        JOIN numbered AS a ON a.n = c.node JOIN numbered AS b ON b.n = c.root
    UNION SELECT a.phash, 'phash:' || b.phash FROM near AS p
        JOIN numbered AS a ON a.n = p.one JOIN numbered AS b ON b.n = p.other
        WHERE NOT one_known AND other_known
    UNION SELECT b.phash, 'phash:' || a.phash FROM near AS p
        JOIN numbered AS a ON a.n = p.one JOIN numbered AS b ON b.n = p.other
        WHERE one_known AND NOT other_known"""


def _image_keys(view: str, id_columns: str) -> list[str]:
    return [
        f"SELECT {id_columns}, 'image_family', 'sha256:' || image.sha256 FROM {view}"
        " WHERE image.sha256 <> ''",
        f"SELECT {id_columns}, 'image_family', f.key FROM {view} AS v"
        " JOIN family AS f ON f.sha256 = v.image.sha256",
    ]


def _own(task: str) -> list[str]:
    view, ids = f'"{task}_queries"', f"{literal(task)}, id"
    parts = [
        f"SELECT {ids}, 'article', {article_key('article_id')} FROM {view} WHERE {IS_ARTICLE}",
        f"SELECT {ids}, 'patient', {patient_key('patient_id')} FROM {view} WHERE patient_id <> ''",
        f"SELECT {ids}, 'query', sha256(normalise_text(text)) FROM {view} WHERE normalise_text(text) <> ''",
        f"SELECT {ids}, 'query', 'family:' || family FROM {view} WHERE family <> ''",
        *_image_keys(view, ids),
        *(part for _ in listing_images([task]) for part in _image_keys(_further(task, "query"), ids)),
    ]
    if "target_concept" in dimensions_of(task):
        parts.append(
            f"SELECT {ids}, 'target_concept', coalesce(c.canonical, t.concept)"
            f" FROM (SELECT id, unnest(targets) AS concept FROM {view}) AS t"
            " LEFT JOIN canonical AS c ON c.concept = t.concept WHERE t.concept <> ''"
        )
    return parts


def _of_documents(task: str) -> list[str]:
    chosen = f'(SELECT * FROM "{task}_documents" WHERE id IN (SELECT corpus_id FROM {_positives(task)}))'
    ids = f"{literal(task)}, id"
    return [
        f"SELECT {ids}, 'article', {article_key('article_id')} FROM {chosen} WHERE article_id <> ''",
        f"SELECT {ids}, 'patient', {patient_key('patient_id')} FROM {chosen} WHERE patient_id <> ''",
        *_image_keys(chosen, ids),
        *(part for _ in listing_images([task]) for part in _image_keys(_further(task, "document"), ids)),
    ]


CANONICAL = f"""
    WITH RECURSIVE ends AS (SELECT concept AS name FROM merged UNION SELECT canonical FROM merged),
    named AS MATERIALIZED (SELECT name, row_number() OVER (ORDER BY name) AS n,
        name NOT IN (SELECT concept FROM merged WHERE concept <> canonical) AS is_last FROM ends),
    {
    components(
        "one",
        "SELECT n::BIGINT AS node FROM named",
        "SELECT a.n::BIGINT AS u, b.n::BIGINT AS v FROM merged AS m"
        " JOIN named AS a ON a.name = m.concept JOIN named AS b ON b.name = m.canonical",
    )
}
    SELECT m.name AS concept, first_value(m.name) OVER (PARTITION BY o.root ORDER BY m.is_last DESC, m.name)
        AS canonical
    FROM one AS o JOIN named AS m ON m.n = o.node"""
"""Merges of merges followed to the end; of concepts merged in a circle the first by name stands for all."""

_FAMILY = """WITH family AS (
        SELECT DISTINCT i.sha256, l.key FROM images AS i JOIN likenesses AS l ON l.phash = lower(i.phash))"""


_NEAR_QUERIES = "SELECT task, query_id, 'query', key FROM near_queries"


def own(tasks: Sequence[str]) -> str:
    """What every query itself rests on."""
    return f"""{_FAMILY},
    every(task, query_id, dimension, key) AS (
        {union([*(part for task in tasks for part in _own(task)), _NEAR_QUERIES])})
    SELECT DISTINCT c.number, e.dimension, e.key FROM every AS e
    JOIN candidates AS c ON c.task = e.task AND c.query_id = e.query_id"""


def of_documents(tasks: Sequence[str]) -> str:
    """What every document that is a positive rests on."""
    return f"""{_FAMILY},
    every(task, corpus_id, dimension, key) AS (
        {union([part for task in tasks for part in _of_documents(task)])})
    SELECT DISTINCT * FROM every"""


def positives(tasks: Sequence[str]) -> str:
    """Pairs with a positive grade."""
    pairs = union([f"SELECT {literal(task)} AS task, * FROM {_positives(task)}" for task in tasks])
    return f"""SELECT c.number, p.task, p.corpus_id FROM ({pairs}) AS p
    JOIN candidates AS c ON c.task = p.task AND c.query_id = p.query_id"""
