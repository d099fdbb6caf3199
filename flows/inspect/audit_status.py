"""What the published audit of a release says of it, if there is one of exactly these files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from curation.published.manifest import AUDIT_JSON, ReleaseManifest
from schemas.audit import AuditReport

NOT_AUDITED = "not audited"
_VERSION = AuditReport.__dataclass_fields__["version"].default


@dataclass(frozen=True, slots=True)
class Standing:
    """Verdict of the audit, whether the release may be published, and what forbids it."""

    audit: str
    publishable: bool
    because: tuple[str, ...] = ()

    @property
    def mark(self) -> str:
        """The same for people."""
        return "publishable" if self.publishable else "not publishable"


def standing(directory: Path, manifest: ReleaseManifest) -> Standing:
    """What audit.json says of a task directory; one of other files or of another audit version is none."""
    try:
        body = json.loads((directory / AUDIT_JSON).read_text("utf-8", "surrogatepass"))
        hash_, version, verdict = body["release_hash"], body["version"], str(body["verdict"])
        publishable, because = body["publishable"] is True, tuple(map(str, body["not_publishable_because"]))
    except FileNotFoundError:
        return _unaudited(manifest, "It has no audit.")
    except (OSError, ValueError, KeyError, TypeError):
        return _unaudited(manifest, "Its audit.json is none of this version: audit it again.")
    if hash_ != manifest.release_hash:
        return _unaudited(manifest, "Its audit.json is of other files: audit it again.")
    if version != _VERSION:
        return _unaudited(manifest, f"Its audit is of version {version}: audit it again.")
    return Standing(verdict, publishable and manifest.publishable_by_content, because)


def _unaudited(manifest: ReleaseManifest, why: str) -> Standing:
    return Standing(NOT_AUDITED, publishable=False, because=(*manifest.not_publishable_because, why))
