"""Files that are written whole or not at all, even if the process is killed or the power fails.

A file is written under a temporary name in the folder of its target, synced to the disk, and
renamed. A temporary file is locked by the process that writes it, and the lock ends with the
process: one without a lock was left by a process that was killed, and the next write into the
folder removes it.

Two files that belong together cannot be renamed at once. Their temporary files are complete and
synced before a *journal* in the folder says which is to replace which; then both are renamed and
the journal is removed. Whoever finds a journal without a lock, because its writer was killed,
renames the rest: readers call `complete_writes` first, so they see both old files or both new ones.
An order of renames alone could not do this: old ids beside new merges may be a valid tokenizer,
only another one. A mark in each file, by which it knows the other, has no place in the formats.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from mergewise.errors import FormatError, InputError

try:
    import fcntl
except ImportError:  # Windows has no such locks: what a killed process leaves stays there.
    fcntl = None  # type: ignore[assignment]

# All are short, so that the name of the target may be as long as the system allows.
TEMPORARY = re.compile(r"\.mergewise-[0-9a-f]{16}\.tmp")
JOURNAL = re.compile(r"\.mergewise-[0-9a-f]{16}\.journal")
LOCK = re.compile(r"\.mergewise-[0-9a-f]{16}\.lock")


def checked_path(path: str | os.PathLike[str]) -> Path:
    """The path, unless no file can have this name."""
    try:
        encoded = os.fsencode(Path(path))
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise InputError(f"no file can be named {os.fspath(path)!r}")
    return Path(path)


def is_temporary(path: Path) -> bool:
    """Whether a file belongs to a write that is going on, or was killed."""
    return any(kind.fullmatch(path.name) for kind in (TEMPORARY, JOURNAL, LOCK))


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Write a file of text, whole or not at all; names of files may have bytes that are no text."""
    write_files({Path(path): text.encode(errors="backslashreplace")})


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write a file, or several of one folder that belong together: all of them or none."""
    if len(contents) > 1:
        write_together(contents)
        return
    for path, content in contents.items():
        with replacing(path) as temporary:
            temporary.write_bytes(content)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path to write to; what is there takes the place of `path` if the block succeeds.

    After an error the file that was there before is unchanged. Its mode and owner stay. A symbolic
    link stays, too, and the file that it points to is replaced. A device or a pipe is written to.
    """
    path = checked_path(path)
    with naming(path):
        old = status_of(path)
        if old is not None and not stat.S_ISREG(old.st_mode):
            yield path
            return
        remove_leftovers(folder_of(path))
        with writing(path, old) as temporary:
            yield temporary


@contextmanager
def writing(path: Path, old: os.stat_result | None) -> Iterator[Path]:
    """Yield the path to write to in place of a file, of which `old` is known."""
    with closing(Temporary(path, old)) as temporary:
        yield temporary.path
        temporary.settle()
        temporary.path.replace(temporary.target)
    sync_folder(temporary.target.parent)


def copy_whole(source: Path, path: Path) -> None:
    """Copy a file into a folder that other machines write to: whole or not at all.

    What killed processes left there stays: a machine may not see the locks of another.
    """
    with naming(path), writing(path, status_of(path)) as temporary:
        shutil.copyfile(source, temporary)


def folder_of(path: Path) -> Path:
    """The folder of the file behind a path."""
    return Path(os.path.realpath(path)).parent


def status_of(path: Path) -> os.stat_result | None:
    """What is known of the file behind a path, if there is one; a folder is an error."""
    try:
        old = path.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    return old


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name this file in an error about writing it: not a temporary one, and not none."""
    try:
        yield
    except OSError as error:
        if error.filename is not None and not is_temporary(Path(os.fsdecode(error.filename))):
            raise
        message = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(error.errno or errno.EIO, message, os.fspath(path)) from error


class Temporary:
    """A locked file with a temporary name, to be renamed; removed at the end if it was not.

    Attributes:
        path: its temporary name.
        target: the name that it is to have.
        old: what is known of the file that has this name now.
        is_promised: whether a journal says that it will be renamed, by whomever.
    """

    def __init__(self, path: Path, old: os.stat_result | None) -> None:
        self.target = Path(os.path.realpath(path))
        self.old = old
        self.is_promised = False
        # What replaces a private file must be private from the beginning.
        mode = 0o666 if old is None else 0o600
        descriptor = None
        while descriptor is None:
            self.path = self.target.with_name(f".mergewise-{os.urandom(8).hex()}.tmp")
            descriptor = create_locked(self.path, mode)
        self.descriptor = descriptor

    def settle(self) -> None:
        """Give the file its owner and mode, and sync it."""
        if self.old is not None:
            keep_owner(self.path, self.old)
            self.path.chmod(stat.S_IMODE(self.old.st_mode))
        sync(self.descriptor)

    def close(self) -> None:
        """Remove the file if it still has its temporary name, and nobody waits for it."""
        if not self.is_promised:
            self.path.unlink(missing_ok=True)
        os.close(self.descriptor)


def keep_owner(path: Path, old: os.stat_result) -> None:
    """Give a file the owner and the group of an old one, as far as this process may."""
    new = path.stat()
    for owner in (old.st_uid, -1):
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
            with suppress(PermissionError):
                os.chown(path, owner, old.st_gid)
                return


def sync(descriptor: int) -> None:
    """Wait until a file or a folder is on the disk, where the file system can say so."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:  # one that may be written and not listed, or Windows
        return
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


# Locks, and what is left without one.


