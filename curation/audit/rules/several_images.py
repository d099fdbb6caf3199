"""Rules on rows with several images: as recorded, in order, captions where they may stand, labels agree."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow.parquet as pq

from curation.audit.rule import Check, Collector, Context, Defect, Outcome, Rule, side
from curation.audit.rules.planting import GONE, add_row, drop_row, new_row, set_row
from curation.audit.rules.text_rows import literal
from curation.extract.neutralise import restore
from curation.images.decode import open_image
from curation.tasks.registry import TASKS
from curation.tasks.shared.several_images import MOST
from schemas.benchmark import Transform
from schemas.errors import InputError
from schemas.hashing import sha256_bytes, sha256_text
from schemas.image_tables import ORIGIN_IMAGES, ROW_IMAGES
from schemas.larger_tables import PASSAGE_LABELS

_ROWS, _FROM = ROW_IMAGES.name, ORIGIN_IMAGES.name
_LOOKED = "_several_images_looked"
"""Under this name what is wrong with the images is kept with the context."""
_AT_ONCE = 20
_UNDECODED = "an image of the row does not decode"
_OTHER = "an image of the row is not the one provenance records, or either is missing"
_NOT_FIRST = "the first image is not that of the query or document itself"
_CAPTION = "a caption does not lead back to its source"
Place = tuple[str, str, int]
"""Side, id and 1-based position of an image."""
_OF_SIDES = """(SELECT 'query' AS side, id, image_sha256 FROM provenance_queries
    UNION ALL SELECT 'document', id, image_sha256 FROM provenance_corpus)"""


def _looked(context: Context) -> list[tuple[str, str]]:
    """What is wrong with an image or caption, and the row's id: every image decoded once for all checks."""
    held = vars(context)
    if _LOOKED not in held:
        held[_LOOKED] = sorted(set(_faults(context)))
    found: list[tuple[str, str]] = held[_LOOKED]
    return found


def _faults(context: Context) -> Iterator[tuple[str, str]]:
    columns = "side, id, position, image_sha256, caption_sha256, to_json(caption_transforms) AS changes"
    recorded: dict[Place, Mapping[str, Any]] = {
        (row["side"], row["id"], row["position"]): row
        for row in context.rows(f"SELECT {columns} FROM {_FROM}", _FROM)
    }
    own = {
        (row["side"], row["id"]): row["image_sha256"]
        for row in context.rows(
            f"SELECT * FROM {_OF_SIDES} AS o SEMI JOIN {_ROWS} USING (side, id)",
            *("provenance_queries", "provenance_corpus", _ROWS),
        )
    }
    for row, position, digest, is_whole in _images(context):
        which = row["side"], row["id"]
        told = recorded.pop((*which, position), None)
        if told is None or digest != told["image_sha256"]:
            yield _OTHER, row["id"]
        if not is_whole:
            yield _UNDECODED, row["id"]
        if position == 1 and digest != own.get(which):
            yield _NOT_FIRST, row["id"]
        if told and not _leads_back(row["captions"], position, told):
            yield _CAPTION, row["id"]
    for _, name, _ in recorded:
        yield _OTHER, name


def _images(context: Context) -> Iterator[tuple[Mapping[str, Any], int, str, bool]]:
    """Row, position, hash of the bytes and whether they decode, of every image; few rows at a time."""
    for path in context.on_disk(context.subject, _ROWS)[_ROWS]:
        for batch in pq.ParquetFile(path).iter_batches(_AT_ONCE):
            rows = batch.to_pylist()
            data = [(image or {}).get("bytes") or b"" for row in rows for image in row["images"]]
            places = [(row, at) for row in rows for at in range(1, len(row["images"]) + 1)]
            for (row, at), (digest, is_whole) in zip(
                places, context.pool.map(_seen, data, chunksize=_AT_ONCE), strict=True
            ):
                yield row, at, digest, is_whole


