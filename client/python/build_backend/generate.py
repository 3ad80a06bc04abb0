#!/usr/bin/env python3
"""Makes what the package has but the repository does not: message classes from proto/, and the version.

    python client/python/build_backend/generate.py

writes into src/fidelio: v1/*_pb2.py, _google/own_*_pb2.py and their .pyi, and _version.py (CMakeLists.txt's version).
LICENSE is copied, too.

One wheel serves every protobuf from Debian 12's 4.21 on, so the code should come from a protoc of that time: later ones
(26 and newer) write code that refuses older libraries. `protoc` of the PATH is taken when it is old enough, else that
of grpcio-tools. Python 3.13 and later have no grpcio-tools of that time: there any protoc is taken, and the refusal is
removed from its code, which works with the older libraries all the same. There is no *_pb2_grpc.py for the same reason:
the stub is built from the service's descriptor.
"""

from __future__ import annotations

import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = PROJECT / "src" / "fidelio"
REPOSITORY = PROJECT.parent.parent
OLD_TOOLS = sys.version_info < (3, 13)
NEWEST_PROTOC = 25 if OLD_TOOLS else 1000
GRPC_TOOLS = "grpcio-tools>=1.49.1,<1.63" if OLD_TOOLS else "grpcio-tools>=1.66"

# Ours are taken only where the package googleapis-common-protos is not installed: see src/fidelio/_google/__init__.py.
GOOGLE = ("status", "error_details")


def in_repository() -> bool:
    """False in a source distribution, which has PKG-INFO and the generated files, wherever it was unpacked."""
    return (REPOSITORY / "proto/fidelio/v1/emulator.proto").exists() and not (PROJECT / "PKG-INFO").exists()


def protoc() -> list[str] | None:
    """The command of a protoc that is old enough, or None."""
    candidates = []
    if found := shutil.which("protoc"):
        candidates.append([found])
    if importlib.util.find_spec("grpc_tools"):
        candidates.append([sys.executable, "-m", "grpc_tools.protoc"])
    for command in candidates:
        text = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False).stdout
        # "libprotoc 3.21.12", later "libprotoc 25.1".
        version = re.search(r"(?:\b3\.)?(\d+)(?:\.\d+)*\s*$", text.strip())
        if version and int(version[1]) <= NEWEST_PROTOC:
            return command
    return None


def write_messages() -> None:
    command = protoc()
    if command is None:
        raise SystemExit(
            f"generate.py: no protoc {'up to version 25 ' if OLD_TOOLS else ''}found; install Debian's "
            f'protobuf-compiler, or "{GRPC_TOOLS}" by pip'
        )
    proto = REPOSITORY / "proto"
    ours = sorted(path.relative_to(proto).as_posix() for path in (proto / "fidelio" / "v1").glob("*.proto"))
    google = [f"google/rpc/{name}.proto" for name in GOOGLE]
    with tempfile.TemporaryDirectory() as directory:
        out = pathlib.Path(directory)
        subprocess.run(
            [*command, f"--proto_path={proto}", f"--python_out={out}", f"--pyi_out={out}", *ours, *google],
            cwd=proto,
            check=True,
        )
        for old in [*PACKAGE.glob("v1/*_pb2.py*"), *PACKAGE.glob("_google/own_*_pb2.py*")]:
            old.unlink()
        for made in sorted(out.rglob("*_pb2.py*")):
            text = made.read_text(encoding="utf-8")
            if made.parent.name == "v1":
                target = PACKAGE / "v1" / made.name
            else:
                target = PACKAGE / "_google" / f"own_{made.name}"
            text = text.replace("from google.rpc import", "from fidelio._google import")
            text = re.sub(r"^from google\.protobuf import runtime_version.*\n", "", text, flags=re.MULTILINE)
            text = re.sub(r"^_runtime_version\.Validate\w+\((?:\n .*)*\n\)\n", "", text, flags=re.MULTILINE)
            target.write_text(text, encoding="utf-8")


def write_version() -> None:
    text = (REPOSITORY / "CMakeLists.txt").read_text(encoding="utf-8")
    match = re.search(r"project\(\s*fidelio\s+VERSION\s+([0-9.]+)", text)
    if match is None:
        raise SystemExit("generate.py: CMakeLists.txt has no project(fidelio VERSION …)")
    (PACKAGE / "_version.py").write_text(f'__version__ = "{match[1]}"\n', encoding="utf-8")


def copy_license() -> None:
    """Wheels and source distributions have the license, which setuptools finds beside pyproject.toml."""
    shutil.copyfile(REPOSITORY / "LICENSE", PROJECT / "LICENSE")


def generate_metadata() -> None:
    """What metadata is made from, which needs no protoc. Does nothing outside of the repository."""
    if in_repository():
        write_version()
        copy_license()


def generate() -> None:
    """Everything. Does nothing outside of the repository: source distributions have the generated files."""
    if in_repository():
        generate_metadata()
        write_messages()


if __name__ == "__main__":
    generate()
