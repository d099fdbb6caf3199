"""Words of many texts at once, as 64-bit hashes; and one text's words with their places.

Words are those of `schemas.hashing.normalise_text`: case, width and punctuation folded. In scripts written
without spaces every character is a token of its own and weighs half a word.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]

PIECE = 1 << 18
"""Characters hashed in one go: small enough to stay in a core's cache."""
UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),
    (0x3040, 0x30FF),  # kana
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
"""Code points of scripts written without spaces between words."""
_BASE = 0x9E3779B97F4A7C15
_ASCII_WORD = re.compile(r"[0-9a-z]+")


def mix(values: U64) -> U64:
    """Finaliser of SplitMix64: neighbouring values become unrelated."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


@functools.lru_cache(maxsize=8)
def powers(base: int, count: int) -> tuple[U64, U64]:
    """The first powers of an odd base modulo 2^64, and of its inverse."""
    factors = np.full(count, base, np.uint64)
    inverse = np.full(count, pow(base, -1, 1 << 64), np.uint64)
    factors[0] = inverse[0] = 1
    return np.multiply.accumulate(factors), np.multiply.accumulate(inverse)


def rolling(values: U64, starts: I64, ends: I64, base: int) -> U64:
    """Polynomial hash of each run values[start:end], from prefix sums modulo 2^64."""
    size = 1 << max(18, (len(values) + 1).bit_length())
    power, inverse = powers(base, size)
    prefix = np.zeros(len(values) + 1, np.uint64)
    np.cumsum(values * power[: len(values)], out=prefix[1:])
    result: U64 = (prefix[ends] - prefix[starts]) * inverse[starts]
    return result


@functools.cache
def _is_word() -> Bool:
    """Code point -> whether it is part of a word: a letter or digit, as in `normalise_text`."""
    return np.fromiter(map(str.isalnum, map(chr, range(0x110000))), np.bool_, 0x110000)


@functools.cache
def _is_solo() -> Bool:
    """Code point -> whether it is a token of its own."""
    solo = np.zeros(0x110000, np.bool_)
    for first, last in UNSPACED:
        solo[first : last + 1] = True
    return solo & _is_word()


def _number(codes: npt.NDArray[np.uint64]) -> U64:
    """Random number of each code point."""
    return mix((codes + np.uint64(1)) * np.uint64(_BASE))


@functools.cache
def _values() -> U64:
    """Code point -> its random number, 0 for what is no part of a word."""
    return np.where(_is_word(), _number(np.arange(0x110000, dtype=np.uint64)), np.uint64(0))


@functools.cache
def _ascii() -> tuple[U64, Bool]:
    """The same for bytes of ASCII text, upper case folded."""
    codes = np.arange(128)
    word = np.array([chr(code).isalnum() for code in codes])
    lower = np.array([ord(chr(code).lower()) for code in codes], np.uint64)
    return np.where(word, _number(lower), np.uint64(0)), word


@dataclass(frozen=True, slots=True)
class _Folding:
    """What each code point below 0x10000 becomes, where that does not depend on its neighbours."""

    values: U64
    word: Bool
    solo: Bool
    hard: Bool
    """Folds to several letters, or may join the character before it: its text is folded as a whole."""


@functools.cache
def _folding() -> _Folding:
    size = 0x10000
    folded = np.zeros(size, np.uint32)
    hard = np.zeros(size, np.bool_)
    for code in range(size - 1):
        character = chr(code)
        if unicodedata.category(character)[0] == "M" or 0x1100 <= code <= 0x11FF or 0xD800 <= code < 0xE000:
            hard[code] = True
            continue
        became = fold(character)
        if len(became) == 1 and not unicodedata.combining(became):
            folded[code] = ord(became)
        else:
            hard[code] = unicodedata.combining(became[:1]) or any(map(str.isalnum, became))
    hard[-1] = True
    return _Folding(_values()[folded], _is_word()[folded], _is_solo()[folded], hard)


def fold(text: str) -> str:
    """The character folding of `normalise_text`, without its word split."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


@dataclass(frozen=True, slots=True)
class Tokens:
    """Hashes of the tokens of some texts; each text's tokens are consecutive and in order."""

    hashes: U64
    owners: I32
    """Row number of the text each token is in, counted from the first text given."""
    solo: Bool
    """Whether it is a character of a script without spaces."""


def tokenise(texts: pa.Array | Sequence[str]) -> Iterator[Tokens]:
    """Tokens of all texts, in parts of whole texts; null counts as empty.

    Args:
        texts: an Arrow array of strings (any layout) or strings.
    """
    given = texts if isinstance(texts, pa.Array) else _array(texts)
    given = pc.fill_null(given.cast(pa.large_string()), "")
    if not len(given):
        return
    _, offset_buffer, data = given.buffers()
    offsets = np.frombuffer(offset_buffer, np.int64)[given.offset : given.offset + len(given) + 1]
    codes = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    for first, last in _pieces(offsets):
        bounds = offsets[first : last + 1]
        rows = np.arange(first, last, dtype=np.int32)
        tokens, hard = _from_bytes(codes[bounds[0] : bounds[-1]], bounds - bounds[0], rows)
        yield tokens
        if len(hard):
            yield from _from_text(given.take(pa.array(hard)).to_pylist(), hard)


