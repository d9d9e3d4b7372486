"""Files to arrays of ids on disk: mergewise against its peers, and by the kinds of files.

    python bench/files.py jsonl inputs --corpora DIR --python PEERS/bin/python

DIR holds en.txt; PEERS is an environment with bench/requirements.txt. `jsonl` compares with others,
`inputs` compares `encode_files` on each kind of file with `encode_batch_numpy` on the same
documents. The tables go to stdout and into bench/results/files.md.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from encode_peers import ONIGURUMA_PATTERN, SPECIAL_TOKENS, Outcome
from files_peers import COMPETITORS, DOCUMENT_SIZE, INPUTS, Job, Measured
from harness import BENCH, Harness, Row, parse, parser
from measure import run
from ranks import read_ranks, tokenizer_json
from tables import table, untimed
from texts import Text

from encode import judge

# The tests read the same files.
sys.path.append(str(BENCH.parent / "tests"))
from vocabularies import vocabulary

TITLE = """# Files of ids

Written by `bench/files.py`. English, cl100k, one thread, each call in a process of its own with
empty caches, the repetitions interleaved; the best one counts. CPU s is user and system time of the
call that reads a file and writes all ids, loading excluded. A row of peers counts only if the ids
and the lengths of documents are those of tokenizers. Reading alone is decompressing, parsing and
making the documents Python objects; `encode_batch_numpy` has these in memory. The last column is
its time over that of `encode_files` less that of reading."""

TEXT = Text("en", 100_000_000)
JUDGE = "tokenizers megatron"
PEERS_HEAD = ["", "CPU s", "MB/s", "CPU s over mergewise's", "peak MB", "ids"]
INPUTS_HEAD = ["", "CPU s", "MB/s", "reading", "`encode_batch_numpy`", "ratio"]
SECTIONS = {"jsonl": COMPETITORS, "inputs": INPUTS}


@dataclass(frozen=True)
class Case:
    """The text that is read."""

    text: Text


Peer = Row[Case, Outcome]
Input = Row[Case, Measured]


class FilesHarness(Harness):
    """Measures files to ids."""

    def section(self, name: str, folder: Path) -> str:
        """Measures one table."""
        case = Case(Text(TEXT.kind, int(TEXT.size * self.options.scale)))
        path = case.text.write(self.options.corpora, folder)
        size = path.stat().st_size
        words = f"{size / 1e6:.0f} MB of text; records of {DOCUMENT_SIZE / 1e3:.0f} kB."
        made = self._peers(case, path, size) if name == "jsonl" else self._inputs(case, path, size)
        return "\n\n".join([self.origin(name), words, made])

    def _peers(self, case: Case, path: Path, size: int) -> str:
        rows = [Peer(case, name) for name in self.present(COMPETITORS)]

        def measure(row: Peer) -> str:
            row.outcomes.append(Outcome(**self._run(row.competitor, path)))
            return f"{row.outcomes[-1].cpu[0]:.3f} CPU s"

        self.repeat(rows, measure)
        reference = next(row.outcomes[0] for row in rows if row.competitor == JUDGE)
        for row in rows:
            row.verdict = judge(row.outcomes, reference, "tokenizers")
        cells = []
        ours = min(outcome.cpu[0] for outcome in rows[0].outcomes)
        for row in rows:
            if not row.counts:
                cells.append(untimed([row.competitor], row.reason, len(PEERS_HEAD)))
                continue
            cpu = min(outcome.cpu[0] for outcome in row.outcomes)
            peak = min(outcome.peak for outcome in row.outcomes) / 1e6
            figures = [f"{cpu:.2f}", f"{size / 1e6 / cpu:.0f}", f"{cpu / ours:.1f}", f"{peak:.0f}"]
            cells.append([row.competitor, *figures, f"{reference.num_tokens:,}"])
        return table(PEERS_HEAD, cells)

    def _inputs(self, case: Case, path: Path, size: int) -> str:
        rows = [Input(case, name) for name in INPUTS]

        def measure(row: Input) -> str:
            row.outcomes.append(Measured(**self._run(row.competitor, path)))
            return f"{row.outcomes[-1]}"

        self.repeat(rows, measure)
        cells = []
        for row in rows:
            if row.failure:
                cells.append(untimed([row.competitor], row.failure, len(INPUTS_HEAD)))
                continue
            files = min(outcome.files for outcome in row.outcomes)
            reading = min(outcome.reading for outcome in row.outcomes)
            in_memory = min(outcome.in_memory for outcome in row.outcomes)
            figures = [f"{files:.2f}", f"{size / 1e6 / files:.0f}", f"{reading:.2f}"]
            ratio = in_memory / (files - reading)
            cells.append([row.competitor, *figures, f"{in_memory:.2f}", f"{ratio:.2f}"])
        return table(INPUTS_HEAD, cells)

    def _run(self, competitor: str, path: Path) -> dict[str, Any]:
        ranks = vocabulary("cl100k")
        file = path.with_name("cl100k-tokenizer.json")
        if not file.exists():
            file.write_text(tokenizer_json(read_ranks(ranks), ONIGURUMA_PATTERN, SPECIAL_TOKENS))
        job = Job(competitor, str(path), str(ranks), str(file))
        made = run(self.script, job, self.python(competitor), self.options.timeout)
        return dict(made)


def main() -> None:
    """Measures the tables named on the command line."""
    made = parser(__doc__.partition("\n")[0], SECTIONS, SECTIONS, "files.md")
    harness = FilesHarness("files", parse(made, SECTIONS))
    if harness.versions["tokenizers"] is None:
        made.error("tokenizers is needed to check the ids of all")
    harness.write(TITLE, harness.section)


if __name__ == "__main__":
    main()
