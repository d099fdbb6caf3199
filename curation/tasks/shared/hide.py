"""A case as a query that hides its diagnosis: presentation and findings, cut before what gives it away.

The text is cut, never masked: a blank would say that there is a name, and of what length. Everything from the
first sentence on that gives the diagnosis away is left out, wherever the story goes on.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from curation.cases.roles import Role
from curation.concepts.abbreviations import declared, definitions
from curation.extract.sentences import sentence_spans
from curation.tasks.shared.case_reports import CaseReport
from curation.tasks.shared.case_text import CaseText, assemble
from curation.tasks.shared.wordings import Hit, Name, Wordings, read_names, word_counts
from schemas.article import Article
from schemas.case import Case, CaseSpan
from schemas.concept import Mention

_DIAGNOSED = re.compile(
    r"\b(?:was|were) (?:(?:then|thus|therefore|finally|initially|first|subsequently) )?diagnosed"
    r" (?:with|as|to have)\b"
    r"|\ba diagnosis of\b(?=.* was (?:made|established|given|reached)\b)",
    re.IGNORECASE,
)
_NOT_NOW = re.compile(
    r"\b(?:had been|ago|earlier|previous\w*|prior|history|known|since|before|at (?:the )?age|in (?:19|20)\d\d"
    r"|(?:mother|father|brother|sister|son|daughter)s?|suspect\w*|probabl\w*|possibl\w*|provisional\w*"
    r"|differential|exclude\w*|ruled out)\b",
    re.IGNORECASE,
)
"""Says that a diagnosis is of another time or person, or not sure."""
_ASKED_ROLES: frozenset[Role] = frozenset({"presentation", "findings"})


@dataclass(frozen=True, slots=True)
class Revealed:
    """The first words of a case that give its diagnosis away, as offsets in their passage."""

    passage_id: str
    start: int
    end: int
    text: str
    how: str


@dataclass(frozen=True, slots=True)
class Hidden:
    """What may be asked of a case."""

    text: CaseText | None
    """None when nothing stands before the cut"""
    revealed: Revealed | None
    """None when the whole story never gives the diagnosis away"""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a case: where it stands, its text."""

    span: CaseSpan
    text: str


def wordings_of(
    report: CaseReport,
    articles: Sequence[Article],
    concept: str,
    close: frozenset[str],
    language: str,
    names: Path,
) -> Wordings | None:
    """What gives a diagnosis of one article's case away.

    Args:
        report: the article.
        articles: the same as parsed: short forms it explains.
        concept: the diagnosis.
        close: it and what is near to it, see :func:`curation.tasks.shared.wordings.near`.
        language: of the case, BCP-47.
        names: Parquet of ConceptName rows of the vocabulary.

    Returns:
        None when the vocabulary cannot tell the diagnosis in that language at all.
    """
    known = read_names(names, close)
    if not _is_named(concept, language, known):
        return None
    told = [mention for mention in report.mentions if mention.concept in close]
    wordings = Wordings.of(
        concept,
        known,
        {mention.text for mention in told if mention.rule != "short_form"},
        {mention.text for mention in told if mention.rule == "short_form"},
        word_counts(names, report.concepts),
        report.concepts.ancestors(concept) & close,
    )
    return replace(wordings, short=wordings.short | _short_forms(report, articles, wordings))


def places_of(report: CaseReport, close: frozenset[str]) -> list[Mention]:
    """Places that grounding read as one of some concepts."""
    return [item for item in report.mentions if item.concept in close]


def _is_named(concept: str, language: str, known: Sequence[Name]) -> bool:
    base = language.split("-")[0]
    return any(name.concept == concept and name.language.split("-")[0] == base for name in known)


def _short_forms(report: CaseReport, articles: Sequence[Article], wordings: Wordings) -> set[str]:
    """Abbreviations that any text of the article explains with what gives the diagnosis away."""
    texts = [passage.text for passage in report.passages.values()]
    texts += [passage.text for passage in report.later.values()]
    found: dict[str, str] = {}
    for article in articles:
        texts += [article.title, *(one.text for one in article.abstracts)]
        found.update(declared(article.abbreviations))
    for text in texts:
        found.update((item.short, item.long) for item in definitions(text))
    return {short for short, long in found.items() if wordings.find(long)}


