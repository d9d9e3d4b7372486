"""Changes to a file that keep most of its structure, so that they get past the parser."""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from mergewise.errors import FormatError
from mergewise.formats.gguf_cuts import EXPRESSIONS
from mergewise.formats.gguf_header import Header, Numbers
from mergewise.formats.gguf_writer import written as written_header
from mergewise.formats.protobuf import (
    BYTES,
    FIXED32,
    VARINT,
    bytes_field,
    fields,
    number_field,
    written_varint,
)
from mergewise.formats.reading import Reading
from mergewise.optimize import certificate, checkpoint

Mutate = Callable[[bytes], bytes]

# What stands between the files of a format that has two.
SEPARATOR = b"\n%%\n"
STRINGS = [
    *("", " ", "a", "b", "ab", "▁", "▁a", "é", "e\u0301", "</w>", "a</w>", "Ġ", "Ġa", "<s>"),
    *("<unk>", "<0x00>", "\ud800", "\0", "gpt2", "whitespace", "(", "a|", r"\s+", r"(a)\1", "^$"),
    *("(?s:.+)", "(?:a*)*b", "NFC", "NFKC", "Prepend", "Replace", "ByteLevel", "Split"),
    *("Metaspace", "WhitespaceSplit", "Sequence", "TemplateProcessing", "BertProcessing"),
    *("Isolated", "Removed", "always", "first", "never", "BPE", "YQ==", "YWI=", "="),
]
KEYS = [
    *("type", "normalizer", "pre_tokenizer", "post_processor", "decoder", "added_tokens", "model"),
    *("normalizers", "pretokenizers", "processors", "single", "SpecialToken", "id", "cls", "sep"),
    *("pattern", "Regex", "String", "behavior", "invert", "content", "prepend", "replacement"),
    *("prepend_scheme", "split", "use_regex", "add_prefix_space", "special", "normalized"),
    *("unk_token", "fuse_unk", "byte_fallback", "ignore_merges", "end_of_word_suffix", "dropout"),
    *("vocab", "merges", "rank", "token_bytes", "token_str", "special_tokens", "pat_str", "config"),
]
NUMBERS = [0, 1, 2, 255, 256, 2**31, 2**32 - 1, 2**32, 2**64, -1, 1.5, 1e300, 10**400]
LINES = [b"", b" ", b"a b", b"a a", b"ab a", b"a b</w>", b"a </w>", b"\xc3\xa9 a", b"#version: 0.1"]
LINES += [b"#version: 0.2", b"YWI= 300", b"YWE= 301", b"= 9", b"YQ== 4294967295", b"a b c", b"\r"]


def mutated(data: bytes, names: tuple[str, ...], random: Random, mutate: Mutate) -> bytes:
    """One of the files changed; `mutate` changes bytes without looking at them."""
    parts = data.split(SEPARATOR, len(names) - 1)
    place = random.randrange(len(parts))
    suffix = Path(names[place]).suffix
    change = CHANGES.get(suffix, change_lines) if random.random() < 0.9 else None
    try:
        parts[place] = change(parts[place], random, mutate) if change else mutate(parts[place])
    except (FormatError, KeyError, RecursionError, TypeError, ValueError, zlib.error):
        parts[place] = mutate(parts[place])
    return SEPARATOR.join(parts)


def change_json(data: bytes, random: Random, _mutate: Mutate) -> bytes:
    """Values replaced, removed, doubled, nested, moved to other places."""
    document = json.loads(data)
    for _ in range(random.choice([1, 1, 1, 2, 4])):
        parent, key = walk(document, random)
        if parent is None:
            continue
        action = random.randrange(6)
        if action == 0:
            del parent[key]
        elif action == 1 and isinstance(parent, dict):
            parent[random.choice([*KEYS, *STRINGS])] = parent[key]
        elif action == 2 and isinstance(parent, list):
            parent.insert(random.randrange(len(parent) + 1), parent[key])
        elif action == 3:
            parent[key] = nested(parent[key], random)
        elif action == 4:
            other, other_key = walk(document, random)
            parent[key] = json.loads(json.dumps(other[other_key])) if other else None
        else:
            parent[key] = changed_value(parent[key], random)
    return json.dumps(document, ensure_ascii=random.random() < 0.5).encode()


def walk(document: Any, random: Random) -> tuple[Any, Any]:
    """A container and a key of it: each level is left downwards as often as not."""
    parent, key, value = None, None, document
    while isinstance(value, (dict, list)) and value:
        if parent is not None and random.random() < 0.3:
            break
        keys = list(value) if isinstance(value, dict) else range(len(value))
        # The last ones are seldom the 256 bytes.
        near_end = keys[-6:] if random.random() < 0.5 else keys
        parent, key = value, random.choice(near_end)
        value = parent[key]
    return parent, key


