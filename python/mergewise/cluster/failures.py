"""Errors of workers, read from the traceback that an engine hands to the driver."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from mergewise.errors import ClusterError

# The last line of a traceback that went through mergewise.
LAST_LINE = re.compile(r"^(?:mergewise\.errors\.\w+|ValueError|TypeError): (.+)$", re.MULTILINE)


@contextmanager
def in_one_line() -> Iterator[None]:
    """Raise an error of mergewise on a worker as ClusterError; leave others as they are."""
    try:
        yield
    except ClusterError:
        raise
    except Exception as error:
        messages = LAST_LINE.findall(str(error))
        if not messages or "mergewise" not in str(error):
            raise
        raise ClusterError(f"a worker failed: {messages[-1]}") from error
