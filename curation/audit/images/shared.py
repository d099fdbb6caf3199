"""Features and pairs of one command, made once however many rules and sibling audits ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curation.audit.dataset import Dataset
from curation.audit.images.features import ImageFeatures, features
from curation.audit.images.pairs import ImagePair, same_among
from curation.audit.rule import Context

_HELD = "_images"
_HASH = 64
"""Digits of the hash of a dataset; the copies that canaries are planted in have none, and are not shared."""


def features_of(context: Context, dataset: Dataset) -> ImageFeatures:
    """Features of the audited dataset or of one beside it."""
    held = _held(context, dataset)
    key = ("features", *_name(dataset))
    if key not in held:
        held[key] = features(dataset.views, context.pool)
    found: ImageFeatures = held[key]
    return found


def pairs_of(context: Context, other: Dataset | None = None) -> list[ImagePair]:
    """Pairs of the same picture within the audited dataset, or between it and one of its siblings.

    All siblings are compared at once, each with each, so that their own audits need not do it again.
    """
    subject = context.subject
    sets = sorted([subject, *context.siblings], key=_name)
    held = _held(context, *sets)
    key = ("pairs", *(part for dataset in sets for part in _name(dataset)))
    if key not in held:
        held[key] = same_among([features_of(context, dataset) for dataset in sets], context.pool)
    found: Mapping[tuple[int, int], list[ImagePair]] = held[key]
    own, theirs = sets.index(subject), sets.index(other or subject)
    if own <= theirs:
        return found[own, theirs]
    turned = (ImagePair(pair.other, pair.one, pair.how, pair.score) for pair in found[theirs, own])
    return sorted(turned)


def _name(dataset: Dataset) -> tuple[str, str]:
    return dataset.sha256, str(dataset.directory)


def _held(context: Context, *datasets: Dataset) -> dict[tuple[str, ...], Any]:
    """What is kept for all audits of the command; for datasets without a hash, for this audit only."""
    if all(len(dataset.sha256) == _HASH for dataset in datasets):
        return context.shared
    found: dict[tuple[str, ...], Any] = vars(context).setdefault(_HELD, {})
    return found
