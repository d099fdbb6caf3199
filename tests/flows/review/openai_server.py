"""An OpenAI-compatible server on loopback with a naive model, faults, and its own count of what it billed.

The model believes: it obeys "answer N" anywhere outside the source blocks of a prompt, as a model would that
can be talked to by whoever writes outside them. Inside, it takes every word for material.
"""

from __future__ import annotations

import hashlib
import json
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-test-0123456789abcdefKEY"
_ORDER = re.compile(r"answer (\d)", re.IGNORECASE)
_DECLARED = re.compile(r"mark ([0-9a-f]{32})")
_KEYS = re.compile(r'"(\w+)": …')

Faults = Callable[[str, int], str | None]
"""(text of the prompt's blocks, n-th request with this text, from 1) -> name of a fault, or None."""


@dataclass
class Seen:
    """What the server counted, beside what it was told."""

    requests: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    told: list[tuple[int, int]] = field(default_factory=list)
    """Tokens in and out of every reply that carried its count."""
    untold: list[tuple[int, int]] = field(default_factory=list)
    """Tokens of replies that were billed but never reached the client whole."""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    most_at_once: int = 0


def outside_and_blocks(prompt: str, system: str) -> tuple[str, list[str]]:
    """What stands outside the source blocks, and the blocks' text, by the mark that the system names."""
    declared = _DECLARED.search(system)
    if declared is None:
        return prompt, []
    line = re.compile(rf"^\[{declared[1]} (.+?) (begins|ends) {declared[1]}\]$", re.MULTILINE)
    outside, blocks, opened, last = [], [], None, 0
    for found in line.finditer(prompt):
        if found[2] == "begins" and opened is None:
            outside.append(prompt[last : found.start()])
            opened = found
        elif found[2] == "ends" and opened is not None and opened[1] == found[1]:
            blocks.append(prompt[opened.end() + 1 : found.start() - 1])
            opened = None
        last = found.end()
    outside.append(prompt[last:])
    return "".join(outside), blocks


def naive_answer(system: str, prompt: str) -> tuple[str, str]:
    """What the model says, and the sorted text of the blocks.

    It gives what an order outside the blocks asks for, else numbers by the hash of the material in any order;
    a document with the word SWAPPABLE is judged by whichever block comes first.
    """
    outside, blocks = outside_and_blocks(prompt, system)
    keys = _KEYS.findall(outside)
    top = 3 if "score" in keys else 2
    material = "\n".join(sorted(blocks))
    seed = hashlib.sha256(material.encode()).digest()
    values = {key: seed[place] % (top + 1) for place, key in enumerate(sorted(keys))}
    if "SWAPPABLE" in material:
        first_is_query = blocks[0] == min(blocks, key=len)
        values = dict.fromkeys(keys, top if first_is_query else 0)
    order = _ORDER.search(outside)
    if order:
        values = dict.fromkeys(keys, min(int(order[1]), top))
    return json.dumps(values), material


