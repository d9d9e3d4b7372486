from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias, final, overload

from typing_extensions import Self

from mergewise.framing import Frame
from mergewise.parquet import Texts
from mergewise.sources import Source
from mergewise.specials import Specials
from mergewise.token_files import ShardFiles
from mergewise.vocabulary import Alphabet, Normalize, Vocabulary

__all__ = [
    "Array", "Calls", "Choice", "Counter", "Documents", "MergeList", "Pairs", "Pipeline", "Ranks",
    "Session", "StreamDecoder", "StreamEncoder", "Tokenizer", "TokenizerJson", "Tokens",
    "WordCounts", "Writer", "__version__", "check_pattern", "class_ranges", "counts_of_arrow",
    "curvature_units", "decode_tokens", "fewest_tokens", "find_bound", "from_oniguruma",
    "improve_merges", "measure_curvature", "measure_sigma", "named_patterns",
    "other_names_of_patterns", "rows_of_counts", "solve_exactly", "train_greedily", "verify_bound",
    "walk_curvature",
]  # fmt: skip

__version__: str

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object = None, /) -> tuple[object, object]: ...

_Texts: TypeAlias = Sequence[str | bytes] | _ArrowArray
_Sources: TypeAlias = Sequence[Source]
_Batches: TypeAlias = Iterable[tuple[_ArrowArray, _ArrowArray]]
_Columns: TypeAlias = Iterable[Iterable[Texts]]
_Progress: TypeAlias = Callable[[int], None] | None
_Pair: TypeAlias = tuple[int, int]
_Rings: TypeAlias = tuple[list[tuple[list[bytes], int, list[int]]], list[list[bytes]]]

class Calls:
    def __new__(cls, *_arguments: object, **_options: object) -> Self: ...
    @overload
    def encode(
        self,
        text: str | bytes,
        *,
        pair: str | bytes | None = None,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
        add_special_tokens: bool = True,
        offsets: Literal[False] = False,
    ) -> list[int]: ...
    @overload
    def encode(
        self,
        text: str | bytes,
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
        add_special_tokens: bool = True,
        offsets: Literal[True],
    ) -> tuple[list[int], list[_Pair]]: ...
    def count_tokens(
        self,
        text: str | bytes,
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
        add_special_tokens: bool = True,
    ) -> int: ...
    def decode(
        self, ids: Iterable[int], *, skip_special_tokens: bool = False, errors: str = "replace"
    ) -> str: ...

@final
class Choice: ...

@final
class Array:
    @property
    def __array_interface__(self) -> dict[str, object]: ...

@final
class Ranks:
    def __new__(cls, file: bytes, /) -> Ranks: ...
    @property
    def empty_ids(self) -> list[int]: ...
    @property
    def first_fault(self) -> tuple[int, str] | None: ...
    @property
    def tokens(self) -> Tokens: ...

@final
class Tokens:
    def single_bytes(self) -> list[bytes]: ...
    def taken(self, ids: Sequence[int], /) -> list[int]: ...
    def to_dict(self) -> dict[bytes, int]: ...

@final
class Pairs:
    def to_list(self) -> list[tuple[bytes, bytes]]: ...

@final
class Pipeline:
    def __new__(cls, steps: str, /) -> Pipeline: ...
    def normalized(self, text: str, /) -> str: ...
    def words(self, text: str, /) -> list[tuple[str, tuple[int, int]]]: ...

@final
class TokenizerJson:
    @staticmethod
    def parse(file: bytes, /) -> TokenizerJson | None: ...
    @property
    def rest(self) -> str: ...
    def __len__(self) -> int: ...
    def id(self, text: str, /) -> int | None: ...
    def has(self, id: int, /) -> bool: ...  # noqa: A002
    def spelled(
        self,
        *,
        added: Sequence[str],
        has_letters: bool,
        mark_is_space: bool,
        prefix: str,
        start_of_word: bytes,
        has_byte_names: bool,
    ) -> tuple[Tokens, Pairs, dict[int, str]] | None: ...

