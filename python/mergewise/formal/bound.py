"""What M merges, or M tokens, can save at most: bounds that a list of integers proves.

The words of a corpus are strings with counts. `merge_bound` holds against every merge list, and
`token_bound` against every vocabulary. Both take *discounts*: whole numbers, 0 or more, in units
of 1/`one`, from which prices follow. Every list of discounts gives a bound that holds, so whoever
found them need not be trusted.

**Merge lists.** A list of M merges makes of each word a row of binary trees; each inner node is a
span of the word, with the string of one of the merges. In all words a string is cut into the same
two parts: what happened inside a node was decided inside it, by the order of the merges, and so is
what happens to its string alone. So each of the M strings has one *split*. Give each symbol a price
of at most 1 and each span one too, and let the loss of a span at a split be what its two parts cost
more than it does:

    loss(e, split) = price(left) + price(right) - price(e);  at least 0

Climbing a tree from its leaves, the prices of its symbols sum to at most the price of its root,
which is at most 1, plus the losses of its inner nodes. Over all trees: the prices of all symbols
sum to at most the number of trees plus the losses of all inner nodes, which have only M different
strings, each with one split. So

    saved = symbols - trees <= sum of (1 - price) over the symbols + the M largest losses of strings

where the loss of a string is the largest of its splits, and that of a split the sum over the
occurrences; as no two nodes of one string overlap, the heaviest set of occurrences that do not
overlap will do.

Strings that occur at most `floor` times, or are longer than `counted`, get no price. Every string
that contains one of them is one of them: so take all their nodes out, from the roots down. Each
that goes adds one tree. So each of the M losses above counts as `floor` at least, for a rare string
has no more nodes; and as often as the first `counted` + 1 symbols of one that is too long occur.

The other strings have a price. If they are longer than `longest`, no discount says which: a long
span e costs as much as its symbols, D(e), negative prices taken as 0, but at most 1. A shorter span
costs at most as much as its dearest parts, so, from short to long, at most as much as its symbols.
So two parts of e cost at most D(e), and at most 2, and its loss is at most min(2, D(e)) - min(1,
D(e)): by how much D(e) exceeds 1, but at most 1. No long string should lose more than a string must
to be among the M: so instead of taking each for itself, each of the M losses counts as the largest
of a long string at least.

No tree has more than 2^M symbols, and no word fewer than one token, which bounds what is saved
too.

Words are cut into pieces where a pair has no price, and long strings are looked for in the pieces
alone. So each pair that occurs more than `floor` times must have one: `longest` is 2 or more.

**Cases.** Take any string: a list has it among its M strings, or it lacks it. So a tree of such
questions sorts all lists into cases, and if each case has a bound, by prices of its own, the
largest bounds them all. In a case, no string that is lacked is a node, and those that a list has
are among its M: so their losses are added, and of the others only as many as are left.

**Rings.** Of spans that cross at most one is a node: what rings of strings make of that, `rings`
says, and proves. They add a sum to the bound and a toll to the losses of some strings, and take
credits from the losses of spans.

**Vocabularies.** Here symbols alone have prices, of at most 1, and a token may be any string. The
symbols of a token of one symbol cost at most 1, those of a longer one at most 1 plus its loss, by
which their sum exceeds 1. Sum over the tokens of a text as before. A string that occurs at most
`floor` times is only in words that do so too, and loses at most `floor` times the largest loss of
a span of these; one longer than `counted` is only in words that are, and loses at most the largest
loss of a span of these, as many times as its first `counted` + 1 symbols occur. Strings longer than
`longest` are again not taken one by one: each loss counts as the largest of them at least. Of all
these, negative prices are taken as 0, so that the largest loss of a span in a word is that of the
word.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import TypeVar

from mergewise.formal.rings import Chains, Rings, check_rings, credits_of, tolls_of

Word = TypeVar("Word", str, bytes)


def merge_bound(
    words: Mapping[Word, int],
    num_merges: int,
    discounts: Iterable[int],
    *,
    one: int,
    floor: int,
    longest: int,
    counted: int = 0,
    cases: Iterable[Word | None] = (None,),
    rings: Rings[Word] = (),
    chains: Chains[Word] = (),
) -> int:
    """No list of `num_merges` merges saves more than this on the words.

    Words are cut where a pair has no price, and the pieces taken in ascending order, each once. For
    each symbol of a piece, `discounts` has by how much its price is below 1; then, for each longer
    string with a price that begins there, from short to long, by how much its price is below that
    of its dearest two parts, or below 1 if those cost more. Symbols outside the pieces cost 1. The
    discounts of the cases follow each other, in the order of `all_cases`.

    A proof of one case may have rings, and chains of three strings or four. Then the credits follow
    the discounts: for each piece, those of its places, in ascending order (`rings.places_of`).

    The piece of "abab" is "ab", twice, as "ba" occurs only once:

    >>> merge_bound({"abab": 1}, 1, [0, 0, 0], one=4, floor=1, longest=2)
    2

    Of these, no two merges save more than 6; whatever the discounts, prices alone prove 7 at best:

    >>> words = {"abc": 2, "bca": 2, "cab": 2}
    >>> numbers, ring = [0] * 15 + [1] * 3, ["ab", "bc", "ca"]
    >>> merge_bound(words, 2, numbers, one=1, floor=2, longest=2, rings=[(ring, 2, [])])
    6
    """
    check_setting(words, num_merges, one=one, floor=floor, longest=longest, counted=counted)
    cases = list(cases)
    check_rings(rings, chains, cases)
    priced, pieces = pieces_of(words, floor, longest)
    counted = max(counted, longest)
    rest = iter(discounts)
    bound = 0
    for has, lacks in all_cases(cases):
        prices, losses, total = losses_of(pieces, rest, priced, one, rings=rings, chains=chains)
        total += sum(n * sum(one - price for price in prices[piece]) for piece, n in pieces.items())
        long, too_long = long_losses(
            pieces, prices, one=one, floor=floor, longest=longest, counted=counted, most=one
        )
        least = max(floor * one, too_long * one, long)
        total += sum(losses[string] if string in priced else least for string in has)
        others = {s: loss for s, loss in losses.items() if s not in has and s not in lacks}
        total += largest(others, max(0, num_merges - len(has)), least)
        bound = max(bound, total // one)
    check_end(rest)
    return min(bound, sum(n * (len(w) - fewest_trees(w, num_merges)) for w, n in words.items()))


def all_cases(cases: Iterable[Word | None]) -> Iterator[tuple[frozenset[Word], frozenset[Word]]]:
    """The cases of a tree: in each the strings that a list has, and those that it lacks.

    A tree is None, a case that is not divided further; or a string, followed by the tree of the
    lists that have it and the tree of those that do not.

    >>> [(sorted(has), sorted(lacks)) for has, lacks in all_cases(["ab", None, "bc", None, None])]
    [(['ab'], []), (['bc'], ['ab']), ([], ['ab', 'bc'])]
    """
    to_come: list[tuple[frozenset[Word], frozenset[Word]]] = [(frozenset(), frozenset())]
    for string in cases:
        if not to_come:
            raise ValueError("there are more cases than the tree has")
        has, lacks = to_come.pop()
        if string is None:
            yield has, lacks
        else:
            to_come += [(has, lacks | {string}), (has | {string}, lacks)]
    if to_come:
        raise ValueError("a case is missing")


def token_bound(
    words: Mapping[Word, int],
    num_tokens: int,
    discounts: Iterable[int],
    *,
    one: int,
    floor: int,
    longest: int,
    counted: int = 0,
) -> int:
    """No vocabulary of `num_tokens` strings, beside the symbols, saves more than this on the words.

    `discounts` has, for the words of two symbols or more in ascending order, by how much the price
    of each symbol is below 1.

    >>> token_bound({"abab": 3}, 1, [1, 1, 1, 1], one=2, floor=0, longest=4)
    9
    """
    check_setting(words, num_tokens, one=one, floor=floor, longest=longest, counted=counted)
    occurrences = occurrences_of(words, longest)
    total = least = 0
    losses: dict[Word, int] = defaultdict(int)
    largest_of: dict[Word, int] = {}
    prices: dict[Word, list[int]] = {}
    rest = iter(discounts)
    for word in sorted(word for word in words if len(word) > 1):
        off = take(rest, len(word), word)
        prices[word] = [one - number for number in off]
        total += words[word] * sum(off)
        largest_of[word] = sum(max(0, price) for price in prices[word]) - one
        if words[word] <= floor:
            least = max(least, floor * largest_of[word])
        places: dict[Word, list[tuple[int, int]]] = defaultdict(list)
        for start in range(len(word)):
            for end in range(start + 2, min(len(word), start + longest) + 1):
                loss = max(0, sum(prices[word][start:end]) - one)
                if occurrences[word[start:end]] > floor:
                    places[word[start:end]].append((start, loss))
        for string, lost in places.items():
            losses[string] += words[word] * heaviest(lost, len(string))
    check_end(rest)
    counted = max(counted, longest)
    long, too_long = long_losses(
        words, prices, one=one, floor=floor, longest=longest, counted=counted, most=None
    )
    beyond = (lost for word, lost in largest_of.items() if len(word) > counted)
    least = max(least, long, too_long * max(beyond, default=0))
    bound = (total + largest(losses, num_tokens, least)) // one
    return min(bound, sum(n * (len(w) - 1) for w, n in words.items()))


def check_setting(words: Mapping[Word, int], number: int, **setting: int) -> None:
    """Refuse numbers for which the proofs above do not hold.

    >>> check_setting({"abab": 1}, 1, one=4, floor=0, longest=1, counted=0)
    Traceback (most recent call last):
    ValueError: longest is 1, expected a whole number of 2 or more
    """
    least = {"one": 1, "longest": 2}
    values = {"the number of merges or tokens": number, **setting}
    counts = {f"the count of {word!r}": count for word, count in words.items()}
    for name, value in (values | counts).items():
        if not isinstance(value, int) or value < least.get(name, 0):
            expected = f"a whole number of {least.get(name, 0)} or more"
            raise ValueError(f"{name} is {value!r}, expected {expected}")


def occurrences_of(words: Mapping[Word, int], longest: int) -> Counter[Word]:
    """How often each string of two symbols up to `longest` occurs."""
    occurrences = Counter[Word]()
    for word, count in words.items():
        for string in spans(word, longest):
            occurrences[string] += count
    return occurrences


def spans(word: Word, longest: int) -> list[Word]:
    """The strings of two symbols up to `longest` in a word, each as often as it occurs.

    >>> spans("abc", 3)
    ['ab', 'abc', 'bc']
    """
    ends = {start: min(len(word), start + longest) for start in range(len(word))}
    return [word[start:end] for start in ends for end in range(start + 2, ends[start] + 1)]


def pieces_of(
    words: Mapping[Word, int], floor: int, longest: int
) -> tuple[set[Word], Counter[Word]]:
    """The strings that have a price against merge lists, and the pieces with their counts."""
    priced = {string for string, n in occurrences_of(words, longest).items() if n > floor}
    pieces = Counter[Word]()
    for word, count in words.items():
        for piece in cut(word, priced):
            pieces[piece] += count
    return priced, pieces


def cut(word: Word, priced: set[Word]) -> list[Word]:
    """The pieces of a word, cut where a pair has no price; only those of two symbols or more.

    >>> cut("abxcd", {"ab", "cd"})
    ['ab', 'cd']
    """
    breaks: list[int] = [i for i in range(1, len(word)) if word[i - 1 : i + 1] not in priced]
    edges = [0, *breaks, len(word)]
    pieces = [word[start:end] for start, end in pairwise(edges)]
    return [piece for piece in pieces if len(piece) > 1]


def losses_of(
    pieces: Mapping[Word, int],
    numbers: Iterator[int],
    priced: set[Word],
    one: int,
    *,
    rings: Rings[Word],
    chains: Chains[Word],
) -> tuple[dict[Word, list[int]], dict[Word, int], int]:
    """What the symbols of each piece cost, what each string loses in all, and what rings add."""
    discounts = iter(list(islice(numbers, sum(len(items(piece, priced)) for piece in pieces))))
    taken, added = credits_of(pieces, numbers, priced, rings, chains)
    prices: dict[Word, list[int]] = {}
    of_splits: dict[tuple[Word, int], int] = defaultdict(int)
    for piece in sorted(pieces):
        prices[piece], places = losses_in(piece, discounts, priced, one)
        for split, lost in places.items():
            size = len(split[0])
            rest = [(at, max(0, loss - taken[piece, (at, at + size)])) for at, loss in lost]
            of_splits[split] += pieces[piece] * heaviest(rest, size)
    losses: dict[Word, int] = defaultdict(int)
    for (string, _), loss in of_splits.items():
        losses[string] = max(losses[string], loss)
    for string, toll in tolls_of(rings).items():
        if string in priced:
            losses[string] += toll
    return prices, losses, added


def items(piece: Word, priced: set[Word]) -> list[tuple[int, int]]:
    """The symbols and the spans with a price in a piece, as their discounts follow each other.

    >>> items("abc", {"ab", "bc"})
    [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
    """
    found = []
    for start in range(len(piece)):
        end = start + 1
        found.append((start, end))
        while end < len(piece) and piece[start : end + 1] in priced:
            end += 1
            found.append((start, end))
    return found


def losses_in(
    piece: Word, discounts: Iterator[int], priced: set[Word], one: int
) -> tuple[list[int], dict[tuple[Word, int], list[tuple[int, int]]]]:
    """What the symbols of a piece cost; and where each string loses how much at each split.

    A split is a string and the length of its left part. Here *ab* costs 0 and loses all, so that
    *abc* loses nothing where it is made of *ab* and *c*:

    >>> prices, places = losses_in("abc", iter([0, 4, 0, 0, 0, 0]), {"ab", "bc", "abc"}, 4)
    >>> prices, places["ab", 1], places["abc", 1], places["abc", 2]
    ([4, 4, 4], [(0, 8)], [(0, 4)], [(0, 0)])
    """
    spans = items(piece, priced)
    written = dict(zip(spans, take(discounts, len(spans), piece), strict=True))
    prices: dict[tuple[int, int], int] = {}
    places: dict[tuple[Word, int], list[tuple[int, int]]] = defaultdict(list)
    for start, end in sorted(written, key=lambda span: span[1] - span[0]):
        off = written[start, end]
        if end == start + 1:
            prices[start, end] = one - off
            continue
        middles = range(start + 1, end)
        parts = {middle: prices[start, middle] + prices[middle, end] for middle in middles}
        prices[start, end] = min(one, max(parts.values())) - off
        for middle, cost in parts.items():
            split = piece[start:end], middle - start
            places[split].append((start, max(0, cost - prices[start, end])))
    return [prices[start, start + 1] for start in range(len(piece))], places


def take(discounts: Iterator[int], number: int, word: Word) -> list[int]:
    """The next `number` discounts."""
    taken = list(islice(discounts, number))
    if not all(isinstance(discount, int) and discount >= 0 for discount in taken):
        raise ValueError(f"a discount in {word!r} is not a whole number of 0 or more")
    if len(taken) < number:
        raise ValueError(f"the discounts end in {word!r}")
    return taken


def check_end(discounts: Iterator[int]) -> None:
    """Refuse more discounts than there are prices."""
    if next(discounts, None) is not None:
        raise ValueError("more discounts than symbols and spans")


def long_losses(
    words: Mapping[Word, int],
    prices: Mapping[Word, list[int]],
    *,
    one: int,
    floor: int,
    longest: int,
    counted: int,
    most: int | None,
) -> tuple[int, int]:
    """What a string longer than `longest` loses at most by the prices of its symbols.

    Of strings that occur more than `floor` times and are not longer than `counted`; no span loses
    more than `most`. And how often a still longer one occurs at most.

    >>> prices = {"abcd": [2, 2, 2, 0]}
    >>> long_losses({"abcd": 3}, prices, one=4, floor=1, longest=2, counted=3, most=4)
    (6, 3)
    """
    length, largest_loss = longest + 1, 0
    while True:
        occurrences, losses = Counter[Word](), Counter[Word]()
        for word, count in words.items():
            for start in range(len(word) - length + 1):
                string = word[start : start + length]
                cost = sum(max(0, price) for price in prices[word][start : start + length])
                loss = max(0, cost - one)
                occurrences[string] += count
                losses[string] += count * (loss if most is None else min(loss, most))
        frequent = [string for string, n in occurrences.items() if n > floor]
        if not frequent or length > counted:
            return largest_loss, max((occurrences[string] for string in frequent), default=0)
        largest_loss = max(largest_loss, *(losses[string] for string in frequent))
        length += 1


def heaviest(places: Sequence[tuple[int, int]], length: int) -> int:
    """The most that places of one length can weigh in all if they do not overlap.

    >>> heaviest([(0, 2), (1, 3), (2, 2)], 2)
    4
    """
    best = [0]  # of none, of the first place, of the first two, ...
    before = 0  # how many places end before this one begins
    for start, weight in places:
        while places[before][0] + length <= start:
            before += 1
        best.append(max(best[-1], best[before] + weight))
    return best[-1]


def largest(losses: Mapping[Word, int], number: int, least: int) -> int:
    """The sum of the largest losses, each counted as `least` at least."""
    top = sorted((loss for loss in losses.values() if loss > least), reverse=True)[:number]
    return sum(top) + (number - len(top)) * least


def fewest_trees(word: str | bytes, num_merges: int) -> int:
    """How many trees a word needs, as none has more than 2^M symbols.

    >>> fewest_trees("aaaaa", 1), fewest_trees("aaaaa", 100)
    (3, 1)
    """
    return -(-len(word) // (1 << min(num_merges, len(word).bit_length())))
