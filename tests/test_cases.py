"""The cases of `tests/cases`, which `cargo test` runs too: expectations and engines.

Each expectation is computed anew, by `formal` or by a reference written here, before the core is
asked.
"""

from __future__ import annotations

import json
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import regex
from test_patterns import GPT2, WHITESPACE, tiktoken_pattern

import mergewise as mw
from mergewise import _core, formal
from mergewise.errors import InputError, InvalidMergesError, MergewiseError, UnknownTokenError
from mergewise.merge_lists import no_merges
from mergewise.vocabulary import Vocabulary

Case: TypeAlias = dict[str, Any]
Pair: TypeAlias = tuple[bytes, bytes]

CASES = Path(__file__).parent / "cases"
KINDS: dict[str, type[MergewiseError]] = {
    "input": InputError,
    "merges": InvalidMergesError,
    "unknown token": UnknownTokenError,
}
SEED, NUM_MOVES = 1, 3000
NUM_STEPS = 50


def cases(name: str) -> pytest.MarkDecorator:
    """The cases of a file as the parameter of a test."""
    found = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    assert found
    return pytest.mark.parametrize("case", found, ids=lambda case: case["name"])


def to_bytes(value: str | dict[str, str]) -> bytes:
    return value.encode() if isinstance(value, str) else bytes.fromhex(value["hex"])


def words_of(case: Case) -> list[tuple[bytes, int]]:
    return [(to_bytes(word), count) for word, count in case["words"]]


def counts_of(words: list[tuple[bytes, int]], pattern: str | None = None) -> mw.WordCounts:
    return mw.WordCounts(_core.WordCounts(words, pattern=pattern))


def check_error(expected: Case, call: Callable[[], object]) -> None:
    with pytest.raises(KINDS[expected["kind"]]) as failure:
        call()
    for field in ("document", "offset"):
        if field in expected:
            assert getattr(failure.value, field) == expected[field]


