"""What calls that propose runs return."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union, overload

import numpy as np

from fidelio import _frames, _html, _wire
from fidelio._wire import Array


@dataclasses.dataclass(frozen=True)
class InitialDesign:
    """First runs, that Model.initial_design proposed.

    Attributes
    ----------
    by_fidelity : dict of str to ndarray, n×d
        Inputs to run, per fidelity, from the lowest.
    total_cost : float
        What all runs together cost.
    data_version : int
        Version of the observations that were taken into account.
    names : tuple of str
        Names of the inputs.
    """

    by_fidelity: Dict[str, Array] = dataclasses.field(repr=False)
    total_cost: float
    data_version: int
    names: Tuple[str, ...]

    def inputs(self, fidelity: str) -> Array:
        """Inputs to run at one fidelity.

        Parameters
        ----------
        fidelity : str

        Returns
        -------
        ndarray, n×d
        """
        return self.by_fidelity[fidelity]

    def __len__(self) -> int:
        return sum(map(len, self.by_fidelity.values()))

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(x)} {fidelity}" for fidelity, x in self.by_fidelity.items())
        return f"<InitialDesign: {counts} runs, cost {self.total_cost:g}>"

    def _columns(self) -> List[Tuple[str, Any]]:
        fidelities = [fidelity for fidelity, x in self.by_fidelity.items() for _ in range(len(x))]
        points = np.concatenate([np.empty((0, len(self.names))), *self.by_fidelity.values()])
        return [("fidelity", fidelities), *_frames.inputs(self.names, points)]

    def _repr_html_(self) -> str:
        columns, shown = self._columns(), min(len(self), 20)
        rows = [[values[row] for _, values in columns] for row in range(shown)]
        notes = [f"… {len(self) - shown} more runs; to_frame() has all of them"] if shown < len(self) else []
        return _html.table([name for name, _ in columns], rows, repr(self)[1:-1], notes)

    def to_frame(self) -> Any:
        """The runs as a pandas.DataFrame.

        Returns
        -------
        pandas.DataFrame
            A row per run, with columns fidelity and the inputs. With a column for the output, Model.add takes it.
        """
        return _frames.make(self._columns())

    @classmethod
    def _of(cls, wire: Any, names: Tuple[str, ...]) -> InitialDesign:
        return cls(
            by_fidelity={design.fidelity: _wire.from_matrix(design.inputs, "inputs") for design in wire.designs},
            total_cost=wire.total_cost,
            data_version=wire.data_version,
            names=names,
        )


@dataclasses.dataclass(frozen=True)
class Design:
    """Inputs that Model.sample_dpp chose.

    Attributes
    ----------
    inputs : ndarray, k×d
    indices : ndarray, k
        Rows of the candidates.
    quality : ndarray, k
    log_determinant : float
    variance_before, variance_after : float
        Variance of the highest fidelity, the mean over the candidates: now, and as expected after the runs.
    revision : int
    data_version : int
    names : tuple of str
        Names of the inputs.
    """

    inputs: Array
    indices: Array
    quality: Array
    log_determinant: float
    variance_before: float
    variance_after: float
    revision: int
    data_version: int
    names: Tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.inputs)

    def _repr_html_(self) -> str:
        columns = self._columns()
        rows = [[float(values[row]) for _, values in columns] for row in range(len(self))]
        return _html.table([name for name, _ in columns], rows, f"{len(self)} inputs to run", [_variances(self)])

    def _columns(self) -> List[Tuple[str, Any]]:
        return [*_frames.inputs(self.names, self.inputs), ("quality", self.quality)]

    def to_frame(self) -> Any:
        """The inputs as a pandas.DataFrame.

        Returns
        -------
        pandas.DataFrame
            A row per input, with columns for the inputs and quality.
        """
        return _frames.make(self._columns())

    @classmethod
    def _of(cls, wire: Any, names: Tuple[str, ...] = ()) -> Design:
        return cls(
            inputs=_wire.from_matrix(wire.inputs, "inputs"),
            indices=np.array(wire.indices, dtype=int),
            quality=_wire.from_matrix(wire.quality, "quality")[:, 0],
            log_determinant=wire.log_determinant,
            variance_before=wire.variance_before,
            variance_after=wire.variance_after,
            revision=int(_wire.short_name(wire.revision)),
            data_version=wire.data_version,
            names=names,
        )


@dataclasses.dataclass(frozen=True)
class Suggestion:
    """A run that is worth its cost.

    Attributes
    ----------
    input : ndarray, d
    level : int
    fidelity : str
    cost : float
    value : float
        Of the criterion, given the suggestions before this one.
    candidate : int
        Row of the candidates.
    """

    input: Array
    level: int
    fidelity: str
    cost: float
    value: float
    candidate: int


@dataclasses.dataclass(frozen=True, repr=False)
class Suggestions(Sequence[Suggestion]):
    """Runs in the order in which they were chosen: a sequence of Suggestion.

    Attributes
    ----------
    runs : tuple of Suggestion
    variance_before, variance_after : float
        Variance of the highest fidelity, the mean over the target points: now, and as expected after all runs.
    total_cost : float
    revision : int
    data_version : int
    reason : str
        Why there are fewer runs than asked for; empty when there are as many.
    names : tuple of str
        Names of the inputs.
    """

    runs: Tuple[Suggestion, ...]
    variance_before: float
    variance_after: float
    total_cost: float
    revision: int
    data_version: int
    reason: str = ""
    names: Tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.runs)

    @overload
    def __getitem__(self, index: int) -> Suggestion: ...

    @overload
    def __getitem__(self, index: slice) -> Tuple[Suggestion, ...]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[Suggestion, Tuple[Suggestion, ...]]:
        return self.runs[index]

    def inputs(self, fidelity: Optional[str] = None) -> Array:
        """Inputs to run.

        Parameters
        ----------
        fidelity : str, optional
            Only those of this fidelity.

        Returns
        -------
        ndarray, n×d
        """
        rows = [run.input for run in self.runs if fidelity is None or run.fidelity == fidelity]
        width = len(self.runs[0].input) if self.runs else len(self.names)
        return np.array(rows) if rows else np.empty((0, width))

    def _parts(self) -> Tuple[List[str], List[List[Any]], str, List[str]]:
        header = ["fidelity", *self.names, "cost", "value"]
        rows = [[run.fidelity, *map(float, run.input), run.cost, run.value] for run in self.runs]
        title = f"{len(self)} suggested run{'s' * (len(self) != 1)}, cost {self.total_cost:g}"
        return header, rows, title, ([self.reason] if self.reason else []) + [_variances(self)]

    def __repr__(self) -> str:
        header, rows, title, notes = self._parts()
        return _html.text(header, rows, title, notes) if rows else "\n".join([title, *notes])

    def _repr_html_(self) -> str:
        return _html.table(*self._parts())

    def to_frame(self) -> Any:
        """The runs as a pandas.DataFrame.

        Returns
        -------
        pandas.DataFrame
            A row per run, with columns fidelity, the inputs, cost and value.
        """
        points = self.inputs()
        return _frames.make(
            [
                ("fidelity", [run.fidelity for run in self.runs]),
                *_frames.inputs(self.names, points),
                ("cost", [run.cost for run in self.runs]),
                ("value", [run.value for run in self.runs]),
            ]
        )

    @classmethod
    def _of(cls, wire: Any, names: Tuple[str, ...] = ()) -> Suggestions:
        return cls(
            runs=tuple(
                Suggestion(np.array(s.input), s.level, s.fidelity, s.cost, s.value, s.candidate)
                for s in wire.suggestions
            ),
            variance_before=wire.variance_before,
            variance_after=wire.variance_after,
            total_cost=wire.total_cost,
            revision=int(_wire.short_name(wire.revision)),
            data_version=wire.data_version,
            reason=wire.shortfall_reason,
            names=names,
        )


def _variances(design: Any) -> str:
    return f"mean variance of the highest fidelity: {design.variance_before:.4g} now, {design.variance_after:.4g} after"
