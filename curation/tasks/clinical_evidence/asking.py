"""What models are asked of a vignette, and what is read of their answers: model stages, one kind each.

Four kinds of prompt, in this order: intent and closed book of a question, its rewrite, the reasoning path of
every vignette. Each is asked of what the one before it left. Nothing is asked of a text that a release would
withhold.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from curation.privacy import CERTAIN, hits
from curation.prompts import closed_book, intent, material, reasoning_path, rewrite
from curation.prompts.answers import read_answer
from curation.prompts.material import read_block
from curation.prompts.question import QuestionKind
from curation.prompts.stage import PROMPTS, answered
from curation.prompts.texts import NotUsed
from curation.tasks.clinical_evidence.records import (
    ClosedAnswer,
    Hardness,
    Intent,
    ReasoningPath,
    Rewrite,
    Vignette,
)
from curation.tasks.clinical_evidence.settings import REASONS, OwnReason, Settings
from curation.tasks.clinical_evidence.vignettes import NAME
from schemas.benchmark import Evidence
from schemas.hashing import canonical_json, sendable, sha256_text
from schemas.prompt import ModelAnswer, Prompt
from schemas.stages import Account, Drop, Input, ModelStage, Reason, RecordStage, Table

Answered = Intent | ClosedAnswer | Rewrite | ReasoningPath
Asker = Callable[..., Sequence[Prompt]]
"""Vignette, settings by name -> the prompts about it."""
Reader = Callable[[Prompt, Mapping[str, Any], Mapping[str, str]], Answered | StrEnum]
"""Prompt, values of its answer, who gave it -> the row of the answer, or why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One kind of prompt of this task.

    Attributes:
        kinds: what is asked; of several the one that fits the vignette.
        ask: the prompts about one vignette.
        read: what an answer says.
        is_sampled: whether a vignette is asked about several times, each answer being a row.
        settings: of the task that `ask` is given by name, with their defaults.
    """

    kinds: tuple[QuestionKind, ...]
    ask: Asker
    read: Reader
    is_sampled: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    def unit_of(self, prompt: Prompt) -> str:
        """What the accounts count: the vignette, or one asking."""
        return prompt.id if self.is_sampled else prompt.subject


def asks(
    asking: Asking, of: str, made: Table, reasons: type[StrEnum], *, read_as: str, left: Input | None = None
) -> ModelStage:
    """The model stage of a kind; prompts are drops with their reason where they cannot be asked.

    Args:
        asking: what is asked, and how answers are read.
        of: table of the vignettes.
        made: what is read of the answers, by vignette or by prompt.
        reasons: why an answer gives no row, beside the common ones.
        read_as: name of the stage that reads, after the task's.
        left: rows of the vignettes that the stage before left; only these are asked about.
    """
    first, hashes = asking.kinds[0], {kind.label: kind.sha256 for kind in asking.kinds}
    whole = first.sha256 if len(hashes) == 1 else sha256_text(canonical_json(hashes))
    asked = {"prompt": ", ".join(hashes), "prompt_sha256": whole}
    name = f"{NAME}_{first.name}"
    unit, key = ("sample", "id") if asking.is_sampled else ("vignette", "subject")
    return ModelStage(
        task=NAME,
        kind=first.name,
        asked=asked,
        takes_several=asking.is_sampled,
        asking=RecordStage(
            name=name,
            version=1,
            inputs=(Input(of, Vignette, by="unit"), *((left,) if left else ())),
            outputs=(PROMPTS,),
            process=functools.partial(_ask, asking=asking),
            accounts=(
                Account(
                    unit, functools.partial(_asked, asking=asking), PROMPTS.name, key, tuple(asking.settings)
                ),
            ),
            params={**asked, **asking.settings},
            reasons=REASONS,
        ),
        reading=RecordStage(
            name=f"{NAME}_{read_as}",
            version=1,
            inputs=answered(name),
            outputs=(made,),
            process=functools.partial(_read, asking=asking, hashes=hashes),
            accounts=(
                Account("answer", functools.partial(_answered, asking=asking), made.name, made.key[0]),
            ),
            params=asked,
            reasons=frozenset(reasons),
        ),
    )


def _ask(
    vignette: Vignette,
    *left: Sequence[object],
    asking: Asking,
    prompt: str,
    prompt_sha256: str,
    **settings: Any,
) -> Iterator[Prompt | Drop]:
    """`prompt…` are of the stage's identity alone."""
    told = (vignette.text, vignette.answer, vignette.explanation)
    found = next((hit for text in told for hit in hits(text, CERTAIN)), None)
    for one in asking.ask(vignette, **settings):
        reason: StrEnum | None = None
        if left and not left[0]:
            reason = OwnReason.LEFT_OUT_BEFORE
        elif found is not None:
            reason = Reason.NAMES_A_PATIENT
        elif material.size(one) > material.MAX_BYTES:
            reason = Reason.TOO_LONG
        if reason is None:
            yield one
            continue
        yield Drop(
            unit="sample" if asking.is_sampled else "vignette",
            id=asking.unit_of(one),
            article_id=vignette.article_id,
            reason=reason,
            detail=found[0] if found and reason is Reason.NAMES_A_PATIENT else "",
        )


def _asked(vignette: Vignette, *left: Sequence[object], asking: Asking, **settings: Any) -> list[str]:
    return [asking.unit_of(one) for one in asking.ask(vignette, **settings)]


