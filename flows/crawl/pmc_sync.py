"""Keeping a PMC crawl current: what changed in the bucket since its shards were made is asked for again.

What was crawled (shards and ledger) is compared with the newest inventory, or with the bucket itself. A shard
with a difference gets a token, which is part of what the shard is made from: the next crawl makes it anew.
"""

from __future__ import annotations

import concurrent.futures
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow.parquet as pq

from flows.crawl.selection import STAGE, Selection, selections
from flows.engine.manifest import DROPPED, Manifest
from flows.engine.register import read_register
from flows.engine.runner import shards_of
from flows.engine.workspace import Workspace, write_atomic
from schemas.article import RawArticle
from schemas.errors import FetchError, UsageError, WorkspaceError
from schemas.hashing import canonical_json, sha256_text
from schemas.stages import Drop, Reason
from schemas.wording import counted
from sources import pmc
from sources.ledger import Ledger
from sources.pmc.inventory import ObjectVersion, State, diff, newest, read_state
from sources.pmc.poll import metadata_keys, poll
from sources.stage import CRAWL

STATES = "states"
_ABSENT = frozenset({Reason.NOT_FOUND.value, Reason.WITHDRAWN.value})
_UNDECIDED = frozenset({Reason.FETCH_FAILED.value, Reason.CHECKSUM_MISMATCH.value})
"""Drops the next crawl tries again by itself."""

Fetch = Callable[[str], RawArticle | Drop]


class NoInventory(UsageError):  # noqa: N818 - the name says it
    """A bucket keeps no list of what it holds; it can be asked article by article."""


@dataclass(frozen=True, slots=True)
class ShardState:
    """What a sync found out about one shard.

    Attributes:
        shard: its name.
        token: changes whenever the shard must be crawled again; '' until then.
        vanished: PMCIDs the bucket had and, by the inventory, has no more; the crawl confirms it.
    """

    shard: str
    token: str = ""
    vanished: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync found, PMCIDs by number.

    Attributes:
        date: date of the inventory, '' when the bucket itself was asked.
        shards: shards compared.
        stale: those that the next crawl makes anew.
        new: in the bucket now, not there when crawled.
        changed: metadata changed (licence, retraction, files), or a new version.
        vanished: not in the bucket any more.
        unreachable: could not be asked, so nothing is known of them.
    """

    date: str
    shards: int
    stale: tuple[str, ...]
    new: tuple[str, ...]
    changed: tuple[str, ...]
    vanished: tuple[str, ...]
    unreachable: tuple[str, ...] = ()

    def line(self) -> str:
        """One line for people."""
        origin = f"inventory of {self.date}" if self.date else "the bucket"
        counts = (("new", self.new), ("changed", self.changed), ("vanished", self.vanished))
        found = ", ".join(f"{len(pmcids):,} {name}" for name, pmcids in counts)
        silent = f", {len(self.unreachable):,} could not be asked" if self.unreachable else ""
        return (
            f"{origin}: {found}{silent}; {len(self.stale)} of {counted(self.shards, 'shard')} to crawl again"
        )


def sync(
    workspace: Workspace, context: pmc.PmcContext, *, records: bool = True, until: str = ""
) -> SyncReport:
    """Compare the crawl shards with the newest inventory and mark those that differ.

    Nothing but the inventory is fetched. Articles of shards that were never finished are left to their crawl.
    Unless it `records`, nothing is marked. `until` is the last day the inventory may be of, '' for any.

    Raises:
        NoInventory: the bucket has none.
        FetchError, InputError: the inventory cannot be fetched or used.
        WorkspaceError: a record of the workspace is damaged.
    """
    inventory = newest(context, until)
    if inventory is None:
        raise NoInventory(
            "this bucket has no inventory" + (f" up to {until}" if until else ""),
            file=context.endpoint,
            hint="medqrels crawl pmc --poll asks it",
        )
    crawled = _crawled(workspace)
    now = read_state(inventory, [pmcid for item in crawled for pmcid in item.selection.locators])
    return _mark(workspace, crawled, now, context.store.ledger, inventory.date, records=records)


def repoll(
    workspace: Workspace, context: pmc.PmcContext, connections: int = 16, *, records: bool = True
) -> SyncReport:
    """As :func:`sync`, asking the bucket itself for each article's versions and, by ETag, its metadata.

    Two small requests an article, of which the second is mostly answered 304. An article that cannot be
    asked counts as unchanged and is reported.
    """
    crawled = _crawled(workspace)
    pmcids = sorted({pmcid for item in crawled for pmcid in item.selection.locators})
    now: dict[str, tuple[ObjectVersion, ...]] = {}
    failed = set()
    with concurrent.futures.ThreadPoolExecutor(connections) as pool:
        for pmcid, answer in zip(pmcids, pool.map(lambda one: _polled(one, context), pmcids), strict=True):
            if answer is None:
                failed.add(pmcid)
            elif answer:
                now[pmcid] = answer
    return _mark(workspace, crawled, now, context.store.ledger, "", frozenset(failed), records=records)


def _polled(pmcid: str, context: pmc.PmcContext) -> tuple[ObjectVersion, ...] | None:
    try:
        return poll(pmcid, context)
    except FetchError:
        return None


def shard_token(workspace: Workspace, selection: Selection) -> str:
    """What a crawl shard's identity takes from the last sync, '' when no sync found a difference."""
    return read_shard_state(workspace, selection.shard).token


