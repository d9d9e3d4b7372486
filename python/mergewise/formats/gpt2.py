"""GPT-2's two files: vocab.json with the ids, merges.txt with the merges, in its letters.

OpenAI named them encoder.json and vocab.bpe. The path may be either file or their directory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mergewise.errors import ConversionError, InputError
from mergewise.files import complete_writes
from mergewise.formats import merging
from mergewise.formats.json_values import Value, parse
from mergewise.formats.letters import from_letters, to_letters
from mergewise.formats.reading import Reading, decoded, first_lines, shown
from mergewise.formats.unsupported import named, plain_losses, unmade
from mergewise.vocabulary import Vocabulary

FIRST_IS_NUMBER: Final = re.compile(
    rb'[ \t\r\n]*\{[ \t\r\n]*"(?:[^"\\]|\\.)*"[ \t\r\n]*:[ \t\r\n]*-?\d'
)
NAMES: Final = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))
# What a first line that is no pair begins with.
VERSION: Final = "#version"
# A symbol at the end of a word, in files that mark these ends.
END: Final = re.compile(r".</w>", re.DOTALL)
EXPECTED: Final = "vocab.json, merges.txt, encoder.json or vocab.bpe"


def looks_like(head: bytes, path: Path) -> bool:
    """Whether this is a directory of both files, a file of ids, or merges beside a file of ids."""
    if path.is_dir():
        return any((path / name).exists() for pair in NAMES for name in pair)
    if FIRST_IS_NUMBER.match(head):
        return True
    vocab, _ = both_paths(path)
    return is_list_of_pairs(head) and vocab != path and vocab.exists()


def is_list_of_pairs(head: bytes) -> bool:
    """Whether the first lines are pairs, after a line with the version or not."""
    lines = first_lines(head)
    pairs = lines[1:] if lines[0].startswith(VERSION.encode()) else lines
    return bool(head.strip()) and all(len(line.split(b" ")) == 2 for line in pairs)


def both_paths(path: Path) -> tuple[Path, Path]:
    """The file of ids and the file of merges that belong to a path.

    >>> [found.name for found in both_paths(Path("my-merges.txt"))]
    ['my-vocab.json', 'my-merges.txt']
    """
    if path.is_dir():
        pairs = [(path / vocab, path / merges) for vocab, merges in NAMES]
        return next((pair for pair in pairs if any(file.exists() for file in pair)), pairs[0])
    for vocab, merges in NAMES:
        for name in (vocab, merges):
            if path.name.endswith(name):
                prefix = path.name.removesuffix(name)
                return path.with_name(prefix + vocab), path.with_name(prefix + merges)
    return path, path


def read(reading: Reading) -> Vocabulary:
    """The vocabulary of the two files."""
    vocab_path, merges_path = checked_paths(reading)
    ids = read_ids(parse(Reading(path=vocab_path)))
    merges_file = Reading(path=merges_path, lossy=reading.lossy)
    written = read_pairs(merges_file, ids, in_letters=True)
    refuse_ends(merges_file, written)
    used = merging.strings_of(written)
    tokens: dict[bytes, int] = {}
    special_tokens: dict[str, int] = {}
    # No text has it: Whisper's vocabulary has one, where GPT-2's has its end of text.
    empty_id = ids.pop("", None)
    for string, token_id in ids.items():
        token = from_letters(string)
        if token is not None and (string in used or len(token) == 1):
            tokens[token] = token_id
        else:
            special_tokens[string] = token_id
    merging.check_bytes(Reading(path=vocab_path), tokens, place="the tokens")
    merges = [(from_letters(left) or b"", from_letters(right) or b"") for left, right in written]
    live = merging.live_merges(merges_file, merges, merging.Symbols("bytes"))
    return Vocabulary(
        tokens=tokens,
        merges=live,
        pattern="gpt2",
        special_tokens=special_tokens,
        written={} if empty_id is None else {empty_id: ""},
    )


def checked_paths(reading: Reading) -> tuple[Path, Path]:
    """The file of ids and the file of merges, which both are there."""
    vocab_path, merges_path = both_paths(reading.path)
    if vocab_path == merges_path:
        raise reading.wrong("", f"a file named {shown(reading.path.name)}", EXPECTED)
    complete_writes(vocab_path)
    for path in (vocab_path, merges_path):
        if not path.exists():
            raise reading.wrong("", "one file of the two", f"{path.name} beside it")
    return vocab_path, merges_path


def read_ids(document: Value) -> dict[str, int]:
    """The strings and their ids."""
    ids = document.ids()
    merging.check_ids_differ(document.reading, ids, place="the ids")
    return ids


def read_pairs(
    reading: Reading, ids: Mapping[str, int], *, in_letters: bool
) -> list[tuple[str, str]]:
    """The pairs of the lines, as they are written: of tokens with ids, perhaps in letters."""
    lines = decoded(reading, reading.read_bytes()).split("\n")
    if not lines[-1]:
        lines.pop()
    first = 1 if lines and lines[0].startswith(VERSION) else 0
    merges = [
        merging.pair_of(reading, line.removesuffix("\r"), number)
        for number, line in enumerate(lines[first:], first + 1)
    ]
    used = merging.strings_of(merges)
    unknown = {string for string in used if from_letters(string) is None} if in_letters else set()
    for wrong, fault, expected in (
        (used - ids.keys(), ", which has no id", "tokens of the vocabulary"),
        (unknown, "", "tokens in GPT-2's letters"),
    ):
        if wrong:
            index, string = merging.first_use(merges, wrong)
            found = f"the token {shown(string)}{fault}"
            raise reading.wrong(f"line {first + 1 + index}", found, expected)
    return merges


def refuse_ends(reading: Reading, merges: list[tuple[str, str]]) -> None:
    """Refuse merges of symbols that mark the ends of words: GPT-2 has none."""
    made = {left + right for left, right in merges}
    marked = {s for s in merging.strings_of(merges) - made if END.fullmatch(s)}
    if marked:
        _, string = merging.first_use(merges, marked)
        raise reading.wrong(
            "",
            f"the token {shown(string)}, which ends a word, as in CLIP's and OpenAI GPT's files",
            "GPT-2's, which mark no ends",
            hint="give the folder, with a tokenizer_config.json that names the class, such as "
            '{"tokenizer_class": "CLIPTokenizer"}',
        )


def losses(vocabulary: Vocabulary) -> list[str]:
    """What the two files cannot represent of a vocabulary."""
    fields = ("normalize", "prefix_space", "mark_is_space", "end_of_word", "added_tokens")
    found = plain_losses(vocabulary, "bytes", *fields)
    if vocabulary.pattern != "gpt2":
        found.append(f"it cuts texts by the pattern gpt2, not {named(vocabulary.pattern)}")
    others = unmade(vocabulary)
    if others:
        found.append(f"tokens that no merge makes are never found there ({named(others)})")
    return found


def files_of(vocabulary: Vocabulary, path: Path) -> dict[Path, bytes]:
    """Both files: those that belong to the path, in a directory vocab.json and merges.txt."""
    if vocabulary.alphabet == "chars":
        raise ConversionError(f"{path}: GPT-2's files are of bytes, found characters")
    ids = {to_letters(token): token_id for token, token_id in vocabulary.tokens.items()}
    for text, token_id in vocabulary.special_tokens.items():
        if text in ids:
            raise ConversionError(f"{path}: the special token {text!r} is written as a token is")
        ids[text] = token_id
    ids |= {text: token_id for token_id, text in vocabulary.written.items() if not text}
    by_id = dict(sorted(ids.items(), key=lambda item: item[1]))
    pairs = [f"{to_letters(left)} {to_letters(right)}\n" for left, right in vocabulary.merges or ()]
    vocab_path, merges_path = both_paths(path)
    if vocab_path == merges_path:
        raise InputError(f"found a file named {shown(path.name)}, expected {EXPECTED}", path=path)
    vocab = json.dumps(by_id, ensure_ascii=False) + "\n"
    merges = "#version: 0.2\n" + "".join(pairs)
    return {vocab_path: vocab.encode(), merges_path: merges.encode()}
