"""The labelling interface of a kind and task as Label Studio XML, its guidelines, and the hash of both."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Literal
from xml.etree.ElementTree import Element, SubElement, tostring

from annotation.layouts import questions
from annotation.layouts.answers import CANNOT
from annotation.layouts.data import KEYS
from annotation.layouts.guidelines import guidelines
from annotation.layouts.questions import Asked
from schemas.hashing import sha256_text
from schemas.review import Kind
from schemas.task import Task

_REASON_KEYS = {
    "image_unreadable": "i",
    "text_incomplete": "t",
    "outside_field": "f",
    "ambiguous": "a",
    "other": "o",
    "privacy": "p",
    "wrong_patient": "w",
    "consent": "n",
    "offensive": "x",
}
_REASON_NAMES = {
    "image_unreadable": "Image unreadable",
    "text_incomplete": "Text incomplete",
    "outside_field": "Outside my field",
    "ambiguous": "Question ambiguous",
    "other": "Other reason",
    "privacy": "Privacy",
    "wrong_patient": "Wrong patient",
    "consent": "No consent",
    "offensive": "Offensive",
}


@dataclass(frozen=True, slots=True)
class Layout:
    """What a project shows: Label Studio XML, guidelines as HTML, and a hash of both (12 hex digits)."""

    config: str
    guidelines: str
    version: str


def layout(kind: Kind, task: Task | None = None) -> Layout:
    """Labelling interface of a kind; a relevance kind has question, grades and guideline of its task.

    Raises:
        UsageError: a relevance kind without a task.
    """
    asked = questions.asked(kind, task)
    of_task = task if kind in questions.RELEVANCE else None
    root = Element("View", className=f"mq mq-{kind}")
    _add(root, "Style").text = (files(__package__) / "style.css").read_text("utf-8")
    _add(root, "Header", value=asked.text, size="3")
    body = _add(root, "View", className="mq-body")
    keys = KEYS[kind]
    _panel(body, "left", asked.left, keys)
    if "right" in keys:
        _panel(body, "right", asked.right, keys)
    if "options" in keys:
        _options(body, asked)
    _answer(root, kind, asked)
    config = tostring(root, encoding="unicode")
    text = guidelines(kind, of_task)
    return Layout(config, text, sha256_text(f"{config}\x00{text}")[:12])


def _panel(body: Element, side: Literal["left", "right"], name: str, keys: tuple[str, ...]) -> None:
    panel = _add(body, "View", className=f"mq-panel mq-{side}")
    _add(panel, "Header", value=name, size="5")
    if f"{side}_image" in keys:
        box = _add(panel, "View", className="mq-image")
        _add(box, "HyperText", name=f"{side}_veil", value=f"${side}_veil", inline="true")
        _add(
            box,
            "Image",
            name=f"{side}_image",
            value=f"${side}_image",
            zoom="true",
            zoomControl="true",
            selectionControl="false",
            brightnessControl="true",
            contrastControl="true",
            horizontalAlignment="center",
            maxHeight="100%",
        )
    box = _add(panel, "View", className="mq-words")
    _add(box, "HyperText", name=side, value=f"${side}", inline="true", clickableLinks="true")


def _options(body: Element, asked: Asked) -> None:
    panel = _add(body, "View", className="mq-panel mq-options")
    _add(panel, "Header", value=asked.right, size="5")
    _grades(panel, value="$options")


def _grades(parent: Element, **more: str) -> Element:
    message = "Choose a grade, or “cannot judge”."
    attributes = {"choice": "single-radio", "required": "true", "requiredMessage": message, **more}
    return _add(parent, "Choices", name="grade", toName="left", **attributes)


def _answer(root: Element, kind: Kind, asked: Asked) -> None:
    area = _add(root, "View", className="mq-answer")
    if asked.grades:
        choices = _grades(_add(area, "View", className="mq-grades"), layout="inline")
        for grade in asked.grades:
            _button(choices, str(grade.score), str(grade.score), grade.name, grade.to_reviewers)
        _button(choices, CANNOT, "C", "Cannot judge", "A reason is asked for.")
    when = {"visibleWhen": "choice-selected", "whenTagName": "grade", "whenChoiceValue": CANNOT}
    row = _add(area, "View", className="mq-reasons", **when)
    reasons = _add(
        row,
        "Choices",
        name="reason",
        toName="left",
        choice="single-radio",
        layout="inline",
        required="true",
        requiredMessage="Say why it cannot be judged.",
        **when,
    )
    for reason, text in questions.reasons(kind).items():
        _button(reasons, reason, _REASON_KEYS[reason].upper(), _REASON_NAMES[reason], "", text)
    other = {"visibleWhen": "choice-selected", "whenTagName": "reason", "whenChoiceValue": "other"}
    # Label Studio hides a TextArea only together with a View around it.
    _text(
        _add(row, "View", className="mq-why", **other),
        "why",
        "The reason",
        required="true",
        requiredMessage="Tell the reason.",
        **other,
    )
    _text(_add(area, "View", className="mq-comment"), "comment", "Comment (optional)")


def _button(choices: Element, value: str, key: str, name: str, text: str, hint: str = "") -> None:
    html = f"<b><kbd>{key}</kbd> {escape(name)}</b>"
    if text:
        html += f"<small>{escape(text)}</small>"
    attributes = {"hint": hint} if hint else {}
    _add(choices, "Choice", value=value, html=html, hotkey=key.lower(), **attributes)


def _text(parent: Element, name: str, placeholder: str, **more: str) -> None:
    attributes = {"rows": "1", "maxSubmissions": "1", "editable": "true", "placeholder": placeholder, **more}
    _add(parent, "TextArea", name=name, toName="left", **attributes)


def _add(parent: Element, tag: str, **attributes: str) -> Element:
    return SubElement(parent, tag, attributes)
