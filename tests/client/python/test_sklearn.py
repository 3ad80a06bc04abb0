"""The estimator within scikit-learn."""

import gc
import pickle

import numpy as np
import pytest
from conftest import high, low, points

import fidelio

pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.compose import TransformedTargetRegressor, make_column_transformer  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

from fidelio.sklearn import FidelityKFold, MultiFidelityRegressor  # noqa: E402


@pytest.fixture(scope="module")
def data():
    """X with the fidelity in the last column, and y."""
    x = points(48, seed=1)
    level = np.tile([0.0, 0.0, 1.0], 16)
    return np.column_stack([x, level]), np.where(level == 0, low(x), high(x))


@pytest.fixture
def regressor(client):
    return MultiFidelityRegressor(seed=1, client=client)


def test_an_array_tells_the_fidelities_and_the_highest_is_predicted(regressor, data):
    X, y = data
    regressor.fit(X[:, :2], y, fidelity=X[:, 2])
    x = points(100, seed=2)
    mean, std = regressor.predict(x, return_std=True)
    assert np.sqrt(np.mean((mean - high(x)) ** 2)) < 0.1 * np.std(high(x)) and std.shape == (100,)
    assert regressor.score(x, high(x)) > 0.98
    assert np.allclose(regressor.predict(x, fidelity=0.0), low(x), atol=0.3)


def test_a_column_tells_the_fidelities_and_rows_are_predicted_at_theirs(client, data):
    X, y = data
    regressor = MultiFidelityRegressor(fidelity=-1, fidelities=[0, 1], seed=1, client=client).fit(X, y)
    assert regressor.score(X, y) > 0.99 and regressor.n_features_in_ == 3
    x = points(20, seed=3)
    both = regressor.predict(np.concatenate([np.insert(x, 2, 0, axis=1), np.insert(x, 2, 1, axis=1)]))
    assert np.allclose(both[:20], low(x), atol=0.3) and np.allclose(both[20:], high(x), atol=0.6)


def test_names_of_fidelities_need_their_order(client, data):
    X, y = data
    names = np.where(X[:, 2] == 0, "low", "high")
    regressor = MultiFidelityRegressor(fidelities=["low", "high"], seed=1, client=client)
    regressor.fit(X[:, :2], y, fidelity=names)
    assert regressor.model_.info.counts == (32, 16)
    with pytest.raises(fidelio.InvalidArgument, match="must be one of"):
        regressor.predict(X[:1, :2], fidelity="medium")


def test_names_are_never_sorted(client, data):
    X, y = data
    names = np.where(X[:, 2] == 0, "low", "high")
    with pytest.raises(fidelio.InvalidArgument, match=r"fidelities: missing; .* There are \['low', 'high'\] here"):
        MultiFidelityRegressor(seed=1, client=client).fit(X[:, :2], y, fidelity=names)
    with pytest.raises(fidelio.InvalidArgument, match="fidelities: missing"):
        MultiFidelityRegressor(seed=1, client=client).fit(X[:, :2], y, fidelity=names.astype(object))
    regressor = MultiFidelityRegressor(fidelities=["low", "high"], seed=1, client=client)
    regressor.fit(X[:, :2], y, fidelity=names)
    x = points(50, seed=2)
    assert np.sqrt(np.mean((regressor.predict(x) - high(x)) ** 2)) < 0.1 * np.std(high(x))


@pytest.fixture(scope="module")
def stacked():
    """The layout of the README: low-fidelity rows first."""
    x_low, x_high = points(40, seed=1), points(10, seed=2)
    X = np.vstack([np.insert(x_low, 2, 0, axis=1), np.insert(x_high, 2, 1, axis=1)])
    return X, np.concatenate([low(x_low), high(x_high)])


def test_plain_cross_validation_works_with_the_fidelities_and_says_so_without(client, stacked):
    X, y = stacked
    regressor = MultiFidelityRegressor(fidelity=-1, seed=1, client=client)
    with pytest.raises(ValueError, match="(?s)fits failed.*fidelities: missing"):
        cross_val_score(regressor, X, y)
    with pytest.warns(fidelio.FidelioWarning, match="no row is of the highest fidelity.*FidelityKFold"):
        scores = cross_val_score(regressor.set_params(fidelities=[0, 1]), X, y)
    assert np.all(np.isfinite(scores))


