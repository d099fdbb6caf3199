"""Candidates for a case's principal diagnosis: diseases its title, statements, keywords and discussion name.

A candidate earns points by where it is named and as what; what is more general gives its own to the specific.
"""

from __future__ import annotations

import collections
import functools
import itertools
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from curation.cases.diagnosis_cues import EXPLICIT, STRONG
from curation.cases.diagnosis_topic import is_disease, names_disease
from curation.diagnosis import phrases
from curation.diagnosis.candidate import SEEN, THRESHOLD, TOLD, Candidate
from curation.diagnosis.concepts import Concepts
from curation.diagnosis.heads import is_head_only
from curation.diagnosis.reading import (
    Role,
    are_had,
    are_joined,
    has_other,
    head_end,
    names_unknown,
    roles_in_discussion,
    roles_in_statement,
    roles_in_title,
    speaks_of_patient,
    without,
)
from curation.extract.sentences import sentence_spans
from schemas.case import Case, Statement
from schemas.concept import Mention
from schemas.diagnosis import DiagnosisEvidence, EvidencePlace

FULL_TITLE = 4.0
_TITLE: Mapping[Role, float] = {"main": FULL_TITLE, "cause": 1.5, "setting": 0.5, "sign": 0.5, "never": 0.0}
_PROMOTED = 3.0
"""For a disease the title names only as setting, cause or sign of something that is no disease."""
_SHARE: Mapping[Role, float] = {"main": 1.0, "cause": 0.5, "setting": 0.25, "sign": 0.25, "never": 0.0}
_FINAL, _EXPLICIT, _FOUND, _HEDGED = 4.0, 3.0, 2.0, 1.0
_KEYWORD, _ONLY_KEYWORD, _DISCUSSED, _OFTEN = 1.0, 2.0, 1.0, 2.5
_MAX_STATED, _MAX_DISCUSSED = 5.0, 1.0
_EXPLICIT_RULES = frozenset(cue.name for cue in EXPLICIT)
_MANY = 4
"""Mentions of the one spoken of most, from which their number says something."""
_OFTEN_TOLD = 5
"""Mentions of a disease that nothing states, in an article that names others too."""
_ORDER: tuple[EvidencePlace, ...] = ("statement", "title", "keyword", "discussion", "case")
_MAX_ACRONYM = 5
_MAX_READ = 3000
"""Characters of a title or sentence that are read; bounds the work on a sentence without end."""
_WORD = re.compile(r"[^\W\d_]+")
_Read = tuple[Mention, tuple[int, int], Role]
"""A disease of a title, where it stands in it, and as what."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One stretch of a text that may name a diagnosis; offsets in the text with that id."""

    text_id: str
    start: int
    text: str


@dataclass(frozen=True, slots=True)
class Texts:
    """What one case may be read from.

    `keywords` and `discussion` are the article's; `patients` is how many cases it tells of; `mentions` holds
    those of every text, by text id, `passages` the texts of those that may tell a case.
    """

    title_id: str
    keywords: tuple[Sentence, ...]
    discussion: tuple[Sentence, ...]
    mentions: Mapping[str, Sequence[Mention]]
    patients: int = 1
    passages: Mapping[str, str] = field(default_factory=dict)


