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

import warnings
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, column_or_1d

from fidelio import _shared
from fidelio._types import Inference, Kernel, Kind, Transform
from fidelio._wire import Array
from fidelio.client import Client
from fidelio.errors import FidelioWarning, InvalidArgument
from fidelio.model import Model


class MultiFidelityRegressor(RegressorMixin, BaseEstimator):
    """Learns rows of several fidelities, and predicts the highest, or each row at its own.

    Parameters
    ----------
    fidelity : int or str, optional
        Column of X (number or name) with the fidelity of each row, so that pipelines and searches, which see X and y
        only, need nothing else. Rows to predict then have that column, too, and each is predicted at its fidelity.
        Needs `fidelities`. Default: all rows are of one fidelity, unless fit() is given another.
    fidelities : sequence, optional
        Values of that column (or of the array that fit() is given), from the lowest fidelity to the highest. May be
        left out for an array of numbers, which then rise with the fidelity. Names have no order of their own.
    kind, output_transform, output_bounds
        As kind, transform and bounds of Client.create_model.
    kernel, inference, seed
        As in Model.fit.
    include_noise : bool
        Predict new observations instead of the function.
    client : Client, optional
        Default: the server that the environment variable FIDELIO_SERVER names, else a private one (fidelio.local).

    Attributes
    ----------
    model_ : Model
        It is deleted with this estimator; pickles and copies have one of their own.
    fidelities_ : list
        Values of the fidelities, from the lowest.
    """

    def __init__(
        self,
        fidelity: Any = None,
        *,
        fidelities: Optional[Sequence[Any]] = None,
        kind: Kind = "mf-dgp",
        output_transform: Transform = "identity",
        output_bounds: Optional[Tuple[float, float]] = None,
        kernel: Kernel = "rbf",
        inference: Inference = "auto",
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
        """Learns.

        Parameters
        ----------
        X : array-like or DataFrame
        y : array-like, n
        fidelity : array-like, int or str, optional
            The fidelity of each row, n values; or a column of X instead of the constructor's.

        Returns
        -------
        MultiFidelityRegressor
            This one.

        Raises
        ------
        InvalidArgument
            If the order of the fidelities is not known.
        """
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
        self.fidelities_ = self._order(values)
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
        """Predicts at n rows.

        Parameters
        ----------
        X : array-like or DataFrame
        return_std : bool
            Return standard deviations, too.
        fidelity : value or array-like, optional
            Without a column of fidelities: the fidelity to predict, or one per row. Default: the highest.

        Returns
        -------
        mean : ndarray, n
        std : ndarray, n
            If return_std is set.
        """
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

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination R² of rows of the highest fidelity, which is what the model is for.

        With a column of fidelities, the other rows do not count. If no row is of the highest fidelity, all rows count,
        each at its own fidelity, and a FidelioWarning says so: FidelityKFold makes better folds.

        Parameters
        ----------
        X : array-like or DataFrame
        y : array-like, n
        sample_weight : array-like, n, optional

        Returns
        -------
        float
        """
        check_is_fitted(self, "fidelities_")
        values = self._split(X)[1]
        if values is not None and len(self.fidelities_) > 1:
            highest = self._levels(values) == len(self.fidelities_) - 1
            if highest.any():
                X, y = _safe_indexing(X, np.flatnonzero(highest)), np.asarray(y)[highest]
                sample_weight = None if sample_weight is None else np.asarray(sample_weight)[highest]
            else:
                warnings.warn(
                    f"score: no row is of the highest fidelity, {self.fidelities_[-1]!r}; the score is that of lower "
                    "fidelities (fidelio.sklearn.FidelityKFold makes folds of the highest)",
                    FidelioWarning,
                    stacklevel=2,
                )
        return float(super().score(X, y, sample_weight))

    def _order(self, values: Array) -> List[Any]:
        """The fidelities from the lowest to the highest. Only numbers have an order, and a column of X may be split."""
        if self.fidelities is not None:
            return list(self.fidelities)
        distinct = list(np.unique(values)) if values.dtype.kind in "biuf" else list(dict.fromkeys(values))
        shown = [value.item() if isinstance(value, np.generic) else value for value in distinct]
        if self.column_ is not None or (values.dtype.kind not in "biuf" and len(distinct) > 1):
            raise InvalidArgument(
                f"fidelities: missing; list the values of the fidelity from the lowest to the highest. There are "
                f"{shown} here (a scaler before this estimator must leave their column alone)"
            )
        return distinct

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


class FidelityKFold:
    """Folds of the highest fidelity: rows of lower fidelities are in every training set and in no test set.

    Parameters
    ----------
    n_splits : int
    fidelity : int or str
        Column of X with the fidelity of each row.
    highest : value
        The highest fidelity, as in that column.
    seed : int
        Of the shuffle of its rows.

    Examples
    --------
    >>> import numpy as np
    >>> from fidelio.sklearn import FidelityKFold
    >>> X = np.column_stack([np.arange(8.0), [0, 0, 0, 0, 1, 1, 1, 1]])
    >>> for train, test in FidelityKFold(2, fidelity=-1, highest=1).split(X):
    ...     print(train.tolist(), test.tolist())
    [0, 1, 2, 3, 5, 7] [4, 6]
    [0, 1, 2, 3, 4, 6] [5, 7]
    """

    def __init__(self, n_splits: int = 5, *, fidelity: Any = -1, highest: Any, seed: int = 0) -> None:
        self.n_splits = n_splits
        self.fidelity = fidelity
        self.highest = highest
        self.seed = seed

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of folds."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Tuple[Array, Array]]:
        """Pairs of training and test rows.

        Parameters
        ----------
        X : array-like or DataFrame

        Yields
        ------
        train, test : ndarray
        """
        if hasattr(X, "columns"):
            values = (X[self.fidelity] if isinstance(self.fidelity, str) else X.iloc[:, self.fidelity]).to_numpy()
        else:
            values = np.asarray(X)[:, self.fidelity]
        rows = np.flatnonzero(values == self.highest)
        if not 2 <= self.n_splits <= len(rows):
            raise InvalidArgument(
                f"n_splits: {self.n_splits}, must be from 2 to {len(rows)}, the number of rows of fidelity "
                f"{self.highest!r}"
            )
        shuffled = np.random.default_rng(self.seed).permutation(rows)
        for test in np.array_split(shuffled, self.n_splits):
            yield np.setdiff1d(np.arange(len(values)), test), np.sort(test)
