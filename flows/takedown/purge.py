"""`medqrels takedown --purge`: an article is withdrawn, and every byte of it deleted for good.

What is to go is written to `purged.jsonl` before anything goes; every step is told from what still stands. So
a killed purge finishes when it is run again, and one that is done only proves once more that nothing is left.
Old versions go when there is a newer one to leave standing: until then the purge waits, and says for what.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Any

from curation.published.manifest import read_manifest
from flows.cluster.hired import store_address
from flows.cluster.store import STORES, ShardStore, stores_of
from flows.engine.published import published
from flows.engine.purged import Entry, note, read_purged
from flows.engine.register import add_to_register, read_register
from flows.engine.releases import earlier_releases
from flows.engine.session import Session, read_session, write_session
from flows.engine.workspace import RELEASE, Workspace
from flows.publish.expunge import HubExpunger, delete_version
from flows.publish.publish import SCHEME, hub_of, place_of
from flows.publish.ready import TaskRelease
from flows.takedown.cascade import resolve
from flows.takedown.purge_local import (
    answer_keys,
    clear_work,
    delete_raw,
    raw_paths,
    scrub,
    scrub_records,
    shards_with,
)
from flows.takedown.takedown import known, planned, reason_of, settle
from schemas.errors import UsageError
from schemas.ids import article_of
from schemas.withdrawal import REASONS, WithdrawalReason, Withdrawn
from schemas.wording import counted

FOR_PURGE: tuple[WithdrawalReason, ...] = ("privacy", "licence", "court")


def purge(
    name: str, reason: str, *, notice: str = "", dry_run: bool = False, workspace: str | None = None
) -> dict[str, Any]:
    """Withdraw an article and delete it for good; what goes, as plain values.

    Args:
        name: the article.
        reason: privacy, licence or court.
        notice: one line for people; it is published.
        dry_run: find everything, here and on the Hub; change nothing.
        workspace: folder of the workspace.

    Raises:
        UsageError: another reason, no such article, or an id of less than an article.
        ReleaseError: somebody else changed a published repository.
        FetchError: a place cannot be reached; the same command goes on.
    """
    code = reason_of(reason)
    if code not in FOR_PURGE:
        raise UsageError(
            f"nothing is deleted for good because of {code!r}",
            hint=f"--purge is for {', '.join(FOR_PURGE)}; without it the article is withdrawn",
        )
    if dry_run:
        return _Purge(read_session(workspace), name, code, notice).plan()
    with write_session(workspace) as session:
        return _Purge(session, name, code, notice).run()


class _Purge:
    """One purge."""

    def __init__(self, session: Session, name: str, reason: WithdrawalReason, notice: str) -> None:
        self.session, self.workspace = session, session.workspace
        listed = known(read_register(self.workspace), name)
        self.named = listed or resolve(self.workspace, name, reason, notice)
        if self.named.unit != "article":
            raise UsageError(
                f"only a whole article is deleted for good, and this is of one: {self.named.unit}",
                record=name,
                hint=f"medqrels takedown {article_of(self.named.id)} --reason {reason} --purge",
            )
        self.found = planned(self.workspace, self.named)
        gone = {row.id for row in (*read_register(self.workspace), *self.found.rows) if self._is_of(row)}
        self.gone = sorted(gone)
        self.entry = self._entry(reason)
        self.shards = shards_with(self.workspace, self.named)
        self.stores = self._found_stores()
        self.waiting: list[str] = []
        self.served: list[str] = []

    def _is_of(self, row: Withdrawn) -> bool:
        return self.named.id in (row.id, row.parent)

    def _entry(self, reason: str) -> Entry:
        """What is to go: what was found before a kill, and what is found now."""
        before = next((one for one in read_purged(self.workspace) if one.id == self.named.id), None)
        entry = before or Entry(self.named.id, reason)
        held = {"@".join(path.split("/")[:2]) for path in self.found.releases}
        entry.releases = sorted({*entry.releases, *held})
        entry.source = self.named.source
        entry.raw = sorted({*entry.raw, *raw_paths(self.workspace, self.named)})
        if not entry.is_cleared:
            found = answer_keys(self.workspace, self.named, set(self.gone), is_first=before is None)
            entry.answers = sorted({*entry.answers, *found})
        for label in entry.releases:
            dataset, _, version = label.partition("@")
            for to in published(self.workspace, dataset, version):
                entry.published[to] = sorted({*entry.published.get(to, ()), label})
        return entry

    def plan(self) -> dict[str, Any]:
        """Everything that would go."""
        return {**self._shown(), "hub": self._looked(), "is_plan": True}

    def run(self) -> dict[str, Any]:
        """Delete."""
        entry, workspace = self.entry, self.workspace
        note(workspace, entry)
        add_to_register(workspace, self.found.rows)
        settle(workspace)
        scrub(workspace.root, self.gone, entry.answers)
        scrub_records(workspace, entry.releases, self.gone, entry.answers)
        if not entry.is_cleared:
            clear_work(workspace, self.named)
            entry.is_cleared = True
            note(workspace, entry)
        delete_raw(workspace, entry.source, entry.raw)
        self._clear_stores()
        for dataset in entry.datasets():
            self._dataset(dataset)
        entry.is_done = not (self.waiting or self.served)
        note(workspace, entry)
        return {**self._shown(), "hub": [], "is_plan": False}

    def _found_stores(self) -> dict[str, ShardStore]:
        """By address, every store that the workspace was brought to, and that of the settings."""
        settings = self.session.settings
        addresses = {*stores_of(self.workspace), *([store_address(settings)] if settings.store else [])}
        return {address: ShardStore(place_of(address, settings)) for address in sorted(addresses)}

    def _clear_stores(self) -> None:
        """Copies that machines share, with all that was made of the article's shard there."""
        noted = stores_of(self.workspace)
        for address, store in self.stores.items():
            if store.is_seen():
                left = [name for shard in self.shards for name in store.erase(shard)]
                self.served += [f"{address}: {name} is there" for name in left]
            elif address in noted:
                self.waiting.append(
                    f"mount the store {address}; if it is gone for good, delete its line in {STORES}"
                )

    def _newest(self, dataset: str) -> tuple[str, list[TaskRelease]] | None:
        """The newest release, if it holds nothing of the article."""
        releases = earlier_releases(self.workspace, dataset, None)
        if not releases or f"{dataset}@{releases[-1][0]}" in self.entry.releases:
            return None
        return releases[-1][0], [TaskRelease(path, read_manifest(path)) for path in releases[-1][1]]

    def _dataset(self, dataset: str) -> None:
        """Old versions, here and wherever they were published."""
        newest = self._newest(dataset)
        if newest is None:
            self.waiting.append(f"medqrels run --spec data_cards/{dataset}/spec.toml")
            return
        labels = [label for label in self.entry.releases if label.startswith(f"{dataset}@")]
        for to, held in self.entry.published.items():
            mine = [label for label in held if label in labels]
            if mine and to.startswith(SCHEME):
                self._on_the_hub(to, f"{dataset}@{newest[0]}", newest[1])
            elif mine:
                place = place_of(to, self.session.settings)
                for label in mine:
                    left = delete_version(place, dataset, label.partition("@")[2])
                    self.served += [f"{to}: {label}/{name} is there" for name in left]
        standing = [f"{dataset}@{version}" for version, _ in earlier_releases(self.workspace, dataset, None)]
        first = min((standing.index(label) for label in labels if label in standing), default=len(standing))
        self.entry.follows = sorted({*self.entry.follows, *standing[first:]} - set(labels))
        note(self.workspace, self.entry)
        for label in labels:
            delete_release(self.workspace, label)

    def _expunger(self, to: str, tasks: Sequence[TaskRelease]) -> HubExpunger:
        hub = hub_of(self.session.settings)
        return HubExpunger(hub, to.removeprefix(SCHEME), tasks, reporter=self.session.reporter)

    def _on_the_hub(self, to: str, label: str, tasks: Sequence[TaskRelease]) -> None:
        work = self._expunger(to, tasks)
        found = work.look()
        if not all(one.is_current for one in found):
            self.waiting.append(f"medqrels publish {label} --to {to}")
            return
        for one in found:
            self.entry.commits[one.name] = sorted({*self.entry.commits.get(one.name, ()), *one.commits})
        note(self.workspace, self.entry)
        work.expunge()
        self.served += work.served(self.entry.commits)

    def _looked(self) -> list[dict[str, Any]]:
        """What is on the Hub; before there is a newer release nobody can say what it will leave there."""
        shown = []
        for dataset in self.entry.datasets():
            newest = self._newest(dataset)
            if newest is None:
                self.waiting.append(f"medqrels run --spec data_cards/{dataset}/spec.toml")
                continue
            for to, held in self.entry.published.items():
                if to.startswith(SCHEME) and any(label.startswith(f"{dataset}@") for label in held):
                    shown += [one.shown() for one in self._expunger(to, newest[1]).look()]
        return shown

    def _shown(self) -> dict[str, Any]:
        entry = self.entry
        return {
            "id": entry.id,
            "reason": entry.reason,
            "withdrawn": [{"id": row.id, "unit": row.unit} for row in self.found.rows],
            "releases": entry.releases,
            "raw": entry.raw,
            "answers": len(entry.answers),
            "published": entry.published,
            "stores": {address: self.shards for address in self.stores},
            "review": self.found.review,
            "waiting": self.waiting,
            "served": self.served,
            "is_done": entry.is_done,
        }


