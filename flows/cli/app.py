"""The command line: one function per verb, heavy imports inside it, so that light verbs start fast.

Exit codes: 0 ok, 1 finding, 2 usage, 3 failure, 130 interrupted.
"""

from __future__ import annotations

import importlib.metadata
import json
import logging
import os
import signal
import sys
import threading
import traceback
from pathlib import Path
from typing import Annotated, Any, NoReturn

import cyclopts
from cyclopts import App, Parameter

from flows.cli.answer import answer_app
from flows.cli.audit import audit_app
from flows.cli.common import (
    DEFAULT,
    FAILURE,
    FINDING,
    INTERRUPTED,
    OK,
    USAGE,
    Common,
    DryRun,
    Overrides,
    Spec,
    Version,
    check_workspace,
    emit,
    emit_plan,
    with_progress,
)
from flows.cli.diff import diff_app
from flows.cli.evaluate import evaluate_app
from flows.cli.export import export_app
from flows.cli.ground import ground
from flows.cli.publish import publish
from flows.cli.rebuild import rebuild
from flows.cli.review import review_app
from flows.cli.review_judge import judge_app
from flows.cli.review_results import adjudicate, agreement, plan
from flows.cli.serve import serve
from flows.cli.state import doctor, status
from flows.cli.takedown import sweep, takedown
from flows.cli.vocabulary import vocabulary_app
from schemas.errors import MedqrelsError, is_interrupted
from schemas.wording import tell

app = App(
    name="medqrels",
    help="Build, audit and publish medical retrieval benchmarks from open-access literature.",
    suppress_keyboard_interrupt=False,
    version_flags=[],  # `release` has an option of that name
    help_format="plaintext",
    default_parameter=Parameter(negative=""),  # no option that only says the default
)

app.command(answer_app)
app.command(audit_app)
app.command("flows.cli.crawl:crawl_app", name="crawl", help="Fetch articles into the workspace.")
app.command(diff_app)
app.command(evaluate_app)
app.command(export_app)
for _verb in (agreement, adjudicate, plan):
    review_app.command(_verb)
review_app.command(judge_app)
app.command(review_app)
app.command(vocabulary_app)
app.command(ground)
app.command(publish)
app.command(rebuild)
app.command(serve)
app.command(status)
app.command(doctor)
app.command(sweep)
app.command(takedown)
_SIGINT, _FAILED = threading.Event(), threading.Event()


@app.command
def extract(
    *, spec: Spec = None, overrides: Overrides = (), dry_run: DryRun = False, common: Common = DEFAULT
) -> int:
    """Parse crawled articles; find figures, passages, in-text mentions, cases and what images show."""
    from flows.specs import check_images, given_spec, parse_overrides

    wanted = given_spec(spec, parse_overrides(overrides))
    if dry_run:
        return emit_plan(common, "extract", wanted)
    check_workspace(common)
    if wanted is not None:
        check_images(wanted.images)
    from flows.build.extract import extract as extract_flow

    emit(common, with_progress(common, lambda: extract_flow(common.root, wanted)), "")
    return OK


