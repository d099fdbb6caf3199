"""Short questions inside longer texts: found in every script, whatever the shards, and nothing else."""

from __future__ import annotations

import random
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.audit.executor import SerialExecutor
from curation.similarity.text.engine import SPAN, Texts
from curation.similarity.text.tokens import is_solo, tokens_with_offsets
from curation.similarity.text.whole import LEAST, STOCK, whole_texts

QUESTION = "Which vitamin does a sailor with bleeding gums lack?"
STORY = "The ship had been at sea for months. {} Nobody on board could say, and the cook had no limes left."


def texts(*rows: str) -> Texts:
    return Texts.of("rows", [str(number) for number in range(len(rows))], rows)


def found(short: Texts, long: Texts, **options: Any) -> list[tuple[int, int]]:
    return whole_texts(short.sketch.digests, short.sketch.halves, long, **options).pairs


def test_a_question_inside_a_story_is_found_in_any_form() -> None:
    forms = (QUESTION, QUESTION.upper(), QUESTION.replace(" ", "\u00a0\u2014 "), "ｗｈｉｃｈ" + QUESTION[5:])
    long = texts(*(STORY.format(form) for form in forms), STORY.format(""), QUESTION)
    assert found(texts(QUESTION), long, stock=9) == [(0, 0), (0, 1), (0, 2), (0, 3)]
    assert found(texts(QUESTION), texts(STORY.format(QUESTION.replace("gums", "gum")))) == []


def test_short_ones_and_stock_phrases_are_counted() -> None:
    short = texts("too few words here", QUESTION, " ".join(["word"] * SPAN), "")
    long = texts(*(f"{STORY.format(QUESTION)} {number}" for number in range(STOCK + 1)))
    made = whole_texts(short.sketch.digests, short.sketch.halves, long)
    assert (made.pairs, made.sought, made.too_short, made.stock, made.stock_places) == (
        [],
        1,
        1,
        1,
        STOCK + 1,
    )
    assert len(found(short, texts(*(STORY.format(QUESTION) for _ in range(STOCK))))) == STOCK
    none = texts()
    assert found(none, long) == [] and found(short, none) == []


def test_scripts_without_spaces_count_half_a_word() -> None:
    question = "港町の灯台守は北の島へ山羊"
    assert found(texts(question), texts(f"昔の話。{question}を移した。")) == [(0, 0)]
    assert found(texts(question[: 2 * LEAST - 1]), texts(f"昔の話。{question}を移した。")) == []
    mixed = "Mr 港町 keeps the 灯台 lamp of pier"
    assert found(texts(mixed), texts(f"Here {mixed} nine, it is said.")) == [(0, 0)]


class _Counting(SerialExecutor):
    calls = 0

    def map(self, fn: Any, *iterables: Any, **options: Any) -> Any:
        self.calls += 1
        return Executor.map(self, fn, *iterables, **options)


@pytest.mark.parametrize("group", [1, 7, 100])
def test_files_and_workers_give_what_memory_gives(group: int, tmp_path: Path) -> None:
    draw = random.Random(group)
    rows = [STORY.format(QUESTION if draw.random() < 0.02 else f"line {number}") for number in range(100)]
    rows[50], rows[99] = STORY.format(QUESTION), STORY.format(QUESTION)
    table = pa.table({"id": [str(number) for number in range(100)], "text": rows})
    for number, part in enumerate((table.slice(0, 40), table.slice(40))):
        pq.write_table(part, tmp_path / f"{number}.parquet", row_group_size=group)
    pool = _Counting()
    files = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    filed = Texts("filed", files=files, pool=pool, part=10)
    short = texts("one two three four five six seven", QUESTION)
    wanted = [(1, number) for number, row in enumerate(rows) if QUESTION in row]
    assert found(short, filed, stock=99) == found(short, texts(*rows), stock=99) == wanted
    assert pool.calls >= 1 and len(wanted) > 1


_WORDS = st.lists(st.sampled_from(["a", "b", "c", "港", "µm", "ﬁn"]), min_size=1, max_size=16)


@settings(max_examples=60, deadline=None)
@given(short=st.lists(_WORDS, min_size=1, max_size=4), long=st.lists(_WORDS, min_size=1, max_size=4))
def test_it_is_what_a_plain_search_finds(short: list[list[str]], long: list[list[str]]) -> None:
    def plain(words: list[str]) -> list[str]:
        return [token for token, _, _ in tokens_with_offsets(" ".join(words))]

    def size(tokens: list[str]) -> float:
        return sum(0.5 if is_solo(token[0]) and len(token) == 1 else 1 for token in tokens)

    def stands(one: list[str], other: list[str]) -> bool:
        return len(one) < len(other) and any(
            other[at : at + len(one)] == one for at in range(len(other) - len(one) + 1)
        )

    mine, theirs = [plain(words) for words in short], [plain(words) for words in long]
    wanted = [
        (a, b)
        for a, one in enumerate(mine)
        if LEAST <= size(one) < SPAN
        for b, other in enumerate(theirs)
        if stands(one, other)
    ]
    one, other = (texts(*(" ".join(words) for words in rows)) for rows in (short, long))
    assert found(one, other, stock=99) == wanted
