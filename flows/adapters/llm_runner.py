"""Puts many prompts to a language model: cached, in parallel, with retries, within a hard budget.

One thread decides everything (what to ask, budget, ledger, store); others only wait for the server. Before a
call is sent, the most it can cost is set aside. Each answer is stored before its price is noted: a run
that is killed never pays again for an answer it stored.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, Literal

from flows.adapters.cache import AnswerCache
from flows.adapters.llm import Reply, most_tokens_in
from flows.adapters.llm_ledger import REJECTED, Ledger, Prices, money
from schemas.hashing import sha256_text
from schemas.prompt import AnswerState, By, Mode, ModelAnswer, Prompt, prompt_sha256, seed_of

Stop = Literal["budget", "fatal", "unreachable"]
STORE_VERSION: Final = 1
_KEPT_TEXT = 2_000
_IN_ROW = 3
"""A run ends when the server rejects so many prompts in a row: then it is not the prompts."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to try: `attempts` while the server is busy or lost, `content` for invalid answers."""

    attempts: int = 6
    content: int = 3
    first_wait: float = 1.0
    longest_wait: float = 60.0
    timeout: float = 120.0


@dataclass(slots=True)
class Run:
    """What a run came to. `failed` and `unasked` prompts have no answer and are asked by the next run."""

    answers: list[ModelAnswer] = field(default_factory=list)
    cached: int = 0
    calls: int = 0
    failed: int = 0
    unasked: int = 0
    stopped: Stop | None = None
    detail: str = ""
    outcomes: Counter[str] = field(default_factory=Counter)
    """Outcome or HTTP status -> calls."""


@dataclass(slots=True)
class _Task:
    """One prompt on its way: how often it was tried."""

    place: int
    prompt: Prompt
    key: bytes
    attempts: int = 0
    bad: int = 0
    call: str = ""
    sent_at: float = 0.0


def store_name(model: str) -> str:
    """Name of the store of one model's answers, hex; the prompt's own hash is the key in it."""
    return sha256_text(f"llm answers {STORE_VERSION}\0{model}\0temperature 0")


def key_of(prompt: Prompt) -> bytes:
    """Key of an answer: the hash of all that was asked, and of the seed where there is one."""
    asked = prompt_sha256(prompt.system, prompt.parts, prompt.answer_schema, prompt.max_tokens)
    if seed := seed_of(prompt.form):
        asked += f" temperature 1, seed {seed}"
    return hashlib.sha256(asked.encode()).digest()


def held(prompts: Sequence[Prompt], model: str, folder: Path) -> list[ModelAnswer]:
    """Answers already stored, in the order of the prompts; makes no store where there is none."""
    if not (folder / f"{store_name(model)[:24]}.sqlite").is_file():  # as AnswerCache names it
        return []
    with AnswerCache(folder, store_name(model)) as store:
        known = store.get(key_of(prompt) for prompt in prompts)
    return [_answer(item, model, known[key_of(item)]) for item in prompts if key_of(item) in known]


def most(prompt: Prompt, prices: Prices) -> Decimal:
    """The most one call can cost."""
    return prices.cost(most_tokens_in(prompt), prompt.max_tokens)


