"""Puts a ranking in the order that a language model gives it: by the relevance prompt that judges are asked.

Answers are stored as those of any other prompt; a pair whose answer is stored is never paid for again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from curation.evaluation.ranking import Ranking
from curation.evaluation.requests import ScoreRequest, score_requests
from curation.evaluation.results import Measured
from curation.evaluation.systems import System
from curation.prompts import relevance
from curation.prompts.answers import read_answer
from curation.prompts.scores import Variant, variant_name
from curation.tasks.registry import TASKS
from flows.adapters.answering import Access, Terms, alone, ask, spent
from flows.adapters.llm_ledger import Prices, read_totals
from flows.adapters.llm_runner import Patience, Run, held
from flows.evaluate.models_named import relations
from schemas.errors import UsageError
from schemas.prompt import ModelAnswer, Prompt
from schemas.review import ReviewCandidate, ShownItem, candidate_id
from schemas.task import Scale
from schemas.wording import counted

if TYPE_CHECKING:
    from flows.evaluate.retrieval import Bench

VARIANT: Final[Variant] = "umbrela"
_NO_ANSWER: Final = -1


@dataclass(frozen=True, slots=True)
class Asking:
    """How a language model that re-ranks is reached and paid, and how deep it looks.

    `depth` documents of each ranking are graded; those below keep their order after them.
    """

    reach: Access
    budget: Decimal = Decimal(5)
    prices: Prices | None = None
    depth: int = 20
    concurrency: int = 4
    patience: Patience = field(default_factory=Patience)

    def terms(self, model: str) -> Terms:
        """On what terms a model is asked."""
        return Terms(model, self.budget, self.prices, self.concurrency, self.patience)


def reranked(bench: Bench, system: System) -> Measured:
    """Re-rank what the base system found; not run, with the reason, unless every pair got its answer."""
    known = TASKS.get(bench.collection.head.task)
    if known is None:
        return _not_run(system, f"no task {bench.collection.head.task!r} is known, so none of its words")
    asking = bench.options.asking
    assert asking is not None, "evaluate gives it"
    base = bench.run(system.base)
    assert base.run is not None  # what the base lacks, the re-ranked system lacks
    pairs = _Pairs(bench, base, known.scale, asking.depth)
    store = bench.cache / "answers"
    model = system.language_model
    run, why_not = Run(), ""
    if len(held(pairs.prompts, model, store)) < len(pairs.prompts):
        run, why_not = _ask(pairs.prompts, asking, model, store, bench)
    answers = {answer.prompt_id: answer for answer in held(pairs.prompts, model, store)}
    waiting = sum(prompt.id not in answers for prompt in pairs.prompts)
    if waiting:
        why = why_not or run.detail or "the model did not answer"
        return _not_run(system, f"{waiting} of {counted(len(pairs.prompts), 'pair')} have no answer: {why}")
    return _measured(bench, system, base, pairs, answers)


def _not_run(system: System, why_not: str) -> Measured:
    return Measured(system.name, system.kind, None, why_not=why_not)


def _ask(prompts: Sequence[Prompt], asking: Asking, model: str, store: Path, bench: Bench) -> tuple[Run, str]:
    """Ask what is not stored; the run, and why it could not begin."""
    ledger = store / "ledger.jsonl"
    try:
        with alone(store, "asking a model"):
            run = ask(
                prompts,
                asking.terms(model),
                asking.reach,
                store=store,
                ledger=ledger,
                reporter=bench.reporter,
                name=f"rerank:{model}",
            )
            told = spent(run, read_totals(ledger), asking.budget)
    except UsageError as error:
        return Run(), f"{error.message}; {error.hint}" if error.hint else error.message
    bench.reporter.line(f"rerank:{model}: calls {told['calls']}  spent {told['spent']} of {told['budget']}")
    return run, f"the budget of {told['budget']} is used up" if run.stopped == "budget" else ""


class _Pairs:
    """The pairs of a run that are graded, each with its prompt; one that is too long has none."""

    def __init__(self, bench: Bench, base: Measured, scale: Scale, depth: int) -> None:
        data = bench.collection
        run = base.run or {}
        top = {query: Ranking(r.documents[:depth], r.scores[:depth]) for query, r in run.items()}
        self.scale = scale
        self.subjects: dict[tuple[str, str], str] = {}
        candidates: dict[str, ReviewCandidate] = {}
        for request in score_requests(data, top):
            made = _candidate(data.head.dataset, data.head.task, request)
            self.subjects[request.query_id, request.corpus_id] = made.id
            candidates[made.id] = made
        made_of = relevance.prompts(candidates.values(), scale, VARIANT)
        self.prompts: tuple[Prompt, ...] = made_of.rows
        self.skipped: Mapping[str, str] = made_of.skipped
        self.top = top

    def scores(self, answers: Mapping[str, ModelAnswer]) -> dict[str, int]:
        """Subject -> score 0 to 3; none for an answer that is refused or in no valid form."""
        found = {}
        for prompt in self.prompts:
            answer = answers[prompt.id]
            values = read_answer(answer.text, json.loads(prompt.answer_schema))
            if answer.state == "answered" and values is not None:
                found[prompt.subject] = relevance.score_of(VARIANT, values)
        return found


def _candidate(dataset: str, task: str, request: ScoreRequest) -> ReviewCandidate:
    """What a judge would be shown of a pair, without what only the benchmark knows."""
    shown = (
        ShownItem(name="query_text", value=request.query),
        ShownItem(name="document_text", value=request.document),
    )
    return ReviewCandidate(
        id=candidate_id("relevance_text", task, request.query_id, request.corpus_id, shown),
        dataset=dataset,
        task=task,
        kind="relevance_text",
        query_id=request.query_id,
        corpus_id=request.corpus_id,
        shown=shown,
        origin="pool",
    )


def _measured(
    bench: Bench, system: System, base: Measured, pairs: _Pairs, answers: Mapping[str, ModelAnswer]
) -> Measured:
    data, asking = bench.collection, bench.options.asking
    assert asking is not None and base.run is not None
    scores = pairs.scores(answers)
    run = {}
    for query, ranking in base.run.items():
        given = [
            scores.get(pairs.subjects[query, data.corpus_ids[place]], _NO_ANSWER)
            for place in pairs.top[query].documents.tolist()
        ]
        run[query] = _in_order(ranking, given)
    states = Counter(answer.state for answer in answers.values())
    served = sorted({answer.served_model for answer in answers.values()} - {""})
    prompt = {
        "model": system.language_model,
        "served_models": served,
        "prompt": variant_name(VARIANT),
        "prompt_sha256": [relevance.asked_sha256(pairs.scale, VARIANT)],
    }
    counts = {
        "pairs": len(pairs.subjects),
        "prompts": len(pairs.prompts),
        "answers": dict(sorted(states.items())),
        "scores": {str(score): count for score, count in sorted(Counter(scores.values()).items())},
        "not_graded": len(pairs.subjects) - len(scores),
    }
    config = {
        "base": {"name": base.name, **base.config},
        "depth": asking.depth,
        "reranker": {**prompt, **counts},
        "order": "score, then the base system's order; what got no score after what got one",
    }
    return Measured(
        system.name,
        system.kind,
        run,
        config,
        notes=tuple(_notes(counts, asking.depth)),
        models=(*base.models, {"use": "rerank", **prompt}),
        circular=(*base.circular, *relations([system.language_model, *served], data.head)),
        cut=base.cut,
    )


def _notes(counts: Mapping[str, Any], depth: int) -> Iterator[str]:
    yield f"a language model graded the first {depth} documents of each ranking; images were not sent"
    if counts["not_graded"]:
        yield (
            f"{counts['not_graded']} of {counted(counts['pairs'], 'pair')} got no score (refused, invalid or "
            "too long) and follow those that did"
        )


def _in_order(ranking: Ranking, given: Sequence[int]) -> Ranking:
    """The ranking with its first documents by score, ties and the rest as they were; scores are places."""
    places = sorted(range(len(given)), key=lambda place: (-given[place], place))
    documents = np.concatenate([ranking.documents[places], ranking.documents[len(given) :]])
    scores = np.arange(len(documents), 0, -1, dtype=np.float64)
    return Ranking(documents.astype(np.int32), scores)
