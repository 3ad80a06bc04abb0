"""Names of inputs live in the model: frames mean the same in every process and through every handle."""

import numpy as np
import pytest
from conftest import high, low, points

import fidelio

pandas = pytest.importorskip("pandas")


@pytest.fixture
def named(client, name):
    """Without data; its inputs have names."""
    return client.create_model(
        name, inputs=["angle", "speed"], fidelities=["low", "high"], costs=[1, 10], box=([0, 0], [1, 1]), output="lift"
    )


def frame(x):
    return pandas.DataFrame(x, columns=["angle", "speed"])


def test_a_reordered_frame_means_the_same_through_a_new_handle(client, named):
    x = points(30, seed=1)
    named.add(frame(x), low(x), fidelity="low")
    other = client.model(named.name)
    other.add(frame(x[:8])[["speed", "angle"]], high(x[:8]), fidelity="high")
    assert np.array_equal(named.observations("high").inputs, x[:8])
    named.fit(seed=1)
    new = points(5, seed=2)
    assert np.array_equal(client.model(named.name).predict(frame(new)[["speed", "angle"]]), named.predict(new))


@pytest.mark.parametrize(
    "columns, message",
    [
        (["angle", "height"], "X: unknown column 'height', missing column 'speed'; the inputs of the model are 'angle', 'speed'"),
        (["angle"], "X: missing column 'speed'"),
        (["angle", "speed", "a", "b"], "X: unknown columns 'a', 'b'"),
        (["angle", "speed", "speed"], "X: repeated column 'speed'"),
    ],
)  # fmt: skip
def test_columns_that_do_not_fit_are_named(named, columns, message):
    with pytest.raises(fidelio.InvalidArgument) as caught:
        named.add(pandas.DataFrame(np.zeros((3, len(columns))), columns=columns), [1, 2, 3], fidelity="low")
    assert message in str(caught.value)


def test_a_refused_frame_leaves_no_trace(named):
    bad = pandas.DataFrame({"angle": [0.1, 0.2], "mat": ["steel", "copper"]})
    with pytest.raises(fidelio.InvalidArgument):
        named.add(bad, [1, 2], fidelity="low")
    text = pandas.DataFrame({"angle": [0.1, 0.2], "speed": ["fast", "slow"]})
    with pytest.raises(fidelio.InvalidArgument, match="X: is not numeric"):
        named.add(text, [1, 2], fidelity="low")
    assert named.add(frame(points(2, seed=1)), [1, 2], fidelity="low").counts == (2, 0)
    assert named.refresh().data_version == 1


def test_a_model_without_names_refuses_names_but_takes_its_own(model):
    x = points(4, seed=1)
    for columns in (["angle", "speed"], ["speed", "angle"]):
        with pytest.raises(fidelio.InvalidArgument, match=r"(?s)have no names.*model.update\(inputs=\[…\]\)"):
            model.add(pandas.DataFrame(x, columns=columns), [1, 2, 3, 4], fidelity="low")
    assert model.refresh().data_version == 0
    model.add(pandas.DataFrame(x, columns=["x1", "x2"])[["x2", "x1"]], [1, 2, 3, 4], fidelity="low")
    model.add(pandas.DataFrame(x), [1, 2, 3, 4.5], fidelity="high")  # columns 0 and 1 are no names
    assert np.array_equal(model.observations("low").inputs, x)
    assert np.array_equal(model.observations("high").inputs, x)
    model.update(inputs=["angle", "speed"])
    assert model.info.input_names == ("angle", "speed")
    model.add(frame(x)[["speed", "angle"]] + 1, [5, 6, 7, 8], fidelity="low")
    assert np.array_equal(model.observations("low").inputs[4:], x + 1)


def test_a_handle_follows_names_that_others_gave(client, named):
    x = points(3, seed=1)
    client.model(named.name).update(inputs=["speed", "angle"])
    named.add(frame(x), [1, 2, 3], fidelity="low")
    assert np.array_equal(named.observations("low").inputs, x[:, ::-1])


