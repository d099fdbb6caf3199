"""The native matcher: names of an index in texts, exact, inflected, reordered, joined, elided or misspelt.

Texts are read in batches of arrays (windows.py); what has the key of a name is judged (judge.py), one reading
is chosen for each span (disambiguate.py), and spans inside others are kept or not as asked.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path

import numpy as np

from curation.concepts.cognates import LANGUAGES
from curation.concepts.disambiguate import Reading, best, choose, evidence
from curation.concepts.doubts import Groups, drop_doubtful, groups_of
from curation.concepts.glosses import SCORE, Glosses, unsaid
from curation.concepts.judge import (
    EXACT,
    FORM,
    REORDERED,
    TYPO,
    cuts_katakana,
    is_paraphrased,
    judge,
    penalty_of,
)
from curation.concepts.laboratory import is_in_blood
from curation.concepts.lexicon import Lexicon
from curation.concepts.matcher import Match
from curation.concepts.names import AS_NOUN, BLOOD, CASED, COMMAS, PREFERRED
from curation.concepts.normalise import GREEK_LETTERS, base_language, fold, language_of, rules
from curation.concepts.nouns import is_noun
from curation.concepts.persons import is_person, is_said_of_person
from curation.concepts.scripts import gap_class, is_unspaced
from curation.concepts.storage import IndexFile
from curation.concepts.typos import Typos
from curation.concepts.windows import ROTATED, SAME_FORMS, SAME_WORDS, UNDECIDED, Batch, Found, Windows
from schemas.concept import MatchRule
from schemas.errors import WorkspaceError

SPLICED = 0.9
"""What the score of a reading with words left out is multiplied by."""
_CLEAR = 0.93
"""Share of a surer reading's score that one crossing it must have to stay."""
_LONGEST_ACRONYM = 4
_WORD_BEFORE, _WORD_AFTER = re.compile(r"([^\W\d_]+)\W*\Z"), re.compile(r"\W*([^\W\d_]+)")
_NUMBERED = re.compile(r"\d+(?![–-]?\d)")
_NEXT = re.compile(r" ([^\W\d_]+)")
_LIST_GOES_ON = re.compile(r"(?:, ?| |-)\w")
"""What follows on no inversion: "immune evasion, tumor progression", "risk, fall, …"."""
_TURNED = re.compile(r"[^\W_A-Z][^,]*, [A-Z]")
"""What keeps the capital of a name's first word is one, whatever follows: "a syndrome, Down"."""
_NOUN_COMMA = re.compile(r"[^\W\d_]+(?<!al|ic|ar|ed|ve|us), ")
"""A word before a comma that is no adjective of what a list ends with: "ophthalmic, oral and aural signs"."""
_LISTED = re.compile(r"[,/]|\b(?:and|or)\b")
_DESIGNATED = re.compile(r"[ -][A-Z]")
_REMEMBERED = 50_000
_BATCH = 150_000
"""Characters that are read together."""

GUESSED = 8
"""Added to a rule of windows.py where a word is a guess."""
_RULES: dict[int, tuple[MatchRule, float]] = {
    SAME_WORDS: ("exact", EXACT),
    SAME_FORMS: ("form", FORM),
    ROTATED: ("order", FORM - REORDERED),
    SAME_WORDS + GUESSED: ("typo", TYPO),
    SAME_FORMS + GUESSED: ("typo", TYPO),
}

SHORTEST_ABROAD = 6
"""Characters of the shortest English name looked for in a language that has no names: not 'das'."""

_PLACES = "GEOG"
"""Group of concepts whose names no language writes in small letters alone."""

Span = tuple[int, int]
Spans = dict[Span, tuple[tuple[Reading, ...], float]]


class _Gaps(dict[str, int]):
    def __missing__(self, gap: str) -> int:
        if len(self) > _REMEMBERED:
            self.clear()
        self[gap] = gap_class(gap)
        return self[gap]


def open_index(path: Path) -> NativeMatcher:
    """A matcher over an index file; the file is mapped, so processes share its pages.

    Raises:
        WorkspaceError: the file is missing, damaged or of another version, or was made by other rules.
    """
    index = IndexFile(path)
    if index.about.get("rules") != rules():
        raise WorkspaceError(
            "the name index was built by another version of the matcher",
            file=str(path),
            hint="medqrels vocabulary build",
        )
    return NativeMatcher(index)


