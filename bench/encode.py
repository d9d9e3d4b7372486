"""Encoding with cl100k: mergewise against its peers, the ids checked before a time counts.

    python bench/encode.py en code multi long-words threads --corpora DIR --python PEERS/bin/python

DIR holds en.txt, code.txt and multi.txt; PEERS is an environment with bench/requirements.txt.
A name also selects all cases it begins: `en` is en-1kb and en-1mb. The tables go to stdout and into
bench/results/encode.md, each in the place of its older self.
"""

import sys
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from encode_cases import CASES, DEFAULT, JUDGE, NOTES, Case
from encode_peers import ONIGURUMA_PATTERN, SPECIAL_TOKENS, Job, Outcome
from encode_tables import Encoding, comparison, speed_up
from harness import BENCH, Harness, Verdict, parse, parser
from measure import package, run
from ranks import read_ranks, tokenizer_json

# The tests read the same files.
sys.path.append(str(BENCH.parent / "tests"))
from vocabularies import vocabulary

TITLE = """# Encoding

Written by `bench/encode.py`. Each competitor encodes in a process of its own, on one thread where
nothing else is said, the repetitions interleaved. CPU s is user and system time of all threads in
the call that encodes all documents. Loading (imports, cl100k, and what is put off until a first
document, here one of one letter) and cutting the documents is outside. Cold is the first call on
the documents, the best of the repetitions; warm the best of the later calls, up to five on the same
documents, whose words are in the caches then. The ids come as numpy arrays (for gigatoken as an
awkward array) or as lists of ints; the ratio is to mergewise with ids in the same form. Peak memory
is the process's, the documents and the loading included. A row counts only if each of its calls
gave the ids of tiktoken, document by document."""


class EncodingHarness(Harness):
    """Measures the cases of encoding."""

    def section(self, name: str, folder: Path) -> str:
        """Measures one named case; the text of its section."""
        parts = [self.origin(name), *(note for key, note in NOTES.items() if name == key)]
        cases = [self._scaled(case) for case in CASES[name]]
        for (text, size), same in groupby(cases, lambda case: (case.text, case.document_size)):
            path = text.write(self.options.corpora, folder)
            rows = self._measure(list(same), path)
            length = path.stat().st_size
            parts.append(f"{text.kind}, {length / 1e6:.1f} MB, documents of {size / 1e3:,.0f} kB.")
            parts.append(comparison(rows, length))
            if name == "threads":
                parts.append(speed_up(rows))
        return "\n\n".join(parts)

    def _scaled(self, case: Case) -> Case:
        size = int(case.text.size * self.options.scale)
        return replace(case, text=replace(case.text, size=size))

    def _measure(self, cases: list[Case], path: Path) -> list[Encoding]:
        rows = [Encoding(case, name) for case in cases for name in self.present(case.competitors)]
        reference = self._encode(replace(cases[0], num_threads=1), JUDGE, path, warm_calls=0)
        self.repeat(rows, lambda row: self._repeat(row, path))
        for row in rows:
            if not row.failure:
                row.verdict = judge(row.outcomes, reference)
        return rows

    def _repeat(self, row: Encoding, path: Path) -> str:
        row.outcomes.append(self._encode(row.case, row.competitor, path))
        cold, *warm = row.outcomes[-1].cpu
        return f"{cold:.3f} CPU s cold, {min(warm):.3f} warm"

    def _encode(self, case: Case, competitor: str, path: Path, **options: int) -> Outcome:
        job = Job(
            competitor,
            str(path),
            case.document_size,
            str(vocabulary("cl100k")),
            str(self._tokenizer_json(path.parent)),
            case.num_threads,
            **options,
        )
        return Outcome(**run(self.script, job, self.python(competitor), self.options.timeout))

    def _tokenizer_json(self, folder: Path) -> Path:
        """The vocabulary for HuggingFace's tokenizers, made once."""
        path = folder / "cl100k-tokenizer.json"
        if not path.exists():
            ranks = read_ranks(vocabulary("cl100k"))
            path.write_text(tokenizer_json(ranks, ONIGURUMA_PATTERN, SPECIAL_TOKENS))
        return path


def judge(outcomes: list[Outcome], reference: Outcome) -> Verdict:
    """Right if every call gave the reference's ids."""
    for outcome in outcomes:
        if outcome.num_tokens != reference.num_tokens:
            words = f"{outcome.num_tokens:,} ids, {package(JUDGE)} has {reference.num_tokens:,}"
            return Verdict(right=False, words=words)
        for call, digest in enumerate(outcome.digests):
            if digest != reference.digests[0]:
                words = f"other ids than {package(JUDGE)}'s in call {call + 1}"
                return Verdict(right=False, words=words)
    return Verdict(right=True, words=f"ids of {package(JUDGE)}, {reference.num_tokens:,}")


def main() -> None:
    """Measures the cases named on the command line."""
    made = parser(__doc__.partition("\n")[0], CASES, DEFAULT, "encode.md")
    harness = EncodingHarness("encode", parse(made, CASES))
    if harness.versions[package(JUDGE)] is None:
        made.error(f"{package(JUDGE)} is needed to check the ids of all")
    harness.write(TITLE, harness.section)


if __name__ == "__main__":
    main()
