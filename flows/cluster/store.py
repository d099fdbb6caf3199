"""What machines that work on one workspace share: files by content, sealed manifests, a pointer per shard.

Everything but pointers is created under a name that says what it holds, and never over one that is there
(If-None-Match). A pointer moves only from what was seen when the work began (If-Match). What does not hold
what its name says is taken away as soon as it is met: then it is sent or made again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from flows.adapters.places import Place
from flows.engine.lineage import verb_of
from flows.engine.manifest import Manifest, parse_manifest
from flows.engine.workspace import Workspace, write_atomic
from schemas.errors import ConservationError, FetchError, WorkspaceError
from schemas.hashing import canonical_json, sha256_file, sha256_text

CURRENT = "current"
MARKER = "store.json"
STORES = "stores.txt"
"""In the workspace: a line for each store that it was brought to."""
LAYOUT = b'{"layout": 2}\n'


class LostInStore(FetchError):  # noqa: N818 - the name says it
    """Something is not, or no longer, in the store as it should be: it is to be sent or made again."""

    def __init__(self, message: str, *, record: str = "", file: str = "", hint: str = "") -> None:
        hint = hint or "run the same command again: it is sent or made again"
        super().__init__(message, record=record, file=file, hint=hint)


def stores_of(workspace: Workspace) -> list[str]:
    """Every store that a workspace was brought to, by address."""
    path = workspace.root / STORES
    return path.read_text("utf-8").splitlines() if path.is_file() else []


def note_store(workspace: Workspace, address: str) -> None:
    """Remember a store, before anything is brought there."""
    known = stores_of(workspace)
    if address not in known:
        write_atomic(
            workspace.root / STORES, "".join(f"{one}\n" for one in sorted((*known, address))).encode()
        )


def claim_of(identity: Manifest) -> str:
    """Hash of all that a shard is made from: inputs, settings, stage version, columns."""
    return sha256_text(canonical_json([str(part) for part in (*identity.identity(), identity.shard)]))


def folder_of(shard: str) -> str:
    """Where everything of a shard lies, whatever stage made it."""
    return f"shards/{shard}"


@dataclass(frozen=True, slots=True)
class ShardStore:
    """A place as the store of a workspace's shards.

    store.json                             says that it is one
    resources/<hash>.tar                   a file or folder that stages are given; of the list of its files
    shards/<shard>/raw/<hash>.tar          fetched files of a crawl shard, the same
    shards/<shard>/tables/<sha256>         a table of a shard
    shards/<shard>/<stage>/<hash>.json     a sealed manifest; of all that the shard is made from
    shards/<shard>/<stage>/current         the hash of the manifest that counts
    """

    place: Place

    def begin(self) -> None:
        """Make the place a store, if it is none yet."""
        if not self.place.has(MARKER):
            self.place.create(MARKER, LAYOUT)

    def is_seen(self) -> bool:
        """Whether this machine sees the store; a folder that is not mounted here is an empty one."""
        return self.place.has(MARKER)

    def send(self, shard: str, path: Path, sha256: str) -> None:
        """Keep a table of a shard by its content.

        Raises:
            WorkspaceError: it has another.
        """
        name = _table(shard, sha256)
        if self.place.has(name):
            return
        if not path.is_file() or sha256_file(path) != sha256:
            stage = path.parent.parent.name
            raise WorkspaceError(
                f"an output of stage {stage!r} was changed or removed after it was made",
                file=str(path),
                hint=f"{verb_of(stage)} makes it again",
            )
        self.place.put(name, path, sha256)

    def fetch(self, shard: str, sha256: str, path: Path) -> None:
        """Write a kept table to `path`.

        Raises:
            LostInStore: it is not there, or was another and is gone now.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        name = _table(shard, sha256)
        found = self.place.fetch(name, path)
        if found and sha256_file(path) == sha256:
            return
        path.unlink(missing_ok=True)
        if found:
            self.place.delete(name)
        what = "was damaged in" if found else "is not in"
        raise LostInStore(f"a table {what} the store", file=f"{self.place.address}/{name}")

    def holds(self, manifest: Manifest) -> bool:
        """Whether every table of a shard is there."""
        return all(self.place.has(_table(manifest.shard, out.sha256)) for out in manifest.outputs.values())

    def sealed(self, identity: Manifest) -> Manifest | None:
        """The manifest of a shard that was made from just this, None when there is none yet."""
        name = _sealed(identity)
        data = self.place.read(name)
        if data is None:
            return None
        try:
            found = parse_manifest(data, f"{self.place.address}/{name}")
        except WorkspaceError:
            found = None
        if found is None or (found.shard, found.identity()) != (identity.shard, identity.identity()):
            self.place.delete(name)
            return None
        return found

    def seal(self, manifest: Manifest) -> None:
        """Create the manifest of a finished shard whose tables are kept already.

        Raises:
            ConservationError: another worker made other bytes from the same.
        """
        name, text = _sealed(manifest), manifest.to_json()
        if self.place.create(name, text.encode("utf-8")):
            return
        if self.place.read(name) != text.encode("utf-8"):
            raise ConservationError(
                f"stage {manifest.stage}, shard {manifest.shard}: made again, the bytes are others",
                file=f"{self.place.address}/{name}",
                hint="compare the machines that made them (medqrels doctor); delete the object, run again",
            )

    def pointer(self, stage: str, shard: str) -> tuple[str, str]:
        """Which manifest of a shard counts, and the tag of that statement; both '' where none does yet."""
        found = self.place.tagged(_pointer(stage, shard))
        if found is None:
            return "", ""
        try:
            return str(json.loads(found[0])["claim"]), found[1]
        except (ValueError, KeyError, TypeError):  # damaged: it says nothing, and may be moved
            return "", found[1]

    def point(self, manifest: Manifest, tag: str) -> None:
        """Have a sealed manifest count, if the pointer is still the one with that tag.

        Raises:
            WorkspaceError: meanwhile another run made it point elsewhere.
        """
        name, claim = _pointer(manifest.stage, manifest.shard), claim_of(manifest)
        content = (json.dumps({"claim": claim}) + "\n").encode()
        moved = self.place.swap(name, content, tag) if tag else self.place.create(name, content)
        if not moved and self.pointer(manifest.stage, manifest.shard)[0] != claim:
            raise WorkspaceError(
                f"another run moved shard {manifest.shard} of stage {manifest.stage} meanwhile",
                file=f"{self.place.address}/{name}",
                hint="give each workspace a --store of its own; then run the same command again",
            )

    def erase(self, shard: str) -> list[str]:
        """Delete everything of a shard for good; what is there after that."""
        return [f"{folder_of(shard)}/{name}" for name in self.place.erase(folder_of(shard))]


def _table(shard: str, sha256: str) -> str:
    return f"{folder_of(shard)}/tables/{sha256}"


def _sealed(identity: Manifest) -> str:
    return f"{folder_of(identity.shard)}/{identity.stage}/{claim_of(identity)}.json"


def _pointer(stage: str, shard: str) -> str:
    return f"{folder_of(shard)}/{stage}/{CURRENT}"
