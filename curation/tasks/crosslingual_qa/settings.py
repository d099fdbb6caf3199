"""Settings of cross-lingual question answering, and reasons of its own."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from schemas import task


class Settings(task.Settings):
    """Settings of crosslingual_qa."""

    min_document_words: int = Field(default=20, ge=0, description="a shorter passage is not in the corpus")
    max_family: int = Field(
        default=50, ge=0, description="a concept with more below it is too general to be asked about"
    )
    parallel_core: bool = Field(
        default=False, description="only questions that can be asked in every language of the core"
    )


class OwnReason(StrEnum):
    """Why this task drops what no other does."""

    NO_NAME_IN_LANGUAGE = "no_name_in_language"
    ONLY_UNCONFIRMED_NAME = "only_unconfirmed_name"
    RESTRICTED_NAME = "restricted_name"
    NAME_NOT_IN_LANGUAGE = "name_not_in_language"
    OUTSIDE_PARALLEL_CORE = "outside_parallel_core"
    LANGUAGE_NOT_SEARCHED = "language_not_searched"
    FACET_NOT_OF_TYPE = "facet_not_of_type"
