"""All short windows of content words of a batch of texts, as arrays.

The key of a window is a difference of prefix sums of word hashes; a bit filter ends most, a binary search
over the index's keys the rest. Rows found are compared by hashes of ordered words before any string is read.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from curation.concepts.hashes import Sequences
from curation.concepts.laboratory import CHANGES, is_of_blood
from curation.concepts.lexicon import ARTICLE, CONJUNCTION, CONTENT, HEAVY, LIGHT, UNKNOWN, Lexicon
from curation.concepts.names import AS_NOUN, CASED, COMMAS, LONGEST_UNSPACED, NUMBERED
from curation.concepts.normalise import ADJECTIVE, ROMAN_LETTER
from curation.concepts.persons import is_person
from curation.concepts.predicates import PARTS, is_listed, verb_of
from curation.concepts.readings import Item, Readings
from curation.concepts.scripts import COMMA, HARD, HYPHEN, SPACE, split
from curation.concepts.storage import IndexFile, places_of

Array = npt.NDArray[Any]
UNDECIDED, SAME_FORMS, SAME_WORDS, ROTATED, REFUSED = range(5)
"""What ordered hashes say of a window and a row; ROTATED: the same forms, inverted at a comma."""
_HYPHENS = ("-", "‐", "‑", "–")
_LENGTHS = frozenset({"foot", "feet"})
_SIDES = ("one", "other")
"""Before "hand" in "on the other hand", which is no part of the body."""
_DENIALS = frozenset(
    {"no", "nor", "not", "without", "absence", "sin", "ni", "sem", "nem", "sans", "ohne", "kein", "keine"}
)
"""Between the words of a name, they part what is there from what is not."""
_ROMAN = frozenset({*ROMAN_LETTER, *map(str.upper, ROMAN_LETTER)})
_STEPS = np.arange(LONGEST_UNSPACED)
_MOST_ROWS = 64
_CHUNK = 1 << 14
_AROUND = 200
"""Characters beside a span that say whether it is what it seems."""


class Batch:
    """Texts cut into words.

    Attributes:
        text: all texts together; offsets count in it.
        bases: where each text begins in it.
        words: every word.
        slots, slot_array: their slots in the lexicon.
        kinds, kind_array: their kinds.
        gaps: class of the gap after each word but the last; HARD between texts.
    """

    def __init__(self, texts: Sequence[str], lexicon: Lexicon, classes: Mapping[str, int]) -> None:
        self.text, self.lexicon = "".join(texts), lexicon
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        self.bases = np.cumsum(lengths) - lengths
        parts = [""]
        borders = []
        for text in texts:
            added = split(text)
            parts[-1] += added[0]
            borders.append(len(parts) // 2)
            parts += added[1:]
        self.words = parts[1::2]
        different = set(self.words)
        self.slots = lexicon.read(self.words, different)
        if not _ROMAN.isdisjoint(different):
            self._number()
        if lexicon.language.code == "en":
            if "hand" in different:
                self._leave_out_idioms()
            if not _LENGTHS.isdisjoint(different):
                self._leave_out_lengths(parts)
        self.gaps = list(map(classes.__getitem__, parts[2:-1:2]))
        for border in borders:
            if 0 < border <= len(self.gaps):
                self.gaps[border - 1] = HARD
        self.slot_array = np.array(self.slots, dtype=np.int64)
        self.kind_array = lexicon.kinds[self.slot_array]
        self.kinds = self.kind_array.tobytes()
        self._part_phrases()
        self._borders = self.bases.tolist()
        ends = np.cumsum(np.fromiter(map(len, parts), dtype=np.int64, count=len(parts)))
        self.starts, self.ends = ends[0:-1:2], ends[1::2]

    def around(self, start: int, end: int) -> tuple[str, int, int]:
        """What stands around a span in its text, and the offsets of the span in that."""
        place = bisect_right(self._borders, start)
        last = self._borders[place] if place < len(self._borders) else len(self.text)
        first = max(self._borders[place - 1], start - _AROUND)
        return self.text[first : min(last, end + _AROUND)], start - first, end - first

    def _number(self) -> None:
        """Read 'I', 'V' and 'X' as numbers after a counting word."""
        language = self.lexicon.language
        for place, word in enumerate(self.words):
            if word in _ROMAN and place and language.key_form(self.words[place - 1]) in language.counting:
                self.slots[place] = self.lexicon.numeral(word)

    def _leave_out_idioms(self) -> None:
        """Know no word "hand" in "on (the) one hand", "on the other hand"."""
        for place, word in enumerate(self.words):
            if word == "hand" and place > 1 and self.words[place - 1] in _SIDES:
                before = [before.lower() for before in self.words[max(place - 3, 0) : place - 1]]
                if before[-1] == "on" or before == ["on", "the"]:
                    self.slots[place] = UNKNOWN

    def _leave_out_lengths(self, parts: Sequence[str]) -> None:
        """Know no foot in a "3-foot film"."""
        for place, word in enumerate(self.words):
            if (
                word in _LENGTHS
                and place
                and parts[2 * place] in _HYPHENS
                and self.words[place - 1].isdigit()
            ):
                self.slots[place] = UNKNOWN

    def _part_phrases(self) -> None:
        """Make the gap hard where an article follows a content word: "treated the fever"."""
        is_parted = (self.kind_array[1:] == ARTICLE) & (self.kind_array[:-1] == CONTENT)
        for place in is_parted.nonzero()[0].tolist():
            self.gaps[place] = HARD


@dataclass(slots=True)
class Found:
    """Windows that have the key of a name, each with one row of that key; parallel lists.

    Attributes:
        starts, ends: offsets in the batch's text.
        texts: the words to be judged; None where it is the text between the offsets.
        rows: index rows.
        rules: what ordered hashes say, but REFUSED.
        guessed: whether a word is a guess.
        spliced: whether words between are left out.
    """

    starts: list[int]
    ends: list[int]
    texts: list[str | None]
    rows: list[int]
    rules: list[int]
    guessed: list[bool]
    spliced: list[bool]


class Windows:
    """Looks the windows of batches up in one index."""

    def __init__(self, index: IndexFile) -> None:
        self._keys, self._filter = index.array("row_key"), index.array("filter")
        self._words, self._forms = index.array("row_words"), index.array("row_forms")
        self._flags = index.array("row_flags")
        self._shift = np.uint64(64 - (len(self._filter) * 8).bit_length() + 1)

    def find(self, batch: Batch) -> Found:
        """Every window of a batch that has the key of a name."""
        found = Found([], [], [], [], [], [], [])
        if batch.words and len(self._keys):
            gaps = np.array([*batch.gaps, HARD], dtype=np.uint8)
            content = (batch.kind_array == CONTENT).nonzero()[0]
            parts = (gaps == HARD).cumsum()
            segments = parts[content - 1]
            if len(content) and content[0] == 0:
                segments[0] = 0
            others = Readings(batch.words, batch.slots, batch.kinds, batch.gaps, batch.lexicon)
            readings = list(others.all(batch.slot_array, batch.kind_array, gaps))
            items = [item for reading in readings for item in reading]
            table = np.array(items or np.zeros((0, 3)), dtype=np.int64)
            numbers = np.arange(parts[-1] + 1, parts[-1] + 1 + len(readings))
            segments = np.concatenate([segments, numbers.repeat([*map(len, readings)] or 1)])
            slots = np.concatenate([batch.slot_array[content], table[:, 0]])
            first, count, rows = self._lookup(slots, segments, batch.lexicon)
            is_own = first < len(content)
            self._add_own(batch, content, gaps, (first[is_own], count[is_own], rows[is_own]), found)
            if items:
                first, count, rows = first[~is_own] - len(content), count[~is_own], rows[~is_own]
                guessed, is_kept = _are_others(table, first, count, batch)
                windows = zip(
                    *(column[is_kept].tolist() for column in (first, count, rows, guessed)), strict=True
                )
                self._add_others(batch, items, segments[len(content) :].tolist(), windows, found)
        return found

    def _add_own(
        self, batch: Batch, content: Array, gaps: Array, windows: tuple[Array, Array, Array], found: Found
    ) -> None:
        lexicon, slots = batch.lexicon, batch.slot_array
        first, count, rows = windows
        last = first + count - 1
        guesses = _sums(lexicon.guesses[slots[content]])
        guessed = guesses[last + 1] - guesses[first]
        low, high = content[first], content[last]
        rules = self._compare(batch, content, (first, last, low, high), rows, gaps)
        kept = (rules != REFUSED) & (guessed < 2)
        kept &= (count > 1) | ~lexicon.doubtful[slots[low]]
        low, high, rows, rules, guessed = low[kept], high[kept], rows[kept], rules[kept], guessed[kept]
        found.starts += batch.starts[low].tolist()
        found.ends += batch.ends[high].tolist()
        found.texts += [None] * len(rows)
        found.rows += rows.tolist()
        found.rules += rules.tolist()
        found.guessed += (guessed > 0).tolist()
        found.spliced += [False] * len(rows)

    def _compare(
        self, batch: Batch, content: Array, window: tuple[Array, Array, Array, Array], rows: Array,
        gaps: Array,
    ) -> Array:  # fmt: skip
        """Whether a row has the same words, or the same inflected forms, in the same order."""
        first, last, low, high = window
        lexicon, slots = batch.lexicon, batch.slot_array
        commas = _sums(gaps == COMMA)
        words = Sequences(lexicon.spellings[slots], gaps == COMMA).of(low, high)
        after = np.zeros(len(content), dtype=np.bool_)
        after[:-1] = commas[content[1:]] > commas[content[:-1]]
        sequences = Sequences(lexicon.inflections[slots[content]], after)
        parting, heavy = _sums(gaps > COMMA), _sums(batch.kind_array >= HEAVY)
        is_plain = parting[high] == parting[low]
        is_plain &= (self._flags[rows] & CASED) == 0
        is_light = is_plain & (heavy[high] == heavy[low])
        rules = np.zeros(len(rows), dtype=np.uint8)
        places = after.nonzero()[0]
        if len(places):
            comma = places[np.minimum(places.searchsorted(first), len(places) - 1)]
            inverted = ((comma >= first) & (comma < last)).nonzero()[0]
            some = rows[inverted]
            rotated = sequences.rotated(first[inverted], comma[inverted], last[inverted]) == self._forms[some]
            rules[inverted[(self._flags[some] & COMMAS) == 0]] = REFUSED
            rules[inverted[rotated & is_light[inverted]]] = ROTATED
        same = is_light & (self._forms[rows] == sequences.of(first, last))
        turns = _sums(lexicon.partitive[slots])
        same &= turns[high] == turns[low]  # "blood of cancer" is no blood cancer
        rules[same] = SAME_FORMS
        rules[(self._flags[rows] & AS_NOUN) == NUMBERED] = REFUSED
        rules[is_plain & (self._words[rows] == words)] = SAME_WORDS
        return rules

    def _add_others(
        self,
        batch: Batch,
        items: Sequence[Item],
        segments: Sequence[int],
        windows: Iterable[tuple[int, int, int, bool]],
        found: Found,
    ) -> None:
        for start, number, row, is_guess in windows:
            window = items[start : start + number]
            ordered = sorted(window, key=lambda item: item[1])
            verb = verb_of([low for _, low, _ in ordered], batch.words)
            if verb:
                ends = start + number
                if ends < len(items) and segments[ends] == segments[ends - 1]:
                    continue  # "were posteriorly [rotated]"
                if "normal" in batch.words[ordered[verb - 1][2] : ordered[verb][1]]:
                    continue  # "was normal or [raised]"
                is_cut = start > 0 and segments[start - 1] == segments[start]
                if _is_of_another(ordered, verb, items[start - 1][1] if is_cut else -1, batch):
                    continue
                words, is_spliced = _written(ordered[:verb], batch)[0], True
                words = f"{_written(ordered[verb:], batch)[0]} {words}"
            elif _DENIALS.isdisjoint(batch.words[ordered[0][1] : ordered[-1][2]]):
                words, is_spliced = _written(window, batch)
            else:
                continue  # "tuberculosis, and no other [disease]"
            if is_spliced and not verb and not _is_ended(items, start + number, segments, batch):
                continue
            if not (is_spliced or is_guess or any(low < high for _, low, high in window)):
                continue  # the text itself reads so
            begins = ordered[verb if verb and is_listed(ordered[verb][1], batch.words) else 0][1]
            found.starts.append(int(batch.starts[begins]))
            found.ends.append(int(batch.ends[ordered[-1][2]]))
            found.texts.append(words)
            found.rows.append(row)
            found.rules.append(UNDECIDED)
            found.guessed.append(is_guess)
            found.spliced.append(is_spliced)

    def _lookup(self, slots: Array, segments: Array, lexicon: Lexicon) -> tuple[Array, Array, Array]:
        """(first content word, number of them, row) of every window that has the key of that row."""
        sums = np.zeros(len(slots) + 1, dtype=np.uint64)
        np.cumsum(lexicon.tokens[slots], out=sums[1:])
        longest = lexicon.longest[slots]
        pieces = [
            self._lookup_chunk(low, min(low + _CHUNK, len(slots)), sums, longest, segments)
            for low in range(0, len(slots), _CHUNK)
        ]
        first, count, rows = (
            (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
            if pieces
            else (np.zeros(0, dtype=np.int64),) * 3
        )
        return self._all_rows(first, count, rows)

    def _lookup_chunk(
        self, low: int, high: int, sums: Array, longest: Array, segments: Array
    ) -> tuple[Array, Array, Array]:
        width = int(longest[low:high].max(initial=0))
        own = longest[low:high].nonzero()[0] + low
        grid = own[:, None] + _STEPS[:width]
        inside = grid < len(longest)
        np.minimum(grid, len(longest) - 1, out=grid)
        fits = np.minimum.accumulate(longest[grid], axis=1) > _STEPS[:width]
        fits &= inside
        fits &= segments[grid] == segments[own][:, None]
        place, count = fits.nonzero()
        first = own[place]
        count += 1
        keys = sums[first + count] - sums[first]
        tops = keys >> self._shift
        bits = self._filter[(tops >> np.uint64(3)).astype(np.int64)] >> (tops & np.uint64(7)).astype(np.uint8)
        passed = (bits & np.uint8(1)).nonzero()[0]
        keys = keys[passed]
        rows = places_of(self._keys, keys)
        hits = self._keys[np.minimum(rows, len(self._keys) - 1)] == keys
        kept = passed[hits]
        return first[kept], count[kept], rows[hits]

    def _all_rows(self, first: Array, count: Array, rows: Array) -> tuple[Array, Array, Array]:
        """Each window once for every row of its key."""
        found = [(first, count, rows)]
        keys = self._keys[rows]
        for step in range(1, _MOST_ROWS):
            following = rows + step
            same = following < len(self._keys)
            same &= self._keys[np.minimum(following, len(self._keys) - 1)] == keys
            if not same.any():
                break
            first, count, rows, keys = first[same], count[same], rows[same], keys[same]
            found.append((first, count, rows + step))
        first, count, rows = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        return first, count, rows


def _are_others(items: Array, first: Array, count: Array, batch: Batch) -> tuple[Array, Array]:
    """Whether a word of each window is a guess, and whether a window reads as the text itself does not.

    A window does so by a joined word, a guess, its order, or content words left out. A guess that needs words
    beside it is none alone.
    """
    slots, lows, highs = items.T
    lexicon, last = batch.lexicon, first + count - 1
    content = _sums(batch.kind_array == CONTENT)
    is_step = (lows[1:] <= highs[:-1]) | (content[lows[1:]] > content[highs[:-1] + 1])
    steps, joined, guesses = _sums(is_step), _sums(lows < highs), _sums(lexicon.guesses[slots])
    guessed = guesses[last + 1] > guesses[first]
    is_other = guessed | (joined[last + 1] > joined[first]) | (steps[last] > steps[first])
    return guessed, is_other & ~((count == 1) & lexicon.doubtful[slots[first]])


def _sums(values: Array) -> Array:
    """Sums of the values before each place, and of all."""
    sums = np.zeros(len(values) + 1, dtype=np.int64)
    values.cumsum(out=sums[1:])
    return sums


def _is_of_another(ordered: Sequence[Item], verb: int, left_out: int, batch: Batch) -> bool:
    """Whether a quality is stated of a part of something else, which is left out.

    "The [head] of the pancreas was [large]", "the femoral [head] was [large]", "brain [iron] was [high]".

    Args:
        ordered: the words of the window in order of place.
        verb: the first of them behind the verb.
        left_out: place of the word before them in their reading; -1 for none.
        batch: its texts.
    """
    noun, language = ordered[0][1], batch.lexicon.language
    is_part = language.word(batch.words[noun]).inflection in PARTS
    if is_part and left_out > noun:
        return not is_person(batch.words[left_out])
    before = noun - 1
    if before < 0 or batch.gaps[before] not in (SPACE, HYPHEN) or batch.kinds[before] != CONTENT:
        return False
    beside = language.word(batch.words[before])
    if language.is_common(beside) or beside.folded in language.free:
        return False
    if is_part:
        return language.is_organ(beside.noun)
    is_value = any(language.word(batch.words[low]).key in CHANGES for _, low, _ in ordered[verb:])
    return is_value and not (
        is_of_blood(beside) or beside.folded.endswith("ing") or ADJECTIVE.search(beside.inflection)
    )


def _is_ended(items: Sequence[Item], after: int, segments: Sequence[int], batch: Batch) -> bool:
    """Whether a window with words left out stops where its phrase does ("facial cleft and broad [nose]")."""
    last = items[after - 1][2]
    if ADJECTIVE.search(batch.words[last].lower()) and _is_followed(last, batch):
        return False
    if after == len(items) or segments[after] != segments[after - 1]:
        return True
    place = items[after][1]
    return place > last + 1 or batch.lexicon.language.word(batch.words[place]).folded in (
        batch.lexicon.language.common
    )


def _is_followed(place: int, batch: Batch) -> bool:
    """Whether a content word comes right after."""
    return (
        place < len(batch.gaps) and batch.gaps[place] in (SPACE, HYPHEN) and batch.kinds[place + 1] == CONTENT
    )


def _written(window: Sequence[Item], batch: Batch) -> tuple[str, bool]:
    """The words of a window with the small ones between them, and whether content words are left out."""
    words: list[str] = []
    is_spliced = False
    before = window[0][1] - 1
    for _, low, high in window:
        between = range(before + 1, low)
        left_out = [batch.words[place] for place in between if batch.kinds[place] == CONTENT]
        is_spliced |= bool(left_out)
        kept = (LIGHT, ARTICLE) if left_out else (LIGHT, ARTICLE, HEAVY, CONJUNCTION)
        if batch.lexicon.language.free.issuperset(left_out):
            words += [batch.words[place] for place in between if batch.kinds[place] in kept]
        words.append("".join(batch.words[low : high + 1]))
        before = high
    return " ".join(words), is_spliced
