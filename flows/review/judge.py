"""Has a language model judge the candidates of a review: prompts, answers, grades, calibration.

`<workspace>/review/<dataset>/<task>/judge/`: ledger.jsonl (what calls cost) and for each judge a folder with
prompts, answers and annotations (Parquet); judge.json beside the candidates sums all judges up. A model is
asked, and its answers are stored, by flows/adapters/answering.py: a rerun makes no call and writes the same.
"""

from __future__ import annotations

import functools
import itertools
import re
import tempfile
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from annotation.judge.calibration import calibrate
from annotation.judge.circularity import circular, families
from annotation.judge.filtering import DOUBTS, doubts
from curation.prompts import relevance, support, support_review
from curation.prompts.relevance import Prompts, Skip
from curation.prompts.scores import Variant, judge_name, variant_name
from curation.published.manifest import read_manifest
from curation.tasks.registry import TASKS, task_of
from curation.tasks.shared.judging.stage import MIDDLE, conclude_of
from flows.adapters.answering import (
    Access,
    Terms,
    access,
    alone,
    ask,
    at_most,
    check_stopped,
    spent,
    store_of,
)
from flows.adapters.llm_ledger import Prices, money, read_totals
from flows.adapters.llm_runner import Patience, Run, held
from flows.engine.connection import query
from flows.engine.progress import Reporter
from flows.engine.workspace import Workspace, write_atomic
from flows.review.release_texts import Published
from flows.review.store import ReviewFolder, parquet_bytes, review_folder
from flows.review.tasks import offered
from schemas.errors import UsageError
from schemas.hashing import sha256_text
from schemas.prompt import ModelAnswer, Prompt
from schemas.record import from_table
from schemas.review import ReviewAnnotation, ReviewCandidate
from schemas.task import Task

REPORT, LEDGER = "judge.json", "ledger.jsonl"
_PUSH = "medqrels review push RELEASE/TASK"
_SIGNATURES = ((b"\x89PNG", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))