def delete_release(workspace: Workspace, label: str) -> None:
    """Delete a release from the workspace, first of each task what makes it one."""
    dataset, _, version = label.partition("@")
    folder = workspace.releases / dataset / version
    for path in sorted(folder.glob(f"*/{RELEASE}")):
        path.unlink()
    shutil.rmtree(folder, ignore_errors=True)


def describe(done: dict[str, Any]) -> str:
    """The same for people."""
    would = "would delete" if done["is_plan"] else "deleted" if done["is_done"] else "deleting"
    lines = [f"{would} for good: {done['id']}: {REASONS[done['reason']]}"]
    lines += [f"  {row['unit']} {row['id']}" for row in done["withdrawn"][1:]]
    lines += [f"  raw/{path}" for path in done["raw"]]
    lines += [f"  release {label}" for label in done["releases"]]
    lines += [f"  {counted(done['answers'], 'answer')} of models"] if done["answers"] else []
    for to, labels in done["published"].items():
        lines.append(f"  published to {to}: {', '.join(labels)}")
    lines += [f"  store {address}: shard {', '.join(shards)}" for address, shards in done["stores"].items()]
    for one in done["hub"]:
        lines.append(
            f"    {one['repository']}: {counted(len(one['commits']), 'commit')}, tags "
            f"{', '.join(one['tags']) or 'none'}, {counted(len(one['large_files']), 'large file')}"
        )
    lines += [
        f"  under review in {name}: {counted(len(ids), 'item')}; answered ones stay on the review server: "
        "delete them there"
        for name, ids in done["review"].items()
    ]
    lines += [f"still there: {line}" for line in done["served"]]
    lines += [f"first, then the same command again: {line}" for line in done["waiting"]]
    if done["is_done"] and not done["is_plan"]:
        lines.append("every place was asked: none has any of it")
    return "\n".join(lines)
