"""What is sent to a worker, as plain values: which shards to make, from which files of the store."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from flows.cluster.store import ShardStore
from flows.engine.environment import code_hash, made_with
from flows.engine.manifest import Manifest, parse_manifest
from flows.engine.runner import Job, Resource
from flows.pipeline import PIPELINE
from schemas.errors import WorkspaceError
from schemas.stages import RecordStage


@dataclass(frozen=True, slots=True)
class Given:
    """A resource of a stage: its pack in the store, where in the unpacked pack it is, its fingerprint."""

    pack: str
    inside: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Order:
    """One shard to make.

    Attributes:
        identity: the manifest to be, as JSON, without outputs.
        inputs: view of the stage -> (stage, shard, file, SHA-256) of each file in order.
        resources: by the name the stage knows them by.
        tag: of the shard's pointer when the work was handed out; '' where there was none.
    """

    identity: str
    inputs: Mapping[str, tuple[tuple[str, str, str, str], ...]]
    resources: Mapping[str, Given]
    tag: str

    @property
    def manifest(self) -> Manifest:
        """The manifest to be."""
        return parse_manifest(self.identity, "an order")

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Order:
        """The order that plain values say."""
        resources = {name: Given(**given) for name, given in body["resources"].items()}
        return cls(body["identity"], body["inputs"], resources, body["tag"])


def order_of(job: Job, resources: Mapping[str, Given], store: ShardStore) -> Order:
    """The order of a job whose inputs and resources are in the store."""
    inputs = {
        view: tuple(_input(job, path.parent.parent.name, path.parent.name, path.name) for path in paths)
        for view, paths in job.inputs.items()
    }
    _, tag = store.pointer(job.stage.name, job.shard)
    return Order(job.identity.to_json(), inputs, resources, tag)


def _input(job: Job, stage: str, shard: str, file: str) -> tuple[str, str, str, str]:
    table = file.removesuffix(".parquet")
    return stage, shard, file, job.identity.inputs[f"{stage}.{table}/{shard}"]


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


def given(pack: str, resource: Resource, inside: str) -> Given:
    """A resource that is packed under a name."""
    return Given(pack, inside, resource.fingerprint)
