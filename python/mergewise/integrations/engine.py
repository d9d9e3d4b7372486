"""Engine: what encodes and decodes for a tokenizer of tokenizers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Any, NamedTuple, TypeAlias

from mergewise import _core, live
from mergewise.arguments import check_num_threads
from mergewise.coder import Offsets
from mergewise.framing import Frame, Truncation, truncated
from mergewise.integrations.templates import Template, template_of
from mergewise.specials import choice_of
from mergewise.tokenizer import Tokenizer

# A text, or its words.
Text: TypeAlias = str | Sequence[str]
# Ids, and the offsets of their tokens where they are asked for.
Pieces: TypeAlias = tuple[list[int], Offsets | None]
STEPS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
OF_THE_MODEL = (
    "dropout",
    "unk_token",
    "continuing_subword_prefix",
    "end_of_word_suffix",
    "fuse_unk",
    "byte_fallback",
    "ignore_merges",
)


class Inputs(NamedTuple):
    """The texts of a call.

    Attributes:
        firsts: a text for each row.
        seconds: the second text of each row, if there are pairs.
        is_split: whether texts are lists of words.
        is_batch: whether the call has a list of texts.
    """

    firsts: Sequence[Text]
    seconds: Sequence[Text] | None
    is_split: bool
    is_batch: bool

    @property
    def together(self) -> list[Any]:
        """A text or a pair for each row, as tokenizers takes them."""
        if self.seconds is None:
            return list(self.firsts)
        return list(zip(self.firsts, self.seconds, strict=True))


def inputs_of(text: object, pair: object, *, is_split: bool) -> Inputs | None:
    """The texts of a call; None if they have another shape, or none at all."""
    kind = is_words if is_split else is_text
    if kind(text):
        if pair and not kind(pair):
            return None
        return Inputs([text], [pair] if pair else None, is_split, is_batch=False)  # type: ignore[list-item]
    batches = [text] if pair is None else [text, pair]
    for batch in batches:
        if not isinstance(batch, (list, tuple)) or not batch or not all(map(kind, batch)):
            return None
    if len({len(batch) for batch in batches}) > 1:  # type: ignore[arg-type]
        return None
    return Inputs(text, pair, is_split, is_batch=True)  # type: ignore[arg-type]


def is_text(value: object) -> bool:
    """Whether this is a text."""
    return isinstance(value, str)


def is_words(value: object) -> bool:
    """Whether these are the words of a text."""
    return isinstance(value, (list, tuple)) and all(map(is_text, value))


class Rows(NamedTuple):
    """The rows that texts or pairs of them become.

    Attributes:
        template: what is around the texts.
        ids: the ids of each row.
        lengths: how many ids each text of a row has.
        offsets: where tokens begin and end, if it was asked for.
    """

    template: Template
    ids: list[list[int]]
    lengths: list[tuple[int, ...]]
    offsets: list[Offsets] | None


def state_of(backend: Any) -> tuple[object, ...]:  # noqa: ANN401 - of tokenizers
    """What ids and texts depend on, apart from the tokens themselves, of which it has the number.

    It takes microseconds, and tells whether somebody has set another step.
    """
    steps = (getattr(backend, name) for name in STEPS)
    model = backend.model
    return (
        backend.get_vocab_size(with_added_tokens=True),
        # A sequence of no steps is false.
        *(None if step is None else step.__getstate__() for step in steps),
        type(model).__name__,
        *(getattr(model, name, None) for name in OF_THE_MODEL),
    )


class Engine:
    """What encodes and decodes for a tokenizer of tokenizers.

    Attributes:
        state: that of the tokenizer for which it was made.
        core: does the work.
    """

    def __init__(self, backend: Any, state: tuple[object, ...]) -> None:  # noqa: ANN401
        self.state = state
        vocabulary = live.of_huggingface(backend)
        self.core = Tokenizer(vocabulary).core
        self._bare = vocabulary.framing.bare
        self._templates = {
            (is_pair, added): template_of(
                backend.post_processor, is_pair=is_pair, add_special_tokens=added
            )
            for is_pair in (False, True)
            for added in (False, True)
        }
        self._choice: Callable[..., _core.Choice] = lru_cache(maxsize=32)(self._made_choice)

    def _made_choice(self, frame: Frame, *, finds_specials: bool) -> _core.Choice:
        return choice_of(self.core, "all" if finds_specials else (), (), frame)

    def rows(
        self,
        inputs: Inputs,
        truncation: dict[str, Any] | None,
        *,
        add_special_tokens: bool,
        finds_specials: bool,
        with_offsets: bool,
    ) -> Rows:
        """The rows of ids that texts become.

        Raises:
            ValueError: there is no room for a text, a text is not Unicode, or tokenizers has
                offsets of its own.
        """
        template = self._templates[inputs.seconds is not None, add_special_tokens]
        limit = None if truncation is None else self._limit(truncation, inputs, template)
        is_cut_left = limit is not None and limit.side == "left"
        if with_offsets and self._bare.trims_spaces and (is_cut_left or inputs.is_split):
            # Where it keeps the first space, that is the first that is left, not the first of all.
            raise ValueError("offsets depend on what is cut off")
        if inputs.seconds is None and not inputs.is_split and not with_offsets:
            frame = template.frame(limit, self._bare)
            choice = self._choice(frame, finds_specials=finds_specials)
            ids = self._lists(inputs.firsts, choice)
            num_added = template.num_added
            return Rows(template, ids, [(len(row) - num_added,) for row in ids], None)
        choice = self._choice(self._bare, finds_specials=finds_specials)
        pieces = [
            self._pieces(texts, choice, is_split=inputs.is_split, with_offsets=with_offsets)
            for texts in (inputs.firsts, inputs.seconds)
            if texts is not None
        ]
        stride = truncation["stride"] if truncation else 0
        kept = [cut(row, limit, template, stride) for row in zip(*pieces, strict=True)]
        ids = [template.ids([ids for ids, _ in row]) for row in kept]
        lengths = [tuple(len(ids) for ids, _ in row) for row in kept]
        if not with_offsets:
            return Rows(template, ids, lengths, None)
        offsets = [template.offsets([places or [] for _, places in row]) for row in kept]
        return Rows(template, ids, lengths, offsets)

    def _limit(self, truncation: dict[str, Any], inputs: Inputs, template: Template) -> Truncation:
        """The most ids of a row; an error where tokenizers has one, or none at all is left."""
        limit = Truncation(
            truncation["max_length"], truncation["direction"], truncation["strategy"]
        )
        # tokenizers asks for this room whether or not special tokens are added.
        num_added = max(template.num_added, self._templates[False, True].num_added)
        if limit.max_length - num_added <= truncation["stride"]:
            raise ValueError(f"no room for a text in {limit.max_length} ids")
        if limit.strategy == "only_second" and inputs.seconds is None:
            raise ValueError("no second text to cut")
        return limit

    def _lists(self, texts: Sequence[Any], choice: _core.Choice) -> list[list[int]]:
        if len(texts) == 1:
            return [self.core.encode(texts[0], choice)]
        return self.core.encode_batch_lists(texts, choice, num_threads=check_num_threads(0))

    def _pieces(
        self, texts: Sequence[Any], choice: _core.Choice, *, is_split: bool, with_offsets: bool
    ) -> list[Pieces]:
        """The ids of each text, without what is around them, and their offsets."""
        if is_split:
            words = list(chain.from_iterable(texts))
            of_words = iter(self._pieces(words, choice, is_split=False, with_offsets=with_offsets))
            return [joined(list(islice(of_words, len(text)))) for text in texts]
        if with_offsets:
            return [self.core.encode_with_offsets(text, choice) for text in texts]
        return [(ids, None) for ids in self._lists(texts, choice)]


def joined(words: Sequence[Pieces]) -> Pieces:
    """The ids and offsets of words, one after the other."""
    ids = list(chain.from_iterable(ids for ids, _ in words))
    return ids, list(chain.from_iterable(places or () for _, places in words))


def cut(
    row: Sequence[Pieces], limit: Truncation | None, template: Template, stride: int
) -> Sequence[Pieces]:
    """The ids of a text or of two, as many as there is room for; an error if not for a stride."""
    if limit is None:
        return row
    places = [range(len(ids)) for ids, _ in row]
    kept = truncated(places[0], (*places[1:], range(0))[0], limit, template.num_added)
    shortened = [part for part, whole in zip(kept, places, strict=False) if part != whole]
    if any(len(part) <= stride for part in shortened):
        raise ValueError(f"no room for a stride of {stride}")
    return [
        (ids[place.start : place.stop], offsets and offsets[place.start : place.stop])  # type: ignore[attr-defined]
        for (ids, offsets), place in zip(row, kept, strict=False)
    ]