class Runner:
    """One run. `ask` is called from several threads, everything else from the caller's own."""

    def __init__(
        self,
        ask: Callable[[Prompt], Reply],
        valid: Callable[[Prompt, str], bool],
        model: str,
        prices: Prices,
        budget: Decimal,
        *,
        patience: Patience | None = None,
        concurrency: int = 4,
        advance: Callable[[int], None] = lambda steps: None,
    ) -> None:
        self._ask, self._valid, self._model = ask, valid, model
        self._prices, self._budget, self._advance = prices, budget, advance
        self._patience, self._concurrency = patience or Patience(), concurrency
        self._waiting: list[tuple[float, int, _Task]] = []
        self._running: dict[Future[Reply], _Task] = {}
        self._pause, self._silent_in_row, self._rejected_in_row = 0.0, 0, 0
        self._run = Run()

    def run(self, prompts: Sequence[Prompt], folder: Path, ledger_path: Path) -> Run:
        """Answer the prompts; stored answers are not asked for again.

        Args:
            prompts: with distinct ids.
            folder: of the stores.
            ledger_path: calls of all runs; the budget holds for their sum.
        """
        with (
            AnswerCache(folder, store_name(self._model)) as self._store,
            Ledger(ledger_path, self._model, self._prices) as self._ledger,
        ):
            keys = {prompt.id: key_of(prompt) for prompt in prompts}
            known = self._store.get(keys.values())
            self._reconcile(known, {prompt.id: keys[prompt.id] for prompt in prompts})
            cached = [
                _answer(item, self._model, known[keys[item.id]]) for item in prompts if keys[item.id] in known
            ]
            self._run.cached = len(cached)
            self._ledger.cached(
                len(cached), sum(a.tokens_in or 0 for a in cached), sum(a.tokens_out or 0 for a in cached)
            )
            self._advance(len(cached))
            seen = set(known)  # candidates that show the same are asked about once
            for place, prompt in enumerate(prompts):
                if (key := keys[prompt.id]) not in seen:
                    heapq.heappush(self._waiting, (0.0, place, _Task(place, prompt, key)))
                    seen.add(key)
            if self._waiting:
                self._work()
            whole = self._store.get(keys.values())
        self._run.answers = [
            _answer(item, self._model, whole[keys[item.id]]) for item in prompts if keys[item.id] in whole
        ]
        self._run.unasked = len(prompts) - len(self._run.answers) - self._run.failed
        return self._run

    def _reconcile(self, known: dict[bytes, bytes], keys: dict[str, bytes]) -> None:
        """End calls whose answer was stored by a run that was killed before it noted their price."""
        for call, (prompt, _) in sorted(self._ledger.totals.open.items()):
            stored = json.loads(known.get(keys.get(prompt, b""), b"{}"))
            if stored.get("call") == call:
                tokens = stored["tokens_in"], stored["tokens_out"]
                self._ledger.ended(call, stored["state"], None if None in tokens else tokens)

    def _work(self) -> None:
        with ThreadPoolExecutor(self._concurrency, thread_name_prefix="llm") as pool:
            try:
                while self._waiting or self._running:
                    until = self._start(pool)
                    if self._running:
                        self._collect(until)
                    elif self._run.stopped or until is None:
                        break
                    else:
                        time.sleep(until)
            finally:  # calls under way are paid for: also after Ctrl-C their answers are kept
                while self._running:
                    self._collect(None)

    def _start(self, pool: ThreadPoolExecutor) -> float | None:
        """Send what may be sent now; seconds until more may be, None when that depends on running calls."""
        while self._waiting and len(self._running) < self._concurrency and not self._run.stopped:
            ready = max(self._waiting[0][0], self._pause) - time.monotonic()
            if ready > 0:
                return ready
            task = self._waiting[0][2]
            reserved = most(task.prompt, self._prices)
            if self._ledger.totals.spent + reserved > self._budget:
                if not self._running:
                    self._run.stopped = "budget"
                    self._run.detail = f"the next call can cost up to {money(reserved)}"
                return None
            heapq.heappop(self._waiting)
            task.call = self._ledger.sent(task.prompt.id, reserved)
            task.sent_at = time.monotonic()
            self._run.calls += 1
            self._running[pool.submit(self._ask, task.prompt)] = task
        return None

    def _collect(self, timeout: float | None) -> None:
        done, _ = wait(self._running, timeout, FIRST_COMPLETED)
        for future in sorted(done, key=lambda item: self._running[item].place):
            task = self._running.pop(future)
            self._settle(task, future.result())

    def _settle(self, task: _Task, reply: Reply) -> None:
        """Store an answer, note what the call cost, and decide what becomes of the prompt."""
        outcome: str = reply.outcome
        if outcome == "answered" and not self._valid(task.prompt, reply.text):
            outcome = "invalid"
        task.bad += outcome in REJECTED
        final = outcome in ("answered", "refused", "too_long") or task.bad >= self._patience.content
        if final:
            state: AnswerState = "invalid" if outcome in REJECTED else _STATES[outcome]
            self._store.put({task.key: _stored(task, reply, state)})
        self._end(task, reply, outcome)
        self._run.outcomes[reply.detail or outcome] += 1
        self._silent_in_row = self._silent_in_row + 1 if outcome in ("busy", "lost") else 0
        if outcome not in ("busy", "lost"):
            self._rejected_in_row = self._rejected_in_row + 1 if outcome == "rejected" else 0
        if final:
            self._advance(1)
        elif outcome == "fatal":
            self._run.stopped, self._run.detail = "fatal", reply.detail
            self._again(task, 0.0)
        else:
            self._retry(task, reply, outcome)

    def _end(self, task: _Task, reply: Reply, outcome: str) -> None:
        tokens: tuple[int, int] | None = None
        if reply.tokens_in is not None and reply.tokens_out is not None:
            tokens = reply.tokens_in, reply.tokens_out
        reserved = most(task.prompt, self._prices)
        cost = self._ledger.ended(
            task.call,
            outcome,
            tokens,
            billed=reply.billed != "nothing",
            seconds=time.monotonic() - task.sent_at,
        )
        if cost > reserved:  # a server that bills more than its own limit allows makes every budget void
            self._run.stopped = "fatal"
            self._run.detail = "the server counted more tokens than the request allowed"

    def _retry(self, task: _Task, reply: Reply, outcome: str) -> None:
        """Put a prompt back, or give it up after its last attempt."""
        if outcome == "again":
            return self._again(task, 0.0)
        if outcome in REJECTED:
            return self._again(task, self._patience.first_wait / 4)
        task.attempts += 1
        silent = self._silent_in_row >= self._patience.attempts * self._concurrency
        if silent or self._rejected_in_row >= _IN_ROW:
            self._run.stopped, self._run.detail = "unreachable", reply.detail
        if outcome == "rejected" or task.attempts >= self._patience.attempts:
            self._run.failed += 1
            return None
        pause = self._patience.first_wait * 2 ** (task.attempts - 1)
        pause = min(max(pause, reply.retry_after or 0.0), self._patience.longest_wait)
        if outcome == "busy" or self._silent_in_row >= self._concurrency:  # it is not this prompt alone
            self._pause = max(self._pause, time.monotonic() + pause)
        return self._again(task, pause)

    def _again(self, task: _Task, pause: float) -> None:
        heapq.heappush(self._waiting, (time.monotonic() + pause, task.place, task))


