"""Reading what a person submitted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.errors import InputError
from schemas.hashing import sendable
from schemas.review import CANNOT_JUDGE

CANNOT = "cannot_judge"
"""Choice that asks for a reason instead of a grade."""
_TYPES = {"grade": "choices", "reason": "choices", "why": "textarea", "comment": "textarea"}
_VALUE = {"choices": "choices", "textarea": "text"}


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: a grade, or None and the reason (see CANNOT_JUDGE); comment '' when there is none."""

    grade: int | None
    reason: str
    comment: str


def answer(result: Sequence[Mapping[str, Any]], grades: Collection[int] | None = None) -> Answer:
    """Read the `result` of a Label Studio annotation.

    Args:
        result: items with from_name, type and value, as the server gives them.
        grades: grades that may be given; any single digit when None.

    Raises:
        InputError: not exactly one grade or reason, an unknown field, choice or grade.
    """
    fields = _fields(result)
    choice = _one(fields, "grade")
    comment = "\n".join(text for text in (*fields.get("why", ()), *fields.get("comment", ())) if text)
    if choice == CANNOT:
        reason = _one(fields, "reason")
        if reason not in CANNOT_JUDGE:
            raise _bad(f"unknown reason {reason[:40]!r}")
        if reason == "other" and not comment:
            raise _bad("the reason 'other' needs a comment")
        return Answer(None, reason, comment)
    if "reason" in fields:
        raise _bad("both a grade and a reason for giving none")
    if not (choice.isascii() and choice.isdigit() and len(choice) == 1):
        raise _bad(f"unknown grade {choice[:40]!r}")
    if grades is not None and int(choice) not in grades:
        raise _bad(f"grade {choice} is not one of {sorted(grades)}")
    return Answer(int(choice), "", comment)


def _fields(result: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    for item in result:
        if not isinstance(item, Mapping):  # as a server gives it, whatever its type says
            raise _bad(f"a field that is {type(item).__name__}")
        name, kind, value = item.get("from_name"), item.get("type"), item.get("value")
        if (
            not isinstance(name, str)
            or name not in _TYPES
            or _TYPES[name] != kind
            or not isinstance(value, Mapping)
        ):
            raise _bad(f"unknown field {str(name)[:40]!r} of type {str(kind)[:40]!r}")
        if name in fields:
            raise _bad(f"the field {name!r} is there twice")
        given = value.get(_VALUE[_TYPES[name]])
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise _bad(f"the field {name!r} holds no text")
        fields[name] = [sendable(text).strip() for text in texts]
    return fields


def _one(fields: Mapping[str, list[str]], name: str) -> str:
    values = fields.get(name, [])
    if len(values) != 1:
        raise _bad(f"{len(values)} choices of {name!r} instead of one")
    return values[0]


def _bad(message: str) -> InputError:
    return InputError(f"not an answer to the layout: {message}")
