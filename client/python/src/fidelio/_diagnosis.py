"""What Model.diagnose returns."""

from __future__ import annotations

import dataclasses
from typing import Any, List, Optional, Sequence, Tuple, Union, overload

import numpy as np

from fidelio import _frames, _html, _wire
from fidelio._wire import Array


@dataclasses.dataclass(frozen=True)
class FidelityDiagnostics:
    """How well the observations of one fidelity are predicted without them (leave one out).

    Attributes
    ----------
    level : int
    fidelity : str
    count : int
        Number of observations.
    residuals : ndarray, count
        Standardised: (y − mean)/std, in the order of Model.observations.
    r2 : float
        Predictive R², at most 1.
    rmse : float
        Root of the mean squared error.
    coverage50, coverage90, coverage95 : float
        Share of the observations within the central interval of this probability.
    mean_log_density : float
        Mean logarithm of the predicted density at the observations; larger is better.
    inflation : float
        What variances are multiplied by, because they were found too small.
    mean, variance : ndarray, count
        Predicted; the variance is that of an observation, with noise.
    cdf : ndarray, count
        Predicted probabilities of outputs up to the observed one.
    distinct : int
        Number of distinct inputs. Observations with equal inputs are left out together.
    median : ndarray, count
        Predicted. Empty from servers that do not give it.
    median_rmse : float
        Root of the mean squared error of the median.
    """

    level: int
    fidelity: str
    count: int
    residuals: Array = dataclasses.field(repr=False)
    r2: float
    rmse: float
    coverage50: float
    coverage90: float
    coverage95: float
    mean_log_density: float
    inflation: float
    mean: Array = dataclasses.field(repr=False)
    variance: Array = dataclasses.field(repr=False)
    cdf: Array = dataclasses.field(repr=False)
    distinct: int = 0
    median: Array = dataclasses.field(repr=False, default_factory=lambda: np.empty(0))
    median_rmse: float = 0.0

    @property
    def outputs(self) -> Array:
        """The observed outputs."""
        return self.mean + self.residuals * np.sqrt(self.variance)

    @classmethod
    def _of(cls, wire: Any) -> FidelityDiagnostics:
        def column(field: str) -> Array:
            return _wire.from_matrix(getattr(wire, field), field)[:, 0] if wire.HasField(field) else np.empty(0)

        return cls(
            wire.level, wire.fidelity, wire.count, column("residuals"), wire.r2, wire.rmse, wire.coverage50,
            wire.coverage90, wire.coverage95, wire.mean_log_density, wire.inflation, column("mean"), column("variance"),
            column("cdf"), wire.distinct_count, column("median"), wire.median_rmse,
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Whether the predictions of the highest fidelity can be relied on. str(verdict) is the text.

    Attributes
    ----------
    kind : str
        "too-few", "overconfident", "uninformative", "cautious" or "calibrated".
    text : str
        The same in one or two sentences, with its numbers.
    warnings : tuple of str
        What leaving observations out cannot show and a user should look at.
    distinct : int
        Number of distinct inputs that were observed at the highest fidelity.
    more_needed : int
        How many more are needed for a verdict; 0 unless kind is "too-few".
    """

    kind: str
    text: str
    warnings: Tuple[str, ...]
    distinct: int
    more_needed: int

    def __str__(self) -> str:
        return self.text


_HEADER = ("fidelity", "observations", "distinct", "R²", "RMSE", "in 50 %", "in 90 %", "in 95 %")


@dataclasses.dataclass(frozen=True, repr=False)
class Diagnosis(Sequence[FidelityDiagnostics]):
    """Whether a model can be trusted: a sequence of FidelityDiagnostics, from the lowest fidelity, and a verdict.

    Attributes
    ----------
    fidelities : tuple of FidelityDiagnostics
    verdict : Verdict or None
        None from servers that do not give one.
    revision : int
    data_version : int
    withdrawn : int
        Observations that the revision knows and that were withdrawn or corrected since. They are left out.
    """

    fidelities: Tuple[FidelityDiagnostics, ...]
    verdict: Optional[Verdict]
    revision: int
    data_version: int
    withdrawn: int

    @property
    def warnings(self) -> Tuple[str, ...]:
        """Those of the verdict."""
        return self.verdict.warnings if self.verdict else ()

    def __len__(self) -> int:
        return len(self.fidelities)

    @overload
    def __getitem__(self, index: int) -> FidelityDiagnostics: ...

    @overload
    def __getitem__(self, index: slice) -> Tuple[FidelityDiagnostics, ...]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[FidelityDiagnostics, Tuple[FidelityDiagnostics, ...]]:
        return self.fidelities[index]

    def _rows(self) -> List[List[Any]]:
        return [
            [
                one.fidelity, one.count, one.distinct or one.count, f"{one.r2:.3f}", one.rmse,
                *(f"{100 * share:.0f} %" for share in (one.coverage50, one.coverage90, one.coverage95)),
            ]
            for one in self.fidelities
        ]  # fmt: skip

    def _notes(self) -> List[str]:
        return ([self.verdict.text] if self.verdict else []) + [f"Warning: {warning}" for warning in self.warnings]

    def __repr__(self) -> str:
        return _html.text(_HEADER, self._rows(), f"Leave-one-out diagnosis of revision {self.revision}", self._notes())

    def _repr_html_(self) -> str:
        return _html.table(_HEADER, self._rows(), f"Leave-one-out diagnosis of revision {self.revision}", self._notes())

    def to_frame(self) -> Any:
        """One row per left-out observation, as a pandas.DataFrame.

        Returns
        -------
        pandas.DataFrame
            Columns fidelity, observed, mean, std, residual, cdf and median.
        """
        fields = {
            "observed": [one.outputs for one in self.fidelities],
            "mean": [one.mean for one in self.fidelities],
            "std": [np.sqrt(one.variance) for one in self.fidelities],
            "residual": [one.residuals for one in self.fidelities],
            "cdf": [one.cdf for one in self.fidelities],
            "median": [one.median if len(one.median) else np.full(len(one.mean), np.nan) for one in self.fidelities],
        }
        names = [one.fidelity for one in self.fidelities for _ in range(len(one.mean))]
        columns = [(name, np.concatenate([np.empty(0), *parts])) for name, parts in fields.items()]
        return _frames.make([("fidelity", names), *columns])

    def plot(self, axes: Any = None) -> Any:
        """Draws observed against predicted outputs, and the distribution of their predicted probabilities.

        Parameters
        ----------
        axes : sequence of two matplotlib axes, optional
            Where to draw. Default: a new figure.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        from fidelio import _plot

        return _plot.diagnosis(self, axes)

    @classmethod
    def _of(cls, wire: Any) -> Diagnosis:
        verdict = None
        if wire.HasField("verdict"):
            v = wire.verdict
            verdict = Verdict(_wire.VERDICTS.word(v.kind), v.text, tuple(v.warnings), v.distinct_count, v.more_needed)
        return cls(
            fidelities=tuple(FidelityDiagnostics._of(one) for one in wire.fidelities),
            verdict=verdict,
            revision=int(_wire.short_name(wire.revision)),
            data_version=wire.data_version,
            withdrawn=wire.withdrawn_count,
        )
