"""The verb `review judge`: a language model grades the candidates of a review."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter, validators

from curation.prompts.scores import Variant
from flows.cli.common import DEFAULT, FINDING, OK, Common, DryRun, emit, with_progress

if TYPE_CHECKING:
    from flows.review.judge import Plan

judge_app = App(name="judge", help_format="plaintext")


@judge_app.default
def judge(
    release: Annotated[
        str, Parameter(help="RELEASE/TASK: NAME@VERSION/TASK, NAME/TASK of the newest version, or a path.")
    ],
    /,
    *,
    model: Annotated[str, Parameter(help="Model, as the server calls it.")],
    variant: Annotated[
        Variant | None,
        Parameter(
            help="umbrela: one score 0-3. two-axis: topic and need, asked in both orders. support: the judge "
            "that labels reference_qa, clinical_evidence and multilingual_evidence in their build, there the "
            "default; elsewhere it is umbrela."
        ),
    ] = None,
    budget: Annotated[str, Parameter(help="Limit on the cost of all runs on this task together.")] = "5.00",
    price_in: Annotated[
        str | None, Parameter(help="Price of a million prompt tokens, in the budget's currency.")
    ] = None,
    price_out: Annotated[str | None, Parameter(help="Price of a million answer tokens.")] = None,
    concurrency: Annotated[
        int, Parameter(help="Concurrent calls.", validator=validators.Number(gte=1, lte=64))
    ] = 4,
    sample: Annotated[
        int | None,
        Parameter(help="Number of candidates to judge; all by default.", validator=validators.Number(gte=1)),
    ] = None,
    images: Annotated[
        bool, Parameter(help="Send images too; without it, candidates with images are left out.")
    ] = False,
    max_tokens: Annotated[
        int | None,
        Parameter(
            help="Token limit of an answer, 512 or, of support, 768; raise it for models that reason.",
            validator=validators.Number(gte=16, lte=65_536),
        ),
    ] = None,
    timeout: Annotated[
        float, Parameter(help="Seconds to wait for an answer.", validator=validators.Number(gt=0))
    ] = 120.0,
    show_prompt: Annotated[
        bool, Parameter(help="Print the first prompt and the table of grades, ask nothing.")
    ] = False,
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Let a language model grade candidates: a pre-filter and third opinion, never an expert.

    The server is that of OPENAI_BASE_URL and OPENAI_API_KEY; answers are stored and never paid for twice.
    """
    import os

    from flows.adapters.answering import prices_of
    from flows.adapters.llm_ledger import amount
    from flows.adapters.llm_runner import Patience
    from flows.engine.session import current_reporter
    from flows.engine.settings import load_settings
    from flows.engine.workspace import open_workspace
    from flows.review.judge import Options, estimate, plan, run_judge
    from flows.review.judge_text import describe
    from flows.review.server import task_directory

    options = Options(
        model,
        variant,
        amount(budget, "--budget"),
        prices_of(price_in, price_out),
        concurrency,
        sample,
        images,
        max_tokens,
        Patience(timeout=timeout),
    )
    workspace = open_workspace(load_settings(workspace=common.workspace).workspace)
    directory = task_directory(release, workspace)
    if show_prompt or dry_run:
        made = plan(directory, workspace, options)
        if show_prompt:
            return _show(common, made)
        told = estimate(made, options)
        emit(common, told, "\n".join(f"{name:<16}{value}" for name, value in told.items()))
        return OK
    result = with_progress(
        common, lambda: run_judge(directory, workspace, options, os.environ, current_reporter())
    )
    emit(common, result, lambda: describe(result))
    run = result["run"]
    return FINDING if run["stopped"] or run["failed"] else OK


def _show(common: Common, made: Plan) -> int:
    """Print a prompt as it would be sent, and what scores come to."""
    from flows.review.judge import table
    from schemas.record import to_dict

    rows = table(made)
    prompt = made.rows[0] if made.rows else None
    shown = to_dict(prompt) if prompt else None

    def text() -> str:
        lines = ["no candidate to show; image candidates need --images"]
        if prompt:
            parts = [
                part.value if part.kind == "text" else f"<image {part.value}>\n" for part in prompt.parts
            ]
            lines = ["system:", prompt.system, "", "user:", "".join(parts)]
        if made.variant == "support":
            lines += ["", "task, scores in both orders -> grade, or why there is none"]
            lines += [f"{row['task']}, {row['score']} -> {row['grade']}" for row in rows]
            return "\n".join(lines)
        lines += ["", "task, score -> grade: meaning (example)"]
        lines += [
            f"{row['task']}, {row['score']} -> {row['grade']}: {row['meaning']} ({row['example']})"
            for row in rows
        ]
        return "\n".join(lines)

    emit(common, {"prompt": shown, "table": rows}, text)
    return OK
