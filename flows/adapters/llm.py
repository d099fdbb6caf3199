"""Asks one question of an OpenAI-compatible server, through the package openai, an extra (llm).

One call is one attempt: who asks again, when and for how much is decided in llm_runner. What a server says in
an error is never shown, for servers repeat keys; only its status and its error code are.
"""

from __future__ import annotations

import base64
import json
import logging
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from schemas.address import LOOPBACK
from schemas.errors import UsageError
from schemas.hashing import sendable
from schemas.prompt import Mode, Prompt, seed_of

DEFAULT_URL: Final = "https://api.openai.com/v1"
BASE_URL, API_KEY = "OPENAI_BASE_URL", "OPENAI_API_KEY"
IMAGE_TOKENS: Final = 40_000
"""More tokens than any known server counts for one image."""
OVERHEAD_TOKENS: Final = 256
"""More than chat templates add to two messages."""
MAX_REPLY_BYTES: Final = 32 * 1024 * 1024
_STRUCTURED = ("response_format", "json_schema", "structured", "schema", "grammar")
_CODE = re.compile(r"[a-z0-9_.\-]{1,60}", re.IGNORECASE)

Images = Callable[[str], tuple[bytes, str]]
"""Hex SHA-256 of an image -> its bytes and media type."""
Outcome = Literal["answered", "refused", "too_long", "cut", "again", "busy", "lost", "rejected", "fatal"]
"""answered: a text came · refused, too_long: there will be none · cut: no whole text came · again: ask now,
the request was adapted · busy, lost: ask again later · rejected: this one fails · fatal: all will fail."""
Billed = Literal["usage", "nothing", "unknown"]


@dataclass(frozen=True, slots=True)
class Server:
    """Where to ask. The key shows in no text form of this."""

    url: str
    key: str = field(repr=False)

    @property
    def host(self) -> str:
        """Host name, without the credentials an address may hold."""
        return urlsplit(self.url).hostname or ""

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine."""
        return self.host in LOOPBACK


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one attempt. Tokens are None when the server did not count them."""

    outcome: Outcome
    billed: Billed
    text: str = ""
    mode: Mode = "json_schema"
    served_model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    retry_after: float | None = None
    detail: str = ""


def server_from(environment: Mapping[str, str]) -> Server:
    """The server that OPENAI_BASE_URL and OPENAI_API_KEY name.

    Raises:
        UsageError: not an http(s) address, no key for the default server, or a key that would go unencrypted.
    """
    url = environment.get(BASE_URL) or DEFAULT_URL
    key = environment.get(API_KEY, "")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{BASE_URL} is not an http or https address")
    server = Server(url, key or "none")
    if not key and url == DEFAULT_URL:
        raise UsageError(
            f"{API_KEY} is not set", hint=f"set it, or {BASE_URL} to the address of another server"
        )
    if key and parts.scheme == "http" and not server.is_local:
        raise UsageError(
            f"{API_KEY} would be sent unencrypted to {server.host}",
            hint=f"use https in {BASE_URL}, or unset {API_KEY} if that server needs none",
        )
    return server


def most_tokens_in(prompt: Prompt) -> int:
    """An upper bound of a prompt's tokens: no tokeniser makes more tokens than there are UTF-8 bytes."""
    texts = [prompt.system, prompt.answer_schema]
    texts += [part.value for part in prompt.parts if part.kind == "text"]
    images = sum(part.kind == "image" for part in prompt.parts)
    return sum(len(text.encode()) for text in texts) + images * IMAGE_TOKENS + OVERHEAD_TOKENS


@dataclass(slots=True)
class _Features:
    """What this server understands; learned from its refusals."""

    structured: bool = True
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    seed: bool = True


