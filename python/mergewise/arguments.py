"""Arguments that many verbs share, checked before anything is done."""

from __future__ import annotations

MOST_THREADS = 1024


def check_int(name: str, value: object) -> None:
    """Refuse what is not a whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, found {type(value).__name__}")


def check_count(name: str, value: object, *, least: int = 0) -> None:
    """Refuse what is not a whole number, or is too small."""
    check_int(name, value)
    assert isinstance(value, int)  # noqa: S101 - for the type checker
    if value < least:
        raise ValueError(f"{name} must be {least} or more, found {value}")


def check_num_threads(num_threads: object) -> None:
    """Refuse what is no number of threads."""
    check_int("num_threads", num_threads)
    assert isinstance(num_threads, int)  # noqa: S101 - for the type checker
    if not 0 <= num_threads <= MOST_THREADS:
        raise ValueError(
            f"num_threads must be from 0 (all cores) to {MOST_THREADS}, found {num_threads}"
        )


def check_time_limit(time_limit: object) -> None:
    """Refuse what is no number of seconds; None: there is no limit."""
    if time_limit is None:
        return
    if isinstance(time_limit, bool) or not isinstance(time_limit, (int, float)):
        raise TypeError(f"time_limit must be seconds, found {type(time_limit).__name__}")
    if not time_limit >= 0:
        raise ValueError(f"time_limit must be 0 or more seconds, found {time_limit}")
