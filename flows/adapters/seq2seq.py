"""Translation models of transformers (MarianMT, NLLB, M2M100, mBART) as engines, in the extra `models`.

A model is a folder, or a name on the Hub. One that holds a single pair is named with `{from}` and `{to}` in
the place of its languages; of one that holds several, the language is told by the tokens it has for them.
Texts are decoded without chance, so that a model gives the same text again on the same machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flows.adapters.engines import KIND, Engine
from flows.adapters.models import identity, library, load
from schemas.errors import FetchError

PREFIX = "seq2seq:"
"""Before the model, as `--model` calls it."""
_ENGLISH = "en"
_CODES: Mapping[str, tuple[str, ...]] = {
    "de": ("deu_Latn", "de_DE", "__de__", ">>deu<<", ">>de<<"),
    "en": ("eng_Latn", "en_XX", "__en__", ">>eng<<", ">>en<<"),
    "es": ("spa_Latn", "es_XX", "__es__", ">>spa<<", ">>es<<"),
    "fr": ("fra_Latn", "fr_XX", "__fr__", ">>fra<<", ">>fr<<"),
    "it": ("ita_Latn", "it_IT", "__it__", ">>ita<<", ">>it<<"),
    "ja": ("jpn_Jpan", "ja_XX", "__ja__", ">>jpn<<", ">>ja<<"),
    "pt": ("por_Latn", "pt_XX", "__pt__", ">>por<<", ">>pt<<"),
    "ru": ("rus_Cyrl", "ru_RU", "__ru__", ">>rus<<", ">>ru<<"),
    "zh": ("zho_Hans", "zh_CN", "__zh__", ">>cmn_Hans<<", ">>zh<<"),
}
"""Tokens that models have for a language, of which each model has one."""
_OWN_NAMES = {language: {language, codes[0].partition("_")[0]} for language, codes in _CODES.items()}
_LONGEST = 512


def named(model: str) -> tuple[str, str]:
    """What a model is called in what is published, and where it lies: no path of a folder is told."""
    place = model.removeprefix(PREFIX)
    if place == model:
        return model, ""
    if not is_folder(place):
        return model, place
    return PREFIX + Path(place).name, str(Path(place).expanduser())


class Seq2Seq(Engine):
    """One model, or one for each pair, opened when a pair is first asked for.

    Raises:
        UsageError: transformers is not installed, or the model cannot be loaded.
    """

    name = "a seq2seq model"
    batch = 16

    def __init__(self, place: str) -> None:
        self._package = library("transformers")
        self._place = place
        self._open: dict[str, tuple[Any, Any, str]] = {}

    def pair_of(self, language: str, kind: str = KIND) -> str:
        """Both languages, the source first, if the model tells that it has them."""
        ends = (_ENGLISH, language) if kind == KIND else (language, _ENGLISH)
        is_known = set(ends) <= _CODES.keys()
        return "-".join(ends) if is_known and self._has(ends) else ""

    def _has(self, ends: tuple[str, str]) -> bool:
        place = self._place_of(ends)
        if place != self._place:  # made for the pair; of a folder, where there is one
            return not is_folder(self._place) or Path(place).is_dir()
        tokenizer = self._opened(ends)[0]
        if _is_prefixed(tokenizer):
            return bool(_token(tokenizer, ends[1]))
        own = [getattr(tokenizer, name, None) for name in ("source_lang", "target_lang")]
        is_own = all(said in _OWN_NAMES[end] for said, end in zip(own, ends, strict=True))
        return is_own or all(_token(tokenizer, end) for end in ends)

    def translate(self, texts: Sequence[str], pair: str) -> list[str]:
        """Texts by one pair, in order.

        Raises:
            FetchError: the model fails, or gives another number of texts.
        """
        source, _, target = pair.partition("-")
        tokenizer, model, _ = self._opened((source, target))
        said, token = list(texts), _token(tokenizer, target)
        more: dict[str, Any] = {}
        if _is_prefixed(tokenizer):
            said = [f"{token} {text}" for text in said]
        elif token:
            tokenizer.src_lang = _plain(_token(tokenizer, source))
            more["forced_bos_token_id"] = tokenizer.convert_tokens_to_ids(token)
        longest = min(_LONGEST, getattr(model.config, "max_position_embeddings", None) or _LONGEST)
        try:
            given = tokenizer(said, return_tensors="pt", padding=True, truncation=True, max_length=longest)
            made = model.generate(**given, do_sample=False, num_beams=4, max_new_tokens=longest - 1, **more)
            found = tokenizer.batch_decode(made, skip_special_tokens=True)
        except Exception as error:  # the library raises what its many back ends raise
            raise FetchError(
                f"{self.served_as(pair)} failed: {type(error).__name__}: {error}",
                hint="try fewer texts (--limit), or another model",
            ) from error
        if len(found) != len(texts):
            raise FetchError(f"{self.served_as(pair)} gave {len(found)} texts for {len(texts)}")
        # A tokenizer saved without its list of languages does not know that the first token is no text.
        return [" ".join(text.removeprefix(token).split()) for text in found]

    def served_as(self, pair: str) -> str:
        """The model with a hash of its files, the library, and the pair."""
        source, _, target = pair.partition("-")
        return f"{self._opened((source, target))[2]} transformers {self._package.__version__} {pair}"

    def _opened(self, ends: tuple[str, str]) -> tuple[Any, Any, str]:
        place = self._place_of(ends)
        if place not in self._open:
            tokenizer = load(self._package.AutoTokenizer.from_pretrained, place)
            model = load(self._package.AutoModelForSeq2SeqLM.from_pretrained, place)
            about = identity(place)
            self._open[place] = tokenizer, model, f"{about['model']} {about['files'][:12]}".rstrip()
        return self._open[place]

    def _place_of(self, ends: tuple[str, str]) -> str:
        return self._place.replace("{from}", ends[0]).replace("{to}", ends[1])


def is_folder(place: str) -> bool:
    """Whether a model is named by where it lies."""
    return place.startswith(("/", "./", "../", "~")) or Path(place).is_dir()


def _is_prefixed(tokenizer: Any) -> bool:
    """Whether the language is told by a word before the text, as Marian models of several want it."""
    return any(code.startswith(">>") for code in getattr(tokenizer, "supported_language_codes", None) or ())


def _token(tokenizer: Any, language: str) -> str:
    """The token that a model has for a language, '' for none."""
    unknown = getattr(tokenizer, "unk_token_id", None)
    return next(
        (code for code in _CODES[language] if tokenizer.convert_tokens_to_ids(code) not in (None, unknown)),
        "",
    )


def _plain(code: str | None) -> str:
    """A language as a tokenizer is told it: M2M100 has `__es__` for es."""
    return (code or "").strip("_") if (code or "").startswith("__") else code or ""
