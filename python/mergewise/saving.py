"""Writing a tokenizer to a file of another library, checked before it is written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from mergewise import _core, formats
from mergewise.errors import ConversionError, FormatError, InputError
from mergewise.files import checked_path, write_files
from mergewise.sources import PathLike
from mergewise.vocabulary import Vocabulary


def save(
    core: _core.Tokenizer, vocabulary: Vocabulary, path: PathLike, *, name: str | None, lossy: bool
) -> None:
    """Write a tokenizer in a format; see `Tokenizer.save`.

    Args:
        core: the tokenizer.
        vocabulary: its vocabulary, with merges.
        path: the file.
        name: the name of the format, if the file's name does not say it.
        lossy: write what the format can hold.
    """
    name = name or formats.format_of_name(checked_path(path))
    write_files(checked_files(core, vocabulary, path, name=name, lossy=lossy))


def checked_files(
    core: _core.Tokenizer, vocabulary: Vocabulary, path: PathLike, *, name: str, lossy: bool
) -> dict[Path, bytes]:
    """The files of a tokenizer, which encode as it does unless `lossy`; see `save`."""
    if not lossy:
        formats.check_supported(vocabulary, path, name)
    files = formats.files_of(vocabulary, path, name)
    if not lossy:
        check_conversion(core, path, name, files)
    return files


def check_conversion(
    core: _core.Tokenizer, path: PathLike, name: str, files: Mapping[Path, bytes]
) -> None:
    """Write the files elsewhere, read them back, and refuse them unless they encode alike."""
    with tempfile.TemporaryDirectory(prefix="mergewise-") as folder:
        for file, content in files.items():
            Path(folder, file.name).write_bytes(content)
        copy = Path(folder) if Path(path).is_dir() else Path(folder, Path(path).name)
        try:
            reason = difference(core, _core.Tokenizer(formats.load(copy, format=name)))
        except (FormatError, InputError) as error:
            reason = f"the file could not be read: {error.message}"
    if reason is not None:
        raise ConversionError(
            f"this tokenizer would not encode every text as before: {reason}",
            path=os.fspath(path),
            hint="write_lossy",
        )


def difference(core: _core.Tokenizer, other: _core.Tokenizer) -> str | None:
    """Why the other does not encode every text alike; None if it does."""
    if core.merges != other.merges:
        return "its merges would come out differently"
    if core.ranks != other.ranks and core.ties_matter():
        return "merges of one rank would come in another order"
    if core.is_by_whole_words != other.is_by_whole_words:
        return "some of its tokens are made by no merge, and stand for whole words alone"
    return None
