"""The judge as a step of any task: two prompts for each pair, what is read of the answers, what follows.

A pair counts when both orders were answered in a valid form and every quote stands in the passage. What was
not judged so is a drop, and neither positive nor negative. Every fifth pair, by lot, is asked about once more
with a seed: that decides nothing, and tells how much of the scores is chance.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from curation.extract.neutralise import restore
from curation.privacy import CERTAIN, hits
from curation.prompts import material, support
from curation.prompts.answers import read_answer
from curation.prompts.stage import PROMPTS, answered
from curation.prompts.support import Axis, NotJudged
from curation.tasks.shared.judging.records import AskedPair, JudgedPair, Judgement
from schemas.benchmark import Evidence, Transform
from schemas.hashing import sha256_text
from schemas.prompt import ModelAnswer, Prompt, asked_again, seed_of
from schemas.stages import Account, Drop, Input, ModelStage, Reason, RecordStage, Table
from schemas.task import Task

VERSION: Final = 2
SEED: Final = 1
_AGAIN_ONE_IN: Final = 5
KIND: Final = "judge"
"""What a judge's stage is called in commands and specs."""
MIDDLE, UNSTABLE = "middle", "unstable"
"""Exclusion codes of schemas.grades: between the two; another conclusion in another order."""
Conclude = Callable[[Sequence[Any]], int | str]
"""Scores of each order, tuples of numbers -> the pair's grade, or the code it is excluded with."""
_JUDGEMENTS: Final = Table("judgements", Judgement, ("prompt_id",))
_JUDGED: Final = Table("judged", JudgedPair, ("pair",))


def by_answer(orders: Sequence[tuple[int, ...]]) -> int | str:
    """What scores of the answer alone make of a pair: 2 and more supports it, 0 does not, 1 is neither."""
    found = {2 if score >= support.QUOTED_FROM else MIDDLE if score else 0 for (score, *_) in orders}
    return found.pop() if len(found) == 1 else UNSTABLE


def judge_stage(task: str, pairs: str, axes: tuple[Axis, ...]) -> ModelStage:
    """The model stage that judges the pairs of a task.

    Args:
        task: the task; the stages are `<task>_judge` and `<task>_judgements`.
        pairs: table of AskedPair rows of a set stage, as `stage.table`.
        axes: what is asked of each pair.
    """
    name = f"{task}_judge"
    asked = {"prompt": support.label(axes), "prompt_sha256": support.asked_sha256(axes)}
    asking = RecordStage(
        name=name,
        version=VERSION,
        inputs=(Input(pairs, AskedPair, "id"),),
        outputs=(PROMPTS,),
        process=functools.partial(_ask, task=task),
        accounts=(Account("order", functools.partial(_orders, task=task), PROMPTS.name, "id"),),
        params=asked,
    )
    reading = RecordStage(
        name=f"{task}_judgements",
        version=VERSION,
        inputs=answered(name),
        outputs=(_JUDGEMENTS,),
        process=_read,
        accounts=(Account("answer", _prompts, _JUDGEMENTS.name, "prompt_id"),),
        params=asked,
    )
    return ModelStage(task=task, kind=KIND, asked=asked, asking=asking, reading=reading)


def concluding(task: str, pairs: str, conclude: Conclude) -> RecordStage:
    """The stage that draws the conclusion of each pair from what was said in both orders.

    Args:
        task: the task; the stage is `<task>_judged`.
        pairs: as :func:`judge_stage`.
        conclude: what the scores of both orders make of a pair.
    """
    return RecordStage(
        name=f"{task}_judged",
        version=VERSION,
        inputs=(
            Input(pairs, AskedPair, "id"),
            Input(f"{task}_judgements.{_JUDGEMENTS.name}", Judgement, "pair"),
        ),
        outputs=(_JUDGED,),
        process=Concluding(conclude),
        accounts=(Account("pair", _own_id, _JUDGED.name, "pair"),),
    )


@dataclass(frozen=True, slots=True)
class Concluding:
    """The conclusion of one pair from what was said in both orders; it travels to worker processes."""

    conclude: Conclude

    def __call__(self, pair: AskedPair, judgements: Sequence[Judgement]) -> Iterator[JudgedPair | Drop]:
        """One row, or one drop, of a pair and all that was said of it."""
        yield from _conclude(pair, judgements, conclude=self.conclude)


def conclude_of(task: Task) -> Conclude | None:
    """What the judge of a task's build concludes by; None where it has none."""
    steps = (step.process for step in task.steps if isinstance(step, RecordStage))
    return next((process.conclude for process in steps if isinstance(process, Concluding)), None)


