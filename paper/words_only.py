"""Appendix B.1: words that merges do not cross, and each distinct word only once."""

import time
from collections.abc import Iterator

from claims import Claim, Options, state

from mergewise import formal
from mergewise.demo import opticks

PLACE = "Appendix B.1"
TEXT = "not_that_they_watch_the_watch"
SPACE_T: formal.Merge = ("_", "t")


def claims(options: Options) -> Iterator[Claim]:
    """The example, and what words cost and gain on a book."""
    tied = formal.best_pairs(TEXT)
    yield Claim(
        PLACE,
        f"the first merge of {TEXT}",
        formal.show(SPACE_T),
        f"it ties with {', '.join(formal.show(pair) for pair in tied if pair != SPACE_T)}",
        SPACE_T in tied,
    )
    tokens = formal.apply_one(SPACE_T, TEXT)
    counts = formal.pair_counts(tokens)
    across: formal.Merge = ("t", SPACE_T)
    best = formal.best_pairs(tokens)
    yield Claim(
        PLACE,
        "the next merge may be [t,[_,t]]",
        "it may",
        f"it counts {counts[across]}; {' and '.join(map(formal.show, best))} count "
        f"{counts[best[0]]}",
        across in best,
    )
    text = opticks()[: 200_000 if options.full else 50_000]
    words = formal.split_words(text)
    shorter = len(text) / sum(map(len, words))
    num_merges = 100
    seconds = []
    for corpus in (text, words):
        started = time.process_time()
        formal.greedy(corpus, num_merges)
        seconds.append(time.process_time() - started)
    yield Claim(
        PLACE,
        f"Algorithm 1 on unique words is |x|/|x_u| times as fast (N = {len(text):,} characters of "
        f"Newton's Opticks, {num_merges} merges)",
        f"{shorter:.1f} times",
        f"{seconds[0]:.2f} s and {seconds[1]:.2f} s: {seconds[0] / seconds[1]:.1f} times",
        0.5 <= seconds[0] / seconds[1] / shorter <= 2,
    )
    yield Claim(
        PLACE,
        "unique of all tokens in that text",
        "1.5 % (of 324M words)",
        f"{len(words) / words.total():.1%} (of {words.total():,} words)",
        None,
    )


if __name__ == "__main__":
    state(claims)
