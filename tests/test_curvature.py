"""`curvature`: the fast core equals `formal`, and the enumeration equals tables made elsewhere."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from command_line import call, interrupt_once_shown
from hypothesis import given
from hypothesis import strategies as st
from strategies import texts

import mergewise as mw
from mergewise import formal
from mergewise.errors import FormatError, InvalidMergesError
from mergewise.formal import as_published
from mergewise.optimize import (
    Enumeration,
    curvature,
    enumerate_curvature,
    family_of_sigma,
    family_of_unique_optima,
    family_of_words,
    find_worst_case,
)
from mergewise.optimize import checkpoint as checkpoint_module
from mergewise.optimize import enumerating as enumerating_module
from mergewise.optimize.curvature import COLUMNS, RATIOS, SIGMAS

TABLES = Path(__file__).parent / "data" / "curvature_tables.csv"


def columns_by_formal(text: str, num_merges: int) -> dict[str, Fraction]:
    """Every column, by the definitions."""
    found = formal.curvature(text, num_merges)
    optimum = formal.exact_brute_force(text, num_merges).utility
    saved = [formal.utility(m, text) for m in formal.greedy_sequences(text, num_merges)]
    chosen = formal.greedy(text, num_merges, ties=formal.first_occurrence)

    def ratio(value: int) -> Fraction:
        return Fraction(value, optimum) if optimum else Fraction(1)

    return {
        **found._asdict(),
        "sigma_published": as_published.sigma(text, num_merges),
        "sigma_greedy_published": as_published.sigma_greedy(text, num_merges),
        "ratio": ratio(formal.utility(chosen, text)),
        "ratio_worst_ties": ratio(min(saved)),
        "ratio_best_ties": ratio(max(saved)),
    }


def check(text: str, num_merges: int) -> None:
    found = curvature(text, num_merges=num_merges)
    expected = columns_by_formal(text, num_merges)
    assert {name: getattr(found, name) for name in COLUMNS} == expected, (text, num_merges)
    assert found.optimum == formal.exact_brute_force(text, num_merges).utility
    assert found.sigma == found.sigma_min
    assert found.guarantee == formal.guarantee(found.sigma_min)


# One text


@pytest.mark.parametrize(("max_length", "num_letters"), [(6, 2), (5, 3)])
def test_the_core_equals_formal_on_every_small_string(max_length: int, num_letters: int) -> None:
    for length in range(max_length + 1):
        for text in formal.strings_up_to_renaming(length, num_letters):
            for num_merges in range(1, 5):
                check(text, num_merges)


@given(texts("abc", max_size=8), st.integers(1, 3))
def test_the_core_equals_formal(text: str, num_merges: int) -> None:
    check(text, num_merges)


@given(texts("ab", max_size=5), st.integers(4, 6))
def test_the_core_equals_formal_with_many_merges(text: str, num_merges: int) -> None:
    check(text, num_merges)


@pytest.mark.parametrize(
    ("text", "num_merges", "column", "value"),
    [
        ("abab", 2, "sigma_min", Fraction(3)),
        ("abcababcab", 3, "sigma_min", Fraction(5)),
        ("abcababcab", 4, "sigma_min", Fraction(6)),
        ("aaaaaabaaaaaab", 4, "sigma_max", Fraction(7)),
        ("ababcabc", 2, "sigma_published", Fraction(5, 2)),
        ("ababcdabcabc", 2, "sigma_published", Fraction(3)),
        ("abacabacbac", 3, "sigma_published", Fraction(8, 3)),
        ("aab", 2, "sigma_greedy", Fraction(2)),
        ("aab", 2, "sigma_greedy_published", Fraction(3, 2)),
        ("aaabbba", 6, "sigma_greedy_all", Fraction(6)),
        ("aaabaab", 2, "ratio", Fraction(3, 4)),
        ("aabaaaba", 3, "ratio", Fraction(2, 3)),
        ("aabaabbaaabba", 4, "ratio", Fraction(7, 10)),
        ("aabaabcacbacb", 4, "ratio_worst_ties", Fraction(5, 8)),
    ],
)
def test_values_of_the_audit(text: str, num_merges: int, column: str, value: Fraction) -> None:
    assert getattr(curvature(text, num_merges=num_merges), column) == value


def test_sigma_of_a_given_optimal_sequence() -> None:
    """aaaabaaaab, M = 3: 5 for the worst optimal sequence and 4 for the best."""
    text = "aaaabaaaab"
    optima = {formal.normal_form(merges) for merges in formal.optimal_sequences(text, 3)}
    values = {curvature(text, num_merges=3, optimal=optimal).sigma for optimal in optima}
    assert (min(values), max(values)) == (Fraction(4), Fraction(5))
    found = curvature(text, num_merges=3)
    assert (found.sigma_min, found.sigma_max) == (Fraction(4), Fraction(5))


@given(texts("ab", min_size=2, max_size=7), st.integers(1, 3), st.randoms())
def test_sigma_of_a_given_sequence_equals_formal(
    text: str, num_merges: int, chance: random.Random
) -> None:
    optimal = chance.choice(formal.optimal_sequences(text, num_merges))
    found = curvature(text, num_merges=num_merges, optimal=optimal).sigma
    assert found == formal.sigma(text, num_merges, optimal)


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="expected str, found bytes"):
        curvature(b"ab", num_merges=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="num_merges must be an int"):
        curvature("ab", num_merges=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="num_merges must be 1 or more, found 0"):
        curvature("ab", num_merges=0)
    with pytest.raises(ValueError, match="65 characters; expected at most 64"):
        curvature("a" * 65, num_merges=1)
    with pytest.raises(ValueError, match="not optimal: it saves 1, and 2 is possible"):
        curvature("abab", num_merges=1, optimal=[("b", "a")])
    with pytest.raises(ValueError, match="2 merges, more than 1"):
        curvature("abab", num_merges=1, optimal=[("a", "b"), (("a", "b"), ("a", "b"))])
    with pytest.raises(InvalidMergesError, match=r"merge 0 uses \[a,b\]"):
        curvature("abab", num_merges=2, optimal=[(("a", "b"), "a")])
    with pytest.raises(ValueError, match="length must be from 1 to 24"):
        enumerate_curvature(25, num_letters=2, num_merges=2)
    with pytest.raises(ValueError, match="columns must be"):
        enumerate_curvature(2, num_letters=2, num_merges=2, columns="x")  # type: ignore[arg-type]


def test_a_time_limit() -> None:
    text = "the quick brown fox jumps over the lazy dog and runs away again"
    with pytest.raises(TimeoutError, match=r"not finished within 0\.2 s"):
        curvature(text, num_merges=12, time_limit=0.2)


def test_the_public_name() -> None:
    assert mw.curvature("abaabbaa", num_merges=2).ratio == Fraction(3, 4)


# All strings


def rows(table: str) -> Iterator[tuple[int, int, int, list[str]]]:
    for line in TABLES.read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{table},"):
            _, merges, letters, length, *values = line.split(",")
            yield int(merges), int(letters), int(length), values


@pytest.fixture(scope="module")
def small() -> Enumeration:
    return enumerate_curvature(10, num_letters=5, num_merges=6)


@pytest.mark.parametrize(("table", "names"), [("S", SIGMAS), ("R", RATIOS)])
def test_the_tables(small: Enumeration, table: str, names: tuple[str, ...]) -> None:
    """Tables that an independent program made, up to the size that is enumerated here."""
    number = 0
    for merges, letters, length, expected in rows(table):
        if merges <= small.num_merges and length <= small.length:
            found = small.extremes(num_merges=merges, num_letters=letters, length=length)
            form = ".4g" if table == "S" else ".4f"
            assert [format(float(found[name].value), form) for name in names] == expected
            number += 1
    assert number > 15


# From the audit's tables: n, k, M and the eight maxima, the three minima.
LARGER_S = [
    (10, 2, 4, "6 5 2 2 1.6 1.75 4 1.5"),
    (10, 5, 2, "3 3 2.5 2.5 2 2 2 1.5"),
    (10, 5, 3, "5 5 2.333 2.333 1.667 2 3 1.5"),
    (10, 5, 4, "6 6 2.25 2.25 1.75 1.75 4 1.5"),
    (10, 2, 5, "6 6 1.8 1.8 1.5 1.5 5 1.5"),
    (9, 1, 1, "1 1 1 1 1 1 1 1"),
]
LARGER_R = [
    (10, 5, 1, "1.0000 1.0000 1.0000"),
    (10, 5, 2, "0.7500 0.7500 0.8000"),
    (10, 5, 3, "0.6667 0.6667 0.7143"),
    (10, 5, 4, "0.7143 0.7143 0.7500"),
    (10, 3, 5, "0.7500 0.7500 0.7778"),
    (10, 3, 6, "0.7778 0.7778 0.8889"),
]


@pytest.mark.parametrize(("length", "letters", "merges", "expected"), LARGER_S + LARGER_R)
def test_more_of_the_tables(
    small: Enumeration, length: int, letters: int, merges: int, expected: str
) -> None:
    found = small.extremes(num_merges=merges, num_letters=letters, length=length)
    names, form = (SIGMAS, ".4g") if len(expected.split()) == len(SIGMAS) else (RATIOS, ".4f")
    assert [format(float(found[name].value), form) for name in names] == expected.split()


def test_larger_strings_of_two_letters() -> None:
    """Table S and R at k = 2, n = 14 and 15."""
    found = enumerate_curvature(15, num_letters=2, num_merges=4)
    row = found.extremes(num_merges=4, length=14)
    assert [float(row[n].value) for n in SIGMAS] == [7, 6, 2.5, 2.5, 1.6, 1.75, 4, 1.5]
    row = found.extremes(num_merges=4)
    assert [float(row[n].value) for n in SIGMAS] == [7, 6, 2.75, 2.75, 1.6, 1.75, 4, 1.5]
    assert [row[n].value for n in RATIOS] == [Fraction(7, 10), Fraction(7, 10), Fraction(3, 4)]
    assert row["sigma_max"].witness == "aaaaaabaaaaaab"
    assert row["ratio"].witness == "aabaabbaaabba"


def test_records_of_longer_strings_by_formal() -> None:
    """What the enumeration found beyond the independent tables, by the definitions."""
    assert as_published.sigma("aabcababcababc", 2) == Fraction(8, 3)
    assert as_published.sigma("ababcabcdabcd", 3) == Fraction(3)
    assert as_published.sigma("aabcaabccaabcbc", 3) == Fraction(10, 3)
    assert as_published.sigma_greedy("abaacaaacaaacab", 3) == Fraction(11, 7)
    assert as_published.sigma_greedy("aaabcbbaabbbaab", 4) == Fraction(11, 7)
    first = formal.greedy("abcaacacabcbaac", 4, ties=formal.first_occurrence)
    assert formal.utility(first, "abcaacacabcbaac") == 6
    assert formal.exact_guarded("abcaacacabcbaac", 4).utility == 9
    text = "aaaabaaabacaaba"
    for num_merges, greedy, optimum in ((3, 7, 10), (4, 8, 11)):
        sequences = formal.greedy_sequences(text, num_merges)
        assert max(formal.utility(merges, text) for merges in sequences) == greedy
        assert formal.exact_guarded(text, num_merges).utility == optimum


def test_witnesses_have_the_values(small: Enumeration) -> None:
    for num_merges in range(1, 5):
        for name, extreme in small.extremes(num_merges=num_merges).items():
            found = curvature(extreme.witness, num_merges=num_merges)
            assert getattr(found, name) == extreme.value


@pytest.mark.parametrize(("length", "num_letters"), [(7, 3), (9, 2)])
def test_nothing_is_lost_by_leaving_strings_out(length: int, num_letters: int) -> None:
    pruned = enumerate_curvature(length, num_letters=num_letters, num_merges=4)
    whole = enumerate_curvature(length, num_letters=num_letters, num_merges=4, prune=False)
    assert pruned.cells == whole.cells


def test_the_number_of_threads_changes_nothing(small: Enumeration) -> None:
    for num_threads in (1, 2, 3):
        found = enumerate_curvature(10, num_letters=4, num_merges=4, num_threads=num_threads)
        for merges in range(1, 5):
            assert found.extremes(num_merges=merges) == small.extremes(
                num_merges=merges, num_letters=4
            )


def test_some_columns_alone(small: Enumeration) -> None:
    for columns, names in (("sigma", SIGMAS), ("ratio", RATIOS)):
        found = enumerate_curvature(9, num_letters=3, num_merges=4, columns=columns)  # type: ignore[arg-type]
        expected = small.extremes(num_merges=4, num_letters=3, length=9)
        assert found.extremes(num_merges=4) == {name: expected[name] for name in names}


# Checkpoints


def test_a_killed_enumeration_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is stopped again and again, and ends with the same result."""
    monkeypatch.setattr(enumerating_module, "batches", one_by_one)
    path = tmp_path / "run.json"

    def stop(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    def run(progress: object) -> Enumeration:
        return enumerate_curvature(
            11,
            num_letters=3,
            num_merges=4,
            checkpoint=path,
            progress=progress,  # type: ignore[arg-type]
        )

    with pytest.raises(KeyboardInterrupt):
        run(stop)
    assert json.loads(path.read_text())["state"]["settings"]["length"] == 11
    found = run(progress=False)
    assert found == enumerate_curvature(11, num_letters=3, num_merges=4)
    # All is in the checkpoint, so that nothing is enumerated again.
    monkeypatch.setattr(enumerating_module, "batches", None)
    assert run(progress=False) == found
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]


