"""Has a language model answer prompts: the one way, for `review judge` and for the model stages of a build.

Answers lie in `<workspace>/answers/`, one file per model, under the hash of all that was asked; what calls
cost lies in a ledger that one process at a time writes. A prompt whose answer is stored is never sent again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from curation.prompts.answers import is_valid
from flows.adapters.llm import Images, Llm, Server, server_from
from flows.adapters.llm_ledger import Prices, Totals, amount, money
from flows.adapters.llm_runner import Patience, Run, Runner, most
from flows.engine.progress import Reporter
from flows.engine.workspace import Workspace
from schemas.errors import FetchError, UsageError, WorkspaceError
from schemas.prompt import Prompt

_BEFORE = ("review", "answers")
"""Where only the judge's answers lay once."""


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms a model is asked. Without prices only a server of this machine is asked, as free."""

    model: str
    budget: Decimal = Decimal(5)
    prices: Prices | None = None
    concurrency: int = 4
    patience: Patience = field(default_factory=Patience)


@dataclass(frozen=True, slots=True)
class Access:
    """The server that the environment names, or why there is none: that matters only if one is needed."""

    server: Server | None
    refusal: UsageError | None = None

    @property
    def is_local(self) -> bool:
        """Whether what is sent stays on this machine."""
        return self.server is not None and self.server.is_local


def access(environment: Mapping[str, str]) -> Access:
    """How to reach the server that OPENAI_BASE_URL and OPENAI_API_KEY name."""
    try:
        return Access(server_from(environment))
    except UsageError as error:
        return Access(None, error)


def prices_of(price_in: str | None, price_out: str | None) -> Prices | None:
    """The prices that --price-in and --price-out give; None when neither is given.

    Raises:
        UsageError: one without the other, or not an amount.
    """
    if price_in is None and price_out is None:
        return None
    if price_in is None or price_out is None:
        raise UsageError("--price-in and --price-out belong together")
    return Prices(amount(price_in, "--price-in"), amount(price_out, "--price-out"))


def store_of(workspace: Workspace) -> Path:
    """Folder of the stored answers of all models; those that the judge stored elsewhere are moved there."""
    folder, before = workspace.answers, workspace.root.joinpath(*_BEFORE)
    if before.is_dir() and not folder.exists():
        with contextlib.suppress(OSError):  # another process was first
            before.rename(folder)
    return folder


@contextlib.contextmanager
def alone(home: Path, what: str) -> Iterator[None]:
    """Hold the folder of a ledger: two runs would each believe in a budget of their own.

    Raises:
        WorkspaceError: another run holds it.
    """
    home.mkdir(parents=True, exist_ok=True)
    lock = FileLock(home / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise WorkspaceError(
            f"another run is {what}", file=str(home), hint="wait for it: it stores every answer as it comes"
        ) from error
    try:
        yield
    finally:
        lock.release()


def no_images(sha256: str) -> tuple[bytes, str]:
    """Images for prompts that show none."""
    raise AssertionError(f"no image belongs to these prompts: {sha256}")


def ask(
    prompts: Sequence[Prompt],
    terms: Terms,
    reach: Access,
    *,
    store: Path,
    ledger: Path,
    reporter: Reporter,
    name: str,
    images: Images = no_images,
) -> Run:
    """Ask what has no answer yet; answers held already are part of the run.

    Args:
        prompts: with distinct ids.
        terms: model, budget, prices.
        reach: the server.
        store: folder of the stored answers.
        ledger: of what calls cost; the budget holds for all runs it has seen.
        reporter: where progress is shown.
        name: what the progress is called.
        images: bytes and media type of an image by its hash.

    Raises:
        UsageError: there is no server, no price for one elsewhere, or the extra is missing.
    """
    server = reach.server
    if server is None:
        raise reach.refusal or UsageError("no server to ask")
    prices = terms.prices
    if prices is None:
        if not server.is_local:
            raise UsageError(
                "the budget needs prices",
                hint="give --price-in and --price-out per million tokens; 0 for a server that costs nothing",
            )
        prices = Prices(Decimal(0), Decimal(0))
    llm = Llm(server, terms.model, terms.patience.timeout, images)
    try:
        with reporter.stage(name, len(prompts), "prompts") as steps:
            runner = Runner(
                llm.ask,
                is_valid,
                terms.model,
                prices,
                terms.budget,
                patience=terms.patience,
                concurrency=terms.concurrency,
                advance=steps.advance,
            )
            return runner.run(prompts, store, ledger)
    finally:
        llm.close()


def at_most(prompts: Sequence[Prompt], prices: Prices | None) -> str | None:
    """The most that one call for each of some prompts can cost; None without prices."""
    if prices is None:
        return None
    return money(sum((most(prompt, prices) for prompt in prompts), Decimal(0)))


def check_stopped(run: Run, stored: int) -> None:
    """Tell that a server made a run end; what was answered is stored.

    Raises:
        FetchError: it refused every request, or could not be reached.
    """
    if run.stopped in ("fatal", "unreachable"):
        raise FetchError(
            f"the model server stopped the run: {run.detail}",
            hint=f"{stored} answers are stored; run the same command again when the cause is gone",
        )


def spent(run: Run, totals: Totals, budget: Decimal) -> dict[str, Any]:
    """This run, and what its ledger adds up to."""
    return {
        "calls": run.calls,
        "failed": run.failed,
        "unasked": run.unasked,
        "stopped": run.stopped,
        "detail": run.detail,
        "outcomes": dict(sorted(run.outcomes.items())),
        "budget": money(budget),
        "spent": money(totals.known),
        "perhaps_spent": money(totals.spent - totals.known),
        "tokens_in": totals.tokens_in,
        "tokens_out": totals.tokens_out,
        "seconds": round(totals.seconds, 1),
        "rejected": totals.rejected,
    }
