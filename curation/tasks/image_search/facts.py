"""Which images of an article may be documents of image search, and what is known of each.

An image that shows the diagnosis or the words of its own query would be found by reading, not by looking.
Whether text was looked for at all is recorded image by image, because reading it is optional.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from curation.images.flags import TEXT_UNCHECKED
from curation.tasks.image_search.settings import OwnReason, Settings
from curation.tasks.shared.bars import CLINICAL_KINDS, FLAGGED, Bar, file_problem, nearest, rights_bar
from schemas.article import Article, ArticlePassage, Graphic
from schemas.case import Case, CaseSpan
from schemas.concept import Mention
from schemas.diagnosis import PrincipalDiagnosis
from schemas.extracted import Figure, Passage, Source
from schemas.hashing import normalise_text
from schemas.image import FigureImage
from schemas.label import Label, RecordLabels
from schemas.record import column, record
from schemas.stages import Drop, Reason

_OPEN_KINDS = frozenset({"", "compound"})
"""What the pixels leave open: panels of several kinds, or undecided."""
_OBJECT = "object"
"""Leaf of modality: photographs of devices and drugs."""
_DRAWN = re.compile(
    r"\b(?:schedules?|schem\w+|flow ?charts?|study design|timeline|algorithm|protocol|workflow)\b",
    re.IGNORECASE,
)
_OPENING = 80
_MIN_LETTERS = 3


@record
class ImageFacts:
    """What duplicates are told by, and what was checked of an image in the corpus."""

    id: str = column("document id: <figure id>/<position of the graphic>")
    article_id: str = column("article id")
    sha256: str = column("hex SHA-256 of the stored file")
    phash: str = column("64-bit perceptual hash, 16 hex digits")
    kind: str = column("kind of the image, '' or compound when the caption decided that it is clinical")
    text_check: Literal["passed", "not_run"] = column(
        "whether its visible text was compared with diagnosis and query; not_run: nobody read it (extra ocr)"
    )
    flags: tuple[str, ...] = column("flags it is released with, sorted", default=())


@record
class ImageCheck:
    """What was seen in an image of the corpus: published beside it."""

    id: str = column("document id")
    kind: str = column("kind of the image, '' or compound when the caption decided that it is clinical")
    text_check: Literal["passed", "not_run"] = column(
        "whether its visible text was compared with diagnosis and query; not_run: nobody read it (extra ocr)"
    )
    flags: tuple[str, ...] = column("flags it is released with, sorted", default=())


@dataclass(frozen=True, slots=True)
class Held:
    """One image that is a document."""

    id: str
    figure_id: str
    graphic: Graphic
    facts: ImageFacts


@dataclass(frozen=True, slots=True)
class Report:
    """One article, its parts by id."""

    source: Source
    figures: Sequence[Figure]
    cases: Sequence[Case]
    passages: Mapping[str, Passage]
    later: Mapping[str, ArticlePassage]
    images: Mapping[str, FigureImage]
    labels: Mapping[str, Sequence[Label]]
    records: Mapping[str, RecordLabels]
    names: Mapping[str, tuple[str, ...]]
    """case id -> normalised names of its principal diagnosis"""
    concepts: Mapping[str, Sequence[Mention]]
    """id of a text -> concepts named in it"""
    cases_by_id: Mapping[str, Case]

    @classmethod
    def of(
        cls,
        source: Source,
        articles: Sequence[Article],
        figures: Sequence[Figure],
        passages: Sequence[Passage],
        cases: Sequence[Case],
        images: Sequence[FigureImage],
        mentions: Sequence[Mention],
        labels: Sequence[Label],
        records: Sequence[RecordLabels],
        diagnoses: Sequence[PrincipalDiagnosis],
    ) -> Report:
        """A report out of the rows of one article, figures and cases in order."""
        by_record: dict[str, list[Label]] = {}
        for row in labels:
            by_record.setdefault(row.id, []).append(row)
        concepts: dict[str, list[Mention]] = {}
        for item in mentions:
            concepts.setdefault(item.text_id, []).append(item)
        return cls(
            source=source,
            figures=sorted(figures, key=lambda item: (item.number, item.id)),
            cases=sorted(cases, key=lambda item: (item.number, item.id)),
            passages={item.id: item for item in passages},
            later={item.passage.id: item.passage for one in articles for item in one.continuations},
            images={item.id: item for item in images},
            labels=by_record,
            records={item.id: item for item in records},
            concepts=concepts,
            names={item.case_id: _names(item, mentions) for item in diagnoses},
            cases_by_id={item.id: item for item in cases},
        )

    def owners(self, figure_id: str) -> tuple[str, ...]:
        """Ids of the cases a figure shows."""
        return tuple(case.id for case in self.cases if figure_id in case.figures)

    def first(self, name: str, facet: str) -> str:
        """The main label of a record in a facet of RecordLabels, '' when undecided."""
        return next(iter(self.all_of(name, facet)), "")

    def all_of(self, name: str, facet: str) -> tuple[str, ...]:
        """The labels of a record in a facet of RecordLabels, the main one first."""
        labels = self.records.get(name)
        values: tuple[str, ...] = getattr(labels, facet) if labels else ()
        return tuple(dict.fromkeys(values))

    def words_of(self, figure: Figure, facet: str) -> frozenset[str]:
        """Words in a caption, or names of concepts in it, that tell of a facet, in lower case."""
        rows = [row for row in self.labels.get(figure.id, ()) if row.facet == facet]
        found = [item for row in rows for item in row.evidence if item.place in ("caption", "concept")]
        return frozenset(item.text.casefold() for item in found)

    @staticmethod
    def with_spans(case: Case, spans: tuple[CaseSpan, ...]) -> Case:
        """The case with some of its spans only."""
        return replace(case, spans=spans)


def _names(found: PrincipalDiagnosis, mentions: Iterable[Mention]) -> tuple[str, ...]:
    """Names a diagnosis goes by in its article: the vocabulary's that matched, and the words as written."""
    concepts = {found.concept, *found.contenders} - {""}
    said = {found.name, *(item.text for item in found.evidence)}
    for item in mentions:
        if item.concept in concepts:
            said |= {item.name, item.text}
    return tuple(sorted({normalise_text(name) for name in said} - {""}))


