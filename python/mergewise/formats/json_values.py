"""JSON values with their place in the document, which errors name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, TypeVar

from mergewise.errors import FormatError
from mergewise.formats.reading import HEAD_BYTES, LARGEST_ID, Reading, decoded, is_id, shown

Json = dict[str, Any]
T = TypeVar("T")
OBJECT_START = re.compile(rb'[ \t\r\n]*\{[ \t\r\n]*["}]')
HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")


class Value:
    """A value in a JSON document.

    >>> from pathlib import Path
    >>> document = Value(Reading(path=Path("x.json")), {"model": {"merges": ["a b", 7]}})
    >>> document["model"]["merges"].items()[1].text()
    Traceback (most recent call last):
    ...
    mergewise.errors.FormatError: x.json: model.merges[1]: found 7, expected a string
    """

    __slots__ = ("place", "raw", "reading")

    def __init__(self, reading: Reading, raw: Any, place: str = "") -> None:  # noqa: ANN401
        self.reading = reading
        self.raw = raw
        self.place = place

    def wrong(self, expected: str, *, hint: str = "") -> FormatError:
        """The error that this value is not what was expected."""
        return self.reading.wrong(self.place, shown(self.raw), expected, hint=hint)

    def leave_out(self, expected: str) -> None:
        """Refuse this value, or warn and continue without it if lossy."""
        self.reading.leave_out(self.place, shown(self.raw), expected)

    def at(self, key: str | int, raw: Any) -> Value:  # noqa: ANN401
        """The member or item `key` of this value, which is `raw`."""
        if isinstance(key, int):
            place = f"{self.place}[{key}]"
        elif key.isidentifier():
            place = f"{self.place}.{key}" if self.place else key
        else:
            place = f"{self.place}[{shown(key)}]"
        return Value(self.reading, raw, place)

    def get(self, key: str) -> Value:
        """The member of an object; null if there is none."""
        return self.at(key, self.object().get(key))

    def __getitem__(self, key: str) -> Value:
        if key not in self.object():
            place = self.at(key, None).place
            raise self.reading.wrong(place, "nothing", "a value")
        return self.get(key)

    def items(self) -> list[Value]:
        """The items of the list that this is."""
        return [self.at(index, raw) for index, raw in enumerate(self.list())]

    def checked(self, kind: type[T], expected: str, default: T | None = None) -> T:
        """The value itself, if it is of this type; null means `default`, if there is one."""
        raw = default if self.raw is None else self.raw
        if not isinstance(raw, kind):
            raise self.wrong(expected)
        return raw

    def object(self) -> Json:
        """The object that this is."""
        return self.checked(dict, "an object")

    def list(self) -> list[Any]:
        """The list that this is."""
        return self.checked(list, "a list")

    def text(self, *, default: str | None = None) -> str:
        """The string that this is; null means `default`, if there is one."""
        return self.checked(str, "a string", default)

    def flag(self, *, default: bool = False) -> bool:
        """The boolean that this is; null means `default`."""
        return self.checked(bool, "true or false", default)

    def ids(self) -> dict[str, int]:
        """The object of ids that this is."""
        for key, raw in self.object().items():
            if not is_id(raw):
                self.at(key, raw).id()
        return self.object()

    def id(self) -> int:
        """The id that this is."""
        if not is_id(self.raw):
            raise self.wrong(f"an id from 0 to {LARGEST_ID}")
        return int(self.raw)


def parse(reading: Reading) -> Value:
    """The JSON object in a file."""
    return parse_text(reading, decoded(reading, read_object(reading)))


def read_object(reading: Reading) -> bytes:
    """The bytes of a file that begins as a JSON object does."""
    with reading.open() as file:
        data = file.read(HEAD_BYTES)
        # Files that only open brackets, however many, are refused before they are parsed.
        if not OBJECT_START.match(data):
            raise reading.wrong("offset 0", shown(data[:20]), "a JSON object")
        return data + file.read()


def parse_text(reading: Reading, text: str) -> Value:
    """The JSON object in a text."""
    try:
        document = json.loads(text, object_pairs_hook=without_duplicates)
        is_whole = not HALF_CHARACTER.search(text) or is_encodable(document)
    except RecursionError:
        raise reading.wrong("", "JSON that is nested too deeply", "a tokenizer") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise reading.wrong(place, f"no JSON ({error.msg})", "JSON") from None
    except ValueError as error:
        raise reading.wrong("", str(error), "a tokenizer") from None
    root = Value(reading, document)
    if not is_whole:
        value = next(value for value in strings(root) if not is_encodable(value.raw))
        raise value.wrong("a string of whole characters")
    return root


def is_encodable(document: object) -> bool:
    """Whether all strings are valid Unicode; escapes of JSON can write half of a character."""
    try:
        json.dumps(document, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def without_duplicates(pairs: list[tuple[str, Any]]) -> Json:
    """An object; refuses keys that occur twice."""
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = sorted(key for key, _ in pairs)
        twice = next(key for key, other in pairwise(keys) if key == other)
        raise ValueError(f"the key {shown(twice)} twice in one object")
    return made


def strings(root: Value) -> Iterator[Value]:
    """Every string of a document, including keys."""
    pending = [root]
    while pending:
        value = pending.pop()
        if isinstance(value.raw, str):
            yield value
        elif isinstance(value.raw, list):
            pending.extend(value.items())
        elif isinstance(value.raw, dict):
            for key, raw in value.raw.items():
                yield value.at("a key", key)
                pending.append(value.at(key, raw))
