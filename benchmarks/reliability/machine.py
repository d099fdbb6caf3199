"""Faults of the machine: a full disk, errors of the system, damaged files, the clock, others at work.

Each time the command says what is wrong and what helps, or mends it; it never ends well with other bytes.
Run again on a machine that is in order, it ends as if nothing had happened. A full disk and a read-only one
are real, a tmpfs of its own, which needs root.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.reliability.commands import CLOCK, ERRNO
from benchmarks.reliability.kills import VERBS, Case, prepared
from benchmarks.reliability.standing import differing
from benchmarks.reliability.steps import BEFORE, COMMIT, MAKE, RENAME, WRITE, Step
from benchmarks.reliability.world import Run, World

FULL = (0.02, 0.3, 0.7, 0.97)
"""How much of what a command writes finds room."""
ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.EACCES)
DAMAGES = ("flipped", "cut", "deleted")
DAMAGED_OF_A_KIND = 2
KEPT = tuple(f"ws/{folder}/" for folder in ("raw", "work", "vocabulary", "releases/small"))
"""What a run rests on. `recorded/` is read by `rebuild` alone, which holds it to its hashes."""
SQLITE_PAGE = 4096
"""Bytes; SQLite's own default, which the ledger keeps (https://sqlite.org/pragma.html#pragma_page_size)."""
DEFECT = "a defect of medqrels"
RUN = VERBS[-1]
DOCTOR = ("doctor", "--files")
UNNOTICED = "row of the ledger changed, unnoticed and without effect"
_DATABASE = ".sqlite"
_MIB = 1 << 20
_SLACK = 64 * 1024


@contextlib.contextmanager
def tmpfs(place: Path, size: int) -> Iterator[Callable[[str], None]]:
    """A file system of so many bytes in a folder; gives what changes its options."""

    def mount(*options: str) -> None:
        subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", str(place)], check=True)

    mount("-o", f"size={size}")
    try:
        yield lambda options: mount("-o", f"remount,{options}")
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def full_disk(world: World, case: Case, share: float) -> dict[str, Any]:
    """Run where only a share of what is written finds room; then where there is enough."""
    before, after = _size(case.before), _size_of_wanted(world, case)
    room = before + _SLACK + int(share * max(0, after - before))
    shutil.rmtree(world.now)
    world.now.mkdir()
    with tmpfs(world.now, 512 * _MIB) as remount:
        shutil.copytree(case.before, world.now, symlinks=True, dirs_exist_ok=True)
        remount(f"size={room}")
        first = world.run(case.verb.arguments)
        remount(f"size={512 * _MIB}")
        return checked(world, case, f"disk full at {share:.0%}", first)


def read_only(world: World, case: Case) -> dict[str, Any]:
    """Run where nothing can be written; nothing is changed."""
    shutil.rmtree(world.now)
    world.now.mkdir()
    with tmpfs(world.now, 512 * _MIB) as remount:
        shutil.copytree(case.before, world.now, symlinks=True, dirs_exist_ok=True)
        remount("ro")
        first = world.run(case.verb.arguments)
        remount("rw")
        return checked(world, case, "read-only", first)


def error_at(world: World, case: Case, step: Step, number: int) -> dict[str, Any]:
    """One step fails with an error of the system."""
    world.restore(case.before)
    first = world.run(case.verb.arguments, step, variables={ERRNO: str(number)})
    return checked(world, case, f"{errno.errorcode[number]} at {step.kind}", first) | {"step": list(step)}


def clock(world: World, case: Case) -> dict[str, Any]:
    """The clock goes back at every look."""
    world.restore(case.before)
    return checked(world, case, "clock going back", world.run(case.verb.arguments, variables={CLOCK: "1"}))


def damaged(world: World, case: Case, name: str, how: str, at: int | None = None) -> dict[str, Any]:
    """A file that an earlier command wrote is damaged; a byte is flipped in its middle, or at a place."""
    world.restore(case.before)
    path = world.now / name
    content = path.read_bytes()
    if how == "deleted":
        path.unlink()
    else:
        half = len(content) // 2 if at is None else at
        flipped = content[:half] + bytes([content[half] ^ 0x01]) + content[half + 1 :]
        path.write_bytes(content[:half] if how == "cut" else flipped)
    first = world.run(case.verb.arguments)
    wrong = differing(world.stands(), case.wanted)
    result = {"what": f"file {how}", "verb": case.verb.name, "file": name, "code": first.ended.code}
    result |= {"rebuilt": not wrong, "told": _is_told(case, first, name), "said": first.said[-400:]}
    if first.ended.code in case.verb.codes and wrong:  # nothing had to be made, so nobody read it
        result |= _read_at_last(world, case, name)
    else:
        result["good"] = not wrong or result["told"]
    return result | {"differing": wrong}


def _read_at_last(world: World, case: Case, name: str) -> dict[str, Any]:
    """What a damaged file that nobody read comes to: it is named when asked for, and nothing is made of it.

    The work of every stage is thrown away, so that all that a release rests on is read again. Rows of a
    database carry no hash of their own: a byte changed in one may go unnoticed, which is counted apart.
    """
    is_named = Path(name).name in world.run(DOCTOR).said
    shutil.rmtree(world.now / "ws/work")
    again = world.run(case.verb.arguments)
    wrong = set(differing(world.stands(), case.wanted)) - {name}
    told = _is_told(case, again, name)
    is_harmless = again.ended.code in case.verb.codes and not wrong
    if name.endswith(_DATABASE) and not is_named and is_harmless:
        return {"what": UNNOTICED, "good": True}
    return {
        "named": is_named,
        "said": again.said[-400:],
        "told_when_read": told,
        "good": is_named and (told or is_harmless),
    }