@final
class Tokenizer:
    def __new__(cls, vocabulary: Vocabulary, /) -> Tokenizer: ...
    @staticmethod
    def from_merges(
        merges: MergeList,
        /,
        *,
        pattern: str | None,
        normalize: Normalize,
        special_tokens: Sequence[tuple[str, int]],
        tokens: Sequence[tuple[bytes, int]] | None = None,
    ) -> Tokenizer: ...
    @staticmethod
    def from_bytes(state: bytes, /) -> Tokenizer: ...
    def to_bytes(self) -> bytes: ...
    def fields(self) -> dict[str, Any]: ...
    def specials(self, always: bool) -> dict[str, int]: ...
    @property
    def alphabet(self) -> Alphabet: ...
    @property
    def pattern(self) -> str | None: ...
    @property
    def normalize(self) -> Normalize: ...
    @property
    def is_by_whole_words(self) -> bool: ...
    @property
    def marks_ends(self) -> bool: ...
    @property
    def vocab_size(self) -> int: ...
    @property
    def num_unusable_merges(self) -> int | None: ...
    def token_bytes(self, token_id: int, /) -> bytes: ...
    def token_id(self, string: bytes, /) -> int | None: ...
    @property
    def merges(self) -> list[tuple[bytes, bytes]]: ...
    @property
    def ranks(self) -> dict[bytes, int]: ...
    def merge_list(self) -> MergeList: ...
    def with_first_merges(self, num_merges: int, /) -> Tokenizer: ...
    def special_in(self, counts: WordCounts, /) -> str | None: ...
    def __eq__(self, other: object, /) -> bool: ...
    @property
    def unreachable(self) -> list[int]: ...
    def ties_matter(self) -> bool: ...
    def num_tokens(self, counts: WordCounts, /) -> int: ...
    def token_counts(self, counts: WordCounts, /) -> dict[int, int]: ...
    def choice(
        self, allowed: Sequence[bool], refused: Sequence[bool], frame: Frame | None = None, /
    ) -> Choice: ...
    def encode(self, text: str | bytes, choice: Choice, /) -> list[int]: ...
    def encode_with_offsets(
        self, text: str | bytes, choice: Choice, /
    ) -> tuple[list[int], list[_Pair]]: ...
    def count(self, text: str | bytes, choice: Choice, /) -> int: ...
    def encode_batch(
        self, texts: _Texts, choice: Choice, /, *, num_threads: int
    ) -> tuple[Array, Array]: ...
    def encode_batch_lists(
        self, texts: _Texts, choice: Choice, /, *, num_threads: int
    ) -> list[list[int]]: ...
    def decode(self, ids: Iterable[int], skip_special_tokens: bool = False, /) -> bytes: ...
    def decode_text(self, ids: Iterable[int], skip_special_tokens: bool = False, /) -> str: ...

@final
class StreamDecoder:
    def __new__(
        cls, tokenizer: Tokenizer, /, *, skip_special_tokens: bool, errors: str
    ) -> StreamDecoder: ...
    def add(self, *ids: int) -> str: ...
    def finish(self) -> str: ...

@final
class Session:
    def __new__(cls, tokenizer: Tokenizer, choice: Choice, /) -> Session: ...
    def append(self, text: str, /) -> tuple[int, list[int]]: ...
    def truncate(self, length: int, /) -> None: ...
    def fork(self) -> Session: ...
    @property
    def ids(self) -> list[int]: ...
    @property
    def text(self) -> str: ...
    def __len__(self) -> int: ...

@final
class StreamEncoder:
    def __new__(cls, tokenizer: Tokenizer, choice: Choice, /) -> StreamEncoder: ...
    def add(self, text: str | bytes, /) -> list[int]: ...
    def finish(self) -> list[int]: ...

@final
class MergeList:
    def __new__(
        cls, pairs: Sequence[_Pair], *, alphabet: str | None = None, letter_order: bool = False
    ) -> MergeList: ...
    def __getnewargs_ex__(self) -> tuple[tuple[list[_Pair]], dict[str, Any]]: ...
    @property
    def pairs(self) -> list[_Pair]: ...
    @property
    def alphabet(self) -> str: ...
    @property
    def num_tokens(self) -> int: ...
    def __len__(self) -> int: ...
    @property
    def tokens(self) -> list[bytes]: ...
    def token_bytes(self, token_id: int, /) -> bytes: ...
    def token_id(self, string: bytes, /) -> int | None: ...
    def apply(self, text: str | bytes, /) -> list[int]: ...
    def utility(self, text: str | bytes, /) -> int: ...

@final
class WordCounts:
    def __new__(
        cls,
        words: Sequence[tuple[str | bytes, int]],
        *,
        pattern: str | None = None,
        normalize: Normalize = None,
    ) -> WordCounts: ...
    @property
    def num_words(self) -> int: ...
    @property
    def num_unique(self) -> int: ...
    @property
    def num_bytes(self) -> int: ...
    @property
    def dropped_bytes(self) -> int: ...
    @property
    def pattern(self) -> str | None: ...
    @property
    def normalize(self) -> Normalize: ...
    def characters(self) -> str: ...
    def top(self, num_words: int, /) -> list[tuple[bytes, int]]: ...
    def prune(self, min_count: int, /) -> WordCounts: ...
    def cut(self, pattern: str, /) -> WordCounts: ...
    def encoded(
        self, *, drops_gaps: bool, prefix_space: str | None, mark_is_space: bool
    ) -> WordCounts: ...
    def plus(self, other: WordCounts, /) -> WordCounts: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(state: bytes, /) -> WordCounts: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def write(self, path: str | PathLike[str], /) -> None: ...
    @staticmethod
    def read(path: str | PathLike[str], /) -> WordCounts: ...

@final
class Counter:
    def __new__(
        cls,
        *,
        pattern: str | None,
        normalize: Normalize,
        errors: str,
        special_tokens: Sequence[str],
        num_threads: int,
    ) -> Counter: ...
    def add_documents(self, documents: _Texts, /) -> None: ...
    @property
    def memory(self) -> int: ...
    def add_columns(self, columns: _Columns, /, *, progress: _Progress = None) -> None: ...
    def add_sources(
        self, sources: _Sources, /, *, documents: str, field: str, progress: _Progress = None
    ) -> None: ...
    def finish(self) -> WordCounts: ...

