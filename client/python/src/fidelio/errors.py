"""What can go wrong: one class per kind of error, each with what the server said about it.

>>> import fidelio
>>> client = fidelio.local()
>>> try:
...     client.create_model("wing", inputs=0)
... except fidelio.InvalidArgument as error:
...     print(error.code, [(violation.argument, violation.field) for violation in error.violations])
INVALID_ARGUMENT [('inputs', 'model.input_dimension')]
>>> client.close()
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Type

import grpc

from fidelio._google import error_details_pb2, status_pb2


class Violation(NamedTuple):
    """One thing that is wrong with a request.

    Attributes
    ----------
    field : str
        Path of the field in the contract, as "model.input_dimension".
    description : str
        Why it was refused.
    argument : str
        The argument of this package that it came from, as "inputs".
    """

    field: str
    description: str
    argument: str = ""


class FidelioWarning(UserWarning):
    """Something was accepted that a user should look at, such as copies of observations or chains that disagree."""


class FidelioError(Exception):
    """Base of all errors of this package.

    str(error) is what went wrong, in terms of the caller's arguments, followed by details that add to it.

    Attributes
    ----------
    code : str
        Name of the gRPC code.
    message : str
        What the server said, in terms of the contract.
    violations : list of Violation
        Of fields, preconditions and quotas.
    resource : str or None
        What is missing, taken or damaged.
    retry_delay : float or None
        Seconds, when the server asks to be called again later.
    rows_committed : int or None
        Of Model.add: rows at the front of X that are committed, because the calls before the failing one were.
    """

    code: str = "UNKNOWN"  # name of the gRPC code

    def __init__(self, message: str, *, status: Optional[status_pb2.Status] = None, note: str = "") -> None:
        super().__init__(message + note)
        self.message = message
        self.violations: List[Violation] = []
        self.resource: Optional[str] = None
        self.retry_delay: Optional[float] = None
        self._status = b"" if status is None else status.SerializeToString()
        self.rows_committed: Optional[int] = None
        if status is not None:
            self._read()
            self.args = ("\n  ".join([message, *self._lines(message)]) + note,)

    @property
    def details(self) -> List[Any]:
        """What the server added for programs: messages of google.rpc, as BadRequest."""
        packed = status_pb2.Status.FromString(self._status).details
        return [detail for detail in map(_unpack, packed) if detail is not None]

    def _read(self) -> None:
        for detail in self.details:
            if isinstance(detail, error_details_pb2.BadRequest):
                self.violations += [Violation(v.field, v.description) for v in detail.field_violations]
            elif isinstance(detail, (error_details_pb2.PreconditionFailure, error_details_pb2.QuotaFailure)):
                self.violations += [Violation(v.subject, v.description) for v in detail.violations]
            elif isinstance(detail, error_details_pb2.ResourceInfo):
                self.resource = detail.resource_name
            elif isinstance(detail, error_details_pb2.RetryInfo):
                self.retry_delay = detail.retry_delay.seconds + 1e-9 * detail.retry_delay.nanos

    def _speak_of(self, arguments: Callable[[str], str]) -> None:
        """Puts `arguments` (text of the contract to text of this package) to use in str(self) and in violations."""
        self.args = (arguments(str(self.args[0])), *self.args[1:])
        self.violations = [
            violation._replace(argument=arguments(f"{violation.field}: ").rpartition(": ")[0])
            for violation in self.violations
        ]

    def _lines(self, message: str) -> List[str]:
        return [f"{v.field}: {v.description}" for v in self.violations if v.description not in message]


class InvalidArgument(FidelioError, ValueError):
    """A bad shape, value, level or name; `violations` name the arguments."""

    code = "INVALID_ARGUMENT"


class NotFound(FidelioError, LookupError):
    """No such model, fit or revision."""

    code = "NOT_FOUND"


class AlreadyExists(FidelioError):
    """The name is taken."""

    code = "ALREADY_EXISTS"


class FailedPrecondition(FidelioError):
    """Something has to be done first, such as a fit before a prediction; `violations` say what."""

    code = "FAILED_PRECONDITION"


class Aborted(FidelioError):
    """Someone else changed the model at the same time."""

    code = "ABORTED"


class ResourceExhausted(FidelioError):
    """A queue, memory, a disk or a quota is full."""

    code = "RESOURCE_EXHAUSTED"


class Unavailable(FidelioError, ConnectionError):
    """The server is unreachable or shuts down. Calls are retried until their deadline."""

    code = "UNAVAILABLE"


class DeadlineExceeded(FidelioError, TimeoutError):
    """The call did not return within its timeout."""

    code = "DEADLINE_EXCEEDED"


class Unauthenticated(FidelioError, PermissionError):
    """No token, or a bad one."""

    code = "UNAUTHENTICATED"


class PermissionDenied(FidelioError, PermissionError):
    """The token's role does not allow this."""

    code = "PERMISSION_DENIED"


class DataLoss(FidelioError):
    """Stored bytes of this model, or of a file, fail their checksum."""

    code = "DATA_LOSS"


class Cancelled(FidelioError):
    """The call or the fit was cancelled."""

    code = "CANCELLED"


class Unimplemented(FidelioError):
    """The server lacks this; it may be older than this package."""

    code = "UNIMPLEMENTED"


class Internal(FidelioError):
    """A bug of the server or of this package."""

    code = "INTERNAL"


class ProgramNotFound(FidelioError, FileNotFoundError):
    """A program of Fidelio (fidelio-server, fidelio) is needed, and was not found."""

    code = "NOT_FOUND"


class ServerFailed(FidelioError, RuntimeError):
    """A private server ended before it was ready; the message has the end of its log."""

    code = "UNAVAILABLE"


_CODES = {code.value[0]: code.name for code in grpc.StatusCode}
_CLASSES: Dict[str, Type[FidelioError]] = {
    cls.code: cls
    for cls in (
        InvalidArgument, NotFound, AlreadyExists, FailedPrecondition, Aborted, ResourceExhausted, Unavailable,
        DeadlineExceeded, Unauthenticated, PermissionDenied, DataLoss, Cancelled, Unimplemented, Internal,
    )
}  # fmt: skip

_DETAILS = {
    cls.DESCRIPTOR.full_name: cls
    for cls in (
        error_details_pb2.BadRequest, error_details_pb2.PreconditionFailure, error_details_pb2.QuotaFailure,
        error_details_pb2.ResourceInfo, error_details_pb2.ErrorInfo, error_details_pb2.RetryInfo,
    )
}  # fmt: skip


def _unpack(packed: Any) -> Optional[Any]:
    cls = _DETAILS.get(packed.type_url.rpartition("/")[2])
    return None if cls is None else cls.FromString(packed.value)


def from_status(status: status_pb2.Status, note: str = "") -> FidelioError:
    """The error of a google.rpc.Status, such as that of a failed fit."""
    code = _CODES.get(status.code, "UNKNOWN")
    error = _CLASSES.get(code, FidelioError)(status.message, status=status, note=note)
    error.code = code
    return error


def from_rpc_error(error: grpc.RpcError, note: str = "") -> FidelioError:
    """The error that ended a call."""
    number, message = error.code().value[0], error.details() or ""
    status = status_pb2.Status()
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            status.ParseFromString(value)
    if status.code != number:  # none, or of something between us and the server
        status = status_pb2.Status()
    status.code = number
    status.message = status.message or message
    return from_status(status, note)
