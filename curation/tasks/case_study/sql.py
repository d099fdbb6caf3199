"""Pairs the cases of all shards: every relation of two diagnoses that is near counts."""

from __future__ import annotations

from curation.tasks.shared.case_pairs import over_all
from curation.tasks.shared.several_images import of_kept
from schemas.benchmark import RowImage

NAME = "case_study"
OVER_ALL = over_all(
    NAME,
    version=5,
    inputs={"all_images": (f"{NAME}_images.images", RowImage)},
    outputs={"images": of_kept(("query", "document"))},
)