def create_locked(path: Path, mode: int = 0o666) -> int | None:
    """Create a file and lock it; None if the name is taken, or the file was removed meanwhile."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
    except FileExistsError:
        return None
    if try_lock(descriptor) is not False and is_at(path, descriptor):
        return descriptor
    os.close(descriptor)
    return None


@contextmanager
def as_only_writer(path: Path) -> Iterator[None]:
    """Refuse to write while another process does what is in such a block for the same path."""
    target = Path(os.path.realpath(path))
    digest = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]
    name = target.with_name(f".mergewise-{digest}.lock")
    with naming(path):
        descriptor = os.open(name, os.O_CREAT | os.O_RDWR)
    try:
        # Its last owner may have removed it meanwhile: then the next one has another file.
        if try_lock(descriptor) is False or not is_at(name, descriptor):
            raise InputError("found another process that writes these files", path=path)
        try:
            yield
        finally:
            name.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def try_lock(descriptor: int) -> bool | None:
    """Whether the lock was free; None where there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def is_at(path: Path, descriptor: int) -> bool:
    """Whether the open file has this name still."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def names_in(folder: Path, kind: re.Pattern[str]) -> list[str]:
    """The names of this kind in a folder; none if it cannot be listed."""
    try:
        return [name for name in os.listdir(folder) if kind.fullmatch(name)]  # noqa: PTH208
    except OSError:
        return []


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of killed processes, unless a journal still needs them."""
    if fcntl is None:
        return
    with ExitStack() as stack:
        dead = []
        for name in names_in(folder, TEMPORARY):
            with suppress(OSError):
                descriptor = os.open(folder / name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
                stack.callback(os.close, descriptor)
                if try_lock(descriptor):
                    dead.append(folder / name)
        if dead:
            # Their writers have ended, so that their journals are there by now.
            complete_writes(folder)
        for path in dead:
            with suppress(OSError):
                path.unlink(missing_ok=True)


# Files that belong together.


def write_together(contents: Mapping[Path, bytes]) -> None:
    """Replace several files of one folder: after an error or a kill all are old, or all are new."""
    with replacing_together(list(contents)) as temporaries:
        for temporary, content in zip(temporaries, contents.values(), strict=True):
            temporary.write_bytes(content)


@contextmanager
def replacing_together(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield the paths to write to in place of several files of one folder, as `replacing` does."""
    with ExitStack() as stack:
        temporaries: list[Temporary] = []
        for path in paths:
            stack.enter_context(naming(path))
            old = status_of(checked_path(path))
            if old is not None and not stat.S_ISREG(old.st_mode):
                raise InputError("found a device or a pipe, expected a file", path=path)
            remove_leftovers(folder_of(path))
            temporaries.append(stack.enter_context(closing(Temporary(path, old))))
        yield [temporary.path for temporary in temporaries]
        for temporary in temporaries:
            temporary.settle()
        if len({temporary.target.parent for temporary in temporaries}) > 1:
            raise InputError("found links into different folders, expected one", path=path)
        commit(temporaries)


def commit(temporaries: Sequence[Temporary]) -> None:
    """Rename files of one folder, with a journal that says so until all are renamed."""
    folder = temporaries[0].target.parent
    names = {temporary.path.name: temporary.target.name for temporary in temporaries}
    key = hashlib.sha256("/".join(sorted(names.values())).encode(errors="surrogateescape"))
    journal = folder / f".mergewise-{key.hexdigest()[:16]}.journal"
    descriptor = None
    while descriptor is None:  # one writer of these files after the other
        complete_writes(folder)
        descriptor = create_locked(journal)
    try:
        os.write(descriptor, json.dumps(names).encode())
        sync(descriptor)
        sync_folder(folder)
        for temporary in temporaries:
            temporary.is_promised = True
        rename_all(folder, names)
    except KeyboardInterrupt:
        rename_all(folder, names)
        raise
    except OSError:
        if all(temporary.path.exists() for temporary in temporaries):  # none was renamed
            journal.unlink()
            for temporary in temporaries:
                temporary.is_promised = False
        raise
    else:
        journal.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def rename_all(folder: Path, names: Mapping[str, str]) -> None:
    """Give temporary files their names; those that have them already are passed over."""
    for temporary, target in names.items():
        with suppress(FileNotFoundError):
            (folder / temporary).replace(folder / target)
    sync_folder(folder)


def complete_writes(path: Path) -> None:
    """Do what journals in the folder of a file say, once their writers have ended."""
    folder = path if path.is_dir() else folder_of(path)
    for name in names_in(folder, JOURNAL):
        complete_write(folder / name)


def complete_write(path: Path) -> None:
    """Do what a journal says, unless someone else does."""
    try:
        with path.open("rb") as journal:
            if fcntl is not None:
                with suppress(OSError):  # a file system without locks
                    fcntl.flock(journal, fcntl.LOCK_EX)
            if is_at(path, journal.fileno()):
                rename_all(path.parent, names_of_journal(journal.read()))
                path.unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        message = "found files of which not all could be replaced, expected to complete that"
        raise FormatError(f"{message}: {error.strerror}", path=path.parent) from error


def names_of_journal(content: bytes) -> dict[str, str]:
    """The new names of temporary files; none if the writer ended before all was written.

    Only names of the folder are accepted: a journal may come from anywhere.
    """
    try:
        names = json.loads(content)
        pairs = [(str(temporary), str(target)) for temporary, target in names.items()]
    except (ValueError, AttributeError):
        return {}
    is_ours = all(TEMPORARY.fullmatch(old) and is_name(new) for old, new in pairs)
    return dict(pairs) if is_ours else {}


def is_name(text: str) -> bool:
    """Whether this is the name of a file, without a folder.

    >>> [is_name(text) for text in ("vocab.json", "..", "a/b", "")]
    [True, False, False, False]
    """
    return text not in {"", ".", ".."} and os.path.split(text)[0] == ""