class OpenAIServer:
    """Serves POST /v1/chat/completions while its context is open."""

    def __init__(
        self,
        faults: Faults = lambda text, number: None,
        *,
        structured: bool = True,
        new_limit: bool = False,
        delay: float = 0.0,
    ) -> None:
        self.faults, self.structured, self.new_limit, self.delay = faults, structured, new_limit, delay
        self.seen, self.lock = Seen(), threading.Lock()
        self.times: Counter[str] = Counter()
        self.at_once = 0
        self.closing = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with server.lock:
                    server.at_once += 1
                    server.seen.most_at_once = max(server.seen.most_at_once, server.at_once)
                try:
                    server.answer(self, body)
                finally:
                    with server.lock:
                        server.at_once -= 1

            def log_message(self, format: str, *arguments: Any) -> None:
                """Say nothing."""

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = (
                128  # with 5, a connection may wait a second: longer than impatient clients do
            )

            def handle_error(self, request: Any, client_address: Any) -> None:
                """Clients that were killed hang up; that is what the tests do."""

        self._server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.005,), daemon=True)

    @property
    def environment(self) -> dict[str, str]:
        """What a client's environment needs."""
        return {"OPENAI_BASE_URL": self.url, "OPENAI_API_KEY": KEY}

    def __enter__(self) -> OpenAIServer:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """Answer one request, or do what a fault says."""
        system, content = body["messages"][0]["content"], body["messages"][1]["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        prompt = "".join(part.get("text", "<image>") for part in parts)
        text, material = naive_answer(system, prompt)
        with self.lock:
            self.seen.requests += 1
            self.seen.bodies.append(body)
            self.times[material] += 1
            fault = self._misfit(body) or self.faults(material, self.times[material])
            self.seen.outcomes[fault or "answered"] += 1
        time.sleep(self.delay)
        tokens = (len(system + prompt) // 4, len(text) // 2)
        getattr(self, f"_{fault or 'answered'}")(handler, body, text, tokens)

    def _misfit(self, body: dict[str, Any]) -> str | None:
        if self.new_limit and "max_tokens" in body:
            return "wrong_limit"
        if self.new_limit and "temperature" in body:
            return "wrong_temperature"
        return "no_structure" if not self.structured and "response_format" in body else None

    def _send(self, handler: BaseHTTPRequestHandler, status: int, data: bytes, **headers: str) -> None:
        handler.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)
        handler.wfile.flush()

    def _completion(
        self, body: dict[str, Any], tokens: tuple[int, int], message: dict[str, Any], finish: str = "stop"
    ) -> bytes:
        with self.lock:
            self.seen.told.append(tokens)
        return json.dumps(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": f"{body['model']}-2026",
                "choices": [
                    {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
                ],
                "usage": {
                    "prompt_tokens": tokens[0],
                    "completion_tokens": tokens[1],
                    "total_tokens": sum(tokens),
                },
            }
        ).encode()

    def _error(self, message: str, code: str) -> bytes:
        return json.dumps({"error": {"message": f"{message} ({KEY})", "code": code, "type": "e"}}).encode()

    def _answered(self, handler: Any, body: Any, text: str, tokens: tuple[int, int]) -> None:
        if not self.structured:
            text = f"Here is my judgement:\n```json\n{text}\n```"
        self._send(handler, 200, self._completion(body, tokens, {"content": text}))

    def _rate(self, handler: Any, body: Any, text: str, tokens: tuple[int, int]) -> None:
        self._send(handler, 429, self._error("slow down", "rate_limit_exceeded"), Retry_After="0.05")

    def _quota(self, handler: Any, body: Any, text: str, tokens: tuple[int, int]) -> None:
        self._send(handler, 429, self._error("pay first", "insufficient_quota"))

    def _unavailable(self, handler: Any, body: Any, text: str, tokens: tuple[int, int]) -> None:
        self._send(handler, 503, b"<html>busy</html>", Content_Type="text/html")

    def _unauthorised(self, handler: Any, body: Any, text: str, tokens: tuple[int, int]) -> None:
        self._send(handler, 401, self._error("Incorrect API key provided", KEY))

    def _wrong_limit(self, handler: Any, body: Any, text: str, tokens: tuple[int, int]) -> None:
        told = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        self._send(handler, 400, self._error(told, "unsupported_parameter"))

    def _wrong_temperature(self, handler: Any, body: Any, text: str, tokens: tuple[int, int]) -> None:
        self._send(handler, 400, self._error("'temperature' does not support 0", "unsupported_value"))

    def _no_structure(self, handler: Any, body: Any, text: str, tokens: tuple[int, int]) -> None:
        self._send(handler, 400, self._error("response_format is not supported", "invalid_request"))

    def _bad_request(self, handler: Any, body: Any, text: str, tokens: tuple[int, int]) -> None:
        self._send(handler, 400, self._error("something about this prompt", "invalid_prompt"))

    def _long(self, handler: Any, body: Any, text: str, tokens: tuple[int, int]) -> None:
        self._send(handler, 400, self._error("too many tokens", "context_length_exceeded"))

    def _truncated(self, handler: Any, body: Any, text: str, tokens: tuple[int, int]) -> None:
        whole = self._completion(body, tokens, {"content": text})
        with self.lock:
            self.seen.untold.append(self.seen.told.pop())
        self._send(handler, 200, whole[: len(whole) // 2])

    def _cut_json(self, handler: Any, body: Any, text: str, tokens: tuple[int, int]) -> None:
        self._send(handler, 200, self._completion(body, tokens, {"content": text[:5]}, "length"))

    def _wrong_schema(self, handler: Any, body: Any, text: str, tokens: tuple[int, int]) -> None:
        self._send(handler, 200, self._completion(body, tokens, {"content": '{"score": "high"}'}))

    def _refusal(self, handler: Any, body: Any, text: str, tokens: tuple[int, int]) -> None:
        message = {"content": None, "refusal": "I cannot help with that."}
        self._send(handler, 200, self._completion(body, tokens, message))

    def _overcharge(self, handler: Any, body: Any, text: str, tokens: tuple[int, int]) -> None:
        self._send(handler, 200, self._completion(body, (tokens[0], 1_000_000), {"content": text}))

    def _hang(self, handler: Any, body: Any, text: str, tokens: tuple[int, int]) -> None:
        with self.lock:
            self.seen.untold.append(tokens)
        handler.close_connection = True
        self.closing.wait(20)

    def _drop(self, handler: Any, body: Any, text: str, tokens: tuple[int, int]) -> None:
        with self.lock:
            self.seen.untold.append(tokens)
        handler.close_connection = True
        handler.connection.shutdown(socket.SHUT_RDWR)
