"""Whole books, an invented one and the real ones: all modules are read, their figures found and cited."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from curation.extract.stage import EXTRACT
from schemas.article import Article, RawArticle
from schemas.extracted import Figure, Passage
from schemas.hashing import normalise_text
from schemas.question import Question
from schemas.stages import Drop, Reason
from sources import openstax
from sources.cnxml.exercises import EXERCISES
from sources.ledger import Ledger
from sources.openstax.checkout import open_folder
from sources.stage import PARSE
from sources.store import RawStore
from tests.conftest import PLACES
from tests.sources.fakes.openstax import book_files, write_folder

_EXERCISES = {
    "microbiology": Counter(
        {"question": 91, "no_key": 41, "needs_figure": 1, "needs_other_exercise": 1, "several_parts": 1}
    ),
    "psychologia": Counter({"question": 104, "no_key": 22, "open_essay": 2, "needs_figure": 1}),
}


@dataclass(frozen=True, slots=True)
class Shelf:
    """Checkouts of books, and what is known of them."""

    folders: dict[str, Path]
    """by name"""
    languages: dict[str, str]
    missing: str
    """a module that a collection names and that is not there"""
    story: tuple[str, str]
    """a module whose case goes on in another"""
    exercises: dict[str, Counter[str]]
    """by book: what became of its exercises, those of check-your-understanding notes apart"""
    ledger: Ledger
    store: RawStore

    def modules(self) -> set[str]:
        """Every module on disk."""
        return {
            f"{book}/{path.name}"
            for book, folder in self.folders.items()
            for path in (folder / "modules").iterdir()
        }

    def context(self, book: str) -> openstax.OpenStaxContext:
        return openstax.OpenStaxContext(open_folder(self.folders[book]), self.store)


@pytest.fixture(scope="module", params=PLACES)
def shelf(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """The invented book of these tests, and the real ones where the shared data is."""
    folder = tmp_path_factory.mktemp("openstax")
    ledger = Ledger(folder / "ledger.sqlite")
    store = RawStore(folder / "raw", ledger)
    if request.param == "sample":
        there = {"invented": write_folder(folder / "book", book_files())}
        story = ("invented/m2", "invented/m3")
        told = {"invented": Counter({"question": 1, "no_key": 1})}
        yield Shelf(there, {"invented": "en"}, "invented/m9", story, told, ledger, store)
    else:
        root = request.getfixturevalue("shared_data") / "openstax"
        languages = {"microbiology": "en", "psychologia": "pl"}
        story = ("microbiology/m58840", "microbiology/m58842")
        there = {book: root / book for book in languages}
        yield Shelf(there, languages, "psychologia/m89426", story, _EXERCISES, ledger, store)
    ledger.close()


@pytest.fixture(scope="module")
def exercises(shelf: Shelf) -> dict[str, list[Question | Drop]]:
    """By module: its exercises, and the questions of its check-your-understanding notes."""
    found: dict[str, list[Question | Drop]] = {}
    for book in shelf.folders:
        context = shelf.context(book)
        for locator in openstax.locators(context.checkout):
            raw = openstax.fetch(locator, context)
            if isinstance(raw, RawArticle):
                rows = EXERCISES.process(raw, raw=shelf.store.root)
                found[locator] = [row for row in rows if isinstance(row, Question | Drop)]
    return found


@pytest.fixture(scope="module")
def articles(shelf: Shelf) -> dict[str, Article]:
    found: dict[str, Article] = {}
    for book in shelf.folders:
        context = shelf.context(book)
        for locator in openstax.locators(context.checkout):
            raw = openstax.fetch(locator, context)
            if isinstance(raw, RawArticle):
                (article,) = PARSE.process(raw, raw=shelf.store.root, **PARSE.params)
                assert isinstance(article, Article)
                found[locator] = article
            else:
                assert raw.reason == Reason.NOT_FOUND
    return found


def test_every_module_on_disk_is_read(articles: dict[str, Article], shelf: Shelf) -> None:
    assert set(articles) == shelf.modules()
    assert all(article.passages for article in articles.values())


def test_every_figure_element_is_a_figure(articles: dict[str, Article], shelf: Shelf) -> None:
    for locator, article in articles.items():
        book, _, document = locator.partition("/")
        text = (shelf.folders[book] / "modules" / document / "index.cnxml").read_text("utf-8")
        written = set(re.findall(r"<figure[^>]*?\bid=\"([^\"]+)\"", text))
        assert written <= {figure.xml_id for figure in article.figures}
        assert sum(len(figure.graphics) for figure in article.figures) == text.count("<image ")


def test_licences_and_languages(articles: dict[str, Article], shelf: Shelf) -> None:
    """The English books' LICENSE and collection disagree: the stricter one counts."""
    for locator, article in articles.items():
        language = shelf.languages[locator.partition("/")[0]]
        is_english = language == "en"
        assert article.licence.spdx == ("CC-BY-NC-SA-4.0" if is_english else "CC-BY-4.0")
        assert article.licence.is_disputed == is_english
        assert article.language == language


