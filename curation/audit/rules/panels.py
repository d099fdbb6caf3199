"""Rules on queries that show a panel: cut where they say, with its words, and judged beside its figure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from curation.audit.rule import Check, Collector, Context, Defect, Outcome, Rule, side
from curation.audit.rules.planting import new_row, set_row
from curation.audit.rules.text_rows import literal
from curation.extract.neutralise import restore
from curation.images.decode import open_image
from schemas.audit import Coverage
from schemas.benchmark import Transform
from schemas.errors import InputError
from schemas.hashing import sha256_text
from schemas.image_tables import PANELS

_PANELS = PANELS.name
_LOOKED = "_panels_looked"
"""Under this name what is wrong with pixels and words is kept with the context."""
_AT_ONCE = 100
_PIXELS = "the image is not that stretch of its figure's image"
_WORDS = "the text is not the stretch of its figure's caption, or the caption is another"
_LETTER = "the text does not name the panel's letter"
_EVIDENCE = "no evidence of a positive names the panel"
_OTHER = "the query is of another panel, or the image of another size than the box"
_DERIVED = "the licence allows no stretch of an image"
_UNJUDGED = "a passage that is positive for the figure or a panel of it is neither positive nor excluded"
Box = tuple[int, int, int, int]
_RANGE = re.compile(r"(?<![A-Za-z])([A-Za-z])\s?(?:[–—‐‑−-]|to)\s?([A-Za-z])(?![A-Za-z])")
_RUN = re.compile(r"(?<![A-Za-z])\d*([A-Z]{1,5}|[a-h]{1,4}|[a-z])(?![A-Za-z])")


def names_letter(text: str, letter: str) -> bool:
    """Whether a text names a panel: its letter by itself, in a run ("2AB") or inside a range ("2A–D")."""
    if any(letter in run.group(1).upper() for run in _RUN.finditer(text)):
        return True
    ranges = ((one.group(1).upper(), one.group(2).upper()) for one in _RANGE.finditer(text))
    return any(first <= letter <= last for first, last in ranges)


def _looked(context: Context) -> tuple[list[tuple[str, str]], int]:
    """What is wrong with a panel's pixels and words, and its query; of how many the figure is published."""
    held = vars(context)
    if _LOOKED not in held:
        compared: list[str] = []
        held[_LOOKED] = sorted(set(_faults(context, compared))), len(compared)
    found: tuple[list[tuple[str, str]], int] = held[_LOOKED]
    return found


def _faults(context: Context, compared: list[str]) -> Iterator[tuple[str, str]]:
    """Faults; panels whose figure is published are added to `compared`."""
    given = ("queries", "provenance_queries", _PANELS)
    whole = {
        row["source_id"]: row["id"]
        for row in context.rows(
            f"""SELECT source_id, min(id) AS id FROM provenance_queries
                WHERE source_id IN (SELECT figure_id FROM {_PANELS}) GROUP BY source_id""",
            *given,
        )
    }
    listed = context.rows(f'SELECT * FROM {_PANELS} ORDER BY "query-id"', *given)
    for start in range(0, len(listed), _AT_ONCE):
        panels = listed[start : start + _AT_ONCE]
        wanted = {row["query-id"] for row in panels} | {whole.get(row["figure_id"], "") for row in panels}
        shown = _shown(context, wanted)
        cuts = []
        for row in panels:
            name, figure = row["query-id"], shown.get(whole.get(row["figure_id"], ""))
            own = shown.get(name)
            if own is None:
                continue  # dangling_ids tells
            words = _source(own)
            if not names_letter(words, row["letter"]):
                yield _LETTER, name
            if figure is None:
                continue
            compared.append(name)
            if not _are_words_of(words, _source(figure), row):
                yield _WORDS, name
            box = (row["left"], row["top"], row["right"], row["bottom"])
            cuts.append((name, figure["bytes"] or b"", own["bytes"] or b"", box))
        same = context.pool.map(_is_cut, [cut[1:] for cut in cuts], chunksize=10)
        for (name, *_), is_same in zip(cuts, same, strict=True):
            if not is_same:
                yield _PIXELS, name


def _shown(context: Context, ids: set[str]) -> dict[str, Mapping[str, Any]]:
    """Text, changes of the text and image of some queries."""
    has_image = "image" in context.columns("queries")
    data = "q.image.bytes" if has_image else "NULL"
    text = f"""SELECT q.id, q.text, to_json(o.transforms) AS changes, {data} AS bytes
        FROM queries AS q JOIN provenance_queries AS o ON o.id = q.id
        WHERE q.id IN ({", ".join(map(literal, sorted(ids)))})"""
    return {row["id"]: row for row in context.rows(text, "queries", "provenance_queries")}


