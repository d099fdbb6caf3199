"""One record of a question collection, in the documented form or a mapped one, as a :class:`Question`.

Strict: a record that contradicts itself (a correct option that is not there) is refused, never mended.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from schemas.article import Licence
from schemas.errors import InputError
from schemas.hashing import canonical_json, normalise_text, sha256_text
from schemas.ids import repository_id
from schemas.question import Option, Question
from schemas.stages import Reason
from sources.questions.citations import read_citations
from sources.questions.sidecar import Fields, Sidecar
from sources.questions.snippets import read_snippets

MAX_OPTIONS: Final = 100
_MAX_ID_BYTES: Final = 200
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_OPTION_LETTERS: Final = ("letter", "key", "label", "id")
_OPTION_TEXTS: Final = ("text", "value", "content", "option")
_SPACES = re.compile(r"[^\S\n]+")


class OwnReason(StrEnum):
    """Why a record makes no question, beside being invalid."""

    NEEDS_FIGURE = "needs_figure"


@dataclass(frozen=True, slots=True)
class Collection:
    """What the records of one file share."""

    id: str
    sidecar: Sidecar
    fields: Fields
    licence: Licence
    is_synthetic: bool


def read_question(record: Mapping[str, Any], number: int, collection: Collection) -> Question:
    """Read one record.

    Args:
        record: the object as it stands in the file.
        number: its 1-based place in the file.
        collection: what it shares with the others.

    Raises:
        InputError: it cannot be used (`record_invalid`, `needs_figure`), with what is wrong.
    """
    fields = collection.fields
    if fields.images and _get(record, fields.images):
        raise InputError("it comes with images, which are not taken", reason=OwnReason.NEEDS_FIGURE.value)
    options = _options(record, fields)
    text = _without_choices(_text(record, fields.question, "question"), options, fields.choices)
    if not text:
        raise _invalid("no question")
    context = _text(record, fields.context, "context") if fields.context else ""
    language = _text(record, fields.language, "language") or collection.sidecar.language
    if not _LANGUAGE.fullmatch(language):
        raise _invalid(f"not a language tag: {language[:40]!r}")
    return Question(
        id=_id(record, fields, collection, (context, text, *(option.text for option in options))),
        collection=collection.id,
        number=number,
        language=language,
        text=f"{context}\n\n{text}" if context else text,
        options=options,
        correct=_correct(_get(record, fields.correct), options, collection.sidecar.correct_from),
        answer=_lines(record, fields.answer, "answer"),
        explanation=_lines(record, fields.explanation, "explanation"),
        citations=read_citations(_get(record, fields.citations)),
        snippets=read_snippets(_get(record, fields.snippets)),
        subject=_text(record, fields.subject, "subject"),
        licence=collection.licence,
        is_synthetic=collection.is_synthetic,
    )


def _invalid(what: str) -> InputError:
    return InputError(what, reason=Reason.RECORD_INVALID.value)


def _get(record: Mapping[str, Any], path: str) -> Any:
    """The value at a path, None when there is none; a key may itself hold dots."""
    if path in record:
        return record[path]
    head, dot, rest = path.partition(".")
    inner = record.get(head)
    return _get(inner, rest) if dot and isinstance(inner, Mapping) else None


def clean(text: str) -> str:
    """Control characters out, spaces collapsed, lines kept: vignettes carry tables of values."""
    spaced = "".join(
        " " if char != "\n" and unicodedata.category(char) == "Cc" else char
        for char in text.replace("\r\n", "\n").replace("\r", "\n")
    )
    return "\n".join(_SPACES.sub(" ", line).strip() for line in spaced.split("\n")).strip()


def _as_text(value: Any, name: str) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise _invalid(f"{name} is a JSON {type(value).__name__}, not a text")


def _text(record: Mapping[str, Any], path: str, name: str) -> str:
    return _as_text(_get(record, path), name)


def _lines(record: Mapping[str, Any], path: str, name: str) -> str:
    """A text, or a list of texts one a line."""
    value = _get(record, path)
    if not isinstance(value, list):
        return _as_text(value, name)
    return "\n".join(filter(None, (_as_text(each, name) for each in value)))


def _without_choices(text: str, options: tuple[Option, ...], words: str) -> str:
    """A question's text without its options, where it repeats them behind certain words."""
    before, found, after = text.rpartition(words) if words else ("", "", "")
    if not found:
        return text
    if normalise_text(after) != normalise_text(" ".join(f"{each.letter} {each.text}" for each in options)):
        raise _invalid(f"other options behind {words!r} than its own")
    return before.strip()


