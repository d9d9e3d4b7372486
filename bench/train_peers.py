"""The competitors, one function each, run in a process of its own by `measure.py`.

A function imports its package, trains inside `with clock:` from the file to the tokenizer, and
afterwards tells its answer. All train byte-level BPE on the same words, except sentencepiece and
youtokentome, which know only characters and cut words at white space.
"""

import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from measure import Clock, answer
from ranks import gpt2_letters

GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
ANYTHING = r"(?s).+"

# Under GPT-2's pattern a word begins at a single space between letters, and a newline after a
# character that is not white space, with at most one white character behind it, is a word by
# itself: a text cut there has the same words.
SEAM = re.compile(r"(?<=[a-z])(?= [a-z])|(?<=\S\n)(?=\s?\S)")
PIECE = 1 << 14


@dataclass(frozen=True)
class Job:
    """What one competitor is to train: everything its process needs to know."""

    competitor: str
    path: str
    vocab_size: int
    pattern: str | None = "gpt2"
    documents: str = "file"
    num_threads: int = 1


@dataclass(frozen=True)
class Outcome:
    """One repetition: its cost, and the answer by which it is judged.

    A merge is `[left, right]`, or `[token]` where the competitor tells only the result, in hex.
    """

    cpu: float
    wall: float
    peak: int
    laps: dict[str, dict[str, float]]
    vocab_size: int
    merges: list[list[str]] = field(default_factory=list)
    round_trip: bool | None = None
    num_unique: int | None = None


def documents(job: Job) -> Iterator[str]:
    """The documents mergewise sees, for the competitors that take strings.

    A file that is one document comes in pieces cut at seams: its words are the same, and the
    competitor is spared a string as large as the file, which costs it gigabytes.
    """
    with Path(job.path).open(encoding="utf-8", newline="\n") as file:
        if job.documents == "lines":
            yield from file
            return
        assert job.pattern == "gpt2", "seams are known for this pattern only"
        text, searched = "", PIECE
        while block := file.read(PIECE):
            text += block
            while seam := SEAM.search(text, searched):
                yield text[: seam.end()]
                text, searched = text[seam.end() :], PIECE
            searched = max(PIECE, len(text) - 2)  # a stretch without seams is searched once
        if text:
            yield text


