"""Rows of multilingual evidence retrieval beside those that all tasks have."""

from __future__ import annotations

from typing import Literal

from schemas.prompt import By
from schemas.record import column, record
from schemas.vocabulary import Tier

CheckStatus = Literal["passed", "failed", "not_run"]
Verdict = Literal["source", "kept", "rejected", "left_out", "unusable", "not_run"]


@record
class GivenName:
    """One name that the vocabulary has of a concept of the question, given to whoever translates it."""

    concept: str = column("CURIE")
    english: str = column("English name")
    name: str = column("name in the language of the translation, unaltered")
    source: str = column("source of the name, e.g. HPO_ES")
    tier: Tier = column("licence tier of the name: open or terms")


@record
class WantedTranslation:
    """One question in one language that it is to be translated into."""

    id: str = column("id of the English query, a slash, the language")
    query_id: str = column("English query")
    article_id: str = column("collection or module of the question")
    language: str = column("BCP-47 language of the translation")
    text: str = column("the question in English")
    names: tuple[GivenName, ...] = column("names given with it", default=())
    told: tuple[str, ...] = column("concepts (CURIEs) that the English question names", default=())
    answers: tuple[str, ...] = column("names of the answer in both languages", default=())
    core_only: bool = column("only whole families of the parallel core are wanted")
    translate_back: bool = column("an engine is asked to translate it back", default=False)


@record
class TranslatedQuestion:
    """One translation as an engine gave it."""

    wanted: str = column("which translation was wanted")
    text: str = column("as it came, white space folded")
    kind: str = column("kind of prompt and its version")
    model: str = column("engine or model as it was asked for")
    served_model: str = column("as it named itself, '' when it did not")
    prompt_sha256: str = column("hex SHA-256 of all that the prompts of this kind have in common")
    by: By = column(
        "who translated: a model, a person, or an engine that was shown no names", default="model"
    )


@record
class TextBack:
    """One text that is to be translated back into English: a translation, or a known sentence."""

    id: str = column(
        "which translation was wanted, or known/, the language, / and the number of the sentence"
    )
    article_id: str = column("collection or module of the question, '' of a known sentence")
    language: str = column("BCP-47")
    text: str = column("what is to be translated")


@record
class BackText:
    """One text as an engine translated it back."""

    id: str = column("which text")
    text: str = column("English as it came, white space folded")
    model: str = column("engine or model as it was asked for")
    served_model: str = column("as it named itself, '' when it did not")


@record
class FoundBack:
    """One translation as an engine translated it back, and what the engine made of the known sentences."""

    wanted: str = column("which translation")
    engine: str = column("engine or model, as it named itself or as it was asked for")
    text: str = column("English")
    known: tuple[str, ...] = column("known sentences of the language in English, in order", default=())


@record
class TranslationCheck:
    """What one check found in one translation, kept or not."""

    wanted: str = column("which translation")
    query_id: str = column("English query")
    language: str = column("BCP-47 language of the translation")
    check: str = column("name of the check")
    status: CheckStatus = column("passed, failed or not_run")
    value: float | None = column("score, null where the check did not run", default=None)
    detail: str = column("what it was seen by, or why it did not run", default="")
    fault: str = column("reason of rejection, '' where it did not fail", default="")


@record
class KeptTranslation:
    """One translation that no check rejected."""

    wanted: str = column("which translation")
    id: str = column("id of the query it is")
    query_id: str = column("English query")
    article_id: str = column("collection or module of the question")
    language: str = column("BCP-47")
    text: str = column("the translation")
    text_sha256: str = column("hex SHA-256 of it")


@record
class FamilyMember:
    """One query and the English question it says."""

    query_id: str = column("query")
    english_id: str = column("English query")


@record
class TranslationOrigin:
    """Where the words of one query come from, and what became of every translation that was wanted."""

    query_id: str = column("English query")
    language: str = column("BCP-47")
    translated_id: str = column("query that it became, '' for none")
    kind: Literal["human", "machine"] = column("who wrote the text; what nobody translated is a machine's")
    verdict: Verdict = column("what became of it")
    reasons: tuple[str, ...] = column("why checks rejected it", default=())
    prompt: str = column("kind of prompt and its version, '' for a text of the collection", default="")
    prompt_sha256: str = column("hex SHA-256 of all that these prompts have in common", default="")
    model: str = column("engine or model as it was asked for", default="")
    served_model: str = column("as it named itself, '' when it did not", default="")
    text_sha256: str = column("hex SHA-256 of the text, '' where there is none", default="")
    names: tuple[str, ...] = column("vocabulary names given with it", default=())
    name_sources: tuple[str, ...] = column("source of each of these", default=())
