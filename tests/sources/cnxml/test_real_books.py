"""The real modules beside the checkout: all of them are read, their figures found and cited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from curation.extract.stage import EXTRACT
from schemas.article import Article, RawArticle
from schemas.extracted import Figure
from schemas.stages import Drop, Reason
from sources import openstax
from sources.ledger import Ledger
from sources.openstax.checkout import open_folder
from sources.stage import PARSE
from sources.store import RawStore

BOOKS = ("microbiology", "psychologia")


@pytest.fixture(scope="module")
def articles(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Article]]:
    folder = tmp_path_factory.mktemp("openstax")
    ledger = Ledger(folder / "ledger.sqlite")
    store = RawStore(folder / "raw", ledger)
    found: dict[str, Article] = {}
    for book in BOOKS:
        context = openstax.OpenStaxContext(open_folder(shared_data / "openstax" / book), store)
        for locator in openstax.locators(context.checkout):
            raw = openstax.fetch(locator, context)
            if isinstance(raw, RawArticle):
                (article,) = PARSE.process(raw, raw=store.root, **PARSE.params)
                assert isinstance(article, Article)
                found[locator] = article
            else:
                assert raw.reason == Reason.NOT_FOUND
    yield found
    ledger.close()


def test_every_module_on_disk_is_read(articles: dict[str, Article], shared_data: Path) -> None:
    there = {
        f"{book}/{path.name}"
        for book in BOOKS
        for path in (shared_data / "openstax" / book / "modules").iterdir()
    }
    assert set(articles) == there
    assert all(article.passages for article in articles.values())


def test_every_figure_element_is_a_figure(articles: dict[str, Article], shared_data: Path) -> None:
    for locator, article in articles.items():
        book, _, document = locator.partition("/")
        text = (shared_data / "openstax" / book / "modules" / document / "index.cnxml").read_text("utf-8")
        written = set(re.findall(r"<figure[^>]*?\bid=\"([^\"]+)\"", text))
        assert written <= {figure.xml_id for figure in article.figures}
        assert sum(len(figure.graphics) for figure in article.figures) == text.count("<image ")


def test_licences_and_languages(articles: dict[str, Article]) -> None:
    for locator, article in articles.items():
        is_english = locator.startswith("microbiology")
        assert article.licence.spdx == ("CC-BY-NC-SA-4.0" if is_english else "CC-BY-4.0")
        assert article.licence.is_disputed == is_english
        assert article.language == ("en" if is_english else "pl")


def test_nearly_every_figure_is_cited_by_link(articles: dict[str, Article]) -> None:
    figures = [
        row for article in articles.values() for row in EXTRACT.process(article) if isinstance(row, Figure)
    ]
    cited = [figure for figure in figures if figure.mentions]
    assert len(cited) / len(figures) > 0.9
    assert {mention.rule for figure in cited for mention in figure.mentions} == {"xref"}


def test_a_case_goes_on_in_the_later_module(articles: dict[str, Article]) -> None:
    article = articles["microbiology/m58840"]
    later = {passage.id: passage for passage in articles["microbiology/m58842"].passages}
    assert {each.document for each in article.continuations} == {"openstax:microbiology/m58842"}
    assert [later[each.passage.id] for each in article.continuations] == [
        each.passage for each in article.continuations
    ]
    assert [box.title for box in article.boxes if box.number == article.continuations[0].box] == ["Part 1"]


def test_sentences_are_clean(articles: dict[str, Article]) -> None:
    texts = [passage.text for article in articles.values() for passage in article.passages]
    assert not [
        text for text in texts if re.search(r"  |\(\)|\( | \)|\w [;:](?:\s|$)|Clinical Focus box", text)
    ]


def test_no_number_is_guessed_where_modules_are_missing(articles: dict[str, Article]) -> None:
    # the introductions, whose splash is the first figure of each chapter, are not on disk
    assert {figure.label for article in articles.values() for figure in article.figures} == {""}
    assert all("number_unknown" in each.flags for each in articles.values() if "fig" in _link_types(each))


def _link_types(article: Article) -> set[str]:
    return {xref.ref_type for passage in article.passages for xref in passage.xrefs}


def test_drops_name_what_is_missing(shared_data: Path, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    context = openstax.OpenStaxContext(
        open_folder(shared_data / "openstax" / "psychologia"), RawStore(tmp_path / "raw", ledger)
    )
    drop = openstax.fetch(openstax.locators(context.checkout)[0], context)
    ledger.close()
    assert isinstance(drop, Drop)
    assert drop.id == "psychologia/m89426"
