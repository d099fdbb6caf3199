"""Rule on copies of pictures across splits and tasks that no key tells: rescaled, re-encoded, cropped."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from curation.audit.dataset import Dataset
from curation.audit.pictures import features_of, is_hashed, pairs_of
from curation.audit.rule import (
    MAX_EXAMPLES,
    CannotRun,
    Check,
    Context,
    NotApplicable,
    NotCovered,
    Outcome,
    Rule,
    side,
)
from curation.audit.rules import images_defects as defects
from curation.audit.rules.overlap_keys import absent_siblings
from curation.published.query import fetch
from curation.similarity.image import ImageFeatures, ImagePair, confirm
from curation.tasks.registry import level
from schemas.audit import Coverage, Finding, OverlapCell

RULE = "overlap_image_copies"
_NEEDED = ("queries", "corpus", "qrels", "provenance_queries")
_SPLITS = "SELECT id, split FROM provenance_queries ORDER BY id"
_POSITIVES = """
    SELECT r."corpus-id" AS id, o.split, min(r."query-id") AS query FROM qrels r
    JOIN provenance_queries o ON o.id = r."query-id" WHERE r.score > 0 GROUP BY ALL ORDER BY id, o.split"""


@dataclass(frozen=True, slots=True)
class _Use:
    """What an image counts for: a split of its dataset, through the query it is of or is positive for."""

    split: str
    query: str


@dataclass(frozen=True, slots=True)
class _Part:
    """One dataset of the comparison, its images, what each counts for, and how many count for each split."""

    dataset: Dataset
    seen: ImageFeatures
    uses: Mapping[int, Sequence[_Use]]
    images: Mapping[str, int]

    def label(self, split: str) -> str:
        """`<task>/<split>`."""
        return f"{self.dataset.task}/{split}"

    @property
    def splits(self) -> list[str]:
        """Splits with images, in order."""
        return sorted(self.images)


@dataclass(frozen=True, slots=True, order=True)
class _Hit:
    """A copy: part, table, id and query on both sides."""

    one: tuple[str, str, str, str]
    other: tuple[str, str, str, str]
    dataset: str
    how: str


def _check(context: Context) -> Outcome:
    own = _part(context, context.subject)
    if not own.uses:
        raise NotApplicable("no query and no positive document has an image")
    absent = absent_siblings(context)
    parts = [own]
    missed = [f"siblings absent: {', '.join(absent)}; not covered"] if absent else []
    for sibling in sorted(context.siblings, key=lambda item: (item.task, item.name)):
        try:
            parts.append(_part(context, sibling))
        except NotCovered as reason:
            missed.append(f"{sibling.name}: {reason}; not covered")
    hits: list[_Hit] = []
    cells: list[OverlapCell] = []
    for other in parts:
        found = sorted(set(_hits(context, own, other)))
        cells += _cells(own, other, found)
        if level(own.dataset.task, other.dataset.task, "image_family") == "zero":
            hits += found
    if len(own.splits) < 2 and len(parts) == 1 and not missed:
        raise NotApplicable("the dataset is one split of one task: nothing beside it to overlap with")
    hits.sort()
    covered = tuple(_coverage(part, "" if part is own else part.dataset.name) for part in parts)
    findings = tuple(_finding(hit) for hit in hits[:MAX_EXAMPLES])
    return Outcome(len(own.uses), len(hits), findings, "", covered, "; ".join(missed), tuple(cells))


def _coverage(part: _Part, name: str) -> Coverage:
    skipped = int((~part.seen.is_ok | part.seen.is_flat).sum())
    why = "they do not decode or are nearly of one tone" if skipped else ""
    return Coverage(compared_with=name, compared=len(part.uses), unit="images", skipped=skipped, why=why)


def _part(context: Context, dataset: Dataset) -> _Part:
    """Images of a dataset's queries and positive documents, by split; found once for all sibling audits."""
    absent = [name for name in _NEEDED if name not in dataset.views]
    if absent:
        listed = ", ".join(absent)
        raise (CannotRun if dataset.kind == "release" else NotCovered)(f"table absent: {listed}")
    key = ("uses", dataset.sha256, str(dataset.directory))
    if key in context.shared:
        uses = context.shared[key]
    else:
        uses = _uses(context, dataset, features_of(context, dataset))
        if is_hashed(dataset):
            context.shared[key] = uses
    images = Counter(split for found in uses.values() for split in {use.split for use in found})
    return _Part(dataset, features_of(context, dataset), uses, images)


