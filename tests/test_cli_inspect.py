"""`mergewise convert`, `inspect`, `forest` and `completion`; what other libraries read agrees."""

from __future__ import annotations

import base64
import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest
import tiktoken
import tokenizers
from command_line import END, TOKENS, call, low_tokenizer

from mergewise import drawing
from mergewise.cli.completion import SCRIPTS, commands_of
from mergewise.cli.parser import make_parser
from mergewise.tokenizer import Tokenizer
from mergewise.vocabulary import Vocabulary

GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
TEXT = "low lower  slow\nthe lowest, é 語"


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    return low_tokenizer(tmp_path)


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    """The same tokens as tiktoken writes them, which says neither pattern nor special tokens."""
    path = tmp_path / "low.tiktoken"
    lines = [f"{base64.b64encode(token).decode()} {i}\n" for token, i in TOKENS.items()]
    path.write_text("".join(lines))
    return path


def test_ranks_become_a_file_that_tokenizers_reads(ranks: Path, tmp_path: Path) -> None:
    output = tmp_path / "tokenizer.json"
    special = "--special", "<|end|>=259"
    done = call("convert", ranks, output, "--pattern", "gpt2", *special, "--json")
    facts = {"from": "tiktoken", "to": "tokenizer_json", "tokens": 260, "merges": 3}
    assert (done.status, json.loads(done.text)) == (0, facts)
    theirs = tokenizers.Tokenizer.from_file(str(output))
    peer = tiktoken.Encoding("low", pat_str=GPT2, mergeable_ranks=TOKENS, special_tokens=END)
    assert theirs.encode(TEXT).ids == peer.encode(TEXT)
    assert theirs.encode("lo<|end|>").ids == [256, 259]
    assert call("encode", output, stdin=TEXT.encode()).text == (
        " ".join(map(str, peer.encode(TEXT))) + "\n"
    )


def test_a_file_becomes_ranks_that_tiktoken_reads(tokenizer: Path, tmp_path: Path) -> None:
    output = tmp_path / "new"
    done = call("convert", tokenizer, output, "--to", "tiktoken", "--lossy")
    assert (done.status, done.text) == (0, "260 tokens, 3 merges\n")
    lines = [line.split() for line in output.read_text().splitlines()]
    assert {base64.b64decode(token): int(rank) for token, rank in lines} == TOKENS


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["convert", "{ranks}", "{folder}/x.json"], "hint: give --pattern cl100k"),
        (["convert", "{low}", "{folder}/x.unknown"], "hint: give --to"),
        (["convert", "{low}", "{folder}/x.codes"], "hint: --lossy"),
        (["convert", "{low}", "{folder}/no/such/folder/x.json"], "No such file"),
        (["inspect", "{folder}/missing.json"], "missing.json: No such file"),
        (["inspect", __file__], "expected one of clip, gguf, gpt2"),
        (["inspect", "{low}", "--from", "sentencepiece"], "low.json"),
        (["encode", "{folder}"], "a directory of other files"),
        (["encode", "{low}", "missing.txt"], "missing.txt"),
        (["encode", "{low}", "--pattern", "(", "-o", "{folder}/x.npy"], "pattern"),
        (["encode", "{low}", "--threads", "99999"], "num_threads must be from 0"),
        (["decode", __file__], "expected one of"),
        (["forest", "a", "--tokenizer", "missing"], "missing: No such file"),
    ],
)
def test_an_error_is_one_line(
    arguments: list[str], message: str, tokenizer: Path, ranks: Path, tmp_path: Path
) -> None:
    names = {"low": tokenizer, "ranks": ranks, "folder": tmp_path}
    done = call(*(argument.format(**names) for argument in arguments))
    assert (done.status, done.output, done.errors.count("\n")) == (1, b"", 1)
    assert done.errors.startswith("mergewise: error: ")
    assert message in done.errors
    assert sorted(tmp_path.iterdir()) == [tokenizer, ranks]


@pytest.mark.parametrize(
    "arguments",
    [
        ["convert", "a", "b", "--to", "yaml"],
        ["convert", "a", "b", "--special", ""],
        ["inspect", "a", "b"],
        ["encode", "a", "--threads", "-1"],
        ["forest", "abab"],
        ["forest", "abab", "--merges", "1", "--tokenizer", "a"],
        ["completion", "tcsh"],
    ],
)
def test_mistakes_in_the_arguments(arguments: list[str]) -> None:
    done = call(*arguments)
    assert (done.status, done.output) == (2, b"")


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """Whoever merges (l, o) first never comes to (l, ow), and nothing makes xyz."""
    path = tmp_path / "odd.json"
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    words = [*letters, "lo", "ow", "low", "xyz"]
    model = tokenizers.models.BPE(
        vocab={word: i for i, word in enumerate(words)},
        merges=[("l", "o"), ("o", "w"), ("lo", "w"), ("l", "ow")],
    )
    peer = tokenizers.Tokenizer(model)
    peer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    peer.decoder = tokenizers.decoders.ByteLevel()
    peer.add_special_tokens(["<pad>"])
    peer.save(str(path))
    return path


