"""Makes a review's candidates from a published task, holds back what names a patient, gives them out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from annotation.assignment import Person, assign, numbered
from annotation.candidates import (
    GOLD_SHARE,
    Facet,
    Facets,
    Pair,
    draw,
    known_items,
    make_candidate,
    merged,
    populations,
    random_pairs,
    reserved,
)
from curation.privacy import Hit
from curation.privacy.images import READ_VERSION
from curation.tasks.registry import task_of
from flows.engine.connection import query
from flows.engine.workspace import Workspace
from flows.review.privacy import Scan, hold_reported, scan
from flows.review.release_texts import DEPTH, Known, Published, Row, marks
from flows.review.reports import reported_in
from flows.review.store import BY_DOUBT, FRAME, IMAGES, ReviewFolder, review_folder
from schemas.errors import UsageError
from schemas.review import ReviewCandidate

Images = Callable[[str, bytes, str], None]
"""Takes (hex SHA-256 of the source file, bytes to show, extension)."""


@dataclass(frozen=True, slots=True)
class Options:
    """What `review push` is asked for. `sample` is the number of items beside those with known grades."""

    per_item: int = 2
    sample: int | None = None
    stratify: tuple[Facet, ...] = ()
    depth: int = DEPTH
    gold_share: float = GOLD_SHARE
    people: tuple[Person, ...] = ()
    ocr: bool = True


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a review now consists of, in numbers, and its folder."""

    folder: ReviewFolder
    dataset: str
    task: str
    release_hash: str
    candidates: int
    new: int
    outdated: int
    by_origin: Mapping[str, int]
    held_back: Mapping[str, int]
    images_read: str
    allotted: Mapping[str, int]
    short: int
    strata_without_item: int

    def content(self) -> dict[str, Any]:
        """Plain values for JSON."""
        body = asdict(self)
        body["folder"] = str(self.folder.path)
        return body


@dataclass(slots=True)
class _Drawn:
    """Pairs of one draw, and the frame they come from."""

    pairs: list[Pair]
    frame: dict[str, Any] = field(default_factory=dict)
    empty_strata: int = 0


def prepare(
    directory: Path,
    workspace: Workspace,
    options: Options,
    *,
    dry_run: bool = False,
    images: Images | None = None,
) -> Prepared:
    """Draw, hold back, give out; what was drawn and given before stays.

    Args:
        directory: the published task.
        workspace: where the review is kept; its stages add concepts, diagnoses and flags of images.
        options: what is asked for.
        dry_run: write nothing.
        images: takes every image that is shown; not called on a dry run.

    Raises:
        UsageError: options that cannot be met.
        ReleaseError: the directory is no task of a release.
    """
    if (options.sample is not None and options.sample < 1) or not 0 <= options.gold_share <= 0.5:
        raise UsageError("a sample has at least one item, and at most half of it are gold items")
    run = query()
    task = Published(directory, run, options.depth)
    head = task.manifest
    folder = review_folder(workspace, head.dataset, head.task)
    before = folder.candidates()
    drawn = _draw(task, options, {(item.query_id, item.corpus_id) for item in before})
    known = {pair.key: pair for pair in (*task.positives, *task.pool, *drawn.pairs)}
    again = [_pair_of(item, known) for item in before if _is_open(task, item)]
    shown = _candidates(task, Known(workspace, run), {pair.key: pair for pair in (*again, *drawn.pairs)})
    found = scan(shown, task, _seen(folder), with_images=options.ocr)
    found.findings += hold_reported(shown, reported_in(workspace, head.dataset))
    fit = [item for item in shown if item.id not in found.held]
    whole, outdated = merged(before, fit)
    given = [row for row in folder.allotments() if row.candidate_id not in outdated]
    people = list(options.people) or numbered(options.per_item)
    live = [item for item in whole if item.id not in outdated]
    new = assign(live, people, given, options.per_item)
    if not dry_run:
        folder.write_candidates(whole)
        folder.write_held_back(found.findings)
        folder.write_allotments([*given, *new.allotments])
        kept = {BY_DOUBT: True} if folder.json(FRAME).get(BY_DOUBT) else {}
        folder.write_json(FRAME, drawn.frame | _held_in_frame(drawn, found) | kept)
        folder.write_json(IMAGES, {"scan": READ_VERSION, "found": found.images})
        if images is not None:
            write_images(task, live, images)
    had = {item.id for item in before}
    return Prepared(
        folder=folder,
        dataset=head.dataset,
        task=head.task,
        release_hash=head.release_hash,
        candidates=len(live),
        new=sum(item.id not in had for item in live),
        outdated=len(outdated),
        by_origin=dict(sorted(Counter(item.origin for item in live).items())),
        held_back=found.kinds(),
        images_read=found.images_read,
        allotted=dict(sorted(Counter(row.annotator for row in (*given, *new.allotments)).items())),
        short=len(new.short),
        strata_without_item=drawn.empty_strata,
    )


