"""Questions of collections and exercises of textbooks as queries; answers go apart from them."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path

from curation.fidelity.leaks import needs_image, needs_options
from curation.tasks.shared.case_facts import read_concepts
from curation.tasks.shared.mining.index import named, view_of
from curation.tasks.shared.mining.records import IndexedView
from curation.tasks.shared.questions import PREFIX, answer_of, family_of, is_file, source_of
from curation.tasks.shared.support.corpus import primary
from curation.tasks.shared.support.records import AnsweredQuery, CitedSource
from curation.tasks.shared.support.settings import VERSION, SupportSettings
from curation.tasks.shared.words import word_count
from schemas.benchmark import Query
from schemas.concept import Mention
from schemas.extracted import Source
from schemas.hashing import sha256_text
from schemas.ids import query_id
from schemas.licences import is_allowed
from schemas.question import Citation, Question, QuestionCollection
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table

Row = Query | AnsweredQuery | CitedSource | IndexedView | Source | Drop
_TRUTH = frozenset({"true", "false", "yes", "no", "prawda", "fałsz", "tak", "nie"})
"""Answers that say nothing without their question: no passage can be asked for its support of them."""
_OF_OPTIONS = re.compile(
    r"(?:all|none|both|neither|any)\b.{0,20}\b(?:above|answers?|options?|choices?|correct|these)\b",
    re.IGNORECASE,
)
_GAP = re.compile(r"_{2,}|(?:[._…] ?){4,}")
"""What a sentence has where a word is to be filled in: nobody asks a search engine so."""
_ENDS = (".", "!", ";")
_NAMES_A_DOCUMENT = ("pmid", "pmcid", "doi")


def build(
    collection: QuestionCollection,
    questions: Sequence[Question],
    mentions: Sequence[Mention],
    settings: SupportSettings,
    *,
    types: Path,
    relations: Path,
    task: str,
    language: str = "",
) -> Iterator[Row]:
    """Queries of one collection or module, with answers, views and the documents that answers name.

    Args:
        collection: the file of questions, or the module with exercises.
        questions: its questions.
        mentions: concepts named in them, in their options and answers.
        settings: what they are built with.
        types: Parquet of ConceptType rows of the vocabulary.
        relations: Parquet of its ConceptRelation rows.
        task: whose queries they are.
        language: primary subtag of the questions that are asked; '' for any.

    Yields:
        Every question as a Query or a Drop.
    """
    concepts = read_concepts(types, relations)
    by_text: dict[str, list[Mention]] = defaultdict(list)
    for mention in mentions:
        by_text[mention.text_id].append(mention)
    if is_file(collection):
        yield source_of(collection)
    for question in sorted(questions, key=lambda item: (item.number, item.id)):
        asked, told = by_text[question.id], _of_answer(question, by_text)
        found = named([*asked, *told])
        targets = tuple(one for one in found if not concepts.has_kinds(one, settings.max_family + 1))
        reason = why_not(question, found, targets, settings)
        if language and primary(question.language) != language:
            reason = Reason.LANGUAGE_NOT_READ, question.language
        if reason is not None:
            yield Drop(
                unit="question",
                id=question.id,
                article_id=question.collection,
                reason=reason[0],
                detail=reason[1],
            )
            continue
        yield from _rows(question, targets, asked, told, settings, task)


def why_not(
    question: Question, found: Sequence[str], targets: Sequence[str], settings: SupportSettings
) -> tuple[StrEnum, str] | None:
    """Why a question makes no query, and what was seen.

    Args:
        question: the question.
        found: all concepts that it and its answer name.
        targets: the specific ones of them.
        settings: what it is built with.
    """
    if not is_allowed(question.licence.spdx, settings.licence_profile):
        return Reason.LICENCE_NOT_ALLOWED, question.licence.spdx
    words = word_count(question.text)
    if words < settings.min_query_words:
        return Reason.SHORT_QUESTION, f"{words} words"
    if gap := _GAP.search(question.text):
        return Reason.GAP_TO_FILL, question.text[max(0, gap.start() - 40) : gap.end()]
    if _is_finished_by(question.text, answer_of(question)):
        return Reason.GAP_TO_FILL, f"… {question.text[-40:].strip()} … {answer_of(question)[:40]}"
    if shown := needs_image(question.text):
        return Reason.NEEDS_IMAGE, shown
    answer = answer_of(question).strip()
    if not answer or answer.casefold() in _TRUTH or _OF_OPTIONS.match(answer):
        return Reason.NO_WORDED_ANSWER, answer
    if question.options and (leaning := needs_options(question.text)):
        return Reason.ONLY_WITH_OPTIONS, str(leaning)
    if not targets:
        return Reason.GENERAL_SUBJECT, ", ".join(found[:3])
    return None


def _is_finished_by(text: str, answer: str) -> bool:
    """Whether the answer is the rest of a sentence that the question breaks off.

    Such a text is printed without an end of its own, and its answer in small letters and with one.
    """
    rest = answer.strip()
    return text.strip()[-1:].isalnum() and rest[:1].islower() and rest[-1:] in _ENDS


def _rows(
    question: Question,
    targets: tuple[str, ...],
    asked: Sequence[Mention],
    told: Sequence[Mention],
    settings: SupportSettings,
    task: str,
) -> Iterator[Row]:
    query = query_id(task, question.text)
    answer = answer_of(question)
    is_named = set(targets) & {mention.concept for mention in asked}
    yield Query(
        id=query,
        task=task,
        text=question.text,
        language=question.language,
        source_id=question.id,
        article_id=question.collection,
        license=question.licence.spdx,
        license_evidence=question.licence.evidence,
        text_sha256=sha256_text(question.text),
        is_synthetic=question.is_synthetic,
        family=family_of(question),
        targets=targets,
        hides_target=not is_named,
        scenario="question_answering",
    )
    yield AnsweredQuery(
        query_id=query, source_id=question.id, answer=answer, explanation=question.explanation
    )
    # The module of an exercise is not left out: what it teaches is what the exercise asks for.
    yield view_of(query, question.id, "question", question.text, question.language, mentions=asked)
    yield view_of(query, question.id, "answer", answer, question.language, mentions=told)
    for key, snippets in sorted(_cited(question, settings).items()):
        yield CitedSource(query_id=query, source_id=question.id, key=key, snippets=tuple(snippets))


def _of_answer(question: Question, by_text: dict[str, list[Mention]]) -> list[Mention]:
    places = [f"{question.id}#option{letter}" for letter in question.correct]
    return [mention for place in (*places, f"{question.id}#answer") for mention in by_text[place]]


def _cited(question: Question, settings: SupportSettings) -> dict[str, list[str]]:
    """Documents that the answer names -> texts quoted from them.

    The module of an exercise is named by nobody: it is where the exercise stands. So it says where to look
    for a passage, and makes no label of a whole article.
    """
    found: dict[str, list[str]] = {}
    for key in _keys(question.citations):
        found.setdefault(key, [])
    for snippet in question.snippets:
        for key in _keys([snippet.source]):
            found.setdefault(key, []).append(snippet.text)
    if settings.granularity == "passage" and not question.collection.startswith(PREFIX):
        found.setdefault(f"article:{question.collection}", [])
    return found


def _keys(citations: Iterable[Citation]) -> list[str]:
    known = [item for item in citations if item.kind in _NAMES_A_DOCUMENT]
    return [
        f"{item.kind}:{item.target.upper() if item.kind == 'pmcid' else item.target.lower()}"
        for item in known
    ]


# Named functions, not lambdas: stages travel to worker processes.
def _question_ids(_: QuestionCollection, questions: Sequence[Question], __: Sequence[Mention]) -> list[str]:
    return [question.id for question in questions]


def question_stages(
    task: str, settings: type[SupportSettings], language: str = ""
) -> tuple[RecordStage, RecordStage]:
    """The stages that make a task's queries of collections and of exercises.

    Args:
        task: its name; the stages are `<task>_questions` and `<task>_exercises`.
        settings: the task's.
        language: primary subtag of the questions that are asked; '' for any.
    """
    questions, exercises = (_stage(task, kind, settings, language) for kind in ("questions", "exercises"))
    return questions, exercises


def _stage(task: str, kind: str, settings: type[SupportSettings], language: str) -> RecordStage:
    return RecordStage(
        name=f"{task}_{kind}",
        version=VERSION,
        inputs=(
            Input(f"{kind}.collections", QuestionCollection, by="id"),
            Input(f"{kind}.questions", Question, by="collection"),
            Input(f"ground_{kind}.mentions", Mention, by="article_id"),
        ),
        outputs=(
            Table("queries", Query, ("id", "source_id")),
            Table("answers", AnsweredQuery, ("query_id", "source_id")),
            Table("views", IndexedView, ("query_id", "source_id", "view")),
            Table("cited", CitedSource, ("query_id", "source_id", "key")),
            Table("sources", Source, ("id",)),
        ),
        process=functools.partial(build, task=task, language=language),
        accounts=(Account("question", _question_ids, "queries", "source_id"),),
        settings=settings,
        resources=("types", "relations"),
    )
