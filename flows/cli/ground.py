"""`medqrels ground`: the crawled articles, one text, or a file of texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from flows.cli.common import (
    DEFAULT,
    FINDING,
    OK,
    Common,
    DryRun,
    check_workspace,
    emit,
    emit_plan,
    with_progress,
)
from schemas.wording import counted

Backend = Annotated[
    Literal["native", "quickumls", "scispacy"],
    Parameter(help="What finds concepts; quickumls and scispacy are extras."),
]


def ground(
    *,
    backend: Backend = "native",
    overlaps: Annotated[bool, Parameter(help="Also find names inside longer names.")] = False,
    text: Annotated[str | None, Parameter(help="Ground this text and print it.")] = None,
    input: Annotated[
        Path | None, Parameter(help='JSON Lines of {"id", "text"[, "language"]} to ground instead.')
    ] = None,
    output: Annotated[Path | None, Parameter(help='For --input: {"id", "mentions"} a line.')] = None,
    language: Annotated[str, Parameter(help="Language of --text, BCP-47.")] = "en",
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Find vocabulary concepts in the extracted articles, or in any text."""
    if text is not None or input is not None or output is not None:
        return _texts(backend, overlaps, text, input, output, language, dry_run, common)
    from schemas.spec import Grounding

    chosen = Grounding(backend=backend, overlaps=overlaps)
    if dry_run:
        return emit_plan(common, "ground", chosen)
    check_workspace(common)
    from flows.build.ground import ground as ground_flow

    emit(common, with_progress(common, lambda: ground_flow(common.root, chosen)), "")
    return OK


def _texts(
    backend: str,
    overlaps: bool,
    text: str | None,
    source: Path | None,
    target: Path | None,
    language: str,
    dry_run: bool,
    common: Common,
) -> int:
    from schemas.errors import UsageError

    if (text is None) == (source is None) or (source is None) != (target is None):
        raise UsageError("give either --text, or --input and --output")
    from flows.engine.settings import load_settings
    from flows.inspect.texts import annotated, ground_file, ground_text
    from flows.vocabulary.indexes import index_for_texts

    settings = load_settings(workspace=common.root)
    if dry_run:
        emit(common, {"output": str(target) if target else None}, f"would write {target or 'nothing'}")
        return OK

    def work() -> Any:
        index = index_for_texts(common.root, settings.workspace, backend)
        if text is not None:
            return ground_text(text, index, language, overlaps=overlaps)
        from flows.engine.session import current_reporter

        assert source is not None and target is not None
        with current_reporter().stage("ground", 0, "texts") as steps:
            return ground_file(
                source,
                target,
                index,
                overlaps=overlaps,
                workers=settings.worker_count,
                progress=steps.advance,
            )

    made = with_progress(common, work)
    if text is not None:
        emit(common, {"text": text, "mentions": made}, lambda: annotated(text, made))
        return OK
    lost = (
        f"; {counted(made['dropped'], 'line')} dropped, see {target}.dropped.jsonl" if made["dropped"] else ""
    )
    emit(common, made, f"{counted(made['texts'], 'text')}, {counted(made['mentions'], 'mention')}{lost}")
    return FINDING if made["dropped"] else OK
