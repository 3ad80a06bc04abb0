"""Model.report: the command `fidelio report` writes the page."""

from __future__ import annotations

import html
import os
import subprocess
import tempfile
from typing import Optional

from fidelio._caller import Options
from fidelio._programs import find_program
from fidelio.errors import FidelioError


class Report(str):
    """The path of a page that was written. In a notebook, the page itself is shown."""

    def _repr_html_(self) -> str:
        try:
            with open(self, encoding="utf-8") as file:
                page = html.escape(file.read(), quote=True)
        except OSError as error:
            return f"<p>{html.escape(str(self))}: {html.escape(error.strerror or str(error))}</p>"
        return f'<iframe srcdoc="{page}" style="width:100%;height:640px;border:0"></iframe>'


def write(options: Options, model: str, path: str, binary: Optional[str], beside: Optional[str]) -> str:
    program = find_program("fidelio", "FIDELIO_BINARY", binary, beside)
    command = [program, "report", model, "-o", path, "--server", options.address]
    if options.uses_tls:
        command.append("--tls")
    for flag, value in (
        ("--tls-ca", options.tls_ca),
        ("--tls-server-name", options.tls_server_name),
        ("--client-cert", options.tls_cert),
        ("--client-key", options.tls_key),
    ):
        if value:
            command += [flag, value]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("FIDELIO_")}
    with tempfile.TemporaryDirectory() as directory:
        if options.token:
            token = os.path.join(directory, "token")  # a directory that others can't enter
            with open(token, "w", encoding="ascii") as file:
                file.write(options.token + "\n")
            command += ["--token-file", token]
        # Without close_fds, Python uses posix_spawn: the handlers that gRPC has for fork may abort the child.
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, close_fds=False)
    if done.returncode != 0:
        raise FidelioError(f"{program} report failed (exit code {done.returncode}):\n{done.stderr.strip()}")
    return path
