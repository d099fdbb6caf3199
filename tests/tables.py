"""Empty databases of Label Studio and Prefect as their migrations leave them, kept in build/ from run to run.

They are the same for the same versions, and take two minutes of processor time. `python -m tests.tables`, the
end of the installation by `make test`, makes all; a test makes what it lacks. All else of a first start, such
as secrets and accounts, is done anew by whoever starts a server.
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from flows.review import label_studio as servers
from schemas.hashing import sha256_file
from tests.conftest import ROOT
from tests.flows.review.postgres_server import Postgres, postgres_variables, program

PREFECT = Path(sys.executable).with_name("prefect")
DATABASE = "PREFECT_API_DATABASE_CONNECTION_URL"


def of_label_studio(venv: Path) -> Path:
    """The data folder of an installed server without accounts, with SQLite."""
    return _kept(
        (str(venv), _lock(), "sqlite"),
        lambda folder: _migrate_label_studio(venv, folder, {"DJANGO_DB": "sqlite"}),
    )


def of_label_studio_in_postgres(venv: Path) -> Path:
    """What PostgreSQL holds of it."""
    return _in_postgres(
        (str(venv), _lock()),
        lambda server, data: _migrate_label_studio(venv, data, postgres_variables(server.port)),
    )


def of_prefect() -> Path:
    """A folder for Prefect, with SQLite."""
    return _kept(("prefect", _version(), "sqlite"), lambda folder: _migrate_prefect(folder, {}))


def of_prefect_in_postgres() -> Path:
    """What PostgreSQL holds of it."""
    return _in_postgres(
        ("prefect", _version()), lambda server, home: _migrate_prefect(home, {DATABASE: server.url})
    )


def _kept(made_by: tuple[str, ...], make: Callable[[Path], None]) -> Path:
    """Where something made by these programs in these versions is kept, whole or not at all."""
    kept = ROOT / "build" / "tables" / "-".join(made_by).replace("/", "_")
    if not kept.is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            make(made := Path(folder) / "made")
            made.rename(kept)
    return kept


def _in_postgres(made_by: tuple[str, ...], migrate: Callable[[Postgres, Path], None]) -> Path:
    def make(target: Path) -> None:
        with tempfile.TemporaryDirectory() as folder, Postgres() as server:
            migrate(server, Path(folder))
            shutil.copytree(server.stopped(), target)

    return _kept((*made_by, program("postgres")), make)


def _lock() -> str:
    return sha256_file(servers.LOCK)[:16]


def _version() -> str:
    return importlib.metadata.version("prefect")


def _migrate_label_studio(venv: Path, data: Path, named: Mapping[str, str]) -> None:
    data.mkdir(exist_ok=True)
    (manage,) = venv.glob("lib/python*/site-packages/label_studio/manage.py")
    quiet = {"COLLECT_ANALYTICS": "False", "LATEST_VERSION_CHECK": "False", "SENTRY_DSN": ""}
    subprocess.run(
        [venv / "bin/python", manage, "migrate", "--verbosity", "0"],
        env={"PATH": os.environ["PATH"], "LABEL_STUDIO_BASE_DATA_DIR": str(data), **quiet, **named},
        check=True,
        capture_output=True,
    )
    (data / ".env").unlink(missing_ok=True)  # the key of its sessions


def _migrate_prefect(home: Path, named: Mapping[str, str]) -> None:
    plain = {key: value for key, value in os.environ.items() if not key.startswith("PREFECT_")}
    subprocess.run(
        [PREFECT, "server", "database", "upgrade", "--yes"],
        env={**plain, "PREFECT_HOME": str(home), **named},
        check=True,
        capture_output=True,
    )


def main() -> None:
    """Make what is not there."""
    venv = ROOT / ".venv-label-studio"
    servers.install(venv)
    with ThreadPoolExecutor(2) as pool:
        for done in (
            pool.submit(of_label_studio_in_postgres, venv),
            pool.submit(of_label_studio, venv),
            pool.submit(of_prefect),
            pool.submit(of_prefect_in_postgres),
        ):
            done.result()


if __name__ == "__main__":
    main()
