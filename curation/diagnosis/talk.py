"""How the running text of an article speaks of what one of its cases may have: how often, and in what places.

What an article is about begins its introduction and its discussion, and is what they define.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from curation.diagnosis.candidate import Candidate
from curation.diagnosis.concepts import Concepts
from schemas.case import Case
from schemas.concept import Mention

_OPENING = 200
"""Characters of an abstract, whose text is not at hand, in which what it begins with is named."""
_SUBJECT = 30
"""Characters of a sentence before its subject."""
_DEFINED = re.compile(
    r"[^.;]{0,25}?[ ,]*(?:is|are|was|were|remains?|represents?|refers|accounts?|results?|occurs?|can|may"
    r"|should|has|have|constitutes?|presents?|comprises?|usually|often|typically|commonly)\b"
)
"""Behind the subject of a sentence that says what it is."""
_READ = 60


def listen(
    found: Mapping[str, Candidate],
    case: Case,
    mentions: Mapping[str, Sequence[Mention]],
    passages: Mapping[str, str],
    openings: Mapping[str, int],
    concepts: Concepts,
) -> None:
    """Note on every candidate how the running text speaks of it.

    Args:
        found: candidates by concept.
        case: the case; mentions inside its spans are its story's.
        mentions: of the running text, by text id: title, keywords and the stories of other cases left out.
        passages: texts of the passages.
        openings: where the first sentence of each of them ends.
        concepts: the vocabulary.
    """
    told = {span.passage_id for span in case.spans}
    for text_id, there in mentions.items():
        first = next((item for item in there if concepts.kind(item.concept) != "other"), None)
        opening = openings.get(text_id, _OPENING if "#abstract" in text_id else 0)
        for mention in there:
            candidate = found.get(mention.concept)
            if candidate is None or is_set_aside(mention):
                continue
            candidate.count += 1
            where = place(case, text_id, mention.start) if text_id in told else None
            if where is not None:
                candidate.last = max(candidate.last, where)
                if not any(item.place == "case" for item in candidate.evidence.values()):
                    candidate.add(mention, "case")
                continue
            candidate.opens |= mention is first and mention.start < opening
            if text_id in passages and _is_defined(passages[text_id], mention):
                candidate.defines += 1


def place(case: Case, text_id: str, offset: int) -> float | None:
    """How far into the story of a case an offset lies, 0 to 1; None if it is not in it."""
    before, at = 0, None
    for span in case.spans:
        if at is None and span.passage_id == text_id and span.start <= offset < span.end:
            at = before + offset - span.start
        before += span.end - span.start
    return None if at is None else at / max(before, 1)


def _is_defined(text: str, mention: Mention) -> bool:
    """Whether a mention is the subject of a sentence that says what it is."""
    before = text[max(0, mention.start - _SUBJECT - 2) : mention.start]
    ends = max((before.rfind(mark) for mark in (". ", "? ", "! ")), default=-1)
    if ends < 0 and mention.start > _SUBJECT:
        return False
    return _DEFINED.match(text[mention.end : mention.end + _READ]) is not None


def is_denied(mention: Mention) -> bool:
    """Whether a mention is of what nobody has, has now, or only a relative has."""
    return mention.is_negated or mention.is_historical or mention.is_family


def is_set_aside(mention: Mention) -> bool:
    """Whether a mention is denied, or of what is only thought of."""
    return mention.is_hypothetical or is_denied(mention)


def running(
    case: Case, mentions: Mapping[str, Sequence[Mention]], beside: Collection[str], others: Sequence[Case]
) -> Iterator[tuple[str, Sequence[Mention]]]:
    """Mentions of the running text that may be of a case: not of title and keywords, nor of other cases."""
    theirs: dict[str, list[tuple[int, int]]] = {}
    for other in others:
        if other.id != case.id:
            for span in other.spans:
                theirs.setdefault(span.passage_id, []).append((span.start, span.end))
    for text_id, there in mentions.items():
        if text_id in beside:
            continue
        spans = theirs.get(text_id)
        if not spans:
            yield text_id, there
            continue
        yield (
            text_id,
            [
                item
                for item in there
                if place(case, text_id, item.start) is not None
                or not any(start <= item.start < end for start, end in spans)
            ],
        )