class NativeMatcher:
    """Finds names of one index. It remembers words, so threads that share one wait for each other."""

    def __init__(self, index: IndexFile) -> None:
        self.about = index.about
        self._index, self._typos, self._windows = index, Typos(index), Windows(index)
        self._glosses = Glosses(index)
        self._flags, self._groups = index.items("row_flags"), index.items("row_group")
        self._ends, self._text = index.items("row_end"), index.items("row_text")
        groups = self.about.get("groups", [])
        self._places = groups.index(_PLACES) if _PLACES in groups else -1
        self._groups_told = groups_of(groups)
        self._gaps = _Gaps()
        self._lock = threading.Lock()
        self._lexicons: dict[str, Lexicon] = {}
        self._judged: dict[tuple[str, int, bool, bool, bool, bool, bool], Reading | None] = {}
        self._read: dict[tuple[int, int], tuple[tuple[Reading, ...], float]] = {}
        self._penalties = [penalty_of(flags) for flags in range(256)]

    def find(self, text: str, language: str = "en", *, overlaps: bool = False) -> list[Match]:
        """Names in a text; see :class:`curation.concepts.matcher.Matcher`."""
        return self._find([text], language, overlaps)[0]

    def find_many(
        self, texts: Iterable[str], language: str = "en", *, overlaps: bool = False
    ) -> Iterator[list[Match]]:
        """Names in each of many texts, as :meth:`find` gives them; reading texts together is faster.

        Args:
            texts: texts of one language.
            language: BCP-47; in one the index has no names of, English ones are found exactly as written.
            overlaps: names inside longer ones too.
        """
        waiting: list[str] = []
        size = 0
        for text in texts:
            waiting.append(text)
            size += len(text)
            if size >= _BATCH:
                yield from self._find(waiting, language, overlaps)
                waiting, size = [], 0
        yield from self._find(waiting, language, overlaps)

    def _find(self, texts: Sequence[str], language: str, overlaps: bool) -> list[list[Match]]:
        with self._lock:
            return self._find_together(texts, language, overlaps)

    def _find_together(self, texts: Sequence[str], language: str, overlaps: bool) -> list[list[Match]]:
        code = base_language(language)
        is_known = code in self.about["languages"]
        shortest = 0 if is_known or code == "en" else SHORTEST_ABROAD
        lexicon = self._lexicon(code if is_known else "en")
        batch = Batch(texts, lexicon, self._gaps)
        spans = self._judge_all(self._windows.find(batch), batch)
        is_english = lexicon.language.code == "en"
        if code not in self.about["languages"]:
            spans = {span: found for span, found in spans.items() if found[0][0].rule == "exact"}
        if code in LANGUAGES:
            for text, base in zip(texts, batch.bases.tolist(), strict=True):
                for span, readings in self._glossed(text, code, base):
                    spans.setdefault(span, (readings, 1.0))
        matches = [
            _matches(text, found, base, overlaps, self._groups_told, is_english=is_english)
            for text, found, base in zip(texts, _parted(spans, batch), batch.bases.tolist(), strict=True)
        ]
        if shortest:
            return [[match for match in some if match.end - match.start >= shortest] for some in matches]
        return matches

    def _glossed(self, text: str, code: str, base: int) -> Iterator[tuple[Span, tuple[Reading, ...]]]:
        """Readings of what has the words of English names in another language."""
        for (start, end), words, rows in self._glosses.rows(text, code):
            found: dict[str, tuple[tuple[int, int], bool, Reading]] = {}
            for row, unlikely in rows:
                concept, name = self._name(row)
                if self._groups[row] == self._places and text[start:end].islower():
                    continue
                if (count := unsaid(words, name, code)) is not None:
                    reading = Reading(concept, name, "gloss", SCORE, self._groups[row])
                    one = (unlikely, count), not self._flags[row] & PREFERRED, reading
                    found[concept] = min(one, found.get(concept, one))
            if found:
                least = min(against for against, _, _ in found.values())
                readings = best([reading for against, _, reading in found.values() if against == least])
                yield (base + start, base + end), readings

    def _lexicon(self, code: str) -> Lexicon:
        if code not in self._lexicons:
            self._lexicons[code] = Lexicon(self._index, self._typos, language_of(code))
        self._lexicons[code].make_room()
        for remembered in (self._judged, self._read):
            if len(remembered) > _REMEMBERED:
                remembered.clear()
        return self._lexicons[code]

    def _judge_all(self, found: Found, batch: Batch) -> Spans:
        """The best readings of every span, with what their score is multiplied by."""
        spans: Spans = {}
        several: dict[Span, list[Reading]] = {}
        later: list[int] = []
        columns = zip(
            zip(found.starts, found.ends, strict=True), found.rows, found.rules, found.guessed, strict=True
        )
        for place, (span, row, rule, is_guess) in enumerate(columns):
            if rule == UNDECIDED:
                later.append(place)
                continue
            if rule == ROTATED and (is_guess or _is_list(batch, *span)):
                continue
            if is_guess:
                if self._flags[row] & COMMAS and "," not in batch.text[span[0] : span[1]]:
                    continue  # a "wound swab" is no "wound, stab"
                rule += GUESSED
            read = self._read.get((row, rule)) or self._reading(row, rule)
            known = spans.setdefault(span, read)
            if known is not read:
                several.setdefault(span, [*known[0]]).extend(read[0])
        for span, some in several.items():
            spans[span] = best(some), 1.0
        if later:
            self._judge_later(found, later, batch, spans)
        return spans

    def _judge_later(self, found: Found, later: Sequence[int], batch: Batch, spans: Spans) -> None:
        """Judge, word by word, windows of spans that have no reading by hashes; add what names a concept."""
        readings: dict[Span, list[Reading]] = {}
        spliced: dict[Span, list[Reading]] = {}
        for place in later:
            span = found.starts[place], found.ends[place]
            known = spans.get(span)
            if known is not None and (found.spliced[place] or not self._flags[found.rows[place]] & CASED):
                continue
            judged = self._judge(found, place, batch)
            if judged is not None and not (
                self._flags[found.rows[place]] & CASED and _is_in_capitals(batch.text, *span)
            ):
                (spliced if found.spliced[place] else readings).setdefault(span, []).append(judged)
        for span, some in readings.items():
            spans[span] = best([*some, *spans[span][0]] if span in spans else some), 1.0
        for span, some in spliced.items():
            spans.setdefault(span, (best(some), SPLICED))

    def _reading(self, row: int, rule: int) -> tuple[tuple[Reading, ...], float]:
        penalty = self._penalties[self._flags[row]]
        named, score = _RULES[rule]
        reading = Reading(*self._name(row), named, round(score - penalty, 4), self._groups[row])
        self._read[row, rule] = (reading,), 1.0
        return self._read[row, rule]

    def _name(self, row: int) -> tuple[str, str]:
        """Concept and name of a row."""
        start = self._ends[row - 1] if row else 0
        stored = str(self._text[start : self._ends[row]], "utf-8", "surrogatepass")
        concept, _, name = stored.partition("\t")
        return concept, name

    def _judge(self, found: Found, place: int, batch: Batch) -> Reading | None:
        """The reading of one window by one row, or None; remembered, for texts repeat themselves."""
        code = batch.lexicon.language.code
        start, end, row = found.starts[place], found.ends[place], found.rows[place]
        words, is_guess = found.texts[place] or batch.text[start:end], found.guessed[place]
        if found.spliced[place] and is_paraphrased(self._flags[row]):
            return None  # "sweating and [weight loss]" is no loss of sweating
        if self._flags[row] & BLOOD and not is_in_blood(words, *batch.around(start, end)):
            return None
        if self._flags[row] & AS_NOUN == AS_NOUN and not is_noun(*batch.around(start, end)):
            return None
        is_said = code == "en" and words.isalpha() and _is_said(words, batch, start, end)
        goes_on = code == "en" and _goes_on(batch, end)
        is_parted = code == "en" and found.spliced[place] and bool(_NOUN_COMMA.match(batch.text, start, end))
        known = words, row, is_guess, found.texts[place] is None, is_said, goes_on, is_parted
        if known not in self._judged:
            concept, name = self._name(row)
            ruled = judge(
                words, name, self._flags[row], code, is_misspelt=is_guess, is_said=is_said, goes_on=goes_on
            )
            if ruled and ruled[0] == "order" and is_parted:
                ruled = None  # "anemia, and other deficiencies" are no deficiency anemia
            if ruled and ruled[0] == "exact" and found.texts[place] is not None and not found.spliced[place]:
                ruled = "form", ruled[1] - EXACT + FORM  # read without its hyphens
            self._judged[known] = (
                Reading(concept, name, ruled[0], round(ruled[1], 4), self._groups[row]) if ruled else None
            )
        return self._judged[known]


