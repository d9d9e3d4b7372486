"""What makes files of ids from files of text, run in a process of its own by `measure.py`.

A function loads the vocabulary and returns what reads a file of JSON lines and writes the bare ids,
on one thread; it returns the lengths of the documents. Loading is not timed.
"""

import gzip
import json
import os
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from encode_peers import SPECIAL_TOKENS, Integers, Outcome, digest, documents
from measure import Clock, answer

DOCUMENT_SIZE = 1000
ROW_GROUP_SIZE = 10_000
NUM_AT_ONCE = 1000


@dataclass(frozen=True)
class Job:
    """What is to be read, and with which vocabulary."""

    competitor: str
    path: str
    vocabulary: str
    tokenizer_json: str
    num_threads: int = 1
    is_alone: bool = False


@dataclass(frozen=True)
class Measured:
    """CPU seconds of `encode_files`, of reading alone, and of encoding the documents in memory."""

    files: float
    reading: float
    in_memory: float


@dataclass(frozen=True)
class Spent:
    """What `encode_files` took, by itself: seconds, and bytes of memory."""

    cpu: float
    wall: float
    peak: int


Write = Callable[[Path, Path], Iterable[int]]


def prepared(text: Path, suffix: str) -> Path:
    """The documents of a text in a file of another kind, made once."""
    path = text.with_suffix(suffix)
    if path == text or path.exists():
        return path
    pieces = documents(text, DOCUMENT_SIZE)
    if suffix == ".parquet":
        table = import_module("pyarrow").table({"text": pieces})
        write_table = import_module("pyarrow.parquet").write_table
        write_table(table, path, compression="zstd", row_group_size=ROW_GROUP_SIZE)
        return path
    records = "".join(json.dumps({"text": piece}) + "\n" for piece in pieces).encode()
    path.write_bytes(gzip.compress(records, 6) if suffix.endswith(".gz") else records)
    return path


def records(path: Path) -> Iterator[str]:
    """The texts of a file of JSON lines."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)["text"]


def mergewise_files(job: Job) -> Write:
    """This project."""
    encode_files = _mergewise(job).encode_files
    options = {"dtype": "uint32", "offsets": True, "disallowed_special": (), "num_threads": 1}

    def write(path: Path, out: Path) -> Iterable[int]:
        encode_files(path, out, **options)
        offsets: Integers = np.load(out.with_name(f"{out.stem}.offsets.npy"))
        return np.diff(offsets)

    return write


def _mergewise(job: Job) -> Any:  # noqa: ANN401 (a tokenizer)
    load = import_module("mergewise").Tokenizer.from_file
    return load(job.vocabulary, pattern="cl100k", special_tokens=SPECIAL_TOKENS)


def gigatoken_files(job: Job) -> Write:
    """Its own reader of files; the ids of all documents are in memory before they are written."""
    gigatoken, ak = import_module("gigatoken"), import_module("awkward")
    load = gigatoken.Tokenizer.from_tiktoken
    tokenizer = load(job.vocabulary, pretokenizer="cl100k", special_tokens={})

    def write(path: Path, out: Path) -> Iterable[int]:
        source = gigatoken.JsonlFileSource([str(path)], field="text")
        ids = tokenizer.encode_files(source, parallel=False)
        ak.to_numpy(ak.flatten(ids)).astype(np.uint32, copy=False).tofile(out)
        lengths: Integers = ak.to_numpy(ak.num(ids))
        return lengths

    return write


def tokenizers_megatron(job: Job) -> Write:
    """The loop of Megatron's preprocess_data.py: a document at a time, an array for each."""
    encode = _tokenizers(job).encode

    def write(path: Path, out: Path) -> Iterable[int]:
        lengths = []
        with out.open("wb") as file:
            for text in records(path):
                ids = encode(text, add_special_tokens=False).ids
                file.write(np.array(ids, dtype=np.int32).tobytes(order="C"))
                lengths.append(len(ids))
        return lengths

    return write


