"""Between numpy and the messages of the contract: matrices, words and resource names."""

from __future__ import annotations

import operator
from typing import Any, List, Optional, Union

import numpy as np

from fidelio.errors import Internal, InvalidArgument
from fidelio.v1 import design_pb2, fit_pb2, matrix_pb2, model_pb2, observation_pb2, prediction_pb2

Array = np.ndarray


def to_matrix(array: Array) -> matrix_pb2.Matrix:
    """n×d or n numbers as their bytes, copied once."""
    array = np.ascontiguousarray(array, dtype="<f8")
    rows, cols = array.shape if array.ndim == 2 else (array.shape[0], 1)
    return matrix_pb2.Matrix(rows=rows, cols=cols, f64_le=array.tobytes())


def from_matrix(wire: matrix_pb2.Matrix, field: str) -> Array:
    """rows×cols numbers. Read-only where they are the message's own bytes."""
    if wire.WhichOneof("data") == "values":
        numbers = np.array(wire.values.values, dtype=float)
    else:
        numbers = np.frombuffer(wire.f64_le, dtype="<f8")
    if numbers.size != wire.rows * wire.cols:
        raise Internal(f"the server returned {field} with {numbers.size} numbers, but {wire.rows} × {wire.cols}")
    return numbers.reshape(wire.rows, wire.cols)


def doubles_of(values: Any, what: str) -> Array:
    """Numbers of any shape. What numpy would turn into them silently, but loses something, is refused."""
    if np.ma.is_masked(values):
        raise InvalidArgument(f"{what}: has masked entries; leave their rows out")
    try:
        array = np.asarray(values)
        if array.dtype.kind in "cmM":
            raise InvalidArgument(f"{what}: is not numeric, but {array.dtype}; turn it into real numbers first")
        return np.asarray(array, dtype=float)
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidArgument):
            raise
        raise InvalidArgument(f"{what}: is not numeric ({error})") from None


def finite(array: Array, what: str, advice: str = "") -> Array:
    """The array, if all its numbers are finite; otherwise an error that names the rows."""
    bad = np.flatnonzero(~np.isfinite(array) if array.ndim == 1 else ~np.isfinite(array).all(axis=1))
    if bad.size:
        shown = ", ".join(map(str, bad[:10])) + (", …" if bad.size > 10 else "")
        rows = f"row {shown} is" if bad.size == 1 else f"rows {shown} ({bad.size} of {len(array)}) are"
        raise InvalidArgument(f"{what}: {rows} not finite (nan or inf){advice}")
    return array


def whole_of(value: Any, what: str, least: int = 1, most: int = (1 << 63) - 1) -> int:
    """A whole number from `least` to `most`, of Python or numpy."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidArgument(f"{what}: {value!r}, must be a whole number") from None
    if number < least:
        raise InvalidArgument(f"{what}: {number}, must be at least {least}")
    if number > most:
        raise InvalidArgument(f"{what}: {number}, must be at most {most}")
    return number


def seed_of(seed: Any) -> int:
    return whole_of(seed, "seed", 0, (1 << 64) - 1)


def number_of(value: Any, what: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidArgument(f"{what}: {value!r}, must be a number") from None


def numbers_of(values: Any, what: str) -> List[float]:
    """A list of numbers; one number is a list of one."""
    array = doubles_of(values, what)
    if array.ndim > 1:
        raise InvalidArgument(f"{what}: has shape {array.shape}, must be a list of numbers")
    return [float(value) for value in np.atleast_1d(array)]


def inputs_of(x: Any, dimension: int, what: str = "X") -> Array:
    """Inputs as n×d doubles: arrays, lists, and data frames. A list of n numbers will do when d is 1."""
    array = doubles_of(x, what)
    if array.ndim == 1 and dimension == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        raise InvalidArgument(
            f"{what}: has shape {array.shape}, must be n×{dimension}"
            + (f" (for one point: [{what}])" if array.shape == (dimension,) else "")
        )
    if array.shape[1] != dimension:
        raise InvalidArgument(f"{what}: {array.shape[1]} columns, but the model has {dimension} inputs")
    return array


def column_of(y: Any, rows: int, what: str) -> Array:
    """n numbers: a list, a series, or a column."""
    array = doubles_of(y, what)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 2 and array.shape[0] == rows:
        raise InvalidArgument(
            f"{what}: has shape {array.shape}, but a model has one output; make one model for each column"
        )
    if array.ndim != 1 or array.shape[0] != rows:
        raise InvalidArgument(f"{what}: has shape {array.shape}, but X has {rows} rows")
    return array


class Words:
    """The words for the values of an enum: those of the command `fidelio`, made from the names in the contract."""

    def __init__(self, what: str, enum: Any, **renamed: str) -> None:
        self._what = what
        prefix = enum.DESCRIPTOR.values_by_number[0].name[: -len("UNSPECIFIED")]
        names = {value.number: value.name[len(prefix) :] for value in enum.DESCRIPTOR.values if value.number}
        self._words = {number: renamed.get(name, name.lower().replace("_", "-")) for number, name in names.items()}
        self._values = {word: number for number, word in self._words.items()}

    def value(self, word: str) -> Any:
        try:
            return self._values[word.replace("_", "-").lower()]
        except (KeyError, AttributeError):
            raise InvalidArgument(f"{self._what}: {word!r}, must be one of {', '.join(self._values)}") from None

    def word(self, value: int) -> str:
        return self._words.get(value, f"value {value}" if value else "")


KINDS = Words("kind", model_pb2.ModelKind)
TRANSFORMS = Words("transform", model_pb2.OutputTransformKind)
INFERENCES = Words("inference", fit_pb2.Inference)
KERNELS = Words(
    "kernel",
    fit_pb2.KernelFamily,
    MATERN_1_2="matern12",
    MATERN_3_2="matern32",
    MATERN_5_2="matern52",
    BY_EVIDENCE="evidence",
)
METHODS = Words("method", design_pb2.DesignMethod)
QUALITIES = Words("quality", design_pb2.QualityMode)
PATHS = Words("kind", prediction_pb2.PathKind)
INITIAL_METHODS = Words("method", design_pb2.InitialDesignMethod)
VERDICTS = Words("verdict", design_pb2.VerdictKind)
WARNINGS = Words("warning", observation_pb2.ObservationWarningKind)
CRITERIA = Words("criterion", design_pb2.SuggestCriterion)
STATES = Words("state", fit_pb2.FitState)


def model_name(model: str) -> str:
    """ "models/wing" for "wing" and for itself."""
    return model if model.startswith("models/") else f"models/{model}"


def short_name(name: str) -> str:
    """ "wing" for "models/wing", "3" for "models/wing/fits/3"."""
    return name.rpartition("/")[2]


def revision_name(model: str, revision: Optional[Union[int, str]]) -> str:
    """ "models/wing/revisions/3" for 3, "3" and itself; empty for None."""
    if revision is None:
        return ""
    text = str(revision)
    return text if "/" in text else f"{model_name(model)}/revisions/{text}"
