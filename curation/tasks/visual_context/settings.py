"""Settings of visual context retrieval, and reasons of its own."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from curation.tasks.shared import granularity, several_images


class Settings(several_images.Settings, granularity.Settings):
    """Settings of visual_context."""

    min_words: int = Field(default=25, ge=0, description="a citing passage with fewer words is not an answer")
    max_figures: int = Field(
        default=2, ge=1, description="a passage citing more figures is about none of them"
    )
    min_caption_words: int = Field(default=5, ge=0, description="a shorter caption makes no query")
    min_document_words: int = Field(default=10, ge=0, description="a shorter passage is not in the corpus")
    panels: bool = Field(
        default=False, description="panels that text cites by letter are queries of their own, cut out"
    )
    clinical_only: bool = Field(
        default=False,
        description="only figures whose image shows a patient make queries: no charts, no drawings",
    )
    require_image: bool = Field(default=True, description="a figure without a usable image is dropped")


class OwnReason(StrEnum):
    """Why this task drops what no other does."""

    MANY_FIGURES = "many_figures"
    NO_PANEL_BOX = "no_panel_box"
