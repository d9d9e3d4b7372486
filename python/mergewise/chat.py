"""Conversations as one text: the chat templates of models, as transformers renders them.

A template is a program of the model's author. It runs in the sandbox of jinja2, which changes none
of its inputs, and sees plain values alone: texts, numbers, lists and mappings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, NoReturn, TypeAlias

from mergewise.config import ModelConfig
from mergewise.errors import InputError
from mergewise.optional import import_optional

Message: TypeAlias = Mapping[str, Any]
# The names by which templates know what a model thought before it answered.
REASONING: Final = ("reasoning_content", "thinking", "reasoning")


def rendered(
    config: ModelConfig,
    messages: Sequence[Message],
    *,
    tools: Sequence[Message] | None = None,
    add_generation_prompt: bool = False,
    chat_template: str | None = None,
    **variables: object,
) -> str:
    """The text of a conversation; see `Tokenizer.apply_chat_template`.

    >>> template = "{% for m in messages %}{{ m.role }}: {{ m.content }}{{ eos_token }}{% endfor %}"
    >>> config = ModelConfig(eos_token="</s>", chat_templates={"default": template})
    >>> rendered(config, [{"role": "user", "content": "Hello"}])
    'user: Hello</s>'
    """
    jinja2 = import_optional("jinja2", extra="chat", package="jinja2")
    chosen = chosen_template(config, chat_template, has_tools=tools is not None)
    chat = [with_reasoning(checked_message(plain(message))) for message in messages]
    inputs: dict[str, Any] = {
        **config.roles,
        "documents": None,
        **plain(variables),
        "messages": chat,
        "tools": plain(tools),
        "add_generation_prompt": add_generation_prompt,
    }
    try:
        text: str = compiled(chosen).render(**inputs)
    except jinja2.TemplateError as error:
        raise InputError(f"the chat template: {error}") from None
    return text


def chosen_template(config: ModelConfig, given: str | None, *, has_tools: bool) -> str:
    """The template: the one that is given by name or as it is, or the model's own."""
    templates = config.chat_templates
    if given is not None:
        return templates.get(given, given)
    if has_tools and "tool_use" in templates:
        return templates["tool_use"]
    if "default" in templates:
        return templates["default"]
    known = ", ".join(sorted(templates)) or "none"
    raise InputError(f"no chat template is the usual one; known: {known}", hint="give_template")


def plain(value: Any) -> Any:  # noqa: ANN401 - any value of the caller
    """The value without methods that a template could call: what JSON can say, or a placeholder."""
    if value is None or isinstance(value, bool):
        return value
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    return f"<{type(value).__name__}>"


def checked_message(message: object) -> dict[str, Any]:
    """A message, which must be a mapping."""
    if not isinstance(message, dict):
        raise TypeError(f"a message must map names to values, found {message!r}")
    return message


def with_reasoning(message: dict[str, Any]) -> dict[str, Any]:
    """The message with its reasoning under the names that templates use."""
    given = [message[name] for name in REASONING if message.get(name) is not None]
    return {"thinking": given[0], **message, "reasoning_content": given[0]} if given else message


@lru_cache(maxsize=64)
def compiled(template: str) -> Any:  # noqa: ANN401 - a template of jinja2, which is optional
    """The template, ready to be rendered."""
    sandbox = import_optional("jinja2.sandbox", extra="chat", package="jinja2")
    environment = sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", generation()]
    )
    environment.filters["tojson"] = as_json
    environment.globals.update(
        raise_exception=refuse,
        strftime_now=formatted_now,
        dict=Dictionaries(),
        namespace=guarded_namespace(),
    )
    return environment.from_string(template)


def generation() -> type:
    """The extension for blocks that mark what the model wrote, which are rendered as they are."""
    jinja2 = import_optional("jinja2", extra="chat", package="jinja2")
    base: Any = import_optional("jinja2.ext", extra="chat", package="jinja2").Extension

    class Generation(base):  # type: ignore[misc]
        tags = frozenset({"generation"})

        def parse(self, parser: Any) -> Any:  # noqa: ANN401 - of jinja2
            line = next(parser.stream).lineno
            body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
            return jinja2.nodes.Scope(body, lineno=line)

    return Generation


def guarded_namespace() -> type:
    """The namespaces of templates, without names that begin as those of Python's own do."""
    jinja2 = import_optional("jinja2", extra="chat", package="jinja2")
    base: Any = jinja2.utils.Namespace

    class Namespace(base):  # type: ignore[misc]
        def __init__(*args: Any, **values: Any) -> None:  # noqa: ANN401
            base.__init__(*args, **values)
            for name in dict(*args[1:], **values):
                check_name(name)

        def __setitem__(self, name: str, value: object) -> None:
            check_name(name)
            base.__setitem__(self, name, value)

    def check_name(name: object) -> None:
        if isinstance(name, str) and name.startswith("_"):
            raise jinja2.exceptions.SecurityError(f"a namespace may not have the name {name!r}")

    return Namespace


class Dictionaries:
    """What templates know as `dict`, without the attributes of Python's class."""

    def __call__(self, *pairs: Any, **values: Any) -> dict[Any, Any]:  # noqa: ANN401
        """A dictionary."""
        return dict(*pairs, **values)

    def fromkeys(self, keys: Any, value: object = None) -> dict[Any, Any]:  # noqa: ANN401
        """A dictionary with one value for all keys."""
        return dict.fromkeys(keys, value)


def refuse(message: object) -> NoReturn:
    """What templates call where a conversation is not as they expect it."""
    jinja2 = import_optional("jinja2", extra="chat", package="jinja2")
    raise jinja2.TemplateError(str(message))


def formatted_now(form: str) -> str:
    """The time of now, as templates ask for it."""
    return datetime.now().strftime(form)  # noqa: DTZ005 - the local time, as transformers has it


def as_json(
    value: object,
    ensure_ascii: bool = False,  # noqa: FBT001, FBT002 - as templates call it
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,  # noqa: FBT001, FBT002
) -> str:
    """A value in JSON; HTML's characters are not escaped."""
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )
