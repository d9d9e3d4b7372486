"""All commands and their arguments."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

from mergewise.cli.certifying import run_certify, run_verify
from mergewise.cli.completion import SCRIPTS, commands_of
from mergewise.cli.curvature import run_curvature
from mergewise.cli.decode import run_decode
from mergewise.cli.encode import run_encode
from mergewise.cli.explaining import run_explain
from mergewise.cli.improving import run_improve
from mergewise.cli.inspecting import run_inspect
from mergewise.cli.making import run_convert, run_count, run_train
from mergewise.cli.options import (
    INPUTS,
    Parser,
    add_counting,
    add_inputs,
    add_reading,
    add_reporting,
    add_tokenizer,
    add_training,
    text_and_id,
)
from mergewise.cli.reporting import run_report
from mergewise.cli.solving import run_solve
from mergewise.cli.trees import run_forest
from mergewise.demo import run_demo
from mergewise.formats import FORMATS
from mergewise.reporting import TIME_LIMIT

Maker: TypeAlias = Callable[..., Parser]


def make_parser() -> Parser:
    """The parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="mergewise",
        description="Train, apply, improve, solve and certify byte-pair encodings.",
        epilog="`mergewise COMMAND --help` has examples.",
    )
    parser.add_argument("--version", action="version", version=f"mergewise {version('mergewise')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(
        name: str,
        run: Callable[[argparse.Namespace], None],
        text: str,
        *examples: str,
        details: str = "",
    ) -> Parser:
        sub = commands.add_parser(
            name,
            help=text,
            description=textwrap.fill(f"{text[0].upper()}{text[1:]}.{details}", 79),
            epilog="\n  ".join(["examples:", *examples]),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        sub.set_defaults(run=run, refuse=sub.error)
        return sub

    add_making(command)
    add_encode(command)
    add_decode(command)
    add_solve(command)
    add_improve(command)
    add_certify(command)
    add_looking(command)
    add_pages(command)
    add_curvature(command)
    sub = command(
        "completion",
        lambda parsed: print_completion(parser, parsed.shell),
        "print a script with which a shell completes these commands",
        'eval "$(mergewise completion bash)"',
        "mergewise completion zsh > ~/.zfunc/_mergewise",
        "mergewise completion fish > ~/.config/fish/completions/mergewise.fish",
    )
    sub.add_argument("shell", choices=sorted(SCRIPTS))
    return parser


def parse(parser: Parser, arguments: list[str] | None) -> argparse.Namespace:
    """The arguments; a list of files may have options in its midst, which argparse does not see."""
    parsed, rest = parser.parse_known_args(arguments)
    files = getattr(parsed, "files", None)
    if rest and (files is None or any(word.startswith("-") and word != "-" for word in rest)):
        parsed.refuse(f"unrecognized arguments: {' '.join(rest)}")
    if files is not None:
        parsed.files = [*files, *rest] or ["-"]
    return parsed


def print_completion(parser: Parser, shell: str) -> None:
    """`mergewise completion`."""
    sys.stdout.write(SCRIPTS[shell](commands_of(parser)))


def add_making(command: Maker) -> None:
    """The commands that make something."""
    sub = command(
        "count",
        run_count,
        "count the words of texts",
        "mergewise count corpus/*.txt.zst --pattern cl100k -o corpus.counts",
        "zcat dump.gz | mergewise count - --documents lines -o dump.counts",
        "mergewise count monday.counts tuesday.counts -o both.counts",
    )
    add_counting(sub)
    sub.add_argument("--min-count", type=int, default=1, help="leave out rarer words")
    sub.add_argument("-o", "--output", type=Path, required=True, help="the file of counts")
    add_reporting(sub)
    sub = command(
        "train",
        run_train,
        "train a tokenizer on texts or on their counts",
        "mergewise train corpus.txt --vocab-size 32000 -o tokenizer.json",
        "mergewise train corpus.counts --merges 8000 --special '<|endoftext|>' -o tokenizer.json",
        "mergewise train counts/*.parquet --vocab-size 32000 -o tokenizer.json",
        "mergewise train corpus/ --pattern whitespace --vocab-size 16000 -o corpus.tiktoken",
    )
    add_counting(sub)
    add_training(sub)
    sub.add_argument("-o", "--output", type=Path, required=True, help="its name says the format")
    add_reporting(sub)
    add_convert(command)


def add_convert(command: Maker) -> None:
    """`mergewise convert`."""
    sub = command(
        "convert",
        run_convert,
        "write a tokenizer in another format",
        "mergewise convert tokenizer.json gpt.tiktoken",
        "mergewise convert spm.model tokenizer.json --from sentencepiece",
        "mergewise convert my.tiktoken tokenizer.json --pattern cl100k --special '<|end|>=100257'",
        details=" What the other format cannot say is refused.",
    )
    add_tokenizer(sub, metavar="INPUT")
    sub.add_argument("output", type=Path, metavar="OUTPUT", help="its name says the format")
    sub.add_argument(
        "--to", choices=sorted(FORMATS), metavar="FORMAT", help="of OUTPUT, as for --from"
    )
    sub.add_argument(
        "--special",
        dest="special_tokens",
        type=text_and_id,
        action="append",
        metavar="TEXT=ID",
        help="a special token, in the place of those of the file",
    )
    sub.add_argument("--lossy", action="store_true", help="leave out what cannot be said")
    sub.add_argument("--json", action="store_true", help="print the result as JSON")


def add_encode(command: Maker) -> None:
    """`mergewise encode`."""
    sub = command(
        "encode",
        run_encode,
        "write the ids of texts",
        "mergewise encode tokenizer.json < in.txt > ids.txt",
        "mergewise encode tokenizer.json --lines --pieces in.txt",
        "mergewise encode tokenizer.json corpus/ -o ids.npy --end-of-document '<|endoftext|>'",
        details=" Without -o they go to standard output with spaces between them: a line for each "
        "file, for each record of .jsonl and .parquet, or, with --lines, for each line of text.",
    )
    add_tokenizer(sub)
    sub.add_argument("files", nargs="*", default=[], metavar="FILE", help=f"{INPUTS} (default -)")
    sub.add_argument(
        "--lines",
        action="store_true",
        help="a line of ids for each line of text, whose newline is not encoded",
    )
    sub.add_argument("--pieces", action="store_true", help="tokens, not ids; a space is \u2581")
    specials = sub.add_mutually_exclusive_group()
    specials.add_argument("--special", action="store_true", help="find special tokens in the text")
    specials.add_argument(
        "--ordinary", action="store_true", help="their text is text (default: it is an error)"
    )
    sub.add_argument(
        "-o", "--output", type=Path, help="write an array: .npy, or else the bare numbers"
    )
    sub.add_argument("--end-of-document", metavar="TOKEN", help="put behind each (with -o)")
    sub.add_argument(
        "--documents",
        choices=["file", "lines"],
        help="where documents end (with -o); a line keeps its newline (default file)",
    )
    sub.add_argument(
        "--dtype", choices=["uint16", "uint32"], help="(with -o; default: the smallest)"
    )
    sub.add_argument("--field", default="text", help="of .jsonl and .parquet (default text)")
    sub.add_argument("--threads", type=int, default=0, help="0: all cores")
    add_reporting(sub)


def add_decode(command: Maker) -> None:
    """`mergewise decode`."""
    sub = command(
        "decode",
        run_decode,
        "write the text of ids",
        "mergewise decode tokenizer.json < ids.txt",
        "echo 464 3290 | mergewise decode tokenizer.json",
        "mergewise encode t.json --lines < a.txt | mergewise decode t.json --lines",
        details=" They come from standard input, with white space between them, and are decoded as "
        "they come.",
    )
    add_tokenizer(sub)
    sub.add_argument("--lines", action="store_true", help="a line of text for each line of ids")


def add_solve(command: Maker) -> None:
    """`mergewise solve`."""
    sub = command(
        "solve",
        run_solve,
        "find the best merges of all, and prove it",
        'mergewise solve "abaabbaa" --merges 2',
        "mergewise solve --counts corpus.counts --merges 10 --time-limit 60 -o best.json",
        details=" A text is taken over its characters and without words. When time or nodes run "
        "out, or at Ctrl-C, the best merges so far are shown, and a bound that no others exceed.",
    )
    sub.add_argument("text", nargs="?", metavar="TEXT", help="the text itself, not a file")
    sub.add_argument("--counts", type=Path, metavar="FILE", help="or a file of counts")
    sub.add_argument("--merges", type=int, required=True, help="how many")
    sub.add_argument(
        "--alphabet", choices=["bytes", "chars"], help="(default chars for a text, else bytes)"
    )
    sub.add_argument(
        "--method",
        choices=["branch-and-bound", "guarded", "brute-force"],
        default="branch-and-bound",
        help="the last two are the paper's",
    )
    sub.add_argument("--time-limit", type=float, metavar="SECONDS")
    sub.add_argument("--node-limit", type=int, metavar="NODES")
    sub.add_argument("--threads", type=int, default=0, help="0: all cores")
    sub.add_argument("-o", "--output", type=Path, help="write the merges as a tokenizer")
    add_reporting(sub)


def add_improve(command: Maker) -> None:
    """`mergewise improve`."""
    sub = command(
        "improve",
        run_improve,
        "find merges that make fewer tokens, as many as before",
        "mergewise improve tokenizer.json corpus.txt --time-limit 300 -o better.json",
        "mergewise improve tokenizer.json corpus.txt --held-out -o better.json",
        "mergewise improve ranks.tiktoken corpus.counts --moves 1000000 -o better.tiktoken",
        details=" Texts are cut into words as the tokenizer does. Ctrl-C ends the search, and the "
        "best merges so far are kept. With --moves the result is the same on every machine.",
    )
    add_tokenizer(sub)
    add_inputs(sub)
    sub.add_argument("--time-limit", type=float, metavar="SECONDS", help="(default 60)")
    sub.add_argument("--moves", type=int, help="try so many, in the place of a time limit")
    sub.add_argument("--seed", type=int, default=0, help="of the random numbers (default 0)")
    sub.add_argument(
        "--target",
        choices=["pairs", "ranks"],
        help="what the merges mean: pairs as in tokenizer.json, ranks as in tiktoken's files "
        "(default: as now)",
    )
    sub.add_argument(
        "--pin", action="append", default=[], metavar="TOKEN", help="a token that stays"
    )
    sub.add_argument("--max-token-length", type=int, help="of new tokens, in bytes")
    sub.add_argument(
        "--held-out", action="store_true", help="leave out a tenth, and measure on it too"
    )
    sub.add_argument(
        "--certify",
        type=float,
        default=20.0,
        metavar="SECONDS",
        help="search so long for a proof of what is left to gain; 0: not at all (default 20)",
    )
    sub.add_argument("-o", "--output", type=Path, required=True, help="its name says the format")
    add_reporting(sub)


def add_certify(command: Maker) -> None:
    """`mergewise certify` and `mergewise verify`."""
    sub = command(
        "certify",
        run_certify,
        "prove how far a tokenizer can be from the best of its size",
        "mergewise certify tokenizer.json corpus.txt --time-limit 60",
        "mergewise certify tokenizer.json corpus.counts --against merges --save tok.cert",
        details=" Texts are cut into words as the tokenizer does. Ctrl-C ends the search for a "
        "better proof, and the best so far is shown.",
    )
    add_tokenizer(sub)
    add_inputs(sub)
    sub.add_argument(
        "--against",
        choices=["merges", "vocabularies", "both"],
        default="both",
        help="all merge lists of its length, all vocabularies of its size (default both)",
    )
    sub.add_argument(
        "--time-limit", type=float, default=60.0, metavar="SECONDS", help="(default 60)"
    )
    sub.add_argument("--save", type=Path, metavar="FILE", help="keep the certificate")
    add_reporting(sub)
    sub = command(
        "verify",
        run_verify,
        "check the proof of a certificate",
        "mergewise verify tok.cert corpus.txt",
        "mergewise verify tok.cert corpus.counts --tokenizer tokenizer.json --formal",
    )
    sub.add_argument("certificate", type=Path, metavar="CERTIFICATE")
    add_inputs(sub)
    sub.add_argument("--tokenizer", type=Path, metavar="FILE", help="check its utility too")
    add_reading(sub)
    sub.add_argument(
        "--formal", action="store_true", help="by the short reference program (slow, independent)"
    )
    add_reporting(sub)


def add_looking(command: Maker) -> None:
    """The commands that show something."""
    sub = command(
        "inspect",
        run_inspect,
        "show what is in a tokenizer",
        "mergewise inspect tokenizer.json",
        "mergewise inspect ranks.tiktoken --pattern cl100k --json",
    )
    add_tokenizer(sub)
    sub.add_argument("--json", action="store_true", help="print the result as JSON")
    sub = command(
        "forest",
        run_forest,
        "draw the merge trees of a text",
        'mergewise forest "abaabacbcb" --merges 4',
        'mergewise forest "lowest of the low" --tokenizer tokenizer.json',
        details=" The merges are those of a tokenizer, or are trained on the text itself, over its "
        "characters and without words.",
    )
    sub.add_argument("text", metavar="TEXT", help="the text itself, not a file")
    merges = sub.add_mutually_exclusive_group(required=True)
    merges.add_argument("--merges", type=int, help="train so many on the text itself")
    merges.add_argument("--tokenizer", type=Path, metavar="FILE", help="or use its merges")
    add_reading(sub)
    sub.add_argument("--json", action="store_true", help="trees as strings and lists of two")
    command(
        "demo",
        lambda _: run_demo(sys.stdout),
        "show what mergewise does, on a text inside the package",
        "mergewise demo",
        "mergewise demo | less -R",
    )


def add_pages(command: Maker) -> None:
    """`mergewise report` and `mergewise explain`."""
    sub = command(
        "report",
        run_report,
        "make a page on what a tokenizer does to a corpus",
        "mergewise report tokenizer.json corpus.txt -o report.html",
        "mergewise report tokenizer.json en.txt de.txt code/ -o report.html --no-certify",
        "mergewise report new.json corpus.txt --compare old.json --time-limit 60 -o both.html",
        details=" Every file is a part of the corpus with its own row. The page is one file and "
        "needs no network; in it one can type a text and see its tokens and their trees.",
    )
    add_tokenizer(sub)
    add_inputs(sub)
    sub.add_argument("-o", "--output", type=Path, required=True, help="the page")
    sub.add_argument("--compare", type=Path, metavar="FILE", help="another tokenizer, beside it")
    sub.add_argument(
        "--time-limit",
        type=float,
        default=TIME_LIMIT,
        metavar="SECONDS",
        help="for proofs of how few tokens are possible, of each tokenizer "
        f"(default {TIME_LIMIT:g})",
    )
    sub.add_argument("--no-certify", action="store_true", help="make no proofs")
    add_reporting(sub)
    sub = command(
        "explain",
        run_explain,
        "show greedy training step by step: the list, the heap, the positions",
        'mergewise explain "picked pickled pickles" --merges 5',
        'mergewise explain "picked pickled pickles" --merges 5 -o explain.html',
        'mergewise explain "abaabbaa" --merges 2 --svg steps/',
        details=" A text is taken over its characters and without words.",
    )
    sub.add_argument("text", metavar="TEXT", help="the text itself, not a file")
    sub.add_argument("--merges", type=int, required=True, help="how many")
    sub.add_argument("-o", "--output", type=Path, help="write a page, forward and back by keys")
    sub.add_argument("--svg", type=Path, metavar="FOLDER", help="write a drawing of each step")
    sub.add_argument("--json", action="store_true", help="print the steps as JSON")


def add_curvature(command: Maker) -> None:
    """`mergewise curvature`."""
    sub = command(
        "curvature",
        run_curvature,
        "measure how far greedy can be from the optimum: the paper's σ",
        'mergewise curvature "abaabbaa" --merges 2',
        "mergewise curvature --enumerate --length 12 --alphabet 3 --merges 3",
        "mergewise curvature --enumerate --length 12 --alphabet 5 --merges 4 --tables",
        "mergewise curvature --enumerate --length 15 --alphabet 5 --merges 4 --checkpoint run.json",
        details=" Of one text, over its characters and without words; or the extremes over all "
        "strings, for every number of merges up to M.",
    )
    sub.add_argument("text", nargs="?", metavar="TEXT", help="the text itself, not a file")
    sub.add_argument("--merges", type=int, required=True, metavar="M", help="how many merges")
    sub.add_argument("--time-limit", type=float, metavar="SECONDS", help="(with TEXT)")
    sub.add_argument("--enumerate", action="store_true", help="look at all strings")
    sub.add_argument("--length", type=int, metavar="N", help="of the longest strings")
    sub.add_argument("--alphabet", type=int, metavar="K", help="how many letters they have at most")
    sub.add_argument(
        "--columns",
        choices=["all", "sigma", "ratio"],
        default="all",
        help="curvatures, greedy over optimum, or both (default all)",
    )
    sub.add_argument("--tables", action="store_true", help="print all smaller sizes, too")
    sub.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FILE",
        help="written every minute and at Ctrl-C; started again, the work goes on from it",
    )
    sub.add_argument("--threads", type=int, default=0, help="0: all cores")
    add_reporting(sub)
