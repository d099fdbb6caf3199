"""Queries of one article: passages that say, in the same words, what its author gave as keyword or title.

That the words mean a concept rests on the author, never on a matcher alone: the keyword or title names it.
A matcher can only speak against it: words that it reads as part of a longer name are not marked. Neither are
words within a proper name, such as that of a scale or a trial.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from curation.concepts.abbreviations import definitions
from curation.tasks.concept_discrimination.marks import OPEN, is_markable, is_touched, mark
from curation.tasks.concept_discrimination.records import Anchor, How, Link
from curation.tasks.concept_discrimination.settings import OwnReason, Settings
from curation.tasks.shared.bars import article_bar
from curation.tasks.shared.passages import passage_document
from curation.tasks.shared.words import word_count
from schemas.benchmark import Document, Query
from schemas.concept import Mention
from schemas.extracted import Passage, Source
from schemas.hashing import normalise_text
from schemas.ids import keyword_id, query_id, title_id
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table

NAME = "concept_discrimination"
Row = Query | Link | Anchor | Drop
_WORD = re.compile(r"[^\W_]+")
_BETWEEN = r"[\W_]{1,3}"
_CAPITAL_BEFORE = re.compile(r"[A-Z][\w’'-]*[ -]\Z")
_CAPITAL_BEHIND = re.compile(r"[ -][A-Z][a-z]")


class Written(NamedTuple):
    """What an author wrote as keyword or title, and the wordings that say it in running text."""

    id: str
    how: How
    name: str
    wordings: tuple[re.Pattern[str], ...]


class Place(NamedTuple):
    """Where a passage says it."""

    document: Document
    start: int
    end: int
    matched: str


def build(
    source: Source, passages: Sequence[Passage], mentions: Sequence[Mention], *, settings: Settings
) -> Iterator[Row]:
    """Queries of one article, still without a set.

    Args:
        source: the article.
        passages: its passages.
        mentions: concepts found in them.
        settings: what it is built with.

    Yields:
        Every keyword and the title as a Link or a Drop; of each Link a Query and its Anchor for the first
        passages that say it.
    """
    barred = article_bar(source, settings.licence_profile)
    if barred:
        yield from (_drop(source, name, *barred) for name in _ids(source))
        return
    found: dict[str, list[Mention]] = defaultdict(list)
    for mention in mentions:
        found[mention.text_id].append(mention)
    documents = list(_documents(source, passages, settings))
    names: set[str] = set()
    taken: set[Place] = set()
    for written in _written(source, passages):
        said = _places(written, documents, found)
        places = [place for place in said if place not in taken][: settings.passages]
        folded = normalise_text(written.name)
        if folded in names or not places:
            is_again = folded in names or bool(said)
            reason = Reason.DUPLICATE_QUERY if is_again else OwnReason.NOT_IN_A_PASSAGE
            yield _drop(source, written.id, reason, written.name)
            continue
        names.add(folded)
        taken.update(places)
        yield Link(
            id=written.id,
            article_id=source.id,
            name=written.name,
            language=source.language,
            how=written.how,
        )
        for place in places:
            yield from _marked(source, written, place)


def _ids(source: Source) -> list[str]:
    return [
        title_id(source.id),
        *(keyword_id(source.id, number) for number in range(1, len(source.keywords) + 1)),
    ]


def _drop(source: Source, name: str, reason: StrEnum, detail: str) -> Drop:
    return Drop(unit="name", id=name, article_id=source.id, reason=reason, detail=detail)


def _documents(source: Source, passages: Sequence[Passage], settings: Settings) -> Iterator[Document]:
    """Passages that can be a query: running text of fitting length in the article's language."""
    for passage in sorted(passages, key=lambda item: item.number):
        if passage.language != source.language or not is_markable(passage.text):
            continue
        made = passage_document(NAME, source, passage, min_words=settings.min_words)
        if isinstance(made, Document) and word_count(made.text) <= settings.max_words:
            yield made


