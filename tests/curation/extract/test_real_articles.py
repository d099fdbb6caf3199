"""Extraction over whole articles of sample and shared data: no crash, spans re-extract, all accounted for."""

from __future__ import annotations

import itertools

import pytest

from curation.extract.neutralise import neutralise, restore
from curation.extract.pointers import pointers_in
from curation.extract.stage import EXTRACT
from flows.engine.runner import run_records
from schemas.article import Article, RawArticle
from schemas.errors import InputError
from schemas.extracted import Figure, Passage, Source
from schemas.hashing import sha256_bytes
from sources.jats import parse
from tests.conftest import Library

OF_ANIMALS = ("Medqrels Sample Journal of Veterinary Cardiology",)
OUT_OF_FIELD = ("PhytoKeys", "Hoehnea", "Land Use Policy", "Bragantia", "Food Policy", "Economia e Sociedade")


@pytest.fixture(scope="module")
def extracted(library: Library) -> tuple[list[Source], list[Figure], dict[str, Passage]]:
    articles: list[Article] = []
    for number, path in enumerate(library.files, start=1):
        data = path.read_bytes()
        raw = RawArticle(
            id=f"pmc:PMC{number}.1",
            source="pmc",
            locator=path.name,
            path=path.name,
            sha256=sha256_bytes(data),
        )
        try:
            articles.append(parse(data, raw))
        except InputError:
            continue
    assert len(articles) > (20 if library.is_sample else 200)
    kept, _, _ = run_records(EXTRACT, {"parse.articles": articles}, {}, {})
    return kept["sources"], kept["figures"], {row.id: row for row in kept["passages"]}


Extracted = tuple[list[Source], list[Figure], dict[str, Passage]]


def test_mentions_re_extract(extracted: Extracted, library: Library) -> None:
    _, figures, passages = extracted
    mentions = [mention for figure in figures for mention in figure.mentions]
    assert len(mentions) > (100 if library.is_sample else 1000)
    for mention in mentions:
        text = passages[mention.passage_id].text
        assert text[mention.start : mention.end] == mention.text
        assert mention.sentence_start <= mention.start <= mention.end <= mention.sentence_end <= len(text)


def test_most_figures_are_mentioned(extracted: Extracted) -> None:
    _, figures, _ = extracted
    labelled = [figure for figure in figures if figure.label and figure.parent is None]
    assert sum(bool(figure.mentions) for figure in labelled) > 0.85 * len(labelled)


def test_released_text_names_no_number_and_replays(extracted: Extracted) -> None:
    _, _, passages = extracted
    for passage in passages.values():
        spans = [(pointer.start, pointer.end) for pointer in passage.pointers]
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
        released, transforms = neutralise(passage.text, spans, passage.language)
        assert restore(released, transforms) == passage.text
        assert not pointers_in(released), passage.id


def test_scope_keeps_other_fields_out_and_case_reports_in(extracted: Extracted, library: Library) -> None:
    sources, _, _ = extracted
    outside = [source for source in sources if source.journal in (*OUT_OF_FIELD, *OF_ANIMALS)]
    assert outside and all(source.scope for source in outside)
    start = "Medqrels Sample Heart Cases" if library.is_sample else "Case Reports in"
    cases = [source for source in sources if source.journal.startswith(start)]
    assert cases and all(not source.scope for source in cases)
