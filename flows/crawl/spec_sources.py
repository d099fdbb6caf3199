"""A spec's [sources] table as crawl requests; paths in it are relative to the spec file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flows.crawl.repositories import REPOSITORIES, request_type
from flows.crawl.repositories.base import CrawlRequest, SpecKey, spec_keys
from schemas.errors import UsageError
from schemas.licences import Profile
from schemas.spec import DatasetSpec


def requests_of(spec: DatasetSpec, path: Path) -> list[CrawlRequest]:
    """One request per key and entry of [sources], in the order of the repositories.

    Args:
        spec: the dataset.
        path: its spec.toml.

    Raises:
        UsageError: a key is no repository's, or its value is not what the repository takes.
    """
    given = spec.sources.given
    owners = {key: _owner(key, path) for key in given}
    found: list[CrawlRequest] = []
    for source in REPOSITORIES:
        mine = {key: value for key, value in given.items() if owners[key] == source}
        if mine:
            found += _requests(request_type(source), mine, path, spec.licence_profile)
    return found


def _owner(key: str, path: Path) -> str:
    """The repository whose key this is: it bears its name."""
    for source in REPOSITORIES:
        is_near = key in (source, f"{source}s") or key.startswith(f"{source}_")
        if is_near and key in {known.name for known in spec_keys(request_type(source)).values()}:
            return source
    keys = sorted(known.name for source in REPOSITORIES for known in spec_keys(request_type(source)).values())
    raise UsageError(
        f"sources.{key}: no repository has this key", file=str(path), hint=f"keys: {', '.join(keys)}"
    )


def _requests(
    request: type[CrawlRequest], given: Mapping[str, Any], path: Path, profile: Profile
) -> list[CrawlRequest]:
    """The requests of one repository."""
    keys = spec_keys(request)
    named = {field: f"sources.{key.name}" for field, key in keys.items()}
    values = {field: _value(key, given[key.name], path) for field, key in keys.items() if key.name in given}
    found = []
    for field, value in values.items():
        if keys[field].along:
            continue
        along = {name: values[name] for name in values if keys[name].along == field}
        for one in value if keys[field].many else (value,):
            found.append(request.made({field: one, "profile": profile, **along}, named, str(path)))
    return found


def _value(key: SpecKey, value: Any, path: Path) -> Any:
    """A value with its paths found.

    Raises:
        UsageError: one value where a list belongs, or the other way round.
    """
    if isinstance(value, tuple) != key.many:
        raise UsageError(
            f"sources.{key.name}: {'a list' if key.many else 'one value, not a list,'} belongs here",
            file=str(path),
        )
    base = path.parent
    return [_placed(key, one, base) for one in value] if key.many else _placed(key, value, base)


def _placed(key: SpecKey, value: Any, base: Path) -> Any:
    beside = base / str(value)
    return str(beside) if key.path == "always" or (key.path != "no" and beside.exists()) else value
