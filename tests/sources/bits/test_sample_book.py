"""The sample book from its server to visual_context: grade 2 by citation, grade 1 by section."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from curation.extract.stage import EXTRACT
from curation.tasks.visual_context.build import PER_ARTICLE
from schemas.article import Article, RawArticle
from schemas.benchmark import Document, Excluded, Qrel, Query
from schemas.extracted import Figure, Passage, Source
from schemas.stages import Drop
from scripts.sample_bookshelf import PICTURES
from sources import litarch
from sources.http import ClientSettings, PoliteClient
from sources.images import inspect
from sources.ledger import Ledger
from sources.sample.bookshelf import BOOK_DIR, build_archive
from sources.sample.bookshelf_server import BookshelfServer
from sources.stage import PARSE
from sources.store import RawStore

DORAVEXIN = "litarch:NBK990000/Doravexin"


@dataclass
class Built:
    """One chapter with what the stages make of it."""

    raw: RawArticle
    article: Article
    source: Source
    figures: list[Figure]
    passages: list[Passage]
    rows: list[Query | Document | Qrel | Excluded | Drop]

    def qrels(self, figure: str) -> dict[str, tuple[int, str]]:
        """Passage number -> (score, rule) of the query made from this figure."""
        query = next(row for row in self.rows if isinstance(row, Query) and row.source_id.endswith(figure))
        return {
            row.corpus_id.partition("#")[2]: (row.score, row.rule)
            for row in self.rows
            if isinstance(row, Qrel) and row.query_id == query.id
        }


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Built]]:
    root = tmp_path_factory.mktemp("book")
    with (
        BookshelfServer() as server,
        PoliteClient(ClientSettings(allowed_hosts=("127.0.0.1",), contact="test@example.org")) as client,
        Ledger(root / "ledger.sqlite") as ledger,
    ):
        store = RawStore(root / "raw", ledger)
        context = litarch.LitarchContext(client, store, server.endpoint, server.oai_endpoint)
        locators = litarch.chapters("inventox", context)
        yield {name: _built(litarch.fetch(name, context), root / "raw") for name in locators}


def _built(raw: RawArticle | Drop, folder: Path) -> Built:
    assert isinstance(raw, RawArticle), raw
    (article,) = PARSE.process(raw, raw=folder, **PARSE.params)
    assert isinstance(article, Article), article
    extracted = list(EXTRACT.process(article, **EXTRACT.params))
    source = next(row for row in extracted if isinstance(row, Source))
    figures = [row for row in extracted if isinstance(row, Figure)]
    passages = [row for row in extracted if isinstance(row, Passage)]
    rows = list(PER_ARTICLE.process(source, figures, passages, **PER_ARTICLE.arguments(PER_ARTICLE.params)))
    return Built(raw, article, source, figures, passages, rows)


@pytest.fixture
def drug(book: dict[str, Built]) -> Built:
    return book["NBK990000/Doravexin"]


@pytest.fixture
def phenotype(book: dict[str, Built]) -> Built:
    return book["NBK990000/PhenotypeAutoimmune"]


def test_every_chapter_is_in_scope_synthetic_and_in_its_place(drug: Built, phenotype: Built) -> None:
    for built in (drug, phenotype):
        assert built.article.is_synthetic and built.source.is_synthetic
        assert built.source.is_book and built.source.scope == ""
        assert built.article.licence.spdx == "LicenseRef-public-domain"
        assert all(graphic.width for figure in built.article.figures for graphic in figure.graphics)
    assert drug.article.id == DORAVEXIN and phenotype.article.id == "litarch:NBK990001"
    assert drug.article.book is not None and phenotype.article.book is not None
    assert (phenotype.article.book.position, drug.article.book.position) == (1, 2)
    assert phenotype.article.book.chapter == "1"


def test_the_case_report_is_a_section_of_that_title(drug: Built) -> None:
    paths = {passage.section_path for passage in drug.passages}
    case = ("CASE REPORT", "Case 1. Granulomatous hepatitis due to doravexin.")
    assert case in paths and (*case, "Comment") in paths
    titles = [section.title for section in drug.article.sections]
    assert {"Key Points", "Laboratory Values"} <= set(titles)
    assert not any("editor" in passage.text for passage in drug.passages)
    assert not any("Alk P" in passage.text for passage in drug.passages)  # tables are no passages


def test_boxes_are_kept(phenotype: Built) -> None:
    (box,) = phenotype.article.boxes
    assert (box.xml_id, box.type, box.title) == ("Pheno.B1", "case-study", "A teacher with fatigue")
    boxed = [passage for passage in phenotype.article.passages if passage.box]
    assert len(boxed) == 2 and {passage.kind for passage in boxed} == {"boxed"}


CITES = (2, "visual_context/cites-xref@1")
SECTION = (1, "visual_context/same-section@1")


def test_a_citing_passage_is_grade_2_and_one_of_the_section_grade_1(drug: Built, phenotype: Built) -> None:
    assert drug.qrels("#Doravexin.F1") == {"p2": CITES, "p3": SECTION}
    assert drug.qrels("#Doravexin.F2") == {"p9": CITES, "p8": SECTION, "p10": SECTION}
    assert drug.qrels("#Doravexin.F3") == {"p6": CITES, "p7": SECTION}
    assert phenotype.qrels("#Pheno.F1") == {"p2": CITES, "p1": SECTION, "p3": SECTION}


def test_evidence_of_both_grades_is_in_its_passage(drug: Built, phenotype: Built) -> None:
    for built in (drug, phenotype):
        passages = {passage.id: passage for passage in built.passages}
        qrels = [row for row in built.rows if isinstance(row, Qrel)]
        assert {row.score for row in qrels} == {1, 2}
        for row in qrels:
            assert row.label_status == "structural" and row.evidence
            for evidence in row.evidence:
                assert evidence.text_id == row.corpus_id
                assert passages[row.corpus_id].text[evidence.start : evidence.end] == evidence.text


def test_every_other_pair_of_the_chapter_is_excluded_with_its_reason(drug: Built) -> None:
    queries = [row for row in drug.rows if isinstance(row, Query)]
    documents = {row.id for row in drug.rows if isinstance(row, Document)}
    judged = {(row.query_id, row.corpus_id) for row in drug.rows if isinstance(row, Qrel)}
    excluded = {(row.query_id, row.corpus_id): row.reason for row in drug.rows if isinstance(row, Excluded)}
    assert judged.isdisjoint(excluded)
    assert judged | set(excluded) == {(query.id, document) for query in queries for document in documents}
    first = next(query.id for query in queries if query.source_id.endswith("F1"))
    assert excluded[first, f"{DORAVEXIN}#p4"] == "short_passage"  # of the section, but it says too little
    assert excluded[first, f"{DORAVEXIN}#p6"] == "own_article"


def test_a_figure_of_others_makes_no_query(phenotype: Built) -> None:
    drops = [row for row in phenotype.rows if isinstance(row, Drop)]
    assert [(row.id, row.reason.value) for row in drops] == [("litarch:NBK990001#Pheno.F2", "third_party")]


def test_the_package_is_the_folder_packed(book: dict[str, Built]) -> None:
    data = build_archive()
    assert data == build_archive()
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(data))) as archive:
        names = archive.getnames()
    assert names == sorted(f"{BOOK_DIR.name}/{path.name}" for path in BOOK_DIR.iterdir())


def test_the_pictures_are_the_drawn_ones() -> None:
    images = {path.name: path for path in BOOK_DIR.iterdir() if path.suffix in {".png", ".jpg"}}
    assert set(images) == set(PICTURES)
    for path in images.values():
        facts = inspect(path)
        assert not facts.problem and facts.width and facts.width >= 300
        assert b"medqrels synthetic sample" in path.read_bytes()