@final
class Documents:
    def __new__(
        cls,
        sources: _Sources,
        /,
        *,
        tokenizer: Tokenizer | None,
        documents: str,
        field: str,
        block_bytes: int,
    ) -> Documents: ...
    def __iter__(self) -> Documents: ...
    def __next__(self) -> tuple[list[bytes], bool]: ...

@final
class Writer:
    def __new__(
        cls,
        tokenizer: Tokenizer,
        choice: Choice,
        files: ShardFiles,
        /,
        *,
        format: str,  # noqa: A002 - the word that users know
        dtype: str,
        before: Sequence[int],
        behind: Sequence[int],
        block_bytes: int,
        shard_tokens: int | None,
        shares: tuple[int, int, tuple[int, int]] | None,
        validation: float | None,
        skip_bad: bool,
        done: Sequence[tuple[int, tuple[int, int]]],
        num_threads: int,
        scratch: PathLike[str],
    ) -> Writer: ...
    @property
    def num_ids(self) -> int: ...
    def add_sources(
        self,
        sources: _Sources,
        starts: Sequence[int],
        /,
        *,
        documents: str,
        field: str,
        progress: _Progress = None,
    ) -> None: ...
    def add_columns(self, columns: _Columns, /, *, progress: _Progress = None) -> list[int]: ...
    @property
    def is_complete(self) -> bool: ...
    @property
    def num_blocks(self) -> int: ...
    def finish(self) -> tuple[int, list[str]]: ...

def counts_of_arrow(
    batches: _Batches, /, *, pattern: str | None, normalize: Normalize
) -> WordCounts: ...
def rows_of_counts(
    counts: WordCounts, first: int, num_bytes: int, num_parts: int, /
) -> list[tuple[bytes, bytes, bytes]]: ...
def train_greedily(
    counts: WordCounts,
    /,
    *,
    initial: MergeList,
    num_merges: int,
    min_frequency: int,
    max_token_length: int | None,
    overlaps: str,
    progress: _Progress = None,
) -> MergeList: ...
def solve_exactly(
    counts: WordCounts,
    /,
    *,
    initial: MergeList,
    num_merges: int,
    method: str,
    time_limit: float | None,
    node_limit: int | None,
    memory_limit: int,
    num_threads: int,
    progress: Callable[[int, int, int], None] | None = None,
) -> tuple[MergeList, int, int, int, str | None]: ...
def curvature_units(*, length: int, num_letters: int) -> list[int]: ...
def measure_curvature(
    letters: bytes, /, *, num_merges: int, columns: int, progress: _Progress = None
) -> tuple[int, int, list[_Pair | None]]: ...
def measure_sigma(
    letters: bytes, /, *, num_merges: int, merges: Sequence[_Pair], progress: _Progress = None
) -> tuple[int, _Pair]: ...
def walk_curvature(
    first: int,
    last: int,
    /,
    *,
    length: int,
    num_letters: int,
    columns: int,
    records: Sequence[Sequence[_Pair | None]],
    is_pruned: bool,
    num_threads: int,
    progress: _Progress = None,
) -> list[list[tuple[int, int, _Pair, bytes]]]: ...
def named_patterns() -> list[tuple[str, str, list[str]]]: ...
def other_names_of_patterns() -> list[tuple[str, str]]: ...
def check_pattern(pattern: str, /) -> None: ...
def from_oniguruma(regex: str, /) -> str: ...
def class_ranges(class_: str, /) -> list[_Pair]: ...
def fewest_tokens(counts: WordCounts, tokens: Sequence[bytes], /) -> int: ...
def improve_merges(
    counts: WordCounts,
    /,
    *,
    initial: MergeList,
    num_tokens: int,
    is_pinned: list[bool],
    seed: int,
    num_moves: int | None,
    time_limit: float | None,
    num_threads: int,
    max_token_length: int | None,
    true_counts: bool,
    progress: Callable[[int, int], None] | None = None,
) -> MergeList: ...
def find_bound(
    counts: WordCounts,
    /,
    *,
    initial: MergeList,
    against: str,
    num_merges: int,
    time_limit: float | None,
    num_steps: int | None,
    num_cases: int,
    num_threads: int,
    progress: Callable[[int, int | None], None] | None = None,
) -> tuple[int, bytes, int, int, int, int, int, list[bytes], list[bytes | None], _Rings]: ...
def verify_bound(
    counts: WordCounts,
    /,
    *,
    initial: MergeList,
    against: str,
    num_merges: int,
    one: int,
    floor: int,
    longest: int,
    counted: int,
    discounts: bytes,
    cases: Sequence[bytes | None],
    rings: _Rings,
) -> int: ...
def decode_tokens(steps: str, tokens: Sequence[str], /) -> str: ...
