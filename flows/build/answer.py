"""The verb `answer`: every waiting prompt of a dataset's model stages is put to a language model.

`<workspace>/answers/ledger.jsonl` says what calls cost; the budget holds for all runs it has seen. What is
stored is never asked for again: after a kill the same command goes on, and pays at most for calls under way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from flows.adapters import apertium, seq2seq
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
from flows.adapters.cache import AnswerCache
from flows.adapters.llm_ledger import money, read_totals
from flows.adapters.llm_runner import Run, store_name
from flows.build.model_stages import (
    Held,
    chosen_models,
    fed_by,
    has_own,
    own_family,
    preview,
    settle,
    settle_own,
    stages_of,
    waiting_stages,
)
from flows.build.model_stages import take as held_of
from flows.build.recorded import read_recorded, take_recorded, the_model
from flows.engine.progress import SilentReporter
from flows.engine.session import Session, read_session, write_session
from flows.engine.workspace import Workspace
from schemas.errors import UsageError
from schemas.prompt import Prompt
from schemas.spec import DatasetSpec
from schemas.wording import counted

_CHOOSE = 'name kinds in the spec: [prompts] stages = ["hyde"]; or --set \'prompts.stages=["hyde"]\''


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be answered.

    Attributes:
        spec: the dataset's spec.
        names: kinds, tasks or stages; all when none is named.
        terms: model of these stages ('' for the spec's), budget, prices.
        limit: most prompts to ask in this run; None for all.
        called: the spec and its `--set` changes as the command line names them, for commands that help next.
        place: where a seq2seq model lies, if its name does not say so.
    """

    spec: DatasetSpec
    names: Sequence[str]
    terms: Terms
    limit: int | None = None
    called: str = "SPEC"
    place: str = ""

    @property
    def asked(self) -> dict[str, str]:
        """Stage name -> model asked for now; no other stage changes hands."""
        return {stage.name: self.terms.model for stage in stages_of(self.spec, self.names)}


def estimate(request: Request, root: str | Path | None) -> dict[str, Any]:
    """What a run would ask and what that can cost; nothing is written or asked.

    Raises:
        UsageError: the spec asks for no model, or two are named.
        WorkspaceError: a task is not built, or out of date.
    """
    session = read_session(root)
    _check(request)
    found = []
    for stage in stages_of(request.spec, request.names):
        prompts = preview(session.workspace, request.spec, stage)
        for model in chosen_models(session.workspace, request.spec.prompts, stage, request.terms.model):
            if request.terms.model in ("", model):
                found.append(held_of(session.workspace, stage, model, prompts))
    return _estimate(request, session.workspace, found)


def answer(request: Request, root: str | Path | None, environment: Mapping[str, str]) -> dict[str, Any]:
    """Ask what waits, and bring the stages up to what came; counts per stage, and what was spent.

    Raises:
        UsageError: as :func:`estimate`; no model, server, prices or extra to ask with.
        WorkspaceError: a task is not built, or another process writes here.
        FetchError: the server refuses every request or cannot be reached; what was answered is stored.
    """
    _check(request)
    with write_session(root, flow="answer") as session, alone(store_of(session.workspace), "asking a model"):
        quiet = replace(session, reporter=SilentReporter())  # what is told is what stands in the end
        run, left, before = Run(), request.limit, -1
        while True:  # answers to one stage of a task may make prompts of the next
            found = _settled(quiet, request)
            waiting = sum(len(mine.waiting) for mine in found)
            stored = sum(len(mine.answers) for mine in found)
            if not waiting or left == 0 or run.stopped or stored == before:
                break
            now = replace(request, limit=left)
            for line in _priced(_estimate(now, session.workspace, found)):
                session.reporter.line(line)
            _add(run, _ask(session, now, found, access(environment)))
            if not has_own(request.spec, request.names):
                break
            left = None if left is None else max(0, left - waiting)
            before = stored
        found = _settled(session, request)
        totals = read_totals(ledger_of(session.workspace))
    check_stopped(run, sum(len(mine.answers) for mine in found))
    return {
        "stages": [_counts(mine) for mine in found],
        "circular": own_family(request.spec, _models(session.workspace, request)),
        "run": {**spent(run, totals, request.terms.budget), "limit": request.limit},
        "next": _next(session.workspace, request, found, run),
    }


def take(request: Request, path: Path, root: str | Path | None) -> dict[str, Any]:
    """Take recorded answers from a file in the place of asking; counts per stage, and of the file.

    Raises:
        UsageError: as :func:`estimate`; or a row of the file is wrong, which is named.
        WorkspaceError: as :func:`answer`.
    """
    rows = read_recorded(path)
    named = the_model(rows, request.terms.model or request.spec.prompts.model, path)
    request = replace(request, terms=replace(request.terms, model=named))
    _check(request)
    with write_session(root, flow="answer") as session, alone(store_of(session.workspace), "asking a model"):
        quiet = replace(session, reporter=SilentReporter())
        taken: set[str] = set()
        while True:  # answers to one stage of a task may make prompts of the next
            new = take_recorded(session.workspace, _settled(quiet, request), rows, path) - taken
            if not new:
                break
            taken |= new
        found = _settled(session, request)
    left = [row for row in rows if row.to not in taken]
    return {
        "stages": [_counts(mine) for mine in found],
        "recorded": {
            "rows": len(rows),
            "taken": len(rows) - len(left),
            "scripted": sum(row.mode == "scripted" for row in rows),
            "to_no_prompt": [f"{row.place}: {row.to}" for row in left],
        },
        "next": _next(session.workspace, request, found, Run(), path),
    }


