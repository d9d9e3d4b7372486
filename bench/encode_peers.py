"""The competitors of encoding, one function each, run in a process of its own by `measure.py`.

A function imports its package, loads the vocabulary and returns what encodes a list of documents
on the job's number of threads; loading is not timed. Functions named after a form of the ids load
cl100k, and no text is taken for a special token; those named `model` read the tokenizer.json of a
model and find its special tokens, as not all of them can do otherwise, but add none.
"""

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from measure import Clock, answer
from ranks import read_ranks

SPECIAL_TOKENS = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}
# As tiktoken 0.14.0 has it, and the same for Oniguruma, to which `$` is the end of any line and
# `{1,3}+` is not possessive.
TIKTOKEN_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
ONIGURUMA_PATTERN = TIKTOKEN_PATTERN.replace("{1,3}+", "{1,3}").replace("$", r"\z")

WARM_CALLS = 5
WARM_SECONDS = 5.0


@dataclass(frozen=True)
class Job:
    """What one competitor is to encode: everything its process needs to know."""

    competitor: str
    path: str
    document_size: int
    vocabulary: str
    tokenizer_json: str
    num_threads: int = 1
    warm_calls: int = WARM_CALLS


@dataclass(frozen=True)
class Outcome:
    """One process: the cost of its calls, CPU and wall seconds, and a digest of each one's ids.

    The first call is the cold one. What a competitor puts off until a first call of any kind is
    loading: that ends with a document of one word.
    """

    loading: float
    cpu: list[float]
    wall: list[float]
    peak: int
    num_tokens: int
    digests: list[str]


Lists = Sequence[Sequence[int]]
Integers = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Encoder:
    """Encodes documents, and makes of the answer all ids in a row and the documents' lengths."""

    encode: Callable[[list[str]], Any]
    flatten: Callable[[Any], tuple[Integers, Integers]]


def flat_lists(lists: Lists) -> tuple[Integers, Integers]:
    """Of a list for each document."""
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    ids = np.fromiter(chain.from_iterable(lists), np.uint32, int(lengths.sum()))
    return ids, lengths


def flat_arrays(arrays: Sequence[Integers]) -> tuple[Integers, Integers]:
    """Of an array for each document."""
    lengths = np.fromiter(map(len, arrays), np.int64, len(arrays))
    return np.concatenate(arrays), lengths


def flat_offsets(answer: tuple[Integers, Integers]) -> tuple[Integers, Integers]:
    """Of one array, and the offsets of the documents in it."""
    ids, offsets = answer
    return ids, offsets[1:] - offsets[:-1]


def mergewise_arrays(job: Job) -> Encoder:
    """This project: one array and offsets."""
    encode = _mergewise(job).encode_batch_numpy
    return Encoder(
        lambda documents: encode(documents, num_threads=job.num_threads, disallowed_special=()),
        flat_offsets,
    )


def mergewise_model(job: Job) -> Encoder:
    """This project: one array and offsets."""
    encode = import_module("mergewise").Tokenizer.from_file(job.tokenizer_json).encode_batch_numpy
    options = {"num_threads": job.num_threads, "allowed_special": "all"}
    return Encoder(
        lambda documents: encode(documents, add_special_tokens=False, **options), flat_offsets
    )


def mergewise_lists(job: Job) -> Encoder:
    """This project: lists."""
    encode = _mergewise(job).encode_batch
    return Encoder(
        lambda documents: encode(documents, num_threads=job.num_threads, disallowed_special=()),
        flat_lists,
    )


def _mergewise(job: Job) -> Any:  # noqa: ANN401 (a tokenizer)
    load = import_module("mergewise").Tokenizer.from_file
    return load(job.vocabulary, pattern="cl100k", special_tokens=SPECIAL_TOKENS)


def gigatoken_arrays(job: Job) -> Encoder:
    """An awkward array."""
    return _awkward(_gigatoken(job), job)


def gigatoken_model(job: Job) -> Encoder:
    """An awkward array."""
    return _awkward(import_module("gigatoken").Tokenizer(job.tokenizer_json), job)


