"""What calls to language models cost: an append-only JSONL file, written before a call is sent and after it.

A call that was sent and has no end counts with the most it can have cost: a kill cannot break a budget.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from types import TracebackType
from typing import Any

from schemas.errors import UsageError, WorkspaceError

MILLION = Decimal(1_000_000)
REJECTED = ("invalid", "cut")
"""Outcomes of calls that brought an answer nobody can use."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Price of a million tokens, in the currency the budget is in."""

    tokens_in: Decimal
    tokens_out: Decimal

    def cost(self, tokens_in: int, tokens_out: int) -> Decimal:
        """Price of so many tokens, exact."""
        return (self.tokens_in * tokens_in + self.tokens_out * tokens_out) / MILLION


def amount(text: str, name: str) -> Decimal:
    """An amount of money written by a person.

    Raises:
        UsageError: not a number, negative, or not finite.
    """
    try:
        value = Decimal(text)
    except InvalidOperation as error:
        raise UsageError(f"{name}: {text!r} is not a number") from error
    if not value.is_finite() or value < 0:
        raise UsageError(f"{name} must be 0 or more, not {text}")
    return value


def money(value: Decimal) -> str:
    """An amount as text: no exponent, no zeros at its end."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


@dataclass(slots=True)
class Totals:
    """What a ledger adds up to. `unknown` is the most that calls without a known price can have cost."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    """Time that servers took, summed over calls."""
    rejected: int = 0
    """Answers that came and were in no form that was asked for."""
    known: Decimal = Decimal(0)
    unknown: Decimal = Decimal(0)
    open: dict[str, tuple[str, Decimal]] = field(default_factory=dict)
    """call -> its prompt and the most it can cost: calls that were sent and have no end."""

    @property
    def spent(self) -> Decimal:
        """The most that can have been spent."""
        return self.known + self.unknown + sum((most for _, most in self.open.values()), Decimal(0))


class Ledger:
    """Open as a context, by one process at a time. Lines hold no text, key or address."""

    def __init__(self, path: Path, model: str, prices: Prices) -> None:
        self.path, self._model, self._prices = path, model, prices
        path.parent.mkdir(parents=True, exist_ok=True)
        self.totals, self._sends = _read(path)
        self._handle = path.open("ab")
        if self._handle.tell() and not path.read_bytes().endswith(b"\n"):
            self._handle.write(b"\n")  # a kill cut the last line

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._handle.close()

    def sent(self, prompt: str, most: Decimal) -> str:
        """Note that a call is about to be sent; its name."""
        number = self._sends[prompt] = self._sends.get(prompt, 0) + 1
        call = f"{prompt}/{number}"
        self._write({"event": "sent", "call": call, "prompt": prompt, "most": money(most)})
        self.totals.calls += 1
        self.totals.open[call] = (prompt, most)
        return call

    def ended(
        self,
        call: str,
        outcome: str,
        tokens: tuple[int, int] | None,
        *,
        billed: bool = True,
        seconds: float | None = None,
    ) -> Decimal:
        """Note how a call ended: known tokens, unknown ones (None), or not billed; its cost at most."""
        _, most = self.totals.open.pop(call)
        line: dict[str, Any] = {"event": "ended", "call": call, "outcome": outcome}
        if seconds is not None:
            line["seconds"] = round(seconds, 3)
        if not billed:
            line["cost"] = "0"
        elif tokens is None:
            line["at_most"] = money(most)
        else:
            cost = self._prices.cost(*tokens)
            line |= {"tokens_in": tokens[0], "tokens_out": tokens[1], "cost": money(cost)}
        self._write(line)
        return _add(self.totals, line)

    def cached(self, answers: int, tokens_in: int, tokens_out: int) -> None:
        """Note that answers were already held, and the tokens that they did not cost again."""
        if answers:
            held = {"answers": answers, "tokens_in": tokens_in, "tokens_out": tokens_out}
            self._write({"event": "cached", **held})

    def _write(self, line: dict[str, Any]) -> None:
        whole = {**line, "model": self._model, "at": datetime.now(UTC).isoformat(timespec="seconds")}
        self._handle.write(json.dumps(whole, sort_keys=True).encode() + b"\n")
        self._handle.flush()
        if (
            line["event"] == "sent"
        ):  # an end that a power cut takes away counts in full, a call would not at all
            os.fsync(self._handle.fileno())


def _add(totals: Totals, line: dict[str, Any]) -> Decimal:
    totals.seconds += float(line.get("seconds", 0))
    totals.rejected += line["outcome"] in REJECTED
    if "at_most" in line:
        cost = Decimal(line["at_most"])
        totals.unknown += cost
    else:
        cost = Decimal(line["cost"])
        totals.known += cost
        totals.tokens_in += int(line.get("tokens_in", 0))
        totals.tokens_out += int(line.get("tokens_out", 0))
    return cost


def read_totals(path: Path) -> Totals:
    """What a ledger adds up to; zeros when there is none.

    Raises:
        WorkspaceError: it cannot be read.
    """
    return _read(path)[0]


def _read(path: Path) -> tuple[Totals, dict[str, int]]:
    totals = Totals()
    sends: dict[str, int] = {}
    try:
        lines = path.read_bytes().splitlines() if path.exists() else []
    except OSError as error:
        raise WorkspaceError(f"the cost ledger cannot be read: {error}", file=str(path)) from error
    for text in lines:
        try:
            line = json.loads(text)
        except ValueError:
            continue  # cut by a kill: a call not sent yet, or one whose end is unknown
        if line["event"] == "sent":
            totals.calls += 1
            totals.open[line["call"]] = (line["prompt"], Decimal(line["most"]))
            sends[line["prompt"]] = sends.get(line["prompt"], 0) + 1
        elif line["event"] == "ended" and totals.open.pop(line["call"], None):
            _add(totals, line)
    return totals, sends