def test_every_case_has_a_name_of_its_own_and_a_reason() -> None:
    for path in sorted(CASES.glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        names = [case["name"] for case in found]
        assert len(set(names)) == len(names), path.name
        assert all(case["why"] for case in found), path.name


# References: texts as words. A byte that is not UTF-8 is one character, as Python escapes it.


def escaped(text: bytes) -> str:
    return text.decode(errors="surrogateescape")


def unescaped(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def expression_of(pattern: str) -> str:
    if pattern in {"cl100k", "o200k"}:
        return tiktoken_pattern(pattern)
    return {"gpt2": GPT2, "whitespace": WHITESPACE}.get(pattern, pattern)


def reference_words(pattern: str | None, text: str, *, drops_gaps: bool = False) -> list[str]:
    """The matches of a pattern that are not empty, and what lies between them."""
    if pattern is None:
        return [text] if text else []
    words, end = [], 0
    for match in regex.finditer(expression_of(pattern), text):
        if match[0]:
            words += [*([] if drops_gaps else [text[end : match.start()]]), match[0]]
            end = match.end()
    return [word for word in [*words, *([] if drops_gaps else [text[end:]])] if word]


def stretches(text: str, specials: list[str]) -> Iterator[tuple[str, bool]]:
    """The parts of a text, and whether each is a special token."""
    if not specials:
        yield text, False
        return
    longest_first = sorted(specials, key=len, reverse=True)
    for part in regex.split(f"({'|'.join(map(regex.escape, longest_first))})", text):
        yield part, part in specials


def normalized(text: str, form: str | None) -> str:
    return text if form is None else unicodedata.normalize(form.upper(), text)  # type: ignore[arg-type]


@cases("counts")
def test_counts(case: Case) -> None:
    texts = [to_bytes(text) for text in case["texts"]]
    names = ("pattern", "normalize", "special_tokens", "errors")
    options = {name: case[name] for name in names if name in case}
    if "error" in case:
        check_error(case["error"], lambda: mw.count(texts, **options))
        return
    words = Counter[bytes]()
    for text in texts:
        document = text.decode(errors="replace") if "errors" in case else escaped(text)
        for part, is_special in stretches(document, case.get("special_tokens", [])):
            if not is_special:
                prepared = normalized(part, case.get("normalize"))
                words.update(map(unescaped, reference_words(case["pattern"], prepared)))
    assert words == dict(words_of(case))
    for num_threads in (1, 3):
        counts = mw.count(texts, **options, num_threads=num_threads)
        assert dict(counts.top(counts.num_unique)) == words


# Merges.


def formal_words(case: Case) -> dict[str, int]:
    """Words whose characters are the symbols, in the order of their ids."""
    encoding = "utf-8" if case.get("alphabet") == "chars" else "latin-1"
    return {word.decode(encoding): count for word, count in words_of(case)}


def train(case: Case, **options: Any) -> mw.Tokenizer:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "stopped after")
        return mw.train(
            counts_of(words_of(case)),
            num_merges=case["num_merges"],
            **{"min_frequency": 1, **options},
        )


def reference_greedy(case: Case) -> tuple[list[formal.Merge], list[int]]:
    """Greedy merges with a longest token, which `formal.greedy` does not have, and their counts."""
    words = formal.words_of(formal_words(case))
    merges: list[formal.Merge] = []
    counts: list[int] = []
    longest = case.get("max_token_length", 10**9)
    while len(merges) < case["num_merges"]:
        pairs = formal.pair_counts(words, overlaps=case.get("overlaps", "skip"))
        pairs = Counter({p: n for p, n in pairs.items() if len(formal.yield_of(p)) <= longest})
        largest = max(pairs.values(), default=0)
        if largest < case.get("min_frequency", 1):
            break
        best = [pair for pair, count in pairs.items() if count == largest]
        merges.append(formal.smallest_ids(best, merges))
        counts.append(largest)
        words = {formal.apply_one(merges[-1], word): count for word, count in words.items()}
    return merges, counts


@cases("greedy")
def test_greedy(case: Case) -> None:
    merges, counts = reference_greedy(case)
    assert counts == case["counts"]
    if "max_token_length" not in case:
        assert tuple(merges) == formal.greedy(
            formal_words(case),
            case["num_merges"],
            overlaps=case.get("overlaps", "skip"),
            min_count=case.get("min_frequency", 1),
        )
    encoding = "utf-8" if case.get("alphabet") == "chars" else "latin-1"
    strings = [tuple(formal.yield_of(part).encode(encoding) for part in pair) for pair in merges]
    expected = [(to_bytes(left), to_bytes(right)) for left, right in case["merges"]]
    assert strings == expected
    names = ("overlaps", "min_frequency", "max_token_length", "alphabet")
    tokenizer = train(case, **{name: case[name] for name in names if name in case})
    assert tokenizer.merges == expected


def saved_by(tokenizer: mw.Tokenizer, counts: mw.WordCounts) -> int:
    return counts.num_symbols - tokenizer.core.num_tokens(counts.core)


@cases("optimum")
def test_what_merges_save(case: Case) -> None:
    words, num_merges = formal_words(case), case["num_merges"]
    assert formal.utility(formal.greedy(words, num_merges), words) == case["greedy"]
    assert formal.exact_guarded(words, num_merges).utility == case["best"]
    counts = counts_of(words_of(case))
    greedy = train(case)
    assert saved_by(greedy, counts) == case["greedy"]
    methods = ("branch-and-bound", "guarded", "brute-force")
    for method in methods:
        found = mw.solve(counts, num_merges=num_merges, method=method)  # type: ignore[arg-type]
        assert (found.utility, found.bound) == (case["best"], case["best"])
        assert saved_by(found.tokenizer, counts) == case["best"]

    def improved() -> mw.Tokenizer:
        return mw.improve(greedy, counts, seed=SEED, num_moves=NUM_MOVES, num_threads=1)

    if "improve_error" in case:
        check_error(case["improve_error"], improved)
    else:
        assert saved_by(improved(), counts) == case["best"]


@cases("optimum")
@pytest.mark.parametrize("against", ["merges", "vocabularies"])
def test_bounds(case: Case, against: Any) -> None:
    counts = counts_of(words_of(case))
    certificate = mw.certify(train(case), counts, against=against, num_steps=NUM_STEPS)
    assert certificate.utility == case["greedy"]
    assert certificate.bound >= case["best"]
    for by in ("core", "formal"):
        certificate.verify(counts, by=by)


@cases("proofs")
def test_proofs(case: Case) -> None:
    counts = counts_of(words_of(case))
    setting = {name: case[name] for name in ("one", "floor", "longest")}
    is_written = isinstance(case["discounts"], dict)
    discounts = to_bytes(case["discounts"]) if is_written else bytes(case["discounts"])
    is_of_merges = case["against"] == "merges"
    rings, chains = case.get("rings", []), case.get("chains", [])
    bound_of: Callable[..., int] = formal.merge_bound if is_of_merges else formal.token_bound

    def proved() -> int:
        return _core.verify_bound(
            counts.core,
            initial=no_merges(counts, "bytes"),
            against=case["against"],
            num_merges=case["num_merges"],
            **setting,
            counted=0,
            discounts=discounts,
            cases=[None],
            rings=(
                [([to_bytes(string) for string in ring], *rest) for ring, *rest in rings],
                [[to_bytes(string) for string in chain] for chain in chains],
            ),
        )

    def by_definition() -> int:
        options = {**setting, "rings": rings, "chains": chains} if is_of_merges else setting
        return bound_of(formal_words(case), case["num_merges"], case["discounts"], **options)

    if "error" in case:
        check_error(case["error"], proved)
        if not is_written:
            with pytest.raises(ValueError, match=r"discounts|a ring|a chain|a credit"):
                by_definition()
        return
    assert all(discount < 0x80 for discount in case["discounts"])
    assert by_definition() == case["bound"]
    assert proved() == case["bound"]


# Tokenizers.


def vocabulary_of(fields: Case) -> Vocabulary:
    """The vocabulary of a case; see `tests/cases/README.md`."""
    fields = dict(fields)
    first = fields.pop("byte_ids", None if fields.get("alphabet") == "chars" else 0)
    tokens = {} if first is None else {bytes([byte]): first + byte for byte in range(256)}
    tokens.update((to_bytes(token), token_id) for token, token_id in fields.pop("tokens"))
    if "merges" in fields:
        fields["merges"] = [tuple(map(to_bytes, pair)) for pair in fields["merges"]]
    if "ranks" in fields:
        fields["ranks"] = {to_bytes(token): rank for token, rank in fields["ranks"]}
    if "byte_tokens" in fields:
        fields["byte_tokens"] = tuple(fields["byte_tokens"] + byte for byte in range(256))
    if "end_of_word" in fields:
        fields["end_of_word"] = to_bytes(fields["end_of_word"])
    for name in ("special_tokens", "added_tokens"):
        fields[name] = dict(fields.get(name, []))
    return Vocabulary(tokens=tokens, **fields)


class Reference:
    """Encodes and decodes by the definitions of `Vocabulary`, one pair at a time."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.ranks: dict[Pair, int] = {}
        for rank, pair in enumerate(vocabulary.merges or ()):
            self.ranks.setdefault(pair, rank)

    def rank(self, pair: Pair) -> int | None:
        if self.vocabulary.ranks is not None:
            return self.vocabulary.ranks.get(pair[0] + pair[1])
        return self.ranks.get(pair)

    def merged(self, tokens: list[bytes]) -> list[bytes]:
        while True:
            ranks = [(self.rank(pair), place) for place, pair in enumerate(pairwise(tokens))]
            ranked = [(rank, place) for rank, place in ranks if rank is not None]
            if not ranked:
                return tokens
            place = min(ranked)[1]
            tokens = [*tokens[:place], tokens[place] + tokens[place + 1], *tokens[place + 2 :]]

    def ids_of_word(self, word: str) -> list[int]:
        v, string = self.vocabulary, unescaped(word)
        if v.whole_words and string in v.tokens:
            return [v.tokens[string]]
        in_bytes = v.alphabet == "bytes"
        symbols = [bytes([b]) for b in string] if in_bytes else [unescaped(c) for c in word]
        if v.end_of_word in v.tokens:
            symbols.append(v.end_of_word)
        else:
            symbols[-1] += v.end_of_word
        ids: list[int] = []
        for token in self.merged(symbols):
            if token in v.tokens:
                ids.append(v.tokens[token])
            elif v.byte_tokens is not None:
                ids += [v.byte_tokens[byte] or 0 for byte in token]
            elif v.unknown_token is None:
                raise LookupError(token)
            elif not (v.fuse_unknown and ids[-1:] == [v.unknown_token]):
                ids.append(v.unknown_token)
        return ids

    def prepared(self, text: str) -> str:
        text = normalized(text, self.vocabulary.normalize)
        if self.vocabulary.mark_is_space:
            text = text.replace("▁", " ")
        prefix = self.vocabulary.prefix_space
        is_prefixed = prefix == "always" or (prefix == "unless_space" and text[:1] != " ")
        return " " + text if text and is_prefixed else text

    def encode(self, text: bytes, allowed: list[str]) -> list[int]:
        v = self.vocabulary
        special = {name: v.special_tokens[name] for name in allowed}
        if v.prefix_space != "once":
            return self.encode_part(escaped(text), {**special, **v.added_tokens})
        ids: list[int] = []
        for part, is_special in stretches(escaped(text), [*special]):
            if is_special:
                ids.append(special[part])
            elif part:
                ids += self.encode_part(" " + part, v.added_tokens)
        return ids

    def encode_part(self, text: str, specials: dict[str, int]) -> list[int]:
        v = self.vocabulary
        ids: list[int] = []
        for part, is_special in stretches(text, [*specials]):
            if is_special:
                ids.append(specials[part])
                continue
            for word in reference_words(v.pattern, self.prepared(part), drops_gaps=v.drops_gaps):
                ids += self.ids_of_word(word)
        return ids

    def decode(self, ids: list[int]) -> bytes:
        v = self.vocabulary
        strings = {} if v.unknown_token is None else {v.unknown_token: "\ufffd".encode()}
        strings |= {token_id: token for token, token_id in v.tokens.items()}
        strings |= {
            token_id or 0: bytes([byte]) for byte, token_id in enumerate(v.byte_tokens or ())
        }
        specials = {**v.special_tokens, **v.added_tokens}
        strings |= {token_id: text.encode() for text, token_id in specials.items()}
        text = b""
        for token_id in ids:
            token = strings[token_id]
            is_end = v.end_of_word and token.endswith(v.end_of_word)
            text += token.removesuffix(v.end_of_word) + b" " if is_end else token
        text = text.removesuffix(b" ") if v.end_of_word else text
        is_marked = v.prefix_space == "unless_space" and v.mark_is_space
        hides_space = v.prefix_space in {"always", "once"} or is_marked
        return text.removeprefix(b" ") if hides_space else text


def check_text(reference: Reference, tokenizer: mw.Tokenizer, case: Case) -> None:
    text, allowed = to_bytes(case["text"]), case.get("allowed", [])
    choice: Any = {"allowed_special": allowed, "disallowed_special": case.get("disallowed", "all")}
    if "error" in case:
        check_error(case["error"], lambda: tokenizer.encode(text, **choice))
        if case["error"]["kind"] == "unknown token":
            with pytest.raises(LookupError):
                reference.encode(text, allowed)
        return
    ids = case["ids"]
    decoded = to_bytes(case["decoded"] if "decoded" in case else case["text"])
    assert reference.encode(text, allowed) == ids
    assert reference.decode(ids) == decoded
    for _ in range(2):  # the second time words come from the cache
        assert tokenizer.encode(text, **choice) == ids
    assert tokenizer.encode_batch([text, text], **choice, num_threads=2) == [ids, ids]
    assert tokenizer.count_tokens(text, **choice) == len(ids)
    assert tokenizer.decode_bytes(ids) == decoded


@cases("encode")
def test_encode(case: Case) -> None:
    vocabulary = vocabulary_of(case["tokenizer"])
    if "error" in case:
        check_error(case["error"], lambda: mw.Tokenizer(vocabulary))
        return
    tokenizer = mw.Tokenizer(vocabulary)
    copy = mw.Tokenizer(_core.Tokenizer.from_bytes(tokenizer.core.to_bytes()))
    assert copy == tokenizer
    for text in case["texts"]:
        check_text(Reference(vocabulary), tokenizer, text)
        check_text(Reference(vocabulary), copy, text)


def reference_num_tokens(reference: Reference, case: Case) -> int:
    """The ids of all texts, or of all words, of which those without a pattern are texts."""
    v = reference.vocabulary
    if "texts" in case:
        return sum(len(reference.encode(to_bytes(text), [])) for text in case["texts"])
    if v.pattern is None:
        return sum(n * len(reference.encode(word, [])) for word, n in words_of(case))
    total = 0
    for word, count in words_of(case):
        parts = reference_words(v.pattern, escaped(word), drops_gaps=v.drops_gaps)
        total += count * sum(len(reference.ids_of_word(part)) for part in parts)
    return total


@cases("num_tokens")
def test_num_tokens(case: Case) -> None:
    vocabulary = vocabulary_of(case["tokenizer"])
    tokenizer, pattern = mw.Tokenizer(vocabulary), vocabulary.pattern

    def counted() -> mw.WordCounts:
        if "texts" in case:
            return mw.count([to_bytes(text) for text in case["texts"]], pattern=pattern)
        return counts_of(words_of(case), pattern)

    if "error" in case:
        check_error(case["error"], lambda: tokenizer.core.num_tokens(counted().core))
        return
    assert reference_num_tokens(Reference(vocabulary), case) == case["num_tokens"]
    assert tokenizer.core.num_tokens(counted().core) == case["num_tokens"]
    if "texts" in case:
        encoded = (tokenizer.encode(to_bytes(text)) for text in case["texts"])
        assert sum(map(len, encoded)) == case["num_tokens"]
