"""mergewise trains, applies, improves, solves and certifies byte-pair encodings."""

# A name is loaded when it is first used: all of them take longer than encoding a text. The imports
# are what type checkers and editors read; typing.TYPE_CHECKING would load typing.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from mergewise import cluster, errors, formal
    from mergewise._core import __version__ as __version__
    from mergewise.counts import WordCounts
    from mergewise.explaining import Explanation, explain
    from mergewise.optimize import (
        Certificate,
        Solution,
        UnigramVocabulary,
        certify,
        certify_prefixes,
        improve,
        optimize_vocabulary,
        solve,
    )
    from mergewise.optimize.curvature import Curvature, curvature
    from mergewise.reporting import Report, report, report_files
    from mergewise.token_documents import TokenDocuments, open_tokens
    from mergewise.tokenizer import Tokenizer
    from mergewise.training import count, count_files, train

__all__ = [
    "Certificate",
    "Curvature",
    "Explanation",
    "Report",
    "Solution",
    "TokenDocuments",
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
    "open_tokens",
    "optimize_vocabulary",
    "report",
    "report_files",
    "solve",
    "train",
]


_MODULES = ("cluster", "errors", "formal", "optimize")
_NAMES = {
    "_core": ("__version__",),
    "counts": ("WordCounts",),
    "explaining": ("Explanation", "explain"),
    "optimize": (
        *("Certificate", "Curvature", "Solution", "UnigramVocabulary"),
        *("certify", "certify_prefixes", "curvature", "improve", "optimize_vocabulary", "solve"),
    ),
    "reporting": ("Report", "report", "report_files"),
    "token_documents": ("TokenDocuments", "open_tokens"),
    "tokenizer": ("Tokenizer",),
    "training": ("count", "count_files", "train"),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

if not TYPE_CHECKING:  # type checkers would take every name to exist

    def __getattr__(name: str) -> object:
        """Load a public name at its first use."""
        from importlib import import_module  # noqa: PLC0415 - not needed to import mergewise

        if name in _MODULES:
            return import_module(f"mergewise.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"mergewise.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return [*__all__, "__version__"]
