"""One attempt at a model server that misbehaves: it ends in time, and a page is no answer of the model."""

from __future__ import annotations

import pytest

from flows.adapters.llm import Llm, Server
from sources.sample.loopback import LoopbackServer, Reply, Request
from tests.flows.takedown.purge_world import prompt


class Misbehaving(LoopbackServer):
    """Gives the same reply to everything."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply

    def answer(self, request: Request) -> Reply:
        return self.reply


@pytest.mark.parametrize(
    ("reply", "detail"),
    [
        (Reply(200, b'{"choices": []}' + b" " * 200, drip=0.05), "deadline"),  # each byte comes in time
        (Reply(200, b"<html>Please try again later.</html>"), "no_completion"),
        (Reply(200, b'{"choices": []}', cut=7), "remoteprotocolerror"),
    ],
)
def test_what_never_ends_or_is_no_answer_is_lost(reply: Reply, detail: str) -> None:
    with Misbehaving(reply) as server:
        model = Llm(Server(f"{server.root}/v1", "sk-key"), "m", 0.4, lambda name: (b"", ""))
        told = model.ask(prompt(1, "A passage."))
        model.close()
    assert (told.outcome, told.detail) == ("lost", detail)
