"""`medqrels evaluate` with text models, image models and rerankers: a stand-in with their interface."""

from __future__ import annotations

import gzip
import importlib
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import UsageError
from tests.curation.evaluation.world import mean, picture, pictured, toy

FAKE = '''
"""A tiny stand-in with the interface of sentence-transformers: bags of hashed words, cut at a limit."""
import zlib
import numpy as np

__version__ = "5.0.fake"
CALLS = []

class Tokenizer:
    def __call__(self, text, pair=None, truncation=False):
        return {"input_ids": (text + (" " + pair if pair else "")).lower().split()}

class SentenceTransformer:
    max_seq_length = 4
    prompts = {"query": "query: ", "passage": "passage: "}

    def __init__(self, name):
        if name == "broken":
            raise OSError("no such model")
        self.tokenizer = Tokenizer()

    def encode(self, inputs, prompt=None, convert_to_numpy=True, show_progress_bar=False):
        assert prompt == ""
        CALLS.append(list(inputs))
        return np.stack([self.one(item) for item in inputs])

    def one(self, item):
        vector = np.zeros(64)
        if isinstance(item, str):
            words = item.lower().split()[: self.max_seq_length]
            for word in words[1 if words[:1] in (["query:"], ["passage:"]) else 0 :]:
                vector[zlib.crc32(word.encode()) % 32] += 1
        else:
            small = np.asarray(item.convert("L").resize((4, 8))).astype(float).ravel()
            vector[32:] = small - small.mean()
        return vector

class CrossEncoder:
    max_length = 6

    def __init__(self, name):
        self.tokenizer = Tokenizer()
        self.width = 2 if name == "classifier" else 1

    def predict(self, pairs, show_progress_bar=False):
        CALLS.append(list(pairs))
        scores = [float(len(set(a.lower().split()) & set(b.lower().split()))) for a, b in pairs]
        return np.array([scores] * self.width).T
'''


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sentence_transformers.py").write_text(FAKE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "sentence_transformers", raising=False)
    fake: Any = importlib.import_module("sentence_transformers")

    yield fake.CALLS
    sys.modules.pop("sentence_transformers", None)


def test_a_text_model_with_its_prompts_and_cuts(
    tmp_path: Path, run: Callable[..., Any], models: list[Any]
) -> None:
    folder = toy().write(tmp_path)
    summary = run(str(folder), "--system=st:org/tiny", "--out", str(tmp_path / "a"))[0]
    (system,) = summary["systems"]
    assert system["config"]["query_prompt"] == "query: "
    assert system["config"]["document_prompt"] == "passage: "
    assert system["config"]["max_tokens"] == 4
    counted = system["config"]["embeddings"]["corpus"]
    assert counted["texts"] == 6 and counted["share_of_texts_cut"] == 1.0
    assert counted["tokens_kept"] == 24 < counted["tokens"]
    assert summary["truncation"]["systems"]["st:org/tiny"]["share_of_documents"] == 1.0
    assert any(text.startswith("passage: ") for call in models for text in call)
    asked = len(models)
    again = run(str(folder), "--system=st:org/tiny", "--out", str(tmp_path / "b"))[0]
    assert len(models) == asked  # every answer came from the cache
    assert again["systems"] == summary["systems"]
    other = run(str(folder), "--system=st:org/tiny", "--query-prompt", "q: ", "--out", str(tmp_path / "c"))[0]
    assert len(models) > asked
    assert other["systems"][0]["config"]["query_prompt"] == "q: "


def test_a_model_in_a_folder_is_named_without_its_path(
    tmp_path: Path, run: Callable[..., Any], models: list[Any]
) -> None:
    model = tmp_path / "secret" / "mymodel"
    model.mkdir(parents=True)
    (model / "weights").write_bytes(b"1")
    out = tmp_path / "out"
    summary = run(str(toy().write(tmp_path)), f"--system=st:{model}", "--out", str(out))[0]
    assert summary["systems"][0]["name"] == "st:mymodel"
    assert len(summary["systems"][0]["config"]["files"]) == 64
    assert all(b"secret" not in path.read_bytes() for path in out.rglob("*") if path.is_file())


