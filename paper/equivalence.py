"""Section 5: conflicts, safe permutations, and when two merge sequences do the same."""

import random
from collections.abc import Iterator
from itertools import combinations, product

from claims import Claim, Options, state
from english import sentences

from mergewise import formal
from mergewise.formal import as_published

AB = ("a", "b")
DD, CA = ("d", "d"), ("c", "a")


def behaviours(length: int) -> dict[tuple[formal.Merge, ...], tuple[formal.Tokens, ...]]:
    """What each sequence of three merges over {a, b} makes of all strings up to a length."""
    texts = ["".join(t) for size in range(2, length + 1) for t in product("ab", repeat=size)]
    return {
        merges: tuple(formal.apply(merges, text) for text in texts)
        for merges in formal.valid_sequences("ab", 3)
    }


def disagreements(length: int) -> Iterator[tuple[bool, bool, bool]]:
    """For each ordered pair of sequences: the same, equivalent as published, as corrected."""
    found = behaviours(length)
    for first in found:
        for second in found:
            if first != second:
                yield (
                    found[first] == found[second],
                    set(first) == set(second) and as_published.are_equivalent(first, second),
                    formal.are_equivalent(first, second),
                )


def fewer_conflicts() -> Iterator[Claim]:
    """How many pairs of merges conflict, in English and over three letters."""
    letters = random.Random(0)  # noqa: S311 (no secret)
    english = sentences(50)
    synthetic = ["".join(letters.choices("abc", k=64)) for _ in english]
    for kind, merges_of, conflicts in (
        ("pairs of neighbours", formal.pair_counts, as_published.conflicts),
        ("first 10 greedy merges", first_merges, as_published.conflicts),
        ("first 10 greedy merges, conflicts as corrected", first_merges, formal.conflicts),
    ):
        shares = []
        for texts in (english, synthetic):
            pairs = [pair for text in texts for pair in combinations(merges_of(text), 2)]
            shares.append(sum(conflicts(*pair) for pair in pairs) / len(pairs))
        yield Claim(
            "Section 5",
            "far fewer merge conflicts arise in natural language than over {a, b, c}: 50 strings "
            f"of 64 characters, {kind}",
            "far fewer",
            f"{shares[0]:.0%} of pairs of merges in English, {shares[1]:.0%} over three letters",
            shares[0] < shares[1] / 2,
        )


def first_merges(text: str) -> formal.Merges:
    """What greedy chooses first."""
    return formal.greedy(text, 10, ties=formal.first_occurrence)


def shown(merges: formal.Merges, text: str) -> str:
    """What the merges make of a text."""
    return " ".join(formal.show(tree) for tree in formal.apply(merges, text))


def claims(_options: Options) -> Iterator[Claim]:
    """The examples, and the proposition in both directions."""
    merges, permuted = (AB, DD, CA), (CA, DD, AB)
    for sequence, published in (
        (merges, "[d,d] [a,b] [c,a] [c,a] b"),
        (permuted, "[d,d] [a,b] [c,a] c [a,b]"),
    ):
        result = shown(sequence, "ddabcacab")
        name = ", ".join(map(formal.show, sequence))
        yield Claim("Section 5", f"⟨{name}⟩ on ddabcacab", published, result, result == published)
    for first, second, published_conflict in (
        (("x", AB), (AB, "y"), True),
        (AB, (("b", "c"), "d"), False),
    ):
        by_letters = as_published.conflicts(first, second)
        matters = formal.conflicts(first, second)
        yield Claim(
            "Def. 5.2",
            f"{formal.show(first)} and {formal.show(second)} conflict exactly if their order "
            "matters",
            f"conflict: {by_letters}",
            f"their order matters: {matters}",
            by_letters == matters == published_conflict,
        )
    po, ha = ("p", "o"), ("h", "a")
    texts = ["".join(t) for size in range(1, 7) for t in product("poha", repeat=size)]
    differing = sum(formal.apply([po, ha], t) != formal.apply([ha, po], t) for t in texts)
    yield Claim(
        "Section 5",
        "⟨[p,o], [h,a]⟩ and ⟨[h,a], [p,o]⟩ induce the same bracketing",
        "always",
        f"they differ on {differing} of {len(texts):,} strings; they commute: "
        f"{formal.are_equivalent([po, ha], [ha, po])}",
        differing == 0 and formal.are_equivalent([po, ha], [ha, po]),
    )
    yield from fewer_conflicts()
    first_order: list[formal.Merge] = [AB, ("a", AB), (AB, "b")]
    second_order = [AB, *first_order[:0:-1]]
    one, other = shown(first_order, "aabb"), shown(second_order, "aabb")
    is_safe = as_published.are_equivalent(first_order, second_order)
    yield Claim(
        "Prop. 5.5",
        "⟨[a,b], [a,[a,b]], [[a,b],b]⟩ with its last two exchanged (safe) does the same on aabb",
        "equivalent" if is_safe else "not equivalent",
        f"{one} and {other}",
        one == other,
    )
    pairs = list(disagreements(8))
    for index, claim, published in (
        (1, "equivalent if and only if a safe permutation leads from one to the other", "always"),
        (2, "the same, if swaps of neighbours that commute do", "corrected: always"),
    ):
        wrong = sum(pair[index] and not pair[0] for pair in pairs)
        missed = sum(pair[0] and not pair[index] for pair in pairs)
        yield Claim(
            "Prop. 5.5",
            claim,
            published,
            f"of {len(pairs):,} pairs of sequences {wrong} are called equivalent and differ, "
            f"{missed} are equivalent and not called so",
            wrong == missed == 0,
        )


if __name__ == "__main__":
    state(claims)
