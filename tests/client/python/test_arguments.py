"""Errors of the server speak of the caller's arguments."""

import numpy as np
import pytest
from conftest import points

import fidelio


@pytest.mark.parametrize("bad", ["my wing", "Wing", "my_wing", "-wing", "wing-", ""])
def test_names_that_are_none_are_explained(client, bad):
    for call in (lambda: client.create_model(bad, inputs=1), lambda: client.model(bad)):
        with pytest.raises(fidelio.InvalidArgument) as caught:
            call()
        assert f'name: "{bad}", which is not a name for a model: use lower-case letters' in str(caught.value)
        assert "{" not in str(caught.value) and caught.value.violations[0].argument == "name"


@pytest.mark.parametrize(
    "call, argument",
    [
        (lambda m: m.client.create_model("x", inputs=0), "inputs"),
        (lambda m: m.client.create_model("x", 2, ["a", "a"]), "fidelities[1]"),
        (lambda m: m.client.create_model("x", 2, ["a", "b"], costs=[1, -1]), "costs[1]"),
        (lambda m: m.client.create_model("x", 2, description="x" * 5000), "description"),
        (lambda m: m.client.create_model("x", 2, transform="bounded", bounds=(2, 1)), "bounds"),
        (lambda m: m.add(points(4, 1), [1, 1, 1, 1], [1, 0, 0, 0], noise=[1, 1, 1, -1]), "noise[3]"),
        (lambda m: m.fit(seconds=-1), "seconds"),
        (lambda m: m.fit(steps=5), "steps"),
        (lambda m: m.update(), "update"),
    ],
)
def test_fields_are_named_as_the_arguments_that_filled_them(model, call, argument):
    with pytest.raises(fidelio.InvalidArgument) as caught:
        call(model)
    assert str(caught.value).startswith(f"{argument}: ")
    for wire in ("model.", "observations[", "options.", "update_mask", "input_dimension"):
        assert wire not in str(caught.value)
    assert "model." in caught.value.message or "[" in caught.value.message or "o" in caught.value.message


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda m: m.suggest(maximise=True), "^maximise: True, but only .*criterion='expected-improvement'"),
        (lambda m: m.suggest(width=1), "^width: 1, but only .*criterion='confidence-bound'"),
        (lambda m: m.suggest(candidates=100000), "^candidates: 100000"),
        (lambda m: m.predict(points(3, 1), quantiles=[2]), r"^quantiles\[0\]: 2"),
        (lambda m: m.predict(np.zeros((3000, 2)), return_cov=True), r"^X: 3000 points.* with return_cov"),
        (lambda m: m.sample_dpp(quality="given"), "^quality: 'given', must be none, mean"),
        (lambda m: m.predict(points(3, 1) * np.nan), r"^X: rows 0, 1, 2 \(3 of 3\) are not finite"),
        (lambda m: m.sample_dpp(candidates=points(3, 1) * np.inf), "^candidates: rows"),
        (lambda m: m.predict(np.empty((0, 2))), "^X: 0 × 2"),
    ],
)
def test_options_are_named_as_they_were_given(fitted, call, message):
    with pytest.raises(fidelio.InvalidArgument, match=message):
        call(fitted)


def test_an_output_outside_its_domain_is_named_by_its_row(client, name):
    model = client.create_model(name, inputs=1, fidelities=2, transform="log")
    with pytest.raises(fidelio.InvalidArgument) as caught:
        model.add([0, 1, 2, 3], [1, 1, -2, 1], [1, 0, 1, 0])
    assert str(caught.value).startswith("y[2]: -2") and caught.value.violations[0].argument == "y[2]"


def test_numbers_that_are_too_large_are_refused(model):
    with pytest.raises(fidelio.InvalidArgument, match="seed: .* must be at most"):
        model.fit(seed=2**64)
    with pytest.raises(fidelio.InvalidArgument, match="inputs: .* must be at most"):
        model.client.create_model("x", inputs=2**40)
