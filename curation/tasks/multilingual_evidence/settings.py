"""Settings of multilingual evidence retrieval, and reasons of its own."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from pydantic import Field, field_validator

from curation.prompts.translation import NAMED
from curation.tasks.shared.support.settings import SupportSettings
from schemas.benchmark import CORE_LANGUAGES

NAME: Final = "multilingual_evidence"
SOURCE_LANGUAGE: Final = "en"
"""Questions are asked, and passages searched, in it; every other language is a translation."""
TARGETS: Final = tuple(sorted(NAMED))
"""Languages that a translation can be checked in."""


class Settings(SupportSettings):
    """Settings of multilingual_evidence."""

    languages: tuple[str, ...] = Field(
        default=tuple(code for code in CORE_LANGUAGES if code != SOURCE_LANGUAGE),
        description="languages that questions are translated into; English ones are always there",
    )
    parallel_core: bool = Field(
        default=False,
        description="only questions with a kept translation in every language of the core, and only these",
    )

    back_translation: bool = Field(
        default=False,
        description="translations are translated back, and known sentences as a control of the engine",
    )

    @field_validator("languages")
    @classmethod
    def _are_known(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for language in given:
            if language not in TARGETS:
                raise ValueError(f"{language!r} cannot be checked; languages: {', '.join(TARGETS)}")
        return tuple(sorted(set(given)))

    @property
    def asked(self) -> tuple[str, ...]:
        """Languages that translations are asked for in, sorted."""
        core = tuple(code for code in CORE_LANGUAGES if code != SOURCE_LANGUAGE)
        return core if self.parallel_core else self.languages


class OwnReason(StrEnum):
    """Why this task drops what no other does."""

    EMPTY = "empty"
    WRONG_SCRIPT = "wrong_script"
    WRONG_LANGUAGE = "wrong_language"
    UNTRANSLATED = "untranslated"
    LENGTH_UNLIKELY = "length_unlikely"
    CONCEPT_CHANGED = "concept_changed"
    BACK_CHANGED = "back_changed"
