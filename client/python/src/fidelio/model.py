"""Model: a named model on a server."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from fidelio import _add, _frames, _wire
from fidelio._predicting import ModelPredicting
from fidelio._types import Criterion, DppMethod, FidelityLike, InitialMethod, Quality, RevisionLike
from fidelio.errors import InvalidArgument
from fidelio.results import Design, Diagnosis, InitialDesign, Suggestions
from fidelio.v1 import design_pb2

_MOST = (1 << 32) - 1


class Model(ModelPredicting):
    """A model on a server, made by Client.create_model and Client.model. Thread-safe, as its client is.

    Inputs are arrays of n×d numbers, lists, or data frames; outputs are n numbers or a series. Columns of frames go by
    the names of the model's inputs, whatever their order. Fidelities go by name or by level (0 is the lowest, −1 the
    highest).

    Examples
    --------
    >>> import numpy as np, fidelio
    >>> client = fidelio.local()
    >>> model = client.create_model("sine", inputs=1, fidelities=["low", "high"])
    >>> x = np.random.default_rng(1).uniform(size=24)
    >>> _ = model.add(x, np.sin(8 * x), fidelity="low")
    >>> _ = model.add(x[:8], 2 * np.sin(8 * x[:8]) + x[:8], fidelity="high")
    >>> model.fit(seed=1).state
    'succeeded'
    >>> mean, std = model.predict([0.3, 0.62], return_std=True)
    >>> bool(np.allclose(mean, 2 * np.sin([2.4, 4.96]) + [0.3, 0.62], atol=0.05)), std.shape
    (True, (2,))
    >>> design = model.sample_dpp(3, candidates=200, seed=1)
    >>> design.inputs.shape
    (3, 1)
    >>> client.close()
    """

    def initial_design(
        self,
        counts: Union[int, Mapping[FidelityLike, int]],
        *,
        method: InitialMethod = "sobol",
        nested: bool = False,
        seed: int = 0,
        pending: Any = None,
        timeout: Optional[float] = None,
    ) -> InitialDesign:
        """Proposes first runs that fill the model's box. Needs no fit and no observations.

        Parameters
        ----------
        counts : dict of fidelity to int, or int
            How many runs of which fidelities; a number alone when the model has one fidelity.
        method : str
            "sobol": scrambled Sobol' points. "latin-hypercube": a Latin hypercube with a large smallest distance.
        nested : bool
            Choose the inputs of each fidelity among those of the next lower one.
        seed : int
            Of the random numbers; the same seed gives the same design.
        pending : dict of fidelity to X, DataFrame, InitialDesign or Suggestions, optional
            Runs that were started and not observed yet. New inputs keep away from them, as from observed ones. A frame
            has a column fidelity, as to_frame() of designs and suggestions makes it.
        timeout : float, optional
            Seconds.

        Returns
        -------
        InitialDesign

        Raises
        ------
        FailedPrecondition
            If the model has neither a box nor observations whose range serves as one.

        Examples
        --------
        >>> import fidelio
        >>> client = fidelio.local()
        >>> model = client.create_model("wing", ["angle", "speed"], ["coarse", "fine"], box=([0, 0], [1, 1]))
        >>> design = model.initial_design({"coarse": 40, "fine": 10}, nested=True, seed=1)
        >>> design.inputs("fine").shape
        (10, 2)
        >>> client.close()
        """
        if not isinstance(counts, Mapping):
            if len(self.fidelities) > 1:
                raise InvalidArgument(
                    f"counts: {counts!r}, must say how many runs of which fidelity, as {{{self.fidelities[0]!r}: 40}}"
                )
            counts = {0: counts}
        request = design_pb2.InitialDesignRequest(
            model=self._path, method=_wire.INITIAL_METHODS.value(method), nested=nested, seed=_wire.seed_of(seed)
        )
        wanted = {
            _add.level_of(fidelity, self.fidelities): _wire.whole_of(count, f"counts[{fidelity!r}]", 1, _MOST)
            for fidelity, count in counts.items()
        }
        if not wanted or len(wanted) != len(counts):
            raise InvalidArgument("counts: must name at least one fidelity, and each at most once")
        for level in sorted(wanted):
            request.counts.add(level=level, count=wanted[level])
        for fidelity, inputs in self._pending(pending):
            request.pending.add(
                level=_add.level_of(fidelity, self.fidelities),
                inputs=_wire.to_matrix(_wire.finite(self._inputs(inputs, "pending"), "pending")),
            )
        return InitialDesign._of(self._caller.call("InitialDesign", request, timeout), self._info.input_names)

    def sample_dpp(
        self,
        k: int = 1,
        *,
        candidates: Any = None,
        method: DppMethod = "exact",
        quality: Union[Quality, Sequence[float], Any] = "none",
        fidelity: FidelityLike = -1,
        exclude_observed: bool = False,
        seed: int = 0,
        revision: Optional[RevisionLike] = None,
        timeout: Optional[float] = None,
    ) -> Design:
        """Chooses k informative, diverse inputs to observe: a draw from a determinantal point process.

        Parameters
        ----------
        k : int
            Number of inputs.
        candidates : array-like, DataFrame or int, optional
            Inputs to choose from, or how many the server makes in the model's box.
        method : str
            "exact": a random draw. "map": a greedy choice of large determinant, the same for every seed.
        quality : str or array-like
            "none": uncertainty and distance alone. "mean": large outputs are sought. Or a number above 0 for each of
            the given candidates.
        fidelity : str or int
            The fidelity to be run. Default: the highest.
        exclude_observed : bool
            Do not choose inputs that were observed at this fidelity.
        seed : int
            Of the random numbers.
        revision : int, optional
            Default: the current one.
        timeout : float, optional
            Seconds.

        Returns
        -------
        Design
        """
        request = design_pb2.SampleDPPRequest(
            model=self._path,
            k=_wire.whole_of(k, "k", most=_MOST),
            method=_wire.METHODS.value(method),
            level=_add.level_of(fidelity, self.fidelities),
            exclude_observed=exclude_observed,
            seed=_wire.seed_of(seed),
            revision=_wire.revision_name(self.name, revision),
        )
        points = self._candidates(request, candidates)
        if isinstance(quality, str):
            request.quality_mode = _wire.QUALITIES.value(quality)
        else:
            request.quality_mode = design_pb2.QUALITY_MODE_GIVEN
            request.quality.CopyFrom(_wire.to_matrix(_wire.column_of(quality, points, "quality")))
        return Design._of(self._caller.call("SampleDPP", request, timeout), self._info.input_names)

    def suggest(
        self,
        count: int = 1,
        *,
        criterion: Criterion = "variance-reduction",
        maximise: bool = False,
        width: Optional[float] = None,
        budget: Optional[float] = None,
        fidelities: Sequence[FidelityLike] = (),
        candidates: Any = None,
        target_count: int = 0,
        seed: int = 0,
        revision: Optional[RevisionLike] = None,
        timeout: Optional[float] = None,
    ) -> Suggestions:
        """Suggests the next runs, each an input and a fidelity, by what runs cost.

        Parameters
        ----------
        count : int
            Number of runs at most.
        criterion : str
            "variance-reduction", "max-variance", "expected-improvement" or "confidence-bound".
        maximise : bool
            Of the last two criteria: look for large outputs. Default: small ones.
        width : float, optional
            Of "confidence-bound": number of standard deviations. Default: 2.
        budget : float, optional
            What all runs together may cost.
        fidelities : sequence of str or int
            Those that may be run. Default: all.
        candidates : array-like, DataFrame or int, optional
            Inputs to choose from, or how many the server makes in the model's box.
        target_count : int
            Number of points over which variances are averaged. Default: the server chooses.
        seed : int
            Of the random numbers.
        revision : int, optional
            Default: the current one.
        timeout : float, optional
            Seconds.

        Returns
        -------
        Suggestions
            A sequence of Suggestion. When there are fewer than `count`, its `reason` says why.
        """
        request = design_pb2.SuggestRequest(
            model=self._path,
            count=_wire.whole_of(count, "count", most=_MOST),
            criterion=_wire.CRITERIA.value(criterion),
            width=None if width is None else _wire.number_of(width, "width"),
            budget=None if budget is None else _wire.number_of(budget, "budget"),
            levels=[_add.level_of(fidelity, self.fidelities) for fidelity in fidelities],
            target_count=_wire.whole_of(target_count, "target_count", 0, _MOST),
            seed=_wire.seed_of(seed),
            revision=_wire.revision_name(self.name, revision),
        )
        if maximise:
            request.direction = design_pb2.SUGGEST_DIRECTION_MAXIMISE
        self._candidates(request, candidates)
        return Suggestions._of(self._caller.call("Suggest", request, timeout), self._info.input_names)

    def diagnose(self, *, revision: Optional[RevisionLike] = None, timeout: Optional[float] = None) -> Diagnosis:
        """Diagnoses whether the model can be trusted: how well observations are predicted without them.

        Parameters
        ----------
        revision : int, optional
            Default: the current one.
        timeout : float, optional
            Seconds.

        Returns
        -------
        Diagnosis
            A sequence of FidelityDiagnostics, with a `verdict` and `warnings`.
        """
        request = design_pb2.DiagnoseRequest(model=self._path, revision=_wire.revision_name(self.name, revision))
        return Diagnosis._of(self._caller.call("Diagnose", request, timeout))

    def plot(self, fidelity: FidelityLike = -1, *, at: Any = None, points: int = 200, axes: Any = None) -> Any:
        """Draws the prediction along each input, with its 95 % interval and, for one input, the observations.

        Parameters
        ----------
        fidelity : str or int
            Default: the highest.
        at : sequence of d numbers, optional
            The point through which the slices go. Default: the middle of the box, or of the observed inputs.
        points : int
            Of each slice.
        axes : sequence of d matplotlib axes, optional
            Where to draw. Default: a new figure.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        FailedPrecondition
            Before the first fit.
        """
        from fidelio import _plot

        return _plot.model(self, fidelity, at, points, axes)

    def _candidates(self, request: Any, candidates: Any) -> int:
        if candidates is None:
            return 0
        if isinstance(candidates, (int, np.integer)):
            request.candidate_count = _wire.whole_of(candidates, "candidates", most=_MOST)
            return int(candidates)
        points = _wire.finite(self._inputs(candidates, "candidates"), "candidates")
        request.candidates.CopyFrom(_wire.to_matrix(points))
        return len(points)

    def _pending(self, pending: Any) -> Any:
        """(fidelity, inputs) pairs of runs that were started."""
        if pending is None:
            return []
        if isinstance(pending, InitialDesign):
            return list(pending.by_fidelity.items())
        if isinstance(pending, Suggestions):
            return [(fidelity, pending.inputs(fidelity)) for fidelity in dict.fromkeys(run.fidelity for run in pending)]
        if _frames.is_frame(pending):
            known = [name for name in self.refresh().input_names if name in pending.columns]
            if "fidelity" not in pending.columns:
                raise InvalidArgument("pending: is a data frame without a column 'fidelity'")
            names = pending["fidelity"].to_numpy()
            return [(name, pending[known][names == name]) for name in dict.fromkeys(names)]
        if isinstance(pending, Mapping):
            return list(pending.items())
        raise InvalidArgument("pending: must be a dict of fidelity to inputs, a data frame, a design or suggestions")
