"""What Model.posterior returns."""

from __future__ import annotations

import dataclasses
from typing import Any, List, Optional, Tuple

import numpy as np

from fidelio import _frames, _html
from fidelio._wire import Array


@dataclasses.dataclass(frozen=True, repr=False)
class Prediction:
    """A prediction at n inputs. What was not asked for is None.

    Attributes
    ----------
    mean, variance : ndarray, n
    quantiles : ndarray, n×q, or None
        A column for each of `probabilities`.
    covariance : ndarray, n×n, or None
    gradient : ndarray, n×d, or None
        Derivatives of the mean by the inputs.
    revision : int
        The revision that predicted.
    data_version : int
        Version of the observations that it knows.
    inputs : ndarray, n×d, or None
        Where it was predicted.
    probabilities : tuple of float
        Of the quantiles.
    fidelity : str
        The fidelity that was predicted.
    names : tuple of str
        Names of the inputs.
    median : ndarray, n, or None
        None from servers that do not give it.
    warnings : tuple of str
        What to know about these predictions: means far from their medians.
    """

    mean: Array
    variance: Array
    quantiles: Optional[Array]
    covariance: Optional[Array]
    gradient: Optional[Array]
    revision: int
    data_version: int
    inputs: Optional[Array] = None
    probabilities: Tuple[float, ...] = ()
    fidelity: str = ""
    names: Tuple[str, ...] = ()
    median: Optional[Array] = None
    warnings: Tuple[str, ...] = ()

    @property
    def std(self) -> Array:
        """Standard deviations, n."""
        return np.sqrt(self.variance)

    def __len__(self) -> int:
        return len(self.mean)

    def __repr__(self) -> str:
        of = f" of {self.fidelity}" if self.fidelity else ""
        return f"<Prediction{of} at {len(self)} inputs by revision {self.revision}>"

    def _columns(self) -> List[Tuple[str, Any]]:
        columns = [] if self.inputs is None else _frames.inputs(self.names, self.inputs)
        columns += [("mean", self.mean), ("std", self.std)]
        if self.quantiles is not None:
            columns += [(f"q{p:g}", self.quantiles[:, place]) for place, p in enumerate(self.probabilities)]
        if self.median is not None:
            columns.append(("median", self.median))
        return columns

    def _repr_html_(self) -> str:
        columns, shown = self._columns(), min(len(self), 20)
        rows = [[float(values[row]) for _, values in columns] for row in range(shown)]
        notes = [f"… {len(self) - shown} more rows; to_frame() has all of them"] if shown < len(self) else []
        notes += [f"Warning: {warning}" for warning in self.warnings]
        return _html.table([name for name, _ in columns], rows, repr(self)[1:-1], notes)

    def to_frame(self) -> Any:
        """The prediction as a pandas.DataFrame.

        Returns
        -------
        pandas.DataFrame
            A row per input, with columns for the inputs, mean, std, a column such as q0.05 per quantile, and median.
        """
        return _frames.make(self._columns())