def test_a_clip_model_reads_texts_and_images(
    tmp_path: Path, run: Callable[..., Any], models: list[Any]
) -> None:
    release = pictured()
    for row in (*release.queries, *release.documents):
        row["text"] = row["title"] = ""
    release.queries[1]["image"] = None
    folder = release.write(tmp_path)
    system = run(str(folder), "--system=clip:tiny", "--out", str(tmp_path / "out"))[0]["systems"][0]
    assert system["config"]["fusion"] == "sum of unit vectors"
    with gzip.open(tmp_path / "out" / "runs" / "clip-tiny.trec.gz", "rt") as file:
        first = {line.split()[0]: line.split()[2] for line in file if line.split()[3] == "1"}
    assert first["q1"] == "d1" and first["q3"] == "d3"  # the pictures are the same
    assert mean(system, "R@1") == pytest.approx(0.5 / 3)


def test_a_clip_model_reads_every_image_of_a_row(
    tmp_path: Path, run: Callable[..., Any], models: list[Any]
) -> None:
    several = {("query", "q3"): (picture(2), picture(5)), ("document", "d2"): (picture(1), picture(0))}
    found: list[dict[str, list[str]]] = []
    for name, listed in (("one", {}), ("all", several)):
        release = pictured()
        for row in (*release.queries, *release.documents):
            row["text"] = row["title"] = ""
        release.several = listed
        out = tmp_path / name / "out"
        run(str(release.write(tmp_path / name)), "--system=clip:tiny", "--out", str(out))
        found.append(defaultdict(list))
        with gzip.open(out / "runs" / "clip-tiny.trec.gz", "rt") as file:
            for line in file:
                found[-1][line.split()[0]].append(line.split()[2])
    alone, together = found
    assert set(together["q3"][:2]) == {"d3", "d6"} != set(alone["q3"][:2]), "each shows one of its pictures"
    assert together["q1"].index("d2") < alone["q1"].index("d2"), "the other picture of d2 is that of q1"


def test_a_reranker_reorders_what_its_base_found(
    tmp_path: Path, run: Callable[..., Any], models: list[Any]
) -> None:
    folder = toy().write(tmp_path)
    out = tmp_path / "out"
    summary = run(str(folder), "--system=bm25", "--system=bm25+rerank:cross", "--out", str(out))[0]
    base, system = summary["systems"]
    assert system["name"] == "bm25+rerank:cross"
    assert system["config"]["base"]["name"] == "bm25" and system["config"]["share_of_pairs_cut"] > 0
    runs = {}
    for name in (base, system):
        with gzip.open(out / name["run_file"], "rt") as file:
            runs[name["name"]] = sorted(line.split()[:3] for line in file)
    assert runs["bm25"] == runs["bm25+rerank:cross"]
    asked = len(models)
    run(str(folder), "--system=bm25+rerank:cross", "--out", str(tmp_path / "again"))
    assert len(models) == asked
    with pytest.raises(UsageError, match="gives 2 numbers per pair"):
        run(str(folder), "--system=bm25+rerank:classifier", "--out", str(tmp_path / "third"))


@pytest.mark.parametrize("name", ["st:any", "clip:any", "bm25+rerank:any"])
def test_a_model_without_the_extra_names_the_extra(
    tmp_path: Path, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(UsageError, match="sentence-transformers") as raised:
        run(str(toy().write(tmp_path)), f"--system={name}", "--out", str(tmp_path / "out"))
    assert "make setup EXTRAS=models" in raised.value.hint


def test_a_model_that_does_not_load(tmp_path: Path, run: Callable[..., Any], models: list[Any]) -> None:
    with pytest.raises(UsageError, match=r"'broken' cannot be loaded: OSError"):
        run(str(toy().write(tmp_path)), "--system=st:broken", "--out", str(tmp_path / "out"))
