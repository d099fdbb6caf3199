"""Defects planted for the rules on other benchmarks: in a copy of the release and an invented benchmark."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image

from curation.audit.rule import Canary, Rows

_TEXT = (
    "a glazier from the northern valley came with burning soles and pale brittle nails after eleven weeks "
    "of fever which had begun on the day his brother returned from the quarry carrying two sacks of grey "
    "clay and one small jar of amber resin that nobody in the village was able to name"
)
_WORDS = _TEXT.split()
_EVERY = 13
Plant = Callable[[Rows, Rows], Sequence[str] | None]


def _exact(words: list[str]) -> str:
    """The same words in other case and punctuation."""
    return " ".join(words).upper().replace(" AND ", " -- AND, ") + "!"


def _near(words: list[str]) -> str:
    """Every thirteenth word changed: nearly the same, and no run of 13 words."""
    changed = [f"other{place}" if place % _EVERY == _EVERY - 1 else word for place, word in enumerate(words)]
    return " ".join(changed)


def _span(words: list[str]) -> str:
    """A run of 13 words among others."""
    around = [f"around{place}" for place in range(40)]
    return " ".join([*around[:20], *words[5:18], *around[20:]])


def _question(words: list[str]) -> str:
    """A short question of these words."""
    return f"{' '.join(words[4:13]).capitalize()}?"


def _whole(words: list[str]) -> str:
    """All the words as they are."""
    return " ".join(words)


@dataclass(frozen=True, slots=True)
class _Text:
    """One text of ours that is put, changed, into another benchmark; `number` keeps canaries apart."""

    number: int
    table: str
    is_positive: bool
    other_table: str
    is_other_positive: bool
    change: Callable[[list[str]], str]
    mine: Callable[[list[str]], str]

    def __call__(self, rows: Rows, second: Rows) -> Sequence[str] | None:
        """Plant it."""
        row = self._row(rows)
        if row is None:
            return None
        words = [f"{word}{self.number}" for word in _WORDS]
        row["text"] = self.mine(words)
        name = f"canary-text-{self.number}"
        second[self.other_table].append({"id": name, "text": self.change(words)})
        self._judge(second, name)
        return [str(row["id"]), name]

    def _row(self, rows: Rows) -> dict[str, Any] | None:
        """A row of a table; of the corpus, one that is positive or one that is not."""
        judged = {row["corpus-id"] for row in rows["qrels"] if (row["score"] or 0) > 0}
        found = [
            row
            for row in rows[self.table]
            if self.table == "queries" or (row["id"] in judged) == self.is_positive
        ]
        return found[self.number % len(found)] if found else None

    def _judge(self, second: Rows, name: str) -> None:
        """A query of theirs and its positive, so that their other documents are not positive."""
        question, answer = f"canary-question-{self.number}", f"canary-answer-{self.number}"
        second["queries"].append({"id": question, "text": f"who keeps the lamp of pier {self.number} lit"})
        if not self.is_other_positive:
            text = f"keeper {self.number} sleeps until noon and rows across whenever fog horns fail"
            second["corpus"].append({"id": answer, "text": text})
        answer = name if self.is_other_positive else answer
        second["qrels"].append({"query-id": question, "corpus-id": answer, "score": 1})


_Kind = tuple[str, Callable[[list[str]], str], Callable[[list[str]], str]]
_EXACT: _Kind = ("word for word, in other case and punctuation", _exact, _whole)
_NEAR: _Kind = ("nearly, with every thirteenth word changed", _near, _whole)
_SPAN: _Kind = ("in part, a run of 13 words", _span, _whole)
_WHOLE: _Kind = ("whole, nine words inside a longer text", _whole, _question)
_HOLDS: _Kind = ("and is a question of nine words that ours holds", _question, _whole)
_WHERE = {"against": "of another benchmark", "hashlist": "of another benchmark's hash list"}


def _texts(*planted: tuple[str, str, _Kind, str]) -> tuple[Canary, ...]:
    """Canaries from (ours, theirs, kind, role); a side is 'query', 'positive document' or 'document'."""
    canaries = []
    for number, (mine, theirs, (how, change, form), role) in enumerate(planted):
        tables = ["queries" if name == "query" else "corpus" for name in (mine, theirs)]
        plant = _Text(
            number,
            tables[0],
            mine.startswith("positive"),
            tables[1],
            theirs.startswith("positive"),
            change,
            form,
        )
        name = f"a {mine} that stands in a {theirs} {_WHERE[role]} {how}"
        canaries.append(Canary(name, plant, role))
    return tuple(canaries)


def _image(name: str, change: Callable[[bytes], bytes | None], *, from_end: bool = False) -> Plant:
    def plant(rows: Rows, second: Rows) -> Sequence[str] | None:
        found = [(table, row) for table in ("queries", "corpus") for row in rows[table]]
        for table, row in reversed(found) if from_end else found:
            data = (row.get("image") or {}).get("bytes")
            made = change(data) if data else None
            if made is not None:
                image = {"bytes": made, "path": "canary.png"}
                second[table].append({"id": name, "text": "a picture taken from there", "image": image})
                return [str(row["id"]), name]
        return None

    return plant


def _same(data: bytes) -> bytes | None:
    """The file as it is; None when it is no picture."""
    try:
        Image.open(io.BytesIO(data)).load()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    return data


def _rescaled(data: bytes) -> bytes | None:
    """The picture at 0.8 of its size, as another file; None when it is broken, small or plain."""
    image = _telling(data)
    if image is None:
        return None
    size = (round(image.width * 0.8), round(image.height * 0.8))
    return _png(image.convert("RGB").resize(size, Image.Resampling.LANCZOS), 6)


def _reencoded(rows: Rows, second: Rows) -> Sequence[str] | None:
    """The same pixels in two files of one format: what is planted there differs in its bytes alone."""
    name = "canary-reencoded"
    for table in ("corpus", "queries"):
        for row in reversed(rows[table]):
            image = _telling((row.get("image") or {}).get("bytes") or b"")
            if image is not None:
                mine, theirs = (_png(image.convert("RGB"), level) for level in (1, 9))
                row["image"] = {"bytes": mine, "path": "canary.png"}
                text = "the same picture in another file"
                second[table].append(
                    {"id": name, "text": text, "image": {"bytes": theirs, "path": "canary.png"}}
                )
                return [str(row["id"]), name]
    return None


def _telling(data: bytes) -> Image.Image | None:
    """A picture that hashes can tell from others."""
    try:
        image = Image.open(io.BytesIO(data))
        tones = image.convert("RGB").resize((32, 32)).getcolors(1_024) or [(1, 0)] * 99
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    return None if min(image.size) < 64 or len(tones) < 30 else image


def _png(image: Image.Image, level: int) -> bytes:
    out = io.BytesIO()
    image.save(out, format="PNG", compress_level=level)
    return out.getvalue()


QUERIES = _texts(
    ("query", "query", _EXACT, "against"),
    ("query", "document", _NEAR, "against"),
    ("query", "document", _SPAN, "against"),
    ("query", "query", _EXACT, "hashlist"),
    ("query", "document", _SPAN, "hashlist"),
    ("query", "document", _WHOLE, "against"),
    ("query", "query", _HOLDS, "against"),
    ("query", "query", _HOLDS, "hashlist"),
)
POSITIVES = _texts(
    ("positive document", "positive document", _EXACT, "against"),
    ("positive document", "positive document", _NEAR, "against"),
    ("positive document", "query", _SPAN, "against"),
    ("positive document", "query", _EXACT, "hashlist"),
    ("positive document", "positive document", _SPAN, "hashlist"),
    ("positive document", "query", _HOLDS, "against"),
)
DOCUMENTS = _texts(
    ("document", "document", _EXACT, "against"),
    ("document", "positive document", _NEAR, "against"),
    ("document", "query", _SPAN, "against"),
    ("positive document", "document", _EXACT, "against"),
    ("document", "positive document", _EXACT, "hashlist"),
    ("positive document", "document", _SPAN, "hashlist"),
    ("document", "query", _HOLDS, "hashlist"),
)
_BYTES = _image("canary-bytes", _same)
IMAGES = (
    Canary("an image whose bytes stand in another benchmark", _BYTES, "against"),
    Canary(
        "an image that stands in another benchmark at 0.8 of its size",
        _image("canary-rescaled", _rescaled, from_end=True),
        "against",
    ),
    Canary("an image whose bytes stand in another benchmark's hash list", _BYTES, "hashlist"),
    Canary(
        "an image whose pixels another benchmark's hash list has from another file",
        _reencoded,
        "hashlist",
    ),
)
