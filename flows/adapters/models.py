"""Models by sentence-transformers, an extra (models): encoders, CLIP-like ones, cross-encoders.

A model is a local folder or a name on the Hub; what it was told and how much it cut goes into results.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import struct
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from curation.evaluation.dense import EmbedRequest
from curation.evaluation.requests import ScoreRequest
from flows.adapters.cache import AnswerCache
from flows.adapters.encoder import Encoded, fingerprint, portions
from schemas.errors import UsageError
from schemas.hashing import canonical_json, sha256_file, sha256_text

_PROMPT_NAMES = {"query": ("query",), "document": ("document", "passage", "corpus")}
_SCORE = struct.Struct("<dII")


def library(name: str = "sentence_transformers") -> Any:
    """A module of the extra: sentence_transformers or transformers.

    Raises:
        UsageError: it is not installed; names the extra.
    """
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        raise UsageError(
            f"this needs {name.replace('_', '-')}, which is not installed ({error})",
            hint="install the extra: make setup EXTRAS=models",
        ) from error
    with contextlib.suppress(ImportError, AttributeError):  # its bars and warnings would stand amid ours
        from transformers.utils import logging

        logging.set_verbosity_error()
        logging.disable_progress_bar()
    return module


def load(make: Callable[[str], Any], model: str) -> Any:
    """What a library makes of a folder or a name.

    Raises:
        UsageError: it cannot.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it recommends packages that it does without
            return make(model)
    except Exception as error:  # the library raises what its many back ends raise
        raise UsageError(
            f"the model {model!r} cannot be loaded: {type(error).__name__}: {error}",
            hint="give a folder with the model, or a name that can be downloaded",
        ) from error


