"""What overlap between tasks and splits is told by; which of it must be zero follows from the tasks.

Overlap is over target concepts, normalised queries, and source articles of queries and positives;
distractors and incidental mentions do not count.
"""

from __future__ import annotations

from typing import Literal

Dimension = Literal["target_concept", "query", "article", "patient", "image_family"]
Level = Literal["zero", "allowed", "reported"]

DIMENSIONS: tuple[Dimension, ...] = ("target_concept", "query", "article", "patient", "image_family")
