"""Layouts: well-formed, showing what they should and nothing else; texts stay text; answers are checked."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree

import pytest
from lxml import html

from annotation.layouts import SHOWN, Layout, answer, data_sha256, task_data
from annotation.layouts import grades as grades_of
from annotation.layouts import layout as layout_of
from annotation.layouts.answers import Answer
from annotation.layouts.data import KEYS
from curation.tasks.registry import TASKS
from schemas.errors import InputError, UsageError
from schemas.review import CANNOT_JUDGE, Kind
from tests.annotation.review_samples import CAPTION, HOSTILE, LAYOUTS, candidate, concept, fields

IMAGE = "ab" * 32
OURS = {"div", "span", "b", "a", "img", "mark", "details", "summary", "small", "kbd"}
ATTRIBUTES = {
    "class",
    "dir",
    "lang",
    "href",
    "target",
    "rel",
    "title",
    "id",
    "role",
    "aria-label",
    "src",
    "alt",
}


def layout(kind: Kind, task: str) -> Layout:
    return layout_of(kind, TASKS.get(task))


def grades(kind: Kind, task: str) -> tuple[int, ...]:
    return grades_of(kind, TASKS.get(task))


def words(element: html.HtmlElement) -> str:
    """All text of an element."""
    return "".join(map(str, element.itertext()))


def url(sha256: str) -> str:
    return f"/media/{sha256}.png"


@pytest.mark.parametrize(("kind", "task"), LAYOUTS)
def test_layout_is_complete(kind: Kind, task: str) -> None:
    made = layout(kind, task)
    assert made == layout(kind, task) and re.fullmatch("[0-9a-f]{12}", made.version)
    root = ElementTree.fromstring(made.config)
    values = {tag.get("value", "")[1:] for tag in root.iter() if tag.get("value", "").startswith("$")}
    assert values == set(KEYS[kind])
    names = [tag.get("name") for tag in root.iter() if tag.get("name")]
    assert len(names) == len(set(names))
    style = root.find("Style")
    # Label Studio escapes these inside <style>, where they would no longer be CSS.
    assert style is not None and not set("<>&") & set(style.text or "")
    buttons = {tag.get("value"): tag for tag in root.iter("Choice")}
    hotkeys = [tag.get("hotkey") for tag in buttons.values()]
    assert len(hotkeys) == len(set(hotkeys))
    if kind != "confusion":
        assert {value for value in buttons if value and value.isdigit()} == {*map(str, grades(kind, task))}
    for grade in TASKS[task].grades if task in TASKS and kind not in ("confusion", "translation") else ():
        assert grade.to_reviewers in words(html.fromstring(buttons[str(grade.score)].attrib["html"]))
    reasons = set(CANNOT_JUDGE) - (set() if "image" in kind or "figure" in kind else {"image_unreadable"})
    assert {value for value in buttons if value in CANNOT_JUDGE} == reasons


@pytest.mark.parametrize(("kind", "task"), LAYOUTS)
def test_guidelines_explain_every_grade_with_two_examples(kind: Kind, task: str) -> None:
    page = html.fromstring(layout(kind, task).guidelines)
    sections: dict[str, int] = {}
    for tag in page:
        if tag.tag == "h2":
            heading = words(tag)
        elif tag.tag == "ul":
            sections[heading] = len(tag)
    starts = {heading.split(":")[0]: count for heading, count in sections.items()}
    expected = ("A number", "0") if kind == "confusion" else tuple(map(str, grades(kind, task)))
    assert all(starts[grade] >= 2 for grade in expected), starts
    assert {"Cannot judge", "Working"} <= set(starts) and "Privacy" in words(page)


@pytest.mark.parametrize("sensitive", [False, True])
@pytest.mark.parametrize(("kind", "task"), LAYOUTS)
def test_text_stays_text(kind: Kind, task: str, sensitive: bool) -> None:
    texts = fields(kind, task, IMAGE, HOSTILE)
    shown = candidate(kind, task, {**texts, **({"license": HOSTILE} if "license" in texts else {})})
    data = task_data(shown, url)
    assert set(data) == {"candidate_id", "content_sha256", *KEYS[kind]}
    parts = [value for key, value in data.items() if key in KEYS[kind] and not key.endswith("_image")]
    for part in parts:
        for piece in [item["html"] for item in part] if isinstance(part, list) else [part]:
            page = html.fromstring(f"<section>{piece}</section>")
            assert page.tag == "section"
            assert {tag.tag for tag in page.iterdescendants()} <= OURS
            assert {name for tag in page.iterdescendants() for name in tag.attrib} <= ATTRIBUTES
    said = " ".join(words(html.fromstring(f"<p>{_html(value)}</p>")) for value in parts)
    for name, text in texts.items():
        if "url" not in name and name not in ("concepts", "options", "language", "source_language"):
            assert name.endswith(("image", "license")) or text in said, name


def _html(value: Any) -> str:
    return "".join(item["html"] for item in value) if isinstance(value, list) else value


@pytest.mark.parametrize(("kind", "task"), LAYOUTS)
def test_nothing_hidden_is_sent(kind: Kind, task: str) -> None:
    sent = json.dumps(task_data(candidate(kind, task, fields(kind, task, IMAGE)), url))
    assert not [word for word in ("hidden", "gold", "987654321") if word in sent]


def test_images_have_names_and_a_veil_that_is_no_form_field() -> None:
    """In a form field the key of a grade would be a letter."""
    for kind, task in (LAYOUTS[0], LAYOUTS[1], ("figure_caption", "figure_caption")):
        data = task_data(candidate(kind, task, fields(kind, task, IMAGE), sensitive=True), url)
        boxes = [html.fromstring(f"<p>{data[key]}</p>") for key in KEYS[kind] if key.endswith("_veil")]
        assert not [tag for box in boxes for tag in box.iter("input", "select", "textarea", "button")]
        named = "query" if (kind, task) == LAYOUTS[0] else "document"
        images = [tag for box in boxes for tag in box.iter("span") if tag.get("role") == "img"]
        assert [tag.get("aria-label") for tag in images] == [f"Image of the {named}"]
        assert [tag.get("open") for box in boxes for tag in box.iter("details")] == [None]


def test_every_image_of_a_row_is_shown_under_one_veil() -> None:
    names = ["a" * 64, "b" * 64 + "-0-0-9-9", "c" * 64]
    texts = {**fields(*LAYOUTS[0], IMAGE), "query_image": " ".join(names)}
    data = task_data(candidate(*LAYOUTS[0], texts, sensitive=True), url)
    assert data["left_image"] == url(names[0])
    box = html.fromstring(f"<div>{data['left_veil']}</div>")
    assert [tag.get("aria-label") for tag in box.iter("span") if tag.get("role")] == [
        f"Image {place} of 3 of the query" for place in (1, 2, 3)
    ]
    assert [tag.get("src") for tag in box.iter("img")] == [url(names[1]), url(names[2])]
    ids = [tag.get("id") for tag in box.iter("details")]
    assert len(set(ids)) == 3 and [tag.get("open") for tag in box.iter("details")] == [None] * 3
    assert "Sensitive images: click to show" in words(box)


def test_hash_tells_of_edits_only() -> None:
    data = task_data(candidate("relevance_image", "visual_context", fields(*LAYOUTS[0], IMAGE)), url)
    assert data_sha256(data) == data["content_sha256"]
    assert data_sha256(json.loads(json.dumps(data))) == data["content_sha256"]
    assert data_sha256({**data, "right": "edited"}) != data["content_sha256"]
    blurred = candidate("relevance_image", "visual_context", fields(*LAYOUTS[0], IMAGE), sensitive=True)
    assert task_data(blurred, url)["content_sha256"] != data["content_sha256"]


def test_concepts_are_marked_and_the_longer_one_wins() -> None:
    marks = [
        concept("query_text", CAPTION, "nodule", 'Nodule "of" lung'),
        concept("query_text", CAPTION, "12 mm nodule", "Small nodule"),
        concept("query_text", CAPTION, "left upper lobe", "Left upper lobe"),
    ]
    texts = {**fields(*LAYOUTS[0], IMAGE), "concepts": json.dumps(marks)}
    left = task_data(candidate(*LAYOUTS[0], texts), url)["left"]
    found = html.fromstring(f"<p>{left}</p>").findall(".//mark")
    assert [(mark.text, mark.get("title")) for mark in found] == [
        ("12 mm nodule", "Small nodule · HP:0012735"),
        ("left upper lobe", "Left upper lobe · HP:0012735"),
    ]
    marks[0]["end"] = len(CAPTION) + 1
    with pytest.raises(InputError, match="outside 'query_text'"):
        task_data(candidate(*LAYOUTS[0], {**texts, "concepts": json.dumps(marks)}), url)


def test_unfit_candidates_are_refused() -> None:
    good = candidate(*LAYOUTS[0], fields(*LAYOUTS[0], IMAGE))
    swapped = type(good)(**{**_fields(good), "shown": good.shown[::-1]})
    with pytest.raises(InputError, match="out of order") as caught:
        task_data(swapped, url)
    assert ", ".join(SHOWN["relevance_image"]) in caught.value.hint
    with pytest.raises(InputError, match="document_text or document_image is missing"):
        task_data(candidate(*LAYOUTS[0], {"query_text": "a", "query_image": IMAGE}), url)
    with pytest.raises(InputError, match="not a web address"):
        bad = {**fields("confusion", "", IMAGE), "query_source_url": "javascript:alert(1)"}
        task_data(candidate("confusion", "", bad), url)
    with pytest.raises(UsageError, match="none was given"):
        layout("relevance_text", "no_such_task")


def _fields(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__dataclass_fields__}


def item(name: str, value: Any) -> dict[str, Any]:
    text = name in ("why", "comment")
    kind = "textarea" if text else "choices"
    return {"from_name": name, "to_name": "left", "type": kind, "value": {"text" if text else kind: value}}


def test_answers_are_read() -> None:
    assert answer([item("grade", ["2"])]) == Answer(2, "", "")
    assert answer([item("comment", " a\nb "), item("grade", ["0"])], grades=(0, 2)) == Answer(0, "", "a\nb")
    unclear = [item("grade", ["cannot_judge"]), item("reason", ["ambiguous"])]
    assert answer(unclear) == Answer(None, "ambiguous", "")
    other = [item("grade", ["cannot_judge"]), item("reason", ["other"]), item("why", ["privacy"])]
    assert answer([*other, item("comment", ["page 2"])]) == Answer(None, "other", "privacy\npage 2")


@pytest.mark.parametrize(
    "result",
    [
        [],
        [item("grade", [])],
        [item("grade", ["2", "1"])],
        [item("grade", ["2"]), item("grade", ["1"])],
        [item("grade", ["1"])],
        [item("grade", ["12"])],
        [item("grade", ["²"])],
        [item("grade", ["relevant"])],
        [item("grade", [2])],
        [item("grade", None)],
        [item("grade", ["2"]), item("reason", ["ambiguous"])],
        [item("grade", ["cannot_judge"])],
        [item("grade", ["cannot_judge"]), item("reason", ["tired"])],
        [item("grade", ["cannot_judge"]), item("reason", ["other"]), item("comment", [" "])],
        [item("grade", ["2"]), item("stars", ["5"])],
        [{"from_name": "grade", "type": "rating", "value": {"rating": 2}}],
        [{"type": "choices", "value": {"choices": ["2"]}}],
    ],
)
def test_nonsense_is_refused(result: list[dict[str, Any]]) -> None:
    with pytest.raises(InputError, match="not an answer to the layout"):
        answer(result, grades=(0, 2))
