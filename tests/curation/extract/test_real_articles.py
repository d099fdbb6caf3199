"""Extraction over every shared article: no crash, spans re-extract, units accounted for, gate holds."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from curation.extract.neutralise import neutralise, restore
from curation.extract.pointers import pointers_in
from curation.extract.stage import EXTRACT
from flows.runner import run_records
from schemas.article import Article, RawArticle
from schemas.errors import InputError
from schemas.extracted import Figure, Passage, Source
from schemas.hashing import sha256_bytes
from sources.jats import parse

OUT_OF_FIELD = ("PhytoKeys", "Hoehnea", "Land Use Policy", "Bragantia", "Food Policy", "Economia e Sociedade")


@pytest.fixture(scope="module")
def extracted(shared_data: Path) -> tuple[list[Source], list[Figure], dict[str, Passage]]:
    articles: list[Article] = []
    folders = ("pmc-bucket", "jats-with-images", "jats-multilingual")
    files = [path for name in folders for path in sorted((shared_data / name).rglob("*.xml"))]
    for number, path in enumerate(files, start=1):
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
    assert len(articles) > 200
    kept, _, _ = run_records(EXTRACT, {"parse.articles": articles}, {}, {})
    return kept["sources"], kept["figures"], {row.id: row for row in kept["passages"]}


Extracted = tuple[list[Source], list[Figure], dict[str, Passage]]


def test_mentions_re_extract(extracted: Extracted) -> None:
    _, figures, passages = extracted
    mentions = [mention for figure in figures for mention in figure.mentions]
    assert len(mentions) > 1000
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


def test_scope_keeps_other_fields_out_and_case_reports_in(extracted: Extracted) -> None:
    sources, _, _ = extracted
    assert not [source.title for source in sources if not source.scope and source.journal in OUT_OF_FIELD]
    cases = [source for source in sources if source.journal.startswith("Case Reports in")]
    assert cases and all(not source.scope for source in cases)
