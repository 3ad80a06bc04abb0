"""Calls on one connection, each with its deadline, its token and its retries. Thread-safe."""

from __future__ import annotations

import dataclasses
import ipaddress
import math
import os
import secrets
import time
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

import grpc
from google.protobuf import descriptor_pb2

from fidelio import _arguments, errors
from fidelio._retry import Backoff, RetryPolicy
from fidelio.v1 import emulator_pb2

_PORT = 50051  # where servers listen unless told

SERVICE = emulator_pb2.DESCRIPTOR.services_by_name["Emulator"]


def methods() -> Iterator[Tuple[Any, bool, bool]]:
    """The methods of the service, and whether requests and responses are streams (which protobuf 4.21 does not say)."""
    file = descriptor_pb2.FileDescriptorProto.FromString(emulator_pb2.DESCRIPTOR.serialized_pb)
    for declared in file.service[0].method:
        yield SERVICE.methods_by_name[declared.name], declared.client_streaming, declared.server_streaming


# As client/cpp/channel.cc: connections come back soon after the server does; limits are the server's.
_CHANNEL_OPTIONS: List[Tuple[str, Any]] = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 2000),
    ("grpc.enable_retries", 0),
    ("grpc.enable_http_proxy", 0),
]


@dataclasses.dataclass(frozen=True)
class Options:
    """How a server is reached. All are plain values, so that a Client can be pickled."""

    address: str
    tls: bool = False
    tls_ca: Optional[str] = None
    tls_cert: Optional[str] = None
    tls_key: Optional[str] = None
    tls_server_name: Optional[str] = None
    token: Optional[str] = None
    insecure_token: bool = False
    timeout: float = 60.0
    retry: RetryPolicy = RetryPolicy()  # noqa: RUF009  (frozen)
    watch_give_up_after: float = 600.0
    watch_renewal: float = 60.0

    @property
    def target(self) -> str:
        """The address with a port, as gRPC wants it."""
        host, colon, port = self.address.rpartition(":")
        if self.address.startswith(("unix:", "unix-abstract:", "dns:", "ipv4:", "ipv6:")):
            return self.address
        if not colon or self.address.endswith("]"):
            return f"{self.address}:{_PORT}"
        if ":" in host and not host.startswith("["):
            raise errors.InvalidArgument(f"address: {self.address!r} has several colons; IPv6 is [::1]:50051")
        if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
            raise errors.InvalidArgument(f"address: {self.address!r}, must be host:port, with a port from 1 to 65535")
        return self.address

    @property
    def is_loopback(self) -> bool:
        """Whether calls stay on this machine: localhost, a literal loopback address, or a socket of the file system.

        A name such as 127.example.com may lead anywhere."""
        if self.address.startswith(("unix:", "unix-abstract:")):
            return True
        address = self.address
        for scheme in ("ipv4:", "ipv6:", "dns:///", "dns:"):
            if address.startswith(scheme):
                address = address[len(scheme) :]
                break
        if address.startswith("["):
            host, _, rest = address[1:].partition("]")
            if rest and not rest.startswith(":"):
                return False
        else:
            host = address.partition(":")[0]
        if host.lower() == "localhost":
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    @property
    def uses_tls(self) -> bool:
        return self.tls or any((self.tls_ca, self.tls_cert, self.tls_key, self.tls_server_name))

    def check(self) -> None:
        if not self.address:
            raise errors.InvalidArgument("address: empty, must be host:port")
        if self.address.startswith(("http://", "https://")):
            raise errors.InvalidArgument(f"address: {self.address!r} is a URL, must be host:port; TLS is tls=True")
        if bool(self.tls_cert) != bool(self.tls_key):
            raise errors.InvalidArgument("tls_cert, tls_key: a client's certificate and its key are needed together")
        if self.token and not all("!" <= character <= "~" for character in self.token):
            raise errors.InvalidArgument("token: must be one line of visible ASCII characters without blanks")
        if self.token and not self.uses_tls and not self.is_loopback and not self.insecure_token:
            raise errors.InvalidArgument(
                f'token: would be sent to "{self.address}" unencrypted, readable by anyone on the way; use TLS'
            )


def _read(path: Optional[str], what: str) -> Optional[bytes]:
    if path is None:
        return None
    try:
        with open(os.path.expanduser(path), "rb") as file:
            return file.read()
    except OSError as error:
        raise errors.InvalidArgument(f"{what}: {path}: {error.strerror}") from None