def test_a_frame_may_have_everything(named):
    x = points(4, seed=1)
    table = frame(x).assign(
        fidelity=["low", "high", "low", "high"], lift=[1.0, 2.0, 3.0, 4.0], noise_variance=0.25, run_id=list("abcd")
    )
    assert named.add(table).counts == (2, 2)
    back = named.observations(None).to_frame()
    assert list(back.columns) == ["run_id", "fidelity", "angle", "speed", "lift", "noise_variance"]
    columns = list(table.columns)
    assert back.set_index("run_id").sort_index()[columns[:-1]].equals(table.set_index("run_id")[columns[:-1]])
    with pytest.raises(fidelio.InvalidArgument, match="fidelity: given, but X has a column 'fidelity', too"):
        named.add(table, fidelity="low")
    with pytest.raises(fidelio.InvalidArgument, match="y: missing"):
        named.add(frame(x), fidelity="low")


def test_inputs_have_units_ranges_and_descriptions(client, name):
    inputs = [fidelio.Input("angle", "deg", "of attack", lower=-5, upper=15), fidelio.Input("speed", "m/s", "", 20, 80)]
    output = fidelio.Output("lift", unit="N")
    client.create_model(name, inputs, output=output, keep_revisions=3)
    info = client.model(name).info
    assert info.named_inputs == tuple(inputs) and info.output == output and info.keep_revisions == 3
    assert [corner.tolist() for corner in info.box] == [[-5, 20], [15, 80]]
    html = info._repr_html_()
    assert "angle (deg)" in html and name in html


@pytest.mark.parametrize(
    "inputs, options, message",
    [
        ("angle", {}, "inputs: 'angle', must be a list of names"),
        ([], {}, "inputs: empty"),
        ([1, 2], {}, r"inputs\[0\]: 1, must be a name"),
        ([fidelio.Input("a", lower=0, upper=1), "b"], {}, "inputs: 'b' lacks lower or upper"),
        ([fidelio.Input("a", lower=0, upper=1)], {"box": ([0], [1])}, "box: given, but the inputs have"),
        (["a", "a"], {}, r"inputs\[1\]"),
        (["a b"], {}, r"inputs\[0\]"),
        (["a"], {"output": ["y1", "y2"]}, "a model has one output"),
    ],
)
def test_inputs_that_can_not_be_are_refused(client, name, inputs, options, message):
    with pytest.raises(fidelio.InvalidArgument, match=message):
        client.create_model(name, inputs, **options)


def test_exist_ok_returns_what_it_would_create_and_lists_differences(client, name):
    same = {"inputs": ["angle", "speed"], "fidelities": ["low", "high"], "costs": [1, 10], "box": ([0, 0], [1, 1])}
    created = client.create_model(name, **same, description="first")
    assert client.create_model(name, **same, exist_ok=True).info.etag == created.info.etag
    for change, message in (
        ({"fidelities": ["high", "low"]}, "fidelities: low, high, not high, low"),
        ({"costs": [1, 20]}, "costs: 1.0, 10.0, not 1.0, 20.0"),
        ({"inputs": ["speed", "angle"]}, "names of inputs: angle, speed, not speed, angle"),
        ({"inputs": 2}, "names of inputs: angle, speed, not none"),
        ({"box": ([0, 0], [1, 2])}, "box: "),
        ({"kind": "gp"}, "kind: mf-dgp, not gp"),
        ({"transform": "log"}, "transform: identity, not log"),
        ({"output": "lift"}, "output: none, not Output"),
        ({"description": "second"}, "description: first, not second"),
        ({"inputs": ["a", "b", "c"], "box": None}, "inputs: 2, not 3"),
    ):
        with pytest.raises(fidelio.InvalidArgument) as caught:
            client.create_model(name, **{**same, **change}, exist_ok=True)
        assert message in str(caught.value)
    with pytest.raises(fidelio.InvalidArgument) as caught:
        client.create_model(name, **{**same, "costs": [2, 3], "kind": "gp"}, exist_ok=True)
    assert "costs: " in str(caught.value) and "kind: " in str(caught.value)
