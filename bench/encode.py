"""Encoding: mergewise against its peers, the ids checked before a time counts.

    python bench/encode.py en code multi long-words --corpora DIR --python PEERS/bin/python
    python bench/encode.py models --corpora DIR --python PEERS/bin/python --candidate RC/bin/python

DIR holds en.txt, code.txt and multi.txt; PEERS is an environment with bench/requirements.txt, and
RC one with numpy and tokenizers 1.0.0rc3.
A name also selects all cases it begins: `en` is en-1kb and en-1mb. `models` is one table of all
models, `models-llama3` and `models-llama3-en` are parts of it; the other cases encode with cl100k.
The tables go to stdout and into bench/results/encode.md, each in the place of its older self.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from encode_cases import CASES, DEFAULT, MODELS, NOTES, Case
from encode_peers import ONIGURUMA_PATTERN, SPECIAL_TOKENS, Job, Outcome
from encode_tables import Encoding, comparison, models_table
from harness import BENCH, Harness, Verdict, parse, parser
from measure import package, run, versions
from ranks import read_ranks, tokenizer_json

# The tests read the same files.
sys.path.append(str(BENCH.parent / "tests"))
from vocabularies import vocabulary

TITLE = """# Encoding

Written by `bench/encode.py`. Each competitor encodes in a process of its own, on one thread, the
repetitions interleaved. CPU s is user and system time of all threads in the call that encodes all
documents. Loading (imports, the vocabulary, and what is put off until a first document, here one of
one letter) and cutting the documents is outside. Cold is the first call on the documents, the best
of the repetitions; warm the best of the later calls, up to five on the same documents, whose words
are in the caches then. The ids come as numpy arrays (for gigatoken as an awkward array) or as lists
of ints; the ratio is to mergewise with ids in the same form. Peak memory is the process's, the
documents and the loading included. A row counts only if each of its calls gave the ids of tiktoken,
document by document. All of this is with cl100k, except where models are named."""

CANDIDATE = "tokenizers-rc"


class EncodingHarness(Harness):
    """Measures the cases of encoding."""

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__("encode", options)
        if options.candidate:
            found = versions(self.script, options.candidate)
            self.versions[CANDIDATE] = found["tokenizers"]

    def python(self, competitor: str) -> str:
        """The interpreter that has a competitor."""
        if package(competitor) == CANDIDATE:
            return str(self.options.candidate)
        return super().python(competitor)

    def section(self, name: str, folder: Path) -> str:
        """Measures one named case; the text of its section."""
        parts = [self.origin(name), *(NOTES[key] for key in NOTES if name.startswith(key))]
        cases = [self._scaled(case) for case in CASES[name]]
        if cases[0].model in MODELS:
            measured = {case: self._measure(case, folder) for case in cases}
            return "\n\n".join([*parts, models_table(measured)])
        for case in cases:
            rows, length = self._measure(case, folder)
            size = case.document_size / 1e3
            parts.append(f"{case.text.kind}, {length / 1e6:.1f} MB, documents of {size:,.4g} kB.")
            parts.append(comparison(rows, length))
        return "\n\n".join(parts)

    def _scaled(self, case: Case) -> Case:
        size = int(case.text.size * self.options.scale)
        return replace(case, text=replace(case.text, size=size))

    def _measure(self, case: Case, folder: Path) -> tuple[list[Encoding], int]:
        """The rows of a case, and the bytes of its text."""
        path = case.text.write(self.options.corpora, folder)
        rows = [Encoding(case, name) for name in self.present(case.competitors)]
        reference = self._encode(case, case.judge, path, warm_calls=0)
        self.repeat(rows, lambda row: self._repeat(row, path))
        for row in rows:
            if not row.failure:
                row.verdict = judge(row.outcomes, reference, package(case.judge))
        return rows, path.stat().st_size

    def _repeat(self, row: Encoding, path: Path) -> str:
        row.outcomes.append(self._encode(row.case, row.competitor, path))
        cold, *warm = row.outcomes[-1].cpu
        return f"{row.case.model}, {cold:.3f} CPU s cold, {min(warm):.3f} warm"

    def _encode(self, case: Case, competitor: str, path: Path, **options: int) -> Outcome:
        file = vocabulary(MODELS.get(case.model, case.model))
        job = Job(
            competitor,
            str(path),
            case.document_size,
            str(file),
            str(self._tokenizer_json(file, path.parent)),
            **options,
        )
        return Outcome(**run(self.script, job, self.python(competitor), self.options.timeout))

    def _tokenizer_json(self, file: Path, folder: Path) -> Path:
        """A model's file as it is; that of cl100k for HuggingFace's tokenizers is made once."""
        if file.suffix == ".json":
            return file
        path = folder / "cl100k-tokenizer.json"
        if not path.exists():
            path.write_text(tokenizer_json(read_ranks(file), ONIGURUMA_PATTERN, SPECIAL_TOKENS))
        return path


def judge(outcomes: list[Outcome], reference: Outcome, library: str) -> Verdict:
    """Right if every call gave the ids of the reference, which `library` made."""
    for outcome in outcomes:
        if outcome.num_tokens != reference.num_tokens:
            words = f"{outcome.num_tokens:,} ids, {library} has {reference.num_tokens:,}"
            return Verdict(right=False, words=words)
        for call, digest in enumerate(outcome.digests):
            if digest != reference.digests[0]:
                words = f"other ids than {library}'s in call {call + 1}"
                return Verdict(right=False, words=words)
    return Verdict(right=True, words=f"ids of {library}, {reference.num_tokens:,}")


def main() -> None:
    """Measures the cases named on the command line."""
    made = parser(__doc__.partition("\n")[0], CASES, DEFAULT, "encode.md")
    made.add_argument("--candidate", help="the interpreter that has tokenizers 1.0.0rc3")
    harness = EncodingHarness(parse(made, CASES))
    for library in {package(case.judge) for name in harness.options.names for case in CASES[name]}:
        if harness.versions[library] is None:
            made.error(f"{library} is needed to check the ids of all")
    harness.write(TITLE, harness.section)


if __name__ == "__main__":
    main()
