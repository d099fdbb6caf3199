"""All images of a case where a spec asks for more than one; what the case itself publishes stays as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from curation.tasks.case_study.images import CaseImage, each
from curation.tasks.case_study.settings import Settings
from curation.tasks.shared.several_images import KEY, Row, Shown, left_out, listed
from schemas.benchmark import Document, Query, RowImage
from schemas.case import Case
from schemas.extracted import Figure, Source
from schemas.image import FigureImage
from schemas.stages import Drop, Input, Reason, RecordStage, Table

NAME = "case_study_images"


def build(
    source: Source,
    cases: Sequence[Case],
    figures: Sequence[Figure],
    images: Sequence[FigureImage],
    queries: Sequence[Query],
    documents: Sequence[Document],
    *,
    settings: Settings,
) -> Iterator[RowImage | Drop]:
    """Images of the queries and documents of one article's cases.

    Args:
        source: the article.
        cases: its cases.
        figures: its figures.
        images: its images.
        queries: what case_study made of the cases.
        documents: the same.
        settings: what it is built with; one image a row asks for nothing.

    Yields:
        RowImages of every case with several usable images, the same for query and document; a Drop for each
        image that a case with an image leaves out.
    """
    if settings.max_images < 2:
        return
    by_id = {case.id: case for case in cases}
    asked = {query.source_id: query for query in queries}
    figures_by_id = {figure.id: figure for figure in figures}
    images_by_id = {image.id: image for image in images}
    for document in sorted(documents, key=lambda item: item.id):
        if document.image is None:
            continue
        own = Row(document.id, "document", document.id, document.article_id, document.language)
        shown: list[Shown] = []
        for one in each(
            by_id[document.id], figures_by_id, images_by_id, source.licence, settings.licence_profile
        ):
            if not isinstance(one, CaseImage):
                yield left_out(own, one.place, Reason(one.reason), one.detail)
            elif one.licence.spdx != document.license:
                place = f"{one.figure_id}/{one.number}"
                detail = f"{one.licence.spdx}; the case is {document.license}"
                yield left_out(own, place, Reason.LICENCE_NOT_ALLOWED, detail)
            else:
                shown.append(Shown(figures_by_id[one.figure_id], one.graphic, one.number))
        yield from listed(own, shown, settings.max_images, with_captions=True)
        query = asked.get(document.id)
        if query is not None:
            row = Row(query.id, "query", query.source_id, query.article_id, query.language)
            both = listed(row, shown, settings.max_images, with_captions=True)
            yield from (one for one in both if isinstance(one, RowImage))


PER_ARTICLE = RecordStage(
    name=NAME,
    version=1,
    inputs=(
        Input("extract.sources", Source, by="id"),
        Input("cases.cases", Case, by="article_id"),
        Input("extract.figures", Figure, by="article_id"),
        Input("images.images", FigureImage, by="article_id"),
        Input("case_study.queries", Query, by="article_id"),
        Input("case_study.documents", Document, by="article_id"),
    ),
    outputs=(Table("images", RowImage, KEY),),
    process=build,
    accounts=(),
    settings=Settings,
)
