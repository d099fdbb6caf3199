"""Settings of summary retrieval, and reasons of its own."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from schemas import task


class Settings(task.Settings):
    """Settings of summary."""

    min_abstract_words: int = Field(
        default=40, ge=0, description="a shorter abstract is not in the corpus and makes no query"
    )
    min_context_words: int = Field(
        default=150, ge=0, description="an article with less text around its figure makes no query"
    )
    max_context_words: int = Field(default=400, ge=1, description="words of text around the figure, at most")
    max_caption_words: int = Field(default=100, ge=0, description="words of its caption, at most")
    require_image: bool = Field(
        default=False, description="an article whose cited figures have no usable image makes no query"
    )


class OwnReason(StrEnum):
    """Why this task drops what no other does."""

    NO_ABSTRACT = "no_abstract"
    SHORT_ABSTRACT = "short_abstract"
    OTHER_ABSTRACT = "other_abstract"
    NO_FIGURE = "no_figure"
    SHORT_CONTEXT = "short_context"
