"""Pin what Paceline is developed and demonstrated with: names, versions and hashes, and nothing else.

    .venv/bin/python scripts/pin.py            write constraints/*.txt anew, with the newest versions that fit
    .venv/bin/python scripts/pin.py --keep     the versions that are pinned; only what was not yet is chosen
    .venv/bin/python scripts/pin.py --check    does every pin resolve, by hash, on each supported platform?

Each file holds what it adds to the one before: `core` runs and builds Paceline, `dev` tests it, `bench` adds
the peers that it is compared with. They are requirements files and not `-c` constraints, because pip enforces
hashes only on what it is asked to install, pinned with `==`.

pip decides which versions fit together and where it looks for them, by its own configuration. Which files
make up a release it does not tell by any command, so that is read through its internals: this is a
maintainer's tool, run by hand, and no promise of the package rests on it.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pip._internal.commands import create_command
from pip._internal.commands.download import DownloadCommand
from pip._internal.index.collector import LinkCollector, parse_links
from pip._internal.models.link import Link
from pip._vendor.packaging.tags import Tag
from pip._vendor.packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

ROOT = Path(__file__).resolve().parent.parent
FILES = ROOT / "constraints"
OLDEST = (3, 11)
"""Resolving on the oldest Python finds the backports that newer ones do without."""
PYTHONS = ("3.11", "3.12", "3.13")
PLATFORMS: Mapping[str, tuple[str, ...]] = {
    "Linux x86_64": ("manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux_2_28_x86_64"),
    "Linux aarch64": ("manylinux_2_17_aarch64", "manylinux2014_aarch64", "manylinux_2_28_aarch64"),
    "macOS arm64": ("macosx_14_0_arm64", "macosx_14_0_universal2"),
    "macOS x86_64": ("macosx_14_0_x86_64", "macosx_14_0_universal2"),
}


class Layer(NamedTuple):
    """One file: what it pins, and the file that it stands on."""

    name: str
    requirements: list[str]
    on: str = ""


Pins = dict[str, str]
"""Version by canonical name."""


def layers() -> list[Layer]:
    """The files, lowest first, as pyproject.toml asks for them."""
    facts = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project, extras = facts["project"], facts["project"]["optional-dependencies"]

    def flat(requirements: Iterable[str]) -> Iterator[str]:
        for requirement in requirements:
            if own := re.fullmatch(r"paceline\[([\w,-]+)\]", requirement):
                for extra in own[1].split(","):
                    yield from flat(extras[extra])
            else:
                yield requirement

    return [
        Layer("core", [*project["dependencies"], *facts["build-system"]["requires"]]),
        Layer("dev", list(flat(extras["dev"])), on="core"),
        Layer("bench", list(flat(extras["bench"])), on="dev"),
    ]


def resolve(requirements: Iterable[str], *, known: Pins) -> Pins:
    """What pip would install for `requirements`, given that `known` is decided."""
    with tempfile.TemporaryDirectory() as folder:
        report, decided = Path(folder, "report.json"), Path(folder, "decided.txt")
        decided.write_text("".join(f"{name}=={version}\n" for name, version in known.items()))
        flags = ("--dry-run", "--ignore-installed", "--report", str(report), "--only-binary=:all:")
        pip("install", *flags, "-c", str(decided), *requirements)
        found = json.loads(report.read_text())["install"]
    return {canonicalize_name(one["metadata"]["name"]): one["metadata"]["version"] for one in found}


def pip(*arguments: str) -> None:
    """Run pip; end the program with what it said if it could not."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", *arguments], capture_output=True, text=True, check=False, cwd=ROOT
    )
    if done.returncode:
        sys.exit(done.stderr)


class Index:
    """The files of releases, as the indexes of pip's configuration list them."""

    def __init__(self, collector: LinkCollector) -> None:
        self._collector = collector

    def hashes(self, name: str, version: str) -> list[str]:
        """The hashes of the release's files that could serve on a supported platform."""
        found = {
            link.hash
            for place in self._collector.search_scope.get_index_urls_locations(name)
            if (page := self._collector.fetch_response(Link(place))) is not None
            for link in parse_links(page)
            if link.hash_name == "sha256" and link.hash and serves(link.filename, name, version)
        }
        if not found:
            sys.exit(f"pin: no hash is known for {name} {version}")
        return sorted(found)


def serves(filename: str, name: str, version: str) -> bool:
    """Whether a file is of this release, and a wheel for Linux or macOS or the source."""
    try:
        wheel_name, wheel_version, _, tags = parse_wheel_filename(filename)
    except InvalidWheelFilename:
        stem = filename.removesuffix(".tar.gz")
        left, _, right = stem.rpartition("-")
        return stem != filename and canonicalize_name(left) == name and right == version
    return wheel_name == name and str(wheel_version) == version and any(map(_supported, tags))


def _supported(tag: Tag) -> bool:
    place = tag.platform == "any" or "linux" in tag.platform or tag.platform.startswith("macosx")
    if not place or not (python := re.fullmatch(r"(py|cp)3(\d*)", tag.interpreter)):
        return False
    minor = int(python[2] or 0)
    return python[1] == "py" or minor >= OLDEST[1] or tag.abi == "abi3"


def write(layer: Layer, pins: Pins, index: Index) -> None:
    """Write one file."""
    lines = [f"# Written by scripts/pin.py; installed by `pip install --require-hashes -r {layer.name}.txt`."]
    if layer.on:
        lines.append(f"-r {layer.on}.txt")
    for name, version in sorted(pins.items()):
        hashes = (f"    --hash=sha256:{digest}" for digest in index.hashes(name, version))
        lines.append(" \\\n".join((f"{name}=={version}", *hashes)))
    (FILES / f"{layer.name}.txt").write_text("\n".join(lines) + "\n")
    print(f"constraints/{layer.name}.txt: {len(pins)} packages")


def pinned() -> Pins:
    """What the files say now."""
    text = "\n".join(path.read_text() for path in FILES.glob("*.txt"))
    return dict(re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE))


def pin(*, keep: bool) -> None:
    """Resolve and write every file, each standing on the one before."""
    if sys.version_info[:2] != OLDEST:
        sys.exit(f"pin: run this with Python {'.'.join(map(str, OLDEST))}, the oldest that is supported")
    command = create_command("download")
    assert isinstance(command, DownloadCommand)
    options, _ = command.parser.parse_args([])
    wanted = pinned() if keep else {}
    with command.main_context():
        session = command.get_default_session(options)
        index = Index(LinkCollector.create(session, options=options))
        known: Pins = {}
        for layer in layers():
            found = resolve(layer.requirements, known=wanted | known)
            write(layer, {name: version for name, version in found.items() if name not in known}, index)
            known |= found


def check() -> None:
    """Resolve the pins by hash for every supported Python and platform, without installing anything."""
    for python in PYTHONS:
        for platform, tags in PLATFORMS.items():
            with tempfile.TemporaryDirectory() as target:
                flags = ("--dry-run", "--require-hashes", "--only-binary=:all:", "--target", target)
                places = (f"--platform={tag}" for tag in tags)
                pip("install", *flags, f"--python-version={python}", *places, "-r", str(FILES / "dev.txt"))
            print(f"Python {python} on {platform}: every pin resolves")


def main() -> None:
    parser = argparse.ArgumentParser(prog="pin")
    parser.add_argument("--keep", action="store_true", help="do not take newer versions")
    parser.add_argument("--check", action="store_true", help="resolve what is pinned, write nothing")
    arguments = parser.parse_args()
    if arguments.check:
        check()
    else:
        pin(keep=arguments.keep)


if __name__ == "__main__":
    main()
