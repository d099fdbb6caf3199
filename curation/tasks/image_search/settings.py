"""Settings of image search, and reasons of its own."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from schemas import task


class Settings(task.Settings):
    """Settings of image_search."""

    min_caption_words: int = Field(default=5, ge=0, description="a shorter caption makes no query")
    max_caption_words: int = Field(
        default=200, ge=1, description="a longer caption is no short text and makes no query"
    )
    min_case_words: int = Field(default=30, ge=0, description="a shorter story makes no query")
    max_case_words: int = Field(
        default=300,
        ge=1,
        description="a longer story keeps the sentences that cite its images and its opening",
    )
    shared_tokens: int = Field(
        default=4,
        ge=1,
        description="an image that shows so many words of its caption or story in a row is left out",
    )
    release_flagged: bool = Field(
        default=False, description="whether images flagged as faces or sensitive are released"
    )


class OwnReason(StrEnum):
    """Why this task drops what no other does."""

    LONG_CAPTION = "long_caption"
    LABEL_IN_IMAGE = "label_in_image"
