"""A server on a free port of 127.0.0.1, for demo and tests; subclasses say what it answers, and how badly."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, unquote, urlsplit

NO_ANSWER = 0
"""Status of a reply that never comes: the connection ends instead."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came."""

    method: str
    target: str
    """Path and query, as sent."""
    headers: Message
    body: bytes

    @property
    def path(self) -> str:
        """The path, decoded."""
        return unquote(urlsplit(self.target).path)

    @property
    def fields(self) -> dict[str, str]:
        """Fields of a form, else of the query; of several of one name the last."""
        text = self.body.decode() if self.method == "POST" else urlsplit(self.target).query
        return dict(parse_qsl(text, keep_blank_values=True))


@dataclass(frozen=True, slots=True)
class Reply:
    """What is sent, and what goes wrong with it.

    `cut` ends the connection after so many bytes of the body, or holds it open, silent, for `stall` seconds;
    `drip` waits so many seconds after each byte of the body, or of endless headers; `is_reset` ends it so
    that the peer sees a reset.
    """

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    stall: float = 0.0
    drip: float = 0.0
    is_chunked: bool = False
    is_reset: bool = False
    drips_headers: bool = False


class LoopbackServer(ABC):
    """Context manager: runs while it is open; every request is answered by :meth:`answer`, many at a time."""

    name = "loopback"
    """What the server says of itself."""
    _http: Any = None

    @abstractmethod
    def answer(self, request: Request) -> Reply:
        """The reply to a request."""

    @property
    def root(self) -> str:
        """Address without a path, without a slash at its end."""
        if self._http is None:
            raise RuntimeError("the server runs only inside `with`")
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self._http = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"site": self}))
        threading.Thread(target=self._http.serve_forever, args=(0.005,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._http is not None:
            self._http.shutdown()
            self._http.server_close()
            self._http = None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128  # with 5, a connection may wait a second: longer than impatient clients do

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no news."""


class _Handler(BaseHTTPRequestHandler):
    site: LoopbackServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 64 * 1024
    timeout = 60

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        reply = self.site.answer(Request(self.command, self.path, self.headers, body))
        if reply.status == NO_ANSWER:
            self._end(reply.is_reset)
            return
        if reply.drips_headers:
            self._drip(b"HTTP/1.1 200 OK\r\n" + b"X-Pad: 0\r\n" * 10_000, reply.drip)
            return
        self.send_response(reply.status)
        for name, value in self._headers(reply).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD" and reply.status != 304:
            self._send(reply)
        self.wfile.flush()

    do_GET = do_HEAD = do_POST = do_PATCH = do_PUT = do_DELETE = _answer  # noqa: N815 the library's names

    def handle_expect_100(self) -> bool:
        """Tell a client that asks first to send its body; at once, though answers are buffered."""
        super().handle_expect_100()
        self.wfile.flush()
        return True

    def _headers(self, reply: Reply) -> dict[str, str]:
        if reply.is_chunked:
            return {**reply.headers, "Transfer-Encoding": "chunked"}
        length = {} if reply.status == 304 else {"Content-Length": str(len(reply.body))}
        return {**length, **reply.headers}

    def _send(self, reply: Reply) -> None:
        body = reply.body
        if reply.is_chunked:
            body = f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"
        self.close_connection = self.close_connection or reply.cut is not None
        if reply.drip:
            self._drip(body, reply.drip)
            return
        self.wfile.write(body[: reply.cut])
        if reply.stall:
            self.wfile.flush()
            time.sleep(reply.stall)

    def _drip(self, data: bytes, seconds: float) -> None:
        self.close_connection = True
        for position in range(len(data)):
            self.wfile.write(data[position : position + 1])
            self.wfile.flush()
            time.sleep(seconds)

    def _end(self, is_reset: bool) -> None:
        """Close: orderly, or so that the peer sees a reset."""
        self.close_connection = True
        with contextlib.suppress(OSError):
            if is_reset:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
            else:
                self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: a server remembers what it served itself."""

    def version_string(self) -> str:
        """What the server says of itself."""
        return self.site.name
