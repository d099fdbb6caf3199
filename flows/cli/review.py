"""The verbs `review start|stop|push|pull|status|reports|foreign`: the review server, what goes and comes."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from flows.cli.common import DEFAULT, FINDING, OK, Common, DryRun, emit, with_progress

review_app = App(
    name="review", help="Have annotators judge candidates in Label Studio.", help_format="plaintext"
)
AllowHttp = Annotated[bool, Parameter(help="Send the token over plain http; only on a network you trust.")]
PerItem = Annotated[
    int | None, Parameter(help="Annotators per item; 2 unless the first push said otherwise.")
]
Stratify = Annotated[
    str, Parameter(help="Draw in proportion by these, comma-separated: specialty, language, tier.")
]
Annotators = Annotated[
    Path | None, Parameter(help="TOML of annotators (docs/review.md); by default A1, A2, …")
]
Restore = Annotated[bool, Parameter(help="Send again tasks that were deleted on the server.")]
DrawOnly = Annotated[
    bool, Parameter(help="Draw and assign, but send nothing yet: `review judge` comes first.")
]
Calibration = Annotated[
    int | None,
    Parameter(help="Pairs to draw from all that the judge was asked about, to measure it (docs/review.md)."),
]
PerCell = Annotated[
    int, Parameter(help="Calibration pairs of each cell of the judge's scores before the rest goes by size.")
]
ByDoubt = Annotated[bool, Parameter(help="Send what the judge is least sure of first (docs/review.md).")]


@review_app.command
def start(
    *,
    port: Annotated[
        int, Parameter(help="Port on loopback; 0 takes that of the last start, or a free one.")
    ] = 0,
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Start a local Label Studio, installing it first if needed; loopback only."""
    from flows.engine.settings import load_settings
    from flows.engine.workspace import open_workspace
    from flows.review import text as review_text
    from flows.review.label_studio import install, venv_folder
    from flows.review.label_studio import start as start_server
    from flows.review.people import passwords_path
    from flows.review.server import server_folder

    root = load_settings(workspace=common.workspace).workspace
    if dry_run:
        emit(common, {"workspace": str(root)}, f"would start Label Studio for the workspace {root}")
        return OK
    folder = server_folder(open_workspace(root, create=True)).absolute()
    is_first = not (folder / "secrets.json").is_file()
    venv = venv_folder(folder)
    install(venv, review_text.to_stderr)
    server = start_server(folder, port, venv)
    made = {
        "url": server.url,
        "login": server.login,
        "pid": server.pid,
        "password_file": str(folder / "secrets.json"),
        "accounts_file": str(passwords_path(folder)),
    }
    if is_first:
        made["password"] = server.password
    emit(common, made, lambda: review_text.started(made))
    return OK


@review_app.command
def stop(*, dry_run: DryRun = False, common: Common = DEFAULT) -> int:
    """Stop the local Label Studio; its data stay."""
    from flows.engine.settings import load_settings
    from flows.engine.workspace import open_workspace
    from flows.review.label_studio import running
    from flows.review.label_studio import stop as stop_server
    from flows.review.server import server_folder

    folder = server_folder(open_workspace(load_settings(workspace=common.workspace).workspace))
    if dry_run:
        found = running(folder)
        emit(common, {"running": found is not None}, "would stop it" if found else "no server is running")
        return OK
    was_running = stop_server(folder)
    emit(common, {"stopped": was_running}, "stopped" if was_running else "no server was running")
    return OK


