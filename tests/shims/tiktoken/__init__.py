"""tiktoken with `mergewise.integrations.tiktoken.Encoding`: all but its core is its own."""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)

from tiktoken.core import Encoding as Encoding  # noqa: E402
from tiktoken.model import encoding_for_model as encoding_for_model  # noqa: E402
from tiktoken.model import encoding_name_for_model as encoding_name_for_model  # noqa: E402
from tiktoken.registry import get_encoding as get_encoding  # noqa: E402
from tiktoken.registry import list_encoding_names as list_encoding_names  # noqa: E402
