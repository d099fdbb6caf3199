"""Builds the name index: a memory-mapped file the native matcher looks names up in.

Names stream through in chunks and are spilled to 256 partitions by key, each sorted on its own, so memory is
bounded and the bytes do not depend on the order or chunking of the input.
"""

from __future__ import annotations

import marshal
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from curation.concepts import names as analysis
from curation.concepts import typos
from curation.concepts.cognates import cognate
from curation.concepts.glosses import COGNATES
from curation.concepts.hashes import form_hash
from curation.concepts.normalise import Word, base_language, language_of, rules
from curation.concepts.storage import IndexWriter
from schemas.vocabulary import ConceptName, ConceptType

PARTITIONS = 256
_FLUSH = 400_000
FORMAT = 1
_DISORDERS = "DISO"
Row = tuple[int, int, int, str, str, int, int]
"""Key, flags, group, concept, name, hash of its words, hash of its forms."""


class _Spill:
    """Records parted by the top byte of a 64-bit number, kept on disk between writing and reading."""

    def __init__(self, folder: Path, kind: str) -> None:
        self._folder, self._kind = folder, kind
        self._waiting: list[list[Any]] = [[] for _ in range(PARTITIONS)]
        self._sizes: list[list[int]] = [[] for _ in range(PARTITIONS)]
        self._count = 0

    def add(self, number: int, record: Any) -> None:
        self._waiting[number >> 56].append(record)
        self._count += 1
        if self._count >= _FLUSH:
            self.flush()

    def flush(self) -> None:
        for part, records in enumerate(self._waiting):
            if records:
                written = marshal.dumps(records)
                with self._path(part).open("ab") as file:
                    file.write(written)
                self._sizes[part].append(len(written))
                records.clear()
        self._count = 0

    def read(self, part: int) -> list[Any]:
        """Records of one partition; its file is removed."""
        records: list[Any] = []
        if self._sizes[part]:
            with self._path(part).open("rb") as file:
                for size in self._sizes[part]:  # from a file, each number would be read on its own
                    records += marshal.loads(file.read(size))
            self._path(part).unlink()
        return records

    def _path(self, part: int) -> Path:
        return self._folder / f"{self._kind}-{part:03d}"


class _Collector:
    """Turns names into rows, tokens and words, each spilled by its hash."""

    def __init__(self, folder: Path, groups: Mapping[str, int], disorders: int) -> None:
        self.rows, self.tokens, self.words, self.cognates = (
            _Spill(folder, kind) for kind in ("rows", "tokens", "words", "cognates")
        )
        self.groups, self._disorders = groups, disorders
        self.languages: set[str] = set()
        self._known_words: set[tuple[str, str]] = set()
        self._known_cognates: set[str] = set()
        self._longest: dict[int, int] = {}

    def add(self, item: ConceptName) -> None:
        if item.is_suppressed or item.term_type == analysis.PERMUTED:
            return
        language = language_of(base_language(item.language))
        is_disorder = item.is_preferred and self.groups.get(item.concept) == self._disorders
        found = analysis.analyse(item.name, language, is_disorder=is_disorder)
        if found is None:
            return
        flags = found.flags | (analysis.PREFERRED if item.is_preferred else 0)
        flags |= analysis.LOOSE if item.term_type in analysis.LOOSE_TYPES else 0
        row = self.groups.get(item.concept, 0), item.concept, item.name, found.word_order, found.form_order
        for key in found.keys:
            value = key.value
            self.rows.add(value, (value, flags | key.flags, *row))
            for token in key.hashes:
                if self._longest.get(token, 0) < len(key.hashes):
                    self._longest[token] = len(key.hashes)
        self.languages.add(language.code)
        for word in found.words:
            if word.key and (language.code, word.folded) not in self._known_words:
                self._known_words.add((language.code, word.folded))
                if typos.is_checked(word.folded):
                    place = form_hash(language.code, word.folded)
                    self.words.add(place, (language.code, word.folded, word.key_hash))
            if language.code == "en" and word.folded not in self._known_cognates:
                self._add_cognate(word, item.name)
        if len(self._longest) + len(self._known_words) > _FLUSH:
            self.flush_tokens()

    def _add_cognate(self, word: Word, name: str) -> None:
        if (form := cognate(word.folded)) and word.folded.upper() not in name:  # "MELAS" is no word
            self._known_cognates.add(word.folded)
            place = form_hash(COGNATES, form)
            self.cognates.add(place, (place, word.key_hash))

    def flush_tokens(self) -> None:
        for token, length in self._longest.items():
            self.tokens.add(token, (token, length))
        self._longest.clear()
        self._known_words.clear()
        self._known_cognates.clear()

    def close(self) -> None:
        self.flush_tokens()
        for spill in (self.rows, self.tokens, self.words, self.cognates):
            spill.flush()


def read_names(path: Path) -> Iterator[ConceptName]:
    """Rows of a Parquet file of ConceptName, streaming."""
    import pyarrow.parquet as pq

    wanted = ["concept", "name", "language", "term_type", "is_preferred", "is_suppressed"]
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(50_000, columns=wanted):
            for concept, name, language, kind, preferred, suppressed in zip(
                *(batch.column(column).to_pylist() for column in wanted), strict=True
            ):
                yield ConceptName(
                    concept=concept, name=name, language=language, term_type=kind, is_preferred=preferred,
                    is_suppressed=suppressed,
                )  # fmt: skip