def _connect(options: Options) -> grpc.Channel:
    options.check()
    arguments = list(_CHANNEL_OPTIONS)
    if not options.uses_tls:
        return grpc.insecure_channel(options.target, arguments)
    if options.tls_server_name:
        arguments.append(("grpc.ssl_target_name_override", options.tls_server_name))
    credentials = grpc.ssl_channel_credentials(
        root_certificates=_read(options.tls_ca, "tls_ca"),
        private_key=_read(options.tls_key, "tls_key"),
        certificate_chain=_read(options.tls_cert, "tls_cert"),
    )
    return grpc.secure_channel(options.target, credentials, arguments)


def new_request_id() -> str:
    """Makes a mutation happen once, however often it is sent."""
    return secrets.token_hex(16)


class Caller:
    """The stub of the service, built from its descriptor, with what every call needs."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.check_server: Callable[[], None] = lambda: None  # raises when there is no use in trying again
        self._closed = False
        self._channel = _connect(options)
        self._metadata = [("authorization", f"Bearer {options.token}")] if options.token else None
        self._methods: Dict[str, Any] = {}
        for method, sends, receives in methods():
            kind = ("stream" if sends else "unary") + ("_stream" if receives else "_unary")
            self._methods[method.name] = getattr(self._channel, kind)(
                f"/{SERVICE.full_name}/{method.name}",
                request_serializer=method.input_type._concrete_class.SerializeToString,
                response_deserializer=method.output_type._concrete_class.FromString,
            )

        # Health.Check of the whole server, whose request is empty and whose response does not matter.
        self._probe = self._channel.unary_unary("/grpc.health.v1.Health/Check")

    def close(self) -> None:
        self._closed = True
        self._channel.close()

    def deadline(self, timeout: Optional[float]) -> float:
        return time.monotonic() + (self.options.timeout if timeout is None else timeout)

    def backoff(self, policy: Optional[RetryPolicy] = None) -> Backoff:
        return Backoff(policy or self.options.retry, self._pause)

    def once(self, method: str, request: Any, deadline: float) -> Any:
        """One attempt. Streams are returned at once, and raise grpc.RpcError later."""
        timeout = None if math.isinf(deadline) else max(0.0, deadline - time.monotonic())
        if self._closed:
            raise errors.FailedPrecondition("this client was closed; make another one")
        return self._methods[method](request, timeout=timeout, metadata=self._metadata)

    def error(self, error: grpc.RpcError) -> errors.FidelioError:
        """Errors that the transport made, not the server, name the server."""
        if error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
            plain = "WRONG_VERSION_NUMBER" in (error.details() or "")
            note = f"\n  server {self.options.address}" + (", which does not use TLS: leave out tls" if plain else "")
            return errors.from_rpc_error(error, note=note)
        return errors.from_rpc_error(error)

    def retrying(self, attempt: Callable[[], Any], deadline: float, method: str = "") -> Any:
        """What `attempt` returns, which is called again while the server is unavailable."""
        backoff = self.backoff()
        while True:
            try:
                return attempt()
            except grpc.RpcError as raw:
                error = self.error(raw)
                if isinstance(error, errors.Unimplemented) and not str(error):
                    error.args = (f"the server lacks {method}: it is older than this package",)
                error._speak_of(lambda text: _arguments.translate(method, text))
            if not isinstance(error, errors.Unavailable) or not backoff.wait(error, deadline):
                raise backoff.give_up(error) from None

    def call(self, method: str, request: Any, timeout: Optional[float] = None) -> Any:
        """A unary call with its retries."""
        deadline = self.deadline(timeout)
        return self.retrying(lambda: self.once(method, request, deadline), deadline, method)

    def pages(self, method: str, request: Any, timeout: Optional[float] = None) -> Iterator[Any]:
        """The responses of a call, page by page."""
        while True:
            page = self.call(method, request, timeout)
            yield page
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def send(self, method: str, requests: Callable[[], Iterable[Any]], timeout: Optional[float] = None) -> Any:
        """A call with a stream of requests, made again for each attempt."""
        deadline = self.deadline(timeout)
        return self.retrying(lambda: self.once(method, iter(requests()), deadline), deadline, method)

    def _pause(self, delay: float) -> None:
        """Between two attempts: ends early when the server comes back."""
        end = time.monotonic() + delay
        time.sleep(delay / 4)
        self.check_server()
        try:
            self._probe(b"", timeout=max(0.0, end - time.monotonic()), wait_for_ready=True)
        except grpc.RpcError:
            time.sleep(max(0.0, end - time.monotonic()))


def chunks(rows: int, size: int) -> List[Tuple[int, int]]:
    """[0, rows) in pieces of at most `size`; one empty piece for none, which the server refuses."""
    return [(begin, min(begin + size, rows)) for begin in range(0, max(rows, 1), size)]
