"""Report: measurements of a tokenizer on a corpus, as one page."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from mergewise.arguments import check_num_threads, check_seconds
from mergewise.counts import WordCounts
from mergewise.errors import InputError
from mergewise.files import write_text
from mergewise.interrupts import noticed_interrupts
from mergewise.pages.notebook import framed
from mergewise.progress import Progress, Reporter
from mergewise.reporting.band import Band, NotCertified, find_band
from mergewise.reporting.measuring import Measured, measure
from mergewise.reporting.page import report_page
from mergewise.sources import DocumentMode, PathLike, find_sources
from mergewise.tokenizer import Tokenizer
from mergewise.training import Errors, count_files

__all__ = ["Report", "report", "report_files"]

Corpus: TypeAlias = WordCounts | Mapping[str, WordCounts]

TIME_LIMIT = 10.0
NOT_ASKED = "no proof was asked for"


@dataclass(frozen=True)
class Report:
    """Measurements of one tokenizer, or of several, on a corpus.

    Attributes:
        html: the page, in one file.
        subjects: the measurements behind it.
        bands: for each tokenizer, how few tokens any merges can make; or why that is not known.
    """

    html: str = field(repr=False)
    subjects: tuple[Measured, ...]
    bands: tuple[Band | str, ...]

    def __repr__(self) -> str:
        made = ", ".join(f"{s.name}: {s.total.num_tokens:,} tokens" for s in self.subjects[:4])
        more = ", …" if len(self.subjects) > 4 else ""
        return f"<Report: {made}{more}>"

    def _repr_html_(self) -> str:
        return framed(self.html, "48rem")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page, whole or not at all."""
        write_text(self.html, path)


def report(
    tokenizer: Tokenizer,
    counts: Corpus,
    *,
    name: str = "tokenizer",
    compare: Tokenizer | Mapping[str, Tokenizer] | None = None,
    compare_counts: Corpus | Mapping[str, Corpus] | None = None,
    compare_name: str = "the other",
    time_limit: float = TIME_LIMIT,
    num_threads: int = 0,
    progress: Progress = False,
) -> Report:
    """A page on what a tokenizer does to a corpus: `report(tok, counts).save("report.html")`.

    >>> from mergewise import count, train
    >>> counts = count(["low low low lower lowest"], pattern="whitespace")
    >>> made = report(train(counts, num_merges=3), counts, time_limit=0)
    >>> made.subjects[0].total.num_tokens, made.subjects[0].gains
    (10, [5, 5, 4])

    Ctrl-C ends the search for proofs, and the page shows what was proved so far.

    Args:
        tokenizer: trained here or read from a file.
        counts: the corpus, or its parts by name; cut into words as the tokenizer does.
        name: of the tokenizer, as the page shows it.
        compare: another tokenizer, to stand beside it; or several by name.
        compare_counts: the corpus as that one cuts it, unless both cut alike; of several, by name.
        compare_name: the name of one.
        time_limit: seconds for the proofs of how few tokens are possible, for each tokenizer; 0
            leaves them out.
        num_threads: 0 means all cores.
        progress: show a bar, or call this with the proofs made and their number.
    """
    check_seconds(time_limit)
    check_num_threads(num_threads)
    subjects = [measured(name, tokenizer, counts)]
    others = named(compare, compare_name)
    theirs: Any = compare_counts if isinstance(compare, Mapping) else {compare_name: compare_counts}
    for other_name, other in others.items():
        own = (theirs or {}).get(other_name)
        subjects.append(measured(other_name, other, counts if own is None else own))
    with noticed_interrupts() as is_interrupted:
        bands = [
            band_or_reason(subject, time_limit, num_threads, progress, is_interrupted)
            for subject in subjects
        ]
    return Report(report_page(subjects, bands), tuple(subjects), tuple(bands))


