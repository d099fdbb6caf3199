"""Texts to plant for the rules on other benchmarks: in a copy of the release and, changed, in a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from curation.audit.rule import Defect
from curation.audit.rules.text_rows import literal
from curation.similarity.text.engine import SPAN

_TEXT = (
    "a glazier from the northern valley came with burning soles and pale brittle nails after eleven weeks "
    "of fever which had begun on the day his brother returned from the quarry carrying two sacks of grey "
    "clay and one small jar of amber resin that nobody in the village was able to name"
)
_AROUND = " ".join(f"around{place}" for place in range(20))
_Form = Callable[[Sequence[str]], str]


def _changed(words: Sequence[str]) -> str:
    """Every thirteenth word is another: nearly the same, and no run of 13 words."""
    return " ".join("other" if place % SPAN == SPAN - 1 else word for place, word in enumerate(words))


def _capitals(words: Sequence[str]) -> str:
    return f"{', '.join(words).upper()}!"


def _run(words: Sequence[str]) -> str:
    return " ".join([_AROUND, *words[5 : 5 + SPAN], _AROUND])


def _question(words: Sequence[str]) -> str:
    return f"{' '.join(words[4:13]).capitalize()}?"


def _few(words: Sequence[str]) -> str:
    return f"{' '.join(words[1:6])}?"


_FORMS: Mapping[str, tuple[_Form, _Form]] = {
    "word for word, in other case and punctuation": (" ".join, _capitals),
    "word for word, five words": (_few, _few),
    "nearly, with every thirteenth word changed": (" ".join, _changed),
    "nearly, five words with one letter less": (_few, lambda words: _few(words).replace("ley", "ly")),
    "in part, a run of 13 words": (" ".join, _run),
    "whole, nine words inside a longer text": (_question, " ".join),
    "and is a question of nine words that ours holds": (" ".join, _question),
}
"""How a text of ours stands in one of theirs: forms of the same words."""
_EXACT, _FEW, _NEAR, _LETTER, _RUN, _WHOLE, _HELD = _FORMS
_LISTED = "another benchmark's hash list"


def _row(what: str, name: str, text: str, schema: str = "") -> str:
    """SQL: a further query, document or positive document."""
    table = "queries" if what == "query" else "corpus"
    row = f"INSERT INTO {schema}{table} BY NAME SELECT '{name}' AS id, {literal(text)} AS text;"
    if what.startswith("positive"):
        row += f"""INSERT INTO {schema}qrels BY NAME
            SELECT 'planted-query' AS "query-id", '{name}' AS "corpus-id", 1 AS score;"""
    return row


def _shared(*planted: tuple[str, ...]) -> tuple[Defect, ...]:
    """Texts of ours that stand in another benchmark, from (ours, theirs, how, where)."""
    found = []
    for number, (mine, theirs, how, *listed) in enumerate(planted):
        words = [f"{word}{'abcdefghijkl'[number]}" for word in _TEXT.split()]  # no two have a word in common
        form, other = _FORMS[how]
        names = f"planted-{number}", f"planted-there-{number}"
        rows = _row(mine, names[0], form(words)) + _row(theirs, names[1], other(words), "second.")
        if not theirs.startswith("positive"):  # so that something else of theirs is
            rows += _row("positive", f"planted-answer-{number}", f"lamp {number} is lit at dusk", "second.")
        where = listed[0] if listed else "another benchmark"
        name = f"a {mine} that stands in a {theirs} of {where} {how}"
        plant = f"{rows} SELECT '{names[0]}', '{names[1]}'"
        found.append(Defect(name, plant, second="hashlist" if listed else "against"))
    return tuple(found)


QUERIES = _shared(
    ("query", "query", _EXACT),
    ("query", "document", _NEAR),
    ("query", "document", _RUN),
    ("query", "query", _EXACT, _LISTED),
    ("query", "document", _RUN, _LISTED),
    ("query", "document", _WHOLE),
    ("query", "query", _HELD),
    ("query", "query", _HELD, _LISTED),
    ("query", "query", _LETTER),
    ("query", "query", _FEW, _LISTED),
)
POSITIVES = _shared(
    ("positive document", "positive document", _EXACT),
    ("positive document", "positive document", _NEAR),
    ("positive document", "query", _RUN),
    ("positive document", "query", _EXACT, _LISTED),
    ("positive document", "positive document", _RUN, _LISTED),
    ("positive document", "query", _HELD),
)
DOCUMENTS = _shared(
    ("document", "document", _EXACT),
    ("document", "positive document", _NEAR),
    ("document", "query", _RUN),
    ("positive document", "document", _EXACT),
    ("document", "positive document", _EXACT, _LISTED),
    ("positive document", "document", _RUN, _LISTED),
    ("document", "query", _HELD, _LISTED),
)