def identity(model: str) -> dict[str, str]:
    """The model's name; of a folder its last part and a hash over its files, never where it lies."""
    folder = Path(model)
    if not folder.is_dir():
        return {"model": model, "files": ""}
    files = {
        path.relative_to(folder).as_posix(): sha256_file(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    return {"model": folder.name, "files": sha256_text(canonical_json(files))}


def _token_counts(tokenizer: Any, limit: int | None, texts: Sequence[Any]) -> list[tuple[int, int]]:
    """(tokens, tokens kept) of each text, special tokens included."""
    counts = [len(tokenizer(text, truncation=False)["input_ids"]) for text in texts]
    return [(count, min(count, limit) if limit else count) for count in counts]


class TextEncoder:
    """A sentence-transformers text model. Prompts are those given, else those the model brings along."""

    reads_images = False

    def __init__(
        self, model: str, query_prompt: str | None = None, document_prompt: str | None = None
    ) -> None:
        package = library()
        self._model = load(package.SentenceTransformer, model)
        own = dict(getattr(self._model, "prompts", None) or {})
        self._prompts = {
            "query": _prompt(own, "query") if query_prompt is None else query_prompt,
            "document": _prompt(own, "document") if document_prompt is None else document_prompt,
        }
        self._limit = _limit(self._model)
        self._about = {**identity(model), "package": f"sentence-transformers {package.__version__}"}

    def describe(self) -> dict[str, Any]:
        """Model, files, library, prompts and length limit."""
        return {
            **self._about,
            "query_prompt": self._prompts["query"],
            "document_prompt": self._prompts["document"],
            "max_tokens": self._limit,
        }

    def encode(self, requests: Sequence[EmbedRequest]) -> list[Encoded]:
        """Embed the texts, each with the prompt of its role before it."""
        texts = [self._prompts[request.role] + request.text for request in requests]
        counts = _token_counts(self._model.tokenizer, self._limit, texts)
        vectors = self._vectors(texts)
        return [Encoded(vector, *count) for vector, count in zip(vectors, counts, strict=True)]

    def _vectors(self, inputs: Sequence[Any]) -> NDArray[np.floating]:
        return np.asarray(
            self._model.encode(list(inputs), prompt="", convert_to_numpy=True, show_progress_bar=False)
        )


class ClipEncoder(TextEncoder):
    """A CLIP-like model: the sum of the unit vectors of image and text, of whichever a row has.

    The vector of several images is the unit vector of their sum: as much as one image, in any order.
    """

    reads_images = True

    def describe(self) -> dict[str, Any]:
        """As a text model, and how image and text are joined."""
        return {**super().describe(), "fusion": "sum of unit vectors", "images": "sum of unit vectors"}

    def encode(self, requests: Sequence[EmbedRequest]) -> list[Encoded]:
        """Embed texts and images; a row with neither is a zero vector, which is like nothing."""
        written = [place for place, request in enumerate(requests) if request.text]
        shown = [(place, image) for place, request in enumerate(requests) for image in request.images]
        texts = [self._prompts[requests[place].role] + requests[place].text for place in written]
        counts = dict(zip(written, _token_counts(self._model.tokenizer, self._limit, texts), strict=True))
        parts: dict[int, list[NDArray[np.floating]]] = {}
        if written:
            for place, vector in zip(written, self._vectors(texts), strict=True):
                parts.setdefault(place, []).append(_unit(vector))
        if shown:
            pictures: dict[int, NDArray[np.floating]] = {}
            vectors = self._vectors([_open(image) for _, image in shown])
            for (place, _), vector in zip(shown, vectors, strict=True):
                pictures[place] = pictures.get(place, 0) + _unit(vector)
            for place, vector in pictures.items():
                parts.setdefault(place, []).append(_unit(vector))
        width = len(next(iter(parts.values()))[0]) if parts else 1
        return [
            Encoded(np.sum(parts.get(place, [np.zeros(width)]), axis=0), *counts.get(place, (0, 0)))
            for place in range(len(requests))
        ]


class Reranker:
    """A cross-encoder: one score per query-document pair."""

    def __init__(self, model: str) -> None:
        package = library()
        self._model = load(package.CrossEncoder, model)
        limit = getattr(self._model, "max_length", None)
        self._limit = int(limit) if limit else None
        self._about = {**identity(model), "package": f"sentence-transformers {package.__version__}"}

    def describe(self) -> dict[str, Any]:
        """Model, files, library and length limit."""
        return {**self._about, "max_tokens": self._limit}

    def scores(
        self,
        requests: Iterable[ScoreRequest],
        cache: Path,
        advance: Callable[[int], None] = lambda rows: None,
    ) -> Iterator[tuple[ScoreRequest, float, int, int]]:
        """(request, score, tokens, tokens kept) of each pair, in order; asked of the model once."""
        with AnswerCache(cache, fingerprint(self.describe())) as held:
            for portion in portions(requests):
                keys = [_pair_key(request) for request in portion]
                known = held.get(keys)
                missing = {key: item for key, item in zip(keys, portion, strict=True) if key not in known}
                if missing:
                    fresh = dict(zip(missing, self._ask(list(missing.values())), strict=True))
                    held.put(fresh)
                    known.update(fresh)
                for key, request in zip(keys, portion, strict=True):
                    yield (request, *_SCORE.unpack(known[key]))
                advance(len(portion))

    def _ask(self, requests: Sequence[ScoreRequest]) -> list[bytes]:
        pairs = [(request.query, request.document) for request in requests]
        scores = np.asarray(self._model.predict(pairs, show_progress_bar=False), np.float64).reshape(
            len(pairs), -1
        )
        if scores.shape[1] != 1:
            raise UsageError(
                f"the cross-encoder gives {scores.shape[1]} numbers per pair, not one relevance score",
                hint="name a model with a single output",
            )
        tokenizer = self._model.tokenizer
        counts = [len(tokenizer(query, document, truncation=False)["input_ids"]) for query, document in pairs]
        return [
            _SCORE.pack(float(score), count, min(count, self._limit) if self._limit else count)
            for score, count in zip(scores[:, 0], counts, strict=True)
        ]


def _prompt(own: dict[str, str], role: str) -> str:
    return next((own[name] for name in _PROMPT_NAMES[role] if own.get(name)), "")


def _limit(model: Any) -> int | None:
    limit = getattr(model, "max_seq_length", None)
    return int(limit) if limit else None


def _unit(vector: NDArray[np.floating]) -> NDArray[np.floating]:
    norm = float(np.linalg.norm(vector))
    return vector / norm if norm else vector


def _open(data: bytes) -> Image.Image:
    with Image.open(io.BytesIO(data)) as image:
        return image.convert("RGB")


def _pair_key(request: ScoreRequest) -> bytes:
    parts = (text.encode("utf-8", "surrogatepass") for text in (request.query, request.document))
    return hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).digest()
