"""Modules with the names of other libraries, for their own tests; see `peer_suites.py`."""

# How minbpe and rustbpe cut texts: an older version of cl100k.
GPT4 = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*"
    r"|\s*[\r\n]|\s+(?!\S)|\s+"
)
