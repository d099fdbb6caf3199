"""Whether a mention is negated, hypothetical, historical or said of a relative: NegEx and ConText rules.

Chapman et al. 2001 (doi:10.1006/jbin.2001.1029), Harkema et al. 2009 (doi:10.1016/j.jbi.2009.05.002): trigger
phrases act forwards or backwards within their sentence until a phrase that ends their scope; pseudo-triggers
only look like triggers. The phrases of each language are data, in context_rules.toml (English) and _more.
"""

from __future__ import annotations

import functools
import operator
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import accumulate
from operator import itemgetter

from curation.concepts import context_clauses as clauses
from curation.concepts.context_borders import Borders
from curation.concepts.context_rules import FLAGS, Direction, Flag, Hit, Phrase, lexicon, tables
from curation.concepts.predicates import is_denied, stated_from
from curation.extract.sentences import sentence_spans

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Context:
    """What the words around a mention say of it. See `schemas.concept.Mention`.

    Hypothetical is what is not asserted to have happened: conditions, risks, tests and prevention of it, and
    doubt that leaves it open ("possible", "suspected", "cannot be excluded"). Words that lean to yes
    ("probable", "consistent with") leave it asserted. Historical is the past before the present illness
    ("3-day history of fever" is not). The flags are independent: "no history of stroke" is negated and
    historical.
    """

    is_negated: bool = False
    is_hypothetical: bool = False
    is_historical: bool = False
    is_family: bool = False

    def __or__(self, other: Context) -> Context:
        """What either says."""
        return Context(*map(operator.or_, astuple(self), astuple(other)))


_PLAIN = Context()
_BRACKETS = re.compile("[()（）]")
_FORWARD_REACH = 400
_BACKWARD_REACH = 160
"""Characters a scope extends at most; sentences of articles rarely need more, and work stays linear."""
_NEAR_WORDS = 5
_LONGEST_HEADING = 60
_BEFORE = re.compile(r"(?:[^\s,;:()]+\s+){0,3}[^\s,;:()]*\s*$")
_NUMBERED = re.compile(r"(?:[:;,]|\b(?:and|or))\s(?:\d{1,2}|[ivx]{1,4}|[a-k])\Z")
"""What stands before a bracket that numbers an item, and closes none: "; 2)"."""
_ALNUM = re.compile(r"[^\W_]")
_ASIDE = re.compile(r"[(（][^()（）]{20,400}(?:[)）]|$)")
_PARTICIPLE = re.compile(r"\s+(\w+ed)\b")
_JOINED = re.compile(r"\.(?<=[^\W\d_A-Z]{3}\.)(?=[A-Z][^\W\d_A-Z]+[ ,])")  # the search skips to full stops
_LONGEST_ACRONYM = 4
_ACRONYM = re.compile(r"(?!NOT)[A-Z]{2,4}")
_STRESSED = re.compile(r"\b(?:have|has|had|is|are|was|were) \Z")
_WORD_BEFORE, _WORD_BEHIND = re.compile(r"([^\W\d_]+)\W*\Z"), re.compile(r"\W*([^\W\d_]+)")
_NOTHING = Phrase([])


