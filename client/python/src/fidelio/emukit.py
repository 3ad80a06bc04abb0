"""FidelioModel: Fidelio as a model of Emukit (which must be installed), for its loops and acquisitions as they are.

As everywhere in Emukit, the last column of X is the fidelity of a row, 0 being the lowest, when there are several.

    model = FidelioModel(X, Y, n_fidelities=2)
    loop = ExperimentalDesignLoop(space, model, acquisition=ModelVariance(model))
    loop.run_loop(user_function, 10)
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import numpy as np
from emukit.core.interfaces import IDifferentiable, IModel
from emukit.core.interfaces.models import IModelWithNoise

from fidelio import _shared
from fidelio._wire import Array
from fidelio.client import Client
from fidelio.errors import InvalidArgument

# Of central differences of the variance, relative to the range of an input: near the cube root of the precision.
_STEP = 1e-5


class FidelioModel(IModel, IDifferentiable, IModelWithNoise):
    """A model of Emukit on a Fidelio server.

    X: n×d, or n×(d+1) with the fidelity in the last column when n_fidelities is above 1. Y: n×1. client: a
    fidelio.Client; default: the server that FIDELIO_SERVER names, else a private one. options: of Client.create_model
    (box, kind, transform, …). fit_options: of Model.fit. The model is deleted with this object.

    Rows that set_data() appends are taken into account at once; optimize() learns hyperparameters anew. Before the
    first optimize(), predictions call it.
    """

    def __init__(
        self,
        X: Array,
        Y: Array,
        n_fidelities: int = 1,
        *,
        client: Optional[Client] = None,
        fit_options: Optional[Dict[str, Any]] = None,
        **options: Any,
    ) -> None:
        self.n_fidelities = n_fidelities
        self._client = client or _shared.shared_client()
        self._options = options
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

    def optimize(self, verbose: bool = False) -> None:
        """Learns the hyperparameters."""
        self.model.fit(progress=verbose, **self._fit_options)
        self._fitted = True

    def predict(self, X: Array) -> Tuple[Array, Array]:
        """Means and variances of new observations, n×1 each."""
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
            answer = self.model.posterior(inputs[rows], int(level), include_noise=include_noise)
            mean[rows, 0], variance[rows, 0] = answer.mean, answer.variance
        return mean, variance
