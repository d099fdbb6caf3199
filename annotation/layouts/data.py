"""The data of one Label Studio task: what is shown, the candidate's id, a hash of both, nothing hidden."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from html import escape

from annotation.layouts import questions
from annotation.layouts.answers import CANNOT
from annotation.layouts.fields import MAX_OPTIONS, REQUIRED, SHOWN
from annotation.layouts.markup import (
    block,
    concepts,
    language_name,
    parse_list,
    source_html,
    text_html,
)
from schemas.errors import InputError
from schemas.hashing import canonical_json, sha256_text
from schemas.review import Kind, ReviewCandidate

TaskData = dict[str, str | list[dict[str, str]]]
KEYS: dict[Kind, tuple[str, ...]] = {
    "relevance_image": ("left", "left_image", "left_veil", "right", "right_image", "right_veil"),
    "relevance_text": ("left", "right"),
    "confusion": ("left", "options"),
    "translation": ("left", "right"),
    "figure_caption": ("left", "left_image", "left_veil", "right"),
    "case_boundary": ("left",),
    "answer_key": ("left", "right"),
}
"""kind -> keys of its task data beside candidate_id and content_sha256; the layouts name each of them."""
HIDDEN_COLUMNS: dict[Kind, tuple[str, ...]] = {
    kind: tuple(f"tasks:data.{key}" for key in (*keys, "content_sha256")) for kind, keys in KEYS.items()
}
"""kind -> columns a project's list of tasks must not show: it would give small pictures without any blur.

