"""Who runs the jobs of a session: processes of this machine, or a cluster where the settings name one."""

from __future__ import annotations

import contextlib
import contextvars
import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from flows.adapters.places import open_place
from flows.cluster.sending import Sending
from flows.cluster.store import ShardStore, note_store
from flows.engine.execution import Workers, closing, workers
from flows.engine.scratch import own_temporary
from flows.engine.session import Session
from flows.engine.settings import Settings
from schemas.errors import UsageError
from schemas.wording import counted, without_password

PATIENCE_SECONDS = 20.0
"""How long the scheduler may be asked for, before any work, without an answer."""
_ONCE: contextvars.ContextVar[Callable[[int], Workers] | None] = contextvars.ContextVar(
    "medqrels_hired_once", default=None
)


@contextlib.contextmanager
def hired_once() -> Iterator[None]:
    """Have sessions inside hire the same processes of this machine: each takes seconds to begin."""
    with own_temporary(), contextlib.ExitStack() as until_the_end:
        token = _ONCE.set(functools.cache(lambda count: until_the_end.enter_context(workers(count))))
        try:
            yield
        finally:
            _ONCE.reset(token)


@contextlib.contextmanager
def hired(session: Session) -> Iterator[Workers]:
    """The workers of a session, let go at the end.

    Raises:
        UsageError: a cluster without a store or the other way round; an extra is missing.
        FetchError: the cluster or the store cannot be reached.
    """
    settings = session.settings
    if not settings.dask and not settings.store:
        if once := _ONCE.get():
            yield once(settings.worker_count)
            return
        with workers(settings.worker_count) as pool:
            yield pool
        return
    check_cluster(settings.dask, settings.store)
    from flows.cluster.dask_workers import DaskWorkers

    store, where = _store(settings)
    note_store(session.workspace, where["store"])
    store.begin()
    sending = Sending(session.workspace, store)
    with closing(DaskWorkers(settings.dask, sending, where, session.reporter.line)) as cluster:
        yield cluster


def store_address(settings: Settings) -> str:
    """The store of the settings, as every machine names it."""
    return settings.store if "://" in settings.store else str(Path(settings.store).absolute())


def _store(settings: Settings) -> tuple[ShardStore, dict[str, Any]]:
    """The store of the settings, and what workers need to open it too."""
    where: dict[str, Any] = {
        "store": store_address(settings),
        "attempts": settings.http.attempts,
        "timeout_seconds": settings.http.timeout_seconds,
    }
    place = open_place(where["store"], attempts=where["attempts"], timeout_seconds=where["timeout_seconds"])
    return ShardStore(place), where


def reach(settings: Settings) -> str:
    """Find out before hours of work whether cluster and store are there; what was found, '' if none is named.

    Raises:
        UsageError: a cluster without a store or the other way round; an extra is missing.
        FetchError: the cluster or the store cannot be reached.
    """
    if not settings.dask and not settings.store:
        return ""
    check_cluster(settings.dask, settings.store)
    store = reach_store(settings)
    return f"{told_workers(settings, count_workers(settings))}; store {store}"


def told_workers(settings: Settings, count: int) -> str:
    """Workers of the settings' scheduler, as people are told of them."""
    return f"{counted(count, 'worker')} at {without_password(settings.dask)}"


def count_workers(settings: Settings) -> int:
    """The workers that the scheduler of the settings has now; more may come later.

    Raises:
        UsageError, FetchError: as :func:`reach`.
    """
    from flows.cluster.dask_workers import workers_at

    return workers_at(settings.dask, PATIENCE_SECONDS)


def reach_store(settings: Settings) -> str:
    """The store of the settings, as people are told of it; see :func:`reach`."""
    store, _ = _store(settings)
    told = "begun before" if store.is_seen() else "with nothing in it yet"
    return f"{without_password(store.place.address)}, {told}"


def check_cluster(dask: str, store: str) -> None:
    """Refuse half a choice.

    Raises:
        UsageError: one is named and the other is not.
    """
    if bool(dask) != bool(store):
        missing = "--store (or MEDQRELS_STORE)" if dask else "--dask (or MEDQRELS_DASK)"
        raise UsageError(
            f"workers of a cluster share a store: {missing} is missing",
            hint="--dask tcp://HOST:8786 --store s3://BUCKET/PREFIX, or a folder that all machines mount",
        )