def sample(job: Job) -> list[str]:
    """Lines from the head of the file, without their ends, to encode and decode."""
    with Path(job.path).open(encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n") for line in islice(file, 2000)]


def mergewise(job: Job, clock: Clock, like: str | None = None) -> Outcome:
    """This project: overlaps skipped as in the paper, or like another's rules."""
    mw = import_module("mergewise")
    with clock:
        counts = mw.count_files(
            [job.path],
            pattern=job.pattern,
            documents=job.documents,
            num_threads=job.num_threads,
        )
        clock.lap("count")
        options = {} if like is None else {"like": like}
        tokenizer = mw.train(counts, num_merges=job.vocab_size - 256, **options)
        clock.lap("train")
    merges = [[left.hex(), right.hex()] for left, right in tokenizer.merges]
    return outcome(clock, tokenizer.vocab_size, merges, num_unique=counts.num_unique)


def tokenizers(job: Job, clock: Clock) -> Outcome:
    """HuggingFace's; ties by GPT-2's letters."""
    hf = import_module("tokenizers")
    byte_level = hf.pre_tokenizers.ByteLevel
    with clock:
        tokenizer = hf.Tokenizer(hf.models.BPE())
        tokenizer.pre_tokenizer = byte_level(
            add_prefix_space=False,
            use_regex=job.pattern is not None,
        )
        trainer = hf.trainers.BpeTrainer(
            vocab_size=job.vocab_size,
            initial_alphabet=byte_level.alphabet(),
            show_progress=False,
        )
        tokenizer.train_from_iterator(documents(job), trainer)
    byte = {letter: value for value, letter in enumerate(gpt2_letters())}
    merges = [
        [bytes(byte[letter] for letter in token).hex() for token in pair]
        for pair in json.loads(tokenizer.to_str())["model"]["merges"]
    ]
    return outcome(clock, tokenizer.get_vocab_size(), merges)


def gigatoken(job: Job, clock: Clock) -> Outcome:
    """Reads the file itself; GPT-2's pattern only; ties as tokenizers."""
    gt = import_module("gigatoken")
    with clock:
        source = gt.TextFileSource([job.path])
        vocab, pairs = gt.train_bpe(source, job.vocab_size, [], tie_breaking="huggingface")
    merges = [[bytes(left).hex(), bytes(right).hex()] for left, right in pairs]
    return outcome(clock, len(vocab), merges)


def rustbpe(job: Job, clock: Clock) -> Outcome:
    """Karpathy's; ties by the bytes 0-255."""
    module = import_module("rustbpe")
    with clock:
        tokenizer = module.Tokenizer()
        tokenizer.train_from_iterator(
            documents(job),
            job.vocab_size,
            buffer_size=8192 if job.documents == "lines" else 256,
            pattern=regex(job),
        )
    return outcome(clock, tokenizer.vocab_size, by_rank(dict(tokenizer.get_mergeable_ranks())))


def bpeasy(job: Job, clock: Clock) -> Outcome:
    """Ties as rustbpe; a longest token is asked for, so it gets one beyond any."""
    module = import_module("bpeasy")
    with clock:
        ranks = module.train_bpe(
            documents(job),
            regex(job),
            max_token_length=1 << 30,
            vocab_size=job.vocab_size,
            batch_size=256,
        )
    return outcome(clock, len(ranks), by_rank(ranks))


def regex(job: Job) -> str:
    """The job's pattern, written out."""
    return GPT2 if job.pattern == "gpt2" else ANYTHING


def by_rank(ranks: dict[bytes, int]) -> list[list[str]]:
    """The tokens after the 256 bytes, in the order of their ranks."""
    return [[token.hex()] for token in sorted(ranks, key=lambda token: ranks[token])[256:]]


def sentencepiece(job: Job, clock: Clock) -> Outcome:
    """Characters, with bytes for the rare ones; by lines; words at white space, or whole lines."""
    spm = import_module("sentencepiece")
    whole_lines = {
        "split_by_whitespace": False,
        "split_by_unicode_script": False,
        "split_by_number": False,
        "max_sentencepiece_length": 512,
    }
    with tempfile.TemporaryDirectory() as folder, clock:
        spm.SentencePieceTrainer.train(
            input=job.path,
            model_prefix=f"{folder}/model",
            model_type="bpe",
            vocab_size=job.vocab_size,
            num_threads=job.num_threads,
            byte_fallback=True,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            max_sentence_length=1 << 30,
            minloglevel=2,
            **(whole_lines if job.pattern is None else {}),
        )
        model = spm.SentencePieceProcessor(model_file=f"{folder}/model.model")
    lines = sample(job)
    return outcome(clock, model.vocab_size(), round_trip=model.decode(model.encode(lines)) == lines)


def youtokentome(job: Job, clock: Clock) -> Outcome:
    """Characters; words at white space, whose kind and number it forgets."""
    module = import_module("youtokentome")
    with tempfile.TemporaryDirectory() as folder, clock:
        model = module.BPE.train(
            data=job.path,
            model=f"{folder}/model",
            vocab_size=job.vocab_size,
            n_threads=job.num_threads,
        )
    lines = sample(job)
    ids = model.encode(lines, output_type=module.OutputType.ID)
    plain = [b" ".join(line.encode().split()).decode() for line in lines]
    return outcome(clock, model.vocab_size(), round_trip=model.decode(ids) == plain)


def outcome(
    clock: Clock,
    vocab_size: int,
    merges: list[list[str]] | None = None,
    **answer: Any,  # noqa: ANN401 (the rest of Outcome's fields)
) -> Outcome:
    """The clock's figures and the answer in one."""
    return Outcome(
        clock.cpu, clock.wall, clock.peak, clock.laps, vocab_size, merges or [], **answer
    )


COMPETITORS: dict[str, Callable[[Job, Clock], Outcome]] = {
    "mergewise": mergewise,
    "mergewise like=huggingface": partial(mergewise, like="huggingface"),
    "mergewise like=rustbpe": partial(mergewise, like="rustbpe"),
    "gigatoken": gigatoken,
    "rustbpe": rustbpe,
    "youtokentome": youtokentome,
    "sentencepiece": sentencepiece,
    "tokenizers": tokenizers,
    "bpeasy": bpeasy,
}


def train(**job: Any) -> Outcome:  # noqa: ANN401 (the fields of Job)
    """Does one job."""
    return COMPETITORS[job["competitor"]](Job(**job), Clock())


if __name__ == "__main__":
    answer(COMPETITORS, train, *sys.argv[1:])
