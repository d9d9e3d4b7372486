from mergewise.integrations.tiktoken import Encoding

__all__ = ["Encoding"]
