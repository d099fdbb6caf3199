"""Makes a review's candidates from a published task, holds back what names a patient, gives them out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from annotation.assignment import Person, assign, numbered
from annotation.candidates import (
    GOLD_SHARE,
    Ending,
    Facet,
    Facets,
    Pair,
    check_facets,
    continued,
    draw,
    known_items,
    make_candidate,
    populations,
    random_pairs,
    reserved,
)
from annotation.judge.sampling import UNJUDGED
from curation.privacy import Hit
from curation.privacy.images import READ_VERSION
from curation.tasks.registry import task_of
from flows.engine.connection import query
from flows.engine.register import read_register
from flows.engine.workspace import Workspace
from flows.review.calibration_draw import Wanted, as_pair, draw_calibration
from flows.review.privacy import hold_reported, hold_withdrawn, scan
from flows.review.release_texts import DEPTH, Known, Published, Row, marks
from flows.review.reports import reported_in
from flows.review.store import CALIBRATION, ENDED, FRAME, IMAGES, SOURCES, ReviewFolder, review_folder
from schemas.errors import UsageError
from schemas.review import ReviewCandidate, source_images

Images = Callable[[str, bytes, str], None]
"""Takes (hex SHA-256 of the source file, bytes to show, extension)."""


@dataclass(frozen=True, slots=True)
class Options:
    """What `review push` is asked for.

    `sample` is the number of items beside those with known grades; `stratify` holds for the whole review.
    Where a calibration is asked for and no sample, nothing but the calibration is drawn.
    """

    per_item: int = 2
    sample: int | None = None
    stratify: tuple[Facet, ...] = ()
    depth: int = DEPTH
    gold_share: float = GOLD_SHARE
    people: tuple[Person, ...] = ()
    ocr: bool = True
    calibration: Wanted | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a review now consists of, in numbers, and its folder.

    `ended` counts items that are given to nobody any more, `undrawn` the labelled and found pairs of the
    release that the review has not drawn, `drawn` those it has; a larger `--sample` than `sample` draws more.
    `calibration` counts the pairs that measure the judge, by stratum.
    """

    folder: ReviewFolder
    dataset: str
    task: str
    release_hash: str
    candidates: int
    new: int
    ended: Mapping[Ending, int]
    drawn: int
    sample: int
    undrawn: int
    by_origin: Mapping[str, int]
    held_back: Mapping[str, int]
    images_read: str
    allotted: Mapping[str, int]
    short: int
    strata_without_item: int
    calibration: Mapping[str, int]

    def content(self) -> dict[str, Any]:
        """Plain values for JSON."""
        body = asdict(self)
        body["folder"] = str(self.folder.path)
        return body


@dataclass(slots=True)
class _Drawn:
    """Pairs of one draw, and the frame they come from; without pairs, the frame of an earlier draw."""

    pairs: list[Pair]
    frame: dict[str, Any]
    empty_strata: int = 0


