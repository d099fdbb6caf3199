"""Content hashes and the text normalisation that decides whether two texts count as the same."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from pathlib import Path
from typing import Any

_NOT_WORD = re.compile(r"[\W_]+")


def sha256_bytes(data: bytes) -> str:
    """Hex SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def sha256_text(text: str) -> str:
    """Hex SHA-256 of the UTF-8 form; lone surrogates are kept apart, never an error."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def sha256_file(path: Path) -> str:
    """Hex SHA-256 of a file, read in blocks."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def sendable(text: str) -> str:
    """The text as UTF-8 can carry it: lone surrogates become U+FFFD."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def foreign_json(data: bytes | str) -> Any:
    """JSON written elsewhere; lone surrogates in it, which no file can hold, become U+FFFD.

    Raises:
        ValueError: it is not JSON.
        RecursionError: it is nested too deeply.
    """
    value = json.loads(data)
    text = json.dumps(value, ensure_ascii=False)
    carried = sendable(text)
    return value if carried == text else json.loads(carried)


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces: equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def normalise_text(text: str) -> str:
    """Case, width, accents-composition, punctuation and spacing folded: the key of exact duplicates."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _NOT_WORD.sub(" ", folded).strip()
