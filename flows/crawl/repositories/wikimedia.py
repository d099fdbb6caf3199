"""Wikipedia as a repository: medical pages out of dumps, images by Wikimedia Commons."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from flows.crawl.repositories.base import (
    MIB,
    CrawlRequest,
    Opened,
    Opening,
    SpecKey,
    as_folder,
    max_media_bytes,
    polite_client,
    stored_state,
)
from flows.engine.settings import Settings
from schemas.article import SourceName
from schemas.errors import UsageError
from schemas.hashing import canonical_json, sha256_text
from schemas.record import from_dict, to_dict
from schemas.stages import Drop
from sources import wikimedia
from sources.store import RawStore
from sources.wikimedia import Criteria, Selected, WikimediaContext
from sources.wikimedia.commons import CommonsContext

_DUMP = re.compile(r"[a-z][a-z0-9_]{1,40}wiki/\d{8}")


class WikimediaRequest(CrawlRequest):
    """Take medical pages of a Wikipedia dump, with images from Commons; by default, pages on diseases."""

    source: ClassVar[SourceName] = "wikimedia"
    offers_profile: ClassVar[bool] = False

    dump: Annotated[str, SpecKey("wikimedia", many=True, path="where there is one")] = Field(
        description="Dump file, folder of them, or WIKI/YYYYMMDD (enwiki/20261101)."
    )
    titles: Path | None = Field(default=None, description="Text file of page titles, one a line.")
    templates: str = Field(default="", description="Pages that use one of these templates: Infobox drug,….")
    categories: str = Field(default="", description="Pages in one of these categories: Skin conditions,….")
    text_only: bool = Field(default=False, description="Leave images out; asks no server.")

    def endpoints(self, settings: Settings) -> tuple[str, ...]:
        """Commons for images, the dump server for a dump that is not on this machine."""
        own = settings.wikimedia
        dumps = (own.dumps_endpoint,) if self._is_remote() else ()
        return dumps if self.text_only else (*dumps, own.endpoint, own.files_endpoint)

    def preview(self, settings: Settings) -> None:
        """Only the dump tells its pages."""
        if not self._is_remote():
            _local_files(self.dump)
        self._criteria()

    def open(self, opening: Opening) -> Opened:
        """The pages that are wanted; a dump is read through once for one set of criteria."""
        settings, own = opening.settings, opening.settings.wikimedia
        client = polite_client(settings, self.endpoints(settings), per_second=own.requests_per_second)
        commons = CommonsContext(
            client=client,
            endpoint=own.endpoint,
            width=own.image_width,
            max_media_bytes=max_media_bytes(settings),
        )
        context = WikimediaContext(
            store=opening.store,
            commons=None if self.text_only else commons,
            client=client if self._is_remote() else None,
            endpoint=own.dumps_endpoint,
            max_dump_bytes=own.max_dump_mib * MIB,
        )
        chosen = _selected(self._files(context), self._criteria(), context)
        drops = chosen.drops
        state = stored_state(opening.store, "wikimedia", "text/{}")
        form = "text" if context.commons is None else f"images of {commons.width} px"
        return Opened(
            locators=[*chosen.locators, *drops],
            fetch=lambda key: drops.get(key) or wikimedia.fetch(key, context),
            fingerprint=lambda selection: f"{form}/{state(selection)}",
        )

    def _is_remote(self) -> bool:
        return bool(_DUMP.fullmatch(self.dump)) and not as_folder(self.dump).exists()

    def _files(self, context: WikimediaContext) -> list[Path]:
        if not self._is_remote():
            return _local_files(self.dump)
        wiki, date = self.dump.split("/")
        return [wikimedia.fetch_dump(name, context) for name in wikimedia.list_dumps(wiki, date, context)]

    def _criteria(self) -> Criteria:
        return Criteria(
            titles=wikimedia.read_titles(self.titles) if self.titles else frozenset(),
            templates=_names(self.templates),
            categories=_names(self.categories),
        )


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


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.split(",") if name.strip())


def _selected(files: Sequence[Path], criteria: Criteria, context: WikimediaContext) -> Selected:
    """What `load_dumps` gives, recorded: English Wikipedia takes hours to read."""
    stamps = [[path.name, path.stat().st_size, _state(path, context.store)] for path in files]
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


def _state(path: Path, store: RawStore) -> str | int:
    """The hash of a dump that was fetched, whenever that was; of a user's file, when it was changed."""
    held = store.held(wikimedia.SOURCE, f"dump/{path.name}")
    is_held = held is not None and store.root / held.path == path
    return held.sha256 if held is not None and is_held else path.stat().st_mtime_ns


def _record(chosen: Selected, key: str, store: RawStore) -> None:
    drops = {name: to_dict(drop) for name, drop in chosen.drops.items()}
    body = canonical_json({"locators": list(chosen.locators), "drops": drops}).encode()
    store.put(wikimedia.SOURCE, key, f"{wikimedia.SOURCE}/{key}.json", body)
