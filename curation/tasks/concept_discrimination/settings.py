"""Settings of concept discrimination, and reasons of its own."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from schemas import task


class Settings(task.Settings):
    """Settings of concept_discrimination."""

    min_words: int = Field(default=20, ge=1, description="a shorter passage makes no query")
    max_words: int = Field(default=200, ge=1, description="a longer passage makes no query")
    passages: int = Field(
        default=5, ge=1, description="passages of one article that one name makes queries of"
    )


class OwnReason(StrEnum):
    """Why this task drops what no other does."""

    NOT_IN_A_PASSAGE = "not_in_a_passage"
    NO_CONCEPT = "no_concept"
    SEVERAL_CONCEPTS = "several_concepts"
    OTHER_READING = "other_reading"
    NO_DEFINITION = "no_definition"
    EMPTY_DEFINITION = "empty_definition"
    OTHER_DEFINITION = "other_definition"
    GENERAL_CONCEPT = "general_concept"
    FEW_MEMBERS = "few_members"
    SAME_PASSAGE = "same_passage"
    OWN_LANGUAGE = "own_language"
    NAMES_GOLD = "names_gold_concept"
