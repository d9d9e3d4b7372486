"""Table 1: sentences, words, unique words, average length, of an English-German text.

The paper's 13 + 13 million sentences of CommonCrawl (CCAligned) are not to be had here. CORPORA's
en.txt and de.txt stand for them: any two texts, a sentence a line.
"""

from collections.abc import Iterator

from claims import NO_CORPORA, Claim, Options, state

import mergewise as mw

PLACE = "Table 1"
# A sentence is a line with a word in it; a word is what white space separates.
WORDS_AND_GAPS = r"\S+|\s+"


def claims(options: Options) -> Iterator[Claim]:
    """Each row of the table, then what the text makes of it."""
    published = {
        "sentences": "13M + 13M train, 1M + 1M dev and test",
        "total words": "324M",
        "unique words": "5M",
        "average sentence length (words)": "12",
    }
    average = 324 / (13 + 13 + 1 + 1)
    yield Claim(PLACE, "its words over its sentences", "12", f"{average:.1f}", round(average) == 12)
    yield Claim(
        "Appendix B.1",
        "its unique words over all",
        "1.5 %",
        f"{5 / 324:.2%}",
        round(500 / 324, 1) == 1.5,
    )
    if options.corpora is None:
        for name, value in published.items():
            yield Claim(PLACE, name, value, NO_CORPORA, None)
        return
    paths = [options.corpora / name for name in ("en.txt", "de.txt")]
    sentences = []
    for path in paths:
        with path.open(encoding="utf-8", newline="\n") as file:
            sentences.append(sum(not line.isspace() for line in file))
    counts = mw.count_files(paths, pattern=WORDS_AND_GAPS, documents="lines")
    counted = counts.top(counts.num_unique)
    words = [count for word, count in counted if not word.decode(errors="replace").isspace()]
    total, unique = sum(words), len(words)
    ours = (
        f"{sentences[0]:,} + {sentences[1]:,} (en.txt, de.txt)",
        f"{total:,}",
        f"{unique:,}",
        f"{total / sum(sentences):.1f}",
    )
    for (name, value), figure in zip(published.items(), ours, strict=True):
        yield Claim(PLACE, f"{name}, of another English-German text", value, figure, None)
    yield Claim(
        "Appendix B.1", "unique words over all, of ours", "1.5 %", f"{unique / total:.2%}", None
    )


if __name__ == "__main__":
    state(claims)