def _uses(context: Context, dataset: Dataset, seen: ImageFeatures) -> dict[int, tuple[_Use, ...]]:
    by_row: dict[tuple[str, str], list[_Use]] = defaultdict(list)
    if len(seen):
        for row in fetch(context.query, _SPLITS, {"provenance_queries": dataset.views["provenance_queries"]}):
            by_row["queries", row["id"]].append(_Use(str(row["split"]), row["id"]))
    if (seen.table == 1).any():
        views = {name: dataset.views[name] for name in ("qrels", "provenance_queries")}
        for row in fetch(context.query, _POSITIVES, views):
            by_row["corpus", row["id"]].append(_Use(str(row["split"]), row["query"]))
    return {
        place: tuple(by_row[key])
        for place in range(len(seen))
        if (key := (seen.table_of(place), str(seen.ids[place]))) in by_row
    }


def _hits(context: Context, own: _Part, other: _Part) -> Iterator[_Hit]:
    """Copies between parts; equal bytes are the business of `overlap_image_family`."""
    within = own is other
    pairs: list[ImagePair] = pairs_of(context, None if within else other.dataset)
    for pair in pairs:
        if pair.how == "bytes":
            continue
        for one in own.uses.get(pair.one, ()):
            for two in other.uses.get(pair.other, ()):
                if within and one.split == two.split:
                    continue
                sides = (_place(own, pair.one, one), _place(other, pair.other, two))
                if within:
                    sides = (min(sides), max(sides))
                yield _Hit(*sides, "" if within else other.dataset.name, pair.how)


def _place(part: _Part, at: int, use: _Use) -> tuple[str, str, str, str]:
    return part.label(use.split), part.seen.table_of(at), str(part.seen.ids[at]), use.query


def _cells(own: _Part, other: _Part, hits: Sequence[_Hit]) -> Iterator[OverlapCell]:
    """Pictures of each pair of parts that are copies of each other."""
    for one in own.splits:
        for two in other.splits:
            if own is other and one >= two:
                continue
            labels = own.label(one), other.label(two)
            shared = {hit.one[2] for hit in hits if (hit.one[0], hit.other[0]) == labels}
            yield OverlapCell(
                dimension="image_family",
                one=labels[0],
                other=labels[1],
                level=level(own.dataset.task, other.dataset.task, "image_family"),
                shared=len(shared),
                keys=min(own.images[one], other.images[two]),
            )


def _finding(hit: _Hit) -> Finding:
    kind = "a re-encoded or rescaled copy" if hit.how == "rescaled" else "a cut"
    message = f"a image of {hit.one[0]} is in {hit.other[0]} as {kind}"
    sides = [side(hit.one[1], hit.one[2]), side(hit.other[1], hit.other[2], dataset=hit.dataset)]
    for (_, table, _, query), dataset in ((hit.one, ""), (hit.other, hit.dataset)):
        if table == "corpus":
            sides.append(side("queries", query, dataset=dataset))
    return Finding(rule=RULE, severity="error", message=message, sides=tuple(sides))


OVERLAP = Rule(
    RULE,
    1,
    "No copied image across splits and tasks",
    (
        "No image of a query or positive document is, in another split or task, the same image re-encoded, "
        "rescaled or cropped: a pHash within 8 of 64 bits or keypoints that lie alike nominate; after "
        f"alignment the common area, at least {confirm.MIN_COMMON:.0%} of one image, correlates by "
        f"{confirm.MIN_CORRELATION} or more and {confirm.MIN_AGREEING:.0%} of its textured blocks agree."
    ),
    "error",
    "images",
    checks=(Check("a image is in another split or task as a copy", _check, defects.OVERLAP, at_once=True),),
)
