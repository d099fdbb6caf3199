"""One small error tree. Every message names the record, the file and the command that helps.

Attributes stay structured so that flows can log them, and pickle across worker processes.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from schemas.wording import without_password

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE)
_REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO)


class MedqrelsError(Exception):
    """Base of every error raised on purpose. Addresses in what it says are without user and password.

    Args:
        message: what happened, one sentence.
        record: id of the record concerned, if any.
        file: path or URL concerned, if any.
        hint: what to do next, preferably a command.
    """

    exit_code = 3

    def __init__(self, message: str, *, record: str = "", file: str = "", hint: str = "") -> None:
        self.message, self.file, self.hint = map(without_password, (message, file, hint))
        super().__init__(self.message)
        self.record = record

    def __str__(self) -> str:
        parts = [self.message]
        if self.record:
            parts.append(f"record: {self.record}")
        if self.file:
            parts.append(f"file: {self.file}")
        if self.hint:
            parts.append(f"next: {self.hint}")
        return "\n  ".join(parts)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, self.record, self.file, self.hint))

    def attrs(self) -> dict[str, str]:
        """The structured fields, for `--json` and logs."""
        return {
            "error": type(self).__name__,
            "message": self.message,
            "record": self.record,
            "file": self.file,
            "hint": self.hint,
        }


def _rebuild(kind: type[MedqrelsError], message: str, record: str, file: str, hint: str) -> MedqrelsError:
    return kind(message, record=record, file=file, hint=hint)


class UsageError(MedqrelsError):
    """The command or the settings cannot be carried out as written."""

    exit_code = 2


class InputError(MedqrelsError):
    """One input cannot be used; the caller quarantines it under `reason` and goes on.

    `reason` is a value of :class:`schemas.stages.Reason`.
    """

    def __init__(
        self, message: str, *, reason: str = "", record: str = "", file: str = "", hint: str = ""
    ) -> None:
        super().__init__(message, record=record, file=file, hint=hint)
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild_input, (self.message, self.reason, self.record, self.file, self.hint))

    def attrs(self) -> dict[str, str]:
        """The structured fields and the quarantine reason."""
        return {**super().attrs(), "reason": self.reason}


def _rebuild_input(message: str, reason: str, record: str, file: str, hint: str) -> InputError:
    return InputError(message, reason=reason, record=record, file=file, hint=hint)


class FetchError(MedqrelsError):
    """A server could not be reached or kept answering badly after all retries."""


class ChecksumMismatch(FetchError):  # noqa: N818 - the name says it
    """Bytes received differ from the checksum the repository announced."""


class WorkspaceError(MedqrelsError):
    """The workspace is missing, locked, damaged or written by another storage version."""


class ConservationError(MedqrelsError):
    """A stage lost or invented records: in is not kept + dropped. Always a defect of ours."""


class ReleaseError(MedqrelsError):
    """A release cannot be assembled or read: prose missing, version taken, files changed."""


def is_interrupted(error: BaseException) -> bool:
    """Whether DuckDB ended a query for a signal: it puts this in place of what the handler raises."""
    return isinstance(error, RuntimeError) and str(error) == "Query interrupted"


def raise_if_of_machine(error: BaseException, inputs: Sequence[Path]) -> None:
    """Raise what stands behind an error where that is the machine's: it tells nothing of the input.

    Args:
        error: any.
        inputs: folders of the input.

    Raises:
        OSError: a full disk, a quota, too large a file, too many open files; or no leave to use, or no way to
            read or write, a temporary file.
        RuntimeError: a signal came while DuckDB ran.
    """
    behind: BaseException | None = error
    while behind is not None:
        if is_interrupted(behind):
            raise behind
        if isinstance(behind, OSError):
            if behind.errno in _FULL or (
                behind.errno in _REFUSED and _is_temporary(str(behind.filename), inputs)
            ):
                raise behind
        elif type(behind).__name__ == "IOException":  # DuckDB's, which has no number
            said = str(behind)
            of_own = _REFUSED if _is_temporary(said.partition('"')[2].partition('"')[0], inputs) else ()
            for number in (*_FULL, *of_own):
                if os.strerror(number) in said:
                    raise OSError(number, os.strerror(number)) from error
        behind = behind.__cause__ or behind.__context__


def _is_temporary(name: str, inputs: Sequence[Path]) -> bool:
    """Whether a file lies among temporary ones, and not in a folder of the input."""
    path = Path(name)
    return path.is_relative_to(tempfile.gettempdir()) and not any(map(path.is_relative_to, inputs))
