"""What a worker said, out of the traceback that an engine hands to the driver."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from mergewise.errors import ClusterError

# The last line of a traceback that went through mergewise.
LAST_LINE = re.compile(r"^(?:mergewise\.errors\.\w+|ValueError|TypeError): (.+)$", re.MULTILINE)


@contextmanager
def in_one_line() -> Iterator[None]:
    """Raise what mergewise said on a worker as ClusterError; leave every other error as it is."""
    try:
        yield
    except ClusterError:
        raise
    except Exception as error:
        said = LAST_LINE.findall(str(error))
        if not said or "mergewise" not in str(error):
            raise
        raise ClusterError(f"a worker failed: {said[-1]}") from error