def named(
    compare: Tokenizer | Mapping[str, Tokenizer] | None, name: str
) -> Mapping[str, Tokenizer]:
    """The other tokenizers by name."""
    if compare is None:
        return {}
    return compare if isinstance(compare, Mapping) else {name: compare}


def measured(name: str, tokenizer: Tokenizer, counts: Corpus) -> Measured:
    """A tokenizer on a corpus, if they belong together."""
    if not isinstance(tokenizer, Tokenizer):
        raise TypeError(f"expected a Tokenizer, found {type(tokenizer).__name__}")
    parts = {"the corpus": counts} if isinstance(counts, WordCounts) else dict(counts)
    for part in parts.values():
        if not isinstance(part, WordCounts):
            raise TypeError(f"expected WordCounts, found {type(part).__name__}")
        theirs, ours = (part.pattern, part.normalize), (tokenizer.pattern, tokenizer.normalize)
        if theirs != ours:
            raise InputError(
                f"{name} has pattern {ours[0]!r} and normalize {ours[1]!r}, the counts have "
                f"{theirs[0]!r} and {theirs[1]!r}",
                hint="count with those of the tokenizer",
            )
    return measure(name, tokenizer, parts)


def band_or_reason(
    subject: Measured,
    time_limit: float,
    num_threads: int,
    progress: Progress,
    is_interrupted: Callable[[], bool],
) -> Band | str:
    """The band of a tokenizer, or why there is none."""
    if not time_limit:
        return NOT_ASKED
    try:
        return find_band(
            subject,
            time_limit=time_limit,
            num_threads=num_threads,
            progress=progress,
            is_interrupted=is_interrupted,
        )
    except NotCertified as reason:
        return str(reason)


def report_files(
    tokenizer: Tokenizer,
    paths: PathLike | Iterable[PathLike],
    *,
    name: str = "tokenizer",
    compare: Tokenizer | Mapping[str, Tokenizer] | None = None,
    compare_name: str = "the other",
    documents: DocumentMode = "file",
    field: str = "text",
    errors: Errors = "keep",
    skip_bad: bool = False,
    time_limit: float = TIME_LIMIT,
    num_threads: int = 0,
    progress: Progress = False,
) -> Report:
    """A report on files, each a part of the corpus: see `report` and `count_files`."""
    others = named(compare, compare_name)
    sources = {Path(source.path): source for source in find_sources(paths)}
    names = names_of(sources)

    def parts_for(one: Tokenizer) -> dict[str, WordCounts]:
        total = sum(source.num_bytes for source in sources.values())
        reporter = Reporter(progress, "count", total, "B")
        parts, before = {}, 0
        for path, source in sources.items():
            parts[names[path]] = count_files(
                [path],
                pattern=one.pattern,
                documents=documents,
                field=field,
                normalize=one.normalize,
                special_tokens=list(one.special_tokens),
                errors=errors,
                skip_bad=skip_bad,
                num_threads=num_threads,
                progress=reporter.after(before) or False,
            )
            before += source.num_bytes
        reporter.close(before)
        return parts

    return report(
        tokenizer,
        parts_for(tokenizer),
        name=name,
        compare=others,
        compare_counts={other_name: parts_for(other) for other_name, other in others.items()},
        time_limit=time_limit,
        num_threads=num_threads,
        progress=progress,
    )


def names_of(paths: Iterable[Path]) -> dict[Path, str]:
    """Names for files that tell them apart: without the folders that all of them are in.

    >>> names_of([Path("c/en/a.txt"), Path("c/de/a.txt")])[Path("c/de/a.txt")]
    'de/a.txt'
    >>> names_of([Path("-")])
    {PosixPath('-'): 'standard input'}
    """
    files = list(dict.fromkeys(paths))
    common = os.path.commonpath([path.parent.absolute() for path in files])
    return {
        path: "standard input"
        if str(path) == "-"
        else path.absolute().relative_to(common).as_posix()
        for path in files
    }