def _is_told(case: Case, run: Run, name: str) -> bool:
    """Whether a command ended with an error that names a file, or the folder that it stands in."""
    is_named = any(part in run.said for part in Path(name).parts[2:])
    return run.ended.code not in case.verb.codes and is_named and DEFECT not in run.said


def two_at_once(world: World, case: Case) -> dict[str, Any]:
    """A second process wants the workspace while the first writes to it."""
    world.restore(case.before)
    others: list[subprocess.Popen[str]] = []

    def started(pid: int) -> None:
        command = [str(Path(sys.executable).with_name("medqrels")), *case.verb.arguments]
        variables = {**os.environ, **world.environment, "TMPDIR": str(world.now / "tmp")}
        variables |= world.prefect.environment if world.prefect else {}
        others.append(
            subprocess.Popen(command, env=variables, cwd=world.now, stderr=subprocess.PIPE, text=True)
        )

    first = world.run(case.verb.arguments, started=started)
    told = others[0].communicate()[1]
    codes = [first.ended.code, others[0].returncode]
    was_told = "another medqrels process is writing" in told + first.said
    result = checked(world, case, "two runs at once", first)
    is_one = any(code in case.verb.codes for code in codes)
    both = all(code in case.verb.codes for code in codes)  # the second came when the first was done
    return result | {"codes": codes, "good": result["as_wanted"] and is_one and (both or was_told)}


def stale_lock(world: World, case: Case) -> dict[str, Any]:
    """A lock and the record of a running run stand there from a machine that is gone."""
    world.restore(case.before)
    workspace = world.now / "ws"
    (workspace / ".lock").write_text("")
    (workspace / ".writer.json").write_text('{"who": "run of another machine", "process": 1}\n')
    run = workspace / "runs/20200101T000000Z-extract-000000"
    run.mkdir(parents=True)
    record = {"id": run.name, "flow": "extract", "dataset": "", "state": "running", "process": 1,
              "started": "2020-01-01T00:00:00.000+00:00", "host": "gone"}  # fmt: skip
    (run / "run.json").write_text(json.dumps(record))
    (run / ".lock").write_text("")
    result = checked(world, case, "lock of a dead machine", first := world.run(case.verb.arguments))
    return result | {"good": result["good"] and first.ended.code in case.verb.codes}


def checked(world: World, case: Case, what: str, first: Any) -> dict[str, Any]:
    """What the command said, and how it ends when the machine is in order."""
    codes = [first.ended.code]
    is_told = codes[0] in case.verb.codes or ("next:" in first.said and DEFECT not in first.said)
    lied = codes[0] in case.verb.codes and bool(differing(world.stands(), case.wanted))
    again = first if codes[0] in case.verb.codes else world.run(case.verb.arguments)
    codes.append(again.ended.code)
    wrong, litter = differing(world.stands(), case.wanted), world.litter()
    as_wanted = not wrong and not litter and again.ended.code in case.verb.codes
    return {
        "what": what.partition(" at ")[0],
        "detail": what,
        "verb": case.verb.name,
        "codes": codes,
        "said": "" if is_told and as_wanted else (first.said[-500:] + again.said[-300:]),
        "differing": wrong,
        "litter": litter,
        "as_wanted": as_wanted,
        "good": bool(is_told and as_wanted and not lied),
    }


def _size(folder: Path) -> int:
    """Bytes that a folder takes on a file system of pages."""
    sizes = (path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
    return sum(-(-size // 4096) * 4096 for size in sizes)


def _size_of_wanted(world: World, case: Case) -> int:
    world.restore(case.before)
    world.run(case.verb.arguments)
    return _size(world.now)


def campaign(world: World, seed: int, tell: Callable[[Any], None]) -> None:
    """Everything, over the commands that make a dataset."""
    draw = random.Random(f"machine {seed}")
    for verb in VERBS:
        if verb.name in ("publish", "rebuild", "sweep", "takedown", "run"):
            continue
        case = prepared(world, verb)
        tell(verb.name)
        for share in FULL if verb.name in ("crawl", "extract", "build", "release") else FULL[1:2]:
            tell(full_disk(world, case, share))
        tell(read_only(world, case))
        kinds = (RENAME, COMMIT, WRITE, MAKE)
        points = [step for step in case.points if step.kind in kinds and step.when == BEFORE]
        for number in draw.sample(ERRORS, 3):
            tell(error_at(world, case, draw.choice(points), number))
        if verb.name in ("crawl", "extract", "build"):
            tell(clock(world, case))
            tell(two_at_once(world, case))
            tell(stale_lock(world, case))
        world.restore(case.before)
        world.run(verb.arguments)
        if verb.name == "release":
            damages(world, draw, tell)


def damages(world: World, draw: random.Random, tell: Callable[[Any], None]) -> None:
    """Files of every kind damaged in every way, before a run that has nothing to do but to notice.

    A database is hit in each of its pages: damage shows only when its page is read.
    """
    world.run(RUN.arguments)
    case = prepared(world, RUN)
    for name, how in itertools.product(KEPT, DAMAGES):
        names = sorted(one for one in case.wanted if one.startswith(name) and not one.endswith("/"))
        for one in draw.sample(names, DAMAGED_OF_A_KIND):
            tell(damaged(world, case, one, how))
    for name in (one for one in case.wanted if one.endswith(_DATABASE)):
        for start in range(0, (case.before / name).stat().st_size, SQLITE_PAGE):
            place = start + draw.randrange(SQLITE_PAGE)
            tell(damaged(world, case, name, "flipped in one page", place))
    world.restore(case.before)
