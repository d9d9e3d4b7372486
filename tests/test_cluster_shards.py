"""Shards made one by one, in any order and again, are those of encode_files, manifest included."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_encode import OPTICKS
from test_encode_files import END, TOK, write
from test_token_files import MANY, files_in

import mergewise as mw
from mergewise import sources
from mergewise.cluster import task as cluster_task
from mergewise.cluster.shards import ShardTask, plan
from mergewise.errors import ClusterError, FormatError, InputError

NUM_SHARDS = 7


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in many blocks."""
    monkeypatch.setattr(sources, "BLOCK_BYTES", 1 << 10)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Where one machine writes, and where a cluster does."""
    for name in ("one", "many"):
        (tmp_path / name).mkdir()
    return tmp_path / "one", tmp_path / "many"


def write_inputs(folder: Path) -> list[Path]:
    """Inputs of all kinds: long documents and short ones, nulls, row groups, empty files."""
    lines = [text.replace("\n", " ") + "\n" for text in MANY]
    rows: list[str | None] = [None if n % 5 == 0 else text for n, text in enumerate(MANY)]
    paths = [
        write(folder, "a.jsonl", MANY),
        write(folder, "b.txt", [OPTICKS[:40_000]]),
        write(folder, "c.txt.gz", lines),
        write(folder, "d.txt", []),
        folder / "e.parquet",
        folder / "f.parquet",
        write(folder, "g.jsonl.gz", MANY[::-1]),
    ]
    pq.write_table(pa.table({"text": rows}), paths[4], row_group_size=37)
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), paths[5])
    return paths


def run(task: ShardTask, numbers: Sequence[int] | None = None) -> mw.encoding.EncodedFile:
    """What an engine does, in this process."""
    task.begin()
    copy = pickle.loads(pickle.dumps(task))  # noqa: S301 - our own
    reports = {number: copy.make(number) for number in numbers or task.numbers}
    return task.finish(reports[number] for number in task.numbers)


@pytest.mark.parametrize("documents", ["file", "lines"])
@pytest.mark.parametrize(
    ("output", "options"),
    [
        ("o.npy", {"shards": 1, "validation": 0.2}),
        ("o.npy", {"shards": 7, "offsets": True, "validation": 0.2, "dtype": "uint32"}),
        ("o.bin", {"shards": 7, "offsets": True, "end_of_document": END}),
        ("o", {"shards": 7, "format": "megatron", "validation": 0.1, "end_of_document": END}),
        ("o.npy", {"shards": 60}),
    ],
)
def test_the_bytes_of_one_machine(
    output: str,
    options: dict[str, Any],
    documents: str,
    tmp_path: Path,
    folders: tuple[Path, Path],
) -> None:
    paths = write_inputs(tmp_path)
    one, many = folders
    options = {**options, "documents": documents}
    num_shards = options["shards"]
    expected = TOK.encode_files(paths, one / output, **options)
    found = run(plan(TOK, paths, many / output, **options), range(num_shards)[::-1])
    assert files_in(many) == files_in(one)
    assert found.num_tokens == expected.num_tokens
    names = {shard.path.name for shard in expected.shards}
    assert {shard.path for shard in found.shards} == {many / name for name in names}
    assert len(found.shards) == num_shards * (2 if "validation" in options else 1)


def test_long_documents_that_are_many_shares(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    """Some shards have no document; parts of a document are never divided."""
    texts = [OPTICKS[:30_000], "short", OPTICKS[30_000:90_000], "", "end"]
    paths = [write(tmp_path, f"{n}.txt", [text]) for n, text in enumerate(texts)]
    one, many = folders
    made = TOK.encode_files(paths, one / "o.npy", shards=20, offsets=True)
    assert sum(shard.num_documents for shard in made.shards) == len(texts)
    assert any(shard.num_documents == 0 for shard in made.shards)
    run(plan(TOK, paths, many / "o.npy", shards=20, offsets=True))
    assert files_in(many) == files_in(one)
    documents = mw.open_tokens(many / "o.json")
    assert [documents.decode(i, TOK) for i in range(len(documents))] == texts


def test_lines_that_are_no_records_are_counted_once(
    tmp_path: Path, folders: tuple[Path, Path]
) -> None:
    path = tmp_path / "a.jsonl"
    lines = [json.dumps({"text": text}) if n % 9 else "{" for n, text in enumerate(MANY)]
    path.write_text("\n".join(lines))
    one, many = folders
    expected = TOK.encode_files(path, one / "o.npy", shards=NUM_SHARDS, skip_bad=True)
    found = run(plan(TOK, path, many / "o.npy", shards=NUM_SHARDS, skip_bad=True))
    assert found.num_skipped == expected.num_skipped == len(MANY[::9])
    assert found.skipped == expected.skipped
    assert files_in(many) == files_in(one)
    with pytest.raises(FormatError, match=r"a\.jsonl: line 1"):
        run(plan(TOK, path, many / "o.npy", shards=NUM_SHARDS))


def test_compressed_inputs_that_are_read_side_by_side(
    tmp_path: Path, folders: tuple[Path, Path]
) -> None:
    """Where a block is does not depend on what was read before it, nor on the threads."""
    paths = [write(tmp_path, f"{n}.jsonl.gz", MANY[: n * 60]) for n in (6, 1, 0, 4, 2, 5)]
    one, many = folders
    options: dict[str, Any] = {"shards": NUM_SHARDS, "validation": 0.1, "offsets": True}
    TOK.encode_files(paths, one / "o.npy", num_threads=1, **options)
    expected = files_in(one)
    TOK.encode_files(paths, one / "o.npy", num_threads=4, **options)
    assert files_in(one) == expected
    run(plan(TOK, paths, many / "o.npy", num_threads=4, **options))
    assert files_in(many) == expected


def test_what_is_behind_a_shard_is_not_its_error(tmp_path: Path) -> None:
    """Also where threads are ahead of the one that completes the shard."""
    path = tmp_path / "a.jsonl"
    line = json.dumps({"text": OPTICKS[:80]}) + "\n"
    # A block is ten lines or so, and half of the inputs' bytes is line 100.
    path.write_text(line * 120 + line.replace("{", " ") * 80)
    task = plan(TOK, path, tmp_path / "o.npy", shards=2, num_threads=4)
    for _ in range(20):
        task.make(0)
        (tmp_path / task.report_name(0)).unlink()
    with pytest.raises(FormatError, match="line 121"):
        task.make(1)


def test_a_task_reads_its_share_alone(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    """Files, row groups and lines that are far from a shard may be damaged."""
    paths = write_inputs(tmp_path)
    one, many = folders
    TOK.encode_files(paths, one / "o.npy", shards=NUM_SHARDS)
    task = plan(TOK, paths, many / "o.npy", shards=NUM_SHARDS)
    for path in (paths[0], paths[4], paths[6]):
        path.write_bytes(b"x" * path.stat().st_size)
    position = paths[0].stat().st_size + 20_000
    number = position * NUM_SHARDS // task.num_bytes
    task.make(number)
    name = f"o-{number:05}.npy"
    assert (many / name).read_bytes() == (one / name).read_bytes()


def test_a_run_that_was_stopped_goes_on(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    paths = write_inputs(tmp_path)
    one, many = folders
    options: dict[str, Any] = {"shards": NUM_SHARDS, "offsets": True, "validation": 0.1}
    TOK.encode_files(paths, one / "o.npy", **options)
    task = plan(TOK, paths, many / "o.npy", **options)
    task.begin()
    for number in (1, 4, 5):
        task.make(number)
    with pytest.raises(FormatError, match="a run that is not complete"):
        mw.open_tokens(many / "o.json")
    # A shard without its report, and one of which a file is missing, are made again.
    (many / task.report_name(4)).unlink()
    (many / "o-00005.offsets.npy").unlink()
    before = {path.name: path.stat().st_ino for path in many.glob("*.npy")}
    run(plan(TOK, paths, many / "o.npy", **options))
    after = {path.name: path.stat().st_ino for path in many.glob("*.npy")}
    same = {name for name, inode in before.items() if after[name] == inode}
    assert same == {
        f"o{split}-00001{end}" for split in ("", "-validation") for end in (".npy", ".offsets.npy")
    }
    assert files_in(many) == files_in(one)


@pytest.mark.parametrize("change", ["option", "input"])
def test_another_run_keeps_nothing(change: str, tmp_path: Path, folders: tuple[Path, Path]) -> None:
    paths = write_inputs(tmp_path)
    one, many = folders
    options: dict[str, Any] = {"shards": NUM_SHARDS}
    task = plan(TOK, paths, many / "o.npy", **options)
    for number in task.numbers:
        task.make(number)
    if change == "option":
        options["end_of_document"] = END
    else:
        write(tmp_path, "a.jsonl", MANY[::-1])
    run(plan(TOK, paths, many / "o.npy", **options))
    TOK.encode_files(paths, one / "o.npy", **options)
    assert files_in(many) == files_in(one)


def test_a_task_that_fails_leaves_nothing_half_written(
    tmp_path: Path, folders: tuple[Path, Path]
) -> None:
    path = write(tmp_path, "a.jsonl", MANY)
    with path.open("a") as file:
        file.write("{\n")
    task = plan(TOK, path, folders[1] / "o.npy", shards=2, offsets=True)
    task.make(0)
    whole = files_in(folders[1])
    assert set(whole) == {"o-00000.json", "o-00000.npy", "o-00000.offsets.npy"}
    with pytest.raises(FormatError, match="line 401"):
        task.make(1)
    assert files_in(folders[1]) == whole


def test_shards_of_an_older_run_are_not_left_behind_the_last(
    store: str, tmp_path: Path, folders: tuple[Path, Path]
) -> None:
    path = write(tmp_path, "a.jsonl", MANY)
    one, many = folders
    TOK.encode_files(path, one / "o.npy", shards=2, offsets=True)
    for shards, validation in ((9, 0.2), (2, None)):
        for output in (f"{many}/o.npy", f"{store}/o.npy"):
            run(plan(TOK, path, output, shards=shards, validation=validation, offsets=True))
    assert files_in(many) == files_in(one)
    found = fsspec.filesystem("memory").ls(f"/{tmp_path.name}", detail=False)
    expected = {path.name for path in one.iterdir()}
    assert {Path(name).name for name in found} == {"in", *expected}


# URLs.


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A folder of a file system in memory."""
    memory = fsspec.filesystem("memory")
    for path in write_inputs(tmp_path):
        memory.pipe_file(f"/{tmp_path.name}/in/{path.name}", path.read_bytes())
    return f"memory:///{tmp_path.name}"


