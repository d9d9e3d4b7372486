"""Release files, built and tried as a user gets them: `make wheels`.

`build` makes the source distribution and a wheel for each target, with zig as linker and C
compiler, so that one machine builds for the others. `try` installs a file with pip in a fresh
environment, without a compiler and without Rust (a source distribution needs both), and runs the
first example of README.md there. The release workflow tries every wheel so before it publishes.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "mergewise"
# Each target, and the oldest system that its wheel promises to run on.
TARGETS = {
    "x86_64-unknown-linux-gnu": "manylinux2014",
    "x86_64-unknown-linux-musl": "musllinux_1_2",
    "aarch64-unknown-linux-gnu": "manylinux2014",
    "aarch64-unknown-linux-musl": "musllinux_1_2",
    "aarch64-apple-darwin": None,
    "x86_64-pc-windows-gnu": None,
}
# What a crate below names of macOS, and zig has not: where it is, and which symbols it has.
FRAMEWORK = "CoreFoundation"
STUB = f"""\
--- !tapi-tbd
tbd-version: 4
targets: [ arm64-macos, x86_64-macos ]
install-name: /System/Library/Frameworks/{FRAMEWORK}.framework/Versions/A/{FRAMEWORK}
exports:
  - targets: [ arm64-macos, x86_64-macos ]
    symbols: [ _CFRelease, _CFStringGetBytes, _CFStringGetCStringPtr, _CFStringGetLength,
               _CFTimeZoneCopySystem, _CFTimeZoneGetName, _CFTimeZoneResetSystem ]
...
"""
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
FIRST_EXAMPLE = re.compile(r"^```pycon\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Run with the environment's Python: the example as a doctest, and how long it took from the import.
RUN_EXAMPLE = """
import doctest, sys, time
start = time.perf_counter()
failed, tried = doctest.testfile(sys.argv[1], module_relative=False)
assert tried and not failed, (tried, failed)
import mergewise, platform
print(f"{tried} examples in {time.perf_counter() - start:.2f} s with mergewise "
      f"{mergewise.__version__} on Python {platform.python_version()}, {platform.machine()}")
"""


def first_example() -> str:
    """The first example of README.md."""
    found = FIRST_EXAMPLE.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert found is not None
    return found[1]


def build(targets: Sequence[str], folder: Path) -> None:
    """The source distribution and the wheels, in `folder`."""
    maturin = [sys.executable, "-m", "maturin"]
    # zig is a module of this Python, and maturin asks the first `python3` of PATH for it.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path}
    subprocess.run([*maturin, "sdist", "--out", folder], cwd=ROOT, check=True)
    # Always in the same place, or all crates would be compiled anew.
    frameworks = ROOT / "target" / "frameworks"
    stub = frameworks / f"{FRAMEWORK}.framework" / f"{FRAMEWORK}.tbd"
    stub.parent.mkdir(parents=True, exist_ok=True)
    stub.write_text(STUB, encoding="utf-8")
    environment["CARGO_TARGET_AARCH64_APPLE_DARWIN_RUSTFLAGS"] = f"-Clink-arg=-F{frameworks}"
    for target in targets:
        compatibility = TARGETS[target]
        promise = [] if compatibility is None else ["--compatibility", compatibility]
        # zig does not link for Windows; there the linker is that of mingw-w64.
        linker = [] if "windows" in target else ["--zig"]
        command = [*maturin, "build", "--release", *linker, "--target", target, *promise]
        subprocess.run([*command, "--out", folder], cwd=ROOT, check=True, env=environment)


def check_contents(wheel: Path) -> None:
    """The wheel serves every Python from 3.10 on, and has all files of the package."""
    assert "-cp310-abi3-" in wheel.name, wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    asked = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi"), PACKAGE / "py.typed"]
    asked += [*PACKAGE.rglob("*.css"), *PACKAGE.rglob("*.js"), *PACKAGE.rglob("*.txt")]
    missing = {f"mergewise/{file.relative_to(PACKAGE).as_posix()}" for file in asked} - names
    assert not missing, f"{wheel.name} lacks {sorted(missing)}"
    modules = [name for name in names if name.endswith((".so", ".pyd"))]
    assert len(modules) == 1, modules


def bare_environment(programs: Path) -> dict[str, str]:
    """Nothing but the environment's own programs, a home for pip, and what Windows needs."""
    kept = {name: os.environ[name] for name in ("HOME", "SYSTEMROOT", "TEMP") if name in os.environ}
    return {**kept, "PATH": str(programs), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def try_file(file: Path, python: str) -> str:
    """Install with pip in a fresh environment and run the first example; what it printed."""
    is_wheel = file.suffix == ".whl"
    if is_wheel:
        check_contents(file)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        subprocess.run([python, "-m", "venv", place / "venv"], check=True)
        programs = place / "venv" / ("Scripts" if os.name == "nt" else "bin")
        environment = bare_environment(programs) if is_wheel else dict(os.environ)
        interpreter = str(programs / "python")
        install = [interpreter, "-m", "pip", "install", "--quiet", "--no-cache-dir"]
        start = time.perf_counter()
        options = ["--no-index"] if is_wheel else []
        subprocess.run([*install, *options, file], check=True, env=environment, cwd=place)
        seconds = time.perf_counter() - start
        example = place / "example.txt"
        example.write_text(first_example(), encoding="utf-8")
        command = [interpreter, "-c", RUN_EXAMPLE, str(example)]
        ran = subprocess.run(command, check=True, env=environment, cwd=place, stdout=-1, text=True)
        program = [str(programs / "mergewise"), "--version"]
        subprocess.run(program, check=True, env=environment, cwd=place, stdout=-1)
        return f"{file.name}: installed in {seconds:.1f} s; {ran.stdout.strip()}"


def pythons() -> list[str]:
    """Each supported Python that there is here."""
    found = (shutil.which(f"python{version}") for version in PYTHONS)
    return [python for python in found if python and runs(python)] or [sys.executable]


def runs(python: str) -> bool:
    """Whether it starts; a shim of pyenv may stand for a version that is not chosen."""
    return subprocess.run([python, "--version"], capture_output=True, check=False).returncode == 0


def main() -> None:
    """Build, or try, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    building = commands.add_parser("build", help="build the release files")
    building.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}")
    building.add_argument("--out", type=Path, default=ROOT / "dist")
    trying = commands.add_parser("try", help="install files, and run the first example")
    trying.add_argument("files", nargs="+", type=Path)
    trying.add_argument("--python", action="append", help="default: each that there is")
    parsed = parser.parse_args()
    if parsed.command == "build":
        build(parsed.targets or list(TARGETS), parsed.out)
    else:
        for file in parsed.files:
            for python in parsed.python or pythons():
                print(try_file(file.resolve(), python), flush=True)


if __name__ == "__main__":
    main()
