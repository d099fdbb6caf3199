"""Settings of cross-lingual question answering, and reasons of its own."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from schemas import task


class Settings(task.Settings):
    """Settings of crosslingual_qa."""

    granularity: Literal["passage", "abstract"] = Field(
        default="passage",
        description="what a document is: a passage, labelled by headings and sentences, or an abstract, "
        "labelled by MeSH headings with qualifiers",
    )
    min_document_words: int = Field(
        default=20, ge=0, description="a shorter passage, or abstract, is not in the corpus"
    )
    max_family: int = Field(
        default=50, ge=0, description="a concept with more below it is too general to be asked about"
    )
    min_version_words: int = Field(
        default=5, ge=1, description="a title, abstract or caption with fewer words has no other version"
    )
    family_share: int = Field(
        default=3, ge=1, description="passages of one article that are relevant to a question, best first"
    )
    article_share: int = Field(
        default=10, ge=1, description="passages of one article that are relevant to questions in one language"
    )
    parallel_core: bool = Field(
        default=False, description="of questions only those that can be asked in every language of the core"
    )


class OwnReason(StrEnum):
    """Why this task drops what no other does."""

    ONLY_UNCONFIRMED_NAME = "only_unconfirmed_name"
    OUTSIDE_PARALLEL_CORE = "outside_parallel_core"
    LANGUAGE_NOT_SEARCHED = "language_not_searched"
    FACET_NOT_OF_TYPE = "facet_not_of_type"
    NO_ENGLISH_VERSION = "no_english_version"
    SEVERAL_ENGLISH_VERSIONS = "several_english_versions"
    NO_MEDICAL_CONCEPT = "no_medical_concept"
    OTHER_LANGUAGE = "other_language"
    NOT_INDEXED = "not_indexed"
