"""Normal forms by Python's unicodedata, with the tables of the core: those of Unicode 9."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, Literal, TypeAlias

from mergewise import _core

Form: TypeAlias = Literal["nfc", "nfkc"]
# What is assigned keeps its normal forms. What was not yet is no part of any, and nothing combines
# across it; so it is with lone surrogates.
NEWER: Final = re.compile(
    "([^{}]+)".format(
        "".join(
            rf"\U{first:08x}-\U{last:08x}" for first, last in _core.class_ranges(r"\p{age=9.0}")
        )
    )
)


def normalized(form: Form, text: str) -> str:
    """A text in a normal form.

    >>> normalized("nfc", "e\u0301"), normalized("nfc", "\U00011935\U00011930") == "\U00011938"
    ('é', False)
    """
    upper: Literal["NFC", "NFKC"] = "NFC" if form == "nfc" else "NFKC"
    parts = NEWER.split(text)
    parts[::2] = [unicodedata.normalize(upper, part) for part in parts[::2]]
    return "".join(parts)
