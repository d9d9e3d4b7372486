"""mergewise trains, applies, improves, solves and certifies byte-pair encodings."""

from mergewise import errors, formal

__all__ = ["errors", "formal"]