class ContextRules:
    """The rules of one language, compiled to one expression. Build with :func:`rules`."""

    def __init__(self, language: str) -> None:
        """Compile rules.

        Args:
            language: one that has rules.
        """
        table = tables()[language]
        self._lexicon = lexicon(language)
        self._joints: tuple[str, ...] = tuple(table.get("joints", (",",)))
        self._borders = Borders(table)
        self._is_english = language == "en"
        self._events = frozenset(table.get("events", ()))
        near_stop = "|".join(map(re.escape, table.get("near_stop", ()))) or r"(?!)"
        self._near = re.compile(rf"(?:\s*(?!(?:{near_stop})\b)[^\s,;:()]+){{0,{_NEAR_WORDS}}}")

    def assign(self, text: str, spans: Sequence[Span]) -> list[Context]:
        """The context of each span.

        Args:
            text: any text of the rules' language.
            spans: (start, end) code points in any order, nested ones too. A trigger inside one of them is
                part of a name ("Absent speech") and is none.

        Returns:
            One context for each span, in the order given.
        """
        if not spans:
            return []
        lowered = _lowered(text)
        contexts = [_PLAIN] * len(spans)
        order = sorted(range(len(spans)), key=lambda index: spans[index])
        sentences = [part for span in sentence_spans(text) for part in _unjoined(text, *span)]
        at = 0
        has_choice = self._is_english and clauses.leaves_choice(lowered)
        for start, end in sentences:
            first = at
            while at < len(order) and spans[order[at]][0] < end:
                at += 1
            if at == first:
                continue
            inside = [spans[index] for index in order[first:at]]
            choices = [*clauses.alternatives(lowered, start, end, inside)] if has_choice else []
            hits = self._lexicon.hits(lowered, start, end)
            if not choices and not any(phrase.sets for _, _, phrase in hits):
                continue
            if self._events:
                hits = [hit for hit in hits if not self._is_of_work(lowered, hit)]
            hits = [hit for hit in _without(inside, hits) if not _is_acronym(text, hit, start, end)]
            brackets = _BRACKETS.finditer(lowered, start, end)
            hits += ((bracket.start(), bracket.end(), _NOTHING) for bracket in brackets)
            hits.sort(key=itemgetter(0))
            scopes = self._scopes(lowered, start, end, hits)
            if choices:
                scopes["hypothetical"] = _merged([*scopes.get("hypothetical", ()), *choices])
            for index in order[first:at]:
                contexts[index] = _context(spans[index], scopes)
        return contexts

    def _is_of_work(self, lowered: str, hit: Hit) -> bool:
        """Whether "previously" tells when work was done ("previously activated cells"), not of a past."""
        start, end, _ = hit
        if not lowered.startswith("previously", start) or end - start > len("previously"):
            return False
        done = _PARTICIPLE.match(lowered, end)
        return done is not None and done[1] not in self._events

    def _scopes(self, lowered: str, start: int, end: int, hits: Sequence[Hit]) -> dict[Flag, list[Span]]:
        scopes: dict[Flag, list[Span]] = {}
        for index, (hit_start, hit_end, phrase) in enumerate(hits):
            is_first = bool(phrase.sets) and not _ALNUM.search(lowered, start, min(hit_start, start + 200))
            for flag, direction in phrase.sets:
                spans = scopes.setdefault(flag, [])
                if direction in ("forward", "phrase", "near") or (direction == "around" and is_first):
                    last = self._last(lowered, (start, end), (hit_start, hit_end), flag, direction, is_first)
                    limit = self._end_of_scope(lowered, start, last, hits, index, flag, direction)
                    if self._is_void(lowered, start, hit_start, (hit_end, limit), flag):
                        continue
                    if direction == "near" and (near := self._near.match(lowered, hit_end, limit)):
                        limit = near.end()
                    if direction == "phrase":
                        spans += _outside(lowered, hit_end, limit, end)
                    else:
                        spans.append((hit_end, limit))
                else:
                    if self._is_english and clauses.says_as_what(lowered, start, hit_start, hit_end):
                        continue
                    limit = self._start_of_scope(lowered, start, hits, index, flag)
                    if direction == "before" and (near := _BEFORE.search(lowered, limit, hit_start)):
                        limit = near.start()
                    spans.append((limit, hit_start))
        return {flag: _merged(spans) for flag, spans in scopes.items()}

    def _last(
        self, lowered: str, sentence: Span, hit: Span, flag: Flag, direction: Direction, is_first: bool
    ) -> int:
        """How far a scope that begins after a hit reaches at most, whatever hits follow."""
        start, end = sentence
        if flag == "negated" and direction == "phrase":
            end = self._borders.last(lowered, *hit, end, is_first=is_first)
        if not self._is_english:
            return end
        if flag == "negated":
            return clauses.end_of_people(lowered, start, *hit, clauses.end_of_nouns(lowered, *hit, end))
        return clauses.end_of_relative(lowered, start, *hit, end) if flag == "family" else end

    def _is_void(self, lowered: str, start: int, hit_start: int, scope: Span, flag: Flag) -> bool:
        """Whether a scope says itself that it is not so: a test that was positive, a history that lasts."""
        if not self._is_english:
            return False
        if flag == "negated":
            return clauses.compares(lowered, hit_start, scope[0])
        if flag == "hypothetical":
            return clauses.is_answered(lowered, start, hit_start, scope[1])
        is_history = flag == "historical" and lowered.endswith("history of", hit_start, scope[0])
        return is_history and clauses.lasts(lowered, *scope)

    def _end_of_scope(
        self,
        lowered: str,
        start: int,
        end: int,
        hits: Sequence[Hit],
        index: int,
        flag: Flag,
        direction: Direction,
    ) -> int:
        """Where a scope that begins after a hit ends: at a stop, a closing bracket or a clause of its own."""
        begin = hits[index][1]
        end = min(end, begin + _FORWARD_REACH)
        to_verb = direction == "phrase"
        is_subject = (
            self._is_english
            and flag in ("negated", "family")
            and clauses.is_subject(lowered, start, hits[index][0])
        )
        is_none = self._is_english and flag == "negated" and lowered.startswith("none ", hits[index][0])
        depth = 0
        has_verb = False
        for at in range(index + 1, len(hits)):
            hit_start, hit_end, phrase = hits[at]
            if hit_start >= end:
                break
            depth += (lowered[hit_start] in "(（") - (lowered[hit_start] in ")）")
            if depth < 0 and _NUMBERED.search(lowered, max(begin - 1, hit_start - 8), hit_start):
                depth = 0
            if depth < 0 or (depth == 0 and (flag, direction) in phrase.sets):  # a new scope takes over
                return hit_start
            if hit_start <= begin:  # "Years ago, he had": no scope is empty
                continue
            if flag in phrase.stops:
                if self._is_english and self._goes_beyond(lowered, hits[index], hit_start, flag, has_verb):
                    continue
                return clauses.end_of_noun(lowered, hit_start, hit_end) if self._is_english else hit_start
            has_verb |= phrase.is_verb
            if is_none and phrase.is_verb and clauses.shares_subject(lowered, begin, hit_start):
                continue
            if is_subject and ((is_found := clauses.says_that_found(lowered, hit_start)) or phrase.is_verb):
                if to_verb or is_found:
                    return hit_start
                is_subject, begin = False, hit_start  # its verb; what follows may be denied with it
                continue
            if not phrase.is_verb:
                continue
            clause = self._last_joint(lowered, begin + 1, hit_start, self._joints[: 1 if to_verb else None])
            if to_verb and (clause is None or any(map(lowered[clause:hit_start].count, self._joints[1:]))):
                return clause if clause and self._begins_clause(lowered, begin, clause) else hit_start
            if clause is not None:
                return self._borders.begin(lowered, begin + 1, clause)
        return end

    @staticmethod
    def _goes_beyond(lowered: str, hit: Hit, stop: int, flag: Flag, has_verb: bool) -> bool:
        """Whether a scope goes on behind what ends others: a semicolon of a list, what is suggested."""
        begins, ends, _ = hit
        if clauses.is_listed(lowered, begins, ends, stop):
            return True
        return flag == "negated" and not has_verb and clauses.is_what_suggests(lowered, begins, ends, stop)

    def _start_of_scope(self, lowered: str, start: int, hits: Sequence[Hit], index: int, flag: Flag) -> int:
        """Where a scope that ends before a hit starts, by the same rules read backwards."""
        end = hits[index][0]
        start = max(start, end - _BACKWARD_REACH)
        if self._is_english and flag == "negated":
            start = clauses.begin_of_clause(lowered, start, end)
        depth = 0
        for at in range(index - 1, -1, -1):
            hit_start, hit_end, phrase = hits[at]
            if hit_end <= start:
                break
            depth += (lowered[hit_start] in ")）") - (lowered[hit_start] in "(（")
            if depth < 0:
                if hit_end < end:
                    return hit_end
                depth = 0
            if depth:
                continue
            if flag in phrase.stops:
                return hit_end
            # One word at most between them: an auxiliary, "was considered unlikely".
            if phrase.is_verb and len(lowered[hit_end:end].split()) > 1:
                clause = self._last_joint(lowered, hit_end, end, self._joints)
                if clause is None:
                    return hit_end
                if self._is_english:
                    return clauses.begin_of_subject(lowered, hit_end, end, hits[index][0], clause)
                return clause
        return start

    def _begins_clause(self, lowered: str, begin: int, comma: int) -> bool:
        """Whether ", and" begins a clause: the last item of a list stands behind a second comma."""
        comma_sign, *others = self._joints
        return comma_sign not in lowered[begin:comma] and any(
            lowered.startswith(comma_sign + joint, comma) for joint in others
        )

    @staticmethod
    def _last_joint(lowered: str, start: int, end: int, joints: Iterable[str]) -> int | None:
        last = max(lowered.rfind(joint, start, end) for joint in joints)
        return last if last >= 0 else None


