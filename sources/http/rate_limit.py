"""How often one host may be asked: a token bucket shared by all threads of a client."""

from __future__ import annotations

import threading
from collections.abc import Callable


class RateLimit:
    """Token bucket of one host; `hold` pauses all threads when the host says it is busy.

    Args:
        rate: sustained requests per second.
        burst: requests that may go out at once after a pause.
        clock: monotonic seconds.
        sleep: how to wait.
    """

    def __init__(
        self, rate: float, burst: int, clock: Callable[[], float], sleep: Callable[[float], None]
    ) -> None:
        self._rate = rate
        self._burst = float(max(1, burst))
        self._clock = clock
        self._sleep = sleep
        self._tokens = self._burst
        self._last = clock()
        self._not_before = self._last
        self._lock = threading.Lock()

    def take(self) -> None:
        """Wait until one more request may go out."""
        with self._lock:
            now = self._clock()
            self._tokens = min(self._burst, self._tokens + max(0.0, now - self._last) * self._rate) - 1.0
            self._last = now
            wait = max(-self._tokens / self._rate, self._not_before - now)
        if wait > 0:
            self._sleep(wait)

    def hold(self, seconds: float) -> None:
        """Let no request go out for that long."""
        with self._lock:
            self._not_before = max(self._not_before, self._clock() + seconds)