def one_by_one(first: int, end: int) -> Iterator[tuple[int, int]]:
    for unit in range(first, end):
        yield unit, unit + 1


def test_a_checkpoint_in_the_midst_of_a_level(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enumerating_module, "batches", one_by_one)
    monkeypatch.setattr(checkpoint_module, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    path, copies = tmp_path / "run.json", []
    save = checkpoint_module.State.save

    def save_and_copy(state: checkpoint_module.State) -> None:
        save(state)
        copies.append(path.read_bytes())

    monkeypatch.setattr(checkpoint_module.State, "save", save_and_copy)
    found = enumerate_curvature(9, num_letters=3, num_merges=3, checkpoint=path)
    assert any(json.loads(copy)["state"]["num_units"] for copy in copies)
    for copy in tuple(copies):
        path.write_bytes(copy)
        assert enumerate_curvature(9, num_letters=3, num_merges=3, checkpoint=path) == found


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: "",
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"abab"', '"abba"', 1),
        lambda text: text.replace("[3, 1]", "[2, 1]", 1),
        lambda _: "[1, 2]",
        lambda _: "[" * 100_000,
    ],
)
def test_a_damaged_checkpoint_is_refused(tmp_path: Path, damage: Callable[[str], str]) -> None:
    path = tmp_path / "run.json"
    enumerate_curvature(5, num_letters=2, num_merges=2, checkpoint=path)
    text = damage(path.read_text())
    path.write_text(text)
    with pytest.raises(FormatError, match=r"run\.json: not a checkpoint of an enumeration"):
        enumerate_curvature(5, num_letters=2, num_merges=2, checkpoint=path)
    assert path.read_text() == text


