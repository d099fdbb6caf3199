"""Processes that end with the one that started them, however that one ends.

As a script (`python -P worker_lifetime.py PID MODULE …`) it runs a module so, and the module finds nothing of
ours: the folder it lies in holds names of other packages (`run`, `settings`).
"""

from __future__ import annotations

import os
import runpy
import sys
import threading
import time

SECONDS = 0.5
"""Between looks at who the parent is; asking works on every Unix, and from any thread of the parent."""


def end_with(parent: int) -> None:
    """End this process, at once, soon after its parent has.

    Args:
        parent: process id of the parent; one that is gone already counts as ended.
    """
    threading.Thread(target=_watch, args=(parent,), name="worker lifetime", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(SECONDS)
    os._exit(1)


if __name__ == "__main__":
    end_with(int(sys.argv[1]))
    sys.argv = sys.argv[2:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