def test_urls(store: str, tmp_path: Path, folders: tuple[Path, Path]) -> None:
    one, _ = folders
    options: dict[str, Any] = {"shards": NUM_SHARDS, "format": "megatron", "validation": 0.1}
    TOK.encode_files(sorted(tmp_path.glob("?.*")), one / "o", **options)
    expected = files_in(one)
    for given in (f"{store}/in", f"{store}/in/?.*", [f"{store}/in/{n}.*" for n in "abcdefg"]):
        found = run(plan(TOK, given, f"{store}/out/o", **options))
        memory = fsspec.filesystem("memory")
        content = {
            Path(path).name: memory.cat_file(path) for path in memory.find(f"/{tmp_path.name}/out")
        }
        listed, local = (json.loads(files.pop("o.json")) for files in (content, dict(expected)))
        assert content == {name: data for name, data in expected.items() if name != "o.json"}
        names = [f"{store}/in/{Path(each['path']).name}" for each in local["inputs"]]
        assert [each["path"] for each in listed.pop("inputs")] == names
        assert listed == {name: value for name, value in local.items() if name != "inputs"}
        assert found.shards[0].path == Path("o-00000.bin")
        memory.rm(f"/{tmp_path.name}/out", recursive=True)


def test_a_file_of_this_machine_may_be_a_url(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    path = write(tmp_path, "a.jsonl", MANY)
    one, many = folders
    TOK.encode_files(path, one / "o.npy", shards=2)
    run(plan(TOK, path.as_uri(), (many / "o.npy").as_uri(), shards=2))
    assert files_in(many) == files_in(one)


def test_an_error_names_the_url(store: str, tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe_file(f"/{tmp_path.name}/bad/a.jsonl", b"{")
    memory.pipe_file(f"/{tmp_path.name}/bad/b.parquet", b"{")
    for name in ("a.jsonl", "b.parquet"):
        task = plan(TOK, f"{store}/bad/{name}", f"{store}/o.npy", shards=1)
        with pytest.raises(FormatError, match=f"^{store}/bad/{name}: "):
            task.make(0)


# What is refused.


def test_refused_before_anything_runs(store: str, tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", MANY)
    refused: list[tuple[dict[str, Any], str]] = [
        ({"shards": 0}, "shards must be 1 or more"),
        ({"shards": 2, "documents": "words"}, "documents"),
        ({"shards": 2, "allowed_special": {"<none>"}}, "not a special token"),
    ]
    for options, message in refused:
        with pytest.raises(ValueError, match=message):
            plan(TOK, path, tmp_path / "o.npy", **options)
    with pytest.raises(ValueError, match="standard input"):
        plan(TOK, "-", tmp_path / "o.npy", shards=2)
    for missing in (tmp_path / "none", f"{store}/none"):
        with pytest.raises(FileNotFoundError):
            plan(TOK, missing, tmp_path / "o.npy", shards=2)
    (tmp_path / "o.json").write_text("{}")
    with pytest.raises(InputError, match="input"):
        plan(TOK, tmp_path / "o.json", tmp_path / "o.npy", shards=2)
    fsspec.filesystem("memory").pipe_file(f"/{tmp_path.name}/o.json", b"{}")
    with pytest.raises(InputError, match="input"):
        plan(TOK, f"{store}/o.json", f"{store}/o.npy", shards=2)
    for folder in (tmp_path, store):
        with pytest.raises(InputError, match="found another file with the name of the manifest"):
            plan(TOK, path, f"{folder}/o.npy", shards=2)
    (tmp_path / "o.json").unlink()
    fsspec.filesystem("memory").rm(f"/{tmp_path.name}/o.json")
    # Also one that is behind the last.
    (tmp_path / "o-00009.npy").touch()
    fsspec.filesystem("memory").pipe_file(f"/{tmp_path.name}/o-00009.npy", b"")
    for folder in (tmp_path, store):
        with pytest.raises(InputError, match="found an input with the name of an output"):
            plan(TOK, f"{folder}/o-00009.npy", f"{folder}/o.npy", shards=2)


def test_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = plan(TOK, write(tmp_path, "a.jsonl", MANY), tmp_path / "o.npy", shards=2)
    monkeypatch.setattr(cluster_task, "VERSION", "9.9.9")
    with pytest.raises(ClusterError, match=r"this worker has mergewise 9\.9\.9, the driver"):
        task.make(0)
