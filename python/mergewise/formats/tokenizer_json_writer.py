"""Writing HuggingFace's tokenizer.json."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from mergewise.errors import ConversionError
from mergewise.formats.huggingface_decoders import is_sentencepiece, written_decoder
from mergewise.formats.json_values import Json
from mergewise.formats.letters import BYTE_NAMES, MARK, from_letters
from mergewise.formats.naming import names_of, names_of_words, prefix_of, writer_of
from mergewise.formats.post_processors import (
    written_padding,
    written_processor,
    written_truncation,
)
from mergewise.formats.regexes import METASPACE, to_oniguruma
from mergewise.formats.unsupported import losses_of_unused, named
from mergewise.vocabulary import Search, Step, Vocabulary


def losses(vocabulary: Vocabulary) -> list[str]:
    """What tokenizer.json cannot represent of a vocabulary."""
    if is_sentencepiece(vocabulary.normalizer or ()):
        return ["it has no step that does what the normalizer of a SentencePiece model does"]
    if vocabulary.steps is not None:
        return losses_of_tokens(vocabulary)
    found = []
    pattern, is_marked = vocabulary.pattern, vocabulary.mark_is_space
    is_bytes = vocabulary.alphabet == "bytes"
    if is_marked and is_bytes:
        found.append("it cannot read U+2581 as a space where symbols are bytes")
    if is_marked and not is_bytes and pattern not in {None, METASPACE}:
        found.append(f"it cannot cut by {named(pattern)} where spaces become U+2581")
    elif pattern is not None and to_oniguruma(pattern) is None:
        found.append(f"its engine has another meaning for a part of the pattern {pattern}")
    has_place = is_marked if not is_bytes else pattern in {None, "gpt2"}
    if vocabulary.prefix_space == "unless_space" and not has_place:
        found.append("it cannot put a space before texts that have none with this pattern")
    if vocabulary.prefix_space == "once" and vocabulary.added_tokens:
        found.append("it puts a space behind each token that is found in every text, too")
    if is_marked and not is_bytes:
        marked = [token for token in vocabulary.tokens if MARK.encode() in token]
        if marked:
            found.append(f"it writes a space as U+2581, which these tokens have ({named(marked)})")
    return found + losses_of_tokens(vocabulary)


def losses_of_tokens(vocabulary: Vocabulary) -> list[str]:
    """What tokenizer.json cannot represent of the tokens of a vocabulary."""
    found = losses_of_unused(vocabulary)
    if vocabulary.end_of_word and vocabulary.end_of_word in vocabulary.tokens:
        found.append("the end of a word is part of its last character there, not a token")
    parts = {part for merge in vocabulary.merges or () for part in merge}
    others = [part for part in parts if part not in vocabulary.tokens]
    if others:
        found.append(f"it cannot merge characters that are no tokens ({named(others)})")
    in_model = added_in_model(vocabulary, names_of_words(vocabulary))
    single = sorted(t for t in in_model if len(t) == 1 and t.encode() not in vocabulary.tokens)
    if single and vocabulary.alphabet != "bytes":
        found.append(f"a special token of one character is found as any other ({named(single)})")
    return found


def added_in_model(vocabulary: Vocabulary, ids: Mapping[str, int]) -> set[str]:
    """The special and the added tokens that the model has, too, with other tokens of these `ids`.

    Tokenizers numbers those that are only added from the end of the model on, so that the model has
    all before. They may follow its ids if these have no gap. The model has the unknown token.
    """
    others = {**vocabulary.special_tokens, **vocabulary.added_tokens}
    added = {text: token_id for text, token_id in others.items() if text not in ids}
    all_ids = sorted([*ids.values(), *added.values()])
    end = max(all_ids, default=-1) + 1
    if all_ids == list(range(end)):
        while end - 1 in added.values() and end - 1 != vocabulary.unknown_token:
            end -= 1
    return {text for text, token_id in others.items() if token_id < end or text in ids}


def files_of(vocabulary: Vocabulary, path: Path) -> dict[Path, bytes]:
    """The tokenizer.json."""
    document = document_of(vocabulary, path)
    return {path: (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()}


def document_of(vocabulary: Vocabulary, path: Path) -> Json:
    """The content of a tokenizer.json; `path` is for errors."""
    kept = vocabulary.extras.get("tokenizer_json", {})
    names = Names(vocabulary, path)
    framing, by_id = vocabulary.framing, {i: name for name, i in names_of(vocabulary).items()}
    return {
        "version": "1.0",
        "truncation": written_truncation(framing),
        "padding": written_padding(framing, by_id),
        "added_tokens": added_tokens(vocabulary),
        "normalizer": normalizer(vocabulary),
        "pre_tokenizer": pre_tokenizer(vocabulary),
        "post_processor": written_processor(framing, by_id, kept.get("post_processor")),
        "decoder": decoder(vocabulary),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": names.unknown,
            "continuing_subword_prefix": prefix_of(vocabulary) or None,
            "end_of_word_suffix": vocabulary.end_of_word.decode() or None,
            "fuse_unk": vocabulary.fuse_unknown,
            "byte_fallback": vocabulary.byte_tokens is not None,
            "ignore_merges": vocabulary.whole_words,
            "vocab": dict(sorted(names.ids.items(), key=lambda item: item[1])),
            "merges": [list(map(names.written, merge)) for merge in vocabulary.merges or ()],
        },
    }


class Names:
    """How the tokens of a vocabulary are written in the file."""

    def __init__(self, vocabulary: Vocabulary, path: Path) -> None:
        self.written = writer_of(vocabulary)
        self.ids = {self.written(token): i for token, i in vocabulary.tokens.items()}
        for name, token_id in zip(BYTE_NAMES, vocabulary.byte_tokens or (), strict=False):
            if token_id is not None:
                self.add(name, token_id, path)
        for token_id, text in vocabulary.written.items():
            self.add(text, token_id, path)
        others = {**vocabulary.special_tokens, **vocabulary.added_tokens}
        listed = added_in_model(vocabulary, self.ids)
        if vocabulary.whole_words:
            self.refuse_words(listed & vocabulary.added_tokens.keys(), vocabulary.alphabet, path)
        for text in sorted(listed, key=others.__getitem__):
            self.add(text, others[text], path)
        by_id = {token_id: text for text, token_id in self.ids.items()}
        self.unknown = None
        if vocabulary.unknown_token is not None:
            self.unknown = by_id.get(vocabulary.unknown_token, "<unk>")
            self.add(self.unknown, vocabulary.unknown_token, path)

    def refuse_words(self, added: Collection[str], alphabet: str, path: Path) -> None:
        """Refuse tokens that words would be looked up as if the model had them."""
        for text in sorted(added):
            is_word = alphabet == "chars" or from_letters(text) is not None
            if text not in self.ids and is_word:
                raise ConversionError(
                    f"{path}: {text!r}, which is only added, would be a word, too"
                )

    def add(self, text: str, token_id: int, path: Path) -> None:
        """Add a token that is written as it is; refuses a text that is taken."""
        if self.ids.setdefault(text, token_id) != token_id:
            raise ConversionError(f"{path}: two tokens would be written as {text!r}")


def added_tokens(vocabulary: Vocabulary) -> list[Json]:
    """The special and the added tokens as tokenizers lists them, by id."""
    special = [(i, text, True) for text, i in vocabulary.special_tokens.items()]
    plain = [(i, text, False) for text, i in vocabulary.added_tokens.items()]
    plainly = Search()
    return [
        {
            "id": i,
            "content": text,
            **vocabulary.searches.get(text, plainly)._asdict(),
            "special": is_special,
        }
        for i, text, is_special in sorted(special + plain)
    ]


def steps_like(model: Step) -> list[Json]:
    """The steps that are nearest to the normalizer of a SentencePiece model."""
    steps: list[Json] = []
    if model["charsmap"]:
        steps.append({"type": "Precompiled", "precompiled_charsmap": model["charsmap"]})
    if model["remove_extra_whitespaces"]:
        steps.append({"type": "Strip", "strip_left": True, "strip_right": True})
        steps.append({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "})
    if model["add_dummy_prefix"]:
        steps.append({"type": "Prepend", "prepend": " "})
    if model["escape_whitespaces"]:
        steps.append({"type": "Replace", "pattern": {"String": " "}, "content": MARK})
    return steps


def normalizer(vocabulary: Vocabulary) -> Step | None:
    """The normalizer."""
    if is_sentencepiece(vocabulary.normalizer or ()):
        (model,) = vocabulary.normalizer or ()
        return in_sequence("normalizers", steps_like(model))
    if vocabulary.steps is not None:
        return in_sequence("normalizers", list(vocabulary.normalizer or ()))
    steps: list[Json] = []
    if vocabulary.normalize:
        steps.append({"type": vocabulary.normalize.upper()})
    is_marked = vocabulary.mark_is_space and vocabulary.alphabet == "chars"
    replaces = is_marked and not has_metaspace(vocabulary)
    if vocabulary.prefix_space in {"always", "once"}:
        steps.append({"type": "Prepend", "prepend": MARK if replaces else " "})
    if replaces:
        steps.append({"type": "Replace", "pattern": {"String": " "}, "content": MARK})
    return in_sequence("normalizers", steps)


def has_metaspace(vocabulary: Vocabulary) -> bool:
    """Whether the pre-tokenizer, not the normalizer, turns spaces into marks."""
    is_needed = vocabulary.prefix_space == "unless_space" or vocabulary.pattern == METASPACE
    return vocabulary.mark_is_space and vocabulary.alphabet == "chars" and is_needed


def pre_tokenizer(vocabulary: Vocabulary) -> Step | None:
    """The pre-tokenizer: cuts texts into words, and writes bytes as letters."""
    if vocabulary.steps is not None:
        return in_sequence("pretokenizers", list(vocabulary.pre_tokenizer or ()))
    pattern = vocabulary.pattern
    prefixes = vocabulary.prefix_space == "unless_space"
    if has_metaspace(vocabulary):
        scheme = "always" if prefixes else "never"
        metaspace = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": scheme}
        return {**metaspace, "split": pattern == METASPACE}
    steps: list[Json] = []
    uses_regex = pattern == "gpt2" and vocabulary.alphabet == "bytes"
    if pattern is not None and not uses_regex:
        regex = to_oniguruma(pattern) or pattern
        behavior = "Removed" if vocabulary.drops_gaps else "Isolated"
        split = {"type": "Split", "pattern": {"Regex": regex}, "behavior": behavior}
        steps.append({**split, "invert": vocabulary.drops_gaps})
    if vocabulary.alphabet == "bytes":
        prefixes = prefixes and not steps
        byte_level = {"type": "ByteLevel", "add_prefix_space": prefixes, "trim_offsets": True}
        steps.append({**byte_level, "use_regex": uses_regex})
    return in_sequence("pretokenizers", steps)


def decoder(vocabulary: Vocabulary) -> Step | None:
    """The decoder."""
    model = vocabulary.decoder if is_sentencepiece(vocabulary.decoder or ()) else ()
    if vocabulary.decoder is not None and not model:
        return written_decoder(vocabulary.decoder)
    kept: Step | None = vocabulary.extras.get("tokenizer_json", {}).get("decoder")
    if kept is not None:
        return kept
    ending = vocabulary.end_of_word.decode()
    steps: list[Json] = []
    if vocabulary.alphabet == "bytes":
        options = {"add_prefix_space": True, "trim_offsets": True, "use_regex": True}
        steps.append({"type": "ByteLevel", **options})
        if ending:
            steps.append({"type": "Replace", "pattern": {"String": ending}, "content": " "})
        return in_sequence("decoders", steps)
    if ending:
        return {"type": "BPEDecoder", "suffix": ending}
    if vocabulary.mark_is_space or model:
        steps.append({"type": "Replace", "pattern": {"String": MARK}, "content": " "})
    if vocabulary.byte_tokens:
        steps.append({"type": "ByteFallback"})
    steps.append({"type": "Fuse"})
    if vocabulary.prefix_space or any(step.get("add_dummy_prefix") for step in model or ()):
        steps.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return in_sequence("decoders", steps)


def in_sequence(members: str, steps: Sequence[Step]) -> Step | None:
    """The steps as one value: null, the only step, or a sequence."""
    if len(steps) < 2:
        return steps[0] if steps else None
    return {"type": "Sequence", members: steps}