def image_ids(figure: Figure) -> list[str]:
    """Ids of a figure's images, as the images stage gives them."""
    return [f"{figure.id}/{number}" for number, _ in enumerate(figure.graphics, start=1)]


def images_of(
    report: Report, figure: Figure, stories: Mapping[str, str], settings: Settings
) -> list[Held | Drop]:
    """Every image of a figure, in order: a document to be, or why it is none.

    Args:
        report: the article.
        figure: one of its figures.
        stories: case id -> source text of the case's query.
        settings: what it is built with.
    """
    made: list[Held | Drop] = []
    for name, graphic in zip(image_ids(figure), figure.graphics, strict=True):
        image = report.images.get(name)
        barred = rights_bar(figure, settings.licence_profile) or _image_bar(
            report, figure, graphic, image, settings
        )
        if barred is None and image is not None:
            barred = _read(report, figure, image, stories, settings)
        if barred is not None or image is None:
            reason, detail = barred or (Reason.IMAGE_CORRUPT, "")
            made.append(
                Drop(unit="document", id=name, article_id=figure.article_id, reason=reason, detail=detail)
            )
            continue
        facts = ImageFacts(
            id=name,
            article_id=figure.article_id,
            sha256=image.sha256,
            phash=image.phash.lower(),
            kind=image.kind,
            text_check="not_run" if TEXT_UNCHECKED in image.flags else "passed",
            flags=image.flags,
        )
        made.append(Held(name, figure.id, graphic, facts))
    return made


def shown_figures(report: Report, settings: Settings) -> frozenset[str]:
    """Ids of the figures with an image that neither rights, file, kind nor flags keep out.

    What can be read in an image is not asked here: a story must be known before it is compared with that.
    """
    found = set()
    for figure in report.figures:
        for name, graphic in zip(image_ids(figure), figure.graphics, strict=True):
            image = report.images.get(name)
            if not (
                rights_bar(figure, settings.licence_profile)
                or _image_bar(report, figure, graphic, image, settings)
            ):
                found.add(figure.id)
    return frozenset(found)


