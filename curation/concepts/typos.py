"""Words one letter away from a word of the vocabulary, by SymSpell's deletes, memory-mapped.

Every word of the names is stored under the hashes of itself with any one letter left out; a misspelt word
shares one of them (https://github.com/wolfgarbe/SymSpell). Candidates are checked letter by letter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import OSA

from curation.concepts.scripts import is_unspaced
from curation.concepts.storage import IndexFile, IndexWriter, places_of


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


SHORTEST, LONGEST = 4, 28
"""Letters of words that are checked."""
_ALONE, _SHORTEST_NAME = 8, 6
_ONE_LETTER_MAY_DIFFER = 12
"""Letters of the shortest word in which one letter may stand for another."""
_SHORTEST_REST = 5
_BEGINNINGS = frozenset(
    _words(
        """
    anti auto bi bio cardio co cyto di ecto endo epi exo extra haemo hemo hetero hexa homo hydro hyper hypo
    immuno infra inter intra iso macro mega meta micro mini mono multi myo neo neuro non oligo over pan para
    penta peri pheno photo poly post pre pro pseudo psycho radio re retro semi sub super supra tele tetra
    thermo thymo thyro trans tri triiodo ultra un under uni vaso
    """
    )
)
"""How compounds begin that anyone may make."""
_LONGEST_BEGINNING = max(map(len, _BEGINNINGS))
_MOST = 32
_TOGETHER = 4096
_BLOCK = 1 << 20
_BASE, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
_HALF, _UPPER = np.uint64(29), np.uint64(32)


def is_checked(folded: str) -> bool:
    """Whether misspellings of a folded word are looked for: letters only, neither short nor very long."""
    return SHORTEST <= len(folded) <= LONGEST and folded.isalpha() and not is_unspaced(folded[0])


def _powers(count: int) -> npt.NDArray[np.uint64]:
    return np.cumprod(np.full(count, _BASE, dtype=np.uint64), dtype=np.uint64)


_POWERS = _powers(LONGEST + 2)


def deletes(words: Sequence[str], salts: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint32]:
    """Hashes of words with each letter left out, and whole; shape (words, longest + 1).

    A row longer than its word goes on with the hash of the whole word.
    """
    longest = max(map(len, words))
    padded = "".join([word.ljust(longest, "\0") for word in words])
    letters = np.frombuffer(padded.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    letters = letters.reshape(len(words), longest)
    sums = np.zeros((2, len(words), longest + 1), dtype=np.uint64)
    np.cumsum(letters * _POWERS[:longest], axis=1, out=sums[0, :, 1:])
    # Letters behind a left-out one move one place forward.
    np.cumsum(letters[:, 1:] * _POWERS[: longest - 1], axis=1, out=sums[1, :, 1:longest])
    mixed = sums[0]
    mixed[:, :longest] += sums[1, :, longest - 1 : longest] - sums[1, :, :longest]
    mixed += salts[:, None]
    mixed *= _MIX
    mixed ^= mixed >> _HALF
    mixed *= _BASE
    return np.asarray(mixed >> _UPPER, dtype=np.uint32)


def salt_of(language: str) -> int:
    """Keeps the words of languages apart."""
    return int.from_bytes(language.encode("ascii", "replace")[:7], "little")


def write(partitions: Iterable[list[Any]], writer: IndexWriter) -> None:
    """Write the tables of words and of their deletes.

    Args:
        partitions: (language, folded word, token hash) records, each word in one partition only.
        writer: receives word_end, word_text, word_token, delete_hash and delete_word.
    """
    offset = 0
    pairs: list[npt.NDArray[np.uint64]] = []
    for records in partitions:
        words = sorted(set(records))
        first = writer.count("word_token")
        texts = [word.encode("utf-8", "surrogatepass") for _, word, _ in words]
        ends = offset + np.cumsum([len(text) for text in texts], dtype=np.uint64)
        writer.append("word_end", ends.astype("<u8"))
        writer.append("word_text", np.frombuffer(b"".join(texts), dtype="u1"))
        writer.append("word_token", np.array([token for _, _, token in words], dtype="<u8"))
        offset = int(ends[-1]) if words else offset
        for low in range(0, len(words), _TOGETHER):
            pairs.append(_pairs(words[low : low + _TOGETHER], first + low))
    _write_deletes(pairs, writer)


def _pairs(words: list[Any], first: int) -> npt.NDArray[np.uint64]:
    """Hash (upper half) and number of a word, for each of its deletes."""
    salts = np.array([salt_of(language) for language, _, _ in words], dtype=np.uint64)
    made = deletes([word for _, word, _ in words], salts)
    lengths = np.array([len(word) for _, word, _ in words])
    owners = np.arange(first, first + len(words), dtype=np.uint64)
    pairs = (made.astype(np.uint64) << np.uint64(32)) | owners[:, None]
    kept: npt.NDArray[np.uint64] = np.unique(pairs[np.arange(made.shape[1]) <= lengths[:, None]])
    return kept


def _write_deletes(found: list[npt.NDArray[np.uint64]], writer: IndexWriter) -> None:
    """Sorted by hash, then word."""
    pairs = np.concatenate(found) if found else np.zeros(0, dtype=np.uint64)
    found.clear()
    pairs.sort()
    for low in range(0, max(len(pairs), 1), _BLOCK):
        some = pairs[low : low + _BLOCK]
        writer.append("delete_hash", (some >> np.uint64(32)).astype("<u4"))
        writer.append("delete_word", (some & np.uint64(0xFFFFFFFF)).astype("<u4"))


def stands_alone(folded: str, word: str) -> bool:
    """Whether a word one letter away is likelier misspelt than another word, or another form of one.

    By itself it must be long, with the right first and last letter ("depression", "repression"; "retinal",
    "retina"); one letter is not taken for another in shorter words ("humility", "humidity"), for letters are
    rather left out, doubled or swapped. Among other words of a name those speak for it.
    """
    if len(folded) < _ALONE or word[0] != folded[0] or word[-1] != folded[-1]:
        return False
    return (
        len(word) != len(folded)
        or len(word) >= _ONE_LETTER_MAY_DIFFER
        or sorted(word) == sorted(folded)  # two letters swapped
    )


def is_name(written: str, word: str) -> bool:
    """Whether a word in a text is a name of its own rather than a misspelt word of the vocabulary.

    First letters are seldom wrong, those of names hardly ever: "Palla" is no "Salla". Nor are short names
    looked for: "Wilk".
    """
    return written[0].isupper() and (len(written) < _SHORTEST_NAME or written[0].lower() != word[0])


def rest_of(folded: str) -> str:
    """A folded word without what compounds begin with: "thymoglobulin", "macronutrient"; "" for others."""
    for length in range(_LONGEST_BEGINNING, 0, -1):
        if folded[:length] in _BEGINNINGS:
            return folded[length:] if len(folded) - length >= _SHORTEST_REST else ""
    return ""


class Typos:
    """Lookup of misspelt words in an opened index."""

    def __init__(self, index: IndexFile) -> None:
        self._hash = index.array("delete_hash")
        self._hashes, self._words = index.items("delete_hash"), index.items("delete_word")
        self._end, self._text = index.items("word_end"), index.items("word_text")
        self._token = index.items("word_token")

    def candidates(self, folded: Sequence[str], language: str) -> list[list[tuple[str, int]]]:
        """For each word the vocabulary's words a letter or swap away, with their tokens; likeliest first."""
        if not folded or not len(self._hash):
            return [[] for _ in folded]
        wanted = deletes(folded, np.full(len(folded), salt_of(language), dtype=np.uint64))
        first = places_of(self._hash, wanted.ravel()).reshape(wanted.shape)
        rows, columns = np.nonzero(self._hash.take(first, mode="clip") == wanted)
        places: list[set[int]] = [set() for _ in folded]
        for row, low in zip(rows.tolist(), first[rows, columns].tolist(), strict=True):
            places[row].update(self._words_at(low))
        return [self._checked(word, some) for word, some in zip(folded, places, strict=True)]

    def _checked(self, folded: str, places: Iterable[int]) -> list[tuple[str, int]]:
        found: dict[int, str] = {}
        for place in places:
            word = self._spelling(place)
            if OSA.distance(folded, word, score_cutoff=1) == 1:
                token = self._token[place]
                found[token] = min(word, found.get(token, word))
        return sorted(
            ((word, token) for token, word in found.items()),
            key=lambda item: (not stands_alone(folded, item[0]), item),
        )

    def _words_at(self, low: int) -> list[int]:
        """Words that share the delete at a place."""
        high = low + 1
        while high < len(self._hashes) and high < low + _MOST and self._hashes[high] == self._hashes[low]:
            high += 1
        return self._words[low:high].tolist()

    def _spelling(self, place: int) -> str:
        start = self._end[place - 1] if place else 0
        return self._text[start : self._end[place]].tobytes().decode("utf-8", "surrogatepass")
