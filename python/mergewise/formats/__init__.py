"""Files of tokenizers: each module reads and writes one format."""
