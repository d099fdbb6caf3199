"""Questions with answers and citations, from exam and question-answer collections."""

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
class Question:
    """One question of a collection."""

    id: str = column("questions:<collection>/<record id>")
    collection: str = column("id of the file it stands in")
    number: int = column("1-based record number in the file")
    language: str = column("BCP-47")
    text: str = column("the question")
    options: tuple[Option, ...] = column("answer options, () for open questions", default=())
    correct: tuple[str, ...] = column("letters of the correct options", default=())
    answer: str = column("answer in words, '' when only options are given", default="")
    explanation: str = column("reasoning given with the answer", default="")
    citations: tuple[Citation, ...] = column("sources the answer cites", default=())
    subject: str = column("subject as written", default="")
    licence: Licence = column("licence of the collection")
    is_synthetic: bool = column("marked synthetic", default=False)


@record
class QuestionCollection:
    """One file of questions: what its sidecar says, and what became of its records."""

    id: str = column("questions:<name>")
    name: str = column("name the sidecar gives")
    title: str = column("title, '' when not given", default="")
    language: str = column("BCP-47")
    citation: str = column("how to cite it, '' when not given", default="")
    url: str = column("where it is published, '' when not given", default="")
    licence: Licence = column("licence of the collection")
    records: int = column("records in the file")
    questions: int = column("records read as questions; the others are drops of unit question")
    raw_sha256: str = column("hex SHA-256 of the file")
    is_synthetic: bool = column("the sidecar says that its questions are made up", default=False)