@dataclass(frozen=True, slots=True)
class Options:
    """What `review judge` is asked for. Without prices only a server of this machine is asked, as free.

    Without a variant it is the judge of the task's build, umbrela where there is none; without `max_tokens`
    so many as an answer of the variant needs.
    """

    model: str
    variant: Variant | None = None
    budget: Decimal = Decimal(5)
    prices: Prices | None = None
    concurrency: int = 4
    sample: int | None = None
    images: bool = False
    max_tokens: int | None = None
    patience: Patience = field(default_factory=Patience)

    @property
    def terms(self) -> Terms:
        """On what terms the model is asked."""
        return Terms(self.model, self.budget, self.prices, self.concurrency, self.patience)


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be asked. `rows` are prompts asked for now or answered before; `open` have no answer."""

    folder: ReviewFolder
    directory: Path
    candidates: tuple[ReviewCandidate, ...]
    rows: tuple[Prompt, ...]
    open: tuple[Prompt, ...]
    skipped: Mapping[str, Skip]
    task: Task
    variant: Variant

    @property
    def home(self) -> Path:
        """Folder of all judges of this task."""
        return self.folder.path / "judge"


def plan(directory: Path, workspace: Workspace, options: Options, *, is_local: bool = False) -> Plan:
    """Make the prompts; nothing is asked or written.

    Raises:
        UsageError: the task is not under review, or not one a judge knows, or not by this variant.
    """
    head = read_manifest(directory)
    folder = review_folder(workspace, head.dataset, head.task)
    candidates = folder.candidates()
    if not candidates:
        raise UsageError("this task has no candidates", file=str(folder.path), hint=_PUSH)
    task = task_of(head.task)
    back = _held_back(folder)
    fit = [item for item in candidates if item.id not in back]
    variant = _variant(task, options)
    whole = _prompts(fit, task, variant, options, images=True, sensitive=True)
    allowed = _prompts(fit, task, variant, options, images=options.images, sensitive=is_local)
    chosen = _sample({prompt.subject for prompt in allowed.rows}, options.sample)
    known = {answer.prompt_id for answer in held(whole.rows, options.model, store_of(workspace))}
    rows = tuple(row for row in whole.rows if row.id in known or row.subject in chosen)
    skipped: dict[str, Skip] = {**allowed.skipped, **dict.fromkeys(back, "held_back")}
    return Plan(
        folder,
        directory,
        tuple(candidates),
        rows,
        tuple(row for row in rows if row.subject in chosen and row.id not in known),
        {name: reason for name, reason in sorted(skipped.items()) if name not in {r.subject for r in rows}},
        task,
        variant,
    )


def _variant(task: Task, options: Options) -> Variant:
    """Which judge is asked.

    Raises:
        UsageError: the judge of a build is wanted of a task that has none.
    """
    own = conclude_of(task) is not None
    if options.variant == "support" and not own:
        raise UsageError(
            f"no judge labels {task.name} when it is built, so there is none to ask again",
            hint="leave --variant out, or choose umbrela or two-axis",
        )
    return options.variant or ("support" if own else "umbrela")


def _prompts(
    items: Sequence[ReviewCandidate],
    task: Task,
    variant: Variant,
    options: Options,
    *,
    images: bool,
    sensitive: bool,
) -> Prompts:
    if variant == "support":
        return support_review.prompts(items, _axes(task), max_tokens=options.max_tokens or support.MAX_TOKENS)
    most = options.max_tokens or relevance.MAX_TOKENS
    return relevance.prompts(items, task.scale, variant, images=images, sensitive=sensitive, max_tokens=most)


def table(made: Plan) -> list[dict[str, Any]]:
    """What scores come to: of a build's judge in this task, else on the scale of every task.

    Returns:
        rows of task, score and grade; of scales with meaning and example too.
    """
    if made.variant != "support":
        return relevance.table({name: task.scale for name, task in TASKS.items()})
    axes = _axes(made.task)
    given = itertools.product(reversed(support.SCORES), repeat=len(axes))
    return [
        {
            "task": made.task.name,
            "score": " ".join(f"{axis} {score}" for axis, score in zip(axes, scores, strict=True)),
            "grade": next(value for value in _drawn(made.task, [scores] * 2) if value not in (None, "")),
        }
        for scores in given
    ]


def _axes(task: Task) -> tuple[support.Axis, ...]:
    return support.ANSWER_REASONING if task.question.with_reasoning else support.ANSWER


def _drawn(task: Task, orders: Sequence[tuple[int, ...]]) -> tuple[int | None, str]:
    """What the judge of a build concludes; a pair between the grades gets what people may call it, too."""
    conclude = conclude_of(task)
    assert conclude is not None, f"{task.name} has no judge of its own"
    found = conclude(orders)
    if found == MIDDLE and task.between:
        return task.between.score, ""
    return (found, "") if isinstance(found, int) else (None, found)


def conclusions(made: Plan, answers: Sequence[ModelAnswer], model: str) -> list[ReviewAnnotation]:
    """What the answers come to, by candidate id."""
    if made.variant != "support":
        return relevance.judged(made.rows, answers, model, made.variant, made.task.scale)
    return support_review.judged(made.rows, answers, model, functools.partial(_drawn, made.task))


def _held_back(folder: ReviewFolder) -> set[str]:
    """Candidates that people are not shown either, for they may name a patient."""
    path = folder.path / "held_back.parquet"
    return set(pq.read_table(path, columns=["candidate_id"])[0].to_pylist()) if path.is_file() else set()


def _sample(subjects: Collection[str], size: int | None) -> set[str]:
    """So many candidates, the same ones on every machine; a larger sample holds every smaller one."""
    return set(sorted(subjects, key=lambda name: (sha256_text(f"judge sample\0{name}"), name))[:size])


def estimate(made: Plan, options: Options) -> dict[str, Any]:
    """What a dry run says."""
    return {
        "judge": judge_name(options.model, made.variant),
        "candidates": len(made.candidates),
        "skipped": dict(sorted(Counter(made.skipped.values()).items())),
        "prompts": len(made.rows),
        "answered": len(made.rows) - len(made.open),
        "calls": len(made.open),
        "costs_at_most": at_most(made.open, options.prices),
        "spent_before": money(read_totals(made.home / LEDGER).spent),
        "budget": money(options.budget),
    }


def run_judge(
    directory: Path,
    workspace: Workspace,
    options: Options,
    environment: Mapping[str, str],
    reporter: Reporter,
) -> dict[str, Any]:
    """Ask what has no answer yet, write what follows; the judge's part of judge.json, and what was spent.

    Raises:
        UsageError: as :func:`plan`; no server, prices or extra to ask with.
        WorkspaceError: another run is judging this task.
        FetchError: the server refuses every request or cannot be reached; what was answered is written.
    """
    reach = access(environment)
    made = plan(directory, workspace, options, is_local=reach.is_local)
    with alone(made.home, "judging this task"):
        missing: dict[str, Skip] = {}
        run = Run()
        if made.open:
            run, missing = _ask(made, workspace, options, reach, reporter)
        answers = held(made.rows, options.model, store_of(workspace))
        result = _write(made, options, answers, {**made.skipped, **missing})
    check_stopped(run, len(answers))
    return {**result, "run": spent(run, read_totals(made.home / LEDGER), options.budget)}


def _ask(
    made: Plan, workspace: Workspace, options: Options, reach: Access, reporter: Reporter
) -> tuple[Run, dict[str, Skip]]:
    """Ask the open prompts; the run, and candidates whose image is not there."""
    with tempfile.TemporaryDirectory(prefix="medqrels-judge-") as scratch:
        images = _Images(made, Path(scratch))
        missing: dict[str, Skip] = {
            row.subject: "image_missing" for row in made.open if not images.has_all(row)
        }
        asked = [row for row in made.rows if row.subject not in missing]  # the runner knows those answered
        run = ask(
            asked,
            options.terms,
            reach,
            store=store_of(workspace),
            ledger=made.home / LEDGER,
            reporter=reporter,
            name="judge",
            images=images.read,
        )
        return run, missing


class _Images:
    """Images of the release that prompts show, laid out as files so that they need no memory."""

    def __init__(self, made: Plan, folder: Path) -> None:
        self._folder = folder
        wanted = {part.value for row in made.open for part in row.parts if part.kind == "image"}
        self._types: dict[str, str] = {}
        if wanted:
            for sha256, data, _ in Published(made.directory, query()).images(wanted):
                media = next((name for start, name in _SIGNATURES if data.startswith(start)), "")
                if media:
                    (folder / sha256).write_bytes(data)
                    self._types[sha256] = media

    def has_all(self, prompt: Prompt) -> bool:
        """Whether every image of a prompt is there."""
        return all(part.kind == "text" or part.value in self._types for part in prompt.parts)

    def read(self, sha256: str) -> tuple[bytes, str]:
        """Bytes and media type."""
        return (self._folder / sha256).read_bytes(), self._types[sha256]


def _write(
    made: Plan, options: Options, answers: Sequence[ModelAnswer], skipped: Mapping[str, Skip]
) -> dict[str, Any]:
    """Write prompts, answers, annotations and judge.json; the judge's part of the latter."""
    rows = conclusions(made, answers, options.model)
    home = made.home / folder_name(options.model, made.variant)
    write_atomic(home / "prompts.parquet", parquet_bytes(Prompt, made.rows))
    write_atomic(home / "answers.parquet", parquet_bytes(ModelAnswer, answers))
    write_atomic(home / "annotations.parquet", parquet_bytes(ReviewAnnotation, rows))
    part = _summary(made, options, answers, rows, skipped)
    report = made.folder.json(REPORT) or {"format": 1, "judges": {}}
    report["judges"][part["judge"]] = part
    made.folder.write_json(REPORT, report)
    return part


