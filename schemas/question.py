"""Questions with answers and citations, from exam and question-answer collections and textbooks."""

from __future__ import annotations

from typing import Literal

from schemas.article import Licence
from schemas.record import column, record


@record
class Option:
    """One answer option of an exam question."""

    letter: str = column("as written, e.g. A")
    text: str = column("the option")


@record
class Citation:
    """One source a question's answer cites; it names a document, not a passage."""

    kind: Literal["pmid", "pmcid", "doi", "url", "text"] = column("what identifies the source")
    target: str = column("normalised PMID, PMCID or DOI; the URL or the reference text as written")


@record
class Snippet:
    """A stretch of text that a collection quotes from a document in support of an answer.

    Sections and offsets are as the collection states them: whoever holds the document checks them against it.
    """

    source: Citation = column("the document it is quoted from")
    text: str = column("the words quoted")
    begin_section: str = column("part of the document it begins in, e.g. title or abstract; '' when not said")
    begin: int | None = column("offset of its first character in that part, None when not said", default=None)
    end_section: str = column("part of the document it ends in; '' when not said")
    end: int | None = column("offset after its last character in that part, None when not said", default=None)


@record
class Question:
    """One question of a collection, or one exercise of a textbook with its key."""

    id: str = column("questions:<collection>/<record id>; of an exercise <article id>#<exercise id>")
    collection: str = column("id of the file it stands in; of an exercise the article, its chapter or module")
    number: int = column("1-based number of the record or exercise in the file")
    section: str = column(
        "where an exercise stands: titles from its chapter or module on, joined by ' > '; '' elsewhere",
        default="",
    )
    language: str = column("BCP-47")
    text: str = column("the question")
    options: tuple[Option, ...] = column("answer options, () for open questions", default=())
    correct: tuple[str, ...] = column("letters of the correct options", default=())
    answer: str = column("answer in words, '' when only options are given", default="")
    explanation: str = column("reasoning given with the answer", default="")
    citations: tuple[Citation, ...] = column("sources the answer cites", default=())
    snippets: tuple[Snippet, ...] = column("texts quoted in support of the answer", default=())
    subject: str = column("subject as written", default="")
    licence: Licence = column("licence of the collection")
    is_synthetic: bool = column("marked synthetic", default=False)


@record
class QuestionCollection:
    """One file of questions, or one chapter or module with exercises: what became of its records."""

    id: str = column("questions:<name>, or the article id")
    name: str = column("name the sidecar gives, or the article's key in its repository")
    title: str = column("title, '' when not given", default="")
    language: str = column("BCP-47")
    citation: str = column("how to cite it, '' when not given", default="")
    url: str = column("where it is published, '' when not given", default="")
    licence: Licence = column("licence of the collection")
    records: int = column("records in the file, or exercises")
    questions: int = column("records read as questions; the others are drops of unit question")
    raw_sha256: str = column("hex SHA-256 of the file")
    is_synthetic: bool = column("its sidecar or repository says that it is made up", default=False)