def _id(record: Mapping[str, Any], fields: Fields, collection: Collection, content: tuple[str, ...]) -> str:
    prefix = collection.id.partition(":")
    if not fields.id:
        return repository_id(prefix[0], prefix[2], sha256_text(canonical_json(content))[:16])
    own = " ".join(_text(record, fields.id, "id").split())
    if not own:
        raise _invalid("no id")
    if len(own.encode("utf-8")) > _MAX_ID_BYTES:
        raise _invalid(f"an id longer than {_MAX_ID_BYTES} bytes")
    return repository_id(prefix[0], prefix[2], own)


def _options(record: Mapping[str, Any], fields: Fields) -> tuple[Option, ...]:
    if isinstance(fields.options, tuple):
        found = [_get(record, path) for path in fields.options]
        while found and found[-1] in (None, ""):  # collections pad to the longest question
            found.pop()
        value: Any = found
    else:
        value = _get(record, fields.options)
    if value is None:
        return ()
    if isinstance(value, Mapping):
        pairs = [(str(letter), text) for letter, text in value.items()]
    elif isinstance(value, list):
        pairs = [_pair(item, place) for place, item in enumerate(value)]
    else:
        raise _invalid("options are neither an object nor a list")
    return _checked([(letter.strip(), _as_text(text, "an option")) for letter, text in pairs])


def _pair(item: Any, place: int) -> tuple[str, Any]:
    """Letter and text of one option of a list; a bare text gets the letter of its place."""
    if isinstance(item, Mapping):
        letters = [item[key] for key in _OPTION_LETTERS if isinstance(item.get(key), str)]
        texts = [item[key] for key in _OPTION_TEXTS if key in item]
        if len(letters) != 1 or len(texts) != 1:
            raise _invalid(f"option {place + 1}: not one letter and one text")
        return letters[0], texts[0]
    if place >= len(string.ascii_uppercase):
        raise _invalid("more options than letters")
    return string.ascii_uppercase[place], item


def _checked(pairs: list[tuple[str, str]]) -> tuple[Option, ...]:
    if len(pairs) > MAX_OPTIONS:
        raise _invalid(f"more than {MAX_OPTIONS} options")
    if any(not letter or not text for letter, text in pairs):
        raise _invalid("an option without a letter or a text")
    if len({letter for letter, _ in pairs}) < len(pairs):
        raise _invalid("two options with one letter")
    return tuple(Option(letter=letter, text=text) for letter, text in pairs)


def _correct(value: Any, options: tuple[Option, ...], counts_from: int | None) -> tuple[str, ...]:
    """Letters of the correct options, in the order of the options."""
    if value is None or value == []:
        return ()
    letters = [option.letter for option in options]
    named = [_letter(item, letters, counts_from) for item in (value if isinstance(value, list) else [value])]
    return tuple(letter for letter in letters if letter in named)


def _letter(item: Any, letters: list[str], counts_from: int | None) -> str:
    if counts_from is not None:
        if isinstance(item, bool) or not isinstance(item, int):
            raise _invalid("a correct option is no number")
        if not 0 <= item - counts_from < len(letters):
            raise _invalid(f"correct option {item} is not among the options")
        return letters[item - counts_from]
    if not isinstance(item, str):
        raise _invalid("a correct option is not named by its letter")
    if item.strip() not in letters:
        raise _invalid(f"correct option {item.strip()[:20]!r} is not among the options")
    return item.strip()
