"""Appendix B: greedy, words only and non-iterative, their compression and their time, on a book."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from claims import Claim, Options, state
from figures import BLUE, GREEN, ORANGE, RED, canvas, name_lines, save

from mergewise import formal
from mergewise.demo import opticks

WIDTH = 5
NUM_MERGES = (10, 30, 100, 300, 1000)


def whole(text: str, num_merges: int) -> formal.Merges:
    """Algorithm 1."""
    return formal.greedy(text, num_merges)


def words_only(text: str, num_merges: int) -> formal.Merges:
    """Algorithm 1 on unique words with their counts."""
    return formal.greedy(formal.split_words(text), num_merges)


def non_iterative(text: str, num_merges: int) -> formal.Merges:
    """The most frequent merges of up to 5 symbols; every bracketing is a merge."""
    return formal.non_iterative(text, num_merges, WIDTH)


def most_frequent_strings(text: str, num_merges: int) -> set[str]:
    """The most frequent strings of up to 5 symbols."""
    counts: Counter[str] = Counter()
    for width in range(2, WIDTH + 1):
        counts.update(text[i : i + width] for i in range(len(text) - width + 1))
    return {string for string, _ in counts.most_common(num_merges)}


def tokens_left(merges: formal.Merges, text: str) -> int:
    """How many tokens merges leave, which may cross words."""
    return len(formal.apply(merges, text))


def tokens_left_of_words(merges: formal.Merges, text: str) -> int:
    """How many tokens merges leave within words."""
    return len(text) - formal.utility(merges, formal.split_words(text))


def fewest_tokens(strings: set[str], text: str) -> int:
    """How many tokens the strings leave if they are used as well as possible."""
    fewest = [0]
    for end in range(1, len(text) + 1):
        starts = range(max(0, end - WIDTH), end - 1)
        known = (fewest[start] for start in starts if text[start:end] in strings)
        fewest.append(1 + min([fewest[end - 1], *known]))
    return fewest[-1]


# By name: how it trains, how its tokens are counted, its colour.
VARIANTS: dict[str, tuple[Callable[[str, int], Any], Callable[[Any, str], int], str]] = {
    "greedy": (whole, tokens_left, BLUE),
    "words only": (words_only, tokens_left_of_words, GREEN),
    "non-iterative, merges": (non_iterative, tokens_left, RED),
    "non-iterative, strings": (most_frequent_strings, fewest_tokens, ORANGE),
}


def claims(options: Options) -> Iterator[Claim]:
    """Symbols a token, and seconds."""
    text = opticks()[: 100_000 if options.full else 20_000]
    found = {}
    for name, (train, count, _) in VARIANTS.items():
        for num_merges in NUM_MERGES:
            started = time.process_time()
            trained = train(text, num_merges)
            seconds = time.process_time() - started
            found[name, num_merges] = len(text) / count(trained, text), seconds
    for num_merges in (100, 1000):
        for name in VARIANTS:
            ratio, seconds = found[name, num_merges]
            yield Claim(
                "Appendix B",
                f"{name}: symbols a token, CPU seconds to train (M = {num_merges:,}, "
                f"{len(text):,} characters of Newton's Opticks)",
                "not given",
                f"{ratio:.2f}, {seconds:.2f} s",
                None,
            )
    if options.figures:
        draw(found, options)


def draw(found: dict[tuple[str, int], tuple[float, float]], options: Options) -> None:
    """Compression and time against the number of merges."""
    figure, both = canvas(10.5, 4, 2)
    for index, axes in enumerate(both):
        lines = {}
        for name, (_, _, colour) in VARIANTS.items():
            values = [found[name, num_merges][index] for num_merges in NUM_MERGES]
            (lines[name],) = axes.plot(NUM_MERGES, values, "-o", color=colour)
        axes.set(xscale="log", yscale="log" if index else "linear", xlabel="merges M")
        axes.set_xlim(NUM_MERGES[0] * 0.8, NUM_MERGES[-1] * 25)
        name_lines(axes, lines)
        axes.set_xticks(NUM_MERGES, list(map(str, NUM_MERGES)))
        axes.minorticks_off()
    both[0].set_ylabel("symbols a token")
    both[1].set_ylabel("CPU seconds to train")
    save(figure, "variants", options)


if __name__ == "__main__":
    state(claims)
