"""Settings of case study retrieval, and reasons of its own."""

from __future__ import annotations

from pydantic import Field

from curation.tasks.shared import several_images


class Settings(several_images.Settings):
    """Settings of case_study."""

    min_words: int = Field(default=50, ge=0, description="a shorter case is not in the corpus")
    min_confidence: float = Field(default=0.5, ge=0, le=1, description="a less sure diagnosis counts as open")
    max_family: int = Field(
        default=50, ge=0, description="a concept with more below it does not make siblings of its children"
    )
    require_image: bool = Field(
        default=True, description="a case without a usable clinical image makes no query"
    )
