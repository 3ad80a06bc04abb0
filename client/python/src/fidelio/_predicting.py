"""ModelPredicting: fits, predictions and samples of a model."""

from __future__ import annotations

import warnings
from typing import Any, List, Literal, Mapping, Optional, Sequence, Tuple, Union, overload

from fidelio import _add, _predict, _wire
from fidelio._caller import new_request_id
from fidelio._data import ModelData
from fidelio._types import FidelityLike, Inference, Kernel, PathKind, RevisionLike
from fidelio._wire import Array
from fidelio.errors import FidelioWarning
from fidelio.fit import Fit, OnEvent
from fidelio.results import Prediction
from fidelio.v1 import fit_pb2, prediction_pb2


class ModelPredicting(ModelData):
    """Fits and predictions: the part of Model that learns."""

    def fit(
        self,
        progress: bool = False,
        *,
        seed: int = 0,
        inference: Inference = "auto",
        kernel: Kernel = "rbf",
        warm_start: bool = False,
        seconds: Optional[float] = None,
        iterations: Optional[int] = None,
        inducing_points: Optional[int] = None,
        batch_size: Optional[int] = None,
        steps: Optional[int] = None,
        options: Optional[Mapping[str, float]] = None,
        wait: bool = True,
        callback: Optional[OnEvent] = None,
        timeout: Optional[float] = None,
    ) -> Fit:
        """Learns from all observations, as a job of the server that outlives this process and server restarts.

        Parameters
        ----------
        progress : bool
            Show a progress bar.
        seed : int
            Of all random numbers; the same seed gives the same model.
        inference : str
            "auto", "moments", "variational", "svi", "neighbours" or "point-estimate". Client.server_info lists those
            that the server has.
        kernel : str
            "rbf", "matern12", "matern32", "matern52", or "evidence" for the average of all of them.
        warm_start : bool
            Start from the current revision, too.
        seconds, iterations : optional
            End the fit, successfully, at the latest after this much work.
        inducing_points : int, optional
            Of "variational" and "svi".
        batch_size, steps : int, optional
            Of "svi".
        options : mapping, optional
            Options of the inference by name, as Client.server_info lists them; those above may be among them.
        wait : bool
            Return when the fit has ended. Otherwise see Fit.wait.
        callback : callable, optional
            Called with the Fit at every event.
        timeout : float, optional
            Seconds to wait at most.

        Returns
        -------
        Fit

        Raises
        ------
        FailedPrecondition
            If there are no observations to learn from.
        FidelioError
            The error of a fit that failed.

        Examples
        --------
        >>> import fidelio
        >>> client = fidelio.local()
        >>> model = client.create_model("square", inputs=1)
        >>> _ = model.add([0.0, 0.3, 0.5, 1.0], [0.0, 0.09, 0.25, 1.0])
        >>> model.fit(seed=1).state
        'succeeded'
        >>> client.close()
        """
        wire = fit_pb2.FitOptions(
            inference=_wire.INFERENCES.value(inference),
            kernel_family=_wire.KERNELS.value(kernel),
            warm_start=warm_start,
            seed=_wire.seed_of(seed),
        )
        for option, size in (("inducing_points", inducing_points), ("batch_size", batch_size), ("steps", steps)):
            if size is not None:
                setattr(wire, option, _wire.whole_of(size, option))
        for option, value in (options or {}).items():
            wire.method_options[option] = _wire.number_of(value, f"options[{option!r}]")
        if seconds is not None:
            wire.budget.seconds = _wire.number_of(seconds, "seconds")
        if iterations is not None:
            wire.budget.iterations = _wire.whole_of(iterations, "iterations")
        request = fit_pb2.FitRequest(model=self._path, options=wire, request_id=new_request_id())
        fit = Fit(self._caller, self._caller.call("Fit", request))
        if wait:
            fit.wait(progress, callback, timeout)
            if not fit.not_served:
                self._known(revision=fit.revision)
        return fit

    def fits(self) -> List[Fit]:
        """All fits of the model.

        Returns
        -------
        list of Fit
            The newest first.
        """
        pages = self._caller.pages("ListFits", fit_pb2.ListFitsRequest(parent=self._path, page_size=1000))
        return [Fit(self._caller, wire) for page in pages for wire in page.fits]

    @overload
    def predict(
        self, X: Any, fidelity: FidelityLike = ..., *, return_std: Literal[False] = ..., quantiles: None = ...,
        return_cov: Literal[False] = ..., return_gradient: Literal[False] = ..., include_noise: bool = ...,
        revision: Optional[RevisionLike] = ..., min_data_version: int = ..., timeout: Optional[float] = ...,
    ) -> Array: ...  # fmt: skip

    @overload
    def predict(
        self, X: Any, fidelity: FidelityLike = ..., *, return_std: Literal[True], quantiles: None = ...,
        return_cov: Literal[False] = ..., return_gradient: Literal[False] = ..., include_noise: bool = ...,
        revision: Optional[RevisionLike] = ..., min_data_version: int = ..., timeout: Optional[float] = ...,
    ) -> Tuple[Array, Array]: ...  # fmt: skip

    @overload
    def predict(
        self, X: Any, fidelity: FidelityLike = ..., *, return_std: Literal[True],
        quantiles: Union[float, Sequence[float]], return_cov: Literal[False] = ...,
        return_gradient: Literal[False] = ..., include_noise: bool = ..., revision: Optional[RevisionLike] = ...,
        min_data_version: int = ..., timeout: Optional[float] = ...,
    ) -> Tuple[Array, Array, Array]: ...  # fmt: skip

    @overload
    def predict(
        self, X: Any, fidelity: FidelityLike = ..., *, return_std: bool = ...,
        quantiles: Union[None, float, Sequence[float]] = ..., return_cov: bool = ..., return_gradient: bool = ...,
        include_noise: bool = ..., revision: Optional[RevisionLike] = ..., min_data_version: int = ...,
        timeout: Optional[float] = ...,
    ) -> Union[Array, Tuple[Array, ...]]: ...  # fmt: skip

    def predict(
        self,
        X: Any,
        fidelity: FidelityLike = -1,
        *,
        return_std: bool = False,
        quantiles: Union[None, float, Sequence[float]] = None,
        return_cov: bool = False,
        return_gradient: bool = False,
        include_noise: bool = False,
        revision: Optional[RevisionLike] = None,
        min_data_version: int = 0,
        timeout: Optional[float] = None,
    ) -> Union[Array, Tuple[Array, ...]]:
        """Predicts at n inputs.

        Parameters
        ----------
        X : array-like or DataFrame, n×d
            Columns of a frame go by the names of the model's inputs.
        fidelity : str or int
            Default: the highest.
        return_std : bool
            Return standard deviations, too.
        quantiles : float or sequence of float, optional
            Probabilities; return the quantiles, too.
        return_cov : bool
            Return the covariance matrix, too.
        return_gradient : bool
            Return the derivatives of the mean by the inputs, too.
        include_noise : bool
            Predict new observations instead of the function.
        revision : int, optional
            Predict with this revision. Default: the current one.
        min_data_version : int
            FailedPrecondition unless the revision knows these observations (Added.data_version).
        timeout : float, optional
            Seconds. Default: that of the client for every 100,000 inputs.

        Returns
        -------
        mean : ndarray, n
            Alone, or in a tuple with what else was asked for, in this order: standard deviations (n), quantiles (n×q),
            covariance (n×n), derivatives (n×d). Many inputs are streamed; one revision predicts all of them.
            A FidelioWarning says where means lie far from their medians, which posterior has, too.

        Raises
        ------
        FailedPrecondition
            Before the first fit.

        See Also
        --------
        posterior : the same as one object.

        Examples
        --------
        >>> import fidelio
        >>> client = fidelio.local()
        >>> model = client.create_model("square", inputs=1)
        >>> _ = model.add([0.0, 0.3, 0.5, 0.8, 1.0], [0.0, 0.09, 0.25, 0.64, 1.0])
        >>> _ = model.fit(seed=1)
        >>> mean, std = model.predict([0.4, 0.6], return_std=True)
        >>> mean.round(2).tolist(), std.shape
        ([0.16, 0.36], (2,))
        >>> client.close()
        """
        posterior = self.posterior(
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
        for warning in posterior.warnings:
            warnings.warn(warning, FidelioWarning, stacklevel=2)
        parts = [posterior.mean]
        for wanted, part in (
            (return_std, posterior.std if return_std else None),
            (quantiles is not None, posterior.quantiles),
            (return_cov, posterior.covariance),
            (return_gradient, posterior.gradient),
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
        quantiles: Union[None, float, Sequence[float]] = None,
        full_cov: bool = False,
        gradient: bool = False,
        include_noise: bool = False,
        revision: Optional[RevisionLike] = None,
        min_data_version: int = 0,
        timeout: Optional[float] = None,
    ) -> Prediction:
        """Predicts at n inputs, as one object.

        Parameters
        ----------
        X, fidelity, quantiles, include_noise, revision, min_data_version, timeout
            As in predict.
        full_cov : bool
            Return the covariance matrix, too.
        gradient : bool
            Return the derivatives of the mean by the inputs, too.

        Returns
        -------
        Prediction
        """
        level = _add.level_of(fidelity, self.fidelities)
        options = prediction_pb2.PredictOptions(
            level=level,
            include_noise=include_noise,
            quantiles=[] if quantiles is None else _wire.numbers_of(quantiles, "quantiles"),
            full_covariance=full_cov,
            input_gradient=gradient,
        )
        inputs = _wire.finite(self._inputs(X), "X")
        return _predict.predict(
            self._caller,
            self._path,
            inputs,
            options,
            self.fidelities[level],
            self._info.input_names,
            _wire.revision_name(self.name, revision),
            min_data_version,
            timeout,
        )

    def sample_paths(
        self,
        X: Any,
        count: int = 1,
        *,
        kind: PathKind = "joint",
        fidelity: FidelityLike = -1,
        seed: int = 0,
        revision: Optional[RevisionLike] = None,
        timeout: Optional[float] = None,
    ) -> Array:
        """Draws samples of the function at n inputs.

        Parameters
        ----------
        X : array-like or DataFrame, n×d
        count : int
            Number of samples.
        kind : str
            "joint": exact joint samples at these inputs, in time that grows with n³. "function": sample i of a seed is
            the same function in every call, whatever the inputs, in time that grows with n.
        fidelity : str or int
            Default: the highest.
        seed : int
            Of the random numbers.
        revision : int, optional
            Default: the current one.
        timeout : float, optional
            Seconds.

        Returns
        -------
        ndarray, count×n
        """
        request = prediction_pb2.SamplePathsRequest(
            model=self._path,
            inputs=_wire.to_matrix(_wire.finite(self._inputs(X), "X")),
            count=_wire.whole_of(count, "count", most=(1 << 32) - 1),
            kind=_wire.PATHS.value(kind),
            level=_add.level_of(fidelity, self.fidelities),
            seed=_wire.seed_of(seed),
            revision=_wire.revision_name(self.name, revision),
        )
        return _wire.from_matrix(self._caller.call("SamplePaths", request, timeout).samples, "samples")
