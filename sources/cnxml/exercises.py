"""Exercises of textbooks with their keys, as questions; what makes no question is a drop with its reason.

The reader of running text leaves exercises out. Keys are the exercises' own solutions: OpenStax prints its
answer keys from these, so that no other place holds one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from schemas.article import Licence, RawArticle
from schemas.errors import InputError
from schemas.ids import element_id
from schemas.question import Option, Question, QuestionCollection
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table
from schemas.stored import read_stored
from sources.cnxml.book import Translated, document_of, open_book
from sources.cnxml.keys import Key, choice_key, is_letter, is_open, option_letters, truth_key
from sources.cnxml.rights import book_licence
from sources.jats.nodes import Element, child_text
from sources.jats.text import flatten, running_text, title_text


class OwnReason(StrEnum):
    """Why an exercise makes no question."""

    NO_KEY = "no_key"
    TEXT_ELSEWHERE = "text_elsewhere"
    OPEN_ESSAY = "open_essay"
    NEEDS_FIGURE = "needs_figure"
    NEEDS_LINK = "needs_link"
    NEEDS_OTHER = "needs_other_exercise"
    SEVERAL_PARTS = "several_parts"


_PERSONAL: Final = frozenset({"personal-application"})
"""Classes of sections that ask for the learner's own experience."""
_EMBEDDED: Final = re.compile(r"#(?:ost/api/ex|exercise)/")
"""Addresses in OpenStax's own service of exercises, whose texts are not in the book."""
_SHOWN: Final = re.compile(
    r"\b(?:figure|diagram|image|micrograph|photo(?:graph)?|pictur\w+|drawing|graph|chart|table|histogram"
    r"|(?:structural )?formulas?|structures?|data)\s+"
    r"(?:(?:is |are )?(?:shown|depicted|pictured|illustrated|given)\b|(?:above|below)(?=\s*(?:[.,;:?!)]|$)))"
    r"|\b(?:shown|depicted|pictured|seen) (?:above|below|here|(?:in|on) (?:the|this) "
    r"(?:figure|diagram|image|micrograph|photo|pictur\w+|drawing|graph|chart|table))\b"
    r"|\b(?:poniższ|powyższ)\w+ (?:rysun|wykres|zdjęci|ilustracj|tabel|schema)\w*"
    r"|\b(?:na|z) (?:rysunku|wykresie|wykresu|zdjęciu|ilustracji|schemacie)\b",
    re.IGNORECASE,
)
_OTHER: Final = re.compile(
    r"\b(?:previous|preceding|prior|last) (?:question|exercise|problem|item)\b"
    r"|\b(?:question|exercise|problem)s? (?:above|\d+)\b"
    r"|\b(?:poprzedni|powyższ)\w* (?:pytani|zadani|ćwiczeni)\w*",
    re.IGNORECASE,
)
_PARTS: Final = re.compile(r"(?:^|\s)\(?(?:a|1|i)[).]\s.*\s\(?(?:b|2|ii)[).]\s", re.DOTALL)
_HOLDERS: Final = frozenset({"p", "disp-quote", "boxed-text", "sec", "statement", "preformat", "verse-group"})
_BLANK: Final = re.compile(r"_{2,}")


@dataclass(frozen=True, slots=True)
class _Module:
    """What the exercises of a module have in common."""

    raw: RawArticle
    made: Translated
    title: str
    licence: Licence


