"""Loops of Emukit, as they are, on a Fidelio model."""

import numpy as np
import pytest

import fidelio

pytest.importorskip("emukit")

from emukit.bayesian_optimization.acquisitions import (  # noqa: E402
    EntropySearch,
    ExpectedImprovement,
    MaxValueEntropySearch,
    NegativeLowerConfidenceBound,
    ProbabilityOfFeasibility,
    ProbabilityOfImprovement,
)
from emukit.bayesian_optimization.acquisitions.entropy_search import MultiInformationSourceEntropySearch  # noqa: E402
from emukit.bayesian_optimization.acquisitions.expected_improvement import MeanPluginExpectedImprovement  # noqa: E402
from emukit.bayesian_optimization.acquisitions.max_value_entropy_search import MUMBO  # noqa: E402
from emukit.bayesian_optimization.loops import BayesianOptimizationLoop  # noqa: E402
from emukit.core import ContinuousParameter, InformationSourceParameter, ParameterSpace  # noqa: E402
from emukit.core.acquisition import Acquisition  # noqa: E402
from emukit.core.loop import FixedIntervalUpdater, OuterLoop, SequentialPointCalculator  # noqa: E402
from emukit.core.loop.user_function import MultiSourceFunctionWrapper  # noqa: E402
from emukit.core.optimization import GradientAcquisitionOptimizer, MultiSourceAcquisitionOptimizer  # noqa: E402
from emukit.experimental_design import ExperimentalDesignLoop  # noqa: E402
from emukit.experimental_design.acquisitions import IntegratedVarianceReduction, ModelVariance  # noqa: E402
from emukit.sensitivity.monte_carlo import MonteCarloSensitivity  # noqa: E402

from fidelio.emukit import FidelioModel  # noqa: E402


def high(x):
    return (6 * x - 2) ** 2 * np.sin(12 * x - 4)


def low(x):
    return 0.5 * high(x) + 10 * (x - 0.5) + 5


def data():
    x_low, x_high = np.linspace(0, 1, 11)[:, None], np.linspace(0, 1, 6)[:, None]
    X = np.concatenate([np.insert(x_low, 1, 0, axis=1), np.insert(x_high, 1, 1, axis=1)])
    return X, np.concatenate([low(x_low), high(x_high)])


@pytest.fixture
def model(client):
    X, Y = data()
    return FidelioModel(X, Y, n_fidelities=2, client=client, box=([0], [1]), fit_options={"seed": 1})


def test_predictions_have_emukits_shapes(model):
    x = np.linspace(0, 1, 7)[:, None]
    mean, variance = model.predict(np.insert(x, 1, 1, axis=1))
    assert mean.shape == variance.shape == (7, 1) and np.all(variance > 0)
    assert np.allclose(mean, high(x), atol=1.0)
    mixed = np.column_stack([x, [0, 1, 0, 1, 0, 1, 0]])
    assert np.allclose(model.predict(mixed)[0][::2], low(x)[::2], atol=0.5)
    assert np.all(model.predict_noiseless(mixed)[1] <= model.predict(mixed)[1] + 1e-12)


def test_gradients_are_those_of_the_predictions(model):
    X = np.array([[0.33, 1.0], [0.71, 0.0], [0.87, 1.0]])
    mean, variance = model.get_prediction_gradients(X)
    assert mean.shape == variance.shape == (3, 2) and np.all(mean[:, 1] == 0) and np.all(variance[:, 1] == 0)
    step = np.array([1e-4, 0])
    up, down = model.predict_noiseless(X + step), model.predict_noiseless(X - step)
    assert np.allclose(mean[:, 0], (up[0] - down[0])[:, 0] / 2e-4, rtol=1e-3)
    assert np.allclose(variance[:, 0], (up[1] - down[1])[:, 0] / 2e-4, rtol=1e-2, atol=1e-6)


def test_new_rows_count_at_once_and_other_data_replace_the_old(model):
    X, Y = data()
    model.optimize()
    at = np.array([[0.75, 1.0]])
    before = model.predict_noiseless(at)[1]
    model.set_data(np.concatenate([X, at]), np.concatenate([Y, high(at[:, :1])]))
    assert model.predict_noiseless(at)[1] < before and model.model.info.revision == 2
    assert model.X.shape == (18, 2) and model.Y.shape == (18, 1)
    model.set_data(X[:-1], Y[:-1])
    assert model.model.refresh().counts == (11, 5) and model.predict(at)[1] > 0


