"""What the classes of transformers do: steps, tokens and what is put around texts.

A folder with GPT-2's two files names such a class instead of saying the steps. What is here is what
transformers 5 does, as a tokenizer.json would say it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mergewise.formats import clip
from mergewise.formats.json_values import Json, Value
from mergewise.formats.tiktoken import LANGUAGES

END_OF_TEXT: Final = "<|endoftext|>"
LETTERS_OF_BYTES: Final = {**clip.BYTE_LEVEL, "add_prefix_space": True}
NFC: Final = {"type": "NFC"}
QWEN2: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# Whisper's later models know one language more.
WHISPER_LANGUAGES: Final = [*LANGUAGES.split(), "yue"]
START_OF_TRANSCRIPT: Final = "<|startoftranscript|>"


@dataclass(frozen=True)
class Setting:
    """What a folder says to its class.

    Attributes:
        config: the content of tokenizer_config.json.
        roles: the tokens that have a role.
        ids: the ids of all tokens.
    """

    config: Value
    roles: Mapping[str, str]
    ids: Mapping[str, int]

    def flag(self, name: str, *, default: bool = False) -> bool:
        """An option."""
        return self.config.get(name).flag(default=default)

    def token(self, role: str) -> tuple[str, int]:
        """The token of a role, and its id."""
        text = self.roles.get(role)
        if text is None:
            raise self.config.get(role).wrong("a token, as this class has one")
        return text, self.ids[text]

    def asked(self, role: str) -> list[tuple[str, int]]:
        """The token of a role, if there is one and an option asks for it."""
        is_asked = self.flag(f"add_{role}") and role in self.roles
        return [self.token(role)] if is_asked else []


def steps_of_bytes(setting: Setting) -> Json:
    """The steps of GPT-2."""
    letters = {**clip.BYTE_LEVEL, "add_prefix_space": setting.flag("add_prefix_space")}
    return {"pre_tokenizer": letters, "decoder": LETTERS_OF_BYTES}


def steps_of_neox(setting: Setting) -> Json:
    """Those, in normal form."""
    return {"normalizer": NFC, **steps_of_bytes(setting)}


def steps_of_qwen(setting: Setting) -> Json:
    """The steps of Qwen 2."""
    spaced = {"add_prefix_space": setting.flag("add_prefix_space"), "use_regex": False}
    cut = {"type": "Split", "pattern": {"Regex": QWEN2}, "behavior": "Isolated", "invert": False}
    letters = {**clip.BYTE_LEVEL, **spaced}
    pre_tokenizer = {"type": "Sequence", "pretokenizers": [cut, letters]}
    return {"normalizer": NFC, "pre_tokenizer": pre_tokenizer, "decoder": LETTERS_OF_BYTES}


def steps_of_clip(_setting: Setting) -> Json:
    """The steps of CLIP; its class leaves out the space at the end of a text, CLIP does not."""
    strip = {"type": "Strip", "content": " ", "start": 0, "stop": 1}
    decoders = [*clip.STEPS["decoder"]["decoders"], strip]
    steps = {name: clip.STEPS[name] for name in ("normalizer", "pre_tokenizer")}
    return {**steps, "decoder": {"type": "Sequence", "decoders": decoders}}


def steps_of_bert(*, lowers: bool) -> Callable[[Setting], Json]:
    """The steps of BERT, before merging up to the ends of words."""
    normalizer = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        # Where this is not said, accents go with the capitals.
        "strip_accents": None if lowers else False,
        "lowercase": lowers,
    }
    return lambda _setting: {
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "BPEDecoder", "suffix": clip.END},
    }


def nothing_said(setting: Setting) -> Json:
    """Around a text: its first and last token, if the configuration asks for them."""
    first, last = setting.asked("bos_token"), setting.asked("eos_token")
    text, other = part_of("A", 0), part_of("B", 1)
    single = [*parts_of(first), text, *parts_of(last)]
    pair = [*single, *parts_of(first, 1), other, *parts_of(last, 1)]
    return template(single, pair, [*first, *last])


def around_like_roberta(setting: Setting) -> Json:
    """Around a text: RoBERTa's two tokens."""
    return {
        "type": "RobertaProcessing",
        "sep": [*setting.token("sep_token")],
        "cls": [*setting.token("cls_token")],
        "trim_offsets": setting.flag("trim_offsets", default=True),
        "add_prefix_space": setting.flag("add_prefix_space"),
    }


def around_like_clip(setting: Setting) -> Json:
    """Around a text: CLIP's two tokens."""
    tokens = {"sep": [*setting.token("eos_token")], "cls": [*setting.token("bos_token")]}
    return {**clip.STEPS["post_processor"], **tokens}


def around_like_deberta(setting: Setting) -> Json:
    """Around a text: DeBERTa's two tokens."""
    first, last = setting.token("cls_token"), setting.token("sep_token")
    single = [*parts_of([first]), part_of("A", 0), *parts_of([last])]
    pair = [*single, *parts_of([last]), part_of("B", 0), *parts_of([last])]
    return template(single, pair, [first, last])


def around_like_herbert(setting: Setting) -> Json:
    """Around a text: the tokens 0 and 2, whatever their texts are."""
    names = setting.token("sep_token")[0], setting.token("cls_token")[0]
    return {"type": "BertProcessing", "sep": [names[0], 2], "cls": [names[1], 0]}


