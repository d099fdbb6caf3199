"""Features and pairs of one command, made once however many rules and sibling audits ask for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from curation.audit.dataset import Dataset
from curation.audit.rule import Context
from curation.similarity.image.features import ImageFeatures, features
from curation.similarity.image.pairs import ImagePair, same_among

_HELD = "_images"
_HASH = 64
"""Hexadecimal digits."""


def begin(
    subject: Dataset, siblings: Sequence[Dataset], pool: Executor, shared: dict[tuple[str, ...], Any]
) -> None:
    """Begin to look at all pictures and to pair them, while this process runs rules that need no picture.

    Args:
        subject: the audited dataset.
        siblings: the other tasks of its release.
        pool: other processes; a thread of this one hands them their parts and waits.
        shared: where `features_of` and `pairs_of` of the audit will look.
    """
    sets = sorted([subject, *siblings], key=_name)
    if not all(is_hashed(dataset) for dataset in sets):
        return
    with _Thread() as thread:
        for dataset in sets:
            thread.put(shared, _features_key(dataset), partial(features, dataset.views, pool))
        seen = [shared[_features_key(dataset)] for dataset in sets]
        thread.put(shared, _pairs_key(sets), lambda: same_among([_ready(one) for one in seen], pool))


class _Thread:
    """One thread that works through what it is given in order, and ends after the last."""

    def __enter__(self) -> _Thread:
        self._executor = ThreadPoolExecutor(1)
        return self

    def put(self, held: dict[tuple[str, ...], Any], key: tuple[str, ...], make: Callable[[], Any]) -> None:
        """Make something that is not held yet."""
        if key not in held:
            held[key] = self._executor.submit(make)

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown(wait=False)


def _ready(found: Any) -> Any:
    return found.result() if isinstance(found, Future) else found


def features_of(context: Context, dataset: Dataset) -> ImageFeatures:
    """Features of the audited dataset or of one beside it."""
    held = _held(context, dataset)
    key = _features_key(dataset)
    if key not in held:
        held[key] = features(context.on_disk(dataset, "queries", "corpus"), context.pool)
    found: ImageFeatures = _ready(held[key])
    return found


def pairs_of(context: Context, other: Dataset | None = None) -> list[ImagePair]:
    """Pairs of the same picture within the audited dataset, or between it and one of its siblings.

    All siblings are compared at once, each with each, so that their own audits need not do it again.
    """
    subject = context.subject
    sets = sorted([subject, *context.siblings], key=_name)
    held = _held(context, *sets)
    key = _pairs_key(sets)
    if key not in held:
        held[key] = same_among([features_of(context, dataset) for dataset in sets], context.pool)
    found: Mapping[tuple[int, int], list[ImagePair]] = _ready(held[key])
    own, theirs = sets.index(subject), sets.index(other or subject)
    if own <= theirs:
        return found[own, theirs]
    turned = (ImagePair(pair.other, pair.one, pair.how, pair.score) for pair in found[theirs, own])
    return sorted(turned)


def is_hashed(dataset: Dataset) -> bool:
    """Whether its hash tells it from every other dataset; copies that defects are planted in have none."""
    return len(dataset.sha256) == _HASH


def _features_key(dataset: Dataset) -> tuple[str, ...]:
    return "features", *_name(dataset)


def _pairs_key(sets: Sequence[Dataset]) -> tuple[str, ...]:
    return "pairs", *(part for dataset in sets for part in _name(dataset))


def _name(dataset: Dataset) -> tuple[str, str]:
    return dataset.sha256, str(dataset.directory)


def _held(context: Context, *datasets: Dataset) -> dict[tuple[str, ...], Any]:
    """What is kept for all audits of the command; for datasets without a hash, for this audit only."""
    if all(is_hashed(dataset) for dataset in datasets):
        return context.shared
    found: dict[tuple[str, ...], Any] = vars(context).setdefault(_HELD, {})
    return found
