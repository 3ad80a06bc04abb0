"""Editable wheels (PEP 660) where setuptools is too old to make them (61 to 63): metadata and a path to the sources."""

from __future__ import annotations

import base64
import hashlib
import pathlib
import re
import tempfile
import zipfile

_WHEEL = "Wheel-Version: 1.0\nGenerator: fidelio_build\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build(wheel_directory, source, prepare_metadata) -> str:
    """Writes a wheel that puts `source` into Python's path, and returns its name."""
    with tempfile.TemporaryDirectory() as directory:
        made = pathlib.Path(directory, prepare_metadata(directory))
        metadata = {path.name: path.read_bytes() for path in made.iterdir() if path.name != "RECORD"}
    # The directory's name may lack the version.
    version = re.search(rb"^Version: (\S+)", metadata["METADATA"], re.MULTILINE)[1].decode()
    name = re.search(rb"^Name: (\S+)", metadata["METADATA"], re.MULTILINE)[1].decode().replace("-", "_")
    info = f"{name}-{version}.dist-info"
    files = {f"{info}/{file}": content for file, content in metadata.items()}
    files[f"{info}/WHEEL"] = _WHEEL.encode()
    files[f"__editable__.{name}-{version}.pth"] = f"{source}\n".encode()
    record = "".join(f"{path},sha256={_digest(content)},{len(content)}\n" for path, content in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return wheel


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
