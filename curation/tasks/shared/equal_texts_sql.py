"""SQL that finds the documents of equal texts: the smallest id of each stands for all.

Normalising a text (`schemas.hashing.normalise_text`) is the dearest thing a set stage does, so it is done
only for texts that agree in how often they hold some letters and digits: of ASCII texts those are counted at
once.
"""

from __future__ import annotations

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
