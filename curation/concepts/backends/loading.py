"""What both backends need: optional imports, a vocabulary's rows, finished indexes, spaCy without models."""

from __future__ import annotations

import importlib
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from schemas.errors import UsageError, WorkspaceError

UNTYPED = "T071"
"""Entity, the root of the UMLS semantic network: what a concept without a type is."""
SCRIPTS_WITHOUT_SPACES = frozenset({"zh", "yue", "ja", "th", "km", "lo", "my"})
"""Read character by character: spaCy's own tokenisers of these need dictionaries from elsewhere."""
KEEP_ACCENTS = SCRIPTS_WITHOUT_SPACES | {
    "ko", "ru", "uk", "bg", "mk", "sr", "el", "ar", "fa", "he", "ur", "hi", "bn", "ta", "te", "ka", "hy"
}  # fmt: skip
"""Not in Latin script: what looks like an accent there makes another letter."""
_NO_TOKENISER_OF_ITS_OWN = frozenset({"ko", "vi"})
_NOT_ITS_OWN = frozenset({"BROAD", "NARROW", "RELATED"})
_MARK = "backend.json"
_LONGEST_TOKEN = 500
_PIECE = 10_000
_UNREADABLE = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
_LONG_TOKEN = re.compile(rf"\S{{{_LONGEST_TOKEN},}}")
_ENDS = ("\n", ". ", "。", " ")
_CONTENT_WORDS = frozenset(
    ("back", "bottom", "empty", "first", "front", "full", "last", "move", "part", "serious", "side", "top")
)
"""English stop words to spaCy, but first or last word of names: back pain, empty sella, first rib."""


@dataclass(frozen=True, slots=True)
class Row:
    """What a backend reads of one name."""

    concept: str
    name: str
    is_preferred: bool


def require(module: str, extra: str) -> Any:
    """Imports a module of an extra.

    Raises:
        UsageError: the extra is not installed, or not for this Python.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UsageError(
            f"the {extra} backend needs {module.split('.')[0]}, which cannot be imported: {error}",
            hint=f"make setup EXTRAS={extra}",
        ) from error


def base_language(tag: str) -> str:
    """`pt` of `pt-BR`."""
    return tag.split("-")[0].lower()


def read_languages(names: Path) -> list[str]:
    """Languages that names are in, sorted."""
    found: set[str] = set()
    for batch in pq.ParquetFile(names).iter_batches(columns=["language"]):
        found.update(base_language(tag) for tag in batch.column("language").unique().to_pylist())
    return sorted(found)


def read_rows(names: Path, language: str) -> Iterator[Row]:
    """Names in one language, in the order of the file: no suppressed, broader, narrower, related ones."""
    wanted = ["concept", "name", "language", "term_type", "is_preferred", "is_suppressed"]
    for batch in pq.ParquetFile(names).iter_batches(columns=wanted):
        tags = [
            tag for tag in batch.column("language").unique().to_pylist() if base_language(tag) == language
        ]
        if not tags:
            continue
        ours = batch.filter(pc.is_in(batch.column("language"), pa.array(tags, pa.string())))
        for concept, name, kind, preferred, suppressed in zip(
            *(ours.column(field).to_pylist() for field in wanted if field != "language"), strict=True
        ):
            if not suppressed and kind not in _NOT_ITS_OWN:
                yield Row(concept, name, preferred)


def read_types(types: Path | None) -> dict[str, list[str]]:
    """UMLS semantic types by concept."""
    found: dict[str, set[str]] = {}
    if types is not None:
        table = pq.read_table(types, columns=["concept", "semantic_type"])
        for concept, kind in zip(*(column.to_pylist() for column in table.columns), strict=True):
            found.setdefault(concept, set()).add(kind)
    return {concept: sorted(kinds) for concept, kinds in found.items()}


def start_index(destination: Path) -> Path:
    """An empty folder beside the destination, to be moved there by :func:`finish_index`."""
    temporary = destination.with_name(destination.name + ".tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    return temporary


def finish_index(temporary: Path, destination: Path, backend: str, languages: list[str]) -> None:
    """Marks an index as complete and moves it to its place; an older one there is replaced."""
    mark = {"backend": backend, "format": 1, "languages": languages}
    (temporary / _MARK).write_text(json.dumps(mark, sort_keys=True) + "\n", "utf-8")
    shutil.rmtree(destination, ignore_errors=True)
    temporary.replace(destination)


def indexed_languages(path: Path, backend: str) -> frozenset[str]:
    """Languages of a finished index.

    Raises:
        WorkspaceError: there is none, or it belongs to another backend or format.
    """
    try:
        mark = json.loads((path / _MARK).read_text("utf-8"))
        if (mark["backend"], mark["format"]) != (backend, 1):
            raise ValueError(f"it is one of {mark['backend']}, format {mark['format']}")
        return frozenset(mark["languages"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WorkspaceError(
            f"no {backend} index that can be read: {error}",
            file=str(path),
            hint=f"medqrels ground --backend {backend}",
        ) from error


@lru_cache(maxsize=32)
def blank_pipeline(language: str, extra: str) -> Any:
    """A spaCy pipeline that only tokenises; nothing is downloaded and no model is looked for."""
    spacy = require("spacy", extra)
    if language in SCRIPTS_WITHOUT_SPACES:
        return spacy.blank("zh")
    if language in _NO_TOKENISER_OF_ITS_OWN:
        return spacy.blank("xx")
    try:
        return spacy.blank(language)
    except ImportError:  # a language spaCy does not know
        return spacy.blank("xx")


def stop_words(language: str, extra: str) -> frozenset[str]:
    """Stop words as spaCy has them, but for English ones that begin or end names."""
    if language in SCRIPTS_WITHOUT_SPACES:
        return frozenset()
    words = frozenset(blank_pipeline(language, extra).Defaults.stop_words)
    return words - _CONTENT_WORDS if language == "en" else words


def pieces(text: str, language: str) -> Iterator[tuple[int, str]]:
    """A text in pieces of at most 10,000 characters with their offsets, cut at lines, sentences or words.

    Control and direction marks, lone surrogates and tokens of 500 characters or more (no names; tokenisers
    and similarity searches take quadratic time on them) are blanked, so that offsets stay.
    """
    clean = _UNREADABLE.sub(" ", text)
    if language not in SCRIPTS_WITHOUT_SPACES:
        clean = _LONG_TOKEN.sub(lambda found: " " * len(found.group()), clean)
    start = 0
    while start < len(clean):
        end = min(start + _PIECE, len(clean))
        if end < len(clean):
            ends = (clean.rfind(mark, start + _PIECE // 2, end) + len(mark) for mark in _ENDS)
            end = next((place for place in ends if place > start + _PIECE // 2), end)
        yield start, clean[start:end]
        start = end
