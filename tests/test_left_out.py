"""What `skip_bad` leaves out of files of ids: how much is counted, and which are told."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import call, low_tokenizer
from processes import run_python

import mergewise as mw
from mergewise import _core, encoding, sources
from mergewise.cluster.shards import ShardTask, plan
from mergewise.errors import FormatError, InputError, UnknownTokenError
from mergewise.vocabulary import Vocabulary

MOST_TOLD = 10
# A tokenizer that knows no é.
ASCII = {bytes([byte]): byte for byte in range(128)}
TOK = mw.Tokenizer(
    Vocabulary(tokens=ASCII, merges=[], alphabet="chars", special_tokens={"<s>": 128})
)


def write_records(path: Path, kinds: str) -> list[int]:
    """Records that are good (.), cannot be encoded (é), or are none ({); the lines of the bad."""
    lines = [
        "{" if kind == "{" else json.dumps({"text": f"{number} {kind}" * (number % 7 + 1)})
        for number, kind in enumerate(kinds)
    ]
    path.write_text("\n".join(lines))
    return [number for number, kind in enumerate(kinds) if kind != "."]


def numbers_of(told: Any) -> list[int]:
    """The lines that are told, from 0."""
    return [int(line.split(": line ")[1].split(":")[0]) - 1 for line in told]


def kinds_of(seed: int, num_kinds: int) -> str:
    """Kinds of records with runs of bad ones."""
    random = Random(seed)  # noqa: S311
    runs = (random.choice("..é{") * random.choice([1, 1, 2, 30]) for _ in range(num_kinds))
    return "".join(runs)[:num_kinds]


@pytest.mark.parametrize("kinds", [".{é.", "{é{{é", "{.é{" * 9, "é" * 30, "{" * 30, ".é" * 30])
@pytest.mark.parametrize("validation", [None, 0.5])
def test_the_first_are_told_in_their_order(
    kinds: str, validation: float | None, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    bad = write_records(path, kinds)
    made = TOK.encode_files(path, tmp_path / "o.npy", skip_bad=True, validation=validation)
    assert (made.num_skipped, made.num_documents) == (len(bad), len(kinds) - len(bad))
    assert numbers_of(made.skipped) == bad[:MOST_TOLD]


@pytest.mark.parametrize("block_bytes", [300, 2000])
@pytest.mark.parametrize("validation", [None, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_each_shard_tells_its_first(
    seed: int,
    validation: float | None,
    block_bytes: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sources, "BLOCK_BYTES", block_bytes)
    path = tmp_path / "a.jsonl"
    bad = write_records(path, kinds_of(seed, 500))
    task = plan(TOK, path, tmp_path / "o.npy", shards=7, skip_bad=True, validation=validation)
    task.begin()
    num_before = 0
    for number in task.numbers:
        report = json.loads(task.make(number))
        num_skipped = sum(shard["num_skipped"] for shard in report["shards"])
        expected = bad[num_before : num_before + num_skipped][:MOST_TOLD]
        assert numbers_of(report["skipped"]) == expected
        num_before += num_skipped
    assert num_before == len(bad)


def test_a_run_that_goes_on_tells_the_first_behind_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "BLOCK_BYTES", 1000)
    path, out = tmp_path / "a.jsonl", tmp_path / "o.npy"
    bad = write_records(path, kinds_of(9, 600))
    made = TOK.encode_files(path, out, skip_bad=True, shard_tokens=200)
    manifest = json.loads((tmp_path / "o.json").read_bytes())
    for num_kept in (1, 3, 5):
        kept = manifest["shards"][:num_kept]
        (tmp_path / "o.json").write_text(
            json.dumps({**manifest, "shards": kept, "is_complete": False})
        )
        again = TOK.encode_files(path, out, skip_bad=True, shard_tokens=200)
        num_before = sum(shard["num_skipped"] for shard in kept)
        assert numbers_of(again.skipped) == bad[num_before:][:MOST_TOLD]
        assert again.num_skipped == made.num_skipped == len(bad)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")
def test_many_that_are_left_out_take_little_memory(tmp_path: Path) -> None:
    """Also where they wait for an input before them."""
    good = json.dumps({"text": "the quick brown fox " * 40}) + "\n"
    for name, content in (("a", good * 20_000), ("b", "x\n" * 2_000_000)):
        (tmp_path / f"{name}.jsonl.gz").write_bytes(gzip.compress(content.encode(), 1))
    # The largest memory that `resource` tells may be that of the process that started this one.
    code = """
import warnings
from pathlib import Path

warnings.simplefilter("ignore")
tok = mw.train(mw.count(["low low lower"]), num_merges=2)

def most():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])