def _array(texts: Sequence[str]) -> pa.Array:
    """Strings as Arrow; what UTF-8 cannot hold is no letter anyway."""
    try:
        return pa.array(texts, pa.large_string())
    except (pa.ArrowException, UnicodeEncodeError):
        return pa.array([text.encode("utf-8", "replace").decode() for text in texts], pa.large_string())


def _from_bytes(codes: npt.NDArray[np.uint8], bounds: I64, rows: I32) -> tuple[Tokens, I32]:
    """Tokens from UTF-8 where Arrow holds it, and the rows that must be folded as a whole instead."""
    none = np.zeros(0, np.int32)
    if not len(codes) or codes.max() < 0x80:
        plain, letters = _ascii()
        return _tokens(plain[codes], letters[codes], None, bounds, rows), none
    table = _folding()
    places = np.flatnonzero((codes & 0xC0) != 0x80)
    first = codes[places]
    wide = np.flatnonzero(first >= 0x80)
    points = _decode(codes, places[wide], first[wide])
    first[wide] = 0
    values, word, solo = table.values[first], table.word[first], np.zeros(len(first), np.bool_)
    values[wide], word[wide], solo[wide] = table.values[points], table.word[points], table.solo[points]
    tokens = _tokens(values, word, solo, np.searchsorted(places, bounds), rows)
    at = places[wide[table.hard[points]]]
    if not len(at):
        return tokens, none
    hard = np.unique(rows[np.searchsorted(bounds, at, "right") - 1])
    kept = ~np.isin(tokens.owners, hard)
    return Tokens(tokens.hashes[kept], tokens.owners[kept], tokens.solo[kept]), hard


def _decode(codes: npt.NDArray[np.uint8], at: I64, lead: npt.NDArray[np.uint8]) -> I32:
    """Code points of multi-byte characters; 0xFFFF for those beyond the first plane."""
    padded = np.concatenate((codes, np.zeros(3, np.uint8)))
    head = lead.astype(np.int32)
    second, third = (padded[at + more].astype(np.int32) & 0x3F for more in (1, 2))
    two, three = (head & 0x1F) << 6 | second, (head & 0x0F) << 12 | second << 6 | third
    points: I32 = np.where(head < 0xE0, two, np.where(head < 0xF0, three, 0xFFFF)).astype(np.int32)
    return points


def _from_text(texts: list[str], rows: I32) -> Iterator[Tokens]:
    """Hash other texts, folded one by one."""
    folded = [fold(text) for text in texts]
    offsets = np.concatenate(([0], np.cumsum(np.fromiter(map(len, folded), np.int64, len(folded)))))
    for first, last in _pieces(offsets):
        joined = "".join(folded[first:last])
        codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
        bounds = offsets[first : last + 1] - offsets[first]
        yield _tokens(_values()[codes], _is_word()[codes], _is_solo()[codes], bounds, rows[first:last])


def _pieces(offsets: I64) -> Iterator[tuple[int, int]]:
    """Row ranges of about PIECE characters, at least one row each."""
    first, count = 0, len(offsets) - 1
    while first < count:
        last = int(np.searchsorted(offsets, offsets[first] + PIECE, "right")) - 1
        last = min(max(last, first + 1), count)
        yield first, last
        first = last


def _tokens(values: U64, word: Bool, solo: Bool | None, bounds: I64, rows: I32) -> Tokens:
    """Cut at word borders, at text borders and around single-character tokens; hash each token."""
    starts, ends = word.copy(), word.copy()
    starts[1:] &= ~word[:-1]
    ends[:-1] &= ~word[1:]
    if solo is not None:
        starts |= solo
        starts[1:] |= word[1:] & solo[:-1]
        ends |= solo
        ends[:-1] |= word[:-1] & solo[1:]
    inner = bounds[(bounds > 0) & (bounds < len(word))]
    starts[inner] = word[inner]
    ends[inner - 1] = word[inner - 1]
    begin, stop = np.flatnonzero(starts), np.flatnonzero(ends) + 1
    counts = np.diff(np.searchsorted(begin, bounds))
    return Tokens(
        mix(rolling(values, begin, stop, _BASE)),
        np.repeat(rows, counts),
        np.zeros(len(begin), np.bool_) if solo is None else solo[begin],
    )


def tokens_with_offsets(text: str) -> list[tuple[str, int, int]]:
    """Normalised tokens and where each stands in the text as written."""
    if text.isascii():
        return [(match[0], match.start(), match.end()) for match in _ASCII_WORD.finditer(text.lower())]
    tokens: list[tuple[str, int, int]] = []
    current, start, end = "", 0, 0
    for begin, stop in _clusters(text):
        for character in fold(text[begin:stop]):
            alone = is_solo(character)
            if current and (alone or not character.isalnum()):
                tokens.append((current, start, end))
                current = ""
            if alone:
                tokens.append((character, begin, stop))
            elif character.isalnum():
                start = begin if not current else start
                current, end = current + character, stop
    if current:
        tokens.append((current, start, end))
    return tokens


def is_solo(character: str) -> bool:
    """Whether a character is a token of its own."""
    code = ord(character)
    inside = code >= UNSPACED[0][0] and any(first <= code <= last for first, last in UNSPACED)
    return inside and character.isalnum()


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Characters with the combining marks that follow them: folding never reaches across."""
    begin = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or not unicodedata.combining(text[place]):
            yield begin, place
            begin = place