def _source(row: Mapping[str, Any]) -> str:
    """The source text of a query."""
    changes = [Transform(**change) for change in json.loads(row["changes"] or "[]") or ()]
    return restore(row["text"], changes)


def _are_words_of(words: str, caption: str, row: Mapping[str, Any]) -> bool:
    """Whether the words of a panel are those that its row tells of a caption."""
    parts = (caption[: row["lead_end"]], caption[row["caption_start"] : row["caption_end"]])
    return sha256_text(caption) == row["caption_sha256"] and words == "\n".join(filter(None, parts))


def _is_cut(given: tuple[bytes, bytes, Box]) -> bool:
    """Whether an image is a stretch of another, pixel for pixel."""
    figure, panel, box = given
    try:
        whole, own = open_image(figure).image, open_image(panel).image
    except InputError:
        return False
    left, top, right, bottom = box
    if not (0 <= left < right <= whole.width and 0 <= top < bottom <= whole.height):
        return False
    cut = whole.crop(box)
    return cut.size == own.size and cut.convert("RGB").tobytes() == own.convert("RGB").tobytes()


def _told(kind: str, context: Context) -> Outcome:
    """Panels of which one thing is wrong."""
    faults, compared = _looked(context)
    found = Collector("panels", "error")
    for message, name in faults:
        if message == kind:
            found.add(message, side("queries", name))
    outcome = found.outcome(0)
    if kind != _PIXELS:
        return outcome
    lacking = context.count(_PANELS) - compared
    why = "the figure has no published query of its own" if lacking else ""
    coverage = Coverage(
        compared_with="", compared=compared, unit="panels cut again", skipped=lacking, why=why
    )
    return Outcome(0, outcome.found, outcome.findings, coverage=(coverage,))


def _unnamed(context: Context) -> Outcome:
    """Positives of a panel none of whose evidence names it."""
    found = Collector("panels", "error")
    text = f"""SELECT p."query-id" AS q, p.letter, o."corpus-id" AS c,
            list_transform(o.evidence, lambda one: one.text) AS quotes
        FROM {_PANELS} AS p JOIN provenance_qrels AS o ON o."query-id" = p."query-id"
        SEMI JOIN (SELECT * FROM qrels WHERE rule LIKE 'visual_context/cites-panel@%') AS r
            ON r."query-id" = o."query-id" AND r."corpus-id" = o."corpus-id"
        ORDER BY q, c"""
    for row in context.rows(text, _PANELS, "provenance_qrels", "qrels"):
        if not any(names_letter(quote, row["letter"]) for quote in row["quotes"] or ()):
            found.add(_EVIDENCE, side("queries", row["q"]), side("corpus", row["c"]))
    return found.outcome(0)


_UNLIKE = f"""SELECT p."query-id" AS q FROM {_PANELS} AS p
    JOIN provenance_queries AS o ON o.id = p."query-id"
    WHERE o.source_id IS DISTINCT FROM p.panel_id OR p.panel_id <> p.figure_id || '.' || p.letter
        OR o.image_width IS DISTINCT FROM p."right" - p."left"
        OR o.image_height IS DISTINCT FROM p.bottom - p.top"""
_NO_DERIVATIVES = f"""SELECT p."query-id" AS q FROM {_PANELS} AS p JOIN queries AS q ON q.id = p."query-id"
    WHERE q.license LIKE '%-ND-%'"""
_FAMILY = f"""WITH family AS (
        SELECT p."query-id" AS q, o.id AS other FROM {_PANELS} AS p
        JOIN provenance_queries AS o ON o.source_id = p.figure_id
        UNION SELECT p."query-id", s."query-id" FROM {_PANELS} AS p
        JOIN {_PANELS} AS s ON s.figure_id = p.figure_id AND s."query-id" <> p."query-id")
    SELECT DISTINCT f.q, k."corpus-id" AS c FROM family AS f JOIN qrels AS k ON k."query-id" = f.other
    ANTI JOIN qrels AS r ON r."query-id" = f.q AND r."corpus-id" = k."corpus-id"
    ANTI JOIN excluded AS e ON e."query-id" = f.q AND e."corpus-id" = k."corpus-id"
    WHERE k.score > 0"""
