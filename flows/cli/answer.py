"""The verb `answer`: waiting prompts of a dataset's model stages are put to a language model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter, validators

from flows.cli.common import DEFAULT, FINDING, OK, Common, DryRun, Overrides, emit, with_progress

answer_app = App(name="answer", help_format="plaintext")


@answer_app.default
def answer(
    *stages: Annotated[
        str, Parameter(help="Kinds (hyde), tasks or stages (visual_context_hyde); all when none is named.")
    ],
    spec: Annotated[Path, Parameter(help="The dataset's spec.toml; [prompts] says what is asked.")],
    overrides: Overrides = (),
    model: Annotated[
        str,
        Parameter(
            help="Model of the stages named, as the server calls it, where the spec names none; apertium, "
            "and seq2seq:MODEL (a folder, or a name on the Hub), translate here."
        ),
    ] = "",
    budget: Annotated[
        str, Parameter(help="Limit on the cost of all runs of this workspace together.")
    ] = "5.00",
    price_in: Annotated[
        str | None, Parameter(help="Price of a million prompt tokens, in the budget's currency.")
    ] = None,
    price_out: Annotated[str | None, Parameter(help="Price of a million answer tokens.")] = None,
    limit: Annotated[
        int | None,
        Parameter(help="Number of prompts to ask; all by default.", validator=validators.Number(gte=0)),
    ] = None,
    concurrency: Annotated[
        int, Parameter(help="Concurrent calls.", validator=validators.Number(gte=1, lte=64))
    ] = 4,
    answers: Annotated[
        Path | None,
        Parameter(help="Recorded answers, JSONL or Parquet, to take in the place of asking a server."),
    ] = None,
    timeout: Annotated[
        float, Parameter(help="Seconds to wait for an answer.", validator=validators.Number(gt=0))
    ] = 120.0,
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Put every waiting prompt to a language model: stored, priced before it runs, resumable.

    The server is that of OPENAI_BASE_URL and OPENAI_API_KEY; a stored answer is never paid for again.
    """
    import os
    import shlex

    from flows.adapters.answering import Terms, prices_of
    from flows.adapters.llm_ledger import amount
    from flows.adapters.llm_runner import Patience
    from flows.adapters.seq2seq import named
    from flows.build.answer import Request, describe, estimate, take
    from flows.build.answer import answer as ask_all
    from flows.build.recorded import read_recorded
    from flows.specs import parse_overrides, read_spec

    called_model, place = named(model)
    terms = Terms(
        called_model,
        amount(budget, "--budget"),
        prices_of(price_in, price_out),
        concurrency,
        Patience(timeout=timeout),
    )
    called = shlex.join([str(spec), *(word for change in overrides for word in ("--set", change))])
    request = Request(read_spec(spec, parse_overrides(overrides)), stages, terms, limit, called, place)
    if dry_run:
        if answers is not None:
            read_recorded(answers)  # a wrong row is told now
        told = estimate(request, common.root)
        emit(common, told, lambda: describe(told))
        return OK

    def work() -> Any:
        if answers is not None:
            return take(request, answers, common.root)
        return ask_all(request, common.root, os.environ)

    result = with_progress(common, work)
    emit(common, result, lambda: describe(result))
    left = result.get("recorded", {}).get("to_no_prompt")
    return FINDING if left or any(item["not_run"] for item in result["stages"]) else OK
