"""Client: a connection to a Fidelio server."""

from __future__ import annotations

import math
import os
from typing import Any, BinaryIO, Iterator, List, Optional, Sequence, Tuple, Union

from fidelio import _wire
from fidelio._boxes import BoxLike
from fidelio._caller import Caller, Options, new_request_id
from fidelio._definition import InputLike, OutputLike, differences, model_of
from fidelio._retry import RetryPolicy
from fidelio._types import Kind, Transform
from fidelio.errors import AlreadyExists, InvalidArgument, NotFound
from fidelio.model import Model
from fidelio.results import ModelInfo, ServerInfo
from fidelio.v1 import model_pb2, server_info_pb2, transfer_pb2

_FILE_CHUNK = 1 << 20


class Client:
    """A connection to a server, made by the first call. Thread-safe; close() it, or use it in a `with` statement.

    Calls are retried while the server is unreachable, with the same request id, so that each happens once. Everything
    may also be set by the environment variables of the command `fidelio`: FIDELIO_SERVER, FIDELIO_TOKEN_FILE,
    FIDELIO_TLS, FIDELIO_TLS_CA, FIDELIO_TLS_SERVER_NAME, FIDELIO_CLIENT_CERT, FIDELIO_CLIENT_KEY.

    Parameters
    ----------
    address : str, optional
        host:port, or a host, whose port is then 50051.
    tls : bool, optional
        Encrypt, and trust the authorities of the system.
    tls_ca : path, optional
        Trust those of this PEM file instead.
    tls_cert, tls_key : path, optional
        PEM files of the client's own certificate.
    tls_server_name : str, optional
        Name in the server's certificate, if it is not the host's.
    token : str, optional
        Sent with every call. Needs TLS unless the server is on this machine (localhost, a loopback address or a Unix
        socket).
    insecure_token : bool
        Send the token without TLS to any host.
    timeout : float
        Seconds for each call, retries included.
    retry : RetryPolicy, optional

    Raises
    ------
    InvalidArgument
        If the options cannot be used together, or a file cannot be read.

    Examples
    --------
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
        """host:port of the server."""
        return self._caller.options.address

    def close(self) -> None:
        """Ends the connection. Fits go on."""
        self._caller.close()

    def server_info(self) -> ServerInfo:
        """What the server is, can do and allows.

        Returns
        -------
        ServerInfo
        """
        return ServerInfo._of(self._caller.call("GetServerInfo", server_info_pb2.GetServerInfoRequest()))

    def create_model(
        self,
        name: str,
        inputs: Union[int, Sequence[InputLike]],
        fidelities: Union[int, Sequence[str]] = 1,
        *,
        costs: Optional[Sequence[float]] = None,
        box: Optional[BoxLike] = None,
        kind: Kind = "mf-dgp",
        transform: Transform = "identity",
        bounds: Optional[Tuple[float, float]] = None,
        description: str = "",
        output: Optional[OutputLike] = None,
        keep_revisions: Optional[int] = None,
        exist_ok: bool = False,
    ) -> Model:
        """Creates a model without data.

        Parameters
        ----------
        name : str
            Lower-case letters, digits and hyphens, beginning with a letter.
        inputs : sequence of str or Input, or int
            The inputs in the order of columns, or their number. Data frames need names.
        fidelities : sequence of str, or int
            Names from the lowest to the highest, or their number.
        costs : sequence of float, optional
            Of one run of each fidelity. Default: 1 each.
        box : Box, (lower, upper), or a (lower, upper) pair per input, optional
            Where inputs live. Two inputs make the last two forms look alike: what could mean both is refused. Default:
            the range of the observed inputs.
        kind : str
            "mf-dgp", or another that the server has (server_info).
        transform : str
            Of outputs before they are modelled: "identity", "log", "logit", or "bounded" with bounds.
        bounds : (float, float), optional
            Lower and upper bound of the output, of transform "bounded".
        description : str
            For people.
        output : str or Output, optional
            Name of the output.
        keep_revisions : int, optional
            How many revisions are kept. Default: the server's setting.
        exist_ok : bool
            Return the model of that name if there is one and it is what this call would create. Its description and
            keep_revisions are compared only if they are given.

        Returns
        -------
        Model

        Raises
        ------
        AlreadyExists
            If there is a model of that name, without exist_ok.
        InvalidArgument
            With exist_ok, if the model that exists differs; the message lists all differences.

        Examples
        --------
        >>> import fidelio
        >>> client = fidelio.local()
        >>> angle = fidelio.Input("angle", unit="deg", lower=-5, upper=15)
        >>> speed = fidelio.Input("speed", unit="m/s", lower=20, upper=80)
        >>> client.create_model("wing", [angle, speed], ["coarse", "fine"], costs=[1, 10])
        Model 'wing': 2 inputs; coarse 0, fine 0 observations; not fitted
        >>> client.close()
        """
        wire = model_of(
            inputs, fidelities, costs, box, kind, transform, bounds, description, output, keep_revisions
        )  # fmt: skip
        request = model_pb2.CreateModelRequest(model_id=name, model=wire, request_id=new_request_id())
        if exist_ok:
            try:
                return self._same(self.model(name), wire, bool(description), keep_revisions is not None)
            except NotFound:
                pass
        try:
            return Model(self, ModelInfo._of(self._caller.call("CreateModel", request)))
        except AlreadyExists:
            if not exist_ok:
                raise
        return self._same(self.model(name), wire, bool(description), keep_revisions is not None)

    @staticmethod
    def _same(model: Model, wire: model_pb2.Model, description: bool, keep_revisions: bool) -> Model:
        found = differences(model.info, ModelInfo._of(wire), description, keep_revisions)
        if found:
            raise InvalidArgument(
                f"model {model.name!r} exists, but it is not what this call would create:\n  "
                + "\n  ".join(found)
                + f"\nclient.model({model.name!r}) takes it as it is, model.update() changes it"
            )
        return model

    def model(self, name: str) -> Model:
        """A model of the server.

        Parameters
        ----------
        name : str

        Returns
        -------
        Model

        Raises
        ------
        NotFound
            If there is none of that name.
        """
        wire = self._caller.call("GetModel", model_pb2.GetModelRequest(name=_wire.model_name(name)))
        return Model(self, ModelInfo._of(wire))

    def models(self) -> List[Model]:
        """All models that the caller may see.

        Returns
        -------
        list of Model
            By name in ascending order.
        """
        pages = self._caller.pages("ListModels", model_pb2.ListModelsRequest(page_size=1000))
        return [Model(self, ModelInfo._of(wire)) for page in pages for wire in page.models]

    def import_model(self, source: Union[str, os.PathLike[str], bytes, BinaryIO], name: Optional[str] = None) -> Model:
        """Creates a model from what Model.export wrote.

        Parameters
        ----------
        source : path, bytes, or binary file that can seek
        name : str, optional
            Of the new model. Default: the name in the file.

        Returns
        -------
        Model
        """
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
