"""Errors: which class, and what they tell."""

import pickle

import numpy as np
import pytest
from conftest import points

import fidelio


def test_errors_of_the_server_have_a_class_and_name_the_field(client):
    with pytest.raises(fidelio.InvalidArgument) as caught:
        client.create_model("wing", inputs=0, fidelities=["low"])
    assert caught.value.code == "INVALID_ARGUMENT"
    assert [violation.field for violation in caught.value.violations] == ["model.input_dimension"]
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, fidelio.FidelioError)


def test_what_is_missing_is_named(client):
    with pytest.raises(fidelio.NotFound) as caught:
        client.model("nowhere")
    assert caught.value.resource == "models/nowhere"
    assert isinstance(caught.value, LookupError)


def test_a_prediction_before_the_fit_says_what_to_do_first(model):
    with pytest.raises(fidelio.FailedPrecondition) as caught:
        model.predict([[0.5, 0.5]])
    assert caught.value.violations and caught.value.violations[0].description in str(caught.value)


def test_numbers_that_are_none_are_refused_with_their_place(model):
    x = points(3, seed=1)
    x[1, 1] = np.inf
    with pytest.raises(fidelio.InvalidArgument) as caught:
        model.add(x, [1, 2, 3], fidelity="low")
    assert "observations[0].inputs" in caught.value.violations[0].field


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda m: m.add([[1, 2, 3]], [1], fidelity="low"), "X: 3 columns, but the model has 2 inputs"),
        (lambda m: m.add([1, 2], [1], fidelity="low"), r"X: has shape \(2,\), must be n×2 \(for one point: \[X\]\)"),
        (lambda m: m.add([["a", "b"]], [1], fidelity="low"), "X: is not numeric"),
        (lambda m: m.add([[1, 2]], [1, 2], fidelity="low"), r"y: has shape \(2,\), but X has 1 rows"),
        (lambda m: m.add([[1, 2]], [1]), "fidelity: missing, must be one of low, high"),
        (lambda m: m.add([[1, 2]], [1], fidelity="medium"), "fidelity: 'medium', must be one of low, high"),
        (lambda m: m.add([[1, 2]], [1], fidelity=2), "fidelity: 2, must be"),
        (lambda m: m.add([[1, 2]], [1], fidelity=[0, 1]), "fidelity: 2 entries, but X has 1 rows"),
        (lambda m: m.add([[1, 2]], [1], fidelity=0, noise=[1, 2]), "noise: has shape"),
        (lambda m: m.fit(kernel="linear"), "kernel: 'linear', must be one of rbf, matern32, matern52, evidence, matern12"),
        (lambda m: m.sample_dpp(2, method="best"), "method: 'best', must be one of exact, map"),
        (lambda m: m.update(costs=[1]), "must have 2 entries"),
    ],
)
def test_what_python_can_see_is_refused_in_its_own_words(model, call, message):
    with pytest.raises(fidelio.InvalidArgument, match=message):
        call(model)


def test_errors_can_be_pickled(client):
    with pytest.raises(fidelio.NotFound) as caught:
        client.model("nowhere")
    twin = pickle.loads(pickle.dumps(caught.value))
    assert type(twin) is fidelio.NotFound and str(twin) == str(caught.value) and twin.resource == "models/nowhere"