def test_a_checkpoint_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    enumerate_curvature(5, num_letters=2, num_merges=2, checkpoint=path)
    with pytest.raises(FormatError, match=r"a checkpoint of .*expected .*hint: name another"):
        enumerate_curvature(6, num_letters=2, num_merges=2, checkpoint=path)


# Worst cases


@pytest.mark.parametrize("num_merges", range(2, 7))
def test_the_family_of_sigma(num_merges: int) -> None:
    family = family_of_sigma(num_merges)
    best = formal.utility(family.optimal, family.text)
    assert best == len(family.text) - 1 == curvature(family.text, num_merges=num_merges).optimum
    joined = formal.utility([*family.prefix, *family.optimal], family.text)
    saved = formal.utility(family.prefix, family.text)
    assert 1 - Fraction(joined - best, saved) == family.sigma == num_merges + 1


@pytest.mark.parametrize("num_merges", range(2, 5))
def test_the_family_of_unique_optima(num_merges: int) -> None:
    family = family_of_unique_optima(num_merges)
    if num_merges < 4:
        assert formal.optimal_sequences(family.text, num_merges) == [family.optimal]
    best = formal.utility(family.optimal, family.text)
    joined = formal.utility([*family.prefix, *family.optimal], family.text)
    saved = formal.utility(family.prefix, family.text)
    assert 1 - Fraction(joined - best, saved) == family.sigma == num_merges
    found = curvature(family.text, num_merges=num_merges, optimal=family.optimal)
    assert found.sigma_min == found.sigma_max == found.sigma >= num_merges


