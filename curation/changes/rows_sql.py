"""SQL of what differs, row by row, with a reason and a level for each row.

Every statement begins with `states`: what became of each query (`q`) and document (`d`), from which follows
why a pair came or went. Ids of articles are compared without their version (`curation.partition.keys_sql`).
"""

from __future__ import annotations

from curation.changes.reasons import WITHDRAWALS, Why
from curation.changes.sides import Side, Sides
from curation.partition.keys_sql import article_key
from schemas.published import Published
from schemas.stages import Reason
from schemas.tables import CORPUS, EXCLUDED, ORIGIN_CORPUS, ORIGIN_QUERIES, QRELS, QUERIES

CONTENT = ("text", "title", "image", "split")
"""What makes a kept row another row to whoever measures; the rest is told of it."""
_NEVER = frozenset({"since"})


def states(sides: Sides, is_other_rule: bool) -> str:
    """The CTEs `q` and `d`, and what they rest on.

    Args:
        sides: both releases.
        is_other_rule: whether the task's own stages have another version or other settings.
    """
    other = "true" if is_other_rule else "false"
    listed = ", ".join(f"'{reason}'" for reason in WITHDRAWALS)
    return f"""WITH lost AS ({sides.select("new", "drops", "id", "article_id", "reason", "detail", "unit")}),
    before AS ({sides.select("old", "drops", "id", "reason")}),
    taken AS MATERIALIZED (SELECT key, min(reason) AS reason FROM (
            SELECT unnest(if(unit = 'article', [id, article_id, {_key("id")}, {_key("article_id")}],
                [id])) AS key,
                reason FROM lost WHERE reason IN ({listed}))
        WHERE key <> '' GROUP BY key),
    left_out AS MATERIALIZED (SELECT id, min(reason) AS reason FROM lost GROUP BY id),
    were_out AS MATERIALIZED (SELECT id, min(reason) AS reason FROM before GROUP BY id),
    had AS MATERIALIZED (SELECT id, min({article_key("id")}) AS key FROM
        ({sides.select("old", "sources", "id")}) GROUP BY id),
    answered AS MATERIALIZED (SELECT DISTINCT "query-id", "corpus-id" FROM
        ({sides.select("new", "annotations", "query-id", "corpus-id")})),
    {_texts(sides, "d", CORPUS, ORIGIN_CORPUS)},
    {_reasons("d", other, "")},
    {_texts(sides, "q", QUERIES, ORIGIN_QUERIES)},
    orphans AS MATERIALIZED (SELECT r."query-id" AS id FROM old_qrels r LEFT JOIN d ON d.id = r."corpus-id"
        WHERE r.score > 0 GROUP BY 1 HAVING bool_and(d.reason = '{Why.WITHDRAWAL}')),
    {_reasons("q", other, "SELECT id, '1', 'no positive is left' FROM orphans")}"""


def _key(column: str) -> str:
    """The key of an article's id, or of a locator that names no source."""
    return article_key(f"(if(starts_with({column}, 'PMC'), 'pmc:' || {column}, {column}))")


def _texts(sides: Sides, name: str, table: Published, origin: Published) -> str:
    """CTE `<name>_met`: every row of either side of queries or corpus, and the columns that differ."""
    tells = ("article_id", "source_id", "patient_id", "split", "image_sha256")

    def one(side: Side) -> str:
        held = sides.columns.get(f"{side}_{origin.name}", ())
        told = ", ".join(
            f"coalesce(p.{column}, '') AS p_{column}" if column in held else f"'' AS p_{column}"
            for column in tells
        )
        return (
            f"SELECT t.*, {told} FROM {side}_{table.name} t LEFT JOIN {side}_{origin.name} p ON p.id = t.id"
        )

    compared = {column: column for column in sides.common(table) if column != "image"}
    compared |= {"p_image_sha256": "image", "p_split": "split"}
    differ = ", ".join(
        f"""if(o."{column}" IS DISTINCT FROM n."{column}", '{told}', NULL)"""
        for column, told in compared.items()
    )
    kept = ", ".join(
        f"coalesce(nullif(o.p_{column}, ''), n.p_{column}, '') AS {column}"
        for column in ("article_id", "source_id", "patient_id")
    )
    return f"""{name}_met AS MATERIALIZED (SELECT coalesce(o.id, n.id) AS id, {kept},
        CASE WHEN o.id IS NULL THEN 'added' WHEN n.id IS NULL THEN 'removed' ELSE 'kept' END AS side,
        if(o.id = n.id, list_filter([{differ}], lambda f: f IS NOT NULL), []::VARCHAR[]) AS fields
        FROM ({one("old")}) o FULL JOIN ({one("new")}) n ON n.id = o.id)"""