@functools.cache
def rules(language: str) -> ContextRules | None:
    """The rules of a language (BCP-47; its primary subtag counts), None if there are none."""
    primary = language.split("-")[0].lower()
    return ContextRules(primary) if primary in tables() else None


def assign(text: str, spans: Sequence[Span], language: str = "en") -> list[Context]:
    """The context of each span of a text; a language without rules sets no flag.

    Args:
        text: any text.
        spans: (start, end) code points, in any order.
        language: BCP-47.
    """
    found = rules(language)
    if found is None:
        return [_PLAIN] * len(spans)
    if language.split("-")[0].lower() != "en":
        return found.assign(text, spans)
    contexts = found.assign(text, [(stated_from(text, *span), span[1]) for span in spans])
    return [
        replace(context, is_negated=True) if is_denied(text, *span) else context
        for context, span in zip(contexts, spans, strict=True)
    ]


@functools.lru_cache(maxsize=1_000)
def of_heading(heading: str, language: str = "en") -> Context | None:
    """What a heading says of all that stands under it: "Past medical history", "Family history"; else None.

    That is what it says of words behind a colon and would not say of others: "Mother and child" is no heading
    of relatives. Only the past and relatives hold for a whole section.

    Args:
        heading: its words.
        language: BCP-47.
    """
    if len(heading) > _LONGEST_HEADING:
        return None
    bare = heading.rstrip(" :.")
    headed, plain = (
        assign(f"{before}x", [(len(before), len(before) + 1)], language)[0]
        for before in (f"{bare}: ", f"{bare}{' x' * _NEAR_WORDS} ")
    )
    context = Context(
        is_historical=headed.is_historical and not plain.is_historical,
        is_family=headed.is_family and not plain.is_family,
    )
    return None if context == _PLAIN else context


