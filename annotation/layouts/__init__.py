"""What reviewers see: Label Studio layouts, the data of their tasks, and the reading of answers."""

from annotation.layouts.answers import Answer, answer
from annotation.layouts.config import Layout, layout
from annotation.layouts.data import HIDDEN_COLUMNS, common_kind, data_sha256, task_data
from annotation.layouts.fields import REQUIRED, SHOWN
from annotation.layouts.guidelines import sources
from annotation.layouts.questions import RELEVANCE, grades

__all__ = [
    "HIDDEN_COLUMNS",
    "RELEVANCE",
    "REQUIRED",
    "SHOWN",
    "Answer",
    "Layout",
    "answer",
    "common_kind",
    "data_sha256",
    "grades",
    "layout",
    "sources",
    "task_data",
]
