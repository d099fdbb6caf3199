"""Errors keep their fields across processes and say what to do."""

from __future__ import annotations

import contextlib
import errno
import inspect
import os
import pickle
from pathlib import Path

import pytest

from schemas import errors
from schemas.errors import InputError, MedqrelsError, UsageError, raise_if_of_machine

KINDS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, MedqrelsError) and kind.__module__ == errors.__name__
]


@pytest.mark.parametrize("kind", KINDS)
def test_errors_pickle_with_every_field(kind: type[MedqrelsError]) -> None:
    error = kind("it broke", record="pmc:PMC1.1", file="a/b.xml", hint="medqrels crawl")
    if isinstance(error, InputError):
        error.reason = "xml_invalid"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert again.attrs() == error.attrs()
    assert str(again) == str(error)
    assert again.exit_code == error.exit_code
    for part in ("it broke", "pmc:PMC1.1", "a/b.xml", "medqrels crawl"):
        assert part in str(again)


@pytest.mark.parametrize("kind", KINDS)
def test_no_error_tells_a_password(kind: type[MedqrelsError]) -> None:
    address = "tcp://me:SeKrEt@127.0.0.1:9/x"
    error = kind(f"no scheduler at {address!r}", file=address, hint=f"ask {address}")
    told = f"{error} {error!r} {error.args} {error.attrs()} {pickle.dumps(error)!r}"
    assert "SeKrEt" not in told and told.count("127.0.0.1:9") >= 6


@pytest.mark.parametrize("kind", KINDS)
def test_exit_codes_follow_the_command_grammar(kind: type[MedqrelsError]) -> None:
    assert kind.exit_code == (2 if issubclass(kind, UsageError) else 3)


def test_there_is_one_tree() -> None:
    assert len(KINDS) >= 8
    assert all(issubclass(kind, MedqrelsError) for kind in KINDS)


def test_absent_fields_leave_no_trace_in_the_message() -> None:
    assert str(MedqrelsError("it broke")) == "it broke"
    assert MedqrelsError("it broke").attrs() == {
        "error": "MedqrelsError",
        "message": "it broke",
        "record": "",
        "file": "",
        "hint": "",
    }


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.EIO])
def test_a_temporary_file_that_cannot_be_used_is_the_machines_matter(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    audited = tmp_path / "release"
    for name, is_raised in (("run-1/start.npy", True), ("release/queries/a.parquet", False)):
        ours = OSError(number, os.strerror(number), str(tmp_path / name))
        theirs = type("IOException", (Exception,), {})(
            f'IO Error: Cannot open file "{tmp_path / name}": {os.strerror(number)}'
        )
        for error in (ours, theirs):
            with pytest.raises(OSError) if is_raised else contextlib.nullcontext():
                raise_if_of_machine(error, [audited])
    raise_if_of_machine(OSError(number, os.strerror(number), "/elsewhere/a.parquet"), [audited])
    raise_if_of_machine(OSError(number, os.strerror(number)), [audited])


def test_a_full_machine_stands_behind_an_error_or_does_not() -> None:
    io = type("IOException", (Exception,), {})("IO Error: cannot write: No space left on device")
    wrapped = MedqrelsError("it failed")
    wrapped.__cause__ = io
    with pytest.raises(OSError) as caught:
        raise_if_of_machine(wrapped, ())
    assert caught.value.errno == errno.ENOSPC
    for other in (
        ValueError("No space left on device"),
        FileNotFoundError(errno.ENOENT, "gone"),
        MedqrelsError("x"),
    ):
        raise_if_of_machine(other, ())


def test_a_query_that_a_signal_ended_tells_nothing_of_the_input(tmp_path: Path) -> None:
    ended = RuntimeError("Query interrupted")
    wrapped = ValueError("a rule")
    wrapped.__cause__ = ended
    for error in (ended, wrapped):
        with pytest.raises(RuntimeError, match="Query interrupted"):
            raise_if_of_machine(error, [tmp_path])
    raise_if_of_machine(RuntimeError("another"), [tmp_path])
