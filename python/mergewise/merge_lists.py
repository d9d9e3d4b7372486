"""Between the core's lists of merges and tokenizers."""

from __future__ import annotations

from collections.abc import Sequence

from mergewise import _core
from mergewise.counts import WordCounts
from mergewise.errors import InvalidMergesError
from mergewise.tokenizer import Tokenizer
from mergewise.vocabulary import Alphabet, Vocabulary


def no_merges(counts: WordCounts, alphabet: Alphabet) -> _core.MergeList:
    """An empty list over the bytes, or over the characters of the words."""
    if alphabet == "chars":
        return _core.MergeList([], alphabet=counts.core.characters())
    if alphabet == "bytes":
        return _core.MergeList([])
    raise ValueError(f'alphabet must be "bytes" or "chars", found {alphabet!r}')


def merge_list_of(tokenizer: Tokenizer) -> _core.MergeList:
    """The merges of a tokenizer, with its symbols in the order that ties go by."""
    vocabulary = tokenizer.vocabulary
    if vocabulary.end_of_word:
        raise ValueError("training cannot continue from merges that mark the ends of words")
    if vocabulary.alphabet == "chars":
        symbols = "".join(text for text in map(bytes.decode, vocabulary.tokens) if len(text) == 1)
        empty = _core.MergeList([], alphabet=symbols)
    else:
        is_in_letter_order = vocabulary.tokens[b"!"] < vocabulary.tokens[b"\x00"]
        empty = _core.MergeList([], letter_order=is_in_letter_order)
    numbers = {empty.token_bytes(number): number for number in range(empty.num_tokens)}
    pairs = []
    for index, (left, right) in enumerate(tokenizer.merges):
        if left not in numbers or right not in numbers:
            missing = left if left not in numbers else right
            raise InvalidMergesError(f"merge {index} uses {missing!r}, which no earlier one makes")
        pairs.append((numbers[left], numbers[right]))
        numbers.setdefault(left + right, len(numbers))
    if vocabulary.alphabet == "chars":
        return _core.MergeList(pairs, alphabet=symbols)
    return _core.MergeList(pairs, letter_order=is_in_letter_order)


def vocabulary_of(
    merges: _core.MergeList,
    counts: WordCounts,
    special_tokens: Sequence[str],
    initial: Tokenizer | None,
) -> Vocabulary:
    """The vocabulary of merges. Tokens of an initial tokenizer keep their ids."""
    strings = [merges.token_bytes(number) for number in range(merges.num_tokens)]
    tokens = {string: number for number, string in enumerate(strings)}
    kept = None if initial is None else initial.vocabulary
    if kept is None or all(tokens[string] == kept.tokens[string] for string in kept.tokens):
        next_id, old_specials = len(tokens), {}
    else:
        assert initial is not None  # noqa: S101 - for the type checker
        new = (string for string in strings if string not in kept.tokens)
        tokens = {**kept.tokens, **{s: i for i, s in enumerate(new, start=initial.vocab_size)}}
        next_id, old_specials = max(tokens.values()) + 1, dict(kept.special_tokens)
    new_specials = (token for token in special_tokens if token not in old_specials)
    return Vocabulary(
        tokens=tokens,
        merges=[(strings[left], strings[right]) for left, right in merges.pairs],
        alphabet="chars" if merges.alphabet == "chars" else "bytes",
        pattern=counts.pattern,
        normalize=counts.normalize,
        special_tokens={
            **old_specials,
            **{token: i for i, token in enumerate(new_specials, start=next_id)},
        },
    )