def test_nearly_every_figure_is_cited_by_link(articles: dict[str, Article], shelf: Shelf) -> None:
    figures = [
        row for article in articles.values() for row in EXTRACT.process(article) if isinstance(row, Figure)
    ]
    cited = [figure for figure in figures if figure.mentions]
    assert len(cited) / len(figures) > (0.3 if "invented" in shelf.folders else 0.9)
    assert {mention.rule for figure in cited for mention in figure.mentions} == {"xref"}


def test_a_case_goes_on_in_the_later_module(articles: dict[str, Article], shelf: Shelf) -> None:
    first, second = shelf.story
    article = articles[first]
    later = {passage.id: passage for passage in articles[second].passages}
    assert {each.document for each in article.continuations} == {f"openstax:{second}"}
    assert [later[each.passage.id] for each in article.continuations] == [
        each.passage for each in article.continuations
    ]
    assert [box.title for box in article.boxes if box.number == article.continuations[0].box] == ["Part 1"]


def test_sentences_are_clean(articles: dict[str, Article]) -> None:
    texts = [passage.text for article in articles.values() for passage in article.passages]
    assert not [
        text for text in texts if re.search(r"  |\(\)|\( | \)|\w [;:](?:\s|$)|Clinical Focus box", text)
    ]


def test_no_number_is_guessed_where_modules_are_missing(articles: dict[str, Article], shelf: Shelf) -> None:
    # the introductions, whose splash is the first figure of each chapter, are not on disk
    behind = {
        name: article
        for name, article in articles.items()
        if "invented" not in shelf.folders or name == "invented/m4"  # its chapter lacks a module
    }
    assert behind
    assert {figure.label for article in behind.values() for figure in article.figures} <= {""}
    assert all("number_unknown" in each.flags for each in behind.values() if "fig" in _link_types(each))


def test_every_exercise_is_a_question_or_says_why_not(
    exercises: dict[str, list[Question | Drop]], shelf: Shelf
) -> None:
    told: dict[str, Counter[str]] = {book: Counter() for book in shelf.folders}
    for locator, rows in exercises.items():
        book, _, document = locator.partition("/")
        own = [row for row in rows if isinstance(row, Question) or not row.detail.startswith("check-your")]
        text = (shelf.folders[book] / "modules" / document / "index.cnxml").read_text("utf-8")
        assert len(own) == text.count("<exercise ")
        told[book] += Counter("question" if isinstance(row, Question) else row.reason.value for row in own)
    assert told == shelf.exercises


def test_every_question_has_an_answer_and_its_place(exercises: dict[str, list[Question | Drop]]) -> None:
    for question in (row for rows in exercises.values() for row in rows if isinstance(row, Question)):
        letters = [option.letter for option in question.options]
        assert bool(question.answer) != bool(question.correct)
        assert set(question.correct) <= set(letters)
        assert question.section.count(" > ") == 1
        assert question.id.startswith(f"{question.collection}#")


def test_no_passage_repeats_an_exercise(
    exercises: dict[str, list[Question | Drop]], articles: dict[str, Article]
) -> None:
    """Not even half of a longer one. Options and blanks may name what the book defines, in its words."""
    rows = [row for article in articles.values() for row in EXTRACT.process(article, **EXTRACT.params)]
    passages = [normalise_text(row.text) for row in rows if isinstance(row, Passage)]
    assert passages
    for question in (row for rows in exercises.values() for row in rows if isinstance(row, Question)):
        for text in (question.text, question.answer, question.explanation):
            words = normalise_text(text).split()
            size = max(8, len(words) // 2)
            runs = {" ".join(words[at : at + size]) for at in range(len(words) - size + 1)}
            assert not [run for run in runs for passage in passages if run in passage], question.id


def _link_types(article: Article) -> set[str]:
    return {xref.ref_type for passage in article.passages for xref in passage.xrefs}


def test_drops_name_what_is_missing(shelf: Shelf) -> None:
    book = shelf.missing.partition("/")[0]
    drop = openstax.fetch(shelf.missing, shelf.context(book))
    assert isinstance(drop, Drop)
    assert drop.id == shelf.missing
