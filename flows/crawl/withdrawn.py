"""Withdrawn articles in a crawl: their shards drop them, and nobody is asked for them again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from flows.crawl.selection import Selection
from flows.engine.register import detail_of
from schemas.article import RawArticle
from schemas.hashing import canonical_json, sha256_text
from schemas.ids import family_key
from schemas.stages import Drop, Reason
from schemas.withdrawal import Withdrawn

Fetch = Callable[[str], RawArticle | Drop]


def of_selection(register: Sequence[Withdrawn], selection: Selection) -> dict[str, Withdrawn]:
    """Withdrawn articles of one crawl shard, by locator."""
    locators = set(selection.locators)
    return {
        row.locator: row
        for row in register
        if row.unit == "article" and row.source == selection.source and row.locator in locators
    }


def fingerprint(rows: Collection[Withdrawn]) -> str:
    """What a crawl shard's identity takes from its withdrawn articles, '' when it has none."""
    listed = sorted([row.locator, row.id, row.reason, row.notice] for row in rows)
    return sha256_text(canonical_json(listed)) if listed else ""


def dropped(row: Withdrawn) -> Drop:
    """A withdrawn article as its crawl shard drops it."""
    return Drop(
        unit="article", id=row.locator, article_id=row.id, reason=Reason.WITHDRAWN, detail=detail_of(row)
    )


def leaving_out(fetch: Fetch, register: Sequence[Withdrawn], source: str) -> Fetch:
    """The same fetch without withdrawn articles: those known by their locator are not asked for at all."""
    articles = [row for row in register if row.unit == "article"]
    named = {row.locator: row for row in articles if row.source == source}
    families = {family_key(row.id): row for row in articles}

    def fetch_or_drop(locator: str) -> RawArticle | Drop:
        if locator in named:
            return dropped(named[locator])
        result = fetch(locator)
        row = None if isinstance(result, Drop) else families.get(family_key(result.id))
        if row is None:
            return result
        return replace(dropped(row), id=locator)

    return fetch_or_drop
