"""Question collections: exam questions and questions with cited answers, from JSON Lines or JSON files.

One file with its sidecar is one :class:`RawArticle`; the stage QUESTIONS reads it record by record. Both are
copied to raw/questions/<hash>/, where the hash covers exactly these bytes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from schemas.article import RawArticle, RawPart
from schemas.errors import InputError, UsageError
from schemas.hashing import canonical_json, sha256_bytes, sha256_text
from schemas.ids import repository_id
from schemas.question import Question, QuestionCollection
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table
from schemas.stored import check_stored, read_stored
from sources.ledger import Held
from sources.questions.json_records import Piece, load_object, split
from sources.questions.reader import Collection, OwnReason, read_question
from sources.questions.sidecar import SUFFIX, read_sidecar, sidecar_of
from sources.store import RawStore

SOURCE: Final = "questions"
META: Final = "meta"
"""Name of the part that holds the sidecar."""
MAX_RECORD_BYTES: Final = 1024 * 1024
_DATA_SUFFIXES: Final = (".json", ".jsonl", ".ndjson")
_BLOCK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class QuestionsContext:
    """What a fetch works with.

    Attributes:
        root: folder the locators are relative to.
        store: raw/ and its ledger.
        max_bytes: larger files are dropped as `too_large`.
    """

    root: Path
    store: RawStore
    max_bytes: int = 4 * 1024**3


def discover(path: Path) -> list[str]:
    """Locators of a target, relative to `root_of(path)`, sorted.

    Args:
        path: a data file, a sidecar, or a folder: its sidecars at any depth, hidden ones passed over, and
            its data files that have the suffix of one but no sidecar (fetching these says what is missing).

    Raises:
        UsageError: no such file or folder.
    """
    if path.is_file():
        return [path.name]
    if not path.is_dir():
        raise UsageError("no such file or folder", file=str(path), hint="medqrels crawl questions PATH")
    found = [
        item.relative_to(path)
        for item in path.rglob("*")
        if item.is_file()
        and (item.name.endswith(SUFFIX) or (item.suffix in _DATA_SUFFIXES and not sidecar_of(item).exists()))
    ]
    return sorted(item.as_posix() for item in found if not any(part.startswith(".") for part in item.parts))


def root_of(path: Path) -> Path:
    """The folder that the locators of a target are relative to."""
    return path if path.is_dir() else path.parent


def fetch(locator: str, context: QuestionsContext) -> RawArticle | Drop:
    """Copy one collection and its sidecar into raw/.

    A sidecar is a settings file: its key `file` may name a data file anywhere on this machine.

    Args:
        locator: as :func:`discover` gives it: a data file or a sidecar.
        context: folder, store and limits.

    Returns:
        The stored collection, or the reason why there is none; `Drop.id` is the locator.
    """
    try:
        return _stored(locator, context)
    except InputError as error:
        reason = Reason(error.reason or Reason.NOT_FOUND)
        return Drop(unit="article", id=locator, article_id=locator, reason=reason, detail=error.message)


def _stored(locator: str, context: QuestionsContext) -> RawArticle:
    given = context.root / locator
    own = given if given.name.endswith(SUFFIX) else sidecar_of(given)
    meta = _small(own, f"no sidecar {own.name} beside the file; docs/questions.md says what it holds")
    sidecar = read_sidecar(meta, own.name)
    data_file = own.parent / (sidecar.file or own.name.removesuffix(SUFFIX))
    sha256, size = _hash(data_file, context.max_bytes)
    folder = f"{SOURCE}/{sha256_text(canonical_json([sha256, sha256_bytes(meta)]))[:12]}"
    path, meta_path = f"{folder}/records.json", f"{folder}/meta.toml"
    held = context.store.held(SOURCE, path)
    if held is None or held.sha256 != sha256:
        _copy(data_file, path, (sha256, size), context.store)
    held = context.store.held(SOURCE, meta_path)
    if held is None or held.sha256 != sha256_bytes(meta):
        context.store.put(SOURCE, meta_path, meta_path, meta)
    return RawArticle(
        id=repository_id(SOURCE, sidecar.name),
        source="questions",
        format="questions",
        locator=locator,
        path=path,
        sha256=sha256,
        license_code=sidecar.licence,
        parts=(RawPart(name=META, path=meta_path, sha256=sha256_bytes(meta)),),
        is_synthetic=sidecar.synthetic,
    )


def _small(path: Path, missing: str) -> bytes:
    try:
        with path.open("rb") as handle:
            return handle.read(_BLOCK)
    except OSError:
        raise InputError(missing, reason=Reason.METADATA_INVALID.value, file=path.name) from None


def _open(path: Path) -> BinaryIO:
    if not path.is_file():
        raise InputError(f"no data file {path.name}", reason=Reason.NOT_FOUND.value)
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", reason=Reason.NOT_FOUND.value) from None


def _hash(path: Path, limit: int) -> tuple[str, int]:
    """Hex SHA-256 and size of a file.

    Raises:
        InputError: it is not there, or larger than `limit`.
    """
    digest, size = hashlib.sha256(), 0
    with _open(path) as handle:
        while block := handle.read(_BLOCK):
            size += len(block)
            if size > limit:
                raise InputError(f"larger than the limit of {limit} bytes", reason=Reason.TOO_LARGE.value)
            digest.update(block)
    return digest.hexdigest(), size


def _copy(source: Path, path: str, expected: tuple[str, int], store: RawStore) -> None:
    """Copy in blocks to a temporary name, sync, rename, record: a crash leaves no half file under its name.

    Raises:
        InputError: the file was changed while it was read.
    """
    target = store.root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.part")
    sha256, md5, size = hashlib.sha256(), hashlib.md5(usedforsecurity=False), 0
    with _open(source) as handle, partial.open("wb") as out:
        while block := handle.read(_BLOCK):
            out.write(block)
            sha256.update(block)
            md5.update(block)
            size += len(block)
        out.flush()
        os.fsync(out.fileno())
    if (sha256.hexdigest(), size) != expected:
        partial.unlink()
        what = "the file was changed while it was read; run the same command again"
        raise InputError(what, reason=Reason.FETCH_FAILED.value)
    os.replace(partial, target)
    store.ledger.record(Held(SOURCE, path, path, sha256.hexdigest(), md5.hexdigest(), size))


def read(
    raw_article: RawArticle, *, raw: Path, max_record_bytes: int
) -> Iterator[Question | QuestionCollection | Drop]:
    """Read one collection: its questions, a drop for every record that is none, and the collection itself.

    Every record of the file is one question or one drop of unit `question`, whose id is
    `<collection>@<record number>`. Raw articles of other formats yield nothing.

    Args:
        raw_article: where its bytes lie.
        raw: the workspace's raw/ folder.
        max_record_bytes: longer records are dropped.

    Raises:
        WorkspaceError: a stored file is missing, or not the one that was fetched.
    """
    if raw_article.format != "questions":
        return
    try:
        collection = _collection(raw_article, raw)
        check_stored(raw, raw_article.path, raw_article.sha256, record=raw_article.id)
        with (raw / raw_article.path).open("rb") as handle:
            count = kept = 0
            for out in _questions(handle, collection, max_record_bytes):
                count, kept = count + 1, kept + isinstance(out, Question)
                yield out
            if not count:
                raise InputError("the file holds no record", reason=Reason.RECORD_INVALID.value)
    except InputError as error:
        reason, key = Reason(error.reason or Reason.RECORD_INVALID), raw_article.id
        yield Drop(unit="collection", id=key, article_id=key, reason=reason, detail=error.message)
        return
    sidecar = collection.sidecar
    yield QuestionCollection(
        id=collection.id,
        name=sidecar.name,
        title=sidecar.title,
        language=sidecar.language,
        citation=sidecar.citation,
        url=sidecar.url,
        licence=collection.licence,
        records=count,
        questions=kept,
        raw_sha256=raw_article.sha256,
        is_synthetic=collection.is_synthetic,
    )


def _collection(raw_article: RawArticle, raw: Path) -> Collection:
    meta = next((part for part in raw_article.parts if part.name == META), None)
    if meta is None:
        raise InputError("stored without its sidecar", reason=Reason.METADATA_INVALID.value)
    data = read_stored(raw, meta.path, meta.sha256, record=raw_article.id)
    sidecar = read_sidecar(data, meta.path)
    is_synthetic = raw_article.is_synthetic or sidecar.synthetic
    return Collection(raw_article.id, sidecar, sidecar.mapping(), sidecar.stated_licence(), is_synthetic)


def _questions(handle: BinaryIO, collection: Collection, max_bytes: int) -> Iterator[Question | Drop]:
    first: dict[str, int] = {}
    for piece in split(handle, max_bytes, collection.fields.records):
        try:
            question = _question(piece, collection, max_bytes)
            if question.id in first:
                raise InputError(f"its id is that of record {first[question.id]}")
        except InputError as error:
            yield Drop(
                unit="question",
                id=f"{collection.id}@{piece.number}",
                article_id=collection.id,
                reason=_reason(error),
                detail=f"line {piece.line}: {error.message}",
            )
            continue
        first[question.id] = piece.number
        yield question


def _reason(error: InputError) -> OwnReason | Reason:
    is_own = error.reason == OwnReason.NEEDS_FIGURE
    return OwnReason.NEEDS_FIGURE if is_own else Reason.RECORD_INVALID


def _question(piece: Piece, collection: Collection, max_bytes: int) -> Question:
    if piece.data is None:
        raise InputError(f"longer than {max_bytes} bytes")
    return read_question(load_object(piece.data), piece.number, collection)


def _collection_ids(raw_article: RawArticle) -> list[str]:
    return [raw_article.id] if raw_article.format == "questions" else []


QUESTIONS = RecordStage(
    name="questions",
    version=2,
    inputs=(Input("crawl.raw", RawArticle, by="id"),),
    outputs=(
        Table("questions", Question, ("id",)),
        Table("collections", QuestionCollection, ("id",)),
    ),
    process=read,
    accounts=(Account("collection", _collection_ids, "collections", "id"),),
    params={"max_record_bytes": MAX_RECORD_BYTES},
    resources=("raw",),
    reasons=frozenset(OwnReason),
)
