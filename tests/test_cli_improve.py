"""`mergewise improve` and `mergewise train --improve`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Done, call

import mergewise as mw
from mergewise.cli.improving import gain
from mergewise.demo import opticks


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpus.txt").write_text(opticks()[:300_000], encoding="utf-8")
    counts = mw.count_files(tmp_path / "corpus.txt", pattern="gpt2")
    counts.save(tmp_path / "corpus.counts")
    tokenizer = mw.train(counts, num_merges=300, special_tokens=["<|end|>"])
    tokenizer.save(tmp_path / "tokenizer.json")
    return tmp_path


def with_rare_tokens(folder: Path) -> None:
    """Replace the tokenizer by one with so many merges that the last ones are rare."""
    counts = mw.WordCounts.from_file(folder / "corpus.counts")
    mw.train(counts, num_merges=3000).save(folder / "tokenizer.json")


def improve(folder: Path, *arguments: str) -> Done:
    files = [folder / "tokenizer.json", folder / "corpus.txt"]
    output: list[str | Path] = ["-o", folder / "better.json", "--moves", "3000", "-q"]
    return call("improve", *files, *output, *arguments)


def test_it_writes_a_better_tokenizer_and_says_how_much(folder: Path) -> None:
    done = improve(folder, "--certify", "0.5")
    assert (done.status, done.errors) == (0, "")
    first, last = done.text.splitlines()
    assert first.startswith("on the corpus: ")
    assert last.endswith("of the best possible list of 300 merges")
    better = mw.Tokenizer.from_file(folder / "better.json")
    assert len(better.merges) == 300
    assert better.special_tokens == {"<|end|>": 556}


def test_a_tenth_is_held_out(folder: Path) -> None:
    done = improve(folder, "--held-out", "--certify", "0", "--json")
    assert done.status == 0
    facts = json.loads(done.text)
    assert facts["tokens"] < facts["tokens_before"]
    share = facts["held_out_before"] / (facts["held_out_before"] + facts["tokens_before"])
    assert 0.08 < share < 0.12


def test_the_held_out_tenth_is_new_to_both_tokenizers(folder: Path) -> None:
    """Beside one that was trained on the tenth as well, the search seems to lose 3 % there."""
    with_rare_tokens(folder)
    arguments = "--held-out", "--certify", "0", "--moves"
    facts = json.loads(improve(folder, *arguments, "20000", "--json").text)
    assert facts["merges"] == 3000
    assert facts["held_out"] / facts["held_out_before"] < 1.01
    first, second = improve(folder, *arguments, "100").text.splitlines()
    assert first.startswith(f"trained anew on nine tenths: {facts['tokens_before']:,} tokens")
    assert second.startswith(f"held out: {facts['held_out_before']:,} tokens became ")


def test_whole_words_are_compared_with_vocabularies(folder: Path) -> None:
    path = folder / "tokenizer.json"
    text = json.loads(path.read_text(encoding="utf-8"))
    text["model"]["ignore_merges"] = True
    text["model"]["vocab"] |= {"<|end|>": text["added_tokens"][0]["id"], "Refrangible": 5000}
    path.write_text(json.dumps(text), encoding="utf-8")
    done = improve(folder, "--certify", "0.2")
    assert (done.status, done.errors) == (0, "")
    assert done.text.endswith("of any vocabulary of 301 tokens beside the symbols\n")


def test_a_loss_is_called_one() -> None:
    assert gain(2000, 2040) == "2,000 tokens became 2,040 (2.00% more)"


def test_the_true_counts_can_be_asked_for(folder: Path) -> None:
    with_rare_tokens(folder)
    facts = [
        json.loads(improve(folder, "--certify", "0", "--json", *more).text)["tokens"]
        for more in ([], ["--true-counts"])
    ]
    assert facts[0] != facts[1]


def test_a_tenth_that_cannot_be_held_out_is_refused(folder: Path) -> None:
    files = [folder / "tokenizer.json", folder / "corpus.counts"]
    done = call("improve", *files, "--held-out", "-o", folder / "better.json")
    assert done.status == 2
    assert "--held-out needs files of text" in done.errors
    (folder / "corpus.txt").write_text("too little", encoding="utf-8")
    done = improve(folder, "--held-out")
    assert done.status == 1
    assert "too small to hold out a tenth" in done.errors
    assert not (folder / "better.json").exists()


def test_training_improves(folder: Path) -> None:
    arguments: list[str | Path] = [
        "--merges",
        "100",
        "--improve",
        "0.2",
        "-o",
        folder / "trained.json",
        "-q",
    ]
    done = call("train", folder / "corpus.counts", *arguments)
    assert done.status == 0
    assert "100 merges" in done.text
