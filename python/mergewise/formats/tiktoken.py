"""tiktoken's ranks: a line for each token, its bytes in base64 and its id.

The file has neither the pattern nor the special tokens. `x.tiktoken.json` beside `x.tiktoken` has
both, as the arguments of `tiktoken.Encoding`; OpenAI's own files are recognised by their SHA-256.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from mergewise import _core
from mergewise.errors import ConversionError
from mergewise.formats.json_values import parse
from mergewise.formats.merging import check_bytes, check_special_ids
from mergewise.formats.reading import Reading, Unset, first_lines, shown
from mergewise.formats.regexes import Cut, from_tiktoken, nameless, refers_to_groups, to_tiktoken
from mergewise.formats.tables import StringTable
from mergewise.formats.unsupported import plain_losses
from mergewise.vocabulary import Vocabulary

LINE: Final = re.compile(rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)? \d+\r?")
END_OF_TEXT: Final = "<|endoftext|>"
END_OF_PROMPT: Final = "<|endofprompt|>"
# Patterns and special tokens of r50k_base (also GPT-2's), p50k_base, cl100k_base, o200k_base and
# Whisper's models of 99 languages.
GPT2: Final = ("gpt2", {END_OF_TEXT: 50256})
FIM: Final = {"<|fim_prefix|>": 100258, "<|fim_middle|>": 100259, "<|fim_suffix|>": 100260}
CL100K: Final = ("cl100k", {END_OF_TEXT: 100257, **FIM, END_OF_PROMPT: 100276})
O200K: Final = ("o200k", {END_OF_TEXT: 199999, END_OF_PROMPT: 200018})
# Those of Whisper: the languages, the tasks, and times from 0 to 30 seconds.
LANGUAGES: Final = (
    "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th "
    "ur hr bg lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr "
    "pa si km sn yo so af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt "
    "haw ln ha ba jw su"
)
TASKS: Final = "translate transcribe startoflm startofprev nospeech notimestamps"
WHISPER_NAMES: Final = (
    *f"endoftext startoftranscript {LANGUAGES} {TASKS}".split(),
    *(f"{0.02 * index:.2f}" for index in range(1501)),
)
WHISPER: Final = ("gpt2", {f"<|{name}|>": 50257 + i for i, name in enumerate(WHISPER_NAMES)})
PUBLISHED: Final[dict[str, tuple[str, dict[str, int]]]] = {
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": GPT2,
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": GPT2,
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": CL100K,
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": O200K,
    "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126": WHISPER,
}


def looks_like(head: bytes, _path: Path) -> bool:
    """Whether the first lines are base64 and a number."""
    return all(LINE.fullmatch(line) for line in first_lines(head))


def read(reading: Reading) -> Vocabulary:
    """The vocabulary of a file of ranks."""
    data = reading.read_bytes()
    found = parsed_ranks(reading, data)
    ranks = found.tokens
    check_bytes(reading, ranks.single_bytes(), place="the tokens")
    cut, special_tokens = read_settings(reading, data)
    check_special_ids(reading, special_tokens, ranks.taken(list(special_tokens.values())))
    vocabulary = ranked_vocabulary(StringTable(ranks), cut, special_tokens)
    return replace(vocabulary, written=dict.fromkeys(found.empty_ids, ""))


def settled_vocabulary(
    reading: Reading, ranks: Mapping[bytes, int], pattern: str, special_tokens: Mapping[str, int]
) -> Vocabulary:
    """The vocabulary of the arguments of `tiktoken.Encoding`."""
    check_bytes(reading, ranks, place="the tokens")
    check_special_ids(reading, special_tokens, ranks.values())
    tokens = {token: rank for token, rank in ranks.items() if token}
    vocabulary = ranked_vocabulary(tokens, from_tiktoken(nameless(pattern)), dict(special_tokens))
    return replace(vocabulary, written={ranks[b""]: ""} if b"" in ranks else {})


def parsed_ranks(reading: Reading, data: bytes) -> _core.Ranks:
    """The tokens and their ranks."""
    ranks = _core.Ranks(data)
    if ranks.first_fault is None:
        return ranks
    number, fault = ranks.first_fault
    found = shown(data.split(b"\n", number)[number - 1])
    if fault == "line":
        raise reading.wrong(f"line {number}", found, "a token in base64 and an id")
    found = f"{found}, whose {fault} stands before"
    raise reading.wrong(f"line {number}", found, "tokens and ids that are all different")


def ranked_vocabulary(
    ranks: Mapping[bytes, int], cut: Cut, special_tokens: dict[str, int], *, first_id: int = 0
) -> Vocabulary:
    """The vocabulary of tokens with these ranks, whose ids are the ranks plus `first_id`."""
    return Vocabulary(
        tokens={token: rank + first_id for token, rank in ranks.items()} if first_id else ranks,
        ranks=ranks,
        whole_words=True,
        pattern=cut.pattern,
        drops_gaps=cut.drops_gaps,
        special_tokens=special_tokens,
    )


def read_settings(reading: Reading, data: bytes) -> tuple[Cut, dict[str, int]]:
    """How texts are cut, and the special tokens: as the caller says, or as is known of the file."""
    regex, special_tokens = reading.pattern, reading.special_tokens
    if isinstance(regex, Unset) or isinstance(special_tokens, Unset):
        known = settings_beside(reading) or PUBLISHED.get(hashlib.sha256(data).hexdigest())
        if known is None and isinstance(regex, Unset):
            found = "ranks that are none of OpenAI's, and no file of their settings beside them"
            raise reading.wrong("", found, "a pattern", hint="give_pattern")
        known_regex, known_tokens = known or (None, {})
        regex = known_regex if isinstance(regex, Unset) else regex
        special_tokens = known_tokens if isinstance(special_tokens, Unset) else special_tokens
    return from_tiktoken(regex), dict(special_tokens)


def settings_path(path: Path) -> Path:
    """The file of settings beside a file of ranks."""
    return path.with_name(path.name + ".json")


def settings_beside(reading: Reading) -> tuple[str, dict[str, int]] | None:
    """The settings in the file beside the ranks, if there is one."""
    path = settings_path(reading.path)
    if not os.path.exists(path):  # noqa: PTH110 - False, too, if its name would be too long
        return None
    settings = parse(Reading(path=path))
    return nameless(settings["pat_str"].text()), settings["special_tokens"].ids()


def losses(vocabulary: Vocabulary) -> list[str]:
    """What ranks and the settings beside them cannot represent of a vocabulary."""
    fields = ("normalize", "prefix_space", "mark_is_space", "end_of_word", "added_tokens")
    found = plain_losses(vocabulary, "bytes", *fields)
    ids = [vocabulary.tokens[left + right] for left, right in vocabulary.merges or ()]
    first = dict.fromkeys(ids)
    if list(first) != sorted(first):
        found.append("its tokens merge in the order of their ids, which is not that of the merges")
    if refers_to_groups(vocabulary.pattern) and not vocabulary.drops_gaps:
        found.append("it cannot keep what a pattern with numbered or named groups does not match")
    return found


def files_of(vocabulary: Vocabulary, path: Path) -> dict[Path, bytes]:
    """The ranks, and their settings beside them."""
    if vocabulary.alphabet == "chars":
        raise ConversionError(f"{path}: ranks of tiktoken are of bytes, found characters")
    by_id = sorted(vocabulary.tokens.items(), key=lambda item: item[1])
    lines = [base64.b64encode(token) + b" %d\n" % token_id for token, token_id in by_id]
    settings = {
        "pat_str": to_tiktoken(vocabulary.pattern, drops_gaps=vocabulary.drops_gaps),
        "special_tokens": dict(vocabulary.special_tokens),
    }
    text = json.dumps(settings, ensure_ascii=False, indent=1) + "\n"
    return {settings_path(path): text.encode(), path: b"".join(lines)}