def test_a_fidelity_that_is_none_is_refused(model):
    with pytest.raises(fidelio.InvalidArgument, match="from 0 to 1"):
        model.predict(np.array([[0.5, 2.0]]))


class CostlyVariance(Acquisition):
    """What a design loop of several fidelities maximises: variance per cost."""

    def __init__(self, model):
        self._variance = ModelVariance(model)

    def evaluate(self, x):
        return self._variance.evaluate(x) / np.where(x[:, -1:] == 0, 1.0, 5.0)

    @property
    def has_gradients(self):
        return False


def test_a_multi_fidelity_design_loop_runs_unchanged(model):
    np.random.seed(1)  # Emukit draws from the global generator
    space = ParameterSpace([ContinuousParameter("x", 0, 1), InformationSourceParameter(2)])
    optimizer = MultiSourceAcquisitionOptimizer(GradientAcquisitionOptimizer(space), space)
    loop = OuterLoop(
        SequentialPointCalculator(CostlyVariance(model), optimizer), FixedIntervalUpdater(model, 2), _state(model)
    )
    loop.run_loop(MultiSourceFunctionWrapper([low, high]), 4)
    assert len(model.X) == 21
    x = np.linspace(0, 1, 41)[:, None]
    assert np.sqrt(np.mean((model.predict(np.insert(x, 1, 1, axis=1))[0] - high(x)) ** 2)) < 0.5


def _state(model):
    from emukit.core.loop.loop_state import create_loop_state

    return create_loop_state(model.X, model.Y)


def test_design_and_optimisation_of_one_fidelity_run_unchanged(client):
    np.random.seed(1)
    x = np.array([[0.0], [0.3], [0.5], [0.8], [1.0]])
    space = ParameterSpace([ContinuousParameter("x", 0, 1)])
    model = FidelioModel(x, high(x), client=client, fit_options={"seed": 1})
    ExperimentalDesignLoop(space, model, acquisition=ModelVariance(model)).run_loop(high, 2)
    BayesianOptimizationLoop(space, model, acquisition=ExpectedImprovement(model)).run_loop(high, 5)
    assert len(model.X) == 12
    assert model.Y.min() < -5.9  # the minimum is −6.02 at 0.757


SPACE = ParameterSpace([ContinuousParameter("x", 0, 1), InformationSourceParameter(2)])


@pytest.fixture(scope="module")
def uncertain(client):
    """Few low-fidelity rows, and a high fidelity that follows the low one: both are uncertain together."""
    x_low, x_high = np.array([[0.0], [0.2], [0.45], [0.6], [1.0]]), np.array([[0.0], [0.45], [1.0]])
    X = np.concatenate([np.insert(x_low, 1, 0, axis=1), np.insert(x_high, 1, 1, axis=1)])
    Y = np.concatenate([np.sin(9 * x_low), 2 * np.sin(9 * x_high)])
    options = {"fit_options": {"seed": 1}, "client": client, "box": ([0], [1]), "kind": "ar1"}
    return FidelioModel(X, Y, n_fidelities=2, n_paths=8000, **options)


def test_covariances_from_paths_are_those_of_the_server(uncertain):
    X = np.array([[0.1, 1.0], [0.3, 1.0], [0.8, 1.0]])
    exact = uncertain.predict_covariance(X, with_noise=False)
    assert np.allclose(np.diag(exact), uncertain.predict_noiseless(X)[1][:, 0])
    assert np.allclose(uncertain.get_covariance_between_points(X, X), exact, atol=0.1 * np.max(exact))
    assert np.all(np.diag(uncertain.predict_covariance(X)) >= np.diag(exact))


def test_covariances_across_fidelities_are_those_that_designs_use(uncertain):
    x = 0.8
    low, high = np.array([[x, 0.0]]), np.array([[x, 1.0]])
    covariance = uncertain.get_covariance_between_points(low, high)[0, 0]
    design = uncertain.model.sample_dpp(1, candidates=[[x]], fidelity=0, method="map")
    reduction = design.variance_before - design.variance_after  # of the high fidelity, when the low one is observed
    assert covariance**2 / uncertain.predict(low)[1][0, 0] == pytest.approx(reduction, rel=0.15)
    correlation = covariance / np.sqrt(uncertain.predict_noiseless(low)[1] * uncertain.predict_noiseless(high)[1])
    assert 0.5 < correlation[0, 0] <= 1.05  # the paths of both fidelities belong together


