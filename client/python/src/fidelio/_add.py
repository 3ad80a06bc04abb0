"""Observations on their way to the server: split by fidelity, and into chunks of which each is all or nothing."""

from __future__ import annotations

from typing import Any, Iterator, List, Optional, Tuple

import numpy as np

from fidelio import _wire
from fidelio._caller import Caller, chunks, new_request_id
from fidelio._wire import Array
from fidelio.errors import FidelioError
from fidelio.results import Added
from fidelio.v1 import observation_pb2

# The server's own limits are 100,000 rows (max_batch) and 64 MiB per call, unless they were set otherwise.
ROWS_PER_CALL = 100_000
_ELEMENTS_PER_CALL = 4 << 20


def add(
    caller: Caller,
    model: str,
    inputs: Array,
    outputs: Array,
    levels: Any,  # one, or one per row
    noise: Optional[Array],  # one, or one per row
    condition: bool,
    rows_per_call: int,
    timeout: Optional[float],
) -> Added:
    rows = inputs.shape[0]
    size = max(1, min(rows_per_call, _ELEMENTS_PER_CALL // (inputs.shape[1] + 2)))
    pieces = chunks(rows, size)
    answer: Any = None
    for begin, end in pieces:
        request = observation_pb2.AddObservationsRequest(
            model=model,
            update=observation_pb2.OBSERVATION_UPDATE_CONDITION
            if condition
            else observation_pb2.OBSERVATION_UPDATE_NONE,
            request_id=new_request_id(),
        )
        for level, chosen in _by_level(levels, begin, end):
            batch = request.observations.add(level=level)
            batch.inputs.CopyFrom(_wire.to_matrix(inputs[chosen]))
            batch.outputs.CopyFrom(_wire.to_matrix(outputs[chosen]))
            if noise is not None:
                batch.noise_variances.CopyFrom(_wire.to_matrix(noise if noise.size == 1 else noise[chosen]))
        try:
            answer = caller.call("AddObservations", request, timeout)
        except FidelioError as error:
            error.rows_committed = begin
            if len(pieces) > 1:
                error.args = (f"{error}\n  in rows {begin} to {end - 1} of X; the {begin} before them are committed",)
            raise
    return Added(
        rows=rows,
        data_version=answer.data_version,
        counts=tuple(answer.observation_counts),
        revision=int(_wire.short_name(answer.revision)) if answer.revision else None,
    )


def _by_level(levels: Any, begin: int, end: int) -> Iterator[Tuple[int, Any]]:
    if np.ndim(levels) == 0:
        yield int(levels), slice(begin, end)
        return
    part = levels[begin:end]
    for level in np.unique(part):
        yield int(level), begin + np.flatnonzero(part == level)


def levels_of(fidelity: Any, names: List[str], rows: int) -> Any:
    """The level or the levels (one per row) of fidelities that are given by name or number."""
    if isinstance(fidelity, str) or np.ndim(fidelity) == 0:
        return level_of(fidelity, names)
    values = np.asarray(fidelity).ravel()
    if values.shape[0] != rows:
        raise _wire.InvalidArgument(f"fidelity: {values.shape[0]} entries, but X has {rows} rows")
    distinct, places = np.unique(values, return_inverse=True)
    return np.array([level_of(value, names) for value in distinct], dtype=int)[places.ravel()]


def level_of(fidelity: Any, names: List[str]) -> int:
    """The level of a fidelity that is given by name, or by number (negative ones count from the highest)."""
    if isinstance(fidelity, str):
        if fidelity in names:
            return names.index(fidelity)
    elif isinstance(fidelity, (int, np.integer)) or (isinstance(fidelity, (float, np.floating)) and fidelity % 1 == 0):
        if -len(names) <= fidelity < len(names):
            return int(fidelity) % len(names)
    shown = fidelity.item() if isinstance(fidelity, np.generic) else fidelity
    raise _wire.InvalidArgument(
        f"fidelity: {shown!r}, must be one of {', '.join(names)}, or a level from 0 to {len(names) - 1}"
    )