def hide(report: CaseReport, case: Case, wordings: Wordings, told: Sequence[Mention]) -> Hidden:
    """Presentation and findings of a case up to the first sentence that gives its diagnosis away.

    A sentence that says the disease of a relative, or in the presentation that there is none, is left out;
    so is a last one that says outright that another was diagnosed: whoever is asked would answer that.

    Args:
        report: the article.
        case: one of its cases.
        wordings: what gives its diagnosis away.
        told: places that grounding read as the diagnosis or a near relative.
    """
    sentences = list(case_sentences(report, case))
    at, revealed, left_out = _first(sentences, wordings, told)
    while at:
        text = text_of(report, case, sentences[:at], _ASKED_ROLES, left_out)
        hit = wordings.find(text.released) if text else None
        if hit is None:  # no name is put together where sentences were left out between others
            last = max((n for n in range(at) if _is_asked(sentences[n]) and n not in left_out), default=-1)
            if last >= 0 and _states_another(sentences[last], report):
                left_out.add(last)
                continue
            return Hidden(text, revealed)
        at -= 1
        revealed = _revealed(sentences[at], Hit(0, len(sentences[at].text), hit.how))
    return Hidden(None, revealed)


def _is_asked(sentence: Sentence) -> bool:
    return sentence.span.role in _ASKED_ROLES


def _states_another(sentence: Sentence, report: CaseReport) -> bool:
    """Whether a sentence that does not give the diagnosis away says what was diagnosed now."""
    found = _DIAGNOSED.search(sentence.text)
    if found is None or _NOT_NOW.search(sentence.text):
        return False
    at = sentence.span.start + found.end()
    return any(
        item.text_id == sentence.span.passage_id
        and at <= item.start < sentence.span.end
        and not (item.is_negated or item.is_hypothetical or item.is_family)
        and report.concepts.kind(item.concept) != "other"
        for item in report.mentions
    )


def case_sentences(report: CaseReport, case: Case) -> Iterator[Sentence]:
    """The sentences of a case in reading order; passages that are missing have none."""
    for owner in case.spans:
        known = report.passages.get(owner.passage_id) or report.later.get(owner.passage_id)
        if known is None:
            continue
        text = known.text[owner.start : owner.end]
        for start, end in sentence_spans(text):
            span = replace(owner, start=owner.start + start, end=owner.start + end)
            yield Sentence(span, text[start:end])


def _first(
    sentences: Sequence[Sentence], wordings: Wordings, told: Sequence[Mention]
) -> tuple[int, Revealed | None, set[int]]:
    """How many sentences stand before the first that gives it away, what does, and which to leave out."""
    left_out: set[int] = set()
    for number, sentence in enumerate(sentences):
        span, text = sentence.span, sentence.text
        hits: list[Hit] = []
        for item in told:
            if item.text_id != span.passage_id or item.start >= span.end or span.start >= item.end:
                continue
            start, end = max(0, item.start - span.start), item.end - span.start
            if item.is_family or (item.is_negated and span.role == "presentation"):
                left_out.add(number)
                text = text[:start] + " " * (min(end, len(text)) - start) + text[end:]
            else:
                hits.append(Hit(start, end, "mention"))
        hits += [hit] if (hit := wordings.find(text)) else []
        if hits:
            first = min(hits, key=lambda item: (item.start, item.how != "name"))
            return number, _revealed(sentence, first), left_out
    return len(sentences), None, left_out


def _revealed(sentence: Sentence, hit: Hit) -> Revealed:
    start, end = hit.start, min(hit.end, len(sentence.text))
    first = sentence.span.start
    return Revealed(sentence.span.passage_id, first + start, first + end, sentence.text[start:end], hit.how)


def text_of(
    report: CaseReport,
    case: Case,
    sentences: Sequence[Sentence],
    roles: frozenset[Role],
    left_out: Collection[int] = (),
) -> CaseText | None:
    """Sentences of some roles as one text, neighbours of one passage in one span; None when there is none.

    Args:
        report: the article.
        case: the case.
        sentences: its sentences from the first on.
        roles: those that are shown.
        left_out: places in `sentences` of those that are not.
    """
    spans: list[CaseSpan] = []
    before = -1
    for number, sentence in enumerate(sentences):
        if sentence.span.role not in roles or number in left_out:
            continue
        last = spans[-1] if spans else None
        if last and before == number - 1 and last.passage_id == sentence.span.passage_id:
            spans[-1] = replace(last, end=sentence.span.end)
        else:
            spans.append(sentence.span)
        before = number
    shown = replace(case, spans=tuple(spans))
    return assemble(shown, report.passages, report.later, report.source.language)
