"""`medqrels crawl SOURCE`: one command per repository, made from its request; loaded when called for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Annotated, Any

from cyclopts import App, Parameter

from flows.cli.common import DEFAULT, FINDING, OK, Common, DryRun, emit, with_progress
from flows.crawl.repositories import REPOSITORIES, request_type
from flows.crawl.repositories.base import CrawlRequest
from schemas.wording import counted


def command_of(request: type[CrawlRequest]) -> Callable[..., int]:
    """The command whose arguments and options are the fields of a request."""
    signature = inspect.Signature([*_parameters(request)], return_annotation=int)

    def command(*values: Any, **options: Any) -> int:
        given = signature.bind(*values, **options).arguments
        dry_run, common = given.pop("dry_run", False), given.pop("common", DEFAULT)
        fields = request.model_fields
        wanted = {name: value for name, value in given.items() if value != fields[name].default}
        return _crawl(request.made(wanted, {name: _shown(request, name) for name in fields}), dry_run, common)

    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__doc__ = (inspect.getdoc(request) or "").partition("\n\n")[0]
    return command


def _parameters(request: type[CrawlRequest]) -> Iterator[inspect.Parameter]:
    """Fields without a default are arguments, the others options; last what all repositories take."""
    own = [name for name in request.model_fields if name != "profile"]
    for name in [*own, *(["profile"] if request.offers_profile else [])]:
        field = request.model_fields[name]
        shown = Parameter(help=field.description)
        hint: Any = Annotated[field.annotation, shown]
        if field.is_required():
            yield inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY, annotation=hint)
        else:
            yield _option(name, field.default, hint)
    yield _option("dry_run", False, DryRun)
    yield _option("common", DEFAULT, Common)


def _option(name: str, default: Any, hint: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _shown(request: type[CrawlRequest], name: str) -> str:
    """A field as the user wrote it."""
    return name.upper() if request.model_fields[name].is_required() else f"--{name.replace('_', '-')}"


def _crawl(request: CrawlRequest, dry_run: bool, common: Common) -> int:
    from flows.engine.settings import load_settings

    if dry_run:
        from flows.inspect.preview import preview_crawl

        result = preview_crawl(request, common.root)
        if result is None:
            emit(common, result, f"would ask {request.source} what there is, record it, and fetch it")
        else:
            known = f"{result['known']} are selected already"
            emit(common, result, f"would fetch {counted(result['new'], 'new article')}; {known}")
        return OK
    request.check(load_settings(workspace=common.root))
    from flows.crawl.flow import crawl

    [done] = with_progress(common, lambda: crawl(request, common.root))
    lost = done["unanswered"]
    told = f"{counted(lost, 'article')} of {done['asked']:,} not delivered: the same command asks again"
    emit(common, [done], told if lost else "")
    return FINDING if lost else OK


crawl_app = App(name="crawl", help_format="plaintext")
for _source in REPOSITORIES:
    crawl_app.command(command_of(request_type(_source)), name=_source)
