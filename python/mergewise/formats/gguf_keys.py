"""What GGUF names, for its reader and its writer: keys, kinds of tokens, cuts as steps."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Final

from mergewise.config import ROLES
from mergewise.formats.json_values import Json
from mergewise.formats.sentencepiece_writer import Kind
from mergewise.vocabulary import Search

PREFIX: Final = "tokenizer.ggml."
TEMPLATE: Final = "tokenizer.chat_template"
# What llama.cpp calls the tokens that have a role.
ROLE_KEYS: Final = dict(
    zip(ROLES, ("bos", "eos", "padding", "unknown", "seperator", "cls", "mask"), strict=True)
)
# The roles that SentencePiece's vocabularies have even if the file does not say so.
USUAL_ROLES: Final = {"bos_token": 1, "eos_token": 2, "unk_token": 0}
# How tokens of these kinds are found in texts; words become the others.
WAYS: Final[dict[int, str]] = {
    Kind.CONTROL: "special",
    Kind.UNKNOWN: "special",
    Kind.USER_DEFINED: "added",
}
BYTE_LEVEL: Final[Json] = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": False,
}
# Tokens of these texts are special whatever the file says of them.
SPECIAL: Final = (
    "<|eot_id|> <|im_end|> <|end|> <|return|> <|call|> <|flush|> <|calls|> <end_of_turn> </s> <eos>"
    " <|endoftext|> <|end_of_text|> <|eom_id|> <EOT> _<EOT> [EOT] [EOS] <end_of_utterance> <turn|>"
    " <|tool_response> <｜end▁of▁sentence｜> [e~["
    " <|fim_prefix|> <fim-prefix> <fim_prefix> <｜fim▁begin｜> <PRE> ▁<PRE> <|code_prefix|>"
    " <|prefix|> <|fim_suffix|> <fim-suffix> <fim_suffix> <｜fim▁hole｜> <SUF> ▁<SUF>"
    " <|code_suffix|> <|suffix|> <|fim_middle|> <fim-middle> <fim_middle> <｜fim▁end｜> <MID>"
    " ▁<MID> <|code_middle|> <|middle|> <|fim_pad|> <fim-pad> <fim_pad> <PAD> [PAD] <|fim_repo|>"
    " <|repo_name|> <fim-repo> <REPO> <reponame> <|file_sep|>"
)
# These are found in every text.
ALWAYS_FOUND: Final = "<|channel|> <|message|> <|start|> <|constrain|>"


def exceptional_ways(texts: AbstractSet[str]) -> dict[str, str]:
    """How tokens of certain texts are found, whatever the file says of them."""
    ways = dict.fromkeys(SPECIAL.split(), "special")
    ways.update(dict.fromkeys(ALWAYS_FOUND.split(), "added"))
    if texts & {"<|call|>", "<|calls|>"} and texts & {"<|return|>", "<|flush|>"}:
        ways["<|end|>"] = "added"
    if texts & {"<|tool_response>", "<|plamo:eos|>"}:
        ways["</s>"] = "plain"
    return ways


def split(regex: str) -> Json:
    """The step that cuts words by a regular expression and keeps what it does not match."""
    pattern = {"Regex": regex}
    return {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}


def searches(texts: Iterable[str], pre: str, name: str) -> dict[str, Search]:
    """Those special tokens that take white space beside them, which a model's name tells."""
    name = name.lower()
    if "phi-3" in name or "phi3" in name:
        plain = {"<unk>", "<s>", "<|endoftext|>"}
        return {text: Search(rstrip=True) for text in texts if text not in plain}
    mask = "[MASK]" if "modern-bert" in name else "<mask>"
    takes = pre in {"jina-v2-de", "jina-v2-es", "jina-v2-code"} or "modern-bert" in name
    return {mask: Search(lstrip=True)} if takes and mask in set(texts) else {}