def _written(source: Source, passages: Sequence[Passage]) -> Iterator[Written]:
    """The title and every keyword, in order."""
    long_forms: dict[str, str] = {}
    for definition in (item for passage in passages for item in definitions(passage.text)):
        long_forms.setdefault(definition.short, definition.long)
    for name, text in zip(_ids(source), (source.title, *source.keywords), strict=True):
        how: How = "title" if name == title_id(source.id) else "keyword"
        said = next((item.long for item in definitions(text)), text).strip()
        forms = [said, *([long_forms[said]] if said in long_forms else [])]
        yield Written(name, how, said, tuple(_wording(form) for form in forms if _WORD.search(form)))


def _wording(text: str) -> re.Pattern[str]:
    """The words of a text in order, whatever stands between them; an abbreviation in its own letters."""
    words = _WORD.findall(text)
    flags = 0 if len(words) == 1 and not words[0][1:].islower() else re.IGNORECASE
    return re.compile(rf"(?<!\w){_BETWEEN.join(map(re.escape, words))}(?!\w)", flags)


def _places(
    written: Written, documents: Sequence[Document], mentions: Mapping[str, Sequence[Mention]]
) -> list[Place]:
    """The first place in each passage that says it, in order."""
    found = []
    for document in documents:
        spans = (match.span() for wording in written.wordings for match in wording.finditer(document.text))
        place = next((item for span in sorted(spans) if (item := _place(document, span, mentions))), None)
        found += [place] if place else []
    return found


def _place(
    document: Document, span: tuple[int, int], mentions: Mapping[str, Sequence[Mention]]
) -> Place | None:
    """The place, unless it is changed text or part of a longer name."""
    start, end = span
    if is_touched(document.transforms, start, end) or _is_in_proper_name(document.text, start, end):
        return None
    shift = sum(
        len(change.original) - (change.end - change.start)
        for change in document.transforms
        if change.end < start
    )
    from_, to = start + shift, end + shift
    near = [item for item in mentions.get(document.id, ()) if item.start < to and item.end > from_]
    if any(item.start < from_ or item.end > to for item in near):
        return None
    matched = next((item.concept for item in near if (item.start, item.end) == (from_, to)), "")
    return Place(document, start, end, matched)


def _is_in_proper_name(text: str, start: int, end: int) -> bool:
    """Whether capitalised words stand right before or behind capitalised words in one sentence."""
    if not text[start].isupper():
        return False
    return bool(_CAPITAL_BEFORE.search(text, 0, start) or _CAPITAL_BEHIND.match(text, end))


def _marked(source: Source, written: Written, place: Place) -> Iterator[Query | Anchor]:
    """The query of one place, and what is marked in it."""
    document = place.document
    text, transforms = mark(document.text, document.transforms, place.start, place.end)
    name = query_id(NAME, text)
    yield Query(
        id=name,
        task=NAME,
        text=text,
        language=document.language,
        source_id=document.id,
        article_id=source.id,
        license=document.license,
        license_evidence=document.license_evidence,
        text_sha256=document.text_sha256,
        transforms=transforms,
        is_synthetic=document.is_synthetic,
    )
    yield Anchor(
        query_id=name,
        link_id=written.id,
        article_id=source.id,
        name=written.name,
        language=source.language,
        surface=document.text[place.start : place.end],
        start=place.start + len(OPEN),
        end=place.end + len(OPEN),
        matched=place.matched,
    )


# A named function, not a lambda: stages travel to worker processes.
def _names_of(source: Source, _: Sequence[Passage], __: Sequence[Mention]) -> list[str]:
    return _ids(source)


PER_ARTICLE = RecordStage(
    name=NAME,
    version=2,
    inputs=(
        Input("extract.sources", Source, by="id"),
        Input("extract.passages", Passage, by="article_id"),
        Input("ground.mentions", Mention, by="article_id"),
    ),
    outputs=(
        Table("queries", Query, ("id", "article_id")),
        Table("anchors", Anchor, ("query_id", "article_id")),
        Table("links", Link, ("id",)),
    ),
    process=build,
    accounts=(Account("name", _names_of, "links", "id"),),
    settings=Settings,
    reasons=frozenset(OwnReason),
)
