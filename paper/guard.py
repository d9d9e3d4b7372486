"""Algorithm 3: whether the search is exact with its guard, as printed and as corrected."""

from collections.abc import Iterator

from claims import Claim, Options, state

from mergewise import formal
from mergewise.formal import as_published

PLACE = "Algorithm 3"


def instances(length: int) -> Iterator[tuple[str, int, int]]:
    """Strings of up to 3 letters, numbers of merges, and the optimum by unpruned search."""
    for size in range(2, length + 1):
        for text in formal.strings_up_to_renaming(size, 3 if size < 8 else 2):
            for num_merges in range(2, 5):
                yield text, num_merges, formal.exact_brute_force(text, num_merges).utility


def claims(options: Options) -> Iterator[Claim]:
    """The smallest failure, how many there are, and that the corrected guard has none."""
    for text in ("aaa", "aba"):
        found, best = as_published.exact(text, 2), formal.exact_brute_force(text, 2)
        yield Claim(
            PLACE,
            f"its guard is exact: {text}, M = 2",
            f"{best.utility} (the optimum)",
            str(found.utility),
            found.utility == best.utility,
        )
    length = 8 if options.full else 6
    known = list(instances(length))
    for name, search, published in (
        ("its guard as printed, μ ⋗ μ₋₁", as_published.exact, "always"),
        ("a guard that keeps one order of neighbours that commute", formal.exact_guarded,
         "corrected: always"),
    ):  # fmt: skip
        wrong = sum(search(text, m).utility != best for text, m, best in known)
        yield Claim(
            PLACE,
            f"{name}, finds the optimum (n ≤ {length}, M = 2 to 4)",
            published,
            f"{wrong:,} of {len(known):,} strings and M wrong",
            wrong == 0,
        )


if __name__ == "__main__":
    state(claims)
