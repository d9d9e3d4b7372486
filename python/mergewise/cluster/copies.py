"""Inputs of object stores as files on the disk of a task, as long as they are read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from mergewise.errors import MergewiseError
from mergewise.sources import Source
from mergewise.storage import RemoteFile


@dataclass
class Copies:
    """Makes copies of files, each in a folder of its own.

    Attributes:
        scratch: where these folders are made.
        names: the path of each copy, and the name of the file.
    """

    scratch: Path
    names: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def on_disk(self, source: Source) -> Iterator[Source]:
        """The source as a file of this machine; errors name the source."""
        if not isinstance(source.path, RemoteFile):
            yield source
            return
        folder = self.scratch / f"input-{len(self.names)}"
        folder.mkdir()
        local = source.path.fetch(folder)
        self.names[str(local)] = str(source.path)
        try:
            yield replace(source, path=local)
        except MergewiseError as error:
            error.path = str(source.path)
            raise
        finally:
            local.unlink()

    def renamed(self, told: str) -> str:
        """What was told of a copy, as told of the file.

        >>> Copies(Path("/tmp"), {"/tmp/a": "s3://b/a"}).renamed("/tmp/a: line 1: no JSON")
        's3://b/a: line 1: no JSON'
        """
        for path, name in self.names.items():
            if told.startswith(f"{path}: "):
                return name + told.removeprefix(path)
        return told
