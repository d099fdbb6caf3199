"""The context of a summary query: sentences around those that cite the figure, none copied from the abstract.

Sentences stand in document order; two of one passage keep what stood between them (a space where others were
left out), passages are parted by a line break. That joined text, the caption's sentences first, is the source
text: its hash is published, and undoing the released text's changes leads back to it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from curation.extract.bibliographic import is_bibliographic
from curation.extract.formalities import is_formal
from curation.extract.neutralise import neutralise
from curation.extract.pointers import pointers_in
from curation.extract.sentences import sentence_spans
from curation.similarity.text.edited import edited_copies
from curation.tasks.shared.leaning import is_numbered, leans
from curation.tasks.shared.study_names import Names, unnamed
from curation.tasks.shared.words import tokens_of, word_count
from curation.tasks.summary.bars import Bars, Grams
from curation.tasks.summary.headings import closing_section, is_closing_sentence, is_summing_sentence
from schemas.article import Article
from schemas.benchmark import Transform
from schemas.extracted import Figure, Passage

_PANEL = re.compile(r"(?<=[.;])\s+(?=\(?[A-Za-z](?:\)?\s?[-–,&]\s?\(?[A-Za-z])*\))")
"""Where a caption turns to another panel: "… mass. (b) Axial …"; the sentence splitter sees one sentence."""
_LETTER = re.compile(r"[^\W\d_]")
_BRACKET = re.compile(r"[()\[\]]")
_LOST_LIST = re.compile(
    r"[a-z] (?:Therefore|However|Moreover|Furthermore|Thus|Hence|Consequently|Nevertheless),"
)
"""A sentence that ran into the next one where a list stood between them."""
_KINDS = frozenset({"paragraph", "list", "quote"})


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of the caption or of a passage, as written and as released."""

    text_id: str
    start: int
    end: int
    gap: str
    source: str
    released: str
    transforms: tuple[Transform, ...]
    words: int


@dataclass(frozen=True, slots=True)
class Context:
    """A query's text: source and released, with the way back; words without those of the caption."""

    source: str
    released: str
    transforms: tuple[Transform, ...]
    words: int


def body_passages(article: Article, passages: Iterable[Passage], language: str) -> list[Passage]:
    """Passages a context may draw on: running text of the body that does not sum the article up.

    Conclusions, summaries, boilerplate, boxes, notes and other languages are left out; introductions stay.
    """
    parents = {section.number: section.parent for section in article.sections}
    types = {section.number: section.type for section in article.sections}

    def types_above(number: int) -> list[str]:
        found = []
        while number in parents:
            found.append(types[number])
            number = parents[number] if parents[number] < number else 0
        return found

    return [
        passage
        for passage in sorted(passages, key=lambda item: (item.number, item.id))
        if passage.part == "body"
        and passage.kind in _KINDS
        and same_language(passage.language, language)
        and not passage.boilerplate
        and not is_bibliographic(passage.text)
        and not closing_section(passage.section_path, types_above(passage.section))
    ]


def same_language(one: str, other: str) -> bool:
    """Whether two BCP-47 tags name one language; an unstated one is taken for the other."""
    first, second = (tag.lower().partition("-")[0] for tag in (one, other))
    return first == second or "und" in (first, second) or not (first and second)


def context_of(
    figure: Figure,
    passages: Sequence[Passage],
    bars: Bars,
    language: str,
    limit: int,
    caption_limit: int,
) -> Context:
    """The text of a query, at most `limit` words of passages after at most `caption_limit` of the caption.

    Nearest sentences first: those that cite the figure, then their neighbours, until one does not fit.

    Args:
        figure: whose caption opens the text.
        passages: of `body_passages`, at least one of which cites it.
        bars: no sentence that has part in one of its grams or copies one of its sentences is kept; its names
            are taken out of what is.
        language: BCP-47 of the article.
        limit: words of passages.
        caption_limit: words of the caption.
    """
    caption = _sentences(
        figure.id, figure.caption, _panel_spans(figure.caption), _spans(figure.caption), bars.names, language
    )
    every = [
        sentence
        for passage in passages
        for sentence in _before_closing(
            _sentences(
                passage.id,
                passage.text,
                _whole_spans(passage.text),
                [(pointer.start, pointer.end) for pointer in passage.pointers],
                bars.names,
                passage.language,
            )
        )
    ]
    sentences = [
        sentence
        for sentence in every
        if not (
            is_summing_sentence(sentence.source)
            or is_formal(sentence.source)
            or _LOST_LIST.search(sentence.source)
        )
    ]
    order = _nearest_first(sentences, figure)
    left_out = {
        item
        for item in (*caption, *sentences)
        if not item.words or edited_copies(item.released, bars.sentences)
    }
    while True:
        opening = _fitting(caption, range(len(caption)), left_out, caption_limit)
        chosen = _fitting(sentences, order, left_out, limit)
        touched = _touched([*opening, *chosen], bars.grams) or _unlinked(chosen, every, figure, language)
        if not touched:
            context, places = _joined(opening, chosen)
            # Sentences can read otherwise when they stand together.
            for copy, _ in edited_copies(context.released, bars.sentences):
                touched |= {item for start, end, item in places if start < copy.end and copy.start < end}
        if not touched:
            return context
        left_out |= touched


