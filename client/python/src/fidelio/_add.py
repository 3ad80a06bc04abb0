"""Observations on their way to the server: split by fidelity, and into chunks of which each is all or nothing."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any, Dict, Iterator, List, Optional, Tuple

import numpy as np

from fidelio import _arguments, _wire
from fidelio._caller import Caller, chunks, new_request_id
from fidelio._wire import Array
from fidelio.errors import FidelioError
from fidelio.results import Added, ObservationWarning
from fidelio.v1 import observation_pb2

# The server's own limits are 100,000 rows (max_batch) and 64 MiB per call, unless they were set otherwise.
ROWS_PER_CALL = 100_000
_ELEMENTS_PER_CALL = 4 << 20


@dataclasses.dataclass(frozen=True)
class Rows:
    """What Model.add was given, checked."""

    inputs: Array  # n×d
    outputs: Array  # n
    levels: Any  # one, or one per row
    noise: Optional[Array]  # one, or one per row
    run_ids: Optional[List[str]]  # one per row


def add(
    caller: Caller,
    model: str,
    rows: Rows,
    condition: bool,
    skip_duplicates: bool,
    rows_per_call: int,
    timeout: Optional[float],
) -> Added:
    count = rows.inputs.shape[0]
    size = max(1, min(rows_per_call, _ELEMENTS_PER_CALL // (rows.inputs.shape[1] + 2)))
    pieces = chunks(count, size)
    found: Dict[int, Tuple[int, List[int], str]] = {}
    skipped = replayed = 0
    response: Any = None
    for begin, end in pieces:
        request = observation_pb2.AddObservationsRequest(
            model=model,
            update=observation_pb2.OBSERVATION_UPDATE_CONDITION
            if condition
            else observation_pb2.OBSERVATION_UPDATE_NONE,
            duplicates=observation_pb2.DUPLICATE_POLICY_SKIP
            if skip_duplicates
            else observation_pb2.DUPLICATE_POLICY_KEEP,
            request_id=new_request_id(),
        )
        batches: List[Array] = []
        for level, chosen in _by_level(rows.levels, begin, end):
            batches.append(chosen)
            _fill(request.observations.add(level=level), rows, chosen)
        try:
            response = caller.call("AddObservations", request, timeout)
        except FidelioError as error:
            error._speak_of(lambda text, of=batches: _arguments.translate_rows(text, of))  # type: ignore[misc]
            error.rows_committed = begin
            if len(pieces) > 1:
                error.args = (f"{error}\n  in rows {begin} to {end - 1} of X; the {begin} before them are committed",)
            raise
        skipped += response.skipped_count
        replayed += response.replayed_count
        order = np.concatenate(batches)
        for warning in response.warnings:
            number, places, _ = found.get(warning.kind, (0, [], ""))
            places = places + [int(order[row]) for row in warning.rows if row < len(order)]
            found[warning.kind] = (number + warning.count, places, warning.message)
    return Added(
        rows=count - skipped - replayed,
        data_version=response.data_version,
        counts=tuple(response.observation_counts),
        revision=int(_wire.short_name(response.revision)) if response.revision else None,
        warnings=tuple(_warning(kind, *what, skip_duplicates) for kind, what in found.items()),
        skipped=skipped,
        replayed=replayed,
    )


def _fill(batch: Any, rows: Rows, chosen: Array) -> None:
    batch.inputs.CopyFrom(_wire.to_matrix(rows.inputs[chosen]))
    batch.outputs.CopyFrom(_wire.to_matrix(rows.outputs[chosen]))
    if rows.noise is not None:
        batch.noise_variances.CopyFrom(_wire.to_matrix(rows.noise if rows.noise.size == 1 else rows.noise[chosen]))
    if rows.run_ids is not None:
        batch.run_ids.extend([rows.run_ids[row] for row in chosen])


def _warning(kind: int, count: int, rows: List[int], message: str, skip: bool) -> ObservationWarning:
    rows = sorted(rows)
    shown = f"row{'s' * (count > 1)} {', '.join(map(str, rows[:10]))}{', …' if count > min(len(rows), 10) else ''} of X"
    word = _wire.WARNINGS.word(kind)
    if word == "duplicate":
        what = "row is an exact copy" if count == 1 else "rows are exact copies"
        message = f"{count} {what} (fidelity, inputs and output) of stored observations or earlier rows: {shown}"
        message += "; left out" if skip else "; skip_duplicates=True leaves copies out, model.withdraw() removes them"
    elif word == "far-outside-box":
        what = "row lies" if count == 1 else "rows lie"
        message = f"{count} {what} far outside the model's box, beyond three box widths: {shown}; check units and typos"
    return ObservationWarning(word, count, tuple(rows), message)


def ids_of(run_ids: Any, what: str = "run_ids") -> List[str]:
    """A list of ids; one id is a list of one."""
    values = [run_ids] if isinstance(run_ids, (str, int, np.integer)) else list(run_ids)
    bad = [value for value in values if not isinstance(value, (str, int, np.integer))]
    if bad:
        raise _wire.InvalidArgument(f"{what}: {bad[0]!r}, must be text")
    ids = [str(value) for value in values]
    twice = [value for value, count in collections.Counter(ids).items() if count > 1]
    if twice:
        raise _wire.InvalidArgument(f"{what}: {twice[0]!r} is there twice, but ids must be different")
    return ids


def _by_level(levels: Any, begin: int, end: int) -> Iterator[Tuple[int, Any]]:
    if np.ndim(levels) == 0:
        yield int(levels), np.arange(begin, end)
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
