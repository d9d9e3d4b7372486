"""`mergewise inspect`."""

from __future__ import annotations

import argparse
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from mergewise import formats
from mergewise.cli.options import Parser
from mergewise.cli.output import put, put_json
from mergewise.cli.tokenizers import add_tokenizer, read_tokenizer
from mergewise.drawing import clipped, fold, shown
from mergewise.tokenizer import Tokenizer

NUM_LONGEST = 10
NUM_EXAMPLES = 5
LABEL_WIDTH = 20
PREFIX_SPACE = {
    None: "none",
    "always": "before each stretch of text",
    "unless_space": "before each stretch of text that has none",
    "once": "before the whole text",
}
BAR_WIDTH = 40
# Up to here each length has a bar of its own; then each power of two.
LAST_SINGLE = 16


def add_inspect(parser: Parser) -> None:
    """The arguments of `mergewise inspect`.

    Examples:
      mergewise inspect tokenizer.json
      mergewise inspect ranks.tiktoken --pattern cl100k --json
    """
    add_tokenizer(parser)
    parser.add_json()


def run_inspect(parsed: argparse.Namespace) -> None:
    """`mergewise inspect`."""
    tokenizer = read_tokenizer(parsed)
    name = parsed.format or formats.detect(parsed.tokenizer)
    if parsed.json:
        put_json({"format": name, **facts_of(tokenizer)})
        return
    width = shutil.get_terminal_size().columns
    put("\n".join(described(name, tokenizer, width=width)))
    put(f"\nlongest tokens\n{'id':>9}  length")
    for token_id, length, string in longest_tokens(tokenizer):
        put(clipped(f"{token_id:>9}  {length:>6}  {shown(string)}", width))
    put("\n".join([f"\nlengths in {tokenizer.alphabet}", *histogram(lengths_of(tokenizer))]))


def facts_of(tokenizer: Tokenizer) -> dict[str, Any]:
    """All facts about a tokenizer, for JSON."""
    vocabulary = tokenizer.vocabulary
    return {
        "vocab_size": tokenizer.vocab_size,
        "num_tokens": num_tokens(tokenizer),
        "special_tokens": tokenizer.special_tokens,
        "alphabet": tokenizer.alphabet,
        "byte_fallback": vocabulary.byte_tokens is not None,
        "pattern": tokenizer.pattern,
        "normalize": tokenizer.normalize,
        "prefix_space": vocabulary.prefix_space,
        "end_of_word": vocabulary.end_of_word.decode() or None,
        "num_merges": len(tokenizer.merges),
        "num_unusable_merges": tokenizer.core.num_unusable_merges,
        "depth": depth_of(tokenizer.merges),
        "unreachable": sorted(tokenizer.core.unreachable),
        "longest": [
            {"id": i, "token": string.decode(errors="surrogateescape"), "length": length}
            for i, length, string in longest_tokens(tokenizer)
        ],
        "lengths": lengths_of(tokenizer),
    }


def described(name: str, tokenizer: Tokenizer, *, width: int) -> Iterator[str]:
    """The facts that fit a line, with their labels."""
    for label, value in rows_of(name, tokenizer).items():
        # A pattern must not change, and so is not folded.
        room = max(width - LABEL_WIDTH, LABEL_WIDTH)
        folded = [value] if label == "pattern" else fold(value, room)
        yield f"{label:<{LABEL_WIDTH}}" + f"\n{'':<{LABEL_WIDTH}}".join(folded)


def rows_of(name: str, tokenizer: Tokenizer) -> dict[str, str]:
    """The facts about a tokenizer, by label."""
    specials = [f"{shown(text.encode())} = {i}" for text, i in tokenizer.special_tokens.items()]
    unreachable = sorted(tokenizer.core.unreachable)
    strings = [f"{shown(tokenizer.token_bytes(i))} = {i}" for i in unreachable[:NUM_EXAMPLES]]
    unusable = tokenizer.core.num_unusable_merges
    return {
        "format": name,
        "vocabulary size": f"{tokenizer.vocab_size:,}",
        "tokens": f"{num_tokens(tokenizer):,}",
        "special tokens": with_examples(len(specials), specials),
        "alphabet": described_symbols(tokenizer),
        "pattern": tokenizer.pattern or "none: merges cross everything",
        "normalisation": tokenizer.normalize or "none",
        "prefix space": PREFIX_SPACE[tokenizer.vocabulary.prefix_space],
        "merges": f"{len(tokenizer.merges):,}",
        "unusable merges": "(the file has ranks)" if unusable is None else f"{unusable:,}",
        "deepest tree": f"{depth_of(tokenizer.merges):,} merges from the root to a leaf",
        "unreachable tokens": with_examples(len(unreachable), strings)
        + " (found as whole words alone)" * tokenizer.is_by_whole_words,
    }


