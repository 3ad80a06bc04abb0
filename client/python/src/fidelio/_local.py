"""A private server for notebooks and tests."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import weakref
from typing import Any, List, Optional, Sequence

from fidelio._programs import find_program
from fidelio.client import Client
from fidelio.errors import ServerFailed

# Ends the server when its standard input ends: by stop(), or because this process is gone, however it went.
_KEEPER = r"""
directory=$1
shift
"$@" </dev/null >&2 &
server=$!
echo "$server"
exec 1>&-
read -r word
kill -TERM "$server" 2>/dev/null
wait "$server"
[ "$word" = keep ] || rm -rf "$directory"
"""
_START_SECONDS = 60.0


class LocalServer:
    """A fidelio-server of this process: on a free port of this machine, gone when this process is. Not thread-safe."""

    def __init__(
        self, binary: Optional[str] = None, data_dir: Optional[str] = None, arguments: Sequence[str] = ()
    ) -> None:
        self.binary = find_program("fidelio-server", "FIDELIO_SERVER_BINARY", binary)
        self._directory = tempfile.mkdtemp(prefix="fidelio-")
        self.data_dir = os.path.abspath(data_dir) if data_dir else os.path.join(self._directory, "data")
        self.log = os.path.join(self._directory, "server.log")
        self._arguments = list(arguments)
        self._keepers: List[subprocess.Popen[Any]] = []  # at most one
        self.pid = 0
        self.port = 0
        self._end = weakref.finalize(self, _end, self._keepers, self._directory)  # at exit, too
        self.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Starts the server on its port (the first time a free one), and returns when it answers."""
        port_file = pathlib.Path(self._directory, "port")
        port_file.unlink(missing_ok=True)
        command = [
            self.binary, "--listen", self.address, "--port-file", str(port_file), "--data-dir", self.data_dir,
            "--metrics-address", "off", *self._arguments,
        ]  # fmt: skip
        with open(self.log, "ab") as log:
            keeper = subprocess.Popen(
                ["/bin/sh", "-c", _KEEPER, "fidelio-keeper", self._directory, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                # Settings for the caller's own servers and clients are not meant for this one.
                env={key: value for key, value in os.environ.items() if not key.startswith("FIDELIO_")},
                start_new_session=True,
            )
        self._keepers.append(keeper)
        assert keeper.stdout is not None
        self.pid = int(keeper.stdout.readline())
        deadline = time.monotonic() + _START_SECONDS
        while not (port_file.exists() and port_file.read_text().strip()):
            if not _runs(self.pid) or time.monotonic() > deadline:
                words = "\n".join(pathlib.Path(self.log).read_text(errors="replace").splitlines()[-10:])
                self.stop()
                raise ServerFailed(f"{self.binary} did not start; its last words:\n{words}")
            time.sleep(0.01)
        self.port = int(port_file.read_text())

    def kill(self) -> None:
        """Ends the server at once, as a crash does; start() brings it back with all that it had acknowledged."""
        if _runs(self.pid):
            os.kill(self.pid, signal.SIGKILL)
        _release(self._keepers, b"keep\n")

    def stop(self) -> None:
        """Ends the server, and removes its private files."""
        self._end()


def _release(keepers: List[subprocess.Popen[Any]], word: bytes) -> None:
    while keepers:
        keeper = keepers.pop()
        keeper.communicate(word)


def _end(keepers: List[subprocess.Popen[Any]], directory: str) -> None:
    _release(keepers, b"")
    shutil.rmtree(directory, ignore_errors=True)


def _runs(pid: int) -> bool:
    try:
        # A process that ended stays in the table until its keeper has waited for it.
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (OSError, IndexError):
        return False


class LocalClient(Client):
    """A Client with a private server, which close() ends."""

    def __init__(self, server: LocalServer, **options: Any) -> None:
        self.server = server
        super().__init__(server.address, **options)

    def close(self) -> None:
        super().close()
        self.server.stop()

    def __reduce__(self) -> Any:
        return Client._restore, (self._caller.options,)  # another process speaks to the same server


def local(
    data_dir: Optional[str] = None, *, binary: Optional[str] = None, arguments: Sequence[str] = (), **options: Any
) -> LocalClient:
    """A client with a server of its own, which lives as long as the client, at most as long as this process.

    The program `fidelio-server` is `binary`, or what the environment variable FIDELIO_SERVER_BINARY names, or is found
    in the package's bin/ or in PATH. With a `data_dir`, models are found there again the next time; without, they are
    forgotten. `arguments` go to the server, `options` to Client.

    >>> import fidelio
    >>> with fidelio.local() as client:
    ...     client.models()
    []
    """
    return LocalClient(LocalServer(binary, data_dir, arguments), **options)
