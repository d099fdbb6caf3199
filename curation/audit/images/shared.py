"""Features and pairs of one audit run, made once however many rules ask for them."""

from __future__ import annotations

from typing import Any

from curation.audit.dataset import Dataset
from curation.audit.images.features import ImageFeatures, features
from curation.audit.images.pairs import ImagePair, same_images
from curation.audit.rule import Context

_HELD = "_images"


def features_of(context: Context, dataset: Dataset) -> ImageFeatures:
    """Features of the audited dataset or of one beside it."""
    held = _held(context)
    key = ("features", dataset.role, dataset.name, str(dataset.directory))
    if key not in held:
        held[key] = features(dataset.views, context.pool)
    found: ImageFeatures = held[key]
    return found


def pairs_of(context: Context, other: Dataset | None = None) -> list[ImagePair]:
    """Pairs of the same picture within the audited dataset, or between it and another one."""
    held = _held(context)
    key = ("pairs", other.role, other.name, str(other.directory)) if other else ("pairs",)
    if key not in held:
        theirs = features_of(context, other) if other else None
        held[key] = same_images(features_of(context, context.subject), theirs, context.pool)
    found: list[ImagePair] = held[key]
    return found


def _held(context: Context) -> dict[tuple[str, ...], Any]:
    """Kept with the context, so that it goes when the run ends and no other run sees it."""
    found: dict[tuple[str, ...], Any] = vars(context).setdefault(_HELD, {})
    return found
