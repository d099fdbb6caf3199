"""An OpenAI-compatible server on loopback with a naive model, faults, and its own count of what it billed.

The model believes: it obeys "answer N" anywhere outside the source blocks of a prompt, as a model would that
can be talked to by whoever writes outside them. Inside, it takes every word for material.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sources.sample.loopback import NO_ANSWER, LoopbackServer, Reply, Request

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
    values: dict[str, Any] = {key: seed[place] % (top + 1) for place, key in enumerate(sorted(keys))}
    if keys in (["passage"], ["text"]):  # a text to search with, the same for the same material
        values = {
            keys[0]: f"Invented words {seed.hex()[:20]} on the left kidney, its cyst and how it is treated."
        }
    if "SWAPPABLE" in material:
        first_is_query = blocks[0] == min(blocks, key=len)
        values = dict.fromkeys(keys, top if first_is_query else 0)
    order = _ORDER.search(outside)
    if order:
        asked = min(int(order[1]), top)
        values = {key: asked if type(value) is int else f"{asked} " * 40 for key, value in values.items()}
    return json.dumps(values), material


class OpenAIServer(LoopbackServer):
    """Serves POST /v1/chat/completions while its context is open."""

    def __init__(
        self,
        faults: Faults = lambda text, number: None,
        *,
        structured: bool = True,
        new_limit: bool = False,
        delay: float = 0.0,
        says: Callable[[str, str], tuple[str, str]] = naive_answer,
    ) -> None:
        self.says = says
        self.faults, self.structured, self.new_limit, self.delay = faults, structured, new_limit, delay
        self.seen, self.lock = Seen(), threading.Lock()
        self.times: Counter[str] = Counter()
        self.at_once = 0
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        """Base URL of the service."""
        return f"{self.root}/v1"

    @property
    def environment(self) -> dict[str, str]:
        """What a client's environment needs."""
        return {"OPENAI_BASE_URL": self.url, "OPENAI_API_KEY": KEY}

    def __exit__(self, *error: object) -> None:
        self.closing.set()
        super().__exit__(*error)

    def answer(self, request: Request) -> Reply:
        """Answer one request, or do what a fault says."""
        with self.lock:
            self.at_once += 1
            self.seen.most_at_once = max(self.seen.most_at_once, self.at_once)
        try:
            return self._judged(json.loads(request.body))
        finally:
            with self.lock:
                self.at_once -= 1

    def _judged(self, body: dict[str, Any]) -> Reply:
        system, content = body["messages"][0]["content"], body["messages"][1]["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        prompt = "".join(part.get("text", "<image>") for part in parts)
        text, material = self.says(system, prompt)
        with self.lock:
            self.seen.requests += 1
            self.seen.bodies.append(body)
            self.times[material] += 1
            fault = self._misfit(body) or self.faults(material, self.times[material])
            self.seen.outcomes[fault or "answered"] += 1
        time.sleep(self.delay)
        tokens = (len(system + prompt) // 4, len(text) // 2)
        reply: Reply = getattr(self, f"_{fault or 'answered'}")(body, text, tokens)
        return reply

    def _misfit(self, body: dict[str, Any]) -> str | None:
        if self.new_limit and "max_tokens" in body:
            return "wrong_limit"
        if self.new_limit and "temperature" in body:
            return "wrong_temperature"
        return "no_structure" if not self.structured and "response_format" in body else None

    def _send(self, status: int, data: bytes, **headers: str) -> Reply:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return Reply(status, data, {"Content-Type": "application/json", **named})

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

    def _answered(self, body: Any, text: str, tokens: tuple[int, int]) -> Reply:
        if not self.structured:
            text = f"Here is my judgement:\n```json\n{text}\n```"
        return self._send(200, self._completion(body, tokens, {"content": text}))

    def _rate(self, body: Any, text: str, tokens: tuple[int, int]) -> Reply:
        return self._send(429, self._error("slow down", "rate_limit_exceeded"), Retry_After="0.05")

    def _quota(self, body: Any, text: str, tokens: tuple[int, int]) -> Reply:
        return self._send(429, self._error("pay first", "insufficient_quota"))

    def _unavailable(self, body: Any, text: str, tokens: tuple[int, int]) -> Reply:
        return self._send(503, b"<html>busy</html>", Content_Type="text/html")

    def _unauthorised(self, body: Any, text: str, tokens: tuple[int, int]) -> Reply:
        return self._send(401, self._error("Incorrect API key provided", KEY))

    def _wrong_limit(self, body: Any, text: str, tokens: tuple[int, int]) -> Reply:
        told = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        return self._send(400, self._error(told, "unsupported_parameter"))

    def _wrong_temperature(self, body: Any, text: str, tokens: tuple[int, int]) -> Reply:
        return self._send(400, self._error("'temperature' does not support 0", "unsupported_value"))

    def _no_structure(self, body: Any, text: str, tokens: tuple[int, int]) -> Reply:
        return self._send(400, self._error("response_format is not supported", "invalid_request"))

    def _bad_request(self, body: Any, text: str, tokens: tuple[int, int]) -> Reply:
        return self._send(400, self._error("something about this prompt", "invalid_prompt"))

    def _long(self, body: Any, text: str, tokens: tuple[int, int]) -> Reply:
        return self._send(400, self._error("too many tokens", "context_length_exceeded"))

    def _truncated(self, body: Any, text: str, tokens: tuple[int, int]) -> Reply:
        whole = self._completion(body, tokens, {"content": text})
        with self.lock:
            self.seen.untold.append(self.seen.told.pop())
        return self._send(200, whole[: len(whole) // 2])

    def _cut_json(self, body: Any, text: str, tokens: tuple[int, int]) -> Reply:
        return self._send(200, self._completion(body, tokens, {"content": text[:5]}, "length"))

    def _wrong_schema(self, body: Any, text: str, tokens: tuple[int, int]) -> Reply:
        return self._send(200, self._completion(body, tokens, {"content": '{"score": "high"}'}))

    def _refusal(self, body: Any, text: str, tokens: tuple[int, int]) -> Reply:
        message = {"content": None, "refusal": "I cannot help with that."}
        return self._send(200, self._completion(body, tokens, message))

    def _overcharge(self, body: Any, text: str, tokens: tuple[int, int]) -> Reply:
        return self._send(200, self._completion(body, (tokens[0], 1_000_000), {"content": text}))

    def _hang(self, body: Any, text: str, tokens: tuple[int, int]) -> Reply:
        with self.lock:
            self.seen.untold.append(tokens)
        self.closing.wait(20)
        return Reply(NO_ANSWER)

    def _drop(self, body: Any, text: str, tokens: tuple[int, int]) -> Reply:
        with self.lock:
            self.seen.untold.append(tokens)
        return Reply(NO_ANSWER)