def _is_said(word: str, batch: Batch, start: int, end: int) -> bool:
    """Whether a word is the adjective of a finding and said of a person."""
    language = batch.lexicon.language
    return language.is_of_finding(language.word(word).inflection) and is_said_of_person(
        *batch.around(start, end)
    )


def _is_list(batch: Batch, start: int, end: int) -> bool:
    """Whether words turned round at a comma are two things of a list: "immune evasion, tumor progression"."""
    if _LIST_GOES_ON.match(batch.text, end) is None:
        return False
    following = _NEXT.match(batch.text, end, end + 30)
    if following is not None and batch.lexicon.ends_phrase(following[1]):
        return False  # "bronchitis, recurrent in childhood"
    return _TURNED.match(batch.text, start, end) is None or _goes_on(batch, end)


def _goes_on(batch: Batch, end: int) -> bool:
    """Whether a word of a name follows directly, or one like "disease", that no sentence goes on with."""
    following = _NEXT.match(batch.text, end, end + 30)
    if following is None:
        return False
    language = batch.lexicon.language
    word = language.word(following[1])
    is_known = bool(batch.lexicon.slots.get(following[1])) and not language.is_common(word)
    return bool(word.key) and (is_known or language.is_quality(word.noun) or is_person(following[1]))


def _is_in_capitals(text: str, start: int, end: int) -> bool:
    """Whether a word beside a span is in capitals and too long for an acronym: "ALL PATIENTS"."""
    beside = (_WORD_BEFORE.search(text, max(start - 30, 0), start), _WORD_AFTER.match(text, end, end + 30))
    return any(word is not None and len(word[1]) > 4 and word[1].isupper() for word in beside)