def test_folds_are_of_the_highest_fidelity(client, stacked):
    X, y = stacked
    folds = FidelityKFold(3, fidelity=-1, highest=1)
    tests = [test for _, test in folds.split(X)]
    assert sorted(np.concatenate(tests)) == list(range(40, 50)) and folds.get_n_splits() == 3
    assert all(set(range(40)) <= set(train) for train, _ in folds.split(X))
    regressor = MultiFidelityRegressor(fidelity=-1, fidelities=[0, 1], seed=1, client=client)
    assert np.min(cross_val_score(regressor, X, y, cv=folds, error_score="raise")) > 0.8
    with pytest.raises(fidelio.InvalidArgument, match="n_splits: 11, must be from 2 to 10"):
        list(FidelityKFold(11, highest=1).split(X))


def test_only_the_highest_fidelity_is_scored(client, data):
    X, y = data
    regressor = MultiFidelityRegressor(fidelity=-1, fidelities=[0, 1], seed=1, client=client).fit(X, y)
    wrong = np.where(X[:, 2] == 0, 1e6, y)  # outputs of the low fidelity do not count
    assert regressor.score(X, wrong) == pytest.approx(regressor.score(X[X[:, 2] == 1], y[X[:, 2] == 1]))
    weights = np.arange(len(y))
    assert regressor.score(X, wrong, sample_weight=weights) > 0.9


def test_frames_have_named_columns(client, data):
    pandas = pytest.importorskip("pandas")
    X, y = data
    frame = pandas.DataFrame(X, columns=["angle", "speed", "mesh"])
    regressor = MultiFidelityRegressor(fidelity="mesh", fidelities=[0, 1], seed=1, client=client).fit(frame, y)
    assert regressor.score(frame, y) > 0.99


def test_parameters_are_those_of_the_constructor_and_clones_are_new(regressor, data):
    X, y = data
    regressor.set_params(kernel="matern52", fidelity=-1, fidelities=[0, 1]).fit(X, y)
    twin = clone(regressor)
    assert twin.get_params() == regressor.get_params()
    with pytest.raises(NotFittedError):
        twin.predict(X)


def test_it_works_in_pipelines_searches_and_cross_validation(client, data):
    X, y = data
    scaler = make_column_transformer((StandardScaler(), [0, 1]), remainder="passthrough")
    options = {"fidelity": -1, "fidelities": [0, 1], "seed": 1}
    pipeline = make_pipeline(scaler, MultiFidelityRegressor(**options, client=client))
    search = GridSearchCV(pipeline, {"multifidelityregressor__kernel": ["rbf", "matern32"]}, cv=3, error_score="raise")
    search.fit(X, y)
    assert search.best_params_ == {"multifidelityregressor__kernel": "rbf"}
    assert np.min(cross_val_score(pipeline, X, y, cv=3)) > 0.8
    TransformedTargetRegressor(pipeline, transformer=StandardScaler()).fit(X, y).predict(X[:3])


def test_it_is_an_estimator_by_the_rules_of_scikit_learn(regressor):
    check_estimator(regressor)


def test_a_pickle_has_a_model_of_its_own(regressor, data):
    X, y = data
    regressor.fit(X[:, :2], y, fidelity=X[:, 2])
    expected = regressor.predict(X[:5, :2])
    stored = pickle.dumps(regressor)
    regressor.model_.delete()
    assert np.array_equal(pickle.loads(stored).predict(X[:5, :2]), expected)


def test_the_model_goes_with_its_estimator(client, data):
    X, y = data
    gc.collect()
    before = len(client.models())
    regressor = MultiFidelityRegressor(fidelity=-1, fidelities=[0, 1], client=client).fit(X, y)
    assert len(client.models()) == before + 1
    del regressor
    gc.collect()
    assert len(client.models()) == before
