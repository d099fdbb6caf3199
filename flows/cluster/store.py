"""What machines that work on one workspace share: files by content, sealed manifests, a pointer per shard.

    objects/<2 digits>/<sha256>            a table of a shard
    raw/<shard>/<hash>.tar                 fetched files of a crawl shard; the hash is of the list of files
    resources/<hash>.tar                   a file or folder that stages are given; of name and fingerprint
    shards/<stage>/<shard>/<hash>.json     a sealed manifest; of all that the shard is made from
    shards/<stage>/<shard>/current         the hash of the manifest that counts

Everything but pointers is created under a name that says what it holds, and never over one that is there
(If-None-Match). A pointer moves only from what was seen when the work began (If-Match).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from flows.adapters.places import Place
from flows.engine.manifest import Manifest, parse_manifest
from schemas.errors import ConservationError, FetchError, WorkspaceError
from schemas.hashing import canonical_json, sha256_file, sha256_text

CURRENT = "current"


def claim_of(identity: Manifest) -> str:
    """Hash of all that a shard is made from: inputs, settings, stage version, columns."""
    return sha256_text(canonical_json([str(part) for part in (*identity.identity(), identity.shard)]))


@dataclass(frozen=True, slots=True)
class ShardStore:
    """A place as the store of a workspace's shards."""

    place: Place

    def send(self, path: Path, sha256: str) -> None:
        """Keep a file by its content."""
        name = _object(sha256)
        if not self.place.has(name):
            self.place.put(name, path, sha256)

    def fetch(self, sha256: str, path: Path) -> None:
        """Write a kept file to `path`.

        Raises:
            FetchError: it is not there, or is another by now.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        name = _object(sha256)
        found = self.place.fetch(name, path)
        if not found or sha256_file(path) != sha256:
            what = "was changed in" if found else "is not in"
            raise FetchError(
                f"a table {what} the store",
                file=f"{self.place.address}/{name}",
                hint="delete the object; the same command writes it again",
            )

    def sealed(self, identity: Manifest) -> Manifest | None:
        """The manifest of a shard that was made from just this, None when there is none yet."""
        name = _sealed(identity)
        data = self.place.read(name)
        return None if data is None else parse_manifest(data.decode("utf-8"), f"{self.place.address}/{name}")

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
        return ("", "") if found is None else (str(json.loads(found[0])["claim"]), found[1])

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


def _object(sha256: str) -> str:
    return f"objects/{sha256[:2]}/{sha256}"


def _sealed(identity: Manifest) -> str:
    return f"shards/{identity.stage}/{identity.shard}/{claim_of(identity)}.json"


def _pointer(stage: str, shard: str) -> str:
    return f"shards/{stage}/{shard}/{CURRENT}"
