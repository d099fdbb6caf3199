"""A local Label Studio server: its own environment, started on loopback, stopped by process id.

Everything it needs lies in one folder: `secrets.json` (login, password, token; mode 0600), `process.json`,
`data/` (SQLite), `media/` (images it serves), `server.log`. Nothing but this module reads the secrets.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock

from schemas.errors import MedqrelsError, UsageError

LOCK = Path(__file__).resolve().parents[2] / "requirements" / "label-studio.lock.txt"
PAGE = Path(__file__).with_name("page")
"""What is added to the server's pages: a folder on the path of its process."""
VENV_VARIABLE = "MEDQRELS_LABEL_STUDIO_VENV"
LOGIN = "admin@medqrels.local"
HOST = "127.0.0.1"
START_SECONDS = 300.0
"""Longest wait for the first start, which makes the database: 25 s on an idle machine."""
STOP_SECONDS = 20.0
_POLL = 0.25
_HARMFUL = ("PYTHONDONTWRITEBYTECODE", "PYTHONHOME", "PYTHONPATH", "PIP_NO_COMPILE", "PIP_TARGET", "PIP_USER")
# Label Studio also reads settings from variables without its prefix (DEBUG, HOST, PORT, USERNAME …).
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "LD_LIBRARY_PATH")


@dataclass(frozen=True, slots=True)
class Server:
    """A running local server; password and token never show in its text form."""

    url: str
    pid: int
    login: str
    password: str = field(repr=False)
    token: str = field(repr=False)
    media: Path
    """Folder of images; `media/images/x.png` is served as `/data/local-files/?d=images/x.png`."""


def venv_folder(server_folder: Path) -> Path:
    """Environment of the server: $MEDQRELS_LABEL_STUDIO_VENV, else `venv` in the server's folder."""
    named = os.environ.get(VENV_VARIABLE, "")
    return Path(named) if named else server_folder / "venv"


def install(venv: Path, tell: Callable[[str], None] = lambda text: None) -> Path:
    """Make the server's own environment from requirements/label-studio.lock.txt, if it is not there.

    An environment that $MEDQRELS_LABEL_STUDIO_VENV names is used as it is. A stamp, written last, marks a
    finished one; one without it is made anew.

    Returns:
        Path of the program `label-studio`.

    Raises:
        UsageError: the lock or the named environment is missing.
        MedqrelsError: a step of the installation failed.
    """
    program = venv / "bin" / "label-studio"
    if str(venv) == os.environ.get(VENV_VARIABLE, ""):
        if not os.access(program, os.X_OK):
            raise UsageError(
                f"{VENV_VARIABLE} names no environment with Label Studio",
                file=str(venv),
                hint=f"unset it, and the next start installs one; or install {LOCK.name} there",
            )
        return program
    if not LOCK.is_file():
        raise UsageError(
            "the lock of the review server is missing", file=str(LOCK), hint="run from a checkout of medqrels"
        )
    stamp = venv / f".medqrels-label-studio-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]}"
    venv.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{venv}.lock"):
        if not (stamp.is_file() and stamp.read_text("utf-8") == str(venv.absolute())):
            tell(f"installing Label Studio into {venv}, about 1 GB")
            _make_venv(venv)
            stamp.write_text(str(venv.absolute()), "utf-8")  # its scripts hold absolute paths
    return program


def _make_venv(venv: Path) -> None:
    shutil.rmtree(venv, ignore_errors=True)
    _step([sys.executable, "-m", "venv", str(venv)])
    python = str(venv / "bin" / "python")
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
    _step([python, "-m", "pip", "install", *quiet, "--no-deps", "--require-hashes", "-r", str(LOCK)])


def _step(command: list[str]) -> None:
    environment = {key: value for key, value in os.environ.items() if key not in _HARMFUL}
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = " ".join(done.stderr.strip().splitlines()[-3:])
        raise MedqrelsError(
            f"Label Studio could not be installed: {last}", hint="the same command tries again"
        )


def start(folder: Path, port: int = 0, venv: Path | None = None) -> Server:
    """Start the server of a folder, or find it running.

    Args:
        folder: the server's folder; made with mode 0700.
        port: port on loopback, 0 for a free one. One already running keeps its port.
        venv: environment of :func:`install`; :func:`venv_folder` when None.

    Raises:
        UsageError: the environment is not there, or the port is taken.
        MedqrelsError: the server ended or did not answer in time; its log is named.
    """
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)  # images of a review may have made it before; its database is for nobody else
    with FileLock(str(folder / "start.lock")):
        found = running(folder)
        if found is not None:
            _await_health(found.url, folder, lambda: _is_ours(found.pid, folder))
            return found
        program = (venv or venv_folder(folder)) / "bin" / "label-studio"
        if not os.access(program, os.X_OK):
            raise UsageError(
                "Label Studio is not installed there", file=str(program), hint="medqrels review start"
            )
        if port and not _is_free(port):
            raise UsageError(f"port {port} is taken", hint="choose another --port, or 0 for a free one")
        return _launch(folder, port, program)