def folder_name(model: str, variant: Variant) -> str:
    """Folder of one judge; a model name that is no file name gets a hash."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", model).strip(".")
    unlike = "" if plain == model else f"-{sha256_text(model)[:8]}"
    return f"{plain}{unlike}-{variant_name(variant)}"


def judge_annotations(folder: ReviewFolder) -> list[ReviewAnnotation]:
    """Rows of all judges of a task, by judge and candidate."""
    found: list[ReviewAnnotation] = []
    for path in sorted((folder.path / "judge").glob("*/annotations.parquet")):
        found += from_table(ReviewAnnotation, pq.read_table(path))
    return sorted(found, key=lambda row: (row.annotator, row.candidate_id))


def _summary(
    made: Plan,
    options: Options,
    answers: Sequence[ModelAnswer],
    rows: Sequence[ReviewAnnotation],
    skipped: Mapping[str, Skip],
) -> dict[str, Any]:
    head = read_manifest(made.directory)
    seen = {row.candidate_id for row in rows}
    systems = {name for item in made.candidates for name in item.systems} | set(head.shaped_by)
    items = [item for item in made.candidates if item.id in seen]
    found = Counter(doubts(items, rows, made.task.grades[0].score).values())
    return {
        "judge": judge_name(options.model, made.variant),
        "role": "judge: a pre-filter and third opinion, never an expert",
        "dataset": head.dataset,
        "task": head.task,
        "candidates": len(made.candidates),
        "judged": len(rows),
        "skipped": dict(sorted(Counter(skipped.values()).items())),
        "not_asked": len(made.candidates) - len(rows) - len(skipped),
        "grades": _counts(str(row.grade) for row in rows if row.grade is not None),
        "without_grade": _counts(row.reason for row in rows if row.grade is None),
        "answers": _counts(answer.state for answer in answers),
        "modes": _counts(answer.mode for answer in answers),
        "served_models": sorted({answer.served_model for answer in answers}),
        "doubts": {name: found[name] for name in DOUBTS},
        "families": sorted(families(options.model)),
        "circular": [asdict(item) for item in circular(options.model, systems)],
        "calibration": _calibration(made, rows),
    }


def _counts(values: Any) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _calibration(made: Plan, rows: Sequence[ReviewAnnotation]) -> dict[str, Any]:
    """The judge beside the people who graded the same candidates; empty of figures while there are none."""
    people = [row for row in made.folder.annotations() if row.role != "judge"]
    scale = sorted({g for item in made.candidates for g in offered(item)})
    report = calibrate(made.candidates, rows, people, scale)
    return {
        "items": report.items,
        "not_run": "" if report.items else "no clinician has graded a candidate this judge graded",
        "strata": [asdict(item) for item in report.strata],
        "confusion": [
            {"clinicians": expert, "judge": judge, "items": count}
            for (expert, judge), count in report.confusion.items()
        ],
        "among_clinicians": asdict(report.among_clinicians),
    }