_STATES: dict[str, AnswerState] = {"answered": "answered", "refused": "refused", "too_long": "too_long"}


def _stored(task: _Task, reply: Reply, state: AnswerState) -> bytes:
    """What is kept of an answer, with the call it came by."""
    text = reply.text if state == "answered" else reply.text[:_KEPT_TEXT]
    tokens = reply.tokens_in, reply.tokens_out
    return as_stored(task.call, state, text, reply.mode, reply.served_model, tokens)


def as_stored(
    call: str,
    state: AnswerState,
    text: str,
    mode: Mode,
    served_model: str,
    tokens: tuple[int | None, int | None],
    by: By = "model",
) -> bytes:
    """An answer as the store holds it; `call` is the one it came by, '' when none was made."""
    kept: dict[str, Any] = {
        "call": call,
        "state": state,
        "text": text,
        "mode": mode,
        "served_model": served_model,
        "tokens_in": tokens[0],
        "tokens_out": tokens[1],
    }
    if by != "model":  # answers stored before say nothing of it
        kept["by"] = by
    return json.dumps(kept, sort_keys=True).encode()


def _answer(prompt: Prompt, model: str, stored: bytes) -> ModelAnswer:
    kept = json.loads(stored)
    del kept["call"]
    return ModelAnswer(prompt_id=prompt.id, subject=prompt.subject, model=model, **kept)