Label Studio takes them as `hiddenColumns` of a view made before anybody opens the project.
"""
NO_IMAGE = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
"""One transparent pixel: Label Studio refuses an image without an address."""


def task_data(
    candidate: ReviewCandidate, image_url: Callable[[str], str], kind: Kind | None = None
) -> TaskData:
    """What is sent of a candidate, as HTML whose texts are escaped.

    Args:
        candidate: what to show; only its id, kind, `shown` and `is_sensitive` are read.
        image_url: hex SHA-256 of an image -> the address it is served at, or a data URL.
        kind: layout of the project, when it has room for more than the candidate shows; see `common_kind`.

    Raises:
        InputError: a field the kind does not show, twice the same, out of order, or one missing.
    """
    shown = _checked(candidate)
    images = {
        name: [image_url(image) for image in held.split()]
        for name, held in shown.items()
        if name.endswith("_image")
    }
    values = _BUILDERS[candidate.kind](shown)
    for side, name in (("left", "query_image"), ("right", "document_image")):
        if candidate.kind == "figure_caption":
            name = "document_image" if side == "left" else ""
        urls = images.get(name, [])
        values[f"{side}_image"] = urls[0] if urls else NO_IMAGE
        values[f"{side}_veil"] = _veil(candidate, side, urls)
    data: TaskData = {"candidate_id": candidate.id}
    data |= {key: values[key] for key in KEYS[kind or candidate.kind]}
    data["content_sha256"] = data_sha256(data)
    return data


def common_kind(kinds: Collection[Kind]) -> Kind | None:
    """The layout that has room for all of some kinds, None when none has.

    The one with images serves pairs without one too: their boxes are hidden.
    """
    if set(kinds) == {"relevance_image", "relevance_text"}:
        return "relevance_image"
    return next(iter(kinds)) if len(set(kinds)) == 1 else None


def data_sha256(data: Mapping[str, object]) -> str:
    """Hash of task data without its own `content_sha256`: tells whether somebody edited it on the server."""
    return sha256_text(canonical_json({k: v for k, v in data.items() if k != "content_sha256"}))


def _checked(candidate: ReviewCandidate) -> dict[str, str]:
    order = SHOWN[candidate.kind]
    names = [item.name for item in candidate.shown]
    if names != [name for name in order if name in names]:
        hint = f"fields of {candidate.kind}, in order: {', '.join(order)}"
        raise InputError("fields that are not shown, twice, or out of order", record=candidate.id, hint=hint)
    shown = {item.name: item.value for item in candidate.shown if item.value.strip()}
    for group in REQUIRED[candidate.kind]:
        if not any(name in shown for name in group):
            raise InputError(f"nothing to show: {' or '.join(group)} is missing", record=candidate.id)
    return shown


def _veil(candidate: ReviewCandidate, side: str, urls: Sequence[str]) -> str:
    """What stands on the image in its box: its name for screen readers, more images, a veil over all of them.

    Of an empty box it is the box's mark. The veil is no form field, for in one the keys of grades are
    letters. Its id makes it new with every task, so none opens unveiled; so do those of more images, which
    open as large as the box.
    """
    if not urls:
        return '<span class="mq-no-image"></span>'
    of = "query" if side == "left" and candidate.kind != "figure_caption" else "document"
    html = f'<span role="img" aria-label="{_numbered(1, urls)} of the {of}"></span>'
    rows = []
    for place, url in enumerate(urls[1:], start=2):
        name = escape(f"more-{side}-{place}-{candidate.id}")
        named = f'<span role="img" aria-label="{_numbered(place, urls)} of the {of}"></span>'
        picture = f'{named}<img src="{escape(url)}" alt="">'  # Label Studio empties what alt says
        rows.append(f'<details class="mq-more" id="{name}"><summary>{picture}</summary></details>')
    if rows:
        html += f'<div class="mq-strip">{"".join(rows)}</div>'
    if not candidate.is_sensitive:
        return html
    name = escape(f"veil-{side}-{candidate.id}")
    what = "image" if len(urls) == 1 else "images"
    words = f"<span>Sensitive {what}: click to show</span><span>Hide the {what}</span>"
    return f'{html}<details class="mq-veil" id="{name}"><summary>{words}</summary></details>'


def _numbered(place: int, urls: Sequence[str]) -> str:
    return "Image" if len(urls) == 1 else f"Image {place} of {len(urls)}"


def _side(shown: Mapping[str, str], fields: Mapping[str, str], language: str) -> str:
    """Fields (name -> CSS class) of one side, their concepts marked."""
    marked = concepts(shown.get("concepts", "[]"), shown)
    parts = []
    for name, css in fields.items():
        html = text_html(shown.get(name, ""), [c for c in marked if c.field == name])
        parts.append(block(css, html, language))
    return "".join(parts)


def _relevance(shown: Mapping[str, str]) -> TaskData:
    language = shown.get("language", "en")
    before = ""
    if "reference_diagnosis" in shown:
        name = "<b>Principal diagnosis of this case:</b> "
        before = block("mq-fact", name + escape(shown["reference_diagnosis"]))
    if "answer" in shown:
        before += block("mq-fact", "<b>Answer:</b> " + escape(shown["answer"]))
    if "reasoning" in shown:
        told = "<summary>How the answer follows</summary>" + block("mq-text", escape(shown["reasoning"]))
        before += block("mq-fact", f"<details>{told}</details>")
    left = _side(shown, {"query_text": "mq-text"}, language)
    right = _side(shown, {"document_title": "mq-title", "document_text": "mq-text"}, "")
    return {"left": _chip(language) + before + left, "right": right}


def _confusion(shown: Mapping[str, str]) -> TaskData:
    language = shown.get("language", "en")
    marked = concepts(shown.get("concepts", "[]"), shown)
    text = text_html(shown["query_text"], [c for c in marked if c.field == "query_text"], "mq-asked")
    left = block("mq-text", text, language) + _source(shown, "query_")
    options = parse_list(shown["options"], "options", ("id", "name", "text"))
    if not 2 <= len(options) <= MAX_OPTIONS:
        raise InputError(f"{len(options)} options instead of 2 to {MAX_OPTIONS}")
    rows = [
        _option(str(number), str(number), item["name"], item["text"])
        for number, item in enumerate(options, start=1)
    ]
    none = questions.NONE_OF_THEM
    rows.append(_option("0", "0", none.name, none.to_reviewers))
    rows.append(_option(CANNOT, "C", "Cannot judge", "A reason is asked for."))
    return {"left": _chip(language) + left, "options": [*rows]}


def _option(value: str, key: str, name: str, text: str) -> dict[str, str]:
    html = f"<b><kbd>{key}</kbd> {escape(name)}</b><small>{escape(text)}</small>"
    return {"value": value, "hotkey": key.lower(), "html": html}


def _translation(shown: Mapping[str, str]) -> TaskData:
    source, target = shown.get("source_language", "en"), shown["language"]
    left = _chip(source, always=True) + block("mq-text", escape(shown["source_text"]), source)
    right = _chip(target, always=True) + block("mq-text", escape(shown["translated_text"]), target)
    return {"left": left + _source(shown), "right": right}


def _figure_caption(shown: Mapping[str, str]) -> TaskData:
    language = shown.get("language", "en")
    right = block("mq-text", escape(shown["caption_text"]), language)
    return {"left": "", "right": _chip(language) + right + _source(shown)}


def _case_boundary(shown: Mapping[str, str]) -> TaskData:
    parts = (
        f'<span class="mq-around">{escape(shown.get("text_before", ""))}</span>',
        f'<span class="mq-case">{escape(shown["case_text"])}</span>',
        f'<span class="mq-around">{escape(shown.get("text_after", ""))}</span>',
    )
    language = shown.get("language", "en")
    title = block("mq-title", escape(shown.get("document_title", "")), language)
    return {"left": _chip(language) + title + block("mq-text", "".join(parts), language) + _source(shown)}


def _answer_key(shown: Mapping[str, str]) -> TaskData:
    language = shown.get("language", "en")
    left = block("mq-text", escape(shown["query_text"]), language)
    left += block("mq-text", escape(shown.get("answer_options", "")), language)
    right = block("mq-title", escape(shown["answer_key"]), language)
    right += block("mq-text", escape(shown.get("explanation", "")), language)
    return {"left": _chip(language) + left, "right": right}


def _chip(language: str, always: bool = False) -> str:
    """The language, when it is not English or the question is about languages."""
    if not always and language.split("-")[0].lower() == "en":
        return ""
    return f'<span class="mq-chip">{escape(language_name(language))}</span>'


def _source(shown: Mapping[str, str], prefix: str = "") -> str:
    return source_html(shown.get(f"{prefix}source_url", ""), shown.get(f"{prefix}license", ""))


_BUILDERS: dict[Kind, Callable[[Mapping[str, str]], TaskData]] = {
    "relevance_image": _relevance,
    "relevance_text": _relevance,
    "confusion": _confusion,
    "translation": _translation,
    "figure_caption": _figure_caption,
    "case_boundary": _case_boundary,
    "answer_key": _answer_key,
}
