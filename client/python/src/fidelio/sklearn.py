"""MultiFidelityRegressor: Fidelio as an estimator of scikit-learn (which must be installed).

>>> import numpy as np
>>> from fidelio.sklearn import MultiFidelityRegressor
>>> x = np.linspace(0, 1, 24)
>>> level = np.tile([0, 0, 1], 8)
>>> y = np.where(level == 0, np.sin(8 * x), 2 * np.sin(8 * x) + x)
>>> regressor = MultiFidelityRegressor(seed=1).fit(x[:, None], y, fidelity=level)
>>> mean, std = regressor.predict([[0.3]], return_std=True)  # at the highest fidelity
>>> bool(abs(mean[0] - (2 * np.sin(2.4) + 0.3)) < 0.1)
True
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Tuple

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, column_or_1d

from fidelio import _shared
from fidelio._wire import Array
from fidelio.client import Client
from fidelio.errors import InvalidArgument
from fidelio.model import Model


class MultiFidelityRegressor(RegressorMixin, BaseEstimator):
    """Learns rows of several fidelities, and predicts the highest, or each row at its own.

    Parameters
    ----------
    fidelity: column of X (number or name) that tells the fidelity of each row, so that pipelines and searches, which
        see X and y only, need nothing else. Rows to predict then have that column, too, and each is predicted at its
        fidelity. Default: None; all rows are of one fidelity, unless fit() is told otherwise.
    fidelities: values of that column (or array) from the lowest fidelity to the highest. Default: those of the
        training data in ascending order.
    kind, output_transform, output_bounds: as kind, transform and bounds of Client.create_model.
    kernel, inference, seed: as in Model.fit.
    include_noise: predict new observations instead of the function.
    client: a fidelio.Client. Default: the server that the environment variable FIDELIO_SERVER names, else a private one
        (fidelio.local).

    Attributes
    ----------
    model_: the fidelio.Model. It is deleted with this estimator; pickles and copies have one of their own.
    fidelities_: values of the fidelities, from the lowest.
    """

    def __init__(
        self,
        fidelity: Any = None,
        *,
        fidelities: Optional[Sequence[Any]] = None,
        kind: str = "mf-dgp",
        output_transform: str = "identity",
        output_bounds: Optional[Tuple[float, float]] = None,
        kernel: str = "rbf",
        inference: str = "auto",
        seed: int = 0,
        include_noise: bool = False,
        client: Optional[Client] = None,
    ) -> None:
        self.fidelity = fidelity
        self.fidelities = fidelities
        self.kind = kind
        self.output_transform = output_transform
        self.output_bounds = output_bounds
        self.kernel = kernel
        self.inference = inference
        self.seed = seed
        self.include_noise = include_noise
        self.client = client

    def fit(self, X: Any, y: Any, fidelity: Any = None) -> MultiFidelityRegressor:
        """Learns. fidelity: of each row, n values; or a column of X instead of the constructor's."""
        fidelity = self.fidelity if fidelity is None else fidelity
        self.column_ = fidelity if isinstance(fidelity, (str, int, np.integer)) else None
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        inputs, values = self._split(X)
        self.n_features_in_ = inputs.shape[1] + (values is not None)
        if values is None:
            values = np.zeros(len(inputs), dtype=int) if fidelity is None else np.asarray(fidelity).ravel()
        outputs = check_array(column_or_1d(y, warn=True), ensure_2d=False, dtype=float)
        check_consistent_length(inputs, outputs, values)
        self.fidelities_ = list(np.unique(values) if self.fidelities is None else self.fidelities)
        levels = self._levels(values)
        client = self._client()
        model = client.create_model(
            _shared.own_name("sklearn"),
            inputs=inputs.shape[1],
            fidelities=len(self.fidelities_),
            kind=self.kind,
            transform=self.output_transform,
            bounds=self.output_bounds,
        )
        self._own(model)
        model.add(inputs, outputs, fidelity=levels)
        model.fit(seed=self.seed, kernel=self.kernel, inference=self.inference)
        return self

    def predict(self, X: Any, return_std: bool = False, fidelity: Any = None) -> Any:
        """Means at n rows, and their standard deviations if asked for. Without a column of fidelities: at the highest,
        unless `fidelity` tells another one, or one per row."""
        check_is_fitted(self, "fidelities_")
        inputs, values = self._split(X)
        features = inputs.shape[1] + (values is not None)
        if features != self.n_features_in_:
            raise ValueError(
                f"X has {features} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                "as input"
            )
        if values is None:
            values = self.fidelities_[-1] if fidelity is None else fidelity
        levels = self._levels(np.broadcast_to(np.asarray(values).ravel(), len(inputs)))
        mean, std = np.empty(len(inputs)), np.empty(len(inputs))
        for level in np.unique(levels):
            rows = levels == level
            mean[rows], std[rows] = self._model().predict(
                inputs[rows], int(level), return_std=True, include_noise=self.include_noise
            )
        return (mean, std) if return_std else mean

    def _split(self, X: Any) -> Tuple[Array, Optional[Array]]:
        """Inputs, and the column of fidelities if there is one."""
        values = None
        if self.column_ is not None:
            if hasattr(X, "columns"):
                name = self.column_ if isinstance(self.column_, str) else X.columns[self.column_]
                values, X = X[name].to_numpy(), X.drop(columns=[name])
            elif isinstance(self.column_, str):
                raise InvalidArgument(f"fidelity: {self.column_!r} is the name of a column, but X is not a data frame")
            else:
                X = check_array(X, dtype=None)
                values, X = X[:, self.column_], np.delete(X, self.column_, axis=1)
        return check_array(X, dtype=float), values

    def _levels(self, values: Array) -> Array:
        known: Dict[Any, int] = {value: level for level, value in enumerate(self.fidelities_)}
        try:
            return np.array([known[value] for value in values], dtype=int)
        except KeyError as error:
            raise InvalidArgument(f"fidelity: {error.args[0]!r}, must be one of {self.fidelities_}") from None

    def _client(self) -> Client:
        return _shared.shared_client() if self.client is None else self.client

    def _own(self, model: Model) -> None:
        self.model_ = model
        self._delete = _shared.delete_with(self, model)

    def _model(self) -> Model:
        if not hasattr(self, "model_"):
            self._own(self._client().import_model(self._exported, name=_shared.own_name("sklearn")))
            del self._exported
        return self.model_

    def __getstate__(self) -> Dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_delete", None)
        if "model_" in state:
            state["_exported"] = state.pop("model_").export()
        return state