def tokenizers_datatrove(job: Job) -> Write:
    """The loop of datatrove's DocumentTokenizer: batches of documents, packed one by one."""
    encode_batch = _tokenizers(job).encode_batch

    def write(path: Path, out: Path) -> Iterable[int]:
        lengths = []
        with out.open("wb") as file:
            left = records(path)
            while texts := list(islice(left, NUM_AT_ONCE)):
                for encoded in encode_batch(texts, add_special_tokens=False):
                    ids = encoded.ids
                    file.write(struct.pack(f"<{len(ids)}I", *ids))
                    lengths.append(len(ids))
        return lengths

    return write


def _tokenizers(job: Job) -> Any:  # noqa: ANN401 (a tokenizer)
    return import_module("tokenizers").Tokenizer.from_file(job.tokenizer_json)


COMPETITORS: dict[str, Callable[[Job], Write]] = {
    "mergewise files": mergewise_files,
    "gigatoken files": gigatoken_files,
    "tokenizers megatron": tokenizers_megatron,
    "tokenizers datatrove": tokenizers_datatrove,
}
# The kinds of files, by the suffix, and the options of `encode_files` on each.
INPUTS: dict[str, tuple[str, dict[str, str]]] = {
    "mergewise one document": (".txt", {"documents": "file"}),
    "mergewise lines": (".txt", {"documents": "lines"}),
    "mergewise .jsonl": (".jsonl", {}),
    "mergewise .jsonl.gz": (".jsonl.gz", {}),
    "mergewise .parquet": (".parquet", {}),
}


def compare(job: Job) -> Measured:
    """Encode a file of some kind, and its documents in memory; reading alone is timed, too."""
    suffix, options = INPUTS[job.competitor]
    path = prepared(Path(job.path), suffix)
    sources = import_module("mergewise.sources")
    encode: dict[str, Any] = {"disallowed_special": (), "num_threads": 1}
    (source,) = sources.find_sources(path)
    # Each has its own cache, and all that is imported late is here then.
    for_files, for_memory = _mergewise(job), _mergewise(job)
    pieces = [piece for batch, _ in sources.documents_of(source, **options) for piece in batch]
    with (files := Clock()):
        for_files.encode_files(path, path.with_suffix(".ids"), **encode, **options)
    with (reading := Clock()):
        for _ in sources.documents_of(source, **options):
            pass
    with (in_memory := Clock()):
        for_memory.encode_batch_numpy(pieces, **encode)
    return Measured(files.cpu, reading.cpu, in_memory.cpu)


def spend(job: Job) -> Spent:
    """Encode a file of some kind, with all that is imported late here already."""
    suffix, options = INPUTS[job.competitor]
    path = prepared(Path(job.path), suffix)
    sources = import_module("mergewise.sources")
    tokenizer = _mergewise(job)
    if suffix == ".parquet":
        (source,) = sources.find_sources(path)
        next(iter(sources.documents_of(source)))
    encode: dict[str, Any] = {"disallowed_special": (), "num_threads": job.num_threads}
    ids = path.with_suffix(".ids")
    # To remove the old file takes time as well, and so does the disk with what was written before.
    ids.unlink(missing_ok=True)
    os.sync()
    with (clock := Clock()):
        tokenizer.encode_files(path, ids, **encode, **options)
    return Spent(clock.cpu, clock.wall, clock.peak)


def encode(**fields: Any) -> Outcome | Measured | Spent:  # noqa: ANN401 (the fields of Job)
    """Does one job."""
    job = Job(**fields)
    if job.competitor in INPUTS:
        return spend(job) if job.is_alone else compare(job)
    path = prepared(Path(job.path), ".jsonl")
    out = path.with_suffix(".bin")
    with (loading := Clock()):
        write = COMPETITORS[job.competitor](job)
    with (clock := Clock()):
        lengths = write(path, out)
    ids = np.fromfile(out, np.uint32)
    made = digest((ids, np.fromiter(lengths, np.int64)))
    return Outcome(loading.cpu, [clock.cpu], [clock.wall], clock.peak, len(ids), [made])


if __name__ == "__main__":
    answer([*COMPETITORS, *INPUTS], encode, *sys.argv[1:])
