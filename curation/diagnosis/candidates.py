"""Candidates for a case's principal diagnosis: the diseases and findings that its article speaks of.

Title and statements are read for what they say of each; how the rest speaks of them is only counted.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from curation.diagnosis import outside, phrases, talk
from curation.diagnosis.candidate import Candidate
from curation.diagnosis.concepts import Concepts
from curation.diagnosis.cues import EXPLICIT, STRONG
from curation.diagnosis.heads import is_half, is_head_only, leaves_out_site
from curation.diagnosis.named import Rest
from curation.diagnosis.reading import (
    Role,
    are_joined,
    head_end,
    names_unknown,
    roles_in_statement,
    roles_in_title,
    without,
)
from curation.diagnosis.story import FINAL, MAX_READ, Sentence, Story
from curation.diagnosis.topic import NAMES, Topic, is_disease, names_disease
from schemas.case import Case
from schemas.concept import Mention
from schemas.diagnosis import EvidencePlace, Statement

_TITLE: Mapping[Role, float] = {"main": 1.0, "cause": 0.375, "setting": 0.125, "sign": 0.125, "never": 0.0}
_PROMOTED = 0.75
"""For a disease the title names only as setting, cause or sign of something that is no disease."""
_SHARED = 0.75
"""Of a title over several patients: it may hold for one of them only."""
_FIRM = frozenset({*(cue.name for cue in EXPLICIT), *STRONG})
"""Rules of statements that say outright what the patient has."""
_EXPLICIT = frozenset(cue.name for cue in EXPLICIT)
_MAX_ACRONYM = 5
_SHORT = re.compile(r"\b[A-Z]{3,6}\b")
_WORD = re.compile(r"[^\W\d_]+")
_Read = tuple[Mention, tuple[int, int], Role]
"""A disease of a title, where it stands in it, and as what."""


@dataclass(frozen=True, slots=True)
class Texts:
    """What the cases of one article are read from.

    `title_id` is that of the title that is read, `front` those of all titles and keywords; `mentions` holds
    those of every text, by text id; `titles` where the title states what the cases have; `rest` what is read
    beside each; `passages` the texts of the article's passages, `continued` those of later documents its
    cases go on in, `headed` the ids of those under a title like "Final diagnosis", and `openings` where the
    first sentence of each ends.
    """

    title_id: str
    front: Collection[str]
    keywords: tuple[Sentence, ...]
    mentions: Mapping[str, Sequence[Mention]]
    titles: tuple[Statement, ...] = ()
    rest: Rest = field(default_factory=Rest)
    cases: Sequence[Case] = ()
    passages: Mapping[str, str] = field(default_factory=dict)
    continued: Mapping[str, str] = field(default_factory=dict)
    headed: Collection[str] = ()
    openings: Mapping[str, int] = field(default_factory=dict)


class Reading:
    """Candidates of one case while its texts are read."""

    def __init__(self, case: Case, story: Story, texts: Texts, concepts: Concepts) -> None:
        self.case, self.story, self.texts, self.concepts = case, story, texts, concepts
        self.found: dict[str, Candidate] = {}
        self.taken_back: set[str] = set()
        self.beside: set[str] = set()
        """What the title takes back, and what it names only as cause, setting or sign of its main disease."""
        self.is_unmatched = self.is_titled_unmatched = False
        """Whether a statement, or the title, names the diagnosis in words that are no concept, or too general
        a one."""

    def read(self) -> dict[str, Candidate]:
        """All places, the ones that state a diagnosis first. Returns the candidates by concept."""
        for statement in (*self.story.stating(), *self._said_outside()):
            self.read_statement(statement)
        for statement in self.texts.titles:
            self._read_title(statement)
        self._read_keywords()
        self._listen()
        return self.found

    def called(self) -> dict[str, set[str]]:
        """What every candidate is called in the article."""
        names = {concept: {item.name} for concept, item in self.found.items()}
        for mention in itertools.chain.from_iterable(self.texts.mentions.values()):
            if mention.concept in names:
                names[mention.concept].add(mention.text)
        return names

    def is_mentioned(self, topic: Topic) -> bool:
        """Whether the article mentions a disease by a name of the vocabulary, however it speaks of it."""
        return any(
            topic.agreement(mention.text) == NAMES and self.concepts.kind(mention.concept) != "other"
            for mention in itertools.chain.from_iterable(self.texts.mentions.values())
        )

    def _within(self, sentence: Sentence, end: int) -> list[Mention]:
        """All mentions in a stretch."""
        stop = sentence.start + (end or len(sentence.text))
        there = self.texts.mentions.get(sentence.text_id, ())
        first = bisect_left(there, sentence.start, key=lambda mention: mention.start)
        starting = itertools.takewhile(lambda mention: mention.start < stop, there[first:])
        return [mention for mention in starting if mention.end <= stop]

    def mentioned(self, sentence: Sentence, end: int = 0) -> list[Mention]:
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
            for mention in self.mentioned(sentence, end)
            if not (talk.is_denied(mention) or (mention.is_hypothetical and mention.concept not in but))
            and not self._is_part(mention, sentence)
        ]

    def _is_part(self, mention: Mention, sentence: Sentence) -> bool:
        """Whether a mention is part of a longer word ('non-|Hodgkin lymphoma'), or an undefined acronym.

        What the article also calls by its name is defined.
        """
        before = sentence.text[: mention.start - sentence.start][-2:]
        after = sentence.text[mention.end - sentence.start :][:2]
        is_glued = before[:1].isalpha() and before[1:] in ("-", "‐", "–")
        is_begun = after[:1] == "-" and (after[1:].isdigit() or self._begins(mention.end + 1, sentence))
        return is_glued or is_begun or self._is_undefined(mention)

    def _begins(self, at: int, sentence: Sentence) -> bool:
        """Whether another disease is named right there: 'osteoporosis-|pseudoglioma'."""
        return any(other.start == at for other in self.mentioned(sentence))

    def _is_undefined(self, mention: Mention) -> bool:
        """Whether a mention is an acronym of which the article does not say what it means."""
        is_known = mention.rule == "short_form" or mention.concept in self._spelt_out
        return _is_acronym(mention) and not is_known

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
        if leaves_out_site(mention, sentence.text, sentence.start, self.concepts):
            return True
        if any(item.is_main and self._is_kind(item.concept, mention.concept) for item in self.found.values()):
            return False  # which kind is stated elsewhere
        everywhere = itertools.chain.from_iterable(self.texts.mentions.values())
        if is_half(mention, sentence.text, sentence.start, everywhere, self.concepts):
            return True
        others = self._within(sentence, 0)
        return is_head_only(mention, sentence.text, sentence.start, others, self.concepts)

    def _is_kind(self, one: str, of: str) -> bool:
        return one == of or self.concepts.is_above(of, one)

    def _is_disease(self, mention: Mention) -> bool:
        """Whether a mention is of a disease: by its type, or by its words where only a phenotype is known."""
        if self.concepts.kind(mention.concept) == "disease":
            return True
        return len(_WORD.findall(mention.text)) > 1 and is_disease(mention.text)

    def _note(self, mention: Mention, place: EvidencePlace, rule: str) -> Candidate:
        """The candidate of a mention in a place that may name the diagnosis."""
        candidate = self.found.setdefault(mention.concept, Candidate(mention.concept, mention.name))
        candidate.is_finding = not self._is_disease(mention)
        candidate.places.add(rule)
        candidate.add(mention, place)
        return candidate

    def read_statement(self, statement: Statement) -> None:
        """Note what a sentence states, and where."""
        text = statement.text[:MAX_READ]
        sentence = Sentence(statement.passage_id, statement.start, text)
        mentions = self._with_short_forms(sentence, self._named(sentence))
        is_name = statement.rule == FINAL and phrases.STATED.search(text) is None
        roles = (roles_in_title if is_name else roles_in_statement)(text, _spans(mentions, sentence))
        said = list(zip(mentions, roles, strict=True))
        told = [item for item in said if _TITLE[item[1]]]
        read = [(mention, role) for mention, role in told if not self._is_general(mention, sentence)]
        self.taken_back |= {mention.concept for mention, role in said if role == "never"}
        where = talk.place(self.case, statement.passage_id, statement.start)
        for mention, role in read:
            candidate = self._note(mention, "statement", statement.rule)
            candidate.is_main |= role == "main" and statement.rule in _FIRM
            candidate.is_final |= role == "main" and statement.rule == FINAL
            if where is not None:
                candidate.stated = max(where, candidate.stated or 0.0)
        if statement.rule in _EXPLICIT and not read and is_disease(text):
            self.is_unmatched |= bool(told) or not self.mentioned(sentence)

    def _with_short_forms(self, sentence: Sentence, mentions: list[Mention]) -> list[Mention]:
        """Mentions of a sentence, and short forms in it of what title or abstract spell out: 'LCH'."""
        found = list(mentions)
        for written in _SHORT.finditer(sentence.text):
            start, end = sentence.start + written.start(), sentence.start + written.end()
            spelt = self._initials.get(written.group())
            if spelt and not any(item.start < end and start < item.end for item in mentions):
                found.append(
                    dataclasses.replace(
                        spelt, text_id=sentence.text_id, start=start, end=end, text=written.group()
                    )
                )
        return sorted(found, key=lambda item: item.start)

    @functools.cached_property
    def _initials(self) -> Mapping[str, Mention]:
        """The diseases that title and abstract name in several words, by initials that only one has."""
        found: dict[str, dict[str, Mention]] = {}
        for text_id, there in self.texts.mentions.items():
            if text_id != self.texts.title_id and "#abstract" not in text_id:
                continue
            for mention in there:
                words = _WORD.findall(mention.text)
                if len(words) > 2 and self._is_disease(mention) and not talk.is_set_aside(mention):
                    initials = "".join(word[0].upper() for word in words)
                    found.setdefault(initials, {}).setdefault(mention.concept, mention)
        return {short: next(iter(those.values())) for short, those in found.items() if len(those) == 1}

    def _said_outside(self) -> Iterator[Statement]:
        """What the discussion says outright of its one patient."""
        told = {span.passage_id for span in self.case.spans}
        if len(self.texts.cases) == 1:
            for text_id, text in self.texts.passages.items():
                if text_id not in told and self.texts.mentions.get(text_id):
                    yield from outside.statements(text_id, text)

    def _read_title(self, statement: Statement) -> None:
        text = statement.text[:MAX_READ]
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
        aside = [mention for mention in self.mentioned(sentence) if talk.is_set_aside(mention)]
        known = [*(span for _, span, _ in read), *_spans(aside, sentence)]
        self.is_titled_unmatched = not mains and names_unknown(without(head, known))
        main = {mention.concept for mention, _ in mains}
        if mains or self.is_titled_unmatched:
            self.beside |= {item.concept for item, _, role in read if role not in ("main", "never")} - main
        self.taken_back |= {item.concept for item in self.mentioned(sentence) if talk.is_denied(item)}
        self.taken_back |= {mention.concept for mention, _, role in read if role == "never"}
        self.taken_back |= self._looked_like(statement.end)
        self.taken_back -= main
        promoted = [] if mains or self.is_titled_unmatched else self._promoted(text, head, read)
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

        So a sign or complication gives way to the disease behind it: 'haematoma due to polyarteritis'. What
        the vocabulary does not know gives way only to what the case states outright.
        """
        causes = {item.concept for item, span, _ in read if phrases.CAUSED.search(title[: span[0]])}
        made = causes & set(self.found)
        if not any(role == "main" for _, _, role in read):  # its head is a disease that is no concept
            made = {concept for concept in made if self.found[concept].places & _FIRM}
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
        """How far the title names each disease, by role, or as main in place of what is no disease."""
        shared = _SHARED if len(self.texts.cases) > 1 else 1.0
        for mention, role in read:
            share = _PROMOTED if mention in promoted else _TITLE[role]
            if not self._is_disease(mention):
                share /= 2
            if share:
                candidate = self._note(mention, "title", "title")
                candidate.title = min(1.0, candidate.title + share * shared)
                candidate.is_main |= share >= _PROMOTED

    def _read_keywords(self) -> None:
        for keyword in self.texts.keywords:
            for mention in self._named(keyword):
                if not self._is_general(mention, keyword) and mention.concept not in self.taken_back:
                    self._note(mention, "keyword", "keyword")

    def _listen(self) -> None:
        """Whatever else the article speaks of, and how it speaks of every candidate."""
        texts = self.texts
        running = dict(talk.running(self.case, texts.mentions, texts.front, texts.cases))
        for mention in itertools.chain.from_iterable(running.values()):
            if mention.concept not in self.found and self._may_be(mention):
                is_finding = not self._is_disease(mention)
                self.found[mention.concept] = Candidate(mention.concept, mention.name, is_finding)
        talk.listen(self.found, self.case, running, texts.passages, texts.openings, self.concepts)
        for concept, candidate in self.found.items():
            candidate.is_taken_back = concept in self.taken_back and candidate.stated is None
            candidate.is_beside = concept in self.beside

    def _may_be(self, mention: Mention) -> bool:
        """Whether the running text speaks of what may be a diagnosis."""
        if talk.is_set_aside(mention) or self.concepts.kind(mention.concept) == "other":
            return False
        return not (self.concepts.is_general(mention.concept) or self._is_undefined(mention))


def _is_acronym(mention: Mention) -> bool:
    return mention.text.isupper() and mention.text.isalpha() and len(mention.text) <= _MAX_ACRONYM


def _spans(mentions: Iterable[Mention], sentence: Sentence) -> list[tuple[int, int]]:
    return [(mention.start - sentence.start, mention.end - sentence.start) for mention in mentions]