def prepare(
    directory: Path,
    workspace: Workspace,
    options: Options,
    *,
    folder: ReviewFolder | None = None,
    images: Images | None = None,
) -> Prepared:
    """Draw, hold back, give out; what was drawn and given before stays.

    A review keeps its draw, whatever is released: more is drawn when a larger sample is asked for. An item
    whose pair the release no longer has, or excludes, or that is held back, is given to nobody any more;
    whoever answered it keeps it, with the answer.

    Args:
        directory: the published task.
        workspace: its stages add concepts, diagnoses and flags of images.
        options: what is asked for.
        folder: where the review is kept, when that is not its folder of the workspace.
        images: takes every image that is shown.

    Raises:
        UsageError: options that cannot be met.
        ReleaseError: the directory is no task of a release.
    """
    if (options.sample is not None and options.sample < 1) or not 0 <= options.gold_share <= 0.5:
        raise UsageError("a sample has at least one item, and at most half of it are gold items")
    run = query()
    known_here = Known(workspace, run)
    task = Published(directory, run, options.depth, known_here)
    head = task.manifest
    folder = folder or review_folder(workspace, head.dataset, head.task)
    before = folder.candidates()
    drawn = _draw(task, options, folder, before)
    measured, told_of_judge = (
        draw_calibration(task, options.calibration, folder, options.per_item)
        if options.calibration
        else (folder.calibration(), folder.json(CALIBRATION))
    )
    had_pairs = {(item.query_id, item.corpus_id) for item in before} | {pair.key for pair in drawn.pairs}
    drawn.pairs += [
        as_pair(row, task)
        for row in (measured if options.calibration else ())
        if (row.query_id, row.corpus_id) not in had_pairs
    ]
    known = {pair.key: pair for pair in (*task.positives, *task.pool, *drawn.pairs)}
    of_judge = {(row.query_id, row.corpus_id) for row in measured if row.stratum != UNJUDGED}
    ends: dict[str, Ending] = {}
    again: dict[tuple[str, str], Pair] = {}
    lasting: list[ReviewCandidate] = []  # their query has no positive left: it is shown as it was
    for item in before:
        ending = task.ending(item.query_id, item.corpus_id)
        if ending == "excluded" and (item.query_id, item.corpus_id) in of_judge:
            ending = None  # a label or not: what the judge said of it is measured
        if ending:
            ends[item.id] = ending
        elif item.query_id in task.queries:
            again[item.query_id, item.corpus_id] = _pair_of(item, known)
        elif item.id not in folder.json(FRAME).get(ENDED, {}):
            lasting.append(item)
    shown = _candidates(task, known_here, again | {pair.key: pair for pair in drawn.pairs})
    told = answered(folder)
    asked = [*continued(before, shown, {name for name, _ in told}).values(), *lasting]
    found = scan(asked, task, _seen(folder), with_images=options.ocr)
    found.findings += hold_reported(asked, reported_in(workspace, head.dataset))
    found.findings += hold_withdrawn(asked, read_register(workspace))
    whole = {item.id: item for item in (*before, *asked)}
    had = {item.id for item in before}
    for item in asked:
        if item.id not in found.held:
            continue
        if item.id in had:
            ends[item.id] = "held_back"
        else:
            del whole[item.id]
    live = [item for item in asked if item.id not in found.held]
    going_on = {item.id for item in asked}
    ends |= {name: "changed" for name in had - going_on - ends.keys()}
    given = [
        row
        for row in folder.allotments()
        if row.candidate_id not in ends or (row.candidate_id, row.annotator) in told
    ]
    people = list(options.people) or numbered(options.per_item)
    new = assign(live, people, given, options.per_item)
    folder.write_candidates(whole.values())
    folder.write_held_back(found.findings)
    folder.write_allotments([*given, *new.allotments])
    if measured:
        folder.write_calibration(measured, told_of_judge)
    folder.write_json(FRAME, drawn.frame | {ENDED: ends, "images_read": found.images_read})
    told_before = folder.json(SOURCES)
    for name, licences in task.licences(shown).items():
        told_before[name] = sorted({*told_before.get(name, ()), *licences})
    folder.write_json(SOURCES, told_before)
    folder.write_json(IMAGES, {"scan": READ_VERSION, "found": found.images})
    if images is not None:
        write_images(task, live, images)
    pairs = {(item.query_id, item.corpus_id) for item in whole.values()}
    return Prepared(
        folder=folder,
        dataset=head.dataset,
        task=head.task,
        release_hash=head.release_hash,
        candidates=len(live),
        new=sum(item.id not in had for item in live),
        ended=dict(sorted(Counter(ends.values()).items())),
        drawn=sum(item.origin not in ("gold", "calibration") for item in whole.values()),
        sample=_sampled(drawn.frame),
        undrawn=sum(pair.key not in pairs for pair in _frame(task, drawn.frame["seed"])),
        by_origin=dict(sorted(Counter(item.origin for item in live).items())),
        held_back=found.kinds(),
        images_read=found.images_read,
        allotted=dict(sorted(Counter(row.annotator for row in (*given, *new.allotments)).items())),
        short=len(new.short),
        strata_without_item=drawn.empty_strata,
        calibration=dict(sorted(Counter(row.stratum for row in measured).items())),
    )


def answered(folder: ReviewFolder) -> set[tuple[str, str]]:
    """(candidate, person) of every answer that counts or is in conflict."""
    return {
        (row.candidate_id, row.annotator)
        for row in folder.annotations()
        if row.role != "judge" and row.state in ("current", "conflict")
    }


def _frame(task: Published, seed: str) -> list[Pair]:
    """What labelled and found pairs a sample is drawn from: all but those reserved for known items."""
    rules = task_of(task.manifest.task).gold_rules
    return [*(pair for pair in task.positives if not reserved(seed, pair, rules)), *task.pool]