def _reasons(name: str, other: str, more: str) -> str:
    """CTE `<name>`: id, change, reason, detail, fields of each row of `<name>_met`; `kept` rows too.

    `more` is SQL of further rows that are withdrawn: id, rank among reasons, reason.
    """
    handles = f"[id, source_id, patient_id, article_id, {article_key('article_id')}]"
    also = f"UNION ALL {more}" if more else ""
    return f"""{name}_taken AS MATERIALIZED (SELECT id, substr(min(rank || reason), 2) AS reason FROM (
            SELECT m.id, '0' AS rank, t.reason FROM (SELECT id, unnest({handles}) AS key FROM {name}_met
                WHERE side = 'removed') m JOIN taken t ON t.key = m.key {also}) GROUP BY id),
    {name}_twins AS MATERIALIZED (SELECT a.id AS added, min(r.id) AS removed
        FROM {name}_met a JOIN {name}_met r ON r.source_id = a.source_id
        WHERE a.side = 'added' AND r.side = 'removed' AND a.source_id <> '' GROUP BY a.id),
    {name}_gone AS MATERIALIZED (SELECT removed AS id, min(added) AS other
        FROM {name}_twins GROUP BY removed),
    {name} AS MATERIALIZED (SELECT m.id, m.fields,
        CASE WHEN m.side <> 'kept' THEN m.side WHEN len(m.fields) > 0 THEN 'changed' ELSE 'kept' END
            AS change,
        CASE WHEN m.side = 'removed' THEN CASE
                WHEN t.id IS NOT NULL THEN '{Why.WITHDRAWAL}' WHEN g.id IS NOT NULL THEN '{Why.TEXT_CHANGED}'
                WHEN l.reason = '{Reason.NO_POSITIVE_LEFT}' THEN '{Why.REVIEW}'
                WHEN {other} THEN '{Why.RULE_VERSION}' ELSE '{Why.SELECTION}' END
            WHEN m.side = 'added' THEN CASE
                WHEN w.added IS NOT NULL THEN '{Why.TEXT_CHANGED}' WHEN h.key IS NULL THEN '{Why.NEW_ARTICLE}'
                WHEN NOT h.is_same THEN '{Why.ARTICLE_VERSION}'
                WHEN {other} THEN '{Why.RULE_VERSION}' ELSE '{Why.SELECTION}' END
            WHEN list_has_any(m.fields, ['text', 'title', 'image']) THEN '{Why.TEXT_CHANGED}'
            WHEN list_contains(m.fields, 'split') THEN '{Why.PARTITION}'
            ELSE '{Why.METADATA}' END AS reason,
        CASE WHEN m.side = 'removed' THEN coalesce(t.reason, 'now ' || g.other, 'dropped: ' || l.reason, '')
            WHEN m.side = 'added' THEN coalesce('was ' || w.removed, 'was dropped: ' || b.reason, '')
            ELSE '' END AS detail
        FROM {name}_met m LEFT JOIN {name}_taken t ON t.id = m.id LEFT JOIN {name}_gone g ON g.id = m.id
        LEFT JOIN {name}_twins w ON w.added = m.id LEFT JOIN left_out l ON l.id = m.id
        LEFT JOIN were_out b ON b.id = m.id
        LEFT JOIN (SELECT f.article_id, min(o.key) AS key, bool_or(o.id = f.article_id) AS is_same FROM
            (SELECT DISTINCT article_id FROM {name}_met WHERE side = 'added') f
            JOIN had o ON o.key = {article_key("f.article_id")} GROUP BY 1) h
            ON h.article_id = m.article_id)"""


def of_texts(table: Published) -> str:
    """SELECT of the changed rows of queries or corpus; follows `states`."""
    name = "q" if table is QUERIES else "d"
    content = ", ".join(f"'{field}'" for field in CONTENT)
    return f"""SELECT id AS key, change, reason, detail, fields, '' AS "from", '' AS "to",
        CASE WHEN change = 'added' THEN 'minor'
            WHEN change = 'removed' THEN
                if(reason = '{Why.WITHDRAWAL}' OR detail = 'dropped: {Reason.IN_NO_SET}', 'patch', 'major')
            ELSE if(list_has_any(fields, [{content}]), 'major', 'patch') END AS level
        FROM {name} WHERE change <> 'kept'"""