def _nearest_first(sentences: Sequence[Sentence], figure: Figure) -> list[int]:
    """Places of the sentences by their distance to the nearest one that cites the figure."""
    cited = {(item.passage_id, item.sentence_start) for item in figure.mentions}
    anchors = [
        at
        for at, item in enumerate(sentences)
        if any(item.text_id == name and item.start <= start < item.end for name, start in cited)
    ]
    if not anchors:
        within = {passage for passage, _ in cited}
        anchors = [at for at, item in enumerate(sentences) if item.text_id in within]
    far = {at: min((abs(at - anchor) for anchor in anchors), default=at) for at in range(len(sentences))}
    return sorted(far, key=lambda at: (far[at], at))


def _unlinked(
    chosen: Sequence[Sentence], every: Sequence[Sentence], figure: Figure, language: str
) -> set[Sentence]:
    """Those chosen that need the one of every sentence before them, which was not chosen; citing ones stay.

    The first sentence of a passage needs none that could be left out, unless it goes on counting.
    """
    if not same_language(language, "en"):
        return set()
    cited = {(item.passage_id, item.sentence_start) for item in figure.mentions}
    before = dict(zip(every[1:], every, strict=False))
    kept: set[Sentence] = set()
    for sentence in chosen:
        cites = any(
            sentence.text_id == name and sentence.start <= start < sentence.end for name, start in cited
        )
        needs = leans if sentence.start else is_numbered
        if before.get(sentence) in kept or cites or not needs(sentence.released):
            kept.add(sentence)
    return set(chosen) - kept


def _spans(text: str) -> list[tuple[int, int]]:
    return [(found.start, found.end) for found in pointers_in(text)]


def _whole_spans(text: str) -> list[tuple[int, int]]:
    """Spans of sentences.

    One without a letter (references after a full stop) and one that closes a bracket it did not open go with
    the one before.
    """
    spans: list[tuple[int, int]] = []
    for start, end in sentence_spans(text):
        opened = bool(spans) and _brackets(text[slice(*spans[-1])])[1]
        if spans and (not _LETTER.search(text, start, end) or (opened and _brackets(text[start:end])[0])):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _brackets(text: str) -> tuple[int, int]:
    """How many brackets a text closes without having opened them, and how many it leaves open."""
    closed = opened = 0
    for mark in _BRACKET.findall(text):
        if mark in "([":
            opened += 1
        elif opened:
            opened -= 1
        else:
            closed += 1
    return closed, opened


def _panel_spans(caption: str) -> list[tuple[int, int]]:
    """Spans of a caption's sentences, parted where another panel begins."""
    spans: list[tuple[int, int]] = []
    for start, end in _whole_spans(caption):
        for found in _PANEL.finditer(caption, start, end):
            spans.append((start, found.start()))
            start = found.end()
        spans.append((start, end))
    return spans


def _sentences(
    text_id: str,
    text: str,
    spans: Iterable[tuple[int, int]],
    pointers: Sequence[tuple[int, int]],
    names: Names,
    language: str,
) -> list[Sentence]:
    made: list[Sentence] = []
    before = 0
    for start, end in spans:
        inside = [(max(a, start) - start, min(b, end) - start) for a, b in pointers if a < end and b > start]
        source = text[start:end]
        released, transforms = unnamed(*neutralise(source, inside, language), names)
        words = word_count(released)
        gap = text[before:start]
        made.append(Sentence(text_id, start, end, gap, source, released, transforms, words))
        before = end
    return made


def _before_closing(sentences: Sequence[Sentence]) -> Sequence[Sentence]:
    """Sentences of a passage up to the first that opens its conclusions."""
    for at, sentence in enumerate(sentences):
        if is_closing_sentence(sentence.source):
            return sentences[:at]
    return sentences


def _fitting(
    sentences: Sequence[Sentence], order: Iterable[int], left_out: Collection[Sentence], limit: int
) -> list[Sentence]:
    """Sentences taken in `order` until one does not fit, back in their own order."""
    taken: list[int] = []
    words = 0
    for at in order:
        if sentences[at] in left_out:
            continue
        words += sentences[at].words
        if words > limit:
            break
        taken.append(at)
    return [sentences[at] for at in sorted(taken)]


def _touched(sentences: Sequence[Sentence], barred: Grams) -> set[Sentence]:
    """Sentences that have part in a barred gram, within one or across several, as written or as released."""
    found: set[Sentence] = set()
    for is_source in (True, False):
        stream: list[str] = []
        owners: list[Sentence] = []
        for sentence in sentences:
            tokens = tokens_of(sentence.source if is_source else sentence.released)
            stream += tokens
            owners += [sentence] * len(tokens)
        for size, grams in barred.items():
            for at in range(len(stream) - size + 1):
                if tuple(stream[at : at + size]) in grams:
                    found.update(owners[at : at + size])
    return found


def _joined(
    opening: Sequence[Sentence], chosen: Sequence[Sentence]
) -> tuple[Context, list[tuple[int, int, Sentence]]]:
    """The context, and where each sentence stands in its released text."""
    source = released = ""
    places: list[tuple[int, int, Sentence]] = []
    transforms: list[Transform] = []
    previous: Sentence | None = None
    for sentence in (*opening, *chosen):
        glue = "" if previous is None else "\n"
        if previous is not None and previous.text_id == sentence.text_id:
            follows = previous.end + len(sentence.gap) == sentence.start
            glue = sentence.gap if follows else " "
        source += glue + sentence.source
        released += glue
        at = len(released)
        transforms += [replace(one, start=one.start + at, end=one.end + at) for one in sentence.transforms]
        released += sentence.released
        places.append((at, len(released), sentence))
        previous = sentence
    return Context(source, released, tuple(transforms), sum(item.words for item in chosen)), places
