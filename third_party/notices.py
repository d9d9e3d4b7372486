"""Write the licence notices of the crates inside the wheel: python third_party/notices.py."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
NOTICES = ROOT / "third_party" / "NOTICES.txt"
BEGINNINGS = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE")
# Wheels are built for these.
PLATFORMS = [
    f"{processor}-{system}"
    for processor in ("aarch64", "x86_64")
    for system in (
        "apple-darwin",
        "pc-windows-msvc",
        "unknown-linux-gnu",
        "unknown-linux-musl",
    )
] + ["x86_64-pc-windows-gnu"]
HEAD = """\
The compiled part of mergewise contains the crates below, and of the standard library of Rust, which
is MIT OR Apache-2.0: see rust-lang.org/policies/licenses. Where a crate may be used under one of
several licences, it is used under the MIT licence.
"""


@dataclass(frozen=True)
class Crate:
    """A crate that is linked into the wheel."""

    name: str
    version: str
    licence: str
    folder: Path
    repository: str | None

    @property
    def title(self) -> str:
        """The crate, with its licence as it names it."""
        return f"{self.name} {self.version} ({self.licence})"

    def texts(self) -> list[str]:
        """Its notices; of several licences to choose from that of MIT."""
        files = [path for path in sorted(self.folder.iterdir()) if is_licence(path)]
        chosen = [path for path in files if "APACHE" not in path.name.upper()] or files
        return [path.read_text(encoding="utf-8").strip() for path in chosen]


def is_licence(path: Path) -> bool:
    """Whether a file of a crate is a licence or a notice."""
    return path.is_file() and path.name.upper().startswith(BEGINNINGS)


def linked_crates() -> list[Crate]:
    """The crates in the wheels of all platforms: those of Cargo.lock that its code calls."""
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--features=python"]
    command += [f"--filter-platform={platform}" for platform in PLATFORMS]
    told = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)  # noqa: S603
    metadata = json.loads(told.stdout)
    packages: dict[str, Any] = {package["id"]: package for package in metadata["packages"]}
    uses = {node["id"]: list(linked_uses(node)) for node in metadata["resolve"]["nodes"]}
    root = metadata["resolve"]["root"]
    linked: set[str] = set()
    ahead = [root]
    while ahead:
        crate = ahead.pop()
        kinds = {kind for target in packages[crate]["targets"] for kind in target["kind"]}
        if crate not in linked and "proc-macro" not in kinds:
            linked.add(crate)
            ahead += uses[crate]
    found = [packages[crate] for crate in linked - {root}]
    return sorted(
        (
            Crate(
                p["name"],
                p["version"],
                p["license"],
                Path(p["manifest_path"]).parent,
                p["repository"],
            )
            for p in found
        ),
        key=lambda crate: crate.title,
    )


def linked_uses(node: dict[str, Any]) -> Iterator[str]:
    """The crates that a crate calls when it runs, not when it is built or tested."""
    for use in node["deps"]:
        if any(kind["kind"] is None for kind in use["dep_kinds"]):
            yield use["pkg"]


def notices() -> str:
    """All crates, and each text once, with the crates that it belongs to."""
    owners: dict[str, list[str]] = {}
    crates = linked_crates()
    for crate in crates:
        # Some have none of their own, but come out of a repository with crates that do.
        siblings = [other for other in crates if other.repository == crate.repository]
        texts = crate.texts() or next(filter(None, (other.texts() for other in siblings)), [])
        if not texts:
            raise FileNotFoundError(f"{crate.title} has no licence in {crate.folder}")
        for text in texts:
            owners.setdefault(text, []).append(crate.name)
    parts = [HEAD, "".join(f"  {crate.title}\n" for crate in crates)]
    rule = "=" * 80
    parts += [f"{rule}\n{', '.join(names)}\n\n{text}\n" for text, names in owners.items()]
    return "\n".join(parts)


if __name__ == "__main__":
    NOTICES.write_text(notices(), encoding="utf-8")
