"""mergewise trains, applies, improves, solves and certifies byte-pair encodings."""

from mergewise import errors, formal
from mergewise.counts import WordCounts
from mergewise.optimize import Curvature, Solution, curvature, solve
from mergewise.tokenizer import Tokenizer
from mergewise.training import count, count_files, train

__all__ = [
    "Curvature",
    "Solution",
    "Tokenizer",
    "WordCounts",
    "count",
    "count_files",
    "curvature",
    "errors",
    "formal",
    "solve",
    "train",
]
