"""Predictions: one call for some inputs, a stream of chunks for many."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Tuple

import numpy as np

from fidelio import _wire, errors
from fidelio._caller import Caller, chunks
from fidelio._wire import Array
from fidelio.results import Prediction
from fidelio.v1 import prediction_pb2

# Numbers that one message may have in either direction (8 MiB), rows of one call, and of a chunk.
_ELEMENTS_PER_CALL = 1 << 20
_ROWS_PER_CALL = 65536
_ROWS_PER_CHUNK = 16384
_ROWS_PER_TIMEOUT = 100_000


def predict(
    caller: Caller,
    model: str,
    inputs: Array,
    options: prediction_pb2.PredictOptions,
    fidelity: str,
    names: Tuple[str, ...],
    revision: str,
    min_data_version: int,
    timeout: Optional[float],
) -> Prediction:
    """`model` and `revision` are full names."""
    width = max(inputs.shape[1], len(options.quantiles) + 3)
    small = inputs.shape[0] <= _ROWS_PER_CALL and inputs.shape[0] * width <= _ELEMENTS_PER_CALL
    if small or options.full_covariance:  # which can't be had in pieces
        request = prediction_pb2.PredictRequest(
            model=model,
            inputs=_wire.to_matrix(inputs),
            options=options,
            revision=revision,
            min_data_version=min_data_version,
        )
        response = caller.call("Predict", request, timeout)
        return _join([response.prediction], response, inputs, options, fidelity, names)
    header = prediction_pb2.PredictStreamHeader(
        model=model, options=options, revision=revision, min_data_version=min_data_version
    )
    return _stream(caller, header, inputs, fidelity, names, timeout)


def _stream(
    caller: Caller,
    header: prediction_pb2.PredictStreamHeader,
    inputs: Array,
    fidelity: str,
    names: Tuple[str, ...],
    timeout: Optional[float],
) -> Prediction:
    width = max(inputs.shape[1], len(header.options.quantiles) + 3)
    pieces = chunks(inputs.shape[0], max(1, min(_ROWS_PER_CHUNK, _ELEMENTS_PER_CALL // width)))
    if timeout is None:
        timeout = caller.options.timeout * -(-inputs.shape[0] // _ROWS_PER_TIMEOUT)
    deadline = caller.deadline(timeout)
    parts: List[prediction_pb2.Prediction] = []
    last: Any = None

    def requests(first: int) -> Iterator[prediction_pb2.PredictStreamRequest]:
        for number in range(first, len(pieces)):
            begin, end = pieces[number]
            yield prediction_pb2.PredictStreamRequest(
                header=header if number == first else None, inputs=_wire.to_matrix(inputs[begin:end])
            )

    def attempt() -> None:
        nonlocal last
        # What has arrived stays; the same revision predicts the rest.
        stream = caller.once("PredictStream", requests(len(parts)), deadline)
        try:
            for last in stream:
                parts.append(last.prediction)
                header.revision = last.revision
        finally:
            stream.cancel()

    caller.retrying(attempt, deadline, "PredictStream")
    if len(parts) != len(pieces):
        raise errors.Internal(f"PredictStream returned {len(parts)} of {len(pieces)} chunks")
    return _join(parts, last, inputs, header.options, fidelity, names)


def _join(
    parts: List[prediction_pb2.Prediction],
    response: Any,
    inputs: Array,
    options: prediction_pb2.PredictOptions,
    fidelity: str,
    names: Tuple[str, ...],
) -> Prediction:
    fields: Dict[str, Optional[Array]] = {}
    for field in ("mean", "variance", "quantiles", "covariance", "input_gradient", "median"):
        if parts[0].HasField(field):
            rows = [_wire.from_matrix(getattr(part, field), field) for part in parts]
            fields[field] = rows[0] if len(rows) == 1 else np.concatenate(rows)
        else:
            fields[field] = None
    mean, variance, median = fields["mean"], fields["variance"], fields["median"]
    if mean is None or variance is None:
        raise errors.Internal("the server returned no mean or no variance")
    return Prediction(
        mean=mean[:, 0],
        variance=variance[:, 0],
        quantiles=fields["quantiles"],
        covariance=fields["covariance"],
        gradient=fields["input_gradient"],
        revision=int(_wire.short_name(response.revision)),
        data_version=response.data_version,
        inputs=inputs,
        probabilities=tuple(options.quantiles),
        fidelity=fidelity,
        names=names,
        median=None if median is None else median[:, 0],
        warnings=tuple(warning for part in parts for warning in part.warnings),
    )