def withdrawing(fetch: Fetch, workspace: Workspace) -> Fetch:
    """The same fetch; an article that a sync missed and the bucket does not have is `withdrawn`."""
    base = workspace.stage(STAGE) / STATES
    vanished = {pmcid for path in sorted(base.glob("*.json")) for pmcid in _read(path, path.stem).vanished}

    def fetch_or_confirm(locator: str) -> RawArticle | Drop:
        result = fetch(locator)
        if isinstance(result, Drop) and result.reason == Reason.NOT_FOUND and locator in vanished:
            detail = "no longer in the bucket"
            return Drop(
                unit="article", id=locator, article_id=locator, reason=Reason.WITHDRAWN, detail=detail
            )
        return result

    return fetch_or_confirm


@dataclass(frozen=True, slots=True)
class _Crawled:
    """A finished shard: the version kept of each article, and the reason of each drop."""

    selection: Selection
    kept: Mapping[str, int]
    dropped: Mapping[str, str]


def _crawled(workspace: Workspace) -> list[_Crawled]:
    """Finished shards of the bucket; withdrawn articles are not asked about any more."""
    finished = shards_of(workspace, CRAWL)
    gone = {row.locator for row in read_register(workspace) if row.source == pmc.SOURCE}
    return [
        _read_shard(
            workspace,
            replace(selection, locators=tuple(one for one in selection.locators if one not in gone)),
            finished[selection.shard],
        )
        for selection in selections(workspace)
        if selection.source == pmc.SOURCE and selection.shard in finished
    ]


def _read_shard(workspace: Workspace, selection: Selection, manifest: Manifest) -> _Crawled:
    folder = workspace.stage(CRAWL) / selection.shard
    raw = pq.read_table(folder / manifest.outputs["raw"].file, columns=["locator", "version"]).to_pydict()
    drops = pq.read_table(folder / manifest.outputs[DROPPED].file, columns=["id", "reason"]).to_pydict()
    kept = {locator: version or 1 for locator, version in zip(raw["locator"], raw["version"], strict=True)}
    return _Crawled(selection, kept, dict(zip(drops["id"], drops["reason"], strict=True)))