def _settled(session: Session, request: Request) -> list[Held]:
    """Every stage asked for, brought up to what the store holds: those of tasks, then those of queries."""
    asked, own = request.asked, has_own(request.spec, request.names)
    found = settle_own(session, request.spec, own, asked) if own else []
    found += settle(session, request.spec, request.names, asked)
    return [mine for mine in found if mine.stage.name in asked and asked[mine.stage.name] in ("", mine.model)]


def _add(whole: Run, run: Run) -> None:
    """Count one run in."""
    whole.calls += run.calls
    whole.failed += run.failed
    whole.unasked += run.unasked
    whole.outcomes += run.outcomes
    whole.stopped, whole.detail = run.stopped, run.detail


def ledger_of(workspace: Workspace) -> Path:
    """What calls of model stages cost."""
    return workspace.answers / "ledger.jsonl"


def _check(request: Request) -> None:
    stages = stages_of(request.spec, request.names)
    if not stages:
        raise UsageError("the spec asks for no model stage", hint=_CHOOSE)
    for stage in stages:
        named = request.spec.prompts.models_of(stage.kind)
        if named and request.terms.model not in ("", *named):
            hint = f"edit the spec, or --set prompts.model={request.terms.model} in all commands"
            raise UsageError(
                f"the spec says that {' and '.join(map(repr, named))} answers {stage.name}, "
                f"--model says {request.terms.model!r}",
                hint=hint if request.names else f"{hint}; or name stages that the spec leaves open",
            )


def _ask(session: Session, request: Request, found: Sequence[Held], reach: Access) -> Run:
    """Ask the waiting prompts, stage after stage, each of its model; the sum of the runs."""
    whole, left = Run(), request.limit
    for mine in found:
        chosen = mine.waiting[:left]
        if not chosen:
            continue
        if not mine.model:
            raise UsageError(
                f"nobody is named to answer {mine.stage.name}",
                hint="--model NAME, or [prompts] model in the spec",
            )
        if is_engine(mine.model):
            run = _translate(session, mine.model, request.place, chosen)
        else:
            run = ask(
                _asked_now(mine, chosen),
                replace(request.terms, model=mine.model),
                reach,
                store=session.workspace.answers,
                ledger=ledger_of(session.workspace),
                reporter=session.reporter,
                name=mine.stage.name,
            )
        _add(whole, run)
        left = None if left is None else left - len(chosen)
        if run.stopped:
            break
    return whole


def is_engine(model: str) -> bool:
    """Whether a name is of an engine of this machine."""
    return model == apertium.NAME or model.startswith(seq2seq.PREFIX)


def _translate(session: Session, model: str, place: str, chosen: Sequence[Prompt]) -> Run:
    """Have prompts for translations answered by an engine of this machine, each batch stored at once."""
    run = Run()
    is_model = model.startswith(seq2seq.PREFIX)
    engine = seq2seq.Seq2Seq(place or seq2seq.named(model)[1]) if is_model else apertium.Apertium()
    with AnswerCache(store_of(session.workspace), store_name(model)) as store:
        for answers in engine.answers(chosen, run):
            store.put(answers)
    return run


def _asked_now(mine: Held, chosen: Sequence[Prompt]) -> list[Prompt]:
    """The chosen prompts, and those answered: of a killed run the prices may still have to be noted."""
    others = {prompt.id for prompt in mine.waiting} - {prompt.id for prompt in chosen}
    return [prompt for prompt in mine.prompts if prompt.id not in others]


def _counts(mine: Held) -> dict[str, Any]:
    """What one stage has, and what it lacks."""
    states = Counter(answer.state for answer in mine.answers)
    return {
        "stage": mine.stage.name,
        "model": mine.model,
        "served_models": sorted({answer.served_model for answer in mine.answers}),
        **mine.stage.asked,
        "prompts": len(mine.prompts),
        "answered": states.pop("answered", 0),
        "unusable": dict(sorted(states.items())),
        "not_run": len(mine.waiting),
    }


def _estimate(request: Request, workspace: Workspace, found: Sequence[Held]) -> dict[str, Any]:
    """What would be asked, and what it can cost at most."""
    stages, left, asked = [], request.limit, []
    for mine in found:
        chosen = mine.waiting[:left]
        asked += [mine.stage] if chosen else []
        left = None if left is None else left - len(chosen)
        stages.append(
            {**_counts(mine), "calls": len(chosen), "costs_at_most": _price(mine, chosen, request.terms)}
        )
    return {
        "stages": stages,
        "prompts_to_come": [stage.name for stage in fed_by(request.spec, asked)],
        "circular": own_family(request.spec, _models(workspace, request)),
        "spent_before": money(read_totals(ledger_of(workspace)).spent),
        "budget": money(request.terms.budget),
    }


