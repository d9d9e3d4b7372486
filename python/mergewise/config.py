"""ModelConfig: what a model's files say of its tokenizer besides the vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from mergewise.framing import FIRST, SECOND, Framing

# The tokens that have a role, as tokenizer_config.json names them.
ROLES: Final = (
    "bos_token",
    "eos_token",
    "pad_token",
    "unk_token",
    "sep_token",
    "cls_token",
    "mask_token",
)


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """What a model's files say of its tokenizer besides the vocabulary.

    Attributes:
        bos_token: the token that begins a text.
        eos_token: the one that ends it.
        pad_token: the one that fills a batch.
        unk_token: the one for what is unknown.
        sep_token: the one between two texts.
        cls_token: the one that stands for a whole text.
        mask_token: the one for what is hidden.
        chat_templates: the templates of conversations, by name; the usual one is "default".
        add_bos_token: whether texts begin with `bos_token`; None: not said.
        add_eos_token: whether texts end with `eos_token`.
        model_max_length: how many ids the model takes.
        clean_up_tokenization_spaces: whether decoding removes spaces before punctuation.
    """

    bos_token: str | None = None
    eos_token: str | None = None
    pad_token: str | None = None
    unk_token: str | None = None
    sep_token: str | None = None
    cls_token: str | None = None
    mask_token: str | None = None
    chat_templates: Mapping[str, str] = field(default_factory=dict)
    add_bos_token: bool | None = None
    add_eos_token: bool | None = None
    model_max_length: int | None = None
    clean_up_tokenization_spaces: bool | None = None

    @property
    def roles(self) -> dict[str, str]:
        """The tokens that have a role, by the name of the role.

        >>> ModelConfig(bos_token="<s>").roles
        {'bos_token': '<s>'}
        """
        tokens = {role: getattr(self, role) for role in ROLES}
        return {role: token for role, token in tokens.items() if token is not None}

    def framing(self, ids: Mapping[str, int]) -> Framing:
        """What the configuration puts around a text; `ids` has those of the tokens.

        >>> ModelConfig(bos_token="<s>", add_bos_token=True).framing({"<s>": 1}).before
        (1,)
        """
        before = (ids[self.bos_token],) if self.add_bos_token and self.bos_token else ()
        after = (ids[self.eos_token],) if self.add_eos_token and self.eos_token else ()
        pair = (*before, FIRST, *after, *before, SECOND, *after)
        return Framing(before=before, after=after, pair=pair)


NO_CONFIG: Final = ModelConfig()
