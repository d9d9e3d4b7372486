"""mergewise trains, applies, improves, solves and certifies byte-pair encodings."""

from mergewise import cluster, errors, formal
from mergewise.counts import WordCounts
from mergewise.optimize import (
    Certificate,
    Curvature,
    Solution,
    UnigramVocabulary,
    certify,
    certify_prefixes,
    curvature,
    improve,
    optimize_vocabulary,
    solve,
)
from mergewise.tokenizer import Tokenizer
from mergewise.training import count, count_files, train

__all__ = [
    "Certificate",
    "Curvature",
    "Solution",
    "Tokenizer",
    "UnigramVocabulary",
    "WordCounts",
    "certify",
    "certify_prefixes",
    "cluster",
    "count",
    "count_files",
    "curvature",
    "errors",
    "formal",
    "improve",
    "optimize_vocabulary",
    "solve",
    "train",
]
