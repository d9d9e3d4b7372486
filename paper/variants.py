"""Appendix B: greedy, words only and non-iterative, their compression and their time, on a book."""

import time
from collections import Counter
from collections.abc import Callable, Iterator

from claims import Claim, Options, state
from figures import BLUE, GREEN, ORANGE, RED, canvas, name_line, save

from mergewise import formal
from mergewise.demo import opticks

WIDTH = 5
NUM_MERGES = (10, 30, 100, 300, 1000)


def whole(text: str, num_merges: int) -> int:
    """Tokens left by greedy on the whole text."""
    return len(text) - formal.utility(formal.fast_greedy(text, num_merges), text)


def words_only(text: str, num_merges: int) -> int:
    """Tokens left by greedy on unique words."""
    words = formal.split_words(text)
    return len(text) - formal.utility(formal.greedy(words, num_merges), words)


def non_iterative(text: str, num_merges: int) -> int:
    """Tokens left by the most frequent merges of up to 5 symbols; every bracketing is a merge."""
    merges = formal.non_iterative(text, num_merges, WIDTH)
    return len(formal.apply(merges, text))


def most_frequent_strings(text: str, num_merges: int) -> int:
    """The fewest tokens with the most frequent strings of up to 5 symbols: the best such use."""
    counts: Counter[str] = Counter()
    for width in range(2, WIDTH + 1):
        counts.update(text[i : i + width] for i in range(len(text) - width + 1))
    chosen = {string for string, _ in counts.most_common(num_merges)}
    fewest = [0]
    for end in range(1, len(text) + 1):
        starts = range(max(0, end - WIDTH), end - 1)
        known = (fewest[start] for start in starts if text[start:end] in chosen)
        fewest.append(1 + min([fewest[end - 1], *known]))
    return fewest[-1]


VARIANTS: dict[str, tuple[Callable[[str, int], int], str]] = {
    "greedy (Algorithm 2)": (whole, BLUE),
    "words only": (words_only, GREEN),
    "non-iterative, merges": (non_iterative, RED),
    "non-iterative, fewest tokens": (most_frequent_strings, ORANGE),
}


def claims(options: Options) -> Iterator[Claim]:
    """Symbols a token, and seconds."""
    text = opticks()[: 100_000 if options.full else 20_000]
    found = {}
    for name, (variant, _) in VARIANTS.items():
        for num_merges in NUM_MERGES:
            started = time.process_time()
            tokens = variant(text, num_merges)
            found[name, num_merges] = len(text) / tokens, time.process_time() - started
    for num_merges in (100, 1000):
        for name in VARIANTS:
            ratio, seconds = found[name, num_merges]
            yield Claim(
                "Appendix B",
                f"{name}: symbols a token, CPU seconds (M = {num_merges:,}, "
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
        for name, (_, colour) in VARIANTS.items():
            values = [found[name, num_merges][index] for num_merges in NUM_MERGES]
            (line,) = axes.plot(NUM_MERGES, values, "-o", color=colour)
            name_line(axes, line, name)
        axes.set(xscale="log", xlabel="merges M")
        axes.set_xlim(NUM_MERGES[0] * 0.8, NUM_MERGES[-1] * 40)
        axes.set_xticks(NUM_MERGES, list(map(str, NUM_MERGES)))
        axes.minorticks_off()
    both[0].set_ylabel("symbols a token")
    both[1].set(yscale="log", ylabel="CPU seconds")
    save(figure, "variants", options)


if __name__ == "__main__":
    state(claims)