@review_app.command
def push(
    release: Annotated[
        str, Parameter(help="RELEASE/TASK: NAME@VERSION/TASK, NAME/TASK of the newest version, or a path.")
    ],
    /,
    *,
    per_item: PerItem = None,
    sample: Annotated[
        int | None, Parameter(help="Items to draw: all at first; later only a larger number draws more.")
    ] = None,
    stratify: Stratify = "",
    annotators: Annotators = None,
    restore: Restore = False,
    draw_only: DrawOnly = False,
    by_doubt: ByDoubt = False,
    calibration: Calibration = None,
    per_cell: PerCell = 30,
    allow_http: AllowHttp = False,
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Draw candidates of a release, assign them to annotators, and send their queues to the server."""
    from flows.review import text as review_text
    from flows.review.commands import Push, push_release

    asked = Push(
        release, per_item, sample, stratify, annotators, restore, draw_only, by_doubt, allow_http, dry_run,
        calibration, per_cell,
    )  # fmt: skip

    def work() -> Any:
        return push_release(common.root, asked, review_text.to_stderr)

    made = with_progress(common, work)
    emit(common, made, lambda: review_text.pushed(made, dry_run=dry_run, draw_only=draw_only))
    return FINDING if any(queue["conflicts"] for item in made for queue in item["queues"]) else OK


@review_app.command
def pull(
    review: Annotated[
        str, Parameter(help="DATASET/TASK, or a DATASET; every review when none is named.")
    ] = "",
    /,
    *,
    accept: Annotated[
        bool,
        Parameter(help="Resolve conflicts: the server's last answer counts, earlier ones are kept."),
    ] = False,
    allow_http: AllowHttp = False,
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Fetch new answers into the workspace."""
    from flows.review import text as review_text
    from flows.review.commands import pull_reviews

    made = pull_reviews(common.root, review, accept=accept, allow_http=allow_http, dry_run=dry_run)
    emit(common, made, lambda: review_text.pulled(made, dry_run))
    return FINDING if any(item.get("in_conflict") for found in made for item in found["people"]) else OK


@review_app.command
def status(
    review: Annotated[
        str, Parameter(help="DATASET/TASK, or a DATASET; every review when none is named.")
    ] = "",
    /,
    *,
    common: Common = DEFAULT,
) -> int:
    """Show how far each review is: what is drawn, on the server, answered or in conflict; what is next."""
    from flows.review import text as review_text
    from flows.review.commands import status_of

    made = status_of(common.root, review)
    emit(common, made, lambda: review_text.standing(made))
    return OK


@review_app.command
def reports(
    review: Annotated[
        str, Parameter(help="DATASET/TASK, or a DATASET; every review when none is named.")
    ] = "",
    /,
    *,
    lift: Annotated[str, Parameter(help="Id of an item whose reports shall withhold nothing any more.")] = "",
    by: Annotated[str, Parameter(help="Who decides; recorded.")] = "",
    why: Annotated[str, Parameter(help="The reason for the decision; recorded.")] = "",
    common: Common = DEFAULT,
) -> int:
    """List what annotators reported (privacy, wrong patient, consent, offensive), or lift a report."""
    from flows.review import reports as review_reports
    from flows.review import text as review_text

    if lift:
        made = review_reports.lift(common.root, lift, by, why)
        emit(common, asdict(made), f"{made.candidate_id}: lifted by {made.by}: {made.why}")
        return OK
    found = review_reports.reports(common.root, review)
    emit(common, found, lambda: review_text.reports(found))
    return FINDING if any(item["standing"] for item in found) else OK


@review_app.command
def foreign(
    review: Annotated[
        str, Parameter(help="DATASET/TASK, or a DATASET; every review when none is named.")
    ] = "",
    /,
    *,
    assign: Annotated[
        str, Parameter(help="Id of an answer that shall count as one of the person who gave it.")
    ] = "",
    ask_again: Annotated[
        str, Parameter(help="Id of an answer that shall count for nobody; nothing tells of it any more.")
    ] = "",
    by: Annotated[str, Parameter(help="Who decides; recorded.")] = "",
    why: Annotated[str, Parameter(help="The reason for the decision; recorded.")] = "",
    common: Common = DEFAULT,
) -> int:
    """List answers that somebody gave in another person's project; assign one, or ask again."""
    from flows.review import foreign as review_foreign
    from flows.review import text as review_text
    from schemas.errors import UsageError

    if assign and ask_again:
        raise UsageError("--assign and --ask-again exclude each other")
    if assign or ask_again:
        choice: Literal["assigned", "ask_again"] = "assigned" if assign else "ask_again"
        made = asdict(review_foreign.decide(common.root, assign or ask_again, choice, by, why))
        emit(common, made, lambda: review_text.decision(made))
        return OK
    found = review_foreign.foreign(common.root, review)
    emit(common, found, lambda: review_text.foreign(found))
    return FINDING if any(item["standing"] for item in found) else OK
