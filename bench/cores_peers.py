"""Who encodes or counts on all cores, run in a process of its own by `measure.py`.

With several processes, each does the whole work on one thread, all at the same time: what they do
together is the most that threads, which share nothing more than processes do, could reach there.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from encode_peers import Job as Encoding
from encode_peers import digest, documents, flat_offsets, gigatoken_arrays, mergewise_arrays
from measure import Clock, answer


@dataclass(frozen=True)
class Job:
    """What is done with which text, `times` over; a document size of 0 is one document."""

    competitor: str
    path: str
    document_size: int
    times: int
    vocabulary: str
    num_threads: int = 1
    num_processes: int = 1
    num_calls: int = 4


@dataclass(frozen=True)
class Speeds:
    """MB/s of each call, the first of which is cold, and what the last one gave."""

    calls: list[float]
    digest: str


Work = Callable[[list[Any]], Any]


def mergewise_encode(job: Job) -> Work:
    """`encode_batch_numpy`."""
    return mergewise_arrays(_encoding(job)).encode


def mergewise_bytes(job: Job) -> Work:
    """The same, of documents that are bytes."""
    return mergewise_encode(job)


def gigatoken_encode(job: Job) -> Work:
    """An awkward array."""
    return gigatoken_arrays(_encoding(job)).encode


def mergewise_count(job: Job) -> Work:
    """`count`, with the pattern of cl100k."""
    count = import_module("mergewise").count
    return lambda texts: count(texts, num_threads=job.num_threads)


def _encoding(job: Job) -> Encoding:
    return Encoding(job.competitor, job.path, 0, job.vocabulary, "", job.num_threads)


def _digest(job: Job, made: Any) -> str:  # noqa: ANN401 (what a competitor gives)
    """Of all ids and lengths, or of how many words there are."""
    if job.competitor in ("mergewise encode", "mergewise bytes"):
        return digest(flat_offsets(made))
    if job.competitor == "gigatoken encode":
        ak = import_module("awkward")
        return digest((ak.to_numpy(ak.flatten(made)), ak.to_numpy(ak.num(made))))
    return f"{made.num_words} {made.num_unique}"


COMPETITORS: dict[str, Callable[[Job], Work]] = {
    "mergewise encode": mergewise_encode,
    "mergewise bytes": mergewise_bytes,
    "gigatoken encode": gigatoken_encode,
    "mergewise count": mergewise_count,
}


def measure(job: Job, wait: Callable[[], object]) -> Speeds:
    """Calls the competitor; before each call, wait for the others."""
    texts = documents(Path(job.path), job.document_size or sys.maxsize)
    texts = texts * job.times if job.document_size else ["".join(texts) * job.times]
    encoded = [text.encode() for text in texts]
    size = sum(map(len, encoded)) / 1e6
    given: list[Any] = encoded if job.competitor == "mergewise bytes" else texts
    work = COMPETITORS[job.competitor](job)
    work(["a"])
    speeds = []
    made: Any = None
    for _ in range(job.num_calls):
        # An answer is given back before the next call, whose time this is not.
        made = None
        wait()
        with (clock := Clock()):
            made = work(given)
        speeds.append(size / clock.wall)
    return Speeds(speeds, _digest(job, made))


def _measure_beside(job: Job, barrier: Barrier, answers: "Queue[Speeds]") -> None:
    answers.put(measure(job, barrier.wait))


def together(job: Job) -> Speeds:
    """What as many processes as the job says do, each on one thread."""
    context = get_context("spawn")
    barrier, answers = context.Barrier(job.num_processes), context.Queue()
    alone = replace(job, num_processes=1)
    started = [
        context.Process(target=_measure_beside, args=(alone, barrier, answers))
        for _ in range(job.num_processes)
    ]
    for process in started:
        process.start()
    found = [answers.get() for _ in started]
    for process in started:
        process.join()
    digests = {one.digest for one in found}
    assert len(digests) == 1, "all have the same text"
    calls = zip(*(one.calls for one in found), strict=True)
    return Speeds([sum(speeds) for speeds in calls], digests.pop())


def run(**fields: Any) -> Speeds:  # noqa: ANN401 (the fields of Job)
    """Does one job."""
    job = Job(**fields)
    return together(job) if job.num_processes > 1 else measure(job, lambda: None)


if __name__ == "__main__":
    answer(COMPETITORS, run, *sys.argv[1:])
