"""Fetches one selection into a crawl shard: many articles at a time, one manifest at the end.

The fetch functions of sources/ keep bytes and ledger; this only turns their results into rows and drops.
"""

from __future__ import annotations

import collections
import concurrent.futures
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from flows.crawl.selection import Selection
from flows.engine.manifest import DROPPED, Manifest, is_intact, publish, read_manifest
from flows.engine.progress import Steps
from flows.engine.runner import DROP_TABLE, read_rows, schema_hashes, write_rows
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from schemas.article import RawArticle
from schemas.errors import ConservationError, WorkspaceError
from schemas.hashing import sha256_file
from schemas.ids import family_key
from schemas.licences import Profile
from schemas.stages import Drop, Reason, Table
from sources.pmc import DIFFERS
from sources.stage import CRAWL, CRAWL_VERSION

RAW = Table("raw", RawArticle, ("id",))
WITHDRAWN = "withdrawn"
"""Input of a crawl shard: what was withdrawn of it."""
PASSING = frozenset({Reason.FETCH_FAILED, Reason.CHECKSUM_MISMATCH, Reason.DUPLICATE_ARTICLE})
"""Drops that may go away by themselves (or when another shard changes): the next crawl tries again."""
UNANSWERED = frozenset({Reason.FETCH_FAILED, Reason.CHECKSUM_MISMATCH})
"""Those that say nothing of the article: one that was fetched before stays as it was."""
KEPT_UNANSWERED = "kept_unanswered"
"""Input of a crawl shard: locators of such articles, so that it is not finished and the next crawl asks."""

Fetch = Callable[[str], RawArticle | Drop]


def shard_params(settings: Settings, profile: Profile) -> dict[str, Any]:
    """The settings that decide what a crawl keeps."""
    limits = {"max_xml_mib": settings.http.max_xml_mib, "max_media_mib": settings.http.max_media_mib}
    return {**limits, "profile": profile}


def identity(
    selection: Selection, params: Mapping[str, Any], fingerprint: str, withdrawn: str = ""
) -> Manifest:
    """What a crawl shard is made from.

    `fingerprint` covers what can change while the selection stays: local files, or what a sync found changed
    in a repository; '' for nothing of that kind. `withdrawn` is that of its withdrawn articles, '' for none.
    """
    inputs = {"selection": selection.shard}
    if fingerprint:
        inputs["files" if selection.root else "inventory"] = fingerprint
    if withdrawn:
        inputs[WITHDRAWN] = withdrawn
    columns = schema_hashes([("raw", RawArticle), (DROPPED, Drop)])
    return Manifest(CRAWL, CRAWL_VERSION, selection.shard, params, inputs, {}, {}, {}, columns=columns)


def finished(workspace: Workspace, wanted: Manifest) -> Manifest | None:
    """The shard's manifest when nothing needs doing, else None: then what raw/ lacks is fetched again."""
    folder = workspace.stage(CRAWL) / wanted.shard
    try:
        found = read_manifest(folder)
    except WorkspaceError:  # damaged: fetched anew, mostly from raw/
        return None
    if found is None or found.identity() != wanted.identity() or PASSING & set(found.dropped):
        return None
    if not is_intact(folder, found) or not all(path.exists() for path in _stored(workspace, folder, found)):
        return None
    return None if _lost_images(folder, found) else found


def _lost_images(folder: Path, manifest: Manifest) -> bool:
    """Whether an image of a kept article did not come whole: the next crawl asks for it again."""
    rows = pq.read_table(folder / manifest.outputs["raw"].file, columns=["media_problems"])["media_problems"]
    return any(item["detail"].endswith(DIFFERS) for problems in rows.to_pylist() for item in problems)


def _stored(workspace: Workspace, folder: Path, manifest: Manifest) -> Iterator[Path]:
    """Every file in raw/ that a shard's articles rest on; whoever reads one holds it to its hash."""
    table = pq.read_table(folder / manifest.outputs["raw"].file, columns=["path", "media", "parts"])
    for row in table.to_pylist():
        for name in (row["path"], *(item["path"] for item in (*row["media"], *row["parts"]))):
            yield workspace.raw / name


class Held:
    """Which crawl shard keeps which article, read once and then kept up with what is crawled."""

    def __init__(self, workspace: Workspace) -> None:
        self._families: dict[str, set[str]] = {}
        self._shards: dict[str, str] = {}
        base = workspace.stage(CRAWL)
        for folder in sorted(base.iterdir()) if base.is_dir() else ():
            try:
                manifest = read_manifest(folder)
                if manifest is not None:
                    table = pq.read_table(folder / manifest.outputs["raw"].file, columns=["id"])
                    self.keep(folder.name, table["id"].to_pylist())
            except (WorkspaceError, OSError, ValueError):  # damaged: it is fetched anew, and then known
                continue

    def keep(self, shard: str, ids: Iterable[str]) -> None:
        """A shard keeps these articles, and none that it kept before."""
        for family in self._families.pop(shard, ()):
            if self._shards.get(family) == shard:
                del self._shards[family]
        mine = self._families[shard] = set(map(family_key, ids))
        self._shards.update(dict.fromkeys(mine, shard))

    def other(self, family: str, shard: str) -> str:
        """The shard that keeps an article (without version), '' for none or this one."""
        found = self._shards.get(family, "")
        return "" if found == shard else found


def crawl_shard(
    workspace: Workspace,
    selection: Selection,
    wanted: Manifest,
    fetch: Fetch,
    connections: int,
    steps: Steps,
    held: Held | None = None,
) -> Manifest:
    """Fetch every locator of a selection and publish the shard.

    An article that is held already stays as it is where its server does not answer (`KEPT_UNANSWERED`).
    One that another shard keeps is a duplicate; which do, `held` tells whoever crawls many shards.

    Raises:
        ConservationError: a locator came back neither kept nor dropped.
    """
    started = time.monotonic()
    results: dict[str, RawArticle | Drop] = {}
    with concurrent.futures.ThreadPoolExecutor(connections) as pool:
        pending = {pool.submit(fetch, locator): locator for locator in selection.locators}
        try:
            for future in concurrent.futures.as_completed(pending):
                results[pending[future]] = future.result()
                steps.advance(note=pending[future])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    for locator, result in sorted(results.items()):
        answered = result.id if isinstance(result, Drop) else result.locator
        if answered != locator:
            raise ConservationError(
                f"crawl {selection.shard}: asked for {locator}, got {answered}", record=locator
            )
    former = _former(workspace, selection.shard) if UNANSWERED & _reasons(results) else {}
    kept = [name for name, result in sorted(results.items()) if _is_unanswered(result) and name in former]
    results |= {name: former[name] for name in kept}
    if kept:
        wanted = replace(wanted, inputs={**wanted.inputs, KEPT_UNANSWERED: " ".join(kept)})
    held = held or Held(workspace)
    rows, drops = _unique(results, held, selection.shard)
    if len(rows) + len(drops) != len(selection.locators):
        raise ConservationError(f"crawl {selection.shard}: {len(selection.locators)} in, {len(results)} out")
    manifest = publish_shard(workspace, wanted, rows, drops, time.monotonic() - started)
    held.keep(selection.shard, (row.id for row in rows))
    return manifest


def _is_unanswered(result: RawArticle | Drop) -> bool:
    return isinstance(result, Drop) and result.reason in UNANSWERED


def _reasons(results: Mapping[str, RawArticle | Drop]) -> set[str]:
    return {result.reason for result in results.values() if isinstance(result, Drop)}


def _former(workspace: Workspace, shard: str) -> dict[str, RawArticle]:
    """Locator -> the article as the shard holds it now; none whose files are not as they were."""
    folder = workspace.stage(CRAWL) / shard
    try:
        manifest = read_manifest(folder)
    except WorkspaceError:  # damaged: nothing in it is trusted
        return {}
    if manifest is None or not is_intact(folder, manifest):
        return {}
    rows: list[RawArticle] = read_rows(RawArticle, [folder / manifest.outputs["raw"].file])
    return {row.locator: row for row in rows if _stands(workspace.raw, row)}


def _stands(raw: Path, row: RawArticle) -> bool:
    """Whether every file of an article is there with the bytes that it had."""
    files = [(row.path, row.sha256), *((item.path, item.sha256) for item in row.media)]
    files += [(item.path, item.sha256) for item in row.parts]
    try:
        return all(sha256_file(raw / name) == stated for name, stated in files)
    except FileNotFoundError:
        return False


def unanswered_of(manifest: Manifest) -> list[str]:
    """Articles of a shard that stay as they were fetched before, since nobody answered now."""
    return manifest.inputs.get(KEPT_UNANSWERED, "").split()


def dropped_of(folder: Path, manifest: Manifest) -> list[dict[str, Any]]:
    """Id, reason and detail of each article that a finished shard does not keep."""
    path = folder / manifest.outputs[DROPPED].file
    rows: list[dict[str, Any]] = pq.read_table(path, columns=["id", "reason", "detail"]).to_pylist()
    return rows


def publish_shard(
    workspace: Workspace, wanted: Manifest, rows: Sequence[RawArticle], drops: Sequence[Drop], seconds: float
) -> Manifest:
    """Write what came of each locator as the finished shard `wanted`."""
    staged = workspace.temporary / f"{CRAWL}.{wanted.shard}"
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    outputs = {"raw": write_rows(staged, RAW, rows), DROPPED: write_rows(staged, DROP_TABLE, drops)}
    counts = {"in": len(rows) + len(drops), "kept": len(rows), "dropped": len(drops)}
    reasons = collections.Counter(drop.reason.value for drop in drops)
    manifest = Manifest(
        CRAWL,
        CRAWL_VERSION,
        wanted.shard,
        wanted.params,
        wanted.inputs,
        outputs,
        {"article": counts},
        dict(sorted(reasons.items())),
        columns=wanted.columns,
    )
    publish(workspace.stage(CRAWL) / wanted.shard, staged, manifest, seconds)
    return manifest


def _unique(
    results: Mapping[str, RawArticle | Drop], held: Held, shard: str
) -> tuple[list[RawArticle], list[Drop]]:
    """Rows of distinct articles: of two files with one DOI, or two repositories' PMCID, the first stays."""
    rows: dict[str, RawArticle] = {}
    drops: list[Drop] = []
    for locator, result in sorted(results.items()):
        if isinstance(result, Drop):
            drops.append(result)
        elif (family := family_key(result.id)) in rows or held.other(family, shard):
            first = rows[family].locator if family in rows else f"shard {held.other(family, shard)}"
            detail = f"same article as {first}"
            drops.append(
                Drop(
                    unit="article",
                    id=locator,
                    article_id=result.id,
                    reason=Reason.DUPLICATE_ARTICLE,
                    detail=detail,
                )
            )
        else:
            rows[family] = result
    return list(rows.values()), drops
