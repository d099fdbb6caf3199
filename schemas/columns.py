"""Columns that several published tables share, and short forms to declare one."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from schemas.published import IMAGE, TRANSFORMS, Column

SYSTEMS = pa.list_(pa.struct([("system", pa.string()), ("rank", pa.int64())]))
SHORTCUTS = pa.list_(pa.struct([("shortcut", pa.string()), ("ndcg", pa.float64())]))


def text(name: str, meaning: str, **marks: Any) -> Column:
    """A column of text."""
    return Column(name, pa.string(), meaning, **marks)


def number(name: str, meaning: str, **marks: Any) -> Column:
    """A column of whole numbers."""
    return Column(name, pa.int64(), meaning, **marks)


def flag(name: str, meaning: str, **marks: Any) -> Column:
    """A column of true and false."""
    return Column(name, pa.bool_(), meaning, **marks)


def measure(name: str, meaning: str, *, may_be_null: bool = True, **marks: Any) -> Column:
    """A column of decimals, null where something was not run."""
    return Column(name, pa.float64(), meaning, may_be_null=may_be_null, **marks)


OF_QUERY = text("query-id", "id in queries", refers="queries.id")
PAIR = (OF_QUERY, text("corpus-id", "id in corpus", refers="corpus.id"))
PAIR_KEY = ("query-id", "corpus-id")
SPLIT = text("split", "test or dev", repeats=True, reader="maintainer")
RIGHTS = (
    text("language", "BCP-47 language of the text", repeats=True),
    text("license", "SPDX id of this row's licence", repeats=True),
    flag("is_synthetic", "made from synthetic input; such a row may not be published", reader="maintainer"),
)
ORIGIN = (
    text("license_evidence", "where the licence was read", repeats=True),
    text("text_sha256", "hex SHA-256 of the source text"),
    Column(
        "transforms", TRANSFORMS, "changes from source text to released text; undo last first", is_prose=True
    ),
)
_SURE = "how sure that is, from 0 (undecided) to 1; above 0 with '' beside it: decided, but below the floor"
OF_ARTICLE = (
    text(
        "domain", "domain of the article: single patients, studies, laboratory, …; '' when undecided", since=4
    ),
    measure("domain_confidence", _SURE, may_be_null=False, since=4),
    text("body_system", "main body system, '' when undecided or none", since=4),
    measure("body_system_confidence", _SURE, may_be_null=False, since=4),
)
"""What the article, figure or case of a row was decided to be about, beside its specialty."""
FACETS = (
    text("specialty", "main specialty, '' when undecided"),
    *OF_ARTICLE,
    text("modality", "imaging modality of the query or of what it asks for, '' when undecided"),
    text("region", "anatomical region, '' when undecided"),
    text(
        "tier",
        "difficulty tier; in visual_context `panel` or `several figures`, where a query shows those; else ''",
    ),
    text(
        "scenario",
        "what is looked for: question_answering, examination, diagnosis, treatment or case, in the tasks of "
        "questions that need reasoning; else ''",
        since=4,
    ),
)
IMAGE_ORIGIN = (
    text("image_source_sha256", "hex SHA-256 of the image file as fetched", may_be_null=True),
    text("image_sha256", "hex SHA-256 of the released image bytes", may_be_null=True),
    text("image_transform", "'' when the bytes were copied, else how they were normalised"),
    number("image_width", "pixels", may_be_null=True),
    number("image_height", "pixels", may_be_null=True),
)


def image(meaning: str) -> Column:
    """The column of images, there where any row has one."""
    return Column("image", IMAGE, meaning, may_be_null=True, is_optional=True)
