from mergewise.integrations.tiktoken import Encoding as Encoding
