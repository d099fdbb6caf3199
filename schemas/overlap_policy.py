"""Which overlap between tasks and splits must be zero, is allowed, or is only reported.

Overlap is over target concepts, normalised queries, and source articles of queries and positives;
distractors and incidental mentions do not count.
"""

from __future__ import annotations

from typing import Literal

Dimension = Literal["target_concept", "query", "article", "patient", "image_family"]
Level = Literal["zero", "allowed", "reported"]

DIMENSIONS: tuple[Dimension, ...] = ("target_concept", "query", "article", "patient", "image_family")
TASKS: tuple[str, ...] = (
    "visual_context",
    "image_search",
    "summary",
    "case_study",
    "reference_qa",
    "clinical_evidence",
    "clinical_case",
    "crosslingual_qa",
    "concept_discrimination",
    "multilingual_evidence",
)
_WITHOUT_TARGET_CONCEPT = frozenset({"visual_context", "image_search", "summary"})


def level(task: str, other: str, dimension: Dimension) -> Level:
    """The rule for a pair of tasks; `task == other` means between splits of one task.

    Tasks whose queries have no target concept only report concept overlap; every other dimension is zero.
    """
    if dimension == "target_concept" and {task, other} & _WITHOUT_TARGET_CONCEPT:
        return "reported"
    return "zero"
