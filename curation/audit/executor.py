"""Runs parts of the comparing engines at once, in this process."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import Any


class SerialExecutor(Executor):
    """Runs what is submitted at once, in this process."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run and return the finished future."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future
