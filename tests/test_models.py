"""Real vocabularies of every kind beside their own libraries, on few texts.

`make test-models` compares all of them on all texts.
"""

from __future__ import annotations

import pytest
from models import Differences, compare, examine
from sample_texts import varied_texts
from vocabularies import VOCABULARIES

SMALL = [
    *("gpt2", "whisper", "llama4", "claude-ranks", "tekken", "gpt2-merges", "clip"),
    *("mistral-v1", "mistral-v3", "llama-spm", "yi-spm"),
    *("llama2", "gpt2-json", "claude", "moonshine", "tortoise", "pix2tex", "gpt-neox", "deepseek"),
    *("gguf-llama-spm", "gguf-falcon", "gguf-starcoder"),
]


@pytest.mark.parametrize("name", SMALL)
def test_vocabulary(name: str) -> None:
    outcome = examine(name, every=20)
    assert outcome.is_alike, str(outcome)


def test_the_smallest_difference_is_found() -> None:
    found = compare(str.lower, lambda text: text.replace("A", "a"), ["low", "ALL ELSE", "Be"])
    assert found == Differences(2, 3, "'B' ours 'b' theirs 'B'")


def test_texts_and_names() -> None:
    assert len(set(varied_texts())) == 2150
    assert set(SMALL) <= set(VOCABULARIES)
