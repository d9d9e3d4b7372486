"""Checks of arguments that several functions share, made before any work is done."""

from __future__ import annotations

MOST_THREADS = 1024


def check_int(name: str, value: object) -> None:
    """Reject what is not a whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, found {type(value).__name__}")


def check_count(name: str, value: object, *, least: int = 0, most: int | None = None) -> None:
    """Reject what is not a whole number from `least` to `most`."""
    check_int(name, value)
    assert isinstance(value, int)  # noqa: S101 - for the type checker
    if value < least or (most is not None and value > most):
        expected = f"{least} or more" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be {expected}, found {value}")


def check_num_threads(num_threads: int) -> int:
    """The number of threads, 0 for all cores; what cannot be one is rejected."""
    check_count("num_threads", num_threads, most=MOST_THREADS)
    return num_threads


def check_time_limit(time_limit: object) -> None:
    """Reject what is not a number of seconds; None means no limit."""
    if time_limit is None:
        return
    if isinstance(time_limit, bool) or not isinstance(time_limit, (int, float)):
        raise TypeError(f"time_limit must be seconds, found {type(time_limit).__name__}")
    if not time_limit >= 0:
        raise ValueError(f"time_limit must be 0 or more seconds, found {time_limit}")