def _mark(
    workspace: Workspace,
    crawled: list[_Crawled],
    now: State,
    ledger: Ledger,
    date: str,
    unreachable: frozenset[str] = frozenset(),
    *,
    records: bool = True,
) -> SyncReport:
    """Compare each shard with what the bucket holds now and write down which must be made anew."""
    stale: list[str] = []
    seen: dict[str, set[str]] = {"new": set(), "changed": set(), "vanished": set()}
    for item in crawled:
        pmcids = [pmcid for pmcid in item.selection.locators if pmcid not in unreachable]
        found = diff({pmcid: _known(pmcid, item, now, ledger) for pmcid in pmcids}, now, pmcids)
        for name in seen:
            seen[name].update(getattr(found, name))
        if not (found.new or found.changed or found.vanished):
            continue
        before = read_shard_state(workspace, item.selection.shard)
        gone = {*before.vanished, *found.vanished} - now.keys()
        rows = [[pmcid, [[one.number, one.etag] for one in now.get(pmcid, ())]] for pmcid in pmcids]
        token = sha256_text(canonical_json([rows, sorted(gone)]))[:16]
        if token != before.token:
            if records:
                _write(workspace, ShardState(item.selection.shard, token, tuple(sorted(gone))))
            stale.append(item.selection.shard)
    return SyncReport(
        date=date,
        shards=len(crawled),
        stale=tuple(stale),
        unreachable=_by_number(unreachable),
        **{name: _by_number(pmcids) for name, pmcids in seen.items()},
    )


def _by_number(pmcids: set[str] | frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(pmcids, key=lambda pmcid: int(pmcid.removeprefix("PMC"))))


def _known(pmcid: str, item: _Crawled, now: State, ledger: Ledger) -> tuple[ObjectVersion, ...]:
    """What the crawl saw of an article, in the form of `now`; equal to it when nothing it saw has changed.

    The crawl asks for versions from the newest down to the first that decides; older ones it never saw
    cannot matter and are taken over from `now`.
    """
    if item.dropped.get(pmcid) in _ABSENT:
        return ()
    current = now.get(pmcid, ())
    if item.dropped.get(pmcid) in _UNDECIDED:
        return current
    seen = {one.number: _etag(pmcid, one.number, ledger) for one in current}
    kept = item.kept.get(pmcid)
    if kept is not None and kept not in seen:
        seen[kept] = _etag(pmcid, kept, ledger)
    newest_seen = max((number for number, etag in seen.items() if etag is not None), default=0)
    there = {one.number: one.etag for one in current}
    state = [
        ObjectVersion(number, there.get(number, "") if etag is None else etag)
        for number, etag in sorted(seen.items())
        if etag is not None or number < newest_seen
    ]
    # Nothing seen and nothing there now, yet not dropped as absent: it was there.
    return tuple(state) or (ObjectVersion(0, ""),)


def _etag(pmcid: str, version: int, ledger: Ledger) -> str | None:
    """The ETag of the metadata as fetched, without its quotes; None when it was not fetched."""
    for key in metadata_keys(pmcid, version):
        held = ledger.find(pmc.SOURCE, key)
        if held is not None:
            return (held.etag or held.md5).strip('"')
    return None


def read_shard_state(workspace: Workspace, shard: str) -> ShardState:
    """What the last sync recorded of a shard.

    Raises:
        WorkspaceError: the record is damaged.
    """
    path = workspace.stage(STAGE) / STATES / f"{shard}.json"
    return _read(path, shard) if path.is_file() else ShardState(shard)


def _read(path: Path, shard: str) -> ShardState:
    try:
        row = json.loads(path.read_text("utf-8"))
        found = ShardState(row["shard"], row["token"], tuple(row["vanished"]))
        if found.shard != shard or not all(isinstance(one, str) for one in (found.token, *found.vanished)):
            raise ValueError("not this shard's state")
    except (ValueError, KeyError, TypeError) as error:
        raise WorkspaceError(
            "the record of a sync is damaged", file=str(path), hint="delete it and sync again"
        ) from error
    return found


def _write(workspace: Workspace, state: ShardState) -> None:
    row = {"shard": state.shard, "token": state.token, "vanished": list(state.vanished)}
    path = workspace.stage(STAGE) / STATES / f"{state.shard}.json"
    write_atomic(path, (json.dumps(row, indent=1, sort_keys=True) + "\n").encode())
