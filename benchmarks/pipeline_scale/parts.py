"""The parts articles are made of: bibliography, passages, figures with their images; all marked synthetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.generated_pictures import Picture
from curation.extract.sentences import sentence_at, sentence_spans
from schemas.article import (
    Abstract,
    Article,
    ArticleFigure,
    ArticlePassage,
    Graphic,
    Licence,
    RawArticle,
    RawMedia,
    Section,
    Xref,
)
from schemas.concept import DocumentConcept, Mention
from schemas.extracted import Figure, FigureMention, Passage, Pointer, Source
from schemas.hashing import sha256_text
from schemas.ids import passage_id, title_id
from schemas.image import FigureImage

Rows = dict[str, list[Any]]
"""Rows by `stage.table`."""
_LICENCES = tuple(
    Licence(spdx=spdx, evidence="jats:license/@href", url=f"https://creativecommons.org/{place}")
    for spdx, place in (("CC-BY-4.0", "licenses/by/4.0/"), ("CC0-1.0", "publicdomain/zero/1.0/"))
)
_POINTER = "Fig. {}"
_MEDIAN, _SPREAD, _SHORTEST, _LONGEST = 120, 0.45, 30, 420


@dataclass(frozen=True, slots=True)
class Stored:
    """An image file as stored, with what the images stage sees in it."""

    picture: Picture
    phash: str
    thumbnail: str


@dataclass(slots=True)
class Draft:
    """One article in the making."""

    id: str
    pmcid: str
    title: str
    genre: str
    licence: Licence
    topics: tuple[tuple[str, str], ...]
    """(concept, name) that the title holds"""
    sections: list[Section] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    images: list[FigureImage] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    abstracts: list[Abstract] = field(default_factory=list)
    media: list[RawMedia] = field(default_factory=list)


def lengths(random: np.random.Generator, count: int) -> Any:
    """Words of some texts: log-normal with a median of 120."""
    drawn = random.lognormal(np.log(_MEDIAN), _SPREAD, count)
    return np.clip(drawn, _SHORTEST, _LONGEST).astype(int)


def licence(random: np.random.Generator) -> Licence:
    """CC BY four times in five, else CC0."""
    return _LICENCES[int(random.random() < 0.2)]


def add_section(draft: Draft, title: str) -> int:
    """A section of the body; its number."""
    number = len(draft.sections) + 1
    draft.sections.append(Section(number=number, parent=0, title=title, part="body"))
    return number


def add_passage(draft: Draft, section: int, text: str, cites: Sequence[int] = ()) -> Passage:
    """A passage, with pointers to figures (by number) put into it."""
    pointers: list[Pointer] = []
    for figure in cites:
        at = text.index(" ", len(text) // 2 + 60 * len(pointers) - 60)
        words = _POINTER.format(figure)
        text = f"{text[:at]} ({words}){text[at:]}"
        pointers.append(Pointer(start=at + 2, end=at + 2 + len(words), figures=(f"{draft.id}#F{figure}",)))
    made = Passage(
        id=passage_id(draft.id, len(draft.passages) + 1),
        article_id=draft.id,
        number=len(draft.passages) + 1,
        section=section,
        section_path=(draft.sections[section - 1].title,),
        text=text,
        text_sha256=sha256_text(text),
        language="en",
        pointers=tuple(sorted(pointers, key=lambda item: item.start)),
    )
    draft.passages.append(made)
    return made


def add_figure(draft: Draft, caption: str, stored: Stored, kind: str) -> str:
    """A figure with its image, and every mention of it that the passages so far hold; its id."""
    number = len(draft.figures) + 1
    name = f"{draft.id}#F{number}"
    picture = stored.picture
    file = f"{picture.sha256[:16]}.jpg"
    path = f"pmc/{draft.pmcid}.1/{file}"
    known: dict[str, Any] = {"path": path, "sha256": picture.sha256, "format": "jpeg"}
    sides: dict[str, Any] = {"width": picture.width, "height": picture.height}
    graphic = Graphic(href=file, name=file, is_synthetic=True, **known, **sides)
    draft.figures.append(
        Figure(
            id=name,
            article_id=draft.id,
            number=number,
            label=f"Figure {number}.",
            caption=caption,
            graphics=(graphic,),
            mentions=tuple(_mentions(draft, name)),
            section=1,
            licence=draft.licence,
        )
    )
    draft.images.append(_image(draft.id, name, stored, kind, known | sides))
    draft.media.append(RawMedia(name=file, size_bytes=picture.length, is_synthetic=True, **known))
    return name


def _image(article: str, figure: str, stored: Stored, kind: str, known: dict[str, Any]) -> FigureImage:
    """What the images stage says of it."""
    return FigureImage(
        id=f"{figure}/1",
        article_id=article,
        figure_id=figure,
        mode="L",
        is_fitting=True,
        phash=stored.phash,
        thumbnail=stored.thumbnail,
        kind=kind,
        kind_evidence=("made up",),
        flags=("face_unchecked", "text_unchecked"),
        **known,
    )


def _mentions(draft: Draft, figure: str) -> list[FigureMention]:
    found = []
    for passage in draft.passages:
        for pointer in passage.pointers:
            if figure in pointer.figures:
                start, end = sentence_at(sentence_spans(passage.text), pointer.start)
                found.append(
                    FigureMention(
                        passage_id=passage.id,
                        start=pointer.start,
                        end=pointer.end,
                        text=passage.text[pointer.start : pointer.end],
                        sentence_start=start,
                        sentence_end=end,
                        rule="xref",
                    )
                )
    return found


def add_mention(draft: Draft, text_id: str, text: str, start: int, end: int, concept: str) -> None:
    """A concept named in a text."""
    words = text[start:end]
    draft.mentions.append(
        Mention(
            article_id=draft.id,
            text_id=text_id,
            start=start,
            end=end,
            text=words,
            concept=concept,
            name=words.lower(),
        )
    )


def finish(draft: Draft, rows: Rows, number: int) -> None:
    """Put an article into the tables of crawl, parse, extract, images and ground."""
    for concept, name in draft.topics:
        at = draft.title.index(name)
        add_mention(draft, title_id(draft.id), draft.title, at, at + len(name), concept)
    sha256 = sha256_text(draft.id)
    rows["crawl.raw"].append(
        RawArticle(
            id=draft.id,
            source="pmc",
            locator=draft.pmcid,
            version=1,
            path=f"pmc/{draft.pmcid}.1/{draft.pmcid}.1.xml",
            sha256=sha256,
            license_code=draft.licence.spdx,
            pmid=draft.pmcid.removeprefix("PMC"),
            doi=f"10.5555/{draft.pmcid.lower()}",
            media=tuple(sorted(draft.media, key=lambda item: item.name)),
            is_synthetic=True,
        )
    )
    rows["parse.articles"].append(_article(draft, sha256, number))
    rows["extract.sources"].append(_source(draft, sha256, number))
    rows["extract.passages"] += draft.passages
    rows["extract.figures"] += draft.figures
    rows["images.images"] += draft.images
    rows["ground.mentions"] += draft.mentions
    rows["ground.concepts"] += _concepts(draft)


def _bibliography(draft: Draft, number: int) -> dict[str, Any]:
    return {
        "id": draft.id,
        "pmcid": draft.pmcid,
        "pmid": draft.pmcid.removeprefix("PMC"),
        "doi": f"10.5555/{draft.pmcid.lower()}",
        "article_type": draft.genre,
        "language": "en",
        "title": draft.title,
        "authors": (f"Nobody {draft.pmcid}", f"Noone {draft.pmcid}"),
        "journal": f"Journal of Inventions {number % 300}",
        "year": 2000 + number % 26,
        "licence": draft.licence,
        "is_synthetic": True,
    }


def _article(draft: Draft, sha256: str, number: int) -> Article:
    return Article(
        **_bibliography(draft, number),
        source="pmc",
        version=1,
        abstracts=tuple(draft.abstracts),
        sections=tuple(draft.sections),
        passages=tuple(
            ArticlePassage(
                id=item.id,
                section=item.section,
                text=item.text,
                text_sha256=item.text_sha256,
                xrefs=tuple(
                    Xref(
                        start=one.start,
                        end=one.end,
                        ref_type="fig",
                        rids=tuple(name.partition("#")[2] for name in one.figures),
                    )
                    for one in item.pointers
                ),
            )
            for item in draft.passages
        ),
        figures=tuple(
            ArticleFigure(
                id=item.id,
                number=item.number,
                xml_id=f"F{item.number}",
                label=item.label,
                caption=item.caption,
                graphics=item.graphics,
                section=item.section,
                part="body",
            )
            for item in draft.figures
        ),
        raw_sha256=sha256,
    )


def _source(draft: Draft, sha256: str, number: int) -> Source:
    return Source(**_bibliography(draft, number), scope_evidence=("journal: medicine",), raw_sha256=sha256)


def _concepts(draft: Draft) -> list[DocumentConcept]:
    """The mentions summed up."""
    by_concept: dict[str, list[Mention]] = {}
    for mention in draft.mentions:
        by_concept.setdefault(mention.concept, []).append(mention)
    title = title_id(draft.id)
    captions = {item.id for item in draft.figures}
    return [
        DocumentConcept(
            article_id=draft.id,
            concept=concept,
            name=found[0].name,
            mentions=len(found),
            asserted=len(found),
            weight=float(len(found)),
            in_title=any(item.text_id == title for item in found),
            captions=tuple(dict.fromkeys(item.text_id for item in found if item.text_id in captions)),
        )
        for concept, found in by_concept.items()
    ]
