"""mergewise trains, applies, improves, solves and certifies byte-pair encodings."""

from mergewise import cluster, errors, formal
from mergewise.counts import WordCounts
from mergewise.explaining import Explanation, explain
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
from mergewise.reporting import Report, report, report_files
from mergewise.tokenizer import Tokenizer
from mergewise.training import count, count_files, train

__all__ = [
    "Certificate",
    "Curvature",
    "Explanation",
    "Report",
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
    "explain",
    "formal",
    "improve",
    "optimize_vocabulary",
    "report",
    "report_files",
    "solve",
    "train",
]