def test_the_family_of_words() -> None:
    tied = curvature(family_of_words(2).text, num_merges=4)
    assert tied.ratio_worst_ties == family_of_words(2).ratio == Fraction(5, 8)
    family = family_of_words(3)
    assert formal.utility(family.optimal, family.text) == 12
    chosen = formal.greedy(family.text, 6)
    assert chosen[0] == ("c", "b")
    assert Fraction(formal.utility(chosen, family.text), 12) == family.ratio == Fraction(8, 12)


def test_the_local_search() -> None:
    first = find_worst_case(8, num_letters=2, num_merges=3, seed=1, num_moves=2000)
    assert first == find_worst_case(8, num_letters=2, num_merges=3, seed=1, num_moves=2000)
    assert first.ratio == Fraction(2, 3)
    assert curvature(first.text, num_merges=3).ratio_worst_ties == Fraction(2, 3)
    assert len(find_worst_case(20, num_letters=3, num_merges=4, time_limit=0.1).text) == 20


# The command line


def test_curvature_of_a_text() -> None:
    done = call("curvature", "abab", "--merges", "2")
    assert done.status == 0
    assert "σ, best optimum   3\n" in done.text
    assert "guarantee         0.3167\n" in done.text
    facts = json.loads(call("curvature", "ababcabc", "--merges", "2", "--json").text)
    assert (facts["sigma_published"], facts["optimum"]) == ("5/2", 5)