def _price(mine: Held, chosen: Sequence[Prompt], terms: Terms) -> str | None:
    """What some prompts can cost at most; an engine of this machine costs nothing."""
    return money(Decimal(0)) if is_engine(mine.model) else at_most(chosen, terms.prices)


def _models(workspace: Workspace, request: Request) -> dict[str, str]:
    """Stage name -> whose answers count, of all stages of the spec: the named ones as asked for now.

    Of several models the first: labels rest on no stage that several answer.
    """
    asked = request.asked
    return {
        stage.name: chosen_models(workspace, request.spec.prompts, stage, asked.get(stage.name, ""))[0]
        for stage in stages_of(request.spec)
    }


def _priced(estimated: Mapping[str, Any]) -> list[str]:
    """An estimate for people."""
    lines = []
    for item in estimated["stages"]:
        price = "unknown: no --price-in" if item["costs_at_most"] is None else item["costs_at_most"]
        lines.append(
            f"{item['stage']}: {item['answered']:,} of {counted(item['prompts'], 'prompt')} answered; to ask "
            f"{item['calls']:,} of {item['model'] or 'nobody: give --model'}, cost at most {price}"
        )
    if later := ", ".join(estimated["prompts_to_come"]):
        lines.append(f"not priced: these answers make prompts of {later}; how many is not known yet")
    lines += [f"circular: {line}" for line in estimated["circular"]]
    return [*lines, f"budget {estimated['budget']}, spent before {estimated['spent_before']}"]


def _next(
    workspace: Workspace, request: Request, found: Sequence[Held], run: Run, recorded: Path | None = None
) -> str:
    """What helps next; `recorded` is the file answers came from."""
    if run.stopped == "budget":
        return f"the budget is used up ({run.detail}): raise --budget and run the same command again"
    if recorded and any(mine.waiting for mine in found):
        return (
            f"{recorded.name} has no answer to what waits: add those to the prompts in work/STAGE/all/"
            "prompts.parquet, or ask a server without --answers"
        )
    if any(mine.waiting for mine in found):
        return "run the same command again: it asks only for what has no answer"
    if left := waiting_stages(workspace, request.spec):
        ownerless = [stage.name for stage, model in left if not model]
        which, named = (f"{' '.join(ownerless)} ", " --model NAME") if ownerless else ("", "")
        waiting = ", ".join(dict.fromkeys(stage.name for stage, _ in left))
        return f"medqrels answer {which}--spec {request.called}{named}: prompts of {waiting} wait"
    release = f"medqrels release {request.called}"
    return f"medqrels build --spec {request.called}, then {release}" if has_own(request.spec) else release


def describe(result: Mapping[str, Any]) -> str:
    """The result, or an estimate, for people."""
    if "next" not in result:
        return "\n".join(_priced(result))
    lines = []
    for item in result["stages"]:
        served = ", ".join(name for name in item["served_models"] if name not in ("", item["model"]))
        unusable = ", ".join(f"{count} {state}" for state, count in item["unusable"].items())
        lines.append(
            f"{item['stage']}: {item['answered']:,} of {counted(item['prompts'], 'prompt')} answered by "
            f"{item['model'] or 'nobody'}{f' (served as {served})' if served else ''}"
            f"{f'; {unusable}' if unusable else ''}; {item['not_run']:,} not_run"
        )
    lines += [f"circular: {line}" for line in result.get("circular", ())]
    if "recorded" in result:
        lines += _of_file(result["recorded"])
        return "\n".join([*lines, f"next: {result['next']}"])
    run = result["run"]
    lines.append(
        f"calls {run['calls']}  spent {run['spent']} of {run['budget']}, perhaps {run['perhaps_spent']} more"
        "  "
        f"tokens {run['tokens_in']:,} in, {run['tokens_out']:,} out  seconds {run['seconds']}  "
        f"rejected answers {run['rejected']}"
    )
    if run["outcomes"]:
        lines.append("outcomes " + ", ".join(f"{name} {count}" for name, count in run["outcomes"].items()))
    return "\n".join([*lines, f"next: {result['next']}"])


def _of_file(recorded: Mapping[str, Any]) -> Iterator[str]:
    """What came of a file of recorded answers, for people."""
    rows = counted(recorded["rows"], "recorded answer")
    yield f"{recorded['taken']:,} of {rows} taken; no server was asked"
    if recorded["scripted"]:
        yield f"{recorded['scripted']:,} name no served model: what rests on them is not publishable"
    if left := recorded["to_no_prompt"]:
        yield f"{counted(len(left), 'row')} answer no prompt of this spec, first {left[0]}"
