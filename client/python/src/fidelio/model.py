"""Model: a named model on a server."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Union

import numpy as np

from fidelio import _add, _predict, _wire
from fidelio._caller import new_request_id
from fidelio._resource import ModelResource, RevisionLike
from fidelio._wire import Array
from fidelio.errors import InvalidArgument
from fidelio.fit import Fit, OnEvent
from fidelio.results import Added, Design, FidelityDiagnostics, Observations, Prediction, Suggestions
from fidelio.v1 import design_pb2, fit_pb2, observation_pb2, prediction_pb2

FidelityLike = Union[int, str]


class Model(ModelResource):
    """A model on a server; made by Client.create_model and Client.model. Thread-safe, as its client is.

    Inputs are arrays of n×d numbers, lists, or data frames of pandas; outputs are n numbers, or a series. Columns of
    frames go by their names: those of the first frame, which later ones may have in another order. Fidelities go by
    name or by level (0 is the lowest, −1 the highest).

    >>> import numpy as np, fidelio
    >>> client = fidelio.local()
    >>> model = client.create_model("sine", inputs=1, fidelities=["low", "high"])
    >>> x = np.linspace(0, 1, 20)
    >>> _ = model.add(x, np.sin(8 * x), fidelity="low")
    >>> _ = model.add(x[::4], 2 * np.sin(8 * x[::4]) + x[::4], fidelity="high")
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

    def add(
        self,
        X: Any,
        y: Any,
        fidelity: Any = None,
        noise: Any = None,
        *,
        condition: bool = False,
        rows_per_call: int = _add.ROWS_PER_CALL,
        timeout: Optional[float] = None,
    ) -> Added:
        """Appends observations: committed and on disk when it returns.

        fidelity: of all rows, or one per row; may be left out when the model has one. noise: known variances, one for
        all rows or one per row; without, one per fidelity is learned. condition: update the served posterior at once,
        hyperparameters kept, without a fit. More than `rows_per_call` rows go in several calls, each all or nothing; an
        error then tells how many are committed (`rows_committed`).
        """
        inputs = self._inputs(X)
        outputs = _wire.column_of(y, len(inputs), "y")
        variances = None
        if noise is not None:
            one = np.ndim(noise) == 0
            variances = (
                np.full(1, _wire.number_of(noise, "noise")) if one else _wire.column_of(noise, len(inputs), "noise")
            )
        if fidelity is None:
            if len(self.fidelities) > 1:
                raise InvalidArgument(f"fidelity: missing, must be one of {', '.join(self.fidelities)}")
            fidelity = 0
        levels = _add.levels_of(fidelity, self.fidelities, len(inputs))
        added = _add.add(
            self._caller, self._path, inputs, outputs, levels, variances, condition, max(1, rows_per_call), timeout
        )
        self._known(counts=added.counts, data_version=added.data_version)
        if added.revision is not None:
            self._known(revision=added.revision)
        return added

    def observations(self, fidelity: FidelityLike = -1) -> Observations:
        """All observations of one fidelity that the server has."""
        level = _add.level_of(fidelity, self.fidelities)
        request = observation_pb2.ListObservationsRequest(parent=self._path, level=level, page_size=100_000)
        batches = [batch for page in self._caller.pages("ListObservations", request) for batch in page.observations]
        if not batches:
            return Observations(np.empty((0, self._info.inputs)), np.empty(0), None)
        noise = None
        if batches[0].HasField("noise_variances"):
            noise = np.concatenate(
                [
                    np.broadcast_to(_wire.from_matrix(b.noise_variances, "noise_variances")[:, 0], b.outputs.rows)
                    for b in batches
                ]
            )
        return Observations(
            inputs=np.concatenate([_wire.from_matrix(b.inputs, "inputs") for b in batches]),
            outputs=np.concatenate([_wire.from_matrix(b.outputs, "outputs")[:, 0] for b in batches]),
            noise=noise,
        )

    def fit(
        self,
        progress: bool = False,
        *,
        seed: int = 0,
        inference: str = "auto",
        kernel: str = "rbf",
        warm_start: bool = False,
        seconds: Optional[float] = None,
        iterations: Optional[int] = None,
        inducing_points: Optional[int] = None,
        batch_size: Optional[int] = None,
        steps: Optional[int] = None,
        wait: bool = True,
        callback: Optional[OnEvent] = None,
        timeout: Optional[float] = None,
    ) -> Fit:
        """Learns from all observations, as a job of the server that outlives this process and the server's restarts.

        progress: show a bar. seed: of all random numbers; the same gives the same model. inference: auto, moments,
        variational, svi, or another that the server has (Client.server_info). kernel: rbf, matern12, matern32,
        matern52, or evidence for all of them. warm_start: start from the revision of now, too. seconds, iterations:
        end it, successfully, at the latest. inducing_points (of variational and svi), batch_size, steps (of svi): their
        sizes.
        wait: until it has ended, for at most `timeout` seconds; without, see Fit.wait. callback: sees every event.
        Raises the error of a failed fit.
        """
        options = fit_pb2.FitOptions(
            inference=_wire.INFERENCES.value(inference),
            kernel_family=_wire.KERNELS.value(kernel),
            warm_start=warm_start,
            seed=_wire.whole_of(seed, "seed", 0),
        )
        for option, size in (("inducing_points", inducing_points), ("batch_size", batch_size), ("steps", steps)):
            if size is not None:
                setattr(options, option, _wire.whole_of(size, option))
        if seconds is not None:
            options.budget.seconds = _wire.number_of(seconds, "seconds")
        if iterations is not None:
            options.budget.iterations = _wire.whole_of(iterations, "iterations")
        request = fit_pb2.FitRequest(model=self._path, options=options, request_id=new_request_id())
        fit = Fit(self._caller, self._caller.call("Fit", request))
        if wait:
            self._known(revision=fit.wait(progress, callback, timeout).revision)
        return fit

    def fits(self) -> List[Fit]:
        """All fits of the model, the newest first."""
        pages = self._caller.pages("ListFits", fit_pb2.ListFitsRequest(parent=self._path, page_size=1000))
        return [Fit(self._caller, wire) for page in pages for wire in page.fits]

    def predict(
        self,
        X: Any,
        fidelity: FidelityLike = -1,
        *,
        return_std: bool = False,
        quantiles: Optional[Sequence[float]] = None,
        return_cov: bool = False,
        return_gradient: bool = False,
        include_noise: bool = False,
        revision: Optional[RevisionLike] = None,
        min_data_version: int = 0,
        timeout: Optional[float] = None,
    ) -> Any:
        """The mean at n inputs; or a tuple of the mean and what else was asked for, in this order: standard deviations
        (return_std), quantiles of these probabilities (n×q), the covariance matrix (return_cov, n×n), derivatives of
        the mean by the inputs (return_gradient, n×d).

        fidelity: the highest unless told. include_noise: predict new observations instead of the function. revision: an
        older one. min_data_version: FailedPrecondition unless the revision knows these observations
        (Added.data_version). Many inputs are streamed; all are answered by one revision. timeout: seconds; the default
        one of the client is granted anew for every 100,000 inputs. posterior() gives the same as an object.
        """
        answer = self.posterior(
            X,
            fidelity,
            quantiles=quantiles,
            full_cov=return_cov,
            gradient=return_gradient,
            include_noise=include_noise,
            revision=revision,
            min_data_version=min_data_version,
            timeout=timeout,
        )
        parts = [answer.mean]
        for wanted, part in (
            (return_std, answer.std if return_std else None),
            (quantiles is not None, answer.quantiles),
            (return_cov, answer.covariance),
            (return_gradient, answer.gradient),
        ):
            if wanted:
                assert part is not None
                parts.append(part)
        return parts[0] if len(parts) == 1 else tuple(parts)

    def posterior(
        self,
        X: Any,
        fidelity: FidelityLike = -1,
        *,
        quantiles: Optional[Sequence[float]] = None,
        full_cov: bool = False,
        gradient: bool = False,
        include_noise: bool = False,
        revision: Optional[RevisionLike] = None,
        min_data_version: int = 0,
        timeout: Optional[float] = None,
    ) -> Prediction:
        """As predict(), with everything in one object."""
        options = prediction_pb2.PredictOptions(
            level=_add.level_of(fidelity, self.fidelities),
            include_noise=include_noise,
            quantiles=[] if quantiles is None else _wire.numbers_of(quantiles, "quantiles"),
            full_covariance=full_cov,
            input_gradient=gradient,
        )
        return _predict.predict(
            self._caller,
            self._path,
            self._inputs(X),
            options,
            _wire.revision_name(self.name, revision),
            min_data_version,
            timeout,
        )

    def sample_paths(
        self,
        X: Any,
        count: int = 1,
        *,
        kind: str = "joint",
        fidelity: FidelityLike = -1,
        seed: int = 0,
        revision: Optional[RevisionLike] = None,
        timeout: Optional[float] = None,
    ) -> Array:
        """Samples of the function at n inputs, count×n: row i is path i.

        kind: joint, exact samples at these inputs, in time that grows with n³; or function, where path i of a seed is
        the same function in every call, whatever the inputs, in time that grows with n.
        """
        request = prediction_pb2.SamplePathsRequest(
            model=self._path,
            inputs=_wire.to_matrix(self._inputs(X)),
            count=_wire.whole_of(count, "count"),
            kind=_wire.PATHS.value(kind),
            level=_add.level_of(fidelity, self.fidelities),
            seed=_wire.whole_of(seed, "seed", 0),
            revision=_wire.revision_name(self.name, revision),
        )
        return _wire.from_matrix(self._caller.call("SamplePaths", request, timeout).samples, "samples")

    def sample_dpp(
        self,
        k: int = 1,
        *,
        candidates: Any = None,
        method: str = "exact",
        quality: Any = "none",
        fidelity: FidelityLike = -1,
        exclude_observed: bool = False,
        seed: int = 0,
        revision: Optional[RevisionLike] = None,
        timeout: Optional[float] = None,
    ) -> Design:
        """k inputs to observe that tell much and are unlike each other: a draw from a determinantal point process.

        candidates: inputs to choose from, or how many the server makes in the model's box. method: exact, or map for
        the greedy best. quality: none (uncertainty and distance alone, to learn the function), mean (large outputs are
        sought), or a number above 0 for each of the given candidates.
        """
        request = design_pb2.SampleDPPRequest(
            model=self._path,
            k=_wire.whole_of(k, "k"),
            method=_wire.METHODS.value(method),
            level=_add.level_of(fidelity, self.fidelities),
            exclude_observed=exclude_observed,
            seed=_wire.whole_of(seed, "seed", 0),
            revision=_wire.revision_name(self.name, revision),
        )
        points = self._candidates(request, candidates)
        if isinstance(quality, str):
            request.quality_mode = _wire.QUALITIES.value(quality)
        else:
            request.quality_mode = design_pb2.QUALITY_MODE_GIVEN
            request.quality.CopyFrom(_wire.to_matrix(_wire.column_of(quality, points, "quality")))
        return Design._of(self._caller.call("SampleDPP", request, timeout))

    def suggest(
        self,
        count: int = 1,
        *,
        criterion: str = "variance-reduction",
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
        """The next runs, each an input and a fidelity, with regard to what runs cost.

        criterion: variance-reduction, max-variance, expected-improvement, or confidence-bound with its `width`; the
        last two minimise unless told to maximise. budget: what all runs together may cost. fidelities: those that may
        be run.
        """
        request = design_pb2.SuggestRequest(
            model=self._path,
            count=_wire.whole_of(count, "count"),
            criterion=_wire.CRITERIA.value(criterion),
            width=None if width is None else _wire.number_of(width, "width"),
            budget=None if budget is None else _wire.number_of(budget, "budget"),
            levels=[_add.level_of(fidelity, self.fidelities) for fidelity in fidelities],
            target_count=_wire.whole_of(target_count, "target_count", 0),
            seed=_wire.whole_of(seed, "seed", 0),
            revision=_wire.revision_name(self.name, revision),
        )
        if maximise:
            request.direction = design_pb2.SUGGEST_DIRECTION_MAXIMISE
        self._candidates(request, candidates)
        return Suggestions._of(self._caller.call("Suggest", request, timeout))

    def diagnose(
        self, *, revision: Optional[RevisionLike] = None, timeout: Optional[float] = None
    ) -> List[FidelityDiagnostics]:
        """Whether the model can be trusted: how well the observations of each fidelity are predicted without them."""
        request = design_pb2.DiagnoseRequest(model=self._path, revision=_wire.revision_name(self.name, revision))
        return [FidelityDiagnostics._of(wire) for wire in self._caller.call("Diagnose", request, timeout).fidelities]

    def _candidates(self, request: Any, candidates: Any) -> int:
        if candidates is None:
            return 0
        if isinstance(candidates, (int, np.integer)):
            request.candidate_count = _wire.whole_of(candidates, "candidates")
            return int(candidates)
        points = self._inputs(candidates, "candidates")
        request.candidates.CopyFrom(_wire.to_matrix(points))
        return len(points)
