"""The model stage of translations: a prompt for each question and language, what is read of its answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from curation.privacy import CERTAIN, hits
from curation.prompts import material, translation
from curation.prompts.answers import read_answer
from curation.prompts.stage import PROMPTS, answered, subjects
from curation.prompts.texts import NotUsed
from curation.tasks.multilingual_evidence.records import TranslatedQuestion, WantedTranslation
from curation.tasks.multilingual_evidence.settings import NAME
from schemas.prompt import ModelAnswer, Prompt
from schemas.stages import Account, Drop, Input, ModelStage, Reason, RecordStage, Table

_NAME: Final = f"{NAME}_{translation.TRANSLATION.name}"
_ASKED: Final = {"prompt": translation.TRANSLATION.label, "prompt_sha256": translation.TRANSLATION.sha256}


def _ask(wanted: WantedTranslation, *, prompt: str, prompt_sha256: str) -> Iterator[Prompt | Drop]:
    """The prompt for one translation; `prompt…` are of the stage's identity alone."""
    pairs = [(name.english, name.name) for name in wanted.names]
    made = translation.ask(wanted.id, NAME, wanted.text, wanted.language, pairs)
    yield shown_to(made, wanted.text, wanted.id, wanted.article_id)


def shown_to(made: Prompt, text: str, subject: str, article_id: str) -> Prompt | Drop:
    """A prompt for a translation, or why nobody may be shown the text."""
    found = next(iter(hits(text, CERTAIN)), None)
    reason = Reason.NAMES_A_PATIENT if found else None
    if reason is None and material.size(made) > material.MAX_BYTES:
        reason = Reason.TOO_LONG
    if reason is None:
        return made
    return Drop(
        unit="translation",
        id=subject,
        article_id=article_id,
        reason=reason,
        detail=found[0] if found else "",
    )


def text_or_reason(values: Mapping[str, Any]) -> tuple[str, StrEnum | None]:
    """The text that an answer gives, or '' and why it cannot be used."""
    text = translation.text_of(values)
    if isinstance(text, NotUsed):
        return "", text
    if next(iter(hits(text, CERTAIN)), None) is not None:
        return "", Reason.NAMES_A_PATIENT
    return text, None


def _read(
    asked: Prompt, answers: Sequence[ModelAnswer], *, prompt: str, prompt_sha256: str
) -> Iterator[TranslatedQuestion | Drop]:
    """What an answer says; a prompt without one has nothing to read, which the answers account for."""
    for answer in answers:
        values = read_answer(answer.text, json.loads(asked.answer_schema))
        assert values is not None, f"an answer in no valid form was stored as valid: {asked.id}"
        text, reason = text_or_reason(values)
        if reason is None:
            yield TranslatedQuestion(
                wanted=asked.subject,
                text=text,
                kind=asked.kind,
                model=answer.model,
                served_model=answer.served_model,
                prompt_sha256=prompt_sha256,
                by=answer.by,
            )
            continue
        yield Drop(unit="answer", id=asked.subject, article_id="", reason=reason, detail=asked.id)


# A named function, not a lambda: stages travel to worker processes.
def _own_id(wanted: WantedTranslation) -> list[str]:
    return [wanted.id]


TRANSLATION: Final = ModelStage(
    task=NAME,
    kind=translation.TRANSLATION.name,
    asked=_ASKED,
    asking=RecordStage(
        name=_NAME,
        version=1,
        inputs=(Input(f"{NAME}_wanted.wanted", WantedTranslation, "id"),),
        outputs=(PROMPTS,),
        process=_ask,
        accounts=(Account("translation", _own_id, PROMPTS.name, "subject"),),
        params=_ASKED,
    ),
    reading=RecordStage(
        name=f"{NAME}_translations",
        version=2,
        inputs=answered(_NAME),
        outputs=(Table("translated", TranslatedQuestion, ("wanted",)),),
        process=_read,
        accounts=(Account("answer", subjects, "translated", "wanted"),),
        params=_ASKED,
    ),
)
