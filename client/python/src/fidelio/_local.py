"""A private server for notebooks and tests."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import signal
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
        self._keepers: List[_Keeper] = []  # at most one
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
        self._keepers.append(_Keeper(self._directory, command, self.log))
        self.pid = self._keepers[0].server
        deadline = time.monotonic() + _START_SECONDS
        while not (port_file.exists() and port_file.read_text().strip()):
            if not _runs(self.pid) or time.monotonic() > deadline:
                words = self._last_words()
                self.stop()
                raise ServerFailed(f"{self.binary} did not start; its last words:\n{words}")
            time.sleep(0.01)
        self.port = int(port_file.read_text())

    def check(self) -> None:
        """Raises ServerFailed when the server ended by itself."""
        if self._keepers and not _runs(self.pid):
            raise ServerFailed(f"{self.binary} ended by itself; its last words:\n{self._last_words()}")

    def kill(self) -> None:
        """Ends the server at once, as a crash does; start() brings it back with all that it had acknowledged."""
        if _runs(self.pid):
            os.kill(self.pid, signal.SIGKILL)
        _release(self._keepers, b"keep\n")

    def stop(self) -> None:
        """Ends the server, and removes its private files."""
        self._end()

    def _last_words(self) -> str:
        return "\n".join(pathlib.Path(self.log).read_text(errors="replace").splitlines()[-10:])


class _Keeper:
    """The shell that keeps a server. Made by posix_spawn: the handlers that gRPC has for fork may abort the child."""

    def __init__(self, directory: str, command: Sequence[str], log: str) -> None:
        from_us, self._word = os.pipe()
        to_us, from_keeper = os.pipe()
        # Settings for the caller's own servers and clients are not meant for this one.
        environment = {key: value for key, value in os.environ.items() if not key.startswith("FIDELIO_")}
        self._pid = os.posix_spawn(
            "/bin/sh",
            ["sh", "-c", _KEEPER, "fidelio-keeper", directory, *command],
            environment,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, from_us, 0),
                (os.POSIX_SPAWN_DUP2, from_keeper, 1),
                (os.POSIX_SPAWN_OPEN, 2, log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
            ],
            setsid=True,  # a terminal's Ctrl-C is not for the server
        )
        os.close(from_us)
        os.close(from_keeper)
        with open(to_us, encoding="ascii") as answer:
            self.server = int(answer.readline())  # its process

    def end(self, word: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):  # someone else ended it
            os.write(self._word, word)
        os.close(self._word)
        os.waitpid(self._pid, 0)


def _release(keepers: List[_Keeper], word: bytes) -> None:
    while keepers:
        keepers.pop().end(word)


def _end(keepers: List[_Keeper], directory: str) -> None:
    _release(keepers, b"end\n")
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
        self._caller.check_server = server.check  # a private server that is dead does not come back

    def close(self) -> None:
        super().close()
        self.server.stop()

    def __reduce__(self) -> Any:
        return Client._restore, (self._caller.options,)  # another process speaks to the same server


def local(
    data_dir: Optional[str] = None, *, binary: Optional[str] = None, arguments: Sequence[str] = (), **options: Any
) -> LocalClient:
    """Starts a private server and returns a client of it.

    The server lives as long as the client, and at most as long as this process.

    Parameters
    ----------
    data_dir
        Where models are kept: they are there again the next time. By default they are forgotten with the client.
    binary
        The program `fidelio-server`. By default what the environment variable FIDELIO_SERVER_BINARY names, else the
        program inside this package (wheels of deploy/wheel.sh have it), else the one in PATH.
    arguments
        More arguments of the server, as on its command line.
    **options
        Options of `Client`.

    Raises
    ------
    ProgramNotFound
        If there is no such program.
    ServerFailed
        If the server does not start; the message has the last lines of its log.

    Examples
    --------
    >>> import fidelio
    >>> with fidelio.local() as client:
    ...     client.models()
    []
    """
    return LocalClient(LocalServer(binary, data_dir, arguments), **options)
