"""Checks of arguments that several functions share, made before any work is done."""

from __future__ import annotations

MOST_THREADS = 1024
# Numbers cross into the core with 64 bits.
LARGEST = (1 << 63) - 1


def check_int(name: str, value: object) -> int:
    """The value, if it is a whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, found {type(value).__name__}")
    return value


def check_count(name: str, value: object, *, least: int = 0, most: int | None = LARGEST) -> int:
    """The value, if it is a whole number from `least` to `most`; None: however large."""
    number = check_int(name, value)
    if number < least or (most is not None and number > most):
        expected = f"from {least} to {most}"
        if most is None or most == LARGEST:
            expected = f"{least} or more" if number < least else "less than 2^63"
        raise ValueError(f"{name} must be {expected}, found {number}")
    return number


def check_choice(name: str, value: object, *choices: str | None) -> None:
    """Reject a value that is none of the choices."""
    if value not in choices:
        expected = " or ".join(f'"{choice}"' for choice in choices if choice is not None)
        raise ValueError(f"{name} must be {expected}, found {value!r}")


def check_text(name: str, text: str | None) -> None:
    """Reject a text that has half of a surrogate pair, which is no character."""
    try:
        (text or "").encode()
    except UnicodeEncodeError as error:
        found = f"half of a surrogate pair at character {error.start}"
        raise ValueError(f"{name} must be text, found {found}") from None


def check_optional(*, least: int = 0, **values: int | None) -> None:
    """Reject values, by name, that are neither None nor whole numbers from `least` on."""
    for name, value in values.items():
        if value is not None:
            check_count(name, value, least=least)


def check_num_threads(num_threads: int) -> int:
    """The number of threads, 0 for all cores; what cannot be one is rejected."""
    return check_count("num_threads", num_threads, most=MOST_THREADS)


def check_time_limit(time_limit: object) -> None:
    """Reject what is not a number of seconds; None means no limit."""
    if time_limit is not None:
        check_seconds(time_limit)


def check_seconds(time_limit: object) -> None:
    """Reject what is not a number of seconds."""
    if isinstance(time_limit, bool) or not isinstance(time_limit, (int, float)):
        raise TypeError(f"time_limit must be seconds, found {type(time_limit).__name__}")
    if not time_limit >= 0:
        raise ValueError(f"time_limit must be 0 or more seconds, found {time_limit}")