def _seen(data: bytes) -> tuple[str, bool]:
    """Hash of an image, and whether it decodes."""
    try:
        open_image(data)
    except InputError:
        return sha256_bytes(data), False
    return sha256_bytes(data), True


def _leads_back(captions: Sequence[str], position: int, told: Mapping[str, Any]) -> bool:
    """Whether the changes of a caption undone give the caption whose hash is recorded."""
    if len(captions) < position:
        return not told["caption_sha256"]
    changes = [Transform(**change) for change in json.loads(told["changes"] or "[]") or ()]
    source: str = restore(captions[position - 1], changes)
    return bool(sha256_text(source) == told["caption_sha256"])


def _told(kind: str, context: Context) -> Outcome:
    """Rows of which one thing is wrong."""
    found = Collector("several_images", "error")
    for message, name in _looked(context):
        if message == kind:
            found.add(message, side(_ROWS, name))
    return found.outcome(0)


def _hidden(context: Context) -> str:
    """Captions on a side whose task may not show them."""
    task = TASKS.get(context.subject.task)
    shown = ", ".join(map(literal, sorted(task.shows_captions))) if task else ""
    return f"""SELECT id AS {_ROWS} FROM {_ROWS}
        WHERE len(captions) > 0 AND side NOT IN (SELECT unnest([{shown}]::VARCHAR[]))"""


_UNORDERED = f"""SELECT DISTINCT id AS {_ROWS} FROM (
        SELECT id, figure_number * 10000 + graphic_number AS place,
            lag(figure_number * 10000 + graphic_number) OVER (PARTITION BY side, id ORDER BY position) AS last
        FROM {_FROM}) WHERE last >= place"""
_LICENCE = f"""SELECT i.id AS {_ROWS} FROM {_ROWS} AS i JOIN (
        SELECT 'query' AS side, id, license FROM queries UNION ALL SELECT 'document', id, license FROM corpus
    ) AS r USING (side, id) WHERE r.license IS DISTINCT FROM i.license"""
_CITES = "rule LIKE 'visual_context/cites-%'"
_LIFTED = '(SELECT DISTINCT "corpus-id" FROM parts) AS p USING ("corpus-id")'
_OF_PASSAGES = f"""labelled AS (SELECT "query-id", "corpus-id", score, rule FROM qrels ANTI JOIN {_LIFTED}
        UNION ALL SELECT "query-id", passage_id, score, rule FROM {PASSAGE_LABELS.name}
        WHERE score IS NOT NULL),
    aside AS (SELECT "query-id", "corpus-id", reason FROM excluded ANTI JOIN {_LIFTED}
        UNION ALL SELECT "query-id", passage_id, reason FROM {PASSAGE_LABELS.name} WHERE score IS NULL)"""
_OF_DOCUMENTS = "labelled AS (FROM qrels), aside AS (FROM excluded)"
_OVER_SEVERAL = f"""several AS (SELECT id AS q, list(DISTINCT figure_id) AS figures FROM {_FROM}
        WHERE side = 'query' GROUP BY id HAVING count(DISTINCT figure_id) > 1),
    single AS (SELECT s.q, o.id AS one, len(s.figures) AS figures FROM several AS s
        JOIN provenance_queries AS o ON list_contains(s.figures, o.source_id)),
    citing AS (SELECT "query-id" AS one, "corpus-id" AS c FROM labelled
        WHERE score = 2 AND {_CITES} AND rule NOT LIKE 'visual_context/cites-all@%')"""
"""Queries over several figures of visual_context, the queries of each of these figures, what cites it."""
_CITES_NOT_ALL = """
    SELECT DISTINCT r."query-id" AS q, r."corpus-id" AS c FROM labelled AS r
    JOIN single AS s ON s.q = r."query-id" ANTI JOIN citing AS k ON k.one = s.one AND k.c = r."corpus-id"
    LEFT JOIN aside AS e ON e."query-id" = s.one AND e."corpus-id" = r."corpus-id"
    WHERE r.score > 0 AND r.rule LIKE 'visual_context/cites-all@%' AND coalesce(e.reason, '') IN (
        '', 'own_article')"""
