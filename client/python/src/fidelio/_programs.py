"""Where the programs of Fidelio are."""

from __future__ import annotations

from typing import Optional

import _fidelio_programs
from fidelio.errors import ProgramNotFound


def find_program(name: str, variable: str, given: Optional[str] = None, beside: Optional[str] = None) -> str:
    """Returns `given`, else what the environment variable names, else the program beside another one, the one in this
    package, or the one in PATH."""
    try:
        return _fidelio_programs.find(name, variable, given, beside)
    except _fidelio_programs.NotFound as error:
        raise ProgramNotFound(str(error)) from None
