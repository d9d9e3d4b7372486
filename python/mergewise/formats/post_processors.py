"""What tokenizer.json puts around the ids of texts: its post_processor, truncation and padding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

from mergewise.formats.json_values import Json, Value
from mergewise.formats.reading import Reading
from mergewise.framing import FIRST, SECOND, Framing, Padding, Side, Strategy, Truncation

T = TypeVar("T")
PROCESSORS: Final = "TemplateProcessing, BertProcessing, RobertaProcessing or ByteLevel"
SIDES: Final[dict[str, Side]] = {"Left": "left", "Right": "right"}
STRATEGIES: Final[dict[str, Strategy]] = {
    "LongestFirst": "longest_first",
    "OnlyFirst": "only_first",
    "OnlySecond": "only_second",
}


def read_framing(document: Value) -> Framing:
    """What a document puts around the ids of texts."""
    framing = Framing(
        truncation=read_truncation(document.get("truncation")),
        padding=read_padding(document.get("padding")),
    )
    return read_processor(document.get("post_processor"), framing)


def read_processor(value: Value, framing: Framing) -> Framing:
    """The framing with what a step of the post-processor adds."""
    if value.raw is None:
        return framing
    kind = value["type"].text()
    if kind == "Sequence":
        for item in value["processors"].items():
            framing = read_processor(item, framing)
        return framing
    if kind == "ByteLevel":
        return trimming(value, framing)
    if framing.before or framing.after:
        raise value.wrong("one template")
    if kind == "TemplateProcessing":
        return read_template(value, framing)
    if kind not in {"BertProcessing", "RobertaProcessing"}:
        raise value["type"].wrong(PROCESSORS)
    start, end = read_token(value["cls"]), read_token(value["sep"])
    between = (end,) if kind == "BertProcessing" else (end, end)
    framing = replace(
        framing, before=(start,), after=(end,), pair=(start, FIRST, *between, SECOND, end)
    )
    return framing if kind == "BertProcessing" else trimming(value, framing)


def trimming(value: Value, framing: Framing) -> Framing:
    """The framing with how a step trims offsets."""
    if not value.get("trim_offsets").flag(default=True):
        return framing
    return replace(framing, trims_spaces=value.get("add_prefix_space").flag(default=True))


def read_token(value: Value) -> int:
    """The id of a token that is written as a list of its text and its id."""
    if [type(part) for part in value.list()] != [str, int]:
        raise value.wrong("a token and its id")
    return value.items()[1].id()


def read_template(value: Value, framing: Framing) -> Framing:
    """The framing with the ids of a template."""
    single = read_parts(value, "single", {"A": FIRST})
    pair = read_parts(value, "pair", {"A": FIRST, "B": SECOND})
    if single.count(FIRST) != 1:
        raise value["single"].wrong("a template with one text")
    at = single.index(FIRST)
    before = tuple(part for part in single[:at] if isinstance(part, int))
    after = tuple(part for part in single[at:] if isinstance(part, int))
    return replace(framing, before=before, after=after, pair=tuple(pair))


def read_parts(value: Value, name: str, texts: dict[str, str]) -> list[int | str]:
    """The parts of a template: ids, and the places of texts."""
    parts: list[int | str] = []
    for part in value[name].items():
        if "SpecialToken" in part.object():
            text = part["SpecialToken"]["id"].text()
            token = value["special_tokens"][text]
            # The ids alone are used.
            _ = token["id"].text(), [item.text() for item in token["tokens"].items()]
            parts += [item.id() for item in token["ids"].items()]
        else:
            name_of_text = part["Sequence"]["id"]
            if name_of_text.text() not in texts:
                raise name_of_text.wrong("A or B")
            parts.append(texts[name_of_text.text()])
    return parts


def read_truncation(value: Value) -> Truncation | None:
    """The most ids that a text may have."""
    if value.raw is None:
        return None
    return Truncation(
        max_length=value["max_length"].id(),
        side=chosen(value.get("direction"), SIDES, "Right"),
        strategy=chosen(value.get("strategy"), STRATEGIES, "LongestFirst"),
    )


def read_padding(value: Value) -> Padding | None:
    """What makes texts of a batch equally long."""
    if value.raw is None:
        return None
    strategy, multiple = value["strategy"], value.get("pad_to_multiple_of")
    is_fixed = strategy.raw != "BatchLongest"
    return Padding(
        id=value["pad_id"].id(),
        length=strategy["Fixed"].id() if is_fixed else None,
        multiple_of=0 if multiple.raw is None else multiple.id(),
        side=chosen(value.get("direction"), SIDES, "Right"),
    )


def chosen(value: Value, names: Mapping[str, T], default: str) -> T:
    """What a name in the file stands for."""
    name = value.text(default=default)
    if name not in names:
        raise value.wrong(" or ".join(names))
    return names[name]


def written_truncation(framing: Framing) -> Json | None:
    """The most ids of a text, as the file says it."""
    limit = framing.truncation
    return limit and {
        "direction": name_in(SIDES, limit.side),
        "max_length": limit.max_length,
        "strategy": name_in(STRATEGIES, limit.strategy),
        "stride": 0,
    }


def written_padding(framing: Framing, names: Mapping[int, str]) -> Json | None:
    """What makes texts of a batch equally long, as the file says it; `names` are those of ids."""
    padding = framing.padding
    return padding and {
        "strategy": "BatchLongest" if padding.length is None else {"Fixed": padding.length},
        "direction": name_in(SIDES, padding.side),
        "pad_to_multiple_of": padding.multiple_of or None,
        "pad_id": padding.id,
        "pad_type_id": 0,
        "pad_token": names[padding.id],
    }


def written_processor(
    framing: Framing, names: Mapping[int, str], known: Json | None
) -> Json | None:
    """The post-processor of a framing: the known one if it says the same."""
    around = replace(framing, truncation=None, padding=None)
    if known and read_processor(Value(Reading(path=Path()), known), Framing()) == around:
        return known
    steps: list[Json] = []
    if framing.trims_spaces is not None:
        options = {"add_prefix_space": framing.trims_spaces, "trim_offsets": True}
        steps.append({"type": "ByteLevel", **options, "use_regex": True})
    if framing.before or framing.after or framing.pair != (FIRST, SECOND):
        single: tuple[int | str, ...] = (*framing.before, FIRST, *framing.after)
        ids = {part for part in (*single, *framing.pair) if isinstance(part, int)}
        special = {names[i]: {"id": names[i], "ids": [i], "tokens": [names[i]]} for i in ids}
        steps.append(
            {
                "type": "TemplateProcessing",
                "single": [written_part(part, names) for part in single],
                "pair": [written_part(part, names) for part in framing.pair],
                "special_tokens": dict(sorted(special.items())),
            }
        )
    if len(steps) < 2:
        return steps[0] if steps else None
    return {"type": "Sequence", "processors": steps}


def written_part(part: int | str, names: Mapping[int, str]) -> Json:
    """An id or the place of a text in a template."""
    if isinstance(part, int):
        return {"SpecialToken": {"id": names[part], "type_id": 0}}
    return {"Sequence": {"id": "A" if part == FIRST else "B", "type_id": int(part == SECOND)}}


def name_in(names: Mapping[str, str], value: str) -> str:
    """The name in the file of what is called otherwise here."""
    return next(name for name, known in names.items() if known == value)