_CITES_EACH = """
    SELECT DISTINCT e."query-id" AS q, e."corpus-id" AS c FROM aside AS e
    JOIN single AS s ON s.q = e."query-id" JOIN citing AS k ON k.one = s.one AND k.c = e."corpus-id"
    WHERE e.reason = 'cites_some'
    GROUP BY e."query-id", e."corpus-id" HAVING count(DISTINCT s.one) >= any_value(s.figures)"""
_CITES_ONE = """
    SELECT DISTINCT s.q, k.c FROM single AS s JOIN citing AS k ON k.one = s.one
    ANTI JOIN labelled AS r ON r."query-id" = s.q AND r."corpus-id" = k.c
    ANTI JOIN (SELECT * FROM aside WHERE reason <> 'own_article') AS e
        ON e."query-id" = s.q AND e."corpus-id" = k.c"""


def _of_pairs(text: str, context: Context) -> str:
    """A statement over labels of what cites: where documents are sections or articles, of their passages."""
    pairs = _OF_PASSAGES if PASSAGE_LABELS.name in context.views else _OF_DOCUMENTS
    return f"WITH {pairs}, {_OVER_SEVERAL}{text}"


_ASKED, _DOCUMENT = "canary:several", "canary:passage"


def _over_two(*pairs: str) -> str:
    """SQL: a query over the figures of two other queries, some pairs of the three with one document."""
    planted = []
    for number in (1, 2):
        figure = f"canary#F{number}"
        row = {"side": "query", "id": _ASKED, "position": number, "figure_id": figure}
        planted += [
            new_row(_FROM, row),
            new_row("provenance_queries", {"id": f"canary:{number}", "source_id": figure}),
        ]
    named = f"""SELECT '{_ASKED}' AS "query-id", '{_DOCUMENT}' AS "corpus-id\""""
    return "; ".join((*planted, *pairs, named))


def _cites(query: str, rule: str = "xref") -> str:
    row = {"query-id": query, "corpus-id": _DOCUMENT, "score": 2, "rule": f"visual_context/cites-{rule}@1"}
    return new_row("qrels", row)


def _set_aside(query: str, reason: str) -> str:
    return new_row("excluded", {"query-id": query, "corpus-id": _DOCUMENT, "reason": reason})


LABELS = (
    Check(
        "a passage is positive for several figures although it does not cite one of them",
        partial(_of_pairs, _CITES_NOT_ALL),
        (
            Defect(
                "a positive that cites one figure of two",
                _over_two(_cites(_ASKED, "all"), _cites("canary:1")),
            ),
            Defect(
                "a positive set aside for one of its figures as merely of the same article",
                _over_two(_cites(_ASKED, "all"), _cites("canary:1"), _set_aside("canary:2", "own_article")),
            ),
        ),
    ),
    Check(
        "a passage that cites every figure of the query is set aside as citing some",
        partial(_of_pairs, _CITES_EACH),
        Defect(
            "a passage that cites both figures, called one that cites some",
            _over_two(_set_aside(_ASKED, "cites_some"), _cites("canary:1"), _cites("canary:2")),
        ),
    ),
    Check(
        "a passage that cites one figure of the query is neither labelled nor set aside for that",
        partial(_of_pairs, _CITES_ONE),
        (
            Defect("a passage that cites one figure, unjudged for both", _over_two(_cites("canary:1"))),
            Defect(
                "a passage that cites one figure, set aside as merely of the same article",
                _over_two(_cites("canary:1"), _set_aside(_ASKED, "own_article")),
            ),
        ),
    ),
)


def _each(value: str) -> str:
    """SQL: a list of one value, as long as the images."""
    return f"list_transform(images, lambda one: {value})"


