"""Pictures of the audited dataset that stand in another benchmark: equal bytes, or pixels that agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from curation.audit.dataset import Dataset
from curation.audit.layouts.hashlist import Listed, read_hash_list, wide_hashes
from curation.audit.pictures import features_of
from curation.audit.rule import MAX_EXAMPLES, Context, NotApplicable, Outcome, side
from curation.audit.rules.images_defects import cropped_file, encoded, rescaled_file, same_pixels, shown_twice
from curation.audit.rules.overlap_keys import splits_sql
from curation.audit.rules.text_rows import literal
from curation.similarity.image import ImageFeatures, features, same_images
from schemas.audit import Coverage, Finding, OverlapCell

RULE = "contaminated_images"
UNREAD = ("image_missing", "image_outside", "image_too_large")
"""Problems of a layout that leave a picture out."""
NEAR_BITS = 8
WIDE_BITS = 24
"""Of 256: against a hash list there are no pixels to confirm with, so a longer hash does."""
DEFINITION = (
    "No image of a query or document is an image of a named benchmark: equal bytes, or the same image "
    "re-encoded, rescaled or cropped as confirmed by its pixels; against a hash list, equal bytes or at most "
    f"{NEAR_BITS} of 64 and {WIDE_BITS} of 256 bits of perceptual hashes apart (crops are not found there)."
)
_BLOCK = 1 << 22
_HOW = {
    "bytes": "has the bytes of",
    "rescaled": "is, re-encoded or rescaled,",
    "cropped": "is, cropped,",
    "hashes": "has nearly the perceptual hashes of",
}


@dataclass(frozen=True, slots=True)
class _Hit:
    table: str
    id: str
    other_table: str
    other_id: str
    how: str


def check(context: Context) -> Outcome:
    """Compare all images with those of every other benchmark.

    Raises:
        NotApplicable: the audited dataset has no image.
    """
    own = features_of(context, context.subject)
    if not len(own):
        raise NotApplicable("the dataset has no image")
    findings: list[Finding] = []
    covered: list[Coverage] = []
    cells: list[OverlapCell] = []
    found, compared = 0, 0
    missed: list[str] = []
    without: list[str] = []
    for other in context.against:
        hits, pairs, skipped = _compare(context, own, other)
        compared += pairs
        found += len(hits)
        findings += [_finding(hit, other) for hit in hits[: MAX_EXAMPLES - len(findings)]]
        why = "they do not decode" if skipped else ""
        covered.append(
            Coverage(
                compared_with=other.name, compared=pairs, unit="pairs of images", skipped=skipped, why=why
            )
        )
        unread = _unread(context, other)
        if unread:
            missed.append(f"{other.name}: {unread} images its rows name could not be read")
        elif not pairs:
            without.append(f"{other.name} has no image")
        cells += _cells(context, own, other, hits if pairs else None)
    return Outcome(
        compared,
        found,
        tuple(findings),
        "; ".join(without),
        tuple(covered),
        missed="; ".join(missed),
        matrix=tuple(cells),
    )


def _unread(context: Context, other: Dataset) -> int:
    """Pictures that rows of another benchmark name and that were not there to be looked at."""
    files = other.views.get("problems", ())
    if not files:
        return 0
    text = f"SELECT count(*) AS n FROM problems WHERE reason IN ({', '.join(map(literal, UNREAD))})"
    return int(next(iter(context.query(text, {"problems": files}))).to_pylist()[0]["n"])


def _compare(context: Context, own: ImageFeatures, other: Dataset) -> tuple[list[_Hit], int, int]:
    """Hits in order of ids, pairs compared, images left out."""
    if "hashes" in other.views:
        listed = read_hash_list(other.views["hashes"][0])
        hits = sorted(set(_with_list(own, listed)), key=_order)
        return hits, _sound(own) * len(listed.images.ids), int((~own.is_ok).sum())
    theirs = features(context.on_disk(other, "queries", "corpus"), context.pool)
    if not len(theirs):
        return [], 0, 0
    hits = [
        _Hit(
            own.table_of(pair.one),
            str(own.ids[pair.one]),
            theirs.table_of(pair.other),
            str(theirs.ids[pair.other]),
            pair.how,
        )
        for pair in same_images(own, theirs, context.pool)
    ]
    return (
        sorted(hits, key=_order),
        _sound(own) * _sound(theirs),
        int((~own.is_ok).sum() + (~theirs.is_ok).sum()),
    )


def _sound(images: ImageFeatures) -> int:
    """Pictures that decode: of the others only equal bytes would show."""
    return int(images.is_ok.sum())


def _order(hit: _Hit) -> tuple[str, str, str, str, str]:
    return ((hit.table != "queries" and "1") or "0", hit.id, hit.other_table, hit.other_id, hit.how)


def _with_list(own: ImageFeatures, listed: Listed) -> Iterator[_Hit]:
    """Images whose bytes are listed, and those whose hashes are near."""
    images = listed.images
    by_bytes: dict[str, list[int]] = {}
    for number, digest in enumerate(images.sha256):
        by_bytes.setdefault(digest, []).append(number)
    equal: set[tuple[int, int]] = set()
    for place, digest in enumerate(own.sha256.tolist()):
        for number in by_bytes.get(digest, ()) if digest else ():
            equal.add((place, number))
            yield _hit(own, place, listed, number, "bytes")
    mine = np.flatnonzero(own.is_ok & ~own.is_flat)
    theirs = np.flatnonzero(images.has_wide)
    wide = wide_hashes(own.thumbs)[own.look]
    for start in range(0, len(mine), max(1, _BLOCK // max(len(theirs), 1))):
        rows = mine[start : start + max(1, _BLOCK // max(len(theirs), 1))]
        near = np.bitwise_count(own.phash[rows][:, None] ^ images.phash[theirs][None, :]) <= NEAR_BITS
        for a, b in np.argwhere(near).tolist():
            place, number = int(rows[a]), int(theirs[b])
            apart = int(np.bitwise_count(wide[place] ^ images.wide[number]).sum())
            if apart <= WIDE_BITS and (place, number) not in equal:
                yield _hit(own, place, listed, number, "hashes")


def _hit(own: ImageFeatures, place: int, listed: Listed, number: int, how: str) -> _Hit:
    images = listed.images
    return _Hit(own.table_of(place), str(own.ids[place]), images.tables[number], images.ids[number], how)


def _finding(hit: _Hit, other: Dataset) -> Finding:
    whose = "query" if hit.table == "queries" else "document"
    theirs = "query" if hit.other_table == "queries" else "document"
    message = f"the image of the {whose} {_HOW[hit.how]} the image of a {theirs} of {other.name}"
    sides = (side(hit.table, hit.id), side(hit.other_table, hit.other_id, dataset=other.name))
    return Finding(rule=RULE, severity="error", message=message, sides=sides)


def _cells(
    context: Context, own: ImageFeatures, other: Dataset, hits: Sequence[_Hit] | None
) -> list[OverlapCell]:
    """Per split: queries whose image stands in the other benchmark; unknown when nothing was compared."""
    if "queries" not in context.views:
        return []
    pictured = {str(own.ids[place]) for place in np.flatnonzero(own.table == 0).tolist()}
    tables = [name for name in ("queries", "provenance_queries") if name in context.views]
    splits: dict[str, set[str]] = {}
    for batch in context.batches(f"SELECT q, split FROM ({splits_sql(context.subject)})", *tables):
        for query, split in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            if query in pictured:
                splits.setdefault(split, set()).add(query)
    hit = {item.id for item in hits or () if item.table == "queries"}
    task = context.subject.task
    return [
        OverlapCell(
            dimension="image_family",
            one=f"{task}/{split}" if split else task,
            other=other.name,
            level="zero",
            shared=None if hits is None else len(hit & ids),
            keys=len(ids),
        )
        for split, ids in sorted(splits.items())
    ]


_there = partial(shown_twice, one="", other="second.corpus", second="against")
_listed = partial(_there, second="hashlist")
DEFECTS = (
    _there("an image whose bytes stand in another benchmark", seed=50, again=encoded),
    _there("an image that stands in another benchmark at 0.6 of its size", seed=51, again=rescaled_file),
    _there("an image of which another benchmark has four fifths", seed=52, again=cropped_file),
    _listed("an image whose bytes stand in another benchmark's hash list", seed=53, again=encoded),
    _listed(
        "an image whose pixels another benchmark's hash list has from another file",
        seed=54,
        again=same_pixels,
    ),
)
