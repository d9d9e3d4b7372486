"""Section 4: Algorithm 2 against Algorithm 1, the heap of the best M pairs, the work it saves."""

from collections.abc import Iterator

from claims import Claim, Options, counted, none_fails, state

from mergewise import formal
from mergewise.demo import opticks
from mergewise.formal import as_published


def strings(length: int) -> Iterator[tuple[str, int]]:
    """All strings of up to that many symbols and 3 letters, with 1 to 4 merges."""
    for size in range(2, length + 1):
        for text in formal.strings_up_to_renaming(size, 3):
            yield from ((text, num_merges) for num_merges in range(1, 5))


def worst_greedy(text: str, num_merges: int) -> int:
    """What greedy saves at least, however ties are broken."""
    return min(formal.utility(m, text) for m in formal.greedy_sequences(text, num_merges))


def capped_is_greedy(length: int) -> Iterator[bool]:
    """Whether a heap cut to the best M saves at least what greedy saves."""
    for text, num_merges in strings(length):
        capped = formal.utility(as_published.capped_greedy(text, num_merges), text)
        yield capped >= worst_greedy(text, num_merges)


def fast_is_slow(length: int) -> Iterator[bool]:
    """Whether Algorithm 2, corrected, returns what Algorithm 1 returns."""
    for text, num_merges in strings(length):
        yield formal.fast_greedy(text, num_merges) == formal.greedy(text, num_merges)


def claims(options: Options) -> Iterator[Claim]:
    """Iterations, equality, the heap, and the sum of all replacements."""
    steps = len(as_published.greedy_steps("abcdefgh", 3))
    yield Claim(
        "Algorithm 1", "its loop, i in {0, …, M}, with M = 3", "3 merges", str(steps), steps == 3
    )
    for text, num_merges in (("aaaabbabb", 2), ("ababcbcba", 3)):
        capped = formal.utility(as_published.capped_greedy(text, num_merges), text)
        least = worst_greedy(text, num_merges)
        yield Claim(
            "Theorem 4.2",
            f"only the top M pairs need be in the heap: {text}, M = {num_merges}",
            "nothing is lost",
            f"saves {capped}, greedy at least {least}",
            capped >= least,
        )
    length = 9 if options.full else 8
    yield from none_fails(
        "Algorithm 2",
        "it returns what Algorithm 1 returns",
        "corrected: always",
        fast_is_slow(length),
        "strings and M",
    )
    number, failures = counted(capped_is_greedy(length + 1))
    yield Claim(
        "Theorem 4.2",
        f"the same on all strings of up to {length + 1} symbols, 3 letters, M ≤ 4",
        "nothing is lost",
        f"{failures:,} of {number:,} lose",
        failures == 0,
    )
    text = opticks()[: 100_000 if options.full else 20_000]
    for num_merges in (10, 100):
        replaced = formal.utility(formal.fast_greedy(text, num_merges), text)
        yield Claim(
            "Theorem 4.2",
            f"the replacements of {num_merges} merges together (N = {len(text):,} characters of "
            "English)",
            "at most N",
            f"{replaced:,} (Algorithm 1 looks at about N M = {len(text) * num_merges:,})",
            replaced <= len(text),
        )
    pairs = formal.pair_counts(formal.apply_one(("a", "b"), "abba" + "cddc" * 5))
    scanned = {formal.show(pair) for pair in pairs if not {"a", "b", ("a", "b")} & set(pair)}
    yield Claim(
        "Example 4.1",
        "pairs that Algorithm 1 counts again in (cddc)^n after [a,b]",
        "[c,d], [d,c], [c,c]",
        ", ".join(sorted(scanned)),
        scanned == {"[c,d]", "[d,c]", "[c,c]"},
    )


if __name__ == "__main__":
    state(claims)
