"""Every check of every translation: all scores are kept, a translation stays only if no check fails."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from curation.concepts.opening import open_backend
from curation.multilingual.back import Back
from curation.multilingual.checks import Translation, check
from curation.multilingual.named import Concepts
from curation.multilingual.scores import Fault
from curation.tasks.multilingual_evidence.back import FOUND_BACK
from curation.tasks.multilingual_evidence.records import (
    FoundBack,
    GivenName,
    KeptTranslation,
    TranslatedQuestion,
    TranslationCheck,
    WantedTranslation,
)
from curation.tasks.multilingual_evidence.settings import NAME, Settings
from curation.tasks.shared.case_facts import read_concepts
from schemas.hashing import normalise_text, sha256_text
from schemas.ids import query_id
from schemas.stages import Account, Drop, Input, RecordStage, Table

BACKEND = "native"
_GUESSES = ("gloss", "paraphrase")
"""Rules that say what words may mean: no proof that they mean another thing."""
Row = TranslationCheck | KeptTranslation | Drop


def checked(
    wanted: WantedTranslation,
    translated: Sequence[TranslatedQuestion],
    backs: Sequence[FoundBack],
    settings: Settings,
    *,
    vocabulary: Path,
    types: Path,
    relations: Path,
) -> Iterator[Row]:
    """What checks found in one translation, and the translation or a Drop.

    Args:
        wanted: the question, and the language it was to be translated into.
        translated: the translation, one row or none.
        backs: what an engine made of it in English, one row or none.
        settings: the task's.
        vocabulary: index of the native matcher.
        types: Parquet of ConceptType rows of the vocabulary.
        relations: Parquet of its ConceptRelation rows.
    """
    for one in translated:
        concepts = concepts_of(
            wanted.told,
            wanted.names,
            one.text,
            wanted.language,
            are_shown=one.by != "engine",
            max_family=settings.max_family,
            vocabulary=vocabulary,
            types=types,
            relations=relations,
        )
        back = next((Back(made.engine, made.text, made.known) for made in backs), None)
        found = check(Translation(wanted.text, one.text, wanted.language, wanted.answers), concepts, back)
        for score in found.scores:
            yield TranslationCheck(
                wanted=wanted.id,
                query_id=wanted.query_id,
                language=wanted.language,
                check=score.check,
                status=score.status,
                value=score.value,
                detail=score.detail,
                fault=score.fault or "",
            )
        if found.is_kept:
            yield KeptTranslation(
                wanted=wanted.id,
                id=query_id(NAME, wanted.language, one.text),
                query_id=wanted.query_id,
                article_id=wanted.article_id,
                language=wanted.language,
                text=one.text,
                text_sha256=sha256_text(one.text),
            )
            continue
        detail = "; ".join(
            f"{score.check}: {score.detail}".removesuffix(": ") for score in found.scores if score.fault
        )
        yield Drop(
            unit="translation",
            id=wanted.id,
            article_id=wanted.article_id,
            reason=found.faults[0],
            detail=detail,
        )


def concepts_of(
    told: Iterable[str],
    names: Sequence[GivenName],
    text: str,
    language: str,
    *,
    are_shown: bool,
    max_family: int,
    vocabulary: Path,
    types: Path,
    relations: Path,
) -> Concepts:
    """Diseases and findings of both texts; those of the translation without the names that made it.

    Args:
        told: concepts that the English text names.
        names: names that were given with it.
        text: the translation.
        language: its BCP-47 language.
        are_shown: whether whoever translated was shown the names: with them a matcher only finds again
            what was put in.
        max_family: a concept with more below it is too general to be looked for.
        vocabulary: index of the native matcher.
        types: Parquet of ConceptType rows of the vocabulary.
        relations: Parquet of its ConceptRelation rows.
    """
    given: dict[str, list[str]] = defaultdict(list)
    for one in names:
        given[one.concept].append(one.name)
    withheld = {normalise_text(one.name) for one in names if are_shown}
    known = read_concepts(types, relations)
    medical = {concept for concept in told if known.kind(concept) != "other"}
    general = frozenset(concept for concept in medical if known.has_kinds(concept, max_family + 1))
    return Concepts(
        told={concept: given[concept] for concept in sorted(medical - general)},
        retold=frozenset(
            match.concept
            for match in open_backend(BACKEND, vocabulary).find(text, language)
            if match.rule not in _GUESSES
            and normalise_text(match.name) not in withheld
            and known.kind(match.concept) != "other"
        ),
        parents=lambda concept: frozenset(known.parents.get(concept, ())),
        is_above=known.is_above,
        general=general,
        are_shown=are_shown,
    )


# A named function, not a lambda: stages travel to worker processes.
def _translated_ids(
    wanted: WantedTranslation, translated: Sequence[TranslatedQuestion], *_: object
) -> list[str]:
    return [one.wanted for one in translated]


CHECKED = RecordStage(
    name=f"{NAME}_checked",
    version=6,
    inputs=(
        Input(f"{NAME}_wanted.wanted", WantedTranslation, "id"),
        Input(f"{NAME}_translations.translated", TranslatedQuestion, "wanted"),
        Input(f"{FOUND_BACK.name}.found", FoundBack, "wanted"),
    ),
    outputs=(
        Table("checks", TranslationCheck, ("wanted", "check")),
        Table("kept", KeptTranslation, ("wanted",)),
    ),
    process=checked,
    accounts=(Account("translation", _translated_ids, "kept", "wanted"),),
    settings=Settings,
    resources=("vocabulary", "types", "relations"),
    reasons=frozenset(Fault),
)
