"""tiktoken with `mergewise.integrations.tiktoken.Encoding`: all but its core is its own."""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)

from tiktoken.core import Encoding as Encoding
from tiktoken.model import encoding_for_model as encoding_for_model
from tiktoken.model import encoding_name_for_model as encoding_name_for_model
from tiktoken.registry import get_encoding as get_encoding
from tiktoken.registry import list_encoding_names as list_encoding_names
