"""Translation models by transformers: a stand-in with their interface; and the library's absence."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from curation.prompts import hyde, translation
from curation.tasks.registry import TASKS
from flows.adapters.llm_runner import Run, key_of
from flows.adapters.seq2seq import Seq2Seq, named
from schemas.errors import FetchError, UsageError
from schemas.prompt import Prompt

FAKE = '''
"""A tiny stand-in with the interface of transformers: a word list for each language."""
import json
from pathlib import Path

__version__ = "5.0.fake"
WORDS = {"es": {"Which": "¿Qué", "insect": "insecto"}, "fr": {"Which": "Quel", "insect": "insecte"}}
CALLS = []

class Tokenizer:
    """The place of a token is its id; texts are kept as they are: only codes have ids."""

    unk_token_id = 0

    def __init__(self, place, config):
        self.place, self.tokens = place, config.get("tokens", [])
        self.supported_language_codes = config.get("prefixes", [])
        self.source_lang, self.target_lang = config.get("pair", (None, None))
        self.src_lang = None

    def convert_tokens_to_ids(self, token):
        listed = [*self.tokens, *self.supported_language_codes]
        return listed.index(token) + 1 if token in listed else self.unk_token_id

    def __call__(self, texts, return_tensors=None, padding=False, truncation=False, max_length=None):
        assert return_tensors == "pt" and padding and truncation
        return {"input_ids": texts, "attention_mask": [self.src_lang] * len(texts)}

    def batch_decode(self, made, skip_special_tokens=False):
        assert skip_special_tokens
        return made[:-1] if "loses" in self.place else made

class AutoTokenizer:
    @staticmethod
    def from_pretrained(place):
        if not Path(place).is_dir():
            raise OSError(f"{place} is no model")
        return Tokenizer(place, json.loads(Path(place, "config.json").read_text()))

class Config(dict):
    @property
    def max_position_embeddings(self):
        return self.get("positions", 512)

class AutoModelForSeq2SeqLM:
    def __init__(self, config):
        self.config = Config(config)

    @classmethod
    def from_pretrained(cls, place):
        return cls(json.loads(Path(place, "config.json").read_text()))

    def generate(self, input_ids, attention_mask, do_sample, num_beams, max_new_tokens, **more):
        CALLS.append({"texts": input_ids, "from": attention_mask[0], **more})
        assert do_sample is False and max_new_tokens < self.config.max_position_embeddings
        if "breaks" in self.config:
            raise RuntimeError("out of memory")
        listed = [*self.config.get("tokens", []), *self.config.get("prefixes", [])]
        found = []
        for text in input_ids:
            words = text.split()
            language = self.config.get("pair", ("", ""))[1]
            if words[0].startswith(">>"):
                language = words.pop(0).strip("<>")[:2].replace("sp", "es")
            elif "forced_bos_token_id" in more:
                language = listed[more["forced_bos_token_id"] - 1].strip("_")[:2].replace("sp", "es")
            said = " ".join(WORDS[language].get(word, word) for word in words)
            code = listed[more["forced_bos_token_id"] - 1] if "is_saved_bare" in self.config else ""
            found.append(code + said)
        return found
'''


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    package = tmp_path / "site/transformers"
    (package / "utils").mkdir(parents=True)
    (package / "__init__.py").write_text(FAKE, "utf-8")
    (package / "utils/__init__.py").write_text("", "utf-8")
    (package / "utils/logging.py").write_text(
        "set_verbosity_error = disable_progress_bar = lambda: None", "utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    loaded = [name for name in sys.modules if name.partition(".")[0] == "transformers"]
    for name in loaded:
        monkeypatch.delitem(sys.modules, name)
    yield importlib.import_module("transformers")
    for name in ("transformers", "transformers.utils", "transformers.utils.logging"):
        sys.modules.pop(name, None)


def model(tmp_path: Path, name: str, **config: Any) -> str:
    """A folder with a model."""
    folder = tmp_path / "secret" / name
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    return str(folder)


def asked(*languages: str, text: str = "Which insect") -> list[Prompt]:
    return [
        translation.ask(f"q1/{language}", "multilingual_evidence", text, language, [("insect", "bicho")])
        for language in languages
    ]


def said(place: str, prompts: list[Prompt], run: Run) -> dict[str, dict[str, Any]]:
    """Language -> the answer as it is stored."""
    stored: dict[bytes, bytes] = {}
    for batch in Seq2Seq(place).answers(prompts, run):
        stored |= batch
    return {prompt.form: json.loads(stored[key_of(prompt)]) for prompt in prompts if key_of(prompt) in stored}


@pytest.mark.parametrize(
    ("config", "source", "target"),
    [
        ({"tokens": ["eng_Latn", "spa_Latn", "fra_Latn"]}, "eng_Latn", 2),  # NLLB
        ({"tokens": ["__en__", "__es__", "__fr__"]}, "en", 2),  # M2M100
        ({"prefixes": [">>es<<", ">>fr<<"]}, None, None),  # Marian with several targets
    ],
)
def test_a_model_of_several_languages_is_told_which(
    tmp_path: Path, models: Any, config: dict[str, Any], source: str | None, target: int | None
) -> None:
    run = Run()
    found = said(model(tmp_path, "many", **config), asked("es", "fr", "ja"), run)
    assert {language: json.loads(row["text"])["text"] for language, row in found.items()} == {
        "es": "¿Qué insecto",
        "fr": "Quel insecte",
    }
    assert run.calls == 2 and run.unasked == 1 and run.outcomes["no pair for ja"] == 1
    assert models.CALLS[0]["from"] == source and models.CALLS[0].get("forced_bos_token_id") == target
    assert "bicho" not in str(models.CALLS)  # an engine is shown the text alone
    row = found["es"]
    assert row["by"] == "engine" and row["state"] == "answered"
    assert row["served_model"].startswith("many ") and "secret" not in row["served_model"]
    assert row["served_model"].endswith("transformers 5.0.fake en-es")


def test_models_of_one_pair_each_are_named_by_their_languages(tmp_path: Path, models: Any) -> None:
    model(tmp_path, "opus-en-es", pair=("eng", "spa"))
    models.WORDS["spa"] = models.WORDS["es"]
    run = Run()
    found = said(str(tmp_path / "secret/opus-{from}-{to}"), asked("es", "fr"), run)
    assert found.keys() == {"es"} and run.outcomes["no pair for fr"] == 1


def test_a_model_of_one_pair_answers_for_no_other(tmp_path: Path, models: Any) -> None:
    models.WORDS["spa"] = models.WORDS["es"]
    place = model(tmp_path, "opus", pair=("en", "spa"))
    assert Seq2Seq(place).pair_of("es") == "en-es"
    assert not Seq2Seq(place).pair_of("fr") and not Seq2Seq(place).pair_of("es", "back_translation")
    assert not Seq2Seq(place).pair_of("ko")


def test_short_places_and_a_language_that_is_left_before_the_text(tmp_path: Path, models: Any) -> None:
    place = model(tmp_path, "bare", tokens=["__en__", "__es__"], positions=64, is_saved_bare=True)
    assert Seq2Seq(place).translate(["Which insect"], "en-es") == ["¿Qué insecto"]


def test_it_answers_no_other_prompt_and_loses_no_text(tmp_path: Path, models: Any) -> None:
    task = TASKS["multilingual_evidence"]
    other = hyde.HYDE.ask("q1", task.name, "Which insect?", task.scale)
    place = model(tmp_path, "loses", tokens=["eng_Latn", "spa_Latn"])
    with pytest.raises(UsageError, match="cannot answer hyde@1"):
        list(Seq2Seq(place).answers([other], Run()))
    with pytest.raises(FetchError, match="gave 0 texts for 1"):
        list(Seq2Seq(place).answers(asked("es"), Run()))
    broken = model(tmp_path, "breaks", tokens=["eng_Latn", "spa_Latn"], breaks=True)
    with pytest.raises(FetchError, match="failed: RuntimeError: out of memory"):
        list(Seq2Seq(broken).answers(asked("es"), Run()))


def test_a_model_that_does_not_load_and_a_library_that_is_not_there(
    tmp_path: Path, models: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="'org/none' cannot be loaded: OSError"):
        list(Seq2Seq("org/none").answers(asked("es"), Run()))
    with monkeypatch.context() as patch:  # undone before the stand-in is taken out
        patch.setitem(sys.modules, "transformers", None)
        with pytest.raises(UsageError, match="needs transformers, which is not installed") as raised:
            Seq2Seq("org/none")
    assert "make setup EXTRAS=models" in raised.value.hint


def test_a_folder_is_named_without_its_path(tmp_path: Path) -> None:
    assert named("seq2seq:/somewhere/secret/nllb") == ("seq2seq:nllb", "/somewhere/secret/nllb")
    assert named("seq2seq:org/opus-{from}-{to}") == ("seq2seq:org/opus-{from}-{to}", "org/opus-{from}-{to}")
    assert named("gpt") == ("gpt", "")
