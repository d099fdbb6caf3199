"""The hashed tokens are those of `normalise_text`; every shared run of 13 tokens shares a fingerprint."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.similarity.text import tokens as module
from curation.similarity.text.ngrams import SPAN, fingerprints, gram_hashes, left_out, shared_runs, summaries
from curation.similarity.text.tokens import Tokens, is_solo, tokenise, tokens_with_offsets
from schemas.hashing import normalise_text

TEXTS = st.text(
    st.characters(codec="utf-8") | st.sampled_from(" .-_aBß½ﬁé\u0301İ中文ひらｶﾞไทย각ᄀ²µΩ\U00020000"),
    max_size=40,
)


def words(text: str) -> list[str]:
    """Tokens as the house folds them, characters of scripts without spaces apart."""
    found: list[str] = []
    for token in normalise_text(text).split():
        run = ""
        for character in token:
            if is_solo(character):
                found += [run, character]
                run = ""
            else:
                run += character
        found.append(run)
    return [token for token in found if token]


def spread(texts: list[str] | pa.Array) -> list[list[int]]:
    rows: list[list[int]] = [[] for _ in range(len(texts))]
    for part in tokenise(texts):
        for value, owner in zip(part.hashes.tolist(), part.owners.tolist(), strict=True):
            rows[owner].append(value)
    return rows


def one(text: str) -> Tokens:
    (found,) = [part for part in tokenise([text]) if len(part.hashes)]
    return found


@settings(deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_equal_tokens_have_equal_hashes_and_only_those(texts: list[str]) -> None:
    expected = [words(text) for text in texts]
    got = spread(texts)
    assert [len(tokens) for tokens in got] == [len(tokens) for tokens in expected]
    pairs = {
        (token, value)
        for tokens, values in zip(expected, got, strict=True)
        for token, value in zip(tokens, values, strict=True)
    }
    assert len({token for token, _ in pairs}) == len({value for _, value in pairs}) == len(pairs)


@settings(deadline=None)
@given(st.lists(st.text(st.sampled_from("ab cé中ﬁ\u0301"), max_size=30), min_size=1, max_size=9))
def test_pieces_and_neighbours_change_nothing(texts: list[str]) -> None:
    whole = spread(texts)
    assert whole == [spread([text])[0] for text in texts]
    sliced = pa.array(["padding", *texts, "ende"]).slice(1, len(texts))
    assert spread(sliced) == whole
    before, module.PIECE = module.PIECE, 7
    try:
        assert spread(texts) == whole
    finally:
        module.PIECE = before


def test_null_and_lone_surrogates_are_read_as_nothing() -> None:
    assert spread(pa.array([None, "", "a"]))[:2] == [[], []]
    assert spread(["a\ud800b"]) == spread(["a b"])
    assert spread(pa.array([], pa.string())) == []


def test_signs_without_spaces_are_tokens_that_weigh_half_a_word() -> None:
    text = "肺炎 in 3 Kindern"
    assert [token for token, _, _ in tokens_with_offsets(text)] == ["肺", "炎", "in", "3", "kindern"]
    made = summaries(one(text), 0, 1)
    assert (made.counts.tolist(), made.halves.tolist()) == ([5], [8])


@settings(deadline=None)
@given(st.text(st.sampled_from("aB c.-éß½ﬁ中_1\n\u0301ไ"), max_size=40))
def test_offsets_lead_back_to_the_words(text: str) -> None:
    tokens = tokens_with_offsets(text)
    assert [token for token, _, _ in tokens] == words(text)
    assert all(token in words(text[start:end]) for token, start, end in tokens)


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 40), st.integers(0, 40), st.integers(SPAN, 20))
def test_a_shared_run_of_13_tokens_always_shares_a_fingerprint(
    seed: int, before: int, after: int, size: int
) -> None:
    chance = random.Random(seed)
    run = [f"r{chance.randrange(9)}" for _ in range(size)]
    first = [f"a{chance.randrange(9)}" for _ in range(before)] + run + ["b1"] * after
    second = [f"c{chance.randrange(9)}" for _ in range(after)] + run + ["d1"] * before
    prints = [set(fingerprints(one(" ".join(tokens)))[0].tolist()) for tokens in (first, second)]
    assert prints[0] & prints[1]


def test_about_two_of_seven_hashes_are_kept_and_none_reaches_across_texts() -> None:
    chance = random.Random(5)
    texts = [" ".join(f"w{chance.randrange(5000)}" for _ in range(150)) for _ in range(200)]
    together = [part for part in tokenise(texts)]
    kept = sum(len(fingerprints(part)[0]) for part in together)
    assert 0.26 < kept / (200 * 143) < 0.32
    alone = sorted(value for text in texts for value in fingerprints(one(text))[0].tolist())
    assert alone == sorted(value for part in together for value in fingerprints(part)[0].tolist())
    whole = [f"t{number}" for number in range(SPAN)]
    assert len(fingerprints(one(" ".join(whole)))[0]) >= 1
    (halved,) = tokenise([" ".join(whole[:6]), " ".join(whole[6:])])
    assert not len(fingerprints(halved)[0]) and not len(gram_hashes(halved)[0])


def test_digests_follow_word_order_and_folding() -> None:
    texts = ["Alpha, beta gamma", "alpha BETA  gamma!", "gamma beta alpha", "", "…", "alpha beta gamma gamma"]
    digests = np.zeros(len(texts), np.uint64)
    for part in tokenise(texts):
        digests += summaries(part, 0, len(texts)).digests
    assert digests[0] == digests[1] and len(set(digests[[0, 2, 5]].tolist())) == 3
    assert digests[3] == digests[4] == 0 and digests[0]


def test_texts_that_differ_in_one_word_agree_when_it_is_left_out() -> None:
    (part,) = tokenise(["causes of asthma", "asthma cause of", "causes of asthma today"])
    hashes, rows = left_out(part, summaries(part, 0, 3).halves, 0)
    sets = [set(hashes[rows == row].tolist()) for row in range(3)]
    assert len(sets[0] & sets[1]) == 1 and not sets[0] & sets[2]


@pytest.mark.parametrize("length", [1, 2, 3])
def test_shared_runs_are_maximal_and_longest_first(length: int) -> None:
    a, b = [np.array([ord(sign) for sign in text], np.uint64) for text in ("xabcdyabz", "pabcdqab")]

    def grams(values: np.typing.NDArray[np.uint64]) -> np.typing.NDArray[np.uint64]:
        zeros = np.zeros(len(values), np.int32)
        return gram_hashes(Tokens(values, zeros, zeros.astype(bool)), length)[0]

    runs = shared_runs(grams(a), grams(b), length)
    assert runs[0] == (1, 1, 4) and ((6, 6, 2) in runs) == (length <= 2)
    assert [run[2] for run in runs] == sorted((run[2] for run in runs), reverse=True)
    assert shared_runs(grams(a), grams(a[:0]), length) == []
