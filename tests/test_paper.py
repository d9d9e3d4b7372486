"""The scripts of paper/: their quick claims come out as docs/theory/ proves them."""

from __future__ import annotations

import importlib
import re
from itertools import islice
from pathlib import Path

import page
import pytest
import run
from claims import NO_CORPORA, Claim, Options

PAPER = Path(__file__).parent.parent / "paper"
# Modules that state no claims.
ROOMS = {"claims", "engines", "english", "figures", "page", "run", "worst_lists"}

# Script, a part of the claim, what is found, whether the paper is right.
VERDICTS = [
    ("worked_example", "greedy chooses these merges", "it can", True),
    ("worked_example", "units before, and after", "22, 19", True),
    ("worked_example", "vocabulary with all five", "14", False),
    ("worked_example", "symbols that represent", "9 tokens of 6 kinds", False),
    ("listings", "aa in aaa", "2, 1", True),
    ("listings", "an implementation of greedy", "0 of ", True),
    ("listings", "two merges on ab", "IndexError", False),
    ("listings", "one merge on abab", "a b a b", False),
    ("forest", "abaabacbcb", "aba, abacb, cb", True),
    ("forest", "appears twice", "2, 1", True),
    ("properties", "is monotone", "0 of ", True),
    ("properties", "is submodular", "0 of ", True),
    ("properties", "the sequence that is not valid", "μ'ν", False),
    ("properties", "hierarchically submodular: aaa", "0 < 1", False),
    ("properties", "for the first time", "0 of ", True),
    ("properties", "gains the average", "0 of ", True),
    ("properties", "a step of its proof", "0", False),
    ("properties", "neither submodularity", "the second alone", True),
    (
        "guarantee",
        "the bound is constant",
        "at least 2, 3, 4, 5, 6, 7, 8, 9; the bound falls to 0.111",
        False,
    ),
    ("suboptimal", "abaabbaa", "5, 4", True),
    ("suboptimal", "the last row", "1", False),
    ("suboptimal", "sequence of 2 merges", "aaaabaaaba", None),
    ("suboptimal", "sequence of 3 merges", "aaaabaaab", None),
    ("worst_case", "as one text of 32 symbols", "8/13 = 0.6154", True),
    ("worst_case", "words found for", "0.7500, 0.5833, 0.5625, 0.5556", True),
    ("worst_case", "training on the family", "0.4366; the limit is 0.4323", True),
    ("worst_case", "by Theorem 3", "0.357777", True),
    ("linked_list", "merge 1", "0 elsewhere", True),
    ("heap", "its loop", "4", False),
    ("heap", "aaaabbabb, M = 2", "saves 3, greedy at least 4", False),
    ("heap", "ababcbcba, M = 3", "saves 4, greedy at least 5", False),
    ("sequence_count", "over 1 letter", "1, 3, 21", False),
    ("sequence_count", "over 2 letters", "4, 32, 448", False),
    ("sequence_count", "a^9 and a^15", "1, 2, 4, 6; 1, 2, 5, 12", False),
    ("equivalence", "⟨[a,b], [d,d], [c,a]⟩", "[d,d] [a,b] [c,a] c [a,b]", False),
    ("equivalence", "[x,[a,b]] and", "True", False),
    ("equivalence", "[a,b] and [[b,c],d]", "False", False),
    ("equivalence", "⟨[p,o], [h,a]⟩", "0 of 5,460", True),
    ("equivalence", "pairs of neighbours", "14% of pairs of merges in English, 58%", True),
    (
        "equivalence",
        "merges, conflicts as corrected",
        "19% of pairs of merges in English, 34%",
        False,
    ),
    ("equivalence", "does the same on aabb", "[a,[a,b]] b and a [[a,b],b]", False),
    ("guard", "aaa, M = 2", "1", False),
    ("guard", "aba, M = 2", "1", False),
    ("guard", "neighbours that commute", "0 of ", True),
    ("non_iterative", "abcabcd", "[a,[b,c]]", True),
    ("non_iterative", "as parts are at least as frequent", "violate", False),
    ("non_iterative", "ties to the shorter", "0 of ", True),
    ("non_iterative", "the merge kept on abcbc", "[a,b]", False),
    ("non_iterative", "if all merges are counted before", "0 of ", True),
    ("non_iterative", "lower bound 0", "0.50 (w = 2)", False),
    ("data_table", "its words over its sentences", "11.6", True),
    ("data_table", "its unique words", "1.54%", True),
]
# How many claims of a script come before those that take long.
QUICK = {"guarantee": 4, "heap": 3, "equivalence": 9}


