"""Settings of the toy task, and reasons of its own."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from schemas import task


class Settings(task.Settings):
    """Settings of toy_search."""

    min_words: int = Field(default=15, ge=1, description="a shorter caption or passage is left out")


class OwnReason(StrEnum):
    """Why this task drops what no other does."""

    TOY_UNCITED = "toy_uncited"
