"""Errors of the machine and of Prefect's server are told as such, with what helps."""

from __future__ import annotations

import errno
import inspect
import os
import sqlite3

import httpx
import pytest

from flows.engine.failures import OF_PREFECT, failure
from flows.engine.runs import recorded, runs_of
from flows.engine.workspace import Workspace


def test_a_server_of_prefect_that_is_not_there_is_no_defect_of_ours() -> None:
    """It raises errors without a name of their own; should it say them in other words, this shows it."""
    from prefect.client import orchestration
    from prefect.server.api import server

    said = inspect.getsource(orchestration) + inspect.getsource(server)
    for beginning, hint in OF_PREFECT.items():
        assert beginning in said
        told = failure(RuntimeError(f"{beginning} …"))
        assert told["hint"] == hint and "PREFECT_API_URL" in hint and told["message"].startswith("Prefect: ")
    assert "defect" in failure(RuntimeError("else"))["hint"]


def test_an_error_of_the_machine_is_no_defect_of_ours() -> None:
    told = failure(FileNotFoundError(errno.ENOENT, "No such file or directory", "/proc/.x.partial"))
    assert told["file"] == "/proc/.x.partial" and "defect" not in told["hint"]
    told = failure(sqlite3.OperationalError("database or disk is full"))
    assert "free some space" in told["hint"]
    assert "defect" in failure(sqlite3.OperationalError("no such table: objects"))["hint"]
    told = failure(RuntimeError("Symlink loop from '/tmp/a/x'"))
    assert "circle" in told["hint"]


def test_what_prefects_server_answers_is_no_defect_of_ours_and_holds_no_password() -> None:
    from prefect.exceptions import ObjectNotFound, PrefectHTTPStatusError

    request = httpx.Request("POST", "http://me:secret@127.0.0.1:4200/api/flows/")
    answer = httpx.Response(500, json={"exception_message": "Internal Server Error"}, request=request)
    with pytest.raises(httpx.HTTPStatusError) as raised:
        answer.raise_for_status()
    told = failure(PrefectHTTPStatusError.from_httpx_error(raised.value))
    assert (
        "500" in told["message"] and "127.0.0.1:4200" in told["message"] and "secret" not in told["message"]
    )
    lost = failure(ObjectNotFound(raised.value))
    assert "lost a record" in lost["message"]
    gone = failure(httpx.ConnectError("[Errno 111] Connection refused"))
    assert "cannot be reached" in gone["message"]
    assert all("database" in one["hint"] and "defect" not in one["hint"] for one in (told, lost, gone))


def test_a_run_tells_what_the_command_told(workspace: Workspace) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(OSError, match="No space"), recorded(workspace, "ground"):
        raise full
    (row,) = runs_of(workspace)
    assert row["why"] == failure(full) and "free some space" in row["why"]["hint"]
