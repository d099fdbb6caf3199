"""A slice of the campaign of faults (the whole one: benchmarks/reliability), and that its checks can fail."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.reliability import kills, machine, server_faults
from benchmarks.reliability.kills import Case, is_good, kill, prepared
from benchmarks.reliability.standing import differing
from benchmarks.reliability.steps import AFTER, BEFORE, Step
from benchmarks.reliability.warm import Warm
from benchmarks.reliability.world import World, opened

ADD = next(verb for verb in kills.VERBS if verb.name == "vocabulary add")
"""Needs no Prefect server, which takes longer to start than all of this."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Three articles to be crawled and an ontology to be added."""
    with opened(tmp_path_factory.mktemp("reliability"), is_whole=False) as made:
        yield made


@pytest.fixture(scope="module")
def case(world: World) -> Case:
    """A vocabulary added undisturbed, twice."""
    return prepared(world, ADD)


@pytest.mark.parametrize(
    ("kind", "name", "when"),
    [
        ("rename", "ws/vocabulary/merged-#/names.parquet", AFTER),  # a link to the same file as its new name
        ("rename", "ws/vocabulary/merged-#/manifest.json", AFTER),
        ("rename", "ws/vocabulary/current.json", BEFORE),
    ],
)
def test_killed_at_a_step_the_same_command_ends_as_if_nothing_had_happened(
    world: World, case: Case, kind: str, name: str, when: str
) -> None:
    step = Step(kind, name, 1, when)
    assert step in case.points
    result = kill(world, case, step)
    assert is_good(result), result
    for wrong in ("differing", "litter", "left_running"):
        assert not is_good({**result, wrong: ["something"]})


def test_a_full_disk_is_told_and_the_same_command_goes_on(world: World, case: Case) -> None:
    step = Step("rename", "ws/vocabulary/merged-#/types.parquet", 1, BEFORE)
    result = machine.error_at(world, case, step, errno.ENOSPC)
    assert result["good"] and result["codes"] == [3, 0], result


def test_a_server_in_trouble_leaves_nothing_wrong_behind(tmp_path: Path) -> None:
    """A page in the place of a ZIP, and a server that asks to wait, before Europe PMC."""
    source = next(one for one in server_faults.SOURCES if one.name == "Europe PMC")
    with (
        Warm(server_faults.MODULES, {"HOME": str(tmp_path)}, grace=1.0) as warm,
        server_faults.prepared(source, tmp_path / "europepmc", warm) as scene,
    ):
        kinds = [kind.name for kind in server_faults.kinds_of(source)]
        for name in ("html", "429 Retry-After"):
            result = server_faults.fault(scene, kinds.index(name))
            assert result["kind"] == name and server_faults.is_good(result), result
            assert not server_faults.is_good({**result, "wrongly_held": ["ws/raw/a"]})
            assert not server_faults.is_good({**result, "waited": False})


def test_what_a_killed_command_leaves_is_noticed(world: World, case: Case) -> None:
    """Files beside its own, temporary ones, and processes."""
    world.restore(case.before)
    said = world.folder / "said"
    ended = world.warm.run("tests.test_reliability:littering", str(world.now), said=said)
    assert ended.is_killed and len(ended.left) == 1 and "sleep" in ended.left[0]
    assert world.litter() == ["tmp/medqrels-0/run-1", "tmp/medqrels-0/run-1/half", "ws/raw/.x.part"]
    assert "ws/raw/.x.part" in differing(world.stands(), case.wanted)


def littering(now: str) -> None:
    """Start something that stays, write half a file, and be killed."""
    import os
    import signal
    import subprocess

    subprocess.Popen(["sleep", "600"], start_new_session=True)
    for name in ("tmp/medqrels-0/run-1/half", "ws/raw/.x.part"):
        path = Path(now, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
