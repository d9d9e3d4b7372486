"""Section 3.1 and Lemma A.1: κ is monotone, submodular, hierarchically submodular."""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import pairwise, product

from claims import Claim, Options, none_fails, state

from mergewise import formal

AA = ("a", "a")
SEQUENCES = [merges for size in range(4) for merges in formal.valid_sequences("ab", size)]


def sequences(
    length: int, num_letters: int, num_merges: int
) -> Iterator[tuple[str, list[formal.Tokens], tuple[formal.Merge, ...]]]:
    """Strings, effective merge sequences on them, and the tokens after each of their merges."""
    for size in range(2, length + 1):
        for text in formal.strings_up_to_renaming(size, num_letters):
            for merges, _ in formal.effective_sequences(text, num_merges):
                steps = [formal.apply(merges[:i], text) for i in range(len(merges) + 1)]
                yield text, steps, merges


def is_monotone(length: int) -> Iterator[bool]:
    """Whether no merge lengthens a text."""
    for _, steps, _ in sequences(length, 3, 3):
        yield all(len(before) >= len(after) for before, after in pairwise(steps))


def is_submodular(length: int) -> Iterator[bool]:
    """Whether a merge gains less after the sequence than after any of its prefixes."""
    for text, steps, merges in sequences(length, 3, 3):
        late = formal.pair_counts(steps[-1])
        for number in range(len(merges)):
            early = formal.pair_counts(steps[number])
            made = {*text, *merges[:number]}
            yield from (early[nu] >= late[nu] for nu in late if made.issuperset(nu))


def is_hierarchical(length: int) -> Iterator[bool]:
    """Whether a merge gains less than each merge inside it did when it was first made."""
    for _, steps, merges in sequences(length, 3, 4):
        gains = [len(before) - len(after) for before, after in pairwise(steps)]
        for late, merge in enumerate(merges):
            inside = formal.submerges(merge)
            yield from (gains[i] >= gains[late] for i in range(late) if merges[i] in inside)


def lemma_holds(length: int) -> Iterator[bool]:
    """Lemma A.1: whether some merge of a sequence gains its average after another sequence."""
    for size in range(2, length + 1):
        for text in formal.strings_up_to_renaming(size, 2):
            found = [merges for merges, _ in formal.effective_sequences(text, 3)]
            for prefix in found:
                yield from (has_average(text, prefix, merges) for merges in found if merges)


def has_average(text: str, prefix: formal.Merges, merges: Iterable[formal.Merge]) -> bool:
    """Whether one of the merges gains the average of all after the prefix."""
    sequence = list(merges)
    average = Fraction(formal.gain(sequence, text, after=prefix), len(sequence))
    return any(
        formal.is_valid([*prefix, nu]) and formal.gain([nu], text, after=prefix) >= average
        for nu in sequence
    )


def makes_aaa(merges: formal.Merges) -> int:
    """A function of sequences: whether [[a,a],a] is among them."""
    return int((AA, "a") in merges)


def makes_both(merges: formal.Merges) -> int:
    """Another: whether [a,b] and [b,a] are."""
    return int(("a", "b") in merges and ("b", "a") in merges)


def is_submodular_function(f: Callable[[formal.Merges], int]) -> bool:
    """Definition 3.3, for all valid sequences of up to 3 merges over two letters."""
    return all(
        f((*merges[:end], nu)) - f(merges[:end]) >= f((*merges, nu)) - f(merges)
        for merges in SEQUENCES
        for end in range(len(merges))
        for nu in product((*"ab", *merges[:end]), repeat=2)
    )


def is_hierarchical_function(f: Callable[[formal.Merges], int]) -> bool:
    """Definition 3.7, for any two merges of the same sequences."""
    return all(
        f(merges[: early + 1]) - f(merges[:early]) >= f(merges[: late + 1]) - f(merges[:late])
        for merges in SEQUENCES
        for late in range(len(merges))
        for early in range(late)
        if merges[early] in formal.submerges(merges[late])
    )


def claims(options: Options) -> Iterator[Claim]:
    """Each property on all small strings, and the counterexamples."""
    size = 7 if options.full else 6
    yield from none_fails("Prop. 3.2", "κ is monotone", "always", is_monotone(size), "sequences")
    yield from none_fails(
        "Prop. 3.4", "κ is submodular", "always", is_submodular(size), "triples (μ', μ, ν)"
    )
    nu: list[formal.Merge] = [("b", ("c", "d")), (("b", ("c", "d")), "e")]
    gains = [formal.gain(nu, "aabcde", after=after) for after in ([AA], [AA, ("c", "d")])]
    yield Claim(
        "Example 3.5", "gains on aabcde", "0, 2", f"{gains[0]}, {gains[1]}", gains == [0, 2]
    )
    valid = formal.is_valid([AA, ("c", "d"), *nu]), formal.is_valid([AA, *nu])
    yield Claim(
        "Example 3.5",
        "the sequence that is not valid",
        "μν",
        "μ'ν" if valid == (True, False) else f"μν valid: {valid[0]}, μ'ν valid: {valid[1]}",
        valid == (False, True),
    )
    inner = formal.gain([AA], "aaa", after=[AA])
    outer = formal.gain([(AA, "a")], "aaa", after=[AA, AA])
    yield Claim(
        "Prop. 3.8",
        "κ is hierarchically submodular: aaa, μ' = ⟨[a,a]⟩, ν' = [a,a], ν = [[a,a],a]",
        "gain of ν' ≥ gain of ν",
        f"{inner} < {outer}" if inner < outer else f"{inner} ≥ {outer}",
        inner >= outer,
    )
    yield from none_fails(
        "Prop. 3.8",
        "the same where ν' stands for the first time",
        "corrected: always",
        is_hierarchical(size - 1),
        "pairs (ν', ν)",
    )
    kinds = [
        (is_submodular_function(f), is_hierarchical_function(f)) for f in (makes_aaa, makes_both)
    ]
    is_neither = kinds == [(True, False), (False, True)]
    yield Claim(
        "Section 3.1",
        "neither submodularity nor hierarchical submodularity implies the other (valid sequences "
        "of up to 3 merges over 2 letters)",
        "neither",
        "whether [[a,a],a] is made: the first alone; whether [a,b] and [b,a] both are: the second "
        "alone"
        if is_neither
        else str(kinds),
        is_neither,
    )
    yield from none_fails(
        "Lemma A.1", "some merge gains the average", "always", lemma_holds(5), "pairs (μ', μ)"
    )
    step = formal.gain([("a", "b")], "abcd", after=[("a", "b")])
    yield Claim(
        "Lemma A.1",
        "a step of its proof: abcd, μ' = ⟨[a,b]⟩; gain of [a,b], inside the best merge",
        "at least 1",
        str(step),
        step >= 1,
    )


if __name__ == "__main__":
    state(claims)