_EMPTY = _each("''")
IMAGES = (
    Check(
        "the row is of no published query or document",
        f"""SELECT id AS {_ROWS} FROM {_ROWS} WHERE NOT coalesce(
            side = 'query' AND id IN (SELECT id FROM queries)
            OR side = 'document' AND id IN (SELECT id FROM corpus), false)""",
        (
            Defect("images of a row that is not published", set_row(_ROWS, f"id = '{GONE}'")),
            Defect("images of a row of the other side", set_row(_ROWS, "side = 'canary'")),
        ),
    ),
    Check(
        f"the row has not 2 to {MOST} images",
        f"SELECT id AS {_ROWS} FROM {_ROWS} WHERE coalesce(len(images), 0) NOT BETWEEN 2 AND {MOST}",
        (
            Defect("a row with one image", set_row(_ROWS, "images = images[1:1]")),
            Defect(
                f"a row with more than {MOST} images",
                set_row(_ROWS, f"images = list_transform(range({MOST + 1}), lambda n: images[1])"),
            ),
        ),
    ),
    Check(
        _UNDECODED,
        partial(_told, _UNDECODED),
        Defect(
            "an image that is none",
            set_row(_ROWS, "images = " + _each("{'bytes': 'canary'::BLOB, 'path': 'canary.png'}")),
        ),
    ),
    Check(
        _OTHER,
        partial(_told, _OTHER),
        (
            Defect("another image than the one recorded", set_row(_FROM, "image_sha256 = repeat('0', 64)")),
            Defect("an image without a record", drop_row(_FROM)),
            Defect("a record without an image", add_row(_FROM, "99 AS position")),
        ),
    ),
    Check(
        _NOT_FIRST,
        partial(_told, _NOT_FIRST),
        Defect("images in reverse order", set_row(_ROWS, "images = list_reverse(images)")),
    ),
    Check(
        "the images are not in the order of the article",
        _UNORDERED,
        Defect(
            "a figure before one that comes earlier",
            set_row(_FROM, "figure_number = 9000, graphic_number = 1"),
        ),
    ),
    Check(
        "captions stand where the task may not show them",
        _hidden,
        Defect(
            "a caption on a side that may show none", set_row(_ROWS, "side = 'canary', captions = ['canary']")
        ),
    ),
    Check(
        "there is not one caption for each image",
        f"SELECT id AS {_ROWS} FROM {_ROWS} WHERE len(captions) NOT IN (0, len(images))",
        Defect("a caption too many", set_row(_ROWS, f"captions = list_append({_EMPTY}, 'canary')")),
    ),
    Check(
        _CAPTION,
        partial(_told, _CAPTION),
        Defect("captions that nobody wrote", set_row(_ROWS, "captions = " + _each("'canary'"))),
    ),
    Check(
        "the row has another licence than its query or document",
        _LICENCE,
        Defect("images under another licence", set_row(_ROWS, "license = 'canary'")),
    ),
)
_rule = partial(Rule, severity="error", about=(_ROWS,), holds="rows with several images")
RULES = (
    _rule(
        "several_images",
        1,
        "Rows with several images",
        "Every row of the table images is of a published query or document and has its licence; it has 2 to "
        f"{MOST} images in the order of the article; they decode and are those provenance records; the first "
        "is that of the query or document itself. There is a caption for each image or for none, none on a "
        "side whose task may not show it, and each leads back to the source caption.",
        unit="rows",
        checks=IMAGES,
        compared=f"FROM {_ROWS}",
        tables=(_FROM, "queries", "corpus", "provenance_queries", "provenance_corpus"),
    ),
    _rule(
        "cites_all",
        2,
        "Positives of several figures cite all",
        "Where a query of visual_context asks for several figures, the labels of the queries of each figure "
        "agree with its own: a positive cites every figure, what cites each of them is not set aside as "
        "citing some, and what cites one is labelled or set aside for a reason of its own.",
        unit="pairs",
        checks=LABELS,
        compared="FROM qrels WHERE rule LIKE 'visual_context/cites-all@%'",
        tables=(_FROM, "provenance_queries", "qrels", "excluded"),
    ),
)
