"""The ids of trained tokenizers."""

from __future__ import annotations

from collections.abc import Sequence

from mergewise import _core
from mergewise.arguments import check_choice
from mergewise.counts import WordCounts
from mergewise.tokenizer import Tokenizer
from mergewise.vocabulary import Alphabet


def no_merges(counts: WordCounts, alphabet: Alphabet | None) -> _core.MergeList:
    """An empty list over the bytes, which is the default, or over the characters of the words."""
    check_choice("alphabet", alphabet, None, "bytes", "chars")
    is_chars = alphabet == "chars"
    return _core.MergeList([], alphabet=counts.core.characters() if is_chars else None)


def tokenizer_of(
    merges: _core.MergeList,
    counts: WordCounts,
    special_tokens: Sequence[str] = (),
    initial: Tokenizer | None = None,
) -> Tokenizer:
    """The tokenizer of merges.

    The tokens have the ids of the list, and the special tokens follow. Where that would change ids
    of an initial tokenizer, its tokens keep theirs, and the new ones follow them.
    """
    tokens = None if initial is None else kept_tokens(merges, initial)
    next_id = merges.num_tokens if tokens is None else max(tokens.values()) + 1
    specials = {} if tokens is None or initial is None else initial.core.specials(always=False)
    for token in special_tokens:
        if token not in specials:
            specials[token] = next_id
            next_id += 1
    return Tokenizer(
        _core.Tokenizer.from_merges(
            merges,
            pattern=counts.pattern,
            normalize=counts.normalize,
            special_tokens=list(specials.items()),
            tokens=None if tokens is None else list(tokens.items()),
        )
    )


def kept_tokens(merges: _core.MergeList, initial: Tokenizer) -> dict[bytes, int] | None:
    """All tokens with the ids that the initial tokenizer has; None if the list has the same."""
    numbers = {string: number for number, string in enumerate(merges.tokens)}
    kept = dict(initial.vocabulary.tokens)
    if all(numbers.get(string) == token_id for string, token_id in kept.items()):
        return None
    new = (string for string in numbers if string not in kept)
    return {**kept, **{s: i for i, s in enumerate(new, start=initial.vocab_size)}}