def _parted(spans: Spans, batch: Batch) -> list[Spans]:
    """Spans by the text they lie in, in order of place, longer ones first."""
    parted: list[Spans] = [{} for _ in batch.bases]
    ordered = sorted(sorted(spans, key=itemgetter(1), reverse=True), key=itemgetter(0))
    starts = np.array([start for start, _ in ordered], dtype=np.int64)
    owners = batch.bases.searchsorted(starts, side="right") - 1
    for owner, span in zip(owners.tolist(), ordered, strict=True):
        parted[owner][span] = spans[span]
    return parted


def _matches(
    text: str, spans: Spans, base: int, overlaps: bool, groups: Groups, *, is_english: bool
) -> list[Match]:
    if not spans:
        return []
    drop_doubtful(text, spans, base, groups, is_english=is_english)
    if not text.isascii():
        _drop_cut(text, spans, base)
    _drop_acronyms(text, spans, base)
    _drop_broken(text, spans, base)
    known = evidence([readings for readings, _ in spans.values()])
    found = []
    for start, end in spans if overlaps else _beside(text, spans, base):
        readings, share = spans[start, end]
        if len(readings) == 1:
            concept, name, rule, score, _ = readings[0]
        else:
            (concept, name, rule, _, _), score = choose(readings, known)
            score = round(score, 4)
        if share != 1.0:
            score = round(score * share, 4)
        found.append(Match(start - base, end - base, concept, name, rule, score))
    return found