class Reading:
    """Candidates of one case while its texts are read."""

    def __init__(self, case: Case, texts: Texts, concepts: Concepts) -> None:
        self.case, self.texts, self.concepts = case, texts, concepts
        self.found: dict[str, Candidate] = {}
        self.taken_back: set[str] = set()
        self.beside: set[str] = set()
        """What the title names only as cause, setting or sign of its main disease."""
        self.is_unmatched = self.is_titled_unmatched = self.has_unknown = False
        """Whether a statement, or the title, names the diagnosis in words that are no concept, or too general
        a one; and whether such words stand in the title beside a concept, as one diagnosis of several."""

    def read(self) -> None:
        """All places, the ones that state a diagnosis first."""
        statements = [item for item in self.case.statements if item.place == "passage"]
        for statement in statements:
            self._read_statement(statement)
        for statement in self.case.statements:
            if statement.place == "title":
                self._read_title(statement)
        self._read_keywords()
        for sentence in self.texts.discussion:
            self._read_discussion(sentence)
        self._weigh_story()

    def _within(self, sentence: Sentence, end: int) -> list[Mention]:
        """All mentions in a stretch."""
        stop = sentence.start + (end or len(sentence.text))
        there = self.texts.mentions.get(sentence.text_id, ())
        first = bisect_left(there, sentence.start, key=lambda mention: mention.start)
        starting = itertools.takewhile(lambda mention: mention.start < stop, there[first:])
        return [mention for mention in starting if mention.end <= stop]

    def _mentioned(self, sentence: Sentence, end: int = 0) -> list[Mention]:
        """Mentions of diseases and findings in a stretch."""
        within = self._within(sentence, end)
        return [mention for mention in within if self.concepts.kind(mention.concept) != "other"]

    def _keyworded(self) -> set[str]:
        """Concepts of the keywords: they settle what a title only asks."""
        return {mention.concept for keyword in self.texts.keywords for mention in self._named(keyword)}

    def _named(self, sentence: Sentence, end: int = 0, but: Collection[str] = frozenset()) -> list[Mention]:
        """Those that count: said of this patient, now, and as a fact, or asked but settled elsewhere."""
        return [
            mention
            for mention in self._mentioned(sentence, end)
            if not (_is_denied(mention) or (mention.is_hypothetical and mention.concept not in but))
            and not self._is_part(mention, sentence)
        ]

    def _is_part(self, mention: Mention, sentence: Sentence) -> bool:
        """Whether a mention is part of a longer word ('non-|Hodgkin lymphoma'), or an undefined acronym.

        What the article also calls by its name is defined.
        """
        before = sentence.text[: mention.start - sentence.start][-2:]
        after = sentence.text[mention.end - sentence.start :][:2]
        is_glued = before[:1].isalpha() and before[1:] in ("-", "‐", "–")
        if is_glued or (after[:1] == "-" and after[1:].isdigit()):
            return True
        return (
            _is_acronym(mention) and mention.rule != "short_form" and mention.concept not in self._spelt_out
        )

    @functools.cached_property
    def _spelt_out(self) -> frozenset[str]:
        """Concepts that the article names in words."""
        everywhere = itertools.chain.from_iterable(self.texts.mentions.values())
        return frozenset(mention.concept for mention in everywhere if not _is_acronym(mention))

    def _is_general(self, mention: Mention, sentence: Sentence) -> bool:
        """Whether a mention says too little: a chapter of the vocabulary, a bare 'fracture', half a name."""
        words = _WORD.findall(mention.text)
        bare = len(words) == 1 and is_disease(words[0]) and not names_disease(words[0])
        if bare or self.concepts.is_general(mention.concept):
            return True
        if any(item.is_main and self._is_kind(item.concept, mention.concept) for item in self.found.values()):
            return False  # which kind is stated elsewhere
        others = self._within(sentence, 0)
        return is_head_only(mention, sentence.text, sentence.start, others, self.concepts)

    def _is_kind(self, one: str, of: str) -> bool:
        return one == of or self.concepts.is_above(of, one)

    def _is_disease(self, mention: Mention) -> bool:
        """Whether a mention is of a disease: by its type, or by its words where only a phenotype is known."""
        if self.concepts.kind(mention.concept) == "disease":
            return True
        return len(_WORD.findall(mention.text)) > 1 and is_disease(mention.text)

    def _add(self, mention: Mention, place: EvidencePlace, rule: str, points: float, limit: float) -> None:
        candidate = self.found.setdefault(mention.concept, Candidate(mention.concept, mention.name))
        candidate.is_finding = not self._is_disease(mention)
        candidate.points[rule] = min(limit, candidate.points.get(rule, 0.0) + points)
        key = (_ORDER.index(place), mention.text_id, mention.start)
        candidate.evidence[key] = DiagnosisEvidence(
            place=place, text_id=mention.text_id, start=mention.start, end=mention.end, text=mention.text
        )

    def _read_statement(self, statement: Statement) -> None:
        text = statement.text[:_MAX_READ]
        sentence = Sentence(statement.passage_id, statement.start, text)
        mentions = self._named(sentence)
        weight = _weight_of(statement.rule)
        roles = roles_in_statement(text, _spans(mentions, sentence))
        told = [item for item in zip(mentions, roles, strict=True) if _SHARE[item[1]]]
        read = [(mention, role) for mention, role in told if not self._is_general(mention, sentence)]
        for mention, role in read:
            points = weight * _SHARE[role] * (1.0 if self._is_disease(mention) else 0.5)
            self._add(mention, "statement", statement.rule, points, _MAX_STATED)
            self.found[mention.concept].is_main |= role == "main" and weight >= _FOUND
        if weight >= _EXPLICIT and not read and is_disease(text):
            self.is_unmatched |= bool(told) or not self._mentioned(sentence)

    def _read_title(self, statement: Statement) -> None:
        text = statement.text[:_MAX_READ]
        sentence = Sentence(self.texts.title_id, statement.start, text)
        mentions = [
            mention
            for mention in self._named(sentence, but=self._keyworded())
            if not self._is_general(mention, sentence)
        ]
        spans = _spans(mentions, sentence)
        read = [
            (mention, span, role)
            for mention, span, role in zip(mentions, spans, roles_in_title(text, spans), strict=True)
            if not phrases.SHARED_NOUN.search(text[: span[0]])
        ]
        read = self._quoted(text, self._turned(text, read))
        mains = [
            (mention, span) for mention, span, role in read if role == "main" and self._is_disease(mention)
        ]
        head = text[: head_end(text, spans)]
        aside = [mention for mention in self._mentioned(sentence) if _is_set_aside(mention)]
        known = [*(span for _, span, _ in read), *_spans(aside, sentence)]
        if mains:
            self.has_unknown = has_other(head, [span for _, span in mains], known)
        else:
            self.is_titled_unmatched = names_unknown(without(head, known))
        if mains:
            self.beside |= {
                mention.concept for mention, _, role in read if role in ("cause", "setting", "sign")
            }
            self.beside -= {mention.concept for mention, _ in mains}
        self.taken_back |= {item.concept for item in self._mentioned(sentence) if _is_denied(item)}
        self.taken_back |= {mention.concept for mention, _, role in read if role == "never"}
        self.taken_back |= self._looked_like(statement.end)
        self.taken_back -= {mention.concept for mention, _ in mains}
        promoted = [] if mains or self.is_titled_unmatched else self._promoted(text, head, read)
        for mention, _, role in read:
            if mention not in promoted and role in ("cause", "setting", "sign"):
                self._weaken(mention.concept)
        self._weigh_title([(mention, role) for mention, _, role in read], promoted)

    def _looked_like(self, end: int) -> set[str]:
        """The disease that the title names first behind its end: what the patient's was taken for."""
        there = [item for item in self.texts.mentions.get(self.texts.title_id, ()) if item.start >= end]
        first = next((item for item in there if self.concepts.kind(item.concept) != "other"), None)
        if first is None or (first.concept in self.found and self.found[first.concept].is_main):
            return set()
        return {first.concept}

    def _turned(self, title: str, read: list[_Read]) -> list[_Read]:
        """A title's diseases; one that caused the others is the main one if the case states it too.

        So a sign or complication gives way to the disease behind it: 'haematoma due to polyarteritis'.
        """
        causes = {item.concept for item, span, _ in read if phrases.CAUSED.search(title[: span[0]])}
        made = {concept for concept in causes if self._rules(concept)}
        if not made:
            return read
        turned: Mapping[Role, Role] = {"main": "sign"}
        return [
            (mention, span, "main" if mention.concept in made else turned.get(role, role))
            for mention, span, role in read
        ]

    def _quoted(self, title: str, read: list[_Read]) -> list[_Read]:
        """A title's diseases; one in quotation marks is what it was called, unless the case states it."""
        stated = {concept for concept, item in self.found.items() if item.is_main}
        return [
            (mention, span, "never")
            if phrases.is_quoted(title, *span)
            and not any(self._is_kind(concept, mention.concept) for concept in stated)
            else (mention, span, role)
            for mention, span, role in read
        ]

    def _rules(self, concept: str) -> set[str]:
        return set(self.found[concept].points) if concept in self.found else set()

    def _weaken(self, concept: str) -> None:
        """Halve what statements give to a disease of which the title says that it is not the main one."""
        if concept in self.found:
            points = self.found[concept].points
            points.update({rule: value / 2 for rule, value in points.items()})

    def _promoted(self, title: str, head: str, read: Sequence[_Read]) -> list[Mention]:
        """The first disease of a title whose main thing is no disease, and those joined to it.

        A mere setting only when the title is about a patient, a method or the like: else its main thing may
        be a disease that is not known as one.
        """
        is_method = phrases.METHOD.search(head) is not None or len(head.split()) < 3
        group: list[tuple[Mention, tuple[int, int]]] = []
        for mention, span, role in read:
            if role in ("main", "never") or not self._is_disease(mention):
                continue
            if role == "setting" and not is_method:
                break
            if not group and phrases.OF_A_PERSON.match(title, span[1]) and mention is not read[-1][0]:
                continue  # 'in a hyponatraemic newborn with …'
            if group and not are_joined(title, group[-1][1], span):
                break
            group.append((mention, span))
        return [mention for mention, _ in group]

    def _weigh_title(self, read: Sequence[tuple[Mention, Role]], promoted: Sequence[Mention]) -> None:
        """Points for what a title names, by role, or as main in place of something that is no disease."""
        shared = 0.75 if self.texts.patients > 1 else 1.0  # it may hold for one of them only
        for mention, role in read:
            points = _PROMOTED if mention in promoted else _TITLE[role]
            if not self._is_disease(mention):
                points /= 2
            if points:
                self._add(mention, "title", "title", points * shared, FULL_TITLE)
                self.found[mention.concept].is_main |= points >= _PROMOTED

    def _read_keywords(self) -> None:
        named = [
            mention
            for keyword in self.texts.keywords
            for mention in self._named(keyword)
            if not self._is_general(mention, keyword)
        ]
        diseases = {mention.concept for mention in named if self._is_disease(mention)}
        for mention in named:
            points = _ONLY_KEYWORD if diseases == {mention.concept} else _KEYWORD
            if mention.concept not in self.taken_back:
                self._add(mention, "keyword", "keyword", points, points)

    def _read_discussion(self, sentence: Sentence) -> None:
        if not speaks_of_patient(sentence.text[:_MAX_READ]):
            return
        sentence = Sentence(sentence.text_id, sentence.start, sentence.text[:_MAX_READ])
        mentions = self._named(sentence)
        roles = roles_in_discussion(sentence.text, _spans(mentions, sentence))
        for mention, role in zip(mentions, roles, strict=True):
            is_said = role == "main" and mention.concept not in self.taken_back
            if is_said and not self._is_general(mention, sentence):
                self._add(mention, "discussion", "discussion", _DISCUSSED, _MAX_DISCUSSED)

    def read_story(self) -> None:
        """The disease a patient is said to have, if the article speaks often of it and little of any other.

        For reports that state no diagnosis, as it was known before or treatment is the subject.
        """
        had: dict[str, Mention] = {}
        counts: dict[str, int] = {}
        for mentions in self.texts.mentions.values():
            for mention in mentions:
                if self._is_disease(mention) and not self.concepts.is_general(mention.concept):
                    counts[mention.concept] = counts.get(mention.concept, 0) + (not mention.is_negated)
        for sentence in self._told():
            mentions = self._named(sentence)
            are_his = are_had(sentence.text, _spans(mentions, sentence))
            for mention, is_his in zip(mentions, are_his, strict=True):
                if is_his and self._is_disease(mention) and not self._is_general(mention, sentence):
                    had.setdefault(mention.concept, mention)
        for concept, mention in had.items():
            related = {concept, *self.concepts.ancestors(concept)}
            others = [
                count
                for other, count in counts.items()
                if other not in related and not self.concepts.is_above(concept, other)
            ]
            most = max(others, default=0)
            is_alone = not most or (counts[concept] >= _OFTEN_TOLD and counts[concept] >= 3 * most)
            if concept not in self.taken_back and is_alone:
                self._add(mention, "case", "story", THRESHOLD, THRESHOLD)

    def names_disease(self) -> bool:
        """Whether anything read names a disease as the patient's, on whatever grounds."""
        if any(not found.is_finding for found in self.found.values()):
            return True
        told = ((sentence, mention) for sentence in self._told() for mention in self._named(sentence))
        return any(
            self._is_disease(mention) and not self._is_general(mention, sentence)
            for sentence, mention in told
            if mention.concept not in self.taken_back
        )

    def _told(self) -> Iterator[Sentence]:
        """The sentences of the case."""
        for span in self.case.spans:
            text = self.texts.passages.get(span.passage_id, "")[span.start : span.end]
            for start, end in sentence_spans(text):
                yield Sentence(span.passage_id, span.start + start, text[start : min(end, start + _MAX_READ)])

    def _weigh_story(self) -> None:
        """What the case tells of a candidate at all, and how often the article does, beside the others."""
        told: dict[str, Mention] = {}
        inside = [(span.passage_id, span.start, span.end) for span in self.case.spans]
        for text_id, start, end in inside:
            for mention in self._named(Sentence(text_id, start, ""), end - start):
                told.setdefault(mention.concept, mention)
        counts = {concept: self.spoken_of(concept) for concept in self.found}
        most = max(counts.values(), default=0)
        sure = min(1.0, most / _MANY)
        for concept, candidate in self.found.items():
            if concept in told:
                self._add(told[concept], "case", "case", TOLD, TOLD)
            candidate.count = counts[concept]
            candidate.points["often"] = round(_OFTEN * sure * counts[concept] / most, 3) if most else 0.0

    def spoken_of(self, concept: str) -> int:
        """How often the running text names a concept, or a kind of it, as what somebody has."""
        return self._counts[concept]

    @functools.cached_property
    def _counts(self) -> collections.Counter[str]:
        beside = {self.texts.title_id, *(keyword.text_id for keyword in self.texts.keywords)}
        return collections.Counter(
            mention.concept
            for text_id, mentions in self.texts.mentions.items()
            if text_id not in beside
            for mention in mentions
            if not _is_denied(mention)
        )

    def prevailing(self, over: Candidate) -> Candidate | None:
        """A disease that the article speaks of far more than of a candidate, without a place that names it.

        Neither kinds of the candidate, nor what it is a kind of, nor what the title sets beside it.
        """
        others = (
            Candidate(concept, count=count)
            for concept, count in self._counts.items()
            if concept not in self.found
            and concept not in self.taken_back
            and self.concepts.kind(concept) == "disease"
            and not self.concepts.is_general(concept)
            and not self._is_kind(concept, over.concept)
            and not self._is_kind(over.concept, concept)
        )
        found = (other for other in others if other.prevails_over(over))
        return max(found, key=lambda other: (other.count, other.concept), default=None)

    def ranked(self) -> list[Candidate]:
        """Candidates by points, the general ones folded into the specific, findings behind diseases."""
        kept = {
            concept: item for concept, item in self.found.items() if item.total and not self._too_wide(item)
        }
        for concept, item in sorted(kept.items()):
            above = [other for other in kept.values() if self.concepts.is_above(other.concept, concept)]
            if above and (item.is_main or "keyword" in item.points):
                _fold(item, above)
        folded = {
            other
            for concept, item in kept.items()
            if (item.is_main or "keyword" in item.points)
            for other in kept
            if self.concepts.is_above(other, concept)
        }
        left = [item for concept, item in kept.items() if concept not in folded]
        diseases = [item for item in left if not item.is_finding]
        if any(item.is_main and item.total >= THRESHOLD for item in diseases):
            left = diseases
        return sorted(left, key=lambda item: (-item.total, item.concept))

    def _too_wide(self, item: Candidate) -> bool:
        return self.concepts.is_general(item.concept)


