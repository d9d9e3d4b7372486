"""Ctrl-C during work of several parts.

A search that Ctrl-C ends has a result all the same, so its caller does not see an exception; here
the caller learns of it, and begins no further part.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def noticed_interrupts() -> Iterator[Callable[[], bool]]:
    """Yield what tells whether there was a Ctrl-C since.

    Only the main thread is interrupted, and only there can it be noticed.
    """
    before = signal.getsignal(signal.SIGINT)
    happened = False

    def notice(number: int, frame: FrameType | None) -> None:
        nonlocal happened
        happened = True
        if callable(before):
            before(number, frame)

    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield lambda: False
        return
    signal.signal(signal.SIGINT, notice)
    try:
        yield lambda: happened
    finally:
        signal.signal(signal.SIGINT, before)