def build_index(
    names: Iterable[ConceptName] | Path,
    destination: Path,
    types: Iterable[ConceptType] = (),
    about: Mapping[str, Any] | None = None,
) -> None:
    """Build an index file; same names, same bytes, in any order.

    Args:
        names: names of every language, or a Parquet file of them. Suppressed ones are left out, and permuted
            terms: what they permute is found in any order.
        destination: the file to write; it appears whole or not at all.
        types: semantic types of the concepts, which settle ambiguous mentions.
        about: what the names came from (releases, hashes); kept in the header.
    """
    groups = _groups(types)
    codes = {group: number for number, group in enumerate(sorted(set(groups.values())), 1)}
    destination.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=destination.parent, prefix=".index-") as scratch:
        folder = Path(scratch)
        numbered = {concept: codes[group] for concept, group in groups.items()}
        collector = _Collector(folder, numbered, codes.get(_DISORDERS, -1))
        for item in read_names(names) if isinstance(names, Path) else names:
            collector.add(item)
        collector.close()
        (folder / "arrays").mkdir()
        writer = IndexWriter(folder / "arrays")
        _write_rows(collector.rows, writer)
        _write_tokens(collector.tokens, writer)
        _write_cognates(collector.cognates, writer)
        typos.write(map(collector.words.read, range(PARTITIONS)), writer)
        _write_filter(writer)
        details = {
            "format": FORMAT,
            "rules": rules(),
            "names": writer.count("row_key"),
            "languages": sorted(collector.languages),
            "groups": ["", *sorted(codes)],
            "source": dict(about or {}),
        }
        writer.finish(destination, details)


def _groups(types: Iterable[ConceptType]) -> dict[str, str]:
    """The semantic group of each concept; of several, the first in order of name."""
    found: dict[str, str] = {}
    for item in types:
        if item.concept not in found or item.group < found[item.concept]:
            found[item.concept] = item.group
    return found


def _write_rows(spill: _Spill, writer: IndexWriter) -> None:
    """Rows sorted by key, then labels before synonyms, own keys before variants."""
    offset = 0
    for part in range(PARTITIONS):
        rows = sorted(set(spill.read(part)), key=_row_order)
        kept = [row for place, row in enumerate(rows) if place == 0 or _same(row) != _same(rows[place - 1])]
        texts = [
            f"{concept}\t{name}".encode("utf-8", "surrogatepass") for _, _, _, concept, name, _, _ in kept
        ]
        ends = offset + np.cumsum([len(text) for text in texts], dtype=np.uint64)
        writer.append("row_key", np.array([row[0] for row in kept], dtype="<u8"))
        writer.append("row_flags", np.array([row[1] for row in kept], dtype="u1"))
        writer.append("row_group", np.array([row[2] for row in kept], dtype="u1"))
        writer.append("row_words", np.array([row[5] for row in kept], dtype="<u4"))
        writer.append("row_forms", np.array([row[6] for row in kept], dtype="<u4"))
        writer.append("row_end", ends.astype("<u8"))
        writer.append("row_text", np.frombuffer(b"".join(texts), dtype="u1"))
        offset = int(ends[-1]) if kept else offset


def _same(row: Row) -> tuple[int, str, str]:
    return row[0], row[3], row[4]


def _row_order(row: Row) -> tuple[Any, ...]:
    key, flags, _, concept, name, _, _ = row
    loose = flags & (analysis.VARIANT | analysis.PARTIAL | analysis.LOOSE)
    return key, concept, name, loose, -(flags & analysis.PREFERRED), flags


def _write_tokens(spill: _Spill, writer: IndexWriter) -> None:
    for part in range(PARTITIONS):
        longest: dict[int, int] = {}
        for token, length in spill.read(part):
            longest[token] = max(longest.get(token, 0), length)
        tokens = sorted(longest)
        writer.append("token_hash", np.array(tokens, dtype="<u8"))
        writer.append("token_longest", np.array([longest[token] for token in tokens], dtype="u1"))


def _write_cognates(spill: _Spill, writer: IndexWriter) -> None:
    """Forms of cognates, and the keys of the English words that have each."""
    for part in range(PARTITIONS):
        pairs = np.array(sorted(set(spill.read(part))), dtype="<u8").reshape(-1, 2)
        writer.append("cognate_key", pairs[:, 0])
        writer.append("cognate_form", pairs[:, 1])


def _write_filter(writer: IndexWriter) -> None:
    """One bit per possible top of a key, 16 to 32 times as many as keys: most windows end here."""
    keys = writer.load("row_key") if writer.count("row_key") else np.zeros(0, "<u8")
    bits = max(10, int(len(keys) * 16).bit_length())
    filled = np.zeros(1 << (bits - 3), dtype=np.uint8)
    for first in range(0, len(keys), 1 << 20):
        tops = keys[first : first + (1 << 20)] >> np.uint64(64 - bits)
        np.bitwise_or.at(
            filled,
            (tops >> np.uint64(3)).astype(np.int64),
            np.uint8(1) << (tops & np.uint64(7)).astype(np.uint8),
        )
    writer.append("filter", filled)
