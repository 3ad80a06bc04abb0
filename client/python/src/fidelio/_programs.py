"""Where the programs of Fidelio are."""

from __future__ import annotations

import os
import pathlib
import shutil
from typing import Optional

from fidelio.errors import ProgramNotFound


def find_program(name: str, variable: str, given: Optional[str] = None, beside: Optional[str] = None) -> str:
    """`given`, else the environment variable, else beside another program, in the package's bin/, or in the PATH."""
    for what, path in (("binary", given), (variable, os.environ.get(variable))):
        if path:
            if not os.access(path, os.X_OK) or os.path.isdir(path):
                raise ProgramNotFound(f"{what}: {path} is not a program")
            return str(path)
    places = [pathlib.Path(__file__).parent / "bin" / name]
    if beside:
        places.insert(0, pathlib.Path(beside).resolve().parent / name)
    for place in places:
        if os.access(place, os.X_OK):
            return str(place)
    found = shutil.which(name)
    if found:
        return found
    raise ProgramNotFound(f"{name} was not found: put the directory that has it into PATH, or its path into {variable}")
