"""The work of a cluster without one: tasks on Arrow batches, and tables of counts."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cluster_texts import TEXTS, english, saved, write_parquet
from command_line import call
from hypothesis import given
from hypothesis import strategies as st

import mergewise as mw
from mergewise import _core, count_tables
from mergewise.cluster import blocks
from mergewise.cluster import task as cluster_task
from mergewise.errors import ClusterError, FormatError

Texts = list[str | None]


def batches_of(texts: Texts, kind: pa.DataType, num_rows: int) -> list[pa.RecordBatch]:
    parts = [texts[start : start + num_rows] for start in range(0, len(texts), num_rows)]
    return [pa.record_batch({"text": pa.array(part, kind)}) for part in parts]


def summed(batches: Any) -> mw.WordCounts:
    return mw.WordCounts.from_arrow(batches)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("memory_limit", [0, 1 << 28])
def test_counts_are_the_same_under_any_memory_limit(text: str, memory_limit: int) -> None:
    documents: Texts = [*TEXTS[text](), None]
    task = mw.cluster.Task(pattern="gpt2", memory_limit=memory_limit)
    counted = list(task.count(batches_of(documents, pa.string(), 7)))
    assert summed(counted) == mw.count((d for d in documents if d is not None), pattern="gpt2")
    num_rows = sum(batch.num_rows for batch in counted)
    is_flushed = num_rows > summed(counted).num_unique
    assert is_flushed == (memory_limit == 0)


@given(st.lists(st.none() | st.text(alphabet="ab \n", max_size=20)), st.integers(1, 5))
def test_any_batches_have_the_counts_of_their_texts(texts: Texts, num_rows: int) -> None:
    task = mw.cluster.Task(memory_limit=0)
    rows = [batch for batch in task.count(batches_of(texts, pa.string(), num_rows)) if batch]
    expected = mw.count(text for text in texts if text is not None)
    assert (summed(rows) if rows else mw.count([])) == expected


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.binary(),
        pa.large_binary(),
        pa.dictionary(pa.int32(), pa.string()),
    ],
    ids=str,
)
def test_every_kind_of_text(kind: pa.DataType) -> None:
    texts: Texts = ["to be", None, "or not", "to be"]
    plain = pa.array(texts, pa.string())
    column = plain.cast(kind) if kind != pa.binary_view() else plain.cast(pa.binary()).cast(kind)
    batch = pa.record_batch({"text": column.slice(1)})
    assert summed(mw.cluster.Task().count([batch])) == mw.count(["or not", "to be"])


def test_a_column_of_nulls_has_no_words() -> None:
    batch = pa.record_batch({"text": pa.array([None, None])})
    assert list(mw.cluster.Task().count([batch])) == []


def test_a_column_that_is_no_text_is_refused() -> None:
    task = mw.cluster.Task(column="n")
    with pytest.raises(ClusterError, match="'n' holds int64, expected text"):
        list(task.count([pa.record_batch({"n": [1]})]))
    with pytest.raises(ClusterError, match="found the columns 'text', expected 'n'"):
        list(task.count([pa.record_batch({"text": ["a"]})]))


def test_a_worker_keeps_the_last_task() -> None:
    first, second = (mw.cluster.Task(column=name) for name in ("first", "second"))
    sent = [pickle.dumps(cluster_task.kept(task)) for task in (first, second)]
    once, again, other, anew = (pickle.loads(sent[n]) for n in (0, 0, 1, 0))  # noqa: S301 - our own
    assert again is once
    assert [task.column for task in (once, other, anew)] == ["first", "second", "first"]


def test_a_task_pickles_and_refuses_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = mw.train(mw.count(english()), num_merges=20)
    task = mw.cluster.Task(pattern="gpt2", special_tokens=["x"], tokenizer=tokenizer)
    copy = pickle.loads(pickle.dumps(task))  # noqa: S301 - our own
    batches = batches_of([*english()], pa.string(), 10)
    assert summed(copy.count(batches)) == mw.count(english(), pattern="gpt2", special_tokens=["x"])
    monkeypatch.setattr(cluster_task, "VERSION", "9.9.9")
    for work in (
        copy.count,
        copy.encode,
        lambda batches: copy.prune(batches, min_count=1),
        lambda batches: blocks.count_blocks(copy, 1, batches),
        lambda batches: blocks.sum_to_rows(copy, 1, batches),
    ):
        with pytest.raises(ClusterError, match=r"this worker has mergewise 9\.9\.9, the driver"):
            list(work(batches))


def test_bad_arguments_are_refused_on_the_driver() -> None:
    with pytest.raises(ValueError, match="invalid pattern"):
        mw.cluster.Task(pattern="(")
    with pytest.raises(TypeError, match="column must be a string"):
        mw.cluster.Task(column=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="memory_limit must be 0 or more"):
        mw.cluster.Task(memory_limit=-1)
    with pytest.raises(TypeError, match="a task without a tokenizer"):
        list(mw.cluster.Task().encode([]))


def test_pruning_sums_is_pruning_counts() -> None:
    counts = mw.count(english())
    parts = list(mw.cluster.Task().prune(counts.to_arrow().to_batches(), min_count=4))
    assert summed(parts) == counts.prune(4)


def test_encoding_keeps_rows_and_other_columns() -> None:
    tokenizer = mw.train(mw.count(english()), num_merges=300)
    texts: Texts = [*english()[:30], None, "", "é"]
    batch = pa.record_batch({"text": texts, "id": range(len(texts))})
    (encoded,) = mw.cluster.Task(tokenizer=tokenizer).encode([batch])
    assert encoded.schema == pa.schema([("id", pa.int64()), ("ids", pa.list_(pa.uint32()))])
    expected = [None if text is None else tokenizer.encode(text) for text in texts]
    assert encoded.column("ids").to_pylist() == expected


def test_batches_that_are_too_large_for_a_list_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_task, "MOST_LIST_BYTES", 2000)
    tokenizer = mw.train(mw.count(english()), num_merges=300)
    texts = [text[:500] for text in english()]
    parts = list(mw.cluster.Task(tokenizer=tokenizer).encode(batches_of([*texts], pa.string(), 99)))
    assert len(parts) > len(texts) // 99 + 1
    assert [ids for part in parts for ids in part.column("ids").to_pylist()] == [
        tokenizer.encode(text) for text in texts
    ]


@given(st.dictionaries(st.binary(min_size=1, max_size=40), st.integers(1, 2**40)))
def test_a_table_holds_all_of_the_counts(words: dict[bytes, int]) -> None:
    counts = mw.WordCounts(_core.WordCounts(list(words.items()), pattern="gpt2"))
    for each in (counts, counts.prune(2**20)):
        table = each.to_arrow()
        assert mw.WordCounts.from_arrow(table) == each
        assert mw.WordCounts.from_arrow([table, table]) == each + each


def test_a_table_of_several_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = mw.count(english())
    monkeypatch.setattr("mergewise.count_tables.BATCH_BYTES", 100)
    table = counts.to_arrow()
    assert table.column("word").num_chunks > 100
    assert mw.WordCounts.from_arrow(table) == counts


def test_parquet_files_add_and_are_told_from_texts(tmp_path: Path) -> None:
    texts = english()
    first, second = mw.count(texts[:9]).prune(2), mw.count(texts[9:])
    first.save(tmp_path / "a.parquet")
    second.save(tmp_path / "b.parquet")
    second.save(tmp_path / "c.counts")
    files = [tmp_path / "a.parquet", tmp_path / "b.parquet", tmp_path / "c.counts"]
    assert mw.WordCounts.from_files(files) == first + second + second
    (documents,) = write_parquet(texts, tmp_path, 1)
    output = tmp_path / "sum.counts"
    assert call("count", *files[:2], "-q", "-o", output).status == 0
    assert saved(mw.WordCounts.from_file(output), tmp_path) == saved(first + second, tmp_path)
    assert call("count", documents, "-q", "-o", output).status == 0
    assert mw.WordCounts.from_file(output) == mw.count(texts)
    done = call("count", files[0], documents, "-q", "-o", output)
    assert (done.status, "cannot be mixed" in done.errors) == (1, True)
    assert call("count", files[0], "--pattern", "gpt2", "-q", "-o", output).status == 1


def test_tables_of_other_words_are_refused(tmp_path: Path) -> None:
    mw.count(["a"], pattern="gpt2").save(tmp_path / "a.parquet")
    mw.count(["a"], pattern="gpt2", normalize="nfc").save(tmp_path / "b.parquet")
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "c.parquet")
    with pytest.raises(FormatError, match=r"different words: .*a\.parquet has .*b\.parquet"):
        mw.WordCounts.from_files([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    with pytest.raises(FormatError, match=r"c\.parquet: found no word counts"):
        mw.WordCounts.from_file(tmp_path / "c.parquet")
    tables = [mw.count(["a"], pattern=name).to_arrow() for name in ("gpt2", None)]
    with pytest.raises(FormatError, match="different words: found pattern=None"):
        mw.WordCounts.from_arrow(tables)
    with pytest.raises(FormatError, match="does not say how its words were cut"):
        mw.WordCounts.from_arrow(pa.table({"word": [b"a"], "count": [1]}))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"word": [b"a"], "count": [0]}, "row 0: found the count 0, expected 1 or more"),
        ({"word": [b"a", b"b"], "count": [1, -1]}, "row 1: found the count -1"),
        ({"word": [b"a"], "count": pa.array([None], pa.int64())}, "row 0: found no count"),
        ({"word": [b"aaaa"], "count": [2**62]}, "sums of 64 bits"),
        ({"word": [b"a"], "count": ["1"]}, "expected int64"),
        ({"word": [1], "count": [1]}, "expected strings or binary"),
        ({"words": [b"a"], "count": [1]}, "expected 'word'"),
    ],
)
def test_rows_that_are_no_counts_are_refused(columns: dict[str, Any], message: str) -> None:
    metadata = mw.count(["a"]).to_arrow().schema.metadata
    table = pa.table(columns).replace_schema_metadata(metadata)
    with pytest.raises(ValueError, match=message):
        mw.WordCounts.from_arrow(table)


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "{}", '{"counts": 2, "pattern": null, "normalize": null}',
     '{"counts": 1, "pattern": 3, "normalize": null}',
     '{"counts": 1, "pattern": null, "normalize": "x"}'],
)  # fmt: skip
def test_invalid_fingerprints_are_refused(text: str) -> None:
    table = mw.count(["a"]).to_arrow().replace_schema_metadata({"mergewise": text})
    with pytest.raises(FormatError, match="expected"):
        mw.WordCounts.from_arrow(table)


def test_damaged_parquet_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    mw.count(english()).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match=r"a\.parquet: "):
        mw.WordCounts.from_file(path)


def test_no_bit_of_the_data_changes_unnoticed(tmp_path: Path) -> None:
    path, counts = tmp_path / "a.parquet", mw.count(english())
    counts.save(path)
    whole = path.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    draw = Random(1)  # noqa: S311 - not for secrets
    for _ in range(60):
        damaged = bytearray(whole)
        damaged[draw.randrange(footer)] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        try:
            assert mw.WordCounts.from_file(path) == counts
        except (FormatError, OSError) as error:
            assert str(path) in str(error)  # noqa: PT017 - or nothing is wrong


def test_no_engine_is_imported_before_it_is_used() -> None:
    program = "import mergewise, sys; print({'ray', 'pyspark', 'pyarrow'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"set()"


@pytest.mark.parametrize(
    ("package", "work"),
    [("ray", mw.cluster.count_ray), ("pyspark", mw.cluster.count_spark)],
)
def test_a_missing_engine_is_named(
    package: str, work: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=r'pip install "mergewise\[(ray|spark)\]"'):
        work(None)


def in_order(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """The blocks, as an engine brings them together: by part, and then as it likes."""
    gathered: list[pa.RecordBatch] = (
        pa.Table.from_batches(batches).sort_by("part").to_batches(max_chunksize=3)
    )
    return gathered


@pytest.mark.parametrize("num_parts", [1, 2, 300])
@pytest.mark.parametrize("min_count", [1, 3])
def test_blocks_of_several_tasks_sum_to_the_counts_of_all(num_parts: int, min_count: int) -> None:
    task = mw.cluster.Task(memory_limit=0)
    halves = english()[::2], english()[1::2]
    counted = [
        block
        for half in halves
        for block in blocks.count_blocks(task, num_parts, batches_of([*half], pa.string(), 9))
    ]
    gathered = in_order(counted)
    rows = list(blocks.sum_to_rows(task, min_count, gathered))
    words = [word for batch in rows for word in batch.column("word").drop_null().to_pylist()]
    assert len(words) == len(set(words))
    expected = mw.count(english()).prune(min_count)
    assert summed(rows) == expected
    again = pa.Table.from_batches(blocks.sum_to_blocks(task, min_count, gathered))
    assert summed(blocks.rows_of_blocks(task, again["block"])) == expected


def test_a_word_is_in_one_part_and_parts_are_about_equal() -> None:
    counts = mw.count([" ".join(map(str, range(20_000)))], pattern="whitespace")
    whole = parts_of_words(counts)
    assert parts_of_words(mw.count(["0 7 77"], pattern="whitespace")).items() <= whole.items()
    sizes = Counter(whole.values())
    assert set(sizes) == set(range(10))
    assert max(sizes.values()) < 1.1 * 2_000


def parts_of_words(counts: mw.WordCounts) -> dict[bytes, int]:
    (parts,) = count_tables.parts_of(counts.core, 10)
    return {word: part for part, rows in parts.items() for word in rows.column("word").to_pylist()}
