"""A proxy before a review server that loses replies and notes what was asked."""

from __future__ import annotations

import contextlib
import http.client
from collections.abc import Callable, Iterator

from flows.review.label_studio import Server
from sources.sample.loopback import NO_ANSWER, LoopbackServer, Reply, Request

_OF_ONE_CONNECTION = ("transfer-encoding", "connection", "content-length", "date", "server")


class Proxy(LoopbackServer):
    """A proxy on loopback that can lose the reply to a request the server has carried out."""

    def __init__(self, server: Server) -> None:
        self.upstream = server.url.rpartition("/")[2]
        self.lose: Callable[[str, str], bool] = lambda method, path: False
        self.lost = 0
        self.paths: list[str] = []

    def answer(self, request: Request) -> Reply:
        """Pass one request on, and its reply back unless it is to be lost."""
        link = http.client.HTTPConnection(self.upstream, timeout=60)
        try:
            link.request(request.method, request.target, request.body, dict(request.headers))
            found = link.getresponse()
            data = found.read()
        except OSError:
            return Reply(NO_ANSWER)
        finally:
            link.close()
        self.paths.append(f"{request.method} {request.target}")
        if self.lose(request.method, request.target):
            self.lost += 1
            return Reply(NO_ANSWER)
        headers = {
            name: value for name, value in found.getheaders() if name.lower() not in _OF_ONE_CONNECTION
        }
        return Reply(found.status, data, headers)


@contextlib.contextmanager
def proxy(server: Server) -> Iterator[tuple[Proxy, str]]:
    """A running proxy and its address."""
    with Proxy(server) as state:
        yield state, state.root