def _draw(task: Published, options: Options, had: set[tuple[str, str]]) -> _Drawn:
    """The sample with its known items, and the frame it was drawn from."""
    seed = task.manifest.release_hash
    rules = task_of(task.manifest.task).gold_rules
    kept = [pair for pair in task.positives if reserved(seed, pair, rules)]
    labelled = [pair for pair in task.positives if not reserved(seed, pair, rules)]
    facets = {name: task.facets(name) for name in task.queries}
    chance = random_pairs(facets, sorted(task.documents), task.may_pair, seed)
    frame = [*labelled, *task.pool, *chance]
    sizes = populations(frame, options.stratify)
    chosen = draw(frame, options.sample, options.stratify, seed, had)
    taken = {pair.key for pair in chosen}
    count = round(options.gold_share * len(chosen))
    documents = [(name, row["specialty"]) for name, row in sorted(task.documents.items())]
    gold = known_items(
        kept,
        facets,
        documents,
        lambda q, c: (q, c) not in taken and task.may_pair(q, c),
        count,
        seed,
    )
    head = task.manifest
    return _Drawn(
        [*chosen, *gold],
        {
            "release": {
                "dataset": head.dataset,
                "version": head.version,
                "task": head.task,
                "release_hash": seed,
            },
            "per_item": options.per_item,
            "sample": options.sample,
            "stratify": list(options.stratify),
            "depth": options.depth,
            "gold": len(gold),
            "populations": [
                {"origin": origin, "group": group, "stratum": stratum, "size": size}
                for (origin, group, stratum), size in sizes.items()
            ],
            "positives": sum(row["score"] > 0 for row in task.judged.values()),
        },
        len(set(sizes) - set(populations(chosen, options.stratify))),
    )


def _seen(folder: ReviewFolder) -> dict[str, list[Hit]]:
    """What was found in images read before; nothing where they were read for other patterns."""
    kept = folder.json(IMAGES)
    if kept.get("scan") != READ_VERSION:
        return {}
    return {name: [(str(k), int(a), int(b)) for k, a, b in found] for name, found in kept["found"].items()}


def _held_in_frame(drawn: _Drawn, found: Scan) -> dict[str, Any]:
    return {"drawn": len(drawn.pairs), "held_back": len(found.held), "images_read": found.images_read}


def _is_open(task: Published, item: ReviewCandidate) -> bool:
    """Whether the release still has a pair that may be asked."""
    is_there = item.query_id in task.queries and item.corpus_id in task.documents
    return is_there and (item.query_id, item.corpus_id) not in task.excluded


def _pair_of(item: ReviewCandidate, known: Mapping[tuple[str, str], Pair]) -> Pair:
    """The pair of a candidate drawn before, with the facets of today."""
    found = known.get((item.query_id, item.corpus_id))
    facets = found.facets if found else Facets(item.specialty, item.language, item.tier)
    return Pair(
        item.query_id,
        item.corpus_id,
        item.origin,
        facets,
        item.rule,
        item.rule_grade,
        item.rank,
        item.systems,
        item.known_grade,
    )


def _candidates(
    task: Published, known: Known, pairs: Mapping[tuple[str, str], Pair]
) -> list[ReviewCandidate]:
    """The candidates of some pairs, by pair."""
    queries = task.rows("queries", {q for q, _ in pairs})
    documents = task.rows("corpus", {c for _, c in pairs})
    rows = [*queries.values(), *documents.values()]
    blurred = known.blurred({row.image for row in rows if row.image})
    mentions = known.mentions({row.source_id for row in rows})
    wants = task_of(task.manifest.task).question.with_diagnosis
    diagnoses = known.diagnoses(
        {row.patient_id for row in queries.values() if row.patient_id} if wants else ()
    )
    made = []
    for _, pair in sorted(pairs.items()):
        asked, offered = queries[pair.query_id], documents[pair.corpus_id]
        spans = [
            *marks("query_text", asked, mentions.get(asked.source_id, ())),
            *marks("document_text", offered, mentions.get(offered.source_id, ())),
        ]
        fields = _fields(task, asked, offered)
        fields["reference_diagnosis"] = diagnoses.get(asked.patient_id, "")
        fields["concepts"] = json.dumps(spans, ensure_ascii=False, sort_keys=True) if spans else ""
        is_blurred = bool({asked.image, offered.image} & blurred)
        head = task.manifest
        made.append(make_candidate(pair, head.dataset, head.task, fields, is_sensitive=is_blurred))
    return made


def _fields(task: Published, asked: Row, offered: Row) -> dict[str, str]:
    return {
        "language": asked.language,
        "query_text": asked.text,
        "query_image": asked.image,
        "document_title": offered.title,
        "document_text": offered.text,
        "document_image": offered.image,
        "source_url": task.addresses.get(offered.article_id, ""),
        "license": offered.license,
        "query_source_url": task.addresses.get(asked.article_id, ""),
        "query_license": asked.license,
    }


def write_images(task: Published, candidates: Sequence[ReviewCandidate], write: Images) -> int:
    """Hand every image that candidates show to `write`, each once; how many there were."""
    wanted = {
        item.value
        for row in candidates
        for item in row.shown
        if item.name in ("query_image", "document_image")
    }
    count = 0
    for sha256, data, extension in task.images(wanted):
        write(sha256, data, extension)
        count += 1
    return count
