"""The best merge lists, and how good any can be."""

from mergewise.optimize.solving import Solution, solve

__all__ = ["Solution", "solve"]