def _unjoined(text: str, start: int, end: int) -> Iterator[Span]:
    """A sentence, parted where the space behind a full stop is missing: "No fever.The liver was large"."""
    for joint in _JOINED.finditer(text, start, end):
        yield start, joint.end()
        start = joint.end()
    yield start, end


def _lowered(text: str) -> str:
    """The text in lower case, character for character."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def _is_acronym(text: str, hit: Hit, start: int, end: int) -> bool:
    """Whether a hit is an acronym ("IF" for immunofluorescence, "NO"): capitals amid words that are not."""
    first, last, _ = hit
    if last - first > _LONGEST_ACRONYM or text[first].islower() or not _ACRONYM.fullmatch(text, first, last):
        return False
    if text[first:last] == "NO" and _STRESSED.search(text, max(first - 6, start), first):
        return False  # "they have NO interests"
    beside = (_WORD_BEFORE.search(text, max(first - 30, start), first), _WORD_BEHIND.match(text, last, end))
    if any(word is not None and len(word[1]) > _LONGEST_ACRONYM and word[1].isupper() for word in beside):
        return False
    return not text[start:end].isupper()


def _without(spans: Sequence[Span], hits: Iterable[Hit]) -> Iterator[Hit]:
    """Hits that lie in none of the spans, which are sorted."""
    starts = [start for start, _ in spans]
    reach = list(accumulate((end for _, end in spans), max))  # how far those up to each place go
    for hit in hits:
        last = bisect_right(starts, hit[0])
        is_outside = not last or reach[last - 1] < hit[1]
        if is_outside or all(end < hit[1] for _, end in spans[max(0, last - 8) : last]):
            yield hit


def _outside(lowered: str, start: int, end: int, sentence_end: int) -> Iterator[Span]:
    """A scope without what longer brackets in it hold: "signs of cancer (weight loss, new cough)"."""
    while (opening := _next_bracket(lowered, start, end)) >= 0:
        aside = _ASIDE.match(lowered, opening, sentence_end)
        yield start, opening if aside else opening + 1
        start = aside.end() if aside else opening + 1
    yield start, end


def _next_bracket(lowered: str, start: int, end: int) -> int:
    found = lowered.find("(", start, end)
    return found if found >= 0 else lowered.find("（", start, end)


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _context(span: Span, scopes: Mapping[Flag, list[Span]]) -> Context:
    start, end = span
    found = set()
    for flag, parts in scopes.items():
        at = bisect_right(parts, (start, 1 << 62)) - 1
        if at >= 0 and parts[at][1] >= end:
            found.add(flag)
    return Context(*(flag in found for flag in FLAGS)) if found else _PLAIN
