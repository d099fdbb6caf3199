"""The story of one case: its sentences, and which state some disease in so many words, whatever it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from curation.diagnosis import sentences as said
from curation.diagnosis.topic import NO_TOPIC, is_disease
from curation.extract.sentences import sentence_spans
from schemas.case import Case
from schemas.diagnosis import Statement

MAX_READ = 3000
"""Characters of a title or sentence that are read; bounds the work on a sentence without end."""
FINAL = "final diagnosis"
"""Rule of what stands under a title like that."""
_OUTRIGHT = frozenset({"final", "explicit", "confirmed"})
_STATING = _OUTRIGHT | {"pathology", "strong", "strong untitled", "weak"}
_NOT_OURS = frozenset({"elsewhere", "history"})


@dataclass(frozen=True, slots=True)
class Sentence:
    """One stretch of a text that may name a diagnosis; offsets in the text with that id."""

    text_id: str
    start: int
    text: str


@dataclass(frozen=True, slots=True)
class Story:
    """The sentences of a case, in order.

    Attributes:
        sentences: of the case.
        headed: for each whether it stands under a title like "Final diagnosis".
        read: for each its features and rule, read without knowing what the case is about.
    """

    sentences: tuple[Sentence, ...]
    headed: tuple[bool, ...]
    read: tuple[tuple[frozenset[str], str], ...]

    @property
    def texts(self) -> list[str]:
        """What is read of the sentences."""
        return [sentence.text[:MAX_READ] for sentence in self.sentences]

    def stating(self) -> Iterator[Statement]:
        """The sentences that state some disease of this patient, in order."""
        under = (at for at, is_under in enumerate(self.headed) if is_under and self._names(at))
        first = next(under, None)
        for at, (found, rule) in enumerate(self.read):
            is_stating = not found.isdisjoint(_STATING) and found.isdisjoint(_NOT_OURS)
            if at == first or (is_stating and self._names(at)):
                yield statement(self.sentences[at], FINAL if at == first else rule)

    def _names(self, at: int) -> bool:
        """Whether a sentence affirms some disease; so does one that confirms what was suspected."""
        text = self.sentences[at].text[:MAX_READ]
        is_outright = not self.read[at][0].isdisjoint(_OUTRIGHT)
        return is_disease(text if is_outright else said.affirmed(text))


def statement(sentence: Sentence, rule: str) -> Statement:
    """A sentence as a record."""
    return Statement(
        place="passage",
        passage_id=sentence.text_id,
        start=sentence.start,
        end=sentence.start + len(sentence.text),
        text=sentence.text,
        rule=rule,
    )


def story_of(case: Case, passages: Mapping[str, str], headed: Collection[str] = ()) -> Story:
    """The story of a case.

    Args:
        case: the case.
        passages: texts by id; what a case tells in others is left out.
        headed: ids of those under a title like "Final diagnosis".
    """
    told: list[Sentence] = []
    for name in dict.fromkeys(span.passage_id for span in case.spans):
        text = passages.get(name, "")
        spans = [span for span in case.spans if span.passage_id == name]
        for start, end in sentence_spans(text):
            inside = [span for span in spans if span.start < end and start < span.end]
            if inside:
                first = max(start, min(span.start for span in inside))
                last = min(end, max(span.end for span in inside))
                told.append(Sentence(name, first, text[first:last]))
    read = said.features([sentence.text[:MAX_READ] for sentence in told], NO_TOPIC)
    return Story(
        sentences=tuple(told),
        headed=tuple(sentence.text_id in headed for sentence in told),
        read=tuple((frozenset(found), rule) for found, rule in read),
    )
