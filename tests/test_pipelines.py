"""Each option of tokenizers' pipelines in a file of its own: the same ids, texts and offsets."""

from __future__ import annotations

from pathlib import Path

import pytest
import tokenizers
from models import Outcome, compare_with
from peers import of_tokenizers
from pipelines import ROWS
from sample_texts import texts_around, varied_texts

import mergewise as mw

WORDS = ["hello world", "say hello wor", "the mask of thee", "Hello World É é", "ON THE OTHER"]


def examine(name: str, path: Path) -> Outcome:
    """One row, on few texts, and on its own added tokens."""
    ROWS[name].save(path)
    peer = of_tokenizers(tokenizers.Tokenizer.from_file(str(path)))
    try:
        tok = mw.Tokenizer.from_file(path)
    except ValueError as error:
        return Outcome(name, refused=str(error).rpartition(f"{path}: ")[2])
    own = [text for token in peer.specials for text in texts_around(token)]
    samples = list(dict.fromkeys([*varied_texts()[::20], *WORDS, *own]))
    return Outcome(name, respects=compare_with(tok, peer, samples))


@pytest.mark.parametrize("name", ROWS)
def test_pipeline(name: str, tmp_path: Path) -> None:
    outcome = examine(name, tmp_path / "tokenizer.json")
    assert outcome.is_alike, str(outcome)