def test_enumeration_on_the_command_line(tmp_path: Path) -> None:
    sizes = ["--enumerate", "--length", "6", "--alphabet", "2", "--merges", "2", "-q"]
    done = call("curvature", *sizes)
    assert "  σ, worst optimum  3               abab\n" in done.text
    done = call("curvature", *sizes, "--tables", "--checkpoint", tmp_path / "run.json")
    assert "| 2 | 2 | 4 | 3 | 3 | 1.5 | 1.5 | 2 | 2 | 2 | 1.5 |\n" in done.text
    assert "| 2 | 2 | 6 | 1.0000 | 1.0000 | 1.0000 |\n" in done.text
    (one, two) = json.loads(call("curvature", *sizes, "--columns", "sigma", "--json").text)
    assert (one["num_merges"], two["sigma_max"]) == (1, ["3", "abab"])


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--merges", "2"], 2, "give a TEXT, or --enumerate"),
        (["ab", "--merges", "2", "--length", "3"], 2, "are for --enumerate"),
        (["ab", "--enumerate", "--merges", "2"], 2, "give one of TEXT, --enumerate and --family"),
        (["--family", "--enumerate", "--merges", "64"], 2, "give one of TEXT"),
        (["--family", "--length", "3", "--merges", "64"], 2, "are for --enumerate"),
        (["--family", "--merges", "65"], 1, "num_merges must be a square here"),
        (["--family", "--merges", "49"], 1, "num_merges must be from 64 to"),
        (["--enumerate", "--merges", "2"], 2, "needs --length and --alphabet"),
        (["a" * 70, "--merges", "2"], 1, "expected at most 64"),
        (["ab", "--merges", "0"], 1, "num_merges must be 1 or more"),
    ],
)
def test_mistakes_on_the_command_line(arguments: list[str], status: int, message: str) -> None:
    done = call("curvature", *arguments)
    assert done.status == status
    assert message in done.errors


def test_ctrl_c_writes_the_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    sizes = ["--enumerate", "--length", "16", "--alphabet", "6", "--merges", "5"]
    # Ten strings or more: those of one symbol among them, which are the first six cells.
    done = interrupt_once_shown(r"\d\d strings", "curvature", *sizes, "--checkpoint", path)
    assert done.status == 130
    state = json.loads(path.read_text())["state"]
    assert len(state["cells"]) >= 6
