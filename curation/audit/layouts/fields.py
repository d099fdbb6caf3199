"""What a foreign record's columns mean: ids, texts, titles, images, pairs, and what is kept beside them."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

QRELS_QUERY = ("query-id", "query_id", "qid", "q_id", "queryid", "query")
QRELS_DOCUMENT = (
    "corpus-id", "corpus_id", "corpusid", "docid", "doc_id", "pid", "p_id", "did", "passage_id", "doc"
)  # fmt: skip
QRELS_SCORE = ("score", "relevance", "rel", "label", "grade")
_ID = {
    "queries": ("_id", "id", *QRELS_QUERY[:-1]),
    "corpus": ("_id", "id", *QRELS_DOCUMENT[:-1]),
    "items": ("_id", "id", "question_id", "qid", "query-id", "uid", "pmid", "pubid"),
}
_QUESTION = ("question", "query", "query_txt", "stem", "sent1")
_TEXT = {
    "queries": ("text", *_QUESTION, "txt", "caption", "sentence"),
    "corpus": ("text", "txt", "contents", "content", "passage", "document", "body", "abstract", "caption"),
    "items": ("text", "txt", "contents", "content", "passage", "abstract", "sentence", "caption"),
}
_TITLE = ("title",)
_IMAGE = (
    "image", "img", "image_path", "img_path", "query_img_path", "image_file", "file_name", "images",
    "image_paths", "image_name", "img_name", "image_filename", "figure_path", "imagepath", "filename",
)  # fmt: skip
_KEPT_OF_CORPUS = frozenset(
    [
        "language",
        "lang",
        "license",
        "article_id",
        "patient_id",
        "pmid",
        "pmcid",
        "doi",
        "url",
        "source",
        "split",
    ]
)
HEADERS = frozenset(
    ("score", *QRELS_QUERY, *QRELS_DOCUMENT, *_QUESTION, *(name for names in _ID.values() for name in names))
).union(_TEXT["corpus"])
"""Any of these in the first row of a CSV or TSV file makes it the header."""
CANONICAL = frozenset({"id", "text", "title", "image"})
_MIN_WORDS = 5


@dataclass(frozen=True, slots=True)
class Fields:
    """Names of the columns of one kind of record; '' when it has none."""

    id: str
    text: str
    title: str
    image: str
    question: str
    extras: tuple[tuple[str, str], ...]
    """(column, name it is kept under)."""


@functools.lru_cache(maxsize=4_096)
def fields_of(table: str, keys: tuple[str, ...]) -> Fields:
    """What the columns of a record of `queries`, `corpus` or `items` are."""
    lower: dict[str, str] = {}
    for key in keys:
        lower.setdefault(key.lower(), key)

    def pick(names: Sequence[str]) -> str:
        return next((lower[name] for name in names if name in lower), "")

    name, image, title = pick(_ID[table]), pick(_IMAGE), pick(_TITLE)
    question = pick(_QUESTION) if table == "items" else ""
    text = pick(_TEXT[table])
    used = {name, text, title, image, question} if table != "items" else {name, question or text}
    extras: dict[str, str] = {}
    for key in keys:
        plain = key.lower().strip() or "column"
        if key in used or (table == "corpus" and plain not in _KEPT_OF_CORPUS):
            continue
        plain = f"other_{plain}" if plain in CANONICAL or plain in extras else plain
        extras.setdefault(plain, key)
    return Fields(name, text, title, image, question, tuple((key, plain) for plain, key in extras.items()))


def keys_of(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Column names, in order, as strings."""
    return tuple(str(key) for key in record)


def as_id(value: Any) -> str | None:
    """An id as a string, None when there is none; numbers are written out, whole ones without a fraction."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and value == value and value not in (float("inf"), float("-inf")):
        return str(int(value)) if value.is_integer() else repr(value)
    return None


def as_text(value: Any) -> str:
    """All strings of a value, in order, a line each."""
    return value if isinstance(value, str) else "\n".join(_strings(value))


def _strings(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and depth < 6:
        for item in value.values():
            yield from _strings(item, depth + 1)
    elif isinstance(value, list | tuple) and depth < 6:
        for item in value:
            yield from _strings(item, depth + 1)


def as_extra(value: Any) -> str | None:
    """A further column's value: a string as it is, anything else as JSON; bytes are left out."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return None
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):
        return None


def is_text(value: str) -> bool:
    """Whether a field of an item is running text and no label; scripts without spaces go by length."""
    return len(value.split(maxsplit=_MIN_WORDS)) >= _MIN_WORDS or (len(value) >= 30 and not value.isascii())


def type_name(value: Any) -> str:
    """JSON type of a value for drift; '' for nothing."""
    if value is None:
        return ""
    return {"int": "int64", "float": "double", "str": "string", "bool": "bool"}.get(
        type(value).__name__, type(value).__name__
    )
