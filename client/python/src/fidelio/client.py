"""Client: a connection to a Fidelio server."""

from __future__ import annotations

import math
import os
from typing import Any, BinaryIO, Iterator, List, Optional, Sequence, Tuple, Union

from fidelio import _wire
from fidelio._caller import Caller, Options, new_request_id
from fidelio._retry import RetryPolicy
from fidelio.errors import InvalidArgument, NotFound
from fidelio.model import Model
from fidelio.results import ModelInfo, ServerInfo
from fidelio.v1 import model_pb2, server_info_pb2, transfer_pb2

_FILE_CHUNK = 1 << 20


class Client:
    """A connection to a server, made by the first call. Thread-safe; close() it, or use it in a `with` statement.

    Calls that find the server unavailable are tried again until `timeout` (seconds, retries included), with the same
    request id, so that each happens once. Everything may also be set by the environment variables of the command
    `fidelio`: FIDELIO_SERVER, FIDELIO_TOKEN_FILE, FIDELIO_TLS, FIDELIO_TLS_CA, FIDELIO_TLS_SERVER_NAME,
    FIDELIO_CLIENT_CERT, FIDELIO_CLIENT_KEY.

    address: host:port, or a host, whose port is 50051 then. tls: encrypt, and trust the authorities of the system.
    tls_ca: trust those of this PEM file instead. tls_server_name: name in the server's certificate, if not the
    host's. tls_cert, tls_key: PEM files of the client's own certificate. token: shown with every call; needs TLS
    unless the server is on this machine, or insecure_token is set.

    >>> import fidelio
    >>> with fidelio.local() as client:  # Client("host:50051") where a server runs
    ...     model = client.create_model("wing", inputs=2, fidelities=["coarse", "fine"], costs=[1, 10])
    ...     print(model)
    Model 'wing': 2 inputs; coarse 0, fine 0 observations; not fitted
    """

    def __init__(
        self,
        address: Optional[str] = None,
        *,
        tls: Optional[bool] = None,
        tls_ca: Optional[str] = None,
        tls_cert: Optional[str] = None,
        tls_key: Optional[str] = None,
        tls_server_name: Optional[str] = None,
        token: Optional[str] = None,
        insecure_token: bool = False,
        timeout: float = 60.0,
        retry: Optional[RetryPolicy] = None,
    ) -> None:
        environment = os.environ.get
        if not timeout > 0 or math.isnan(timeout):
            raise InvalidArgument(f"timeout: {timeout}, must be a number of seconds above 0")
        self._caller = Caller(
            Options(
                address=address if address is not None else environment("FIDELIO_SERVER", "127.0.0.1:50051"),
                tls=environment("FIDELIO_TLS", "").lower() in ("1", "true", "yes", "on") if tls is None else tls,
                tls_ca=tls_ca or environment("FIDELIO_TLS_CA"),
                tls_cert=tls_cert or environment("FIDELIO_CLIENT_CERT"),
                tls_key=tls_key or environment("FIDELIO_CLIENT_KEY"),
                tls_server_name=tls_server_name or environment("FIDELIO_TLS_SERVER_NAME"),
                token=token if token is not None else _token_of(environment("FIDELIO_TOKEN_FILE")),
                insecure_token=insecure_token,
                timeout=timeout,
                retry=retry or RetryPolicy(),
            )
        )

    @classmethod
    def _restore(cls, options: Options) -> Client:
        client = Client.__new__(Client)
        client._caller = Caller(options)
        return client

    def __reduce__(self) -> Any:
        return Client._restore, (self._caller.options,)

    def __deepcopy__(self, memo: Any) -> Client:
        return self  # a handle; scikit-learn's clone() copies parameters

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.address}>"

    @property
    def address(self) -> str:
        return self._caller.options.address

    def close(self) -> None:
        """Ends the connection. Fits go on."""
        self._caller.close()

    def server_info(self) -> ServerInfo:
        """What the server is, can do and allows."""
        return ServerInfo._of(self._caller.call("GetServerInfo", server_info_pb2.GetServerInfoRequest()))

    def create_model(
        self,
        name: str,
        inputs: int,
        fidelities: Union[int, Sequence[str]] = 1,
        *,
        costs: Optional[Sequence[float]] = None,
        box: Optional[Tuple[Any, Any]] = None,
        kind: str = "mf-dgp",
        transform: str = "identity",
        bounds: Optional[Tuple[float, float]] = None,
        description: str = "",
        exist_ok: bool = False,
    ) -> Model:
        """Creates a model without data.

        inputs: their number. fidelities: names from the lowest to the highest, or their number. costs: of one run of
        each. box: (lower, upper) corners of where inputs live. kind: mf-dgp, or another that the
        server has (server_info). transform: of outputs before they are modelled: identity, log, logit, or bounded with
        bounds=(lower, upper). exist_ok: take the model of that name if there is one; it must have as many inputs and
        fidelities.
        """
        inputs = _wire.whole_of(inputs, "inputs", 0)  # the server refuses 0
        if isinstance(fidelities, str):
            raise InvalidArgument(f"fidelities: {fidelities!r}, must be a list of names, or their number")
        names = [f"level-{level}" for level in range(fidelities)] if isinstance(fidelities, int) else list(fidelities)
        wire = model_pb2.Model(input_dimension=inputs, description=description, kind=_wire.KINDS.value(kind))
        prices = None if costs is None else _wire.numbers_of(costs, "costs")
        if prices is not None and len(prices) != len(names):
            raise InvalidArgument(f"costs: {len(prices)} numbers, but there are {len(names)} fidelities")
        for level, fidelity in enumerate(names):
            cost = None if prices is None else prices[level]
            wire.fidelities.append(model_pb2.Fidelity(name=str(fidelity), cost=cost))
        if box is not None:
            wire.input_box.CopyFrom(_wire.box_of(box))
        wire.output_transform.kind = _wire.TRANSFORMS.value(transform)
        if (bounds is None) == (wire.output_transform.kind == model_pb2.OUTPUT_TRANSFORM_KIND_BOUNDED):
            raise InvalidArgument("bounds: (lower, upper) belong to transform='bounded', and only to that")
        if bounds is not None:
            corners = _wire.numbers_of(bounds, "bounds")
            if len(corners) != 2:
                raise InvalidArgument(f"bounds: {len(corners)} numbers, must be (lower, upper)")
            wire.output_transform.lower, wire.output_transform.upper = corners
        if exist_ok:
            try:
                return self._checked(self.model(name), inputs, len(names))
            except NotFound:
                pass
        request = model_pb2.CreateModelRequest(model_id=name, model=wire, request_id=new_request_id())
        return Model(self, ModelInfo._of(self._caller.call("CreateModel", request)))

    @staticmethod
    def _checked(model: Model, inputs: int, fidelities: int) -> Model:
        if (model.info.inputs, len(model.info.fidelities)) != (inputs, fidelities):
            raise InvalidArgument(
                f"model {model.name!r} exists with {model.info.inputs} inputs and {len(model.info.fidelities)} "
                f"fidelities, not {inputs} and {fidelities}"
            )
        return model

    def model(self, name: str) -> Model:
        """A model of the server; NotFound if there is none of that name."""
        wire = self._caller.call("GetModel", model_pb2.GetModelRequest(name=_wire.model_name(name)))
        return Model(self, ModelInfo._of(wire))

    def models(self) -> List[Model]:
        """All models that the caller may see, by name."""
        pages = self._caller.pages("ListModels", model_pb2.ListModelsRequest(page_size=1000))
        return [Model(self, ModelInfo._of(wire)) for page in pages for wire in page.models]

    def import_model(self, source: Union[str, os.PathLike[str], bytes, BinaryIO], name: Optional[str] = None) -> Model:
        """Creates a model from what Model.export wrote: a path, its bytes, or a file that can seek. With a `name`,
        under that one instead of its own."""
        if isinstance(source, (str, os.PathLike)):
            with open(source, "rb"):
                pass  # FileNotFoundError and its like, which would not come out of the call
        header = transfer_pb2.ImportModelHeader(model_id=name or "", request_id=new_request_id())

        def requests() -> Iterator[transfer_pb2.ImportModelRequest]:
            yield transfer_pb2.ImportModelRequest(header=header)
            for chunk in _file_chunks(source):
                yield transfer_pb2.ImportModelRequest(chunk=chunk)

        return Model(self, ModelInfo._of(self._caller.send("ImportModel", requests)))


def _token_of(path: Optional[str]) -> Optional[str]:
    if not path:
        return None
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def _file_chunks(source: Any) -> Iterator[bytes]:
    if isinstance(source, (bytes, bytearray, memoryview)):
        for begin in range(0, len(source), _FILE_CHUNK):
            yield bytes(source[begin : begin + _FILE_CHUNK])
    elif hasattr(source, "read"):
        source.seek(0)  # another attempt sends it all again
        while chunk := source.read(_FILE_CHUNK):
            yield chunk
    else:
        with open(source, "rb") as file:
            yield from _file_chunks(file)
