"""The hashed tokens are those of `normalise_text`, and shared spans are found exactly."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from curation.release.audit.ngrams import (
    SPAN,
    gram_hashes,
    longest_shared,
    profile,
    token_hashes,
    tokens_with_offsets,
)
from schemas.hashing import normalise_text

TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from(" .-_aBß½ﬁé\u0301İ中文"), max_size=40)


def spread(texts: list[str]) -> list[list[int]]:
    hashes, owners = token_hashes(texts)
    return [hashes[owners == number].tolist() for number in range(len(texts))]


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_equal_tokens_have_equal_hashes_and_only_those(texts: list[str]) -> None:
    expected = [normalise_text(text).split() for text in texts]
    got = spread(texts)
    assert [len(tokens) for tokens in got] == [len(tokens) for tokens in expected]
    pairs = {
        (token, value)
        for tokens, values in zip(expected, got, strict=True)
        for token, value in zip(tokens, values, strict=True)
    }
    assert len({token for token, _ in pairs}) == len({value for _, value in pairs}) == len(pairs)


@given(st.text(st.sampled_from("aB c.-éß½ﬁ中_1\n"), max_size=40))
def test_offsets_lead_back_to_the_words(text: str) -> None:
    tokens = tokens_with_offsets(text)
    assert [token for token, _, _ in tokens] == normalise_text(text).split()
    assert all(token in normalise_text(text[start:end]).split() for token, start, end in tokens)


def batch(texts: list[str]) -> list[pa.RecordBatch]:
    names = [f"d{number:05d}" for number in range(len(texts))]
    return [pa.record_batch({"id": names, "text": texts})]


def test_planted_spans_are_found_and_nothing_else() -> None:
    random.seed(7)
    words = [f"word{number}" for number in range(5000)]
    queries = [" ".join(random.choices(words, k=30)) for _ in range(300)]
    documents = [" ".join(random.choices(words, k=120)) for _ in range(3000)]
    planted = set()
    for number in range(200):
        tokens = queries[number].split()[5 : 5 + SPAN + number % 2]
        place = documents[number * 7].split()
        documents[number * 7] = " ".join(place[:50] + tokens + place[50:])
        planted.add((number, number * 7))
    for number in range(200, 260):  # one word short of a span
        place = documents[number * 7].split()
        documents[number * 7] = " ".join(place[:50] + queries[number].split()[5 : 5 + SPAN - 1] + place[50:])
    index = profile(batch(queries))
    found = {tuple(pair) for pair in profile(batch(documents), probe=index.grams).shared.tolist()}
    assert found == planted


def test_spans_do_not_reach_across_texts() -> None:
    whole = [f"t{number}" for number in range(SPAN)]
    index = profile(batch([" ".join(whole)]))
    assert not len(profile(batch([" ".join(whole[:6]), " ".join(whole[6:])]), probe=index.grams).shared)
    hashes, owners = token_hashes(["a b", "c d"])
    assert len(gram_hashes(hashes, owners)[0]) == 0


def test_digests_follow_word_order() -> None:
    digests = profile(batch(["Alpha, beta gamma", "alpha BETA  gamma!", "gamma beta alpha", "", "…"])).digests
    assert digests[0] == digests[1] and digests[0] != digests[2]
    assert digests[3] == digests[4] == np.uint64(0)


def test_longest_shared_spans_are_located_in_both_texts() -> None:
    first, second = "The Left, lower LOBE was clear.", "Today the left lower\nlobe looked fine"
    spans = longest_shared(first, second)
    assert spans is not None
    one, two, length = spans
    assert (first[slice(*one)], second[slice(*two)], length) == (
        "The Left, lower LOBE",
        "the left lower\nlobe",
        4,
    )
    assert longest_shared("a b", "c d") is None
