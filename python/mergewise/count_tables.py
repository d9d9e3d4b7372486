"""Word counts as Arrow tables and Parquet files: one row for each word.

The columns are `word: binary` and `count: int64`. A row without a word holds the bytes that pruning
left out, so that any engine which adds tables adds these too. How the words were cut stands in the
schema's metadata under the key "mergewise".
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any

from mergewise import _core
from mergewise.errors import FormatError, MergewiseError
from mergewise.parquet import import_parquet, import_pyarrow, no_column, open_parquet
from mergewise.vocabulary import Normalize

KEY = "mergewise"
FORMAT = 1
# Spark keeps the metadata of columns here, in its own JSON.
SPARK_KEY = b"org.apache.spark.sql.parquet.row.metadata"
BATCH_BYTES = 1 << 24


@dataclass(frozen=True)
class Fingerprint:
    """How texts were cut into words; tables of different fingerprints do not add."""

    pattern: str | None
    normalize: Normalize

    def to_json(self) -> str:
        """As the metadata of a table holds it.

        >>> Fingerprint("gpt2", None).to_json()
        '{"counts": 1, "pattern": "gpt2", "normalize": null}'
        """
        return json.dumps({"counts": FORMAT, **vars(self)})

    @classmethod
    def from_json(cls, text: str | bytes) -> Fingerprint:
        """Read the output of `to_json`; raises FormatError for anything else."""
        try:
            fields = itemgetter("counts", "pattern", "normalize")(json.loads(text))
        except (ValueError, TypeError, KeyError):
            raise FormatError(f"found {text!r}, expected how the words were cut") from None
        version, pattern, normalize = fields
        if version != FORMAT:
            raise FormatError(f"found version {version!r} of a table of counts, expected {FORMAT}")
        is_name = pattern is None or isinstance(pattern, str)
        if not is_name or normalize not in {None, "nfc", "nfkc"}:
            raise FormatError(f"found {text!r}, expected a pattern and a normalisation")
        return cls(pattern, normalize)

    def __str__(self) -> str:
        return f"pattern={self.pattern!r}, normalize={self.normalize!r}"


def schema_of(fingerprint: Fingerprint) -> Any:  # noqa: ANN401 - pyarrow is optional
    """The schema of a table of counts."""
    pa = import_pyarrow()
    columns = [("word", pa.binary()), ("count", pa.int64())]
    return pa.schema(columns, metadata={KEY: fingerprint.to_json()})


def fingerprint_of(schema: Any) -> Fingerprint | None:  # noqa: ANN401 - pyarrow is optional
    """How the words of a table were cut; None if it is not a table of counts.

    Reads the metadata of an Arrow table, or that of a column, as Spark writes it.
    """
    return fingerprint_in(schema.metadata or {})


def fingerprint_in(metadata: Mapping[bytes, bytes]) -> Fingerprint | None:
    """The same for the metadata of a table."""
    if KEY.encode() in metadata:
        return Fingerprint.from_json(metadata[KEY.encode()])
    if SPARK_KEY in metadata:
        try:
            fields = json.loads(metadata[SPARK_KEY]).get("fields", ())
            found = [field["metadata"][KEY] for field in fields if KEY in field["metadata"]]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise FormatError("found other metadata of Spark's, expected its schema") from None
        if found:
            return Fingerprint.from_json(found[0])
    return None


def batches_of(counts: _core.WordCounts) -> Iterator[Any]:
    """The rows of counts, in record batches of a few megabytes."""
    for parts in parts_of(counts, 1):
        yield from parts.values()


def parts_of(counts: _core.WordCounts, num_parts: int) -> Iterator[dict[int, Any]]:
    """The rows of counts, a few megabytes at a time, as a record batch for each part of them.

    A word is in the same one of `num_parts` parts wherever it was counted; the bytes that pruning
    left out are in the first.
    """
    schema = schema_of(Fingerprint(counts.pattern, counts.normalize))
    first = 0
    while first < counts.num_unique:
        parts = _core.rows_of_counts(counts, first, BATCH_BYTES, num_parts)
        batches = {part: batch_of(*rows, schema) for part, rows in enumerate(parts) if rows[-1]}
        first += sum(batch.num_rows for batch in batches.values())
        yield batches
    if counts.dropped_bytes:
        yield {0: dropped_row(counts.dropped_bytes, schema)}


def batch_of(words: bytes, offsets: bytes, numbers: bytes, schema: Any) -> Any:  # noqa: ANN401
    """A record batch over three buffers."""
    pa = import_pyarrow()
    num_rows = len(numbers) // 8
    columns = [
        pa.Array.from_buffers(pa.binary(), num_rows, [None, *map(pa.py_buffer, (offsets, words))]),
        pa.Array.from_buffers(pa.int64(), num_rows, [None, pa.py_buffer(numbers)]),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def dropped_row(num_bytes: int, schema: Any) -> Any:  # noqa: ANN401 - pyarrow is optional
    """The row for bytes that pruning left out."""
    pa = import_pyarrow()
    columns = [pa.array([None], pa.binary()), pa.array([num_bytes], pa.int64())]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def counts_of(batches: Iterable[Any], fingerprint: Fingerprint) -> _core.WordCounts:
    """The sums of the rows of record batches, each of which must have this fingerprint."""
    return _core.counts_of_arrow(
        (columns_of(batch, fingerprint) for batch in batches),
        pattern=fingerprint.pattern,
        normalize=fingerprint.normalize,
    )


def columns_of(batch: Any, fingerprint: Fingerprint) -> tuple[Any, Any]:  # noqa: ANN401
    """The two columns of a batch of counts; rejects one of other words or without counts."""
    names, found = batch.schema.names, fingerprint_of(batch.schema)
    if found is None:
        raise FormatError(
            f'found a table whose metadata has no "{KEY}" (columns {", ".join(names)}), '
            "expected word counts"
        )
    if found != fingerprint:
        raise FormatError(f"counts of different words: found {found}, expected {fingerprint}")
    for name in ("word", "count"):
        if name not in names:
            raise FormatError(no_column(names, name))
    return batch.column("word"), batch.column("count")


def batches_in(table: Any) -> Iterator[Any]:  # noqa: ANN401 - pyarrow is optional
    """The record batches of a table, a batch, a reader, or several of these.

    A table without rows has one, too: its schema says how words were cut.
    """
    if hasattr(table, "num_rows") and not hasattr(table, "to_batches"):
        yield table
        return
    if hasattr(table, "schema"):
        yield import_pyarrow().RecordBatch.from_pylist([], schema=table.schema)
    for part in table.to_batches() if hasattr(table, "to_batches") else table:
        yield from batches_in(part)


def write_parquet(counts: _core.WordCounts, path: str | os.PathLike[str]) -> None:
    """Write a Parquet file of counts."""
    pq = import_parquet()
    schema = schema_of(Fingerprint(counts.pattern, counts.normalize))
    options = {"compression": "zstd", "write_page_checksum": True}
    # Given a path, pyarrow would ask for the position in it, which pipes do not have.
    with open(path, "wb") as file, pq.ParquetWriter(file, schema, **options) as writer:  # noqa: PTH123
        for batch in batches_of(counts):
            writer.write_batch(batch)


def parquet_fingerprint(path: str | os.PathLike[str]) -> Fingerprint | None:
    """How the words of a Parquet file of counts were cut; None if it holds something else."""
    metadata = _core.table_metadata(path)
    try:
        return fingerprint_in({name.encode(): value.encode() for name, value in metadata.items()})
    except FormatError as error:
        error.path = os.fspath(path)
        raise


def read_parquet(path: str | os.PathLike[str]) -> Iterator[Any]:
    """The record batches of a Parquet file of counts."""
    with open_parquet(path) as file:
        schema = file.schema_arrow
        for batch in file.iter_batches(batch_size=1 << 18):
            yield batch.replace_schema_metadata(schema.metadata)


def read_tables(paths: Sequence[str | os.PathLike[str]]) -> _core.WordCounts:
    """The sum of the counts of Parquet files."""
    files: dict[Fingerprint, str] = {}
    for path in paths:
        fingerprint = parquet_fingerprint(path)
        if fingerprint is None:
            raise FormatError("found no word counts, expected some", path=os.fspath(path))
        files.setdefault(fingerprint, os.fspath(path))
    first, *others = files.items()
    if others:
        raise FormatError(
            f"counts of different words: {first[1]} has {first[0]}, {others[0][1]} {others[0][0]}"
        )
    try:
        return counts_of(chain.from_iterable(map(read_parquet, paths)), first[0])
    except MergewiseError:
        # Its row is one of all files together: find the file, and the row in it.
        for path in paths:
            check_table(path, first[0])
        raise


def check_table(path: str | os.PathLike[str], fingerprint: Fingerprint) -> None:
    """Reject a Parquet file of counts with a row that is none."""
    try:
        counts_of(read_parquet(path), fingerprint)
    except MergewiseError as error:
        error.path = os.fspath(path)
        raise