@app.command
def build(
    *tasks: Annotated[str, Parameter(help="Tasks to build; all when none is named.")],
    spec: Spec = None,
    overrides: Overrides = (),
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Build benchmark tasks: queries, corpus, qrels with evidence, excluded pairs."""
    from flows.specs import chosen_tasks, given_spec, parse_overrides

    wanted = given_spec(spec, parse_overrides(overrides))
    chosen = chosen_tasks(tasks, wanted)
    if dry_run:
        return emit_plan(common, "build", wanted, chosen)
    check_workspace(common)
    from flows.build.tasks import build as build_flow

    emit(common, with_progress(common, lambda: build_flow(chosen, common.root, wanted)), "")
    return OK


@app.command
def release(
    dataset: Annotated[str, Parameter(help="Dataset under data_cards/, or a path to its spec.toml.")],
    /,
    *,
    version: Version = None,
    overrides: Overrides = (),
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Assemble a versioned release with its card, and audit it."""
    from flows.engine.releases import check_version
    from flows.engine.settings import load_settings
    from flows.engine.workspace import Workspace
    from flows.specs import parse_overrides, read_dataset, spec_path

    wanted = read_dataset(spec_path(dataset), parse_overrides(overrides))
    check_version(version, Workspace(load_settings(workspace=common.root).workspace), wanted.spec.name)
    if dry_run:
        spec = wanted.spec
        result = {"dataset": spec.name, "version": version, "tasks": sorted(spec.tasks)}
        emit(common, result, f"would release {_named(spec, version)}")
        return OK
    from flows.release.flow import release as release_flow

    result = with_progress(common, lambda: release_flow(wanted, version, common.root))
    emit(common, result, lambda: _released(result))
    return OK if all(item["audit"] == "clean" for item in result) else FINDING


def _named(spec: Any, version: str | None) -> str:
    """A release to be, for --dry-run."""
    told = f"{spec.name}@{version}" if version else f"{spec.name}, its version as what changed asks for"
    return f"{told}: {', '.join(sorted(spec.tasks))}"


def _released(result: list[dict[str, Any]]) -> str:
    """Version and reason, then each task with what its audit says and which labels people changed."""
    from flows.review.text import changed_labels

    first = result[0]
    stands = "" if first["is_new"] else "; no new release, this one stands"
    lines = [f"{first['dataset']}@{first['version']}: {first['why']}{stands}"]
    for item in result:
        empty = "empty; " if item["is_empty"] else ""
        mark = "publishable" if item["publishable"] else "not publishable"
        lines += [
            item["path"],
            f"  {empty}audit {item['audit']}, {mark}: {item['audit_page']}",
            *(f"  {reason}" for reason in item["not_publishable_because"]),
            *changed_labels(item),
        ]
    return "\n".join(lines)


@app.command
def run(
    *,
    spec: Annotated[Path, Parameter(help="The dataset's spec.toml.")],
    version: Version = None,
    dask: Annotated[
        str | None, Parameter(help="Scheduler whose workers make the shards: tcp://HOST:8786.")
    ] = None,
    store: Annotated[
        str | None, Parameter(help="What they share: s3://BUCKET/PREFIX or a mounted folder.")
    ] = None,
    overrides: Overrides = (),
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Do everything a spec asks for: crawl, extract, ground, build, release, audit."""
    from flows.engine.releases import check_version
    from flows.engine.settings import load_settings
    from flows.engine.workspace import Workspace
    from flows.specs import parse_overrides, read_dataset

    wanted = read_dataset(spec, parse_overrides(overrides))
    check_version(version, Workspace(load_settings(workspace=common.root).workspace), wanted.spec.name)
    from flows.engine.session import choosing

    if dry_run:
        from flows.cluster.hired import reach
        from flows.engine.session import chosen_settings

        with choosing(dask=dask, store=store):
            cluster = reach(chosen_settings(common.root))
        told = wanted.spec.model_dump(mode="json") | ({"cluster": cluster} if cluster else {})
        lines = [f"would run {_named(wanted.spec, version)}", *([f"on {cluster}"] if cluster else [])]
        emit(common, told, "\n".join(lines))
        return OK
    from flows.run import run as run_flow

    with choosing(dask=dask, store=store):
        result = with_progress(common, lambda: run_flow(wanted, version, common.root))
    made = result["releases"]
    emit(common, result, lambda: _released(made))
    is_whole = not any(stage.get("unanswered") for stage in result["stages"])
    return OK if is_whole and all(item["audit"] == "clean" for item in made) else FINDING


@app.command
def demo(*, dry_run: DryRun = False, common: Common = DEFAULT) -> int:
    """Run the whole pipeline offline on the embedded sample."""
    folder = common.workspace or Path("workspace/demo")
    if dry_run:
        emit(common, {"workspace": str(folder)}, f"would build and release the sample in {folder}")
        return OK
    from flows.demo import demo as run_demo
    from flows.demo import describe

    made = with_progress(common, lambda: run_demo(folder))
    emit(common, made, lambda: describe(made))
    return OK if all(item["audit"] == "clean" for item in made["releases"]) else FINDING


@app.command
def show(
    record: Annotated[
        str,
        Parameter(help="An article, figure or passage, e.g. pmc:PMC123.1; or a query, question or case."),
    ],
    /,
    *,
    common: Common = DEFAULT,
) -> int:
    """Follow one article, query, question or case through every stage.

    Of a query, question or case it tells each stage's decision, with what models were asked and answered; of
    the query of a confusion set its anchor, members, paths and rejections, of a translated question all
    languages side by side with origin, scores and verdict, and of a cross-lingual one all languages with
    the origin of their words, and its labels.
    """
    from flows.engine.session import read_session
    from flows.inspect import decisions
    from flows.inspect.confusions import describe_set, is_of_a_set, trace_set
    from flows.inspect.families import describe_family, is_of_a_family, trace_family
    from flows.inspect.questions import describe_question, is_a_question, trace_question
    from flows.inspect.show import describe, trace

    workspace = read_session(common.workspace).workspace
    if is_of_a_set(record):
        confusions = trace_set(workspace, record)
        emit(common, confusions, lambda: describe_set(confusions))
        return OK
    if is_of_a_family(record):
        family = trace_family(workspace, record)
        emit(common, family, lambda: describe_family(family))
        return OK
    if is_a_question(record):
        question = trace_question(workspace, record)
        emit(common, question, lambda: describe_question(question))
        return OK
    way = decisions.follow(workspace, record)
    if way is not None:
        emit(common, way, lambda: decisions.describe(way))
        return OK
    found = trace(workspace, record)
    emit(common, found, lambda: describe(found))
    return OK


def run_cli(arguments: list[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    as_json = "--json" in (sys.argv[1:] if arguments is None else arguments)
    try:
        if (sys.argv[1:] if arguments is None else arguments) == ["--version"]:
            print(importlib.metadata.version("medqrels"))
            return OK
        code = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except cyclopts.CycloptsError as error:
        verb = " ".join(("medqrels", *(error.command_chain or ()), "--help"))
        _fail(as_json, {"error": "UsageError", "message": _of_the_command(error), "hint": verb})
        return USAGE
    except MedqrelsError as error:
        if _SIGINT.is_set():  # Ctrl-C also ends the worker processes, and may be told of them first
            return _interrupted(as_json)
        _fail(as_json, error.attrs())
        _let_go(error)
        return error.exit_code
    except KeyboardInterrupt:
        return _interrupted(as_json)
    except Exception as error:
        if _SIGINT.is_set():  # the same, or of a server on the same terminal
            return _interrupted(as_json)
        if is_interrupted(error):  # no Ctrl-C, so SIGTERM: the process ends by it, as it does elsewhere
            _let_go(error)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)
        from flows.engine.failures import failure

        logging.getLogger("medqrels").debug("unexpected error", exc_info=True)
        _fail(as_json, failure(error))
        _let_go(error)
        return FAILURE
    return code if isinstance(code, int) else OK


def _of_the_command(error: cyclopts.CycloptsError) -> str:
    """What is wrong with the words of a command."""
    if isinstance(error, cyclopts.UnusedCliTokensError):
        return f"the command takes no {' '.join(map(repr, error.unused_tokens or ()))}"
    return str(error).strip()


def _let_go(error: BaseException | None) -> None:
    """Free what the frames of an error hold: a database that outlives the interpreter complains at length."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def _end_quietly() -> None:
    """After a failure, nothing more on stderr when the interpreter is taken down.

    Errors that threads keep hold databases whose library would then fill the screen below the message.
    """
    if _FAILED.is_set():
        sys.stderr.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def _interrupted(as_json: bool) -> int:
    _fail(
        as_json,
        {"error": "Interrupted", "message": "interrupted", "hint": "the same command continues from here"},
    )
    return INTERRUPTED


def _note_sigint(signum: int, frame: object) -> None:
    _SIGINT.set()
    raise KeyboardInterrupt


def _fail(as_json: bool, attrs: dict[str, str]) -> None:
    _FAILED.set()
    if as_json:
        lines = [json.dumps(attrs, ensure_ascii=False)]
    else:
        told = {"record": "record", "file": "file", "hint": "next"}
        lines = [f"  {word}: {attrs[key]}" for key, word in told.items() if attrs.get(key)]
        lines.insert(0, f"error: {attrs['message']}")
    tell("\n".join(lines), sys.stderr)


def _stand_in_for_closed() -> None:
    """Where a service starts without stdout or stderr, the next file opened would get what is printed."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, "r" if name == "stdin" else "w")  # noqa: SIM115 - as long as the process
            if stream.fileno() != number:
                os.dup2(stream.fileno(), number)
            setattr(sys, name, stream)


def main() -> NoReturn:
    """Entry point of the `medqrels` command."""
    _stand_in_for_closed()
    signal.signal(signal.SIGINT, _note_sigint)
    code = run_cli()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done; only what was started is still ended
    _end_quietly()
    sys.exit(code)
