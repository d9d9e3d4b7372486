"""Which special tokens a call finds in texts, and which it refuses."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias

from mergewise import _core
from mergewise.framing import Frame

Specials: TypeAlias = Literal["all"] | Collection[str]


def choice_of(
    core: _core.Tokenizer, allowed: Specials, disallowed: Specials, frame: Frame | None = None
) -> _core.Choice:
    """The choice that the arguments of `Tokenizer.encode` make.

    Args:
        core: the tokenizer. The choice is also for others with the same special tokens.
        allowed: see `Tokenizer.encode`.
        disallowed: see `Tokenizer.encode`.
        frame: what is put around the ids of each text.
    """
    special = core.specials(always=False)
    # Those that are found in every text are never refused.
    names = [*special, *core.specials(always=True)]
    for argument, given in (("allowed", allowed), ("disallowed", disallowed)):
        if isinstance(given, str) and given != "all":
            raise TypeError(
                f'{argument}_special must be "all" or a collection of strings, found {given!r}'
            )
        unknown = set(given) - set(names) if given != "all" else None
        if unknown:
            raise ValueError(f"{argument}_special: {min(unknown)!r} is not a special token")
    is_allowed = [allowed == "all" or name in allowed for name in names]
    is_refused = [
        index < len(special)
        and (not is_allowed[index] if disallowed == "all" else name in disallowed)
        for index, name in enumerate(names)
    ]
    return core.choice(is_allowed, is_refused, frame)
