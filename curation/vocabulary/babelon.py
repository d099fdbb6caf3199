"""Babelon tables: translations of an ontology's labels, definitions and synonyms with their review status.

Format: https://github.com/monarch-initiative/babelon; `*.synonyms.tsv` are ROBOT templates whose second line
names the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from curation.vocabulary.known_sources import abbreviation, describe, tier_of
from curation.vocabulary.tables import Row, Rows
from schemas.errors import InputError
from schemas.stages import Drop, Reason
from schemas.vocabulary import UNCONFIRMED, ConceptDefinition, ConceptName

_CURIE = re.compile(r"([A-Za-z]+):\S+")
_TEMPLATE = re.compile(r"hasExactSynonym@([A-Za-z\-]+)(?:.*SPLIT=(\S+))?")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]+)*")
_LABEL, _DEFINITION = "rdfs:label", "IAO:0000115"
_SKIPPED = {"NOT_TRANSLATED", "IN_PROGRESS", "UNDER_REVIEW"}


def read(paths: Sequence[Path], sha256: str, release: str = "") -> Rows:
    """Names and definitions of one or more babelon tables or their synonym templates.

    Args:
        paths: files; each tells its own language.
        sha256: hex SHA-256 over the files.
        release: what the translation calls its release; by default the source version its rows state.

    Raises:
        InputError: a file is not babelon.
    """
    described: set[str] = set()
    for path in paths:
        for abbr, of, version, row in _file(path):
            if abbr not in described:
                described.add(abbr)
                title = f"Translation of {of} ({abbr.rpartition('_')[2].lower()})"
                yield describe(abbr, release or version, sha256, title=title, of=of)
            yield row


def language_of(path: Path) -> tuple[str, str]:
    """Which source a table translates (HPO) and into which language (de).

    Raises:
        InputError: not babelon, or no line says a language.
    """
    table = _open(path)
    for number, line in table.lines:
        for abbr, of, _, row in _line(line, table, path, number):
            if not isinstance(row, Drop):
                return of, abbr.removeprefix(of + "_").lower()
    if not table.language:
        raise InputError("a babelon table without a language", file=str(path))
    return "HPO", table.language.lower()  # a template without terms


@dataclass(frozen=True, slots=True)
class _Table:
    """A table's columns and lines; of a template, its language and what separates names in a cell."""

    header: Sequence[str]
    language: str
    separator: str
    lines: Sequence[tuple[int, bytes]]


def _open(path: Path) -> _Table:
    lines = path.read_bytes().split(b"\n")
    header = lines[0].decode("utf-8", "replace").rstrip("\r").split("\t")
    if "subject_id" not in header or "translation_value" not in header:
        raise InputError(
            "not a babelon table: no columns subject_id and translation_value",
            file=str(path),
            hint="see https://github.com/monarch-initiative/babelon",
        )
    template = _TEMPLATE.search(lines[1].decode("utf-8", "replace")) if len(lines) > 1 else None
    first = 2 if template else 1
    numbered = [(n, line) for n, line in enumerate(lines[first:], start=first + 1) if line.strip()]
    if template:
        return _Table(header, template.group(1), template.group(2) or "|", numbered)
    if "translation_language" not in header:
        raise InputError("a babelon table without translation_language", file=str(path))
    return _Table(header, "", "", numbered)


def _file(path: Path) -> Iterator[tuple[str, str, str, Row]]:
    table = _open(path)
    for number, line in table.lines:
        yield from _line(line, table, path, number)


def _line(line: bytes, table: _Table, path: Path, number: int) -> Iterator[tuple[str, str, str, Row]]:
    try:
        values = [_unquoted(value) for value in line.decode("utf-8").rstrip("\r").split("\t")]
    except UnicodeDecodeError:
        values = []
    row = dict(zip(table.header, values, strict=False))
    found = _CURIE.fullmatch(row.get("subject_id", ""))
    spoken = (table.language or row.get("translation_language", "")).replace("_", "-")
    of = abbreviation(found.group(1)) if found else "HPO"
    abbr = f"{of}_{(spoken or 'und').upper()}"
    version = row.get("source_version", "").replace("/hp.owl", "").rpartition("/")[2]
    if found is None or len(values) > len(table.header) or not _LANGUAGE.fullmatch(spoken):
        detail = "not UTF-8" if not values else "no id, no language, or more cells than columns"
        yield abbr, of, version, _drop(path, number, detail)
        return
    for item in _rows(row, found.group(), spoken, abbr, of, table.separator):
        yield abbr, of, version, item


def _rows(
    row: Mapping[str, str], concept: str, language: str, abbr: str, of: str, separator: str
) -> Iterator[Row]:
    status = (row.get("translation_status") or row.get("Status") or "OFFICIAL").upper()
    value = row.get("translation_value", "").strip()
    if not value or status in _SKIPPED:
        return
    official = status == "OFFICIAL"
    tier = tier_of(of)
    predicate = row.get("predicate_id", "") or "synonym"
    if predicate == _DEFINITION:
        if official:
            yield ConceptDefinition(concept=concept, text=value, language=language, source=abbr, tier=tier)
        return
    is_label = predicate == _LABEL
    names = [value] if is_label or not separator else value.split(separator)
    for name in filter(None, map(str.strip, names)):
        yield ConceptName(
            concept=concept,
            name=name,
            language=language,
            source=abbr,
            term_type=("PT" if is_label else "SY") if official else UNCONFIRMED,
            tier=tier,
            is_preferred=is_label and official,
        )


def _unquoted(value: str) -> str:
    """Some files quote cells as CSV does, others have bare quotes inside; a cell never holds a line break."""
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] == '"':
        return value[1:-1].replace('""', '"')
    return value


def _drop(path: Path, number: int, detail: str) -> Drop:
    return Drop(
        unit="line",
        id=f"{path.name}:{number}",
        article_id=path.name,
        reason=Reason.RECORD_INVALID,
        detail=detail,
    )
