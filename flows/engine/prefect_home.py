"""Where Prefect keeps what it has, looked at before its private server is waited for: that takes minutes."""

from __future__ import annotations

import os
import tempfile

from prefect.settings import PREFECT_API_DATABASE_CONNECTION_URL, PREFECT_HOME

from schemas.errors import UsageError

_DATABASE = "prefect.db"


def check_prefect_home() -> None:
    """See that Prefect's private server can keep its database.

    Raises:
        UsageError: its folder, or the database there, cannot be written.
    """
    home = PREFECT_HOME.value()
    if f"{home}/{_DATABASE}" not in (PREFECT_API_DATABASE_CONNECTION_URL.value() or ""):
        return  # kept elsewhere
    hint = (
        "set PREFECT_HOME to a folder that can be written (it is ~/.prefect unless set), "
        "or PREFECT_API_URL to a running server"
    )
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home):
            pass
    except OSError as error:
        said = error.strerror or type(error).__name__
        raise UsageError(f"Prefect's folder cannot be written: {said}", file=str(home), hint=hint) from error
    database = home / _DATABASE
    if database.exists() and not (database.is_file() and os.access(database, os.R_OK | os.W_OK)):
        raise UsageError("Prefect's database cannot be written", file=str(database), hint=hint)
