"""The model stage of back-translations: translations into English again, and known sentences for control."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final

from curation.multilingual.back import known_pairs
from curation.prompts import translation
from curation.prompts.answers import read_answer
from curation.prompts.stage import PROMPTS, answered, subjects
from curation.tasks.multilingual_evidence.records import (
    BackText,
    FoundBack,
    TextBack,
    TranslatedQuestion,
    WantedTranslation,
)
from curation.tasks.multilingual_evidence.settings import NAME, TARGETS
from curation.tasks.multilingual_evidence.translation import shown_to, text_or_reason
from schemas.prompt import ModelAnswer, Prompt
from schemas.stages import Account, Drop, Input, ModelStage, RecordStage, SetStage, Sql, Table

_NAME: Final = f"{NAME}_{translation.BACK_TRANSLATION.name}"
_ASKED: Final = {
    "prompt": translation.BACK_TRANSLATION.label,
    "prompt_sha256": translation.BACK_TRANSLATION.sha256,
}
_KNOWN = ", ".join(
    "('{}', {}, '{}')".format(language, number, text.replace("'", "''"))
    for language in TARGETS
    for number, (_, text) in enumerate(known_pairs(language), start=1)
)
_TEXTS = f"""
    WITH asked AS (
        SELECT t.wanted AS id, w.article_id, w.language, t.text
        FROM translated AS t JOIN wanted AS w ON w.id = t.wanted WHERE w.translate_back)
    FROM asked
    UNION ALL
    SELECT 'known/' || k.language || '/' || k.number, '', k.language, k.text
    FROM (VALUES {_KNOWN}) AS k (language, number, text) SEMI JOIN asked USING (language)
"""
_FOUND = """
    WITH named AS (
        SELECT b.id, b.text, w.language, coalesce(nullif(b.served_model, ''), b.model) AS engine
        FROM back_texts AS b JOIN texts AS w ON w.id = b.id),
    control AS (
        SELECT language, engine, list(text ORDER BY id) AS known FROM named WHERE starts_with(id, 'known/')
        GROUP BY language, engine)
    SELECT n.id AS wanted, n.engine, n.text, coalesce(c.known, []) AS known
    FROM named AS n LEFT JOIN control AS c ON c.language = n.language AND c.engine = n.engine
    WHERE NOT starts_with(n.id, 'known/')
"""


def _ask(text: TextBack, *, prompt: str, prompt_sha256: str) -> Iterator[Prompt | Drop]:
    """The prompt for one text; `prompt…` are of the stage's identity alone."""
    made = translation.ask_back(text.id, NAME, text.text, text.language)
    yield shown_to(made, text.text, text.id, text.article_id)


def _read(
    asked: Prompt, answers: Sequence[ModelAnswer], *, prompt: str, prompt_sha256: str
) -> Iterator[BackText | Drop]:
    """What an answer says; a prompt without one has nothing to read, which the answers account for."""
    for answer in answers:
        values = read_answer(answer.text, json.loads(asked.answer_schema))
        assert values is not None, f"an answer in no valid form was stored as valid: {asked.id}"
        text, reason = text_or_reason(values)
        if reason is None:
            yield BackText(id=asked.subject, text=text, model=answer.model, served_model=answer.served_model)
        else:
            yield Drop(unit="answer", id=asked.subject, article_id="", reason=reason, detail=asked.id)


# A named function, not a lambda: stages travel to worker processes.
def _own_id(text: TextBack) -> list[str]:
    return [text.id]


TEXTS_BACK: Final = SetStage(
    name=f"{_NAME}_texts",
    version=1,
    inputs={
        "wanted": (f"{NAME}_wanted.wanted", WantedTranslation),
        "translated": (f"{NAME}_translations.translated", TranslatedQuestion),
    },
    outputs={"texts": Sql(_TEXTS, TextBack, ("id",))},
)
BACK: Final = ModelStage(
    task=NAME,
    kind=translation.BACK_TRANSLATION.name,
    asked=_ASKED,
    asking=RecordStage(
        name=_NAME,
        version=1,
        inputs=(Input(f"{TEXTS_BACK.name}.texts", TextBack, "id"),),
        outputs=(PROMPTS,),
        process=_ask,
        accounts=(Account("translation", _own_id, PROMPTS.name, "subject"),),
        params=_ASKED,
    ),
    reading=RecordStage(
        name=f"{_NAME}s",
        version=1,
        inputs=answered(_NAME),
        outputs=(Table("back_texts", BackText, ("id",)),),
        process=_read,
        accounts=(Account("answer", subjects, "back_texts", "id"),),
        params=_ASKED,
    ),
)
FOUND_BACK: Final = SetStage(
    name=f"{_NAME}_found",
    version=1,
    inputs={
        "texts": (f"{TEXTS_BACK.name}.texts", TextBack),
        "back_texts": (f"{BACK.reading.name}.back_texts", BackText),
    },
    outputs={"found": Sql(_FOUND, FoundBack, ("wanted",))},
)