paths = ["a.jsonl.gz", "b.jsonl.gz"]
mw.count_files(paths[0], num_threads=2)
tok.encode_files(paths[0], "o.npy", num_threads=2)
before = most()
mw.count_files(paths, skip_bad=True, num_threads=2)
made = tok.encode_files(paths, "o.npy", skip_bad=True, num_threads=2)
print(made.num_skipped, most() - before)
"""
    num_skipped, kilobytes = map(int, run_python(code, folder=tmp_path).split())
    assert num_skipped == 2_000_000
    assert kilobytes < 40_000


def test_ids_are_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress does not count what was encoded again without the documents that are left out."""
    writers: list[_core.Writer] = []
    original = encoding.new_writer

    def noted(*arguments: Any, **more: Any) -> _core.Writer:
        writers.append(original(*arguments, **more))
        return writers[-1]

    monkeypatch.setattr(encoding, "new_writer", noted)
    texts = ["ab" * 50] * 4000 + ["é"]
    pq.write_table(pa.table({"text": texts}), tmp_path / "a.parquet")
    (tmp_path / "b.txt").write_text("\n".join(texts))
    paths = [tmp_path / "a.parquet", tmp_path / "b.txt"]
    made = TOK.encode_files(paths, tmp_path / "o.npy", documents="lines", skip_bad=True)
    assert made.num_skipped == 2
    assert writers[0].num_ids == made.num_tokens


def test_a_document_that_is_read_in_parts_is_not_left_out(tmp_path: Path) -> None:
    """The error says why, whatever may help beside."""
    path = tmp_path / "a.jsonl"
    hint = "is not left out: its beginning may be written already$"
    for wrong, error in (("é", UnknownTokenError), ("<s>", InputError)):
        texts = ["a", "ab " * 600_000 + wrong, "b"]
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
        with pytest.raises(error, match=hint) as raised:
            TOK.encode_files(path, tmp_path / "o.npy", skip_bad=True)
        assert (raised.value.place, raised.value.hint) == ("line 2", "too_long_to_skip")
        assert (raised.value.path, raised.value.offset) == (str(path), 1_800_000)
        with pytest.raises(error) as raised:
            TOK.encode_files(path, tmp_path / "o.npy")
        assert raised.value.hint != "too_long_to_skip"


def test_what_is_left_out_of_urls_is_told_under_their_names(tmp_path: Path) -> None:
    bad = write_records(tmp_path / "a.jsonl", ".{.é")
    memory = fsspec.filesystem("memory")
    url = f"memory:///{tmp_path.name}"
    for name in ("a", "b"):
        memory.pipe_file(f"/{tmp_path.name}/{name}.jsonl", (tmp_path / "a.jsonl").read_bytes())
    task: ShardTask = plan(TOK, url, f"{url}/out/o.npy", shards=2, skip_bad=True)
    task.begin()
    made = task.finish([task.make(number) for number in task.numbers])
    assert numbers_of(made.skipped) == [*bad, *bad]
    paths = [told.split(": line")[0] for told in made.skipped]
    expected = [f"memory:///{tmp_path.name}/{name}.jsonl" for name in "aabb"]
    assert [path.replace("memory:////", "memory:///") for path in paths] == expected


@pytest.mark.parametrize("command", ["count", "train"])
def test_the_command_line_says_what_counting_left_out(command: str, tmp_path: Path) -> None:
    """Whatever Python does with warnings: in these tests they are errors."""
    bad = write_records(tmp_path / "a.jsonl", ".{..{")
    arguments: list[str | Path] = [command, tmp_path / "a.jsonl", "-o", tmp_path / "o.json", "-q"]
    arguments += ["--merges", "0"] if command == "train" else []
    done = call(*arguments, "--skip-bad", "--json")
    assert json.loads(done.text)["skipped"] == len(bad)
    assert done.errors.startswith("mergewise: warning: lines that are no records, left out: 2; ")
    assert call(*arguments, "--skip-bad").text.endswith("2 skipped\n")
    assert call(*arguments).status == 1
    write_records(tmp_path / "a.jsonl", "...")
    assert "skipped" not in json.loads(call(*arguments, "--json").text)


def test_a_report_says_what_it_left_out(tmp_path: Path) -> None:
    write_records(tmp_path / "a.jsonl", ".{..{")
    page = tmp_path / "o.html"
    arguments: list[str | Path] = [
        "report",
        low_tokenizer(tmp_path),
        tmp_path / "a.jsonl",
        "-o",
        page,
        "-q",
    ]
    done = call(*arguments, "--no-certify", "--skip-bad")
    assert done.status == 0
    assert "left out: 2; the first: " in done.errors


def test_python_is_warned_where_it_calls(tmp_path: Path) -> None:
    write_records(tmp_path / "a.jsonl", ".{")
    with pytest.raises(FormatError, match="line 2"):
        mw.count_files(tmp_path / "a.jsonl")
    with pytest.warns(UserWarning, match="left out: 1") as told:
        mw.count_files(tmp_path / "a.jsonl", skip_bad=True)
    assert told[0].filename == __file__
