"""Settings that tasks of questions and the passages that support their answers share."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from curation.tasks.shared.granularity import PassageOrArticle
from schemas import task

VERSION: Final = 7
"""Of the stages here, whatever task they are of."""


class SupportSettings(task.Settings):
    """Which questions are asked, and what is searched."""

    granularity: PassageOrArticle = Field(
        default="passage",
        description="what a document is: passage or article; a citation is enough to label an article",
    )
    min_document_words: int = Field(
        default=20, ge=0, description="a shorter passage, or article, is not in the corpus"
    )
    min_query_words: int = Field(default=4, ge=1, description="a shorter question makes no query")
    max_family: int = Field(
        default=50, ge=0, description="a concept with more below it is too general to be a target"
    )
    mining_depth: int = Field(
        default=10, ge=1, le=1000, description="passages judged of each view and mining system"
    )
    cited_depth: int = Field(
        default=3, ge=1, le=1000, description="the same within the articles that an answer names"
    )