def source_span(start: int, end: int, transforms: Sequence[Transform]) -> tuple[int, int]:
    """Where released text stands in the source text; a change that it cuts into is taken whole."""
    for change in transforms:
        if change.start < end and change.end > start:
            start, end = min(start, change.start), max(end, change.end)
    first, last = start, end
    for change in transforms:
        grown = len(change.original) - (change.end - change.start)
        first += grown if change.end <= start else 0
        last += grown if change.end <= start or change.start < end else 0
    return first, last


def _ask(pair: AskedPair, *, task: str, prompt: str, prompt_sha256: str) -> Iterator[Prompt | Drop]:
    rows = _prompts_of(pair, task)
    told = (pair.question, pair.answer, pair.passage, pair.reasoning)
    found = next((hit for text in told for hit in hits(text, CERTAIN)), None)
    reason = Reason.NAMES_A_PATIENT if found else None
    if reason is None and any(material.size(row) > material.MAX_BYTES for row in rows):
        reason = Reason.TOO_LONG
    for row in rows:
        yield (
            row
            if reason is None
            else Drop(
                unit="order",
                id=row.id,
                article_id=pair.article_id,
                reason=reason,
                detail=f"{pair.id}: {row.form}",
            )
        )


def _prompts_of(pair: AskedPair, task: str) -> tuple[Prompt, ...]:
    both = support.ask(pair.id, task, pair.question, pair.answer, pair.passage, pair.reasoning)
    return (*both, asked_again(both[0], SEED)) if is_asked_again(pair.id) else both


def is_asked_again(pair: str) -> bool:
    """Whether a pair is one of those asked about once more with a seed; the same in every build."""
    return int(sha256_text(f"judged again\0{pair}")[:12], 16) % _AGAIN_ONE_IN == 0


def _read(
    prompt_row: Prompt, answers: Sequence[ModelAnswer], *, prompt: str, prompt_sha256: str
) -> Iterator[Judgement | Drop]:
    for answer in answers:
        values = read_answer(answer.text, json.loads(prompt_row.answer_schema))
        assert values is not None, f"an answer in no valid form was stored as valid: {prompt_row.id}"
        found = support.read(prompt_row, values)
        if isinstance(found, NotJudged):
            yield Drop(
                unit="answer",
                id=prompt_row.id,
                article_id="",
                reason=Reason.INVALID,
                detail=f"{prompt_row.subject}: {found.value}",
            )
            continue
        yield Judgement(
            prompt_id=prompt_row.id,
            pair=prompt_row.subject,
            form=prompt_row.form,
            scores=found.scores,
            starts=tuple(start for start, _ in found.quotes),
            ends=tuple(end for _, end in found.quotes),
            kind=prompt_row.kind,
            model=answer.model,
            served_model=answer.served_model,
            prompt_sha256=prompt_sha256,
        )


def _conclude(
    pair: AskedPair, judgements: Sequence[Judgement], *, conclude: Conclude
) -> Iterator[JudgedPair | Drop]:
    by_form = {judgement.form: judgement for judgement in judgements}
    orders = [by_form[form] for form in support.FORMS if form in by_form]
    if len(orders) < len(support.FORMS):
        yield Drop(
            unit="pair",
            id=pair.id,
            article_id=pair.article_id,
            reason=Reason.NOT_RUN,
            detail=f"{len(orders)} of {len(support.FORMS)} orders judged",
        )
        return
    drawn = conclude([order.scores for order in orders])
    first = orders[0]
    yield JudgedPair(
        pair=pair.id,
        query_id=pair.query_id,
        corpus_id=pair.corpus_id,
        score=drawn if isinstance(drawn, int) else None,
        reason=drawn if isinstance(drawn, str) else "",
        scores="; ".join(map(_listed, orders)),
        seeded=next((_listed(one) for one in judgements if seed_of(one.form)), ""),
        evidence=tuple(_evidence(pair, orders)),
        kind=first.kind,
        model=first.model,
        served_model=first.served_model,
        prompt_sha256=first.prompt_sha256,
    )


def _listed(judgement: Judgement) -> str:
    return " ".join(map(str, judgement.scores))


def _evidence(pair: AskedPair, orders: Sequence[Judgement]) -> Iterator[Evidence]:
    """The words quoted in either order, as they stand in the source passage."""
    source = restore(pair.passage, pair.transforms)
    quoted = {span for order in orders for span in zip(order.starts, order.ends, strict=True)}
    for start, end in sorted({source_span(*span, pair.transforms) for span in quoted}):
        yield Evidence(text_id=pair.corpus_id, start=start, end=end, text=source[start:end])


# Named functions, not lambdas: stages travel to worker processes.
def _orders(pair: AskedPair, *, task: str) -> list[str]:
    return [row.id for row in _prompts_of(pair, task)]


def _prompts(prompt: Prompt, answers: Sequence[ModelAnswer]) -> list[str]:
    return [answer.prompt_id for answer in answers]


def _own_id(pair: AskedPair, judgements: Sequence[Judgement]) -> list[str]:
    return [pair.id]