def nested(value: Any, random: Random) -> Any:
    """The value inside of others."""
    members = random.choice(["normalizers", "pretokenizers", "processors", "x"])
    for _ in range(random.choice([1, 1, 1, 1, 2, 2, 2, 300])):
        value = {"type": "Sequence", members: [value]}
    return value


def changed_value(value: Any, random: Random) -> Any:
    """Another value, often of the same type."""
    if isinstance(value, bool) and random.random() < 0.8:
        return not value
    if isinstance(value, str) and random.random() < 0.6:
        place = random.randrange(len(value) + 1)
        return value[:place] + random.choice(STRINGS) + value[place + random.randrange(3) :]
    if isinstance(value, int) and random.random() < 0.5:
        return value + random.choice([-1, 1])
    return random.choice([None, True, [], {}, *NUMBERS, *STRINGS, [["a", "b"]], {"x": "x"}])


def change_lines(data: bytes, random: Random, mutate: Mutate) -> bytes:
    """Lines removed, doubled, moved, joined, replaced."""
    lines = data.split(b"\n")
    for _ in range(random.choice([1, 1, 2, 4])):
        first = max(len(lines) - 8, 0) if random.random() < 0.7 else 0
        place = random.randrange(first, len(lines))
        other = lines[random.randrange(len(lines))]
        action = random.randrange(6)
        if action == 0 and len(lines) > 1:
            del lines[place]
        elif action == 1:
            lines.insert(random.randrange(len(lines) + 1), lines[place])
        elif action == 2:
            left, right = lines[place].split(b" ")[:1], other.split(b" ")[-1:]
            lines.insert(place, b" ".join(left + right))
        elif action == 3:
            made = lines[place].replace(b" ", b"")
            lines.insert(place + 1, made + b" " + other.split(b" ")[-1])
        elif action == 4:
            lines[place] = mutate(lines[place])
        else:
            lines.insert(place, random.choice(LINES))
    return b"\n".join(lines)


def change_model(data: bytes, random: Random, mutate: Mutate, depth: int = 0) -> bytes:
    """Fields of a protocol buffer removed, doubled, moved, changed."""
    parts = [
        (number, wire, data[start:end], value)
        for number, wire, start, end, value in fields(Reading(path=Path()), data)
    ]
    for _ in range(random.choice([1, 1, 2, 4])):
        if not parts:
            return mutate(data)
        place = random.randrange(len(parts))
        number, wire, content, value = parts[place]
        action = random.randrange(8)
        if action == 0:
            del parts[place]
            continue
        if action == 1:
            parts.insert(random.randrange(len(parts) + 1), parts[place])
            continue
        if wire == BYTES and depth == 0 and action > 2:
            content = change_model(content, random, mutate, depth=1)
        elif wire == BYTES:
            content = random.choice([mutate(content), random.choice(STRINGS).encode()])
        elif wire == VARINT:
            value = random.choice([0, 1, 2, 3, 4, 5, 6, 7, 2**32, 2**63])
        elif wire == FIXED32:
            scores = [0.0, -1.0, -2.0, -2.5, 1e30, float("nan"), float("inf")]
            content = struct.pack("<f", random.choice(scores))
        parts[place] = (number, wire, content, value)
    return b"".join(written_field(*part) for part in parts)


def change_gguf(data: bytes, random: Random, mutate: Mutate) -> bytes:
    """Key-values removed, exchanged, changed; sizes as they should be."""
    header = Header(Reading(path=Path(), data=data), lambda _: True)
    values = {key: value_of(header, key) for key in header.values}
    for _ in range(random.choice([1, 1, 2, 4])):
        key = random.choice(list(values))
        value = values[key]
        action = random.randrange(6)
        if action == 0 and len(values) > 1:
            del values[key]
        elif action == 1:
            values[key] = random.choice(list(values.values()))
        elif isinstance(value, list) and value:
            place = random.randrange(len(value))
            others = STRINGS if isinstance(value[0], str) else [-1, 0, 1, 2, 3, 4, 5, 6, 7]
            change = random.choice([type(value[0])(random.choice(others)), *value[:9]])
            values[key] = [*value[:place], *[change] * random.randrange(3), *value[place + 1 :]]
        elif isinstance(value, str):
            names = ["gpt2", "llama", "gemma4", "bert", *EXPRESSIONS]
            changed = mutate(value.encode()).decode("utf-8", "replace")
            values[key] = random.choice([changed, random.choice(names)])
        else:
            values[key] = random.choice([0, 1, 7, 2**31, True, False, "a", [], [1.5]])
    return written_header(values)