def test_integrated_variance_reduction_is_that_of_the_covariance(uncertain):
    x_test = np.insert(np.linspace(0, 1, 30)[:, None], 1, 1, axis=1)
    new = np.array([[0.8, 1.0], [0.45, 1.0]])  # unknown, observed
    values = IntegratedVarianceReduction(uncertain, SPACE, x_monte_carlo=x_test).evaluate(new)
    joint = uncertain.predict_covariance(np.concatenate([new[:1], x_test]), with_noise=False)
    exact = np.mean(joint[0, 1:] ** 2) / uncertain.predict(new[:1])[1][0, 0]
    assert values.shape == (2, 1) and values[0, 0] == pytest.approx(exact, rel=0.15) and values[1, 0] < 0.1 * exact


def test_entropy_searches_evaluate_rows_of_both_fidelities(uncertain):
    np.random.seed(1)
    X = np.array([[0.1, 0.0], [0.75, 0.0], [0.75, 1.0], [0.45, 1.0]])
    calls = []
    sample_paths = uncertain.model.sample_paths
    uncertain.model.sample_paths = lambda *a, **k: calls.append(a) or sample_paths(*a, **k)
    try:
        values = MUMBO(uncertain, SPACE, num_samples=3, grid_size=100).evaluate(X)
    finally:
        del uncertain.model.sample_paths
    assert values.shape == (4, 1) and np.all(np.isfinite(values)) and values[2, 0] > values[0, 0]
    assert len(calls) <= 4  # rows that were predicted together are drawn together
    search = MultiInformationSourceEntropySearch(uncertain, SPACE, num_samples=5, num_representer_points=5)
    assert np.all(np.isfinite(search.evaluate(X[:2])))


@pytest.fixture(scope="module")
def single(client):
    x = np.array([[0.0], [0.3], [0.5], [0.8], [1.0]])
    return FidelioModel(x, high(x), client=client, fit_options={"seed": 1}, box=([0], [1]))


@pytest.mark.parametrize(
    "make",
    [
        ExpectedImprovement,
        MeanPluginExpectedImprovement,
        NegativeLowerConfidenceBound,
        ProbabilityOfImprovement,
        ProbabilityOfFeasibility,
        ModelVariance,
        lambda model: EntropySearch(model, _line(), num_samples=5, num_representer_points=5),
        lambda model: MaxValueEntropySearch(model, _line(), num_samples=3, grid_size=100),
        lambda model: ModelVariance(model) / ExpectedImprovement(model),
    ],
)
def test_acquisitions_of_one_fidelity_evaluate(single, make):
    np.random.seed(1)
    acquisition = make(single)
    x = np.array([[0.2], [0.65], [0.9]])
    assert np.all(np.isfinite(acquisition.evaluate(x))) and acquisition.evaluate(x).shape == (3, 1)
    if acquisition.has_gradients:
        assert np.all(np.isfinite(acquisition.evaluate_with_gradients(x)[1]))


def test_joint_gradients_are_those_of_the_covariance(single):
    X = np.array([[0.15], [0.62]])
    mean, covariance = single.get_joint_prediction_gradients(X)
    assert mean.shape == (2, 2, 1) and covariance.shape == (2, 2, 2, 1)
    step = np.array([[1e-4], [0.0]])
    slope = (single.predict_covariance(X + step) - single.predict_covariance(X - step)) / 2e-4
    assert np.allclose(covariance[:, :, 0, 0], slope, rtol=1e-2, atol=1e-3 * np.max(abs(slope)))


def test_sensitivities_can_be_computed(single):
    np.random.seed(1)
    main, total, _ = MonteCarloSensitivity(single, _line()).compute_effects(num_monte_carlo_points=200)
    assert float(main["x"][0]) == pytest.approx(1, abs=0.3) and float(total["x"][0]) == pytest.approx(1, abs=0.3)


def _line():
    return ParameterSpace([ContinuousParameter("x", 0, 1)])
