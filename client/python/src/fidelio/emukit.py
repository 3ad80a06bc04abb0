"""FidelioModel: Fidelio as a model of Emukit (which must be installed).

As everywhere in Emukit, the last column of X is the fidelity of a row, 0 being the lowest, when there are several.

    model = FidelioModel(X, Y, n_fidelities=2)
    loop = ExperimentalDesignLoop(space, model, acquisition=ModelVariance(model))
    loop.run_loop(user_function, 10)

What works, and is tested: BayesianOptimizationLoop, ExperimentalDesignLoop and OuterLoop; the acquisitions
ModelVariance, IntegratedVarianceReduction, ExpectedImprovement, MeanPluginExpectedImprovement,
NegativeLowerConfidenceBound, ProbabilityOfImprovement, ProbabilityOfFeasibility, EntropySearch,
MultiInformationSourceEntropySearch, MaxValueEntropySearch and MUMBO; MultiSourceAcquisitionOptimizer, acquisitions
divided by others, and MonteCarloSensitivity.

What does not: MultipointExpectedImprovement, which fails in Emukit 0.5.1 itself with current numpy and scipy;
IntegratedHyperParameterAcquisition, since the server integrates hyperparameters out itself; quadrature.

IntegratedVarianceReduction, EntropySearch and MUMBO need covariances between arbitrary rows. These are estimated from
`n_paths` functions that the server draws from the posterior, which takes tens of milliseconds for each new row. Give
IntegratedVarianceReduction some 500 num_monte_carlo_points instead of its 100,000.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import numpy as np
from emukit.bayesian_optimization.acquisitions import max_value_entropy_search
from emukit.bayesian_optimization.interfaces import IEntropySearchModel
from emukit.core.interfaces import IDifferentiable, IModel
from emukit.core.interfaces.models import IJointlyDifferentiable, IModelWithNoise
from emukit.experimental_design.interfaces import ICalculateVarianceReduction

from fidelio import _shared
from fidelio._wire import Array
from fidelio.client import Client
from fidelio.errors import InvalidArgument

# Of central differences of the variance, relative to the range of an input: near the cube root of the precision.
_STEP = 1e-5
_PATH_NUMBERS = 1 << 21  # of one call of sample_paths
_PATH_SEED = 20

_bisect = max_value_entropy_search.bisect


def _bisect_numbers(function: Any, *arguments: Any, **options: Any) -> Any:
    """Emukit 0.5.1 has scipy find the root of a function whose values are arrays, which numpy 2.4 refuses."""
    return _bisect(lambda x: float(np.squeeze(function(x))), *arguments, **options)


max_value_entropy_search.bisect = _bisect_numbers


class FidelioModel(
    IModel,
    IDifferentiable,
    IModelWithNoise,
    IJointlyDifferentiable,
    IEntropySearchModel,
    ICalculateVarianceReduction,
):
    """A model of Emukit on a Fidelio server.

    Rows that set_data() appends are taken into account at once; optimize() learns hyperparameters again. Before the
    first optimize(), predictions call it. The model on the server is deleted with this object.

    Parameters
    ----------
    X : ndarray, n×d, or n×(d+1) with the fidelity in the last column when n_fidelities is above 1
    Y : ndarray, n×1
    n_fidelities : int
    client : Client, optional
        Default: the server that the environment variable FIDELIO_SERVER names, else a private one.
    fit_options : dict, optional
        Of Model.fit.
    n_paths : int
        Functions from which covariances between rows are estimated; their relative error is about 1/√n_paths.
    **options
        Of Client.create_model (box, kind, transform, …).
    """

    def __init__(
        self,
        X: Array,
        Y: Array,
        n_fidelities: int = 1,
        *,
        client: Optional[Client] = None,
        fit_options: Optional[Dict[str, Any]] = None,
        n_paths: int = 256,
        **options: Any,
    ) -> None:
        self.n_fidelities = n_fidelities
        self._client = client or _shared.shared_client()
        self._options = options
        self._n_paths = n_paths
        self._most_exact: Optional[int] = None  # rows of which the server gives the covariance itself
        self._recent: List[Array] = []  # rows that were predicted last, whose covariances may be asked for next
        self._paths: Dict[bytes, Array] = {}  # values of the centred paths at a row
        self._fit_options = fit_options or {}
        self._x: Array
        self._y: Array
        self._create(np.asarray(X, dtype=float), np.asarray(Y, dtype=float))

    @property
    def X(self) -> Array:
        return self._x

    @property
    def Y(self) -> Array:
        return self._y

    def set_data(self, X: Array, Y: Array) -> None:
        """Replaces the data. What only grew is sent in part, and the posterior conditioned on it."""
        X, Y = np.asarray(X, dtype=float), np.asarray(Y, dtype=float)
        known = len(self._x)
        grown = len(X) >= known and np.array_equal(X[:known], self._x) and np.array_equal(Y[:known], self._y)
        if not grown:
            self._delete()
            self._create(X, Y)
        elif len(X) > known:
            inputs, levels = self._split(X[known:])
            self.model.add(inputs, Y[known:, 0], fidelity=levels, condition=self._fitted)
            self._x, self._y = X, Y
        self._forget()

    def optimize(self, verbose: bool = False) -> None:
        """Learns the hyperparameters."""
        self.model.fit(progress=verbose, **self._fit_options)
        self._fitted = True
        self._forget()

    def predict(self, X: Array) -> Tuple[Array, Array]:
        """Means and variances of new observations, n×1 each."""
        self._recent = [*self._recent[-1:], np.array(X, dtype=float)]
        return self._predict(X, include_noise=True)

    def predict_noiseless(self, X: Array) -> Tuple[Array, Array]:
        """Means and variances of the function, n×1 each."""
        return self._predict(X, include_noise=False)

    def get_prediction_gradients(self, X: Array) -> Tuple[Array, Array]:
        """Derivatives of mean and variance by X, as X each; 0 by the fidelity. Those of the variance are central
        differences."""
        X = np.asarray(X, dtype=float)
        n, d = len(X), self.model.info.inputs
        mean, variance = np.zeros(X.shape), np.zeros(X.shape)
        inputs, levels = self._split(X)
        self._ready()
        for level in np.unique(levels):
            rows = levels == level
            mean[rows, :d] = self.model.predict(inputs[rows], int(level), return_gradient=True)[1]
        steps = _STEP * np.maximum(np.ptp(self._x[:, :d], axis=0), 1e-12)
        shifted = np.concatenate([X + sign * steps[j] * np.eye(X.shape[1])[j] for j in range(d) for sign in (1, -1)])
        up_down = self.predict_noiseless(shifted)[1].reshape(d, 2, n)
        variance[:, :d] = ((up_down[:, 0] - up_down[:, 1]) / (2 * steps[:, None])).T
        return mean, variance

    def predict_covariance(self, X: Array, with_noise: bool = True) -> Array:
        """Covariances of n rows, n×n."""
        X = np.asarray(X, dtype=float)
        inputs, levels = self._split(X)
        variances = self._predict(X, include_noise=with_noise)[1][:, 0]
        if self._most_exact is None:
            self._most_exact = int(self._client.server_info().limits.max_covariance_points)
        if len(np.unique(levels)) == 1 and len(X) <= self._most_exact:
            covariance = np.array(self.model.posterior(inputs, int(levels[0]), full_cov=True).covariance)
        else:
            covariance = self.get_covariance_between_points(X, X)
        np.fill_diagonal(covariance, variances)
        return covariance

    def get_covariance_between_points(self, X1: Array, X2: Array) -> Array:
        """Covariances of the function between rows of X1 and X2, of any fidelities, n1×n2; estimated from paths."""
        one, other = self._values(X1), self._values(X2)
        return one.T @ other / (self._n_paths - 1)

    def calculate_variance_reduction(self, x_train_new: Array, x_test: Array) -> Array:
        """By how much the variance at each row of x_test falls when x_train_new (one row) is observed, n×1."""
        own = float(self.predict_noiseless(x_train_new)[1][0, 0])
        observed = float(self._predict(x_train_new, include_noise=True)[1][0, 0])
        covariance = self.get_covariance_between_points(x_test, x_train_new)[:, 0]
        spread = np.var(self._values(x_test), axis=0, ddof=1)
        # The square of an estimated covariance is too large by the variance of the estimate.
        squares = (covariance**2 - own * spread / self._n_paths) / (1 + 1 / self._n_paths)
        return (squares / observed)[:, None]

    def predict_with_full_covariance(self, X: Array) -> Tuple[Array, Array]:
        """Means, n×1, and covariances, n×n, of n rows."""
        return self.predict(X)[0], self.predict_covariance(X)

    def get_joint_prediction_gradients(self, X: Array) -> Tuple[Array, Array]:
        """Derivatives of means (n×n×d) and covariances (n×n×n×d) of n rows by X; by central differences."""
        X = np.asarray(X, dtype=float)
        n, width = X.shape
        mean, covariance = np.zeros((n, n, width)), np.zeros((n, n, n, width))
        mean[np.arange(n), np.arange(n)] = self.get_prediction_gradients(X)[0]
        d = self.model.info.inputs
        steps = _STEP * np.maximum(np.ptp(self._x[:, :d], axis=0), 1e-12)
        for row in range(n):
            for column in range(d):
                shift = np.zeros(X.shape)
                shift[row, column] = steps[column]
                up, down = self.predict_covariance(X + shift), self.predict_covariance(X - shift)
                covariance[:, :, row, column] = (up - down) / (2 * steps[column])
        return mean, covariance

    def _values(self, X: Array) -> Array:
        """Values of the centred paths at rows of X, n_paths×n. Rows that were just predicted together come together."""
        X = np.ascontiguousarray(X, dtype=float)
        self._ready()
        missing = [row for row in X if row.tobytes() not in self._paths]
        if missing:
            for batch in self._recent:
                if any(row.tobytes() == missing[0].tobytes() for row in batch):
                    missing += [row for row in np.ascontiguousarray(batch) if row.tobytes() not in self._paths]
                    break
            self._draw(np.array(missing))
        return np.column_stack([self._paths[row.tobytes()] for row in X])

    def _draw(self, X: Array) -> None:
        inputs, levels = self._split(X)
        for level in np.unique(levels):
            rows = np.flatnonzero(levels == level)
            size = max(1, _PATH_NUMBERS // self._n_paths)
            for begin in range(0, len(rows), size):
                part = rows[begin : begin + size]
                # The same seed at every level: path i of one fidelity is built on path i of the fidelity below.
                paths = self.model.sample_paths(
                    inputs[part], self._n_paths, kind="function", fidelity=int(level), seed=_PATH_SEED, timeout=600
                )
                for row, values in zip(part, (paths - paths.mean(axis=0)).T):
                    self._paths[X[row].tobytes()] = values

    def _forget(self) -> None:
        self._paths = {}
        self._recent = []

    def _create(self, X: Array, Y: Array) -> None:
        inputs, levels = self._split(X)
        self.model = self._client.create_model(
            _shared.own_name("emukit"), inputs=inputs.shape[1], fidelities=self.n_fidelities, **self._options
        )
        self._delete = _shared.delete_with(self, self.model)
        self._fitted = False
        self.model.add(inputs, Y[:, 0], fidelity=levels)
        self._x, self._y = X, Y

    def _split(self, X: Array) -> Tuple[Array, Array]:
        if self.n_fidelities == 1:
            return X, np.zeros(len(X), dtype=int)
        levels = np.rint(X[:, -1]).astype(int)
        if not np.all((levels >= 0) & (levels < self.n_fidelities)):
            raise InvalidArgument(f"X: the last column is the fidelity, and must be from 0 to {self.n_fidelities - 1}")
        return X[:, :-1], levels

    def _ready(self) -> None:
        if not self._fitted:
            self.optimize()

    def _predict(self, X: Array, include_noise: bool) -> Tuple[Array, Array]:
        self._ready()
        inputs, levels = self._split(np.asarray(X, dtype=float))
        mean, variance = np.empty((len(inputs), 1)), np.empty((len(inputs), 1))
        for level in np.unique(levels):
            rows = levels == level
            posterior = self.model.posterior(inputs[rows], int(level), include_noise=include_noise)
            mean[rows, 0], variance[rows, 0] = posterior.mean, posterior.variance
        return mean, variance
