"""The text of one case: its spans of passages in reading order, with figure numbers taken out.

Two spans of one passage are joined by a space, those of different passages by a line break. That joined text
is the source text: its hash is published, and undoing a released text's changes leads back to it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from curation.extract.neutralise import RULE, neutralise
from curation.extract.pointers import pointers_in
from curation.tasks.shared.words import GRAM, tokens_of
from schemas.article import ArticlePassage
from schemas.benchmark import Transform
from schemas.case import Case, CaseSpan
from schemas.extracted import Passage

SKETCH = 32
"""Shingles kept of a text: of two texts that share a tenth of their 13-grams about three are the same."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One span of the case: where it stands in its passage, and from where on in the joined text."""

    passage_id: str
    start: int
    end: int
    at: int


@dataclass(frozen=True, slots=True)
class CaseText:
    """A case as one text, as written and as released."""

    source: str
    released: str
    transforms: tuple[Transform, ...]
    language: str
    pieces: tuple[Piece, ...]

    def locate(self, passage_id: str, start: int, end: int) -> tuple[int, int] | None:
        """Where a stretch of a passage stands in `source`; None when it is not wholly in one piece."""
        for piece in self.pieces:
            if piece.passage_id == passage_id and piece.start <= start and end <= piece.end:
                return piece.at + start - piece.start, piece.at + end - piece.start
        return None


def assemble(
    case: Case, passages: Mapping[str, Passage], later: Mapping[str, ArticlePassage], language: str
) -> CaseText | None:
    """The text of a case.

    Args:
        case: whose spans are joined.
        passages: the article's passages by id.
        later: passages of later documents of its book, by id, for cases that go on there.
        language: BCP-47, for passages that state none.

    Returns:
        None when the case has no spans, or one of a passage that is not there.
    """
    source = released = before = ""
    transforms: list[Transform] = []
    pieces: list[Piece] = []
    languages: list[str] = []
    for span in case.spans:
        known = passages.get(span.passage_id) or later.get(span.passage_id)
        if known is None:
            return None
        languages.append(known.language or language)
        text = known.text[span.start : span.end]
        changed, changes = neutralise(text, _pointers(known, span), languages[-1])
        glue = "" if not pieces else " " if span.passage_id == before else "\n"
        pieces.append(Piece(span.passage_id, span.start, span.end, len(source) + len(glue)))
        source, before = source + glue + text, span.passage_id
        if released and not changed:  # "See Figure 1.": nothing is left to stand on a line of its own
            changes, glue = (Transform(start=0, end=0, original=glue + text, rule=RULE),), ""
        shift = len(released) + len(glue)
        transforms += [replace(one, start=one.start + shift, end=one.end + shift) for one in changes]
        released += glue + changed
    if not pieces:
        return None
    return CaseText(source, released, tuple(transforms), languages[0], tuple(pieces))


def _pointers(passage: Passage | ArticlePassage, span: CaseSpan) -> list[tuple[int, int]]:
    """Figure pointers in a span, as offsets in it; a passage of a later document is read for them here."""
    if isinstance(passage, Passage):
        found = [(pointer.start, pointer.end) for pointer in passage.pointers]
    else:
        found = [(pointer.start, pointer.end) for pointer in pointers_in(passage.text)]
    inside = [(max(start, span.start), min(end, span.end)) for start, end in found]
    return [(start - span.start, end - span.start) for start, end in inside if start < end]


def sketch(text: str) -> tuple[str, ...]:
    """The smallest hashes of a text's 13-grams, sorted: what texts that share stretches have in common.

    Letters and digits count, case and punctuation do not; every Chinese or Japanese character is a token.
    Shorter texts have none. After Broder, On the resemblance and containment of documents (1997).
    """
    tokens = tokens_of(text)
    grams = {" ".join(tokens[at : at + GRAM]) for at in range(len(tokens) - GRAM + 1)}
    return tuple(sorted(map(_hash, grams))[:SKETCH])


def _hash(gram: str) -> str:
    return hashlib.blake2b(gram.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
