"""The rule on withdrawals: nothing that the release lists as withdrawn is there, nor what rests on it."""

from __future__ import annotations

from functools import partial

from curation.audit.rule import Check, Context, Defect, Rule
from curation.audit.rules.planting import add_row, new_row
from curation.audit.rules.text_rows import literal
from curation.partition.keys_sql import article_key
from curation.release.withdrawal import LISTED, of_published
from schemas.image_tables import ORIGIN_IMAGES
from schemas.larger_tables import PARTS
from schemas.withdrawal import REASONS

_CODES = ", ".join(map(literal, REASONS))


def _plant(id: str, unit: str, table: str, where: str = "rowid = 0") -> str:
    """SQL: what a row rests on is put on the list."""
    return f"""INSERT INTO withdrawn BY NAME SELECT {id} AS id, '{unit}' AS unit, 'privacy' AS reason,
        'canary' AS notice, '' AS parent FROM {table} WHERE {where} RETURNING id"""


def _plant_image(kind: str) -> str:
    """SQL: one of several images of a row is put on the list; the id of the row is named."""
    which = (
        f"(SELECT id, image_source_sha256 AS image FROM {ORIGIN_IMAGES.name} WHERE side = '{kind}' LIMIT 1)"
    )
    return f"""INSERT INTO withdrawn BY NAME SELECT image AS id, 'image' AS unit, 'privacy' AS reason,
        'canary' AS notice, '' AS parent FROM {which}; SELECT id FROM {which}"""


_A_PART = Defect(
    "a passage on the list that stands in a document",
    f"""INSERT INTO {PARTS.name} BY NAME SELECT min("corpus-id") AS "corpus-id", 99 AS position,
        'passage' AS kind, 'canary#p1' AS part_id, '' AS left_out FROM {PARTS.name};
    INSERT INTO withdrawn BY NAME SELECT 'canary#p1' AS id, 'passage' AS unit, 'privacy' AS reason,
        'canary' AS notice, '' AS parent;
    SELECT min("corpus-id") FROM {PARTS.name}""",
)


def _gone(kind: str, c: str, context: Context) -> str:
    """Rows of one side that rest on what was withdrawn."""
    with_images, with_parts = (name in context.views for name in (ORIGIN_IMAGES.name, PARTS.name))
    resting = of_published(kind, with_images=with_images, with_parts=with_parts)
    return f"SELECT id AS {c}, gone AS withdrawn, reason FROM ({resting})"


def _rows(table: str, c: str, kind: str) -> Check:
    """Rows of one side."""
    listed = [
        ("an article with", "split_part(article_id, '#', 1)", "article"),
        ("the id of", "id", kind),
        ("the patient of", "patient_id", "patient"),
        ("the image of", "image_source_sha256", "image"),
    ]
    first = "id = (SELECT min(id) FROM {table} WHERE coalesce({column}, '') <> '')"
    return Check(
        f"the {kind} rests on {{withdrawn}}, which was withdrawn ({{reason}})",
        partial(_gone, kind, c),
        (
            *(
                Defect(
                    f"{told} a {kind} on the list",
                    _plant(column, unit, table, first.format(table=table, column=column)),
                )
                for told, column, unit in listed
            ),
            Defect(f"one of several images of a {kind} on the list", _plant_image(kind)),
            *([_A_PART] if kind == "document" else []),
        ),
    )


RULES = (
    Rule(
        "withdrawn",
        1,
        "What was withdrawn is gone",
        "No query, document, source or quote of evidence is, or rests on, what provenance/withdrawn lists: "
        "an article in any version, a figure, image, passage or patient, or a row by its own id. Every line "
        "has a reason of the closed list, and those that went with another one name it.",
        "error",
        "withdrawn things",
        checks=(
            _rows("provenance_queries", "q", "query"),
            _rows("provenance_corpus", "c", "document"),
            Check(
                "the article {withdrawn} is among the sources, and was withdrawn ({reason})",
                f"""SELECT s.id AS sources, w.id AS withdrawn, w.reason FROM sources s
                    JOIN ({LISTED}) AS w ON w.handle = {article_key("s.id")}""",
                Defect("a source on the list", _plant("id", "article", "sources")),
            ),
            Check(
                "the reason {reason!r} is none of the closed list",
                f"""SELECT id AS withdrawn, reason FROM withdrawn
                    WHERE coalesce(reason NOT IN ({_CODES}), true)""",
                Defect(
                    "a reason that is not on the list",
                    new_row("withdrawn", {"id": "canary:why", "unit": "article", "reason": "canary"})
                    + " RETURNING id",
                ),
            ),
            Check(
                "it went with {with}, which is not on the list",
                """SELECT id AS withdrawn, parent AS "with" FROM withdrawn AS w
                    WHERE parent <> '' AND parent NOT IN (SELECT id FROM withdrawn)""",
                Defect(
                    "one that went with what is not on the list",
                    add_row("withdrawn", "'canary:lost' AS id, 'canary:gone' AS parent"),
                ),
            ),
        ),
        compared="FROM withdrawn",
        about=("withdrawn",),
        holds="list of what was withdrawn",
        tables=("provenance_queries", "provenance_corpus", "provenance_qrels", "sources"),
    ),
)
