"""The best merge lists, and how good any can be."""

from mergewise.optimize.certificate import Certificate
from mergewise.optimize.certifying import certify, certify_prefixes
from mergewise.optimize.curvature import Curvature, curvature
from mergewise.optimize.enumerating import Enumeration, Extreme, enumerate_curvature
from mergewise.optimize.improving import improve
from mergewise.optimize.solving import Solution, solve
from mergewise.optimize.unigram import UnigramVocabulary, optimize_vocabulary
from mergewise.optimize.worst_cases import (
    Contest,
    WorstCase,
    family_of_sigma,
    family_of_unique_optima,
    family_of_words,
    find_worst_case,
    train_on_worst_case,
)

__all__ = [
    "Certificate",
    "Contest",
    "Curvature",
    "Enumeration",
    "Extreme",
    "Solution",
    "UnigramVocabulary",
    "WorstCase",
    "certify",
    "certify_prefixes",
    "curvature",
    "enumerate_curvature",
    "family_of_sigma",
    "family_of_unique_optima",
    "family_of_words",
    "find_worst_case",
    "improve",
    "optimize_vocabulary",
    "solve",
    "train_on_worst_case",
]