def _awkward(tokenizer: Any, job: Job) -> Encoder:  # noqa: ANN401 (a tokenizer)
    """With one array of ids and offsets inside."""
    ak = import_module("awkward")
    return Encoder(
        lambda documents: tokenizer.encode_batch(documents, parallel=job.num_threads > 1),
        lambda array: (ak.to_numpy(ak.flatten(array)), ak.to_numpy(ak.num(array))),
    )


def gigatoken_lists(job: Job) -> Encoder:
    """Lists."""
    encode = _gigatoken(job).encode_batch_list
    return Encoder(lambda documents: encode(documents, parallel=job.num_threads > 1), flat_lists)


def _gigatoken(job: Job) -> Any:  # noqa: ANN401 (a tokenizer)
    # It finds special tokens in any text and has no option against that, so it is given none.
    load = import_module("gigatoken").Tokenizer.from_tiktoken
    return load(job.vocabulary, pretokenizer="cl100k", special_tokens={})


def fastokens_arrays(job: Job) -> Encoder:
    """Buffers; the encoding's name selects its scanner by hand."""
    tokenizer = import_module("fastokens").Tokenizer.from_tiktoken(
        job.vocabulary, special_tokens=SPECIAL_TOKENS, encoding="cl100k_base"
    )
    return _buffers(tokenizer, split_special_tokens=True)


def fastokens_model(job: Job) -> Encoder:
    """Buffers."""
    tokenizer = import_module("fastokens").Tokenizer.from_file(job.tokenizer_json)
    return _buffers(tokenizer, split_special_tokens=False)


def _buffers(tokenizer: Any, **options: bool) -> Encoder:  # noqa: ANN401 (a tokenizer)
    """One of ids and one of offsets."""

    def encode(documents: list[str]) -> tuple[Integers, Integers]:
        ids, offsets = tokenizer.encode_batch_flat(documents, **options)
        return np.frombuffer(ids, np.uint32), np.frombuffer(offsets, np.uint64)

    return Encoder(encode, flat_offsets)


def tiktoken_arrays(job: Job) -> Encoder:
    """An array for each document; there is no batch of them."""
    encode = _tiktoken(job).encode_to_numpy
    return Encoder(
        lambda documents: [encode(document, disallowed_special=()) for document in documents],
        flat_arrays,
    )


def tiktoken_lists(job: Job) -> Encoder:
    """Lists; the reference of all others."""
    encode = _tiktoken(job).encode_ordinary_batch
    return Encoder(lambda documents: encode(documents, num_threads=job.num_threads), flat_lists)


def _tiktoken(job: Job) -> Any:  # noqa: ANN401 (an encoding)
    return import_module("tiktoken").Encoding(
        "cl100k",
        pat_str=TIKTOKEN_PATTERN,
        mergeable_ranks=read_ranks(Path(job.vocabulary)),
        special_tokens=SPECIAL_TOKENS,
    )


def tokenizers_lists(job: Job) -> Encoder:
    """HuggingFace's, from a tokenizer.json made of the same ranks."""
    return _encodings(job, as_text=True)


def tokenizers_model(job: Job) -> Encoder:
    """HuggingFace's; the reference of all others."""
    return _encodings(job, as_text=False)


def tokenizers_rc_model(job: Job) -> Encoder:
    """HuggingFace's next: 1.0.0rc3, in an environment of its own."""
    encode = import_module("tokenizers").Tokenizer.from_file(job.tokenizer_json).encode_batch
    return Encoder(
        lambda documents: [one.ids for one in encode(documents, add_special_tokens=False)],
        flat_lists,
    )


def _encodings(job: Job, *, as_text: bool) -> Encoder:
    """The ids of encodings; with `as_text` special tokens are ordinary text."""
    tokenizer = import_module("tokenizers").Tokenizer.from_file(job.tokenizer_json)
    tokenizer.encode_special_tokens = as_text
    encode = tokenizer.encode_batch_fast
    return Encoder(
        lambda documents: [one.ids for one in encode(documents, add_special_tokens=False)],
        flat_lists,
    )


def splintr_model(job: Job) -> Encoder:
    """Lists, one document after the other; what takes a batch adds special tokens."""
    encode = import_module("splintr").from_json(job.tokenizer_json).encode_raw
    return Encoder(lambda documents: [encode(document) for document in documents], flat_lists)