class _NoQuestionError(Exception):
    """An exercise that makes no question, with the reason and what was seen."""

    def __init__(self, reason: StrEnum, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def read(raw_article: RawArticle, *, raw: Path) -> Iterator[Question | QuestionCollection | Drop]:
    """What :func:`questions` finds in one stored module. Raw articles of other formats yield nothing.

    Args:
        raw_article: where its bytes lie.
        raw: the workspace's raw/ folder.

    Raises:
        WorkspaceError: a stored file is missing, or not the one that was fetched.
    """
    if raw_article.format != "cnxml":
        return
    key = raw_article.id
    data = read_stored(raw, raw_article.path, raw_article.sha256, record=key)
    parts = {part.name: read_stored(raw, part.path, part.sha256, record=key) for part in raw_article.parts}
    yield from questions(data, raw_article, parts)


def questions(
    data: bytes, raw_article: RawArticle, parts: Mapping[str, bytes]
) -> Iterator[Question | QuestionCollection | Drop]:
    """Questions of one module, a drop for every exercise that is none, and the module's own account.

    Every exercise and every question of a check-your-understanding note is one question or one drop of unit
    `question`; a module that cannot be read is one drop of unit `collection`.

    Args:
        data: bytes of the module's CNXML.
        raw_article: what the crawl stored of it.
        parts: further files by name, as :func:`sources.cnxml.parse` takes them.
    """
    try:
        module = _open(data, raw_article, parts)
    except InputError as error:
        reason, key = Reason(error.reason or Reason.XML_INVALID), raw_article.id
        yield Drop(unit="collection", id=key, article_id=key, reason=reason, detail=error.message)
        return
    rows = [*_exercises(module), *_quizzes(module)]
    yield from rows
    yield QuestionCollection(
        id=raw_article.id,
        name=raw_article.locator,
        title=module.title,
        language=module.made.language,
        licence=module.licence,
        records=len(rows),
        questions=sum(isinstance(row, Question) for row in rows),
        raw_sha256=raw_article.sha256,
        is_synthetic=raw_article.is_synthetic,
    )


def _open(data: bytes, raw_article: RawArticle, parts: Mapping[str, bytes]) -> _Module:
    """Read a module.

    Raises:
        InputError: it cannot be used.
    """
    book = open_book(data, raw_article, parts)
    made = book.translate(document_of(raw_article))
    metadata = made.root.find("metadata")
    title = title_text(made.root.find("title")) or child_text(metadata, "title")
    return _Module(raw_article, made, title, book_licence(book.collection, metadata, parts))


def _exercises(module: _Module) -> Iterator[Question | Drop]:
    taken: set[str] = set()
    for number, exercise in enumerate(module.made.exercises, start=1):
        place = element_id(module.raw.id, exercise.get("id"), f"exercise{number}", taken)
        taken.add(place)
        try:
            yield _question(exercise, place, number, module)
        except _NoQuestionError as error:
            yield _drop(module, place, error.reason, f"{_kind(exercise)}: {error.detail}")


def _quizzes(module: _Module) -> Iterator[Drop]:
    """Questions of check-your-understanding notes: no book gives a key for these."""
    taken: set[str] = set()
    for number, note in enumerate(module.made.quizzes, start=1):
        place = element_id(module.raw.id, note.get("id"), f"quiz{number}", taken)
        taken.add(place)
        inside = {item for exercise in note.iter("problem") for item in exercise.iter("list-item")}
        asked = [item for item in note.iter("list-item") if item not in inside]
        for item in range(1, len(asked or note.findall("p")) + 1):
            yield _drop(module, f"{place}.{item}", OwnReason.NO_KEY, "check-your-understanding: no solution")


def _drop(module: _Module, place: str, reason: StrEnum, detail: str) -> Drop:
    return Drop(unit="question", id=place, article_id=module.raw.id, reason=reason, detail=detail)


def _kind(exercise: Element) -> str:
    """The class of the section an exercise stands in, else of its own."""
    section = next(exercise.iterancestors("sec"), None)
    return (section.get("sec-type") if section is not None else "") or exercise.get("class") or "exercise"


def _question(exercise: Element, place: str, number: int, module: _Module) -> Question:
    """One exercise as a question.

    Raises:
        _NoQuestionError: it makes none.
    """
    problem = exercise.find("problem")
    if problem is None or not _texts(problem):
        if any(_EMBEDDED.search(each.get("url") or "") for each in exercise.iter("ext-link")):
            raise _NoQuestionError(OwnReason.TEXT_ELSEWHERE, "its text is in OpenStax's service of exercises")
        raise _NoQuestionError(Reason.RECORD_INVALID, "no text")
    solution = "\n".join(_told(exercise, "solution"))
    if not solution:
        seen = "no solution" if exercise.find("solution") is None else "a solution without text"
        raise _NoQuestionError(OwnReason.NO_KEY, seen)
    text, options, key = _answered(problem, solution)
    _check_alone(exercise, problem, text, solution)
    if not options and _PARTS.search(text):
        raise _NoQuestionError(OwnReason.SEVERAL_PARTS, "asks for (a) and (b)")
    if not options and is_letter(solution) and not _BLANK.search(text):
        detail = f"the key {solution[:20]!r} is a letter, but no option"
        raise _NoQuestionError(Reason.RECORD_INVALID, detail)
    titles = [title_text(each.find("title")) for each in exercise.iterancestors("sec")]
    return Question(
        id=place,
        collection=module.raw.id,
        number=number,
        section=" > ".join(filter(None, (module.title, *reversed(titles)))),
        language=module.made.language,
        text=text,
        options=options,
        correct=key.correct,
        answer=key.answer,
        explanation="\n".join(filter(None, (key.explanation, *_told(exercise, "commentary")))),
        subject=module.raw.book.chapter_title if module.raw.book else "",
        licence=module.licence,
        is_synthetic=module.raw.is_synthetic,
    )


def _answered(problem: Element, solution: str) -> tuple[str, tuple[Option, ...], Key]:
    """Text, options and key of an exercise.

    Raises:
        _NoQuestionError: the solution chooses none of the options, or one that is not there.
    """
    listed = list(problem.iter("list"))
    if not listed:
        return "\n".join(_texts(problem)), (), truth_key(solution) or Key(answer=solution)
    items = [flatten(item) for item in listed[-1].iterchildren("list-item")]
    letters = option_letters(listed[-1].get("number-style") or "", len(items), solution)
    if len(listed) > 1 or len(items) < 2 or len(letters) < len(items):
        raise _NoQuestionError(
            OwnReason.SEVERAL_PARTS, f"{len(listed)} lists, the last of {len(items)} items"
        )
    try:
        key_or_none = choice_key(solution, list(zip(letters, items, strict=True)))
    except KeyError as error:
        detail = f"the key names {error.args[0]!r}, no option has it"
        raise _NoQuestionError(Reason.RECORD_INVALID, detail) from None
    if key_or_none is None:
        raise _NoQuestionError(
            OwnReason.SEVERAL_PARTS, "a list, and a solution that chooses none of its items"
        )
    if not all(items) and next(problem.iter("graphic", "image"), None) is None:
        raise _NoQuestionError(Reason.RECORD_INVALID, "an option without text")
    options = tuple(Option(letter=letter, text=text) for letter, text in zip(letters, items, strict=True))
    return "\n".join(_texts(problem)), options, key_or_none


def _check_alone(exercise: Element, problem: Element, text: str, solution: str) -> None:
    """Whether an exercise can be understood and answered from its words alone.

    Raises:
        _NoQuestionError: it cannot.
    """
    if _section_classes(exercise) & _PERSONAL or is_open(solution):
        raise _NoQuestionError(OwnReason.OPEN_ESSAY, "no answer is the right one")
    if next(problem.iter("table-wrap"), None) is not None and "matching" in _kind(exercise):
        raise _NoQuestionError(OwnReason.SEVERAL_PARTS, "matches the rows of a table")
    for name in ("graphic", "image", "table-wrap", "disp-formula"):
        if next(problem.iter(name), None) is not None:
            raise _NoQuestionError(OwnReason.NEEDS_FIGURE, f"holds a <{name}>")
    if (outside := next(problem.iter("ext-link"), None)) is not None:
        raise _NoQuestionError(OwnReason.NEEDS_LINK, f"asks about what {flatten(outside)!r} leads to")
    for link in problem.iter("xref"):
        if link.get("ref-type") in {"fig", "table", "disp-formula", "other"}:
            raise _NoQuestionError(OwnReason.NEEDS_FIGURE, f"refers to {flatten(link)!r}")
    for pattern, reason in ((_SHOWN, OwnReason.NEEDS_FIGURE), (_OTHER, OwnReason.NEEDS_OTHER)):
        if found := pattern.search(text):
            raise _NoQuestionError(reason, f"says {found.group()!r}")


def _section_classes(exercise: Element) -> frozenset[str]:
    """The words of the class of every section an exercise stands in."""
    given = ((each.get("sec-type") or "").split() for each in exercise.iterancestors("sec"))
    return frozenset(word for words in given for word in words)


def _told(exercise: Element, name: str) -> list[str]:
    """Paragraphs and list items of an exercise's solutions or commentaries."""
    return [text for part in exercise.iterchildren(name) for text in _texts(part, with_lists=True)]


def _texts(parent: Element, *, with_lists: bool = False) -> list[str]:
    """The paragraphs inside an element; figures, tables and displayed formulas are no text."""
    flow = running_text(parent)
    found = [flow.text]
    for each in flow.floats:
        if each.tag in _HOLDERS:
            found += _texts(each, with_lists=with_lists)
        elif each.tag == "list" and with_lists:
            found += [flatten(item) for item in each.iterchildren("list-item")]
    return [text for text in found if text]


def _module_ids(raw_article: RawArticle) -> list[str]:
    return [raw_article.id] if raw_article.format == "cnxml" else []


EXERCISES = RecordStage(
    name="exercises",
    version=1,
    inputs=(Input("crawl.raw", RawArticle, by="id"),),
    outputs=(
        Table("questions", Question, ("id",)),
        Table("collections", QuestionCollection, ("id",)),
    ),
    process=read,
    accounts=(Account("collection", _module_ids, "collections", "id"),),
    resources=("raw",),
    reasons=frozenset(OwnReason),
)
