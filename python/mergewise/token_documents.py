"""Files of ids, read back without loading them: documents as arrays, and their texts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from mergewise.arguments import check_choice
from mergewise.encoding import Dtype
from mergewise.errors import FormatError
from mergewise.files import complete_writes
from mergewise.optional import import_optional
from mergewise.sources import PathLike
from mergewise.token_files import SPLITS, Shard, read_manifest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mergewise.coder import Coder

NPY_MAGIC = b"\x93NUMPY"
MEGATRON_MAGIC = b"MMIDIDX\x00\x00"
NUM_BYTES = {"uint16": 2, "uint32": 4}
MEGATRON_TYPES = {4: "<i4", 8: "<u2"}
MEGATRON_HEADER_BYTES = 34


class TokenDocuments(Sequence["NDArray[Any]"]):
    """The documents of files of ids, mapped into memory: each is an array of its ids.

    Attributes:
        arrays: the ids of each file.
        offsets: where the documents of each file begin in its array, and where the last one ends.
        opened: the arguments of `open_tokens`, by which a copy in another process maps the files
            again; a pickled map would be all of its numbers.
    """

    def __init__(
        self,
        arrays: Sequence[NDArray[Any]],
        offsets: Sequence[NDArray[np.int64]],
        opened: tuple[Path, Dtype | None, str],
    ) -> None:
        self.arrays = arrays
        self.offsets = offsets
        self.opened = opened
        # How many documents are before each file, and in all.
        self._starts = [0, *accumulate(len(ends) - 1 for ends in offsets)]

    @property
    def num_tokens(self) -> int:
        """How many ids there are."""
        return sum(map(len, self.arrays))

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, index: int) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[NDArray[Any]]: ...
    def __getitem__(self, index: int | slice) -> NDArray[Any] | list[NDArray[Any]]:
        """The ids of a document, or those of several."""
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        number = index + len(self) if index < 0 else index
        if not 0 <= number < len(self):
            raise IndexError(f"no document {index}: there are {len(self)}")
        file = bisect_right(self._starts, number) - 1
        start, end = self.offsets[file][number - self._starts[file] :][:2]
        if not 0 <= start <= end <= len(self.arrays[file]):
            message = f"found document {number} from {start:,} to {end:,}"
            message += f", expected a part of {len(self.arrays[file]):,} ids"
            raise FormatError(message, path=self.opened[0], hint="file_damaged")
        ids: NDArray[Any] = self.arrays[file][start:end]
        return ids

    def decode(self, index: int, tokenizer: Coder, *, skip_special_tokens: bool = False) -> str:
        """The text of a document."""
        return tokenizer.decode(self[index].tolist(), skip_special_tokens=skip_special_tokens)

    def __reduce__(self) -> tuple[Any, tuple[Path, Dtype | None, str]]:
        return reopened, self.opened

    def __repr__(self) -> str:
        return f"<TokenDocuments: {len(self):,} documents, {self.num_tokens:,} tokens>"


def open_tokens(
    path: PathLike, *, dtype: Dtype | None = None, split: str = "train"
) -> TokenDocuments:
    """The documents that `Tokenizer.encode_files` wrote, as arrays that are mapped into memory.

    Without a file of offsets beside it, an array is one document. Raises FormatError if a file is
    not as long as its manifest or its offsets say.

    Args:
        path: a .npy file; bare numbers, with their `dtype`; a .bin or .idx file of Megatron; or a
            manifest (.json).
        dtype: the type of bare numbers; of other files it must be theirs.
        split: "train" or "validation", of a manifest.
    """
    check_choice("split", split, *SPLITS)
    check_choice("dtype", dtype, None, *NUM_BYTES)
    path = Path(path)
    complete_writes(path)
    if path.suffix == ".json":
        files = [read_shard(shard, dtype) for dtype, shard in shards_of(path, split)]
    elif split == "train":
        files = [read_file(path, dtype)]
    else:
        raise ValueError(f"split={split!r} needs a manifest (.json), found {path.name!r}")
    for ids, _ in files:
        if dtype is not None and ids.itemsize != NUM_BYTES[dtype]:
            raise FormatError(f"found ids of type {ids.dtype}, expected {dtype}", path=path)
    opened = (path.absolute(), dtype, split)
    return TokenDocuments([ids for ids, _ in files], [offsets for _, offsets in files], opened)


def reopened(path: Path, dtype: Dtype | None, split: str) -> TokenDocuments:
    """The same documents, in the process that calls."""
    return open_tokens(path, dtype=dtype, split=split)


def shards_of(path: Path, split: str) -> list[tuple[Dtype, Shard]]:
    """The files of a split that a manifest lists, and the type of their numbers."""
    content = read_manifest(path)
    if content is None or not content.get("is_complete"):
        found = "no manifest" if content is None else "the manifest of a run that is not complete"
        raise FormatError(f"found {found}, expected one of files of ids", path=path)
    dtype: Dtype = content["options"]["dtype"]
    shards = [Shard.from_json(value, path.parent) for value in content["shards"]]
    return [(dtype, shard) for shard in shards if shard.split == split]


def read_shard(shard: Shard, dtype: Dtype) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The ids of a file that a manifest lists, and where its documents begin."""
    for path, num_bytes in shard.files:
        if (found := path.stat().st_size) != num_bytes:
            message = f"found {found:,} bytes, expected {num_bytes:,} as in the manifest"
            raise FormatError(message, path=path, hint="write all files again")
    return read_file(shard.path, dtype)


