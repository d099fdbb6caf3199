"""Which addresses are of this machine, the only ones that may be asked over plain http."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})


def is_here(url: str) -> bool:
    """Whether an address is of this machine.

    Raises:
        ValueError: it is no address.
    """
    return urlsplit(url).hostname in LOOPBACK


def is_private(url: str) -> bool:
    """Whether nobody on the way can read or change what is asked there: by https, or on this machine.

    Raises:
        ValueError: it is no address.
    """
    return urlsplit(url).scheme == "https" or (urlsplit(url).scheme == "http" and is_here(url))
