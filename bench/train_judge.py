"""Whether trained merges are right: no row is timed before."""

from itertools import accumulate, repeat, takewhile

from harness import Verdict
from train_cases import Case
from train_peers import Outcome

# Whoever follows the same rules must find the same merges.
FAMILIES = (
    ("mergewise like=huggingface", "tokenizers", "gigatoken"),
    ("mergewise like=rustbpe", "rustbpe", "bpeasy"),
)


def judge(case: Case, answers: dict[str, Outcome]) -> dict[str, Verdict]:
    """The verdict on each competitor's answer to `case`."""
    verdicts = {name: _judge_one(case, name, answers) for name in answers}
    wrong_kin = [name for name in verdicts if "like=" in name and not verdicts[name].right]
    if wrong_kin and "mergewise" in verdicts:
        verdicts["mergewise"] = Verdict(right=False, words=f"{wrong_kin[0]} is wrong")
    return verdicts


def _judge_one(case: Case, name: str, answers: dict[str, Outcome]) -> Verdict:
    answer = answers[name]
    if answer.vocab_size != case.vocab_size and not (
        case.may_run_out and answer.vocab_size < case.vocab_size
    ):
        words = f"{answer.vocab_size:,} tokens instead of {case.vocab_size:,}"
        return Verdict(right=False, words=words)
    if answer.round_trip is not None:
        words = "size, decodes to its input" if answer.round_trip else "decodes to something else"
        return Verdict(answer.round_trip, words)
    if (rank := first_without_parts(answer.merges)) is not None:
        return Verdict(right=False, words=f"merge {rank:,} joins what is no token")
    for family in FAMILIES:
        if name in family:
            return _agreement(name, [kin for kin in family if kin in answers], answers)
    return _known_answer(case, answer)


def _agreement(name: str, family: list[str], answers: dict[str, Outcome]) -> Verdict:
    differences = {
        kin: first_difference(answers[name].merges, answers[kin].merges)
        for kin in family
        if kin != name
    }
    agreeing = [kin for kin, rank in differences.items() if rank is None]
    if agreeing:
        return Verdict(right=True, words="merges of " + ", ".join(agreeing))
    for kin, rank in differences.items():
        return Verdict(right=False, words=f"unlike {kin} from merge {rank:,} on")
    return Verdict(right=False, words="no peer to compare with")


def _known_answer(case: Case, answer: Outcome) -> Verdict:
    """Judges the merges of mergewise's own rules.

    Those of the generated words are known: powers of two, and Fibonacci numbers up to the last,
    which depends on the word's end. The others are judged by size and form; the tests compare the
    engine with the paper's, and the rows `like=` with the peers.
    """
    if case.text.kind not in {"a", "ab", "fibonacci"}:
        return Verdict(right=True, words="size, form")
    lengths = [len("".join(merge)) // 2 for merge in answer.merges]
    if case.text.kind == "fibonacci":
        pairs = accumulate(repeat((1, 2)), lambda pair, _: (pair[1], sum(pair)))
        expected = [pair[1] for pair, _ in zip(pairs, lengths[:-1], strict=False)]
        lengths = lengths[:-1]
    else:
        powers = (2**exponent for exponent in range(1, 64))
        expected = list(takewhile(lambda length: case.text.size // length >= 2, powers))
    right = lengths == expected and len(expected) > 3
    return Verdict(right, "known merges" if right else "not the known merges")


def first_without_parts(merges: list[list[str]]) -> int | None:
    """The first merge one of whose parts is neither a byte nor an earlier token.

    >>> first_without_parts([["61", "62"], ["6162", "6163"]])
    1
    """
    known = {f"{byte:02x}" for byte in range(256)}
    for rank, merge in enumerate(merges):
        if len(merge) == 2 and not known.issuperset(merge):
            return rank
        known.add("".join(merge))
    return None


def first_difference(left: list[list[str]], right: list[list[str]]) -> int | None:
    """The first rank at which two lists of merges part, by pairs where both tell them.

    >>> first_difference([["61", "62"], ["61", "63"]], [["6162"], ["6161"]])
    1
    """
    for rank, (one, other) in enumerate(zip(left, right, strict=False)):
        same = one == other if len(one) == len(other) else "".join(one) == "".join(other)
        if not same:
            return rank
    return None if len(left) == len(right) else min(len(left), len(right))


def first_unsteady(outcomes: list[Outcome]) -> int | None:
    """The first repetition whose answer is not that of the first one."""
    for index, one in enumerate(outcomes):
        if (one.vocab_size, one.merges) != (outcomes[0].vocab_size, outcomes[0].merges):
            return index
    return None