def read_file(path: Path, dtype: Dtype | None) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The ids of a file, and where its documents begin and the last one ends."""
    numpy = import_optional("numpy", extra="numpy", package="numpy")
    index = path.with_suffix(".idx")
    if path.suffix in {".bin", ".idx"} and index.exists():
        return read_megatron(path.with_suffix(".bin"), index)
    offsets = path.with_name(f"{path.stem}.offsets.npy")
    with path.open("rb") as file:
        is_npy = file.read(len(NPY_MAGIC)) == NPY_MAGIC
    if is_npy:
        ids = mapped_array(path)
    elif dtype is None:
        raise FormatError("found bare numbers", path=path, hint="give_dtype")
    else:
        ids = mapped(path, {"uint16": "<u2", "uint32": "<u4"}[dtype])
    if not offsets.exists():
        return ids, numpy.array([0, len(ids)])
    starts = mapped_array(offsets)
    if not len(starts) or starts[-1] != len(ids):
        message = f"found offsets of other ids: {path.name} has {len(ids):,}"
        raise FormatError(message, path=offsets, hint="remove the file, or write both again")
    return ids, starts


def mapped_array(path: Path) -> NDArray[Any]:
    """A row of whole numbers in .npy, mapped into memory."""
    numpy = import_optional("numpy", extra="numpy", package="numpy")
    try:
        array: NDArray[Any] = numpy.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise FormatError(f"found no array ({error})", path=path, hint="file_damaged") from None
    if array.ndim != 1 or array.dtype.kind not in "iu":
        found = f"an array of {array.dtype} with {array.ndim} dimensions"
        raise FormatError(f"found {found}, expected a row of whole numbers", path=path)
    return array


def mapped(path: Path, dtype: str, offset: int = 0, length: int = -1) -> NDArray[Any]:
    """Numbers of a file, mapped into memory."""
    numpy = import_optional("numpy", extra="numpy", package="numpy")
    shape = None if length < 0 else (length,)
    num_bytes = path.stat().st_size - offset
    size = numpy.dtype(dtype).itemsize
    if num_bytes % size if length < 0 else num_bytes < length * size:
        expected = f"numbers of {size} bytes" if length < 0 else f"{length:,} of {size} bytes"
        message = f"found {num_bytes:,} bytes at byte {offset}, expected {expected}"
        raise FormatError(message, path=path, hint="file_damaged")
    # An empty file cannot be mapped.
    if num_bytes <= 0 or length == 0:
        empty: NDArray[Any] = numpy.empty(0, dtype)
        return empty
    array: NDArray[Any] = numpy.memmap(path, dtype, "r", offset, shape)
    return array


def read_megatron(ids: Path, index: Path) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The two files of Megatron's IndexedDataset."""
    numpy = import_optional("numpy", extra="numpy", package="numpy")
    with index.open("rb") as file:
        header = file.read(MEGATRON_HEADER_BYTES)
    code = header[17] if len(header) == MEGATRON_HEADER_BYTES else -1
    if not header.startswith(MEGATRON_MAGIC) or code not in MEGATRON_TYPES:
        message = "found no index of Megatron with numbers of 16 or 32 bits"
        raise FormatError(f"{message}, expected one", path=index)
    num_documents = int.from_bytes(header[18:26], "little")
    lengths = mapped(index, "<i4", MEGATRON_HEADER_BYTES, num_documents)
    offsets = numpy.concatenate([[0], numpy.cumsum(lengths, dtype=numpy.int64)])
    array = mapped(ids, MEGATRON_TYPES[code])
    if len(array) != offsets[-1]:
        message = f"found {len(array):,} ids, expected {offsets[-1]:,} as in {index.name}"
        raise FormatError(message, path=ids, hint="file_damaged")
    return array, offsets
