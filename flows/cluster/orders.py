"""What is sent to a worker, as plain values: which shards to make, from which files of the store."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from flows.cluster.store import ShardStore
from flows.engine.environment import code_hash, made_with
from flows.engine.manifest import Manifest, parse_manifest
from flows.engine.runner import Job
from flows.pipeline import PIPELINE
from schemas.errors import WorkspaceError
from schemas.stages import RecordStage


@dataclass(frozen=True, slots=True)
class Given:
    """A resource of a stage.

    Attributes:
        pack: that holds it, in the store; '' for a folder without files.
        inside: where in the unpacked pack it is; '' for all of it.
        fingerprint: as the stage's manifest knows it.
        is_kept: whether workers keep it for the shards that follow, or have it for this one only.
    """

    pack: str
    inside: str
    fingerprint: str
    is_kept: bool


@dataclass(frozen=True, slots=True)
class Order:
    """One shard to make.

    Attributes:
        identity: the manifest to be, as JSON, without outputs.
        inputs: view of the stage -> (stage, file, SHA-256) of each file in order, all of the same shard.
        resources: by the name the stage knows them by.
        tag: of the shard's pointer when the work was handed out; '' where there was none.
    """

    identity: str
    inputs: Mapping[str, tuple[tuple[str, str, str], ...]]
    resources: Mapping[str, Given]
    tag: str

    @property
    def manifest(self) -> Manifest:
        """The manifest to be; of its settings, which JSON carried, sequences are tuples again."""
        found = parse_manifest(self.identity, "an order")
        return replace(found, params={name: _as_tuples(value) for name, value in found.params.items()})

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Order:
        """The order that plain values say."""
        resources = {name: Given(**given) for name, given in body["resources"].items()}
        return cls(body["identity"], body["inputs"], resources, body["tag"])


def _as_tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_as_tuples, value))
    return {key: _as_tuples(one) for key, one in value.items()} if isinstance(value, dict) else value


def order_of(job: Job, resources: Mapping[str, Given], store: ShardStore) -> Order:
    """The order of a job whose inputs and resources are in the store."""
    inputs = {
        view: tuple((path.parent.parent.name, path.name, stated_hash(job, path)) for path in paths)
        for view, paths in job.inputs.items()
    }
    _, tag = store.pointer(job.stage.name, job.shard)
    return Order(job.identity.to_json(), inputs, resources, tag)


def stated_hash(job: Job, path: Path) -> str:
    """The hash that a job states of an input file."""
    return job.identity.inputs[f"{path.parent.parent.name}.{path.stem}/{path.parent.name}"]


def stage_named(name: str) -> RecordStage:
    """A record stage of the pipeline.

    Raises:
        WorkspaceError: there is none of that name.
    """
    for step in PIPELINE:
        if step.name == name and isinstance(step.stage, RecordStage):
            return step.stage
    raise WorkspaceError(f"this medqrels has no stage {name!r}", hint="install the same version everywhere")


def version_here() -> dict[str, str]:
    """What two machines must have alike to make the same bytes: the program, its packages, Python, Unicode.

    The kind of machine is not among it: bytes do not depend on the processor.
    """
    claim = made_with()
    return {
        "code": code_hash()[:16],
        "packages": claim["lock"][:16],
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "unicode": unicodedata.unidata_version,
    }