def around_like_whisper(setting: Setting) -> Json:
    """Around a text: what Whisper is asked for, and the end."""
    language, task = setting.config.get("language"), setting.config.get("task")

    def known(text: str) -> tuple[str, int]:
        return (text, setting.ids[text]) if text in setting.ids else setting.token("unk_token")

    asked = [known(START_OF_TRANSCRIPT)]
    if language.raw is not None:
        code = language.text().lower()
        if code not in WHISPER_LANGUAGES:
            raise language.wrong("the code of one of Whisper's languages, such as 'en'")
        # Found by its place, not by its name.
        place = asked[0][1] + 1 + WHISPER_LANGUAGES.index(code)
        named = {token_id: text for text, token_id in setting.ids.items()}
        asked.append((named.get(place, f"<|{code}|>"), place))
    if task.raw is not None:
        if task.text() not in {"transcribe", "translate"}:
            raise task.wrong("'transcribe' or 'translate'")
        asked.append(known(f"<|{task.text()}|>"))
    if not setting.flag("predict_timestamps"):
        asked.append(known("<|notimestamps|>"))
    last = setting.token("eos_token")
    first, text, other = parts_of(asked), part_of("A", 0), part_of("B", 1)
    single, pair = [*first, text, *parts_of([last])], [*first, text, other, *parts_of([last], 1)]
    return template(single, pair, [*asked, last])


def part_of(text: str, type_id: int) -> Json:
    """The place of a text in a template."""
    return {"Sequence": {"id": text, "type_id": type_id}}


def parts_of(tokens: list[tuple[str, int]], type_id: int = 0) -> list[Json]:
    """Tokens in a template."""
    return [{"SpecialToken": {"id": text, "type_id": type_id}} for text, _ in tokens]


def template(single: list[Json], pair: list[Json], tokens: list[tuple[str, int]]) -> Json:
    """The template of these parts."""
    special = {text: {"id": text, "ids": [i], "tokens": [text]} for text, i in tokens}
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": pair,
        "special_tokens": special,
    }


@dataclass(frozen=True, kw_only=True)
class TokenizerClass:
    """What a class does.

    Attributes:
        roles: the tokens that it has where the configuration says nothing of a role.
        steps: the steps before merging, and the decoder.
        around: what it puts around texts.
        end_of_word: what the last symbol of a word ends in.
        has_unknown: whether characters without a token become the unknown token.
        finds_plainly: whether special tokens are found as they are, whatever is said of them.
    """

    roles: Mapping[str, str]
    steps: Callable[[Setting], Json] = steps_of_bytes
    around: Callable[[Setting], Json] = nothing_said
    end_of_word: str | None = None
    has_unknown: bool = False
    finds_plainly: bool = False

    def written(self, setting: Setting) -> Json:
        """What a tokenizer.json says of the class, without the tokens and merges."""
        model: dict[str, Any] = {"type": "BPE", "end_of_word_suffix": self.end_of_word}
        if self.has_unknown:
            model["unk_token"] = setting.token("unk_token")[0]
        return {**self.steps(setting), "post_processor": self.around(setting), "model": model}


def named(*tokens: str) -> dict[str, str]:
    """The roles of tokens, in the order of RoBERTa's."""
    names = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
    return {f"{name}_token": token for name, token in zip(names, tokens, strict=False) if token}


OF_GPT2: Final = named(END_OF_TEXT, END_OF_TEXT, END_OF_TEXT)
ROBERTA: Final = TokenizerClass(
    roles=named("<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"),
    around=around_like_roberta,
)
CLASSES: Final[dict[str, TokenizerClass]] = {
    "GPT2Tokenizer": TokenizerClass(roles=OF_GPT2),
    "CodeGenTokenizer": TokenizerClass(roles=OF_GPT2),
    "WhisperTokenizer": TokenizerClass(roles=OF_GPT2, around=around_like_whisper),
    "GPTNeoXTokenizer": TokenizerClass(
        roles={**OF_GPT2, "pad_token": "<|padding|>"}, steps=steps_of_neox
    ),
    "Qwen2Tokenizer": TokenizerClass(
        roles=named("", END_OF_TEXT, END_OF_TEXT, "", END_OF_TEXT),
        steps=steps_of_qwen,
        finds_plainly=True,
    ),
    "RobertaTokenizer": ROBERTA,
    "BartTokenizer": ROBERTA,
    "LongformerTokenizer": ROBERTA,
    "LEDTokenizer": ROBERTA,
    "MvpTokenizer": ROBERTA,
    "DebertaTokenizer": TokenizerClass(
        roles=named("[CLS]", "[SEP]", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"),
        around=around_like_deberta,
    ),
    "CLIPTokenizer": TokenizerClass(
        roles=named(*clip.SPECIAL, END_OF_TEXT, "", END_OF_TEXT),
        steps=steps_of_clip,
        around=around_like_clip,
        end_of_word=clip.END,
        has_unknown=True,
    ),
    "OpenAIGPTTokenizer": TokenizerClass(
        roles=named("", "", "<unk>"),
        steps=steps_of_bert(lowers=True),
        end_of_word=clip.END,
        has_unknown=True,
    ),
    "HerbertTokenizer": TokenizerClass(
        roles=named("", "", "<unk>", "</s>", "<pad>", "<s>", "<mask>"),
        steps=steps_of_bert(lowers=False),
        around=around_like_herbert,
        end_of_word=clip.END,
        has_unknown=True,
    ),
}
# The classes of models, for folders whose configuration names the model alone.
OF_MODELS: Final = {
    **dict.fromkeys(
        ("roberta", "roberta-prelayernorm", "bart", "longformer", "led", "mvp"), "RobertaTokenizer"
    ),
    **dict.fromkeys(("clip", "clipseg", "owlvit", "owlv2", "xclip"), "CLIPTokenizer"),
    "deberta": "DebertaTokenizer",
    "gpt_neox": "GPTNeoXTokenizer",
    "openai-gpt": "OpenAIGPTTokenizer",
    "whisper": "WhisperTokenizer",
    **dict.fromkeys(("qwen2", "qwen2_moe", "qwen3", "qwen3_moe"), "Qwen2Tokenizer"),
}