@pytest.fixture(scope="module")
def stated() -> dict[str, list[Claim]]:
    """The claims of all scripts above."""
    return {
        name: list(islice(importlib.import_module(name).claims(Options()), QUICK.get(name)))
        for name in {name for name, *_ in VERDICTS}
    }


@pytest.mark.parametrize(
    ("script", "part", "ours", "holds"), VERDICTS, ids=[f"{v[0]}-{v[1]}" for v in VERDICTS]
)
def test_claims(
    stated: dict[str, list[Claim]], script: str, part: str, ours: str, *, holds: bool | None
) -> None:
    [claim] = [claim for claim in stated[script] if part in claim.claim]
    assert ours in claim.ours
    assert claim.holds is holds


def test_without_corpora_the_table_of_data_is_not_run(stated: dict[str, list[Claim]]) -> None:
    missing = [claim for claim in stated["data_table"] if claim.ours == NO_CORPORA]
    assert [claim.claim for claim in missing] == [
        "sentences",
        "total words",
        "unique words",
        "average sentence length (words)",
    ]
    assert {claim.verdict for claim in missing} == {"not run"}


def test_the_table_of_data_counts_lines_and_words(tmp_path: Path) -> None:
    (tmp_path / "en.txt").write_text("the cat\n\nthe  hat\n", encoding="utf-8")
    (tmp_path / "de.txt").write_text("die Katze sah den Hut\n", encoding="utf-8")
    claims = importlib.import_module("data_table").claims(Options(corpora=tmp_path))
    ours = [claim.ours for claim in claims][2:]
    assert ours == ["2 + 1 (en.txt, de.txt)", "9", "8", "3.0", "88.89%"]


def test_every_script_is_run() -> None:
    assert {path.stem for path in PAPER.glob("*.py")} == {*run.SCRIPTS, *ROOMS}


def test_a_script_that_fails_has_a_row_that_says_so() -> None:
    outcome = run.run("no_such_script", full=False, corpora=None)
    assert outcome.failure.startswith("failed: exit status")
    outcome = page.Outcome("forest", "python paper/forest.py", failure="failed: exit status 1")
    assert "| failed: exit status 1 | **not run** |" in page.table([outcome])


def test_only_what_needs_a_corpus_gets_it(tmp_path: Path) -> None:
    listings = run.run("listings", full=True, corpora=tmp_path)
    assert listings.command == "python paper/listings.py --full"
    assert listings.failure == ""
    failed = run.run("data_table", full=False, corpora=tmp_path)
    assert failed.command == "python paper/data_table.py --corpora DIR"
    assert failed.failure.startswith("failed: exit status")
    assert len(failed.claims) == 2


def test_cells_are_shown_as_they_are() -> None:
    claim = Claim("Prop. 5.1", "O(|Σ|^2M)", "a_b", "[a,b] *", holds=False)
    row = page.table([page.Outcome("forest", "python paper/forest.py", [claim])]).splitlines()[-1]
    assert row == (
        r"| Prop. 5.1: O(\|Σ\|^2M) | `python paper/forest.py` | a\_b | \[a,b] \* | **no** |"
    )


def rows() -> list[list[str]]:
    lines = (PAPER / "README.md").read_text(encoding="utf-8").splitlines()
    table = [line for line in lines if line.startswith("| ")]
    return [re.split(r"(?<!\\)\|", line)[1:-1] for line in table[2:]]


def test_the_readme_has_rows_of_every_script() -> None:
    commands = " ".join(row[1] for row in rows())
    for name in run.SCRIPTS:
        assert f"python paper/{name}.py" in commands


def test_every_row_has_a_figure_and_a_verdict() -> None:
    for claim, _, published, ours, verdict in rows():
        assert published.strip(), claim
        assert ours.strip(), claim
        verdicts = (
            {"not run"} if ours.strip() == NO_CORPORA else {"yes", "**no**", "not comparable"}
        )
        assert verdict.strip() in verdicts, claim


def test_the_readme_names_no_place_of_this_machine() -> None:
    text = (PAPER / "README.md").read_text(encoding="utf-8")
    assert not re.search(r"/(home|tmp|root|work|usr)\b", text)


def test_every_figure_is_there_and_shown() -> None:
    text = (PAPER / "README.md").read_text(encoding="utf-8")
    for name in page.FIGURES:
        assert f"(figures/{name}.svg)" in text
    drawn = {path.name for path in (PAPER / "figures").iterdir()}
    assert drawn == {f"{name}.{kind}" for name in page.FIGURES for kind in ("svg", "png")}