def of_pairs(sides: Sides, table: Published, is_other_rule: bool) -> str:
    """SELECT of the changed rows of qrels or excluded; follows `states`."""
    names = sides.common(table)
    differ = ", ".join(f"""if(o."{name}" IS DISTINCT FROM n."{name}", '{name}', NULL)""" for name in names)
    shown = [name for name in ("score", "label_status", "rule", "reason") if name in names]
    told = {side: " || ' ' || ".join(f"{side}.{name}" for name in shown) for side in ("o", "n")}
    is_label = table is QRELS
    reviewed = "n.label_status IN ('expert', 'adjudicated')" if is_label else "false"
    rule = "o.rule IS DISTINCT FROM n.rule" if is_label and "rule" in names else "false"
    other = "true" if is_other_rule else "false"
    content = "list_contains(fields, 'score')" if is_label else "false"
    return f"""SELECT "query-id" || ' ' || "corpus-id" AS key, change, CASE
            WHEN q_change = change AND change <> 'changed' THEN q_reason
            WHEN d_change = change AND change <> 'changed' THEN d_reason
            WHEN by_people THEN '{Why.REVIEW}' WHEN other_rule THEN '{Why.RULE_VERSION}'
            ELSE if(change = 'changed', '{Why.METADATA}', '{Why.SELECTION}') END AS reason,
        CASE WHEN q_change = change AND change <> 'changed' THEN 'with its query'
            WHEN d_change = change AND change <> 'changed' THEN 'with its document' ELSE '' END AS detail,
        fields, "from", "to", CASE
            WHEN change = 'changed' THEN if({content}, 'major', 'patch')
            WHEN change = 'added' THEN if('added' IN (q_change, d_change), 'minor', 'major')
            WHEN '{Why.WITHDRAWAL}' IN (if(q_change = 'removed', q_reason, ''),
                if(d_change = 'removed', d_reason, '')) THEN 'patch' ELSE 'major' END AS level
        FROM (SELECT m.*, q.change AS q_change, q.reason AS q_reason, d.change AS d_change,
                d.reason AS d_reason, m.is_reviewed OR a."query-id" IS NOT NULL AS by_people
            FROM (SELECT coalesce(o."query-id", n."query-id") AS "query-id",
                    coalesce(o."corpus-id", n."corpus-id") AS "corpus-id",
                    CASE WHEN o."query-id" IS NULL THEN 'added' WHEN n."query-id" IS NULL THEN 'removed'
                        ELSE 'changed' END AS change,
                    if(o."query-id" = n."query-id", list_filter([{differ}], lambda f: f IS NOT NULL),
                        []::VARCHAR[]) AS fields,
                    coalesce({told["o"]}, '') AS "from",
                    coalesce({told["n"]}, '') AS "to", coalesce({reviewed}, false) AS is_reviewed,
                    {other} OR (o."query-id" = n."query-id" AND {rule}) IS TRUE AS other_rule
                FROM old_{table.name} o FULL JOIN new_{table.name} n
                    ON n."query-id" = o."query-id" AND n."corpus-id" = o."corpus-id") m
            LEFT JOIN q ON q.id = m."query-id" LEFT JOIN d ON d.id = m."corpus-id"
            LEFT JOIN answered a ON a."query-id" = m."query-id" AND a."corpus-id" = m."corpus-id"
            WHERE m.change <> 'changed' OR len(m.fields) > 0)"""


def of_others(sides: Sides, table: Published, *, is_told: bool = True) -> str:
    """SELECT of the changed rows of any other table, by its key; follows `states` if reasons are told."""
    names = [name for name in sides.common(table) if name not in _NEVER]
    differ = ", ".join(f"""if(o."{name}" IS DISTINCT FROM n."{name}", '{name}', NULL)""" for name in names)
    both = " AND ".join(f'n."{name}" = o."{name}"' for name in table.key)
    first = f'"{table.key[0]}"'
    key = " || ' ' || ".join(f'coalesce(o."{name}", n."{name}")::VARCHAR' for name in table.key)
    refers = next((column.refers for column in table.columns if column.name == table.key[0]), "")
    held = {"queries.id": "q", "corpus.id": "d"}.get(refers, "") if is_told else ""
    joined = f"LEFT JOIN {held} s ON s.id = m.first" if held else ""
    reason = f"if(s.change = m.change AND m.change <> 'changed', s.reason, '{Why.METADATA}')"
    why = reason if held else f"'{Why.METADATA}'"
    return f"""SELECT m.key, m.change, {why} AS reason, '' AS detail, m.fields,
        '' AS "from", '' AS "to", 'patch' AS level FROM (
            SELECT {key} AS key, coalesce(o.{first}, n.{first})::VARCHAR AS first,
                CASE WHEN o.{first} IS NULL THEN 'added' WHEN n.{first} IS NULL THEN 'removed'
                    ELSE 'changed' END AS change,
                if(o.{first} IS NULL OR n.{first} IS NULL, []::VARCHAR[],
                    list_filter([{differ or "NULL::VARCHAR"}], lambda f: f IS NOT NULL)) AS fields
            FROM old_{table.name} o FULL JOIN new_{table.name} n ON {both}) m {joined}
        WHERE m.change <> 'changed' OR len(m.fields) > 0"""


def of_table(sides: Sides, table: Published, is_other_rule: bool, *, is_told: bool = True) -> str:
    """One whole statement: the changed rows of a table that both releases have.

    Args:
        sides: both releases.
        table: any published table.
        is_other_rule: whether the task's own stages have another version or other settings.
        is_told: whether reasons of rows of further tables are told, which takes its time.
    """
    if table in (QUERIES, CORPUS):
        rows = of_texts(table)
    elif table in (QRELS, EXCLUDED):
        rows = of_pairs(sides, table, is_other_rule)
    else:
        rows = of_others(sides, table, is_told=is_told)
        if not is_told:
            return rows
    return f"{states(sides, is_other_rule)} {rows}"