def wordchipper_lists(job: Job) -> Encoder:
    """Takes vocabularies from the network or from its cache, which is filled here."""
    with tempfile.TemporaryDirectory() as folder:
        cached = Path(folder) / "openai" / "cl100k_base" / "cl100k_base.tiktoken"
        cached.parent.mkdir(parents=True)
        shutil.copyfile(job.vocabulary, cached)
        os.environ["WORDCHIPPER_CACHE_DIR"] = folder
        module = import_module("wordchipper")
        options = module.TokenizerOptions.default()
        options.set_parallel(job.num_threads > 1)
        tokenizer = module.Tokenizer.from_pretrained("cl100k_base", options)
    assert tokenizer.vocab_size == 100_256, "it did not find its cache, and knows only bytes"
    no_special_tokens = module.SpecialFilter.include_none()
    return Encoder(
        lambda documents: tokenizer.encode_batch(documents, no_special_tokens), flat_lists
    )


def rs_bpe_lists(_job: Job) -> Encoder:
    """Has cl100k inside; tells the number of tokens and its own time besides the lists."""
    encode = import_module("rs_bpe.bpe").openai.cl100k_base().encode_batch
    return Encoder(lambda documents: encode(documents)[0], flat_lists)


def kitoken_lists(job: Job) -> Encoder:
    """Knows the pattern by the vocabulary."""
    encode = import_module("kitoken").Kitoken.from_tiktoken_file(job.vocabulary).encode_all
    return Encoder(lambda documents: encode(documents, False), flat_lists)  # noqa: FBT003 (its name would be longer)


COMPETITORS: dict[str, Callable[[Job], Encoder]] = {
    "mergewise arrays": mergewise_arrays,
    "mergewise lists": mergewise_lists,
    "gigatoken arrays": gigatoken_arrays,
    "gigatoken lists": gigatoken_lists,
    "fastokens arrays": fastokens_arrays,
    "tiktoken arrays": tiktoken_arrays,
    "tiktoken lists": tiktoken_lists,
    "wordchipper lists": wordchipper_lists,
    "rs-bpe lists": rs_bpe_lists,
    "kitoken lists": kitoken_lists,
    "tokenizers lists": tokenizers_lists,
    "mergewise model": mergewise_model,
    "gigatoken model": gigatoken_model,
    "fastokens model": fastokens_model,
    "splintr-rs model": splintr_model,
    "tokenizers model": tokenizers_model,
    "tokenizers-rc model": tokenizers_rc_model,
}


def documents(path: Path, size: int) -> list[str]:
    """The text in pieces of at most `size` bytes, no character cut."""
    text = path.read_bytes()
    pieces, start = [], 0
    while start < len(text):
        end = min(start + size, len(text))
        while end < len(text) and text[end] & 0xC0 == 0x80:
            end -= 1
        pieces.append(text[start:end].decode())
        start = end
    return pieces


def digest(arrays: Iterable[Integers]) -> str:
    """A hash of all ids and of the documents' lengths."""
    hashed = hashlib.sha256()
    for array in arrays:
        hashed.update(array.astype("<i8").tobytes())
    return hashed.hexdigest()


def encode(**fields: Any) -> Outcome:  # noqa: ANN401 (the fields of Job)
    """Does one job: a cold call, then warm ones on the same documents, until they are long."""
    job = Job(**fields)
    texts = documents(Path(job.path), job.document_size)
    with (loading := Clock()):
        encoder = COMPETITORS[job.competitor](job)
        encoder.encode(["a"])
    cpu: list[float] = []
    wall: list[float] = []
    digests: list[str] = []
    peak = num_tokens = 0
    while len(cpu) <= job.warm_calls and sum(cpu[1:]) < WARM_SECONDS:
        with (clock := Clock()):
            answer = encoder.encode(texts)
        cpu.append(clock.cpu)
        wall.append(clock.wall)
        peak = peak or clock.peak
        flat = encoder.flatten(answer)
        # An answer is given back before the next call, whose time this is not.
        del answer
        num_tokens = len(flat[0])
        digests.append(digest(flat))
    return Outcome(loading.cpu, cpu, wall, peak, num_tokens, digests)


if __name__ == "__main__":
    answer(COMPETITORS, encode, *sys.argv[1:])
