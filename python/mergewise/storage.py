"""Files of object stores and the like, which fsspec reads, named by URLs: s3://bucket/a.parquet."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from mergewise.optional import import_optional

URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
LOCAL = "file://"
# What file systems call the time of the last change.
TIMES = ("LastModified", "last_modified", "updated", "mtime")


class Status(NamedTuple):
    """What `os.stat_result` says of a file on a disk."""

    st_size: int
    st_mtime_ns: str | None


@dataclass(frozen=True)
class RemoteFile(os.PathLike[str]):
    """A file that fsspec reads; it answers like a `pathlib.Path` where both are inputs.

    Attributes:
        url: its name.
        status: its size and the time of its last change, as the file system writes that.
        options: what fsspec is told of the file system.
    """

    url: str
    status: Status
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __fspath__(self) -> str:
        return self.url

    def __str__(self) -> str:
        return self.url

    @property
    def name(self) -> str:
        """The name without the folder."""
        return self.url.rpartition("/")[2]

    def stat(self) -> Status:
        """Its size and time."""
        return self.status

    def read(self, start: int, num_bytes: int) -> bytes:
        """Some of its bytes, which is one request."""
        system, path = file_system(self.url, self.options)
        content: bytes = system.cat_file(path, start=start, end=start + num_bytes)
        return content

    def fetch(self, folder: Path) -> Path:
        """Copy the file to a folder."""
        system, path = file_system(self.url, self.options)
        local = folder / self.name
        system.get_file(path, os.fspath(local))
        return local


def is_url(path: str | os.PathLike[str]) -> bool:
    """Whether this names a file that fsspec reads.

    >>> is_url("s3://bucket/a.parquet"), is_url("file:///tmp/a"), is_url("a.txt")
    (True, False, False)
    """
    text = os.fspath(path)
    return URL.match(text) is not None and not text.startswith(LOCAL)


def local_path(path: str | os.PathLike[str]) -> str:
    """The path of a file on this machine, which may be written as a URL.

    >>> local_path("file:///tmp/a")
    '/tmp/a'
    """
    return os.fspath(path).removeprefix(LOCAL)


def file_system(url: str, options: Mapping[str, Any]) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    fsspec = import_optional("fsspec", extra="fsspec", package="fsspec")
    system, path = fsspec.core.url_to_fs(url, **options)
    return system, path


def remote_files(url: str, options: Mapping[str, Any]) -> list[RemoteFile]:
    """The files that a URL, a folder or a glob names, in a fixed order."""
    system, path = file_system(url, options)
    # What other processes wrote is not in what this one remembers.
    system.invalidate_cache()
    if any(mark in path for mark in "*?["):
        found = system.glob(path, detail=True)
    else:
        found = system.find(path, detail=True)
    files = [info for info in found.values() if info["type"] == "file"]
    return [
        RemoteFile(system.unstrip_protocol(info["name"]), status_of(info), options)
        for info in sorted(files, key=lambda info: str(info["name"]))
    ]


def status_of(info: Mapping[str, Any]) -> Status:
    """The size and the time of a file."""
    time = next((info[name] for name in TIMES if name in info), None)
    return Status(info["size"], None if time is None else str(time))
