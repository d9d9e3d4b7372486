"""Documents for the tests of clusters: English, code and many languages, in files of two kinds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mergewise as mw
from mergewise import formal
from mergewise.demo import opticks
from mergewise.errors import ClusterError

Test = TypeVar("Test", bound=Callable[..., None])

END = "<|end|>"

PHRASES = [
    "Не всё то золото, что блестит. ",
    "千里之行,始于足下。",
    "急がば回れ、と言います。",
    "가는 말이 고와야 오는 말이 곱다. ",
    "الصبر مفتاح الفرج. ",
    "जहाँ चाह वहाँ राह। ",
    "Übung macht den Meister — “naïve café”! ",
    "Ο χρόνος είναι χρήμα. ",
    "טובים השניים מן האחד. ",
    "காலம் பொன் போன்றது. ",
    "👩‍💻 🇩🇪 👍🏽 e\u0301 ﬁ ½ 12345\r\n\n",
]


def english() -> list[str]:
    """Pages of Newton's Opticks."""
    text = opticks()
    return [text[start : start + 3000] for start in range(0, len(text), 3000)]


def code() -> list[str]:
    """The functions of `mergewise.formal`, cut anywhere."""
    folder = Path(formal.__file__).parent
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py")))
    return [text[start : start + 700] for start in range(0, len(text), 700)]


def languages() -> list[str]:
    """Proverbs in many scripts, in random order."""
    draw = Random(1)  # noqa: S311 - not for secrets
    return ["".join(draw.choices(PHRASES, k=draw.randint(0, 40))) for _ in range(150)]


TEXTS = {"English": english, "code": code, "many languages": languages}


def each_text_in_partitions(test: Test) -> Test:
    """Run a test on each text, divided into 1, 2 and 7 partitions."""
    by_text = pytest.mark.parametrize("text", TEXTS)
    by_number = pytest.mark.parametrize("num_partitions", [1, 2, 7])
    marked: Test = by_number(by_text(test))
    return marked


def check_equal(found: mw.WordCounts, expected: mw.WordCounts, folder: Path) -> None:
    """The counts must be equal to the byte, when they are saved."""
    assert saved(found, folder) == saved(expected, folder)


def write_parquet(documents: list[str], folder: Path, num_files: int) -> list[str]:
    """The documents as the column `text` of Parquet files, null rows among them."""
    paths = []
    for number in range(num_files):
        part: list[str | None] = [*documents[number::num_files], None]
        path = folder / f"{number}.parquet"
        pq.write_table(pa.table({"text": pa.array(part, pa.string())}), path, row_group_size=50)
        paths.append(str(path))
    return paths


def write_files(documents: list[str], folder: Path, num_files: int) -> list[str]:
    """The documents as files of text, several in each."""
    paths = []
    for number in range(num_files):
        path = folder / f"{number}.txt"
        path.write_bytes("".join(documents[number::num_files]).encode())
        paths.append(str(path))
    return paths


def saved(counts: mw.WordCounts, folder: Path) -> bytes:
    """The bytes of the file of counts."""
    path = folder / "saved.counts"
    counts.save(path)
    return path.read_bytes()


def tokenizer() -> mw.Tokenizer:
    """A small tokenizer of English."""
    return mw.train(mw.count(english()), num_merges=200, special_tokens=[END])


OPTIONS: dict[str, Any] = {
    "shards": 5,
    "format": "megatron",
    "validation": 0.1,
    "end_of_document": END,
}


def expected_shards(paths: list[str], folder: Path, **more: Any) -> dict[str, bytes]:
    """The files that one machine makes with OPTIONS."""
    folder.mkdir()
    tokenizer().encode_files(paths, folder / "o", **OPTIONS, **more)
    return files_in(folder)


def check_broken_line(encode: Callable[[list[str], Path], object], folder: Path) -> None:
    """An input that cannot be read must end with its error; what is there then is whole."""
    path = folder / "a.jsonl"
    path.write_text('{"text": "a"}\n' * 50_000 + "{\n")
    with pytest.raises(ClusterError, match=r"a worker failed: .*a\.jsonl: line 50001: found no J"):
        encode([str(path)], folder / "many")
    found = files_in(folder / "many")
    assert not json.loads(found.pop("o.json"))["is_complete"]
    expected = expected_shards([str(path)], folder / "one", skip_bad=True)
    shards = {name: data for name, data in found.items() if not name.endswith(".json")}
    assert shards.items() <= expected.items()
    assert len(shards) < len(expected) - 1


def files_in(folder: Path) -> dict[str, bytes]:
    """The files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def run_example(heading: str, folder: Path) -> None:
    """Run the first program under a heading of docs/cluster.md here, on English in this folder."""
    (folder / "corpus").mkdir()
    (folder / "ids").mkdir()
    paths = write_parquet(english(), folder / "corpus", 2)
    document = Path(__file__).parent.parent / "docs" / "cluster.md"
    section = document.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    program = section.partition("```python\n")[2].partition("```")[0]
    exec(program.replace("/data", str(folder)), {})  # noqa: S102 - our own
    expected = mw.count_files(paths)
    assert mw.WordCounts.from_file("corpus.counts") == expected
    assert mw.Tokenizer.from_file("tokenizer.json") == mw.train(expected, vocab_size=1000)
    shards = [path for path in files_in(folder / "ids") if not path.endswith(".json")]
    assert len(shards) == 2 * 16
    documents = mw.open_tokens(folder / "ids" / "corpus.json")
    texts = [text for number in range(2) for text in english()[number::2]]
    found = [documents.decode(i, mw.Tokenizer.from_file("tokenizer.json")) for i in range(9)]
    assert found == texts[:9]