def why_none(items: Sequence[Held | Drop]) -> Bar:
    """The reason of the image that came nearest to a document, with its id."""
    return nearest((item.reason, item.id) for item in items if isinstance(item, Drop))


def _image_bar(
    report: Report, figure: Figure, graphic: Graphic, image: FigureImage | None, settings: Settings
) -> Bar | None:
    """Why an image is no document by its file, kind or flags, or None."""
    if problem := file_problem(graphic):
        return problem, graphic.href[:200]
    if image is None:
        return Reason.IMAGE_CORRUPT, "the images stage holds no row of it"
    records = report.records.get(figure.id)
    groups = records.modality_groups if records else ()
    is_object = records is not None and set(records.modalities) == {_OBJECT}
    if is_object or not _is_clinical(image.kind, groups) or _is_unsaid(report, figure, image.kind):
        seen, said = image.kind or "undecided", ", ".join(dict.fromkeys(groups)) or "silent"
        return Reason.NO_CLINICAL_IMAGE, f"kind {seen}; caption {said}"
    if image.kind == "photograph" and not report.owners(figure.id) and not report.first(figure.id, "regions"):
        return Reason.NO_CLINICAL_IMAGE, "a photograph of no patient and no part of the body"
    flagged = sorted(FLAGGED & set(image.flags))
    if flagged and not settings.release_flagged:
        return Reason.FLAGGED_IMAGE, ", ".join(flagged)
    return None


def _is_clinical(kind: str, groups: Sequence[str]) -> bool:
    """Whether pixels and words agree that an image is clinical.

    Pixels decide unless the words name other kinds only; where pixels are undecided all named kinds count.
    """
    if kind in CLINICAL_KINDS:
        return not groups or any(group in CLINICAL_KINDS for group in groups)
    return kind in _OPEN_KINDS and bool(groups) and CLINICAL_KINDS.issuperset(groups)


def _is_unsaid(report: Report, figure: Figure, kind: str) -> bool:
    """Whether pixels leave the kind open and the caption does not tell it or opens like that of a drawing."""
    if kind not in _OPEN_KINDS:
        return False
    rows = [row for row in report.labels.get(figure.id, ()) if row.facet == "modality"]
    is_said = any(item.place == "caption" for row in rows for item in row.evidence)
    return not is_said or bool(_DRAWN.search(figure.caption[:_OPENING]))


def _read(
    report: Report, figure: Figure, image: FigureImage, stories: Mapping[str, str], settings: Settings
) -> Bar | None:
    """Why the text seen in an image gives it away, or None; text nobody read cannot."""
    seen = f" {normalise_text(image.text)} "
    if not seen.strip():
        return None
    owners = report.owners(figure.id)
    for case in owners:
        for name in report.names.get(case, ()):
            if f" {name} " in seen:
                return OwnReason.LABEL_IN_IMAGE, f"names the diagnosis: {name}"[:200]
    for text in (figure.caption, *(stories[case] for case in owners if case in stories)):
        if run := shared_run(text, image.text, settings.shared_tokens):
            return OwnReason.LABEL_IN_IMAGE, f"shares words with the query: {run}"[:200]
    return None


def shared_run(text: str, seen: str, length: int) -> str:
    """The first `length` words in a row that both texts hold, '' when there are none.

    Single letters and digits are panel and side marks and do not count; at least two words must have three
    letters.
    """
    words, others = _words(text), _words(seen)
    held = {tuple(others[at : at + length]) for at in range(len(others) - length + 1)}
    for at in range(len(words) - length + 1):
        run = tuple(words[at : at + length])
        if run in held and sum(sum(map(str.isalpha, word)) >= _MIN_LETTERS for word in run) > 1:
            return " ".join(run)
    return ""


def _words(text: str) -> list[str]:
    return [word for word in normalise_text(text).split() if len(word) > 1]