_QUERY, _DOCUMENT = "canary:panel", "canary:passage"
_OTHER_FIGURE = f"""(SELECT min(o.source_id) FROM provenance_queries AS o JOIN queries AS q ON q.id = o.id
    WHERE o.image_sha256 IS NOT NULL AND o.id NOT IN (SELECT "query-id" FROM {_PANELS}))"""
_ROW = {"query-id": _QUERY, "panel_id": "canary#F1.B", "figure_id": "canary#F1", "letter": "B"}
_NAMED = f"""SELECT '{_QUERY}' AS "query-id", '{_DOCUMENT}' AS "corpus-id\""""
_POSITIVE = {"query-id": _QUERY, "corpus-id": _DOCUMENT, "score": 2, "rule": "visual_context/cites-panel@1"}


def _quoting(quote: str) -> str:
    """SQL: a panel whose one positive rests on a quote."""
    evidence = f"""INSERT INTO provenance_qrels BY NAME SELECT '{_QUERY}' AS "query-id",
        '{_DOCUMENT}' AS "corpus-id", [{{'text_id': '{_DOCUMENT}', 'start': 0, 'end': 9,
        'text': '{quote}'}}] AS evidence"""
    return "; ".join((new_row(_PANELS, _ROW), new_row("qrels", _POSITIVE), evidence, _NAMED))


def _beside(*rows: str) -> str:
    """SQL: a panel, and a passage that is positive for another query of its figure."""
    found = {"query-id": "canary:other", "corpus-id": _DOCUMENT, "score": 2}
    return "; ".join((new_row(_PANELS, _ROW), new_row("qrels", found), *rows, _NAMED))


CHECKS = (
    Check(
        _OTHER,
        _UNLIKE,
        (
            Defect("a box of another size", set_row(_PANELS, '"right" = "right" + 1')),
            Defect("a panel of another letter", set_row(_PANELS, "letter = 'Q'")),
            Defect("a panel that is not what the query was made of", set_row(_PANELS, "panel_id = 'canary'")),
        ),
    ),
    Check(
        _DERIVED,
        _NO_DERIVATIVES,
        Defect(
            "a panel of a figure that allows no derived forms",
            f"""UPDATE queries SET license = 'CC-BY-ND-4.0'
                WHERE id = (SELECT min("query-id") FROM {_PANELS}) RETURNING id""",
        ),
    ),
    Check(
        _PIXELS,
        partial(_told, _PIXELS),
        (
            Defect("a panel of another figure", set_row(_PANELS, f"figure_id = {_OTHER_FIGURE}")),
            Defect(
                "a box outside the figure",
                set_row(_PANELS, f'figure_id = {_OTHER_FIGURE}, "left" = -5, "right" = "right" - "left" - 5'),
            ),
        ),
    ),
    Check(
        _WORDS,
        partial(_told, _WORDS),
        Defect("words of another caption", set_row(_PANELS, f"figure_id = {_OTHER_FIGURE}")),
    ),
    Check(
        _LETTER,
        partial(_told, _LETTER),
        Defect("a letter that the words lack", set_row(_PANELS, "letter = '9'")),
    ),
    Check(
        _EVIDENCE,
        _unnamed,
        (
            Defect("evidence that names another panel", _quoting("as is seen in Fig. 2A")),
            Defect("evidence that names other panels", _quoting("as is seen in Fig. 2C–F")),
        ),
    ),
    Check(
        _UNJUDGED,
        _FAMILY,
        (
            Defect(
                "a passage that cites the figure, unjudged for its panel",
                _beside(new_row("provenance_queries", {"id": "canary:other", "source_id": "canary#F1"})),
            ),
            Defect(
                "a passage that cites another panel, unjudged",
                _beside(
                    new_row(_PANELS, {**_ROW, "query-id": "canary:other", "letter": "C"}),
                ),
            ),
        ),
    ),
)
RULES = (
    Rule(
        "panels",
        1,
        "Panels are cut where they say",
        "A query that shows a panel is of that panel, and its image has the size of its box; no licence of "
        "one forbids derived forms; its text names the letter, and so does a quote of each positive. Where "
        "its figure has a query of its own in the release, the panel is cut again and compared pixel for "
        "pixel, and its words are taken from the caption again. What is positive for the figure or another "
        "panel of it is positive or excluded for the panel.",
        "error",
        unit="panels",
        checks=CHECKS,
        compared=f"FROM {_PANELS}",
        tables=("queries", "qrels", "excluded", "provenance_queries", "provenance_qrels"),
        about=(_PANELS,),
        holds="queries that show a panel",
    ),
)