def test_inspect(odd: Path) -> None:
    facts = json.loads(call("inspect", odd, "--json").text)
    expected = {
        "format": "tokenizer_json",
        "vocab_size": 261,
        "num_tokens": 260,
        "special_tokens": {"<pad>": 260},
        "alphabet": "bytes",
        "pattern": "gpt2",
        "normalize": None,
        "num_merges": 3,
        "num_unusable_merges": 1,
        "depth": 2,
        "unreachable": [259],
        "lengths": {"1": 256, "2": 2, "3": 2},
    }
    assert {name: facts[name] for name in expected} == expected
    assert facts["longest"][0] == {"id": 258, "token": "low", "length": 3}


def test_inspect_for_people(odd: Path, ranks: Path) -> None:
    text = call("inspect", odd).text
    for line in (
        "vocabulary size     261",
        "special tokens      1: <pad> = 260",
        "unusable merges     1",
        "deepest tree        2 merges from the root to a leaf",
        "unreachable tokens  1: xyz = 259",
        "      258       3  low",
        "        2        2  ▎",
    ):
        assert line in text.splitlines()
    assert "unusable merges     (the file has ranks)" in (
        call("inspect", ranks, "--pattern", "none").text.splitlines()
    )


def test_the_forest_of_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    # (a, b) and (c, b) occur twice, as does (ab, a) then; the tie of (aba, aba), (aba, cb) and
    # (cb, cb) goes to the smallest left id, which is that of cb.
    assert call("forest", "abaabacbcb", "--merges", "4").text == (
        " aba    aba     cbcb\n ┌┴─┐   ┌┴─┐   ┌─┴─┐\n┌┴┐ │  ┌┴┐ │  ┌┴┐ ┌┴┐\na b a  a b a  c b c b\n"
    )
    monkeypatch.setenv("COLUMNS", "13")
    first, second = call("forest", "abaabacbcb", "--merges", "4").text.split("\n\n")
    assert first.splitlines()[-1] == "a b a  a b a"
    assert second.splitlines()[-1] == "c b c b"
    done = call("forest", "abaabacbcb", "--merges", "4", "--json")
    aba, cb = [["a", "b"], "a"], ["c", "b"]
    assert json.loads(done.text) == [aba, aba, [cb, cb]]


def test_the_forest_of_a_tokenizer(tokenizer: Path) -> None:
    done = call("forest", "lo <|end|>é", "--tokenizer", tokenizer)
    assert done.text == " lo\n┌┴┐\nl o  ▁  <|end|>  \\xc3  \\xa9\n"


def test_a_tree_too_deep_to_draw(tmp_path: Path) -> None:
    characters = [chr(0x4E00 + i) for i in range(1500)]
    prefixes = ["".join(characters[:length]).encode() for length in range(1, 1501)]
    parts = zip(prefixes, (character.encode() for character in characters[1:]), strict=False)
    strings = dict.fromkeys([*(c.encode() for c in characters), *prefixes])
    path = tmp_path / "deep.json"
    tokens = {string: i for i, string in enumerate(strings)}
    Tokenizer(Vocabulary(tokens=tokens, merges=list(parts), alphabet="chars")).save(path)
    assert json.loads(call("inspect", path, "--json").text)["depth"] == 1499
    done = call("forest", "".join(characters), "--tokenizer", path)
    assert (done.status, done.output) == (1, b"")
    assert "too deep" in done.errors
    done = call("forest", "".join(characters), "--tokenizer", path, "--json")
    assert done.text.startswith("[" * 1500)
    assert done.text.count("]") == 1500


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert drawing.is_coloured(Terminal())
    assert not drawing.is_coloured(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not drawing.is_coloured(Terminal())


def completed(script: str, *words: str) -> list[str]:
    """What bash would offer in the place of the last word."""
    quoted = " ".join(f"'{word}'" for word in words)
    asked = f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _mergewise"
    show = 'printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{asked}\n{show}"], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash completes here")
def test_bash_completes() -> None:
    script = call("completion", "bash").text
    assert completed(script, "mergewise", "co") == ["count", "convert", "completion"]
    assert completed(script, "mergewise", "decode", "--l") == ["--lines"]
    assert completed(script, "mergewise", "convert", "a", "b", "--to", "ti") == [
        "tiktoken",
        "tiktoken_json",
    ]
    assert completed(script, "mergewise", "completion", "") == ["bash", "fish", "zsh"]
    assert completed(script, "mergewise", "inspect", "--pattern", "") == []


@pytest.mark.parametrize("shell", sorted(SCRIPTS))
def test_completions_know_every_option(shell: str) -> None:
    script = call("completion", shell).text
    for command in commands_of(make_parser()):
        assert command.name in script
        for option in command.flagged:
            for flag in option.option_strings:
                bare = f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
                assert (bare if shell == "fish" else flag) in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)
