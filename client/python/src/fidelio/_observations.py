"""What calls about observations return."""

from __future__ import annotations

import dataclasses
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from fidelio import _frames, _html, _wire
from fidelio._wire import Array


@dataclasses.dataclass(frozen=True)
class ObservationWarning:
    """What is suspicious about observations that were accepted.

    Attributes
    ----------
    kind : str
        "duplicate" or "far-outside-box".
    count : int
        Number of rows.
    rows : tuple of int
        The first of them, at most 100 per call: rows of X, from 0.
    message : str
        The same in words.
    """

    kind: str
    count: int
    rows: Tuple[int, ...]
    message: str

    def __str__(self) -> str:
        return self.message


@dataclasses.dataclass(frozen=True)
class Added:
    """What Model.add committed.

    Attributes
    ----------
    rows : int
        Number of observations that were added.
    data_version : int
        Version of the model's observations after the call; names this batch in Model.withdraw.
    counts : tuple of int
        Observations in use per fidelity, after the call.
    revision : int or None
        The revision that condition=True made.
    warnings : tuple of ObservationWarning
        What is suspicious about the rows. Each was also issued as a FidelioWarning.
    skipped : int
        Copies that skip_duplicates=True left out.
    replayed : int
        Rows that were there already under their run_id.
    """

    rows: int
    data_version: int
    counts: Tuple[int, ...]
    revision: Optional[int]
    warnings: Tuple[ObservationWarning, ...] = ()
    skipped: int = 0
    replayed: int = 0


@dataclasses.dataclass(frozen=True)
class Changed:
    """What Model.withdraw or Model.correct committed.

    Attributes
    ----------
    rows : int
        Number of observations that were withdrawn or corrected.
    data_version : int
        Version of the model's observations after the call.
    counts : tuple of int
        Observations in use per fidelity, after the call.
    revision_withdrawn : int
        Observations that the current revision knows and that were withdrawn or corrected since. Above 0, the model
        needs a new fit.
    """

    rows: int
    data_version: int
    counts: Tuple[int, ...]
    revision_withdrawn: int


@dataclasses.dataclass(frozen=True)
class Observations:
    """Stored observations, in the order in which they were added.

    Attributes
    ----------
    inputs : ndarray, n×d
    outputs : ndarray, n
    noise : ndarray, n, or None
        Known variances of the noise; nan for observations of fidelities where it is learned, None if it always is.
    run_ids : tuple of str
        Identities, for Model.withdraw and Model.correct.
    fidelities : tuple of str
        The fidelity of each observation.
    data_versions : ndarray, n
        The data_version that added each observation.
    withdrawn : ndarray of bool, n
        Whether the observation is no longer in use, because it was withdrawn or corrected.
    reasons : tuple of str
        Why it was withdrawn or corrected; empty for observations in use.
    names : tuple of str
        Names of the inputs.
    output : str
        Name of the output.
    """

    inputs: Array
    outputs: Array
    noise: Optional[Array]
    run_ids: Tuple[str, ...] = ()
    fidelities: Tuple[str, ...] = ()
    data_versions: Array = dataclasses.field(default_factory=lambda: np.empty(0, dtype=int))
    withdrawn: Array = dataclasses.field(default_factory=lambda: np.empty(0, dtype=bool))
    reasons: Tuple[str, ...] = ()
    names: Tuple[str, ...] = ()
    output: str = "y"

    def __len__(self) -> int:
        return len(self.outputs)

    def __repr__(self) -> str:
        withdrawn = int(np.sum(self.withdrawn))
        return f"<Observations: {len(self)} rows{f', {withdrawn} of them withdrawn' if withdrawn else ''}>"

    def _columns(self) -> List[Tuple[str, Any]]:
        columns: List[Tuple[str, Any]] = [("run_id", list(self.run_ids)), ("fidelity", list(self.fidelities))]
        columns += _frames.inputs(self.names, self.inputs)
        columns.append((self.output, self.outputs))
        if self.noise is not None:
            columns.append(("noise_variance", self.noise))
        if np.any(self.withdrawn):
            columns += [("withdrawn", self.withdrawn), ("reason", list(self.reasons))]
        return columns

    def _repr_html_(self) -> str:
        columns, shown = self._columns(), min(len(self), 20)
        rows = [[_plain(values[row]) for _, values in columns] for row in range(shown)]
        notes = [f"… {len(self) - shown} more rows; to_frame() has all of them"] if shown < len(self) else []
        return _html.table([name for name, _ in columns], rows, f"{len(self)} observations", notes)

    def to_frame(self) -> Any:
        """The observations as a pandas.DataFrame.

        Returns
        -------
        pandas.DataFrame
            Columns run_id, fidelity, the inputs, the output, noise_variance where it is known, and, if any observation
            was withdrawn, withdrawn and reason.
        """
        return _frames.make(self._columns())

    @classmethod
    def _of(cls, batches: Sequence[Any], fidelities: Sequence[str], names: Sequence[str], output: str) -> Observations:
        def repeated(values: Sequence[Any]) -> List[Any]:
            return [value for value, batch in zip(values, batches) for _ in range(batch.outputs.rows)]

        def noise_of(batch: Any) -> Array:
            known = batch.HasField("noise_variances")
            column = _wire.from_matrix(batch.noise_variances, "noise_variances")[:, 0] if known else np.nan
            return np.broadcast_to(column, batch.outputs.rows)

        if not batches:
            return cls(np.empty((0, len(names))), np.empty(0), None, names=tuple(names), output=output)
        known = any(batch.HasField("noise_variances") for batch in batches)
        ids = [list(batch.run_ids) or [""] * batch.outputs.rows for batch in batches]
        return cls(
            inputs=np.concatenate([_wire.from_matrix(batch.inputs, "inputs") for batch in batches]),
            outputs=np.concatenate([_wire.from_matrix(batch.outputs, "outputs")[:, 0] for batch in batches]),
            noise=np.concatenate([noise_of(batch) for batch in batches]) if known else None,
            run_ids=tuple(run_id for batch in ids for run_id in batch),
            fidelities=tuple(repeated([fidelities[batch.level] for batch in batches])),
            data_versions=np.array(repeated([batch.data_version for batch in batches]), dtype=int),
            withdrawn=np.array(repeated([batch.HasField("withdrawal") for batch in batches]), dtype=bool),
            reasons=tuple(repeated([batch.withdrawal.reason for batch in batches])),
            names=tuple(names),
            output=output,
        )


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
