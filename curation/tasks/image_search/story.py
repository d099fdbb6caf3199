"""The story of a case as a query of image search: short, and telling of every image it must find.

Presentation and findings, and of the course only sentences that cite one of the images: an image nobody
speaks of in the query could not be found by it. A long story keeps the citing sentences and its opening. No
sentence is kept that leans on one that is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from curation.extract.sentences import sentence_spans
from curation.tasks.image_search.facts import Report
from curation.tasks.image_search.labels import citing_spans
from curation.tasks.shared.case_text import CaseText, assemble
from curation.tasks.shared.leaning import leans
from curation.tasks.shared.words import word_count
from schemas.case import Case, CaseSpan

_ASKED_ROLES = frozenset({"presentation", "findings"})
_GAP = 2
"""Characters between two sentences that follow each other."""


@dataclass(frozen=True, slots=True)
class Story:
    """A case as a query."""

    text: CaseText | None
    """None when no word is left or a passage of it is missing"""
    words: int
    """words of presentation and findings in the case"""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a case."""

    span: CaseSpan
    owner: CaseSpan
    """the span of the case it is in"""
    words: int
    cites: bool
    """whether it cites an image, or a sentence that does leans on it"""
    leans: bool = False
    """whether it cannot be understood without the one before it"""


def tell(report: Report, case: Case, shown: Collection[str], max_words: int) -> Story:
    """The story of a case.

    Args:
        report: the article.
        case: one of its cases.
        shown: ids of the figures that have an image to be found.
        max_words: a longer story keeps the sentences that cite those figures, and some others that fit.

    Returns:
        The story; its words count presentation and findings alone, as many as the case has.
    """
    sentences = _supported(list(_sentences(report, case, shown)))
    asked = [item for item in sentences if item.owner.role in _ASKED_ROLES]
    chosen = [item for item in sentences if item.cites or item.owner.role in _ASKED_ROLES]
    kept = _standing(shortened(_standing(chosen, sentences), max_words), sentences)
    spans = tuple(_joined(kept, sentences))
    text = assemble(report.with_spans(case, spans), report.passages, report.later, report.source.language)
    return Story(text, sum(item.words for item in asked))


def _sentences(report: Report, case: Case, shown: Collection[str]) -> Iterator[Sentence]:
    """The sentences of a case in reading order; a span of a passage that is missing is one sentence."""
    citing = {
        (span.text_id, span.start, span.end)
        for figure in report.figures
        if figure.id in case.figures and figure.id in shown
        for span in citing_spans(figure, case, report.passages)
    }
    for owner in case.spans:
        known = report.passages.get(owner.passage_id) or report.later.get(owner.passage_id)
        text = known.text[owner.start : owner.end] if known else ""
        is_english = ((known and known.language) or report.source.language).startswith("en")
        for start, end in sentence_spans(text) if known else [(0, owner.end - owner.start)]:
            span = replace(owner, start=owner.start + start, end=owner.start + end)
            cites = any(
                name == span.passage_id and first < span.end and span.start < last
                for name, first, last in citing
            )
            said = text[start:end]
            yield Sentence(span, owner, word_count(said), cites, is_english and leans(said))


def _supported(sentences: list[Sentence]) -> list[Sentence]:
    """The sentences, those that a citing one leans on counted as citing too."""
    found = list(sentences)
    for at in range(len(found) - 1, 0, -1):
        if found[at].cites and found[at].leans and _follows(found[at - 1], found[at]):
            found[at - 1] = replace(found[at - 1], cites=True)
    return found


def _standing(kept: list[Sentence], sentences: list[Sentence]) -> list[Sentence]:
    """The kept sentences without those that lean on one that is not kept; those that cite stay."""
    before = {id(other): one for one, other in pairwise(sentences) if _follows(one, other)}
    found: list[Sentence] = []
    for item in kept:
        is_supported = bool(found) and before.get(id(item)) is found[-1]
        if item.cites or not item.leans or is_supported:
            found.append(item)
    return found


def shortened(sentences: list[Sentence], max_words: int) -> list[Sentence]:
    """All sentences when they are short enough, else those that cite and, while they fit, some others.

    First the one that opens the story, as it says who the patient is; then the one before each that cites,
    which often tells what the image shows; then what follows the opening.

    Args:
        sentences: of presentation and findings, and others that cite an image, in reading order.
        max_words: of all together, unless those that cite have more.
    """
    kept = {at for at, item in enumerate(sentences) if item.cites}
    left = max_words - sum(sentences[at].words for at in kept)
    before = [at - 1 for at in sorted(kept) if at and _is_next(sentences[at - 1], sentences[at])]
    for at in [0, *before] if sentences else []:
        if at not in kept and sentences[at].words <= left:
            left -= sentences[at].words
            kept.add(at)
    for at, item in enumerate(sentences):
        if at in kept:
            continue
        left -= item.words
        if left < 0:
            break
        kept.add(at)
    return [sentences[at] for at in sorted(kept)]


def _is_next(one: Sentence, other: Sentence) -> bool:
    """Whether two sentences of a story stand in one passage, no more than a space between them."""
    return one.span.passage_id == other.span.passage_id and other.span.start - one.span.end <= _GAP


def _follows(one: Sentence, other: Sentence) -> bool:
    """The same, or a sentence that opens a new passage."""
    return _is_next(one, other) or (one.span.passage_id != other.span.passage_id and not other.span.start)


def _joined(kept: list[Sentence], sentences: list[Sentence]) -> Iterator[CaseSpan]:
    """Spans of the kept sentences, neighbours in one; a span that is kept whole stays as it was."""
    places = {id(item): at for at, item in enumerate(sentences)}
    run: list[Sentence] = []
    for item in kept:
        if run and (item.owner is not run[-1].owner or places[id(item)] != places[id(run[-1])] + 1):
            yield _span(run, sentences)
            run = []
        run.append(item)
    if run:
        yield _span(run, sentences)


def _span(run: list[Sentence], sentences: list[Sentence]) -> CaseSpan:
    owner = run[0].owner
    if len(run) == sum(item.owner is owner for item in sentences):
        return owner
    return replace(owner, start=run[0].span.start, end=run[-1].span.end)
