"""`medqrels takedown`: put an id and what rests on it on the list, and make its crawl shard anew without it.

The list is written first: a killed takedown finishes when it is run again, and changes nothing else.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from flows.crawl.fetch import WITHDRAWN, publish_shard
from flows.crawl.selection import selections
from flows.crawl.withdrawn import dropped, fingerprint, of_selection
from flows.engine.manifest import DROPPED, MANIFEST, Manifest, read_manifest
from flows.engine.register import add_to_register, read_register
from flows.engine.runner import shards_of
from flows.engine.session import read_session, write_session
from flows.engine.workspace import Workspace, write_atomic
from flows.takedown.cascade import Cascade, cascade, resolve
from schemas.article import RawArticle
from schemas.errors import UsageError
from schemas.record import from_table, to_dict
from schemas.stages import Drop, Reason
from schemas.withdrawal import REASONS, WithdrawalReason, Withdrawn
from schemas.wording import counted, meant
from sources.stage import CRAWL

SETTLING = "settling"
"""Folder of the workspace with manifests of crawl shards that are being made anew."""


def takedown(
    name: str, reason: str, *, notice: str = "", dry_run: bool = False, workspace: str | None = None
) -> dict[str, Any]:
    """Withdraw one thing; what goes, as plain values.

    Args:
        name: article, figure, passage, patient, query or document id, or the SHA-256 of an image.
        reason: a code of `schemas.withdrawal.REASONS`.
        notice: one line for people; it is published.
        dry_run: find everything, change nothing.
        workspace: folder of the workspace.

    Raises:
        UsageError: no such reason, or nothing has that id.
    """
    code = reason_of(reason)
    if dry_run:
        opened = read_session(workspace).workspace
        return _shown(planned(opened, resolve(opened, name, code, notice)), [], is_plan=True)
    with write_session(workspace, flow="takedown") as session:
        listed = known(read_register(session.workspace), name)
        if listed is not None:
            shards = settle(session.workspace)
            return {**_shown(Cascade([listed]), shards, is_plan=False), "added": 0}
        found = planned(session.workspace, resolve(session.workspace, name, code, notice))
        added = add_to_register(session.workspace, found.rows)
        shards = settle(session.workspace)
        return {**_shown(found, shards, is_plan=False), "added": len(added)}


def reason_of(text: str) -> WithdrawalReason:
    """A reason code.

    Raises:
        UsageError: there is no such code.
    """
    for code in REASONS:
        if code == text:
            return code
    raise UsageError(
        f"no reason is called {text!r}{meant(text, REASONS)}", hint=f"reasons: {', '.join(REASONS)}"
    )


def known(register: Sequence[Withdrawn], name: str) -> Withdrawn | None:
    """What the list says of an id by which something was named before."""
    return next((row for row in register if name in (row.id, row.locator) and not row.parent), None)


def planned(workspace: Workspace, named: Withdrawn) -> Cascade:
    """What would go with one thing; nothing is written."""
    with tempfile.TemporaryDirectory(prefix="takedown-") as scratch:
        return cascade(workspace, named, Path(scratch))


def settle(workspace: Workspace) -> list[str]:
    """Bring every crawl shard that keeps a withdrawn article up to date; names of those that changed.

    Nothing is fetched: the shard is what a crawl would make of the same answers without the article.
    """
    register = read_register(workspace)
    begun = workspace.root / SETTLING
    finished = {**_begun(begun), **shards_of(workspace, CRAWL)}
    changed = []
    for selection in selections(workspace):
        manifest = finished.get(selection.shard)
        gone = of_selection(register, selection)
        if manifest is None or not gone:
            continue
        folder = workspace.stage(CRAWL) / selection.shard
        kept = from_table(RawArticle, pq.read_table(folder / manifest.outputs["raw"].file))
        inputs = {**manifest.inputs, WITHDRAWN: fingerprint(gone.values())}
        if inputs == dict(manifest.inputs) and not any(row.locator in gone for row in kept):
            continue
        held = pq.read_table(folder / manifest.outputs[DROPPED].file).to_pylist()
        drops = [Drop(**{**row, "reason": Reason(row["reason"])}) for row in held if row["id"] not in gone]
        rows = [row for row in kept if row.locator not in gone]
        drops += [dropped(gone[locator]) for locator in sorted(gone)]
        write_atomic(begun / selection.shard / MANIFEST, manifest.to_json().encode())
        publish_shard(workspace, replace(manifest, inputs=inputs), rows, drops, 0.0)
        changed.append(selection.shard)
    shutil.rmtree(begun, ignore_errors=True)
    return changed


def _begun(folder: Path) -> dict[str, Manifest]:
    """Manifests of shards that a killed takedown was making anew; the shard may have no other."""
    found = {path.name: read_manifest(path) for path in (folder.iterdir() if folder.is_dir() else ())}
    return {shard: manifest for shard, manifest in found.items() if manifest is not None}


def _shown(found: Cascade, shards: Sequence[str], *, is_plan: bool) -> dict[str, Any]:
    return {
        "named": to_dict(found.named),
        "withdrawn": [{"id": row.id, "unit": row.unit} for row in found.rows],
        "work": found.work,
        "releases": found.releases,
        "review": found.review,
        "shards": list(shards),
        "is_plan": is_plan,
    }


def describe(done: dict[str, Any]) -> str:
    """The same for people."""
    named = done["named"]
    if not done["is_plan"] and not done["added"]:
        return f"{named['id']} was withdrawn before ({named['reason']}); nothing to add"
    lines = [
        f"{'would withdraw' if done['is_plan'] else 'withdrew'} {named['unit']} {named['id']}: "
        f"{REASONS[named['reason']]}"
    ]
    lines += [f"  with it {row['unit']} {row['id']}" for row in done["withdrawn"][1:]]
    lines += [f"  {table}: {counted(rows, 'row')}" for table, rows in done["work"].items()]
    lines += [f"  published in {name}: {counted(len(ids), 'row')}" for name, ids in done["releases"].items()]
    lines += [
        f"  under review in {name}: {counted(len(ids), 'item')}" for name, ids in done["review"].items()
    ]
    if not done["is_plan"]:
        lines.append("next: medqrels run --spec …, then review push and publish as before")
    return "\n".join(lines)
