"""Settings of clinical case retrieval."""

from __future__ import annotations

from pydantic import Field

from schemas import task


class Settings(task.Settings):
    """Settings of clinical_case."""

    min_words: int = Field(
        default=50, ge=0, description="a shorter case is not in the corpus, and no query is left shorter"
    )
    min_confidence: float = Field(default=0.5, ge=0, le=1, description="a less sure diagnosis counts as open")
    max_family: int = Field(
        default=50, ge=0, description="a wider concept above the diagnosis with more below it may be named"
    )
    max_diseases: int = Field(
        default=20, ge=1, description="a drug, gene or test of more diseases points to none of them"
    )
