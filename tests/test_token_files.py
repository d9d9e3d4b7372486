"""Files of ids for training a model: offsets, Megatron's index, shards, splits, reading them."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from processes import HANGS
from test_doors import peer_tokenizer, with_bos
from test_encode import OPTICKS
from test_encode_files import DOCUMENTS, END, END_ID, TOK, write

import mergewise as mw
from mergewise import sources
from mergewise.errors import FormatError, InputError, UnknownTokenError
from mergewise.vocabulary import Vocabulary

NUM_KILLS = 3
MANY = [f"{number} {OPTICKS[7 * number :][: number % 300]}" for number in range(400)]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in many blocks."""
    monkeypatch.setattr(sources, "BLOCK_BYTES", 1 << 10)


def ids_of(documents: Sequence[str]) -> list[list[int]]:
    return [[*TOK.encode(document), END_ID] for document in documents]


def lists(documents: Sequence[np.ndarray[Any, Any]]) -> list[list[int]]:
    return [document.tolist() for document in documents]


# What is around documents, and where they begin.


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.parquet"])
@pytest.mark.parametrize("out", ["out.npy", "out.bin"])
def test_offsets(name: str, out: str, tmp_path: Path) -> None:
    path = write(tmp_path, name, DOCUMENTS)
    TOK.encode_files(path, tmp_path / out, offsets=True, end_of_document=END)
    starts = np.load(tmp_path / "out.offsets.npy")
    lengths = [len(TOK.encode(document)) + 1 for document in DOCUMENTS]
    assert starts.tolist() == [0, *np.cumsum(lengths).tolist()]
    documents = mw.open_tokens(tmp_path / out, dtype="uint16")
    assert lists(documents) == ids_of(DOCUMENTS)
    assert [documents.decode(i, TOK, skip_special_tokens=True) for i in range(5)] == DOCUMENTS


def test_a_long_document_is_one(tmp_path: Path) -> None:
    paths = [write(tmp_path, f"{n}.txt", [OPTICKS[n : 50_000 - n]]) for n in range(3)]
    for num_threads in (1, 3):
        TOK.encode_files(paths, tmp_path / "o.npy", offsets=True, num_threads=num_threads)
        documents = mw.open_tokens(tmp_path / "o.npy")
        assert lists(documents) == [TOK.encode(OPTICKS[n : 50_000 - n]) for n in range(3)]


@pytest.mark.parametrize("documents", ["file", "lines"])
def test_special_tokens_around_documents(
    documents: Literal["file", "lines"], tmp_path: Path
) -> None:
    """As the file of a tokenizer asks, once for each document, though it is read in parts."""
    tok = mw.Tokenizer.from_huggingface(with_bos(peer_tokenizer("<s>", END)))
    text = OPTICKS[:20_000].replace("\n", " ") + "\nlast"
    path = write(tmp_path, "a.txt", [text])
    options: dict[str, Any] = {"documents": documents, "end_of_document": END}
    tok.encode_files(path, tmp_path / "o.npy", add_special_tokens=True, **options)
    texts = [text] if documents == "file" else text.splitlines(keepends=True)
    expected = [i for part in texts for i in [*tok.encode(part), tok.special_tokens[END]]]
    assert expected[0] == tok.special_tokens["<s>"]
    assert np.load(tmp_path / "o.npy").tolist() == expected


# Megatron.


def megatron_index(path: Path) -> tuple[int, list[int], list[int], list[int]]:
    """The type, lengths, pointers and documents of an .idx file, as Megatron's reader does."""
    data = path.read_bytes()
    assert data[:9] == b"MMIDIDX\x00\x00"
    version, code, num_sequences, num_documents = struct.unpack("<QBQQ", data[9:34])
    assert version == 1
    numbers = np.frombuffer(data, np.int32, num_sequences, 34)
    pointers = np.frombuffer(data, np.int64, num_sequences, 34 + numbers.nbytes)
    start = 34 + numbers.nbytes + pointers.nbytes
    documents = np.frombuffer(data, np.int64, num_documents, start)
    assert len(data) == start + documents.nbytes
    return code, numbers.tolist(), pointers.tolist(), documents.tolist()