def value_of(header: Header, key: str) -> Any:
    """The value of a key, in Python's types."""
    value = header.values[key]
    if isinstance(value, Numbers):
        return header.numbers(key, (value.kind,), value.count)
    if isinstance(value, list):
        return header.texts(key)
    return header.text(key) if isinstance(value, bytes) else value


def written_field(number: int, wire: int, content: bytes, value: int) -> bytes:
    """A field of a protocol buffer as it is written."""
    if wire == BYTES:
        return bytes_field(number, content)
    if wire == VARINT:
        return number_field(number, value)
    return written_varint(number << 3 | wire) + content


def change_counts(data: bytes, random: Random, mutate: Mutate) -> bytes:
    """The body changed, with the checksum that belongs to it."""
    body = bytearray(data[:-8])
    if random.random() < 0.5 and len(body) > 9:
        place = random.randrange(9, len(body))
        body[place : place + random.randrange(2)] = random.choice(
            [b"\0", b"\1", b"\xff\x7f", b"\xff" * 9 + b"\1", b"\x7f", b"a", b"\x80\0"]
        )
    else:
        body = bytearray(body[:9] + mutate(bytes(body[9:])))
    return with_checksum(bytes(body))


def with_checksum(body: bytes) -> bytes:
    """Word counts with their last eight bytes: FNV-1a of what is before."""
    total = 0xCBF29CE484222325
    for byte in body:
        total = (total ^ byte) * 0x100000001B3 % 2**64
    return body + struct.pack("<Q", total)


def change_certificate(data: bytes, random: Random, mutate: Mutate) -> bytes:
    """The header, the proof or its compressed bytes changed, with the checksum of the whole."""
    body = data.removeprefix(certificate.MAGIC)[: -certificate.DIGEST_SIZE]
    header, _, compressed = body.partition(b"\n")
    kind = random.random()
    if kind < 0.5:
        header = change_json(header, random, mutate)
    elif kind < 0.9:
        compressed = zlib.compress(mutate(zlib.decompress(compressed)))
    else:
        compressed = mutate(compressed)
    body = certificate.MAGIC + header + b"\n" + compressed
    return body + hashlib.sha256(body).digest()


def change_checkpoint(data: bytes, random: Random, mutate: Mutate) -> bytes:
    """The state changed, with its checksum."""
    whole = json.loads(data)
    whole["state"] = json.loads(change_json(json.dumps(whole["state"]).encode(), random, mutate))
    whole["sha256"] = checkpoint.digest(whole["state"])
    return json.dumps(whole).encode()


def change_parquet(data: bytes, random: Random, mutate: Mutate) -> bytes:
    """The footer or the pages changed, with the length of the footer that belongs to it."""
    size = int.from_bytes(data[-8:-4], "little")
    pages, footer = data[: -8 - size], data[-8 - size : -8]
    if random.random() < 0.6:
        footer = change_a_byte(footer, random) if random.random() < 0.7 else mutate(footer)
    else:
        pages = change_a_byte(pages, random) if random.random() < 0.7 else mutate(pages)
    return pages + footer + struct.pack("<I", len(footer)) + data[-4:]


def change_core(data: bytes, random: Random, mutate: Mutate) -> bytes:
    """A tokenizer as bytes changed behind its magic; or counts."""
    magic, newline, parts = data.partition(b"\n")
    if not magic.startswith(b"mergewise tokenizer"):
        return change_counts(data, random, mutate)
    change = change_a_byte(parts, random) if random.random() < 0.5 else mutate(parts)
    return magic + newline + change


def change_a_byte(data: bytes, random: Random) -> bytes:
    """One byte, or a few, replaced, so that all others keep their places."""
    changed = bytearray(data)
    for _ in range(random.choice([1, 1, 1, 2, 4]) if data else 0):
        place = random.randrange(len(changed))
        near = changed[place] + random.choice([-1, 1])
        changed[place] = random.choice([0, 1, 0x7F, 0x80, 0xFF, near % 256, random.randrange(256)])
    return bytes(changed)


CHANGES: dict[str, Callable[[bytes, Random, Mutate], bytes]] = {
    ".json": change_json,
    ".model": change_model,
    ".gguf": change_gguf,
    ".counts": change_counts,
    ".certificate": change_certificate,
    ".checkpoint": change_checkpoint,
    ".parquet": change_parquet,
    ".core": change_core,
}