def _read(
    asked: Prompt,
    answers: Sequence[ModelAnswer],
    *,
    asking: Asking,
    hashes: Mapping[str, str],
    prompt: str,
    prompt_sha256: str,
) -> Iterator[Answered | Drop]:
    """The row of each answer; a prompt without one has nothing to read, which the answers account for."""
    for answer in answers:
        values = read_answer(answer.text, json.loads(asked.answer_schema))
        assert values is not None, f"an answer in no valid form was stored as valid: {asked.id}"
        made_by = {
            "model": answer.model,
            "served_model": answer.served_model,
            "prompt_sha256": hashes[asked.kind],
        }
        row = asking.read(asked, values, made_by)
        if isinstance(row, StrEnum):
            of = asked.id if len(answers) == 1 else f"{asked.id} {answer.model}"
            yield Drop(unit="answer", id=asking.unit_of(asked), article_id="", reason=row, detail=of)
        else:
            yield row


def _answered(asked: Prompt, answers: Sequence[ModelAnswer], *, asking: Asking) -> list[str]:
    return [asking.unit_of(asked) for _ in answers]


def _ask_intent(one: Vignette) -> list[Prompt]:
    return [intent.ask(one.unit, NAME, one.text, one.options)]


def _read_intent(asked: Prompt, values: Mapping[str, Any], made_by: Mapping[str, str]) -> Intent | StrEnum:
    scenario = intent.read(values)
    if isinstance(scenario, intent.NotAsked):
        return scenario
    asks = " ".join(sendable(values["asks"]).split())
    return Intent(unit=asked.subject, scenario=scenario, asks=asks, **made_by)


def _ask_attempt(one: Vignette, closed_book_samples: int) -> list[Prompt]:
    return closed_book.ask(one.unit, NAME, one.text, one.options, closed_book_samples)


def _read_attempt(
    asked: Prompt, values: Mapping[str, Any], made_by: Mapping[str, str]
) -> ClosedAnswer | StrEnum:
    said = closed_book.read(asked, values)
    if isinstance(said, StrEnum):
        return said
    is_choice = asked.kind == closed_book.CHOICE.label
    return ClosedAnswer(
        prompt_id=asked.id,
        unit=asked.subject,
        form=asked.form,
        options=len(read_block(asked, "options").splitlines()) if is_choice else 0,
        answered=said,
        **made_by,
    )


def _ask_rewrite(one: Vignette) -> list[Prompt]:
    return [rewrite.ask(one.unit, NAME, one.text, one.options)]


def _read_rewrite(asked: Prompt, values: Mapping[str, Any], made_by: Mapping[str, str]) -> Rewrite | StrEnum:
    text = rewrite.read(values)
    if isinstance(text, StrEnum):
        return text
    if next(iter(hits(text, CERTAIN)), None) is not None:
        return Reason.NAMES_A_PATIENT
    return Rewrite(unit=asked.subject, text=text, **made_by)


def _ask_path(one: Vignette) -> list[Prompt]:
    return [reasoning_path.ask(one.unit, NAME, one.text, one.answer, one.explanation)]


def _read_path(
    asked: Prompt, values: Mapping[str, Any], made_by: Mapping[str, str]
) -> ReasoningPath | StrEnum:
    path = reasoning_path.read(asked, values)
    if isinstance(path, StrEnum):
        return path
    if next(iter(hits(path.text, CERTAIN)), None) is not None:
        return Reason.NAMES_A_PATIENT
    shown = read_block(asked, "vignette")
    return ReasoningPath(
        unit=asked.subject,
        text=path.text,
        quotes=tuple(
            Evidence(text_id=asked.subject, start=start, end=end, text=shown[start:end])
            for start, end in path.quotes
        ),
        **made_by,
    )


EXAMS: Final = f"{NAME}_exams.vignettes"
"""Questions of all collections, each once."""
HARD: Final = f"{NAME}_hard.hard"
"""Questions that are hard enough, and whose key nobody doubts."""
VIGNETTES: Final = f"{NAME}_vignettes.vignettes"
"""What the task asks: cut reports and rewritten questions."""
INTENT: Final = asks(
    Asking(kinds=(intent.INTENT,), ask=_ask_intent, read=_read_intent),
    EXAMS,
    Table("intents", Intent, ("unit",)),
    intent.NotAsked,
    read_as="intents",
)
CLOSED_BOOK: Final = asks(
    Asking(
        kinds=(closed_book.CHOICE, closed_book.OPEN),
        ask=_ask_attempt,
        read=_read_attempt,
        is_sampled=True,
        settings={"closed_book_samples": Settings().closed_book_samples},
    ),
    EXAMS,
    Table("answers", ClosedAnswer, ("prompt_id", "model")),
    closed_book.NotCounted,
    read_as="closed_answers",
    left=Input(f"{NAME}_intents.intents", Intent, by="unit"),
)
REWRITE: Final = asks(
    Asking(kinds=(rewrite.REWRITE,), ask=_ask_rewrite, read=_read_rewrite),
    EXAMS,
    Table("rewrites", Rewrite, ("unit",)),
    NotUsed,
    read_as="rewrites",
    left=Input(HARD, Hardness, by="unit"),
)
PATHS: Final = asks(
    Asking(kinds=(reasoning_path.REASONING_PATH,), ask=_ask_path, read=_read_path),
    VIGNETTES,
    Table("paths", ReasoningPath, ("unit",)),
    reasoning_path.NotAPath,
    read_as="paths",
)
