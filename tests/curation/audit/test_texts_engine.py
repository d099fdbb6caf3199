"""Planted duplicates, near-duplicates and spans are found and nothing else, however texts are handed over."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.similarity.text import candidates
from curation.similarity.text import sketch as sketch_module
from curation.similarity.text.candidates import CROWDED
from curation.similarity.text.engine import (
    SPAN,
    Matches,
    Texts,
    char_span,
    copied_in,
    copied_spans,
    exact_groups,
    exact_pairs,
    hash_list,
    locate,
    match_hash_list,
    near_pairs,
    standing_in,
)
from curation.similarity.text.tokens import tokens_with_offsets

CHANCE = random.Random(11)
VOCABULARY = [f"word{number}" for number in range(4000)]


def paragraph(words: int = 120) -> list[str]:
    return CHANCE.choices(VOCABULARY, k=words)


def texts(rows: Sequence[str], name: str = "t") -> Texts:
    return Texts.of(name, [f"{name}{number:04d}" for number in range(len(rows))], list(rows))


def ids(matches: Matches) -> list[tuple[str, str]]:
    return [(pair.one, pair.other) for pair in matches.pairs]


def test_exact_groups_fold_case_width_punctuation_and_spacing() -> None:
    given_texts = texts(["A b-c", "x", "a B C!", "", "…", "ａ ｂ  c", "c b a", "中 文", "中文"])
    assert exact_groups(given_texts) == [["t0000", "t0002", "t0005"], ["t0007", "t0008"]]
    assert exact_groups(texts([])) == []
    found = exact_pairs(given_texts, texts(["a b c", ""], "u"))
    assert ids(found) == [("t0000", "u0000"), ("t0002", "u0000"), ("t0005", "u0000")]
    assert found.without_tokens == 3 and found.compared == 7


def test_near_copies_are_found_and_the_rest_is_not() -> None:
    rows = [paragraph() for _ in range(400)]
    for number in range(100):
        copy = list(rows[number * 2])
        for at in CHANCE.sample(range(len(copy)), 6):  # 5 % of the words
            copy[at] = "changed"
        rows.append(copy)
    rows += [rows[0], [*rows[5][:60], *paragraph(60)]]
    found = near_pairs(texts([" ".join(row) for row in rows]))
    assert ids(found) == [(f"t{number * 2:04d}", f"t{400 + number:04d}") for number in range(100)]
    assert all(0.9 <= pair.value < 1 for pair in found.pairs)
    assert found.compared == 502 * 501 // 2 and not found.suppressed


def test_near_copies_between_sets_include_the_exact_ones() -> None:
    rows = [paragraph(40) for _ in range(30)]
    one = texts([" ".join(row) for row in rows])
    two = texts([" ".join(rows[3]).upper(), " ".join(["new", *rows[7][1:]]), " ".join(paragraph(40))], "u")
    assert [(pair.one, pair.other, pair.value) for pair in near_pairs(one, two).pairs] == [
        ("t0003", "u0000", 1.0),
        ("t0007", "u0001", 0.975),
    ]
    assert ids(near_pairs(two, one)) == [("u0000", "t0003"), ("u0001", "t0007")]


@pytest.mark.parametrize(
    ("first", "second", "near"),
    [
        ("causes of asthma in adults", "cause of asthma in adults", True),
        ("asthma in adults, causes of", "causes of asthma in adults", True),
        ("signs of type 1 diabetes", "signs of type 2 diabetes", False),
        ("treatment of HIV infection", "treatment of HCV infection", False),
        ("signs of hypertension in youth", "signs of hypotension in youth", False),
        ("treatment of asthma", "treatment of anaemia", False),
        ("asthma", "asthmas", True),
        ("", "", False),
        ("糖尿病の治療", "糖尿病の診断", False),
    ],
)
def test_short_texts_are_near_only_when_a_letter_apart(first: str, second: str, near: bool) -> None:
    rows = [first, second, *(f"question {number} of {number * 7} things" for number in range(50))]
    assert (("t0000", "t0001") in ids(near_pairs(texts(rows)))) == near
    assert bool(near_pairs(texts([first]), texts([second], "u")).pairs) == near


def test_many_near_copies_of_one_text_are_all_found_although_their_runs_are_crowded() -> None:
    base = paragraph(80)
    rows = [paragraph(80) for _ in range(50)]
    for number in range(3 * CROWDED):
        copy = list(base)
        copy[number % 80] = f"own{number}"
        rows.append(copy)
    found = near_pairs(texts([" ".join(row) for row in rows]))
    assert {row for pair in found.pairs for row in (pair.one_row, pair.other_row)} == set(range(50, 200))
    assert found.suppressed.fingerprints > 0 and found.suppressed.texts == 150
    other = near_pairs(texts([" ".join(base)]), texts([" ".join(row) for row in rows], "u"))
    assert other.pairs and all(pair.other_row >= 50 for pair in other.pairs)


def test_copied_spans_are_found_and_one_word_less_is_not() -> None:
    documents = [paragraph() for _ in range(600)]
    probes = [paragraph(30) for _ in range(150)]
    wanted = []
    for number in range(150):
        size = SPAN + number % 3 - 1
        start, place = CHANCE.randrange(30 - size), CHANCE.randrange(120)
        documents[number * 4][place:place] = probes[number][start : start + size]
        if size >= SPAN:
            wanted.append((f"p{number:04d}", f"t{number * 4:04d}", float(size)))
    one, two = texts([" ".join(row) for row in probes], "p"), texts([" ".join(row) for row in documents])
    found = copied_spans(one, two)
    assert [(pair.one, pair.other, pair.value) for pair in found.pairs] == wanted
    swapped = copied_spans(two, one)
    assert sorted((b, a) for a, b in ids(swapped)) == [pair[:2] for pair in wanted]


def test_boilerplate_is_suppressed_and_counted() -> None:
    phrase = " ".join(f"consent{number}" for number in range(20))
    rows = [" ".join(paragraph(40)) + " " + phrase for _ in range(30)]
    found = copied_spans(texts([phrase], "p"), texts(rows), limit=29)
    assert not found.pairs and found.suppressed.texts == 31 and found.suppressed.postings > 30
    assert len(copied_spans(texts([phrase], "p"), texts(rows), limit=30).pairs) == 30
    coverage = found.coverage("other")
    assert (coverage[0].compared, coverage[1].skipped) == (30, found.suppressed.fingerprints)


def test_signs_without_spaces_need_26_to_make_a_span() -> None:
    signs = "肺炎球菌による重症の市中肺炎で入院した六十五歳の男性患者の経過"
    for size, found in ((25, 0), (26, 1)):
        probe, text = f"問い {signs[:size]}", f"前置き、{signs[:size]}。終わり"
        assert len(copied_spans(texts([probe], "p"), texts([text])).pairs) == found
        assert len(match_hash_list(texts([probe], "p"), hash_list(texts([text]))).pairs) == found


def test_pairs_given_by_row_are_checked_without_leaving_boilerplate_out() -> None:
    run = " ".join(paragraph(SPAN))
    rows = [f"start {run} end {number}" for number in range(200)] + [
        "short words stand here",
        "nothing shared",
    ]
    one, two = texts([run, "words stand"], "p"), texts(rows)
    pairs = [(0, 150), (0, 201), (1, 200), (1, 201)]
    first, second = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    assert copied_in(one, two, first, second) == [(0, 150, float(SPAN))]
    assert standing_in(one, two, first, second) == [(0, 150), (1, 200)]


def test_a_hash_list_finds_what_the_texts_would() -> None:
    documents = [paragraph() for _ in range(200)]
    probes = [paragraph(40) for _ in range(60)]
    for number in range(0, 60, 2):
        probes[number][5:18] = documents[number * 3][20:33]
    probes[1] = ["Short", "question"]
    documents[1] = ["short", "QUESTION!"]
    one, two = texts([" ".join(row) for row in probes], "p"), texts([" ".join(row) for row in documents])
    listed = hash_list(two)
    assert listed.grams.dtype == np.uint64 and (np.diff(listed.grams.astype(object)) >= 0).all()
    found = match_hash_list(one, listed)
    spans = [pair for pair in found.pairs if not pair.is_exact]
    assert [(pair.one, pair.other, pair.value) for pair in spans] == [
        (pair.one, pair.other, pair.value) for pair in copied_spans(one, two).pairs
    ]
    assert [(pair.one, pair.other) for pair in found.pairs if pair.is_exact] == [("p0001", "t0001")]
    for pair in spans:
        text = " ".join(probes[pair.one_row])
        start, end = char_span(text, pair.token, pair.tokens)
        assert text[start:end] in " ".join(documents[pair.other_row])
    common = match_hash_list(one, hash_list(texts([" ".join(probes[0])] * 5)), limit=4)
    assert not [pair for pair in common.pairs if not pair.is_exact] and common.suppressed.texts == 5
    assert match_hash_list(one, hash_list(texts([]))).pairs == ()


def test_files_batches_and_workers_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [" ".join(paragraph(60)) for _ in range(300)]
    rows[290] = rows[10] + " more"
    names = [f"t{number:04d}" for number in range(300)]
    table = pa.table({"text": [*rows[:299], None], "id": names})
    files = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    pq.write_table(table.slice(0, 170), files[0], row_group_size=50)
    pq.write_table(table.slice(170), files[1], row_group_size=40)
    monkeypatch.setattr(sketch_module, "_ROWS", 33)
    held = Texts.of("t", names, [*rows[:299], None])
    with ThreadPoolExecutor(2) as pool:
        for other in (Texts("t", files=files), Texts("t", files=files, pool=pool, part=60)):
            for field in ("counts", "halves", "digests", "postings"):
                assert np.array_equal(getattr(other.sketch, field), getattr(held.sketch, field))
            assert other.ids.to_pylist() == names
            wanted = [0, 49, 50, 169, 170, 299]
            assert (
                other.take(wanted) == held.take(wanted) == {row: rows[row] for row in wanted[:5]} | {299: ""}
            )
            assert ids(near_pairs(other)) == [("t0010", "t0290")]
    batches = Texts("t", lambda: table.select(["id", "text"]).to_batches(7))
    assert ids(near_pairs(batches)) == [("t0010", "t0290")]


def test_hostile_texts_are_compared_like_any_other() -> None:
    huge = " ".join(VOCABULARY * 60)
    rows = [
        "\x00",
        "\ud800",
        "a" * 400_000,
        huge,
        "%_'; DROP TABLE corpus; --",
        "🙂" * 50,
        "\n" * 1000,
        "é" * 3000,
    ]
    found = near_pairs(texts([*rows, huge + " tail"]))
    assert ids(found) == [("t0003", "t0008")]
    assert copied_spans(texts([" ".join(VOCABULARY[9:22])], "p"), texts(rows)).pairs[0].other == "t0003"


def test_located_spans_stand_in_both_texts() -> None:
    first, second = "The Left, lower LOBE was clear.", "Today the left lower\nlobe looked fine"
    found = locate(first, second)
    assert found is not None
    assert (first[slice(*found.one)], second[slice(*found.other)], found.tokens) == (
        "The Left, lower LOBE",
        "the left lower\nlobe",
        4,
    )
    assert locate("a b", "c d") is None
    signs = locate("痛みは三日前から", "三日前から痛い")
    assert signs is not None and (signs.tokens, signs.words) == (5, 2.5)


@settings(deadline=None)
@given(*(st.lists(st.sampled_from("abcdef中é"), max_size=30) for _ in range(2)))
def test_the_located_run_is_a_longest_one(first: list[str], second: list[str]) -> None:
    one, two = " ".join(first), " ".join(second)
    found = locate(one, two)
    longest = max(
        (
            size
            for size in range(1, len(first) + 1)
            for at in range(len(first) - size + 1)
            for place in range(len(second) - size + 1)
            if first[at : at + size] == second[place : place + size]
        ),
        default=0,
    )
    assert (found.tokens if found else 0) == longest
    if found:
        spans = [one[slice(*found.one)], two[slice(*found.other)]]
        assert [token for token, _, _ in tokens_with_offsets(spans[0])] == spans[1].split()


def test_too_many_pairs_lower_the_limit_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    often, seldom = (" ".join(paragraph(SPAN)) for _ in range(2))
    rows = [f"{often} {number}" for number in range(30)] + [f"{seldom} {number}" for number in range(5)]
    monkeypatch.setattr(candidates, "_MOST", 60)
    found = copied_spans(texts([often, seldom], "p"), texts(rows))
    assert [pair.one for pair in found.pairs] == ["p0000"] * 30 + ["p0001"] * 5
    monkeypatch.setattr(candidates, "_MOST", 25)
    found = copied_spans(texts([often, seldom], "p"), texts(rows))
    assert [pair.one for pair in found.pairs] == ["p0001"] * 5
    assert 5 <= found.suppressed.limit < 30 and found.suppressed.texts == 31


def turned(matches: Matches) -> list[tuple[str, str, float]]:
    return sorted((pair.other, pair.one, pair.value) for pair in matches.pairs)


def test_parts_and_the_order_of_the_sets_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [" ".join(paragraph(60)) for _ in range(40)]
    rows += [row.replace("1", "2", 1) for row in rows[:20]] + [
        f"{rows[0]} tail {number}" for number in range(CROWDED + 3)
    ]
    few = [f"{rows[0]} end", f"{rows[5]} end", *rows[10:20]]

    def compared() -> list[Matches]:
        return [
            near_pairs(texts(rows)),
            near_pairs(texts(rows), texts(few, "p")),
            near_pairs(texts(few, "p"), texts(rows)),
            copied_spans(texts(rows), texts(few, "p")),
            copied_spans(texts(few, "p"), texts(rows)),
        ]

    before = compared()
    assert len(before[0].pairs) > 23 and len(before[1].pairs) > CROWDED
    assert [(pair.one, pair.other, pair.value) for pair in before[1].pairs] == turned(before[2])
    assert [(pair.one, pair.other, pair.value) for pair in before[3].pairs] == turned(before[4])
    for name, value in (("_SLICE", 7), ("_PART", 3), ("_PART", 1000)):
        with monkeypatch.context() as changed:
            changed.setattr(candidates, name, value)
            assert compared() == before, name


def test_postings_are_joined_without_a_second_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = np.random.default_rng(4).integers(0, 1 << 63, (8, 50_000)).astype(np.uint64)
    drawn[3:] &= np.uint64((1 << 34) - 1)  # many are equal but for the bits that the row takes
    owners = np.sort(np.random.default_rng(5).integers(0, 100, drawn.shape)).astype(np.int32)
    starts, bits = np.arange(8) * 100, np.uint64(22)
    rows = owners.astype(np.uint64) + starts.astype(np.uint64)[:, None]
    expected = np.unique(drawn >> bits << bits | rows)
    assert len(expected) < drawn.size * 0.97
    monkeypatch.setattr(sketch_module, "_SLICE", 1 << 12)
    prints = [(part.copy(), own.copy()) for part, own in zip(drawn, owners, strict=True)]
    tracemalloc.start()
    try:
        found = sketch_module._postings(prints, starts.tolist(), int(bits))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert np.array_equal(found, expected)
    assert peak < 1.5 * drawn.nbytes
