"""The judge of a task's build, put to candidates of its review: the same prompts, read in the same way."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Sequence

from curation.prompts import material, support
from curation.prompts.answers import read_answer
from curation.prompts.material import MAX_BYTES
from curation.prompts.relevance import Conclusion, Prompts, Skip, concluded, unfit, unread
from curation.prompts.scores import judge_name
from curation.prompts.support import ANSWER_REASONING, FORMS, MAX_TOKENS, Axis, NotJudged
from schemas.prompt import ModelAnswer, Prompt
from schemas.review import ReviewAnnotation, ReviewCandidate

Drawn = Callable[[Sequence[tuple[int, ...]]], tuple[int | None, str]]
"""Scores of both orders -> the grade, or None and why there is none."""


def prompts(
    candidates: Iterable[ReviewCandidate], axes: tuple[Axis, ...], *, max_tokens: int = MAX_TOKENS
) -> Prompts:
    """Two prompts of every candidate that shows the answer, and the reasoning where that is judged.

    Args:
        candidates: of one task, any kinds.
        axes: what the task's judge is asked.
        max_tokens: most tokens of an answer.
    """
    rows: list[Prompt] = []
    skipped: dict[str, Skip] = {}
    for candidate in sorted(candidates, key=lambda item: item.id):
        shown = {item.name: item.value for item in candidate.shown if item.value}
        reason = unfit(candidate, images=False, sensitive=False)
        if reason is None and "answer" not in shown:
            reason = "no_answer"
        if reason is None and axes == ANSWER_REASONING and "reasoning" not in shown:
            reason = "no_reasoning"
        if reason is None:
            made = support.ask(
                candidate.id,
                candidate.task,
                shown.get("query_text", ""),
                shown["answer"],
                shown.get("document_text", ""),
                shown["reasoning"] if axes == ANSWER_REASONING else "",
                max_tokens,
            )
            if any(material.size(prompt) > MAX_BYTES for prompt in made):
                reason = "too_long"
        if reason is None:
            rows += made
        else:
            skipped[candidate.id] = reason
    return Prompts(tuple(rows), skipped)


def judged(
    prompts: Iterable[Prompt], answers: Iterable[ModelAnswer], model: str, drawn: Drawn
) -> list[ReviewAnnotation]:
    """Rows of role judge on items of one task, see :func:`curation.prompts.relevance.concluded`."""
    conclude = functools.partial(_conclusion, drawn=drawn)
    return concluded(prompts, answers, judge_name(model, "support"), FORMS, conclude)


def _conclusion(given: Sequence[tuple[Prompt, ModelAnswer]], *, drawn: Drawn) -> Conclusion:
    orders, told = [], []
    for prompt, answer in given:
        values = read_answer(answer.text, json.loads(prompt.answer_schema))
        if answer.state != "answered" or values is None:
            return None, unread(answer), ""
        found = support.read(prompt, values)
        if isinstance(found, NotJudged):
            return None, found.value, ""
        orders.append(found.scores)
        told.append(" ".join(f"{axis} {values[axis]}" for axis in support.axes_of(prompt)))
    return *drawn(orders), "; ".join(told)
