"""What of every document decides whether it is a distractor, as arrays of whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from curation.derived.distractors.bands import band_codes
from curation.evaluation.collection import Collection
from schemas.errors import ReleaseError
from schemas.published import Published
from schemas.tables import CORPUS, ORIGIN_CORPUS

Codes = NDArray[np.int32]
NONE = -1
"""Code of '' and null: such values match nothing but each other, and set no document apart."""
_BATCH = 20_000


@dataclass(frozen=True, slots=True)
class Coded:
    """A column as codes, shape (documents,); `names` says what each stands for."""

    codes: Codes
    names: pa.Array

    def find(self, values: list[str]) -> list[int]:
        """Codes of some values, NONE for one that no document has."""
        found = pc.index_in(pa.array(values, pa.string()), value_set=self.names)
        return [
            NONE if place is None or not value else place
            for place, value in zip(found.to_pylist(), values, strict=True)
        ]

    def texts(self, places: NDArray[np.int64]) -> pa.Array:
        """The values of some documents, '' for none."""
        codes = self.codes[places]
        return pc.fill_null(self.names.take(pa.array(codes, pa.int32(), mask=codes == NONE)), "")


@dataclass(frozen=True, slots=True)
class Documents:
    """Columns of the corpus in id order. `image` and `text` are the same for copies; `band` is in BANDS."""

    language: Coded
    specialty: Coded
    genre: Coded
    article: Coded
    patient: Coded
    text: Coded
    image: Coded
    band: Codes


def read_documents(collection: Collection) -> Documents:
    """The documents of a release, in the order of `collection.corpus_ids`.

    Raises:
        ReleaseError: corpus and provenance do not have the same documents.
    """
    ids = pa.array(collection.corpus_ids, pa.string())
    columns = {
        name: _coded(ORIGIN_CORPUS, name, collection.directory)
        for name in ("specialty", "genre", "article_id", "patient_id", "text_sha256", "image_sha256")
    }
    bands = _bands(collection.directory)
    known = pa.chunked_array(_column(ORIGIN_CORPUS, "id", collection.directory), pa.string())
    if not known.equals(pa.chunked_array([ids])) or len(bands) != len(ids):
        raise ReleaseError(
            "corpus and provenance do not have the same documents in id order",
            file=ORIGIN_CORPUS.folder,
            hint="build the release anew",
        )
    text = columns["text_sha256"]
    return Documents(
        language=_coded(CORPUS, "language", collection.directory),
        specialty=columns["specialty"],
        genre=columns["genre"],
        article=columns["article_id"],
        patient=columns["patient_id"],
        text=Coded(np.where(bands == 0, NONE, text.codes).astype(np.int32), text.names),
        image=columns["image_sha256"],
        band=bands,
    )


def _column(table: Published, name: str, directory: Path) -> list[pa.Array]:
    files = table.files(directory)
    return [chunk for path in files for chunk in pq.read_table(path, columns=[name]).column(0).chunks]


def _coded(table: Published, name: str, directory: Path) -> Coded:
    column = pa.concat_arrays(_column(table, name, directory) or [pa.array([], pa.string())])
    encoded = column.dictionary_encode()
    names = encoded.dictionary
    codes = np.array(encoded.indices.fill_null(NONE), dtype=np.int32)
    empty = pc.index(names, "").as_py()
    if empty != NONE:
        codes[codes == empty] = NONE
    return Coded(codes, names)


def _bands(directory: Path) -> Codes:
    parts: list[Codes] = [np.empty(0, np.int32)]
    for path in CORPUS.files(directory):
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_BATCH, columns=["text", "language"]):
                parts.append(band_codes(batch.column("text"), batch.column("language")))
    return np.concatenate(parts)
