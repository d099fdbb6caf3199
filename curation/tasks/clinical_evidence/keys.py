"""Questions whose key no closed-book answer gives: people say whether it is right, then they go on or not.

A suspect key waits for a verdict. The verdict is of exactly what was shown: another key, another question.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Final

from curation.tasks.clinical_evidence.asking import EXAMS, HARD
from curation.tasks.clinical_evidence.difficulty import DIFFICULTY, Difficulty
from curation.tasks.clinical_evidence.records import Hardness, Vignette
from curation.tasks.clinical_evidence.rules import RuleReason
from curation.tasks.clinical_evidence.vignettes import NAME
from schemas.review import Kind, ReviewItem, ShownItem, Verdict, candidate_id
from schemas.stages import Account, Drop, Input, RecordStage, ReviewStage, Table

KIND: Final[Kind] = "answer_key"
_NAME: Final = f"{NAME}_keys"
RIGHT, ONE_OF_SEVERAL = 2, 1


class KeyReason(StrEnum):
    """What people said of a key that took its question out."""

    KEY_WRONG = "key_wrong"


def items(asked: Vignette, hard: Sequence[Hardness]) -> Iterator[ReviewItem]:
    """What people are asked of a question whose key is suspect; nothing of the others.

    Args:
        asked: its text with options, key and explanation.
        hard: what closed-book answers say of it, if it is not too easy.
    """
    suspect = next((row for row in hard if row.is_suspect), None)
    if suspect is None:
        return
    key = [f"{letter}. " for letter in asked.correct] if len(asked.correct) == 1 else []
    fields = {
        "language": asked.language,
        "query_text": asked.text,
        "answer_options": "\n".join(f"{option.letter}. {option.text}" for option in asked.options),
        "answer_key": "".join([*key, asked.answer]),
        "explanation": asked.explanation,
    }
    shown = tuple(ShownItem(name=name, value=value) for name, value in fields.items() if value)
    yield ReviewItem(
        id=candidate_id(KIND, _NAME, asked.unit, "", shown),
        unit=asked.unit,
        article_id=asked.article_id,
        language=asked.language,
        license=asked.license,
        shown=shown,
        why=_told(suspect),
    )


def decided(
    hard: Hardness, asked: Sequence[ReviewItem], verdicts: Sequence[Verdict]
) -> Iterator[Hardness | Drop]:
    """A question that is hard enough: not suspect, or with a key that people found right.

    Args:
        hard: the question, as closed-book answers leave it.
        asked: what people are asked of it, if it is suspect.
        verdicts: what they concluded of that, one or none.
    """
    if not hard.is_suspect:
        yield hard
        return
    (item,) = asked
    found = next(iter(verdicts), None)
    if found is not None and found.grade == RIGHT:
        yield replace(hard, is_suspect=False, key_rule=found.rule)
        return
    reason: StrEnum = Difficulty.KEY_SUSPECT
    if found is None:
        detail = f"{_told(hard)}; no verdict of people yet"
    elif found.grade is None:
        detail = f"{found.rule}: nobody could judge it"
    else:
        reason = RuleReason.SEVERAL_ANSWERS if found.grade == ONE_OF_SEVERAL else KeyReason.KEY_WRONG
        detail = f"{found.rule}: grade {found.grade}"
    yield Drop(unit="question", id=hard.unit, article_id=item.article_id, reason=reason, detail=detail)


def _told(hard: Hardness) -> str:
    return f"{hard.right} of {hard.tries} right"


def _unit(hard: Hardness, *_: object) -> list[str]:
    return [hard.unit]


def _suspect(asked: Vignette, hard: Sequence[Hardness]) -> list[str]:
    return [asked.unit for row in hard if row.is_suspect]


KEYS: Final = ReviewStage(
    task=NAME,
    kind=KIND,
    asking=RecordStage(
        name=_NAME,
        version=1,
        inputs=(Input(EXAMS, Vignette, by="unit"), Input(f"{DIFFICULTY.name}.hard", Hardness, by="unit")),
        outputs=(Table("items", ReviewItem, ("id",)),),
        process=items,
        accounts=(Account("question", _suspect, "items", "unit"),),
    ),
    reading=RecordStage(
        name=HARD.partition(".")[0],
        version=1,
        inputs=(
            Input(f"{DIFFICULTY.name}.hard", Hardness, by="unit"),
            Input(f"{_NAME}.items", ReviewItem, by="unit"),
            Input(f"{_NAME}_verdicts.verdicts", Verdict, by="query_id"),
        ),
        outputs=(Table(HARD.partition(".")[2], Hardness, ("unit",)),),
        process=decided,
        accounts=(Account("question", _unit, HARD.partition(".")[2], "unit"),),
        reasons=frozenset({Difficulty.KEY_SUSPECT, RuleReason.SEVERAL_ANSWERS, *KeyReason}),
    ),
)
