"""Settings of clinical evidence retrieval, and reasons of its own."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from curation.tasks.clinical_evidence.rules import RuleReason
from schemas import task


class Settings(task.Settings):
    """Settings of clinical_evidence."""

    min_words: int = Field(default=50, ge=0, description="a vignette with fewer words makes no query")
    min_document_words: int = Field(
        default=15, ge=0, description="a passage with fewer words is not in the corpus"
    )
    min_confidence: float = Field(default=0.5, ge=0, le=1, description="a less sure diagnosis counts as open")
    max_family: int = Field(
        default=50, ge=0, description="a wider concept above the diagnosis with more below it may be named"
    )
    max_gap: int = Field(
        default=3,
        ge=0,
        description="a case with more sentences between its cut and the decision does not lead to it",
    )
    one_per_patient: bool = Field(
        default=True,
        description="a case makes one vignette, its scenario drawn by hash, and not all it can",
    )
    max_right: float = Field(
        default=0.9, gt=0, le=1, description="a question with this share of right closed-book answers is easy"
    )
    closed_book_samples: int = Field(
        default=3,
        ge=1,
        le=10,
        description="closed-book answers of each model to each question, its options in another order each",
    )
    chance_level: float = Field(
        default=0.05,
        gt=0,
        lt=1,
        description="most chance that guessing gets as many right on the collection as a model that counts",
    )
    mining_depth: int = Field(
        default=10, ge=1, le=1000, description="passages judged of each view and mining system"
    )


class OwnReason(StrEnum):
    """Why this task drops what no other does."""

    NO_DECISION = "no_decision"
    LANGUAGE_NOT_READ = "language_not_read"
    OTHER_SCENARIO = "other_scenario"
    LEFT_OUT_BEFORE = "left_out_before"
    DUPLICATE_VIGNETTE = "duplicate_vignette"
    NO_PATH = "no_path"
    NO_EVIDENCE = "no_evidence"
    SAME_PATIENT = "same_patient"


REASONS = frozenset({*OwnReason, *RuleReason})
