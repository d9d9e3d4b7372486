"""What `run_time.py` compares: greedy training by the paper, by mergewise and by its peers."""

import contextlib
import gc
import io
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from figures import BLACK, BLUE, GREEN, ORANGE, PINK, RED, SKY

import mergewise as mw
from mergewise import formal


@dataclass(frozen=True)
class Corpus:
    """Lines, each a word by itself or split into words at white space."""

    lines: list[str]
    is_split: bool

    def words(self) -> Counter[str]:
        """The words with their counts; a word carries the space before it."""
        if not self.is_split:
            return Counter(self.lines)
        counts: Counter[str] = Counter()
        for line in self.lines:
            counts.update(formal.split_words(line))
        return counts


@dataclass(frozen=True)
class Engine:
    """A way to train, and how it is drawn."""

    train: Callable[[Corpus, int], list[str]]
    colour: str
    marker: str
    is_exact: bool = False
    needs_words: bool = False

    def takes(self, corpus: Corpus) -> bool:
        """Whether it can train on a corpus of this kind."""
        return corpus.is_split or not self.needs_words


def cost(engine: Engine, corpus: Corpus, num_merges: int) -> tuple[float, list[str]]:
    """The CPU seconds of a training, from the lines on, and the tokens that it made."""
    gc.collect()
    started = time.process_time()
    tokens = engine.train(corpus, num_merges)
    return time.process_time() - started, tokens


def algorithm_1(corpus: Corpus, num_merges: int) -> list[str]:
    """Slow greedy, on unique words with their counts (appendix B.1)."""
    merges = formal.greedy(corpus.words(), num_merges)
    return [formal.yield_of(merge) for merge in merges]


def algorithm_2(corpus: Corpus, num_merges: int) -> list[str]:
    """Fast greedy, which knows no counts: all words in a row, an end of its own behind each."""
    text: list[str] = []
    for number, word in enumerate(corpus.words().elements()):
        text += [*word, f"\U0010ffff{number}"]
    return [formal.yield_of(merge) for merge in formal.fast_greedy(text, num_merges)]


def mergewise(corpus: Corpus, num_merges: int) -> list[str]:
    """This project, over characters as in the paper."""
    pattern = "whitespace" if corpus.is_split else None
    counts = mw.count(corpus.lines, pattern=pattern, num_threads=1)
    tokenizer = mw.train(counts, num_merges=num_merges, alphabet="chars")
    return [(left + right).decode() for left, right in tokenizer.merges]


def sentencepiece(corpus: Corpus, num_merges: int) -> list[str]:
    """SentencePiece; its words never cross scripts and numbers, if split."""
    module: Any = import_module("sentencepiece")
    letters = {"▁", *"".join(corpus.lines).replace(" ", "▁")}
    whole_lines = {
        "split_by_whitespace": False,
        "split_by_unicode_script": False,
        "split_by_number": False,
        "max_sentencepiece_length": 512,
    }
    with tempfile.TemporaryDirectory() as folder:
        module.SentencePieceTrainer.train(
            sentence_iterator=iter(corpus.lines),
            model_prefix=f"{folder}/model",
            model_type="bpe",
            vocab_size=len(letters) + 3 + num_merges,
            character_coverage=1.0,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            max_sentence_length=1 << 30,
            num_threads=1,
            minloglevel=2,
            **({} if corpus.is_split else whole_lines),
        )
        model = module.SentencePieceProcessor(model_file=f"{folder}/model.model")
    pieces = [model.id_to_piece(number) for number in range(model.vocab_size())]
    return [piece for piece in pieces[3:] if len(piece) > 1]


def tokenizers(corpus: Corpus, num_merges: int) -> list[str]:
    """HuggingFace's tokenizers, over characters."""
    module: Any = import_module("tokenizers")
    tokenizer = module.Tokenizer(module.models.BPE())
    if corpus.is_split:
        tokenizer.pre_tokenizer = module.pre_tokenizers.WhitespaceSplit()
    letters = set("".join(corpus.lines))
    if corpus.is_split:
        letters = {letter for letter in letters if not letter.isspace()}
    trainer = module.trainers.BpeTrainer(vocab_size=len(letters) + num_merges, show_progress=False)
    tokenizer.train_from_iterator(corpus.lines, trainer)
    return [token for token in tokenizer.get_vocab() if len(token) > 1]


def rustbpe(corpus: Corpus, num_merges: int) -> list[str]:
    """Karpathy's rustbpe, over bytes."""
    module: Any = import_module("rustbpe")
    tokenizer = module.Tokenizer()
    pattern = r"\s?\S+|\s+" if corpus.is_split else r"(?s).+"
    tokenizer.train_from_iterator(iter(corpus.lines), 256 + num_merges, pattern=pattern)
    ranks = tokenizer.get_mergeable_ranks()
    return [bytes(token).hex() for token, rank in ranks if rank >= 256]


def subword_nmt(corpus: Corpus, num_merges: int) -> list[str]:
    """Sennrich's subword-nmt, on words alone."""
    module: Any = import_module("subword_nmt.learn_bpe")
    codes = io.StringIO()
    text = io.StringIO("\n".join(corpus.lines))
    with contextlib.redirect_stderr(io.StringIO()):  # its bar of progress
        module.learn_bpe(text, codes, num_merges)
    return codes.getvalue().splitlines()[1:]


ENGINES = {
    "Algorithm 1": Engine(algorithm_1, RED, "-X", is_exact=True),
    "Algorithm 2": Engine(algorithm_2, ORANGE, "-P", is_exact=True),
    "SentencePiece": Engine(sentencepiece, BLUE, "-s"),
    "subword-nmt": Engine(subword_nmt, PINK, "-v", needs_words=True),
    "tokenizers": Engine(tokenizers, SKY, "-^"),
    "rustbpe": Engine(rustbpe, GREEN, "-D"),
    "mergewise": Engine(mergewise, BLACK, "-o", is_exact=True),
}