def _beside(text: str, spans: Spans, base: int) -> Iterator[Span]:
    """Spans that may stand beside each other, in order of place, longer ones first.

    None lies in another, but for findings of a list that share words: "[short and [broad thumbs]]", "[[short
    hands] and feet]". Outside lists a name read with words left out that hides a plain name of several words
    gives way: "many [chronic diseases]".
    """
    reached = listed = -1
    if all(share == 1.0 for _, share in spans.values()):
        for start, end in spans:
            if start >= reached:
                yield start, end
                reached = end
        return
    several = {span for span in spans if " " in text[span[0] - base : span[1] - base]}
    whole = [span for span in spans if span in several and spans[span][1] == 1.0]
    begins = [start for start, _ in whole]
    for start, end in spans:
        if spans[start, end][1] == 1.0:
            if start >= reached and (start >= listed or (start, end) in several):
                yield start, end
                reached = end
        elif _LISTED.search(text, start - base, end - base):
            if end > reached:
                yield start, end
                listed = max(listed, end)
        elif start >= reached and not any(
            last <= end for _, last in whole[bisect_left(begins, start) : bisect_left(begins, end)]
        ):
            yield start, end
            reached = end


def _drop_cut(text: str, spans: Spans, base: int) -> None:
    """Forget katakana cut out of a longer word, and Greek letters by themselves, which are signs: "χ"."""
    for start, end in list(spans):
        is_letter = end - start == 1 and fold(text[start - base]) in GREEK_LETTERS
        if is_letter or (is_unspaced(text[start - base]) and cuts_katakana(text, start - base, end - base)):
            del spans[start, end]


def _drop_acronyms(text: str, spans: Spans, base: int) -> None:
    """Forget words that are acronyms in the text: "PET" is no "pet", unless all around is in capitals.

    And acronyms that a number goes on: "DRB1" is no "DRB".
    """
    for start, end in list(spans):
        if end - start > _LONGEST_ACRONYM or not text[start - base : end - base].removesuffix("s").isupper():
            continue
        if _NUMBERED.match(text, end - base):
            del spans[start, end]
            continue
        readings, share = spans[start, end]
        kept = tuple(one for one in readings if one.name.removesuffix("s").isupper())
        if len(kept) < len(readings) and not _is_in_capitals(text, start - base, end - base):
            if kept:
                spans[start, end] = kept, share
            else:
                del spans[start, end]


def _drop_broken(text: str, spans: Spans, base: int) -> None:
    """Forget doubtful readings that a plainer one contradicts.

    A weaker one ("symptoms of chest"), or an inversion ("abnormality, hearing"), whose second part begins a
    surer name ("chest pain", "hearing loss"). And names that a letter goes on: "acute hepatitis [E]".
    """
    doubtful: set[Span] = set()
    ordered = list(spans)
    for place, (start, end) in enumerate(ordered[:-1], 1):
        if ordered[place][0] >= end:
            continue
        reading, share = spans[start, end][0][0], spans[start, end][1]
        limit = reading.score * share
        if (
            reading.rule in ("order", "typo")
            and "," in text[start - base : end - base]
            and "," not in reading.name
        ):
            limit = 0.0
        while place < len(ordered) and ordered[place][0] < end:
            other = ordered[place]
            if (
                start < other[0]
                and end < other[1]
                and (
                    limit < _CLEAR * spans[other][0][0].score * spans[other][1]
                    or _DESIGNATED.fullmatch(text, end - base, other[1] - base)
                )
            ):
                doubtful.add((start, end))
                break
            place += 1
    for span in doubtful:
        del spans[span]
    _drop_repeated(spans)


def _drop_repeated(spans: Spans) -> None:
    """Forget the head of a longer name of the same concept, or that name if words of it are left out."""
    if len({end for _, end in spans}) == len(spans):
        return
    ends: dict[int, list[tuple[Span, str]]] = {}
    for span, (readings, _) in spans.items():
        ends.setdefault(span[1], []).append((span, readings[0].concept))
    for found in ends.values():
        if len(found) == 1:
            continue
        concepts: set[str] = set()
        for span, concept in sorted(found, key=lambda item: spans[item[0]][1] != 1.0):  # the longest first
            if concept in concepts:
                del spans[span]
            concepts.add(concept)
