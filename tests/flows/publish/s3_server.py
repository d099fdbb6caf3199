"""A real S3 server, SeaweedFS, on free ports of loopback; and a proxy before it that acts out faults."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

from sources.sample.loopback import NO_ANSWER, LoopbackServer, Reply, Request
from tests.flows.publish.hub_server import Fault
from tests.forwarding import passed_on

KEY, SECRET, BUCKET = "loopback", "SecretOfTheLoopbackBucket", "releases"
_PATIENCE_SECONDS = 60.0
S3Faults = Callable[[str, int], Fault | None]
"""(method, n-th request of it, from 1) -> what goes wrong."""


def environment(endpoint: str) -> dict[str, str]:
    """What a client's environment needs."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "eu-central-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def storage_options(endpoint: str) -> dict[str, object]:
    """The same for a library that takes them as options."""
    return {"key": KEY, "secret": SECRET, "endpoint_url": endpoint}


class S3Server:
    """Context manager: a server with an empty bucket; `kill` and `start` restart it with what it holds.

    It is ended by SIGKILL, for it heeds no other signal.
    """

    def __enter__(self) -> Self:
        self._scratch = tempfile.TemporaryDirectory(prefix="s3-server-")
        folder = Path(self._scratch.name)
        identity = {
            "name": "test",
            "credentials": [{"accessKey": KEY, "secretKey": SECRET}],
            "actions": ["Admin", "Read", "Write", "List"],
        }
        config = folder / "s3.json"
        config.write_text(json.dumps({"identities": [identity]}), "utf-8")
        (data := folder / "data").mkdir()
        master, volume, filer, s3, *grpc = _free_ports(8)
        options = {
            "ip": "127.0.0.1", "ip.bind": "127.0.0.1", "dir": data, "filer": "true", "s3": "true",
            "master.port": master, "volume.port": volume, "filer.port": filer, "s3.port": s3,
            "master.port.grpc": grpc[0], "volume.port.grpc": grpc[1], "filer.port.grpc": grpc[2],
            "s3.port.grpc": grpc[3], "s3.config": config, "s3.iam": "false", "s3.port.iceberg": 0,
            "s3.autoCreateBucket": "false", "s3.port.lance": 0, "master.telemetry": "false", "volume.max": 20,
            "master.volumeSizeLimitMB": 64,
        }  # fmt: skip
        weed = Path(sys.executable).with_name("weed")
        self._command = [str(weed), "server", *(f"-{name}={value}" for name, value in options.items())]
        self.endpoint = f"http://127.0.0.1:{s3}"
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()
        self._scratch.cleanup()

    def start(self) -> None:
        """Start it, and wait until its bucket is there."""
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self._scratch.name
        )
        try:
            _make_bucket(self.endpoint, self._process)
        except BaseException:
            self.kill()
            raise

    @property
    def pid(self) -> int:
        """Of its process."""
        return self._process.pid

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()


@contextlib.contextmanager
def running_s3() -> Iterator[str]:
    """Address of a server with an empty bucket."""
    with S3Server() as server:
        yield server.endpoint


def _make_bucket(endpoint: str, process: subprocess.Popen[bytes]) -> None:
    """Make the bucket as soon as the server can."""
    from s3fs import S3FileSystem

    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            system = S3FileSystem(skip_instance_cache=True, **storage_options(endpoint))
            system.retries = 1
            with contextlib.suppress(FileExistsError):  # started again
                system.call_s3("create_bucket", Bucket=BUCKET)
            return
        except Exception:  # it is not up yet
            if process.poll() is not None or time.monotonic() > end:
                raise
            time.sleep(0.2)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in held]


class S3Proxy(LoopbackServer):
    """Passes requests on as they came, signatures and all, or lets a fault befall them.

    `watch` is told (method, "before" or "after") of every request that changes what is kept.
    """

    def __init__(self, endpoint: str, faults: S3Faults = lambda method, count: None) -> None:
        self.behind = endpoint
        self.faults = faults
        self.watch: Callable[[str, str], None] = lambda method, when: None
        self.asked: Counter[str] = Counter()
        self.served: list[tuple[str, str, int]] = []
        self._lock = threading.Lock()

    def answer(self, request: Request) -> Reply:
        """Pass one request on."""
        with self._lock:
            self.asked[request.method] += 1
            fault = self.faults(request.method, self.asked[request.method])
        kind = fault.kind if fault else ""
        if fault and kind == "status":
            headers = {"Retry-After": fault.retry_after} if fault.retry_after else {}
            return Reply(fault.status, b"", headers)
        if kind == "reset":
            return Reply(NO_ANSWER, is_reset=True)
        if kind == "nonsense":
            return Reply(200, b"<not what you asked for")
        changes = request.method in ("PUT", "POST", "DELETE")
        if changes:
            self.watch(request.method, "before")
        reply = passed_on(request, self.behind)
        if changes:
            self.watch(request.method, "after")
        self.served.append((request.method, request.target, reply.status))
        if kind == "lost":
            return Reply(NO_ANSWER, is_reset=True)
        if kind == "truncated":
            return Reply(reply.status, reply.body, reply.headers, cut=len(reply.body) // 2)
        return reply
