"""Splits a JSON Lines file or a JSON array into its records, in constant memory and past damaged ones.

Every byte that is not space belongs to a record, so that a caller can account for all of a file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, NoReturn

from schemas.errors import InputError
from schemas.stages import Reason

BOM: Final = b"\xef\xbb\xbf"
_CHUNK: Final = 1 << 16
_OTHER_ENCODINGS: Final = (b"\xff\xfe", b"\xfe\xff")
_TOKEN = re.compile(rb'\\.|["\n\[\]{},]', re.DOTALL)
_STRUCTURE = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_OPENS = re.compile(rb"\s*:\s*\[")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Piece:
    """One record as written. `number` and `line` count from 1; `data` is None when it is over the limit."""

    number: int
    line: int
    data: bytes | None


def split(handle: BinaryIO, max_bytes: int, key: str = "") -> Iterator[Piece]:
    """Records of a file: elements if it begins with `[`, else its lines that are not blank.

    Args:
        handle: the file, at its beginning.
        max_bytes: longest record; a longer one is passed over and yielded without data.
        key: of a file that is one object, the key of its list of records, which begins within `max_bytes`;
            what stands beside the list is not read.

    Raises:
        InputError: the file is not UTF-8 text at all, or has no list under this key.
    """
    head = handle.read(_CHUNK)
    if head.startswith(_OTHER_ENCODINGS):
        raise InputError("the file is UTF-16; JSON is UTF-8", reason=Reason.RECORD_INVALID.value)
    skipped = len(BOM) if head.startswith(BOM) else 0
    start = head[skipped:].lstrip()[:1]
    handle.seek(skipped)
    if start == b"[":
        return _Array(max_bytes).read(handle)
    if key:
        return _held(handle, max_bytes, key)
    return _lines(handle, max_bytes)


def _held(handle: BinaryIO, max_bytes: int, key: str) -> Iterator[Piece]:
    """Elements of the array under a key of the outermost object."""
    before = handle.tell()
    head = handle.read(max_bytes)
    depth, name = 0, json.dumps(key, ensure_ascii=False).encode()
    for token in _STRUCTURE.finditer(head):
        if token.group() == name and depth == 1 and (found := _OPENS.match(head, token.end())):
            handle.seek(before + found.end() - 1)
            line = 1 + head.count(b"\n", 0, found.end())
            return _Array(max_bytes, line=line, is_whole_file=False).read(handle)
        depth += (token.group() in b"[{") - (token.group() in b"]}")
    raise InputError(f"the file has no list under {key!r}", reason=Reason.RECORD_INVALID.value)


def _lines(handle: BinaryIO, max_bytes: int) -> Iterator[Piece]:
    number = line = 0
    while data := handle.readline(max_bytes + 1):
        line += 1
        is_long = len(data) > max_bytes and not data.endswith(b"\n")
        rest = data
        while is_long and rest and not rest.endswith(b"\n"):
            rest = handle.readline(_CHUNK)
        if is_long or data.strip():
            number += 1
            yield Piece(number, line, None if is_long else data.strip())


class _Array:
    """Elements of a JSON array: commas and brackets outside strings, at the outermost level, divide them.

    JSON strings hold no line break: one inside a string means that its closing quote is lost, and what
    follows is read as being outside again.
    """

    def __init__(self, max_bytes: int, *, line: int = 1, is_whole_file: bool = True) -> None:
        self._max_bytes = max_bytes
        self._is_whole_file = is_whole_file
        self._depth = 0
        self._in_string = False
        self._is_over = False
        self._line, self._number = line, 0
        self._element = bytearray()
        self._size = self._start = 0

    def read(self, handle: BinaryIO) -> Iterator[Piece]:
        carried = b""
        while chunk := handle.read(_CHUNK):
            chunk, carried = carried + chunk, b""
            if (len(chunk) - len(chunk.rstrip(b"\\"))) % 2:  # an escape cut in two
                chunk, carried = chunk[:-1], b"\\"
            yield from self._chunk(chunk)
            if self._is_over and not self._is_whole_file:
                return
        self._take(carried)
        if self._has_content() or not self._is_over:
            yield self._finished()  # a cut array, or what stands after its end

    def _chunk(self, chunk: bytes) -> Iterator[Piece]:
        """Elements that end in a chunk. What lies between two divisions is taken at once: tokens are many."""
        done, depth, in_string = 0, self._depth, self._in_string
        for found in _TOKEN.finditer(chunk):
            token = found.group()
            if token == b'"':
                in_string = not in_string
            elif token == b"\n":
                in_string = False
            elif in_string or self._is_over or len(token) > 1:
                continue
            elif token in b"[{":
                depth += 1
                if depth == 1:
                    self._take(chunk[done : found.start()])
                    done = found.end()
            else:
                if token != b"," and (depth > 1 or token == b"]"):
                    depth -= 1
                    self._is_over = depth == 0
                if self._is_over or (depth == 1 and token == b","):
                    self._take(chunk[done : found.start()])
                    done = found.end()
                    if not self._is_over or self._number or self._has_content():
                        yield self._finished()
        self._take(chunk[done:])
        self._depth, self._in_string = depth, in_string

    def _has_content(self) -> bool:
        return bool(self._size or self._element)

    def _take(self, data: bytes) -> None:
        """Add to the element; space before it is not part of it."""
        lines, added = data.count(b"\n"), data
        if not self._has_content():
            added = data.lstrip()
            if added:
                self._start = self._line + lines - added.count(b"\n")
        self._line += lines
        self._size += len(added)
        if self._size <= self._max_bytes:
            self._element += added
        else:
            self._element.clear()

    def _finished(self) -> Piece:
        is_long = self._size > self._max_bytes
        data = None if is_long else bytes(self._element).rstrip()
        self._number += 1
        self._element.clear()
        self._size, start = 0, self._start or self._line
        self._start = 0
        return Piece(self._number, start, data)


def load_object(data: bytes) -> dict[str, Any]:
    """One record as an object of JSON (RFC 8259), strictly: no key twice, no NaN, no lone surrogate.

    Raises:
        InputError: it is none, with what is wrong (`record_invalid`).
    """
    try:
        text = data.decode("utf-8")
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
        is_torn = "\\u" in text and bool(_SURROGATE.search(json.dumps(value, ensure_ascii=False)))
    except UnicodeDecodeError as error:
        raise _invalid(f"not UTF-8 at byte {error.start} of the record") from None
    except RecursionError:
        raise _invalid("nested too deeply") from None
    except ValueError as error:
        # Messages of the decoder give places, never content; that of int() is about its length.
        raise _invalid(f"not JSON: {str(error)[:120]}") from None
    if not isinstance(value, dict):
        raise _invalid(f"a JSON {type(value).__name__}, not an object")
    if is_torn:
        raise _invalid("half of a surrogate pair is no character")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("an object gives a key twice")
    return made


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _invalid(what: str) -> InputError:
    return InputError(what, reason=Reason.RECORD_INVALID.value)
