"""Errors: which class, and what they tell."""

import pickle

import numpy as np
import pytest
from conftest import points
from fake_server import FakeServer

import fidelio
from fidelio.v1 import model_pb2


def test_errors_of_the_server_have_a_class_and_name_the_field(client):
    with pytest.raises(fidelio.InvalidArgument) as caught:
        client.create_model("wing", inputs=0, fidelities=["low"])
    assert caught.value.code == "INVALID_ARGUMENT"
    assert [violation[::2] for violation in caught.value.violations] == [("model.input_dimension", "inputs")]
    assert str(caught.value).startswith("inputs: 0") and caught.value.message.startswith("model.input_dimension: 0")
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
    with pytest.raises(fidelio.InvalidArgument, match="X: row 1 is not finite"):
        model.add(x, [1, 2, 3], fidelity="low")


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
        (
            lambda m: m.fit(kernel="linear"),
            "kernel: 'linear', must be one of rbf, matern32, matern52, evidence, matern12",
        ),
        (lambda m: m.sample_dpp(2, method="best"), "method: 'best', must be one of exact, map"),
        (lambda m: m.update(costs=[1]), "must have 2 entries"),
        (lambda m: m.add(np.array([[1 + 1j, 2]]), [1], fidelity=0), "X: is not numeric, but complex128"),
        (
            lambda m: m.add(np.array([["2020-01-01"] * 2], dtype="M8[D]"), [1], fidelity=0),
            "X: is not numeric, but datetime",
        ),
        (lambda m: m.add([[1, 2]], np.ma.masked_equal([1], 1), fidelity=0), "y: has masked entries"),
        (lambda m: m.add([[1, 2]], [1], fidelity=0, noise="none"), "noise: 'none', must be a number"),
        (lambda m: m.add([[1, 2]], [1], fidelity=np.array(["medium"])), "fidelity: 'medium', must be one of low"),
        (lambda m: m.fit(seed=-1), "seed: -1, must be at least 0"),
        (lambda m: m.fit(steps=2.5), "steps: 2.5, must be a whole number"),
        (lambda m: m.fit(seconds="long"), "seconds: 'long', must be a number"),
        (lambda m: m.sample_dpp(0), "k: 0, must be at least 1"),
        (lambda m: m.sample_dpp(2.5), "k: 2.5, must be a whole number"),
        (lambda m: m.sample_paths([[1, 2]], 0), "count: 0, must be at least 1"),
        (lambda m: m.suggest(-1), "count: -1, must be at least 1"),
        (lambda m: m.predict([[1, 2]], quantiles=[[0.5]]), "quantiles: has shape"),
        (lambda m: m.client.create_model("x", inputs=2.5), "inputs: 2.5, must be a whole number"),
        (lambda m: m.client.create_model("x", 2, fidelities="high"), "fidelities: 'high', must be a list of names"),
        (lambda m: m.client.create_model("x", 2, fidelities=2, costs=3), "costs: 1 numbers, but there are 2"),
        (lambda m: m.client.create_model("x", 2, costs=["expensive"]), "costs: is not numeric"),
        (lambda m: m.client.create_model("x", 2, transform="bounded"), "bounds: "),
        (lambda m: m.client.create_model("x", 2, transform="bounded", bounds=(1, 2, 3)), "bounds: 3 numbers"),
    ],
)
def test_what_python_can_see_is_refused_in_its_own_words(model, call, message):
    with pytest.raises(fidelio.InvalidArgument, match=message):
        call(model)


def test_a_file_that_is_not_there_is_an_error_of_files(client):
    with pytest.raises(FileNotFoundError):
        client.import_model("/no/such/model.fidelio")


def test_one_quantile_needs_no_list(fitted):
    x = points(3, seed=1)
    assert np.array_equal(fitted.predict(x, quantiles=0.5)[1], fitted.predict(x, quantiles=[0.5])[1])


def test_a_server_that_lacks_a_call_is_said_to_be_older():
    with FakeServer() as server:
        server.responses["GetModel"] = lambda request: model_pb2.Model(name="models/m", input_dimension=1)
        model = server.client.model("m")
        with pytest.raises(fidelio.Unimplemented, match="WithdrawObservations"):
            model.withdraw("a")


def test_errors_can_be_pickled(client):
    with pytest.raises(fidelio.NotFound) as caught:
        client.model("nowhere")
    twin = pickle.loads(pickle.dumps(caught.value))
    assert type(twin) is fidelio.NotFound and str(twin) == str(caught.value) and twin.resource == "models/nowhere"
