"""`mergewise encode`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from mergewise.arguments import check_num_threads
from mergewise.cli.corpora import files_among, tell_awaited
from mergewise.cli.options import INPUTS, STANDARD_OUTPUT, Parser, keywords
from mergewise.cli.output import put_facts
from mergewise.cli.tokenizers import add_tokenizer, read_tokenizer
from mergewise.drawing import shown
from mergewise.errors import MergewiseError
from mergewise.sources import Source, check_output, documents_of, find_sources
from mergewise.tokenizer import Tokenizer

LAYOUT = (
    "offsets",
    "add_special_tokens",
    "shards",
    "shard_tokens",
    "validation",
    "skip_bad",
    "manifest",
)
# Those of which there are several files.
SEVERAL_FILES = ("offsets", "shards", "shard_tokens", "validation", "manifest")
# Names of text, which an array is not.
TEXTS = {".txt", ".csv", ".tsv", ".json", ".jsonl"}
# The text that is encoded before its ids are written: as Python integers they take more memory.
GROUP_BYTES = 1 << 21


def add_encode(parser: Parser) -> None:
    """The arguments of `mergewise encode`.

    Without -o the ids go to standard output with spaces between them: a line for each file,
    each record of .jsonl and .parquet, or, with --lines, each line of text.

    Examples:
      mergewise encode tokenizer.json < in.txt > ids.txt
      mergewise encode tokenizer.json --lines --pieces in.txt
      mergewise encode tokenizer.json corpus/ -o ids.npy --end-of-document '<|endoftext|>'
      mergewise encode t.json a.jsonl -o a.bin --format megatron --shard-tokens 1000000000
    """
    add_tokenizer(parser)
    text = f"{INPUTS} (default -)"
    parser.add_argument("files", nargs="*", default=[], metavar="FILE", help=text)
    text = "a line of ids for each line of text, whose newline is not encoded"
    parser.add_flag("--lines", text)
    parser.add_flag("--pieces", "write tokens, not ids; a space is \u2581")
    add_allowed(parser)
    text = "write an array: .npy, or with another name the bare numbers"
    parser.add_output(text, is_required=False)
    text = "a token to put after each document (with -o)"
    parser.add_argument("--end-of-document", metavar="TOKEN", help=text)
    text = "where a document ends (with -o); a line keeps its newline (default file)"
    parser.add_choice("--documents", ["file", "lines"], text)
    text = "the type of the array (with -o; default: the smallest)"
    parser.add_choice("--dtype", ["uint16", "uint32"], text)
    add_layout(parser)
    parser.add_field()
    parser.add_threads()
    parser.add_reporting()


def add_allowed(parser: Parser) -> None:
    """What becomes of special tokens in the text."""
    more: Any = {"dest": "allowed_special", "action": "append", "metavar": "TOKEN"}
    text = "a special token to find in the text, or all; give it again for another"
    parser.add_argument("--allow-special", help=text, **more)
    text = "encode all others like any other text (default: they are an error)"
    parser.add_flag("--ordinary", text)


def add_layout(parser: Parser) -> None:
    """The arguments of `mergewise encode` about the files of ids, which need -o."""
    text = "the format of the files (default: npy for .npy, else bin, the bare numbers)"
    # --from, the format of the tokenizer, has the name `format`.
    names = ["npy", "bin", "megatron"]
    parser.add_argument("--format", choices=names, dest="token_format", help=text)
    parser.add_flag("--offsets", "also write where documents begin, to .offsets.npy")
    parser.add_flag("--add-special-tokens", "what the tokenizer puts around a text")
    text = "write N files, each with the same share of the inputs"
    parser.add_number("--shards", text, 1, metavar="N")
    text = "begin another file behind the document that makes one this long"
    parser.add_number("--shard-tokens", text, 1, metavar="N")
    text = "the part of the documents to write to files of their own, such as 0.01"
    parser.add_argument("--validation", type=float, metavar="PART", help=text)
    text = "leave out lines that are no records, and documents that cannot be encoded"
    parser.add_flag("--skip-bad", f"{text}, unless they are long and read in parts")
    parser.add_flag("--manifest", "list also one file in a manifest, in .json")


def run_encode(parsed: argparse.Namespace) -> None:
    """`mergewise encode`."""
    check_options(parsed)
    check_num_threads(parsed.num_threads)
    tokenizer = read_tokenizer(parsed)
    tell_awaited(parsed.files, "a text")
    if parsed.output is not None:
        write_array(tokenizer, parsed)
        return
    documents = DocumentWriter(shown_item(tokenizer, parsed), as_json=parsed.json)
    for source in find_sources(parsed.files):
        for ids, is_end in encoded(tokenizer, source, parsed):
            documents.write(ids, is_end=is_end)


def check_options(parsed: argparse.Namespace) -> None:
    """Exit with status 2 if an option has no meaning with the others."""
    for name in ("lines", "pieces"):
        if parsed.output is not None and getattr(parsed, name):
            parsed.refuse(f"--{name} does not go with -o")
    if parsed.output is None and parsed.token_format:
        parsed.refuse("--format needs -o")
    if parsed.output and not parsed.token_format and parsed.output.suffix.lower() in TEXTS:
        found = parsed.output.name
        words = f"-o writes an array, found {found!r}; hint: leave -o out to write ids as text"
        parsed.refuse(f"{words} (`> {found}`), or give --format bin")
    if parsed.output == STANDARD_OUTPUT:
        several = [name.replace("_", "-") for name in SEVERAL_FILES if getattr(parsed, name)]
        several += [f"format {name}" for name in [parsed.token_format] if name == "megatron"]
        if several:
            parsed.refuse(f"--{several[0]} makes several files, which standard output cannot be")
    for name in ("end_of_document", "documents", "dtype", *LAYOUT):
        if parsed.output is None and getattr(parsed, name):
            parsed.refuse(f"--{name.replace('_', '-')} needs -o")


def special_choice(parsed: argparse.Namespace) -> dict[str, Any]:
    """How special tokens in the text are encoded, as arguments of `encode`."""
    given = parsed.allowed_special or []
    allowed = "all" if "all" in given else set(given)
    return {"allowed_special": allowed, **({"disallowed_special": ()} if parsed.ordinary else {})}


def write_array(tokenizer: Tokenizer, parsed: argparse.Namespace) -> None:
    """The ids as an array on disk."""
    check_output(parsed.output, files_among(parsed.tokenizer))
    written = tokenizer.encode_files(
        parsed.files,
        parsed.output,
        documents=parsed.documents or "file",
        format=parsed.token_format,
        **keywords(parsed, "end_of_document", "field", "dtype", "num_threads", "progress"),
        **keywords(parsed, *LAYOUT),
        **special_choice(parsed),
    )
    sizes = {"tokens": written.num_tokens, "documents": written.num_documents}
    if written.shards:
        sizes["files"] = len(written.shards)
    if parsed.skip_bad:
        sizes["skipped"] = written.num_skipped
        for told in written.skipped:
            sys.stderr.write(f"left out: {told}\n")
    put_facts({**sizes, "dtype": written.dtype}, as_json=parsed.json)


def shown_item(tokenizer: Tokenizer, parsed: argparse.Namespace) -> Callable[[int], str]:
    """The function from an id to what is written: itself, or its token."""
    if not parsed.pieces:
        return cache(str)
    if parsed.json:
        return cache(
            lambda i: json.dumps(tokenizer.token_bytes(i).decode(errors="surrogateescape"))
        )
    return cache(lambda i: shown(tokenizer.token_bytes(i)))


class DocumentWriter:
    """Writes a line for each document, whose ids may come in parts."""

    def __init__(self, item: Callable[[int], str], *, as_json: bool) -> None:
        self.item = item
        self.opening, self.separator, self.end = ("[", ", ", "]\n") if as_json else ("", " ", "\n")
        self.is_new = True

    def write(self, ids: list[int], *, is_end: bool) -> None:
        """Write some more ids of the document, or the last."""
        parts = []
        if self.is_new and (ids or is_end):
            parts.append(self.opening)
        elif ids:
            parts.append(self.separator)
        parts.append(self.separator.join(map(self.item, ids)))
        self.is_new = is_end or (self.is_new and not ids)
        if is_end:
            parts.append(self.end)
        sys.stdout.write("".join(parts))


class Place:
    """Where in a source the next text begins, as an error names it."""

    def __init__(self, source: Source, *, by_lines: bool) -> None:
        self.name = "standard input" if str(source.path) == "-" else str(source.path)
        self.unit = "record" if source.kind != "text" else "line" if by_lines else None
        self.num_documents = 0
        self.num_bytes = 0

    def pass_by(self, texts: Sequence[bytes], ends: Sequence[bool]) -> None:
        """Go on behind these texts."""
        self.num_documents += sum(ends)
        self.num_bytes += sum(map(len, texts))

    def locate(self, error: MergewiseError, texts: Sequence[bytes], ends: Sequence[bool]) -> None:
        """Give an error about one of the next texts its place in the source."""
        index, error.document = error.document or 0, None
        error.path = self.name
        if self.unit is not None:
            error.place = f"{self.unit} {self.num_documents + sum(ends[:index]) + 1}"
        elif error.offset is not None:
            error.offset += self.num_bytes + sum(map(len, texts[:index]))


def encoded(
    tokenizer: Tokenizer, source: Source, parsed: argparse.Namespace
) -> Iterator[tuple[list[int], bool]]:
    """The ids of each text of a source, and whether a document ends with it."""
    by_lines = parsed.lines and source.kind == "text"
    place = Place(source, by_lines=by_lines)
    # Parts of a document are encoded one by one, so nothing is put around them.
    choice = {**special_choice(parsed), "add_special_tokens": False}
    batches = documents_of(
        source,
        tokenizer=tokenizer.core,
        documents="lines" if by_lines else "file",
        **keywords(parsed, "field"),
    )
    for batch, is_end in batches:
        all_texts = [text.removesuffix(b"\n") for text in batch] if by_lines else batch
        for texts, ends in groups_of(all_texts, is_end=is_end):
            try:
                batch_ids = tokenizer.encode_batch(texts, num_threads=parsed.num_threads, **choice)
            except MergewiseError as error:
                # The texts before the wrong one are written.
                right = texts[: error.document]
                yield from zip(tokenizer.encode_batch(right, **choice), ends, strict=False)
                place.locate(error, texts, ends)
                raise
            yield from zip(batch_ids, ends, strict=True)
            place.pass_by(texts, ends)
        # Write all ids so far before waiting for more input.
        sys.stdout.flush()


def groups_of(
    texts: Sequence[bytes], *, is_end: bool
) -> Iterator[tuple[Sequence[bytes], list[bool]]]:
    """Texts in groups of a few megabytes, and whether a document ends with each."""
    start = size = 0
    for end, text in enumerate(texts, start=1):
        size += len(text)
        if size >= GROUP_BYTES or end == len(texts):
            ends = [True] * (end - start - 1) + [is_end or end < len(texts)]
            yield texts[start:end], ends
            start, size = end, 0
