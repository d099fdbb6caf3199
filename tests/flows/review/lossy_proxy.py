"""A proxy before a review server that loses replies and notes what was asked."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from flows.review.label_studio import Server
from sources.sample.loopback import NO_ANSWER, LoopbackServer, Reply, Request
from tests.forwarding import passed_on


class Proxy(LoopbackServer):
    """A proxy on loopback that can lose the reply to a request the server has carried out."""

    def __init__(self, server: Server) -> None:
        self.upstream = server.url
        self.lose: Callable[[str, str], bool] = lambda method, path: False
        self.lost = 0
        self.paths: list[str] = []

    def answer(self, request: Request) -> Reply:
        """Pass one request on, and its reply back unless it is to be lost."""
        reply = passed_on(request, self.upstream)
        if reply.status == NO_ANSWER:
            return reply
        self.paths.append(f"{request.method} {request.target}")
        if self.lose(request.method, request.target):
            self.lost += 1
            return Reply(NO_ANSWER)
        return reply


@contextlib.contextmanager
def proxy(server: Server) -> Iterator[tuple[Proxy, str]]:
    """A running proxy and its address."""
    with Proxy(server) as state:
        yield state, state.root