class Llm:
    """One model on one server. Safe to be asked from several threads."""

    def __init__(self, server: Server, model: str, timeout: float, images: Images) -> None:
        try:
            import openai
        except ImportError as error:
            raise UsageError(
                f"a language model needs openai, which is not installed ({error})",
                hint="install the extra: make setup EXTRAS=llm",
            ) from error
        for name in (
            "openai",
            "httpx",
            "httpx2",
            "httpcore",
            "httpcore2",
        ):  # they would log addresses and prompts
            logging.getLogger(name).setLevel(logging.ERROR)
        self._openai: Any = openai
        self._client: Any = openai.OpenAI(
            api_key=server.key, base_url=server.url, timeout=timeout, max_retries=0
        )
        self._model, self._images, self._features = model, images, _Features()
        self._timeout = timeout

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    def ask(self, prompt: Prompt) -> Reply:
        """One attempt; what goes wrong at the server is told in the reply."""
        sent = self._request(prompt)
        mode: Mode = "json_schema" if "response_format" in sent else "plain"
        try:
            body = self._body(sent)
        except self._openai.APIStatusError as error:
            return self._refusal(error, sent)
        except self._openai.APIConnectionError as error:
            cause = type(error.__cause__).__name__
            unsent = cause in ("ConnectError", "ConnectTimeout")
            return Reply("lost", "nothing" if unsent else "unknown", detail=cause.casefold())
        except TimeoutError:
            return Reply("lost", "unknown", detail="deadline")
        except Exception as error:  # the library tells of a body that ends early as its own library does
            if not any(kind.__name__ == "TransportError" for kind in type(error).__mro__):
                raise
            return Reply("lost", "unknown", detail=type(error).__name__.casefold())
        return _completion(body, mode)

    def _body(self, sent: Mapping[str, Any]) -> bytes:
        """What the server answers, as far as it keeps to time and size.

        The library's timeout is for each wait: a server that sends a byte a second would be heard for hours.

        Raises:
            TimeoutError: it does not.
        """
        end, body = time.monotonic() + self._timeout, bytearray()
        with self._client.chat.completions.with_streaming_response.create(**sent) as reply:
            for piece in reply.iter_bytes():
                body += piece
                if time.monotonic() > end or len(body) > MAX_REPLY_BYTES:
                    raise TimeoutError
        return bytes(body)

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        features = self._features
        content: str | list[dict[str, Any]] = prompt.parts[0].value
        if len(prompt.parts) > 1 or prompt.parts[0].kind == "image":
            content = [self._part(part.kind, part.value) for part in prompt.parts]
        messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": content}]
        sent: dict[str, Any] = {"model": self._model, "messages": messages, features.limit: prompt.max_tokens}
        seed = seed_of(prompt.form)
        if features.temperature:
            sent["temperature"] = 1 if seed else 0
        if seed and features.seed:
            sent["seed"] = seed
        if features.structured:
            form = {"name": "answer", "strict": True, "schema": json.loads(prompt.answer_schema)}
            sent["response_format"] = {"type": "json_schema", "json_schema": form}
        return sent

    def _part(self, kind: str, value: str) -> dict[str, Any]:
        if kind == "text":
            return {"type": "text", "text": value}
        data, media = self._images(value)
        url = f"data:{media};base64,{base64.b64encode(data).decode()}"
        return {"type": "image_url", "image_url": {"url": url, "detail": "high"}}

    def _refusal(self, error: Any, sent: Mapping[str, Any]) -> Reply:
        """What an HTTP error means."""
        status, code, told = int(error.status_code), _code(error), _told(error)
        detail = f"http_{status}" + (f" {code}" if code else "")
        if status == 429 and code == "insufficient_quota":
            return Reply("fatal", "nothing", detail=detail)
        if status in (408, 409, 429) or (status >= 500 and status != 501):
            wait = _retry_after(error.response.headers.get("retry-after"))
            billed: Billed = "nothing" if status in (429, 503) else "unknown"
            return Reply("busy", billed, retry_after=wait, detail=detail)
        if "content_filter" in code or "content_policy" in code:
            return Reply("refused", "nothing", detail=detail)
        if status == 413 or "context_length" in code or "context length" in told:
            return Reply("too_long", "nothing", detail=detail)
        if status in (400, 422, 501) and self._adapt(told, sent):
            return Reply("again", "nothing", detail=detail)
        outcome: Outcome = "rejected" if status in (400, 422) else "fatal"
        return Reply(outcome, "nothing", detail=detail)

    def _adapt(self, told: str, sent: Mapping[str, Any]) -> bool:
        """Leave out what the server refused; False when nothing of what was sent can be."""
        features = self._features
        if "max_tokens" in sent and "max_completion_tokens" in told:
            features.limit = "max_completion_tokens"
        elif "temperature" in sent and "temperature" in told:
            features.temperature = False
        elif "seed" in sent and "seed" in told:
            features.seed = False
        elif "response_format" in sent and any(word in told for word in _STRUCTURED):
            features.structured = False
        else:
            return False
        return True


_MOST_TOKENS = 2**31 - 1
"""A server that counts more than this has not counted."""


def _completion(body: bytes, mode: Mode) -> Reply:
    """What a reply with status 200 holds."""
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):  # a page of whatever stands before the server
        return Reply("lost", "unknown", mode=mode, detail="no_completion")
    try:
        choice = value["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
    except (TypeError, LookupError, AttributeError):
        return Reply("cut", "unknown", mode=mode, detail="no_completion")
    usage = value.get("usage")
    counts = [usage.get(key) for key in ("prompt_tokens", "completion_tokens")] if _is_map(usage) else [None]
    known = all(type(count) is int and 0 <= count <= _MOST_TOKENS for count in counts)
    tokens = tuple(counts) if known else (None, None)
    finish, served = choice.get("finish_reason"), value.get("model")
    outcome: Outcome = "answered"
    if refusal or finish == "content_filter":
        outcome = "refused"
    elif finish == "length" or not isinstance(text, str) or not text.strip():
        outcome = "cut"
    return Reply(
        outcome,
        "usage" if known else "unknown",
        text=sendable(text) if isinstance(text, str) and outcome != "refused" else "",
        mode=mode,
        served_model=sendable(served) if isinstance(served, str) else "",
        tokens_in=tokens[0],
        tokens_out=tokens[1],
        detail=f"finish_{finish}" if outcome == "cut" and finish == "length" else "",
    )


def _is_map(value: Any) -> bool:
    return isinstance(value, dict)


def _code(error: Any) -> str:
    """The error's code, when it looks like one and not like a sentence that may repeat a key."""
    for name in ("code", "type"):
        value = getattr(error, name, None)
        if isinstance(value, str) and _CODE.fullmatch(value) and not value.casefold().startswith("sk-"):
            return value.casefold()
    return ""


def _told(error: Any) -> str:
    """Everything the server said, to be searched for known words only."""
    return f"{getattr(error, 'message', '')} {json.dumps(error.body, default=str)}".casefold()


def _retry_after(text: str | None) -> float | None:
    try:
        return max(0.0, float(text)) if text is not None else None
    except ValueError:  # a date; the back-off serves as well
        return None
