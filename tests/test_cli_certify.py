"""`mergewise certify` and `mergewise verify`."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from command_line import call

import mergewise as mw
from mergewise.demo import opticks

TEXT = opticks()[:50_000]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    path = tmp_path / "tokenizer.json"
    counts = mw.count([TEXT], pattern="gpt2")
    mw.train(counts, num_merges=100, special_tokens=["<|end|>"]).save(path)
    return path


def test_certify_and_verify(tokenizer: Path, corpus: Path, tmp_path: Path) -> None:
    done = call("certify", tokenizer, corpus, "--time-limit", "1", "-q")
    assert (done.status, done.errors) == (0, "")
    first, merges, vocabularies, last = done.text.splitlines()
    assert first.startswith(f"{len(TEXT.encode()):,} symbols, ")
    assert "of the best possible list of 100 merges" in merges
    assert "of any vocabulary of 100 tokens beside the symbols" in vocabularies
    assert last.startswith("proved in ")
    kept = tmp_path / "tok.cert"
    options = "--against", "merges", "--time-limit", "1", "--save", kept, "--json", "-q"
    (facts,) = json.loads(call("certify", tokenizer, corpus, *options).text)
    assert facts["tokens_bound"] <= facts["tokens"]
    done = call("verify", kept, corpus, "--tokenizer", tokenizer, "-q")
    assert done.status == 0
    assert done.text.startswith("the proof holds: ")
    done = call("verify", kept, corpus, "--tokenizer", tokenizer, "--formal", "--json", "-q")
    assert json.loads(done.text) == facts


def test_without_a_tokenizer_only_the_bound_is_stated(
    tokenizer: Path, corpus: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "tok.cert"
    options = "--against", "merges", "--time-limit", "0.2", "--save", kept, "-q"
    assert call("certify", tokenizer, corpus, *options).status == 0
    cert = mw.Certificate.from_file(kept)
    dataclasses.replace(cert, utility=cert.bound).save(kept)
    bound = f"{cert.tokens_bound:,}"
    done = call("verify", kept, corpus, "-q")
    claim = f"no list of 100 merges makes fewer than {bound} tokens of this corpus"
    assert done.text == f"the proof holds: {claim}\n"
    facts = json.loads(call("verify", kept, corpus, "--json", "-q").text)
    assert facts["tokens_bound"] == cert.tokens_bound
    assert not {"tokens", "utility", "ratio", "excess"} & facts.keys()
    done = call("verify", kept, corpus, "--tokenizer", tokenizer, "-q")
    assert (done.status, done.text) == (1, "")
    assert f"the tokenizer saves {cert.utility:,}, not {cert.bound:,}" in done.errors


def test_whole_words_have_no_rivals_among_merge_lists(tokenizer: Path, corpus: Path) -> None:
    text = json.loads(tokenizer.read_text(encoding="utf-8"))
    text["model"]["ignore_merges"] = True
    text["model"]["vocab"] |= {"<|end|>": text["added_tokens"][0]["id"], "Refrangible": 5000}
    tokenizer.write_text(json.dumps(text), encoding="utf-8")
    done = call("certify", tokenizer, corpus, "--time-limit", "0.2", "-q")
    assert (done.status, done.text) == (1, "")
    assert "tokens that no merge makes" in done.errors
    options = "--against", "vocabularies", "--time-limit", "0.2", "--json", "-q"
    (facts,) = json.loads(call("certify", tokenizer, corpus, *options).text)
    assert facts["merges"] == 101
    assert facts["tokens_bound"] <= facts["tokens"]


def test_counts_do_as_well(tokenizer: Path, tmp_path: Path) -> None:
    counts, kept = tmp_path / "c.counts", tmp_path / "tok.cert"
    mw.count([TEXT], pattern="gpt2").save(counts)
    options = "--against", "vocabularies", "--time-limit", "0.2", "--save", kept, "-q"
    assert call("certify", tokenizer, counts, *options).status == 0
    assert call("verify", kept, counts, "-q").status == 0


def test_what_does_not_belong_together_is_refused(
    tokenizer: Path, corpus: Path, tmp_path: Path
) -> None:
    kept, other = tmp_path / "tok.cert", tmp_path / "other.txt"
    options = "--against", "merges", "--time-limit", "0.2", "--save", kept, "-q"
    assert call("certify", tokenizer, corpus, *options).status == 0
    other.write_text(TEXT[:-1], encoding="utf-8")
    done = call("verify", kept, other, "-q")
    assert (done.status, done.text) == (1, "")
    assert "the certificate is of other counts" in done.errors
    kept.write_bytes(kept.read_bytes()[:-1])
    done = call("verify", kept, corpus, "-q")
    assert done.status == 1
    assert "changed or cut short" in done.errors
    assert call("certify", tokenizer, corpus, "--save", kept).status == 2
    assert call("certify", tokenizer, tmp_path / "missing.txt", "-q").status == 1
