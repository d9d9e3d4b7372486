"""The own tests of tiktoken, minbpe and rustbpe, with mergewise in their place.

    python tests/peer_suites.py tiktoken=FOLDER minbpe=FOLDER rustbpe=FOLDER

Each FOLDER is a checkout. Its tests are copied to a folder of their own, where the module of their
name is the one in `shims`; a test that needs a file which only the network has is skipped. What
minbpe and rustbpe import as tiktoken is the real one. Vocabularies are those of `vocabularies.py`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from vocabularies import vocabulary

TESTS = Path(__file__).parent
# Where tiktoken fetches files, which it keeps under the SHA-1 of these addresses.
OPENAI = "https://openaipublic.blob.core.windows.net"
ADDRESSES = {
    "gpt2-merges": f"{OPENAI}/gpt-2/encodings/main/vocab.bpe",
    "gpt2-encoder": f"{OPENAI}/gpt-2/encodings/main/encoder.json",
    "gpt2": f"{OPENAI}/encodings/r50k_base.tiktoken",
    "p50k": f"{OPENAI}/encodings/p50k_base.tiktoken",
    "cl100k": f"{OPENAI}/encodings/cl100k_base.tiktoken",
    "o200k": f"{OPENAI}/encodings/o200k_base.tiktoken",
}


def fill_cache(folder: Path) -> None:
    """Put the vocabularies where tiktoken looks for them before it fetches them."""
    folder.mkdir(exist_ok=True)
    for name, address in ADDRESSES.items():
        key = hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()
        (folder / key).symlink_to(vocabulary(name))


def passes(name: str, checkout: Path) -> bool:
    """Whether all tests of a library pass; prints what pytest says."""
    sys.stdout.write(f"{name}:\n")
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve()
        shutil.copytree(checkout / "tests", folder / "tests")
        (folder / name).symlink_to(TESTS / "shims" / name)
        fill_cache(folder / "cache")
        path = [folder, TESTS, checkout.resolve(), *filter(None, [os.environ.get("PYTHONPATH")])]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "peer_suites", "tests"],
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(map(str, path)),
                "TIKTOKEN_CACHE_DIR": str(folder / "cache"),
            },
            check=False,
        )
    return done.returncode == 0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of rustbpe that would download enwik8."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    if Path(caches, "rustbpe", "enwik8").exists():
        return
    for item in items:
        if "enwik8_path" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.skip(reason="downloads enwik8"))


if __name__ == "__main__":
    suites = [argument.partition("=") for argument in sys.argv[1:]]
    results = [passes(name, Path(checkout)) for name, _, checkout in suites]
    sys.exit(not all(results))