def _launch(folder: Path, port: int, program: Path) -> Server:
    hidden = _secrets(folder)
    (folder / "media" / "images").mkdir(parents=True, exist_ok=True)
    for _ in range(3):  # another process may take a free port before the server does
        chosen = port or _last_port(folder) or _free_port()
        where = ["--internal-host", HOST, "--port", str(chosen), "--data-dir", str(folder / "data")]
        log = _private(folder / "server.log")
        process = subprocess.Popen(
            [program, "start", "--no-browser", *where],
            env=_environment(folder, hidden),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            start_new_session=True,  # Ctrl-C in the terminal is not meant for it
        )
        os.close(log)
        write_private(folder / "process.json", {"pid": process.pid, "port": chosen})
        if _await_health(_url(chosen), folder, lambda: process.poll() is None):  # noqa: B023 called at once
            return _server(folder, process.pid, chosen, hidden)
        _end(process.pid)
        write_private(folder / "process.json", {"pid": 0, "port": 0})
    raise MedqrelsError("no free port was found", hint="medqrels review start --port PORT")


def running(folder: Path) -> Server | None:
    """The running server of a folder, None when there is none; the process id must be that of ours."""
    folder = folder.absolute()
    try:
        noted = json.loads((folder / "process.json").read_text("utf-8"))
        pid, port = int(noted["pid"]), int(noted["port"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return _server(folder, pid, port, _secrets(folder)) if pid and _is_ours(pid, folder) else None


def stop(folder: Path) -> bool:
    """Stop the server of a folder; False when none was running.

    A process id that has passed to another program is left alone.
    """
    folder = folder.absolute()
    found = running(folder)
    if found is not None:
        _end(found.pid, lambda: _is_ours(found.pid, folder))
        port = int(found.url.rpartition(":")[2])
        write_private(folder / "process.json", {"pid": 0, "port": port})
    return found is not None


def _end(pid: int, is_alive: Callable[[], bool] = lambda: True) -> None:
    for sent in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sent)
        until = time.monotonic() + STOP_SECONDS
        while time.monotonic() < until:
            try:  # a child keeps its number until it is reaped; its command line goes before
                if os.waitpid(pid, os.WNOHANG)[0]:
                    return
            except ChildProcessError:
                if not (is_alive() and _exists(pid)):
                    return
            time.sleep(_POLL / 5)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _is_ours(pid: int, folder: Path) -> bool:
    """Whether the process runs Label Studio on this folder, by its command line."""
    proc = Path("/proc") / str(pid)
    if Path("/proc/self").exists():
        try:
            line = (proc / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            return False
    else:
        listed = subprocess.run(["ps", "-ww", "-o", "args=", "-p", str(pid)], capture_output=True, text=True)
        line = listed.stdout
    return "label-studio" in line and str(folder / "data") in line


def _server(folder: Path, pid: int, port: int, hidden: dict[str, str]) -> Server:
    return Server(_url(port), pid, hidden["login"], hidden["password"], hidden["token"], folder / "media")


def _url(port: int) -> str:
    return f"http://{HOST}:{port}"


def _secrets(folder: Path) -> dict[str, str]:
    """Login, password and token of a folder's server, made once."""
    path = folder / "secrets.json"
    if path.is_file():
        return {key: str(value) for key, value in json.loads(path.read_text("utf-8")).items()}
    made = {"login": LOGIN, "password": secrets.token_urlsafe(18), "token": secrets.token_hex(20)}
    write_private(path, made)
    return made


def write_private(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON that only its owner may read; a crash leaves the old content or the new."""
    temporary = path.with_name(f".{path.name}.tmp")
    with os.fdopen(_private(temporary), "w", encoding="utf-8") as handle:
        handle.write(json.dumps(dict(content), indent=1) + "\n")
        handle.flush()
        os.fsync(handle.fileno())
    os.replace(temporary, path)


def _private(path: Path) -> int:
    """A file only its owner may read, opened empty."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)


def _environment(folder: Path, hidden: dict[str, str]) -> dict[str, str]:
    given = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
    return given | {
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder / "data"),
        "LABEL_STUDIO_USERNAME": hidden["login"],
        "LABEL_STUDIO_PASSWORD": hidden["password"],
        "LABEL_STUDIO_USER_TOKEN": hidden["token"],
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",  # read when the first user is made
        "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "true",
        "LABEL_STUDIO_ALLOWED_HOSTS": f"{HOST},localhost",
        "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED": "true",
        "LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT": str(folder / "media"),
        "TASK_LOCK_TTL": "0",  # who looks into another's project must not keep a task from them for a day
        "PYTHONUNBUFFERED": "1",  # its log is read while it runs
        "COLLECT_ANALYTICS": "False",
        "LATEST_VERSION_CHECK": "False",
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
        "DJANGO_SETTINGS_MODULE": "medqrels_page",
        "PYTHONPATH": str(PAGE),
        "fflag_fix_all_optic_79_task_count_is_wrong_short": "true",  # "3 of 21", not what was seen of it
    }


def _await_health(url: str, folder: Path, is_alive: Callable[[], bool]) -> bool:
    """Wait until the server answers; False when it went to another port than it was told."""
    log = folder / "server.log"
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        alive = is_alive()
        said = log.read_text("utf-8", "replace") if log.is_file() else ""
        if "Trying to start at" in said or "port is already in use" in said:
            return False
        if not alive:
            raise MedqrelsError("Label Studio exited while starting", file=str(log), hint="the log says why")
        if _is_healthy(url):
            return True
        time.sleep(_POLL)
    raise MedqrelsError(
        f"Label Studio did not answer within {START_SECONDS:.0f} s",
        file=str(log),
        hint="medqrels review stop",
    )


def _is_healthy(url: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback, whatever the proxy
    try:
        with opener.open(f"{url}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) != 0


def _last_port(folder: Path) -> int:
    """The port of the last start if it is free, else 0: addresses that people noted stay right."""
    try:
        port = int(json.loads((folder / "process.json").read_text("utf-8"))["port"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0
    return port if port and _is_free(port) else 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
