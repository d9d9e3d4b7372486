"""What is measured: the named cases of `encode.py`."""

from dataclasses import dataclass

from texts import Text

KB = 1_000
MB = 1_000_000
# The package, and the form in which it gives the ids.
ALL = (
    "mergewise arrays",
    "gigatoken arrays",
    "fastokens arrays",
    "tiktoken arrays",
    "mergewise lists",
    "gigatoken lists",
    "wordchipper lists",
    "rs-bpe lists",
    "tiktoken lists",
    "kitoken lists",
    "tokenizers lists",
)
# Those that read a model's tokenizer.json; not iree-tokenizer 0.3.0, whose ids are other ones than
# tokenizers' for each model and text below.
READERS = (
    "mergewise model",
    "gigatoken model",
    "fastokens model",
    "splintr-rs model",
    "tokenizers model",
    "tokenizers-rc model",
)


@dataclass(frozen=True)
class Case:
    """One text cut into documents of a given size, who encodes them, and whose ids are right."""

    text: Text
    document_size: int
    competitors: tuple[str, ...] = ALL
    model: str = "cl100k"
    judge: str = "tiktoken lists"


TEXTS = ("en", "code", "multi")
# The names of their files in `tests/vocabularies.py`.
MODELS = {
    "gpt2": "gpt2-json",
    "llama3": "llama3",
    "qwen2.5": "qwen2.5",
    "qwen3": "qwen3",
    "deepseek-v3": "deepseek-v3",
    "o200k": "gpt-4o",
    "tekken": "mistral-nemo",
    "gemma3": "gemma3",
    "llama2": "llama2",
}
MODEL_CASES = {
    f"models-{model}-{kind}": Case(
        Text(kind, 5 * MB), 100 * KB, READERS, model=model, judge="tokenizers model"
    )
    for model in MODELS
    for kind in TEXTS
}

CASES: dict[str, tuple[Case, ...]] = {
    **{
        f"{kind}-{name}": (Case(Text(kind, 40 * MB), size),)
        for kind in TEXTS
        for name, size in (("100b", 100), ("1kb", KB), ("1mb", MB))
    },
    "long-words": tuple(Case(Text(kind, MB), MB) for kind in ("a", "spaces", "letters")),
    "models": tuple(MODEL_CASES.values()),
    **{
        f"models-{model}": tuple(case for case in MODEL_CASES.values() if case.model == model)
        for model in MODELS
    },
    **{name: (case,) for name, case in MODEL_CASES.items()},
}
DEFAULT = ("en", "long-words")

NOTES = {
    "long-words": "One document that is one word; a warm call may find all of it in a cache.",
    "models": """\
Models as their users have them: each competitor reads the model's tokenizer.json and finds its
special tokens in the text, but adds none. Ids come as arrays, those of splintr-rs and tokenizers as
lists; tokenizers-rc is the candidate of its next release. A cell is MB / CPU s and, in brackets,
the CPU seconds divided by mergewise's; it is filled only if each call gave the ids of tokenizers,
document by document.""",
}
