"""Input made to kill, stall or flood the process, and forks at the worst moment: nothing does."""

from __future__ import annotations

import sys

import pytest
from processes import run_python

# Forks.


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_children_encode_though_their_parent_was_forked_while_encoding() -> None:
    """No child waits for a lock that a thread of the parent held."""
    code = """
counts = mw.count([words(20_000)])
tok = mw.train(counts, vocab_size=400, special_tokens=['<a>', '<b>'])
text = 'word17 é word289'

def work():
    ids = tok.encode(text)
    allowed = tok.encode('<a>' + text, allowed_special={'<a>'})
    batch = tok.encode_batch([text] * 4, num_threads=2)
    return tok.decode(ids), tok.count_tokens(text), len(allowed), list(batch)

expected = work()
done = threading.Event()

def keep_busy():
    while not done.is_set():
        work()

threads = [threading.Thread(target=keep_busy) for _ in range(4)]
for thread in threads:
    thread.start()
codes = []
for _ in range(60):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if work() == expected else 1)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    if codes[-1]:
        break
done.set()
for thread in threads:
    thread.join()
print(sum(code == 0 for code in codes))
"""
    assert run_python(code) == "60\n"
