"""Settings of reference question answering, and reasons of its own."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from schemas import task


class Settings(task.Settings):
    """Settings of reference_qa."""

    granularity: Literal["passage", "document"] = Field(
        default="passage",
        description="what is searched: passages, or whole articles, which a citation is enough to label",
    )
    min_document_words: int = Field(
        default=20, ge=0, description="a shorter passage, or article, is not in the corpus"
    )
    min_query_words: int = Field(default=4, ge=1, description="a shorter question makes no query")
    max_family: int = Field(
        default=50, ge=0, description="a concept with more below it is too general to be a target"
    )


class OwnReason(StrEnum):
    """Why this task drops what no other does."""

    SHORT_QUESTION = "short_question"
    NO_WORDED_ANSWER = "no_worded_answer"
    ONLY_WITH_OPTIONS = "only_with_options"
    GENERAL_SUBJECT = "general_subject"
    NO_SUPPORT = "no_support"