@pytest.mark.parametrize(("dtype", "code", "kind"), [("uint16", 8, "<u2"), ("uint32", 4, "<i4")])
@pytest.mark.parametrize("out", ["out", "out.bin"])
def test_megatron(
    out: str, dtype: Literal["uint16", "uint32"], code: int, kind: str, tmp_path: Path
) -> None:
    path = write(tmp_path, "a.jsonl", DOCUMENTS)
    options: dict[str, Any] = {"format": "megatron", "end_of_document": END}
    TOK.encode_files(path, tmp_path / out, dtype=dtype, **options)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.jsonl", "out.bin", "out.idx"]
    found, lengths, pointers, ends = megatron_index(tmp_path / "out.idx")
    assert (found, ends) == (code, list(range(len(DOCUMENTS) + 1)))
    ids = np.fromfile(tmp_path / "out.bin", kind)
    starts = [pointer // ids.itemsize for pointer in pointers]
    documents = [ids[s : s + n].tolist() for s, n in zip(starts, lengths, strict=True)]
    assert documents == ids_of(DOCUMENTS)
    for name in ("out.bin", "out.idx"):
        assert lists(mw.open_tokens(tmp_path / name)) == documents


# Shards and splits.


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("format_", ["npy", "bin", "megatron"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_shards(name: str, format_: Literal["npy", "bin", "megatron"], tmp_path: Path) -> None:
    path, out = write(tmp_path, name, MANY), tmp_path / "out"
    out.mkdir()
    made = TOK.encode_files(
        path, out / "o.bin", format=format_, offsets=True, shard_tokens=2000, end_of_document=END
    )
    assert len(made.shards) > 5
    assert [shard.path.name for shard in made.shards[:2]] == ["o-00000.bin", "o-00001.bin"]
    assert all(2000 <= shard.num_tokens < 2300 for shard in made.shards[:-1])
    documents = mw.open_tokens(out / "o.json")
    assert lists(documents) == ids_of(MANY)
    assert lists(documents[5:300:17]) == ids_of(MANY[5:300:17])
    assert documents[-1].tolist() == ids_of(MANY)[-1]
    assert (len(documents), documents.num_tokens) == (made.num_documents, made.num_tokens)
    manifest = json.loads((out / "o.json").read_bytes())
    assert manifest["is_complete"]
    assert manifest["tokens"] == made.num_tokens
    for shard in manifest["shards"]:
        data = (out / shard["path"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == shard["sha256"]


def key_of(text: bytes) -> int:
    """The hash that decides, which must never change."""
    odd, key = 0x9E37_79B9_7F4A_7C15, len(text)

    def mixed(key: int, word: int) -> int:
        key = (key ^ word) * odd % 2**64
        return key ^ key >> 32

    num_words = len(text) // 8
    for word in struct.unpack(f"<{num_words}Q", text[: 8 * num_words]):
        key = mixed(key, word)
    for byte in text[8 * num_words :]:
        key = mixed(key, byte)
    return mixed(mixed(key, odd), odd)


@pytest.mark.parametrize("num_threads", [1, 3])
def test_a_number_of_shards(num_threads: int, tmp_path: Path) -> None:
    """Each has about the same share, whatever the kinds of the inputs; the last ends with them."""
    paths = [write(tmp_path, f"{n}{name}", MANY) for n, name in enumerate([".jsonl", ".parquet"])]
    paths += [write(tmp_path, "2.jsonl.gz", MANY)]
    made = TOK.encode_files(
        paths, tmp_path / "o.npy", shards=7, offsets=True, num_threads=num_threads
    )
    assert len(made.shards) == 7
    documents = mw.open_tokens(tmp_path / "o.json")
    assert lists(documents) == [TOK.encode(text) for text in MANY * 3]
    equal = write(tmp_path, "equal.jsonl", ["equally long"] * 700)
    made = TOK.encode_files(equal, tmp_path / "e.npy", shards=7, num_threads=num_threads)
    assert all(abs(shard.num_documents - 100) <= 2 for shard in made.shards)


def test_compressed_inputs_are_read_side_by_side(tmp_path: Path) -> None:
    """The files are the same, whatever the number of threads; the first failure is told."""
    paths = [write(tmp_path, f"{n}.jsonl.gz", MANY[: n * 60]) for n in (6, 1, 0, 4, 2, 5)]
    made = []
    for num_threads in (1, 4):
        (folder := tmp_path / f"{num_threads}").mkdir()
        options: dict[str, Any] = {"shard_tokens": 5000, "validation": 0.1, "offsets": True}
        TOK.encode_files(paths, folder / "o.npy", num_threads=num_threads, **options)
        made.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert made[0] == made[1]
    assert len(made[0]) > 10
    for damaged in paths[3:5]:
        damaged.write_bytes(damaged.read_bytes()[:-9])
    for _ in range(10):
        with pytest.raises(FormatError, match=r"4\.jsonl\.gz"):
            TOK.encode_files(paths, tmp_path / "o.npy", num_threads=4)
        with pytest.raises(FormatError, match=r"4\.jsonl\.gz"):
            mw.count_files(paths, num_threads=4)


def test_the_hash_of_a_document_decides_its_split(tmp_path: Path) -> None:
    """Whatever the order, the format and the number of threads; long documents too."""
    long = [letter * 3000 + " " + OPTICKS[:9000].replace("\n", " ") for letter in "abcdefgh"]
    texts = [f"{text}\n" for text in [*MANY, *long] if "\n" not in text]
    held: list[set[str]] = []
    for order, name in ((1, "a.jsonl"), (-1, "b.txt"), (1, "c.parquet")):
        path = write(tmp_path, name, texts[::order])
        made = TOK.encode_files(
            path,
            tmp_path / "o.npy",
            documents="lines",
            offsets=True,
            validation=0.2,
            num_threads=2 + order,
        )
        assert {shard.path.name for shard in made.shards} == {"o.npy", "o-validation.npy"}
        splits = [mw.open_tokens(tmp_path / "o.json", split=s) for s in ("train", "validation")]
        found = [[split.decode(i, TOK) for i in range(len(split))] for split in splits]
        assert sorted(found[0] + found[1]) == sorted(texts)
        held.append(set(found[1]))
    assert held[0] == held[1] == held[2]
    keys = {text: key_of(text.encode()[: sources.BLOCK_BYTES]) for text in texts}
    assert held[0] == {text for text, key in keys.items() if key >> 32 < 0.2 * (2**32 - 1)}
    assert 0.1 * len(texts) < len(held[0]) < 0.3 * len(texts)
    assert held[0] & {f"{text}\n" for text in long}


@pytest.mark.parametrize("sharding", [{"shard_tokens": 2000}, {"shards": 30}], ids=str)
def test_a_run_that_was_stopped_goes_on(sharding: dict[str, int], tmp_path: Path) -> None:
    paths = [write(tmp_path, "a.jsonl", MANY), write(tmp_path, "b.parquet", MANY[::-1])]
    paths += [write(tmp_path, "c.txt", [OPTICKS[:60_000]])]
    options: dict[str, Any] = {"format": "megatron", "validation": 0.1, **sharding}
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    parts.mkdir()
    TOK.encode_files(paths, whole / "o", num_threads=1, **options)
    expected = files_in(whole)

    class StoppedError(Exception):
        """What stops the work."""

    size = sum(path.stat().st_size for path in paths)
    kept: dict[str, int] = {}
    for share in (0.1, 0.4, 0.5, 0.7, 0.9):

        def stop(done: int, _: int, share: float = share) -> None:
            if done > share * size:
                raise StoppedError

        with pytest.raises(StoppedError):
            TOK.encode_files(paths, parts / "o", num_threads=2, progress=stop, **options)
        found = files_in(parts)
        assert {name: expected[name] for name in found if name != "o.json"}.items() <= found.items()
        # What was whole is not written again.
        inodes = {path.name: path.stat().st_ino for path in parts.glob("*.bin")}
        assert kept.items() <= inodes.items()
        kept = inodes
    assert kept
    TOK.encode_files(paths, parts / "o", **options)
    assert files_in(parts) == expected


def test_a_run_that_was_killed_goes_on(tmp_path: Path) -> None:
    """Killed when there are a few shards more; in the end all bytes are those of one run."""
    paths = [write(tmp_path, "a.jsonl", MANY * 40), write(tmp_path, "b.txt", [OPTICKS] * 8)]
    TOK.save(tmp_path / "t.json")
    code = (
        "import sys, mergewise as mw\n"
        "tok = mw.Tokenizer.from_file('t.json')\n"
        "options = {'shard_tokens': 5000, 'offsets': True, 'validation': 0.1}\n"
        "tok.encode_files(['a.jsonl', 'b.txt'], f'{sys.argv[1]}/o.npy', **options)\n"
    )
    for name in ("whole", "parts"):
        (tmp_path / name).mkdir()
    command = [sys.executable, "-c", code]
    assert sum(path.stat().st_size for path in paths) > 5e6
    subprocess.run([*command, "whole"], cwd=tmp_path, check=True, timeout=HANGS)
    expected = files_in(tmp_path / "whole")
    for _ in range(NUM_KILLS):
        num_before = len([*(tmp_path / "parts").glob("o*.npy")])
        with subprocess.Popen([*command, "parts"], cwd=tmp_path) as process:
            while process.poll() is None:
                if len([*(tmp_path / "parts").glob("o*.npy")]) > num_before + 1:
                    process.kill()
                    break
                time.sleep(0.001)
        found = {path.name: path.read_bytes() for path in (tmp_path / "parts").glob("o*.npy")}
        assert found.items() <= expected.items()
    subprocess.run([*command, "parts"], cwd=tmp_path, check=True, timeout=HANGS)
    assert files_in(tmp_path / "parts") == expected


@pytest.mark.parametrize("change", ["input", "option", "shard"])
def test_another_run_begins_anew(change: str, tmp_path: Path) -> None:
    path, out = write(tmp_path, "a.jsonl", MANY), tmp_path / "out"
    out.mkdir()
    options: dict[str, Any] = {"shard_tokens": 2000}
    TOK.encode_files(path, out / "o.npy", **options)
    manifest = json.loads((out / "o.json").read_bytes())
    manifest["is_complete"], manifest["shards"] = False, manifest["shards"][:4]
    (out / "o.json").write_text(json.dumps(manifest))
    if change == "input":
        write(tmp_path, "a.jsonl", MANY[::-1])
    elif change == "option":
        options["end_of_document"] = END
    else:
        (out / "o-00001.npy").unlink()
    TOK.encode_files(path, out / "o.npy", **options)
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    TOK.encode_files(path, fresh / "o.npy", **options)
    expected = files_in(fresh)
    assert {name: files_in(out)[name] for name in expected} == expected


def test_lines_that_are_no_records_are_left_out_and_counted(tmp_path: Path) -> None:
    good = [json.dumps({"text": text}) for text in DOCUMENTS]
    lines = [good[0], "{", *good[1:3], '{"body": 1}', *good[3:], '{"text": "\\ud800"}']
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(FormatError, match="line 2"):
        TOK.encode_files(path, tmp_path / "o.npy")
    made = TOK.encode_files(path, tmp_path / "o.npy", skip_bad=True, end_of_document=END)
    assert (made.num_skipped, made.num_documents) == (3, len(DOCUMENTS))
    for number, told in zip((2, 5, 8), made.skipped, strict=True):
        assert f"a.jsonl: line {number}: " in told
    assert np.load(tmp_path / "o.npy").tolist() == [i for ids in ids_of(DOCUMENTS) for i in ids]


def test_bytes_that_cannot_be_encoded_are_left_out(tmp_path: Path) -> None:
    tokens = {b"a": 0, b"b": 1, b"\n": 2}
    tok = mw.Tokenizer(Vocabulary(tokens=tokens, merges=[], alphabet="chars"))
    path = tmp_path / "a.txt"
    path.write_bytes(b"ab\n\xffa\nb\n\xfe\n" + b"ba\n" * 1000)
    with pytest.raises(InputError, match="line 2"):
        tok.encode_files(path, tmp_path / "o.npy", documents="lines")
    made = tok.encode_files(path, tmp_path / "o.npy", documents="lines", skip_bad=True)
    assert (made.num_skipped, made.num_documents) == (2, 1002)
    assert [told.split(": ")[1] for told in made.skipped] == ["line 2", "line 4"]
    assert np.load(tmp_path / "o.npy").tolist() == [0, 1, 2, 1, 2, *[1, 0, 2] * 1000]


def test_texts_that_cannot_be_encoded_are_left_out(tmp_path: Path) -> None:
    tokens = {b"a": 0, b"b": 1, b"\n": 2}
    special = {"<s>": 3}
    tok = mw.Tokenizer(
        Vocabulary(tokens=tokens, merges=[], alphabet="chars", special_tokens=special)
    )
    path = tmp_path / "a.txt"
    path.write_text("ab\nac\nb\na<s>\nba\n")
    made = tok.encode_files(path, tmp_path / "o.npy", documents="lines", skip_bad=True)
    assert (made.num_skipped, made.num_documents) == (2, 3)
    assert [told.split(": ", 1)[1] for told in made.skipped] == [
        "line 2: not in the alphabet: the character 'c' at byte 4",
        'line 4: the text holds the special token "<s>" at byte 9',
    ]
    assert np.load(tmp_path / "o.npy").tolist() == [0, 1, 2, 1, 2, 1, 0, 2]
    made = tok.encode_files(
        path, tmp_path / "o.npy", documents="lines", skip_bad=True, allowed_special="all"
    )
    assert made.num_skipped == 1
    texts = ["ab", None, "ac", "b", None, "a<s>", "ba"]
    pq.write_table(pa.table({"text": texts}), tmp_path / "a.parquet")
    with pytest.raises(UnknownTokenError, match="document 2"):
        tok.encode_files(tmp_path / "a.parquet", tmp_path / "o.npy")
    made = tok.encode_files(tmp_path / "a.parquet", tmp_path / "o.npy", skip_bad=True)
    assert (made.num_skipped, made.num_documents) == (2, 3)
    assert [told.split(": ", 1)[1] for told in made.skipped] == [
        "row 0 and on: document 2: not in the alphabet: the character 'c' at byte 1",
        'row 0 and on: document 5: the text holds the special token "<s>" at byte 1',
    ]
    assert np.load(tmp_path / "o.npy").tolist() == [0, 1, 1, 1, 0]


@pytest.mark.parametrize("sharding", [{"shard_tokens": 300}, {"shards": 9}], ids=str)
def test_what_is_left_out_is_counted_once_wherever_a_run_goes_on(
    sharding: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "BLOCK_BYTES", 400)
    tokens = {bytes([byte]): byte for byte in range(128)}
    tok = mw.Tokenizer(Vocabulary(tokens=tokens, merges=[], alphabet="chars"))
    records = [json.dumps({"text": f"record {n}"}) if n % 5 else "{" for n in range(101)]
    lines = [b"line %d\xff" % n if n % 7 == 0 else b"line %d" % n for n in range(200)]
    (tmp_path / "a.jsonl").write_text("\n".join(records))
    (tmp_path / "b.txt").write_bytes(b"\n".join(lines))
    rows = ["é" if n % 4 == 0 else f"row {n}" for n in range(120)]
    pq.write_table(pa.table({"text": rows}), tmp_path / "c.parquet", row_group_size=50)
    paths, out = [tmp_path / name for name in ("a.jsonl", "b.txt", "c.parquet")], tmp_path / "out"
    out.mkdir()
    options: dict[str, Any] = {"documents": "lines", "validation": 0.3, "skip_bad": True}
    made = tok.encode_files(paths, out / "o.npy", **options, **sharding)
    num_skipped = len(records[::5]) + len(lines[::7]) + len(rows[::4])
    assert (made.num_skipped, made.num_documents) == (num_skipped, 421 - num_skipped)
    expected = files_in(out)
    for numbers in ((1, 0), (0, 1), (2, 1), (4, 2), (7, 2)):
        manifest = json.loads(expected["o.json"])
        splits = zip(("train", "validation"), numbers, strict=True)
        manifest["shards"] = [
            shard
            for split, number in splits
            for shard in [each for each in manifest["shards"] if each["split"] == split][:number]
        ]
        (out / "o.json").write_text(json.dumps({**manifest, "is_complete": False}))
        again = tok.encode_files(paths, out / "o.npy", **options, **sharding)
        assert again.num_skipped == num_skipped
        assert files_in(out) == expected


def test_a_copy_maps_the_files_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in another folder, and without the ids in what is pickled."""
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, "a.jsonl", MANY)
    TOK.encode_files(path, "o.bin", format="bin", offsets=True, validation=0.2, shard_tokens=9000)
    validation = mw.open_tokens("o.json", split="validation")
    pickled = pickle.dumps(validation)
    assert len(pickled) < 1000 < validation.num_tokens
    monkeypatch.chdir("/")
    assert lists(pickle.loads(pickled)) == lists(validation)  # noqa: S301 - our own


# Other files of the same names.


def test_shards_of_an_older_run_are_not_left_behind_the_last(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", MANY)
    for format_ in ("npy", "megatron"):
        out = tmp_path / f"{format_}.npy"
        options: dict[str, Any] = {"format": format_, "offsets": True, "validation": 0.2}
        TOK.encode_files(path, out, shard_tokens=2000, **options)
        TOK.encode_files(path, out, shard_tokens=9000, **options)
        found = [found.name for found in tmp_path.glob(f"{format_}*") if found.suffix != ".json"]
        (fresh := tmp_path / "fresh" / format_).mkdir(parents=True)
        TOK.encode_files(path, fresh / f"{format_}.npy", shard_tokens=9000, **options)
        expected = [found.name for found in fresh.iterdir() if found.suffix != ".json"]
        assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("number", [0, 2, 90])
def test_an_input_with_the_name_of_a_shard_is_kept(number: int, tmp_path: Path) -> None:
    """Also one that is behind the last."""
    for other in range(100):
        (tmp_path / f"o-{other:05}.txt").write_text("older")
    path = tmp_path / f"o-{number:05}.txt"
    path.write_text("\n".join(MANY[:100]))
    with pytest.raises(InputError, match=r"(an|of an) (in|out)put"):
        TOK.encode_files(path, tmp_path / "o.txt", documents="lines", shard_tokens=1000)
    assert path.read_text() == "\n".join(MANY[:100])


def test_files_of_other_ids_do_not_stay_beside_new_ones(tmp_path: Path) -> None:
    """Other documents of as many ids would be cut where the older ones were."""
    first, second = write(tmp_path, "a.jsonl", MANY), write(tmp_path, "b.jsonl", MANY[::-1])
    out = tmp_path / "o.npy"
    TOK.encode_files(first, out, offsets=True, manifest=True)
    TOK.encode_files(second, out)
    assert lists(mw.open_tokens(out)) == [[*chain(*map(TOK.encode, MANY[::-1]))]]
    with pytest.raises(FormatError, match="no manifest"):
        mw.open_tokens(tmp_path / "o.json")
    TOK.encode_files(first, tmp_path / "m", format="megatron")
    TOK.encode_files(second, tmp_path / "m.bin", offsets=True)
    documents = mw.open_tokens(tmp_path / "m.bin", dtype="uint16")
    assert lists(documents) == [TOK.encode(document) for document in MANY[::-1]]


@pytest.mark.parametrize("name", ["o.npy", "o.json", "o.bin", "o.idx"])
def test_the_type_must_be_that_of_the_file(name: str, tmp_path: Path) -> None:
    path, out = write(tmp_path, "a.jsonl", DOCUMENTS), tmp_path / name
    kind: Literal["npy", "megatron"] = "npy" if name in {"o.npy", "o.json"} else "megatron"
    made = TOK.encode_files(
        path,
        out.with_suffix(".npy" if kind == "npy" else ".bin"),
        format=kind,
        dtype="uint32",
        manifest=True,
    )
    assert made.path.exists()
    with pytest.raises(FormatError, match=r"found ids of type u?int32, expected uint16"):
        mw.open_tokens(out, dtype="uint16")
    expected = lists(mw.open_tokens(out))
    assert lists(mw.open_tokens(out, dtype="uint32")) == expected


def test_splits_are_of_a_manifest(tmp_path: Path) -> None:
    TOK.encode_files(write(tmp_path, "a.jsonl", DOCUMENTS), tmp_path / "o.npy")
    with pytest.raises(ValueError, match=r"split='validation' needs a manifest.*'o\.npy'"):
        mw.open_tokens(tmp_path / "o.npy", split="validation")
    with pytest.raises(ValueError, match="split must be"):
        mw.open_tokens(tmp_path / "o.npy", split="test")


@pytest.mark.parametrize(
    ("name", "written"), [("o", "o.bin"), ("o.bin", "o.bin"), ("o.idx", "o.idx.bin")]
)
def test_the_file_that_was_written_is_told(name: str, written: str, tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", DOCUMENTS)
    made = TOK.encode_files(path, tmp_path / name, format="megatron")
    assert made.path == tmp_path / written
    assert lists(mw.open_tokens(made.path)) == [TOK.encode(document) for document in DOCUMENTS]


def test_offsets_of_other_ids_are_refused(tmp_path: Path) -> None:
    out, offsets = tmp_path / "o.npy", tmp_path / "o.offsets.npy"
    TOK.encode_files(write(tmp_path, "a.jsonl", MANY[:9]), out, offsets=True)
    assert len(mw.open_tokens(out)) == 9
    starts = np.load(offsets)
    np.save(offsets, starts + 1)
    with pytest.raises(FormatError, match=r"o\.offsets\.npy: found offsets of other ids"):
        mw.open_tokens(out)
    starts[3] = 10**9
    np.save(offsets, starts)
    with pytest.raises(FormatError, match="found document 3 from 1,000,000,000"):
        mw.open_tokens(out)[3]


@pytest.mark.parametrize("sharding", [{"shards": 2}, {"manifest": True}], ids=str)
def test_a_file_with_the_name_of_the_manifest_is_not_replaced(
    sharding: dict[str, Any], tmp_path: Path
) -> None:
    TOK.save(tmp_path / "t.json")
    saved = (tmp_path / "t.json").read_bytes()
    with pytest.raises(InputError, match=r"t\.json: found another file with the name"):
        TOK.encode_files(write(tmp_path, "a.jsonl", MANY), tmp_path / "t.npy", **sharding)
    assert (tmp_path / "t.json").read_bytes() == saved
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "t.json"]


def test_files_that_no_run_made_stay(tmp_path: Path) -> None:
    """Also if they have the names of shards."""
    for number in (1, 2, 5):
        (tmp_path / f"o-{number:05}.npy").write_text("mine")
    TOK.encode_files(write(tmp_path, "a.jsonl", MANY), tmp_path / "o.npy", shards=1)
    assert [(tmp_path / f"o-{n:05}.npy").read_text() for n in (1, 2, 5)] == ["mine"] * 3


def test_a_manifest_does_not_tell_of_files_that_were_replaced(tmp_path: Path) -> None:
    """Nor before the first of them is listed; if nothing was replaced, it stays."""
    path, out = write(tmp_path, "a.jsonl", MANY), tmp_path / "o.npy"
    TOK.encode_files(path, out, shard_tokens=2000)
    whole = (tmp_path / "o.json").read_bytes()
    wrong = write(tmp_path, "b.jsonl", MANY[:3])
    wrong.write_text(wrong.read_text() + "wrong\n")
    with pytest.raises(FormatError, match="line 4"):
        TOK.encode_files(wrong, out, shard_tokens=2000)
    assert (tmp_path / "o.json").read_bytes() == whole
    wrong = write(tmp_path, "b.jsonl", MANY[::-1])
    wrong.write_text(wrong.read_text() + "wrong\n")
    with pytest.raises(FormatError, match="line"):
        TOK.encode_files(wrong, out, shard_tokens=2000)
    with pytest.raises(FormatError, match="not complete"):
        mw.open_tokens(tmp_path / "o.json")
    (tmp_path / "mine").write_text("mine")
    content = {**json.loads(whole), "is_complete": False, "replaces": ["mine", "../x", 5]}
    (tmp_path / "o.json").write_text(json.dumps(content))
    TOK.encode_files(path, out, shard_tokens=2000)
    assert (tmp_path / "mine").read_text() == "mine"
    assert (tmp_path / "o.json").read_bytes() == whole


def test_files_of_an_older_run_go_whatever_it_was(tmp_path: Path) -> None:
    path, out = write(tmp_path, "a.jsonl", MANY), tmp_path / "out"
    out.mkdir()
    TOK.encode_files(path, out / "o", shards=7, format="megatron")
    TOK.encode_files(path, out / "o", shards=3, format="npy", offsets=True, validation=0.1)
    TOK.encode_files(path, out / "o", shards=2, format="npy")
    assert sorted(found.name for found in out.iterdir()) == ["o-00000", "o-00001", "o.json"]


def test_two_runs_do_not_write_the_same_files(tmp_path: Path) -> None:
    path, out = write(tmp_path, "a.jsonl", MANY), tmp_path / "o.npy"

    def run_again(*_: int) -> None:
        TOK.encode_files(path, out, shards=3)

    with pytest.raises(InputError, match="another process"):
        TOK.encode_files(path, out, shards=2, progress=run_again)
    TOK.encode_files(path, out, shards=2)
    assert sorted(found.name for found in tmp_path.glob("o*")) == [
        "o-00000.npy",
        "o-00001.npy",
        "o.json",
    ]
    assert not [*tmp_path.glob(".mergewise*")]


@pytest.mark.parametrize("name", ["o-00001.npy", "o-00001.offsets.npy"])
def test_a_shard_that_was_cut_is_not_kept(name: str, tmp_path: Path) -> None:
    path, out = write(tmp_path, "a.jsonl", MANY), tmp_path / "out"
    out.mkdir()
    options: dict[str, Any] = {"shard_tokens": 2000, "offsets": True}
    TOK.encode_files(path, out / "o.npy", **options)
    expected = files_in(out)
    manifest = json.loads((out / "o.json").read_bytes())
    (out / "o.json").write_text(json.dumps({**manifest, "is_complete": False}))
    os.truncate(out / name, 200)
    TOK.encode_files(path, out / "o.npy", **options)
    assert files_in(out) == expected
    os.truncate(out / name, 200)
    with pytest.raises(FormatError, match=rf"{name}: found 200 bytes, expected .* as in the man"):
        mw.open_tokens(out / "o.json")


def test_one_file_has_a_manifest_if_asked_for(tmp_path: Path) -> None:
    out = tmp_path / "o.npy"
    made = TOK.encode_files(write(tmp_path, "a.jsonl", MANY), out, offsets=True, manifest=True)
    content = json.loads((tmp_path / "o.json").read_text())
    assert content["shards"][0]["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    assert [shard.path for shard in made.shards] == [out]
    assert len(mw.open_tokens(tmp_path / "o.json")) == len(MANY)


# What is refused.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "csv"}, "format"),
        ({"shard_tokens": 0}, "shard_tokens"),
        ({"shards": 0}, "shards"),
        ({"shards": 2, "shard_tokens": 5}, "one of them"),
        ({"validation": 1.0}, "validation"),
        ({"validation": float("nan")}, "validation"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", ["a"])
    with pytest.raises(ValueError, match=message):
        TOK.encode_files(path, tmp_path / "o.npy", **options)
    assert [found.name for found in tmp_path.iterdir()] == ["a.txt"]


def test_an_index_or_a_manifest_that_is_an_input_is_refused(tmp_path: Path) -> None:
    for name, options in (
        ("o.offsets.npy", {"offsets": True}),
        ("o.json", {"validation": 0.5}),
    ):
        (tmp_path / name).write_text("a text")
        with pytest.raises(InputError, match="input"):
            TOK.encode_files(tmp_path / name, tmp_path / "o.npy", **options)
        assert (tmp_path / name).read_text() == "a text"


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(FormatError, match=r"a\.json: found no manifest"):
        mw.open_tokens(tmp_path / "a.json")
    (tmp_path / "a.idx").write_bytes(b"MMIDIDX")
    with pytest.raises(FormatError, match=r"a\.idx: found no index"):
        mw.open_tokens(tmp_path / "a.idx")
    (tmp_path / "a.raw").write_bytes(b"")
    with pytest.raises(FormatError, match="dtype"):
        mw.open_tokens(tmp_path / "a.raw")
    (tmp_path / "odd.raw").write_bytes(b"123")
    with pytest.raises(FormatError, match=r"odd\.raw: found 3 bytes at byte 0"):
        mw.open_tokens(tmp_path / "odd.raw", dtype="uint16")
    for name, array in (("square", np.zeros((3, 3), int)), ("floats", np.zeros(3))):
        np.save(tmp_path / f"{name}.npy", array)
        with pytest.raises(FormatError, match=rf"{name}\.npy: found an array of .* expected a row"):
            mw.open_tokens(tmp_path / f"{name}.npy")
    (tmp_path / "cut.npy").write_bytes((tmp_path / "square.npy").read_bytes()[:140])
    with pytest.raises(FormatError, match=r"cut\.npy: found no array"):
        mw.open_tokens(tmp_path / "cut.npy")
    assert len(mw.open_tokens(tmp_path / "a.raw", dtype="uint16")[0]) == 0
    wrong: list[Any] = [[{}], None, [{"path": "../a.raw"}]]
    for shards in wrong:
        content: dict[str, Any] = {"format": "mergewise tokens 1", "options": {}, "shards": shards}
        (tmp_path / "a.json").write_text(json.dumps({**content, "is_complete": True}))
        with pytest.raises(FormatError, match=r"a\.json: found no manifest"):
            mw.open_tokens(tmp_path / "a.json")
    with pytest.raises(IndexError, match="no document 1"):
        mw.open_tokens(tmp_path / "a.raw", dtype="uint16")[1]