def _draw(
    task: Published, options: Options, folder: ReviewFolder, before: Sequence[ReviewCandidate]
) -> _Drawn:
    """The sample with its known items and the frame it was drawn from; no pair when no more is asked for.

    The first release's hash orders every draw of a review, so that a larger sample holds the smaller one.
    """
    told = folder.json(FRAME) if before else {}
    by = options.stratify or check_facets(told.get("stratify", ()))
    if before and not _grows(options.sample, told):
        if list(by) != list(told.get("stratify", ())):
            raise UsageError(
                "a review keeps the strata of its draw",
                file=str(folder.path),
                hint="leave out --stratify, or draw more with a larger --sample",
            )
        return _Drawn([], told)
    head = task.manifest
    seed = told.get("seed") or head.release_hash
    rules = task_of(head.task).gold_rules
    kept = [pair for pair in task.positives if reserved(seed, pair, rules)]
    facets = {name: task.facets(name) for name in task.queries}
    chance = random_pairs(facets, sorted(task.documents), task.may_pair, seed)
    frame = [*_frame(task, seed), *chance]
    sizes = populations(frame, by)
    size = 0 if options.calibration and options.sample is None else options.sample
    chosen = draw(frame, size, by, seed, {(item.query_id, item.corpus_id) for item in before})
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
    return _Drawn(
        [*chosen, *gold],
        told
        | {
            "seed": seed,
            "release": {
                "dataset": head.dataset,
                "version": head.version,
                "task": head.task,
                "release_hash": head.release_hash,
            },
            "per_item": options.per_item,
            "sample": size,
            "stratify": list(by),
            "depth": options.depth,
            "gold": len(gold),
            "drawn": len(chosen) + len(gold),
            "populations": [
                {"origin": origin, "group": group, "stratum": stratum, "size": size}
                for (origin, group, stratum), size in sizes.items()
            ],
            "positives": sum(row["score"] > 0 for row in task.judged.values()),
        },
        len(set(sizes) - set(populations(chosen, by))),
    )


def _grows(sample: int | None, told: Mapping[str, Any]) -> bool:
    """Whether a larger sample is asked for than was drawn; the same command again draws nothing."""
    return sample is not None and sample > _sampled(told)


def _sampled(told: Mapping[str, Any]) -> int:
    """How many items the largest draw so far was to have, known items apart."""
    return max(int(told.get("sample") or 0), int(told.get("drawn", 0)) - int(told.get("gold", 0)))


def _seen(folder: ReviewFolder) -> dict[str, list[Hit]]:
    """What was found in images read before; nothing where they were read for other patterns."""
    kept = folder.json(IMAGES)
    if kept.get("scan") != READ_VERSION:
        return {}
    return {name: [(str(k), int(a), int(b)) for k, a, b in found] for name, found in kept["found"].items()}


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
) -> dict[tuple[str, str], ReviewCandidate]:
    """Pair -> its candidate, of some pairs."""
    queries = task.rows("queries", {q for q, _ in pairs})
    documents = task.rows("corpus", {c for _, c in pairs})
    rows = [*queries.values(), *documents.values()]
    blurred = known.blurred({name for row in rows for name in source_images(row.image)})
    mentions = known.mentions({row.source_id for row in rows})
    question = task_of(task.manifest.task).question
    patients = {row.patient_id for row in queries.values() if row.patient_id}
    diagnoses = known.diagnoses(patients if question.with_diagnosis else ())
    answers = task.answers(queries.keys()) if question.with_answer else {}
    made = {}
    head = task.manifest
    for _, pair in sorted(pairs.items()):
        asked, offered = queries[pair.query_id], documents[pair.corpus_id]
        spans = [
            *marks("query_text", asked, mentions.get(asked.source_id, ())),
            *marks("document_text", offered, mentions.get(offered.source_id, ())),
        ]
        fields = _fields(asked, offered)
        fields["reference_diagnosis"] = diagnoses.get(asked.patient_id, "")
        answer, reasoning = answers.get(asked.id, ("", ""))
        fields["answer"] = answer
        fields["reasoning"] = reasoning if question.with_reasoning else ""
        fields["concepts"] = json.dumps(spans, ensure_ascii=False, sort_keys=True) if spans else ""
        is_blurred = not blurred.isdisjoint((*source_images(asked.image), *source_images(offered.image)))
        made[pair.key] = make_candidate(pair, head.dataset, head.task, fields, is_sensitive=is_blurred)
    return made


def _fields(asked: Row, offered: Row) -> dict[str, str]:
    return {
        "language": asked.language,
        "query_text": asked.text,
        "query_image": asked.image,
        "document_title": offered.title,
        "document_text": offered.text,
        "document_image": offered.image,
    }


def write_images(task: Published, candidates: Sequence[ReviewCandidate], write: Images) -> int:
    """Hand every image that candidates show to `write`, each once; how many there were."""
    wanted = {
        name
        for row in candidates
        for item in row.shown
        if item.name in ("query_image", "document_image")
        for name in item.value.split()
    }
    count = 0
    for sha256, data, extension in task.images(wanted):
        write(sha256, data, extension)
        count += 1
    return count