def described_symbols(tokenizer: Tokenizer) -> str:
    """The symbols of a word before any merge."""
    vocabulary = tokenizer.vocabulary
    parts = [str(tokenizer.alphabet)]
    if vocabulary.byte_tokens is not None:
        parts.append("bytes for characters that are no tokens")
    if vocabulary.end_of_word:
        parts.append(f"{shown(vocabulary.end_of_word)} at the end of a word")
    return ", ".join(parts)


def with_examples(number: int, examples: Iterable[str]) -> str:
    """A number and the first of what it counts.

    >>> with_examples(7, "abcdefg"), with_examples(0, "")
    ('7: a, b, c, d, e, ...', '0')
    """
    few = ", ".join(islice(examples, NUM_EXAMPLES)) + ", ..." * (number > NUM_EXAMPLES)
    return f"{number:,}: {few}" if number else "0"


def histogram(lengths: dict[int, int]) -> Iterator[str]:
    r"""A line with a bar for each length, or range of them.

    >>> print("\n".join(histogram({1: 256, 2: 128, 20: 1})))
            1      256  ████████████████████████████████████████
            2      128  ████████████████████
        17-32        1  ▏
    """
    bins: Counter[tuple[int, int]] = Counter()
    for length, number in lengths.items():
        bins[bin_of(length)] += number
    most = max(bins.values(), default=1)
    for (first, last), number in sorted(bins.items()):
        label = str(first) if first == last else f"{first}-{last}"
        yield f"  {label:>7}  {number:>7,}  {bar(number / most)}"


def bin_of(length: int) -> tuple[int, int]:
    """The first and the last length of the bar that counts this one."""
    if length <= LAST_SINGLE:
        return length, length
    last = 1 << (length - 1).bit_length()
    return last // 2 + 1, last


def bar(part: float) -> str:
    """A bar in eighths of a column, at least one."""
    eighths = max(1, round(part * BAR_WIDTH * 8))
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def num_tokens(tokenizer: Tokenizer) -> int:
    """The number of ids of tokens that are not special."""
    vocabulary = tokenizer.vocabulary
    ids = {*vocabulary.tokens.values(), *(vocabulary.byte_tokens or ())}
    return len(ids - set(tokenizer.special_tokens.values()))


def longest_tokens(tokenizer: Tokenizer) -> list[tuple[int, int, bytes]]:
    """The ids, lengths and strings of the longest tokens, the longest first."""
    tokens = tokenizer.vocabulary.tokens
    lengths = sorted((-length_of(string, tokenizer), string) for string in tokens)
    return [(tokens[string], -minus, string) for minus, string in lengths[:NUM_LONGEST]]


def lengths_of(tokenizer: Tokenizer) -> dict[int, int]:
    """The number of tokens of each length."""
    lengths = Counter(length_of(string, tokenizer) for string in tokenizer.vocabulary.tokens)
    return dict(sorted(lengths.items()))


def length_of(string: bytes, tokenizer: Tokenizer) -> int:
    """The number of symbols: bytes, or characters."""
    if tokenizer.alphabet == "bytes":
        return len(string)
    ending = tokenizer.vocabulary.end_of_word
    return len(string.removesuffix(ending).decode(errors="surrogateescape"))


def depth_of(merges: Iterable[tuple[bytes, bytes]]) -> int:
    """The depth of the deepest merge tree, in merges from the root to a leaf.

    >>> depth_of([(b"a", b"b"), (b"ab", b"a"), (b"c", b"b")])
    2
    """
    depths: dict[bytes, int] = {}
    # The parts are shorter than the whole, whatever the order of the merges.
    for left, right in sorted(merges, key=lambda pair: len(pair[0]) + len(pair[1])):
        depth = 1 + max(depths.get(left, 0), depths.get(right, 0))
        depths[left + right] = max(depth, depths.get(left + right, 0))
    return max(depths.values(), default=0)
