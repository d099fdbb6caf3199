"""Hash lists: what a benchmark holds, as hashes only, so that it can be compared without being passed on.

One Parquet file: rows of texts, of 13-gram hashes and of images; its metadata says what made it. No text and
no picture is in it; ids are as given, or hashed as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.dataset import Dataset
from curation.images.phash import WIDE, hash_bits
from curation.similarity.text.hashlist import HashList, hash_list
from curation.similarity.text.ngrams import HASH_VERSION, SPAN
from curation.similarity.text.sketch import Texts
from schemas.audit import Role
from schemas.errors import UsageError
from schemas.hashing import canonical_json, normalise_text, sha256_file, sha256_text

METADATA = b"medqrels.hash_list"
FORMAT = 1
PARTS: tuple[Literal["query", "positive", "document"], ...] = ("query", "positive", "document")
SCHEMA = pa.schema(
    [
        pa.field("record", pa.string(), metadata={"doc": "text, gram or image"}),
        pa.field("number", pa.int32(), metadata={"doc": "text: its number; gram: number of its text"}),
        pa.field("hash", pa.uint64(), metadata={"doc": "of all tokens; of 13 tokens; or pHash"}),
        pa.field("part", pa.string(), metadata={"doc": "query, positive or document; or table of an image"}),
        pa.field("id", pa.string(), metadata={"doc": "id as given, or 16 hex of its SHA-256"}),
        pa.field("halves", pa.int32(), metadata={"doc": "text: twice its words"}),
        pa.field("sha256", pa.string(), metadata={"doc": "of the normalised text, or of the image's bytes"}),
        pa.field("wide", pa.binary(), metadata={"doc": "image: 256-bit pHash; null for a plain surface"}),
    ]
)
_GROUP = 1_000_000
Bits = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class ListedImages:
    """Images of a hash list: id, table, SHA-256 of the bytes, pHash of 64 bits (n,) and 256 bits (n, 4)."""

    ids: list[str]
    tables: list[str]
    sha256: list[str]
    phash: Bits
    wide: Bits
    has_wide: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Listed:
    """A hash list as read: `parts[n]` says what text n is."""

    about: Mapping[str, Any]
    texts: HashList
    parts: list[str]
    images: ListedImages

    @property
    def sizes(self) -> dict[str, int]:
        """Number of texts by part, those without a letter or digit apart."""
        worded = [
            part for part, digest in zip(self.parts, self.texts.digests.tolist(), strict=True) if digest
        ]
        return {part: worded.count(part) for part in PARTS}


def is_hash_list(path: Path) -> bool:
    """Whether a file is one of ours, of any format version."""
    try:
        return METADATA in (pq.read_schema(path).metadata or {})
    except (OSError, pa.ArrowException):
        return False


def open_hash_list(path: Path, role: Role = "against") -> Dataset:
    """A hash list as a dataset with the one view `hashes`.

    Raises:
        UsageError: it was written by another version, so that its hashes cannot be compared.
    """
    about = _about(path)
    return Dataset(
        name=str(about["name"]),
        role=role,
        kind="hashlist",
        directory=path.parent,
        sha256=sha256_file(path),
        views={"hashes": [path]},
    )


def _about(path: Path) -> dict[str, Any]:
    try:
        about = json.loads((pq.read_schema(path).metadata or {})[METADATA])
        versions = (about["format"], about["hash_version"])
        if {"name", "counts", "source", "is_judged"} - set(about):
            raise KeyError("name")
    except (OSError, KeyError, TypeError, ValueError, RecursionError, pa.ArrowException) as error:
        raise UsageError(
            "not a readable hash list", file=str(path), hint="medqrels audit hashlist"
        ) from error
    if versions != (FORMAT, HASH_VERSION):
        raise UsageError(
            f"hash list of format {versions[0]} with hashes {versions[1]}, not {FORMAT} with {HASH_VERSION}",
            file=str(path),
            hint="write it again: medqrels audit hashlist DATASET_DIR OUT",
        )
    return dict(about)


def wide_hashes(thumbs: npt.NDArray[np.uint8]) -> Bits:
    """256-bit pHash of 32 x 32 grey thumbnails, shape (n, 32, 32) -> (n, 4): signs of 16 x 16 DCT terms."""
    found: Bits = np.packbits(hash_bits(thumbs, WIDE), axis=1).view(">u8").astype(np.uint64)
    return found


def write_hash_list(
    dataset: Dataset, out: Path, pool: Executor, *, hash_ids: bool = False, tool: str = ""
) -> Mapping[str, Any]:
    """Write the hash list of a dataset opened by `open_dataset`.

    Args:
        dataset: what to list.
        out: the Parquet file; replaced when it exists.
        pool: where images are read.
        hash_ids: whether ids are written as 16 hex digits of the SHA-256 of '<name> <id>'.
        tool: name and version of the program, for the metadata, which is returned.

    Raises:
        UsageError: the dataset is itself a hash list.
    """
    if "hashes" in dataset.views:
        raise UsageError(f"{dataset.name!r} is a hash list already", hint="name the dataset it was made from")
    judged = _positives(dataset)
    files = [path for name in ("queries", "corpus") for path in dataset.views.get(name, ())]
    texts = Texts(dataset.name, lambda: chain.from_iterable(map(_read, files)))
    hashes = hash_list(texts)
    queries = sum(pq.read_metadata(path).num_rows for path in dataset.views.get("queries", ()))
    images = _images(dataset, pool)
    about = _described(dataset, hashes, len(images["id"]), tool) | {
        "ids": "sha256" if hash_ids else "given",
        "is_judged": judged is not None,
    }

    def name_of(given: str) -> str:
        return sha256_text(f"{dataset.name} {given}")[:16] if hash_ids else given

    schema = SCHEMA.with_metadata({METADATA: canonical_json(about).encode()})
    partial = out.with_name(out.name + ".part")
    partial.parent.mkdir(parents=True, exist_ok=True)
    with pq.ParquetWriter(partial, schema, compression="zstd", use_dictionary=["record", "part"]) as writer:
        for table in chain(
            _texts(texts, hashes, queries, judged, name_of), _grams(hashes), _pictures(images, name_of)
        ):
            writer.write_table(table, row_group_size=_GROUP)
    partial.replace(out)
    return about


def _described(dataset: Dataset, hashes: HashList, images: int, tool: str) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "hash_version": HASH_VERSION,
        "rule": f"every run of {SPAN} tokens of a text, each once a text; one hash over all tokens of a text",
        "name": dataset.name,
        "source": dataset.sha256,
        "kind": dataset.kind,
        "tool": tool,
        "counts": {"texts": len(hashes.halves), "grams": len(hashes.grams), "images": images},
    }


def _read(path: Path) -> Iterator[tuple[pa.Array, pa.Array]]:
    with pq.ParquetFile(path) as source:
        for batch in source.iter_batches(10_000, columns=["id", "text"], use_threads=False):
            yield batch.column("id"), batch.column("text")


def _positives(dataset: Dataset) -> frozenset[str] | None:
    """Documents with a score above zero; None without qrels."""
    if "qrels" not in dataset.views:
        return None
    found: set[str] = set()
    for path in dataset.views["qrels"]:
        with pq.ParquetFile(path) as source:
            for batch in source.iter_batches(columns=["corpus-id", "score"], use_threads=False):
                pairs = zip(*(column.to_pylist() for column in batch.columns), strict=True)
                found.update(name for name, score in pairs if (score or 0) > 0)
    return frozenset(found)


def _images(dataset: Dataset, pool: Executor) -> dict[str, list[Any]]:
    """Columns of every image that decodes."""
    from curation.similarity.image import features

    seen = features(
        {name: dataset.views[name] for name in ("queries", "corpus") if name in dataset.views}, pool
    )
    wide = wide_hashes(seen.thumbs)[seen.look]
    found: dict[str, list[Any]] = {"id": [], "part": [], "hash": [], "sha256": [], "wide": []}
    for place in np.flatnonzero(seen.is_ok).tolist():
        found["id"].append(seen.ids[place])
        found["part"].append(seen.table_of(place))
        found["hash"].append(int(seen.phash[place]))
        found["sha256"].append(str(seen.sha256[place]))
        found["wide"].append(None if seen.is_flat[place] else wide[place].astype(">u8").tobytes())
    return found


def _table(record: str, rows: int, **columns: Any) -> pa.Table:
    given = {"record": [record] * rows} | columns
    return pa.Table.from_arrays(
        [
            pa.array(given[field.name], field.type) if field.name in given else pa.nulls(rows, field.type)
            for field in SCHEMA
        ],
        schema=SCHEMA,
    )


def _texts(
    texts: Texts, hashes: HashList, queries: int, judged: frozenset[str] | None, name_of: Any
) -> Iterator[pa.Table]:
    at = 0
    for ids, batch in texts.read():
        names, rows = ids.to_pylist(), slice(at, at + len(ids))
        parts = [
            "query" if number < queries else "positive" if judged is None or name in judged else "document"
            for number, name in enumerate(names, start=at)
        ]
        yield _table(
            "text",
            len(names),
            number=np.arange(at, at + len(names), dtype=np.int32),
            hash=hashes.digests[rows],
            halves=hashes.halves[rows],
            part=parts,
            id=[name_of(name) for name in names],
            sha256=[sha256_text(normalise_text(text)) for text in batch.to_pylist()],
        )
        at += len(names)


def _grams(hashes: HashList) -> Iterator[pa.Table]:
    for start in range(0, len(hashes.grams), _GROUP):
        part = slice(start, start + _GROUP)
        grams = hashes.grams[part]
        yield _table("gram", len(grams), number=hashes.owners[part], hash=grams)


def _pictures(images: Mapping[str, list[Any]], name_of: Any) -> Iterator[pa.Table]:
    if images["id"]:
        named = dict(images) | {"id": [name_of(name) for name in images["id"]]}
        yield _table("image", len(images["id"]), **named)


def read_hash_list(path: Path) -> Listed:
    """Read and check a hash list.

    Raises:
        UsageError: it is of another version, or its content is not what its metadata says.
    """
    about = _about(path)
    try:
        found = _by_record(path)
        texts, grams, images = found["text"], found["gram"], found["image"]
        counts = {"texts": texts.num_rows, "grams": grams.num_rows, "images": images.num_rows}
        hashes = HashList(
            ids=texts.column("id").cast(pa.large_string()),
            halves=_numbers(texts, "halves", np.int32),
            digests=_numbers(texts, "hash", np.uint64),
            grams=_numbers(grams, "hash", np.uint64),
            owners=_numbers(grams, "number", np.int32),
        )
        wide = [value or b"\0" * 32 for value in images.column("wide").to_pylist()]
        pictures = ListedImages(
            ids=images.column("id").to_pylist(),
            tables=images.column("part").to_pylist(),
            sha256=images.column("sha256").to_pylist(),
            phash=_numbers(images, "hash", np.uint64),
            wide=np.frombuffer(b"".join(wide), ">u8").astype(np.uint64).reshape(-1, 4),
            has_wide=np.array([bool(value) for value in images.column("wide").to_pylist()], np.bool_),
        )
        parts = texts.column("part").to_pylist()
        _check(hashes, parts, counts == about["counts"])
    except (OSError, KeyError, TypeError, ValueError, pa.ArrowException) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise UsageError(f"damaged hash list: {reason}", file=str(path), hint="write it again") from error
    return Listed(about, hashes, parts, pictures)


def _by_record(path: Path) -> dict[str, pa.Table]:
    """Rows by kind; a row group holds one kind."""
    kinds: dict[str, list[pa.Table]] = {"text": [], "gram": [], "image": []}
    needed = {"gram": ["record", "number", "hash"]}
    with pq.ParquetFile(path) as source:
        for group in range(source.num_row_groups):
            record = source.read_row_group(group, columns=["record"]).column(0)
            names = record.unique().to_pylist()
            if len(names) != 1 or names[0] not in kinds:
                raise ValueError(f"row group {group} holds {len(names)} kinds of rows")
            kinds[names[0]].append(source.read_row_group(group, columns=needed.get(names[0])))
    return {
        name: pa.concat_tables(tables) if tables else SCHEMA.empty_table() for name, tables in kinds.items()
    }


def _numbers(table: pa.Table, column: str, kind: Any) -> Any:
    values = table.column(column).combine_chunks()
    if values.null_count:
        raise ValueError(f"{column} is missing in some rows")
    return np.asarray(values.to_numpy(zero_copy_only=False)).astype(kind, copy=False)


def _check(hashes: HashList, parts: Sequence[str], is_complete: bool) -> None:
    texts = len(hashes.halves)
    if not is_complete:
        raise ValueError("rows are missing")
    if set(parts) - set(PARTS) or hashes.ids.null_count:
        raise ValueError("unknown parts or no id")
    if len(hashes.owners) and not 0 <= int(hashes.owners.min()) <= int(hashes.owners.max()) < texts:
        raise ValueError("13-grams of texts that are not listed")
    if len(hashes.grams) > 1 and bool((hashes.grams[1:] < hashes.grams[:-1]).any()):
        raise ValueError("13-grams are not sorted")
