"""The programs `fidelio` and `fidelio-server`: where they are, and the commands that start them.

A module of its own, because importing the package takes longer than most commands do.
"""

from __future__ import annotations

import os
import sys
from typing import Iterator, NoReturn, Optional

# A platform wheel (deploy/wheel.sh) has the programs here.
BUNDLED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fidelio", "_native", "bin")


class NotFound(Exception):
    """There is no such program."""


def find(name: str, variable: str, given: Optional[str] = None, beside: Optional[str] = None) -> str:
    """Returns `given`, else what the environment variable names, else the program beside another one, the one in this
    package, or the one in PATH."""
    for what, path in (("binary", given), (variable, os.environ.get(variable))):
        if path:
            if not _is_program(path):
                raise NotFound(f"{what}: {path} is not a program")
            return str(path)
    for path in _places(name, beside):
        if _is_program(path) and not _is_ours(path):
            return path
    raise NotFound(
        f"{name} was not found: this package has no programs inside (a wheel of deploy/wheel.sh has); put the "
        f"directory that has it into PATH, or its path into {variable}"
    )


def _places(name: str, beside: Optional[str]) -> Iterator[str]:
    if beside:
        yield os.path.join(os.path.dirname(os.path.realpath(beside)), name)
    yield os.path.join(BUNDLED, name)
    for directory in os.get_exec_path():
        yield os.path.join(directory, name)


def _is_program(path: str) -> bool:
    return os.access(path, os.X_OK) and not os.path.isdir(path)


def _is_ours(path: str) -> bool:
    """Whether pip made it to call this module: such a script would find itself in PATH."""
    with open(path, "rb") as file:
        start = file.read(4096)
    return start.startswith(b"#!") and b"_fidelio_programs" in start


def _become(name: str, variable: str) -> NoReturn:
    try:
        path = find(name, variable)
    except NotFound as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(127)
    os.environ.pop(variable, None)  # the server warns of variables that are not its settings
    os.execv(path, [name, *sys.argv[1:]])


def fidelio() -> NoReturn:
    """The command `fidelio`."""
    _become("fidelio", "FIDELIO_BINARY")


def fidelio_server() -> NoReturn:
    """The command `fidelio-server`."""
    _become("fidelio-server", "FIDELIO_SERVER_BINARY")
