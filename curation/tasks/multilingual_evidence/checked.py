"""Every check of every translation: all scores are kept, a translation stays only if no check fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from curation.concepts.opening import open_backend
from curation.multilingual.back import Back
from curation.multilingual.checks import Concepts, Fault, Translation, check
from curation.tasks.multilingual_evidence.back import FOUND_BACK
from curation.tasks.multilingual_evidence.records import (
    FoundBack,
    KeptTranslation,
    TranslatedQuestion,
    TranslationCheck,
    WantedTranslation,
)
from curation.tasks.multilingual_evidence.settings import NAME
from curation.tasks.shared.case_facts import read_concepts
from schemas.hashing import normalise_text, sha256_text
from schemas.ids import query_id
from schemas.stages import Account, Drop, Input, RecordStage, Table

BACKEND = "native"
Row = TranslationCheck | KeptTranslation | Drop


def checked(
    wanted: WantedTranslation,
    translated: Sequence[TranslatedQuestion],
    backs: Sequence[FoundBack],
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
        vocabulary: index of the native matcher.
        types: Parquet of ConceptType rows of the vocabulary.
        relations: Parquet of its ConceptRelation rows.
    """
    for one in translated:
        concepts = _concepts(wanted, one.text, vocabulary, types, relations)
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


def _concepts(
    wanted: WantedTranslation, text: str, vocabulary: Path, types: Path, relations: Path
) -> Concepts:
    """Concepts of both texts, those of the translation without the names that were given with it."""
    withheld = {normalise_text(name.name) for name in wanted.names}
    known = read_concepts(types, relations)
    matches = open_backend(BACKEND, vocabulary).find(text, wanted.language)
    return Concepts(
        told=frozenset(wanted.told),
        retold=frozenset(
            match.concept
            for match in matches
            if normalise_text(match.name) not in withheld and known.kind(match.concept) != "other"
        ),
        are_related=lambda one, other: (
            one == other or known.is_above(one, other) or known.is_above(other, one)
        ),
    )


# A named function, not a lambda: stages travel to worker processes.
def _translated_ids(
    wanted: WantedTranslation, translated: Sequence[TranslatedQuestion], *_: object
) -> list[str]:
    return [one.wanted for one in translated]


CHECKED = RecordStage(
    name=f"{NAME}_checked",
    version=4,
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
    resources=("vocabulary", "types", "relations"),
    reasons=frozenset(Fault),
)
