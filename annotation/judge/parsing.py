"""Answers of a judge as grades: strict on what counts, tolerant of what stands around it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from annotation.judge.prompts import FORMS
from annotation.judge.records import ModelAnswer, Prompt
from annotation.judge.scores import TWO_AXIS, Variant, judge_name
from schemas.errors import InputError
from schemas.review import ReviewAnnotation, annotation_id
from schemas.task import Scale

_DECODER = json.JSONDecoder(object_pairs_hook=lambda pairs: _once(pairs))


def read_answer(text: str, answer_schema: Mapping[str, Any]) -> dict[str, int] | None:
    """The numbers of an answer, None when it is not in the form asked for.

    Text around the object, code fences and further keys are let pass, as plain servers add them. Two objects
    that give different numbers, a key given twice and numbers outside the scale are not.
    """
    found = [_fitting(value, answer_schema) for value in _objects(text)]
    fitting = [item for item in found if item is not None]
    if not fitting or any(item != fitting[0] for item in fitting):
        return None
    return fitting[0]


def is_valid(prompt: Prompt, text: str) -> bool:
    """Whether an answer is in the form its prompt asks for."""
    return read_answer(text, json.loads(prompt.answer_schema)) is not None


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any] | None:
    keys = [key for key, _ in pairs]
    return dict(pairs) if len(keys) == len(set(keys)) else None


def _objects(text: str) -> Iterator[Any]:
    """JSON objects in a text, outermost ones, in order."""
    place = text.find("{")
    while place >= 0:
        try:
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            yield value
        place = text.find("{", end)


def _fitting(value: Any, schema: Mapping[str, Any]) -> dict[str, int] | None:
    if not isinstance(value, dict):
        return None
    numbers: dict[str, int] = {}
    for key in schema["required"]:
        number = value.get(key)
        if type(number) is not int or number not in schema["properties"][key]["enum"]:
            return None  # type(), for True is an int too
        numbers[key] = number
    return numbers


def score_of(variant: Variant, numbers: Mapping[str, int]) -> int:
    """Score 0 to 3 of the numbers of one answer."""
    if variant == "umbrela":
        return numbers["score"]
    return TWO_AXIS[numbers["topic"], numbers["need"]]


def judged(
    prompts: Iterable[Prompt],
    answers: Iterable[ModelAnswer],
    model: str,
    variant: Variant,
    scale: Scale,
) -> list[ReviewAnnotation]:
    """Rows of role judge on items of one task, by candidate id; none where a form has no answer yet.

    Raises:
        InputError: an answer is not to one of these prompts, or a prompt is of another variant.
    """
    asked = {prompt.id: prompt for prompt in prompts}
    by_subject: dict[str, dict[str, tuple[Prompt, ModelAnswer]]] = defaultdict(dict)
    for answer in answers:
        if answer.prompt_id not in asked:
            raise InputError("an answer is to no prompt of this judge", record=answer.prompt_id)
        prompt = asked[answer.prompt_id]
        by_subject[prompt.subject][prompt.form] = (prompt, answer)
    rows: list[ReviewAnnotation] = []
    for subject, of_form in sorted(by_subject.items()):
        if set(of_form) == set(FORMS[variant]):
            ordered = [of_form[form] for form in FORMS[variant]]
            grade = _conclusion(ordered, variant, scale)
            rows.append(_row(subject, ordered[0][0].task, judge_name(model, variant), grade, len(rows) + 1))
    return rows


def _row(
    subject: str, task: str, name: str, conclusion: tuple[int | None, str, str], sequence: int
) -> ReviewAnnotation:
    grade, reason, comment = conclusion
    return ReviewAnnotation(
        id=annotation_id(subject, name, "judge", grade, reason),
        candidate_id=subject,
        task=task,
        annotator=name,
        role="judge",
        grade=grade,
        reason=reason,
        comment=comment,
        sequence=sequence,
    )


def _conclusion(
    given: Sequence[tuple[Prompt, ModelAnswer]], variant: Variant, scale: Scale
) -> tuple[int | None, str, str]:
    """Grade, reason and comment: the numbers of each form, in the order of FORMS."""
    grades, told = [], []
    for prompt, answer in given:
        numbers = read_answer(answer.text, json.loads(prompt.answer_schema))
        if answer.state != "answered" or numbers is None:
            return None, "invalid" if answer.state == "answered" else answer.state, ""
        grades.append(scale.grade(score_of(variant, numbers)))
        told.append(" ".join(f"{key} {number}" for key, number in sorted(numbers.items())))
    comment = "; ".join(told)
    return (grades[0], "", comment) if len(set(grades)) == 1 else (None, "unstable", comment)
