"""Faults of a busy or broken server, drawn by seed and passing: the same request works when asked again."""

from __future__ import annotations

import random

from sources.sample.server import Fault, Faults

KINDS = (
    Fault("status", status=503),
    Fault("status", status=429, retry_after="1"),
    Fault("reset"),
    Fault("truncate"),
    Fault("wrong_bytes"),
    Fault("html"),
    Fault("drip", seconds=0.00002),
    Fault("drip", seconds=0.02),
)
"""SlowDown, Retry-After, reset, cut body, wrong MD5, HTML for an object, a slow body, one too slow."""


def transient(seed: int, share: float = 0.25, most: int = 2) -> Faults:
    """Faults for about `share` of the keys, each for its first one to `most` requests.

    What befalls a key depends only on seed and key, so that threads and kills do not change the weather.
    """

    def faults(method: str, key: str, count: int) -> Fault | None:
        rng = random.Random(f"{seed}\n{key}")
        if rng.random() >= share or count > rng.randint(1, most):
            return None
        return rng.choice(KINDS)

    return faults
