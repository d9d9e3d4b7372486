"""The folder that all tasks of a cluster write to: a shared one, or one of an object store."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from mergewise.files import copy_whole, remove_leftovers, write_text
from mergewise.sources import PathLike
from mergewise.storage import file_system, is_url, local_path


@dataclass(frozen=True)
class SharedFolder:
    """A folder that every machine sees under the same path."""

    path: Path

    def put(self, file: Path, name: str) -> None:
        """Copy a file into the folder, whole or not at all."""
        copy_whole(file, self.path / name)

    def write(self, text: str, name: str) -> None:
        """Write a file of the driver, whole or not at all; the folder may name inputs in bytes."""
        write_text(text, self.path / name)

    def read(self, name: str) -> bytes | None:
        """The bytes of a file, if it is there."""
        with suppress(FileNotFoundError):
            return (self.path / name).read_bytes()
        return None

    def size(self, name: str) -> int | None:
        """How many bytes a file has, if it is there."""
        with suppress(FileNotFoundError):
            return (self.path / name).stat().st_size
        return None

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        (self.path / name).unlink(missing_ok=True)

    def clean(self) -> None:
        """Remove what killed tasks left."""
        remove_leftovers(self.path)


@dataclass(frozen=True)
class RemoteFolder:
    """A folder of an object store, where a file appears when it is whole.

    Attributes:
        url: its name.
        options: what fsspec is told of the store.
    """

    url: str
    options: Mapping[str, Any] = field(repr=False)

    def at(self, name: str) -> tuple[Any, str]:
        """The file system, and the path of a file of the folder."""
        return file_system(f"{self.url}/{name}", self.options)

    def put(self, file: Path, name: str) -> None:
        """Copy a file into the folder."""
        system, path = self.at(name)
        system.put_file(os.fspath(file), path)

    def write(self, text: str, name: str) -> None:
        """Write a file of the driver."""
        system, path = self.at(name)
        system.pipe_file(path, text.encode(errors="backslashreplace"))

    def read(self, name: str) -> bytes | None:
        """The bytes of a file, if it is there."""
        system, path = self.at(name)
        with suppress(FileNotFoundError):
            content: bytes = system.cat_file(path)
            return content
        return None

    def size(self, name: str) -> int | None:
        """How many bytes a file has, if it is there."""
        system, path = self.at(name)
        system.invalidate_cache()
        with suppress(FileNotFoundError):
            num_bytes: int = system.info(path)["size"]
            return num_bytes
        return None

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        system, path = self.at(name)
        with suppress(FileNotFoundError):
            system.rm_file(path)

    def clean(self) -> None:
        """Killed tasks leave nothing that the store shows."""


Folder: TypeAlias = SharedFolder | RemoteFolder


def folder_of(output: PathLike, options: Mapping[str, Any]) -> tuple[Folder, Path]:
    """The folder of an output, and the output's name in it."""
    if is_url(output):
        url, _, name = os.fspath(output).rpartition("/")
        return RemoteFolder(url, options), Path(name)
    path = Path(local_path(output))
    return SharedFolder(Path(os.path.abspath(path.parent))), Path(path.name)  # noqa: PTH100
