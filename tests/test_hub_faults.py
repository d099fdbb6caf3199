"""A slice of the Hub campaign (the whole one: benchmarks/hub_faults.py), and that its checks can fail."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.hub_faults import REPOSITORIES, Scene, Watched, fault, is_good, kill, prepare, watched
from tests.flows.publish.hub_repository import Repository

KILLED, FAULTY = (1, 3), (8, 17)
"""Seeds: a first version killed over LFS, a later one over xet; 409 and a lost reply."""


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """Two versions, and what undisturbed publishes of them leave."""
    return prepare(tmp_path_factory.mktemp("hub-faults"))


def test_after_a_kill_or_a_fault_the_same_command_ends_as_if_nothing_happened(scene: Scene) -> None:
    results = [*(kill(scene, seed) for seed in KILLED), *(fault(scene, seed) for seed in FAULTY)]
    assert all(map(is_good, results)), results
    assert {one["transfer"] for one in results} == {"lfs", "xet"}
    for name in ("half", "doubled", "differing", "crashed", "token_told", "sent_again"):
        assert not is_good({**results[0], name: ["one"]})
    assert not is_good({**results[0], "killed": False}) and not is_good({**results[-1], "at": ""})
    assert not is_good({**results[-1], "waited": False})


def test_half_a_release_and_a_second_commit_are_seen(tmp_path: Path) -> None:
    def seen(tags: Sequence[str], messages: Sequence[str]) -> Watched:
        with watched("lfs", None, tmp_path) as hub:
            for name, message in zip(REPOSITORIES, messages, strict=True):
                repository = hub.server.repositories[name] = Repository(name)
                for text in message.split("|"):
                    made = repository.commit({}, "a version", text, "maintainer")
                repository.tags = {tag: made.oid for tag in tags if name == REPOSITORIES[0]}
            hub.see("tag", "after")
            return hub

    ours: Any = "release-hash: aa\nrelease-version: 1.0.0"
    assert not seen(["1.0.0"], [ours, ours]).half and not seen([], [ours, ""]).half
    assert seen(["1.0.0"], [ours, ""]).half == ["tag 1.0.0 after tag"]
    assert not seen([], [ours, ours]).doubled()
    assert seen([], [f"{ours}|{ours}", ours]).doubled() == [f"{REPOSITORIES[0]} release-hash: aa"]
