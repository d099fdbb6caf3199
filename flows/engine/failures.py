"""What an error says to people, in commands, runs and reports: what happened, where, what to do next."""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3

from schemas.errors import MedqrelsError
from schemas.wording import without_password

_ON = "the same command continues from here"
_OF_THE_MACHINE = {
    errno.ENOSPC: f"free some space (medqrels doctor shows the disks); {_ON}",
    errno.EDQUOT: f"free some space (medqrels doctor shows the disks); {_ON}",
    errno.EFBIG: f"allow larger files; {_ON}",
    errno.EACCES: "name a place that you may read and write",
    errno.EPERM: "name a place that you may read and write",
    errno.EROFS: "name a place that can be written",
    errno.ENAMETOOLONG: "name a shorter path",
    errno.ENOTDIR: "a file stands where a folder has to be: name another place",
    errno.EEXIST: "what stands there is in the way: name another place",
    errno.EMFILE: f"allow more open files (ulimit -n); {_ON}",
    errno.ENFILE: f"close other programs: the machine has no open files left; {_ON}",
    errno.EIO: f"check the disk; {_ON}",
    errno.ESTALE: f"check the network disk; {_ON}",
    errno.EBUSY: f"another program holds it; {_ON}",
    errno.ENOENT: "nothing can be made there, or another program took it away: see that its folder stands",
    errno.EISDIR: "a folder stands where a file has to be: name another place",
    errno.ELOOP: "links lead in a circle: name another place",
}
"""Errors of the operating system that are nobody's defect here -> what helps."""
_NOT_UTF8 = "name a place whose path is UTF-8; where it is, unset PYTHONUTF8 and PYTHONCOERCECLOCALE"
_OF_SQLITE = {
    "database or disk is full": errno.ENOSPC,
    "disk I/O error": errno.EIO,
    "attempt to write a readonly database": errno.EROFS,
    "unable to open database file": errno.EACCES,
}
"""What SQLite says of the same errors."""
OF_PREFECT = {
    "Failed to reach API at": "start the server that PREFECT_API_URL names, or unset it; "
    "medqrels doctor --servers",
}
"""Beginnings of what Prefect says, in an error without a name of its own -> what helps."""
_OF_ITS_SERVER = frozenset({"PrefectHTTPStatusError", "ObjectNotFound"})
_LOOK_AT_IT = f"look at Prefect's server (PREFECT_API_URL), its database and PREFECT_API_AUTH_STRING; {_ON}"


def failure(error: BaseException) -> dict[str, str]:
    """What an error says: kind, message, record, file, and what helps."""
    if isinstance(error, MedqrelsError):
        return error.attrs()
    if isinstance(error, asyncio.CancelledError):  # so Prefect ends a flow whose time is up
        return _ended(error, "its time limit ended it")
    if not isinstance(error, Exception):
        return _ended(error, "cancelled")
    return _unexpected(error)


def _ended(error: BaseException, message: str) -> dict[str, str]:
    return {
        "error": type(error).__name__,
        "message": message,
        "hint": "run it again: it goes on from here",
    }


def _unexpected(error: Exception) -> dict[str, str]:
    """What nobody raised on purpose: an error of the machine, or a defect of ours."""
    name = type(error).__name__
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, OSError) and number in _OF_THE_MACHINE:
        file = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else ""
        message, hint = error.strerror or name, _OF_THE_MACHINE[number]
        return {"error": name, "message": message, "file": file, "hint": hint}
    if isinstance(error, UnicodeEncodeError) and "\udc80" <= error.object[error.start] <= "\udcff":
        return {"error": name, "message": "the name of a file or folder is not UTF-8", "hint": _NOT_UTF8}
    if isinstance(error, sqlite3.OperationalError) and str(error) in _OF_SQLITE:
        return {"error": name, "message": str(error), "hint": _OF_THE_MACHINE[_OF_SQLITE[str(error)]]}
    if str(error).startswith("Symlink loop from"):  # Python before 3.13 has no number for it
        return {"error": name, "message": str(error), "hint": _OF_THE_MACHINE[errno.ELOOP]}
    for beginning, hint in OF_PREFECT.items():
        if str(error).startswith(beginning):
            return {"error": name, "message": without_password(f"Prefect: {error}"), "hint": hint}
    if type(error).__module__.partition(".")[0] in (
        "httpx",
        "httpcore",
    ):  # what else asks so has its own errors
        return {
            "error": name,
            "message": f"Prefect: its server cannot be reached: {name}",
            "hint": _LOOK_AT_IT,
        }
    if name in _OF_ITS_SERVER:
        message = without_password(f"Prefect: {_of_its_server(error)}")
        return {"error": name, "message": message, "hint": _LOOK_AT_IT}
    hint = "a defect of medqrels; --log-level DEBUG shows where, the same command continues from here"
    return {"error": name, "message": without_password(f"{name}: {error}"), "hint": hint}


def _of_its_server(error: Exception) -> str:
    """What Prefect's server answered, on one line."""
    said = str(error).splitlines()[0] if str(error) else "None"
    return "its server lost a record" if said == "None" else said