def _is_acronym(mention: Mention) -> bool:
    return mention.text.isupper() and mention.text.isalpha() and len(mention.text) <= _MAX_ACRONYM


def _is_denied(mention: Mention) -> bool:
    return mention.is_negated or mention.is_historical or mention.is_family


def _is_set_aside(mention: Mention) -> bool:
    return mention.is_hypothetical or _is_denied(mention)


def _fold(item: Candidate, above: Sequence[Candidate]) -> None:
    """What speaks for a more general concept speaks for the specific one too; no place counts twice."""
    for other in above:
        for rule, points in other.points.items():
            if rule not in ("case", "often"):
                item.points[rule] = max(item.points.get(rule, 0.0), points)
        item.evidence |= {key: value for key, value in other.evidence.items() if key not in item.evidence}


def _weight_of(rule: str) -> float:
    """Points of a statement by what made it one."""
    if rule == "final diagnosis":
        return _FINAL
    if rule in _EXPLICIT_RULES:
        return _EXPLICIT
    if rule in STRONG:
        return _FOUND
    return _HEDGED if rule == "hedged" else SEEN


def _spans(mentions: Iterable[Mention], sentence: Sentence) -> list[tuple[int, int]]:
    return [(mention.start - sentence.start, mention.end - sentence.start) for mention in mentions]
