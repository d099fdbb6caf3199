"""Wikipedia as a repository: medical pages out of dumps, images by Wikimedia Commons."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from flows.crawl.repositories.base import (
    MIB,
    CrawlRequest,
    Opened,
    Opening,
    as_folder,
    max_media_bytes,
    polite_client,
    stored_state,
)
from flows.engine.settings import Settings
from schemas.errors import UsageError
from schemas.hashing import canonical_json, sha256_text
from schemas.record import from_dict, to_dict
from schemas.stages import Drop
from sources import wikimedia
from sources.store import RawStore
from sources.wikimedia import Criteria, Selected, WikimediaContext
from sources.wikimedia.commons import CommonsContext

_DUMP = re.compile(r"[a-z][a-z0-9_]{1,40}wiki/\d{8}")


def endpoints(request: CrawlRequest, settings: Settings) -> tuple[str, ...]:
    """Commons for images, the dump server for a dump that is not on this machine."""
    return (*_dump_endpoints(request, settings), *_commons_endpoints(request, settings))


def _dump_endpoints(request: CrawlRequest, settings: Settings) -> tuple[str, ...]:
    return (settings.wikimedia.dumps_endpoint,) if _is_remote(request) else ()


def _commons_endpoints(request: CrawlRequest, settings: Settings) -> tuple[str, ...]:
    if request.option("text_only"):
        return ()
    return (settings.wikimedia.endpoint, settings.wikimedia.files_endpoint)


def _is_remote(request: CrawlRequest) -> bool:
    return bool(_DUMP.fullmatch(request.target)) and not as_folder(request.target).exists()


def preview(request: CrawlRequest, settings: Settings) -> Sequence[str] | None:
    """Only the dump tells its pages."""
    if not _is_remote(request):
        _local_files(request.target)
    _criteria(request)
    return None


def open_source(request: CrawlRequest, opening: Opening) -> Opened:
    """The pages that are wanted; a dump is read through once for one set of criteria."""
    settings = opening.settings
    places = endpoints(request, settings)
    client = polite_client(settings, places, per_second=settings.wikimedia.requests_per_second)
    commons = CommonsContext(
        client=client,
        endpoint=settings.wikimedia.endpoint,
        width=settings.wikimedia.image_width,
        max_media_bytes=max_media_bytes(settings),
    )
    context = WikimediaContext(
        store=opening.store,
        commons=commons if _commons_endpoints(request, settings) else None,
        client=client if _is_remote(request) else None,
        endpoint=settings.wikimedia.dumps_endpoint,
        max_dump_bytes=settings.wikimedia.max_dump_mib * MIB,
    )
    chosen = _selected(_files(request, context), _criteria(request), context)
    drops = chosen.drops
    state = stored_state(opening.store, "wikimedia", "text/{}")
    form = "text" if context.commons is None else f"images of {commons.width} px"
    return Opened(
        locators=[*chosen.locators, *drops],
        fetch=lambda key: drops.get(key) or wikimedia.fetch(key, context),
        fingerprint=lambda selection: f"{form}/{state(selection)}",
    )


def _files(request: CrawlRequest, context: WikimediaContext) -> list[Path]:
    if not _is_remote(request):
        return _local_files(request.target)
    wiki, date = request.target.split("/")
    return [wikimedia.fetch_dump(name, context) for name in wikimedia.list_dumps(wiki, date, context)]


def _local_files(target: str) -> list[Path]:
    """Dump files of a folder, or the one file.

    Raises:
        UsageError: there is none.
    """
    path = as_folder(target)
    found = sorted(path.glob("*.xml.bz2")) + sorted(path.glob("*.xml")) if path.is_dir() else [path]
    if not found or not found[0].is_file():
        raise UsageError(
            "no dump there",
            file=str(path),
            hint="give a …-pages-articles.xml.bz2, a folder of them, or WIKI/YYYYMMDD (enwiki/20261101)",
        )
    return found


def _criteria(request: CrawlRequest) -> Criteria:
    titles = request.option("titles")
    return Criteria(
        titles=wikimedia.read_titles(Path(titles)) if titles else frozenset(),
        templates=_names(request.option("templates")),
        categories=_names(request.option("categories")),
    )


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.split(",") if name.strip())


def _selected(files: Sequence[Path], criteria: Criteria, context: WikimediaContext) -> Selected:
    """What `load_dumps` gives, recorded: English Wikipedia takes hours to read."""
    stamps = [[path.name, path.stat().st_size, path.stat().st_mtime_ns] for path in files]
    wanted = [sorted(names) for names in (criteria.titles, criteria.templates, criteria.categories)]
    key = f"selected/{sha256_text(canonical_json([stamps, wanted]))[:16]}"
    held = context.store.held(wikimedia.SOURCE, key)
    data = context.store.read(held) if held is not None else None
    if data is None:
        chosen = wikimedia.load_dumps(files, criteria, context)
        _record(chosen, key, context.store)
        return chosen
    known = json.loads(data)
    drops = {name: from_dict(Drop, drop) for name, drop in known["drops"].items()}
    return Selected(tuple(known["locators"]), drops)


def _record(chosen: Selected, key: str, store: RawStore) -> None:
    drops = {name: to_dict(drop) for name, drop in chosen.drops.items()}
    body = canonical_json({"locators": list(chosen.locators), "drops": drops}).encode()
    store.put(wikimedia.SOURCE, key, f"{wikimedia.SOURCE}/{key}.json", body)
