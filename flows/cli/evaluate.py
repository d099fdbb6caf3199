"""The verb `evaluate`: retrieval systems and run files on a published release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter, validators

from flows.cli.common import DEFAULT, OK, Common, DryRun, emit, with_progress

evaluate_app = App(name="evaluate", help_format="plaintext")


@evaluate_app.default
def evaluate(
    release: Annotated[str, Parameter(help="A task or version folder, or NAME@VERSION.")],
    /,
    *,
    system: Annotated[
        tuple[str, ...],
        Parameter(
            help="bm25, dense, hybrid, image, st:MODEL, clip:MODEL; bm25, dense or st:MODEL with +hyde:FILE "
            "or +query2doc:FILE (release for its own expansions); any of these with +rerank:MODEL (a "
            "cross-encoder) or +rerank:llm:MODEL (a language model). May be given several times. bm25 when "
            "neither a system nor a run is named.",
        ),
    ] = (),
    run: Annotated[
        tuple[Path, ...],
        Parameter(help="A TREC run file to measure; may be given several times."),
    ] = (),
    split: Annotated[str, Parameter(help="Split of the queries.")] = "test",
    subset: Annotated[
        str,
        Parameter(
            help="A part of split test: nano, a balanced subset, or a language that documents have names in."
        ),
    ] = "",
    k: Annotated[int, Parameter(help="Depth of the rankings.")] = 100,
    out: Annotated[Path | None, Parameter(help="Folder for results, run files and the page.")] = None,
    k1: Annotated[float, Parameter(help="BM25's k1.")] = 0.9,
    b: Annotated[float, Parameter(help="BM25's b.")] = 0.4,
    query_prompt: Annotated[
        str | None,
        Parameter(help="Prefix of queries for st: and clip: models; by default the model's own prompt."),
    ] = None,
    document_prompt: Annotated[
        str | None,
        Parameter(help="Prefix of documents for st: and clip: models; by default the model's own."),
    ] = None,
    rerank_depth: Annotated[
        int,
        Parameter(
            help="Documents of each ranking that a language model grades.", validator=validators.Number(gte=1)
        ),
    ] = 20,
    budget: Annotated[
        str, Parameter(help="Limit on the cost of all language models that re-rank, over all runs.")
    ] = "5.00",
    price_in: Annotated[
        str | None, Parameter(help="Price of a million prompt tokens, in the budget's currency.")
    ] = None,
    price_out: Annotated[str | None, Parameter(help="Price of a million answer tokens.")] = None,
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Measure retrieval systems on a published release; the release is only read.

    A language model is asked through the server of OPENAI_BASE_URL and OPENAI_API_KEY; answers are stored.
    """
    import os

    from curation.evaluation.systems import parse_systems
    from flows.adapters.answering import access, prices_of
    from flows.adapters.llm_ledger import amount
    from flows.engine.releases import task_directories
    from flows.engine.session import current_reporter
    from flows.engine.settings import load_settings
    from flows.engine.workspace import Workspace
    from flows.evaluate.evaluate import describe, evaluate_all, targets
    from flows.evaluate.reranked import Asking
    from flows.evaluate.retrieval import Options

    settings = load_settings(workspace=common.workspace)
    directories = task_directories(release, Workspace(settings.workspace))
    systems = parse_systems(system or (() if run else ("bm25",)))
    asking = Asking(
        access(os.environ), amount(budget, "--budget"), prices_of(price_in, price_out), rerank_depth
    )
    options = Options(split, k, k1, b, query_prompt, document_prompt, settings.worker_count, asking)
    places = targets(directories, out, settings.workspace, run, options, subset)
    if dry_run:
        names = [*(item.name for item in systems), *(path.name for path in run)]
        planned = [
            {"release": str(source), "out": str(target), "systems": names} for source, target in places
        ]
        emit(
            common,
            planned,
            "\n".join(
                f"would evaluate {', '.join(names)} on {source} into {target}" for source, target in places
            ),
        )
        return OK

    def work() -> Any:
        return evaluate_all(places, systems, run, settings.workspace, options, current_reporter(), subset)

    made = with_progress(common, work)
    emit(common, made, lambda: describe(made))
    return OK
