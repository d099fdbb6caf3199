"""A proxy before a review server that loses replies and notes what was asked."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from flows.review.label_studio import Server


class Proxy:
    """A proxy on loopback that can lose the reply to a request the server has carried out."""

    def __init__(self, server: Server) -> None:
        self.upstream = server.url.rpartition("/")[2]
        self.lose: Callable[[str, str], bool] = lambda method, path: False
        self.lost = 0
        self.paths: list[str] = []

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        """Pass one request on, and its reply back unless it is to be lost."""
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        link = http.client.HTTPConnection(self.upstream, timeout=60)
        try:
            link.request(handler.command, handler.path, body, dict(handler.headers))
            answer = link.getresponse()
            data = answer.read()
        except OSError:
            handler.close_connection = True
            return
        finally:
            link.close()
        self.paths.append(f"{handler.command} {handler.path}")
        if self.lose(handler.command, handler.path):
            self.lost += 1
            handler.close_connection = True
            with contextlib.suppress(OSError):
                handler.connection.shutdown(socket.SHUT_RDWR)
            return
        handler.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length", "date", "server"):
                handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)


@contextlib.contextmanager
def proxy(server: Server) -> Iterator[tuple[Proxy, str]]:
    """A running proxy and its address."""
    state = Proxy(server)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self) -> None:
            state.handle(self)

        do_GET = do_POST = do_PATCH = do_DELETE = forward  # noqa: N815 the library's names

        def log_message(self, *_: Any) -> None:
            return

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listener.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield state, f"http://127.0.0.1:{listener.server_port}"
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()
